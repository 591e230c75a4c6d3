//! The timing model on handwritten traces.

use super::memory::SdramTimes;
use super::trace::{Event, FrontWork, Transfer};
use super::*;
use crate::random::Random;
use v3d_hw::BusAddr;

const EIGHT: Event = Event::Instructions { at: 0, count: 8 };
/// A line of an open row of the SDRAM, in the V3D's cache.
const NEXT: u64 = costs::L2_LATENCY + costs::MEMORY_LATENCY + SDRAM.latency + SDRAM.line;
/// The first line of instructions or of a texture: it is in another row than the first uniforms, which must be opened.
const COLD: u64 = NEXT + SDRAM.row + (SDRAM.line + SDRAM.row);
/// The Pi's.
const PI: Machine = Machine { slices: 3, qpus_per_slice: 4, clock_mhz: 250 };
const SDRAM: SdramTimes = SdramTimes::at(PI.clock_mhz);

/// What DMA moves.
const BLOCK: Transfer = Transfer { address: 0x20_0000, rows: 3, row_bytes: 64, pitch_bytes: 64 };

fn fragments(quad: u32, threaded: bool, varyings: u32) -> Invocation {
    let quads = [quad, Invocation::NO_QUAD, Invocation::NO_QUAD, Invocation::NO_QUAD];
    Invocation::Fragments { quads, varyings, threaded, front: FrontWork::default() }
}

fn program(qpu: u8) -> Invocation {
    Invocation::UserProgram { qpu }
}

/// The estimate for programs with some events.
fn estimate(machine: Machine, programs: &[(Invocation, &[Event])]) -> Estimate {
    let mut model = TimingModel::new(machine);
    for (work, events) in programs {
        let mut trace = Trace::new(BusAddr(0), BusAddr(0x10_0000), *work);
        trace.events = events.to_vec();
        trace.lines = vec![0x20_0000; events.len()];
        trace.transfers = vec![BLOCK; events.len()];
        model.submit(trace);
    }
    model.take_estimate()
}

/// Programs on a Pi, their cycles and their stalls.
fn check(programs: &[(Invocation, &[Event])], elapsed: u64, expected: &[(Stall, u64)]) {
    let estimate = estimate(PI, programs);
    let stalls: Vec<(Stall, u64)> =
        Stall::ALL.iter().map(|&stall| (stall, estimate.stalls.get(stall))).filter(|(_, cycles)| *cycles > 0).collect();
    assert_eq!((estimate.elapsed, stalls.as_slice()), (elapsed, expected), "{programs:?}");
}

#[test]
fn an_instruction_takes_four_cycles_and_a_new_line_more() {
    check(&[(program(11), &[EIGHT])], COLD + 32, &[(Stall::Instructions, COLD)]);
    check(&[(program(11), &[EIGHT, EIGHT])], COLD + 64, &[(Stall::Instructions, COLD)]);
    let across = Event::Instructions { at: 32, count: 5 };
    check(&[(program(11), &[across])], COLD + NEXT + 20, &[(Stall::Instructions, COLD + NEXT)]);
}

/// QPUs work in parallel, and the user programs of one QPU in succession. Each slice has its own caches, but the slices share L2. Requests for a line that has
/// not arrived yet wait for it instead of fetching it again.
#[test]
fn programs_of_different_qpus_overlap() {
    check(&[(program(11), &[EIGHT]), (program(11), &[EIGHT])], COLD + 64, &[(Stall::Instructions, COLD)]);
    check(&[(program(11), &[EIGHT]), (program(10), &[EIGHT])], COLD + 32, &[(Stall::Instructions, 2 * COLD)]);
    let slices = [(program(11), [EIGHT].as_slice()), (program(0), &[EIGHT])];
    check(&slices, COLD + 32, &[(Stall::Instructions, 2 * COLD)]);
    let Estimate { idle, elapsed, .. } = estimate(PI, &[(program(11), &[EIGHT])]);
    assert_eq!(idle, 11 * elapsed);
}

