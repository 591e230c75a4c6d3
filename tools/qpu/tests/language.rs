//! The language: results of directives, expressions and the assembler's choices.

use qpu::interface::{AttributeKind, PrimitiveKind, StreamItem, TextureKind};
use qpu::{Assembly, Code, Options, Source, assemble};

fn try_assembly(source: &str) -> Assembly {
    let result = assemble(&[Source::new("case", source)], &Options::default());
    result.unwrap_or_else(|diagnostics| panic!("{source}\n{diagnostics}"))
}

/// Two sources that must assemble to the same words.
fn same(source: &str, plain: &str) {
    let (words, expected) = (try_assembly(source).words, try_assembly(plain).words);
    let show = |words: &[u64]| words.iter().map(|word| format!("{word:016x}")).collect::<Vec<_>>().join("\n");
    assert!(!expected.is_empty());
    assert_eq!(show(&words), show(&expected), "{source}");
}

/// An expression with its value as 32 bits.
fn value(expression: &str, bits: u32) {
    let words = try_assembly(&format!(".int {expression}, 0")).words;
    assert_eq!(words, [u64::from(bits)], "{expression} = {:#x}", words[0]);
}

/// A distance between labels stays one while numbers are added to it, if the word is one that can hold any distance.
#[test]
fn distances_between_labels_have_relocations() {
    let assembly = try_assembly(
        "ldi r0, :b - :a\nnop\n.set d, 16 - (:a - :b)\n:a mov rb1, d - 4\nmov r0, 1\n:b brr -, ra2, r:a + 8\n\
        bra -, ra4, :b - :a\nldi r1, 8 * (:b - :a)\n.clone :a, 1",
    );
    let found: Vec<_> =
        assembly.relocations.iter().map(|found| (found.word, found.to, found.from, found.addend)).collect();
    assert_eq!(found, [(0, 32, 16, 0), (2, 32, 16, 12), (4, 16, 64, 8), (5, 32, 16, 0), (7, 32, 16, 12)]);
    for relocation in &assembly.relocations {
        assert_eq!(assembly.words[relocation.word] as u32 as i32, relocation.value() as i32);
    }
    assert!(assembly.addresses_used.is_some());
    assert_eq!(try_assembly("ldi r0, :b - :a\n:a nop\n:b").addresses_used, None);
    assert!(try_assembly("add r0, r0, :b - :a\n:a nop\n:b").addresses_used.is_some());
    let forward = try_assembly(".clone :a, 1\nnop\n:a ldi r0, :b - :a\nnop\n:b");
    assert_eq!(forward.relocations.iter().map(|found| found.word).collect::<Vec<_>>(), [0, 2]);
}

/// A label stays where it is when `.back` inserts an instruction there.
#[test]
fn labels_stay_before_what_is_inserted() {
    let assembly = try_assembly("nop\n:a mov r0, 1\n.back 1\nbrr -, r:a\n.endb\nnop\nnop");
    assert_eq!(assembly.label("a"), Some(8));
    assert_eq!(assembly.info.iter().map(|info| info.target).collect::<Vec<_>>(), [false, true, false, false, false]);
}

#[test]
fn integer_expressions() {
    value("1 + 2 * 3", 7);
    value("(1 + 2) * 3", 9);
    value("2 ** 3 ** 2", 64);
    value("-2 ** 2", 4);
    value("7 / 2 + 7 % 4", 6);
    value("1 << 4 | 1 << 2", 0x14);
    value("0xff & ~0x0f", 0xf0);
    value("5 ^ 3", 6);
    value("5 !^ 3", !6);
    value("-8 >> 1", 0xffff_fffc);
    value("(-8 >>> 60)", 15);
    value("1 << -1", 0);
    value("0x80000001 ><< 4", 0x18);
    value("0x18 >>< 4", 0x8000_0001);
    value("3 < 4 && 4 <= 4 || 0", 1);
    value("1 ^^ 1", 0);
    value("1 !^^ 1", 1);
    value("3 <=> 4", 0xffff_ffff);
    value("!5 + !0", 1);
    value("1 === 1.0", 0);
    value("1 == 1.0", 1);
    value("abs(-3)", 3);
    value("0b1010 + 0o17 + 017 + 0d10 + 0x10", 10 + 15 + 15 + 10 + 16);
}

