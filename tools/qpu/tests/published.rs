//! Programs whose words are published come out of readable sources as those very words.
//!
//! The words are those of the listings in JayStation's articles "Texturing" and "VPM, VCD, and VCM for Vertex Shaders", low half first as
//! printed there. The program of the second article is among the shaders of the package `qpu-shaders`, with a test of its own; here are its
//! instructions one by one, with what the article says of them.

use qpu::explain::explain;
use qpu::{Options, Source, assemble};

fn words(source: &str) -> Vec<u64> {
    let assembly = assemble(&[Source::new("source", source)], &Options::default());
    assembly.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).words
}

fn check(source: &str, published: &[[u32; 2]]) {
    let published: Vec<u64> = published.iter().map(|&[low, high]| u64::from(high) << 32 | u64::from(low)).collect();
    let words = words(source);
    let show = |words: &[u64]| words.iter().map(|word| format!("{word:016x}")).collect::<Vec<_>>().join("\n");
    assert_eq!(show(&words), show(&published));
}

/// Two texture coordinates are interpolated and given to TMU 0; the colour that comes back is written to the tile buffer. The listing sets
/// `pm` and selects operands of operations that do nothing, which has no effect: the source says so to get the same bits.
#[test]
fn texture_shader() {
    let source = "
        anop.pm -, ra15, vary; fmul ra32, ra15, vary    # r0 = S * W
        fadd.pm r0, r0, r5; fmul r1, ra15, vary         # S * W + C, T * W
        fadd.pm t0t, r1, r5; mnop -, ra15, rb35         # T * W + C
        mov t0s, r0                                     # starts the lookup
        ldtmu0
        mov tlbc, r4; mnop -, r4, r4
    ";
    check(
        source,
        &[
            [0x203e_3df7, 0x1100_59e0],
            [0x213e_3177, 0x1102_4821],
            [0x013e_3377, 0x1102_0e67],
            [0x159e_7000, 0x1002_0e27],
            [0x009e_7000, 0xa000_09e7],
            [0x159e_7924, 0x1002_0ba7],
        ],
    );
}

#[test]
fn coordinate_shader_instructions() {
    check("mov ra48, r0", &[[0x159e_7000, 0x1002_0c27]]);
    check("ldi vw_setup, 0x17bc1ac2", &[[0x17bc_1ac2, 0xe002_1c67]]);
    check("mov vpm, 1.0", &[[0x3f80_0000, 0xe002_0c27]]);
    check("shr r0, ra0.16ai, 4", &[[0x0e00_4dc0, 0xd202_0827]]);
    check("shr r1, ra0.16bi, 4", &[[0x0e00_4dc0, 0xd402_0867]]);
    check("sbdone", &[[0x009e_7000, 0x5000_09e7]]);
    check("thrend", &[[0x009e_7000, 0x3000_09e7]]);
    check("nop", &[[0x009e_7000, 0x1000_09e7]]);
}

/// What the article says of a word in words, `qpu explain` says of it too.
#[test]
fn explanations_say_what_the_article_says() {
    for (word, sayings) in [
        (
            // "write swap: 1 … add write addr: 49 (VPMVCD_WR_SETUP B), cond: always … loaded 32 immediate is 0x83904000"
            0xe002_1c67_8390_4000,
            &["vpm vcd wr setup", "always", "0x83904000", "add ALU writes to file B"][..],
        ),
        // "Integer shift right, ACC0, R0, int 4 … unpack mode: 16a->32"
        (0xd202_0827_0e00_4dc0, &["shr", "r0", "ra0", "small immediate 4", "16a"]),
        // "Floating point subtract, ACC0, acc r0, float 1.f … mul op: No operation, mul cond: never"
        (0xd002_0827_0202_01c0, &["fsub", "1.0", "never"]),
        // "signal: load data from tmu0 to r4"
        (0xa000_09e7_009e_7000, &["ldtmu0"]),
        // "Bitwise OR, TLB_COLOUR_ALL, acc r4, acc r4"
        (0x1002_0ba7_159e_7924, &["tlb color all", "or", "r4"]),
    ] {
        let text = explain(word);
        for saying in sayings {
            assert!(text.contains(saying), "{word:016x} does not say {saying:?}:\n{text}");
        }
    }
}
