//! The command `bench`: measures the speed of memory, firmware and scenes

use alloc::string::ToString;

use super::{
    scene,
    session::{CommandResult, NO_V3D, Session},
};
use crate::{
    arch::clock,
    board::{firmware, property::GetFirmwareRevision},
    crc32,
    mm::shared::SharedWords,
    println,
    scenes::SCENES,
    terminal::console,
};

/// Number of frames per scene, unless the command says another.
const FRAMES: u64 = 30;
/// Number of words that are written and read.
const WORDS: usize = 1 << 20;
/// Number of messages to the firmware.
const MESSAGES: u64 = 100;

/// Measures one scene.
pub(super) fn scene(session: &mut Session, name: &str, frames: Option<u64>) -> CommandResult {
    session.gpu()?;
    let entry = scene::find(name)?;
    scene::measure(session, entry, frames.unwrap_or(FRAMES))
}

/// Measures memory, firmware and all scenes.
pub(super) fn bench(session: &mut Session, frames: Option<u64>) -> CommandResult {
    if let Some(pages) = &session.framebuffer {
        // The next scene overwrites a page that is not displayed, so its contents do not matter.
        let page = pages.words((console::shown_page() + 1) % pages.count);
        let words = page.len();
        let fill_us = time(|| pages.memory.fill(page.clone(), 0));
        let crc_us = time(|| crc32::of_words(pages.memory.iter(page.clone())));
        println!("framebuffer    fill {} MB/s, CRC-32 {} MB/s", rate(words, fill_us), rate(words, crc_us));
    }
    let mut cached = alloc::vec![0u32; WORDS];
    let fill_us = time(|| cached.fill(core::hint::black_box(0x1234_5678)));
    let crc_us = time(|| crc32::of_words(cached.iter().copied()));
    println!("cached memory  fill {} MB/s, CRC-32 {} MB/s", rate(WORDS, fill_us), rate(WORDS, crc_us));
    drop(cached);

    let mut answered = true;
    let firmware_us = time(|| answered = (0..MESSAGES).all(|_| firmware::ask(&GetFirmwareRevision {}).is_ok()));
    match answered {
        true => println!("firmware       {} us per message", firmware_us / MESSAGES),
        false => println!("firmware       does not answer"),
    }

    if session.gpu.is_err() {
        println!("scenes         none: {NO_V3D}");
        return Ok(());
    }
    pool_speed(session)?;
    for entry in SCENES {
        println!("scene {}", entry.name);
        scene::measure(session, entry, frames.unwrap_or(FRAMES))?;
    }
    Ok(())
}

/// Measures writes to GPU memory.
fn pool_speed(session: &mut Session) -> CommandResult {
    let mut gpu = session.gpu()?;
    let buffer = gpu.allocate(4 * WORDS as u32, 4096).map_err(|error| error.to_string())?;
    let pool: SharedWords = gpu.platform().pool();
    let first = buffer.region().offset() as usize / 4;
    let fill_us = time(|| pool.fill(first..first + WORDS, 0));
    let crc_us = time(|| crc32::of_words(pool.iter(first..first + WORDS)));
    println!("GPU pool       fill {} MB/s, CRC-32 {} MB/s", rate(WORDS, fill_us), rate(WORDS, crc_us));
    Ok(())
}

/// Time of `work` in microseconds.
fn time<T>(work: impl FnOnce() -> T) -> u64 {
    let start_us = clock::now_us();
    core::hint::black_box(work());
    clock::now_us() - start_us
}

/// Megabytes per second.
fn rate(words: usize, us: u64) -> u64 {
    // Bytes per microsecond are megabytes per second.
    (4 * words as u64).checked_div(us).unwrap_or(0)
}
