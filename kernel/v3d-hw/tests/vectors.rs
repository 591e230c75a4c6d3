//! The tables of this crate against what others wrote down; see `tests/vectors/README.md`.

use v3d_hw::control_list::*;
use v3d_hw::layout::{Field, mask_of};
use v3d_hw::primitive_list::*;
use v3d_hw::qpu::{Alu, Branch as BranchInstruction, Hazard, Instruction, LoadImmediate, Semaphore};
use v3d_hw::registers::{Access, IDENT0_VALUE, Register};
use v3d_hw::shader_record::{AttributeArray, GlFragment, GlVertex, NvShaderRecord, VgShaderRecord, gl};
use v3d_hw::texture::*;
use v3d_hw::tile_buffer::{StencilConfiguration, StencilOp, StencilSelect, StencilWriteMask, StencilWriteMasks};
use v3d_hw::vpm::{
    DmaMode, ElementSize, LoadSetup, Location, ReadSetup, ReadSetupWord, StoreSetup, WriteSetup, WriteSetupWord,
};
use v3d_hw::{BusAddr, Layout};

/// The rows of a vector file, split at tabs, without comments.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| line.split('\t').collect())
}

/// Checks that a table has a field just there.
fn check_field(table: &[Field], of: &str, name: &str, hi: &str, lo: &str) {
    let field = table.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("{of} has no field {name}"));
    assert_eq!((field.hi.to_string(), field.lo.to_string()), (hi.to_owned(), lo.to_owned()), "{of}.{name}");
}

#[test]
fn registers_stand_where_linux_finds_them() {
    let mut seen = Vec::new();
    for row in rows(include_str!("vectors/register_offsets.tsv")) {
        let offset = u32::from_str_radix(row[1], 16).unwrap();
        assert_eq!(Register::from_offset(offset).map(Register::name), Some(row[0]), "{offset:#x}");
        seen.push(row[0]);
    }
    let without = Register::ALL.iter().map(|register| register.name()).find(|name| !seen.contains(name));
    assert_eq!(without, None, "a register has no vector");
}

#[test]
fn register_fields_are_those_of_linux() {
    for row in rows(include_str!("vectors/register_fields.tsv")) {
        let register = Register::ALL.iter().find(|register| register.name() == row[0]).unwrap();
        check_field(register.fields(), row[0], row[1], row[2], row[3]);
    }
}

/// Whether a register goes by this name, in which `n` is a number: of a thread or a counter.
fn is_called(register: Register, name: &str) -> bool {
    let number = register.name().find(|c: char| c.is_ascii_digit());
    match name.split_once('n') {
        Some((front, back)) => number.is_some_and(|at| {
            let (start, rest) = register.name().split_at(at);
            // The return address has a digit of its own behind the thread's, and one that is printed before it.
            let rest = if back == "RA0" { rest.strip_prefix('0').unwrap_or(rest) } else { rest };
            start == front && rest.trim_start_matches(|c: char| c.is_ascii_digit()) == back.trim_start_matches('0')
        }),
        None => register.name() == name,
    }
}

/// Bits, access and reset values of every register as the guide's tables have them. Two fields are not in them: PCTRE's enable (Linux), and DBCFG (brcm).
#[test]
fn registers_are_those_of_the_guides_tables() {
    let rows: Vec<Vec<&str>> = rows(include_str!("vectors/register_tables.tsv")).collect();
    for &register in Register::ALL {
        let of_register: Vec<_> = rows.iter().filter(|row| is_called(register, row[0])).collect();
        let (mut reset, mut reads, mut writes) = (0, false, false);
        for row in &of_register {
            let (hi, lo): (u32, u32) = (row[1].parse().unwrap(), row[2].parse().unwrap());
            let field = register.fields().iter().find(|field| (field.hi, field.lo) == (hi, lo));
            assert!(field.is_some(), "{}: the guide has a field {} in bits {hi}:{lo}", register.name(), row[3]);
            reads |= row[4].contains('R');
            writes |= row[4].contains('W');
            let value = if row[5] == "V3D" { 0x44_3356 } else { row[5].parse::<u32>().unwrap() };
            reset |= value << lo;
        }
        let beyond = match register {
            Register::DBCFG | Register::PCTRE => 1,
            _ => 0,
        };
        assert_eq!(register.fields().len(), of_register.len() + beyond, "{}: a field has no row", register.name());
        if !of_register.is_empty() {
            let access = match (reads, writes) {
                (true, false) => Access::ReadOnly,
                (false, true) => Access::WriteOnly,
                _ => Access::ReadWrite,
            };
            assert_eq!((register.access(), register.reset()), (access, reset), "{}", register.name());
        }
    }
}

