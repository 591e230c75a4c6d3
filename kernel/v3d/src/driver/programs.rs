//! Execution of user programs, with the 3D pipeline idle.

use super::Driver;
use crate::diagnosis::report::Report;
use crate::error::{Error, Failure};
use crate::jobs::user_program::{QUEUE_DEPTH, UserProgram};
use crate::memory::caches;
use crate::memory::pool::Owner;
use crate::platform::Platform;
use crate::platform::register_access::flags;
use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::registers::Register;
use v3d_hw::registers::qps::{Srqcs, Srqul};

/// The greatest length in SRQUL; lengths above 1023 mean no limit.
const NO_LIMIT: u16 = 1024;

impl<P: Platform> Driver<'_, P> {
    /// Waits until all frames are done (HW-2959), runs the programs, and waits until all of them have ended.
    ///
    /// Programs that do not end within `limit_us` microseconds are reported, and the V3D is reset.
    pub fn run_programs(&mut self, programs: &[UserProgram], limit_us: u64) -> Result<(), Error> {
        self.run_programs_with(programs, Vec::new(), limit_us)
    }

    /// The same with owners of memory that the programs use. They are kept until the next job is done, the V3D is waited for, or other programs run, so that a
    /// capture of that job has this memory as it was.
    pub fn run_programs_with(
        &mut self,
        programs: &[UserProgram],
        owners: Vec<Owner>,
        limit_us: u64,
    ) -> Result<(), Error> {
        if programs.len() > QUEUE_DEPTH {
            return Err(Error::TooManyPrograms(programs.len()));
        }
        self.wait_until_idle();
        self.last_submission.job = None;
        self.last_submission.programs.clear();
        self.last_submission.programs.extend_from_slice(programs);
        self.program_owners = owners;
        let registers = self.platform;
        caches::clear(registers);
        // Writing 1 clears the completed count, the request count and the error.
        let clear = Srqcs { qpurqcc: 1, qpurqcm: 1, qpurqerr: true, qpurql: 0 };
        registers.write(Register::SRQCS, flags(clear));
        for program in programs {
            let length = Srqul { qpurqul: program.uniform_count.min(NO_LIMIT) };
            registers.write(Register::SRQUL, length.to_word()?);
            registers.write(Register::SRQUA, program.uniforms.0);
            registers.write(Register::SRQPC, program.code.0);
        }
        let requested = programs.len() as u32;
        let deadline = registers.now_us() + limit_us;
        loop {
            self.interrupts.service(registers);
            let completed = u32::from(Srqcs::from_word(registers.read(Register::SRQCS)).qpurqcc);
            if completed >= requested {
                break;
            }
            if registers.now_us() > deadline {
                self.note_error_bits();
                let submission = self.last_submission.clone();
                self.keep(Report::capture(registers, None, Failure::ProgramsTooLong, 1, submission));
                self.reset();
                return Err(Error::ProgramsTimedOut { completed, requested });
            }
            self.sleep();
        }
        self.statistics.programs_done += u64::from(requested);
        Ok(())
    }
}
