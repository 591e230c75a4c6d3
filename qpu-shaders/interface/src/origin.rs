//! The source of a program, for tools that explain what a GPU has executed.

/// The origin of a program.
///
/// On bare metal a program has none unless the feature `origins` is enabled: it takes about as much space as the instructions, and is used in captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Name of the source.
    pub file: &'static str,
    /// For each instruction the number of the source line that it implements, counted from 1; 0 if there is none.
    pub lines: &'static [u32],
    /// The names of its uniform words.
    pub uniforms: &'static [&'static str],
}

/// The origin, if the target keeps origins.
pub(crate) const fn kept(origin: &'static Origin) -> Option<&'static Origin> {
    if cfg!(all(target_os = "none", not(feature = "origins"))) { None } else { Some(origin) }
}
