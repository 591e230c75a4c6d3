//! The test of an operation: a program with a loop around its macro.
//!
//! The loop processes many sets of operands, 16 at a time.

use crate::effects::Effects;
use crate::machine::{self, DATA, Run};
use crate::samples::{OperandKind, operand_sets};
use crate::table::{Answer, Cost, Document, LargestError, Row};
use std::fmt::Write;
use v3d_hw::BusAddr;
use v3d_hw::qpu::{AddOp, Instruction, LANES, MulOp};

/// Bytes of a vector.
const VECTOR: usize = 4 * LANES;
/// Number of vectors that costs are measured on, of those that are checked.
const MEASURED_VECTORS: usize = 16;
/// Number of requests that a TMU queues while no results are loaded.
const TMU_REQUESTS: usize = 4;

/// The registers of an operation's operands and results.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    document: Document,
    operation: String,
    name: String,
    file: &'static str,
    inputs: Vec<(&'static str, OperandKind)>,
    outputs: Vec<&'static str>,
    /// Instructions before and after it in the test program, which are not counted.
    around: [String; 2],
}

/// The loop over operands, with the operation and without it.
struct Programs {
    with: Vec<u64>,
    without: Vec<u64>,
}

/// A function that computes a vector's expected results: from all elements of each operand, all elements of each result.
pub(crate) type Vector = [u32; LANES];

impl Case {
    /// Creates the test of a document's operation, with the line that implements it by a file of `operations/`. It has no operands, and its result is in r0.
    pub(crate) fn new(
        document: Document,
        operation: impl Into<String>,
        file: &'static str,
        name: impl Into<String>,
    ) -> Self {
        Self {
            document,
            operation: operation.into(),
            name: name.into(),
            file,
            inputs: Vec::new(),
            outputs: vec!["r0"],
            around: Default::default(),
        }
    }

    /// Adds an operand.
    pub(crate) fn input(mut self, register: &'static str, kind: OperandKind) -> Self {
        self.inputs.push((register, kind));
        self
    }

    /// Adds instructions before and after it, separated by `; `, that are not part of it.
    pub(crate) fn between(mut self, before: &str, behind: &str) -> Self {
        self.around = [before.to_owned(), behind.to_owned()];
        self
    }

