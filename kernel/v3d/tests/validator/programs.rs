//! Control flow and uniforms of programs, and lookups by address within limits.

use super::scene::{NOP, Scene, add, branch, load, word};
use v3d::hw::BusAddr;
use v3d::hw::control_list::Threading;
use v3d::hw::qpu::{AddOp, Alu, Condition, Mux, Signal, Unpack};
use v3d::validator::{Reason, Refusal};

/// `max waddr, r, 0`.
fn limit_below(waddr: u8, register: Mux) -> Alu {
    Alu { sig: Signal::SmallImmediate, raddr_b: 0, ..add(AddOp::Max, waddr, [register, Mux::B]) }
}

/// `min waddr, r, unif`.
fn limit_above(waddr: u8, register: Mux) -> Alu {
    add(AddOp::Min, waddr, [register, Mux::B])
}

/// `add t0s, r, unif`: a lookup by plain address.
fn look_up(register: Mux) -> Alu {
    add(AddOp::Add, 56, [register, Mux::B])
}

/// The verdict on these words as the fragment shader, with these uniforms.
fn check_program(scene: &Scene, words: &[u64], uniforms: impl Fn(BusAddr, BusAddr) -> Vec<u32>) -> Result<(), Refusal> {
    check_threaded(scene, Threading::Single, words, uniforms)
}

fn check_threaded(
    scene: &Scene,
    threading: Threading,
    words: &[u64],
    uniforms: impl Fn(BusAddr, BusAddr) -> Vec<u32>,
) -> Result<(), Refusal> {
    scene.set_fragment(threading, words, &uniforms(scene.uniforms(), scene.data()));
    scene.check()
}

/// Limits of 64 bytes, then the array's address.
fn limit_and_array(_: BusAddr, array: BusAddr) -> Vec<u32> {
    vec![64, array.0, 64, array.0]
}

#[test]
fn programs_that_reach_for_memory_are_refused() {
    let scene = Scene::new();
    let code = scene.fragment_code();
    // Words taken from the guide's encoding: load immediate 0 to a write address (add ALU, always), and a branch.
    let load_to = |address: u64, file_b: u64| load(address, 0) | file_b << 44;
    for (word, why) in [
        (load_to(50, 0), "starts a DMA"),
        (load_to(50, 1), "starts a DMA"),
        (load_to(56, 0), "looks memory up by its address"),
        (load_to(38, 0), "interrupts the host"),
        (load_to(48, 0), "uses the VPM"),
        // A branch to the address in ra0.
        (0xf0fc_09e7_0000_0000, "branches to where a register says"),
        // And one that stores the return address in ra0.
        (0xf0f8_0027_0000_0000, "keeps the address behind it"),
    ] {
        let refusal = scene.refusal_with(code, &u64::to_le_bytes(word)).expect(why);
        assert!(refusal.to_string().contains(why), "{refusal} does not say \"{why}\"");
        assert_eq!(refusal.record, "GL Shader State");
    }
}

#[test]
fn lookups_within_limits_pass() {
    let scene = Scene::new();
    let pair = [limit_below(32, Mux::R1), limit_above(33, Mux::R0), look_up(Mux::R1)].map(word);
    assert_eq!(check_program(&scene, &pair, limit_and_array), Ok(()));
    assert_eq!(scene.run(), []);
    // With register files, which need an instruction in between.
    let a5 = |alu: Alu| Alu { raddr_a: 5, ..alu };
    let by_file =
        [limit_below(5, Mux::R1), Alu::NOP, a5(limit_above(5, Mux::A)), Alu::NOP, a5(look_up(Mux::A))].map(word);
    assert_eq!(check_program(&scene, &by_file, limit_and_array), Ok(()));
    // Up to the last word that may be read, and one further.
    let end = scene.end().0;
    let at_the_end = |limit: u32| check_program(&scene, &pair, move |_, _| vec![limit, end - 68]);
    assert_eq!(at_the_end(64), Ok(()));
    assert!(matches!(at_the_end(65).unwrap_err().reason, Reason::Reads { .. }));
}

