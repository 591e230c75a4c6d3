//! Lowering: what each micro-op means, in the operations of a [host](super::host).
//!
//! Translated code sets the host's floating-point mode to the QPU's: rounding toward zero, denormals read and written as zeros. Two differences remain.
//!
//! - A negative zero becomes positive when zero is added. Sums and products do not care, so this is left until something else takes the result.
//! - Infinities and the greatest floats go to [a call](super::frame::Calls), since the QPU overflows differently and has no NaN. A segment is made twice: its
//!   *trusting* code leaves the check out where [bounds](super::bounds) say that nothing overflows. Where it finds an operand that is too large for them, it
//!   jumps to the same place of the *checking* code, which checks every result. Up to there both are the same, register by register.

mod sfu;

use super::accesses::Accesses;
use super::bounds::{Bounds, Exponent, FloatUniforms, SMALL, is_normal, of_word};
use super::constants::Constant;
use super::frame::VARYING_COEFFICIENTS;
use super::host::{BranchTest, Control, Flag, Half, Held, Host, Label, Mask, Special, Vector};
use super::register_cache::RegisterCache;
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::registers::{self, RegisterIndex};
use std::collections::{BTreeMap, BTreeSet};
use v3d_hw::qpu::{Condition, PackA, Unpack};

/// Out-of-line code that calls for special results and jumps back.
struct Detour {
    from: Label,
    back: Label,
    a: Vector,
    b: Vector,
    result: Vector,
    special: Special,
}

/// What trusting code tests at a place.
#[derive(Clone, Copy, Debug)]
enum Test {
    /// Two registers of the host.
    Vectors(Vector, Vector),
    /// A uniform, by its distance from the next one.
    Uniform(i32),
    /// All varyings.
    Varyings,
}

/// Whether the results of a micro-op are overwritten before anything reads them, unless they are saved before a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeadStores {
    pub(super) result: bool,
    pub(super) flags: bool,
    /// The same for each flag alone, in the order of [`Flag::ALL`]: nothing reads it, not even a call.
    pub(super) each_flag: [bool; 3],
}

/// Lowers micro-ops for one part of a vector after the other.
pub(super) struct Lowering<H> {
    pub(super) host: H,
    cache: RegisterCache,
    /// The part that code is made for.
    part: usize,
    /// For the micro-op that is being translated.
    pub(super) dead_stores: DeadStores,
    has_constants: bool,
    /// [`Host::FLAGS`] hold the flags.
    has_flags: bool,
    /// Memory has older flags.
    flags_dirty: bool,
    detours: Vec<Detour>,
    /// The accesses of micro-ops to registers.
    pub(super) accesses: Accesses,
    /// Index of the micro-op that is being translated, and of the next one that may still read registers.
    micro_op: usize,
    now: usize,
    /// Registers of the host in which a zero may be negative that is positive in the QPU.
    signed_zeros: [bool; 32],
    /// What is known of floats, in trusting code.
    bounds: Bounds,
    /// The bound of the value that is stored next.
    stored_bound: Option<Exponent>,
    /// Whether it is [normal](Bounds::is_normal).
    stored_normal: bool,
    /// Registers that hold a uniform, by its distance from the next one.
    uniforms: BTreeMap<RegisterIndex, i32>,
    /// The uniforms that have been tested for being small.
    small_uniforms: BTreeSet<i32>,
    /// Varyings have been tested for that.
    small_varyings: bool,
    /// Trusting code is made.
    trusting: bool,
    /// Where trusting code jumps to checking code: numbers of places.
    distrusted: BTreeMap<usize, Label>,
    /// Number of the next place.
    place: usize,
}

/// Whether a micro-op for packing is lowered.
pub(super) fn packs_for_a(mode: PackA, float: bool) -> bool {
    match mode {
        PackA::Half0 | PackA::Half1 => true,
        // Half floats have no saturation.
        PackA::Half0Saturated | PackA::Half1Saturated => float,
        PackA::Replicated | PackA::Byte0 | PackA::Byte1 | PackA::Byte2 | PackA::Byte3 => true,
        _ => false,
    }
}

