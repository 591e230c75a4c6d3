//! OpenVG: coordinates through the binner, paths through the coverage pipe, coverage and alpha mask in shaders.
//!
//! The expected coverage of a path is computed for each sample, from the winding number of its outline.

use v3d_hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, CompareFunction, ConfigurationBits, CoverageRead, CoverageUpdate,
    FrameBufferFormat, MemoryFormat, Oversample, PrimitiveListFormat, Record, StoreGeneral, TileBinningMode,
    TileBufferSelect, TileCoordinates, TileRenderingMode, VgInline, VgInlineShader, VgPrimitiveType,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive, vg};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, Register, V3d};

const BINNING_LIST: u32 = 0x1000;
const RENDERING_LIST: u32 = 0x8000;
const CODE: u32 = 0xc000;
const TILE_STATE: u32 = 0xe000;
const TILE_ALLOCATION: u32 = 0x1_0000;
const FRAME: u32 = 0x4_0000;
const MASK: u32 = 0x8_0000;
const TILES: u8 = 2;
const SIZE: u16 = 128;

/// Shows coverage as a colour.
const SHOW_COVERAGE: &str = "nop\nnop\nloadcv\nmov tlbc, r4\nthrend\nnop\nsbdone";
/// Writes coverage to the alpha mask, as Broadcom's driver does when it renders to a mask.
const COVERAGE_TO_MASK: &str = "nop\nnop\nloadcv\nmov tlbam, r4\nthrend\nnop\nsbdone";
/// Shows the alpha mask as a colour.
const SHOW_MASK: &str = "nop\nnop\nloadam\nmov tlbc, r4\nthrend\nnop\nsbdone";

type Point = (i32, i32);

/// A five-pointed star, in 1/16 pixel; its outline winds around the middle twice.
const STAR: [Point; 5] = [(1024, 1900), (1550, 180), (130, 1240), (1922, 1246), (505, 175)];
/// The whole frame.
const ALL: [Point; 4] = [(0, 0), (2048, 0), (2048, 2048), (0, 2048)];

/// A binning list under construction.
struct Scene {
    owned: OwnedMemory,
    list: Vec<u8>,
    programs: u32,
    vg_mask: bool,
    vg_mask_clear: u8,
}

impl Scene {
    fn new() -> Self {
        let mut scene = Self {
            owned: OwnedMemory::new(0x10_0000),
            list: Vec::new(),
            programs: 0,
            vg_mask: false,
            vg_mask_clear: 0,
        };
        scene.record(TileBinningMode {
            auto_initialise: true,
            width_tiles: TILES,
            height_tiles: TILES,
            tile_state: BusAddr(TILE_STATE),
            tile_allocation: BusAddr(TILE_ALLOCATION),
            tile_allocation_bytes: 0x1_0000,
            ..TileBinningMode::default()
        });
        scene.record(PrimitiveListFormat { data_type: ListDataType::Xy, primitive: ListPrimitive::Triangles });
        scene.record(Record::StartTileBinning);
        scene.record(ClipWindow { left: 0, bottom: 0, width: SIZE, height: SIZE });
        scene
    }

    fn record(&mut self, record: impl Into<Record>) {
        let record = record.into();
        self.list.extend_from_slice(&record.encode().unwrap()[..record.bytes()]);
    }

