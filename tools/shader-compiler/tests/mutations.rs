//! The compiler never panics: sources with random mistakes compile to programs or errors.
//!
//! The sources are those of this crate's tests; `WGSL_INPUTS` names a folder with more, `MUTATIONS` sets the number of mutations, and `SEED` the first seed.
//! A source that causes a panic is printed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use shader_compiler::{Options, compile};

#[path = "oracle/expressions.rs"]
#[expect(dead_code, reason = "only the sources are of interest here")]
mod expressions;
#[path = "oracle/programs.rs"]
#[expect(dead_code, reason = "only the sources are of interest here")]
mod programs;
#[path = "oracle/random.rs"]
mod random;

use random::Random;

/// Number of mutated sources.
const COUNT: u64 = 1500;
/// Maximum size in bytes of a source that is mutated: longer ones take too long to compile.
const MAX_BYTES: usize = 6000;

/// The class of a token: tokens of the same class can replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    Word,
    Number,
    Operator,
    Other,
}

/// A source as tokens; white space belongs to the token before it.
fn tokens(source: &str) -> Vec<(TokenKind, &str)> {
    let kind_of = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '_' | '@' => TokenKind::Word,
        '0'..='9' => TokenKind::Number,
        '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '&' | '|' | '^' | '~' => TokenKind::Operator,
        _ => TokenKind::Other,
    };
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let kind = kind_of(first);
        let belongs = |character: char| match kind {
            TokenKind::Word => matches!(kind_of(character), TokenKind::Word | TokenKind::Number),
            TokenKind::Number => matches!(kind_of(character), TokenKind::Word | TokenKind::Number) || character == '.',
            TokenKind::Operator => kind_of(character) == TokenKind::Operator,
            TokenKind::Other => false,
        };
        let end = rest[first.len_utf8()..].find(|character| !belongs(character));
        let end = end.map_or(rest.len(), |end| end + first.len_utf8());
        let space = rest[end..].find(|character: char| !character.is_whitespace()).unwrap_or(rest.len() - end);
        let (token, after) = rest.split_at(end + space);
        tokens.push((kind, token));
        rest = after;
    }
    tokens
}

/// A source with one to three mistakes.
fn mutated(random: &mut Random, source: &str, pool: &[(TokenKind, &str)]) -> String {
    let mut pieces = tokens(source);
    for _ in 0..1 + random.below(3) {
        if pieces.is_empty() {
            break;
        }
        let at = random.below(pieces.len() as u64) as usize;
        match random.below(24) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at]),
            2 => {
                let other = random.below(pieces.len() as u64) as usize;
                pieces.swap(at, other);
            }
            3 => pieces[at] = pool[random.below(pool.len() as u64) as usize],
            4..10 if pieces[at].0 == TokenKind::Number => {
                let numbers = ["0", "1", "17", "64", "4294967295u", "-2147483648", "1e38", "0x1p-140", "2147483647i"];
                pieces[at].1 = numbers[random.below(numbers.len() as u64) as usize];
            }
            // Another token of the same class in the same source, so that many mutations are still valid.
            _ => {
                let kind = pieces[at].0;
                for _ in 0..20 {
                    let other = pieces[random.below(pieces.len() as u64) as usize];
                    if other.0 == kind {
                        pieces[at] = other;
                        break;
                    }
                }
            }
        }
    }
    pieces.iter().map(|(_, token)| *token).collect()
}

