//! The rules of the instruction set.
//!
//! Each is broken once in a program that is otherwise accepted; the model reports it too.

use super::scene::{NOP, Scene, add, branch, copies, copy_row, load, load_b, rows, word};
use v3d::hw::control_list::Threading;
use v3d::hw::qpu::{AddOp, Alu, Condition, MulOp, Mux, Signal, Unpack};

const fn signal(sig: Signal) -> Alu {
    Alu { sig, ..Alu::NOP }
}

/// Moves a register of file A.
fn read_a(register: u8) -> u64 {
    word(Alu { raddr_a: register, raddr_b: 39, ..add(AddOp::Or, 32, [Mux::A, Mux::A]) })
}

/// Moves an accumulator.
fn read(accumulator: Mux) -> u64 {
    word(Alu { raddr_b: 39, ..add(AddOp::Or, 32, [accumulator, accumulator]) })
}

/// A fragment shader, with the expected parts of the validator's and the model's messages; none if both accept it.
struct Case {
    name: &'static str,
    threading: Threading,
    words: Vec<u64>,
    answer: Option<(&'static str, &'static str)>,
}

fn check(cases: &[Case]) {
    let scene = Scene::new();
    // The parameters of the same texture, repeated.
    let uniforms = [scene.data().0, 32 << 20 | 32 << 8].repeat(8);
    for Case { name, threading, words, answer } in cases {
        scene.set_fragment(*threading, words, &uniforms);
        agree(&scene, name, *answer);
    }
}

/// Validator and model find the same violation, or none. A violation that the model does not report has an empty text.
fn agree(scene: &Scene, name: &str, answer: Option<(&str, &str)>) {
    let found = scene.check().map_err(|refusal| refusal.to_string());
    let faults: Vec<String> = scene.run().iter().map(ToString::to_string).collect();
    match answer {
        None => assert_eq!((found, faults), (Ok(()), vec![]), "{name}"),
        Some((why, fault)) => {
            let refusal = found.expect_err(name);
            assert!(refusal.contains(why), "{name}: {refusal}");
            let reported = fault.is_empty() || faults.iter().any(|found| found.contains(fault));
            assert!(reported, "{name}: {faults:?} does not have \"{fault}\"");
        }
    }
}

fn single(name: &'static str, words: &[u64], answer: Option<(&'static str, &'static str)>) -> Case {
    Case { name, threading: Threading::Single, words: words.to_vec(), answer }
}

fn threaded(name: &'static str, words: &[u64], answer: Option<(&'static str, &'static str)>) -> Case {
    Case { name, threading: Threading::Dual, words: words.to_vec(), answer }
}

const S: u64 = 56;
const T: u64 = 57;

#[test]
fn codes_that_are_reserved() {
    let operation = word(Alu { raddr_b: 39, ..add(AddOp::Reserved(9), 32, [Mux::R0, Mux::R0]) });
    let pack = |pack| {
        word(Alu { pm: true, pack, op_mul: MulOp::Fmul, waddr_mul: 32, cond_mul: Condition::Always, ..Alu::NOP })
    };
    check(&[
        single("add operation", &[operation], Some(("reserved operation", "reserved operation"))),
        single("colour pack", &[pack(3)], None),
        single("mul pack", &[pack(1)], Some(("reserved pack", "reserved pack"))),
        single("mul pack with bit 3", &[pack(10)], Some(("reserved pack", "reserved pack"))),
        single("immediate", &[load(32, 0) | 2 << 57], Some(("reserved kind", "reserved kind"))),
        single("semaphore", &[load(39, 0) | 4 << 57], Some(("semaphore", "semaphore"))),
        single("branch", &[0xf0c8_09e7_0000_0000, NOP, NOP, NOP], Some(("reserved branch", "reserved branch"))),
        single("breakpoint", &[word(signal(Signal::Breakpoint))], Some(("breakpoint", "breakpoint"))),
    ]);
}