#[test]
fn the_identity_is_v3d_in_little_endian() {
    assert_eq!(IDENT0_VALUE.to_le_bytes(), [b'V', b'3', b'D', 2]);
}

#[test]
fn records_have_the_sizes_of_linux() {
    for row in rows(include_str!("vectors/record_sizes.tsv")) {
        let info = RecordInfo::of(row[0].parse().unwrap()).unwrap_or_else(|| panic!("no record {}", row[0]));
        assert_eq!(info.bytes.to_string(), row[1], "{}", info.name);
    }
    let has_row =
        |info: &RecordInfo| rows(include_str!("vectors/record_sizes.tsv")).any(|row| row[0] == info.code.to_string());
    assert_eq!(Record::TABLE.iter().find(|info| !has_row(info)).map(|info| info.name), None, "a record has no vector");
}

#[test]
fn record_fields_are_those_of_mesa_and_linux() {
    for row in rows(include_str!("vectors/record_fields.tsv")) {
        let info = RecordInfo::of(row[0].parse().unwrap()).unwrap_or_else(|| panic!("no record {}", row[0]));
        check_field(info.fields, info.name, row[1], row[2], row[3]);
    }
    for info in Record::TABLE {
        let has_row = |field: &Field| {
            let mut rows = rows(include_str!("vectors/record_fields.tsv"));
            rows.any(|row| row[0] == info.code.to_string() && row[1] == field.name)
        };
        let without = info.fields.iter().find(|field| !has_row(field));
        assert_eq!(without.map(|field| field.name), None, "{}: a field has no vector", info.name);
    }
}

#[test]
fn hazards_have_the_distances_of_the_guide_and_of_other_checkers() {
    let mut confirmed = Vec::new();
    for row in rows(include_str!("vectors/hazards.tsv")) {
        let [name, source, between, relation, says] = row[..] else { panic!("{row:?}") };
        let hazard =
            Hazard::ALL.iter().find(|hazard| hazard.name() == name).unwrap_or_else(|| panic!("no hazard {name}"));
        let expected = match relation {
            "same" => core::cmp::Ordering::Equal,
            "more" => core::cmp::Ordering::Greater,
            "less" => core::cmp::Ordering::Less,
            _ => panic!("{relation}"),
        };
        assert_eq!(between.parse::<u32>().unwrap().cmp(&hazard.between()), expected, "{name}: {source} {says}");
        if relation == "same" {
            confirmed.push(*hazard);
        }
    }
    let without = Hazard::ALL.iter().find(|hazard| !confirmed.contains(hazard));
    assert_eq!(without, None, "a hazard has no vector");
}

#[test]
fn texture_fields_are_those_of_linux() {
    let mut seen = 0;
    for row in rows(include_str!("vectors/texture_fields.tsv")) {
        let fields = match row[0] {
            "0" => Parameter0::FIELDS,
            "1" => Parameter1::FIELDS,
            "cube" => CubeMapStride::FIELDS,
            "dimensions" => ChildDimensions::FIELDS,
            "offsets" => ChildOffsets::FIELDS,
            other => panic!("no parameter {other}"),
        };
        check_field(fields, row[0], row[1], row[2], row[3]);
        seen += 1;
    }
    let tables =
        [Parameter0::FIELDS, Parameter1::FIELDS, CubeMapStride::FIELDS, ChildDimensions::FIELDS, ChildOffsets::FIELDS];
    assert_eq!(seen, tables.iter().map(|table| table.len()).sum::<usize>(), "a field has no vector");
}