/// Features that are rare in the other sources: memory in all stages, half floats, textures.
const MEMORY: &str = "enable f16;
struct Item { a: f16, kind: u32, c: vec3<f16>, e: mat2x2<f16> }
struct Wide { a: f16, kind: u32, c: vec4<f32> }
struct U { scale: f32, table: array<vec4<f32>, 32>, items: array<Wide, 3>, short: array<vec4<i32>, 5> }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<storage, read> s: array<Item>;
@group(0) @binding(2) var<storage, read> h: array<f16, 33>;
struct Out { @builtin(position) p: vec4<f32>, @location(0) v: vec2<f32>, @location(1) @interpolate(flat, either) n: i32, @location(2) point_size: f32 }
@vertex fn vs_main(@builtin(vertex_index) i: u32, @builtin(instance_index) k: u32, @location(0) a: vec3<f16>) -> Out {
    let item = s[i % arrayLength(&s)];
    return Out(vec4(u.table[k].xy * f32(a.z), f32(item.c.y), 1.0), vec2<f32>(a.xy), u.short[i].x, f32(a.y));
}
@fragment fn fs_main(@location(0) v: vec2<f32>, @location(1) @interpolate(flat, either) n: i32, @location(7) point_coord: vec2<f32>) -> @location(0) vec4<f32> {
    var sum = h[n] * f16(v.x);
    for (var k = 0; k < n; k++) { sum += s[k].e[1].x + u.items[k].a; }
    return vec4(f32(sum), pow(v.y, point_coord.x), log(v.x) / exp(v.y), f32(u.items[2].kind));
}";

const TEXTURES: &str = "@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var c: texture_cube<f32>;
@group(0) @binding(2) var d: texture_depth_2d;
@group(0) @binding(3) var e: texture_depth_cube;
@group(0) @binding(4) var s: sampler;
@group(0) @binding(5) var k: sampler_comparison;
@fragment fn fs_main(@location(0) v: vec3<f32>, @location(1) n: vec2<f32>) -> @location(0) vec4<f32> {
    var sum = textureSample(c, s, v) + textureGather(2, c, s, v) + textureGather(1, t, s, n, vec2(1, -2));
    for (var i = 0; i < 20; i++) {
        if (sum.x > v.y) { return sum; }
        sum += textureLoad(t, vec2(i, 3), 1) + textureSampleLevel(t, s, n, f32(i), vec2(1, 1));
    }
    let shade = textureSampleCompare(d, k, n, v.z) * textureSampleCompareLevel(e, k, v, n.x);
    return sum * shade + textureGatherCompare(e, k, v, n.y) + textureSampleGrad(c, s, v, v.yzx, v.zxy) + f32(textureDimensions(c).x);
}";

fn sources() -> Vec<String> {
    let mut sources = [MEMORY, TEXTURES].repeat(3).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let own =
        ["tests/captures", "../../qpu-shaders/shaders"].map(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let more = std::env::var_os("WGSL_INPUTS").map(std::path::PathBuf::from);
    for folder in own.into_iter().chain(more) {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "wgsl"));
        sources.extend(paths.iter().map(|path| std::fs::read_to_string(path).unwrap()));
    }
    let suites = programs::Suite::ALL.into_iter();
    sources.extend(suites.flat_map(|(_, suite)| (0..3).map(move |number| programs::source(suite, number))));
    sources.extend(expressions::ALL.iter().step_by(9).map(expressions::source));
    sources.retain(|source| source.len() <= MAX_BYTES);
    sources
}

#[test]
fn sources_with_mistakes_become_programs_or_errors() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (count, seed) = (number("MUTATIONS", COUNT), number("SEED", 1));
    let sources = sources();
    let pool: Vec<(TokenKind, &str)> = sources.iter().flat_map(|source| tokens(source)).collect();
    let (mut compiled, mut panics) = (0u64, 0);
    for number in 0..count {
        let mut random = Random::new(seed << 32 | number);
        let source = &sources[random.below(sources.len() as u64) as usize];
        let source = mutated(&mut random, source, &pool);
        match catch_unwind(AssertUnwindSafe(|| compile(&source, "mutated.wgsl", &Options::default()))) {
            Ok(Ok(_)) => compiled += 1,
            Ok(Err(error)) => {
                assert!(!error.message.contains("a fault of the compiler"), "{error}\n{source}");
            }
            Err(_) => {
                panics += 1;
                println!("number {number} of seed {seed} panics:\n{source}\n");
            }
        }
    }
    assert_eq!(panics, 0, "of {count} sources");
    println!("{compiled} of {count} compile");
    assert!(compiled * 30 > count, "{compiled} of {count} compile: too few for a test of all of the compiler");
}
