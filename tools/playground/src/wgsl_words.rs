//! What the words of WGSL mean on this GPU: for hover.
//!
//! What a function costs is not written down here. It is compiled, and so is its argument alone: the lengths of both programs are told.

use shader_compiler::interface::Stage;
use shader_compiler::{Budget, Compiler, Options};

/// A function: its name, its arguments (`x`, `y` and `z` are floats, `u`, `v` and `w` vectors of three), what it is.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    (
        "abs",
        "x",
        "The value without its sign. A float needs one operation of the add ALU, the maximum of absolute values.",
    ),
    ("acos", "x", "The angle with this cosine, in radians."),
    ("all", "", "Whether every component of a vector of booleans is true."),
    ("any", "", "Whether a component of a vector of booleans is true."),
    ("asin", "x", "The angle with this sine, in radians."),
    ("atan", "x", "The angle with this tangent, in radians."),
    ("atan2", "x, y", "The angle of the point (x, y) in radians; y is the first argument."),
    ("ceil", "x", "The next whole number upwards."),
    (
        "clamp",
        "x, y, z",
        "The first value, limited to the range from the second to the third: two operations of the add ALU.",
    ),
    ("cos", "x", "The cosine of an angle in radians. The SFU has none, so it is a polynomial."),
    ("cross", "u, v", "The vector at right angles to two vectors."),
    ("degrees", "x", "Radians to degrees."),
    ("distance", "u, v", "The length of the difference of two points."),
    (
        "dot",
        "u, v",
        "The sum of the products of components. There is no such operation: it is multiplications and additions, which the two ALUs do in pairs.",
    ),
    ("exp", "x", "e to the power of the value: a multiplication, then as `exp2`."),
    (
        "exp2",
        "x",
        "2 to the power of the value, by a polynomial. The SFU's own result has about 12 bits: `fast_math` takes that, in 3 instructions.",
    ),
    ("faceForward", "u, v, w", "The first vector, turned so that it points against the second one."),
    (
        "floor",
        "x",
        "The next whole number downwards. There is no such operation: the value becomes an integer and a float again, with a correction.",
    ),
    ("fma", "x, y, z", "A product and a sum. They round twice, as this GPU has no fused operation."),
    ("fract", "x", "The value without its whole part."),
    ("inverseSqrt", "x", "1 divided by the square root: the SFU's result, and one step of Newton's method."),
    ("length", "u", "The length of a vector: a square root of a dot product."),
    ("log", "x", "The natural logarithm: as `log2`, then a multiplication."),
    (
        "log2",
        "x",
        "The logarithm to base 2, by a polynomial. The SFU's own result has about 12 bits: `fast_math` takes that, in 3 instructions.",
    ),
    ("max", "x, y", "The greater of two values, one operation of the add ALU."),
    ("min", "x, y", "The smaller of two values, one operation of the add ALU."),
    (
        "mix",
        "x, y, z",
        "A value between the first two, at the place that the third tells: 0 is the first one, 1 the second.",
    ),
    ("modf", "", "The whole part and the rest of a value."),
    ("normalize", "u", "The vector of length 1 in the same direction."),
    ("pow", "x, y", "The first value to the power of the second: logarithm, multiplication and exponential."),
    ("radians", "x", "Degrees to radians."),
    (
        "reflect",
        "u, v",
        "The direction in which a ray goes on that meets a surface with the second vector as its normal.",
    ),
    ("refract", "u, v, x", "The direction in which a ray goes on behind a surface, for a ratio of refractive indices."),
    ("round", "x", "The nearest whole number, the even one of two."),
    (
        "saturate",
        "x",
        "The value, limited to the range from 0 to 1. Where the result is packed into a byte, that instruction does so at no cost.",
    ),
    (
        "select",
        "x, y, z > 0.5",
        "The second value where the condition holds, else the first. Both are computed: there are no branches, only results that elements keep or not.",
    ),
    ("sign", "x", "-1, 0 or 1."),
    ("sin", "x", "The sine of an angle in radians. The SFU has none, so it is a polynomial."),
    ("smoothstep", "x, y, z", "0 up to the first value, 1 from the second one on, and a smooth curve between them."),
    ("sqrt", "x", "The square root: the value times its inverse square root."),
    ("step", "x, y", "1 where the second value is not below the first, else 0."),
    ("tan", "x", "The tangent of an angle in radians."),
    ("textureDimensions", "", "Width and height of a texture in texels: a uniform."),
    (
        "textureSample",
        "",
        "A filtered lookup in a texture. The program writes coordinates to the TMU and takes the texel many cycles later; another thread can run meanwhile.",
    ),
    ("textureSampleBias", "", "A lookup with a number that is added to the level of detail."),
    ("textureSampleLevel", "", "A lookup at a level of detail."),
    ("trunc", "x", "The value without its fraction: it becomes an integer and a float again."),
];

