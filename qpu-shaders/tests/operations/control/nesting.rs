//! Random programs of nested control flow, compared with a simple interpreter that executes each element separately.

use crate::case::Case;
use crate::samples::{OperandKind, Random};
use crate::table::{Answer, Document};
use std::fmt::Write;

/// Number of programs, each executed on all sets of operands.
const PROGRAMS: u32 = 60;
/// Minimum number of programs with a call, a nested loop, an exit, and a return from within another structure, so that the suite covers them.
const OF_EACH_KIND: usize = 5;
/// Maximum number of iterations of a loop.
const MOST_ROUNDS: u32 = 3;
/// The number of the place at a function's end; places of structures in the function are above it.
const RETURN: u32 = 10;
/// Depth of nesting in the program and in its functions: each level uses two places.
const DEPTH: u32 = 4;
const DEPTH_IN_FUNCTION: u32 = 2;
const FUNCTIONS: u32 = 2;

/// A statement. A condition is the number of a bit of the element's value.
enum Statement {
    /// The value times five, plus a constant.
    Compute(u32),
    If {
        bit: u32,
        then: Vec<Self>,
        otherwise: Option<Vec<Self>>,
    },
    /// Repeats while the bit is set, up to a number of iterations.
    Loop {
        bit: u32,
        body: Vec<Self>,
    },
    /// Leaves a number of nested loops: 1 for the innermost.
    Break {
        bit: u32,
        loops: usize,
    },
    Continue(u32),
    Call(u32),
    Return(u32),
    Exit(u32),
}

/// Where an element continues after a statement.
enum Next {
    On,
    Break(usize),
    Continue,
    Return,
    Exit,
}

struct Program {
    body: Vec<Statement>,
    functions: Vec<Vec<Statement>>,
}

/// Which statements are allowed at a point of a program.
#[derive(Clone, Copy)]
struct Scope {
    depth: u32,
    loops: usize,
    in_function: bool,
}

impl Scope {
    fn within(self) -> Self {
        Self { depth: self.depth - 1, ..self }
    }
}

fn statements(random: &mut Random, scope: Scope) -> Vec<Statement> {
    (0..1 + random.below(4))
        .flat_map(|_| [statement(random, scope), Statement::Compute(1 + random.below(15))])
        .collect()
}

fn statement(random: &mut Random, scope: Scope) -> Statement {
    let bit = random.below(14);
    match random.below(14) {
        0..4 if scope.depth > 0 => Statement::If {
            bit,
            then: statements(random, scope.within()),
            otherwise: (random.below(2) == 0).then(|| statements(random, scope.within())),
        },
        4..7 if scope.depth > 0 => {
            Statement::Loop { bit, body: statements(random, Scope { loops: scope.loops + 1, ..scope.within() }) }
        }
        7..9 if scope.loops > 0 => Statement::Break { bit, loops: 1 + random.below(scope.loops as u32) as usize },
        9 if scope.loops > 0 => Statement::Continue(bit),
        10..12 if !scope.in_function => Statement::Call(random.below(FUNCTIONS)),
        10..12 => Statement::Return(bit),
        12 => Statement::Exit(bit),
        _ => Statement::Compute(1 + random.below(15)),
    }
}

impl Program {
    fn new(random: &mut Random) -> Self {
        let scope = Scope { depth: DEPTH, loops: 0, in_function: false };
        let in_function = Scope { depth: DEPTH_IN_FUNCTION, loops: 0, in_function: true };
        Self {
            body: statements(random, scope),
            functions: (0..FUNCTIONS).map(|_| statements(random, in_function)).collect(),
        }
    }

    /// The program's result for an element's value.
    fn result(&self, mut value: u32) -> u32 {
        self.follow(&self.body, &mut value);
        value
    }