#[test]
fn codes_have_the_names_of_linux() {
    for row in rows(include_str!("vectors/codes.tsv")) {
        let code = row[1].parse().unwrap();
        let name = match row[0] {
            "TextureType" => TextureType::from_code(code).name(),
            "MinFilter" => MinFilter::from_code(code).name(),
            "Wrap" => Wrap::from_code(code).name(),
            other => panic!("no type {other}"),
        };
        assert_eq!(name, row[2], "{} {code}", row[0]);
    }
}

/// The bytes of a list of `control_lists.tsv`.
fn list(name: &str) -> Vec<u8> {
    let row = rows(include_str!("vectors/control_lists.tsv")).find(|row| row[0] == name).unwrap();
    (0..row[1].len()).step_by(2).map(|i| u8::from_str_radix(&row[1][i..i + 2], 16).unwrap()).collect()
}

/// Decodes a whole list, and checks that it encodes to the same bytes.
fn decode(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).unwrap();
        let size = record.bytes();
        assert_eq!(record.encode().unwrap()[..size], bytes[at..at + size], "{record}");
        records.push(record);
        at += size;
    }
    records
}

/// The expected values are what the capture's own description names: tile memory, sizes, formats; and what OpenGL says of a viewport of
/// 256x256 pixels with depth range 0 to 1.
#[test]
fn a_drivers_binning_list_means_what_its_driver_says() {
    let expected = [
        Record::from(TileBinningMode {
            tile_allocation: BusAddr(4_579_328),
            tile_allocation_bytes: 1_049_088,
            tile_state: BusAddr(4_575_232),
            width_tiles: 4,
            height_tiles: 4,
            auto_initialise: true,
            initial_block_size: TileBlockSize::Bytes32,
            block_size: TileBlockSize::Bytes128,
            ..Default::default()
        }),
        Record::StartTileBinning,
        Record::from(PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles }),
        Record::from(ClipWindow { left: 0, bottom: 0, width: 256, height: 256 }),
        Record::from(ConfigurationBits {
            forward_facing: true,
            reverse_facing: true,
            depth_test: CompareFunction::Always,
            early_z_updates: true,
            ..Default::default()
        }),
        Record::from(DepthOffset::default()),
        Record::from(PointSize { size: 1.0 }),
        Record::from(LineWidth { width: 1.0 }),
        Record::from(ClipperXyScaling { half_width: 2048.0, half_height: 2048.0 }),
        Record::from(ClipperZScaleOffset { scale: 0.5, offset: 0.5 }),
        Record::from(ViewportOffset { x: 128 * 16, y: 128 * 16 }),
        Record::from(FlatShadeFlags { flags: 0 }),
        Record::from(GlShaderState { address: BusAddr(0x45_b060).into(), extended: false, attribute_arrays: 2 }),
        Record::from(VertexArrayPrimitives { first_vertex: 0, length: 3, mode: PrimitiveMode::Triangles }),
        Record::IncrementSemaphore,
        Record::Flush,
    ];
    assert_eq!(decode(&list("binning")), expected);
}

#[test]
fn a_drivers_rendering_list_visits_every_tile() {
    let records = decode(&list("rendering"));
    let mut expected = vec![
        Record::from(TileRenderingMode {
            address: BusAddr(4_259_840),
            width: 256,
            height: 256,
            memory_format: MemoryFormat::TFormat,
            color_format: FrameBufferFormat::Rgba8888,
            ..Default::default()
        }),
        Record::from(ClearColors { color: 0xff33_0000_ff33_0000, z: 0, ..Default::default() }),
        Record::from(TileCoordinates { row: 0, column: 0 }),
        Record::from(StoreGeneral::default()),
    ];
    for tile in 0..16u8 {
        expected.push(Record::from(TileCoordinates { row: tile / 4, column: tile % 4 }));
        if tile == 0 {
            expected.push(Record::WaitOnSemaphore);
        }
        expected.push(Record::from(BranchToSubList { address: BusAddr(4_579_328 + 32 * u32::from(tile)) }));
        expected.push(if tile == 15 { Record::StoreResolvedEndOfFrame } else { Record::StoreResolved });
    }
    assert_eq!(records, expected);
}

