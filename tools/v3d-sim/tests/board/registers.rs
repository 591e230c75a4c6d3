//! What registers read after jobs that others ran on boards, and what boards do otherwise than one expects.
//!
//! What the registers of a V3D without power read is tested with the driver, since the model has no power; and what index data at the end address of a list
//! does, with the control lists.

use crate::machine::{Machine, put_list};
use crate::scene::{
    CORNERS, FILL, FILL_SWITCHING, FRAME, RENDERING, SIZE, TILE_LISTS, draw_gl, frame, triangles, window,
};
use v3d_hw::control_list::{
    FrameBufferFormat, PixelFormat, Record, StoreGeneral, Threading, TileBufferSelect, TileCoordinates,
    TileRenderingMode,
};
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::Register;

#[test]
fn a_board_identifies_itself_by_three_slices_of_four_qpus_and_12_kib_of_vpm() {
    // [bm] [rpi-hal] [zephyr]
    let mut machine = Machine::new();
    assert_eq!(machine.read(Register::IDENT0), 0x0244_3356);
    let ident1 = machine.read(Register::IDENT1);
    let field = |lo: u32, bits: u32| ident1 >> lo & ((1 << bits) - 1);
    // Revision, slices, QPUs and TMUs of a slice, VPM in KiB [AG p.97].
    assert_eq!([field(0, 4), field(4, 4), field(8, 4), field(12, 4), field(28, 4)], [1, 3, 4, 2, 12]);
}

/// PCS 0x104 with CT1CA = CT1EA and RFC 0: the list has been read to its end, and the frame goes on [bm docs/DRIVERS.md].
#[test]
fn rendering_before_any_binning_since_reset_shows_bmoom() {
    let mut machine = Machine::new();
    machine.render(frame(), &[Record::StoreResolved]);
    assert_eq!(machine.read(Register::PCS), 0x104);
    assert_eq!(machine.read(Register::CT1CA), machine.read(Register::CT1EA));
    assert_eq!(machine.read(Register::RFC), 0);
    machine.render(frame(), &[Record::StoreResolvedEndOfFrame]);
    assert_eq!((machine.read(Register::PCS), machine.read(Register::RFC)), (0x100, 1));
    assert_eq!(machine.faults(), [""; 0]);
}

/// BMOOM 0 after every frame that stays within its memory [rpi-hal]; also once the first memory came by BPOS.
#[test]
fn a_binner_that_has_had_memory_does_not_show_bmoom() {
    let mut machine = Machine::new();
    let state = machine.put_nv(0, &CORNERS, Threading::Single, FILL);
    machine.bin(window(SIZE, SIZE), &[state, triangles(0, 3)], true);
    machine.render_tile_list();
    assert_eq!(machine.read(Register::PCS), 0);
    machine.v3d.reset();
    assert_eq!(machine.read(Register::PCS), 0x100);
    machine.write(Register::BPOA, 0x20_0000);
    machine.write(Register::BPOS, 0);
    assert_eq!(machine.read(Register::PCS), 0x100);
    machine.write(Register::BPOS, 0x1000);
    assert_eq!(machine.read(Register::PCS), 0);
}

#[test]
fn idle_after_nv_jobs_that_drew_right_the_debug_registers_are_not_0() {
    let mut machine = Machine::new();
    let state = machine.put_nv(0, &CORNERS, Threading::Single, FILL);
    let debug = [Register::FDBGO, Register::FDBGB, Register::FDBGR, Register::FDBGS, Register::DBGE, Register::ERRSTAT];
    assert_eq!(debug.map(|register| machine.read(register)), [0, 0, 0, 0, 0, 0x1000]);
    machine.bin(window(SIZE, SIZE), &[state, triangles(0, 3)], true);
    machine.render_tile_list();
    assert_eq!(machine.drawn(), 64 * 63 / 2);
    assert_eq!(machine.faults(), [""; 0]);
    // [bm reports]: FDBGO is 4 or 6.
    assert_eq!(debug.map(|register| machine.read(register)), [4, 0x18, 0, 0x3147, 0, 0x1000]);
}

#[test]
fn gl_draws_with_clipping_off_draw_nothing_and_raise_vpmewr() {
    let mut machine = Machine::new();
    draw_gl(&mut machine, CORNERS, true, true);
    assert_eq!((machine.drawn(), machine.faults().len()), (64 * 63 / 2, 0));
    // The same shaders without clipping [bm docs/DRIVERS.md, reports].
    let mut machine = Machine::new();
    draw_gl(&mut machine, CORNERS, false, true);
    assert_eq!(machine.drawn(), 0);
    assert_eq!([Register::ERRSTAT, Register::FDBGS].map(|register| machine.read(register)), [0x1010, 0x2447]);
    let faults = machine.faults();
    let told = "the coordinate shader writes clip coordinates, but the shader record has clipping off";
    assert!(faults.iter().any(|fault| fault.contains(told)), "{faults:?}");
    // A coordinate shader without clip coordinates is what such a record asks for: inferred, not measured.
    let mut machine = Machine::new();
    draw_gl(&mut machine, CORNERS, false, false);
    assert_eq!((machine.drawn(), machine.faults().len()), (64 * 63 / 2, 0));
}

