//! The frame: data that translated code and the model share while the code runs.

use super::constants::WholeVector;
use super::entry::{BeginGroup, ExecuteMicroOp, LookUp, SpecialResult};
use super::numbers::Numbers;
use crate::qpu::io::{TileAccess, Varying};
use crate::qpu::isa::registers::Flags;
use crate::qpu::isa::sfu;
use crate::qpu::lanes::Lanes;
use crate::tmu::{Fifos, Received, Tmu};
use std::ffi::c_void;
use std::mem::offset_of;
use std::sync::atomic::AtomicU32;

/// The register that translated code's pointer refers to: a signed byte reaches all other registers from there.
pub(super) const MIDDLE: i32 = 128;

/// The calls that translated code makes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::qpu) struct Calls {
    /// Executes a micro-op.
    pub(in crate::qpu) execute_micro_op: ExecuteMicroOp,
    /// Executes a micro-op of a TMU.
    pub(in crate::qpu) execute_lookup: ExecuteMicroOp,
    /// Starts a lookup.
    pub(in crate::qpu) look_up: LookUp,
    /// Executes a micro-op that accesses another unit.
    pub(in crate::qpu) access_unit: ExecuteMicroOp,
    /// Begins a group.
    pub(in crate::qpu) begin_group: BeginGroup,
    /// Computes special results, in the order of [`Special::call`](super::host::Special::call).
    pub(in crate::qpu) special: [SpecialResult; 2],
}

/// Constants of vector instructions.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Constants {
    pub(super) magnitude: u32,
    pub(super) greatest: u32,
    pub(super) integer_limit: u32,
    pub(super) significand: u32,
    pub(super) highest_place: u32,
    pub(super) integer_exponent: u32,
    pub(super) low_24_bits: u32,
    pub(super) shift_bits: u32,
    pub(super) one: f32,
    pub(super) half: f32,
    pub(super) bytes: f32,
    pub(super) byte_share: f32,
    pub(super) byte_rest: f32,
    pub(super) every_byte: u32,
    pub(super) low_byte: u32,
    pub(super) word_rounding: u32,
    pub(super) word_quotient: u32,
    pub(super) large: u32,
    pub(super) sign: u32,
    pub(super) infinity: u32,
    pub(super) minus_infinity: u32,
    pub(super) smallest_doubled: u32,
    pub(super) overflowed_doubled: u32,
    pub(super) infinity_doubled: u32,
    pub(super) half_bias: u32,
    pub(super) half_denormals: u32,
    pub(super) half_finite: u32,
    pub(super) half_rounding: u32,
    pub(super) half_infinity: u32,
    pub(super) half_bias_of_half: u32,
    pub(super) half_denormals_of_half: u32,
}

/// Their values.
pub(super) const CONSTANTS: Constants = Constants {
    magnitude: 0x7fff_ffff,
    greatest: crate::simd::vectors::GREATEST,
    // 2^31: a smaller magnitude fits into an integer.
    integer_limit: (127 + 31) << 23,
    // A significand without its highest bit, that bit, and the exponent of floats whose significand is an integer as it stands.
    significand: 0x7f_ffff,
    highest_place: 0x80_0000,
    integer_exponent: 127 + 23,
    low_24_bits: 0xff_ffff,
    shift_bits: 31,
    one: 1.0,
    half: 0.5,
    bytes: 255.0,
    // Together 1 / 255: an integer of 8 bits times the first is exact. The second, 2^-16 / 255, is rounded up, so that 255 becomes 1.
    byte_share: 257.0 / 65536.0,
    byte_rest: f32::from_bits(0x3380_8081),
    every_byte: 0x0101_0101,
    low_byte: 0xff,
    // Two words each: (product + 127) * 0x8081 / 2^23 is the product of two bytes as fractions of 255.
    word_rounding: 127 << 16 | 127,
    word_quotient: 0x8081_8081,
    // 2^SMALL
    large: (127 + super::bounds::SMALL as u32) << 23,
    sign: sfu::SIGN,
    infinity: sfu::INFINITY,
    minus_infinity: sfu::SIGN | sfu::INFINITY,
    // Bits of floats shifted left by one, without the sign: of the smallest that is no denormal, of 2^127, and of infinity.
    smallest_doubled: 1 << 24,
    overflowed_doubled: 254 << 24,
    infinity_doubled: 255 << 24,
    // Half floats whose bits stand where those of a float do: what their exponent lacks, the last denormal, and the last finite one.
    half_bias: (127 - 15) << 23,
    half_denormals: (1 << 23) - 1,
    half_finite: (31 << 23) - 1,
    // Half of the last place that a half float keeps of a float. Then half floats as they are: infinity, what is too much in their exponent, the last denormal.
    half_rounding: 1 << 12,
    half_infinity: 31 << 10,
    half_bias_of_half: (127 - 15) << 10,
    half_denormals_of_half: (1 << 10) - 1,
};

