//! Random programs of integers, in suites.
//!
//! Results of an independent implementation are recorded in `programs.tsv`.

use std::fmt::Write;

use super::random::Random;

/// Number of invocations, in workgroups of 32.
pub(crate) const INVOCATIONS: u32 = 64;
/// Number of words that each of them writes.
pub(crate) const WORDS: u32 = 4;
/// Number of words that programs read.
pub(crate) const GIVEN: u32 = 64;

/// The contents of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    /// Straight-line code.
    Straight,
    /// Branches and switches.
    Branches,
    /// Loops with breaks and continues.
    Loops,
    /// Functions with early returns.
    Functions,
    /// Memory that is written and read.
    Memory,
    /// Workgroup memory and barriers.
    Workgroup,
}

impl Suite {
    /// All suites, by name.
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("straight", Self::Straight),
        ("branches", Self::Branches),
        ("loops", Self::Loops),
        ("functions", Self::Functions),
        ("memory", Self::Memory),
        ("workgroup", Self::Workgroup),
    ];
}

const SIGNED: [&str; 3] = ["a", "b", "c"];
const UNSIGNED: [&str; 2] = ["u", "v"];

struct Maker {
    random: Random,
    suite: Suite,
    text: String,
    loops: u32,
    /// Functions that can be called.
    functions: u32,
}

