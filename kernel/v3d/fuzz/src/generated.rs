//! Generated fragment shaders, most of whose steps keep the rules, so that many are accepted.
//!
//! A generated shader replaces the first fragment shader of a captured job. Its uniforms, and what they refer to, are in memory of their own.

use super::captured::Captured;
use arbitrary::{Result, Unstructured};
use v3d::hw::BusAddr;
use v3d::hw::qpu::{AddOp, Alu, Condition, Instruction, MulOp, Mux, Signal};

/// Offsets in that memory.
const CODE: u32 = 0;
const UNIFORMS: u32 = 0x8000;
const DATA: u32 = 0x1_0000;
const DATA_BYTES: u32 = 0x5_0000;

/// Write addresses of TMU 0: s, t, r, b.
const COORDINATES: [u8; 4] = [56, 57, 58, 59];

/// A program that is being generated.
#[derive(Default)]
struct Program {
    words: Vec<u64>,
    uniforms: Vec<u32>,
    /// Number of results of TMU 0 and 1 that have not been taken.
    results: [u32; 2],
    /// Number of varyings that have not been read.
    varyings: u32,
    threaded: bool,
}

impl Program {
    fn push(&mut self, alu: Alu) {
        if let Ok(word) = Instruction::Alu(alu).encode() {
            self.words.push(word);
        }
    }

    fn nops(&mut self, count: u32) {
        (0..count).for_each(|_| self.push(Alu::NOP));
    }

    /// `ldi`.
    fn load(&mut self, waddr: u8, value: u32) {
        self.words.push(0xe002_0000_0000_0000 | u64::from(waddr) << 38 | 39 << 32 | u64::from(value));
    }

    /// An operation of the add ALU.
    fn add(&mut self, op_add: AddOp, waddr_add: u8, operands: [Mux; 2], raddr_b: u8, sig: Signal) {
        let [add_a, add_b] = operands;
        self.push(Alu { sig, op_add, waddr_add, add_a, add_b, raddr_b, cond_add: Condition::Always, ..Alu::NOP });
    }

    /// Takes the oldest result of a TMU, if there is one.
    fn take(&mut self, unit: usize) {
        if let Some(left) = self.results[unit].checked_sub(1) {
            self.results[unit] = left;
            let sig = if unit == 0 { Signal::LoadTmu0 } else { Signal::LoadTmu1 };
            self.push(Alu { sig, ..Alu::NOP });
        }
    }

    fn read_varying(&mut self) {
        if let Some(left) = self.varyings.checked_sub(1) {
            self.varyings = left;
            self.push(Alu { raddr_b: 35, ..Alu::NOP });
        }
    }

    /// Ends the program, and puts it into the job's memory in place of its fragment shader.
    fn install(mut self, captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
        for unit in [0, 1] {
            while self.results[unit] > 0 {
                self.take(unit);
            }
        }
        while self.varyings > 0 {
            self.read_varying();
        }
        if u.ratio(1, 2)? {
            // The last result becomes the colour.
            self.add(AddOp::Or, 46, [Mux::R4, Mux::R4], 39, Signal::None);
        }
        self.push(Alu { sig: Signal::ProgramEnd, ..Alu::NOP });
        self.nops(1);
        self.push(Alu { sig: Signal::ScoreboardUnlock, ..Alu::NOP });
        let own = captured.own().address;
        let code: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        captured.store(own + CODE, &code);
        let uniforms: Vec<u8> = self.uniforms.iter().flat_map(|word| word.to_le_bytes()).collect();
        captured.store(own + UNIFORMS, &uniforms);
        let record = captured.record;
        let flags = captured.word(record) & !1 | u32::from(!self.threaded);
        captured.store_word(record, flags);
        captured.store_word(record + 4, (own + CODE).0);
        captured.store_word(record + 8, (own + UNIFORMS).0);
        Ok(())
    }
}

/// A program that reads the number of varyings in the record, perhaps after some other instructions.
fn begin(captured: &Captured, u: &mut Unstructured<'_>) -> Result<Program> {
    let varyings = captured.word(captured.record) >> 24;
    let implicit = match captured.name.as_str() {
        "points_size" => 2,
        "lines_width" => 1,
        _ => 0,
    };
    let mut program = Program { varyings: varyings + implicit, threaded: u.ratio(1, 4)?, ..Program::default() };
    // The scoreboard must not be waited for at once, and swapping is disabled before everything else.
    if u.ratio(1, 8)? {
        program.load(36, 1);
    }
    program.nops(u.int_in_range(2..=3)?);
    Ok(program)
}

/// A fragment shader of one to three lookups.
pub(crate) fn lookups(captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
    let mut program = begin(captured, u)?;
    let data = captured.own().address + DATA;
    for _ in 0..u.int_in_range(1..=3)? {
        look_up(&mut program, data, u)?;
        program.take(0);
        program.take(1);
    }
    program.install(captured, u)
}

