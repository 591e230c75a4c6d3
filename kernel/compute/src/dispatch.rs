//! Dispatch of compute programs over a grid of workgroups.

use alloc::vec::Vec;
use core::iter;

use shader_interface::{ComputeProgram, ComputeUniforms, UniformStream, ViewportUniforms};
use v3d::pool::Buffer;
use v3d::{Platform, user_program};

use crate::session::{LINE_BYTES, NO_LIMIT};
use crate::{Error, QPUS, Session};

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Runs a compute program for this number of workgroups along three axes, and waits for its end. Its results are then in memory.
    ///
    /// # Errors
    /// When an array among the bindings belongs to another driver or is shorter than the program requires, when there are too many workgroups, or when memory
    /// runs out; and the driver's.
    pub fn dispatch<U: ComputeUniforms>(
        &mut self,
        program: &ComputeProgram<U>,
        count: [u32; 3],
        bindings: &U,
    ) -> Result<(), Error> {
        let workgroups = program.workgroups();
        let mut shares = workgroups.shares(count, QPUS).ok_or(Error::TooManyWorkgroups(count))?;
        if shares.is_empty() {
            return Ok(());
        }
        let code = self.compute.program(self.driver, program.code())?;
        let stream_words = U::WORDS.next_multiple_of(LINE_BYTES as usize / 4);
        let stream_bytes = 4 * stream_words as u32;
        let uniforms = self.driver.allocate(stream_bytes * shares.len() as u32, LINE_BYTES)?;
        // Programs that execute one workgroup together share its memory; otherwise each program has its own.
        let memories = if workgroups.together { 1 } else { shares.len() as u32 };
        let memory_bytes = workgroups.memory_bytes;
        let memory = match memory_bytes {
            0 => None,
            bytes => Some(self.driver.allocate(bytes.saturating_mul(memories), LINE_BYTES)?),
        };
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        for (number, share) in shares.iter_mut().enumerate() {
            let number = number as u32;
            share.stream = uniforms.address() + stream_bytes * number;
            if let Some(memory) = &memory {
                share.workgroup_memory = memory.address() + memory_bytes * (number % memories);
            }
            let mut stream = UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE);
            bindings.push(share, &mut stream);
            if let Some((given, needed)) = stream.too_short() {
                return Err(Error::TooShort { given, needed });
            }
            words.resize(stream_words * (number as usize + 1), 0);
        }
        let is_own = |buffer: &Buffer| buffer.is_of(self.driver.pool());
        if !owners.iter().filter_map(|owner| owner.downcast_ref::<Buffer>()).all(is_own) {
            return Err(Error::ForeignArray);
        }
        uniforms.region().store_words(self.driver.platform(), &words)?;
        let programs: Vec<user_program::UserProgram> = shares
            .iter()
            .map(|share| user_program::UserProgram {
                code: code.address(),
                uniforms: share.stream,
                uniform_count: NO_LIMIT,
            })
            .collect();
        let limit_us = self.driver.limits().programs_us;
        let used = iter::once(&uniforms).chain(&memory).map(Buffer::owner).collect();
        Ok(self.driver.run_programs_with(&programs, used, limit_us)?)
    }
}
