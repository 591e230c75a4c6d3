//! Programs whose words are published, assembled from readable sources to exactly those words.
//!
//! The words are those of the listings in JayStation's articles "Texturing" and "VPM, VCD, and VCM for Vertex Shaders", low half first as
//! printed there. The program of the second article is among the shaders of the package `qpu-shaders`, with a test of its own; here are its
//! instructions one by one, with what the article says of them.

use expect_test::expect;
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

/// Two texture coordinates are interpolated and written to TMU 0; the resulting colour is written to the tile buffer. The listing sets `pm` and selects
/// operands of operations that do nothing, which has no effect: the source specifies them to get the same bits.
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

/// Words, and what the articles say of them, in the names of the explanation: targets, operations, sources, conditions, signals, and the fields of
/// set-up words. A load immediate has no operation and no pack, and is done always.
const SAYINGS: &[(u64, &[&str])] = &[
    // The coordinate shader, in its order.
    (0x1000_09e7_009e_7000, &["op_add nop", "cond_add never", "op_mul nop", "cond_mul never", "sig none"]),
    (0x1002_0027_1582_7df7, &["op_add or", "waddr_add ra0", "raddr_a uniform", "cond_add always", "cond_mul never"]),
    (0x1002_0067_1582_7df7, &["op_add or", "waddr_add ra1", "raddr_a uniform", "raddr_b no register", "sig none"]),
    (0x1002_00a7_1582_7df7, &["op_add or", "waddr_add ra2", "raddr_a uniform", "op_mul nop", "cond_mul never"]),
    (0xe002_1c67_17bc_1ac2, &["waddr_add vpm vcd wr setup", "ws add ALU writes to file B", "cond_add always", "sf no"]),
    (0xe002_1c67_17bc_1ac2, &["horizontal yes", "size 32-bit", "stride 1", "address row 2, column 0"]),
    (0xe002_0c27_0000_0000, &["waddr_add vpm write", "cond_add always", "kind 32", "immediate 0 or 0.0"]),
    (0xe002_0c27_3f80_0000, &["waddr_add vpm write", "cond_add always", "kind 32", "or 1.0"]),
    (0x1002_0c27_1502_7df7, &["op_add or", "waddr_add vpm write", "raddr_a ra0", "cond_add always", "sig none"]),
    (0x1002_0c27_1506_7df7, &["op_add or", "waddr_add vpm write", "raddr_a ra1", "cond_mul never"]),
    (0x1002_0c27_150a_7df7, &["op_add or", "waddr_add vpm write", "raddr_a ra2", "op_mul nop"]),
    (
        0xd202_0827_0e00_4dc0,
        &[
            "op_add shr",
            "waddr_add r0",
            "raddr_a ra0",
            "raddr_b small immediate 4",
            "unpack 16a",
            "pm pack and unpack register file A",
        ],
    ),
    (0xd402_0867_0e00_4dc0, &["op_add shr", "waddr_add r1", "raddr_a ra0", "raddr_b small immediate 4", "unpack 16b"]),
    (0x1002_2827_0800_01f7, &["op_add itof", "waddr_add r0", "add_a r0", "cond_add always", "sig none"]),
    (0x1002_2867_0800_03f7, &["op_add itof", "waddr_add r1", "add_a r1", "cond_mul never"]),
    (0xe002_08a7_3b4d_1ed9, &["waddr_add r2", "cond_add always", "kind 32", "or 0.003129"]),
    (0xe002_08e7_3b88_d181, &["waddr_add r3", "cond_add always", "kind 32", "or 0.004175"]),
    (
        0x1000_79e0_2000_0dc2,
        &["op_add nop", "cond_add never", "op_mul fmul", "waddr_mul r0", "mul_a r0", "mul_b r2", "cond_mul always"],
    ),
    (0x1000_79e1_2000_0dcb, &["op_mul fmul", "waddr_mul r1", "mul_a r1", "mul_b r3", "cond_mul always"]),
    (0xd002_0827_0202_01c0, &["op_add fsub", "waddr_add r0", "add_a r0", "small immediate 1.0", "cond_mul never"]),
    (0xd002_0867_0202_03c0, &["op_add fsub", "waddr_add r1", "add_a r1", "small immediate 1.0", "cond_add always"]),
    (
        0xe002_1c67_17bc_1ac0,
        &["waddr_add vpm vcd wr setup", "horizontal yes", "size 32-bit", "stride 1", "address row 0, column 0"],
    ),
    (0x1002_0c27_159e_7000, &["op_add or", "waddr_add vpm write", "add_a r0", "add_b r0", "cond_add always"]),
    (0x1002_0c27_159e_7249, &["op_add or", "waddr_add vpm write", "add_a r1", "add_b r1", "cond_mul never"]),
    // Horizontal DMA store, 7 rows of length 16 from (0, 0), 32 bits wide.
    (
        0xe002_1c67_8390_4000,
        &["waddr_add vpm vcd wr setup", "units 7", "depth 16", "horizontal yes", "y 0", "x 0", "mode 32-bit"],
    ),
    (
        0xd002_1ca7_1580_0df7,
        &["op_add or", "waddr_add vpm st addr", "raddr_a uniform", "small immediate 0", "cond_add always"],
    ),
    (0x5000_09e7_009e_7000, &["sig sbdone", "op_add nop", "op_mul nop", "cond_add never", "cond_mul never"]),
    (0x3000_09e7_009e_7000, &["sig thrend", "op_add nop", "op_mul nop"]),
    // The texture shader.
    (
        0x1100_59e0_203e_3df7,
        &[
            "op_add nop",
            "cond_add never",
            "op_mul fmul",
            "waddr_mul r0",
            "raddr_a ra15",
            "raddr_b varying",
            "cond_mul always",
        ],
    ),
    (
        0x1102_4821_213e_3177,
        &[
            "op_add fadd",
            "waddr_add r0",
            "add_a r0",
            "add_b r5",
            "op_mul fmul",
            "waddr_mul r1",
            "raddr_a ra15",
            "raddr_b varying",
        ],
    ),
    (
        0x1102_0e67_013e_3377,
        &["op_add fadd", "waddr_add TMU 0, T", "add_a r1", "add_b r5", "op_mul nop", "cond_mul never"],
    ),
    (0x1002_0e27_159e_7000, &["op_add or", "waddr_add TMU 0, S", "add_a r0", "add_b r0", "cond_mul never"]),
    (0xa000_09e7_009e_7000, &["sig ldtmu0", "op_add nop", "op_mul nop"]),
    (
        0x1002_0ba7_159e_7924,
        &["op_add or", "waddr_add tlb color all", "add_a r4", "add_b r4", "cond_add always", "op_mul nop"],
    ),
];

