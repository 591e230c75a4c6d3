//! Hardware errata, and how the driver avoids each.
//!
//! Each has the name that its sources use. The assembler checks those of QPU programs.
//!
//! # Sources
//! [brcm] for HW numbers, [mesa vc4_context.h, vc4_draw.c, vc4_emit.c] and [linux vc4_gem.c] for GFXH numbers and work-arounds.

use core::fmt;

macro_rules! errata {
    ($( $(#[doc = $doc:literal])+ $variant:ident $name:literal: $effect:literal, $handling:literal; )*) => {
        /// An erratum.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Erratum {
            $( $(#[doc = $doc])+ $variant, )*
        }

        impl Erratum {
            /// All that the driver knows.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// What goes wrong.
            pub const fn effect(self) -> &'static str {
                match self { $( Self::$variant => $effect, )* }
            }

            /// What the driver does.
            pub const fn handling(self) -> &'static str {
                match self { $( Self::$variant => $handling, )* }
            }
        }
    };
}

errata! {
    /// State changes are counted in too few bits.
    Hw2116 "HW-2116":
        "more than 0x1ef0 state changes in one binning list go wrong",
        "a binning list counts its shader records and refuses the one too many";
    /// VPMBASE.
    Hw2791 "HW-2791":
        "the VPM's reservation for user programs is only right directly after a reset",
        "it is written first of all, once, and never changed";
    /// Coverage after varyings.
    Hw2885 "HW-2885":
        "primitives of the coverage pipe after primitives with varyings go wrong unless a dummy primitive comes between",
        "the driver never selects the coverage pipe";
    /// Small points.
    Hw2903 "HW-2903":
        "points smaller than 1/8 pixel hang the rasteriser",
        "a smaller point size is raised to 1/8";
    /// Early Z after loading multisampled depth.
    Hw2905 "HW-2905":
        "early Z goes wrong after a multisampled depth buffer is loaded",
        "such a frame is refused unless early Z is off";
    /// User programs beside 3D.
    Hw2959 "HW-2959":
        "user programs and 3D at once are not safe",
        "each waits for the other's end";
    /// Long draws.
    Gfxh515 "GFXH-515":
        "a draw of more than 65535 vertices goes wrong",
        "lists and strips are split, loops and fans refused";
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.effect())
    }
}
