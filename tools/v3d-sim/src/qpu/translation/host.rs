//! Hosts: what the translator needs of a processor, and a file for each kind that encodes it.
//!
//! A host has vector registers of [`Host::ELEMENTS`] elements. The translator encodes the micro-ops of a segment once for each such part of a QPU's
//! vector, all of them for the first part, then all of them for the next, so that a host register never holds anything but the elements of one part.
//! What micro-ops mean is said once, in [`lowering`](super::lowering), by the operations of [`Host`]; [`Control`] is the rest of the code: checks, branches
//! and calls.
//!
//! Cranelift could encode for all of them, with vectors of 128 bits. It is not used, because its 60 crates take 346 s of CPU time to build, more than half of
//! what all else takes on the way to the first picture, and it needs 0.2 to 0.7 ms for a block of 100 vector operations [measured].
//!
//! No operation returns an error: an instruction that does not exist is a bug of the host's file, which [`Control::finish`] reports.

#[cfg(target_arch = "aarch64")]
pub(super) mod aarch64;
#[cfg(target_arch = "x86_64")]
mod assembler;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::constants::Constant;
use super::frame::at;
use crate::qpu::isa::registers::RegisterIndex;
use v3d_hw::qpu::LANES;

/// A vector register of the host, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector(pub(super) u8);

/// A register of the host that holds a condition for each element: a mask register, or a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask(pub(super) u8);

/// Where a condition on the flags holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The mask.
    pub(super) mask: Mask,
    /// The condition holds where the mask does not.
    pub(super) complement: bool,
}

impl From<Mask> for Held {
    fn from(mask: Mask) -> Self {
        Self { mask, complement: false }
    }
}

/// A point of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(pub(super) usize);

/// The second operand of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// A register.
    Vector(Vector),
    /// A constant in all elements.
    Constant(Constant),
}

impl From<Vector> for Operand {
    fn from(vector: Vector) -> Self {
        Self::Vector(vector)
    }
}

impl From<Constant> for Operand {
    fn from(constant: Constant) -> Self {
        Self::Constant(constant)
    }
}

/// Half of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The first elements.
    Low,
    /// The others.
    High,
}

/// A flag of the QPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// The result is zero.
    Zero,
    /// The highest bit of the result.
    Negative,
    /// Depends on the operation.
    Carry,
}

impl Flag {
    /// All of them, in the order in which the model stores them.
    pub(super) const ALL: [Self; 3] = [Self::Zero, Self::Negative, Self::Carry];
}

/// What decides whether a conditional branch is taken: a flag in all elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchTest {
    /// The flag.
    pub(super) flag: Flag,
    /// What the flags of all elements are compared with: all set or all clear.
    pub(super) all_set: bool,
    /// Whether the branch is taken if they are equal to that, or if they are not.
    pub(super) equal: bool,
}

/// Code, and the offsets of labels in it.
#[derive(Debug)]
pub(super) struct Encoded {
    /// Position-independent code.
    pub(super) bytes: Vec<u8>,
    /// Offset of each label, by its number.
    pub(super) labels: Vec<Option<u32>>,
}

/// Code apart from vectors. It keeps the rest of the budget, the address of the next uniform and whether a branch is taken in registers.
pub(super) trait Control {
    /// Number of instructions so far.
    fn instructions(&self) -> usize;
    /// A new label.
    fn label(&mut self) -> Label;
    /// Places a label here.
    fn place(&mut self, label: Label);
    /// Places a label that no instruction may follow.
    fn jump(&mut self, to: Label);
    /// The entry: takes a frame and the address of a segment.
    fn enter(&mut self);
    /// Returns the index of the next instruction through the common exit.
    fn leave_with(&mut self, index: usize, exit: Label);
    /// The common exit.
    fn leave(&mut self);