    fn follow(&self, statements: &[Statement], value: &mut u32) -> Next {
        for statement in statements {
            let holds = |bit: u32| *value >> bit & 1 != 0;
            let next = match statement {
                Statement::Compute(number) => {
                    *value = value.wrapping_mul(5).wrapping_add(*number);
                    Next::On
                }
                Statement::If { bit, then, otherwise } => match (holds(*bit), otherwise) {
                    (true, _) => self.follow(then, value),
                    (false, Some(otherwise)) => self.follow(otherwise, value),
                    (false, None) => Next::On,
                },
                Statement::Loop { bit, body } => self.repeat(*bit, body, value),
                Statement::Call(function) => match self.follow(&self.functions[*function as usize], value) {
                    Next::Return => Next::On,
                    next => next,
                },
                Statement::Break { bit, loops } if holds(*bit) => Next::Break(*loops),
                Statement::Continue(bit) if holds(*bit) => Next::Continue,
                Statement::Return(bit) if holds(*bit) => Next::Return,
                Statement::Exit(bit) if holds(*bit) => Next::Exit,
                Statement::Break { .. } | Statement::Continue(_) | Statement::Return(_) | Statement::Exit(_) => {
                    Next::On
                }
            };
            if !matches!(next, Next::On) {
                return next;
            }
        }
        Next::On
    }

    fn repeat(&self, bit: u32, body: &[Statement], value: &mut u32) -> Next {
        for _ in 0..MOST_ROUNDS {
            match self.follow(body, value) {
                Next::On | Next::Continue => {}
                Next::Break(1) => return Next::On,
                Next::Break(loops) => return Next::Break(loops - 1),
                next => return next,
            }
            if *value >> bit & 1 == 0 {
                break;
            }
        }
        Next::On
    }
}

/// The text of a program: the value is in ra10, iteration counters of loops are in ra11 and above.
struct Text {
    lines: String,
    labels: u32,
    /// For each enclosing loop, the places of a break and of a continue.
    loops: Vec<[u32; 2]>,
    place: u32,
}

impl Text {
    fn of(program: &Program) -> [String; 2] {
        let mut text = Self { lines: String::new(), labels: 0, loops: Vec::new(), place: 0 };
        text.add("mov ra10, r0; nop; flow_begin");
        text.statements(&program.body);
        text.add("flow_end; brr -, r:end; nop; nop; nop");
        for (number, body) in program.functions.iter().enumerate() {
            text.add(&format!(":function_{number}"));
            text.place = RETURN;
            text.statements(body);
            text.add(&format!("function_end {RETURN}, ra20"));
        }
        text.add(":end; mov r0, ra10");
        [text.lines.trim_end_matches("; ").to_owned(), String::new()]
    }

    fn add(&mut self, lines: &str) {
        let _ = write!(self.lines, "{lines}; ");
    }

