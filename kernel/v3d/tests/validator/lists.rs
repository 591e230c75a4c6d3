//! Records and addresses of both lists and of the shader record.

use super::scene::{HEIGHT, NOP, Pool, Scene, WIDTH, records, word};
use v3d::Job;
use v3d::hw::control_list::{
    ClearColors, CompareFunction, ConfigurationBits, FrameBufferFormat, GlShaderState, LoadGeneral, MemoryFormat,
    Oversample, PixelFormat, PointSize, Record, StoreFullResolution, StoreGeneral, Threading, TileBufferSelect,
    TileCoordinates, TileRenderingMode,
};
use v3d::hw::qpu::{Alu, Signal};
use v3d::hw::registers::Thread;
use v3d::hw::{Aligned, BusAddr};
use v3d::platform::GpuMemory;
use v3d::record_list::{ControlList, RecordList};
use v3d::tile_grid::{TileBuffer, TileGrid};
use v3d::validator::{Reason, Rights, Span};

/// Addresses that are not the job's: far below, just before and just after the pool, and null.
fn wild(pool: &Pool) -> [u32; 4] {
    [0x1000, pool.base().0 - 64, (pool.base() + pool.bytes()).0, 0xffff_fff0]
}

/// The job is accepted, draws, and accesses nothing else.
#[test]
fn a_job_of_our_own_passes() {
    let scene = Scene::new();
    assert_eq!(scene.check(), Ok(()));
    assert_eq!(scene.run(), []);
    let picture = scene.writable[2].address;
    let pixel = |x: u32, y: u32| scene.load(picture + 4 * (y * WIDTH + x), 4);
    assert_eq!(pixel(0, 0), [0; 4]);
    // The centre is as far from the upper corner as from both lower ones together: half blue, a quarter each of red and green.
    let middle = pixel(WIDTH / 2, HEIGHT / 2);
    for (channel, expected) in middle.iter().zip([64, 64, 128, 255]) {
        assert!(channel.abs_diff(expected) <= 3, "{middle:?}");
    }
}

/// A display's pitch may exceed the picture's width; tiles outside of the picture have no list.
#[test]
fn rows_may_be_longer_than_what_was_binned() {
    let grid = TileGrid::new(WIDTH, HEIGHT, TileBuffer::Single).unwrap();
    let scene = Scene::of(grid, WIDTH + 64);
    assert_eq!((scene.check(), scene.run()), (Ok(()), vec![]));
    let (offset, _) = first(&scene, |record| matches!(record, Record::BranchToSubList(_)));
    let outside = Record::from(TileCoordinates { row: 0, column: grid.columns });
    // The tile's coordinates and a wait precede the first branch.
    let coordinates = offset - (outside.bytes() + Record::WaitOnSemaphore.bytes()) as u32;
    let changed = &outside.encode().unwrap()[..outside.bytes()];
    let refusal = scene.refusal_with(scene.list(Thread::Rendering).start + coordinates, changed);
    assert_eq!(refusal.map(|refusal| refusal.reason), Some(Reason::Value("the binning list has no such tile")));
}

/// Two tile buffers, each of which must be cleared.
#[test]
fn two_tile_buffers_are_cleared_both() {
    let scene = Scene::of(TileGrid::new(WIDTH, HEIGHT, TileBuffer::Double).unwrap(), WIDTH);
    assert_eq!((scene.check(), scene.run()), (Ok(()), vec![]));
    let rendering = scene.list(Thread::Rendering).start;
    let (offset, store) = first(&scene, |record| matches!(record, Record::StoreGeneral(_)));
    let idle = [1; 16];
    let refusal = scene.refusal_with(rendering + offset, &idle[..store.bytes()]);
    let uncleared = Reason::Order("the tile buffer is cleared or loaded before it is used");
    assert_eq!(refusal.map(|refusal| refusal.reason), Some(uncleared));
    let (offset, mode) = first(&scene, |record| matches!(record, Record::TileRenderingMode(_)));
    let Record::TileRenderingMode(mode) = mode else { unreachable!() };
    for (double_buffer, multisample, color_64_bit, reason) in [
        (false, false, false, "the binning list has another number of tiles"),
        (false, false, true, "the binning list has another tile buffer"),
        (true, true, false, "two tile buffers are for one sample a pixel and 32-bit colours"),
        (true, false, true, "two tile buffers are for one sample a pixel and 32-bit colours"),
        (false, true, true, "64-bit colours are for one sample a pixel"),
    ] {
        let changed = Record::from(TileRenderingMode { double_buffer, multisample, color_64_bit, ..mode });
        let refusal = scene.refusal_with(rendering + offset, &changed.encode().unwrap()[..changed.bytes()]);
        assert_eq!(refusal.map(|refusal| refusal.reason), Some(Reason::Value(reason)));
    }
}

