//! Sets of addresses by what their rows say: bit `n` is address `n`, in either file.
//!
//! [`Accesses::reads_any`](super::Accesses::reads_any) and [`Accesses::writes_any`](super::Accesses::writes_any) compare an instruction with them.

use super::{File, ReadSource, WriteTarget};

/// The addresses of a table for whose entries a condition holds, which must be so in both files or in neither.
macro_rules! addresses {
    ($table:ident, $entry:ident => $holds:expr) => {{
        let (mut addresses, mut address) = (0u64, 0);
        while address < 64 {
            let $entry = $table::of(File::A, address);
            let in_file_a = $holds;
            let $entry = $table::of(File::B, address);
            assert!(in_file_a == $holds, "both files agree");
            if in_file_a {
                addresses |= 1 << address;
            }
            address += 1;
        }
        addresses
    }};
}

/// Read addresses of units outside of the QPU.
pub const UNITS_READ: u64 = addresses!(ReadSource, source => source.row().peripheral.is_some());
/// Read addresses that the map leaves empty.
pub const UNMAPPED: u64 = addresses!(ReadSource, source => matches!(source, ReadSource::Unmapped(_)));

/// Write addresses of r5.
pub const R5: u64 = addresses!(WriteTarget, target => target.is_r5());
/// Write addresses of units outside of the QPU.
pub const UNITS_WRITTEN: u64 = addresses!(WriteTarget, target => target.is_peripheral());
/// Write addresses of closely coupled peripherals.
pub const COUPLED: u64 = addresses!(WriteTarget, target => target.row().access.is_coupled);
/// Write addresses of the special functions unit.
pub const SFU: u64 = addresses!(WriteTarget, target => target.is_sfu());
/// Write addresses of the TMUs.
pub const TMU: u64 = addresses!(WriteTarget, target => matches!(target, WriteTarget::Tmu { .. }));
/// Write addresses of t, r and b of the TMUs, each of which takes a uniform [AG p.23, p.40]. s takes one unless it is written alone.
pub const TAKE_UNIFORM: u64 =
    addresses!(WriteTarget, target => matches!(target, WriteTarget::Tmu { .. }) && !target.starts_lookup());
/// Write addresses of the tile buffer and its set-up.
pub const TILE_BUFFER: u64 = addresses!(WriteTarget, target => target.is_tile_buffer());
/// Write addresses of the tile buffer's samples.
pub const SAMPLES: u64 = addresses!(WriteTarget, target => target.writes_samples());
