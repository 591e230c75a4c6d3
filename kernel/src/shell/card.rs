//! The SD card in commands: its files, read and written

use alloc::{
    format,
    string::{String, ToString},
};

use bcm283x::sd_card::CardError;

use super::session::Session;
use crate::{
    board::{emmc::CardSlot, watchdog::Watchdog},
    println,
    storage::{self, StorageError, Volume, blocks::Blocks},
};

/// The card, each of whose transfers is a sign of life: a long file takes longer than the watchdog waits.
#[derive(Debug)]
pub(super) struct AttendedCard<'s> {
    slot: &'s mut CardSlot,
    watchdog: &'s mut Watchdog,
}

impl Blocks for AttendedCard<'_> {
    fn count(&mut self) -> Result<u32, CardError> {
        self.slot.count()
    }

    fn is_write_protected(&mut self) -> Result<bool, CardError> {
        self.slot.is_write_protected()
    }

    fn read(&mut self, first: u32, bytes: &mut [u8]) -> Result<(), CardError> {
        self.watchdog.sign_of_life();
        Blocks::read(self.slot, first, bytes)
    }

    fn write(&mut self, first: u32, bytes: &[u8]) -> Result<(), CardError> {
        self.watchdog.sign_of_life();
        Blocks::write(self.slot, first, bytes)
    }
}

/// Does something with the files of the card.
pub(super) fn with_files<T>(
    session: &mut Session,
    work: impl FnOnce(&Volume<'_, AttendedCard<'_>>) -> Result<T, StorageError>,
) -> Result<T, String> {
    let card = AttendedCard { slot: &mut session.card, watchdog: &mut session.watchdog };
    storage::with_volume(card, work).map_err(|error| error.to_string())
}

/// Writes a new file: of this name, or of the first free name such as `screen-1.png`. Says which one it is.
pub(super) fn save(
    session: &mut Session,
    name: Option<String>,
    [stem, extension]: [&str; 2],
    bytes: &[u8],
) -> Result<(), String> {
    let name = with_files(session, |volume| {
        let name = match name {
            Some(name) => name,
            None => volume.free_name(stem, extension)?,
        };
        volume.create(&name, bytes).map(|()| name)
    })?;
    println!("{name}: {} bytes on the SD card", bytes.len());
    Ok(())
}

/// Reads a text file of at most `most` bytes.
pub(super) fn text(session: &mut Session, path: &str, most: usize) -> Result<String, String> {
    let bytes = with_files(session, |volume| volume.read(path, most))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("{path} is no text: its byte number {} is not UTF-8", error.utf8_error().valid_up_to())
    })
}