/// The shader addresses, varyings and attribute counts are those that the capture lists beside the programs: 4 inputs of the fragment
/// shader, of which the colour's are varyings; 6 words of vertex shader inputs, 2 of the coordinate shader.
#[test]
fn a_drivers_shader_record_points_at_its_shaders() {
    let bytes = list("shader record");
    let part = |at: u32| &bytes[at as usize..];
    let fragment = GlFragment::read_from(part(gl::FRAGMENT)).unwrap();
    assert_eq!((fragment.code, fragment.clipping), (BusAddr(4_542_464), true));
    let vertex = GlVertex::read_from(part(gl::VERTEX)).unwrap();
    assert_eq!((vertex.code, vertex.attributes_bytes), (BusAddr(4_550_656), 6 * 4));
    let coordinate = GlVertex::read_from(part(gl::COORDINATE)).unwrap();
    assert_eq!((coordinate.code, coordinate.attributes_bytes), (BusAddr(4_558_848), 2 * 4));
    let position = AttributeArray::read_from(part(gl::ATTRIBUTES)).unwrap();
    assert_eq!(u32::from(position.bytes_minus_1) + 1, 2 * 4);
    let color = AttributeArray::read_from(part(gl::ATTRIBUTES + gl::ATTRIBUTE_BYTES)).unwrap();
    assert_eq!((u32::from(color.bytes_minus_1) + 1, color.vertex_vpm_offset), (4 * 4, 2 * 4));
    assert_eq!(position.stride, color.stride);
}

#[test]
fn instruction_fields_are_those_of_py_videocore() {
    let kinds = [
        ("alu", Alu::FIELDS),
        ("branch", BranchInstruction::FIELDS),
        ("load", LoadImmediate::FIELDS),
        ("semaphore", Semaphore::FIELDS),
    ];
    for (kind, fields) in kinds {
        let rows: Vec<_> = rows(include_str!("vectors/instruction_fields.tsv")).filter(|row| row[0] == kind).collect();
        for row in &rows {
            check_field(fields, kind, row[1], row[2], row[3]);
        }
        assert_eq!(rows.len(), fields.len(), "{kind}: a field has no vector");
    }
}

#[test]
fn qpu_words_have_the_fields_that_their_author_names() {
    let mut named = 0;
    for row in rows(include_str!("vectors/qpu_words.tsv")) {
        let word = u64::from_str_radix(row[0], 16).unwrap();
        let instruction = Instruction::decode(word);
        assert_eq!(instruction.encode(), Ok(word), "{word:016x}");
        for pair in row[1].split(' ') {
            let (name, value) = pair.split_once('=').unwrap();
            let field = instruction.fields().iter().find(|field| field.name == name).unwrap();
            assert_eq!(field.extract(u128::from(word)).to_string(), value, "{word:016x} {name}");
            named += 1;
        }
    }
    assert!(named > 150, "{named}");
}

/// The set-up words of the coordinate shader in JayStation's article, with the meaning printed there. The author left rubbish in unused bits.
#[test]
fn vpm_setup_words_mean_what_their_author_says() {
    let WriteSetupWord::Write(setup) = WriteSetupWord::decode(0x17bc_1ac2) else { panic!() };
    assert_eq!((setup.horizontal, setup.size, setup.stride), (true, ElementSize::Bits32, 1));
    assert_eq!(Location::unpack(setup.address, true, setup.size), Some(Location { y: 2, x: 0, part: 0 }));
    assert_ne!(0x17bc_1ac2 & !WriteSetup::DEFINED, 0);

    let WriteSetupWord::Store(store) = WriteSetupWord::decode(0x8390_4000) else { panic!() };
    assert_eq!((store.units, store.depth, store.horizontal), (7, 16, true));
    assert_eq!((store.y, store.x, store.mode.bytes()), (0, 0, 4));
    assert_eq!(0x8390_4000 & !StoreSetup::DEFINED, 0);
}