/// The first record of a kind in the rendering list, and its offset.
fn first(scene: &Scene, is_it: impl Fn(&Record) -> bool) -> (u32, Record) {
    let records = records(&scene.pool, scene.list(Thread::Rendering));
    records.into_iter().find(|(_, record)| is_it(record)).unwrap()
}

#[test]
fn what_is_read_may_not_be_written() {
    let span = Span { address: BusAddr(0xc000_1000), bytes: 0x1000 };
    let alias = Span { address: BusAddr(0x4000_1fff), bytes: 1 };
    assert!(Rights::new(&[span], &[alias]).is_none());
}

/// Every address in every record of both lists, replaced by wrong ones.
#[test]
fn every_wild_address_in_a_record_is_refused_with_its_place() {
    let scene = Scene::new();
    let mut replaced = 0;
    for thread in [Thread::Binning, Thread::Rendering] {
        let list = scene.list(thread);
        for (offset, record) in records(&scene.pool, list) {
            for field in record.info().fields {
                let is_address = matches!(field.name, "address" | "tile_state" | "tile_allocation");
                let unused = matches!(record, Record::StoreGeneral(_));
                if !is_address || unused {
                    continue;
                }
                for address in wild(&scene.pool) {
                    let mut bits = [0; 16];
                    let bytes = record.encode().unwrap();
                    bits[..15].copy_from_slice(&bytes[1..]);
                    let mut bits = u128::from_le_bytes(bits);
                    let width = field.width();
                    let mask = ((1 << width) - 1) << field.lo;
                    bits = bits & !mask | u128::from(address >> (32 - width)) << field.lo;
                    let changed = &bits.to_le_bytes()[..record.bytes() - 1];
                    let refusal = scene.refusal_with(list.start + offset + 1, changed);
                    // The picture's address matters at the store, further down the list.
                    let place = if matches!(record, Record::TileRenderingMode(_)) { None } else { Some(offset) };
                    let refusal = refusal.unwrap_or_else(|| panic!("{record} with {address:#x} passed"));
                    assert_eq!(refusal.thread, thread);
                    assert!(place.is_none_or(|place| place == refusal.offset), "{refusal}");
                    assert!(place.is_none() || refusal.record == record.info().name, "{refusal}");
                    replaced += 1;
                }
            }
        }
    }
    // tile memory twice, shader record, indices; picture, 8 tile lists
    assert_eq!(replaced, 4 * (4 + 1 + 8));
}

/// The shader record: code, uniforms and attributes of all three programs.
#[test]
fn every_wild_address_in_the_shader_record_is_refused() {
    let scene = Scene::new();
    // Code at 4, 16, 28; uniforms of vertex and coordinate shader at 20, 32; three attributes from 36 on. The fragment shader reads no uniforms.
    for at in [4, 16, 28, 20, 32, 36, 44, 52] {
        for address in wild(&scene.pool) {
            let refusal = scene.refusal_with(scene.record() + at, &address.to_le_bytes());
            let refusal = refusal.unwrap_or_else(|| panic!("{address:#x} at {at} passed"));
            assert!(
                matches!(refusal.reason, Reason::Reads { .. } | Reason::Value(_)),
                "{address:#x} at {at}: {refusal}"
            );
        }
    }
    let between_words = scene.refusal_with(scene.record() + 20, &(scene.uniforms() + 2).0.to_le_bytes()).unwrap();
    assert!(between_words.to_string().contains("reads a uniform between words"), "{between_words}");
}