/// A fragment shader of steps of all kinds.
pub(crate) fn program(captured: &mut Captured, u: &mut Unstructured<'_>) -> Result<()> {
    let mut program = begin(captured, u)?;
    let own = captured.own().address;
    for _ in 0..u.int_in_range(1..=7)? {
        step(&mut program, own, u)?;
    }
    program.install(captured, u)
}

/// One step of a program.
fn step(program: &mut Program, own: BusAddr, u: &mut Unstructured<'_>) -> Result<()> {
    match u.int_in_range(0..=15u8)? {
        0..=2 => look_up(program, own + DATA, u)?,
        3..=5 => look_up_word(program, own + DATA, u)?,
        6 => program.take(usize::from(u.arbitrary::<bool>()?)),
        7 => program.read_varying(),
        8 => {
            // A special function and its result.
            program.add(AddOp::Or, 52 + u.int_in_range(0..=3u8)?, [Mux::R0, Mux::R0], 39, Signal::None);
            program.nops(if u.ratio(1, 8)? { 1 } else { 2 });
            program.add(AddOp::Or, 33, [Mux::R4, Mux::R4], 39, Signal::None);
        }
        9 if program.threaded || u.ratio(1, 8)? => {
            let sig = *u.choose(&[Signal::ThreadSwitch, Signal::LastThreadSwitch])?;
            program.push(Alu { sig, ..Alu::NOP });
            program.nops(2);
            // Accumulators that the thread switch leaves undefined are written before they are read.
            (32..36).for_each(|accumulator| program.load(accumulator, u32::from(accumulator)));
        }
        10 => {
            // Uniforms continue at another address: mostly that of the next one.
            let here = UNIFORMS + 4 * program.uniforms.len() as u32 + 4;
            let away = if u.ratio(1, 8)? { u.arbitrary::<u16>()?.into() } else { 0 };
            program.uniforms.push((own + here + away).0);
            program.add(AddOp::Or, 40, [Mux::B, Mux::B], 32, Signal::None);
            program.nops(u.int_in_range(1..=3)?);
        }
        11 => {
            // A branch over some instructions, with whatever flags there are.
            let over = u.int_in_range(0..=3u32)?;
            let condition = u64::from(*u.choose(&[0u8, 2, 5, 15])?);
            program.words.push(0xf008_09e7_0000_0000 | condition << 52 | u64::from(8 * over));
            program.nops(3 + over);
        }
        12 => {
            program.uniforms.push(u.arbitrary()?);
            program.add(AddOp::Or, 32 + u.int_in_range(0..=3u8)?, [Mux::B, Mux::B], 32, Signal::None);
        }
        13 => program.load(if u.ratio(1, 8)? { 20 } else { u.int_in_range(0..=13u8)? }, coordinate(u)?),
        14 => {
            let operation = *u.choose(&[MulOp::Fmul, MulOp::Mul24, MulOp::V8min])?;
            program.push(Alu {
                op_mul: operation,
                mul_a: Mux::R0,
                mul_b: Mux::R1,
                waddr_mul: 32 + u.int_in_range(0..=3u8)?,
                cond_mul: Condition::Always,
                ..Alu::NOP
            });
        }
        15 if u.ratio(1, 4)? => program.words.push(u.arbitrary()?),
        _ => program.nops(1),
    }
    Ok(())
}

/// A coordinate: often one at an edge, sometimes any value.
fn coordinate(u: &mut Unstructured<'_>) -> Result<u32> {
    const EDGES: [f32; 12] = [0.0, 0.5, 0.999, 1.0, 1.001, -0.001, -1.0, 2.5, 1e9, -1e30, f32::INFINITY, f32::NAN];
    Ok(if u.ratio(3, 4)? { u.choose(&EDGES)?.to_bits() } else { u.arbitrary()? })
}

/// A lookup of a texture.
fn look_up(program: &mut Program, data: BusAddr, u: &mut Unstructured<'_>) -> Result<()> {
    let unit = u8::from(u.ratio(1, 3)?);
    // s comes last and mostly follows t; mostly, each is written once.
    let mut order = vec![1];
    if u.ratio(1, 3)? {
        order.extend([2, 3]);
    }
    if u.ratio(1, 16)? {
        order.push(u.int_in_range(1..=3)?);
    }
    order.push(0);
    let parameters = parameters(data, order.len(), u)?;
    for (index, parameter) in order.into_iter().zip(parameters) {
        program.uniforms.push(parameter);
        let waddr = COORDINATES[index] + 4 * unit;
        if u.ratio(1, 3)? {
            // The coordinate differs between elements: it is the element's number, perhaps shifted to a fraction.
            program.push(Alu { waddr_add: waddr, ..element_number() });
        } else {
            program.load(waddr, coordinate(u)?);
        }
    }
    program.results[usize::from(unit)] += 1;
    if u.ratio(2, 3)? {
        program.take(unit.into());
    }
    Ok(())
}

