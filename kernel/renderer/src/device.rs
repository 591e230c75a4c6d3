//! The device: a driver, shared by all resources.
//!
//! Clones of a device refer to the same device. Resources own memory of its pool and may be dropped at any time, even while the GPU executes a frame that
//! uses them: the frame holds references to them as well.

use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, Ref, RefCell, RefMut};
use shader_interface::Origin;
use shader_interface::tail::Joined;
use v3d::check::Step;
use v3d::hw::BusAddr;
use v3d::hw::qpu::INSTRUCTION_BYTES;
use v3d::platform::Named;
use v3d::pool::{Buffer, Pool};
use v3d::{Driver, Fence, Platform};

use crate::error::Error;
use crate::frame::rendering_lists::RenderingLists;
use crate::pass::part_clear::ClearPipelines;
#[cfg(feature = "wgsl")]
use crate::wgsl::replacement::Replacements;

/// Maximum number of frames in flight: the CPU records one while the GPU renders the previous one.
const FRAMES: usize = 2;

/// The device: a driver that is shared by its resources.
#[derive(Debug)]
pub struct Device<'p, P: Platform>(Rc<Shared<'p, P>>);

impl<P: Platform> Clone for Device<'_, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[derive(Debug)]
struct Shared<'p, P: Platform> {
    /// `None` once the device is closed.
    driver: RefCell<Option<Driver<'p, P>>>,
    pool: Pool,
    frames: RefCell<Frames>,
    /// Number of passes begun so far.
    passes: Cell<u64>,
    /// Shaders in place of those that were built.
    #[cfg(feature = "wgsl")]
    replacements: RefCell<Replacements>,
}

/// State that is kept from one frame to the next.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Fences of the frames in flight, oldest first.
    under_way: VecDeque<Fence>,
    pub(crate) rendering_lists: RenderingLists,
    pub(crate) clear_pipelines: ClearPipelines,
}

impl<P: Platform> Drop for Shared<'_, P> {
    /// The driver frees no memory that the GPU may still be using.
    fn drop(&mut self) {
        if let Some(driver) = self.driver.get_mut() {
            driver.wait_until_idle();
        }
    }
}

impl<'p, P: Platform> Device<'p, P> {
    /// Takes ownership of a driver.
    pub fn new(driver: Driver<'p, P>) -> Self {
        let pool = driver.pool().clone();
        let frames = RefCell::new(Frames { under_way: VecDeque::with_capacity(FRAMES), ..Frames::default() });
        Self(Rc::new(Shared {
            driver: RefCell::new(Some(driver)),
            pool,
            frames,
            passes: Cell::new(0),
            #[cfg(feature = "wgsl")]
            replacements: RefCell::default(),
        }))
    }