#[test]
fn lists_that_are_out_of_order_are_refused() {
    let scene = Scene::new();
    for thread in [Thread::Binning, Thread::Rendering] {
        let list = scene.list(thread);
        let records = records(&scene.pool, list);
        let nop = [1; 16];
        for (offset, record) in records {
            // Records that are needed for order or safety, removed one by one.
            let vital = matches!(
                record,
                Record::TileBinningMode(_)
                    | Record::StartTileBinning
                    | Record::IncrementSemaphore
                    | Record::Flush
                    | Record::GlShaderState(_)
                    | Record::TileRenderingMode(_)
                    | Record::WaitOnSemaphore
                    | Record::StoreGeneral(_)
                    | Record::StoreResolvedEndOfFrame
            );
            if vital {
                let refusal = scene.refusal_with(list.start + offset, &nop[..record.bytes()]);
                assert!(refusal.is_some(), "{record} may be left out");
            }
        }
        // Bytes that are no control record are rejected.
        let refusal = scene.refusal_with(list.start, &[0xff]).unwrap();
        assert_eq!((refusal.offset, refusal.record), (0, "unknown record"));
    }
}

/// A rendering list that never waits leaves its job's increment to the next job, whose rendering then runs ahead of its binner; one that waits twice takes
/// another job's, or never ends.
#[test]
fn a_rendering_list_waits_exactly_once() {
    let none = "a rendering list waits for its binning list, whether or not it branches to tile lists";
    let twice = "a rendering list waits once: the binning list increments the semaphore once";
    for (waits, branches, expected) in
        [(0, false, Some(none)), (1, false, None), (1, true, None), (2, false, Some(twice)), (2, true, Some(twice))]
    {
        let mut scene = Scene::new();
        let mut list = RecordList::new();
        for (_, record) in records(&scene.pool, scene.list(Thread::Rendering)) {
            match record {
                Record::WaitOnSemaphore => (0..waits).for_each(|_| list.push(record)),
                Record::BranchToSubList(_) if !branches => {}
                _ => list.push(record),
            }
        }
        let (start, bytes) = (scene.data(), list.encode().unwrap());
        scene.store(start, &bytes);
        scene.job.rendering = ControlList { start, end_exclusive: start + bytes.len() as u32 };
        let refusal = scene.check().err();
        assert_eq!(refusal.map(|refusal| refusal.reason), expected.map(Reason::Order), "{waits} waits, {branches}");
    }
    // Without a binning list nobody raises the semaphore: such a list may not wait, and need not.
    let mut scene = Scene::new();
    scene.job.binning = None;
    let refusal = scene.check().unwrap_err();
    assert_eq!((refusal.record, refusal.reason), ("Wait on Semaphore", Reason::NotAllowed));
}

