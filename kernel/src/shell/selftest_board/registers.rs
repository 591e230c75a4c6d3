//! The steps that only read registers

use alloc::{
    format,
    string::{String, ToString},
};

use v3d::{
    check, error_status,
    hw::{
        Layout,
        registers::{Register, pipeline::Pcs},
    },
    platform::RegisterAccess,
};

use super::{Output, Verdict};
use crate::{gpu::v3d_platform::V3dPlatform, shell::session::Session};

/// Access to the V3D's registers, even without a driver, but not to those of a V3D that may have no clock: such an access never ends.
pub(super) fn platform() -> Result<&'static V3dPlatform, String> {
    let platform = installed()?;
    if platform.is_open() {
        Ok(platform)
    } else {
        Err("no register of the V3D has been accessed; `v3d` says why".to_string())
    }
}

fn installed() -> Result<&'static V3dPlatform, String> {
    V3dPlatform::installed().ok_or_else(|| "the boot did not get that far".to_string())
}

pub(super) fn identity(_: &mut Session, _: &mut Output) -> Verdict {
    Verdict::of(platform().and_then(check::identity))
}

pub(super) fn power(_: &mut Session, _: &mut Output) -> Verdict {
    let status = match installed() {
        Ok(platform) => platform.power_status(),
        Err(reason) => return Verdict::Failed(reason),
    };
    if (status.grafx, status.bridge_id, status.slave, status.master) == (0, 0, 0, 0) {
        return Verdict::Skipped("all of them read 0, which they do on no board".to_string());
    }
    match status.obstacle() {
        None => Verdict::Passed(status.to_string()),
        Some(obstacle) => Verdict::Failed(format!("{obstacle}: {status}")),
    }
}

pub(super) fn quiet(_: &mut Session, _: &mut Output) -> Verdict {
    Verdict::of(platform().and_then(|platform| {
        let [enabled, causes, status] =
            [Register::INTENA, Register::INTCTL, Register::PCS].map(|register| platform.read(register));
        let remark = format!("INTENA {enabled:#x}, INTCTL {causes:#x}, PCS {status:#x}");
        let pcs = Pcs::from_word(status);
        match () {
            () if enabled != 0 => Err(format!("interrupts are enabled: {remark}")),
            () if pcs.bmactive || pcs.rmactive => Err(format!("a thread is running: {remark}")),
            // BMOOM is set until the binner first gets memory.
            () => Ok(remark),
        }
    }))
}

pub(super) fn errors(_: &mut Session, _: &mut Output) -> Verdict {
    Verdict::of(platform().and_then(|platform| {
        let word = platform.read(Register::ERRSTAT);
        let sentences = error_status::sentences(error_status::errors(word)).fold(String::new(), |mut all, sentence| {
            all += if all.is_empty() { "" } else { "; " };
            all + sentence
        });
        if sentences.is_empty() {
            Ok(format!("ERRSTAT {word:#x}"))
        } else {
            Err(format!("ERRSTAT {word:#x}: {sentences}"))
        }
    }))
}

pub(super) fn reservations(session: &mut Session, _: &mut Output) -> Verdict {
    let has_driver = session.gpu.is_ok();
    Verdict::of(platform().and_then(|platform| match (check::reservations(platform), has_driver) {
        (verdict, true) => verdict,
        (Ok(remark) | Err(remark), false) => Err(format!("there is no driver that would have set them: {remark}")),
    }))
}
