//! Compute shaders by wgpu, on Vulkan's software driver.

use std::time::Duration;

/// A device.
pub(crate) struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Name and driver.
    pub(crate) name: String,
}

impl Gpu {
    /// The software driver's device.
    pub(crate) fn new() -> Result<Self, String> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let options = wgpu::RequestAdapterOptions { force_fallback_adapter: true, ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|error| format!("no software driver, such as that of the package mesa-vulkan-drivers: {error}"))?;
        let info = adapter.get_info();
        let name = format!("{}, {} {}", info.name, info.driver, info.driver_info);
        let asked = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()));
        let (device, queue) = asked.map_err(|error| error.to_string())?;
        Ok(Self { device, queue, name })
    }

    /// Runs a shader for a number of workgroups with these storage buffers; returns the contents of the first one afterwards.
    pub(crate) fn run(&self, source: &str, groups: u32, buffers: &[Vec<u32>]) -> Result<Vec<u32>, String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(format!("{error}\n{source}"));
        }
        let buffer = |words: usize, usage| {
            let size = 4 * words as u64;
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let bound: Vec<wgpu::Buffer> = buffers.iter().map(|words| buffer(words.len(), storage)).collect();
        for (target, words) in bound.iter().zip(buffers) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.queue.write_buffer(target, 0, &bytes);
        }
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(&bound)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        let count = buffers.first().map_or(0, Vec::len);
        let back = buffer(count, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        encoder.copy_buffer_to_buffer(&bound[0], 0, &back, 0, 4 * count as u64);
        self.queue.submit([encoder.finish()]);
        back.map_async(wgpu::MapMode::Read, .., |_| {});
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(60)) };
        self.device.poll(wait).map_err(|error| format!("{error}\n{source}"))?;
        let view = back.get_mapped_range(..).map_err(|error| error.to_string())?;
        let bytes: Vec<u8> = view.to_vec();
        Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
    }
}