/// The examples (a) to (e) of figures 8 and 9 [AG p.54-55], as access addresses written out by the rules under table 32.
#[test]
fn vpm_locations_are_those_of_figures_8_and_9() {
    let check = |horizontal, size, (y, x, part), address| {
        let location = Location { y, x, part };
        assert_eq!(location.pack(horizontal, size), Some(address), "{location:?}");
        assert_eq!(Location::unpack(address, horizontal, size), Some(location), "{address:#x}");
    };
    check(true, ElementSize::Bits8, (0, 0, 2), 0b00_000010);
    check(true, ElementSize::Bits8, (1, 0, 1), 0b00_000101);
    check(true, ElementSize::Bits16, (2, 0, 0), 0b0_000100);
    check(true, ElementSize::Bits16, (3, 0, 1), 0b0_000111);
    check(true, ElementSize::Bits32, (63, 0, 0), 0b111111);
    check(false, ElementSize::Bits8, (0, 0, 1), 0b00_000001);
    check(false, ElementSize::Bits8, (0, 1, 2), 0b00_000110);
    check(false, ElementSize::Bits16, (0, 2, 0), 0b0_000100);
    check(false, ElementSize::Bits16, (0, 15, 1), 0b0_011111);
    check(false, ElementSize::Bits32, (16, 1, 0), 0b010001);
    assert_eq!(Location { y: 1, x: 1, part: 0 }.pack(false, ElementSize::Bits32), None);
}

/// Every field of every record takes its largest and smallest value and gives it back, and nothing else changes.
#[test]
fn every_record_field_survives_a_round_trip() {
    for info in Record::TABLE {
        for field in info.fields {
            let data = mask_of(field.width()) << field.lo;
            let mut bytes = vec![info.code];
            bytes.extend(&data.to_le_bytes()[..info.bytes - 1]);
            let record = Record::decode(&bytes).unwrap();
            assert_eq!(record.encode().unwrap()[..info.bytes], bytes[..], "{} {}", info.name, field.name);
        }
    }
}

#[test]
fn reserved_and_truncated_records_are_errors_with_a_name() {
    assert_eq!(Record::decode(&[2]).unwrap_err().to_string(), "control record code 2 is reserved");
    assert_eq!(
        Record::decode(&[112, 0]).unwrap_err().to_string(),
        "control record 112 (Tile Binning Mode Configuration) has 16 bytes, but only 2 are left"
    );
    let unaligned = Record::from(StoreFullResolution { address: BusAddr(8).into(), ..Default::default() });
    assert_eq!(
        unaligned.encode().unwrap_err().to_string(),
        "Store Full Resolution Tile Buffer: 0x8 does not fit field address (bits 31:4)"
    );
}

