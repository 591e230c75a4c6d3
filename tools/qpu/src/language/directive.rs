//! Directives: words after a dot at the start of a line.

/// Scope and finality of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Only in the current context.
    pub local: bool,
    /// May not be defined again.
    pub final_value: bool,
}

/// How a data directive stores its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum {
    /// Integers of so many bits.
    Int(u32),
    /// IEEE floats of so many bits: 16, 32, 64.
    Float(u32),
}

/// What a directive does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the directives")]
pub enum Directive {
    Align,
    Assert,
    Back,
    EndBack,
    Clone,
    Code,
    Rodata,
    Set(Definition),
    Unset { local: bool },
    Data(Datum),
    If,
    IfSet,
    ElseIf,
    Else,
    EndIf,
    Macro,
    EndMacro,
    Func,
    EndFunc,
    Rep,
    EndRep,
    Foreach,
    EndForeach,
    Local,
    EndLocal,
    Global,
    Include,
    Uniform,
    Attribute,
    Varying,
    Texture,
    Semaphore,
    Threads,
    Stage,
    Output,
    Primitive,
    PointSize,
    Allow,
    Slots,
}

const GLOBAL: Definition = Definition { local: false, final_value: false };

impl Directive {
    /// All names.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("align", Self::Align),
        ("assert", Self::Assert),
        ("back", Self::Back),
        ("endb", Self::EndBack),
        ("endback", Self::EndBack),
        ("clone", Self::Clone),
        ("code", Self::Code),
        ("text", Self::Code),
        ("rodata", Self::Rodata),
        ("data", Self::Rodata),
        ("set", Self::Set(GLOBAL)),
        ("define", Self::Set(GLOBAL)),
        ("equ", Self::Set(GLOBAL)),
        ("const", Self::Set(Definition { local: false, final_value: true })),
        ("lset", Self::Set(Definition { local: true, final_value: false })),
        ("lconst", Self::Set(Definition { local: true, final_value: true })),
        ("unset", Self::Unset { local: false }),
        ("undef", Self::Unset { local: false }),
        ("lunset", Self::Unset { local: true }),
        ("bit", Self::Data(Datum::Int(1))),
        ("int1", Self::Data(Datum::Int(1))),
        ("int2", Self::Data(Datum::Int(2))),
        ("int4", Self::Data(Datum::Int(4))),
        ("byte", Self::Data(Datum::Int(8))),
        ("int8", Self::Data(Datum::Int(8))),
        ("short", Self::Data(Datum::Int(16))),
        ("word", Self::Data(Datum::Int(16))),
        ("int16", Self::Data(Datum::Int(16))),
        ("int", Self::Data(Datum::Int(32))),
        ("int32", Self::Data(Datum::Int(32))),
        ("dword", Self::Data(Datum::Int(32))),
        ("long", Self::Data(Datum::Int(64))),
        ("int64", Self::Data(Datum::Int(64))),
        ("qword", Self::Data(Datum::Int(64))),
        ("half", Self::Data(Datum::Float(16))),
        ("float16", Self::Data(Datum::Float(16))),
        ("float", Self::Data(Datum::Float(32))),
        ("float32", Self::Data(Datum::Float(32))),
        ("double", Self::Data(Datum::Float(64))),
        ("float64", Self::Data(Datum::Float(64))),
        ("if", Self::If),
        ("ifset", Self::IfSet),
        ("elseif", Self::ElseIf),
        ("elif", Self::ElseIf),
        ("else", Self::Else),
        ("endif", Self::EndIf),
        ("macro", Self::Macro),
        ("endm", Self::EndMacro),
        ("func", Self::Func),
        ("endf", Self::EndFunc),
        ("endfunc", Self::EndFunc),
        ("rep", Self::Rep),
        ("endr", Self::EndRep),
        ("endrep", Self::EndRep),
        ("foreach", Self::Foreach),
        ("endfor", Self::EndForeach),
        ("local", Self::Local),
        ("endloc", Self::EndLocal),
        ("global", Self::Global),
        ("include", Self::Include),
        ("uniform", Self::Uniform),
        ("attribute", Self::Attribute),
        ("varying", Self::Varying),
        ("texture", Self::Texture),
        ("semaphore", Self::Semaphore),
        ("threads", Self::Threads),
        ("stage", Self::Stage),
        ("output", Self::Output),
        ("primitive", Self::Primitive),
        ("point_size", Self::PointSize),
        ("allow", Self::Allow),
        ("slots", Self::Slots),
    ];
}