#[test]
fn units_that_are_accessed_together() {
    let both = Alu { op_mul: MulOp::V8min, cond_mul: Condition::Always, ..add(AddOp::Or, 52, [Mux::R0, Mux::R1]) };
    let plain = Alu { raddr_b: 39, ..both };
    check(&[
        single(
            "one accumulator twice",
            &[word(Alu { waddr_add: 33, waddr_mul: 33, ..plain })],
            Some(("both ALUs", "both ALUs")),
        ),
        single(
            "the same value twice",
            &[word(Alu {
                waddr_add: 33,
                waddr_mul: 33,
                add_a: Mux::R2,
                add_b: Mux::R2,
                mul_a: Mux::R2,
                mul_b: Mux::R2,
                ..plain
            })],
            None,
        ),
        single(
            "by opposite conditions",
            &[
                word(Alu { sf: true, ..Alu { raddr_b: 39, ..add(AddOp::Or, 39, [Mux::R0, Mux::R0]) } }),
                word(Alu {
                    waddr_add: 33,
                    waddr_mul: 33,
                    cond_add: Condition::ZSet,
                    cond_mul: Condition::ZClear,
                    ..plain
                }),
            ],
            None,
        ),
        single("two of the SFU", &[word(Alu { waddr_mul: 53, ..plain })], Some(("more than one", "more than one"))),
        single(
            "SFU and tile buffer",
            &[NOP, NOP, word(Alu { waddr_mul: 46, ..plain })],
            Some(("more than one", "more than one")),
        ),
        single(
            "colour read and SFU",
            &[NOP, NOP, word(Alu { sig: Signal::LoadColor, ..plain })],
            Some(("more than one", "more than one")),
        ),
        single(
            "SFU in some elements",
            &[word(Alu { cond_add: Condition::ZClear, ..plain })],
            Some(("conditionally", "")),
        ),
    ]);
}

#[test]
fn what_comes_too_early() {
    let write = word(Alu { raddr_b: 39, ..add(AddOp::Or, 3, [Mux::R0, Mux::R0]) });
    let recip = word(Alu { raddr_b: 39, ..add(AddOp::Or, 52, [Mux::R0, Mux::R0]) });
    let to_r1 = word(Alu { raddr_b: 39, ..add(AddOp::Or, 33, [Mux::R0, Mux::R0]) });
    let to_r5 = word(Alu { raddr_b: 39, ws: true, ..add(AddOp::Or, 37, [Mux::R0, Mux::R0]) });
    let rotate = |raddr_b| {
        word(Alu {
            sig: Signal::SmallImmediate,
            raddr_b,
            op_mul: MulOp::V8min,
            mul_a: Mux::R1,
            mul_b: Mux::R1,
            waddr_mul: 34,
            cond_mul: Condition::Always,
            ..Alu::NOP
        })
    };
    let write_z = word(Alu { raddr_b: 39, ..add(AddOp::Or, 44, [Mux::R0, Mux::R0]) });
    let mask = word(Alu { raddr_a: 42, raddr_b: 39, ..add(AddOp::Or, 32, [Mux::A, Mux::A]) });
    let wait = word(signal(Signal::ScoreboardWait));
    check(&[
        single("a register", &[write, read_a(3)], Some(("right after it is written", "right after it is written"))),
        single("a register in time", &[write, NOP, read_a(3)], None),
        single(
            "a register behind a branch",
            &[branch(true, 0), NOP, NOP, write, read_a(3)],
            Some(("right after it is written", "right after it is written")),
        ),
        single("the SFU", &[recip, NOP, read(Mux::R4)], Some(("SFU's result", "SFU's result"))),
        single("the SFU in time", &[recip, NOP, NOP, read(Mux::R4)], None),
        single("the SFU again", &[recip, NOP, recip], Some(("on its way", "on its way"))),
        single("a rotation", &[to_r1, rotate(49)], Some(("is rotated", "is rotated"))),
        single("a rotation in time", &[to_r1, NOP, rotate(49)], None),
        single("a rotation by r5", &[to_r5, rotate(48)], Some(("rotation by r5", "rotation by r5"))),
        single("the mask", &[NOP, NOP, write_z, NOP, mask], Some(("multisample mask", "multisample mask"))),
        single("the mask in time", &[NOP, NOP, write_z, NOP, NOP, mask], None),
        single("the scoreboard", &[NOP, wait], Some(("scoreboard", ""))),
        single("the scoreboard in time", &[NOP, NOP, wait], None),
        single("no swap", &[load(36, 1), NOP, NOP, load(T, 0), load(S, 0), word(signal(Signal::LoadTmu0))], None),
        single(
            "no swap too late",
            &[load(36, 1), NOP, load(T, 0), load(S, 0), word(signal(Signal::LoadTmu0))],
            Some(("swap is disabled", "swap is disabled")),
        ),
    ]);
}

