//! The platform: four small traits that connect the driver to the machine.
//!
//! On the Pi they are MMIO, a non-cacheable pool, the system timer with the interrupt controller, and the power manager. In tests they
//! are the model. All methods take `&self`: the interrupt handler and the main program use the same platform at once, and
//! each call is one access or one short operation that does not need the other to wait.

pub mod gpu_memory;
pub mod named;
pub mod names;
pub mod power;
pub mod register_access;
pub mod time;

pub use gpu_memory::GpuMemory;
pub use named::Named;
pub use names::Names;
pub use power::{Power, PowerError};
pub use register_access::RegisterAccess;
pub use time::Time;

/// All that the driver needs from the machine; implemented for all types that implement the four traits.
pub trait Platform: RegisterAccess + GpuMemory + Time + Power {}

impl<T: RegisterAccess + GpuMemory + Time + Power> Platform for T {}
