//! Error messages for mistakes in a source: they have names, types and places, and no numbers of expressions.

use shader_compiler::{Options, compile};

/// Compiles a source with a mistake; checks the message and the text at its place.
fn check(source: &str, message: &str, at: &str) {
    let error = compile(source, "test.wgsl", &Options::default()).unwrap_err();
    assert_eq!(error.message, message, "{}", error.rendered);
    assert_eq!(error.limit, None);
    assert_eq!(error.place.map(|(range, _)| &source[range]), Some(at), "{}", error.rendered);
    assert!(error.rendered.contains("test.wgsl:"), "{}", error.rendered);
}

/// A fragment shader with this body, in which `x` is an f32.
fn fragment(body: &str) -> String {
    format!(
        "fn two(v: vec2<f32>) -> f32 {{ return v.x; }}
        @fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> {{ {body} }}"
    )
}

#[test]
fn operands_that_do_not_fit() {
    let sizes = ": both vectors need the same number of components";
    let numbers = ": WGSL converts no variable by itself; write f32(n), i32(x) or u32(x)";
    for (body, message, at) in [
        (
            "let a = vec2(x); let b = vec3(x); return vec4(a + b, 1.0);",
            format!("`+` does not take vec2<f32> and vec3<f32>{sizes}"),
            "a + b",
        ),
        ("let n = 2; return vec4(x * n);", format!("`*` does not take f32 and i32{numbers}"), "x * n"),
        ("let n = 2u; return vec4(f32(n < x));", format!("`<` does not take u32 and f32{numbers}"), "n < x"),
        ("return vec4(f32(!x));", "`!` does not take f32".to_owned(), "!x"),
    ] {
        check(&fragment(body), &message, at);
    }
}

#[test]
fn values_of_another_type() {
    for (body, message, at) in [
        (
            "var a = vec3(1.0); a = vec2(x); return vec4(a, 1.0);",
            "a variable of type vec3<f32> cannot take vec2<f32>",
            "vec2(x)",
        ),
        (
            "var a = vec3(1.0); a.x = vec2(x); return vec4(a, 1.0);",
            "a variable of type f32 cannot take vec2<f32>",
            "vec2(x)",
        ),
        ("return vec3(x);", "`f` returns vec4<f32>, and this is vec3<f32>", "vec3(x)"),
        ("return vec4(two(vec3(x)));", "`v` of `two` is vec2<f32>, and this is vec3<f32>", "vec3(x)"),
        ("return vec4(two(vec2(x), x));", "`two` takes 1 argument, not 2", "two(vec2(x), x)"),
    ] {
        check(&fragment(body), message, at);
    }
    let condition = fragment("let y = x * 2.0; if y { return vec4(1.0); } return vec4(0.0);");
    let error = compile(&condition, "test.wgsl", &Options::default()).unwrap_err();
    assert_eq!(error.message, "a condition is a bool, and this is f32");
}

#[test]
fn paths_without_a_return() {
    let said =
        |name: &str, ty: &str| format!("`{name}` returns {ty}, and comes to its end without a `return` on some path");
    check(
        "fn pick(x: f32) -> f32 { if x > 1.0 { return 2.0; } }
        @fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> { return vec4(pick(x)); }",
        &said("pick", "f32"),
        "fn pick(x: f32) -> f32",
    );
    check(
        "@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> { if x > 1.0 { return vec4(x); } }",
        &said("f", "vec4<f32>"),
        "fn f(@location(0) x: f32) -> @location(0) vec4<f32>",
    );
}

#[test]
fn operations_that_a_stage_does_not_have() {
    let level =
        "a vertex shader has no neighbouring pixels, from which this would choose the level: use `textureSampleLevel`";
    let textures = "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;";
    let vertex =
        |body: &str| format!("@vertex fn v(@location(0) p: vec2<f32>) -> @builtin(position) vec4<f32> {{ {body} }}");
    check(&format!("{textures} {}", vertex("return textureSample(t, s, p);")), level, "textureSample");
    // In a function that the stage calls in a branch.
    let height = "fn height(p: vec2<f32>) -> f32 { return textureSampleBias(t, s, p, 1.0).x; }";
    let called = vertex("var z = 0.0; if p.x > 0.0 { z = height(p); } return vec4(p, z, 1.0);");
    check(&format!("{textures} {height} {called}"), level, "textureSampleBias");
    check(&vertex("return vec4(dpdx(p.x));"), "a vertex shader has no neighbouring pixels to compare with", "dpdx");
    check(
        &vertex("if p.x > 1.0 { discard; } return vec4(p, p);"),
        "`discard` is for fragment shaders only",
        "discard;",
    );
    check(
        "@vertex fn v(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> { return vec4(p, p); }",
        "`v` is a vertex shader, and must return `@builtin(position)`, a vec4<f32>",
        "fn v(@location(0) p: vec2<f32>) -> @location(0) vec4<f32>",
    );
}
