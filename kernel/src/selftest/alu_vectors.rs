//! The recorded results of the QPU's two ALUs
//!
//! The table is tools/v3d-sim/tests/vectors/alu_op_flags.tsv, which says where it comes from. A row is an operation, two
//! operands, the result, the result with saturating pack, and the flags that were set.

use v3d::hw::qpu::{AddOp, MulOp};

const TABLE: &str = include_str!("../../../tools/v3d-sim/tests/vectors/alu_op_flags.tsv");

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// By the add ALU.
    Add(AddOp),
    /// By the mul ALU.
    Mul(MulOp),
}

/// Flags, as bits.
pub mod flag {
    /// The result is negative.
    pub const N: u32 = 1;
    /// The result is zero.
    pub const Z: u32 = 2;
    /// Carry.
    pub const C: u32 = 4;
}

/// A recorded result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The operation's name.
    pub name: &'static str,
    /// The operation.
    pub operation: Operation,
    /// Its operands.
    pub operands: [u32; 2],
    /// What came out.
    pub result: u32,
    /// The flags that were set; not recorded for the mul ALU.
    pub flags: Option<u32>,
}

/// The recorded results, in the order of the table. Lines that are none are left out; a test keeps that to the heading.
pub fn all() -> impl Iterator<Item = Vector> {
    TABLE.lines().filter_map(parse)
}

fn parse(line: &'static str) -> Option<Vector> {
    let mut columns = line.split('\t');
    let name = columns.next()?;
    let operation = operation(name)?;
    let mut number = || u32::from_str_radix(columns.next()?, 16).ok();
    let operands = [number()?, number()?];
    let result = number()?;
    number()?;
    let flags = columns.next()?.chars().fold(0, |flags, letter| {
        flags
            | match letter {
                'n' => flag::N,
                'z' => flag::Z,
                'c' => flag::C,
                _ => 0,
            }
    });
    let flags = matches!(operation, Operation::Add(_)).then_some(flags);
    Some(Vector { name, operation, operands, result, flags })
}

fn operation(name: &str) -> Option<Operation> {
    let add = match name {
        "fadd" => AddOp::Fadd,
        "fsub" => AddOp::Fsub,
        "fmin" => AddOp::Fmin,
        "fmax" => AddOp::Fmax,
        "fminabs" => AddOp::Fminabs,
        "fmaxabs" => AddOp::Fmaxabs,
        "ftoi" => AddOp::Ftoi,
        "itof" => AddOp::Itof,
        "add" => AddOp::Add,
        "sub" => AddOp::Sub,
        "shr" => AddOp::Shr,
        "asr" => AddOp::Asr,
        "ror" => AddOp::Ror,
        "shl" => AddOp::Shl,
        "min" => AddOp::Min,
        "max" => AddOp::Max,
        "and" => AddOp::And,
        "or" => AddOp::Or,
        "xor" => AddOp::Xor,
        "not" => AddOp::Not,
        "clz" => AddOp::Clz,
        "v8adds" => AddOp::V8adds,
        "v8subs" => AddOp::V8subs,
        "fmul" => return Some(Operation::Mul(MulOp::Fmul)),
        "mul24" => return Some(Operation::Mul(MulOp::Mul24)),
        "v8muld" => return Some(Operation::Mul(MulOp::V8muld)),
        "v8min" => return Some(Operation::Mul(MulOp::V8min)),
        "v8max" => return Some(Operation::Mul(MulOp::V8max)),
        _ => return None,
    };
    Some(Operation::Add(add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert_eq!(all().count(), TABLE.lines().filter(|line| !line.starts_with('#')).count());
        assert_eq!(all().count(), 2729);
    }

    /// Rows of the table, read by eye.
    #[test]
    fn rows_mean_what_they_say() {
        let find =
            |name: &str, operands| all().find(|vector| vector.name == name && vector.operands == operands).unwrap();
        let not = find("not", [0x7000_0000, 0x8000_0000]);
        assert_eq!((not.operation, not.result, not.flags), (Operation::Add(AddOp::Not), 0x8fff_ffff, Some(flag::N)));
        let clz = find("clz", [0, 0x8000_0000]);
        assert_eq!((clz.result, clz.flags), (0x20, Some(0)));
        assert!(
            all().filter(|vector| matches!(vector.operation, Operation::Mul(_))).all(|vector| vector.flags.is_none())
        );
    }
}