#[test]
fn lookups_that_are_not_whole() {
    let take = word(signal(Signal::LoadTmu0));
    let switch = word(signal(Signal::ThreadSwitch));
    let texture = [load(T, 0), load(S, 0)];
    let with_uniform = word(add(AddOp::Or, 57, [Mux::B, Mux::B]));
    check(&[
        single("whole", &[&texture[..], &[take]].concat(), None),
        single("an end in the middle", &[load(T, 0)], Some(("in the middle of a lookup", ""))),
        single(
            "no swap in the middle",
            &[load(T, 0), load(36, 1), NOP, NOP, load(S, 0), take],
            Some(("after one was written to", "")),
        ),
        threaded(
            "a switch in the middle",
            &[load(T, 0), switch, NOP, NOP, load(S, 0), take],
            Some(("in the middle", "")),
        ),
        single("none", &[take], Some(("none is under way", "no lookup is under way"))),
        single("too many", &[texture; 5].concat(), Some(("no room", "slots are in use"))),
        single("not too many", &[&[texture; 4].concat()[..], &[take; 4]].concat(), None),
        threaded("half as many for a thread", &[texture; 3].concat(), Some(("no room", ""))),
        single("a uniform beside", &[with_uniform, load(S, 0), take], Some(("at once", "takes a uniform"))),
        single(
            "in some elements",
            &[load(T, 0), load(S, 0) & !(7 << 49) | 2 << 49, take],
            Some(("conditionally", "conditional")),
        ),
        single(
            "by an operation that does nothing",
            &[word(Alu { waddr_add: 57, cond_add: Condition::Always, ..Alu::NOP })],
            Some(("does nothing", "")),
        ),
    ]);
}

#[test]
fn thread_switches() {
    let switch = word(signal(Signal::ThreadSwitch));
    let last = word(signal(Signal::LastThreadSwitch));
    let write_20 = word(Alu { raddr_b: 39, ..add(AddOp::Or, 20, [Mux::R0, Mux::R0]) });
    let packed = |byte: u8, waddr_mul| {
        word(Alu {
            pm: true,
            pack: 4 + byte,
            op_mul: MulOp::Fmul,
            mul_a: Mux::R5,
            mul_b: Mux::R5,
            waddr_mul,
            cond_mul: Condition::Always,
            ..Alu::NOP
        })
    };
    let vary = word(Alu { raddr_b: 35, ..Alu::NOP });
    let colour = [0, 1, 2, 3].map(|byte| packed(byte, 33));
    // These read all varyings, and have their own end.
    let end = [word(signal(Signal::ProgramEnd)), NOP, NOP];
    let scene = Scene::new();
    for (name, bytes, answer) in
        [("four packed bytes are whole", 4, None), ("three are not", 3, Some(("left undefined", "left undefined")))]
    {
        let mut words = vec![switch, NOP, NOP];
        // The first varying loads r5.
        words.push(vary);
        words.extend(&colour[..bytes]);
        words.extend([vary, vary, read(Mux::R1)]);
        words.extend(end);
        scene.set_fragment_words(Threading::Dual, &words, &[]);
        agree(&scene, name, answer);
    }
    check(&[
        threaded("twice", &[switch, NOP, NOP, last, NOP, NOP], None),
        threaded("the other thread's", &[write_20], Some(("the other thread's", "belong to the other"))),
        single("its own", &[write_20], None),
        single("alone", &[switch, NOP, NOP], Some(("the only thread", ""))),
        threaded("after the last", &[last, NOP, NOP, switch, NOP, NOP], Some(("after the last", "follows the last"))),
        threaded("lost", &[switch, NOP, NOP, read(Mux::R1)], Some(("left undefined", "left undefined"))),
        threaded("not lost yet", &[switch, NOP, read(Mux::R1), NOP], None),
        threaded(
            "lost behind a branch",
            &[switch, NOP, NOP, branch(true, 0), NOP, NOP, NOP, read(Mux::R1)],
            Some(("left undefined", "left undefined")),
        ),
        threaded(
            "in a branch's last slot",
            &[branch(true, 0), NOP, NOP, switch, NOP, NOP],
            Some(("before a branch", "")),
        ),
        threaded(
            "before a branch",
            &[switch, NOP, branch(true, 0), NOP, NOP, NOP],
            Some(("before a thread switch", "")),
        ),
        threaded("in a switch", &[switch, switch, NOP, NOP], Some(("before another switch", ""))),
        threaded("before the end", &[switch], None),
    ]);
}

