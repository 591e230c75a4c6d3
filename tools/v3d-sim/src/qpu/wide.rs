//! What is compiled for the vector instructions that the host turns out to have.
//!
//! What is built for any processor of an architecture may only use the vectors that all of them have. Here the fast engine is compiled again for x86-64
//! with AVX2 and FMA, the [work](Work) of other units for those and for AVX-512, and what [translated code](super::native) calls for AVX-512, which that
//! code is made of. What the host has is what runs. On AArch64 all processors have what the engine can use.

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
use super::fast::Fast;
#[cfg(target_arch = "x86_64")]
use super::native::Calls;
use super::vectors::{Portable, Vectors};
use super::{CodeCache, Exit, Io, Qpu};
use crate::memory::Memory;

/// Runs a program with the fast engine in the best form that the host can execute.
pub(super) fn run(qpu: &mut Qpu, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
    #[cfg(target_arch = "x86_64")]
    if x86_64::has_avx2() {
        // SAFETY: the only condition of the call is that the processor has what `has_avx2` has just found.
        return unsafe { x86_64::run_avx2(qpu, io, memory, code, budget) };
    }
    #[cfg(target_arch = "aarch64")]
    return qpu.run_with::<Fast<Portable<true>>>(io, memory, code, budget);
    #[cfg(not(target_arch = "aarch64"))]
    qpu.run_portable(io, memory, code, budget)
}

/// What translated code calls, if the host can execute translated code.
#[cfg(target_arch = "x86_64")]
pub(super) fn calls() -> Option<Calls> {
    x86_64::has_avx512().then_some(x86_64::CALLS)
}

