//! Features of WGSL that this compiler refuses: a table of names and reasons.

/// The cause of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The GPU does not have the feature, or not enough of it.
    Hardware,
    /// The compiler does not support it, though the GPU could do it.
    Compiler,
    /// The limit bounds the compiler's time and memory.
    Budget,
}

impl Cause {
    /// The cause in one word, for lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hardware => "hardware",
            Self::Compiler => "compiler",
            Self::Budget => "budget",
        }
    }

    /// The label of an error at the place in the source.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Hardware => "not possible on this GPU",
            Self::Compiler => "not supported by this compiler",
            Self::Budget => "more than this compiler takes on",
        }
    }
}

/// A feature of WGSL that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name in errors, and in the list of results for naga's test inputs.
    pub name: &'static str,
    /// The cause.
    pub cause: Cause,
    /// One sentence: what is not possible, and an alternative if there is one.
    pub message: &'static str,
}

const fn hardware(name: &'static str, message: &'static str) -> Limit {
    Limit { name, cause: Cause::Hardware, message }
}

const fn compiler(name: &'static str, message: &'static str) -> Limit {
    Limit { name, cause: Cause::Compiler, message }
}

const fn budget(name: &'static str, message: &'static str) -> Limit {
    Limit { name, cause: Cause::Budget, message }
}

macro_rules! limits {
    ($($constant:ident = $cause:ident($name:literal, $message:literal);)*) => {
        impl Limit {
            $(#[doc = $message] pub const $constant: Self = $cause($name, $message);)*
            /// All limits.
            pub const ALL: &[Self] = &[$(Self::$constant),*];
        }
    };
}

limits! {
    // Numbers, values and control flow.
    NUMBER_WIDTH = hardware("number-width", "numbers have 32 bits on the QPUs, and f16 in memory");
    REGISTERS = compiler("registers", "too many values are live at the same time: this compiler keeps all of them in registers, and spills none to memory");
    VALUE_SIZE = compiler("value-size", "a value of too many scalars");
    TYPE_IN_REGISTERS = compiler("type-in-registers", "a value of this type cannot be kept in registers");
    DYNAMIC_INDEX = compiler("dynamic-index", "a dynamic index into too many elements");
    BUILT_IN_FUNCTION = compiler("built-in-function", "this built-in function is not supported");
    SUBGROUPS = hardware("subgroups", "subgroup operations, ray queries and cooperative matrices do not exist on this GPU");
    OVERRIDE = compiler("override", "an override needs a default value, and cannot be part of a constant expression or a workgroup size");
    FALL_THROUGH = compiler("fall-through", "a case with statements must not fall through into the next one");
    ENDLESS_LOOP = compiler("endless-loop", "this loop has no exit");
    VERTEX_LOOP = hardware("vertex-loop", "elements without a vertex may keep this loop from ending: it needs an exit that does not depend on attributes");
    CALL_DEPTH = compiler("call-depth", "calls are nested too deeply to be inlined");

    // Inputs and outputs of a stage.
    ATTRIBUTE_COUNT = hardware("attribute-count", "a vertex has too many attributes; adjacent ones share an array if the same shaders read them");
    ATTRIBUTE_TYPE = compiler("attribute-type", "attributes are scalars or vectors of f32, i32 or u32");
    VARYING_COUNT = hardware("varying-count", "too many components of varyings");
    VARYING_TYPE = compiler("varying-type", "varyings are scalars or vectors of f32; integers must be flat");
    VARYING_PER_SAMPLE = hardware("varying-per-sample", "varyings cannot be interpolated per sample: a fragment is shaded once for all of its samples");
    VARYING_FLAT_FIRST = hardware("varying-flat-first", "the last vertex of a primitive provides its flat varyings: write `flat, either`");
    VARYING_LINEAR = hardware("varying-linear", "varyings are always interpolated with perspective");
    SAMPLE_INDEX = hardware("sample-index", "fragment shaders run once for all samples of a fragment, so there is no sample index");
    BUILT_IN_INPUT = compiler("built-in-input", "this built-in input is not supported in this stage");
    BUILT_IN_OUTPUT = compiler("built-in-output", "this built-in output is not supported in this stage");
    COLOR_TYPE = hardware("color-type", "a colour is a `vec4<f32>`: the tile buffer has no integer formats");
    COLOR_COUNT = hardware("color-count", "the tile buffer has one colour, so a fragment shader writes @location(0) only");
    COLOR_MISSING = compiler("color-missing", "a fragment shader must write a colour to @location(0)");

    // Memory.
    STORAGE_IN_STAGE = compiler("storage-in-stage", "storage buffers of vertex and fragment shaders are read-only: var<storage, read>");
    ADDRESS_SPACE = hardware("address-space", "variables of this address space do not exist on this GPU: use a uniform");
    BOOL_IN_MEMORY = compiler("bool-in-memory", "a bool in memory is not supported: use a u32");
    HALF_BITCAST = compiler("half-bitcast", "a bitcast of f16 is not supported: use pack2x16float and unpack2x16float");
    HALF_STORE = compiler("half-store", "an f16 can be stored only together with the other half of its word: use `vec2<f16>` or `vec4<f16>`");
    TYPE_IN_MEMORY = compiler("type-in-memory", "a value of this type cannot be read or written as a whole");
    ATOMIC_PLACE = hardware("atomic-place", "atomic operations work on storage buffers and workgroup memory of compute shaders");
    WORKGROUP_SIZE = compiler("workgroup-size", "a workgroup has too many invocations");
    WORKGROUP_TOGETHER = hardware("workgroup-together", "a workgroup whose invocations share memory or wait for each other does not fit the 12 QPUs");
    WORKGROUP_MEMORY = compiler("workgroup-memory", "a workgroup uses too much memory");

    // Textures.
    TEXTURE_DIMENSION = hardware("texture-dimension", "the TMU has 2D textures and cube maps, but no 1D and 3D textures");
    TEXTURE_ARRAY = hardware("texture-array", "the TMU has no array textures, and each lookup names its texture: arrays of textures are not possible");
    TEXTURE_SAMPLES = hardware("texture-samples", "the TMU has no multisampled textures");
    TEXTURE_KIND = hardware("texture-kind", "the TMU returns floats: textures of integers are not possible");
    TEXTURE_STORE = hardware("texture-store", "textures cannot be written: the TMU only reads");
    TEXTURE_OFFSET = compiler("texture-offset", "an offset in texels must be a constant");
    CUBE_OFFSET = hardware("cube-offset", "offsets in texels are not possible in cube maps");

    // Time and memory of the compiler itself.
    SOURCE_SIZE = budget("source-size", "a source has at most 262144 bytes");
    NESTING = budget("nesting", "brackets, operators of an expression and `else if` are nested at most 1000 deep");
    PARTS = budget("parts", "constants and types have at most 524288 components, counted at each use");
    LOCATION = budget("location", "a location has a number of at most 1023");
    VARIABLE_SIZE = budget("variable-size", "the variables that exist at the same time have at most 32768 scalars");
    WORK = budget("work", "compiling takes at most 4194304 steps: nested calls, loops and branches multiply them");
    PROGRAM_SIZE = budget("program-size", "a program has at most 20000 computations, and scheduling them takes at most 16777216 steps");
}