#[test]
fn float_expressions() {
    value("1.5", 0x3fc0_0000);
    value("1.0 / 4", 0x3e80_0000);
    value("sqrt 16", 0x4080_0000);
    value("exp2(3)", 0x4100_0000);
    value("log2 8", 0x4040_0000);
    value("cos 0", 0x3f80_0000);
    value("1.5 << 2", 0x40c0_0000);
    value("1.5e1", 0x4170_0000);
    value("15e-1", 0x3fc0_0000);
}

/// Rounding to integers, for both signs: other assemblers are known to get these wrong.
#[test]
fn floor_and_ceiling() {
    value("floor 1.5", 1);
    value("floor(-1.5)", 0xffff_fffe);
    value("ceil 1.5", 2);
    value("ceil(-1.5)", 0xffff_ffff);
    value("floor 2.0", 2);
    value("ceil(-2.0)", 0xffff_fffe);
}

#[test]
fn data_of_all_sizes() {
    let words = |source: &str| try_assembly(source).words;
    assert_eq!(words(".byte 1, 2, 3, 4, 5, 6, 7, 8"), [0x0807_0605_0403_0201]);
    assert_eq!(words(".short 1, 2\n.int 3"), [0x0000_0003_0002_0001]);
    assert_eq!(words(".long 0x123456789abcdef0"), [0x1234_5678_9abc_def0]);
    assert_eq!(words(".float 1.0, -2"), [0xc000_0000_3f80_0000]);
    assert_eq!(words(".double 1.0"), [0x3ff0_0000_0000_0000]);
    assert_eq!(words(".half 1.0, 0.5, -1, 65504"), [0x7bff_bc00_3800_3c00]);
    assert_eq!(words(".bit 1,0,1,1\n.int4 5\n.byte 6\n.short 7\n.int 8"), [0x0000_0008_0007_065d]);
    assert_eq!(words(".byte 1\n.align 4\n.int 2"), [0x0000_0002_0000_0001]);
}

#[test]
fn constants_functions_and_scopes() {
    same(".set a, 3\n.set b, a + 1\n.set a, 5\nldi r0, a + b", "ldi r0, 9");
    same(".set f(x, y) x * 10 + y\nldi r0, f(2, f(0, 3))", "ldi r0, 23");
    same(".set reg, ra3\nmov reg, r0; fmul r0, reg + 1, reg + 1", "mov ra3, r0; fmul r0, ra4, ra4");
    same(".set x, 1\n.local\n.lset x, 2\nldi r0, x\n.endloc\nldi r1, x", "ldi r0, 2\nldi r1, 1");
    same(".const c, 4\n.unset c\n.const c, 5\nldi r0, c", "ldi r0, 5");
    same(
        ".func f(x)\n.if x > 2\nx * 2\n.else\nx * 3\n.endif\n.endf\nldi r0, f(2)\nldi r1, f(3)",
        "ldi r0, 6\nldi r1, 6",
    );
    same(".ifset undefined\nldi r0, 1\n.else\nldi r0, 2\n.endif", "ldi r0, 2");
    same(".set half_a, ra5.16ai\nadd r0, half_a, r1", "add r0, ra5.16ai, r1");
}

#[test]
fn conditions() {
    let pick = |n: u32| {
        format!(
            ".set n, {n}\n.if n == 0\nldi r0, 10\n.elseif n == 1\nldi r0, 11\n.elseif n == 2\nldi r0, 12\n.else\nldi r0, 13\n.endif"
        )
    };
    for n in 0..4 {
        same(&pick(n), &format!("ldi r0, {}", 10 + n));
    }
    same(".if 0\n.if 1\nldi r0, 1\n.else\nldi r0, 2\n.endif\n.elseif 1\nldi r0, 3\n.endif", "ldi r0, 3");
    same(".if 0\nthis is not even text: ((\n.endif\nldi r0, 1", "ldi r0, 1");
    // The end of the file ends the block, with a warning.
    same("ldi r0, 1\n.if 0\nldi r0, 2", "ldi r0, 1");
    assert_eq!(try_assembly(".if 1\nnop").warnings.count(), (0, 1));
}

