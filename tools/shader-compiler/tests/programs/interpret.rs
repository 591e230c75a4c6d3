//! An interpreter of scalar values: each operation by the model's reference meaning, element by element.

use shader_compiler::Compiled;
use shader_compiler::ssa::{Given, Op, PackedComponent, Program, Special, Step, Value};
use v3d_hw::qpu::{AddOp, MulOp, PackA, PackMul, Unpack};
use v3d_sim::qpu::isa::alu;
use v3d_sim::qpu::isa::sfu::{self, Function};
use v3d_sim::qpu::isa::{alu::Outcome, pack};
use v3d_sim::qpu::lanes::Lanes;

use crate::machine::{Inputs, Outputs};

struct Interpreter<'p> {
    program: &'p Program,
    own_varyings: usize,
    inputs: &'p Inputs,
    values: Vec<Lanes>,
    outputs: Outputs,
}

/// The expected outputs of a program.
pub(crate) fn interpret(compiled: &Compiled, inputs: &Inputs) -> Outputs {
    let program = &compiled.ssa;
    let outputs = Outputs::new(inputs);
    let values = vec![Lanes::default(); program.values.len()];
    let mut interpreter =
        Interpreter { program, own_varyings: if compiled.interface.points { 2 } else { 0 }, inputs, values, outputs };
    interpreter.steps(0, program.steps.len());
    interpreter.outputs
}