    /// Sets r0 to 1 where a bit of the value is set, and 0 elsewhere; or inverted.
    fn predicate(&mut self, bit: u32, inverted: bool) {
        self.add(&format!("shr r0, ra10, {bit}; and r0, r0, 1"));
        if inverted {
            self.add("xor r0, r0, 1");
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        let place = self.place;
        for statement in statements {
            self.statement(statement);
            self.place = place;
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Compute(number) => {
                self.add(&format!(
                    "shl r1, ra10, 2; add r1, r1, ra10; mov.setf -, flow; add.ifz ra10, r1, {number}; nop"
                ));
            }
            Statement::If { bit, then, otherwise } => {
                let [to_else, end] = [self.place + 1, self.place + 2];
                self.place += 2;
                self.predicate(*bit, true);
                self.add(&format!("bra_if {to_else}"));
                self.statements(then);
                if let Some(otherwise) = otherwise {
                    self.add(&format!("mov r0, 1; bra_if {end}; join {to_else}"));
                    self.statements(otherwise);
                    self.add(&format!("join {end}"));
                } else {
                    self.add(&format!("join {to_else}"));
                }
            }
            Statement::Loop { bit, body } => self.repeat(*bit, body),
            Statement::Break { bit, loops } => {
                let [place, _] = self.loops[self.loops.len() - loops];
                self.predicate(*bit, false);
                self.add(&format!("break_if {place}"));
            }
            Statement::Continue(bit) => {
                let place = self.loops.last().map_or(0, |[_, place]| *place);
                self.predicate(*bit, false);
                self.add(&format!("bra_if {place}"));
            }
            Statement::Call(function) => self.add(&format!("call ra20, r:function_{function}")),
            Statement::Return(bit) => {
                self.predicate(*bit, false);
                self.add(&format!("ret_if {RETURN}"));
            }
            Statement::Exit(bit) => {
                self.predicate(*bit, false);
                self.add("exit_if");
            }
        }
    }

    fn repeat(&mut self, bit: u32, body: &[Statement]) {
        let [after, again] = [self.place + 1, self.place + 2];
        // Each pair of places has its own counter.
        let rounds = format!("ra{}", 11 + self.place / 2);
        let label = format!("again_{}", self.labels);
        self.labels += 1;
        self.place += 2;
        self.add(&format!("mov.setf -, flow; mov.ifz {rounds}, 0; :{label}"));
        self.loops.push([after, again]);
        self.statements(body);
        self.loops.pop();
        self.add(&format!("join {again}; mov.setf -, flow; mov r0, {rounds}; add.ifz r0, r0, 1; mov {rounds}, r0"));
        self.predicate(bit, false);
        self.add(&format!("mov r1, {rounds}; sub.setf -, r1, {MOST_ROUNDS}; mov.ifnn r0, 0"));
        self.add(&format!("bra_back_if {after}, r:{label}; join {after}"));
    }
}

/// The number of statements of each type in a program.
#[derive(Default)]
struct Kinds {
    calls: usize,
    nested_loops: usize,
    nested_exits: usize,
    nested_returns: usize,
}

impl Kinds {
    fn count(&mut self, statements: &[Statement], depth: u32, loops: u32) {
        for statement in statements {
            match statement {
                Statement::Call(_) => self.calls += 1,
                Statement::Exit(_) => self.nested_exits += usize::from(depth > 0),
                Statement::Return(_) => self.nested_returns += usize::from(depth > 0),
                Statement::If { then, otherwise, .. } => {
                    self.count(then, depth + 1, loops);
                    self.count(otherwise.as_deref().unwrap_or_default(), depth + 1, loops);
                }
                Statement::Loop { body, .. } => {
                    self.nested_loops += usize::from(loops > 0);
                    self.count(body, depth + 1, loops + 1);
                }
                Statement::Compute(_) | Statement::Break { .. } | Statement::Continue(_) => {}
            }
        }
    }
}

#[test]
fn no_element_is_lost_in_random_nested_control_flow() {
    let (mut wrong, mut kinds) = (Vec::new(), Kinds::default());
    for number in 0..PROGRAMS {
        let name = format!("nested control flow {number}");
        let program = Program::new(&mut Random::named(&name));
        kinds.count(&program.body, 0, 0);
        program.functions.iter().for_each(|body| kinds.count(body, 0, 0));
        let [before, behind] = Text::of(&program);
        let case = Case::new(Document::Instructions, name, super::FILE, "").input("r0", OperandKind::Word);
        if let Answer::Wrong(why) = case.between(&before, &behind).exact(|x| vec![program.result(x[0])]).answer {
            wrong.push(format!("program {number}: {why}\n{}", before.replace("; ", "\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {PROGRAMS} programs are wrong; the first:\n{}", wrong.len(), wrong[0]);
    let Kinds { calls, nested_loops, nested_exits, nested_returns } = kinds;
    let counts = [calls, nested_loops, nested_exits, nested_returns];
    assert!(counts.iter().all(|&count| count >= OF_EACH_KIND), "calls, loops in loops, exits, returns: {counts:?}");
}