/// The frame of one call into translated code.
#[derive(Debug)]
#[repr(C, align(64))]
pub(in crate::qpu) struct Frame {
    pub(super) constants: Constants,
    /// Address of register [`MIDDLE`].
    pub(super) registers: *mut Lanes,
    pub(super) flags: *mut Flags,
    /// The place for the old value of r4 when the SFU supplies a new one.
    pub(super) stale_r4: *mut Lanes,
    /// Both TMUs.
    pub(super) tmu: [*mut Tmu; 2],
    /// The next uniform, and the end of those that may be read.
    pub(super) uniforms: *const AtomicU32,
    pub(super) uniforms_end: *const AtomicU32,
    /// The next uniform at the last synchronisation with the QPU, as pointer and as address; and whether the number of uniforms is limited.
    pub(super) synced: *const AtomicU32,
    pub(super) synced_address: u32,
    pub(super) limited: u32,
    /// The next varying, the next one at the last synchronisation with the QPU, and the end of those that can be taken.
    pub(super) varyings: *const Varying,
    pub(super) varyings_synced: *const Varying,
    pub(super) varyings_end: *const Varying,
    /// Not 0 if all varyings are known to be [small](super::bounds::SMALL).
    pub(super) small_varyings: u32,
    /// Samples of the tile buffer.
    pub(super) tile: TileAccess,
    /// All of memory.
    pub(super) words: *const AtomicU32,
    pub(super) words_end: *const AtomicU32,
    pub(super) budget: u64,
    /// The [context](super::entry) of call backs.
    pub(super) context: *mut c_void,
    pub(super) calls: Calls,
    /// Constants of the SFU's functions.
    pub(super) numbers: &'static Numbers,
    /// Whole vectors of all constants.
    pub(super) vectors: *const WholeVector,
    /// Accumulators and flags that a thread switch has left undefined.
    pub(super) undefined: u32,
    /// Not 0 if the program is two-threaded.
    pub(super) threaded: u32,
    /// Not 0 if the program is two-threaded and has not switched threads for the last time.
    pub(super) may_switch: u32,
    /// Whether code has switched threads since the last synchronisation with the QPU: [`SWITCHED`], with [`SWITCHED_LAST`] if for the last time.
    pub(super) switched: u32,
    /// Not 0 if the program holds the scoreboard, and may by now.
    pub(super) scoreboard: u32,
    /// Not 0 if no other program competes for the scoreboard, so that this one can take it. It may once the budget is at most `scoreboard_from`.
    pub(super) scoreboard_alone: u32,
    pub(super) scoreboard_from: u64,
    /// Not 0 once the program has ended.
    pub(super) ended: u32,
    /// Instructions executed in a row without a jump.
    pub(super) run_length: u32,
    /// Index of the last instruction executed, in the lower half, and of the one before it; [`NO_INSTRUCTION`] where there is none.
    pub(super) last: u32,
    /// The host's control register of floating point arithmetic while translated code runs, and its value outside of that.
    pub(super) rounding: u32,
    pub(super) rounding_outside: u32,
}

/// The program has switched threads.
pub(super) const SWITCHED: u32 = 1;
/// It has done so for the last time.
pub(super) const SWITCHED_LAST: u32 = 2;

/// Stands for no instruction in [`Frame::last`].
pub(super) const NO_INSTRUCTION: u16 = u16::MAX;

/// Size of a uniform.
pub(super) const UNIFORM_BYTES: i32 = size_of::<AtomicU32>() as i32;
/// A write of `s` as [`LookUp`] takes it: its TMU, and [`READS_UNIFORM`].
pub(super) const fn lookup_of(unit: u8, reads_uniform: bool) -> u32 {
    (unit & 1) as u32 | if reads_uniform { READS_UNIFORM } else { 0 }
}

/// The instruction that writes `s` reads a uniform.
pub(super) const READS_UNIFORM: u32 = 2;

/// Size of a varying.
pub(super) const VARYING_BYTES: i32 = size_of::<Varying>() as i32;
/// Offset of a varying's coefficients.
pub(super) const VARYING_COEFFICIENTS: i32 = offset_of!(Varying, coefficients) as i32;

/// Size of an entry of a TMU's receive FIFO, as a power of two.
pub(super) const RECEIVED_LOG2: u32 = size_of::<Received>().ilog2();
const _: () = assert!(size_of::<Received>().is_power_of_two());

/// Offsets in the frame, for translated code.
macro_rules! offsets {
    ($( $name:ident = $($field:tt).+; )*) => {$(
        pub(in crate::qpu::translation) const $name: i32 = offset_of!(Frame, $($field).+) as i32;
    )*};
}

/// Offsets of the members of [`Frame`]. Hosts of AArch64 take their constants from elsewhere.
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
pub(super) mod at {
    use super::{Fifos, Frame, Received, Tmu, offset_of};