impl Interpreter<'_> {
    fn get(&self, value: Value) -> Lanes {
        match self.program.op(value) {
            Op::Const(bits) => Lanes::splat(bits),
            Op::Uniform(number) => Lanes::splat(self.inputs.word(self.program.words[number as usize])),
            _ => self.values[value_index(value)],
        }
    }

    fn steps(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            match self.program.steps[at] {
                Step::Compute(value) => {
                    let result = self.compute(value);
                    self.values[value_index(value)] = result;
                }
                Step::Begin(number) => {
                    let end = self.program.steps.iter().position(|step| *step == Step::End(number)).unwrap();
                    self.turns(number, at + 1, end);
                    at = end;
                }
                Step::End(_) => {}
            }
            at += 1;
        }
    }

    fn turns(&mut self, number: u32, from: usize, to: usize) {
        let data = &self.program.loops[number as usize];
        for carried in &data.carried {
            self.values[value_index(carried.value)] = self.get(carried.init);
        }
        loop {
            self.steps(from, to);
            let again = data.again.map_or(Lanes::default(), |again| self.get(again));
            let next: Vec<Lanes> = data.carried.iter().map(|carried| self.get(carried.next)).collect();
            for (carried, next) in data.carried.iter().zip(next) {
                self.values[value_index(carried.value)] = next;
            }
            if again.0.iter().all(|lane| *lane == 0) {
                return;
            }
        }
    }

    fn compute(&mut self, value: Value) -> Lanes {
        let op = self.program.op(value);
        match op {
            Op::Const(_) | Op::Uniform(_) | Op::Carried(..) => self.get(value),
            Op::Left(number, index) => self.get(self.program.loops[number as usize].carried[index as usize].value),
            Op::PointCoordinate(axis) => self.inputs.streams[usize::from(axis)],
            Op::Varying(number) | Op::FlatVarying(number) | Op::Attribute(number) => {
                self.inputs.streams[self.own_varyings + number as usize]
            }
            Op::Given(given) => match given {
                Given::FragmentW => Lanes::splat(1f32.to_bits()),
                Given::FragmentZ => self.inputs.depth,
                Given::PixelX => self.inputs.pixels.0,
                Given::PixelY => self.inputs.pixels.1,
                Given::BackFacing => self.inputs.back,
                Given::Samples => Lanes::splat(15),
                Given::Element => Lanes(std::array::from_fn(|at| at as u32)),
                Given::Workgroup(_) | Given::Part => Lanes::default(),
            },
            Op::Add(op, a, b) => self.get(a).zip(self.get(b), |a, b| alu::add(op, a, b).unwrap().value),
            Op::Mul(op, a, b) => self.get(a).zip(self.get(b), |a, b| alu::mul(op, a, b).value),
            Op::Special(special, a) => {
                let function = match special {
                    Special::Recip => Function::Recip,
                    Special::RecipSqrt => Function::RecipSqrt,
                    Special::Exp => Function::Exp,
                    Special::Log => Function::Log,
                };
                self.get(a).map(|a| sfu::apply(function, a))
            }
            Op::Unpack(part, a) => {
                let unpack = match part {
                    PackedComponent::Byte(byte) => {
                        [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3][usize::from(byte)]
                    }
                    PackedComponent::Half(half) => [Unpack::Half0, Unpack::Half1][usize::from(half)],
                };
                self.get(a).map(|a| pack::unpack_a(unpack, a, true))
            }
            Op::PackAll(a) => self.get(a).map(|a| pack::pack_mul(PackMul::Replicated, a).unwrap().value),
            Op::PackByte(byte, word, a) => {
                let mode = [PackMul::Byte0, PackMul::Byte1, PackMul::Byte2, PackMul::Byte3][usize::from(byte)];
                self.get(word).zip(self.get(a), |word, a| {
                    let packed = pack::pack_mul(mode, a).unwrap();
                    word & !packed.mask | packed.value & packed.mask
                })
            }
            Op::PackInteger(half, word, a) => self.half(half, word, a, AddOp::Ftoi),
            Op::PackHalf(half, word, a) => self.half(half, word, a, AddOp::Fmax),
            Op::Compare(relation, a, b) => {
                self.get(a).zip(self.get(b), |a, b| if relation.holds(a, b) { u32::MAX } else { 0 })
            }
            Op::Select(condition, accept, reject) => {
                let (condition, accept, reject) = (self.get(condition), self.get(accept), self.get(reject));
                Lanes(std::array::from_fn(|at| if condition.0[at] != 0 { accept.0[at] } else { reject.0[at] }))
            }
            Op::Rotate(places, a) => {
                let lanes = self.get(a);
                Lanes(std::array::from_fn(|at| lanes.0[(at + 16 - usize::from(places)) % 16]))
            }
            Op::Texture(_) => panic!("textures are not interpreted"),
            Op::Fetch(address) => self.get(address).map(|address| self.inputs.fetch(address)),
            Op::Access(_) | Op::VpmRow(..) | Op::Copies { .. } => panic!("memory is not interpreted"),
            Op::Output(a) => {
                let word = self.get(a);
                self.outputs.words.push(word);
                word
            }
            Op::Color(a) => {
                self.outputs.color = self.get(a);
                self.outputs.color
            }
            Op::BlueAlpha(a) => {
                self.outputs.blue_alpha = self.get(a);
                self.outputs.blue_alpha
            }
            Op::Depth(a) => {
                self.outputs.depth = self.get(a);
                self.outputs.depth
            }
            Op::Keep(a) => {
                let mask = self.get(a);
                self.outputs.samples =
                    self.outputs.samples.zip(mask, |samples, mask| if mask == 0 { 0 } else { samples });
                mask
            }
        }
    }

    /// A result packed into half of a word; the other half of a new word is unspecified.
    fn half(&self, half: u8, word: Option<Value>, a: Value, op: AddOp) -> Lanes {
        let mode = [PackA::Half0, PackA::Half1][usize::from(half)];
        let old = word.map_or(Lanes::default(), |word| self.get(word));
        old.zip(self.get(a), |old, a| {
            let outcome = alu::add(op, a, a).unwrap_or(Outcome { value: a, carry: false, overflow: false });
            let packed = pack::pack_a(mode, outcome, op.gives_floats());
            old & !packed.mask | packed.value & packed.mask
        })
    }
}

fn value_index(value: Value) -> usize {
    value.to_string()[1..].parse().unwrap()
}

/// fmul by 1 is the identity, so a pack can be represented by it.
#[test]
fn a_product_with_one_is_the_number() {
    for bits in [0x3f80_0000, 0x4049_0fdb, 0xbf00_0001, 0x0080_0000] {
        assert_eq!(alu::mul(MulOp::Fmul, bits, 0x3f80_0000).value, bits);
    }
}
