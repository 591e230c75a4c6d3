//! The firmware, asked and told through the mailbox
//!
//! One mailbox for the whole kernel. Interrupt handlers must not use it: an exchange takes up to milliseconds.

use spin::mutex::SpinMutex;

use super::{
    mailbox::{Mailbox, Registers},
    property::{Message, Property, PropertyError},
};
use crate::mmio::Mmio;

static MAILBOX: SpinMutex<Option<Mailbox>> = SpinMutex::new(None);

/// Takes the mailbox over.
pub fn init(registers: Mmio<Registers>) {
    *MAILBOX.lock() = Some(Mailbox::new(registers));
}

/// Carries a message of any number of properties to the firmware and back.
///
/// # Errors
/// See [`Mailbox::exchange`]; a mailbox that was never taken over does not answer either.
pub fn exchange(message: &mut Message) -> Result<(), PropertyError> {
    match MAILBOX.lock().as_mut() {
        Some(mailbox) => mailbox.exchange(message),
        None => Err(PropertyError::Timeout),
    }
}

/// Asks or tells one property.
///
/// # Errors
/// See [`exchange`] and [`Message::answer`].
pub fn ask<P: Property>(property: &P) -> Result<P::Answer, PropertyError> {
    let mut message = Message::new();
    let slot = message.push(property)?;
    exchange(&mut message)?;
    message.answer(&slot)
}