impl Maker {
    fn signed(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(6) {
                0 => ["0", "1", "-1", "7", "1000", "-65537", "2147483647"][self.random.below(7) as usize].to_owned(),
                1 => format!("list[{} % 5u]", self.random.pick(&UNSIGNED)),
                2 => format!("bitcast<i32>({})", self.random.pick(&UNSIGNED)),
                _ => self.random.pick(&SIGNED).to_owned(),
            };
        }
        let (x, y) = (self.signed(depth - 1), self.signed(depth - 1));
        match self.random.below(18) {
            0..3 => format!("({x} + {y})"),
            3..5 => format!("({x} - {y})"),
            5 => format!("({x} * {y})"),
            6 => format!("({x} & {y})"),
            7 => format!("({x} | {y})"),
            8 => format!("({x} ^ {y})"),
            9 => format!("min({x}, {y})"),
            10 => format!("max({x}, {y})"),
            11 => format!("({x} >> ({} & 31u))", self.random.pick(&UNSIGNED)),
            12 => format!("({x} << ({} & 31u))", self.random.pick(&UNSIGNED)),
            13 => format!("select({x}, {y}, {})", self.condition()),
            14 => format!("({x} {} ({} | 1))", self.random.pick(&["/", "%"]), self.random.pick(&SIGNED)),
            15 => format!("abs({x})"),
            16 => format!("extractBits({x}, 3u, 9u)"),
            _ => format!("-({x})"),
        }
    }

    fn unsigned(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(6) {
                0 => ["0u", "1u", "5u", "4294967295u", "65536u"][self.random.below(5) as usize].to_owned(),
                1 => format!("given[{} % {GIVEN}u]", self.random.pick(&UNSIGNED)),
                2 => format!("bitcast<u32>({})", self.random.pick(&SIGNED)),
                _ => self.random.pick(&UNSIGNED).to_owned(),
            };
        }
        let (x, y) = (self.unsigned(depth - 1), self.unsigned(depth - 1));
        match self.random.below(12) {
            0..3 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 => format!("({x} * {y})"),
            5 => format!("({x} ^ {y})"),
            6 => format!("({x} >> ({y} & 31u))"),
            7 => format!("countOneBits({x})"),
            8 => format!("firstLeadingBit({x})"),
            9 => format!("reverseBits({x})"),
            10 => format!("min({x}, {y})"),
            _ => format!("({x} & {y})"),
        }
    }

    fn condition(&mut self) -> String {
        let relation = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let mut one = match self.random.below(3) {
            0 => format!("{} {relation} {}", self.unsigned(0), self.unsigned(0)),
            1 => format!("({} & {}u) == 0u", self.unsigned(0), 1 + self.random.below(7)),
            _ => format!("{} {relation} {}", self.signed(0), self.signed(0)),
        };
        match self.random.below(5) {
            0 => one = format!("({one} && {} > 3u)", self.unsigned(0)),
            1 => one = format!("({one} || {} < 0)", self.signed(0)),
            2 => one = format!("!({one})"),
            _ => {}
        }
        one
    }

    fn assignment(&mut self) {
        let depth = 1 + self.random.below(2) as u32;
        let line = match self.random.below(8) {
            0..4 => format!("{} = {};", self.random.pick(&SIGNED), self.signed(depth)),
            4..6 => format!("{} = {};", self.random.pick(&UNSIGNED), self.unsigned(depth)),
            6 => format!("list[{} % 5u] = {};", self.unsigned(0), self.signed(1)),
            _ if self.functions > 0 => {
                let (x, y) = (self.signed(0), self.signed(1));
                let function = self.random.below(u64::from(self.functions));
                format!("{} = f{function}({x}, {y});", self.random.pick(&SIGNED))
            }
            _ => format!("{} {}= {};", self.random.pick(&SIGNED), self.random.pick(&["+", "-", "^"]), self.signed(1)),
        };
        writeln!(self.text, "{line}").unwrap_or_default();
    }

    fn statements(&mut self, depth: u32, in_loop: bool) {
        for _ in 0..1 + self.random.below(3) {
            let kind = if depth == 0 { 0 } else { self.random.below(4) };
            match (kind, self.suite) {
                (1, Suite::Branches | Suite::Functions | Suite::Memory) | (1 | 2, Suite::Loops)
                    if self.loops > 0 || kind == 1 =>
                {
                    self.branch(depth, in_loop);
                }
                (2, Suite::Branches | Suite::Functions) => self.switch(depth, in_loop),
                (2 | 3, Suite::Loops | Suite::Memory) if !in_loop => self.repeat(depth),
                (3, Suite::Memory) => {
                    let (place, word) = (self.unsigned(0), self.unsigned(1));
                    let variable = self.random.pick(&UNSIGNED);
                    let line = format!(
                        "results[4u * id.x + ({place} & 3u)] = {word};\n{variable} ^= results[4u * id.x + ({variable} & 3u)];"
                    );
                    writeln!(self.text, "{line}").unwrap_or_default();
                }
                _ => self.assignment(),
            }
        }
    }

    fn branch(&mut self, depth: u32, in_loop: bool) {
        let condition = self.condition();
        writeln!(self.text, "if {condition} {{").unwrap_or_default();
        self.statements(depth - 1, in_loop);
        if in_loop && self.random.below(3) == 0 {
            self.text.push_str(self.random.pick(&["break;\n", "continue;\n"]));
        }
        if self.random.below(2) == 0 {
            self.text.push_str("} else {\n");
            self.statements(depth - 1, in_loop);
        }
        self.text.push_str("}\n");
    }

    fn switch(&mut self, depth: u32, in_loop: bool) {
        let selector = self.unsigned(0);
        writeln!(self.text, "switch {selector} % 5u {{").unwrap_or_default();
        for cases in ["case 0u", "case 1u, 3u", "default"] {
            writeln!(self.text, "{cases}: {{").unwrap_or_default();
            self.statements(depth - 1, in_loop);
            if self.random.below(4) == 0 {
                let condition = self.condition();
                writeln!(self.text, "if {condition} {{ break; }}").unwrap_or_default();
                self.assignment();
            }
            self.text.push_str("}\n");
        }
        self.text.push_str("}\n");
    }

    fn repeat(&mut self, depth: u32) {
        self.loops += 1;
        let name = format!("n{}", self.loops);
        let bound = match self.random.below(3) {
            0 => format!("{}u", 1 + self.random.below(6)),
            1 => format!("({} & 7u)", self.random.pick(&UNSIGNED)),
            _ => "(id.x % 5u + 2u)".to_owned(),
        };
        match self.random.below(3) {
            0 => {
                writeln!(self.text, "for (var {name} = 0u; {name} < {bound}; {name}++) {{").unwrap_or_default();
                self.statements(depth - 1, true);
                self.text.push_str("}\n");
            }
            1 => {
                writeln!(self.text, "var {name} = {bound};\nwhile ({name} > 0u) {{\n{name} -= 1u;").unwrap_or_default();
                self.statements(depth - 1, true);
                self.text.push_str("}\n");
            }
            _ => {
                writeln!(self.text, "var {name} = 0u;\nloop {{").unwrap_or_default();
                self.statements(depth - 1, true);
                let condition = self.condition();
                writeln!(self.text, "continuing {{ {name}++; break if {name} > 6u || ({condition}); }}\n}}")
                    .unwrap_or_default();
            }
        }
    }

    fn function(&mut self, number: u32) {
        writeln!(
            self.text,
            "fn f{number}(p: i32, q: i32) -> i32 {{\nvar a = p; var b = q; var c = p ^ q; var u = u32(p & 255); var v = bitcast<u32>(q);\n\
             var list = array<i32, 5>(p, q, 3, p, q);"
        )
        .unwrap_or_default();
        let condition = self.condition();
        writeln!(self.text, "if {condition} {{").unwrap_or_default();
        self.statements(0, false);
        let result = self.signed(1);
        writeln!(self.text, "return {result};\n}}").unwrap_or_default();
        self.statements(0, false);
        let result = self.signed(1);
        writeln!(self.text, "return {result};\n}}").unwrap_or_default();
        self.functions = number + 1;
    }
}

