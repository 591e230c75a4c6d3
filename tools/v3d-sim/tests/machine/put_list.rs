//! Control lists in memory, for tests.

use v3d_hw::BusAddr;
use v3d_hw::control_list::Record;
use v3d_sim::Memory;

/// Writes records to memory in succession, and returns their end.
pub(crate) fn put_list(memory: Memory<'_>, at: u32, records: &[Record]) -> u32 {
    records.iter().fold(at, |at, record| {
        memory.write(BusAddr(at), &record.encode().unwrap()[..record.bytes()]).unwrap();
        at + record.bytes() as u32
    })
}