    offsets! {
        MAGNITUDE = constants.magnitude;
        GREATEST = constants.greatest;
        INTEGER_LIMIT = constants.integer_limit;
        SIGNIFICAND = constants.significand;
        HIGHEST_PLACE = constants.highest_place;
        INTEGER_EXPONENT = constants.integer_exponent;
        LOW_24_BITS = constants.low_24_bits;
        SHIFT_BITS = constants.shift_bits;
        ONE = constants.one;
        HALF = constants.half;
        BYTES = constants.bytes;
        BYTE_SHARE = constants.byte_share;
        BYTE_REST = constants.byte_rest;
        EVERY_BYTE = constants.every_byte;
        LOW_BYTE = constants.low_byte;
        WORD_ROUNDING = constants.word_rounding;
        WORD_QUOTIENT = constants.word_quotient;
        LARGE = constants.large;
        SIGN = constants.sign;
        INFINITY = constants.infinity;
        MINUS_INFINITY = constants.minus_infinity;
        SMALLEST_DOUBLED = constants.smallest_doubled;
        OVERFLOWED_DOUBLED = constants.overflowed_doubled;
        INFINITY_DOUBLED = constants.infinity_doubled;
        HALF_BIAS = constants.half_bias;
        HALF_DENORMALS = constants.half_denormals;
        HALF_FINITE = constants.half_finite;
        HALF_ROUNDING = constants.half_rounding;
        HALF_INFINITY = constants.half_infinity;
        HALF_BIAS_OF_HALF = constants.half_bias_of_half;
        HALF_DENORMALS_OF_HALF = constants.half_denormals_of_half;
        REGISTERS = registers;
        FLAGS = flags;
        UNIFORMS = uniforms;
        UNIFORMS_END = uniforms_end;
        SYNCED = synced;
        SYNCED_ADDRESS = synced_address;
        LIMITED = limited;
        VARYINGS = varyings;
        VARYINGS_END = varyings_end;
        SMALL_VARYINGS = small_varyings;
        TILE_COLORS = tile.colors;
        TILE_ZS = tile.zs;
        TILE_FLAGS = tile.flags;
        TILE_SAMPLE_BYTES = tile.sample_bytes;
        TILE_SAMPLES = tile.samples;
        TILE_FIRST_SAMPLE = tile.first_sample;
        TILE_COLOR_WORDS = tile.color_words;
        TILE_COLOR_READABLE = tile.color_readable;
        TILE_COLOR_READ = tile.color_read;
        TILE_COLOR_STRIDE = tile.color_stride;
        TILE_SAMPLES_WRITABLE = tile.samples_writable;
        TILE_SAMPLES_WRITTEN = tile.samples_written;
        TILE_COLOR_WRITTEN = tile.color_written;
        TILE_TESTS_DEPTH = tile.tests_depth;
        TILE_PASSING = tile.passing;
        TILE_UPDATES = tile.updates;
        TILE_QUADS_WRITTEN = tile.quads_written;
        TILE_QUADS_PASSED = tile.quads_passed;
        TILE_QUADS_FAILED = tile.quads_failed;
        WORDS = words;
        WORDS_END = words_end;
        BUDGET = budget;
        EXECUTE_MICRO_OP = calls.execute_micro_op;
        EXECUTE_LOOKUP = calls.execute_lookup;
        LOOK_UP = calls.look_up;
        ACCESS_UNIT = calls.access_unit;
        TMU = tmu;
        BEGIN_GROUP = calls.begin_group;
        SPECIAL = calls.special;
        NUMBERS = numbers;
        VECTORS = vectors;
        STALE_R4 = stale_r4;
        UNDEFINED = undefined;
        THREADED = threaded;
        MAY_SWITCH = may_switch;
        SWITCHED = switched;
        SCOREBOARD = scoreboard;
        SCOREBOARD_ALONE = scoreboard_alone;
        SCOREBOARD_FROM = scoreboard_from;
        ENDED = ended;
        RUN_LENGTH = run_length;
        LAST = last;
        ROUNDING = rounding;
        ROUNDING_OUTSIDE = rounding_outside;
    }

    /// Offsets of the members of [`Fifos`] in a [`Tmu`].
    const FIFOS: i32 = offset_of!(Tmu, fifos) as i32;
    pub(in crate::qpu::translation) const COORDINATES: i32 = FIFOS + offset_of!(Fifos, coordinates) as i32;
    pub(in crate::qpu::translation) const RECEIVED: i32 = FIFOS + offset_of!(Fifos, received) as i32;
    pub(in crate::qpu::translation) const RECEIVED_SLOTS: i32 = RECEIVED + offset_of!(Received, request_slots) as i32;
    pub(in crate::qpu::translation) const PARAMETERS: i32 = FIFOS + offset_of!(Fifos, parameters) as i32;
    pub(in crate::qpu::translation) const WRITES: i32 = FIFOS + offset_of!(Fifos, writes) as i32;
    pub(in crate::qpu::translation) const WRITTEN: i32 = FIFOS + offset_of!(Fifos, written) as i32;
    pub(in crate::qpu::translation) const FIRST: i32 = FIFOS + offset_of!(Fifos, first) as i32;
    pub(in crate::qpu::translation) const COUNT: i32 = FIFOS + offset_of!(Fifos, count) as i32;
    pub(in crate::qpu::translation) const REQUEST_SLOTS: i32 = FIFOS + offset_of!(Fifos, request_slots) as i32;
}
