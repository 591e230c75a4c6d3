//! Commands about the V3D: v3d, interrupts, regs, stats

use v3d::{error_status, performance, register_snapshot::RegisterSnapshot, statistics::Statistics};

use super::session::{CommandResult, Session};
use crate::{
    arch::clock,
    board::{interrupt_controller, interrupt_lines},
    counter_set::CounterSet,
    frame_times::FrameTimes,
    gpu::Gpu,
    print, println,
};

pub(super) fn identity(session: &mut Session) -> CommandResult {
    let gpu = session.gpu()?;
    println!("{}", gpu.identity());
    tell_way(&gpu);
    Ok(())
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