/// The last three instructions; the varyings are read before them.
#[test]
fn ends() {
    let scene = Scene::new();
    let end = signal(Signal::ProgramEnd);
    let vary = word(Alu { raddr_b: 35, ..Alu::NOP });
    let to = |waddr| word(Alu { raddr_b: 39, ..add(AddOp::Or, waddr, [Mux::R0, Mux::R0]) });
    let unif = word(Alu { raddr_b: 32, ..Alu::NOP });
    let writes = word(Alu { sig: Signal::ProgramEnd, raddr_b: 39, ..add(AddOp::Or, 3, [Mux::R0, Mux::R0]) });
    let end_word = word(end);
    for (name, last, answer) in [
        ("nothing", [end_word, NOP, NOP], None),
        ("a register", [writes, NOP, NOP], Some(("writes a register", "writes to a register"))),
        ("a register later", [end_word, to(3), NOP], None),
        ("register 14", [end_word, NOP, to(14)], Some(("register 14", "register 14"))),
        ("a uniform", [end_word, unif, NOP], Some(("among the last three", "last three"))),
        ("Z", [end_word, NOP, to(44)], Some(("writes Z", "last instruction"))),
        ("Z before", [end_word, to(44), NOP], None),
    ] {
        scene.set_fragment_words(Threading::Single, &[&[vary, vary, vary][..], &last].concat(), &[0; 4]);
        agree(&scene, name, answer);
    }
    for (name, varyings, answer) in [("two varyings", 2, Some("")), ("four", 4, Some("varying")), ("three", 3, None)] {
        scene.set_fragment_words(Threading::Single, &[vec![vary; varyings], vec![end_word, NOP, NOP]].concat(), &[]);
        agree(&scene, name, answer.map(|fault| ("another number of varyings", fault)));
    }
    // One path reads three, the other one two.
    let uneven = [vary, vary, branch(false, 1), NOP, NOP, NOP, vary, end_word, NOP, NOP];
    scene.set_fragment_words(Threading::Single, &uneven, &[]);
    agree(&scene, "as many on each path", Some(("than on another path", "")));
}

