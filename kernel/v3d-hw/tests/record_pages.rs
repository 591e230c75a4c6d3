//! The page that shows every control record byte by byte, with its links: it is made of the table of records.
//!
//! `UPDATE_PAGES=1 cargo test -p v3d-hw --test record_pages` writes it anew.

use std::fmt::Write;
use std::path::Path;
use v3d_hw::control_list::{Lists, Record, RecordInfo};
use v3d_hw::registers::Register;

/// What a record is linked with.
struct Links {
    code: u8,
    /// Registers that it matters to.
    registers: &'static [Register],
    /// The module of the model that executes it, from the crate's root.
    model: &'static str,
    /// The module of the driver that writes it, or only reads it, in lists of other drivers.
    driver: &'static str,
}

const fn links(code: u8, registers: &'static [Register], model: &'static str, driver: &'static str) -> Links {
    Links { code, registers, model, driver }
}

const CURRENT: &[Register] = &[Register::CT0CA, Register::CT1CA];
const STATUS: &[Register] = &[Register::CT0CS, Register::CT1CS];
const NESTING: &[Register] = &[Register::CT00RA0, Register::CT01RA0, Register::CT0LC, Register::CT1LC];
const POOL: &[Register] = &[Register::BPCA, Register::BPCS, Register::BPOA, Register::BPOS];
const FLUSHED: &[Register] = &[Register::BFC, Register::INTCTL, Register::CT0LC];
const FRAMES: &[Register] = &[Register::RFC, Register::INTCTL];
const PRIMITIVES: &[Register] = &[Register::CT0PC, Register::CT1PC];

const LINKS: &[Links] = &[
    links(0, STATUS, "cle", "record_list"),
    links(1, &[], "cle", "record_list"),
    links(4, FLUSHED, "ptb", "binning_list"),
    links(5, FLUSHED, "ptb", "binning_list"),
    links(6, &[], "ptb", "binning_list"),
    links(7, STATUS, "cle", "binning_list"),
    links(8, STATUS, "cle", "rendering_list"),
    links(16, CURRENT, "cle", "validator"),
    links(17, NESTING, "cle", "rendering_list"),
    links(18, NESTING, "cle", "validator"),
    links(24, &[], "render", "rendering_list"),
    links(25, FRAMES, "render", "rendering_list"),
    links(26, FRAMES, "render", "rendering_list"),
    links(27, &[], "render", "rendering_list"),
    links(28, FRAMES, "render", "rendering_list"),
    links(29, &[], "render", "rendering_list"),
    links(32, PRIMITIVES, "vcm", "primitives"),
    links(33, PRIMITIVES, "vcm", "primitives"),
    links(41, PRIMITIVES, "primitive_assembly", "validator"),
    links(42, PRIMITIVES, "primitive_assembly", "validator"),
    links(48, PRIMITIVES, "primitive_list", "validator"),
    links(49, PRIMITIVES, "primitive_list", "validator"),
    links(56, &[], "state", "binning_list"),
    links(64, &[], "state", "shader_record"),
    links(65, &[], "state", "shader_record"),
    links(66, &[], "state", "validator"),
    links(67, &[], "state", "validator"),
    links(96, &[], "state", "draw_state"),
    links(97, &[], "state", "draw_state"),
    links(98, &[], "state", "draw_state"),
    links(99, &[], "state", "draw_state"),
    links(100, &[], "state", "validator"),
    links(101, &[], "state", "draw_state"),
    links(102, &[], "state", "draw_state"),
    links(103, &[], "state", "draw_state"),
    links(104, &[], "state", "draw_state"),
    links(105, &[], "state", "draw_state"),
    links(106, &[], "state", "draw_state"),
    links(112, POOL, "ptb", "tile_memory"),
    links(113, &[], "render", "rendering_list"),
    links(114, &[], "render", "rendering_list"),
    links(115, &[], "render", "rendering_list"),
];