/// Repetitions inside each other and inside macros: another assembler is known to fail here.
#[test]
fn repetitions_nest() {
    same(
        ".rep i, 2\n.rep j, 3\nldi ra0 + i, j\n.endr\n.endr",
        "ldi ra0, 0\nldi ra0, 1\nldi ra0, 2\nldi ra1, 0\nldi ra1, 1\nldi ra1, 2",
    );
    same(
        ".macro m, n\n.rep i, n\n.if i % 2\nldi r0, i\n.endif\n.endr\n.endm\n.rep k, 2\nm 4\n.endr",
        "ldi r0, 1\nldi r0, 3\nldi r0, 1\nldi r0, 3",
    );
    same(".foreach r, ra0, rb1, r2\nmov r, r3\n.endfor", "mov ra0, r3\nmov rb1, r3\nmov r2, r3");
    same(".rep i, 0\nnot a line\n.endr\nnop", "nop");
}

#[test]
fn macros_take_values() {
    same(".macro twice, reg, n\nadd reg, reg, n\nadd reg, reg, n\n.endm\ntwice r0, 3", "add r0, r0, 3\nadd r0, r0, 3");
    same(
        ".macro go, link, target\nbrr link, target\nnop\nnop\nnop\n.endm\ngo ra5, r:1f\n:1\nnop",
        "brr ra5, 0\nnop\nnop\nnop\nnop",
    );
}

#[test]
fn labels_and_branches() {
    same(":a\nnop\nbrr -, r:a\nnop\nnop\nnop", "nop\nbrr -, -40\nnop\nnop\nnop");
    same("brr.anyz -, r:end\nnop\nnop\nnop\nnop\n:end\nnop", "brr.anyz -, 8\nnop\nnop\nnop\nnop\nnop");
    same(
        ":1\nbrr -, r:1f\nnop\nnop\nnop\n:1\nbrr -, r:1\nnop\nnop\nnop",
        "brr -, 0\nnop\nnop\nnop\nbrr -, -32\nnop\nnop\nnop",
    );
    same("brr -, r:t + 8\nnop\nnop\nnop\n:t\nnop\nnop", "brr -, 8\nnop\nnop\nnop\nnop\nnop");
    same("ldi r0, :end - :start\n:start\nnop\nnop\n:end\nnop", "ldi r0, 16\nnop\nnop\nnop");
    same("bra ra1, rb2, ra4, 16", "bra ra1, rb2, ra4, 16");
    let assembly = try_assembly("::start\nnop\n.global size, :end - :start\n:end\nnop");
    assert_eq!(assembly.globals, [("start".to_owned(), 0), ("size".to_owned(), 8)]);
    assert_eq!(assembly.label("end"), Some(8));
}

#[test]
fn code_is_inserted_and_copied() {
    same("ldi r0, 1\nldi r1, 2\nldi r2, 3\n.back 2\nldi r3, 4\n.endb", "ldi r0, 1\nldi r3, 4\nldi r1, 2\nldi r2, 3");
    // A branch that is moved keeps its target.
    same(
        ":a\nnop\nbrr -, r:a\n.back 1\nldi r0, 1\n.endb\nnop\nnop\nnop",
        ":a\nnop\nldi r0, 1\nbrr -, r:a\nnop\nnop\nnop",
    );
    same(":a\nldi r0, 1\nldi r1, 2\nnop\n.clone :a, 2", "ldi r0, 1\nldi r1, 2\nnop\nldi r0, 1\nldi r1, 2");
    same(".clone :a, 1\n:a\nldi r0, 1", "ldi r0, 1\nldi r0, 1");
}

#[test]
fn instructions_join_over_lines() {
    same("add r0, r0, r1;\n;fmul r2, r2, r3", "add r0, r0, r1; fmul r2, r2, r3");
    same("add r0, r0, r1;\n:\n;fmul r2, r2, r3", "add r0, r0, r1\nfmul r2, r2, r3");
    // An operation that does not fit becomes a separate instruction.
    same("add r0, r0, r1;\n;sub r2, r2, r3", "add r0, r0, r1\nsub r2, r2, r3");
    same("mov t0s, r0;\n;mov t1s, r1", "mov t0s, r0\nmov t1s, r1");
}