#[test]
fn what_a_fragment_shader_has_not() {
    let write = |waddr, file_b: u64| load(waddr, 0) | file_b << 44;
    let read = |raddr_a| word(Alu { raddr_a, raddr_b: 39, ..add(AddOp::Or, 32, [Mux::A, Mux::A]) });
    let load = word(signal(Signal::LoadColor));
    let unpacked =
        |raddr_a| word(Alu { unpack: Unpack::Half0, raddr_a, raddr_b: 39, ..add(AddOp::Or, 32, [Mux::A, Mux::A]) });
    let byte = |waddr_mul| {
        word(Alu { pm: true, pack: 4, op_mul: MulOp::Fmul, waddr_mul, cond_mul: Condition::Always, ..Alu::NOP })
    };
    check(&[
        single("VPM", &[read(48)], Some(("VPM", "VPM"))),
        single("VPM set-up", &[write(49, 0)], Some(("VPM", "VPM"))),
        single("DMA", &[read(50)], Some(("DMA", "DMA"))),
        single("mutex", &[read(51)], Some(("mutex", "mutex"))),
        single("mutex released", &[write(51, 0)], Some(("mutex", "mutex"))),
        single("interrupt", &[write(38, 0) | 1], Some(("interrupts", "interrupt"))),
        single("quads", &[write(41, 0)], Some(("moves quads", ""))),
        single("alpha mask", &[NOP, NOP, write(47, 0)], Some(("alpha mask", "alpha mask"))),
        single("alpha mask read", &[NOP, NOP, word(signal(Signal::LoadAlpha))], Some(("alpha mask", "alpha mask"))),
        single("a colour", &[NOP, NOP, load], None),
        single("two samples", &[NOP, NOP, load, load], Some(("more samples", "a pixel has only"))),
        single("samples written", &[NOP, NOP, write(45, 0), write(45, 0)], Some(("more samples", "a pixel has only"))),
        single("nothing there", &[read(33)], Some(("nothing is mapped", "nothing is mapped"))),
        single("unpacked", &[unpacked(3)], None),
        single("unpacked uniform", &[unpacked(32)], Some(("unpacks", "unpacked"))),
        single("a byte", &[byte(33)], None),
        single("a byte for the SFU", &[byte(52)], Some(("packs a single byte", "single byte"))),
    ]);
}

#[test]
fn what_a_vertex_shader_has_not() {
    let scene = Scene::new();
    let vertex = copies(6);
    let replaced = |at: usize, word: u64| {
        let mut words = vertex.clone();
        words[at] = word;
        words
    };
    let behind_set_up = |extra: &[u64]| [&vertex[..vertex.len() - 3], extra, &vertex[vertex.len() - 3..]].concat();
    let vary = word(Alu { raddr_b: 35, ..Alu::NOP });
    let cases = [
        ("its own", vertex.clone(), None),
        ("a row more read", behind_set_up(&[copy_row()]), Some(("no read is set up", "no read is set up"))),
        (
            "a row more set up",
            [
                &[load(49, rows(7))][..],
                &vertex[1..vertex.len() - 3],
                &[word(Alu { raddr_b: 48, ..Alu::NOP })],
                &vertex[vertex.len() - 3..],
            ]
            .concat(),
            Some(("reads more rows", "is read")),
        ),
        (
            "a row more written",
            behind_set_up(&[word(Alu { raddr_b: 39, ..add(AddOp::Or, 48, [Mux::R0, Mux::R0]) })]),
            Some(("writes more rows", "is written")),
        ),
        ("no write set-up", replaced(1, NOP), Some(("no write is set up", "without set-up"))),
        ("columns", replaced(1, load_b(49, rows(0) & !(1 << 11))), Some(("other than rows", ""))),
        ("DMA set-up", replaced(1, load_b(49, 2 << 30)), Some(("DMA", "VDW"))),
        (
            "a set-up out of a uniform",
            replaced(1, word(Alu { ws: true, ..add(AddOp::Or, 49, [Mux::B, Mux::B]) })),
            Some(("no constant", "")),
        ),
        (
            "three reads set up",
            [&[load(49, rows(1)), load(49, rows(1))][..], &vertex].concat(),
            Some(("two others", "queued")),
        ),
        ("a varying", replaced(3, vary), Some(("varyings or pixels", "varyings"))),
        ("the tile buffer", replaced(3, load(46, 0)), Some(("tile buffer", "tile buffer"))),
        ("the scoreboard", replaced(3, word(signal(Signal::ScoreboardWait))), Some(("tile buffer", "scoreboard"))),
        ("threads", replaced(3, word(signal(Signal::ThreadSwitch))), Some(("the only thread", ""))),
    ];
    for (name, words, answer) in cases {
        scene.set_vertex_words(12, &words);
        agree(&scene, name, answer);
    }
}
