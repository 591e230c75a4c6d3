//! Registers one by one: values after reset, writable bits, error signals and their causes [AG section 10].

#[path = "machine/device.rs"]
mod machine;

use machine::{Machine, put_list};
use v3d_hw::control_list::{
    GlShaderState, IndexType, IndexedPrimitiveList, NvShaderState, PrimitiveMode, Record, TileBinningMode,
    VertexArrayPrimitives,
};
use v3d_hw::registers::diagnostic::Errstat;
use v3d_hw::shader_record::{AttributeArray, GlFragment, GlVertex, NvShaderRecord, gl};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::Register;

/// VCDI: the VCD is idle.
const IDLE: u32 = 1 << 12;

impl Machine {
    fn put<T: Layout>(&self, at: u32, value: T) {
        self.memory().write(BusAddr(at), &value.to_bits().unwrap().to_le_bytes()[..T::BYTES]).unwrap();
    }

    fn program(&self, at: u32, source: &str) {
        let program = qpu::assemble(&[qpu::Source::new("test", source)], &qpu::Options::default()).unwrap();
        for (half, n) in program.halves().zip(0..) {
            self.memory().set_word(BusAddr(at + 4 * n), half).unwrap();
        }
    }

    /// Runs a list on the thread that has these registers for its current and end address.
    fn list(&mut self, current: Register, end: Register, records: &[Record]) {
        let list_end = put_list(self.memory(), 0x1000, records);
        self.write(current, 0x1000);
        self.write(end, list_end);
    }

    fn bin(&mut self, records: &[Record]) {
        let mode = TileBinningMode {
            auto_initialise: true,
            width_tiles: 1,
            height_tiles: 1,
            tile_state: BusAddr(0x4_0000),
            tile_allocation: BusAddr(0x5_0000),
            tile_allocation_bytes: 0x1000,
            ..TileBinningMode::default()
        };
        let records: Vec<Record> =
            [mode.into(), Record::StartTileBinning].into_iter().chain(records.iter().cloned()).collect();
        self.list(Register::CT0CA, Register::CT0EA, &records);
    }

    fn raised(&mut self) -> Errstat {
        let errors: Errstat = self.get(Register::ERRSTAT);
        assert!(errors.vcdi);
        Errstat { vcdi: false, ..errors }
    }
}

#[test]
fn after_reset() {
    let mut machine = Machine::new();
    for offset in (0..0x1000).step_by(4) {
        let expected = match Register::from_offset(offset) {
            Some(Register::IDENT0) => 0x0244_3356,
            Some(Register::IDENT1) => 0xc110_2431,
            Some(Register::IDENT2) => 0x121,
            // The guide says 0, but drivers rely on the cache without enabling it [linux vc4_v3d.c].
            Some(Register::L2CACTL) => 1,
            Some(Register::ERRSTAT) => IDLE,
            // BMOOM: the binner has had no memory [bm docs/DRIVERS.md].
            Some(Register::PCS) => 0x100,
            _ => 0,
        };
        assert_eq!(machine.v3d.read(&machine.owned.view(), offset), expected, "offset {offset:#x}");
    }
}

#[test]
fn fields_keep_what_is_written_and_the_rest_reads_0() {
    let mut machine = Machine::new();
    for (register, kept) in [
        (Register::SCRATCH, !0),
        (Register::INTENA, 0xf),
        (Register::BPOA, !0),
        (Register::BPOS, !0),
        (Register::BXCF, 3),
        (Register::SQRSV0, !0),
        (Register::SQRSV1, !0),
        (Register::SQCNTL, 0xf),
        (Register::SRQUA, !0),
        (Register::SRQUL, 0xfff),
        (Register::VPMBASE, 0x1f),
        (Register::PCTRE, 0x8000_ffff),
        (Register::PCTR7, !0),
        (Register::PCTRS7, 0x1f),
        (Register::DBQITE, 0xffff),
    ] {
        machine.write(register, !0);
        assert_eq!(machine.read(register), kept, "{register}");
        let cleared = if register == Register::INTENA { Register::INTDIS } else { register };
        machine.write(cleared, if cleared == register { 0 } else { !0 });
        assert_eq!(machine.read(register), 0, "{register}");
    }
    assert_eq!(machine.v3d.take_faults(), []);
}

#[test]
fn read_only_registers_ignore_writes() {
    let mut machine = Machine::new();
    for register in [
        Register::IDENT0,
        Register::IDENT1,
        Register::IDENT2,
        Register::CT00RA0,
        Register::CT01RA0,
        Register::CT0PC,
        Register::CT1PC,
        Register::PCS,
        Register::BPCA,
        Register::BPCS,
        Register::DBGE,
        Register::FDBGO,
        Register::FDBGB,
        Register::FDBGR,
        Register::FDBGS,
        Register::ERRSTAT,
    ] {
        let before = machine.read(register);
        machine.write(register, !before);
        assert_eq!(machine.read(register), before, "{register}");
    }
}

