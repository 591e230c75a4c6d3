//! The firmware of this board, behind the kernel's only mailbox
//!
//! The whole kernel shares one mailbox. Interrupt handlers must not use it, since an exchange takes up to milliseconds.

pub use bcm283x::firmware::Firmware;

#[cfg(target_os = "none")]
pub use board::{BehindMailbox, ask, exchange, init, is_silent, refusals};

/// The firmware of this board.
#[cfg(target_os = "none")]
mod board {
    use spin::mutex::SpinMutex;

    use bcm283x::{
        mailbox::Mailbox,
        property::{Message, Property, PropertyError},
        refusals::Refusals,
    };

    use super::Firmware;
    use crate::{
        board::bcm2837::mailbox::{HardwareLine, Registers},
        mm::shared::SharedWords,
        mmio::Mmio,
    };

    static MAILBOX: SpinMutex<Option<Mailbox<HardwareLine, SharedWords>>> = SpinMutex::new(None);
    static REFUSALS: SpinMutex<Refusals> = SpinMutex::new(Refusals::new());

    /// Takes ownership of the mailbox.
    pub fn init(registers: Mmio<Registers>) {
        *MAILBOX.lock() = Some(Mailbox::new(HardwareLine::new(registers), SharedWords::messages()));
    }

    /// The firmware, through the kernel's only mailbox.
    #[derive(Clone, Copy, Debug)]
    pub struct BehindMailbox;

    impl Firmware for BehindMailbox {
        fn exchange(&self, message: &mut Message) -> Result<(), PropertyError> {
            let result = match MAILBOX.lock().as_mut() {
                Some(mailbox) => mailbox.exchange(message),
                None => Err(PropertyError::Timeout),
            };
            REFUSALS.lock().note(message, result);
            result
        }

        fn exchange_within(&self, message: &mut Message, limit_us: u64) -> Result<(), PropertyError> {
            match MAILBOX.lock().as_mut() {
                Some(mailbox) => mailbox.exchange_within(message, limit_us),
                None => Err(PropertyError::Timeout),
            }
        }
    }

    /// What the firmware has refused since the boot.
    #[must_use]
    pub fn refusals() -> Refusals {
        *REFUSALS.lock()
    }

    /// Whether the last message was not answered.
    #[must_use]
    pub fn is_silent() -> bool {
        MAILBOX.lock().as_ref().is_none_or(Mailbox::is_silent)
    }

    /// [`Firmware::exchange`] with the board's firmware
    ///
    /// # Errors
    /// See [`Firmware::exchange`].
    pub fn exchange(message: &mut Message) -> Result<(), PropertyError> {
        BehindMailbox.exchange(message)
    }

    /// [`Firmware::ask`] with the board's firmware
    ///
    /// # Errors
    /// See [`Firmware::ask`].
    pub fn ask<P: Property>(property: &P) -> Result<P::Answer, PropertyError> {
        BehindMailbox.ask(property)
    }
}
