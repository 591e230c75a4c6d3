//! Performance counters: 16 counters, 30 sources.
//!
//! Each counter is given a source, cleared, and enabled together with the global enable, bit 31 of PCTRE, which the guide leaves out.
//!
//! # Sources
//! [AG p.97-99], [linux vc4_perfmon.c]

use crate::error::Error;
use crate::platform::RegisterAccess;
use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::registers::Register;
use v3d_hw::registers::performance::{CounterSource, Pctrc, Pctre, Pctrsn};

/// How many counters there are.
pub const COUNTERS: usize = 16;

/// Assigns these sources to the first counters, clears and starts them. More than 16 sources are an error.
pub fn start(registers: &impl RegisterAccess, sources: &[CounterSource]) -> Result<(), Error> {
    if sources.len() > COUNTERS {
        return Err(Error::PerformanceCounters { sources: sources.len(), counters: COUNTERS });
    }
    stop(registers);
    for (register, &source) in (0..).map_while(Register::pctrs).zip(sources) {
        registers.write(register, Pctrsn { pctrs: source }.to_word()?);
    }
    let used = ((1u32 << sources.len()) - 1) as u16;
    registers.write(Register::PCTRC, Pctrc { ctclr: used }.to_word()?);
    registers.write(Register::PCTRE, Pctre { enable: true, cten: used }.to_word()?);
    Ok(())
}

/// Stops all counters; they keep their counts.
pub fn stop(registers: &impl RegisterAccess) {
    registers.write(Register::PCTRE, 0);
}

/// Current values of the counters of `sources`, as passed to [`start`].
pub fn read(registers: &impl RegisterAccess, sources: &[CounterSource]) -> Vec<(CounterSource, u32)> {
    let counters = (0..).map_while(Register::pctr);
    sources.iter().copied().zip(counters.map(|register| registers.read(register))).collect()
}

/// Value of the counter with this source, if there is one, even if other code has started it.
pub fn count_of(registers: &impl RegisterAccess, source: CounterSource) -> Option<u32> {
    let enables = Pctre::from_word(registers.read(Register::PCTRE));
    let counts = |number: u32| {
        let mapped = Register::pctrs(number).map(|register| Pctrsn::from_word(registers.read(register)).pctrs);
        enables.enable && enables.cten >> number & 1 == 1 && mapped == Some(source)
    };
    let number = (0..COUNTERS as u32).find(|&number| counts(number))?;
    Register::pctr(number).map(|register| registers.read(register))
}
