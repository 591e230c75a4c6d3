//! Generates origins: the source's line of each instruction, and the names of uniforms.

use std::fmt::Write;

/// Appends the origin of one program.
pub(crate) fn write(
    code: &mut String,
    name: &str,
    file: &str,
    lines: impl Iterator<Item = usize>,
    uniforms: impl Iterator<Item = String>,
) -> std::fmt::Result {
    let lines: Vec<usize> = lines.collect();
    let uniforms: Vec<String> = uniforms.collect();
    writeln!(
        code,
        "static {name}: shader_interface::Origin = \
         shader_interface::Origin {{ file: {file:?}, lines: &{lines:?}, uniforms: &{uniforms:?} }};"
    )
}