/// What one byte of a record's data holds, the highest bits first: the name of the field alone if all of the byte belongs to it.
fn byte(info: &RecordInfo, number: u32) -> String {
    let (low, high) = (8 * number, 8 * number + 7);
    let mut fields: Vec<_> = info.fields.iter().filter(|field| field.lo <= high && field.hi >= low).collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.lo));
    if let [field] = fields[..]
        && field.lo <= low
        && field.hi >= high
    {
        return format!("`{}`", field.name);
    }
    let bits = |field: &&v3d_hw::Field| match (field.hi.min(high) - low, field.lo.max(low) - low) {
        (hi, lo) if hi == lo => format!("{hi} `{}`", field.name),
        (hi, lo) => format!("{hi}:{lo} `{}`", field.name),
    };
    if fields.is_empty() { "unused".to_owned() } else { fields.iter().map(bits).collect::<Vec<_>>().join(", ") }
}

/// The rows of a record's diagram; bytes that hold the same are one row.
fn diagram(info: &RecordInfo) -> String {
    let mut rows: Vec<(usize, usize, String)> = vec![(0, 0, format!("{}, the code", info.code))];
    for number in 1..info.bytes {
        let contents = byte(info, number as u32 - 1);
        match rows.last_mut() {
            Some((_, last, same)) if *same == contents => *last = number,
            _ => rows.push((number, number, contents)),
        }
    }
    if info.open_ended {
        rows.push((
            info.bytes,
            usize::MAX,
            "a list of primitives, see [`primitive_list`](crate::primitive_list)".to_owned(),
        ));
    }
    let mut text = String::from("| byte | holds |\n|---|---|\n");
    for (first, last, contents) in rows {
        let bytes = match last {
            usize::MAX => format!("{first} on"),
            _ if last == first => first.to_string(),
            _ => format!("{first} to {last}"),
        };
        writeln!(text, "| {bytes} | {contents} |").unwrap();
    }
    text
}

fn page() -> String {
    let mut text = String::from(
        "Numbers before a name are bits of the byte. Fields of several bytes are little-endian. Each record's fields have a structure of their own, which\n\
         says what they mean.\n\n",
    );
    for info in Record::TABLE {
        let all: Vec<&Links> = LINKS.iter().filter(|links| links.code == info.code).collect();
        let [links] = all[..] else { panic!("{} ({}) has {} rows of links", info.name, info.code, all.len()) };
        writeln!(text, "<a id=\"record-{}\"></a>\n# {} {}\n", info.code, info.code, info.name).unwrap();
        let lists = match info.lists {
            Lists::Binning => "Binning lists.",
            Lists::Rendering => "Rendering lists.",
            Lists::Both => "Binning and rendering lists.",
        };
        let Links { model, driver, .. } = links;
        let registers: Vec<String> = links
            .registers
            .iter()
            .map(|register| format!("[{0}](crate::registers::Register::{0})", register.name()))
            .collect();
        let registers =
            if registers.is_empty() { String::new() } else { format!("\nRegisters: {}.", registers.join(",\n")) };
        writeln!(
            text,
            "{lists} In the model: [`v3d_sim::{model}`](../../v3d_sim/{model}/index.html).\n\
             In the driver: [`v3d::{driver}`](../../v3d/{driver}/index.html).{registers}\n\n{}",
            diagram(info)
        )
        .unwrap();
    }
    text.trim_end().to_owned() + "\n"
}

#[test]
fn the_page_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/record_pages.rustdoc");
    let page = page();
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == page, "the page is not made of this table: UPDATE_PAGES=1 writes it");
}

/// A record by hand: 16 bits of flags, then an address whose lowest bits are flags, too.
#[test]
fn bytes_show_their_bits() {
    let store = RecordInfo::of(28).unwrap();
    assert_eq!(byte(store, 0), "7:6 `mode`, 5:4 `format`, 2:0 `buffer`");
    assert_eq!(
        byte(store, 2),
        "7:4 `address`, 3 `last_tile`, 2 `disable_vg_mask_dump`, 1 `disable_zs_dump`, 0 `disable_color_dump`"
    );
    assert!(diagram(store).ends_with("| 4 to 6 | `address` |\n"));
}