    /// Leaves if the budget is less than a number of instructions.
    fn check_budget(&mut self, count: usize, outside: Label);
    /// Leaves if some accumulators or flags are undefined.
    fn check_defined(&mut self, needs: u8, outside: Label);
    /// Jumps if the program does not hold the scoreboard.
    fn check_scoreboard(&mut self, to: Label);
    /// Takes the scoreboard before a group whose instructions the budget no longer contains. Jumps if it cannot be taken so simply.
    fn take_scoreboard(&mut self, count: usize, otherwise: Label);
    /// Jumps if other programs compete for the scoreboard.
    fn check_scoreboard_alone(&mut self, otherwise: Label);
    /// Leaves if the program must not switch threads.
    fn check_may_switch(&mut self, outside: Label);
    /// Switches threads, which leaves accumulators and flags undefined; `last`: for the last time.
    fn switch_threads(&mut self, last: bool);
    /// The program ends with this group.
    fn end_program(&mut self);
    /// Leaves if the program is two-threaded.
    fn check_single_threaded(&mut self, outside: Label);
    /// Leaves if fewer uniforms are left.
    fn check_uniforms(&mut self, count: i32, outside: Label);
    /// Leaves if fewer varyings are left.
    fn check_varyings(&mut self, count: i32, outside: Label);
    /// Subtracts from the budget.
    fn spend(&mut self, count: usize);
    /// Adds to the budget what has been subtracted.
    fn refund(&mut self, count: usize);
    /// Stores the budget in the frame.
    fn save_budget(&mut self);
    /// Loads the budget from the frame.
    fn load_budget(&mut self);

    /// Marks accumulators and flags as defined.
    fn define(&mut self, accumulators: u8);
    /// Marks all of them as defined.
    fn define_all(&mut self);
    /// Adds to the number of instructions without a jump.
    fn lengthen_run(&mut self, count: usize);
    /// There was a jump.
    fn end_run(&mut self);
    /// Records the index of the last of some instructions.
    fn record_last(&mut self, last: usize, count: usize);

    /// Whether a branch is taken does not depend on flags.
    fn set_taken(&mut self, taken: bool);
    /// Jumps if the branch is not taken.
    fn jump_unless_taken(&mut self, to: Label);

    /// Advances the address of the next uniform.
    fn advance_uniforms(&mut self, count: i32);
    /// Advances the varyings.
    fn advance_varyings(&mut self, count: i32);
    /// Sets the uniforms' address to element 0 of a register in memory.
    fn set_uniforms_from(&mut self, register: RegisterIndex);
    /// Sets it to what [`Host::first_element`] has moved.
    fn set_uniforms(&mut self);

    /// Writes a coordinate other than s to a TMU, with the next uniform as its parameter. Jumps if it has been written before.
    fn write_coordinate(&mut self, unit: u8, place: usize, from: RegisterIndex, twice: Label);
    /// Starts a lookup by a write of a register to `s`, with the next uniform as its parameter if it takes one; it must take none if the instruction reads
    /// one. Vector registers are lost. Jumps if the write is left to the call back for its micro-op.
    fn start_lookup(&mut self, unit: u8, from: RegisterIndex, reads_uniform: bool, otherwise: Label);
    /// Loads a TMU's next result to a register. Jumps if there is none.
    fn load_result(&mut self, unit: u8, to: RegisterIndex, empty: Label);

    /// Loads the next word of the pixels' colour to a register. Jumps if the frame has no access to samples, or the last has been read.
    fn load_colour(&mut self, to: RegisterIndex, otherwise: Label);
    /// Writes a register to the pixels' colour. Jumps if the frame has no access to samples.
    fn write_colour(&mut self, from: RegisterIndex, otherwise: Label);
    /// Writes a register to the colour of the pixels' next sample. Jumps if the frame has no access to samples for that, or the last has been written.
    fn write_sample(&mut self, from: RegisterIndex, otherwise: Label);
    /// Tests a register's depths. Jumps if the frame has no access to samples for that.
    fn test_depth(&mut self, from: RegisterIndex, otherwise: Label);