/// Whether the host can execute translated code.
pub(super) fn can_translate() -> bool {
    #[cfg(target_arch = "x86_64")]
    return calls().is_some() && super::native::is_executable();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Work of another unit that is worth compiling for the host's vectors. What `run` calls has to be inlined into it.
pub(crate) trait Work {
    /// What comes out of it.
    type Output;

    /// Does it, with the vectors that this form of it may use.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// The forms of work, from the one that any processor of the architecture can execute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// With what all processors have.
    Narrow,
    /// Without AVX-512, which is what most hosts execute.
    Medium,
    /// With everything that can be used.
    Wide,
}

/// The form of work that the host can execute. Only [`Host::limited_to`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host(Form);

impl Host {
    /// The host as it is.
    #[inline]
    pub(crate) fn new() -> Self {
        Self::limited_to(Form::Wide)
    }

    /// The host as if it had nothing better than a form.
    #[inline]
    pub(crate) fn limited_to(form: Form) -> Self {
        #[cfg(target_arch = "x86_64")]
        let found = match () {
            () if x86_64::has_avx512() => Form::Wide,
            () if x86_64::has_avx2() => Form::Medium,
            () => Form::Narrow,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = Form::Narrow;
        Self(form.min(found))
    }

    /// Does some work.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: the only condition of the calls is that the processor has what `limited_to` has found when it made `self`.
            #[cfg(target_arch = "x86_64")]
            Form::Wide => unsafe { x86_64::work_avx512(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Form::Medium => unsafe { x86_64::work_avx2(work) },
            _ => work.run::<Portable<{ cfg!(target_arch = "aarch64") }>>(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use crate::lanes::{Lanes, Mask};
    use crate::qpu::native::{self, Frame, Native};
    use crate::qpu::sfu::{self, Function};
    use crate::qpu::vectors::{
        EXPONENT, GREATEST, SIGN, Vectors, special_product as reference_product, special_sum as reference_sum,
    };
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::*;
    use std::mem::transmute;
    use std::sync::OnceLock;

    /// Whether the processor has what [`run_avx2`] and [`work_avx2`] need.
    pub(super) fn has_avx2() -> bool {
        static FOUND: OnceLock<bool> = OnceLock::new();
        *FOUND.get_or_init(|| is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
    }

    /// Whether the processor has what [`work_avx512`], [`CALLS`] and the code that calls them need.
    pub(super) fn has_avx512() -> bool {
        static FOUND: OnceLock<bool> = OnceLock::new();
        *FOUND.get_or_init(|| {
            has_avx2()
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        })
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2(
        qpu: &mut Qpu,
        io: &mut dyn Io,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        qpu.run_with::<Native>(io, memory, code, budget)
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn work_avx2<W: Work>(work: W) -> W::Output {
        work.run::<Portable<true>>()
    }

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    pub(super) fn work_avx512<W: Work>(work: W) -> W::Output {
        work.run::<Avx512>()
    }

    /// What translated code calls. Nothing else does, so that it is enough to give it to code for processors that have AVX-512.
    pub(super) const CALLS: Calls = Calls {
        act,
        begin_group,
        special: [special_sum, special_difference, special_product, special_exp, special_log],
    };

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    unsafe extern "sysv64" fn act(frame: *mut Frame, action: u32) {
        // SAFETY: translated code calls this with its own frame.
        unsafe { native::act(frame, action) }
    }

    unsafe extern "sysv64" fn begin_group(frame: *mut Frame, at: u32) -> u32 {
        // SAFETY: as above.
        unsafe { native::begin_group(frame, at) }
    }

    #[target_feature(enable = "avx512f")]
    unsafe extern "sysv64" fn special_sum(a: *const Lanes, b: *const Lanes, result: *mut Lanes) {
        // SAFETY: translated code calls this with three vectors on its stack.
        unsafe { *result = sum(&*a, &*b, 0) }
    }

    #[target_feature(enable = "avx512f")]
    unsafe extern "sysv64" fn special_difference(a: *const Lanes, b: *const Lanes, result: *mut Lanes) {
        // SAFETY: as above.
        unsafe { *result = sum(&*a, &*b, SIGN) }
    }

    #[target_feature(enable = "avx512f")]
    unsafe extern "sysv64" fn special_product(a: *const Lanes, b: *const Lanes, result: *mut Lanes) {
        // SAFETY: as above.
        unsafe { *result = product(&*a, &*b) }
    }

    unsafe extern "sysv64" fn special_exp(argument: *const Lanes, _: *const Lanes, result: *mut Lanes) {
        // SAFETY: as above.
        unsafe { *result = (*argument).map(|x| sfu::apply(Function::Exp, x)) }
    }

    unsafe extern "sysv64" fn special_log(argument: *const Lanes, _: *const Lanes, result: *mut Lanes) {
        // SAFETY: as above.
        unsafe { *result = (*argument).map(|x| sfu::apply(Function::Log, x)) }
    }

    /// Instructions of AVX-512. Nothing but [`work_avx512`] can name it.
    struct Avx512;

    const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

    #[inline(always)]
    fn vector(lanes: &Lanes) -> __m512i {
        // SAFETY: both are 64 bytes, and any bits are a value of either.
        unsafe { transmute::<Lanes, __m512i>(*lanes) }
    }

    #[inline(always)]
    fn lanes(vector: __m512i) -> Lanes {
        // SAFETY: both are 64 bytes, and any bits are a value of either.
        unsafe { transmute::<__m512i, Lanes>(vector) }
    }

    /// Denormals and -0 as +0.
    #[target_feature(enable = "avx512f")]
    fn flush(x: __m512i) -> __m512i {
        _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, splat(EXPONENT)), x)
    }

    #[inline(always)]
    fn splat(bits: u32) -> __m512i {
        vector(&Lanes::splat(bits))
    }

    /// Without the sign.
    #[target_feature(enable = "avx512f")]
    fn magnitude(x: __m512i) -> __m512i {
        _mm512_andnot_si512(splat(SIGN), x)
    }

    /// Infinities of a sign.
    #[target_feature(enable = "avx512f")]
    fn infinite(sign: __m512i) -> __m512i {
        _mm512_or_si512(_mm512_and_si512(sign, splat(SIGN)), splat(EXPONENT))
    }

    /// Elements of the highest exponent.
    #[target_feature(enable = "avx512f")]
    fn is_infinite(x: __m512i) -> Mask {
        _mm512_cmpge_epu32_mask(magnitude(x), splat(EXPONENT))
    }

    /// Results that may stand for something that is not a number below infinity.
    #[target_feature(enable = "avx512f")]
    fn special(result: __m512i) -> Mask {
        _mm512_cmpge_epu32_mask(magnitude(result), splat(GREATEST))
    }

    #[target_feature(enable = "avx512f")]
    fn sum(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
        let x = flush(vector(a));
        let y = flush(_mm512_xor_si512(vector(b), splat(flip)));
        let sum = _mm512_add_round_ps::<TOWARD_ZERO>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
        let sum = flush(_mm512_castps_si512(sum));
        let special = special(sum);
        if special == 0 {
            return lanes(sum);
        }
        let (infinite_x, infinite_y) = (is_infinite(x), is_infinite(y));
        // What has overflowed, or nearly has.
        let large = special & !infinite_x & !infinite_y != 0;
        let with_x = _mm512_mask_mov_epi32(sum, infinite_x, infinite(x));
        let with_both = _mm512_mask_mov_epi32(with_x, infinite_y, infinite(y));
        lanes(if large { vector(&reference_sum(a, b, flip)) } else { with_both })
    }

    #[target_feature(enable = "avx512f")]
    fn product(a: &Lanes, b: &Lanes) -> Lanes {
        let (x, y) = (flush(vector(a)), flush(vector(b)));
        let product = _mm512_mul_round_ps::<TOWARD_ZERO>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
        let product = flush(_mm512_castps_si512(product));
        let special = special(product);
        if special == 0 {
            return lanes(product);
        }
        let is_infinite = is_infinite(x) | is_infinite(y);
        let large = special & !is_infinite != 0;
        // Nothing times infinity is nothing.
        let numbers = _mm512_test_epi32_mask(x, x) & _mm512_test_epi32_mask(y, y);
        let infinite = _mm512_maskz_mov_epi32(numbers, infinite(_mm512_xor_si512(x, y)));
        let with_infinite = _mm512_mask_mov_epi32(product, is_infinite, infinite);
        lanes(if large { vector(&reference_product(a, b)) } else { with_infinite })
    }

    #[target_feature(enable = "avx512f")]
    fn ftoi(a: &Lanes) -> Lanes {
        let x = vector(a);
        let integer = _mm512_cvttps_epi32(_mm512_castsi512_ps(x));
        let exponent = _mm512_and_si512(x, splat(EXPONENT));
        let large = _mm512_cmpge_epu32_mask(exponent, splat((127 + 31) << 23));
        if large == 0 {
            return lanes(integer);
        }
        // The significand goes to its place, or out of it: by 105 if infinite.
        let by = _mm512_sub_epi32(_mm512_srli_epi32::<23>(exponent), splat(127 + 23));
        let significand = _mm512_or_si512(_mm512_and_si512(x, splat(0x7f_ffff)), splat(0x80_0000));
        let low = _mm512_sllv_epi32(significand, by);
        let low = _mm512_mask_sub_epi32(low, _mm512_cmplt_epi32_mask(x, splat(0)), splat(0), low);
        lanes(_mm512_mask_mov_epi32(integer, large, low))
    }

    #[target_feature(enable = "avx512f")]
    fn itof(a: &Lanes) -> Lanes {
        lanes(_mm512_castps_si512(_mm512_cvt_roundepi32_ps::<TOWARD_ZERO>(vector(a))))
    }

    #[target_feature(enable = "avx512f")]
    fn zero(a: &Lanes) -> Mask {
        _mm512_testn_epi32_mask(vector(a), vector(a))
    }

    #[target_feature(enable = "avx512dq")]
    fn negative(a: &Lanes) -> Mask {
        _mm512_movepi32_mask(vector(a))
    }

    #[target_feature(enable = "avx512f")]
    fn greater(a: &Lanes, b: &Lanes) -> Mask {
        _mm512_cmpgt_epi32_mask(vector(a), vector(b))
    }

    #[target_feature(enable = "avx512f")]
    fn above(a: &Lanes, b: &Lanes) -> Mask {
        _mm512_cmpgt_epu32_mask(vector(a), vector(b))
    }

    #[target_feature(enable = "avx512f")]
    fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) {
        *old = lanes(_mm512_mask_mov_epi32(vector(old), mask, vector(new)));
    }

    /// Functions of [`Vectors`] that are those of the same name here.
    macro_rules! instructions {
        ($( fn $name:ident($( $argument:ident: $kind:ty ),*) $(-> $result:ty)? = $call:expr; )*) => {$(
            #[inline(always)]
            fn $name($( $argument: $kind ),*) $(-> $result)? {
                // SAFETY: the function needs no more than AVX-512, and this type is out of reach of all but `work_avx512`, which only runs where
                // `has_avx512` has found it.
                unsafe { $call }
            }
        )*};
    }

    impl Vectors for Avx512 {
        instructions! {
            fn fadd(a: &Lanes, b: &Lanes) -> Lanes = sum(a, b, 0);
            fn fsub(a: &Lanes, b: &Lanes) -> Lanes = sum(a, b, SIGN);
            fn fmul(a: &Lanes, b: &Lanes) -> Lanes = product(a, b);
            fn ftoi(a: &Lanes) -> Lanes = ftoi(a);
            fn itof(a: &Lanes) -> Lanes = itof(a);
            fn zero(a: &Lanes) -> Mask = zero(a);
            fn negative(a: &Lanes) -> Mask = negative(a);
            fn greater(a: &Lanes, b: &Lanes) -> Mask = greater(a, b);
            fn above(a: &Lanes, b: &Lanes) -> Mask = above(a, b);
            fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) = blend(old, new, mask);
        }
    }
}