/// The source of a program: results in binding 0, `GIVEN` words in binding 1.
pub(crate) fn source(suite: Suite, number: u64) -> String {
    let random = Random::new((suite as u64) << 32 | number);
    let mut maker = Maker { random, suite, text: String::new(), loops: 0, functions: 0 };
    if suite == Suite::Functions {
        maker.function(0);
        maker.function(1);
    }
    let functions = std::mem::take(&mut maker.text);
    if suite == Suite::Workgroup {
        for _ in 0..2 + maker.random.below(3) {
            maker.statements(0, false);
            let (word, by, from) = (maker.signed(1), maker.random.below(31), maker.random.below(32));
            let line = format!(
                "cells[local] = {word};\nworkgroupBarrier();\na ^= cells[(local * {by}u + {from}u) % 32u];\nworkgroupBarrier();\n\
                 atomicAdd(&sum, u & 1023u);\natomicMax(&most, c);\nworkgroupBarrier();\n\
                 v ^= atomicLoad(&sum);\nb += atomicLoad(&most);\nworkgroupBarrier();"
            );
            writeln!(maker.text, "{line}").unwrap_or_default();
        }
    } else {
        let depths = match suite {
            Suite::Straight => [0, 0],
            Suite::Functions => [0, 1],
            _ => [2, 1],
        };
        depths.into_iter().for_each(|depth| maker.statements(depth, false));
    }
    let body = maker.text;
    let shared = match suite {
        Suite::Workgroup => {
            "var<workgroup> cells: array<i32, 32>;\nvar<workgroup> sum: atomic<u32>;\nvar<workgroup> most: atomic<i32>;\n"
        }
        _ => "",
    };
    let end = match suite {
        Suite::Memory => {
            "results[4u * id.x + 3u] ^= bitcast<u32>(a + b) ^ v;\nresults[4u * id.x] += bitcast<u32>(c ^ list[1]) + u;"
        }
        _ => {
            "let at = 4u * id.x;\nresults[at] = bitcast<u32>(a);\nresults[at + 1u] = bitcast<u32>(b ^ list[2]);\n\
             results[at + 2u] = bitcast<u32>(c + list[0]);\nresults[at + 3u] = u * 31u + v;"
        }
    };
    format!(
        "@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<storage, read> given: array<u32>;
{shared}{functions}@compute @workgroup_size(32) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
var a = bitcast<i32>(given[id.x % {GIVEN}u]); var b = i32(id.x) - 20; var c = 0; var u = id.x * 3u; var v = given[(id.x + 7u) % {GIVEN}u];
var list = array<i32, 5>(1, b, 3, a, 5);
{body}{end}
}}
"
    )
}

/// The words that programs read: small numbers and random ones.
pub(crate) fn given() -> Vec<u32> {
    let mut random = Random::new(0x6170);
    let word = |random: &mut Random| match random.below(2) {
        0 => random.below(40) as u32,
        _ => random.below(1 << 32) as u32,
    };
    (0..GIVEN).map(|_| word(&mut random)).collect()
}

/// Initial words of binding 0.
pub(crate) fn results() -> Vec<u32> {
    (0..INVOCATIONS * WORDS).map(|at| at * 7).collect()
}

/// A hash of words: FNV-1a with 64 bits.
pub(crate) fn digest(words: &[u32]) -> u64 {
    words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