    /// Prepares a call back for a micro-op or a group.
    fn prepare_call(&mut self, index: usize);
    /// Calls back a function of the frame's. Vector registers are lost.
    fn call(&mut self, function: CallBack);
    /// Loads what a call back may have changed.
    fn finish_call(&mut self);
    /// Jumps if a call back has begun a group.
    fn jump_if_begun(&mut self, to: Label);
    /// Jumps if the last test of a [`Host`] has found an element.
    fn jump_if_found(&mut self, to: Label);
    /// Jumps if the magnitude of a uniform, by its distance from the next one, is at least 2^[`SMALL`](super::bounds::SMALL), an infinity or NaN.
    fn jump_if_large_uniform(&mut self, index: i32, to: Label);
    /// Jumps unless all varyings are known to be smaller than that.
    fn jump_unless_small_varyings(&mut self, to: Label);
    /// Calls code of this block.
    fn call_label(&mut self, to: Label);

    /// The code, or what could not be encoded.
    fn finish(&mut self) -> Result<Encoded, String>;
}

/// A call of translated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallBack {
    /// Executes a micro-op.
    ExecuteMicroOp,
    /// Executes a micro-op of a TMU.
    ExecuteLookup {
        /// It computes with floats.
        computes: bool,
    },
    /// Executes a micro-op that accesses another unit.
    AccessUnit,
    /// Begins a group.
    BeginGroup,
}

impl CallBack {
    /// Offset in the frame of the function's address.
    pub(super) const fn place(self) -> i32 {
        match self {
            Self::ExecuteMicroOp => at::EXECUTE_MICRO_OP,
            Self::ExecuteLookup { .. } => at::EXECUTE_LOOKUP,
            Self::AccessUnit => at::ACCESS_UNIT,
            Self::BeginGroup => at::BEGIN_GROUP,
        }
    }

    /// Whether it computes with floats, and so needs the rounding that the host has outside of translated code.
    pub(super) const fn computes(self) -> bool {
        !matches!(self, Self::ExecuteLookup { computes: false })
    }
}

/// Results that the host's arithmetic does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// Sums.
    Sum,
    /// Differences.
    Difference,
    /// Products.
    Product,
    /// Exponentials.
    Exp,
    /// Logarithms.
    Log,
}

impl Special {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Sum, Self::Difference, Self::Product, Self::Exp, Self::Log];

    /// The number of the frame's call that computes them; `None` if the host's code does.
    pub(super) const fn call(self) -> Option<i32> {
        match self {
            Self::Sum | Self::Difference | Self::Product => None,
            Self::Exp => Some(0),
            Self::Log => Some(1),
        }
    }
}