    /// Shaders in place of those that were built.
    #[cfg(feature = "wgsl")]
    pub(crate) fn replacements(&self) -> Result<RefMut<'_, Replacements>, Error> {
        self.0.replacements.try_borrow_mut().map_err(|_| Error::DeviceInUse)
    }

    /// Borrows the driver mutably, to wait for fences, run user programs or read statistics. Drop the borrow before using the device for anything else.
    ///
    /// # Errors
    /// When the device is closed, or the driver is already borrowed.
    #[inline]
    pub fn driver(&self) -> Result<RefMut<'_, Driver<'p, P>>, Error> {
        let driver = self.0.driver.try_borrow_mut().map_err(|_| Error::DeviceInUse)?;
        RefMut::filter_map(driver, Option::as_mut).map_err(|_| Error::DeviceClosed)
    }

    /// Borrows the driver immutably.
    ///
    /// # Errors
    /// When the device is closed, or the driver is already borrowed mutably.
    pub fn driver_ref(&self) -> Result<Ref<'_, Driver<'p, P>>, Error> {
        let driver = self.0.driver.try_borrow().map_err(|_| Error::DeviceInUse)?;
        Ref::filter_map(driver, Option::as_ref).map_err(|_| Error::DeviceClosed)
    }

    /// Waits until all work is done and returns the driver. Resources of the device keep their memory, but can no
    /// longer be used for drawing.
    ///
    /// # Errors
    /// When the device is already closed, or the driver is borrowed.
    pub fn close(&self) -> Result<Driver<'p, P>, Error> {
        self.driver()?.wait_until_idle();
        self.frames()?.clear_pipelines = ClearPipelines::default();
        let mut driver = self.0.driver.try_borrow_mut().map_err(|_| Error::DeviceInUse)?;
        driver.take().ok_or(Error::DeviceClosed)
    }

    /// Frees the control lists that the device keeps for the passes that it rendered last. Call it when other passes follow, or none. The lists are made again
    /// when they are needed.
    ///
    /// # Errors
    /// While a frame is being recorded or submitted.
    pub fn drop_kept_lists(&self) -> Result<(), Error> {
        self.frames()?.rendering_lists = RenderingLists::default();
        Ok(())
    }

    /// The pool from which all memory of the device is allocated.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Waits until at most one frame is in flight. It is not an error if the driver dropped a frame.
    pub(crate) fn wait_for_room(&self) -> Result<(), Error> {
        let mut driver = self.driver()?;
        let mut frames = self.frames()?;
        while frames.under_way.len() >= FRAMES {
            let Some(oldest) = frames.under_way.pop_front() else { break };
            match driver.wait(oldest) {
                Ok(()) | Err(v3d::Error::JobFailed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Checks the V3D and the platform step by step, from the identity to a program: see [`v3d::check`].
    ///
    /// # Errors
    /// When the device is closed, or the driver is borrowed. A step that fails is not an error here.
    pub fn check(&self) -> Result<Vec<Step>, Error> {
        Ok(self.driver()?.check())
    }

    /// Waits until the frame with this fence is done.
    ///
    /// # Errors
    /// When the driver dropped the frame, or the fence belongs to another device.
    pub fn wait(&self, fence: Fence) -> Result<(), Error> {
        Ok(self.driver()?.wait(fence)?)
    }

    pub(crate) fn frames(&self) -> Result<RefMut<'_, Frames>, Error> {
        self.0.frames.try_borrow_mut().map_err(|_| Error::DeviceInUse)
    }

    /// Records that a frame is in flight.
    pub(crate) fn note_frame(&self, fence: Fence) -> Result<(), Error> {
        self.frames()?.under_way.push_back(fence);
        Ok(())
    }

    /// A pass number that is unique for the device.
    pub(crate) fn next_pass(&self) -> u64 {
        self.0.passes.update(|passes| passes + 1);
        self.0.passes.get()
    }

    /// Reports the name of an allocation to the platform.
    #[inline(always)]
    pub(crate) fn name(&self, memory: &Buffer, label: &str, kind: &str) -> Result<(), Error> {
        let what = Named::Memory { bytes: memory.region().bytes() };
        self.driver_ref()?.platform().name(memory.address(), what, format_args!("{label}: {kind}"));
        Ok(())
    }

    /// Reports the name of a program and its source to the platform. `kind` is the stage. Where the program is `joined` with a tail, the origin is that of the
    /// program alone.
    #[inline(always)]
    pub(crate) fn name_program(
        &self,
        label: &str,
        kind: &str,
        start: BusAddr,
        bytes: u32,
        origin: Option<&Origin>,
        joined: Option<&Joined>,
    ) -> Result<(), Error> {
        let platform = self.driver_ref()?.platform();
        platform.name(start, Named::Program { bytes }, format_args!("{label}: {kind}"));
        let Some(Origin { file, lines, uniforms }) = origin else { return Ok(()) };
        let mut last = 0;
        for at in 0..bytes / INSTRUCTION_BYTES {
            let place = joined.map_or(Some(at as usize), |joined| joined.place_in_program(at as usize));
            let line = place.and_then(|place| lines.get(place)).copied().unwrap_or(0);
            // Instructions without a source line are attributed to the line before.
            if line != last && line != 0 {
                platform.name(start + at * INSTRUCTION_BYTES, Named::Line, format_args!("{file}:{line}"));
                last = line;
            }
        }
        for (name, word) in uniforms.iter().zip(0..) {
            platform.name(start, Named::Uniform { word }, format_args!("{name}"));
        }
        Ok(())
    }

    /// Returns an error for memory of another device.
    #[inline]
    pub(crate) fn expect_own(&self, label: &'static str, buffer: &Buffer) -> Result<(), Error> {
        if buffer.is_of(&self.0.pool) { Ok(()) } else { Err(Error::ForeignDevice { label }) }
    }
}