/// "Tile lists are written, BPCA advances, CTRUN clears; semaphore and BFC never come" [rpi-hal].
#[test]
fn a_list_without_flush_ends_but_its_frame_does_not() {
    let mut machine = Machine::new();
    let state = machine.put_nv(0, &CORNERS.repeat(100), Threading::Single, FILL);
    let waits = put_list(machine.memory(), RENDERING, &[Record::WaitOnSemaphore]);
    machine.write(Register::CT1CA, RENDERING);
    machine.write(Register::CT1EA, waits);
    machine.bin(window(SIZE, SIZE), &[state, triangles(0, 300)], false);
    assert_ne!(machine.memory().word(BusAddr(TILE_LISTS)).unwrap(), 0, "the tile's list is not written");
    assert!(machine.read(Register::BPCA) > TILE_LISTS + 32, "{:#x}", machine.read(Register::BPCA));
    assert_eq!(machine.read(Register::CT0CA), machine.read(Register::CT0EA));
    let [binning, rendering] = [Register::CT0CS, Register::CT1CS].map(|register| machine.get::<Ctncs>(register));
    assert!(!binning.ctrun && rendering.ctrun && rendering.ctsema == 0);
    assert_eq!((machine.read(Register::BFC), machine.read(Register::INTCTL)), (0, 0));
    assert!(machine.get::<Pcs>(Register::PCS).bmactive, "the binner is not idle");
    // The end of the list is not that of the job.
    let end = machine.read(Register::CT0EA);
    let end = put_list(machine.memory(), end, &[Record::Flush]);
    machine.write(Register::CT0EA, end);
    assert_eq!((machine.read(Register::BFC), machine.read(Register::CT1CS)), (1, 0));
}

#[test]
fn an_empty_clip_window_is_reported_since_boards_draw_in_it() {
    for (width, height) in [(0, SIZE), (SIZE, 0), (0, 0)] {
        let mut machine = Machine::new();
        let state = machine.put_nv(0, &CORNERS, Threading::Single, FILL);
        machine.bin(window(width, height), &[state, triangles(0, 3)], true);
        let faults = machine.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].contains("drawn in an empty clip window, which does not keep them away on boards"),
            "{faults:?}"
        );
        // A list may set the window and draw nothing.
        machine.bin(window(width, height), &[state], true);
        assert_eq!(machine.faults(), [""; 0]);
    }
}

/// Triangles with x from -960 to 1280 were drawn at 320 pixels, and lost from -1120 to 1440 [piegpu]; at 640 pixels they were drawn from -1000 to 1640 [bm].
#[test]
fn nv_vertices_beyond_7_half_widths_may_be_lost_on_boards() {
    for (width, left, right, is_far) in
        [(320, -960, 1280, false), (320, -1120, 1440, true), (640, -1000, 1640, false), (320, 0, 1281, true)]
    {
        let mut machine = Machine::new();
        let state = machine.put_nv(0, &[(left, 0), (right, 0), (0, 64)], Threading::Single, FILL);
        machine.bin(window(width, 240), &[state, triangles(0, 3)], true);
        let faults = machine.v3d.take_faults();
        assert_eq!(faults.len(), usize::from(is_far), "{left} to {right} of {width}: {faults:?}");
        for fault in faults {
            assert!(fault.is_remark(), "{fault}");
            assert!(fault.to_string().contains("boards may lose its triangles"), "{fault}");
        }
        machine.render_tile_list();
        assert!(machine.drawn() > 0, "the model draws them");
    }
}

/// Alone such programs run; in one job with others the job hung [bm docs/DRIVERS.md].
#[test]
fn two_threaded_programs_that_never_switch_are_reported_beside_others_that_do() {
    let (single, dual) = (Threading::Single, Threading::Dual);
    for (programs, is_mixed) in [
        ([(dual, FILL), (dual, FILL)], false),
        ([(dual, FILL_SWITCHING), (dual, FILL_SWITCHING)], false),
        ([(single, FILL), (dual, FILL_SWITCHING)], false),
        ([(dual, FILL), (dual, FILL_SWITCHING)], true),
        ([(dual, FILL_SWITCHING), (dual, FILL)], true),
    ] {
        let mut machine = Machine::new();
        let mut records = Vec::new();
        for ((threading, program), at) in programs.into_iter().zip([0, 0x100]) {
            records.extend([machine.put_nv(at, &CORNERS, threading, program), triangles(0, 3)]);
        }
        machine.bin(window(SIZE, SIZE), &records, true);
        machine.render_tile_list();
        assert_eq!(machine.drawn(), 64 * 63 / 2, "{programs:?}");
        let faults = machine.faults();
        assert_eq!(faults.len(), usize::from(is_mixed), "{programs:?}: {faults:?}");
        assert!(faults.iter().all(|fault| fault.contains("boards hang if one frame has both kinds")), "{faults:?}");
    }
}

/// A board moved components of a dithered store by up to two steps [piegpu], which no 4x4 pattern of less than one step does.
#[test]
fn dithered_stores_are_remarked_upon_once_a_frame() {
    let general = |pixel_format| StoreGeneral {
        address: BusAddr(FRAME).into(),
        buffer: TileBufferSelect::Color,
        pixel_format,
        ..StoreGeneral::from_bits(0)
    };
    let dithered = TileRenderingMode { color_format: FrameBufferFormat::Bgr565Dithered, ..frame() };
    let end = Record::StoreResolvedEndOfFrame;
    let tile: Record = TileCoordinates { column: 0, row: 0 }.into();
    for (mode, last, remarks) in [
        (dithered, vec![Record::StoreResolved, tile, end], 1),
        (frame(), vec![general(PixelFormat::Bgr565Dithered).into(), tile, end], 1),
        (frame(), vec![general(PixelFormat::Bgr565).into(), tile, end], 0),
        (TileRenderingMode { color_format: FrameBufferFormat::Bgr565, ..frame() }, vec![end], 0),
    ] {
        let mut machine = Machine::new();
        machine.render(mode, &last);
        let faults = machine.v3d.take_faults();
        assert_eq!(faults.len(), remarks, "{last:?}: {faults:?}");
        assert!(
            faults.iter().all(|fault| fault.is_remark() && fault.to_string().contains("dithered to 565")),
            "{faults:?}"
        );
    }
}