impl<H: Host> Lowering<H> {
    pub(super) fn new(host: H) -> Self {
        Self {
            host,
            cache: RegisterCache::new(H::POOL),
            part: 0,
            dead_stores: DeadStores::default(),
            has_constants: false,
            has_flags: false,
            flags_dirty: false,
            detours: Vec::new(),
            accesses: Accesses::default(),
            micro_op: 0,
            now: 0,
            signed_zeros: [false; 32],
            bounds: Bounds::new(),
            stored_bound: None,
            stored_normal: false,
            uniforms: BTreeMap::new(),
            small_uniforms: BTreeSet::new(),
            small_varyings: false,
            trusting: false,
            distrusted: BTreeMap::new(),
            place: 0,
        }
    }

    /// The part that code is made for from now on, and whether that uses the flags. The cache is empty, and memory has everything.
    pub(super) fn set_part(&mut self, part: usize, uses_flags: bool) {
        self.part = part;
        self.uniforms.clear();
        self.cache.set_pool(if uses_flags { H::POOL } else { H::POOL_WITHOUT_FLAGS });
    }

    /// The micro-op that code is made for from now on.
    pub(super) fn set_micro_op(&mut self, index: usize) {
        (self.micro_op, self.now) = (index, index);
        self.cache.begin_micro_op();
    }

    /// The next uniform is another one now.
    pub(super) fn move_uniforms(&mut self) {
        self.uniforms.clear();
        self.small_uniforms.clear();
    }

    /// Tests all varyings that the segment reads, or those of a group, which may be any.
    pub(super) fn test_varyings(&mut self, are_tested: bool) {
        self.small_varyings = are_tested;
        if are_tested {
            self.place(Some(Test::Varyings));
        }
    }

    /// Tests uniforms at the start of a segment, by their distances from the next one, if there are any.
    pub(super) fn test_uniforms(&mut self, uniforms: &FloatUniforms) {
        let Some(&last) = uniforms.distances.last() else { return };
        self.load_constants();
        let [zero, flushed, greatest, some] = H::TEMPORARY;
        if self.trusting {
            let host = &mut self.host;
            host.splat(greatest, 0);
            for first in (0..=last).step_by(H::ELEMENTS) {
                let mask = |distances: &BTreeSet<i32>| {
                    let elements = distances.range(first..first + H::ELEMENTS as i32);
                    elements.fold(0, |mask, distance| mask | 1u16 << (distance - first))
                };
                let (all, compared) = (mask(&uniforms.distances), mask(&uniforms.compared));
                if all != 0 {
                    host.load_uniforms(some, first, all);
                    host.and(some, some, Constant::Magnitude.into());
                    host.max_signed(greatest, greatest, some.into());
                }
                if compared != 0 {
                    // What differs from its sum with 0 is denormal, and counts as large: the negative difference without its sign is.
                    host.load_uniforms(some, first, compared);
                    host.and(some, some, Constant::Magnitude.into());
                    host.splat(zero, 0);
                    host.float_add(flushed, some, zero.into());
                    host.xor(some, some, flushed.into());
                    host.subtract(some, zero, some.into());
                    host.and(some, some, Constant::Magnitude.into());
                    host.max_signed(greatest, greatest, some.into());
                }
            }
        }
        self.place(Some(Test::Vectors(greatest, greatest)));
    }

    /// Trusting code of a segment follows. Nothing is known of its registers.
    pub(super) fn begin_trusting(&mut self) {
        (self.trusting, self.place) = (true, 0);
        self.distrusted.clear();
        self.bounds = Bounds::new();
    }

    /// The segment's checking code follows; false if there is no need for it.
    pub(super) fn begin_checking(&mut self) -> bool {
        (self.trusting, self.place) = (false, 0);
        !self.distrusted.is_empty()
    }

