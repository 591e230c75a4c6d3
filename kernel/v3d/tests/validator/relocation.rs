//! Captured jobs at other addresses.
//!
//! The driver runs them in the model; they store the same data as at their original addresses.

use std::path::Path;
use v3d::driver::Driver;
use v3d::hw::BusAddr;
use v3d::platform::GpuMemory;
use v3d::pool::Buffer;
use v3d::record_list::ControlList;
use v3d::relocation::{GRANULE_BYTES, PlacedMemory, Placement, Relocated, RelocationError, relocate};
use v3d::validator::Span;
use v3d::{Job, Limits};
use v3d_host::Model;
use v3d_sim::Config;
use v3d_sim::job::run::run_folder;
use v3d_sim::job::{Job as Captured, JobFolder};

fn folder(name: &str) -> JobFolder {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/v3d-sim/tests/captures");
    JobFolder::open(&captures.join(name)).unwrap()
}

fn lists(captured: &Captured) -> Job {
    let list = |start, end| ControlList { start: BusAddr(start), end_exclusive: BusAddr(end) };
    let binning = captured.has_bin.then(|| list(captured.bin_ct0ca, captured.bin_ct0ea));
    Job { binning, rendering: list(captured.render_ct1ca, captured.render_ct1ea) }
}

/// Places the buffers of a job at other addresses, in reverse order.
fn place(driver: &mut Driver<'_, Model>, folder: &JobFolder) -> (Vec<Placement>, Vec<Buffer>) {
    let captured = &folder.jobs()[0];
    let image = folder.image(captured).unwrap();
    let (mut places, mut owners) = (Vec::new(), Vec::new());
    for buffer in captured.buffers.iter().rev() {
        let own = driver.allocate(buffer.size, GRANULE_BYTES).unwrap();
        let mut bytes = vec![0; buffer.size as usize];
        image.view().read(BusAddr(buffer.address), &mut bytes).unwrap();
        own.region().store(driver.platform(), 0, &bytes).unwrap();
        let span = Span { address: BusAddr(buffer.address), bytes: buffer.size };
        places.push(Placement { span, at: own.address() });
        owners.push(own);
    }
    (places, owners)
}

fn check(name: &str) {
    let folder = folder(name);
    let model = Model::new(8 << 20, Config::default());
    let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap();
    let (places, owners) = place(&mut driver, &folder);
    let Relocated { job, survey, words } = relocate(&model, &places, &lists(&folder.jobs()[0])).unwrap();
    assert!(words > 8, "{name}: {words} words");
    let fence = driver.submit(job);
    driver.wait(fence).unwrap();
    let expected = run_folder(&folder, Config::default()).unwrap();
    let expected = expected.jobs[0].memory.view();
    let placed = PlacedMemory { memory: &model, places: &places };
    let stores = survey.stores();
    assert!(!stores.is_empty(), "{name}");
    for span in stores {
        let (mut found, mut wanted) = (vec![0; span.bytes as usize], vec![0; span.bytes as usize]);
        placed.load(span.address.offset(), &mut found);
        expected.read(span.address, &mut wanted).unwrap();
        assert!(found == wanted, "{name}: {} bytes at {} differ", span.bytes, span.address);
        assert!(wanted.windows(2).any(|pair| pair[0] != pair[1]), "{name}: nothing is drawn");
    }
    drop(owners);
}

/// Textures with several levels, a cube map, programs that branch and change the address of their uniforms, and an array that is looked up by address.
#[test]
fn captured_jobs_draw_the_same_elsewhere() {
    for name in
        ["cube_depth", "lit_textured", "tex_mip_trilinear", "tex_cube", "loop_mandelbrot", "uniform_array_vs_indirect"]
    {
        check(name);
    }
}

/// Every word with an address matters: a job with one that was not changed is rejected, or reads other memory.
#[test]
fn what_cannot_be_moved_is_refused() {
    let folder = folder("tri_rgb");
    let model = Model::new(8 << 20, Config::default());
    let mut driver = Driver::bring_up(&model, &model.interrupts, Limits::default()).unwrap();
    let (places, owners) = place(&mut driver, &folder);
    let job = lists(&folder.jobs()[0]);
    let askew: Vec<Placement> = places.iter().map(|place| Placement { at: place.at + 16, ..*place }).collect();
    assert_eq!(relocate(&model, &askew, &job), Err(RelocationError::Distance(askew[0])));
    for left_out in 0..places.len() {
        let fewer: Vec<Placement> =
            places.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, place)| *place).collect();
        let refused = relocate(&model, &fewer, &job);
        assert!(matches!(refused, Err(RelocationError::Refused(_))), "without {:?}: {refused:?}", places[left_out]);
    }
    drop(owners);
}

/// A range across a gap between placements starts and ends in one, but is not contained.
#[test]
fn a_span_with_a_gap_is_not_held() {
    let model = Model::new(1 << 20, Config::default());
    let span = |address, bytes| Span { address: BusAddr(address), bytes };
    let at = model.base();
    let places = [
        Placement { span: span(0x1000, 0x100), at },
        Placement { span: span(0x1200, 0x100), at: at + 0x200 },
        Placement { span: span(0x1100, 0x80), at: at + 0x400 },
    ];
    let placed = PlacedMemory { memory: &model, places: &places };
    assert!(placed.holds(span(0x1000, 0x180)) && placed.holds(span(0x1200, 0x100)));
    assert!(!placed.holds(span(0x10ff, 0x102)) && !placed.holds(span(0x1000, 0x300)) && !placed.holds(span(0x12ff, 2)));
}
