//! Frames: passes that are submitted to the GPU together.
//!
//! The passes of a frame are executed in order, without the CPU waiting between them: a pass may read as a texture what an earlier one has rendered.

pub(crate) mod memory;
pub(crate) mod rendering_lists;

use alloc::vec::Vec;
use v3d::platform::Named;
use v3d::rendering_list::RenderingPass;
use v3d::{Fence, Job, Platform};

use crate::device::Device;
use crate::error::Error;
use crate::pass::{Pass, PassDescriptor, Recording};
use memory::FrameMemory;

/// A frame that is being recorded. Dropping it draws nothing.
#[derive(Debug)]
pub struct Frame<'p, P: Platform> {
    device: Device<'p, P>,
    platform: &'p P,
    memory: FrameMemory,
    passes: Vec<Recording>,
}

impl<'p, P: Platform> Device<'p, P> {
    /// Begins a frame. It waits until at most one other frame is in flight.
    ///
    /// A frame that the driver dropped is not an error here.
    ///
    /// # Errors
    /// When the device is closed.
    pub fn frame(&self) -> Result<Frame<'p, P>, Error> {
        self.wait_for_room()?;
        let platform = self.driver_ref()?.platform();
        Ok(Frame { device: self.clone(), platform, memory: FrameMemory::default(), passes: Vec::new() })
    }
}

impl<'p, P: Platform> Frame<'p, P> {
    /// Begins a pass after the existing passes of the frame.
    ///
    /// # Errors
    /// When the target belongs to another device, or the pool has not enough memory for the binner.
    pub fn pass(&mut self, descriptor: &PassDescriptor<'_>) -> Result<Pass<'_, 'p, P>, Error> {
        let recording = Recording::new(&self.device, descriptor)?;
        self.passes.push(recording);
        let index = self.passes.len() - 1;
        if let Err(error) = self.at(index).clear_part() {
            self.passes.pop();
            return Err(error);
        }
        Ok(self.at(index))
    }

    /// The pass that was begun last, to record more draws; `None` if there is none.
    pub fn last_pass(&mut self) -> Option<Pass<'_, 'p, P>> {
        let index = self.passes.len().checked_sub(1)?;
        Some(self.at(index))
    }

    fn at(&mut self, index: usize) -> Pass<'_, 'p, P> {
        let Self { device, platform, memory, passes } = self;
        Pass::new(device, platform, memory, &mut passes[index])
    }

    /// The device that the frame is drawn on.
    pub const fn device(&self) -> &Device<'p, P> {
        &self.device
    }

    /// Submits the frame to the GPU. The fence is signalled when its last pass is done; that of a frame without passes is signalled already.
    ///
    /// # Errors
    /// When the pool has not enough memory for its control lists. Then nothing of the frame is drawn.
    pub fn submit(self) -> Result<Fence, Error> {
        let Self { device, mut memory, passes, .. } = self;
        let mut driver = device.driver()?;
        let mut jobs = Vec::with_capacity(passes.len());
        for recording in passes {
            let label = recording.label();
            let (list, pass, owners) = recording.finish();
            let binning = memory.place_list(&mut driver, &list)?;
            let rendering = place_rendering_list(&device, &mut memory, &mut driver, pass)?;
            driver.platform().name(rendering.start, Named::Pass, format_args!("{label}"));
            jobs.push((Job { binning: Some(binning), rendering }, owners));
        }
        let mut last = Fence::NONE;
        for (job, mut owners) in jobs {
            memory.keep(&mut owners);
            last = driver.submit_with(job, owners);
        }
        drop(driver);
        device.note_frame(last)?;
        Ok(last)
    }
}

/// Writes a pass's rendering list into the frame's memory.
fn place_rendering_list<P: Platform>(
    device: &Device<'_, P>,
    memory: &mut FrameMemory,
    driver: &mut v3d::Driver<'_, P>,
    pass: RenderingPass,
) -> Result<v3d::record_list::ControlList, Error> {
    let mut frames = device.frames()?;
    memory.place_list(driver, frames.rendering_lists.of(pass)?)
}