/// What the articles say of a word in words, `qpu explain` says of it too.
#[test]
fn explanations_say_what_the_articles_say() {
    for &(word, sayings) in SAYINGS {
        let text = explain(word);
        // Each line of a table as "field meaning".
        let lines: Vec<String> = text.lines().map(without_value).collect();
        for saying in sayings {
            assert!(lines.iter().any(|line| line.contains(saying)), "{word:016x} does not say {saying:?}:\n{text}");
        }
    }
}

/// `28:24   op_add       10101 = 21  or (21)` as `op_add or (21)`.
fn without_value(line: &str) -> String {
    let mut words = line.split_whitespace().skip(1);
    let field = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let value = if rest.get(1) == Some(&"=") { 3 } else { 1 };
    format!("{field} {}", rest.get(value..).unwrap_or_default().join(" "))
}

#[test]
fn an_explanation_is_a_table() {
    expect![[r#"
        0x83904000, 0xe0021c67    ldi vw_setup, 0x83904000
        load immediate instruction, word 0xe0021c6783904000
           sig|  kind|  pm|  pack|  cond_add|  cond_mul|  sf|  ws|  waddr_add|  waddr_mul|
          1110|   000|   0|  0000|       001|       000|   0|   1|    11 0001|    10 0111|
                                        immediate|
          1000 0011 1001 0000 0100 0000 0000 0000|
          bits    field                                   value  meaning
          63:60   sig                                 1110 = 14  ldi (14): bits 59:57 distinguish constants from semaphores
          59:57   kind                                  000 = 0  32 (0)
          56      pm                                          0  pack and unpack register file A
          55:52   pack                                 0000 = 0  nop
          51:49   cond_add                              001 = 1  always (1): all 16 elements are written
          48:46   cond_mul                              000 = 0  never (0): no element is written
          45      sf                                          0  no
          44      ws                                          1  add ALU writes to file B, mul ALU to file A
          43:38   waddr_add                         110001 = 49  vpm vcd wr setup: sets up writes of the VPM, or a DMA store, depending on the word's top bits
          37:32   waddr_mul                         100111 = 39  no register
          31:0    immediate             0x83904000 = 2207268864  -2087698432 or -8.478253e-37
        VPM DMA store (VDW) basic setup, word 0x83904000
          bits    field                                   value  meaning
          31:30   id                                     10 = 2  2 (2)
          29:23   units                             0000111 = 7  7 (Number of rows of the block in memory; 0 means 128)
          22:16   depth                            0010000 = 16  16 (0x10) (Row length of the block in memory, in elements; 0 means 128)
          15      laned                                       0  no (Write as 0)
          14      horizontal                                  1  yes (Horizontal, else vertical)
          13:7    y                                 0000000 = 0  0 (Row of the first word in the VPM)
          6:3     x                                    0000 = 0  0 (Column of the first word in the VPM)
          2:0     mode                                  000 = 0  32-bit (0) (Element width and first part)
    "#]]
    .assert_eq(&explain(0xe002_1c67_8390_4000));
}