/// 64 reads in succession, then four instructions, repeatedly: an efficiency of 0.6 was measured [imrc QU3-6]. The uniforms are in the chip's cache.
#[test]
fn uniforms_in_a_row_are_as_slow_as_on_a_board() {
    let one = Event::Instructions { at: 0, count: 1 };
    let mut events = Vec::new();
    for _ in 0..50 {
        events.extend([Event::Uniform, one].repeat(64));
        events.push(Event::Instructions { at: 0, count: 4 });
    }
    let mut model = TimingModel::new(PI);
    let mut trace = Trace::new(BusAddr(0), BusAddr(0x10_0000), program(11));
    trace.events = events;
    for line in 0..=200 {
        model.caches.memory.read(0x10_0000 + 64 * line, 0);
    }
    model.submit(trace);
    let found = model.take_estimate();
    let efficiency = (50 * 68 * costs::INSTRUCTION) as f64 / found.elapsed as f64;
    assert!((0.55..0.65).contains(&efficiency), "{efficiency}");
    // Each read is a fetch, and two are fetched in advance [vc4cl].
    assert_eq!(found.uniform_fetches, 50 * 64 + 2);
    assert_eq!(found.lookups.uniform_misses, (50u64 * 64 + 2).div_ceil(16));
}

/// Interpolators supply a vector every two cycles: the eight vectors of four QPUs are available after 2, 4, ... 16 cycles.
#[test]
fn varyings_of_a_slice_come_one_after_the_other() {
    let both = [Event::Varying, Event::Varying];
    let one = [(fragments(0, false, 2), both.as_slice())];
    check(&one, costs::BATCH_START + 4, &[(Stall::Varyings, 4)]);
    let four = [0, 1, 2, 3].map(|quad| (fragments(quad, false, 2), both.as_slice()));
    check(&four, costs::BATCH_START + 16, &[(Stall::Varyings, 4 + 8 + 12 + 16)]);
}

/// While one thread waits for its lookup, the other computes and looks up, too; one after the other they wait twice.
#[test]
fn two_threads_share_the_time_that_lookups_take() {
    let lookup = [EIGHT, Event::TmuRequest { unit: 0, swaps: true, lines: 1 }, Event::ThreadSwitch, Event::TmuLoad(0)];
    let machine = Machine { slices: 1, qpus_per_slice: 1, ..PI };
    let time = |threaded| {
        let programs = [0, 1].map(|quad| (fragments(quad, threaded, 0), lookup.as_slice()));
        let Estimate { elapsed, units, stalls, .. } = estimate(machine, &programs);
        assert_eq!(units.tmus, 2 * costs::TMU_VECTOR);
        (elapsed, stalls.get(Stall::Tmu))
    };
    let (two, one) = (time(true), time(false));
    // At least the instructions of the second thread fill time that is waited for otherwise.
    assert!(two.0 + 8 * costs::INSTRUCTION <= one.0 && two.1 + 8 * costs::INSTRUCTION <= one.1, "{two:?}, {one:?}");
}

/// The TMU's queue holds four requests; the sixth waits until the second begins.
#[test]
fn a_full_request_fifo_stalls() {
    let request = Event::TmuRequest { unit: 1, swaps: false, lines: 0 };
    check(&[(program(0), &[request; 5])], 0, &[]);
    check(&[(program(0), &[request; 6])], costs::TMU_VECTOR, &[(Stall::Tmu, costs::TMU_VECTOR)]);
}

#[test]
fn fragments_of_the_same_quad_wait_for_each_other() {
    let first = [EIGHT, Event::ScoreboardUnlock, EIGHT];
    let second = [Event::ScoreboardWait];
    let unlocked = COLD + 32;
    let same = [(fragments(5, false, 0), first.as_slice()), (fragments(5, false, 0), &second)];
    check(&same, costs::BATCH_START + unlocked + 32, &[(Stall::Scoreboard, unlocked), (Stall::Instructions, COLD)]);
    let others = [(fragments(5, false, 0), first.as_slice()), (fragments(6, false, 0), &second)];
    check(&others, costs::BATCH_START + unlocked + 32, &[(Stall::Instructions, COLD)]);
}