/// Words encoded by hand from the tables of the guide: the choices of ALU, file and small immediate.
#[test]
fn choices() {
    let word = |source: &str| try_assembly(source).words[0];
    let file_a = |word: u64| word >> 18 & 63;
    let file_b = |word: u64| word >> 12 & 63;
    let signal = |word: u64| word >> 60;
    // A register that is in both files is read through file B if file A is needed.
    let both = word("fmul r0, unif, ra5");
    assert_eq!((file_a(both), file_b(both)), (5, 32));
    // Write swap depends on the targets.
    assert_eq!(word("mov rb0, r0") >> 44 & 1, 1);
    assert_eq!(word("mov rb0, r0; mov ra0, r1") >> 44 & 1, 1);
    assert_eq!(word("mov ra0, r0; mov rb0, r1") >> 44 & 1, 0);
    // The first move takes the add ALU, and moves to the mul ALU for an operation that needs the add ALU.
    assert_eq!(word("mov r0, r1; add r2, r2, r3"), word("add r2, r2, r3; mov r0, r1"));
    // Small immediates: 15 is code 15, -16 code 16, 0.5 code 47.
    assert_eq!(file_b(word("add r0, r1, 15")), 15);
    assert_eq!(file_b(word("add r0, r1, -16")), 16);
    assert_eq!(file_b(word("fmul r0, r1, 0.5")), 47);
    // x + 16 is encoded as x - -16; shifts use five bits.
    assert_eq!(word("add r0, r1, 16"), word("sub r0, r1, -16"));
    assert_eq!(word("shl r0, r1, 24"), word("shl r0, r1, -8"));
    // A single constant is a load immediate for any value.
    assert_eq!(word("mov r0, 0x02020202"), 0xe002_0827_0202_0202);
    assert_eq!(signal(word("mov r0, 5")), 14);
    assert_eq!(signal(word("mov r0, 5; fmul r1, r2, r3")), 13);
    // A constant that is an operation on a small immediate: 64 is 8 * 8.
    let sixty_four = word("add r1, r1, r2; mov r0, 64");
    assert_eq!((signal(sixty_four), file_b(sixty_four), sixty_four >> 29 & 7), (13, 8, 2));
    // Zero needs no immediate.
    assert_eq!(signal(word("add r1, r1, r2; mov r0, 0; ldtmu0")), 10);
    // Rotations upwards by 1 to 15 are codes 49 to 63, by r5 code 48.
    assert_eq!(file_b(word("mov r0 << 3, r1")), 51);
    assert_eq!(file_b(word("mov r0, r1 >> 3")), 51);
    assert_eq!(file_b(word("mov r0, r1 << 3")), 61);
    assert_eq!(file_b(word("mov r0, r1 >> r5")), 48);
    // Per element constants: high bits above low bits.
    let elements = word("ldi r0, [0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,3]");
    assert_eq!(elements >> 57, 7 << 4 | 3);
    assert_eq!(elements & 0xffff_ffff, 0x800c_800a);
    assert_eq!(word("ldi r0, [0,1,-2,-1,0,0,0,0,0,0,0,0,0,0,0,0]") >> 57, 7 << 4 | 1);
    // Semaphores: 16 is added for acquire.
    assert_eq!(word("sacq -, 3") & 0x1f, 0x13);
    assert_eq!(word("mov -, srel5") & 0x1f, 5);
}

#[test]
fn interface_is_read() {
    let assembly = try_assembly(
        ".stage fragment\n.threads 2\n.uniform tint, vec4\n.uniform map, texture, 2\n.varying uv, 2\n\
        .varying shade\n.texture picture, 1\n.semaphore 3, 1, 2\nnop",
    );
    let interface = &assembly.interface;
    assert_eq!(interface.threads, Some(2));
    assert_eq!(interface.uniform_words(), 6);
    assert_eq!(interface.uniforms[1].offset_words, 4);
    assert_eq!(interface.varying_components(), 3);
    assert_eq!(interface.textures[0].unit, 1);
    let semaphore = &interface.semaphores[0];
    assert_eq!((semaphore.number, semaphore.acquires, semaphore.releases), (3, 1, 2));
    let wrong = |source: &str| {
        let result = assemble(&[Source::new("case", source)], &Options::default());
        result.err().and_then(|diagnostics| diagnostics.list.first().map(|diagnostic| diagnostic.code))
    };
    assert_eq!(wrong(".semaphore 16, 0, 0"), Some(Code::BadInterface));
    assert_eq!(wrong(".semaphore 1, -1, 0"), Some(Code::BadInterface));
    assert_eq!(wrong(".semaphore 1, 0, 0\n.semaphore 1, 0, 0"), Some(Code::InterfaceRedefined));
    assert_eq!(wrong(".semaphore 1, 0"), Some(Code::UnexpectedText));
}