/// Bytes of each coding as the headings of tables 39 to 43 print them, by the first byte's pattern.
#[test]
fn compressed_list_items_have_the_sizes_of_tables_39_to_43() {
    use ListDataType::{Index16, Index24, Xy};
    use ListPrimitive::{Lines, Points, Rht, Triangles};
    let check = |data, primitive, first: u8, expected: usize| {
        let mut bytes = [0; MAX_ITEM_BYTES];
        bytes[0] = first;
        let item = Item::decode(data, primitive, &bytes).unwrap();
        assert_eq!(item.bytes(), expected, "{data} {primitive} {first:#x}: {item}");
        assert_eq!(item.encode().unwrap(), bytes, "{item}");
    };
    let sizes = [
        (Index16, Triangles, [1, 2, 4, 7]),
        (Index24, Triangles, [1, 2, 5, 10]),
        (Index16, Lines, [1, 2, 3, 5]),
        (Index24, Lines, [1, 2, 4, 7]),
        (Index16, Rht, [1, 2, 3, 5]),
        (Index16, Points, [1, 2, 2, 3]),
        (Index24, Points, [1, 2, 2, 4]),
        (Xy, Triangles, [2, 3, 8, 13]),
        (Xy, Rht, [2, 3, 6, 9]),
    ];
    for (data, primitive, [coding0, coding1, coding2, coding3]) in sizes {
        check(data, primitive, 0b0000_0100, coding0);
        check(data, primitive, 0b0000_0011, coding1);
        check(data, primitive, if primitive == Triangles { 0b0000_1111 } else { 0b0000_0110 }, coding2);
        check(data, primitive, 129, coding3);
        check(data, primitive, 130, 3);
        check(data, primitive, 128, 1);
    }
}

/// Items written out bit by bit from the tables.
#[test]
#[expect(clippy::unusual_byte_groupings, reason = "the groups are the fields")]
fn compressed_list_items_have_the_bits_of_tables_39_to_43() {
    let check = |data, primitive, bytes: &[u8], expected: Item| {
        assert_eq!(Item::decode(data, primitive, bytes), Ok(expected));
        assert_eq!(expected.encode().unwrap()[..bytes.len()], *bytes, "{expected}");
    };
    let (index, triangles) = (ListDataType::Index16, ListPrimitive::Triangles);
    check(index, triangles, &[0b111110_01], Item::Triangle0(Triangle0 { shared: 1, delta2: -2 }));
    check(
        index,
        triangles,
        &[0b1000_0011, 0b0111_1111],
        Item::Triangle1(Triangle1 { code: 3, unused: 0, delta0: -8, delta1: -1, delta2: 7 }),
    );
    check(
        index,
        triangles,
        &[0b0001_1111, 0b111111_10, 0x34, 0x12],
        Item::Triangle2(Triangle2 { code: 15, delta1: -31, delta2: -1, index0: 0x1234 }),
    );
    check(
        index,
        triangles,
        &[129, 1, 0, 2, 0, 0xff, 0xff],
        Item::Triangle3(Triangle3 { code: 129, index0: 1, index1: 2, index2: 0xffff }),
    );
    check(index, triangles, &[130, 0xff, 0xff], Item::Branch(RelativeBranch { code: 130, distance: -1 }));
    check(index, ListPrimitive::Points, &[0b000000_11, 0b1000_0000], Item::Point1(Point1 { code: 3, delta: -8192 }));
    check(
        ListDataType::Xy,
        ListPrimitive::Rht,
        &[0b000001_10, 0b1111111_1, 5, 0, 6, 0],
        Item::RhtXy2(RhtXy2 { code: 2, dx1_high: 1, dx1_low: 1, dy1: -1, x0: 5, y0: 6 }),
    );
    // the difference -32 belongs to the special codes
    assert_eq!(Item::decode(index, triangles, &[128]), Ok(Item::Escape));
    let no_such_list = Item::decode(ListDataType::Xy, ListPrimitive::Lines, &[0]).unwrap_err();
    assert_eq!(no_such_list.to_string(), "there are no compressed lists of lines by 32-bit x/y");
}

