//! Compilation ends for any source: patterns of hostile sources, each at several sizes.
//!
//! Each source compiles to a program, or to an error with a place. Sizes at which a pattern once exhausted the stack, took gigabytes or minutes are refused
//! within the time and memory of a test.

use shader_compiler::limit::Limit;
use shader_compiler::{Error, MAX_SOURCE_BYTES, Options, compile, compile_module, read};
use v3d_sim::random::Random;

/// A pattern: its name, its source by size, and sizes with the limit that each exceeds, if it does.
struct Shape {
    name: &'static str,
    source: fn(usize) -> String,
    sizes: &'static [(usize, Option<&'static Limit>)],
}

/// A fragment shader of statements.
fn fragment(statements: &str) -> String {
    format!("@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> {{\n{statements}\n}}")
}

/// Concatenates a text for each number below `count`.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// Declarations that each use the previous one twice.
fn doubled(first: &str, count: usize, text: fn(usize, usize) -> String) -> String {
    format!("{first}\n{}", each(count, |n| text(n + 1, n) + "\n"))
}

const NESTING: Option<&Limit> = Some(&Limit::NESTING);
const PARTS: Option<&Limit> = Some(&Limit::PARTS);
const WORK: Option<&Limit> = Some(&Limit::WORK);
const PROGRAM_SIZE: Option<&Limit> = Some(&Limit::PROGRAM_SIZE);