    /// Sets the registers of the results.
    pub(crate) fn outputs(mut self, registers: &[&'static str]) -> Self {
        self.outputs = registers.to_vec();
        self
    }

    /// Compares with a function of one element, bit for bit.
    pub(crate) fn exact(self, oracle: impl Fn(&[u32]) -> Vec<u32>) -> Row {
        let sets = operand_sets(&self.name, &self.kinds());
        self.check([sets], |operands, results| {
            let expected = oracle(operands);
            if results == expected { Ok(LargestError::Exact) } else { Err(hexadecimal(&expected)) }
        })
    }

    /// Checks results with a predicate of operands and results, for operations with several correct results.
    pub(crate) fn judged(self, is_right: impl Fn(&[u32], &[u32]) -> bool) -> Row {
        let sets = operand_sets(&self.name, &self.kinds());
        self.check([sets], |operands, results| {
            if is_right(operands, results) { Ok(LargestError::Exact) } else { Err("what it should be".to_owned()) }
        })
    }

    /// Compares with a function of all elements, bit for bit, for operations that read other elements.
    pub(crate) fn exact_vectors(self, oracle: impl Fn(&[Vector]) -> Vec<Vector>) -> Row {
        let sets = operand_sets(&self.name, &self.kinds());
        let compared = self.prepare().and_then(|programs| {
            let results = self.results(&programs.with, &sets)?;
            for (sets, results) in sets.chunks_exact(LANES).zip(results.chunks_exact(LANES)) {
                let vector = |rows: &[Vec<u32>], column: usize| std::array::from_fn(|element| rows[element][column]);
                let operands: Vec<Vector> = (0..self.inputs.len()).map(|column| vector(sets, column)).collect();
                let results: Vec<Vector> = (0..self.outputs.len()).map(|column| vector(results, column)).collect();
                let expected = oracle(&operands);
                if results != expected {
                    return Err(format!("of {operands:x?}\nis {results:x?}\nnot {expected:x?}"));
                }
            }
            Ok((self.cost(&programs, &sets)?, LargestError::Exact))
        });
        self.row(compared)
    }

    /// Compares by an error function, whose maximum is recorded in the row; results that are wrong altogether are reported with the expected ones. The sets
    /// of operands are passed in parts.
    pub(crate) fn check(
        &self,
        parts: impl IntoIterator<Item = Vec<Vec<u32>>>,
        compare: impl Fn(&[u32], &[u32]) -> Result<LargestError, String>,
    ) -> Row {
        let compared = self.prepare().and_then(|programs| {
            let (mut largest, mut cost) = (LargestError::Exact, None);
            for sets in parts {
                let results = self.results(&programs.with, &sets)?;
                for (operands, results) in sets.iter().zip(&results) {
                    let error = compare(operands, results).map_err(|expected| {
                        format!("of {} is {}, not {expected}", hexadecimal(operands), hexadecimal(results))
                    })?;
                    if error.size() > largest.size() {
                        largest = error;
                    }
                }
                if cost.is_none() {
                    cost = Some(self.cost(&programs, &sets)?);
                }
            }
            Ok((cost.ok_or("there are no operands")?, largest))
        });
        self.row(compared)
    }

    /// The results for some sets of operands, without a check.
    pub(crate) fn of_sets(&self, sets: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let results = self.prepare().and_then(|programs| self.results(&programs.with, sets));
        results.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn kinds(&self) -> Vec<OperandKind> {
        self.inputs.iter().map(|&(_, kind)| kind).collect()
    }

    fn row(&self, compared: Result<(Cost, LargestError), String>) -> Row {
        let Self { document, operation, name, file, .. } = self;
        let answer = match compared {
            Ok((cost, error)) => Answer::Built { name: name.clone(), file, cost, error },
            Err(why) => Answer::Wrong(format!("{name} {why}")),
        };
        Row { document: *document, operation: operation.clone(), answer }
    }

    /// The checked program, and the same without the operation.
    fn prepare(&self) -> Result<Programs, String> {
        let assembly = machine::assemble(&self.name, &self.program(&self.name))?;
        machine::check(&assembly)?;
        Ok(Programs { with: assembly.words, without: machine::assemble(&self.name, &self.program(""))?.words })
    }

    /// Runs a program on vectors of operands in the layout of [`Self::data`].
    fn run(&self, words: &[u64], data: &[u32], vectors: usize) -> Result<Run, String> {
        let results_at = DATA + 4 * data.len() as u32;
        let room = vectors * VECTOR * self.outputs.len();
        machine::run(words, data, room, &[vec![DATA, results_at, vectors as u32]])
    }

    /// For each vector: all elements of the first operand, of the second, and so on.
    fn data(&self, sets: &[Vec<u32>]) -> Vec<u32> {
        let mut sets: Vec<&Vec<u32>> = sets.iter().collect();
        sets.resize(sets.len().next_multiple_of(LANES), sets[0]);
        let vectors = sets.chunks_exact(LANES);
        vectors
            .flat_map(|vector| (0..self.inputs.len()).flat_map(move |input| vector.iter().map(move |set| set[input])))
            .collect()
    }

    /// The results for each set of operands.
    fn results(&self, words: &[u64], sets: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
        let data = self.data(sets);
        let done = self.run(words, &data, sets.len().div_ceil(LANES))?;
        let results = (0..sets.len()).map(|set| {
            let (vector, element) = (set / LANES, set % LANES);
            let offset = |output| (vector * self.outputs.len() + output) * VECTOR + 4 * element;
            let at = |output| BusAddr(DATA + (4 * data.len() + offset(output)) as u32);
            let words = (0..self.outputs.len()).map(|output| done.memory.view().word(at(output)));
            words.collect::<Result<Vec<u32>, _>>().map_err(|error| error.to_string())
        });
        results.collect()
    }

    /// The cost of one use: the additional cost of each later vector; the first ones wait for the instruction cache.
    fn cost(&self, programs: &Programs, sets: &[Vec<u32>]) -> Result<Cost, String> {
        let data = self.data(sets);
        let measured = (sets.len().div_ceil(LANES) / 2).min(MEASURED_VECTORS);
        let later =
            |words: &[u64]| Ok::<_, String>((self.run(words, &data, measured)?, self.run(words, &data, 2 * measured)?));
        let (costly, free) = (later(&programs.with)?, later(&programs.without)?);
        let each = |count: fn(&Run) -> u64| {
            let added = |(few, many): &(Run, Run)| count(many) - count(few);
            let more = added(&costly).saturating_sub(added(&free));
            (more + measured as u64 / 2) / measured as u64
        };
        let (with, without) = (uses_of_alus(&programs.with), uses_of_alus(&programs.without));
        let bound = 4 * (with.0 - without.0).max(with.1 - without.1);
        let include = format!(".include \"operations/{}\"", self.file);
        let effects = Effects::of(&self.name, &include, &self.name.replace("; ", "\n"))?;
        Ok(Cost { instructions: each(|run| run.instructions), cycles: each(|run| run.cycles), bound, effects })
    }

    /// A loop over vectors: loads operands through TMU 0, executes `line`, and stores results through the VPM.
    fn program(&self, line: &str) -> String {
        let mut text = String::new();
        let mut add = |line: &str| {
            let _ = writeln!(text, "    {line}");
        };
        add(&format!(".include \"operations/{}\"", self.file));
        // ra0: address of the next operand, different in each element; ra1: of the next result; rb0: number of vectors left; rb1: bytes of a vector.
        for line in [
            "mov ra0, unif",
            "mov ra1, unif",
            "mov rb0, unif",
            "ldi rb1, 64",
            "shl r0, elem_num, 2",
            "add ra0, ra0, r0",
        ] {
            add(line);
        }
        add("nop\n:loop");
        // Accumulators are loaded last, because the computation of addresses uses them.
        let is_accumulator = |register: &str| register.starts_with('r') && register[1..].parse::<u8>().is_ok();
        let (last, first): (Vec<usize>, Vec<usize>) =
            (0..self.inputs.len()).partition(|&input| is_accumulator(self.inputs[input].0));
        for chunk in first.chunks(TMU_REQUESTS).chain(last.chunks(TMU_REQUESTS)) {
            for input in chunk {
                add(&format!("ldi r0, {}", VECTOR * input));
                add("add t0s, ra0, r0");
            }
            for &input in chunk {
                add("ldtmu0");
                add(&format!("mov {}, r4", self.inputs[input].0));
            }
        }
        add("nop");
        let [before, behind] = &self.around;
        [before.as_str(), line, behind].iter().flat_map(|part| part.split("; ")).for_each(&mut add);
        add("ldi vw_setup, 0x1a00");
        self.outputs.iter().for_each(|register| add(&format!("mov vpm, {register}")));
        add(&format!("ldi vw_setup, 2 << 30 | {} << 23 | 16 << 16 | 1 << 14", self.outputs.len()));
        add("ldi vw_setup, 3 << 30");
        add("mov vw_addr, ra1");
        add(&format!("ldi r0, {}", VECTOR * self.inputs.len()));
        add(&format!("ldi r1, {}", VECTOR * self.outputs.len()));
        for line in [
            "add ra0, ra0, r0",
            "read vw_wait",
            "mov r2, rb0",
            "sub.setf rb0, r2, 1",
            "brr.anynz -, r:loop",
            "add ra1, ra1, r1",
        ] {
            add(line);
        }
        for line in ["nop", "nop", "mov irq, 1", "thrend", "nop", "nop"] {
            add(line);
        }
        text
    }
}

impl LargestError {
    fn size(self) -> f64 {
        match self {
            Self::Exact => 0.0,
            Self::Ulp(size) | Self::Absolute(size) => size,
        }
    }
}

fn hexadecimal(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ")
}

/// Instructions that use the add ALU, and those that use the mul ALU.
pub(crate) fn uses_of_alus(words: &[u64]) -> (u64, u64) {
    let (mut add, mut mul) = (0, 0);
    for &word in words {
        if let Instruction::Alu(alu) = Instruction::decode(word) {
            add += u64::from(alu.op_add != AddOp::Nop);
            mul += u64::from(alu.op_mul != MulOp::Nop);
        }
    }
    (add, mul)
}