#[test]
fn textures_have_their_words_among_the_uniforms() {
    let assembly = try_assembly(
        ".stage fragment\n.uniform tint, vec4\n.texture wood, 0, 2d\n.uniform shine, float\n.texture sky, 1, cube, bias, 2\n\
        .texture own, 1\n.uniform last, int\nnop",
    );
    let stream: Vec<(&str, u32, u32)> = assembly
        .interface
        .stream()
        .iter()
        .map(|item| match item {
            StreamItem::Uniform(uniform) => (uniform.name.as_str(), item.offset_words(), item.words()),
            StreamItem::Texture(texture, _) => (texture.name.as_str(), item.offset_words(), item.words()),
        })
        .collect();
    // s and t take a word each; s, t, r and b four, in each of two lookups.
    assert_eq!(stream, [("tint", 0, 4), ("wood", 4, 2), ("shine", 6, 1), ("sky", 7, 8), ("last", 15, 1)]);
    assert_eq!(assembly.interface.uniform_words(), 16);
    let kinds: Vec<_> = assembly.interface.textures.iter().map(|texture| texture.words.map(|w| w.kind)).collect();
    assert_eq!(kinds, [Some(TextureKind::TwoDimensional), Some(TextureKind::Cube), None]);
    let fails = |source: &str| assemble(&[Source::new("case", source)], &Options::default()).is_err();
    assert!(
        fails(".texture wood, 0, 3d") && fails(".texture wood, 0, 2d, 0") && fails(".texture wood, 0, 2d, bias, x")
    );
    // An attribute and a varying may have the same name; no others may.
    try_assembly(".attribute colour, 4\n.varying colour, 4\nnop");
    assert!(fails(".attribute colour, 4\n.attribute colour, 4") && fails(".varying colour\n.uniform colour, vec4"));
}

#[test]
fn attributes_take_whole_words() {
    let assembly = try_assembly(
        ".attribute position, 3\n.attribute normal, 4, f16\n.attribute bones, 3, u8\n.attribute color, 4, unorm8\n\
        .attribute weights, 3, snorm16\n.attribute last, 5, i8\nnop",
    );
    let attributes: Vec<_> =
        assembly.interface.attributes.iter().map(|attribute| (attribute.offset_words, attribute.words())).collect();
    assert_eq!(attributes, [(0, 3), (3, 2), (5, 1), (6, 1), (7, 2), (9, 2)]);
    assert_eq!(assembly.interface.attribute_words(), 11);
    assert_eq!(assembly.interface.attributes[4].kind, AttributeKind::Snorm16);
    let wrong = assemble(&[Source::new("case", ".attribute color, 4, rgb")], &Options::default()).unwrap_err();
    assert_eq!(wrong.list[0].code, Code::BadInterface);
}

#[test]
fn points_and_lines_have_varyings_of_their_own() {
    let read = |source: &str| {
        let interface = try_assembly(source).interface;
        (interface.primitive, interface.varyings_read(), interface.varying_components())
    };
    assert_eq!(read(".varying uv, 2\nnop"), (None, 2, 2));
    assert_eq!(read(".primitive lines\n.varying uv, 2\nnop"), (Some(PrimitiveKind::Lines), 3, 2));
    assert_eq!(read(".primitive points\n.varying uv, 2\nnop"), (Some(PrimitiveKind::Points), 4, 2));
    assert!(try_assembly(".stage vertex\n.point_size\nnop").interface.point_size);
    let wrong = |source: &str| assemble(&[Source::new("case", source)], &Options::default()).unwrap_err().list[0].code;
    assert_eq!(wrong(".primitive quads"), Code::BadInterface);
    assert_eq!(wrong(".primitive points\n.primitive points"), Code::InterfaceRedefined);
    assert_eq!(wrong(".point_size\n.point_size"), Code::InterfaceRedefined);
}

#[test]
fn definitions_and_includes_from_outside() {
    let options = Options {
        defines: vec![("N".to_owned(), "3 + 4".to_owned())],
        includes: vec![Source::new("half.qinc", ".set half(x) x / 2")],
        ..Options::default()
    };
    let source = Source::new("main", ".include \"half.qinc\"\nldi r0, half(N * 2)");
    let assembly = assemble(&[source], &options).expect("assembles");
    assert_eq!(assembly.words[0] & 0xffff_ffff, 7);
}