/// Other words, and what they are.
const OTHERS: &[(&str, &str)] = &[
    (
        "@vertex",
        "The next function is a vertex shader. It becomes two programs: the coordinate shader for the binner, and the vertex shader for rendering.",
    ),
    (
        "@fragment",
        "The next function is a fragment shader. A QPU runs it for 16 pixels at once: four quads of two by two.",
    ),
    (
        "@compute",
        "The next function is a compute shader. It becomes a user program, which reads memory by the TMU and writes it through the VPM.",
    ),
    (
        "@location",
        "The number of an attribute, a varying or a colour. Each float of a varying is a multiplication and an addition by the fragment shader.",
    ),
    ("@builtin", "A value that the GPU or the driver provides, such as `position`."),
    ("@group", "The group of a binding. Groups have no cost of their own here."),
    ("@binding", "The number of a uniform structure, a texture or a sampler in its group."),
    ("@workgroup_size", "Invocations of a workgroup; 16 of them run together on one QPU."),
    (
        "var",
        "A variable. Variables of functions are in registers, unless they are arrays with an index that is not known in advance.",
    ),
    ("let", "A name of a value, which costs nothing."),
    ("const", "A value that is known when the shader is compiled. It is a small immediate, or a uniform."),
    (
        "if",
        "Elements keep their values where the condition does not hold: both sides are executed for all 16, a long one only if one of them needs it.",
    ),
    (
        "for",
        "A loop. One with a count that is known is unrolled if it is short; otherwise all 16 elements repeat it until none of them goes on.",
    ),
    ("loop", "A loop; all 16 elements repeat it until none of them goes on."),
    ("while", "A loop; all 16 elements repeat it until none of them goes on."),
    ("discard", "The pixel is not stored. Early Z has to be off, because depth is known late."),
    ("struct", "A structure: of uniforms, attributes, varyings or values."),
    (
        "uniform",
        "Uniforms are a stream in memory, which the program reads word by word in its own order; the driver writes the stream for each draw.",
    ),
    ("storage", "Memory that a compute shader reads by the TMU and writes by the VPM's DMA."),
    ("workgroup", "Memory that the invocations of a workgroup share: in the VPM if it fits, otherwise in main memory."),
    ("f32", "A float of 32 bits. Denormals count as 0."),
    ("i32", "An integer of 32 bits. Multiplications of 32 bits are made of those of 24."),
    ("u32", "An integer of 32 bits without a sign. Multiplications of 32 bits are made of those of 24."),
    ("bool", "A condition: flags, or a mask of 0 and -1 where it is kept."),
    ("vec2", "Two components, each in a register of its own: a register holds one component of 16 pixels or vertices."),
    (
        "vec3",
        "Three components, each in a register of its own: a register holds one component of 16 pixels or vertices.",
    ),
    (
        "vec4",
        "Four components, each in a register of its own: a register holds one component of 16 pixels or vertices.",
    ),
    ("mat3x3", "A matrix of three columns. As a uniform it is nine words, which are read one by one."),
    ("mat4x4", "A matrix of four columns. As a uniform it is 16 words, which are read one by one."),
    ("texture_2d", "A texture of two dimensions. A lookup takes two or three uniforms with its address and format."),
    ("texture_cube", "Six pictures around a point; a lookup takes a direction."),
    ("sampler", "How a texture is filtered and repeated; it becomes part of the texture's uniforms."),
];

