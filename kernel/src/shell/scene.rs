//! Commands about scenes: list, run, stop
//!
//! `scene run` draws into the page that is not on show, flips, and goes on. A counted run sums every finished page up as the
//! CPU reads it, so that a machine at the other end of the line can tell whether frames differ and whether they repeat.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use v3d::hw::ArmPhys;

use super::run::Answer;
use crate::{
    arch::clock,
    bcm2837::framebuffer::{Framebuffer, PAGES},
    console, crc32,
    machine::Machine,
    print, println,
    scenes::{SCENES, SceneContext, SceneEntry, Target},
};

/// Text of scenes, to the console.
struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        print!("{text}");
        Ok(())
    }
}

pub(super) fn list() -> Answer {
    for scene in SCENES {
        println!("scene {}: {}", scene.name, scene.description);
    }
    Ok(())
}

pub(super) fn stop() -> Answer {
    println!("no scene is running: any key stops one that is");
    Ok(())
}

pub(super) fn run(machine: &mut Machine, name: &str, frames: Option<u64>) -> Answer {
    let framebuffer = machine.framebuffer;
    let gpu = machine.gpu()?;
    let entry = find(name)?;
    let framebuffer = framebuffer.ok_or("there is no framebuffer to draw into")?;
    // The console's text would be drawn over the picture.
    console::detach_screen();
    let mut output = Output;
    let mut context = SceneContext { gpu, target: target(&framebuffer, 1), output: &mut output };
    let mut scene = (entry.start)(&mut context).map_err(|error| error.to_string())?;

    let start_us = clock::now_us();
    let mut number = 0;
    while frames.is_none_or(|frames| number < frames) {
        let page = (number as usize + 1) % PAGES;
        context.target = target(&framebuffer, page);
        scene.frame(&mut context, number).map_err(|error| format!("frame {number}: {error}"))?;
        framebuffer.show(page).map_err(|error| error.to_string())?;
        console::page_is_shown(page);
        if frames.is_some() {
            let crc = crc32::of_words(framebuffer.memory().iter(framebuffer.page_words(page)));
            println!("frame {number} crc {crc:08X}");
        }
        number += 1;
        if key_pressed() {
            match frames {
                Some(frames) if number < frames => return Err(format!("stopped after {number} of {frames} frames")),
                _ => break,
            }
        }
    }
    let elapsed_us = clock::now_us() - start_us;
    let per_second = (number * 1_000_000_000).checked_div(elapsed_us).unwrap_or(0);
    println!("{number} frames in {} ms, {}.{:03} a second", elapsed_us / 1000, per_second / 1000, per_second % 1000);
    Ok(())
}

/// Whether a key was pressed. The line feed of a terminal that ends lines with two characters is none.
fn key_pressed() -> bool {
    console::try_read().is_some_and(|byte| byte != b'\n')
}

fn find(name: &str) -> Result<&'static SceneEntry, String> {
    SCENES.iter().find(|scene| scene.name == name).ok_or_else(|| {
        let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
        format!("no scene named \"{name}\"; there are: {}", names.join(", "))
    })
}

/// A page as the GPU is told of it.
fn target(framebuffer: &Framebuffer, page: usize) -> Target {
    Target {
        // The framebuffer is below 1 GiB, as all of memory.
        address: ArmPhys(framebuffer.page_address(page) as u32).to_bus(),
        width: framebuffer.width(),
        height: framebuffer.height(),
        pitch_bytes: framebuffer.pitch_bytes(),
    }
}
