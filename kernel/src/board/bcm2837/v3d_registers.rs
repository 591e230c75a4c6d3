//! The registers of the V3D as words; the driver knows their meaning

use tock_registers::{register_structs, registers::ReadWrite};

register_structs! {
    /// The V3D's registers.
    #[allow(missing_docs, reason = "one field")]
    pub RegisterWindow {
        (0x000 => pub words: [ReadWrite<u32>; 0x1000 / 4]),
        (0x1000 => @END),
    }
}