/// Each way to avoid the limits.
#[test]
fn lookups_without_limits_are_refused() {
    let scene = Scene::new();
    let below = limit_below(32, Mux::R1);
    let above = limit_above(33, Mux::R0);
    let switch = Alu { sig: Signal::ThreadSwitch, ..Alu::NOP };
    let a5 = |alu: Alu| Alu { raddr_a: 5, ..alu };
    let a20 = |alu: Alu| Alu { raddr_a: 20, ..alu };
    let any = "looks memory up by its address";
    let cases: &[(&str, &str, &[Alu])] = &[
        ("no limit", any, &[look_up(Mux::R1)]),
        ("none below", any, &[above, look_up(Mux::R1)]),
        ("none above", any, &[below, look_up(Mux::R0)]),
        ("in some elements", any, &[Alu { cond_add: Condition::ZSet, ..below }, above, look_up(Mux::R1)]),
        ("in some elements, above", any, &[below, Alu { cond_add: Condition::ZSet, ..above }, look_up(Mux::R1)]),
        ("packed", any, &[below, Alu { pack: 1, ..above }, look_up(Mux::R1)]),
        ("unpacked", any, &[below, above, Alu { unpack: Unpack::Half0, pm: true, ..look_up(Mux::R1) }]),
        ("another operation", any, &[below, above, Alu { op_add: AddOp::Sub, ..look_up(Mux::R1) }]),
        ("another register", any, &[below, above, look_up(Mux::R2)]),
        ("overwritten", any, &[below, above, add(AddOp::Or, 33, [Mux::R2, Mux::R2]), look_up(Mux::R1)]),
        (
            "overwritten by the mul ALU",
            any,
            &[below, Alu { waddr_mul: 33, cond_mul: Condition::Always, ..above }, look_up(Mux::R1)],
        ),
        (
            "too fresh",
            "a register is read right after it is written",
            &[below, limit_above(5, Mux::R0), a5(look_up(Mux::A))],
        ),
        (
            "switched away",
            "thread switch has left undefined",
            &[below, above, switch, Alu::NOP, Alu::NOP, look_up(Mux::R1)],
        ),
        (
            "the other thread's",
            "the other thread's",
            &[below, limit_above(20, Mux::R0), switch, Alu::NOP, Alu::NOP, a20(look_up(Mux::A))],
        ),
    ];
    for (name, why, program) in cases {
        let words: Vec<u64> = program.iter().copied().map(word).collect();
        let refusal = check_threaded(&scene, Threading::Dual, &words, limit_and_array).expect_err(name);
        assert!(refusal.to_string().contains(why), "{name}: {refusal}");
    }
    for (name, limit, array) in [("a negative limit", 0x8000_0000, 0), ("an odd address", 64, 2)] {
        let words = [below, above, look_up(Mux::R1)].map(word);
        let refusal = check_program(&scene, &words, |_, place| vec![limit, place.0 + array]).expect_err(name);
        assert!(refusal.to_string().contains("between words, or without a limit"), "{name}: {refusal}");
    }
}

#[test]
fn branches_are_followed() {
    let scene = Scene::new();
    let nops = [NOP; 3];
    let none = |_: BusAddr, _: BusAddr| Vec::new();
    // Over two instructions, to itself, to the start.
    for (always, distance) in [(true, 2), (false, 2), (true, -4), (false, -4)] {
        let program = [&[branch(always, distance)][..], &nops, &[NOP; 4]].concat();
        assert_eq!(check_program(&scene, &program, none), Ok(()), "{always} {distance}");
    }
    // Instructions on no path may be anything: one that interrupts the host.
    let program = [&[branch(true, 1)][..], &nops, &[load(38, 1)]].concat();
    assert_eq!(check_program(&scene, &program, none), Ok(()));
    let program = [&[branch(false, 1)][..], &nops, &[load(38, 1)]].concat();
    assert!(check_program(&scene, &program, none).unwrap_err().to_string().contains("interrupts the host"));
    for (program, why) in [
        ([branch(true, 1 << 20), NOP, NOP, NOP], "which the job may not read"),
        ([branch(true, 2) | 4, NOP, NOP, NOP], "branches between instructions"),
        ([branch(true, 2), NOP, branch(true, 2), NOP], "before another branch"),
        ([branch(true, 2), word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP], "before a branch has"),
    ] {
        let refusal = check_program(&scene, &program, none).expect_err(why);
        assert!(refusal.to_string().contains(why), "{refusal} does not say \"{why}\"");
    }
    // A loop that reads a uniform in each iteration: all its uniforms would have to be remembered.
    let program = [word(add(AddOp::Or, 32, [Mux::B, Mux::B])), branch(false, -5), NOP, NOP, NOP];
    let refusal = check_program(&scene, &program, none).unwrap_err();
    assert_eq!(refusal.reason, Reason::Value("the job takes more memory to check than a job may"));
}

/// A loop that resets its uniforms at its start, as compilers write it; then with each step done wrong.
#[test]
fn uniforms_may_be_moved_to_what_can_be_computed() {
    let scene = Scene::new();
    let move_by = |register| word(add(AddOp::Add, 40, [register, Mux::B]));
    let read = word(add(AddOp::Or, 34, [Mux::B, Mux::B]));
    // ldi r0, 4; add unif_addr, r0, unif; two instructions; a read; back to the start if any Z is set.
    let program = |offset: u32| [load(32, offset), move_by(Mux::R0), NOP, NOP, read, branch(false, -9), NOP, NOP, NOP];
    // The words are the next address, a value, and the address again: the next iteration reads that.
    let uniforms = |stream: BusAddr, _: BusAddr| vec![stream.0, 7, stream.0];
    assert_eq!(check_program(&scene, &program(4), uniforms), Ok(()));
    let beyond = scene.end();
    let refusal = check_program(&scene, &program(0), |_, _| vec![beyond.0]).unwrap_err();
    assert!(matches!(refusal.reason, Reason::Reads { address, .. } if address == beyond), "{refusal}");
    for (why, program) in [
        ("to an address that is not known", vec![move_by(Mux::R1), NOP, NOP]),
        ("between words", vec![load(32, 2), move_by(Mux::R0), NOP, NOP]),
        ("within two instructions", vec![load(32, 4), move_by(Mux::R0), NOP, read]),
        ("too soon", vec![branch(true, 0), load(32, 4), NOP, move_by(Mux::R0)]),
    ] {
        let refusal = check_program(&scene, &program, uniforms).expect_err(why).to_string();
        assert!(refusal.contains(why), "{refusal} does not say \"{why}\"");
    }
}