/// Records laid out byte by byte from tables 44, 46 and 47 [AG p.78-80]: each byte holds its own offset, so that a field shows where it stands.
#[test]
fn records_in_memory_have_the_bytes_of_tables_44_46_and_47() {
    let bytes: Vec<u8> = (0..32).collect();
    let word = |offset: u32| BusAddr(0x0302_0100 + 0x0404_0404 * (offset / 4));

    let nv = NvShaderRecord::read_from(&bytes).unwrap();
    assert_eq!((nv.stride, nv.uniform_count, nv.varyings), (1, 2, 3));
    assert_eq!((nv.code, nv.uniforms, nv.vertices), (word(4), word(8), word(12)));
    let flags = NvShaderRecord::read_from(&[&[0b1010], &bytes[1..]].concat()).unwrap();
    assert_eq!((flags.clip_header, flags.clipping, flags.point_size), (true, false, true));
    assert_eq!(flags.threading, Threading::Dual);

    let vg = VgShaderRecord::read_from(&bytes).unwrap();
    assert_eq!((vg.uniform_count, vg.varyings, vg.code, vg.uniforms), (2, 3, word(4), word(8)));

    let vertex = ClippedVertex::read_from(&bytes).unwrap();
    assert_eq!((vertex.x, vertex.y), (0x0100, 0x0302));
    assert_eq!(vertex.z.to_bits(), word(4).0);
    assert_eq!((vertex.reciprocal_w.to_bits(), vertex.coefficient0.to_bits()), (word(8).0, word(12).0));
    let rest = ClippedVertexCoefficients::read_from(&bytes[16..]).unwrap();
    assert_eq!((rest.coefficient1.to_bits(), rest.coefficient2.to_bits()), (word(16).0, word(20).0));
}

/// Words that py-videocore's assembler emits, with the arguments that its source gives them: one row of 16 words loaded with a pitch of 8 * 2^3 bytes
/// to row 0, one vector read, vectors written, four rows stored.
#[test]
fn vpm_setup_words_mean_what_py_videocore_says() {
    let ReadSetupWord::Load(load) = ReadSetupWord::decode(0x8301_1000) else { panic!() };
    let expected =
        LoadSetup { id: 1, mode: DmaMode::Bits32, mpitch: 3, row_length: 0, rows: 1, vpitch: 1, ..Default::default() };
    assert_eq!(load, expected);
    let ReadSetupWord::Read(read) = ReadSetupWord::decode(0x0010_1a00) else { panic!() };
    let size = ElementSize::Bits32;
    assert_eq!(read, ReadSetup { count: 1, stride: 1, horizontal: true, size, ..Default::default() });
    let WriteSetupWord::Write(write) = WriteSetupWord::decode(0x0000_1a00) else { panic!() };
    assert_eq!(write, WriteSetup { stride: 1, horizontal: true, size, ..Default::default() });
    let WriteSetupWord::Store(store) = WriteSetupWord::decode(0x8210_4000) else { panic!() };
    assert_eq!(store, StoreSetup { id: 2, units: 4, depth: 16, horizontal: true, ..Default::default() });
    // a stride word is a constant shifted to its id, with the stride below it
    let ReadSetupWord::LoadStride(stride) = ReadSetupWord::decode(9 << 28 | 12_288) else { panic!() };
    assert_eq!(stride.mpitchb, 12_288);
    let WriteSetupWord::StoreStride(stride) = WriteSetupWord::decode(3 << 30 | 1 << 16 | 64) else { panic!() };
    assert_eq!((stride.stride, stride.block_mode), (64, true));
}

/// Stencil words written out by the bit numbers of tables 27 and 28 [AG p.49-50].
#[test]
fn stencil_words_have_the_bits_of_tables_27_and_28() {
    let word = 3 << 30 | 2 << 28 | 5 << 25 | 4 << 22 | 3 << 19 | 6 << 16 | 0xab << 8 | 0xcd;
    let expected = StencilConfiguration {
        select: StencilSelect::Both,
        write_mask: StencilWriteMask::Bits4,
        z_fail: StencilOp::Invert,
        z_pass: StencilOp::DecrementSaturated,
        stencil_fail: StencilOp::IncrementSaturated,
        function: CompareFunction::GreaterOrEqual,
        reference: 0xab,
        mask: 0xcd,
    };
    assert_eq!(StencilConfiguration::from_word(word), expected);
    assert_eq!(expected.to_word(), Ok(word));
    let masks = StencilWriteMasks { select: StencilSelect::WriteMasks, back: 0x12, front: 0x34 };
    assert_eq!(masks.to_word(), Ok(0x1234));
}
