//! Meshes: vertices, and perhaps indices, in GPU memory.

use alloc::vec::Vec;
use core::marker::PhantomData;
use qpu_shaders::VertexData;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{IndexType, PrimitiveMode};
use v3d::pool::Buffer;
use v3d::primitives::Primitives;
use v3d::{Driver, Error, Platform};

/// Vertices of one kind in GPU memory, and what they make.
#[derive(Debug)]
pub struct Mesh<V> {
    vertices: Buffer,
    indices: Option<Buffer>,
    mode: PrimitiveMode,
    /// Vertices that are drawn, or indices if there are any.
    count: u32,
    /// The greatest index that has a vertex.
    maximum: u32,
    kind: PhantomData<fn(V)>,
}

impl<V: VertexData> Mesh<V> {
    /// Vertices in the order in which they are drawn.
    pub fn new<P: Platform>(driver: &mut Driver<'_, P>, mode: PrimitiveMode, vertices: &[V]) -> Result<Self, Error> {
        let buffer = upload_vertices(driver, vertices)?;
        let count = vertices.len() as u32;
        Ok(Self { vertices: buffer, indices: None, mode, count, maximum: count.saturating_sub(1), kind: PhantomData })
    }

    /// Vertices that indices name.
    pub fn indexed<P: Platform>(
        driver: &mut Driver<'_, P>,
        mode: PrimitiveMode,
        vertices: &[V],
        indices: &[u16],
    ) -> Result<Self, Error> {
        if indices.iter().any(|&index| usize::from(index) >= vertices.len()) {
            return Err(Error::Draw("an index has no vertex"));
        }
        let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let buffer = upload_vertices(driver, vertices)?;
        let indices_buffer = match driver.upload(&bytes, 16) {
            Ok(indices) => indices,
            Err(error) => {
                driver.free(buffer);
                return Err(error);
            }
        };
        Ok(Self {
            vertices: buffer,
            indices: Some(indices_buffer),
            mode,
            count: indices.len() as u32,
            maximum: (vertices.len() as u32).saturating_sub(1),
            kind: PhantomData,
        })
    }

    /// The first vertex.
    pub const fn vertices(&self) -> BusAddr {
        self.vertices.address()
    }

    /// What a list says to draw it.
    pub fn primitives(&self) -> Primitives {
        let Self { mode, count, maximum, .. } = *self;
        match &self.indices {
            None => Primitives::Array { mode, first: 0, count },
            Some(indices) => {
                Primitives::Indexed { mode, indices: indices.address(), index_type: IndexType::Bits16, count, maximum }
            }
        }
    }

    /// Gives the memory back. No frame that is not done may draw it.
    pub fn free<P: Platform>(self, driver: &mut Driver<'_, P>) {
        driver.free(self.vertices);
        if let Some(indices) = self.indices {
            driver.free(indices);
        }
    }
}

fn upload_vertices<P: Platform, V: VertexData>(driver: &mut Driver<'_, P>, vertices: &[V]) -> Result<Buffer, Error> {
    if vertices.is_empty() {
        return Err(Error::Draw("a mesh has at least one vertex"));
    }
    let mut words = Vec::with_capacity(vertices.len() * V::BYTES / 4);
    vertices.iter().for_each(|vertex| vertex.push(&mut words));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    driver.upload(&bytes, 16)
}
