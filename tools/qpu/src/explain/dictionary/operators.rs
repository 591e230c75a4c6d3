//! Functions and operators in expressions, which the assembler evaluates [vc4asm].

use super::Entry;
use crate::code::Code;

/// All operators, for the test that each has an entry.
#[cfg(test)]
pub(super) const SIGNS: &[&str] = &[
    "**", "*", "/", "%", "+", "-", "<<", ">>", "<<<", ">>>", "><<", ">><", "><<<", ">>><", ">", ">=", "<", "<=", "<=>",
    "==", "!=", "===", "!==", "&", "^", "!^", "|", "&&", "^^", "!^^", "||", "~", "!",
];

const fn function(names: &'static [&'static str], meaning: &'static str, example: &'static str) -> Entry {
    Entry { names, form: "FUNCTION(NUMBER)", meaning, example, codes: &[Code::WrongOperandType] }
}

/// Functions.
pub(super) const FUNCTIONS: &[Entry] = &[
    function(&["abs"], "Absolute value.", "mov r0, abs(-3)"),
    function(&["ceil"], "The next integer not below, as a float.", "mov r0, ceil(1.5)"),
    function(&["floor"], "The next integer not above, as a float.", "mov r0, floor(1.5)"),
    function(&["sqrt"], "Square root.", "mov r0, sqrt(2.0)"),
    function(
        &["exp"],
        "e to a power. As a register, exp is the special function unit's power of 2.",
        "mov r0, exp(1.0)",
    ),
    function(&["exp2"], "2 to a power.", "mov r0, exp2(0.5)"),
    function(&["exp10"], "10 to a power.", "mov r0, exp10(0.5)"),
    function(
        &["log"],
        "Natural logarithm. As a register, log is the special function unit's logarithm to base 2.",
        "mov r0, log(2.0)",
    ),
    function(&["log2"], "Logarithm to base 2.", "mov r0, log2(10.0)"),
    function(&["log10"], "Logarithm to base 10.", "mov r0, log10(2.0)"),
    function(&["cos"], "Cosine of an angle in radians.", "mov r0, cos(0.5)"),
    function(&["sin"], "Sine of an angle in radians.", "mov r0, sin(0.5)"),
    function(&["tan"], "Tangent of an angle in radians.", "mov r0, tan(0.5)"),
    function(&["acos"], "Angle in radians of a cosine.", "mov r0, acos(0.5)"),
    function(&["asin"], "Angle in radians of a sine.", "mov r0, asin(0.5)"),
    function(&["atan"], "Angle in radians of a tangent.", "mov r0, atan(1.0)"),
    function(&["cosh"], "Hyperbolic cosine.", "mov r0, cosh(1.0)"),
    function(&["sinh"], "Hyperbolic sine.", "mov r0, sinh(1.0)"),
    function(&["tanh"], "Hyperbolic tangent.", "mov r0, tanh(1.0)"),
    function(&["acosh"], "Inverse hyperbolic cosine.", "mov r0, acosh(2.0)"),
    function(&["asinh"], "Inverse hyperbolic sine.", "mov r0, asinh(2.0)"),
    function(&["atanh"], "Inverse hyperbolic tangent.", "mov r0, atanh(0.5)"),
    function(&["erf"], "Error function.", "mov r0, erf(0.5)"),
    function(&["erfc"], "Complement of the error function, 1 - erf.", "mov r0, erfc(0.5)"),
];

const fn operator(names: &'static [&'static str], meaning: &'static str, example: &'static str) -> Entry {
    Entry { names, form: "A OPERATOR B", meaning, example, codes: &[Code::WrongOperandType] }
}

/// Operators, the highest precedence first.
pub(super) const OPERATORS: &[Entry] = &[
    operator(&["~"], "All bits inverted; stands before its operand.", "mov r0, ~5"),
    operator(&["!"], "1 if the operand is 0, else 0; stands before its operand.", "mov r0, !5"),
    operator(&["**"], "Power.", "mov r0, 2 ** 10"),
    operator(&["*"], "Product.", "mov r0, 6 * 7"),
    operator(&["/"], "Quotient; of two integers an integer.", "mov r0, 42 / 6"),
    operator(&["%"], "Remainder.", "mov r0, 42 % 5"),
    operator(
        &["+"],
        "Sum. A register plus a number is the register whose address is higher by it: ra3 + 1 is ra4.",
        "mov ra3 + 1, r0",
    ),
    operator(&["-"], "Difference, or the negative number; alone as a target: no result is written.", "mov r0, 7 - 3"),
    operator(&["<<"], "Shift left; of a register: elements rotated upwards by a constant or r5.", "mov r0, r1 << 4"),
    operator(&[">>"], "Shift right with the sign; of a register: elements rotated downwards.", "mov r0, r1 >> 4"),
    operator(&["<<<"], "Shift left, without sign.", "mov r0, 1 <<< 4"),
    operator(&[">>>"], "Shift right that fills with zeros.", "mov r0, 256 >>> 4"),
    operator(&["><<"], "32 bits rotated to the left.", "mov r0, 1 ><< 4"),
    operator(&[">><"], "32 bits rotated to the right.", "mov r0, 1 >>< 4"),
    operator(&["><<<"], "64 bits rotated to the left.", ".long 1 ><<< 4"),
    operator(&[">>><"], "64 bits rotated to the right.", ".long 1 >>>< 4"),
    operator(&[">"], "1 if A is greater, else 0.", ".assert 2 > 1"),
    operator(&[">="], "1 if A is greater or equal, else 0.", ".assert 2 >= 1"),
    operator(&["<"], "1 if A is less, else 0.", ".assert 1 < 2"),
    operator(&["<="], "1 if A is less or equal, else 0.", ".assert 1 <= 2"),
    operator(&["<=>"], "-1 if A is less, 0 if both are equal, 1 if A is greater.", ".assert 2 <=> 1"),
    operator(&["=="], "1 if both are equal, else 0.", ".assert 1 == 1"),
    operator(&["!="], "1 if they differ, else 0.", ".assert 1 != 2"),
    operator(&["==="], "1 if both are equal and of one type, else 0.", ".assert 1 === 1"),
    operator(&["!=="], "1 if they differ in value or type, else 0.", ".assert 1 !== 1.0"),
    operator(&["&"], "Bits that are set in both.", "mov r0, 7 & 3"),
    operator(&["^"], "Bits that differ.", "mov r0, 7 ^ 3"),
    operator(&["!^"], "Bits that are equal.", "mov r0, 7 !^ 3"),
    operator(&["|"], "Bits that are set in either.", "mov r0, 4 | 3"),
    operator(&["&&"], "1 if both are not 0, else 0.", ".assert 1 && 2"),
    operator(&["^^"], "1 if exactly one of both is not 0, else 0.", ".assert 1 ^^ 0"),
    operator(&["!^^"], "1 if both are 0 or both are not 0, else 0.", ".assert 1 !^^ 2"),
    operator(&["||"], "1 if one of both is not 0, else 0.", ".assert 0 || 1"),
];