/// On one QPU, three programs of eight instructions on the same quad. In a record of two threads the next is ready when one ends. If a new one overtook it,
/// that would wait at the scoreboard.
#[test]
fn programs_that_never_switch_run_in_order_and_without_a_gap() {
    let events = [EIGHT, Event::ScoreboardWait, Event::ScoreboardUnlock];
    let machine = Machine { slices: 1, qpus_per_slice: 1, ..PI };
    let time = |threaded| {
        let programs = [1, 2, 3].map(|_| (fragments(7, threaded, 0), events.as_slice()));
        let Estimate { elapsed, stalls, .. } = estimate(machine, &programs);
        (elapsed, stalls.get(Stall::Scoreboard))
    };
    let programs = COLD + 3 * 32;
    assert_eq!(time(true), (costs::BATCH_START + programs, 0));
    assert_eq!(time(false), (3 * costs::BATCH_START + programs, 0));
}

/// A fragment of the next tile starts at once, and waits at the scoreboard until the tile is stored.
#[test]
fn fragments_wait_for_the_store_of_the_tile_before() {
    let mut model = TimingModel::new(PI);
    let wait = [Event::ScoreboardWait, EIGHT];
    let mut submit = |work: Work| model.submit_work(work);
    let fragment = |quad| {
        let mut trace = Trace::new(BusAddr(0), BusAddr(0x10_0000), fragments(quad, false, 0));
        trace.events = wait.to_vec();
        Work::Program(trace)
    };
    submit(fragment(0));
    submit(Work::Move(TileMove { front: FrontWork::default(), quads: 100, pieces: 0, swap: false }));
    submit(fragment(1));
    let Estimate { elapsed, stalls, units, .. } = model.take_estimate();
    let store = costs::TILE_MOVE + 100 * costs::TLB_QUAD;
    assert_eq!((stalls.get(Stall::Scoreboard), units.tlb), (COLD + 32 + store, store));
    assert_eq!(elapsed, costs::BATCH_START + COLD + 32 + store + 32);
}

/// 20 primitives whose vertices lie in 30 lines, none of them visible, before a store.
#[test]
fn hidden_primitives_take_time_too() {
    let front = FrontWork { lines: 30, primitives: 20, quads: 7 };
    let mut model = TimingModel::new(PI);
    model.submit_work(Work::Move(TileMove { front, quads: 100, pieces: 0, swap: false }));
    let Estimate { elapsed, units, .. } = model.take_estimate();
    let set_up = 30 * costs::VCD_LINE + 7 * costs::FEP_QUAD;
    assert_eq!(elapsed, set_up + costs::TILE_MOVE + 100 * costs::TLB_QUAD);
    assert_eq!(units.pse, 20 * costs::PSE_PRIMITIVE);
}

/// A load of 100 quads from 10 pieces of memory, 37 cycles for each at 250 MHz, and a store.
#[test]
fn loads_wait_for_each_piece_of_memory() {
    let mut model = TimingModel::new(PI);
    for pieces in [10, 0] {
        model.submit_work(Work::Move(TileMove { front: FrontWork::default(), quads: 100, pieces, swap: false }));
    }
    let Estimate { elapsed, units, .. } = model.take_estimate();
    assert_eq!((elapsed, units.tlb), (2 * (28 + 100) + 10 * 37, 2 * (28 + 100) + 10 * 37));
}

/// The VCD and the PTB work side by side.
#[test]
fn binning_takes_as_long_as_its_slower_unit() {
    for (lines, entries) in [(30, 20), (1, 500)] {
        let mut model = TimingModel::new(PI);
        model.submit_work(Work::Binned(Binned { lines, entries: 0 }));
        model.submit_work(Work::Binned(Binned { lines: 0, entries }));
        let slower = (u64::from(lines) * costs::VCD_LINE).max(u64::from(entries) * costs::PTB_ENTRY);
        assert_eq!(model.take_estimate().elapsed, slower);
    }
}

#[test]
fn only_one_program_has_the_mutex() {
    let events = [Event::MutexAcquire, EIGHT, Event::MutexRelease];
    let programs = [(program(11), events.as_slice()), (program(10), &events)];
    let waits = [(Stall::Instructions, COLD), (Stall::Synchronisation, COLD + 32)];
    check(&programs, COLD + 64, &waits);
}

