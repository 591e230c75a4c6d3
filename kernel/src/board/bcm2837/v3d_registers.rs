//! The registers of the 3D engine as words; their meaning is the driver's

use tock_registers::{register_structs, registers::ReadWrite};

register_structs! {
    /// The 3D engine's registers.
    #[allow(missing_docs, reason = "one field")]
    pub RegisterWindow {
        (0x000 => pub words: [ReadWrite<u32>; 0x1000 / 4]),
        (0x1000 => @END),
    }
}