    /// What is known of registers.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds.clone()
    }

    /// Sets what is known.
    pub(super) fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// Nothing is known of a register any longer.
    pub(super) fn forget_bound(&mut self, register: RegisterIndex) {
        self.bounds.set(register, None);
        self.bounds.set_normal(register, false);
    }

    /// A place of the segment, the same in both codes. `test`: made in trusting code, which jumps to this place of checking code if something is too large.
    fn place(&mut self, test: Option<Test>) {
        let place = self.place;
        self.place += 1;
        if !self.trusting {
            if let Some(&label) = self.distrusted.get(&place) {
                self.host.control().place(label);
            }
            return;
        }
        let Some(test) = test else { return };
        if let Test::Vectors(x, y) = test {
            self.host.find_large(x, y);
        }
        let control = self.host.control();
        let label = control.label();
        match test {
            Test::Vectors(..) => control.jump_if_found(label),
            Test::Uniform(index) => control.jump_if_large_uniform(index, label),
            Test::Varyings => control.jump_unless_small_varyings(label),
        }
        self.distrusted.insert(place, label);
    }

    /// Empties the cache: code is joined here from elsewhere, or has called. Memory has everything by now.
    pub(super) fn clear_cache(&mut self) {
        debug_assert!(!self.flags_dirty, "flags would be lost");
        self.cache.clear();
        self.signed_zeros = [false; 32];
        self.has_constants = false;
        self.has_flags = false;
    }

    /// A register of the host for a new value.
    fn new_value(&mut self) -> Vector {
        let (number, displaced) = self.cache.take(|register| self.accesses.next_read(register, self.now));
        let value = Vector(number);
        for register in displaced {
            if self.accesses.is_needed(register, self.now) {
                self.finish_zeros(value);
                self.host.store_register(register, self.part, value);
            }
        }
        self.signed_zeros[usize::from(number)] = false;
        value
    }

    /// Makes zeros positive that are still to become so.
    fn finish_zeros(&mut self, value: Vector) {
        if std::mem::take(&mut self.signed_zeros[usize::from(value.0)]) {
            self.host.float_add(value, value, Constant::Zero.into());
        }
    }

    /// A mask for intermediate values, of three.
    fn new_mask(&mut self, number: usize) -> Mask {
        match H::MASKS.and_then(|masks| masks.get(number).copied()) {
            Some(mask) => mask,
            None => Mask(self.new_value().0),
        }
    }

    /// Marks values as dead: their registers are taken first.
    fn release_values<const N: usize>(&mut self, values: [Vector; N]) {
        for value in values {
            self.cache.release(value.0);
        }
    }

    /// The same for masks.
    fn release_masks<const N: usize>(&mut self, masks: [Mask; N]) {
        if H::MASKS.is_none() {
            self.release_values(masks.map(|mask| Vector(mask.0)));
        }
    }

    /// Empties the cache of what lives for one instruction only.
    pub(super) fn end_instruction(&mut self) {
        self.cache.end_instruction();
    }

    /// Saves what memory does not have yet.
    pub(super) fn write_back(&mut self) {
        for (register, number) in self.cache.take_dirty() {
            if self.accesses.is_needed(register, self.now) {
                self.finish_zeros(Vector(number));
                self.host.store_register(register, self.part, Vector(number));
            }
        }
        if std::mem::take(&mut self.flags_dirty) {
            self.host.save_flags(self.part);
        }
    }

    /// The value of a register.
    fn load(&mut self, register: RegisterIndex) -> Vector {
        let value = self.load_float(register);
        self.finish_zeros(value);
        value
    }

    /// The value of a register, for an operation that treats all zeros alike.
    fn load_float(&mut self, register: RegisterIndex) -> Vector {
        if let Some(number) = self.cache.get(register) {
            return Vector(number);
        }
        let value = self.new_value();
        self.host.load_register(value, register, self.part);
        self.cache.insert_clean(register, value.0);
        value
    }

    /// Writes a value to a register.
    fn store(&mut self, register: RegisterIndex, value: Vector) {
        let (bound, is_normal) = (self.stored_bound.take(), std::mem::take(&mut self.stored_normal));
        if register == registers::NOWHERE {
            return;
        }
        self.bounds.set(register, bound);
        self.bounds.set_normal(register, is_normal);
        self.uniforms.remove(&register);
        // All operands have been loaded.
        self.now = self.micro_op + 1;
        if self.dead_stores.result || RegisterCache::is_instruction_local(register) {
            self.cache.insert_dirty(register, value.0);
            return;
        }
        self.finish_zeros(value);
        self.host.store_register(register, self.part, value);
        self.cache.insert_clean(register, value.0);
    }

    /// Writes a value to the elements of a register in which a condition holds.
    fn store_held(&mut self, register: RegisterIndex, value: Vector, held: Held) {
        if register == registers::NOWHERE {
            (self.stored_bound, self.stored_normal) = (None, false);
            return;
        }
        self.finish_zeros(value);
        let old = self.load(register);
        let joined = self.new_value();
        self.host.blend(joined, held, old, value);
        let bounds = self.bounds.of(register).zip(self.stored_bound);
        self.stored_bound = bounds.map(|(old, new)| old.max(new));
        self.stored_normal &= self.bounds.is_normal(register);
        self.store(register, joined);
    }

    /// The same word in all elements of a register.
    pub(super) fn constant(&mut self, to: RegisterIndex, word: u32) {
        let value = self.new_value();
        self.host.splat(value, word);
        self.stored_bound = of_word(word);
        self.stored_normal = is_normal(word);
        self.store(to, value);
    }

    /// A uniform, by its distance from the next one. `tested`: it has been tested at the start of the segment; `normal`: so that it is normal, too.
    pub(super) fn uniform(&mut self, to: RegisterIndex, index: i32, tested: bool, normal: bool) {
        let value = self.new_value();
        self.host.load_uniform(value, index);
        self.stored_bound = (tested || self.small_uniforms.contains(&index)).then_some(SMALL);
        self.stored_normal = normal;
        self.store(to, value);
        self.uniforms.insert(to, index);
    }

    /// A varying and its coefficients, at an offset behind the next one.
    pub(super) fn varying(&mut self, to: RegisterIndex, offset: i32) {
        self.host.point_at_varyings();
        let offset = offset + (size_of::<u32>() * H::ELEMENTS * self.part) as i32;
        let value = self.new_value();
        self.host.load_varying(value, offset);
        let bound = self.small_varyings.then_some(SMALL);
        self.stored_bound = bound;
        self.store(to, value);
        let coefficients = self.new_value();
        self.host.load_varying(coefficients, offset + VARYING_COEFFICIENTS);
        self.stored_bound = bound;
        self.store(registers::COEFFICIENTS, coefficients);
    }

    /// Moves the first element of a register to where [`Control::set_uniforms`] takes it.
    pub(super) fn first_element(&mut self, from: RegisterIndex) {
        let value = self.load(from);
        self.host.first_element(value);
    }

    /// The register that holds a flag.
    fn flag(&mut self, flag: Flag) -> Mask {
        if !self.has_flags {
            self.host.load_flags(self.part);
            self.has_flags = true;
        }
        H::FLAGS[flag as usize]
    }

    /// Tests a flag for a branch.
    pub(super) fn test_flag(&mut self, test: BranchTest) {
        let held = self.flag(test.flag);
        self.host.test_flag(test, held, self.part);
    }

    /// Where a condition holds. `lasting`: the result is used after the flags have changed.
    fn hold(&mut self, condition: Condition, lasting: bool) -> Held {
        let (flag, complement) = match condition {
            Condition::Never | Condition::Always => {
                self.host.hold_all(H::HOLD, condition == Condition::Always);
                return H::HOLD.into();
            }
            Condition::ZSet => (Flag::Zero, false),
            Condition::ZClear => (Flag::Zero, true),
            Condition::NSet => (Flag::Negative, false),
            Condition::NClear => (Flag::Negative, true),
            Condition::CSet => (Flag::Carry, false),
            Condition::CClear => (Flag::Carry, true),
        };
        let flag = self.flag(flag);
        self.host.hold(flag, complement, lasting)
    }

    /// An operation whose result goes to all elements of a register.
    pub(super) fn operate(&mut self, operation: Operation, a: RegisterIndex, b: RegisterIndex, to: RegisterIndex) {
        let (x, y) = self.operands(operation, a, b);
        let result = self.compute(operation, (a, b), x, y);
        let uniform = self.uniforms.get(&a).copied().filter(|_| operation == Operation::Move);
        self.store(to, result);
        if let Some(index) = uniform {
            self.uniforms.insert(to, index);
        }
    }

    /// The operands of an operation.
    fn operands(&mut self, operation: Operation, a: RegisterIndex, b: RegisterIndex) -> (Vector, Vector) {
        match operation {
            Operation::Move
            | Operation::Fadd
            | Operation::Fsub
            | Operation::Fmul
            | Operation::Fminabs
            | Operation::Fmaxabs
            | Operation::Ftoi => (self.load_float(a), self.load_float(b)),
            _ => (self.load(a), self.load(b)),
        }
    }

    /// An operation whose result goes to the elements of a register in which a condition holds.
    pub(super) fn operate_where(
        &mut self,
        operation: Operation,
        (a, b): (RegisterIndex, RegisterIndex),
        to: RegisterIndex,
        condition: Condition,
    ) {
        let (x, y) = self.operands(operation, a, b);
        let result = self.compute(operation, (a, b), x, y);
        let held = self.hold(condition, false);
        self.store_held(to, result, held);
    }

    /// An operation that sets the flags where a condition on the old flags holds.
    pub(super) fn operate_with_flags(
        &mut self,
        operation: Operation,
        (a, b): (RegisterIndex, RegisterIndex),
        to: RegisterIndex,
        condition: Condition,
    ) {
        let (x, y) = self.operands(operation, a, b);
        let result = self.compute(operation, (a, b), x, y);
        self.load_constants();
        self.finish_zeros(result);
        if condition == Condition::Always {
            self.set_flags(operation, (x, y), result, H::FLAGS, self.dead_stores.each_flag);
            self.store(to, result);
        } else {
            let held = self.hold(condition, true);
            self.store_held(to, result, held);
            let new = [0, 1, 2].map(|number| self.new_mask(number));
            self.set_flags(operation, (x, y), result, new, [false; 3]);
            for (flag, new) in Flag::ALL.into_iter().zip(new) {
                let flag = self.flag(flag);
                self.host.merge_flag(flag, held, new);
            }
            self.release_masks(new);
        }
        (self.has_flags, self.flags_dirty) = (true, self.dead_stores.flags);
        if !self.flags_dirty {
            self.host.save_flags(self.part);
        }
    }

    /// Sets masks to the flags of an operation's results, except for those that nothing reads.
    fn set_flags(
        &mut self,
        operation: Operation,
        operands: (Vector, Vector),
        result: Vector,
        [zero, negative, carry]: [Mask; 3],
        [zero_is_dead, negative_is_dead, carry_is_dead]: [bool; 3],
    ) {
        if !carry_is_dead {
            self.carry(operation, operands, result, carry);
        }
        if !zero_is_dead {
            self.host.zero_flag(zero, result);
        }
        if !negative_is_dead {
            self.host.sign_flag(negative, result);
        }
    }

    /// Loads the registers that hold constants.
    fn load_constants(&mut self) {
        if !self.has_constants {
            self.host.load_constants();
            self.has_constants = true;
        }
    }

    /// The results of an operation.
    fn compute(
        &mut self,
        operation: Operation,
        registers: (RegisterIndex, RegisterIndex),
        x: Vector,
        y: Vector,
    ) -> Vector {
        self.stored_bound = self.bounds.of_result(operation, registers.0, registers.1);
        self.stored_normal = self.bounds.has_normal_results(operation, registers.0, registers.1);
        if operation == Operation::Move {
            return x;
        }
        self.load_constants();
        let z = self.new_value();
        let [t0, t1, t2, t3] = H::TEMPORARY;
        let host = &mut self.host;
        match operation {
            Operation::Move => {}
            Operation::Fadd | Operation::Fsub | Operation::Fmul => self.float(operation, registers, (x, y), z),
            // Without NaN and denormals the host orders floats as the QPU does. In checking code bounds may not hold.
            Operation::Fmin | Operation::Fmax if self.trusting && self.stored_normal && self.stored_bound.is_some() => {
                match operation {
                    Operation::Fmin => host.float_min(z, x, y.into()),
                    _ => host.float_max(z, x, y.into()),
                }
            }
            Operation::Fmin | Operation::Fmax => {
                self.order(x, t0, t1);
                self.order(y, t2, t3);
                self.host.greater(H::HOLD, t0, t2.into());
                let (first, second) = if operation == Operation::Fmin { (x, y) } else { (y, x) };
                self.host.blend(z, H::HOLD.into(), first, second);
            }
            Operation::Fminabs | Operation::Fmaxabs => {
                host.and(t0, x, Constant::Magnitude.into());
                host.and(t1, y, Constant::Magnitude.into());
                match operation {
                    Operation::Fminabs => host.min_unsigned(z, t0, t1.into()),
                    _ => host.max_unsigned(z, t0, t1.into()),
                }
            }
            Operation::Ftoi => {
                host.and(t0, x, Constant::Magnitude.into());
                host.below(H::HOLD, t0, Constant::IntegerLimit);
                // The significand is shifted to its place, or out of it: by 105 if infinite.
                host.shift_right(t0, t0, 23);
                host.subtract(t0, t0, Constant::IntegerExponent.into());
                host.and(t1, x, Constant::Significand.into());
                host.or(t1, t1, Constant::HighestPlace.into());
                host.shift_left_each(t1, t1, t0);
                host.shift_right_signed(t2, x, 31);
                host.xor(t1, t1, t2.into());
                host.subtract(t1, t1, t2.into());
                // For magnitudes that the host can convert.
                host.float_to_integer(t0, x);
                host.blend(z, H::HOLD.into(), t1, t0);
            }
            Operation::Itof => host.integer_to_float(z, x),
            Operation::Add => host.add(z, x, y.into()),
            Operation::Sub => host.subtract(z, x, y.into()),
            Operation::Shr | Operation::Asr | Operation::Shl => {
                host.and(t0, y, Constant::ShiftBits.into());
                match operation {
                    Operation::Shr => host.shift_right_each(z, x, t0),
                    Operation::Asr => host.shift_right_signed_each(z, x, t0),
                    _ => host.shift_left_each(z, x, t0),
                }
            }
            Operation::Ror => host.rotate_right_each(z, x, y),
            Operation::Min => host.min_signed(z, x, y.into()),
            Operation::Max => host.max_signed(z, x, y.into()),
            Operation::And => host.and(z, x, y.into()),
            Operation::Or => host.or(z, x, y.into()),
            Operation::Xor => host.xor(z, x, y.into()),
            Operation::Not => host.not(z, x),
            Operation::Clz => host.leading_zeros(z, x),
            Operation::Mul24 => {
                host.and(t0, x, Constant::Low24Bits.into());
                host.and(t1, y, Constant::Low24Bits.into());
                host.multiply(z, t0, t1.into());
            }
            Operation::V8muld => {
                host.widen_bytes(t0, x, Half::Low);
                host.widen_bytes(t1, y, Half::Low);
                host.multiply_words(t0, t0, t1);
                host.widen_bytes(t1, x, Half::High);
                host.widen_bytes(t2, y, Half::High);
                host.multiply_words(t1, t1, t2);
                host.load_constant(t2, Constant::WordRounding);
                host.load_constant(t3, Constant::WordQuotient);
                for t in [t0, t1] {
                    host.add_words(t, t, t2);
                    host.multiply_words_high(t, t, t3);
                    host.shift_words_right(t, t, 7);
                }
                host.join_bytes(z, t0, t1);
            }
            Operation::V8min => host.min_bytes(z, x, y),
            Operation::V8max => host.max_bytes(z, x, y),
            Operation::V8adds => host.add_bytes(z, x, y),
            Operation::V8subs => host.subtract_bytes(z, x, y),
        }
        z
    }

    fn float(
        &mut self,
        operation: Operation,
        (a, b): (RegisterIndex, RegisterIndex),
        (x, y): (Vector, Vector),
        z: Vector,
    ) {
        for register in [a, b] {
            if self.bounds.of(register).is_none()
                && let Some(&index) = self.uniforms.get(&register)
            {
                if self.small_uniforms.insert(index) {
                    self.place(Some(Test::Uniform(index)));
                }
                self.bounds.set(register, Some(SMALL));
            }
        }
        self.place(match (self.bounds.of(a), self.bounds.of(b)) {
            (None, None) => Some(Test::Vectors(x, y)),
            (None, Some(_)) => Some(Test::Vectors(x, x)),
            (Some(_), None) => Some(Test::Vectors(y, y)),
            (Some(_), Some(_)) => None,
        });
        for register in [a, b] {
            self.bounds.set(register, self.bounds.of(register).or(Some(SMALL)));
        }
        self.stored_bound = self.bounds.of_result(operation, a, b);
        let host = &mut self.host;
        let special = match operation {
            Operation::Fadd => {
                host.float_add(z, x, y.into());
                Special::Sum
            }
            Operation::Fsub => {
                host.float_subtract(z, x, y.into());
                Special::Difference
            }
            _ => {
                host.float_multiply(z, x, y.into());
                Special::Product
            }
        };
        self.signed_zeros[usize::from(z.0)] = true;
        self.place(self.stored_bound.is_none().then_some(Test::Vectors(z, z)));
        self.stored_bound = self.stored_bound.or(Some(SMALL));
        if !self.trusting {
            self.host.find_special(z);
            self.detour(x, y, z, special);
        }
    }

    /// Calls for results if the host's test has found an element.
    fn detour(&mut self, a: Vector, b: Vector, result: Vector, special: Special) {
        let control = self.host.control();
        let (from, back) = (control.label(), control.label());
        control.jump_if_found(from);
        control.place(back);
        self.detours.push(Detour { from, back, a, b, result, special });
    }

    /// Integers in `to` that compare as the floats do.
    fn order(&mut self, x: Vector, to: Vector, sign: Vector) {
        self.host.shift_right_signed(sign, x, 31);
        self.host.and(to, x, Constant::Magnitude.into());
        self.host.xor(to, to, sign.into());
        self.host.subtract(to, to, sign.into());
    }

    /// Sets a mask to C of an operation's results.
    fn carry(&mut self, operation: Operation, (x, y): (Vector, Vector), z: Vector, carry: Mask) {
        let [t0, t1, t2, t3] = H::TEMPORARY;
        match operation {
            Operation::Fadd | Operation::Fsub | Operation::Itof => {
                self.host.greater_flag(carry, z, Constant::Zero.into());
            }
            Operation::Fmin | Operation::Fmax => {
                self.order(x, t0, t1);
                self.order(y, t2, t3);
                self.host.greater_flag(carry, t0, t2.into());
            }
            Operation::Fminabs | Operation::Fmaxabs => {
                self.host.and(t0, x, Constant::Magnitude.into());
                self.host.and(t1, y, Constant::Magnitude.into());
                self.host.above_flag(carry, t0, t1);
            }
            Operation::Add => self.host.above_flag(carry, x, z),
            Operation::Sub => self.host.above_flag(carry, y, x),
            Operation::Min | Operation::Max => self.host.greater_flag(carry, x, y.into()),
            Operation::Shr | Operation::Asr | Operation::Shl => {
                // The last bit shifted out, moved to the sign. Shifts by 0 lose nothing: the host shifts everything out then.
                self.host.and(t0, y, Constant::ShiftBits.into());
                if operation == Operation::Shl {
                    self.host.ones(t1);
                    self.host.add(t0, t0, t1.into());
                } else {
                    self.host.splat(t1, u32::BITS);
                    self.host.subtract(t0, t1, t0.into());
                }
                self.host.shift_left_each(t1, x, t0);
                self.host.sign_flag(carry, t1);
            }
            _ => self.host.clear_flag(carry),
        }
    }

    /// Unpacks an operand.
    pub(super) fn unpack(&mut self, from: RegisterIndex, mode: Unpack, float: bool) {
        let x = self.load(from);
        if float && matches!(mode, Unpack::Half0 | Unpack::Half1) {
            return self.unpack_half_float(x, mode);
        }
        let z = self.new_value();
        let [_, t1, ..] = H::TEMPORARY;
        let host = &mut self.host;
        let byte = match mode {
            Unpack::Byte0 => Some(0),
            Unpack::Byte1 => Some(8),
            Unpack::Byte2 => Some(16),
            Unpack::Byte3 => Some(24),
            _ => None,
        };
        match (mode, byte) {
            (_, Some(shift)) => {
                if shift != 0 {
                    host.shift_right(z, x, shift);
                }
                if shift != 24 {
                    host.and(z, if shift == 0 { x } else { z }, Constant::LowByte.into());
                }
                if float {
                    host.integer_to_float(z, z);
                    // As the quotient by 255, which takes longer.
                    host.float_multiply(t1, z, Constant::ByteShare.into());
                    host.float_multiply_add(z, Constant::ByteRest, t1);
                }
            }
            (Unpack::Byte3Replicated, _) => {
                host.shift_right(z, x, 24);
                host.multiply(z, z, Constant::EveryByte.into());
            }
            (Unpack::Half0, _) => {
                host.shift_left(z, x, 16);
                host.shift_right_signed(z, z, 16);
            }
            _ => host.shift_right_signed(z, x, 16),
        }
        self.stored_bound = (float && byte.is_some()).then_some(1);
        self.stored_normal = float && byte.is_some();
        self.store(registers::UNPACKED, z);
    }

    /// Unpacks a half float. Its bits are moved to where a float has them; then the exponent is corrected, twice if all of its bits are set.
    fn unpack_half_float(&mut self, x: Vector, mode: Unpack) {
        self.load_constants();
        let z = self.new_value();
        let [t0, t1, t2, _] = H::TEMPORARY;
        let host = &mut self.host;
        if mode == Unpack::Half0 {
            host.shift_left(t0, x, 16);
        } else {
            host.shift_right(t0, x, 16);
            host.shift_left(t0, t0, 16);
        }
        host.and(t1, t0, Constant::Magnitude.into());
        host.shift_right(t1, t1, 3);
        host.add(t2, t1, Constant::HalfBias.into());
        host.greater(H::HOLD, t1, Constant::HalfDenormals.into());
        host.blend(z, H::HOLD.into(), t1, t2);
        host.add(t2, t2, Constant::HalfBias.into());
        host.greater(H::HOLD, t1, Constant::HalfFinite.into());
        host.blend(z, H::HOLD.into(), z, t2);
        host.or_sign(z, t0);
        self.store(registers::UNPACKED, z);
    }

    /// Packs a value as colours into the bytes of a register that a mask has.
    pub(super) fn pack_colour(&mut self, from: RegisterIndex, to: RegisterIndex, part: u32) {
        let value = self.load_float(from);
        self.load_constants();
        let z = self.new_value();
        let [_, t1, ..] = H::TEMPORARY;
        let host = &mut self.host;
        host.float_clamp(z, value);
        host.load_constant(t1, Constant::HalfOfFrame);
        // Rounding toward zero twice is the same as once.
        host.float_multiply_add(z, Constant::Bytes, t1);
        host.float_to_integer(z, z);
        self.insert(z, to, part);
    }

    /// Writes the lowest byte of each element to the bytes of a register that a mask has.
    fn insert(&mut self, bytes: Vector, to: RegisterIndex, part: u32) {
        if part == !0 {
            self.host.multiply(bytes, bytes, Constant::EveryByte.into());
            return self.store(to, bytes);
        }
        let shift = part.trailing_zeros();
        if shift != 0 {
            self.host.shift_left(bytes, bytes, shift);
        }
        self.merge(bytes, to, part);
    }

    /// Replaces the bits of a register that a mask has.
    fn merge(&mut self, bits: Vector, to: RegisterIndex, part: u32) {
        let old = self.load(to);
        self.host.insert_bits(bits, old, part);
        self.store(to, bits);
    }

    /// Packs a value for file A, in one of the modes that [`packs_for_a`] names.
    pub(super) fn pack_a(&mut self, from: RegisterIndex, to: RegisterIndex, mode: PackA, float: bool) {
        let part = crate::qpu::isa::pack::pack_a_mask(mode);
        let value = self.load(from);
        let result = self.new_value();
        if part == 0xffff || part == 0xffff_0000 {
            let half = if float { self.half_float(result, value) } else { value };
            self.host.shift_left(result, half, part.trailing_zeros());
            self.merge(result, to, part);
        } else {
            self.host.and(result, value, Constant::LowByte.into());
            self.insert(result, to, part);
        }
    }

    /// Converts floats to half floats: rounds half away from zero, and to 0 what would be denormal. Returns their register.
    fn half_float(&mut self, z: Vector, x: Vector) -> Vector {
        self.load_constants();
        let [t0, t1, ..] = H::TEMPORARY;
        let host = &mut self.host;
        host.and(t0, x, Constant::Magnitude.into());
        host.add(t0, t0, Constant::HalfRounding.into());
        host.shift_right(t0, t0, 13);
        host.subtract(t0, t0, Constant::HalfBiasOfHalf.into());
        // What has overflowed, NaN included, is infinite.
        host.min_signed(t0, t0, Constant::HalfInfinity.into());
        host.shift_right(t1, x, 31);
        host.shift_left(t1, t1, 15);
        host.or(z, t0, t1.into());
        host.greater(H::HOLD, t0, Constant::HalfDenormalsOfHalf.into());
        host.keep_where(z, H::HOLD);
        z
    }

    /// Emits the detours so far, and what they share.
    pub(super) fn finish(&mut self) {
        let shared = Special::ALL.map(|_| self.host.control().label());
        let [a, b, result, _] = H::TEMPORARY;
        for detour in std::mem::take(&mut self.detours) {
            self.host.control().place(detour.from);
            self.host.copy(a, detour.a);
            self.host.copy(b, detour.b);
            self.host.copy(result, detour.result);
            self.host.control().call_label(shared[detour.special as usize]);
            self.host.copy(detour.result, result);
            self.host.control().jump(detour.back);
        }
        for (special, label) in Special::ALL.into_iter().zip(shared) {
            self.host.control().place(label);
            self.host.special(special);
        }
    }
}
