//! The assembled words of a program, compared with published ones.
//!
//! The words are those of the listing in JayStation's article "VPM, VCD, and VCM for Vertex Shaders" (sample coordinate shader), with low and high halves
//! combined.

const PUBLISHED: [u64; 29] = [
    0x100009e7009e7000,
    0x1002002715827df7,
    0x1002006715827df7,
    0x100200a715827df7,
    0xe0021c6717bc1ac2,
    0xe0020c2700000000,
    0xe0020c273f800000,
    0x10020c2715027df7,
    0x10020c2715067df7,
    0x10020c27150a7df7,
    0xd20208270e004dc0,
    0xd40208670e004dc0,
    0x10022827080001f7,
    0x10022867080003f7,
    0xe00208a73b4d1ed9,
    0xe00208e73b88d181,
    0x100079e020000dc2,
    0x100079e120000dcb,
    0xd0020827020201c0,
    0xd0020867020203c0,
    0xe0021c6717bc1ac0,
    0x10020c27159e7000,
    0x10020c27159e7249,
    0xe0021c6783904000,
    0xd0021ca715800df7,
    0x500009e7009e7000,
    0x300009e7009e7000,
    0x100009e7009e7000,
    0x100009e7009e7000,
];

#[test]
fn the_coordinate_shader_test_has_the_published_words() {
    let code = qpu_shaders::coordinate_test::PROGRAM.code();
    assert_eq!(code.len(), PUBLISHED.len());
    for (index, (word, published)) in code.iter().zip(PUBLISHED).enumerate() {
        assert_eq!(*word, published, "instruction {index}: {word:016x}, published {published:016x}");
    }
}
