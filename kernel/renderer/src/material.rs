//! Materials: shader code in GPU memory, and the types of what feeds it.

use alloc::vec::Vec;
use core::marker::PhantomData;
use qpu_shaders::{Attribute, Fragment, VertexShading};
use v3d::hw::BusAddr;
use v3d::hw::control_list::Threading;
use v3d::pool::Buffer;
use v3d::{Driver, Error, Platform};

/// Alignment of a program. Records can address multiples of 8; 64 keeps a program's first instructions in one line of the instruction cache.
const ALIGNMENT: u32 = 64;

/// A fragment shader in GPU memory.
#[derive(Debug)]
pub struct FragmentMaterial<F, const N: usize> {
    code: Buffer,
    threading: Threading,
    feeds: PhantomData<fn(F)>,
}

impl<F, const N: usize> FragmentMaterial<F, N> {
    /// Puts a fragment shader into memory.
    pub fn new<P: Platform>(driver: &mut Driver<'_, P>, fragment: &Fragment<F, N>) -> Result<Self, Error> {
        let code = upload(driver, fragment.code())?;
        Ok(Self { code, threading: fragment.threading(), feeds: PhantomData })
    }

    /// The first instruction.
    pub const fn code(&self) -> BusAddr {
        self.code.address()
    }

    /// The threads it is written for.
    pub const fn threading(&self) -> Threading {
        self.threading
    }

    /// Gives the memory back. No frame that is not done may use it.
    pub fn free<P: Platform>(self, driver: &mut Driver<'_, P>) {
        driver.free(self.code);
    }
}

/// All three shaders of the GL pipeline in GPU memory: for vertices `V`, with uniforms `U` of the vertex, `C` of the coordinate and `F` of the fragment shader.
#[derive(Debug)]
pub struct Material<V, U, C, F, const N: usize> {
    vertex: Buffer,
    coordinate: Buffer,
    fragment: FragmentMaterial<F, N>,
    attributes: &'static [Attribute],
    feeds: PhantomData<fn(V, U, C)>,
}

impl<V, U, C, F, const N: usize> Material<V, U, C, F, N> {
    /// Puts shaders into memory that belong together.
    pub fn new<P: Platform>(
        driver: &mut Driver<'_, P>,
        shading: &VertexShading<V, U, C, N>,
        fragment: &Fragment<F, N>,
    ) -> Result<Self, Error> {
        let vertex = upload(driver, shading.vertex())?;
        let coordinate = upload(driver, shading.coordinate())?;
        let fragment = FragmentMaterial::new(driver, fragment)?;
        Ok(Self { vertex, coordinate, fragment, attributes: shading.attributes(), feeds: PhantomData })
    }

    /// The vertex shader's first instruction.
    pub const fn vertex(&self) -> BusAddr {
        self.vertex.address()
    }

    /// The coordinate shader's first instruction.
    pub const fn coordinate(&self) -> BusAddr {
        self.coordinate.address()
    }

    /// The fragment shader.
    pub const fn fragment(&self) -> &FragmentMaterial<F, N> {
        &self.fragment
    }

    /// The attributes of a vertex in memory.
    pub const fn attributes(&self) -> &'static [Attribute] {
        self.attributes
    }

    /// Gives the memory back. No frame that is not done may use it.
    pub fn free<P: Platform>(self, driver: &mut Driver<'_, P>) {
        driver.free(self.vertex);
        driver.free(self.coordinate);
        self.fragment.free(driver);
    }
}

/// Puts instructions into memory.
fn upload<P: Platform>(driver: &mut Driver<'_, P>, code: &[u64]) -> Result<Buffer, Error> {
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    driver.upload(&bytes, ALIGNMENT)
}