#[test]
fn the_l2_cache_has_a_bit_for_on_and_one_for_off() {
    let mut machine = Machine::new();
    machine.write(Register::L2CACTL, 1 << 1);
    assert_eq!(machine.read(Register::L2CACTL), 0);
    machine.write(Register::L2CACTL, 0);
    assert_eq!(machine.read(Register::L2CACTL), 0);
    machine.write(Register::L2CACTL, 1 << 2 | 1);
    assert_eq!(machine.read(Register::L2CACTL), 1);
}

/// "Primitives using a greater index will cause error" [AG p.68].
#[test]
fn an_index_beyond_the_maximum_is_an_error_of_the_vcm() {
    let mut machine = Machine::new();
    machine.put(0x2000, NvShaderRecord { vertices: BusAddr(0x3000), stride: 12, ..NvShaderRecord::default() });
    machine.memory().write(BusAddr(0x2800), &[0, 1, 9]).unwrap();
    let draw = IndexedPrimitiveList {
        address: BusAddr(0x2800),
        length: 3,
        maximum_index: 8,
        index_type: IndexType::Bits8,
        mode: PrimitiveMode::Triangles,
    };
    let records = [NvShaderState { address: BusAddr(0x2000) }.into(), draw.into()];
    machine.bin(&records);
    assert_eq!(machine.raised(), Errstat { vcmbe: true, ..Errstat::default() });
    machine.list(Register::CT1CA, Register::CT1EA, &records);
    assert_eq!(machine.raised(), Errstat { vcmbe: true, vcmre: true, ..Errstat::default() });
    assert_eq!(machine.v3d.take_faults().len(), 2);
    assert!(machine.raised().vcmbe, "faults that were taken stay in the register");
    machine.v3d.reset();
    assert_eq!(machine.read(Register::ERRSTAT), IDLE);
}

#[test]
fn vertex_programs_that_leave_their_rows_are_errors_of_the_vpm() {
    // One row of attributes and 7 of coordinates; the set-ups are for 32-bit rows from row 0 on.
    for (source, expected) in [
        ("mov -, vpm\nmov -, vpm", Errstat { vpmerr: true, ..Errstat::default() }),
        (&"mov vpm, 0\n".repeat(8), Errstat { vpmewr: true, ..Errstat::default() }),
        (&"mov vpm, 0\n".repeat(7), Errstat::default()),
    ] {
        let mut machine = Machine::new();
        let setup = "ldi vr_setup, 0x00201a00\nldi vw_setup, 0x00001a00\nnop\nnop\nnop\n";
        machine.program(0x3000, &format!("{setup}{source}\nthrend\nnop\nnop"));
        machine.put(0x2000 + gl::FRAGMENT, GlFragment { clipping: true, ..GlFragment::default() });
        let program =
            GlVertex { code: BusAddr(0x3000), attributes_bytes: 4, attribute_select: 1, ..GlVertex::default() };
        machine.put(0x2000 + gl::VERTEX, program);
        machine.put(0x2000 + gl::COORDINATE, program);
        let array = AttributeArray { address: BusAddr(0x6000), bytes_minus_1: 3, ..AttributeArray::default() };
        machine.put(0x2000 + gl::ATTRIBUTES, array);
        let state = GlShaderState { address: BusAddr(0x2000).into(), extended: false, attribute_arrays: 1 };
        let draw = VertexArrayPrimitives { first_vertex: 0, length: 3, mode: PrimitiveMode::Triangles };
        machine.bin(&[state.into(), draw.into()]);
        assert_eq!(machine.raised(), expected, "{source}");
    }
}

#[test]
fn user_programs_that_leave_their_rows_are_errors_of_vpm_and_vdw() {
    /// One horizontal row of 16 words, starting with row `y`.
    const fn store(y: u32) -> u32 {
        2 << 30 | 1 << 23 | 16 << 16 | 1 << 14 | y << 7
    }
    let outside = Errstat { vpmerr: true, ..Errstat::default() };
    for (y, expected) in [(3, Errstat::default()), (4, outside), (63, outside), (64, Errstat { vdwe: true, ..outside })]
    {
        let mut machine = Machine::new();
        machine.program(0x3000, "mov vw_setup, unif\nmov vw_addr, unif\nmov -, vw_wait\nnop\nthrend\nnop\nnop");
        machine.memory().set_word(BusAddr(0x4000), store(y)).unwrap();
        machine.memory().set_word(BusAddr(0x4004), 0x8000).unwrap();
        // 256 bytes: four rows.
        machine.write(Register::VPMBASE, 1);
        machine.write(Register::SRQUL, 2);
        machine.write(Register::SRQUA, 0x4000);
        machine.write(Register::SRQPC, 0x3000);
        assert_eq!(machine.raised(), expected, "row {y}");
    }
}
