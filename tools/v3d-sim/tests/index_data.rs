//! A thread enters index data like a sub-list, and its end address counts there.

#[path = "machine/device.rs"]
mod machine;

use machine::{Machine, put_list};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    BranchToSubList, ClipWindow, IndexType, IndexedPrimitiveList, NvShaderState, PrimitiveListFormat, PrimitiveMode,
    Record, TileBinningMode,
};
use v3d_hw::layout::Layout;
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::shader_record::NvShaderRecord;
use v3d_sim::{Fault, Register};

const LIST: u32 = 0x1000;
const RECORD: u32 = 0x3000;
const VERTICES: u32 = 0x3100;
/// As many as a cube needs.
const TRIANGLES: u32 = 12;
const INDICES: u32 = 3 * TRIANGLES;

impl Machine {
    fn faults(&mut self) -> Vec<String> {
        self.v3d.take_faults().iter().map(Fault::to_string).collect()
    }
}

/// Puts a binning list of one indexed draw, with indices of 16 bits at an address, and returns the address behind its indexed list, and its end.
fn put_binning(machine: &Machine, indices: u32, tile_allocation_bytes: u32) -> (u32, u32) {
    let memory = machine.memory();
    for ((x, y), at) in [(10u32, 10u32), (700, 20), (20, 700)].into_iter().zip(0..) {
        for (word, n) in [x | y << 16, 0.5f32.to_bits(), 1f32.to_bits()].into_iter().zip(0..) {
            memory.set_word(BusAddr(VERTICES + 12 * at + 4 * n), word).unwrap();
        }
    }
    let shader = NvShaderRecord { vertices: BusAddr(VERTICES), stride: 12, ..NvShaderRecord::default() };
    memory.write(BusAddr(RECORD), &shader.to_bits().unwrap().to_le_bytes()).unwrap();
    let mode = TileBinningMode {
        auto_initialise: true,
        width_tiles: 1,
        height_tiles: 1,
        tile_state: BusAddr(0x8000),
        tile_allocation: BusAddr(0x1_0000),
        tile_allocation_bytes,
        ..TileBinningMode::default()
    };
    let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
    let draw = IndexedPrimitiveList {
        maximum_index: 2,
        address: BusAddr(indices),
        length: INDICES,
        index_type: IndexType::Bits16,
        mode: PrimitiveMode::Triangles,
    };
    let window = ClipWindow { left: 0, bottom: 0, width: 64, height: 64 };
    let state = NvShaderState { address: BusAddr(RECORD) };
    let records = [mode.into(), Record::StartTileBinning, format.into(), window.into(), state.into(), draw.into()];
    let behind_draw = put_list(memory, LIST, &records);
    // The record that does nothing makes the end even, as 16-bit indices want it.
    let end = put_list(memory, behind_draw, &[Record::IncrementSemaphore, Record::Flush, Record::Nop]);
    for n in 0..INDICES {
        memory.set_half(BusAddr(indices + 2 * n), (n % 3) as u16).unwrap();
    }
    (behind_draw, end)
}

/// The end of the list, which has the same length wherever the indices are.
fn end_of_list() -> u32 {
    put_binning(&Machine::new(), 0x5000, 0x8000).1
}

/// A list whose indices begin so many bytes behind its end: whether binning completes, and its faults.
fn bin_with_gap(gap: i32) -> (Machine, bool, Vec<String>) {
    let mut machine = Machine::new();
    let (_, end) = put_binning(&machine, end_of_list().wrapping_add_signed(gap), 0x8000);
    machine.write(Register::CT0CA, LIST);
    machine.write(Register::CT0EA, end);
    let (done, faults) = (machine.read(Register::BFC) == 1, machine.faults());
    (machine, done, faults)
}

/// The registers that a Pi 3 showed [rpi-hal src/v3d.rs, examples/gpu_cube.rs]: CTRUN and CTERR are clear, CTRTSD is 1, CT0RA0 is the address behind the
/// list, CT0PC all primitives, and the flush count never changes.
#[test]
fn index_data_that_begins_at_the_end_address_stops_binning_without_an_error_bit() {
    let (mut machine, done, faults) = bin_with_gap(0);
    assert!(!done);
    let (behind_draw, end) = put_binning(&machine, end_of_list(), 0x8000);
    let status: Ctncs = machine.get(Register::CT0CS);
    assert_eq!(status, Ctncs { ctrtsd: 1, ..Ctncs::default() });
    assert_eq!(machine.read(Register::CT00RA0), behind_draw);
    assert_eq!(machine.read(Register::CT0PC), TRIANGLES);
    assert_eq!(machine.read(Register::CT0CA), end);
    assert_eq!(machine.read(Register::BFC), 0);
    assert_eq!(machine.read(Register::ERRSTAT) & !0x1000, 0);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("its index data begins at the list's end address"), "{faults:?}");
    let stalls = machine.v3d.stalls(&machine.owned.view());
    let record = BusAddr(behind_draw - 14);
    assert_eq!(
        stalls,
        [format!(
            "thread 0 has stopped at its end address, {}, where the index data of the record at {record} begins",
            BusAddr(end)
        )]
    );
}

