//! Effects outside of the register files: writes to peripherals, and the signal.
//!
//! # Sources
//! [AG p.29, p.37]; [vc4asm] where said.

use crate::fault::qpu::QpuError;
use crate::fault::rule::Rule;
use crate::memory::{Memory, Path};
use crate::qpu::Qpu;
use crate::qpu::io::{Io, IoError};
use crate::qpu::isa::instruction::{AluOperation, Destination};
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::isa::sfu;
use crate::qpu::isa::touches::Touches;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::timing::trace::Event;
use crate::tmu::TmuFault;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::{TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{Condition, LANES, Signal};

impl Qpu {
    pub(super) fn write_peripheral<Op>(
        &mut self,
        half: &AluOperation<Op>,
        (value, mask): &(Lanes, Mask),
        touches: &Touches,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        let mask = *mask;
        if half.condition == Condition::Never {
            return;
        }
        match half.to {
            Destination::Nowhere | Destination::Register(_) | Destination::R5 { .. } => {}
            Destination::Sfu(function) => {
                self.report_conditional(mask);
                let result = sfu::apply_all(function, value);
                self.stale_r4 = std::mem::replace(self.registers.at_mut(registers::R4), result);
            }
            Destination::Tmu(unit, coordinate) => {
                if coordinate == TmuCoordinate::S {
                    self.report_conditional(mask);
                }
                self.write_tmu(unit, coordinate, value, touches.uniform, memory);
            }
            Destination::Peripheral(target) => {
                if let Err(error) = self.write_io(target, value, mask, io, memory) {
                    self.report(error);
                }
            }
        }
    }

    /// Writes a coordinate of a TMU, which may take a uniform. `reads_uniform`: the instruction has read one itself.
    fn write_tmu(
        &mut self,
        unit: u8,
        coordinate: TmuCoordinate,
        value: &Lanes,
        reads_uniform: bool,
        memory: Memory<'_>,
    ) {
        let unit = usize::from(unit & 1);
        let uniform = self.take_parameter(unit, coordinate, reads_uniform, memory);
        if let Some(trace) = &mut self.trace {
            if uniform.is_some() {
                trace.record(Event::Uniform);
            }
            if coordinate == TmuCoordinate::S {
                let lines = self.tmu[unit].footprint(value, uniform.unwrap_or(0), memory);
                trace.lookup(unit as u8, self.no_swap_at.is_none(), &lines);
            }
        }
        let memory = memory.through(Path::of_tmu(unit, self.no_swap_at.is_some()));
        if let Err(error) = self.tmu[unit].write(coordinate, value, uniform.unwrap_or(0), memory) {
            self.report_lookup(error, value, uniform.is_none(), memory);
        }
    }

    /// The same with the value of a register, by a program that leaves no trace.
    pub(in crate::qpu) fn write_tmu_from(
        &mut self,
        unit: u8,
        coordinate: TmuCoordinate,
        from: RegisterIndex,
        reads_uniform: bool,
        memory: Memory<'_>,
    ) {
        let unit = usize::from(unit & 1);
        let uniform = self.take_parameter(unit, coordinate, reads_uniform, memory);
        let memory = memory.through(Path::of_tmu(unit, self.no_swap_at.is_some()));
        let Self { tmu, registers, .. } = self;
        if let Err(error) = tmu[unit].write(coordinate, registers.at(from), uniform.unwrap_or(0), memory) {
            let value = *self.registers.at(from);
            self.report_lookup(error, &value, uniform.is_none(), memory);
        }
    }

    /// Takes the uniform of a write to a TMU, if it has one.
    #[inline]
    fn take_parameter(
        &mut self,
        unit: usize,
        coordinate: TmuCoordinate,
        reads_uniform: bool,
        memory: Memory<'_>,
    ) -> Option<u32> {
        let takes_uniform = self.tmu[unit].needs_uniform(coordinate);
        if takes_uniform && reads_uniform {
            self.report(Rule::UniformWithTmuWrite);
        }
        takes_uniform.then(|| self.next_uniform(memory))
    }

    /// Reports what is wrong with a lookup.
    #[cold]
    fn report_lookup(&mut self, error: TmuFault, value: &Lanes, is_direct: bool, memory: Memory<'_>) {
        match error {
            TmuFault::Memory(error) if is_direct && self.only_undefined_elements_leave(value, memory) => {
                self.report(QpuError::UndefinedAddress(error));
            }
            error => self.report(error),
        }
    }

    /// Whether all addresses of elements that have a vertex are in memory.
    #[cold]
    fn only_undefined_elements_leave(&self, addresses: &Lanes, memory: Memory<'_>) -> bool {
        let defined = |lane: &usize| self.undefined_elements >> lane & 1 == 0;
        let is_inside = |lane: usize| memory.word(BusAddr(addresses.0[lane])).is_ok();
        self.undefined_elements != 0 && (0..LANES).filter(defined).all(is_inside)
    }

    /// Loads a result of a TMU to r4.
    pub(in crate::qpu) fn load_tmu(&mut self, unit: u8) {
        let loaded = self.tmu[usize::from(unit & 1)].load();
        *self.registers.at_mut(registers::R4) = loaded.unwrap_or_else(|error| {
            self.report(error);
            Lanes::default()
        });
    }

    pub(in crate::qpu) fn write_io(
        &mut self,
        target: WriteTarget,
        value: &Lanes,
        mask: Mask,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) -> Result<(), IoError> {
        // Registers that only use element 0 are only written if that element is.
        let word = (mask & 1 == 1).then_some(value.0[0]);
        if self.trace.is_some() {
            self.record_write(target, word, mask);
        }
        match (target, word) {
            (WriteTarget::TlbStencilSetup, _) => io.tlb_stencil_setup(value, mask),
            (WriteTarget::TlbZ, _) => io.tlb_z(value, mask),
            (WriteTarget::TlbColorMs, _) => io.tlb_color_ms(value, mask),
            (WriteTarget::TlbColorAll, _) => io.tlb_color_all(value, mask),
            (WriteTarget::TlbAlphaMask, _) => io.tlb_alpha_mask(value, mask),
            (WriteTarget::MsFlags, _) => io.set_ms_flags(value, mask),
            (WriteTarget::RevFlag, _) => io.set_rev_flag(value, mask),
            (WriteTarget::QuadX, _) => io.set_quad_x(value, mask),
            (WriteTarget::QuadY, _) => io.set_quad_y(value, mask),
            (WriteTarget::VpmWrite, _) => {
                self.report_conditional(mask);
                io.vpm_write(value, mask)
            }
            (WriteTarget::VpmVcdRdSetup, Some(word)) => io.vpm_read_setup(word),
            (WriteTarget::VpmVcdWrSetup, Some(word)) => io.vpm_write_setup(word),
            (WriteTarget::VpmLdAddr, Some(word)) => io.dma_load(word, memory),
            (WriteTarget::VpmStAddr, Some(word)) => io.dma_store(word, memory),
            (WriteTarget::MutexRelease, _) if mask != 0 => io.mutex_release(),
            (WriteTarget::HostInterrupt, _) if mask != 0 => {
                // Writing 0 does nothing [vc4asm].
                let any = (0..LANES).any(|i| mask >> i & 1 == 1 && value.0[i] != 0);
                if any { io.host_interrupt(value, mask) } else { Ok(()) }
            }
            (WriteTarget::UniformsAddress, Some(word)) => {
                self.set_uniforms_address(word);
                Ok(())
            }
            (WriteTarget::TmuNoSwap, Some(_)) => {
                self.no_swap_at = Some(self.executed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn report_conditional(&mut self, mask: Mask) {
        if mask != ALL {
            self.report(Rule::ConditionalPeripheral);
        }
    }

    pub(in crate::qpu) fn execute_signal(&mut self, signal: Signal, io: &mut dyn Io) {
        let loaded = match signal {
            Signal::LoadTmu0 => return self.load_tmu(0),
            Signal::LoadTmu1 => return self.load_tmu(1),
            Signal::LoadCoverage => io.load_coverage().map_err(QpuError::from),
            Signal::LoadColor | Signal::LoadColorEnd => io.load_color().map_err(QpuError::from),
            Signal::LoadAlpha => io.load_alpha().map_err(QpuError::from),
            Signal::ScoreboardUnlock => {
                if let Err(error) = io.scoreboard_unlock() {
                    self.report(error);
                }
                return;
            }
            _ => return,
        };
        let value = loaded.unwrap_or_else(|error| {
            self.report(error);
            Lanes::default()
        });
        *self.registers.at_mut(registers::R4) = value;
    }
}
