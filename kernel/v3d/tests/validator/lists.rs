//! Records and addresses of both lists and of the shader record.

use super::scene::{HEIGHT, Pool, Scene, WIDTH, records};
use v3d::hw::BusAddr;
use v3d::hw::control_list::{ConfigurationBits, Oversample, PointSize, Record, TileCoordinates, TileRenderingMode};
use v3d::hw::registers::Thread;
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
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
