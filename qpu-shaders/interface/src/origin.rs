//! Where a program comes from, for tools that explain what a GPU has executed.

/// The origin of a program.
///
/// Programs for bare metal have none unless the feature `origins` asks for it, since it takes about as much space as the instructions: it is for captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Name of the source.
    pub file: &'static str,
    /// For each instruction the source's line that it is for, counted from 1; 0 if it is for none.
    pub lines: &'static [u32],
    /// What each word of its uniforms is.
    pub uniforms: &'static [&'static str],
}

/// The origin, on a target that keeps origins.
pub(crate) const fn kept(origin: &'static Origin) -> Option<&'static Origin> {
    if cfg!(all(target_os = "none", not(feature = "origins"))) { None } else { Some(origin) }
}