/// `itof waddr, elem_num`.
fn element_number() -> Alu {
    Alu { op_add: AddOp::Itof, raddr_a: 38, add_a: Mux::A, cond_add: Condition::Always, ..Alu::NOP }
}

/// The parameters of a texture that is mostly inside of some memory.
fn parameters(data: BusAddr, count: usize, u: &mut Unstructured<'_>) -> Result<[u32; 4]> {
    const SIDES: [u32; 16] = [1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 64, 65, 128, 200, 256];
    let pages = DATA_BYTES / 4096;
    // Mipmaps precede level 0.
    let mipmaps = if u.ratio(1, 3)? { u.int_in_range(1..=11)? } else { 0 };
    let page = u.int_in_range(0..=pages)?;
    let texture_type = if u.ratio(1, 12)? { u.int_in_range(0..=31u32)? } else { *u.choose(&TYPES)? };
    let cube = u32::from(count == 4 && u.ratio(1, 3)?);
    let base = (data + 4096 * page).0 | cube << 9 | u32::from(u.arbitrary::<bool>()?) << 8 | (texture_type & 15) << 4;
    let (width, height) = (*u.choose(&SIDES)?, *u.choose(&SIDES)?);
    let (width, height) = if u.ratio(1, 16)? { (u.arbitrary::<u16>()?.into(), height) } else { (width, height) };
    // Reserved filters are 6 and 7; border is 3.
    let filters = u.int_in_range(0..=5u32)? << 4 | u32::from(u.arbitrary::<bool>()?) << 7;
    let wraps = u32::from(u.arbitrary::<u8>()?) & 15;
    let wraps = if u.ratio(1, 4)? { wraps } else { wraps & 0b0101 | 0b0101 };
    let one = texture_type >> 4 << 31 | (height & 2047) << 20 | (width & 2047) << 8 | filters | wraps;
    let mut further = [0; 2];
    for word in &mut further {
        *word = match u.int_in_range(0..=7u8)? {
            0..=2 => 0,
            3 | 4 => 1 << 30 | u.int_in_range(0..=16u32)? << 12,
            5 => 2 << 30 | u32::from(u.arbitrary::<u8>()?) << 12 | u32::from(u.arbitrary::<u8>()?),
            6 => 3 << 30 | u32::from(u.arbitrary::<u8>()? & 31) << 12 | u32::from(u.arbitrary::<u8>()? & 31),
            _ => u.arbitrary()?,
        };
    }
    if cube == 1 && u.ratio(2, 3)? {
        further = [1 << 30 | u.int_in_range(0..=8u32)? << 12, 0];
    }
    if cube == 0 && u.ratio(1, 3)? {
        let (width, height) = (width & 2047, height & 2047);
        let (inner_width, inner_height) = (u.int_in_range(0..=width)?, u.int_in_range(0..=height)?);
        let spare = u32::from(u.ratio(1, 8)?);
        let x = u.int_in_range(0..=width - inner_width + spare)?;
        let y = u.int_in_range(0..=height - inner_height + spare)?;
        further = [2 << 30 | inner_height << 12 | inner_width, 3 << 30 | y << 12 | x];
    }
    Ok([base | mipmaps, one, further[0], further[1]])
}

/// Types of textures that are not reserved.
const TYPES: [u32; 18] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

/// A lookup by address, within limits.
fn look_up_word(program: &mut Program, data: BusAddr, u: &mut Unstructured<'_>) -> Result<()> {
    let limit = *u.choose(&[0, 4, 64, 100, 4096, DATA_BYTES - 4, DATA_BYTES, u32::MAX])?;
    let base = data + 4 * u.int_in_range(0..=DATA_BYTES / 4)?;
    let base = if u.ratio(1, 2)? { data } else { base };
    // The value to be limited: a large or a negative one.
    program.load(33, coordinate(u)?);
    if !u.ratio(1, 16)? {
        program.add(AddOp::Max, 32, [Mux::R1, Mux::B], 0, Signal::SmallImmediate);
    }
    if !u.ratio(1, 16)? {
        program.uniforms.push(limit);
        program.add(AddOp::Min, 33, [Mux::R0, Mux::B], 32, Signal::None);
    }
    program.uniforms.push(base.0);
    program.add(AddOp::Add, 56, [Mux::R1, Mux::B], 32, Signal::None);
    program.results[0] += 1;
    program.take(0);
    Ok(())
}