#[test]
fn standard_include_has_the_guides_words() {
    // Set-up words of the published coordinate shader program: DMA store of 7 rows of 16 words.
    same(".include <vc4.qinc>\nldi r0, vdw_setup_0(7, 16, dma_h32(0, 0))", "ldi r0, 0x83904000");
    same(".include <vc4.qinc>\nldi r0, vpm_setup(0, 1, h32(2)) | 0x17b80000 - 0x17b80000", "ldi r0, 0x1a02");
}

/// The include file's functions about operands, and its mathematics, as assertions in the source.
#[test]
fn standard_include_answers_questions() {
    let source = "
.include <vc4.qinc>
.assert isConstant(5) && isConstant(-5) && isConstant(1.5) && !isConstant(r0) && !isConstant([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1])
.assert isLdPE([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-1]) && isLdPES([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-1]) && !isLdPEU([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-2])
.assert isLdPEU([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3]) && !isLdPES([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3]) && !isLdPE(7)
.assert isRegister(ra0) && isRegister(r5) && !isRegister(sacq3) && isSemaphore(sacq3) && isSemaphore(srel0) && !isSemaphore(rb2) && !isRegister(3)
.assert isRegfileA(ra3) && !isRegfileA(rb3) && isRegfileB(rb3) && isRegfileA(unif) && isRegfileB(unif)
.assert isAccu(r0) && isAccu(r3) && !isAccu(ra1) && isReadable(unif) && !isWritable(unif) && isReadable(r5) && isRotate(r0<<3) && !isRotate(r0)
.assert isLabel(:x) && !isLabel(r0) && isSmallImmd(15) && isSmallImmd(-16) && !isSmallImmd(16) && isSmallImmd(0x3f800000)
.assert ilog2(1) == 0 && ilog2(1024) == 10 && countBits(0xff) == 8 && reverseBits8(1) == 0x80 && reverseBits64(1) == 1<<63 && min(1,2)==1 && max(1,2)==2
.assert min(-1, 1.5) == -1 && max(-1, 1.5) == 1.5
:x
nop";
    let assembly = try_assembly(source);
    assert_eq!(assembly.words.len(), 1);
}

#[test]
fn copied_branches_keep_their_distance() {
    let words = try_assembly(":a\nbrr -, r:b\nnop\nnop\nnop\n:b\nnop\n.clone :a, 1\nnop\nnop\nnop").words;
    assert_eq!(words[0], words[5]);
    let words = try_assembly(".clone :a, 1\nnop\nnop\nnop\n:a\nbrr -, r:a\nnop\nnop\nnop").words;
    assert_eq!((words[0], words[4] & 0xffff_ffff), (words[4], 0xffff_ffe0));
}

/// Bit 3 of the pack field, which the mul ALU ignores: only `.pm8` sets it.
#[test]
fn the_ignored_bit_of_the_pack_field_is_written_on_demand() {
    let pack = |source: &str| try_assembly(source).words.iter().map(|word| word >> 52 & 31).collect::<Vec<_>>();
    const PM: u64 = 16;
    assert_eq!(pack("fmul r0.8abcdsf, r1, r2\nfmul.pm8 r0.8abcdsf, r1, r2"), [PM | 3, PM | 11]);
    assert_eq!(pack("fadd r3, r1, r2; mov r0.8csf, r1\nfadd.pm8 r3, r1, r2; mov r0.8csf, r1"), [PM | 6, PM | 14]);
    assert_eq!(pack("mov.pm r0, r1\nmov.pm8 r0, r1\nmov.pm8 r0, 1\nldi.pm8 r0, 0x12345"), [PM, PM | 8, PM | 8, PM | 8]);
}

/// The output of a newer vc4asm for a fragment shader, which its author ran on boards [kumaashi fs_normal_z.h].
#[test]
fn words_with_the_ignored_bit_come_back() {
    let words = [
        0x1000_49e0_808e_7036,
        0x11c2_48a3_819e_7540,
        0x11d0_49e3_809e_7009,
        0x11e0_49e3_809e_7012,
        0xd1f0_49e3_809e_003f,
        0xe182_0827_0000_0001,
    ];
    let text = qpu::disassemble(&words, qpu::disassembler::Style::default());
    assert!(!text.contains(".int") && !text.contains(".long"), "{text}");
    assert_eq!(try_assembly(&text).words, words, "{text}");
}