/// "64 bytes between list and indices cured it" [rpi-hal]; the comparison is for equality, so one index of distance is enough here.
#[test]
fn index_data_elsewhere_is_drawn() {
    for gap in [64, 2, -0x400] {
        let (mut machine, done, faults) = bin_with_gap(gap);
        assert!(done && faults.is_empty(), "gap {gap}: {faults:?}");
        assert_eq!(machine.read(Register::CT0CS), 0);
        assert_eq!(machine.read(Register::CT00RA0), 0);
    }
}

#[test]
fn a_new_end_address_lets_the_thread_read_its_index_data() {
    let (mut machine, _, _) = bin_with_gap(0);
    let (behind_draw, end) = put_binning(&machine, end_of_list(), 0x8000);
    machine.write(Register::CT0EA, behind_draw);
    assert_eq!(machine.read(Register::CT0PC), 0);
    assert_eq!(machine.read(Register::CT0CA), behind_draw);
    assert_eq!(machine.read(Register::CT0CS), 0);
    assert_eq!(machine.read(Register::BFC), 0, "the flush is behind the new end");
    machine.write(Register::CT0EA, end);
    assert_eq!(machine.read(Register::BFC), 1);
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn a_thread_that_was_stopped_at_index_data_takes_another_list() {
    let (mut machine, _, _) = bin_with_gap(0);
    let (_, end) = put_binning(&machine, 0x5000, 0x8000);
    machine.write(Register::CT0CA, LIST);
    assert_eq!((machine.read(Register::CT0CS), machine.read(Register::CT0PC)), (0, 0));
    machine.write(Register::CT0EA, end);
    assert_eq!(machine.read(Register::BFC), 1);
}

/// The end address may lie within index data only if the list stops before it, here by its Halt.
#[test]
fn an_end_address_within_index_data_is_reported() {
    for (offset, expected) in [(2, 1), (2 * INDICES - 1, 1), (2 * INDICES, 0)] {
        let mut machine = Machine::new();
        let (behind_draw, end) = put_binning(&machine, 0x5000, 0x8000);
        put_list(machine.memory(), end, &[Record::Halt]);
        machine.write(Register::CT0CA, LIST);
        machine.write(Register::CT0EA, 0x5000 + offset);
        assert_eq!(machine.read(Register::BFC), 1);
        let faults = machine.faults();
        let record = BusAddr(behind_draw - 14);
        let text = "the list's end address lies within its index data: whether the thread stops there is not known";
        let fault = format!("CLE: control list thread 0, record at {record}: {text}");
        assert_eq!(faults, vec![fault; expected], "offset {offset}");
    }
}

/// The same comparison [AG p.62], where a thread was not seen: in a sub-list of the rendering thread.
#[test]
fn a_sub_list_at_the_end_address_stops_the_thread() {
    let mut machine = Machine::new();
    let end =
        put_list(machine.memory(), LIST, &[Record::Nop, BranchToSubList { address: BusAddr(0) }.into(), Record::Nop]);
    put_list(machine.memory(), LIST, &[Record::Nop, BranchToSubList { address: BusAddr(end) }.into(), Record::Nop]);
    put_list(machine.memory(), end, &[Record::ReturnFromSubList]);
    machine.write(Register::CT1CA, LIST);
    machine.write(Register::CT1EA, end);
    let status: Ctncs = machine.get(Register::CT1CS);
    assert_eq!(status, Ctncs { ctrtsd: 1, ..Ctncs::default() });
    assert_eq!((machine.read(Register::CT1CA), machine.read(Register::CT01RA0)), (end, end - 1));
    let place = BusAddr(end);
    let text = "this place in a sub-list is the list's end address: the thread stops here, without an error bit";
    assert_eq!(machine.faults(), [format!("CLE: control list thread 1, record at {place}: {text}")]);
}
