//! Peripherals with random answers, which record what is written to them.
//!
//! An answer depends on the seed and on the answers before it alone. Whether an instruction must wait does not change until a run has stalled:
//! engines ask for it any number of times.

use crate::memory::Memory;
use crate::qpu::io::{Io, IoError, SMALL_VARYING, Varying, Wait};
use crate::qpu::lanes::{Lanes, Mask};
use crate::qpu::qps::user_io::{SEMAPHORE_LIMIT, SEMAPHORES, Setup, Shared, UserIo};
use crate::random::Random;
use v3d_hw::qpu::LANES;

/// Number of the QPU that holds what is in use.
const OTHER_QPU: u8 = 11;

/// The peripherals.
#[derive(Debug)]
pub(super) struct RandomIo {
    random: Random,
    varyings: Vec<Varying>,
    next_varying: usize,
    refused: u32,
    /// The scoreboard is held by somebody else.
    locked: bool,
    /// Nobody else wants it.
    alone: bool,
    /// Writes that have no other effect.
    pub(super) written: Vec<(&'static str, Lanes, Mask)>,
    /// VPM, mutex and semaphores.
    pub(super) shared: Shared,
    setup: Setup,
}

impl RandomIo {
    /// Peripherals whose answers follow from a seed, with a number of varyings. One in `refused` answers is an error. If `busy`, another QPU holds the
    /// mutex and the scoreboard. `ordinary`: values are of ordinary sizes.
    pub(super) fn new(seed: u64, varyings: u32, refused: u32, busy: bool, ordinary: bool) -> Self {
        let mut shared = Shared::new(12);
        shared.vpm.set_window(16);
        shared.mutex = busy.then_some(OTHER_QPU);
        let mut random = Random::new(seed, 3).with_ordinary_values(ordinary);
        Self {
            random: Random::new(seed, 1).with_ordinary_values(ordinary),
            varyings: (0..varyings).map(|_| random_varying(&mut random)).collect(),
            next_varying: 0,
            refused,
            locked: busy,
            alone: !busy && seed & 1 == 1,
            written: Vec::new(),
            shared,
            setup: Setup::default(),
        }
    }

    /// Refills the varyings.
    pub(super) fn start(&mut self) {
        self.next_varying = 0;
    }

    /// Ends all waits.
    pub(super) fn release(&mut self) {
        self.locked = false;
        self.shared.mutex = self.shared.mutex.filter(|&qpu| qpu != OTHER_QPU);
        self.shared.semaphores = [SEMAPHORE_LIMIT / 2; SEMAPHORES];
    }

    fn note(&mut self, name: &'static str, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        // Elements outside of the mask are arbitrary.
        let kept = Lanes(std::array::from_fn(|i| if mask >> i & 1 == 1 { value.0[i] } else { 0 }));
        self.written.push((name, kept, mask));
        Ok(())
    }

    fn user(&mut self) -> UserIo<'_> {
        UserIo { qpu: 0, shared: &mut self.shared, setup: &mut self.setup }
    }

    fn answer(&mut self) -> Result<Lanes, IoError> {
        if self.random.one_in(self.refused) {
            Err(IoError::NotAccessible("this time, the unit"))
        } else {
            Ok(self.random.lanes())
        }
    }
}

fn random_varying(random: &mut Random) -> Varying {
    let value = random.lanes();
    let quads: [u32; LANES / 4] = std::array::from_fn(|_| random.value());
    Varying { value, coefficients: Lanes(std::array::from_fn(|i| quads[i / 4])) }
}

impl Io for RandomIo {
    fn varying(&mut self) -> Result<Varying, IoError> {
        let next = self.varyings_ahead().first().copied();
        self.next_varying += usize::from(next.is_some());
        next.ok_or(IoError::VaryingsExhausted(self.varyings.len() as u32))
    }
    fn varyings_ahead(&mut self) -> &[Varying] {
        self.varyings.get(self.next_varying..).unwrap_or_default()
    }
    fn has_small_varyings(&self) -> bool {
        let is_small = |lanes: &Lanes| lanes.0.iter().all(|bits| bits & 0x7fff_ffff < SMALL_VARYING);
        self.varyings.iter().all(|varying| is_small(&varying.value) && is_small(&varying.coefficients))
    }
    fn take_varyings(&mut self, count: usize) {
        self.next_varying += count;
    }
    fn pixel_x(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn pixel_y(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn ms_flags(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn rev_flag(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn set_ms_flags(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("MS_FLAGS", value, mask)
    }
    fn set_rev_flag(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("REV_FLAG", value, mask)
    }
    fn set_quad_x(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("QUAD_X", value, mask)
    }
    fn set_quad_y(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("QUAD_Y", value, mask)
    }
    fn tlb_stencil_setup(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("TLB_STENCIL_SETUP", value, mask)
    }
    fn tlb_z(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("TLB_Z", value, mask)
    }
    fn tlb_color_ms(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("TLB_COLOUR_MS", value, mask)
    }
    fn tlb_color_all(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("TLB_COLOUR_ALL", value, mask)
    }
    fn tlb_alpha_mask(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("TLB_ALPHA_MASK", value, mask)
    }
    fn load_color(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn load_coverage(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn load_alpha(&mut self) -> Result<Lanes, IoError> {
        self.answer()
    }
    fn has_scoreboard_alone(&self) -> bool {
        self.alone
    }
    fn scoreboard_wait(&mut self) -> Result<Wait, IoError> {
        Ok(if self.locked { Wait::Stall } else { Wait::Ready })
    }
    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        if self.alone { Ok(()) } else { self.note("scoreboard", &Lanes::default(), 0) }
    }
    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        self.user().vpm_read()
    }
    fn vpm_write(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.user().vpm_write(value, mask)
    }
    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        self.user().vpm_read_setup(word)
    }
    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        self.user().vpm_write_setup(word)
    }
    fn dma_load(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        self.user().dma_load(address, memory)
    }
    fn dma_store(&mut self, address: u32, memory: Memory<'_>) -> Result<(), IoError> {
        // Data only: code in execution must not change.
        self.user().dma_store(address & 0x7ff, memory)
    }
    fn dma_poll(&mut self) -> Result<(), IoError> {
        Ok(())
    }
    fn mutex_acquire(&mut self) -> Result<Wait, IoError> {
        self.user().mutex_acquire()
    }
    fn mutex_release(&mut self) -> Result<(), IoError> {
        self.user().mutex_release()
    }
    fn semaphore(&mut self, number: u8, decrement: bool) -> Result<Wait, IoError> {
        self.user().semaphore(number, decrement)
    }
    fn host_interrupt(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        self.note("HOST_INT", value, mask)
    }
}
