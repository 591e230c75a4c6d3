//! The commands `ls` and `cat`: the files on the SD card

use super::{
    card,
    session::{CommandResult, Session},
};
use crate::println;

/// Bytes of the longest file that is printed: at the console's rate, 90 seconds.
const MOST_PRINTED: usize = 1 << 20;

pub(super) fn list(session: &mut Session, folder: &str) -> CommandResult {
    let (entries, free) = card::with_files(session, |volume| Ok((volume.list(folder)?, volume.free_bytes()?)))?;
    for entry in &entries {
        match entry.bytes {
            Some(bytes) => println!("{bytes:>10}  {}", entry.name),
            None => println!("{:>10}  {}/", "", entry.name),
        }
    }
    println!("{} entries, {free} bytes are free", entries.len());
    Ok(())
}

/// Prints a file with numbers of lines, so that no line of it can be taken for one of the console's own.
pub(super) fn print(session: &mut Session, file: &str) -> CommandResult {
    let text = card::text(session, file, MOST_PRINTED)?;
    for (number, line) in (1..).zip(text.lines()) {
        session.watchdog.sign_of_life();
        println!("{number:4} {}", line.replace(|c: char| c.is_control() && c != '\t', "?"));
    }
    Ok(())
}
