//! Registers that are not for computing: who runs, what time it is, what was counted.

use crate::table::{Document, Row};

const NO_CLOCK: &str =
    "no register of a QPU counts time; the performance counters are registers of the V3D's, which the host reads";
const NO_COUNTER: &str = "performance counters (PCTR0 to PCTR15) are registers of the V3D's, which the host reads: a QPU has no access to them";
const UNKNOWN: &str =
    "the document does not say what it holds, and no register of a QPU is without a meaning of its own";

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let absent = |operation: &str, reason| Row::absent(Document::Instructions, operation, reason);
    let mut rows = vec![absent("mov clock", NO_CLOCK), absent("mov sreg2", UNKNOWN), absent("mov sreg3", UNKNOWN)];
    rows.extend((0..4).map(|n| absent(&format!("mov pm{n}"), NO_COUNTER)));
    rows
}