/// Declares operations of a host.
macro_rules! operations {
    ($( $(#[$doc:meta])* $name:ident($( $argument:ident: $kind:ty ),*); )*) => {$(
        $(#[$doc])*
        fn $name(&mut self, $( $argument: $kind ),*);
    )*};
}

/// A host's vector operations. Results come first: `z` is a register that may also be an operand. Floating point arithmetic rounds toward zero, and reads and
/// writes denormals as zeros.
pub(super) trait Host {
    /// The rest of the code.
    type Control: Control;
    /// Elements of a vector register.
    const ELEMENTS: usize;
    /// Parts of a QPU's vector.
    const PARTS: usize = LANES / Self::ELEMENTS;
    /// The registers that cache registers of the QPU.
    const POOL: &'static [u8];
    /// The same for code that does not use the flags.
    const POOL_WITHOUT_FLAGS: &'static [u8];
    /// Registers for intermediate values.
    const TEMPORARY: [Vector; 4];
    /// The registers that hold the flags.
    const FLAGS: [Mask; 3];
    /// The mask for conditions.
    const HOLD: Mask;
    /// Masks for intermediate values; `None`: they are taken from the pool.
    const MASKS: Option<[Mask; 3]>;

    /// The rest of the code.
    fn control(&mut self) -> &mut Self::Control;
    /// Where a flag is set, or clear. `lasting`: the result is used after the flag has changed.
    fn hold(&mut self, flag: Mask, complement: bool, lasting: bool) -> Held;

    operations! {
        /// Loads registers that hold frequent constants.
        load_constants();
        /// Loads a part of a register of the QPU.
        load_register(z: Vector, register: RegisterIndex, part: usize);
        /// Stores it.
        store_register(register: RegisterIndex, part: usize, x: Vector);
        /// Stores the old value of r4.
        save_stale_r4(part: usize, x: Vector);
        /// Loads a uniform, by its distance from the next one, into all elements.
        load_uniform(z: Vector, index: i32);
        /// Loads successive uniforms, the first by its distance from the next one: those whose bits a mask has; 0 in the other elements.
        load_uniforms(z: Vector, first: i32, mask: u16);
        /// Prepares to load varyings.
        point_at_varyings();
        /// Loads from an offset behind the next varying.
        load_varying(z: Vector, offset: i32);
        /// The same word in all elements.
        splat(z: Vector, word: u32);
        /// Loads a constant of the SFU's functions.
        load_constant(z: Vector, constant: Constant);
        /// Prepares for the constants of the SFU's functions.
        point_at_numbers();
        /// Copies a register.
        copy(z: Vector, x: Vector);
        /// Moves element 0 to where [`Control::set_uniforms`] takes it.
        first_element(x: Vector);

        /// Loads the flags.
        load_flags(part: usize);
        /// Stores the flags.
        save_flags(part: usize);
        /// Sets whether a branch is taken: complete with the last part.
        test_flag(test: BranchTest, held: Mask, part: usize);
        /// A mask of all elements, or of none.
        hold_all(z: Mask, all: bool);
        /// `flag` becomes `new` where a condition holds.
        merge_flag(flag: Mask, held: Held, new: Mask);
        /// `new` where a condition holds, `old` elsewhere.
        blend(z: Vector, held: Held, old: Vector, new: Vector);

        /// The flag of no element.
        clear_flag(z: Mask);
        /// The flag of elements that are 0.
        zero_flag(z: Mask, x: Vector);
        /// The flag of elements whose highest bit is set.
        sign_flag(z: Mask, x: Vector);
        /// The flag of elements that are greater as signed numbers.
        greater_flag(z: Mask, x: Vector, y: Operand);
        /// The flag of elements that are greater as unsigned numbers.
        above_flag(z: Mask, x: Vector, y: Vector);

        /// Bits in both.
        and(z: Vector, x: Vector, y: Operand);
        /// Bits in either.
        or(z: Vector, x: Vector, y: Operand);
        /// Bits in one of both.
        xor(z: Vector, x: Vector, y: Operand);
        /// The complement; `z` is not `x`.
        not(z: Vector, x: Vector);
        /// All bits set.
        ones(z: Vector);
        /// The sum of integers.
        add(z: Vector, x: Vector, y: Operand);
        /// The difference of integers.
        subtract(z: Vector, x: Vector, y: Operand);
        /// The low words of products.
        multiply(z: Vector, x: Vector, y: Operand);
        /// The minimum of signed integers.
        min_signed(z: Vector, x: Vector, y: Operand);
        /// The maximum of signed integers.
        max_signed(z: Vector, x: Vector, y: Operand);
        /// The minimum of unsigned integers.
        min_unsigned(z: Vector, x: Vector, y: Operand);
        /// The maximum of unsigned integers.
        max_unsigned(z: Vector, x: Vector, y: Operand);
        /// A shift by the same number of bits.
        shift_left(z: Vector, x: Vector, by: u32);
        /// The same to the right.
        shift_right(z: Vector, x: Vector, by: u32);
        /// The same with the sign.
        shift_right_signed(z: Vector, x: Vector, by: u32);
        /// A shift of each element by another's value: 0 from 32 to 127 bits. By -1 the highest bit becomes 0; by other negative numbers the result is any.
        shift_left_each(z: Vector, x: Vector, by: Vector);
        /// The same to the right, by at most 32 bits.
        shift_right_each(z: Vector, x: Vector, by: Vector);
        /// The same with the sign, by less than 32 bits.
        shift_right_signed_each(z: Vector, x: Vector, by: Vector);
        /// Rotates elements by the low five bits of others. `z` is neither; the temporaries are used.
        rotate_right_each(z: Vector, x: Vector, by: Vector);
        /// Numbers of leading zeros. `z` is not `x`; the temporaries are used.
        leading_zeros(z: Vector, x: Vector);

        /// Half of the bytes, the same for each call, as 16-bit words.
        widen_bytes(z: Vector, x: Vector, half: Half);
        /// Their low products.
        multiply_words(z: Vector, x: Vector, y: Vector);
        /// Their sums.
        add_words(z: Vector, x: Vector, y: Vector);
        /// The high halves of their unsigned products.
        multiply_words_high(z: Vector, x: Vector, y: Vector);
        /// Their shift.
        shift_words_right(z: Vector, x: Vector, by: u32);
        /// Both halves as bytes again.
        join_bytes(z: Vector, low: Vector, high: Vector);
        /// The minimum of bytes.
        min_bytes(z: Vector, x: Vector, y: Vector);
        /// The maximum of bytes.
        max_bytes(z: Vector, x: Vector, y: Vector);
        /// The sum of bytes, at most 255.
        add_bytes(z: Vector, x: Vector, y: Vector);
        /// The difference of bytes, at least 0.
        subtract_bytes(z: Vector, x: Vector, y: Vector);
        /// Replaces the bytes of `old` that a mask has.
        insert_bits(z: Vector, old: Vector, mask: u32);

        /// The sum.
        float_add(z: Vector, x: Vector, y: Operand);
        /// The difference.
        float_subtract(z: Vector, x: Vector, y: Operand);
        /// The product.
        float_multiply(z: Vector, x: Vector, y: Operand);
        /// The minimum of floats that are neither NaN nor denormals nor -0.
        float_min(z: Vector, x: Vector, y: Operand);
        /// Their maximum.
        float_max(z: Vector, x: Vector, y: Operand);
        /// The quotient.
        float_divide(z: Vector, x: Vector, y: Vector);
        /// The square root.
        float_root(z: Vector, x: Vector);
        /// `x` limited to the range from 0 to 1; 0 for NaN.
        float_clamp(z: Vector, x: Vector);
        /// `z * x + y`, rounded once; uses the first temporary.
        float_multiply_add(z: Vector, x: Constant, y: Vector);
        /// The integer part as a float.
        float_truncate(z: Vector, x: Vector);
        /// The integer part as an integer; any value beyond the range.
        float_to_integer(z: Vector, x: Vector);
        /// An integer as a float.
        integer_to_float(z: Vector, x: Vector);
        /// Tests whether any element is an infinity, NaN or the greatest float; uses the first temporary.
        find_special(x: Vector);
        /// Tests whether the magnitude of any element of two registers is at least 2^[`SMALL`](super::bounds::SMALL), an infinity or NaN; uses the first two
        /// temporaries.
        find_large(x: Vector, y: Vector);

        /// Elements, without a sign, that are less than a constant.
        below(z: Mask, x: Vector, y: Constant);
        /// The others.
        not_below(z: Mask, x: Vector, y: Constant);
        /// Those of the mask that are not less than a constant.
        and_not_below(z: Mask, x: Vector, y: Constant);
        /// Elements that are equal to a constant.
        equal(z: Mask, x: Vector, y: Constant);
        /// Elements with no bit of a constant.
        has_none(z: Mask, x: Vector, y: Constant);
        /// Elements that are not 0.
        not_zero(z: Mask, x: Vector);
        /// Those of the mask that are not equal.
        and_differs(z: Mask, x: Vector, y: Vector);
        /// Those of the mask that are not 0.
        and_not_zero(z: Mask, x: Vector);
        /// Elements whose highest bit is set.
        has_sign(z: Mask, x: Vector);
        /// Elements that are greater as signed numbers.
        greater(z: Mask, x: Vector, y: Operand);
        /// Elements of both masks.
        and_masks(z: Mask, x: Mask, y: Mask);
        /// Elements of either mask, of vectors of doubles.
        or_double_masks(z: Mask, x: Mask, y: Mask);
        /// Tests whether a mask, of doubles, has any element.
        find_any_double(x: Mask);

        /// A quotient where a mask holds, 0 elsewhere.
        float_divide_where(z: Vector, held: Mask, x: Vector, y: Vector);
        /// A product where a mask holds, `z` elsewhere.
        float_multiply_where(z: Vector, held: Mask, x: Vector, y: Constant);
        /// Subtracts a constant where a mask holds.
        subtract_where(z: Vector, held: Mask, y: Constant);
        /// Inverts elements where a mask holds; `ones` has all bits set.
        invert_where(z: Vector, held: Mask, ones: Vector);
        /// A constant where a mask holds.
        replace_where(z: Vector, held: Mask, y: Constant);
        /// 0 where a mask holds.
        clear_where(z: Vector, held: Mask);
        /// 0 where a mask does not hold.
        keep_where(z: Vector, held: Mask);
        /// `z | x` where a mask holds, 0 elsewhere.
        or_where(z: Vector, held: Mask, x: Vector);
        /// A shift where a mask holds, 0 elsewhere.
        shift_left_where(z: Vector, held: Mask, x: Vector, by: u32);
        /// `z`, with the sign of `x`.
        or_sign(z: Vector, x: Vector);

        /// Half of the elements, at the start of a register.
        extract(z: Vector, x: Vector, half: Half);
        /// Floats at the start of a register as doubles.
        to_doubles(z: Vector, x: Vector);
        /// Loads a double into all elements.
        load_double(z: Vector, constant: Constant);
        /// The sum.
        double_add(z: Vector, x: Vector, y: Constant);
        /// The difference.
        double_subtract(z: Vector, x: Vector, y: Operand);
        /// The product.
        double_multiply(z: Vector, x: Vector, y: Operand);
        /// The quotient.
        double_divide(z: Vector, x: Vector, y: Vector);
        /// `z * x + y`, rounded once.
        double_multiply_add(z: Vector, x: Vector, y: Constant);
        /// `z * x - y`, rounded once.
        double_multiply_subtract(z: Vector, x: Vector, y: Constant);
        /// The greatest integer below, as a double.
        double_floor(z: Vector, x: Vector);
        /// The magnitude.
        double_magnitude(z: Vector, x: Vector);
        /// Doubles that are greater than a constant.
        double_greater(z: Mask, x: Vector, y: Constant);
        /// The masks of two halves as one; `high` is lost.
        join_masks(z: Mask, low: Mask, high: Mask);
        /// Integral doubles as integers, at the start of a register.
        double_to_integer(z: Vector, x: Vector);
        /// Both halves, each at the start of a register, as one; `high` is lost.
        join_halves(z: Vector, low: Vector, high: Vector);

        /// Code that computes special results of the first two temporaries in place of the host's, which is in the third; preserves all other registers but the
        /// last temporary, and returns.
        ///
        /// Sums, differences and products: the host has rounded a result beyond the greatest float to that float, which in the QPU is infinite; half of it
        /// shows which is the case. A result of an infinite operand, or of NaN, which is infinite in the QPU, is infinite; of two in a sum the second decides
        /// the sign, and a product with 0 is 0.
        special(special: Special);
    }
}
