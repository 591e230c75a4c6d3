//! Reads from outside of the register files: peripherals through ports A and B, uniforms, constants.
//!
//! # Sources
//! [AG p.22, p.37]; [vc4asm] where said.

use crate::fault::qpu::QpuError;
use crate::memory::{Memory, Path};
use crate::qpu::Qpu;
use crate::qpu::io::{Io, IoError};
use crate::qpu::isa::instruction::DecodedInstruction;
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::lanes::Lanes;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::ReadSource;

impl Qpu {
    /// Reads the peripherals of both ports; returns the C coefficients if a varying is among them.
    pub(super) fn read_ports(
        &mut self,
        instruction: &DecodedInstruction,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) -> Option<Lanes> {
        let mut coefficients = None;
        for (source, register) in [(instruction.port_a, registers::PORT_A), (instruction.port_b, registers::PORT_B)] {
            let Some(source) = source else { continue };
            // Both ports together take one element from a stream.
            if register == registers::PORT_B && instruction.port_a == Some(source) && is_stream(source) {
                *self.registers.at_mut(register) = *self.registers.at(registers::PORT_A);
                continue;
            }
            let value = match source {
                ReadSource::Uniform => Ok(Lanes::splat(self.next_uniform(memory))),
                ReadSource::Varying => io.varying().map(|varying| {
                    coefficients = Some(varying.coefficients);
                    varying.value
                }),
                ReadSource::VpmRead => io.vpm_read(),
                _ => self.read_port(source, register, io),
            };
            let value = value.unwrap_or_else(|error| {
                self.report(error);
                Lanes::default()
            });
            *self.registers.at_mut(register) = value;
        }
        coefficients
    }

    /// What a port shows of a peripheral that supplies no stream.
    pub(in crate::qpu) fn read_port(
        &self,
        source: ReadSource,
        port: RegisterIndex,
        io: &mut dyn Io,
    ) -> Result<Lanes, IoError> {
        let is_b = port == registers::PORT_B;
        let default = || *self.registers.at(if is_b { registers::QPU_NUMBER } else { registers::ELEMENTS });
        match source {
            ReadSource::XPixelCoord => io.pixel_x(),
            ReadSource::YPixelCoord => io.pixel_y(),
            ReadSource::MsFlags => io.ms_flags(),
            ReadSource::RevFlag => io.rev_flag(),
            // DMA has finished when it has been started.
            ReadSource::VpmLdBusy | ReadSource::VpmStBusy => io.dma_poll().map(|()| Lanes::default()),
            ReadSource::VpmLdWait | ReadSource::VpmStWait => io.dma_poll().map(|()| default()),
            // A port that reads nothing still shows its last four elements [vc4asm].
            ReadSource::Nop => {
                let latch = &self.latches[usize::from(is_b)];
                Ok(Lanes(std::array::from_fn(|i| latch[i % 4])))
            }
            _ => Ok(default()),
        }
    }

    pub(in crate::qpu) fn next_uniform(&mut self, memory: Memory<'_>) -> u32 {
        if let Some(left) = &mut self.uniforms_left {
            if *left == 0 {
                self.report(QpuError::UniformsExhausted);
                return 0;
            }
            *left -= 1;
        }
        let at = BusAddr(self.uniforms);
        self.uniforms = self.uniforms.wrapping_add(4);
        memory.through(Path::Uniforms).word(at).unwrap_or_else(|error| {
            self.report(error);
            0
        })
    }

    pub(in crate::qpu) fn set_uniforms_address(&mut self, address: u32) {
        self.uniforms = address;
        self.uniforms_left = None;
    }

    /// Loads the constant of an instruction.
    pub(super) fn load_constant(&mut self, instruction: &DecodedInstruction) {
        if let Some(value) = instruction.kind.constant(self.after_delay_slots()) {
            *self.registers.at_mut(registers::IMMEDIATE) = value;
        }
    }
}

/// Whether each read of a source takes the next element of a stream.
pub(super) const fn is_stream(source: ReadSource) -> bool {
    matches!(source, ReadSource::Uniform | ReadSource::Varying | ReadSource::VpmRead)
}
