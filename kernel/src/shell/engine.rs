//! Commands about the V3D: v3d, interrupts, limits, regs, stats

use alloc::{format, string::ToString};

use v3d::{driver::Limits, error_status, performance, register_snapshot::RegisterSnapshot, statistics::Statistics};

use super::session::{CommandResult, Session};
use crate::{
    arch::clock,
    board::{interrupt_controller, interrupt_lines, watchdog},
    boot::{progress, trace::BootStage},
    display::frame_times::FrameTimes,
    gpu::{self, ClockCheck, Gpu, v3d_platform::V3dPlatform},
    print, println,
    shell::counter_set::CounterSet,
};

pub(super) fn identity(session: &mut Session) -> CommandResult {
    if let Err(reason) = &session.gpu {
        return Err(format!("no V3D: {reason}"));
    }
    let gpu = session.gpu()?;
    println!("{}", gpu.identity());
    tell_way(&gpu);
    Ok(())
}

/// Starts the V3D, which the boot has not: the watchdog restarts the board if that never ends, and the next boot leaves the V3D alone.
pub(super) fn start(session: &mut Session, check: ClockCheck) -> CommandResult {
    if session.gpu.is_ok() {
        return Err("the V3D has been started already".to_string());
    }
    let platform = V3dPlatform::installed().ok_or("the boot did not get that far")?;
    let timeout_ms = session.watchdog.timeout_ms();
    if progress::trace().watchdog_is_useless() {
        println!(
            "no watchdog runs, since it restarts this machine at once: if the V3D does not answer, nothing ends that"
        );
    } else {
        session.watchdog.arm(watchdog::MAX_MS);
    }
    let started = gpu::start(platform, check, session.options);
    match timeout_ms {
        Some(timeout_ms) => session.watchdog.arm(timeout_ms),
        None => session.watchdog.disarm(),
    }
    progress::reach(BootStage::Shell);
    session.gpu = started.map_err(|error| error.to_string());
    session.gpu.as_ref().map(|_| ()).map_err(Clone::clone)
}

fn tell_way(gpu: &Gpu) {
    let way = if gpu.platform().is_polling() { "by polling" } else { "by interrupt" };
    println!("the end of jobs is detected {way}");
}

/// Selects polling or interrupts for the end of jobs.
pub(super) fn interrupts(session: &mut Session, wanted: Option<bool>) -> CommandResult {
    let gpu = session.gpu()?;
    match wanted {
        Some(true) => gpu.platform().use_interrupt(),
        Some(false) => gpu.platform().poll(),
        None => {}
    }
    tell_way(&gpu);
    Ok(())
}

/// Shows the time limits of jobs and user programs, or sets them to a multiple of the usual ones: a slow host that models a V3D and counts its cycles needs
/// more time than a chip.
pub(super) fn limits(session: &mut Session, times: Option<u32>) -> CommandResult {
    let mut gpu = session.gpu()?;
    if let Some(times) = times {
        let usual = Limits::default();
        let [hang_us, job_us, programs_us] =
            [usual.hang_us, usual.job_us, usual.programs_us].map(|limit_us| limit_us * u64::from(times));
        gpu.set_limits(Limits { hang_us, job_us, programs_us, ..usual });
    }
    let Limits { hang_us, job_us, programs_us, .. } = gpu.limits();
    println!("a job may take {} ms, {} ms of them without progress", job_us / 1000, hang_us / 1000);
    println!("user programs of an operation may take {} ms", programs_us / 1000);
    Ok(())
}

pub(super) fn registers(session: &mut Session) -> CommandResult {
    let gpu = session.gpu()?;
    print!("{}", RegisterSnapshot::take(gpu.platform()));
    Ok(())
}

/// Selects what is counted from the next scene on.
pub(super) fn count(session: &mut Session, set: CounterSet) -> CommandResult {
    session.gpu()?;
    session.counted = set;
    println!("the performance counters count during the next scenes:");
    for source in set.sources() {
        println!("  {source}");
    }
    Ok(())
}

pub(super) fn stats(session: &mut Session) -> CommandResult {
    let last_scene = session.last_times;
    let gpu = session.gpu()?;
    let Statistics {
        jobs_done,
        jobs_dropped,
        retries,
        resets,
        failed_resets,
        threads_cleared,
        programs_done,
        overflow_blocks,
        interrupts,
        last_binning_us,
        last_rendering_us,
        busy_us,
        error_bits,
    } = gpu.statistics();
    println!("jobs           {jobs_done} done, {jobs_dropped} dropped, {retries} retried");
    println!("user programs  {programs_done} done");
    println!("last job       {last_binning_us} us to bin, {last_rendering_us} us to render");
    println!("busy           {} ms of {} since boot", busy_us / 1000, clock::now_us() / 1000);
    println!("overflow       {overflow_blocks} blocks given to the binner");
    println!("interrupts     {interrupts} served, {} raised", interrupt_controller::count(interrupt_lines::V3D));
    println!("resets         {resets}, and {failed_resets} failed ones");
    println!("threads        {threads_cleared} cleared of what a job had left");
    if let Some((times, counted, mean_us)) =
        last_scene.and_then(|(times, counted)| Some((times, counted, times.mean_us()?)))
    {
        let FrameTimes { frames, shortest_us, longest_us, .. } = times;
        println!(
            "last scene     {frames} frames of {shortest_us} to {longest_us} us, {mean_us} us on average; in total:"
        );
        for (source, count) in performance::read(gpu.platform(), counted.sources()) {
            println!("  {count:>12} {source}");
        }
    }
    let sentences = error_status::sentences(error_status::errors(error_bits));
    if error_bits == 0 {
        println!("errors         none");
    }
    for sentence in sentences {
        println!("errors         {sentence}");
    }
    Ok(())
}