const SHAPES: &[Shape] = &[
    Shape {
        name: "a sum",
        source: |n| fragment(&format!("return vec4({}x);", "x + ".repeat(n))),
        sizes: &[(300, None), (900, None), (5000, NESTING), (60_000, NESTING)],
    },
    Shape {
        name: "unary minus, with spaces",
        source: |n| fragment(&format!("return vec4({}x);", "- ".repeat(n))),
        sizes: &[(100, None), (5000, NESTING), (100_000, NESTING)],
    },
    Shape {
        name: "not",
        source: |n| fragment(&format!("return vec4(f32({}(x > 1.0)));", "! ".repeat(n))),
        sizes: &[(100, None), (100_000, NESTING)],
    },
    Shape {
        name: "swizzles",
        source: |n| fragment(&format!("let v = vec4(x); return v{};", ".wzyx".repeat(n))),
        sizes: &[(300, None), (900, None), (40_000, NESTING)],
    },
    Shape {
        name: "indices",
        source: |n| fragment(&format!("let v = array(array(x)); return vec4(v[0][0]{});", "[0]".repeat(n))),
        sizes: &[(0, None), (40_000, NESTING)],
    },
    Shape {
        name: "comparisons",
        source: |n| fragment(&format!("return vec4(f32((x > 1.0){}));", " == (x > 2.0)".repeat(n))),
        sizes: &[(100, None), (400, None), (15_000, NESTING)],
    },
    Shape {
        name: "conditions of conditions",
        source: |n| {
            let conditions = doubled("let m0 = x > 0.5;", n, |next, one| {
                format!("let m{next} = (m{one} | (x > {one}.25)) & (m{one} | (x < {one}.75));")
            });
            fragment(&format!("{conditions} return vec4(f32(m{n}));"))
        },
        sizes: &[(8, None), (60, None)],
    },
    Shape {
        name: "angle brackets",
        source: |n| fragment(&format!("let y = {}x; return vec4(y);", "x<".repeat(n))),
        sizes: &[(60_000, NESTING)],
    },
    Shape {
        name: "parentheses",
        source: |n| fragment(&format!("return vec4({}x{});", "(".repeat(n), ")".repeat(n))),
        sizes: &[(50, None), (50_000, NESTING)],
    },
    Shape {
        name: "blocks",
        source: |n| fragment(&format!("{}{} return vec4(x);", "{".repeat(n), "}".repeat(n))),
        sizes: &[(100, None), (50_000, NESTING)],
    },
    Shape {
        name: "else if",
        source: |n| {
            fragment(&format!(
                "var y = x; {}{{ y = 3.0; }} return vec4(y);",
                "if (y > 1.0) { y -= 1.5; } else ".repeat(n)
            ))
        },
        sizes: &[(50, None), (7000, NESTING)],
    },
    Shape {
        name: "types in types",
        source: |n| {
            format!("var<private> a: {}f32{};\n{}", "array<".repeat(n), ", 1>".repeat(n), fragment("return vec4(x);"))
        },
        sizes: &[(30, None), (20_000, NESTING)],
    },
    Shape {
        name: "constants of constants",
        source: |n| {
            let constants =
                doubled("const c0 = array(1, 2);", n, |next, one| format!("const c{next} = array(c{one}, c{one});"));
            format!("{constants}{}", fragment(&format!("return vec4(f32(c{n}{}));", "[1]".repeat(n + 1))))
        },
        sizes: &[(8, None), (23, PARTS), (60, PARTS)],
    },
    Shape {
        name: "constants of constants in blocks",
        source: |n| {
            let inside = "{ const c = array(c, c);".repeat(n);
            fragment(&format!(
                "const c = array(1, 2); {inside} let y = c{}; {} return vec4(x);",
                "[1]".repeat(n + 1),
                "}".repeat(n)
            ))
        },
        sizes: &[(8, None), (23, PARTS)],
    },
    Shape {
        name: "structures of structures",
        source: |n| {
            let structures = doubled("struct S0 { a: f32, b: f32 }", n, |next, one| {
                format!("struct S{next} {{ a: S{one}, b: S{one} }}")
            });
            let path = ".a".repeat(n + 1);
            format!(
                "{structures}@group(0) @binding(0) var<storage, read> s: S{n};\n{}",
                fragment(&format!("return vec4(s{path} + x);"))
            )
        },
        sizes: &[(8, None), (24, PARTS), (60, PARTS)],
    },
    Shape {
        name: "zeros",
        source: |n| fragment(&format!("let a = array<f32, {n}>(); return vec4(a[1]);")),
        sizes: &[(1000, None), (5000, Some(&Limit::VALUE_SIZE)), (1_000_000_000, PARTS)],
    },
    Shape {
        name: "values of values",
        source: |n| {
            let values =
                doubled("let v0 = array(x, x + 1.0);", n, |next, one| format!("let v{next} = array(v{one}, v{one});"));
            fragment(&format!("{values} return vec4(v{n}{});", "[1]".repeat(n + 1)))
        },
        sizes: &[(8, None), (23, Some(&Limit::VALUE_SIZE))],
    },
    Shape {
        name: "calls that double",
        source: |n| {
            let functions = doubled("fn g0(x: f32) -> f32 { return sin(x); }", n, |next, one| {
                format!("fn g{next}(x: f32) -> f32 {{ return g{one}(x) + g{one}(x + 1.0); }}")
            });
            format!("{functions}{}", fragment(&format!("return vec4(g{n}(x));")))
        },
        sizes: &[(5, None), (29, WORK)],
    },
    Shape {
        name: "calls of nothing that double",
        source: |n| {
            let functions = doubled("fn g0() {}", n, |next, one| format!("fn g{next}() {{ g{one}(); g{one}(); }}"));
            format!("{functions}{}", fragment(&format!("g{n}(); return vec4(x);")))
        },
        sizes: &[(8, None), (40, WORK)],
    },
    Shape {
        name: "loops in loops",
        source: |n| {
            let loops = each(n, |n| format!("for (var i{n} = 0; i{n} < 9; i{n}++) {{ "));
            fragment(&format!("var y = x; {loops} y = y * 1.1 + x; {} return vec4(y);", "}".repeat(n)))
        },
        sizes: &[(3, None), (5, None), (12, WORK)],
    },
    Shape {
        name: "loops in loops that elements leave",
        source: |n| {
            let loops = each(n, |n| format!("loop {{ if (y > {n}.0) {{ break; }} "));
            fragment(&format!("var y = x; {loops} y += 1.0; {} return vec4(y);", "}".repeat(n)))
        },
        sizes: &[(3, None), (12, WORK)],
    },
    Shape {
        name: "a switch in loops",
        source: |n| {
            let cases = each(n, |n| format!("case {n}: {{ y *= {n}.5; }} "));
            let switch = format!("switch (i32(y)) {{ {cases} default: {{}} }}");
            let loops = each(4, |n| format!("for (var i{n} = 0; i{n} < 60; i{n}++) {{ "));
            fragment(&format!("var y = x; {loops} {switch} }} }} }} }} return vec4(y);"))
        },
        sizes: &[(4, None), (12, None)],
    },
    Shape {
        name: "branches that return from calls with large variables",
        source: |n| {
            let variables = each(6, |n| format!("var v{n}: array<f32, 4000>; "));
            let branches = each(n, |n| format!("if (x > {n}.0) {{ return x; }} "));
            let function = format!("fn g(x: f32) -> f32 {{ {variables} {branches} return v0[0] + v5[1]; }}\n");
            function + &fragment("var y = 0.0; for (var i = 0; i < 60; i++) { y += g(x + y); } return vec4(y);")
        },
        sizes: &[(3, None), (2000, WORK)],
    },
    Shape {
        name: "large variables",
        source: |n| fragment(&format!("{} return vec4(x);", each(n, |n| format!("var v{n}: array<f32, 4096>; ")))),
        sizes: &[(7, None), (9, Some(&Limit::VARIABLE_SIZE)), (2000, Some(&Limit::VARIABLE_SIZE))],
    },
    Shape {
        name: "large uniforms",
        source: |n| {
            let uniforms = each(n, |n| format!("@group({n}) @binding(0) var<uniform> u{n}: array<vec4<f32>, 4096>;\n"));
            uniforms + &fragment("return vec4(x);")
        },
        sizes: &[(4, None), (3000, WORK)],
    },
    Shape {
        name: "indices of indices",
        source: |n| {
            let accesses = each(n, |n| format!("a[i32(y)][i32(y) + {n}] = y; y += a[i32(y) + 1][i32(x)]; "));
            fragment(&format!("var a: array<array<f32, 64>, 64>; var y = x; {accesses} return vec4(y);"))
        },
        sizes: &[(8, PROGRAM_SIZE), (400, WORK)],
    },
    Shape {
        name: "a long program",
        source: |n| fragment(&format!("var y = x; {} return vec4(y);", "y = y * x + 1.5; ".repeat(n))),
        sizes: &[(2000, None), (14_000, PROGRAM_SIZE)],
    },
    Shape {
        name: "a wide program",
        source: |n| {
            let minima = each(n, |n| format!("let a{n} = min(x, {n}.5); "));
            fragment(&format!("{minima} var y = x; {} return vec4(y);", each(n, |n| format!("y += a{n}; "))))
        },
        sizes: &[(40, None), (5000, PROGRAM_SIZE)],
    },
    Shape {
        name: "attributes",
        source: |n| {
            let attributes = each(n, |n| format!("@location({n}) a{n}: vec4<f32>, "));
            format!("@vertex fn v({attributes}) -> @builtin(position) vec4<f32> {{ return a0; }}")
        },
        sizes: &[(5, None), (1000, Some(&Limit::ATTRIBUTE_COUNT)), (2000, Some(&Limit::LOCATION))],
    },
    Shape {
        name: "the number of a location",
        source: |n| format!("@fragment fn f(@location({n}) x: f32) -> @location(0) vec4<f32> {{ return vec4(x); }}"),
        sizes: &[(1023, None), (1024, Some(&Limit::LOCATION)), (4_294_967_295, Some(&Limit::LOCATION))],
    },
    Shape {
        name: "the number of a location in a structure",
        source: |n| {
            format!(
                "struct S {{ @location({n}) x: f32 }}\n@fragment fn f(s: S) -> @location(0) vec4<f32> {{ return vec4(s.x); }}"
            )
        },
        sizes: &[(1023, None), (4_294_967_295, Some(&Limit::LOCATION))],
    },
    Shape {
        name: "a megabyte of a sum",
        source: |n| fragment(&format!("return vec4({}x);", "x+".repeat(n))),
        sizes: &[(500_000, Some(&Limit::SOURCE_SIZE))],
    },
];

