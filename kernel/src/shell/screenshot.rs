//! The command `screenshot`: writes what the display shows to the SD card

use alloc::string::String;

use super::{
    card,
    session::{CommandResult, Session},
};
use crate::{display::png, terminal::console};

pub(super) fn screenshot(session: &mut Session, file: Option<String>) -> CommandResult {
    let pages = session.framebuffer.ok_or("there is no display")?;
    let picture = png::encode(pages.width, pages.height, pages.pixels(console::shown_page()));
    card::save(session, file, ["screen", "png"], &picture)
}
