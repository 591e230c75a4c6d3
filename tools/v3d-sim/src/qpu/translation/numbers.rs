//! Constants of the SFU's functions in translated code.

use crate::qpu::isa::sfu::{self, FIRST_EXPONENT_BEYOND};

/// Constants of the instructions.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Numbers {
    pub(super) half: f64,
    pub(super) one_double: f64,
    pub(super) root: f64,
    pub(super) steps_double: f64,
    pub(super) exp_offset: f64,
    pub(super) log_offset: f64,
    /// Maximum distance of a fraction from one half at which its rounding is certain.
    pub(super) certain: f64,
    pub(super) magnitude_double: u64,
    pub(super) exp_series: [f64; sfu::EXP_SERIES.len()],
    pub(super) log_series: [f64; sfu::LOG_SERIES.len()],
    pub(super) one: f32,
    pub(super) steps: f32,
    pub(super) step_size: f32,
    pub(super) infinity: u32,
    pub(super) minus_infinity: u32,
    pub(super) smallest: u32,
    pub(super) mantissa: u32,
    pub(super) mantissa_and_odd: u32,
    pub(super) odd: u32,
    pub(super) kept: u32,
    pub(super) step: u32,
    pub(super) two_steps: u32,
    pub(super) last_places: u32,
    pub(super) low_15_bits: u32,
    pub(super) bias: u32,
    pub(super) largest_exponent: u32,
    pub(super) beyond_exp: u32,
    pub(super) most_steps: u32,
}

/// Their values.
pub(super) static NUMBERS: Numbers = Numbers {
    half: 0.5,
    one_double: 1.0,
    root: std::f64::consts::SQRT_2,
    steps_double: sfu::STEPS,
    exp_offset: sfu::EXP_OFFSET,
    log_offset: 0.5 * sfu::STEPS + sfu::LOG_OFFSET,
    certain: 0.5 - sfu::DOUBT,
    magnitude_double: u64::MAX >> 1,
    exp_series: sfu::EXP_SERIES,
    log_series: sfu::LOG_SERIES,
    one: 1.0,
    steps: sfu::STEPS as f32,
    step_size: 1.0 / sfu::STEPS as f32,
    infinity: sfu::INFINITY,
    minus_infinity: sfu::SIGN | sfu::INFINITY,
    smallest: 0x80_0000,
    mantissa: 0x7f_ffff,
    mantissa_and_odd: 0xff_ffff,
    odd: 0x80_0000,
    kept: sfu::KEPT,
    step: sfu::STEP,
    two_steps: 2 * sfu::STEP,
    last_places: 2,
    low_15_bits: 0x7fff,
    bias: 127,
    largest_exponent: 254,
    beyond_exp: FIRST_EXPONENT_BEYOND << 23,
    most_steps: 65534,
};