/// Checks the result of compiling a source: a program, or an error for the expected limit with a place in the source.
fn check(shape: &Shape, size: usize, expected: Option<&'static Limit>) -> Result<(), String> {
    let source = (shape.source)(size);
    let error = match (compile(&source, "test.wgsl", &Options::default()), expected) {
        (Ok(_), None) => return Ok(()),
        (Ok(_), Some(limit)) => return Err(format!("compiles, and is not refused by {}", limit.name)),
        (Err(error), _) => error,
    };
    if error.limit != expected {
        return Err(format!("{:.300}", error.rendered));
    }
    let place = error.place.as_ref().and_then(|(range, _)| source.get(range.clone()));
    if place.is_none_or(str::is_empty) || !error.rendered.contains("test.wgsl:") {
        return Err(format!("{:?} is no place: {:.300}", error.place, error.rendered));
    }
    Ok(())
}

/// Checks all sizes of patterns.
fn check_all<'s>(shapes: impl Iterator<Item = &'s Shape>) {
    let cases = shapes.flat_map(|shape| shape.sizes.iter().map(move |&(size, expected)| (shape, size, expected)));
    let results = cases.map(|(shape, size, expected)| (shape.name, size, check(shape, size, expected)));
    let wrong: Vec<_> =
        results.filter_map(|(name, size, result)| Some(format!("{name}, {size}: {}", result.err()?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shapes_of_any_size_become_programs_or_errors_at_a_place() {
    check_all(SHAPES.iter());
}

/// With a stack of half a megabyte, which is less than a server's threads have.
#[test]
fn a_small_stack_of_the_caller_is_enough() {
    let small = std::thread::Builder::new().stack_size(512 << 10);
    let nested = |shape: &&Shape| shape.sizes.iter().any(|(_, limit)| *limit == NESTING);
    small.spawn(move || check_all(SHAPES.iter().filter(nested))).unwrap().join().unwrap();
}

fn read_and_compile(source: &[u8], path: &str) -> Result<usize, Error> {
    let parsed = read(source, path)?;
    compile_module(&parsed.module, &parsed.text, path, &Options::default()).map(|programs| programs.len())
}

#[test]
fn a_megabyte_of_nonsense_is_an_error() {
    let mut random = Random::named("nonsense");
    let mut text = |alphabet: &[u8], count: usize| -> Vec<u8> {
        (0..count).map(|_| alphabet[random.below(alphabet.len() as u32) as usize]).collect()
    };
    let everything: Vec<u8> = (0..=255).collect();
    let of_wgsl = b"abcxfn0159.,;:(){}[]<>+-*/=!&|@ \n";
    for (alphabet, path) in [
        (everything.as_slice(), "a.wgsl"),
        (everything.as_slice(), "a.spv"),
        (everything.as_slice(), "a.frag"),
        (of_wgsl, "a.wgsl"),
        (of_wgsl, "a.frag"),
    ] {
        for count in [100, 10_000, MAX_SOURCE_BYTES, 1 << 20] {
            let error = read_and_compile(&text(alphabet, count), path).unwrap_err();
            assert!(!error.message.contains("a fault of the compiler"), "{path}, {count}: {}", error.message);
        }
    }
    let error = read_and_compile(&text(of_wgsl, 1 << 20), "a.wgsl").unwrap_err();
    assert_eq!(error.limit, Some(&Limit::SOURCE_SIZE));
    assert!(error.place.is_some_and(|(place, _)| place.start == MAX_SOURCE_BYTES));
}

#[test]
fn glsl_is_bounded_too() {
    let shader = |more: &str, body: &str| {
        format!("#version 450\n{more}layout(location = 0) out vec4 color;\nvoid main() {{ color = vec4({body}); }}")
    };
    let check = |source: String, expected: Option<&'static Limit>| {
        let limit = read_and_compile(source.as_bytes(), "a.frag").map_err(|error| error.limit);
        assert_eq!(limit, expected.map_or(Ok(1), |limit| Err(Some(limit))), "{source:.80}");
    };
    check(shader("", &format!("{}1.0", "1.0 + ".repeat(200))), None);
    check(shader("", &format!("{}1.0", "1.0 + ".repeat(20_000))), NESTING);
    check(shader("", &format!("{}1.0", "- ".repeat(20_000))), NESTING);
    let doubled = |count| each(count, |n| format!("#define M{} (M{n} + M{n})\n", n + 1));
    check(shader(&format!("#define M0 1.0\n{}", doubled(5)), "M5"), None);
    check(shader(&format!("#define M0 1.0\n{}", doubled(40)), "M40"), PARTS);
}