/// The fragment shader that returns an expression of three floats and three vectors.
fn shader(expression: &str) -> String {
    format!(
        "@fragment fn fs_main(@location(0) u: vec3<f32>, @location(1) v: vec3<f32>, @location(2) w: vec3<f32>) -> @location(0) vec4<f32> {{
            let x = u.x; let y = u.y; let z = u.z;
            return vec4({expression}, 1.0);
        }}"
    )
}

/// Instructions of the program that returns an expression.
fn length(expression: &str) -> Option<usize> {
    let compiler = Compiler::new(Options { budget: Budget::SMALL, ..Options::default() });
    let shader = compiler.compile("word.wgsl", &shader(expression)).ok()?;
    shader.stage(Stage::Fragment).map(|fragment| fragment.words.len())
}

/// Instructions of the program that returns the function of its arguments, and of the one that returns the sum of the arguments.
fn cost(name: &str, arguments: &str) -> Option<(usize, String, usize)> {
    let operands: Vec<&str> =
        arguments.split(", ").map(|argument| argument.split(' ').next().unwrap_or(argument)).collect();
    let sum = operands.join(" + ");
    // A vector of three, or a number in place of each component.
    let length = |expression: &str| length(expression).or_else(|| length(&format!("vec3({expression})")));
    let (whole, alone) = (length(&format!("{name}({arguments})"))?, length(&sum)?);
    Some((whole, sum, alone))
}

/// What a word of WGSL means; none if nothing is known of it.
pub fn explain(word: &str) -> Option<String> {
    if let Some((_, arguments, meaning)) = FUNCTIONS.iter().find(|(name, ..)| *name == word) {
        let mut text = format!("{word}({arguments})\n\n{meaning}");
        if let Some((whole, operands, alone)) = cost(word, arguments) {
            text += &format!(
                "\n\nA fragment shader that returns {word}({arguments}) has {whole} instructions; one that returns {operands} has {alone}."
            );
        }
        return Some(text);
    }
    // `vec4f` is a vector of f32, and so on.
    let stem = word.trim_end_matches(['f', 'i', 'u']);
    let is_short = matches!(stem, "vec2" | "vec3" | "vec4" | "mat3x3" | "mat4x4") && word.len() <= stem.len() + 1;
    let name = if is_short { stem } else { word };
    let (_, meaning) = OTHERS.iter().find(|(other, _)| *other == name)?;
    Some(format!("{word}\n\n{meaning}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function with arguments compiles, so that its cost is told.
    #[test]
    fn every_function_has_a_cost() {
        for (name, arguments, _) in FUNCTIONS.iter().filter(|(_, arguments, _)| !arguments.is_empty()) {
            let (whole, _, alone) = cost(name, arguments).unwrap_or_else(|| panic!("{name}({arguments})"));
            assert!(whole > 0 && alone > 0, "{name}");
        }
    }

    #[test]
    fn words_are_found_in_all_their_forms() {
        for word in ["sin", "@fragment", "vec4f", "vec4", "mat4x4f", "f32", "textureSample"] {
            assert!(explain(word).is_some_and(|text| text.starts_with(word)), "{word}");
        }
        for word in ["", "hue", "vec4fu", "f32f", "vec"] {
            assert_eq!(explain(word), None, "{word}");
        }
    }

    /// The sum of two values is one instruction more than the greater of them at most: both are one operation.
    #[test]
    fn costs_are_those_of_the_programs() {
        let (whole, sum, alone) = cost("max", "x, y").expect("a cost");
        assert_eq!((whole, sum.as_str()), (alone, "x + y"));
    }
}