#[test]
fn semaphores_are_waited_for_and_nobody_waits_for_ever() {
    let down = Event::Semaphore { number: 3, decrement: true };
    let up = Event::Semaphore { number: 3, decrement: false };
    let waits = [(Stall::Instructions, COLD), (Stall::Synchronisation, COLD + 32)];
    check(&[(program(11), &[down]), (program(10), &[EIGHT, up])], COLD + 32, &waits);
    check(&[(program(11), &[down, EIGHT])], COLD + 32, &[(Stall::Instructions, COLD)]);
}

/// Sixteen vertices wait until the VCD has fetched three lines.
#[test]
fn vertices_wait_for_their_attributes() {
    let programs = [(Invocation::Vertices { lines: 3 }, [EIGHT].as_slice())];
    check(&programs, 3 * costs::VCD_LINE + costs::BATCH_START + COLD + 32, &[(Stall::Instructions, COLD)]);
}

/// Three lines in each direction, each of which occupies the port for four cycles.
#[test]
fn dma_waits_for_the_port_of_the_vpm() {
    let load = [Event::Dma(Dma::Load), Event::DmaWait(Dma::Load)];
    let found = estimate(PI, &[(program(0), &load)]);
    // Loads at 24, 47 and 70, complete at 93.
    assert_eq!((found.elapsed, found.stalls.get(Stall::Vpm)), (93, 93));
    assert_eq!((found.vcd_stalls, found.vdw_stalls, found.units.vpm, found.units.loads), (0, 0, 12, 69));
    let both = [Event::Dma(Dma::Load), Event::Dma(Dma::Store), Event::DmaWait(Dma::Load), Event::DmaWait(Dma::Store)];
    // Stores at 40, 54 and 68: the last load waits for two cycles.
    let found = estimate(PI, &[(program(0), &both)]);
    assert_eq!((found.elapsed, found.vcd_stalls, found.vdw_stalls, found.units.stores), (95, 2, 0, 42));
}

/// The second block begins when the first is done.
#[test]
fn blocks_come_one_after_the_other() {
    let events = [Event::Dma(Dma::Store), Event::Dma(Dma::Store), Event::DmaWait(Dma::Store)];
    let found = estimate(PI, &[(program(0), &events)]);
    let block = costs::DMA_STORE_LATENCY + 3 * costs::DMA_STORE_LINE;
    assert_eq!(found.elapsed, 2 * block);
}

/// Two programs that wait for each other, as whole traces and in parts of any size that arrive in any order.
#[test]
fn traces_in_parts_are_as_long_as_whole_ones() {
    let up = |number| Event::Semaphore { number, decrement: false };
    let down = |number| Event::Semaphore { number, decrement: true };
    let lookup = [Event::TmuRequest { unit: 0, swaps: false, lines: 1 }, EIGHT, Event::TmuLoad(0)];
    let store = [Event::Dma(Dma::Store), EIGHT, Event::DmaWait(Dma::Store)];
    let first: Vec<Event> = (0..40).flat_map(|_| [up(0), EIGHT, down(1)].into_iter().chain(lookup)).collect();
    let second: Vec<Event> = (0..40).flat_map(|_| [down(0), EIGHT, EIGHT, up(1)].into_iter().chain(store)).collect();
    let traces = || {
        [(11, &first), (2, &second)].map(|(qpu, events)| {
            let mut trace = Trace::new(BusAddr(0), BusAddr(0x10_0000), program(qpu));
            trace.events = events.clone();
            trace.lines = (0..40).map(|line| 4096 * line).collect();
            trace.transfers = vec![BLOCK; 40];
            trace
        })
    };
    let mut model = TimingModel::new(PI);
    traces().into_iter().for_each(|trace| model.submit(trace));
    let whole = model.take_estimate();
    assert!(whole.stalls.get(Stall::Synchronisation) > 0 && whole.stalls.get(Stall::Vpm) > 0);
    for seed in 0..30 {
        let mut random = Random::new(0, seed);
        let mut model = TimingModel::new(PI);
        let mut left = traces();
        // All programs have a part from the start, as when the QPS passes them on.
        for trace in &mut left {
            model.submit(trace.split_off(random.below(9) as usize));
        }
        model.advance();
        while left.iter().any(|trace| trace.events() > 0) {
            let trace = &mut left[random.below(2) as usize];
            model.submit(trace.split_off(random.below(30) as usize));
            model.advance();
        }
        for trace in left {
            model.submit(trace);
        }
        assert_eq!(model.take_estimate(), whole, "seed {seed}");
    }
}

