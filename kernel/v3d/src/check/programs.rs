//! The words of the two programs that the check runs; their sources are in the folder.
//!
//! `UPDATE_WORDS=1 cargo test -p v3d --test check` writes this file anew.

/// `one_color.frag.qasm`.
pub(super) const ONE_COLOR: &[u64] = &[
    0xe002_0827_7856_3412,
    0x4000_09e7_009e_7000,
    0x1002_0ba7_159e_7000,
    0x3000_09e7_009e_7000,
    0x1000_09e7_009e_7000,
    0x5000_09e7_009e_7000,
];

/// `elements.user.qasm`.
pub(super) const ELEMENTS: &[u64] = &[
    0xe002_1c67_0010_1a00,
    0x1002_0827_159a_7d80,
    0xd002_0867_119c_11c0,
    0x1002_0827_0c9e_7040,
    0x1002_0827_0c82_7180,
    0x1002_0c27_159e_7000,
    0xe002_1c67_8090_4000,
    0x1002_1ca7_1582_7d80,
    0x1000_09e7_159f_2fc0,
    0x3000_09e7_009e_7000,
    0x1000_09e7_009e_7000,
    0x1000_09e7_009e_7000,
];