/// A thread keeps its state from job to job.
#[test]
fn state_of_the_job_before_is_not_drawn_with() {
    let scene = Scene::new();
    let list = scene.list(Thread::Binning);
    for (code, why) in [
        (56, "a Primitive List Format comes before primitives"),
        (96, "Configuration Bits come before primitives"),
        (102, "a Clip Window comes before primitives"),
        (103, "a Viewport Offset comes before primitives"),
    ] {
        let records = records(&scene.pool, list);
        let (offset, record) = records.into_iter().find(|(_, record)| record.info().code == code).unwrap();
        let refusal = scene.refusal_with(list.start + offset, &[1; 16][..record.bytes()]).unwrap().to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
}

/// What a scene without binning says to a rendering list of one tile of a picture of this size.
fn one_tile(width: u16, height: u16, records: &[Record]) -> Option<Reason> {
    let mut scene = Scene::new();
    let mode = TileRenderingMode {
        address: scene.writable[2].address,
        width,
        height,
        memory_format: MemoryFormat::Raster,
        color_format: FrameBufferFormat::Rgba8888,
        ..TileRenderingMode::default()
    };
    let mut list = RecordList::new();
    list.push(mode);
    records.iter().for_each(|record| list.push(*record));
    let (start, bytes) = (scene.data(), list.encode().unwrap());
    scene.store(start, &bytes);
    scene.job = Job { binning: None, rendering: ControlList { start, end_exclusive: start + bytes.len() as u32 } };
    scene.check().err().map(|refusal| refusal.reason)
}

/// What a tile buffer holds before it is cleared with the job's own values, or filled by a load, is another job's picture.
#[test]
fn another_job_s_tile_is_not_stored() {
    let scene = Scene::new();
    let uncleared = Some(Reason::Order("the tile buffer is cleared or loaded before it is used"));
    let (values, tile) = (Record::from(ClearColors::default()), Record::from(TileCoordinates { row: 0, column: 0 }));
    let clear = Record::from(StoreGeneral::default());
    let picture = Aligned(scene.writable[2].address);
    let load = LoadGeneral {
        address: picture,
        buffer: TileBufferSelect::Color,
        format: MemoryFormat::Raster,
        pixel_format: PixelFormat::Rgba8888,
        ..LoadGeneral::default()
    };
    let load = Record::from(load);
    let dump = Record::from(StoreFullResolution {
        address: picture,
        disable_zs: true,
        last_tile: true,
        ..StoreFullResolution::default()
    });
    let store = Record::StoreResolvedEndOfFrame;
    for (width, height, records, expected) in [
        (64, 64, vec![values, tile, clear, tile, store], None),
        (64, 64, vec![values, tile, store], uncleared),
        // Clear values of the job before.
        (64, 64, vec![tile, clear, tile, store], uncleared),
        (64, 64, vec![tile, clear, values, tile, clear, tile, store], None),
        // A load makes up for that, until the tile is cleared again.
        (64, 64, vec![load, tile, store], None),
        (64, 64, vec![load, tile, Record::StoreResolved, tile, store], uncleared),
        (64, 64, vec![load, tile, Record::StoreResolved, load, tile, store], None),
        // A picture that does not fill the tile is loaded, and all of the tile is stored.
        (64, 64, vec![load, tile, dump], None),
        (1, 1, vec![load, tile, dump], uncleared),
        (64, 63, vec![load, tile, dump], uncleared),
        (1, 1, vec![load, tile, store], None),
        (1, 1, vec![values, tile, clear, load, tile, dump], None),
    ] {
        assert_eq!(one_tile(width, height, &records), expected, "{width} x {height}: {records:?}");
    }
}

/// Programs can read the tile's colour, and store it as depth.
#[test]
fn nothing_is_drawn_over_another_job_s_colour() {
    const BRANCH: &str = "Branch to Sub-list";
    let uncleared = Reason::Order("the tile buffer is cleared or loaded before it is used");
    for (keep_color, keep_zs, expected) in [(false, false, None), (false, true, None), (true, false, Some(uncleared))] {
        let scene = Scene::new();
        let (offset, _) = first(&scene, |record| matches!(record, Record::StoreGeneral(_)));
        let clear =
            StoreGeneral { disable_color_clear: keep_color, disable_zs_clear: keep_zs, ..StoreGeneral::default() };
        let bytes = Record::from(clear).encode().unwrap();
        let refusal = scene.refusal_with(scene.job.rendering.start + offset, &bytes[..Record::from(clear).bytes()]);
        // Refused where it is drawn, not only where it is stored.
        let place = refusal.map(|refusal| (refusal.record, refusal.reason));
        assert_eq!(place, expected.map(|why| (BRANCH, why)), "{keep_color}, {keep_zs}");
    }
}

/// Linux wants 2,048 bytes for 5 x 64 pixels of 4 bytes, whose rows are those of two micro-tiles, and 1,024 for 1 x 64.
#[test]
fn rows_of_pictures_are_whole_micro_tiles() {
    for (width, needed) in [(5, 2048), (1, 1024), (4, 1024), (8, 2048)] {
        for (bytes, fits) in [(needed, true), (needed - 4, false)] {
            let mut scene = Scene::new();
            let picture = scene.writable[2].address;
            let mut list = RecordList::new();
            list.push(TileRenderingMode {
                address: picture,
                width,
                height: 64,
                memory_format: MemoryFormat::Raster,
                color_format: FrameBufferFormat::Rgba8888,
                ..TileRenderingMode::default()
            });
            list.push(ClearColors::default());
            list.push(TileCoordinates { row: 0, column: 0 });
            list.push(StoreGeneral::default());
            list.push(TileCoordinates { row: 0, column: 0 });
            list.push(Record::StoreResolvedEndOfFrame);
            let (start, list) = (scene.data(), list.encode().unwrap());
            scene.store(start, &list);
            let rendering = ControlList { start, end_exclusive: start + list.len() as u32 };
            scene.job = Job { binning: None, rendering };
            scene.rights = Rights::new(&scene.readable, &[Span { address: picture, bytes }]).unwrap();
            assert_eq!(scene.check().is_ok(), fits, "{width} pixels, {bytes} bytes: {:?}", scene.check());
        }
    }
}

#[test]
fn a_list_that_ends_before_it_begins_is_refused() {
    let mut scene = Scene::new();
    let list = scene.job.rendering;
    scene.job.rendering = ControlList { start: list.end_exclusive, end_exclusive: list.start };
    let refusal = scene.check().unwrap_err();
    assert_eq!(refusal.reason, Reason::Value("the list ends before it begins"));
}

/// A picture that is stored over the tile lists would be executed.
#[test]
fn the_picture_may_not_overwrite_tile_lists() {
    let scene = Scene::new();
    let lists = scene.writable[1].address;
    let refusal = scene.refusal_with(scene.job.rendering.start + 1, &lists.0.to_le_bytes()).unwrap();
    assert!(matches!(refusal.reason, Reason::Value("it overwrites the memory of tile lists")), "{refusal}");
}

/// A board's thread stopped without an error bit where index data begins at its end address; whether it does so within is not known.
#[test]
fn index_data_at_the_list_s_end_address_is_refused() {
    let mut scene = Scene::new();
    let list = scene.list(Thread::Binning);
    let records = records(&scene.pool, list);
    let (draw, _) = records.into_iter().find(|(_, record)| matches!(record, Record::IndexedPrimitiveList(_))).unwrap();
    // 16-bit indices are aligned, so the end is, too: a record that does nothing makes it so, if need be.
    let end = BusAddr(list.end_exclusive.0.next_multiple_of(2));
    scene.store(list.end_exclusive, &[Record::Nop.info().code]);
    scene.job.binning = Some(ControlList { end_exclusive: end, ..list });
    for (distance, why) in [
        (0i32, Some("its index data begins at the list's end address")),
        (-2, Some("the list's end address lies within its index data")),
        (-4, Some("the list's end address lies within its index data")),
        (-6, None),
        (2, None),
    ] {
        let address = end.0.wrapping_add_signed(distance).to_le_bytes();
        let refusal = scene.refusal_with(list.start + draw + 6, &address).map(|refusal| refusal.to_string());
        match why {
            Some(why) => assert!(refusal.as_ref().is_some_and(|text| text.contains(why)), "{distance}: {refusal:?}"),
            None => assert_eq!(refusal, None, "{distance}"),
        }
    }
    // So does an alias of the address.
    scene.store(list.start + draw + 6, &(end.0 ^ 0xc000_0000).to_le_bytes());
    assert!(scene.check().is_err());
}

/// A rendering thread stops without an error bit where a sub-list begins at its end address.
#[test]
fn a_rendering_list_that_ends_where_tile_lists_are_is_refused() {
    let mut scene = Scene::new();
    let (list, lists) = (scene.list(Thread::Rendering), scene.writable[1].address);
    let bytes = scene.load(list.start, (list.end_exclusive - list.start) as usize);
    let start = lists.0 - bytes.len() as u32;
    for (before, why) in [(1, None), (0, Some("the list's end address is in the memory of tile lists"))] {
        let start = BusAddr(start - before);
        scene.store(start, &bytes);
        scene.job.rendering = ControlList { start, end_exclusive: start + bytes.len() as u32 };
        let refusal = scene.check().err().map(|refusal| refusal.to_string());
        match why {
            Some(why) => assert!(refusal.as_ref().is_some_and(|text| text.contains(why)), "{refusal:?}"),
            None => assert_eq!(refusal, None),
        }
    }
}

/// Two draws one after the other, the second under another configuration.
fn two_draws(first: ConfigurationBits, second: ConfigurationBits) -> Option<String> {
    let mut scene = Scene::new();
    let mut list = RecordList::new();
    let mut draw = None;
    for (_, record) in records(&scene.pool, scene.list(Thread::Binning)) {
        match record {
            Record::ConfigurationBits(_) => list.push(first),
            Record::IndexedPrimitiveList(_) => {
                list.push(record);
                draw = Some(record);
            }
            Record::IncrementSemaphore => {
                list.push(second);
                list.push(draw.unwrap());
                list.push(record);
            }
            _ => list.push(record),
        }
    }
    let (start, bytes) = (scene.data(), list.encode().unwrap());
    scene.store(start, &bytes);
    scene.job.binning = Some(ControlList { start, end_exclusive: start + bytes.len() as u32 });
    scene.check().err().map(|refusal| refusal.to_string())
}

/// A board lost pixels under such a list. Mesa's driver leaves early-Z updates on, and turns early Z on after any depth test.
#[test]
fn early_z_after_a_depth_that_it_has_not_seen_move_away_is_refused() {
    let early = ConfigurationBits {
        forward_facing: true,
        depth_test: CompareFunction::Less,
        z_updates: true,
        early_z: true,
        early_z_updates: true,
        ..ConfigurationBits::default()
    };
    let late = ConfigurationBits { early_z: false, early_z_updates: false, ..early };
    for &depth_test in CompareFunction::ALL {
        use CompareFunction::{Always, Greater, GreaterOrEqual, NotEqual};
        let away = ConfigurationBits { depth_test, ..late };
        let refusal = two_draws(away, early);
        if matches!(depth_test, Always | Greater | GreaterOrEqual | NotEqual) {
            let says = "early Z compares with an old depth";
            assert!(refusal.as_ref().is_some_and(|text| text.contains(says)), "{depth_test}: {refusal:?}");
        } else {
            assert_eq!(refusal, None, "{depth_test}");
        }
        for (first, second) in [
            (ConfigurationBits { early_z_updates: true, ..away }, early),
            (ConfigurationBits { z_updates: false, ..away }, early),
            (away, late),
            (early, away),
        ] {
            assert_eq!(two_draws(first, second), None, "{depth_test}: {first:?}, then {second:?}");
        }
    }
}

/// The first record of a kind, replaced by others of the same length.
#[test]
fn state_that_the_hardware_cannot_handle_is_refused() {
    let scene = Scene::new();
    let list = scene.list(Thread::Binning);
    let place = |code: u8| {
        let records = records(&scene.pool, list);
        let (offset, _) = records.into_iter().find(|(_, record)| record.info().code == code).unwrap();
        list.start + offset
    };
    let bytes = |record: Record| record.encode().unwrap()[..record.bytes()].to_vec();
    let configuration = |change: fn(&mut ConfigurationBits)| {
        let mut bits = ConfigurationBits::default();
        change(&mut bits);
        bytes(bits.into())
    };
    assert_eq!(scene.refusal_with(place(96), &configuration(|_| {})), None);
    for (why, at, bytes) in [
        ("coverage pipe", place(96), configuration(|bits| bits.coverage_pipe = true)),
        ("oversample mode is reserved", place(96), configuration(|bits| bits.oversample = Oversample::Reserved(3))),
        // 3 stands for coordinates.
        ("have indices", place(56), vec![56, 0x32]),
        ("list format is reserved", place(56), vec![56, 0x17]),
        ("primitive mode is reserved", place(32) + 1, vec![0x17]),
        // Two more varyings for points, one more for lines.
        ("number of varyings", place(32) + 1, vec![0x10]),
        ("number of varyings", place(32) + 1, vec![0x11]),
        ("aligned", place(32) + 6, vec![1]),
    ] {
        let refusal = scene.refusal_with(at, &bytes).unwrap_or_else(|| panic!("{why}: {bytes:x?} passed"));
        assert!(refusal.to_string().contains(why), "{refusal} does not say \"{why}\"");
    }
    let small = bytes(PointSize { size: 0.1 }.into());
    let refusal = scene.refusal_with(place(105), &small).unwrap();
    assert!(refusal.to_string().contains("1/8 pixel"), "{refusal}");
}

/// Boards draw nothing for such a record, and set VPMEWR [bm docs/DRIVERS.md].
#[test]
fn clip_coordinates_in_a_record_without_clipping_are_refused() {
    let scene = Scene::new();
    let record = scene.record();
    let flags = scene.load(record, 1)[0];
    // "Enable clipping" is bit 2 [AG p.80].
    assert_ne!(flags & 1 << 2, 0);
    let refusal = scene.refusal_with(record, &[flags & !(1 << 2)]).unwrap();
    assert_eq!(
        refusal.reason,
        Reason::Value(
            "the coordinate shader writes clip coordinates, but the record has clipping off: boards then draw nothing"
        )
    );
    scene.store(record, &[flags & !(1 << 2)]);
    let faults = scene.run();
    assert!(faults.iter().any(|fault| fault.to_string().contains("has clipping off")), "{faults:?}");
}

/// Programs that are declared two-threaded run when none of them switches threads, or all do; a job with both kinds hung [bm docs/DRIVERS.md].
#[test]
fn two_threaded_programs_of_which_one_never_switches_are_refused() {
    let vary = word(Alu { raddr_b: 35, ..Alu::NOP });
    let end = [word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP];
    let switch = [word(Alu { sig: Signal::LastThreadSwitch, ..Alu::NOP }), NOP, NOP];
    let without = [&[vary; 3][..], &end].concat();
    let with = [&switch[..], &[vary; 3], &end].concat();
    for (first_program, second_program, refused) in
        [(&with, &with, false), (&without, &without, false), (&with, &without, true), (&without, &with, true)]
    {
        let mut scene = Scene::new();
        scene.set_fragment_words(Threading::Dual, first_program, &[]);
        // A second record, and a draw with it, in unused memory.
        let [record, program, list] = [0x100, 0x200, 0x800].map(|offset| scene.pool_start() + offset);
        let mut bytes = scene.load(scene.record(), 64);
        bytes[4..8].copy_from_slice(&program.0.to_le_bytes());
        scene.store(record, &bytes);
        scene.store(program, &second_program.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        let mut longer = RecordList::new();
        for (_, old) in records(&scene.pool, scene.list(Thread::Binning)) {
            if old == Record::IncrementSemaphore {
                let (_, state) = first_of(&scene, |record| matches!(record, Record::GlShaderState(_)));
                let (_, draw) = first_of(&scene, |record| matches!(record, Record::IndexedPrimitiveList(_)));
                let Record::GlShaderState(state) = state else { unreachable!() };
                longer.push(GlShaderState { address: record.into(), ..state });
                longer.push(draw);
            }
            longer.push(old);
        }
        let bytes = longer.encode().unwrap();
        scene.store(list, &bytes);
        scene.job.binning = Some(ControlList { start: list, end_exclusive: list + bytes.len() as u32 });
        let answer = scene.check();
        assert_eq!(answer.is_err(), refused, "{answer:?}");
        let told = answer.map_or_else(|refusal| refusal.to_string(), |()| String::new());
        assert_eq!(told.contains("some switch threads and one may not"), refused, "{told}");
        // The model executes fragments only where the picture is: both programs draw there.
        let faults: Vec<_> = scene.run().iter().map(ToString::to_string).collect();
        assert_eq!(faults.iter().any(|fault| fault.contains("one frame has both kinds")), refused, "{faults:?}");
    }
}

/// The first such record of the binning list.
fn first_of(scene: &Scene, is_it: impl Fn(&Record) -> bool) -> (u32, Record) {
    records(&scene.pool, scene.list(Thread::Binning)).into_iter().find(|(_, record)| is_it(record)).unwrap()
}
