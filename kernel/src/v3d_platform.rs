//! What the V3D driver asks of the board: registers, GPU memory, time and interrupts

use tock_registers::{register_structs, registers::ReadWrite};

register_structs! {
    /// The 3D engine's registers as words; what each is, the driver knows.
    #[allow(missing_docs, reason = "one field")]
    pub RegisterWindow {
        (0x000 => pub words: [ReadWrite<u32>; 0x1000 / 4]),
        (0x1000 => @END),
    }
}