    /// A fan around the first point, as an inline list.
    fn fan(&mut self, points: &[Point]) {
        self.record(VgInline { continuation: 0, primitive: VgPrimitiveType::TriangleFan });
        let words = points.iter().map(|&(x, y)| (x as u32 & 0xffff) | (y as u32) << 16);
        for word in words.chain([vg::TERMINATOR]) {
            self.list.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Adds a path to the coverage.
    fn path(&mut self, outline: &[Point], update: CoverageUpdate, oversample: Oversample) {
        self.record(ConfigurationBits { coverage_pipe: true, coverage_update: update, oversample, ..configuration() });
        let closed: Vec<Point> = outline.iter().chain(&outline[..1]).copied().collect();
        // A fan around a point outside of the path has the same winding numbers.
        let fan: Vec<Point> = std::iter::once((40, 60)).chain(closed).collect();
        self.fan(&fan);
    }

    fn program(&mut self, source: &str) {
        let at = CODE + 0x100 * self.programs;
        self.programs += 1;
        let program = qpu::assemble(&[qpu::Source::new("test", source)], &qpu::Options::default()).unwrap();
        for (half, n) in program.halves().zip(0..) {
            self.owned.view().set_word(BusAddr(at + 4 * n), half).unwrap();
        }
        self.record(VgInlineShader { code: BusAddr(at).into(), uniforms: BusAddr(at), ..VgInlineShader::default() });
    }

    /// Covers the whole frame with a program.
    fn cover(&mut self, source: &str, configuration: ConfigurationBits) {
        self.program(source);
        self.record(configuration);
        self.fan(&ALL);
    }

    /// Bins and renders; returns the device with its counters.
    fn run(&mut self) -> V3d {
        self.record(Record::IncrementSemaphore);
        self.record(Record::FlushAllState);
        let memory = self.owned.view();
        memory.write(BusAddr(BINNING_LIST), &self.list).unwrap();
        let mut rendering = Vec::new();
        let mut add = |record: Record| rendering.extend_from_slice(&record.encode().unwrap()[..record.bytes()]);
        add(ClearColors { vg_mask: self.vg_mask_clear, ..ClearColors::default() }.into());
        add(TileRenderingMode {
            address: BusAddr(FRAME),
            width: SIZE,
            height: SIZE,
            vg_mask: self.vg_mask,
            color_format: FrameBufferFormat::Rgba8888,
            memory_format: MemoryFormat::Raster,
            ..TileRenderingMode::from_bits(0)
        }
        .into());
        let store = |buffer, clear: bool| StoreGeneral {
            buffer,
            disable_color_clear: !clear,
            disable_zs_clear: !clear,
            disable_vg_mask_clear: !clear,
            address: BusAddr(MASK).into(),
            ..StoreGeneral::from_bits(0)
        };
        add(TileCoordinates { row: 0, column: 0 }.into());
        add(store(TileBufferSelect::None, true).into());
        add(PrimitiveListFormat { data_type: ListDataType::Xy, primitive: ListPrimitive::Triangles }.into());
        add(Record::WaitOnSemaphore);
        for (row, column) in (0..TILES).flat_map(|row| (0..TILES).map(move |column| (row, column))) {
            let coordinates = TileCoordinates { row, column };
            add(coordinates.into());
            let list = TILE_ALLOCATION + 32 * u32::from(row * TILES + column);
            add(BranchToSubList { address: BusAddr(list) }.into());
            if self.vg_mask {
                add(store(TileBufferSelect::VgMask, false).into());
                add(coordinates.into());
            }
            let last = (row, column) == (TILES - 1, TILES - 1);
            add(if last { Record::StoreResolvedEndOfFrame } else { Record::StoreResolved });
        }
        memory.write(BusAddr(RENDERING_LIST), &rendering).unwrap();
        let mut v3d = V3d::new(Config::default());
        for (register, value) in [
            (Register::CT0CA, BINNING_LIST),
            (Register::CT0EA, BINNING_LIST + self.list.len() as u32),
            (Register::CT1CA, RENDERING_LIST),
            (Register::CT1EA, RENDERING_LIST + rendering.len() as u32),
        ] {
            v3d.write(&memory, register.offset(), value);
        }
        assert_eq!(v3d.read(&memory, Register::RFC.offset()), 1);
        v3d
    }

    fn pixel(&self, (x, y): Point) -> u32 {
        self.owned.view().word(BusAddr(FRAME + 4 * (y as u32 * u32::from(SIZE) + x as u32))).unwrap()
    }

    fn mask(&self, (x, y): Point) -> u8 {
        self.owned.view().byte(BusAddr(MASK + y as u32 * u32::from(SIZE) + x as u32)).unwrap()
    }
}

fn configuration() -> ConfigurationBits {
    ConfigurationBits {
        forward_facing: true,
        reverse_facing: true,
        depth_test: CompareFunction::Always,
        ..ConfigurationBits::default()
    }
}

fn pixels() -> impl Iterator<Item = Point> {
    (0..i32::from(SIZE)).flat_map(|y| (0..i32::from(SIZE)).map(move |x| (x, y)))
}

/// Winding number of an outline around a point, counter-clockwise; both in 1/16 pixel.
fn winding(outline: &[Point], (x, y): Point) -> i32 {
    let edges = outline.iter().zip(outline.iter().cycle().skip(1));
    edges
        .map(|(&(x0, y0), &(x1, y1))| {
            let left = i64::from(x1 - x0) * i64::from(y - y0) - i64::from(x - x0) * i64::from(y1 - y0);
            match (y0 <= y, y1 <= y) {
                (true, false) if left > 0 => 1,
                (false, true) if left < 0 => -1,
                _ => 0,
            }
        })
        .sum()
}

/// The 16 sample positions in a pixel, in 1/16 pixel.
fn sixteen() -> [Point; 16] {
    let four = [(5, 1), (1, 3), (7, 5), (3, 7)];
    std::array::from_fn(|i| {
        let ((x, y), quarter) = (four[i % 4], i as i32 / 4);
        (x + 8 * (quarter % 2), y + 8 * (quarter / 2))
    })
}

/// Which of 16 samples of a pixel are covered according to a rule for winding numbers.
fn expected(outline: &[Point], places: &[Point; 16], (x, y): Point, rule: impl Fn(i32) -> bool) -> u32 {
    let covered = |&(px, py): &Point| rule(winding(outline, (16 * x + px, 16 * y + py)));
    places.iter().enumerate().filter(|(_, place)| covered(place)).fold(0, |mask, (i, _)| mask | 1 << i)
}

fn check_star(update: CoverageUpdate, rule: impl Fn(i32) -> bool) {
    for read in [CoverageRead::Mask, CoverageRead::Level] {
        let mut scene = Scene::new();
        scene.program(SHOW_COVERAGE);
        scene.path(&STAR, update, Oversample::X16);
        scene.cover(SHOW_COVERAGE, ConfigurationBits { coverage_read: read, ..configuration() });
        let faults = scene.run().take_faults();
        assert_eq!(faults, []);
        let (mut partly, mut wholly, mut wrong) = (0, 0, 0);
        for pixel in pixels() {
            let mask = expected(&STAR, &sixteen(), pixel, &rule);
            partly += u32::from(mask != 0 && mask != 0xffff);
            wholly += u32::from(mask == 0xffff);
            let level = (mask.count_ones() * 255 + 8) / 16;
            let value = if read == CoverageRead::Mask { mask } else { level * 0x0101_0101 };
            // Samples exactly on an edge may be covered or not.
            wrong += u32::from(scene.pixel(pixel) != value);
        }
        assert!(partly > 300 && wholly > 2000, "{partly} {wholly}");
        assert_eq!(wrong, 0, "{update:?} {read:?}");
    }
}

#[test]
fn a_star_filled_by_both_rules_of_openvg() {
    check_star(CoverageUpdate::NonZero, |winding| winding != 0);
    check_star(CoverageUpdate::Odd, |winding| winding % 2 != 0);
}

#[test]
fn without_oversampling_a_pixel_is_covered_or_not() {
    let mut scene = Scene::new();
    scene.program(SHOW_COVERAGE);
    scene.path(&STAR, CoverageUpdate::Odd, Oversample::None);
    scene.cover(SHOW_COVERAGE, configuration());
    assert_eq!(scene.run().take_faults(), []);
    for pixel in pixels() {
        let mask = expected(&STAR, &[(8, 8); 16], pixel, |winding| winding % 2 != 0);
        assert_eq!(scene.pixel(pixel), if mask == 0 { 0 } else { !0 }, "{pixel:?}");
    }
}

/// The second of two reads returns 0, or the same value again.
#[test]
fn coverage_is_cleared_on_read_or_left() {
    for leave in [false, true] {
        let mut scene = Scene::new();
        scene.program(SHOW_COVERAGE);
        scene.path(&STAR, CoverageUpdate::NonZero, Oversample::X16);
        let read = ConfigurationBits { coverage_leave_on_read: leave, ..configuration() };
        scene.cover(SHOW_COVERAGE, read);
        scene.cover(SHOW_COVERAGE, read);
        let mut v3d = scene.run();
        let counters = v3d.counters();
        let (covered, empty) =
            (counters.get(CounterSource::TlbQuadsCovered), counters.get(CounterSource::TlbQuadsNoCoverage));
        // The triangles of the fan share the quads on its diagonal.
        assert_eq!(covered + empty, 2 * (64 * 64 + 64));
        let centre = scene.pixel((64, 60));
        assert_eq!(centre, if leave { !0 } else { 0 });
        assert_eq!(pixels().any(|pixel| scene.pixel(pixel) != 0), leave);
        assert!(covered > 1000 && (leave || covered < 64 * 64), "{covered}");
    }
}

#[test]
fn coverage_becomes_the_alpha_mask_and_that_is_read_in_every_byte() {
    let mut scene = Scene::new();
    scene.vg_mask = true;
    scene.program(COVERAGE_TO_MASK);
    scene.path(&STAR, CoverageUpdate::NonZero, Oversample::X16);
    scene.cover(COVERAGE_TO_MASK, configuration());
    scene.cover(SHOW_MASK, configuration());
    assert_eq!(scene.run().take_faults(), []);
    for pixel in pixels() {
        let mask = expected(&STAR, &sixteen(), pixel, |winding| winding != 0);
        let level = (mask.count_ones() * 255 + 8) / 16;
        assert_eq!(u32::from(scene.mask(pixel)), level, "{pixel:?}");
        assert_eq!(scene.pixel(pixel), level * 0x0101_0101, "{pixel:?}");
    }
}

#[test]
fn an_alpha_mask_starts_with_its_clear_value() {
    let mut scene = Scene::new();
    scene.vg_mask = true;
    scene.vg_mask_clear = 0x5a;
    scene.cover(SHOW_MASK, configuration());
    assert_eq!(scene.run().take_faults(), []);
    assert!(pixels().all(|pixel| scene.mask(pixel) == 0x5a && scene.pixel(pixel) == 0x5a5a_5a5a));
}

/// With 16 samples, the fragment shader runs for every pixel of which the primitive covers a sample.
#[test]
fn oversampled_primitives_shade_all_pixels_that_they_touch() {
    let shaded = |oversample| {
        let mut scene = Scene::new();
        scene.program("nop\nnop\nmov tlbc, -1\nthrend\nnop\nsbdone");
        scene.record(ConfigurationBits { oversample, ..configuration() });
        scene.fan(&[(100, 100), (1000, 150), (300, 900)]);
        assert_eq!(scene.run().take_faults(), []);
        pixels().filter(|&pixel| scene.pixel(pixel) != 0).collect::<Vec<_>>()
    };
    let triangle = [(100, 100), (1000, 150), (300, 900)];
    let touched = |places: [Point; 16]| {
        pixels().filter(|&pixel| expected(&triangle, &places, pixel, |winding| winding != 0) != 0).collect::<Vec<_>>()
    };
    assert_eq!(shaded(Oversample::X16), touched(sixteen()));
    let four = [(10, 2), (2, 6), (14, 10), (6, 14)];
    assert_eq!(shaded(Oversample::X4), touched(std::array::from_fn(|i| four[i % 4])));
    assert_eq!(shaded(Oversample::None), touched([(8, 8); 16]));
    assert!(shaded(Oversample::X16).len() > shaded(Oversample::None).len());
}
