//! A published coordinate shader, written for silicon: it stores the values that silicon printed.
//!
//! The words (low, high) and the seven values are from JayStation's article "VPM, VCD, and VCM For Vertex Shaders".

use v3d_hw::BusAddr;
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::CodeCache;
use v3d_sim::qpu::qps::{Environment, Qps};

const WORDS: [(u32, u32); 29] = [
    (0x009e_7000, 0x1000_09e7),
    (0x1582_7df7, 0x1002_0027),
    (0x1582_7df7, 0x1002_0067),
    (0x1582_7df7, 0x1002_00a7),
    (0x17bc_1ac2, 0xe002_1c67),
    (0x0000_0000, 0xe002_0c27),
    (0x3f80_0000, 0xe002_0c27),
    (0x1502_7df7, 0x1002_0c27),
    (0x1506_7df7, 0x1002_0c27),
    (0x150a_7df7, 0x1002_0c27),
    (0x0e00_4dc0, 0xd202_0827),
    (0x0e00_4dc0, 0xd402_0867),
    (0x0800_01f7, 0x1002_2827),
    (0x0800_03f7, 0x1002_2867),
    (0x3b4d_1ed9, 0xe002_08a7),
    (0x3b88_d181, 0xe002_08e7),
    (0x2000_0dc2, 0x1000_79e0),
    (0x2000_0dcb, 0x1000_79e1),
    (0x0202_01c0, 0xd002_0827),
    (0x0202_03c0, 0xd002_0867),
    (0x17bc_1ac0, 0xe002_1c67),
    (0x159e_7000, 0x1002_0c27),
    (0x159e_7249, 0x1002_0c27),
    (0x8390_4000, 0xe002_1c67),
    (0x1580_0df7, 0xd002_1ca7),
    (0x009e_7000, 0x5000_09e7),
    (0x009e_7000, 0x3000_09e7),
    (0x009e_7000, 0x1000_09e7),
    (0x009e_7000, 0x1000_09e7),
];

/// x 32 and y 448 in 12.4 fixed point, z 1.0, 1/w 1.0.
const VERTEX: [u32; 3] = [((448 * 16) << 16) | (32 * 16), 0x3f80_0000, 0x3f80_0000];

const PRINTED: [u32; 7] = [0xbf66_5c24, 0x3f5e_dd42, 0x0000_0000, 0x3f80_0000, 0x1c00_0200, 0x3f80_0000, 0x3f80_0000];

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x2000;
const TARGET: u32 = 0x3000;

#[test]
fn the_published_words_store_the_printed_values() {
    let owned = OwnedMemory::new(0x4000);
    let memory = owned.view();
    for (i, (low, high)) in WORDS.into_iter().enumerate() {
        let at = CODE + 8 * i as u32;
        memory.set_word(BusAddr(at), low).unwrap();
        memory.set_word(BusAddr(at + 4), high).unwrap();
    }
    for (i, word) in VERTEX.into_iter().chain([BusAddr::UNCACHED | TARGET]).enumerate() {
        memory.set_word(BusAddr(UNIFORMS + 4 * i as u32), word).unwrap();
    }

    let mut programs = Qps::new(12, 12);
    let mut faults = FaultLog::default();
    programs.reserve_vpm(16);
    programs.set_uniforms(BusAddr(BusAddr::UNCACHED | UNIFORMS));
    programs.set_length(1024);
    programs.request(BusAddr(BusAddr::UNCACHED | CODE));
    let (code, supervision) = (&CodeCache::new(), &Supervision::default());
    let environment = Environment { memory, code, budget: 1000, supervision };
    programs.run(&environment, &mut faults, &mut Counters::default());

    assert_eq!(faults.faults(), []);
    assert_eq!(programs.read_status(memory, &mut faults), 1 << 16 | 1 << 8);
    for (row, value) in PRINTED.into_iter().enumerate() {
        for element in 0..16 {
            let at = BusAddr(TARGET + 64 * row as u32 + 4 * element);
            assert_eq!(memory.word(at), Ok(value), "row {row} element {element}");
        }
    }
    assert_eq!(memory.word(BusAddr(TARGET + 64 * 7)), Ok(0));
}