fn random_event(random: &mut Random) -> Event {
    let dma = random.pick(&[Dma::Load, Dma::Store]);
    match random.below(18) {
        0 => Event::Uniform,
        1 => Event::UniformsAddress(4 * random.below(10_000)),
        2 => Event::Varying,
        3 => Event::TmuRequest { unit: random.below(2) as u8, swaps: random.one_in(2), lines: random.below(3) as u16 },
        4 => Event::TmuLoad(random.below(2) as u8),
        5 => Event::ScoreboardWait,
        6 => Event::ScoreboardUnlock,
        7 => Event::ThreadSwitch,
        8 => Event::VpmReadSetup,
        9 => Event::VpmRead,
        10 => Event::VpmWrite,
        11 => Event::Dma(dma),
        12 => Event::DmaWait(dma),
        13 => Event::MutexAcquire,
        14 => Event::MutexRelease,
        15 => Event::Semaphore { number: random.below(3) as u8, decrement: random.one_in(2) },
        _ => Event::Instructions { at: 8 * random.below(1000), count: 1 + random.below(32) },
    }
}

fn random_transfer(random: &mut Random) -> Transfer {
    let (rows, row_bytes) = (random.below(20), 4 * random.below(40));
    Transfer { address: 4 * random.below(1 << 30), rows, row_bytes, pitch_bytes: row_bytes + random.below(1 << 13) }
}

fn random_invocation(random: &mut Random) -> Invocation {
    match random.below(8) {
        0 => program(random.below(16) as u8),
        1 => Invocation::Coordinates { lines: random.below(20) },
        2 => Invocation::Vertices { lines: random.below(20) },
        _ => fragments(random.below(6), random.one_in(2), random.below(4)),
    }
}

/// Programs with random events in random order: the model terminates, and each QPU is idle or occupied at any time.
#[test]
fn random_programs_come_to_an_end() {
    for seed in 0..300 {
        let mut random = Random::new(0, seed);
        let machine = Machine { slices: 1 + random.below(3) as u8, qpus_per_slice: 1 + random.below(4) as u8, ..PI };
        let mut model = TimingModel::new(machine);
        for _ in 0..random.below(150) {
            let mut trace = Trace::new(BusAddr(random.below(3)), BusAddr(0), random_invocation(&mut random));
            trace.events = (0..random.below(60)).map(|_| random_event(&mut random)).collect();
            trace.lines = (0..60).map(|_| 64 * random.below(1000)).collect();
            trace.transfers = (0..60).map(|_| random_transfer(&mut random)).collect();
            model.submit(trace);
        }
        let Estimate { elapsed, idle, programs, stalls, .. } = model.take_estimate();
        let kept: u64 = programs.values().map(|(cycles, _)| cycles).sum();
        let qpus = u64::from(machine.slices) * u64::from(machine.qpus_per_slice);
        assert_eq!(idle + kept, qpus * elapsed, "seed {seed}");
        assert!(stalls.total() <= kept, "seed {seed}");
    }
}

/// Eight instructions that wait for a cache line, and 80 more, which wait for ten lines.
#[test]
fn the_rest_of_a_trace_that_was_cut_goes_on_as_it_began() {
    let mut model = TimingModel::new(PI);
    let mut trace = Trace::new(BusAddr(0), BusAddr(0x10_0000), program(0));
    trace.events = vec![EIGHT];
    trace.rest = 80;
    model.submit(trace);
    let Estimate { elapsed, instruction_fetches, stalls, .. } = model.take_estimate();
    assert_eq!((elapsed, instruction_fetches), (11 * (COLD + 32), 88));
    assert_eq!(stalls.get(Stall::Instructions), 11 * COLD);
}
