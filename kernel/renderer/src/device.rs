//! The device: a driver that all resources share.
//!
//! Clones of a device are the same device. Resources own their memory in its pool; they may be dropped at any time, also while the GPU works on a frame that
//! uses them: the frame owns them too.

use alloc::collections::VecDeque;
use alloc::rc::Rc;
use core::cell::{Cell, Ref, RefCell, RefMut};
use v3d::pool::{Buffer, Pool};
use v3d::{Driver, Fence, Platform};

use crate::error::Error;
use crate::frame::rendering_lists::RenderingLists;

/// Frames that may be under way: one is written while the one before is drawn.
const FRAMES: usize = 2;

/// A driver that resources share.
#[derive(Debug)]
pub struct Device<'p, P: Platform>(Rc<Shared<'p, P>>);

impl<P: Platform> Clone for Device<'_, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[derive(Debug)]
struct Shared<'p, P: Platform> {
    /// None when the device is closed.
    driver: RefCell<Option<Driver<'p, P>>>,
    pool: Pool,
    frames: RefCell<Frames>,
    /// Passes that were begun.
    passes: Cell<u64>,
}

/// What is kept from one frame to the next.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The last frames' fences, oldest first.
    under_way: VecDeque<Fence>,
    pub(crate) rendering_lists: RenderingLists,
}

impl<P: Platform> Drop for Shared<'_, P> {
    /// Nothing that the GPU may still use is given back.
    fn drop(&mut self) {
        if let Some(driver) = self.driver.get_mut() {
            driver.wait_until_idle();
        }
    }
}

impl<'p, P: Platform> Device<'p, P> {
    /// Takes a driver over.
    pub fn new(driver: Driver<'p, P>) -> Self {
        let pool = driver.pool().clone();
        let under_way = VecDeque::with_capacity(FRAMES);
        let frames = RefCell::new(Frames { under_way, rendering_lists: RenderingLists::default() });
        Self(Rc::new(Shared { driver: RefCell::new(Some(driver)), pool, frames, passes: Cell::new(0) }))
    }

    /// The driver: to wait for fences, run user programs, look at statistics. Give it back before anything else is done with the device.
    ///
    /// # Errors
    /// When the device is closed, or somebody has the driver already.
    #[inline]
    pub fn driver(&self) -> Result<RefMut<'_, Driver<'p, P>>, Error> {
        let driver = self.0.driver.try_borrow_mut().map_err(|_| Error::DeviceInUse)?;
        RefMut::filter_map(driver, Option::as_mut).map_err(|_| Error::DeviceClosed)
    }

    /// The driver, to look at.
    ///
    /// # Errors
    /// When the device is closed, or somebody has the driver already.
    pub fn look(&self) -> Result<Ref<'_, Driver<'p, P>>, Error> {
        let driver = self.0.driver.try_borrow().map_err(|_| Error::DeviceInUse)?;
        Ref::filter_map(driver, Option::as_ref).map_err(|_| Error::DeviceClosed)
    }

    /// Waits until all is done and gives the driver back. What was made with the device stays valid memory, and nothing can be drawn with it any more.
    ///
    /// # Errors
    /// When it was closed before, or somebody has the driver.
    pub fn close(&self) -> Result<Driver<'p, P>, Error> {
        self.driver()?.wait_until_idle();
        let mut driver = self.0.driver.try_borrow_mut().map_err(|_| Error::DeviceInUse)?;
        driver.take().ok_or(Error::DeviceClosed)
    }

    /// The pool that all its memory comes from.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Waits until there is room for one more frame under way.
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

    /// Waits until a frame is done.
    ///
    /// # Errors
    /// When it was dropped, or is no frame of this device.
    pub fn wait(&self, fence: Fence) -> Result<(), Error> {
        Ok(self.driver()?.wait(fence)?)
    }

    pub(crate) fn frames(&self) -> Result<RefMut<'_, Frames>, Error> {
        self.0.frames.try_borrow_mut().map_err(|_| Error::DeviceInUse)
    }

    /// A frame is under way.
    pub(crate) fn note_frame(&self, fence: Fence) -> Result<(), Error> {
        self.frames()?.under_way.push_back(fence);
        Ok(())
    }

    /// A number that no pass has had before.
    pub(crate) fn next_pass(&self) -> u64 {
        self.0.passes.update(|passes| passes + 1);
        self.0.passes.get()
    }

    /// Refuses memory of another device.
    #[inline]
    pub(crate) fn expect_own(&self, label: &'static str, buffer: &Buffer) -> Result<(), Error> {
        if buffer.is_of(&self.0.pool) { Ok(()) } else { Err(Error::ForeignDevice { label }) }
    }
}
