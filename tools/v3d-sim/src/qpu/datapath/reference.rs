//! The reference datapath: executes each instruction element by element, as the guide defines it.

use crate::qpu::datapath::{Datapath, Results};
use crate::qpu::isa::alu::{self, Outcome};
use crate::qpu::isa::instruction::{DecodedInstruction, Destination, FlagSource, Pack, Rotation, Unpacking};
use crate::qpu::isa::pack::{self, Packed};
use crate::qpu::isa::registers::{self, ACCUMULATORS, Flags, RegisterIndex, Registers};
use crate::qpu::lanes::{Lanes, Mask};
use v3d_hw::qpu::LANES;

/// Computes element by element.
#[derive(Clone, Copy, Debug)]
pub struct Reference;

impl Datapath for Reference {
    fn execute(registers: &mut Registers, flags: &mut Flags, instruction: &DecodedInstruction, results: &mut Results) {
        unpack(registers, instruction.unpacking);

        let add: [Outcome; LANES] = std::array::from_fn(|i| {
            alu::add(instruction.add.op, registers.at(instruction.add.a).0[i], registers.at(instruction.add.b).0[i])
                .unwrap_or_default()
        });
        let mul = multiply(registers, instruction);

        let add_mask = flags.holds(instruction.add.condition);
        let mul_mask = flags.holds(instruction.mul.condition);

        let (outcomes, mask) = match instruction.flags {
            FlagSource::None => (&add, 0),
            FlagSource::Add => (&add, add_mask),
            FlagSource::Mul => (&mul, mul_mask),
        };
        let of = |holds: &dyn Fn(&Outcome) -> bool| {
            (0..LANES).fold(0, |elements, i| elements | Mask::from(holds(&outcomes[i])) << i)
        };
        let new = Flags {
            zero: of(&|outcome| outcome.value == 0),
            negative: of(&|outcome| outcome.value >> 31 == 1),
            carry: of(&|outcome| outcome.carry),
        };
        flags.replace(new, mask);

        *results = Results {
            add: (write(registers, instruction.add.to, instruction.add.pack, &add, add_mask), add_mask),
            mul: (write(registers, instruction.mul.to, instruction.mul.pack, &mul, mul_mask), mul_mask),
        };
    }
}

fn unpack(registers: &mut Registers, unpacking: Unpacking) {
    let unpacked = match unpacking {
        Unpacking::None => return,
        Unpacking::PortA { from, mode, float } => registers.at(from).map(|word| pack::unpack_a(mode, word, float)),
        Unpacking::R4 { from, mode } => registers.at(from).map(|word| pack::unpack_r4(mode, word)),
    };
    *registers.at_mut(registers::UNPACKED) = unpacked;
}

/// The mul ALU with its rotation.
///
/// The first half of a rotation takes place where accumulators r0 to r3 are read: each element is taken from the quad from which it has to come, but
/// keeps its place within the quad. The second half, after the operation, moves elements within their quads. So operands that are not accumulators
/// are only rotated within quads [vc4asm].
fn multiply(registers: &Registers, instruction: &DecodedInstruction) -> [Outcome; LANES] {
    let by = match instruction.rotation {
        Rotation::None => 0,
        Rotation::By(by) => usize::from(by),
        Rotation::ByR5 => registers.at(registers::R5).0[0] as usize & 15,
    };
    let operand = |register: RegisterIndex, element: usize| {
        let is_rotated = (ACCUMULATORS..ACCUMULATORS + 4).contains(&register);
        let from = if is_rotated {
            let (quad, within) = (element / 4, element % 4);
            // Where the second half puts this element.
            let target = quad * 4 + (within + by) % 4;
            (target + LANES - by) % LANES
        } else {
            element
        };
        registers.at(register).0[from]
    };
    let products: [Outcome; LANES] = std::array::from_fn(|i| {
        alu::mul(instruction.mul.op, operand(instruction.mul.a, i), operand(instruction.mul.b, i))
    });
    std::array::from_fn(|i| products[i / 4 * 4 + (i + LANES - by) % 4])
}

/// Packs a result and writes it if its destination is a register; returns it for all other destinations.
fn write(registers: &mut Registers, to: Destination, pack: Pack, outcomes: &[Outcome; LANES], mask: Mask) -> Lanes {
    let packed = outcomes.map(|outcome| match pack {
        Pack::None => Packed { value: outcome.value, mask: !0 },
        Pack::FileA { mode, float } => pack::pack_a(mode, outcome, float),
        Pack::Colour(mode) => pack::pack_mul(mode, outcome.value).unwrap_or(Packed { value: outcome.value, mask: !0 }),
    });
    let elements = (0..LANES).filter(|i| mask >> i & 1 == 1);
    match to {
        Destination::Register(register) => {
            let register = registers.at_mut(register);
            for i in elements {
                register.0[i] = register.0[i] & !packed[i].mask | packed[i].value;
            }
        }
        Destination::R5 { replicated } => {
            // Each quad gets the value of its first element, if that is written; replicated, element 0 decides for all.
            let r5 = registers.at_mut(registers::R5);
            for quad in 0..4 {
                let from = if replicated { 0 } else { quad * 4 };
                if mask >> from & 1 == 1 {
                    r5.0[quad * 4..quad * 4 + 4].fill(packed[from].value);
                }
            }
        }
        Destination::Nowhere | Destination::Sfu(_) | Destination::Tmu(..) | Destination::Peripheral(_) => {}
    }
    Lanes(packed.map(|packed| packed.value))
}
