//! Arithmetic compared with recordings of silicon: every row of `tests/vectors`.

use v3d_hw::qpu::{AddOp, MulOp, PackA, Unpack};
use v3d_sim::qpu::isa::alu::{self, Outcome};
use v3d_sim::qpu::isa::pack;
use v3d_sim::qpu::isa::sfu::{self, Function};

const FLAGS: &str = include_str!("vectors/alu_op_flags.tsv");
const PACK: &str = include_str!("vectors/alu_op_pack.tsv");
const UNPACK: &str = include_str!("vectors/unpack_rega.tsv");
const SFU: &str = include_str!("vectors/sfu.txt");

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

/// Performs an operation given by its name; also returns whether the result is a float and whether the recorded flags are usable.
fn perform(name: &str, a: u32, b: u32) -> (Outcome, bool, bool) {
    // Both ALUs have these two operations; the add ALU's were recorded.
    if let Some(op) = AddOp::ALL.iter().copied().find(|op| op.name() == name) {
        return (alu::add(op, a, b).unwrap(), op.gives_floats(), true);
    }
    let op = MulOp::ALL.iter().copied().find(|op| op.name() == name).unwrap_or_else(|| panic!("{name}"));
    (alu::mul(op, a, b), op.gives_floats(), false)
}

#[test]
fn results_and_flags_of_all_operations() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in FLAGS.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, a, b, result, packed, flags] = columns[..] else { panic!("{line}") };
        // Unary operations were recorded with one operand.
        let (a, b) = (hex(a), hex(if b == "-" || b.is_empty() { "0" } else { b }));
        let (outcome, float, flags_recorded) = perform(name, a, b);
        let mut computed = String::new();
        for (flag, set) in [('n', outcome.value >> 31 == 1), ('z', outcome.value == 0), ('c', outcome.carry)] {
            if set {
                computed.push(flag);
            }
        }
        let expected: String = "nzc".chars().filter(|&flag| flags.contains(flag)).collect();
        let saturated = pack::pack_a(PackA::Saturated, outcome, float).value;
        let same =
            outcome.value == hex(result) && saturated == hex(packed) && (!flags_recorded || computed == expected);
        if !same {
            wrong.push(format!("{line}: {:08x} {saturated:08x} {computed}", outcome.value));
        }
        rows += 1;
    }
    assert_eq!(rows, 2729);
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn all_pack_modes_of_all_operations() {
    const MODES: [PackA; 16] = [
        PackA::None,
        PackA::Saturated,
        PackA::Half0Saturated,
        PackA::Half0,
        PackA::Half1Saturated,
        PackA::Half1,
        PackA::Byte0Saturated,
        PackA::Byte0,
        PackA::Byte1Saturated,
        PackA::Byte1,
        PackA::Byte2Saturated,
        PackA::Byte2,
        PackA::Byte3Saturated,
        PackA::Byte3,
        PackA::ReplicatedSaturated,
        PackA::Replicated,
    ];
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in PACK.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        assert_eq!(columns.len(), 19, "{line}");
        let (a, b) = (hex(columns[1]), hex(if columns[2] == "-" { "0" } else { columns[2] }));
        let (outcome, float, _) = perform(columns[0], a, b);
        for (mode, expected) in MODES.into_iter().zip(&columns[3..]) {
            let packed = pack::pack_a(mode, outcome, float).value;
            if packed != hex(expected) {
                wrong.push(format!("{} {a:08x} {b:08x} {mode:?}: {packed:08x}, silicon {expected}", columns[0]));
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 2729);
    assert!(wrong.is_empty(), "{} values differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn all_unpack_modes() {
    const MODES: [Unpack; 7] = [
        Unpack::Half0,
        Unpack::Half1,
        Unpack::Byte3Replicated,
        Unpack::Byte0,
        Unpack::Byte1,
        Unpack::Byte2,
        Unpack::Byte3,
    ];
    let mut rows = 0;
    for line in UNPACK.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<u32> = line.split('\t').map(hex).collect();
        assert_eq!(pack::unpack_a(Unpack::None, columns[0], false), columns[1], "{line}");
        for (i, mode) in MODES.into_iter().enumerate() {
            for (float, expected) in [(false, columns[2 + i]), (true, columns[9 + i])] {
                let word = pack::unpack_a(mode, columns[0], float);
                assert_eq!(word, expected, "{line} {mode:?} float {float}: {word:08x}, silicon {expected:08x}");
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 15);
}

/// The numbers in a line of the recording.
fn recorded(label: &str) -> Vec<f32> {
    let line = SFU.lines().find(|line| line.starts_with(label)).unwrap();
    line[label.len()..].split_whitespace().map(|number| number.parse().unwrap()).collect()
}

#[test]
fn special_functions_are_as_good_and_as_bad_as_silicon() {
    let apply = |function, x: f32| f32::from_bits(sfu::apply(function, x.to_bits()));
    let inputs = recorded("In:");
    assert_eq!(inputs.len(), 16);
    // Inputs are printed with 7 digits; the exact values are known.
    let exact = |x: f32| match x {
        _ if (x.abs() - std::f32::consts::PI).abs() < 1e-5 => std::f32::consts::PI.copysign(x),
        _ if (x - std::f32::consts::E).abs() < 1e-5 => std::f32::consts::E,
        _ => x,
    };
    let compare = |label: &str, tolerance: f32, compute: &dyn Fn(f32) -> f32| {
        for (&x, silicon) in inputs.iter().zip(recorded(label)) {
            let model = compute(exact(x));
            let same = model == silicon || ((model - silicon) / silicon).abs() <= tolerance;
            assert!(same, "{label} {x}: {model:e}, silicon {silicon:e}");
        }
    };
    // A value printed with 7 digits is off by at most half a unit of the seventh digit.
    compare("exp:", 5e-7, &|x| apply(Function::Exp, x));
    compare("recip/recip:", 1.0 / 8192.0, &|x| apply(Function::Recip, apply(Function::Recip, x)));
    compare("exp/log:", 1.0 / 8192.0, &|x| apply(Function::Exp, apply(Function::Log, x)));
    compare("recip/rsqrt:", 1.0 / 4096.0, &|x| {
        let root = apply(Function::RecipSqrt, x);
        apply(Function::Recip, f32::from_bits(alu::mul(MulOp::Fmul, root.to_bits(), root.to_bits()).value))
    });
    assert!(apply(Function::Recip, 4.0) < 0.25);
}
