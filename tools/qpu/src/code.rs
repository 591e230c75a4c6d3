//! Codes of diagnostics, with the text that `qpu explain CODE` prints.

/// Defines [`Code`] from one table: number, name, title, explanation.
macro_rules! diagnostic_codes {
    ($( $number:literal $name:ident $title:literal $explanation:literal )*) => {
        /// What a diagnostic is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $( #[doc = $title] $name = $number, )*
        }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// One line that says what is wrong in general.
            pub const fn title(self) -> &'static str {
                match self { $( Self::$name => $title, )* }
            }

            /// What lies behind it, and how to mend it.
            pub const fn explanation(self) -> &'static str {
                match self { $( Self::$name => $explanation, )* }
            }
        }
    };
}

impl Code {
    /// The number that follows the `E`.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The code with a number; the text may have its `E` or not.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['E', 'e']).unwrap_or(text);
        let number: u16 = digits.parse().ok()?;
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "E{:04}", self.number())
    }
}

diagnostic_codes! {
    // Text and expressions.
    1 UnexpectedText "unexpected text"
        "The line has something at this place that cannot stand there. Operands are separated by commas, instructions of one word by semicolons, and a line ends with the line; `#` starts a comment."
    2 BadNumber "this is not a number"
        "Integers are decimal, or hexadecimal (0x), octal (0o or a leading 0o), or binary (0b), and fit 64 bits. Floats have a decimal point or an exponent."
    3 UndefinedName "this name is not defined"
        "A name in an expression must be a constant set before, an argument, a function, a register or an operator. Labels are written with a colon: `:name`, or `r:name` as target of brr."
    4 WrongOperandType "an operator cannot be applied to this"
        "Numbers can be combined with all arithmetic operators, bit operators want integers. Registers can be added to (ra3 + 1 is ra4) and rotated (r0 << 3)."
    5 ExpressionTooDeep "the expression is nested too deeply"
        "Parentheses, unary operators and calls of functions may be nested 200 deep. Functions that call themselves need an end."
    6 DivisionByZero "division by zero"
        "An integer cannot be divided by zero; floats can, and give infinity."
    7 MissingValue "a value is missing"
        "An expression was expected here."
    8 NumberOutOfRange "the number is out of range"
        "The place where the number goes is narrower than the number."
    9 RegisterNumberOutOfRange "there is no register with this number"
        "Registers have the addresses 0 to 63 in each file, semaphores the numbers 0 to 15."
    10 RotationTwice "the register is rotated already"
        "A register can be rotated by a constant, or by r5, once."
    11 BadPerElement "a bad per-element constant"
        "A per-element constant has 16 integers in brackets: all of them -2 to 1, or all of them 0 to 3."
    12 LabelUndefined "this label is not defined"
        "No line defines the label. Numeric labels can be defined often: `:1f` means the next definition, `:1` the one before."
    13 LabelRedefined "the label is defined twice"
        "Only labels that start with a digit can be defined more than once."
    14 LabelUnused "the label is never used"
        "Nothing refers to the label."
    15 ConstantRedefined "the constant is final"
        "A name given a value by .const or .lconst cannot get another one; use .set for names that change."
    16 NotDefined "nothing to undo"
        "The name has no definition that could be removed here."
    17 ArgumentCount "wrong number of arguments"
        "Macros and functions take exactly as many arguments as their definition names."
    18 UnknownMnemonic "no such instruction or macro"
        "Mnemonics are written in lower case. A macro must be defined before its first use."
    19 UnknownDirective "no such directive"
        "A dot at the start of a line begins a directive."
    20 UnknownSuffix "no such suffix"
        "A dot after a mnemonic or register begins a suffix: condition (.ifz, .nc), flags (.setf), pack and unpack (.16a, .8abcds, .unpack8a), branch condition (.allz)."
    21 SuffixMisplaced "the suffix cannot stand here"
        "Conditions and .setf belong to a mnemonic or a target, unpack to a source, pack to a target, branch conditions to bra and brr."
    22 UnterminatedBlock "the block has no end"
        "Each .macro, .func, .rep, .foreach, .local, .back and .if needs its end in the same file or macro."
    23 EndWithoutStart "an end without a start"
        "This directive ends a block that was not started."
    24 AssertionFailed "the assertion failed"
        "An .assert has the value 0: the source says that this must not happen, often in a macro or function whose arguments are out of range."
    25 IncludeFailed "the file cannot be included"
        "Names in quotes are looked up beside the including file; names in angle brackets in the directories of -I first."
    26 NestedTooDeep "macros or includes are nested too deeply"
        "Macros, repetitions and includes may be nested 100 deep; one that contains itself has no end."
    27 TooMuchCode "the program is too long"
        "An assembly may have 4 Mi words, and a repetition 16 Mi rounds."
    28 LabelsDoNotSettle "the addresses of labels do not settle"
        "Code that depends on addresses of labels defined further down changes those addresses each time it is assembled anew."
    29 FunctionNotExpression "a function must have one value"
        "The body of .func is one expression, with directives around it; it emits no code and defines no label."
    30 MacroRedefined "a macro or function is defined again"
        "The new definition counts from here on."
    31 GlobalRedefined "the global symbol has two values"
        "A global symbol is exported once."
    32 Unaligned "the data are not aligned"
        "Instructions start at multiples of 8 bytes, and values at multiples of their size. Use .align."
    33 BackNotPossible ".back is not possible here"
        ".back goes back at most 10 instructions, not before the start of the code, and cannot be nested."
    34 BackCrossesLabel ".back crosses a branch target"
        "Code inserted before a label's instruction is not executed when the label is jumped to."
    35 CloneNotPossible ".clone is not possible here"
        ".clone copies up to 3 instructions from a label."
    36 ClonedBranch "a branch is cloned"
        "A copied relative branch goes to another place than the original."
    37 UnexpectedCharacter "this character has no meaning"
        "Outside comments and file names the language uses ASCII signs only."

    // Instructions: which fields are taken.
    50 AddAluTaken "the add ALU is in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU. add, sub, shifts, logic, float add and conversions need the add ALU."
    51 MulAluTaken "the mul ALU is in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU. fmul, mul24, v8muld, v8min, v8max and rotations need the mul ALU."
    52 BothAlusTaken "both ALUs are in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU."
    53 NotWithLoadOrBranch "load immediates and branches stand alone"
        "Load immediate, semaphore and branch instructions have no operation fields: nothing else fits into the same word."
    54 ReadConflict "two different reads from one register file"
        "Each file has one read address per instruction: at most one register of file A and one of file B, used as often as one likes [AG p.28]. Put one value into an accumulator before."
    55 ImmediateTakesFileB "a small immediate takes the place of the file B read"
        "The small immediate stands in the field of the file B read address [AG p.29]. Use file A, an accumulator, or load the constant before."
    56 TwoImmediates "two different immediate values"
        "An instruction has one field for a small immediate, or one immediate word."
    57 ImmediateWithSignal "no small immediate or rotation with a signal"
        "Small immediates and rotations are themselves a signal (13), so no other fits [AG p.29]."
    58 NoSmallImmediate "the value has no small immediate"
        "Small immediates are -16 to 15 and the floats 1/256 to 128 that are powers of two [AG p.29]. Other constants need mov or ldi."
    59 SecondSignal "only one signal per instruction"
        "The signal field holds one signal [AG p.29]."
    60 SignalNotHere "no signal in this instruction"
        "Load immediates, branches and instructions with a small immediate use the signal field themselves."
    61 SameFileWrite "both ALUs write to the same register file"
        "One ALU writes to file A, the other to file B (write swap chooses which) [AG p.27]. Accumulators and most I/O registers exist in both."
    62 NotReadable "the register cannot be read"
        "This address is only written."
    63 NotWritable "the register cannot be written"
        "This address is only read. r5 is written as r5quad or r5rep."
    64 TargetNotRegister "the target must be a register"
        "The first operand of an instruction is the register that gets the result, or `-` for none."
    65 SourceNotUsable "this cannot be a source here"
        "Sources of operations are registers and small immediates."
    66 SemaphoreSource "a semaphore cannot be a source here"
        "Semaphore instructions are their own kind of word: `sacq -, 3`, `mov -, srel3`."
    67 SecondRotation "only one rotation per instruction"
        "There is one rotator, behind the mul ALU [AG p.29]."
    68 RotationNeedsMul "rotation needs the mul ALU"
        "The rotator stands behind the mul ALU [AG p.29]."
    69 RotationConflict "the rotation does not fit the small immediate"
        "Rotation and small immediate share one field."
    70 RotationDownByR5 "only upwards rotation by r5"
        "The hardware rotates the result upwards by r5. Write `target << r5` or `source >> r5`."
    71 RotationOfR5 "r5 cannot be rotated"
        "r5 is no lane-wise source of the rotator."
    72 RotationWithinQuads "rotates within quads only"
        "A rotation across quads works on r0 to r3 only; from other sources each quad rotates in itself [vc4asm]."
    73 RotationAppliesToOther "the rotation also applies to the other source"
        "The rotator stands behind the operation: both sources are rotated together."
    74 SecondUnpack "only one unpack per operation"
        "The instruction has one unpack field [AG p.31]."
    75 UnpackNotHere "this cannot be unpacked"
        "Registers of file A and r4 can be unpacked [AG p.31-32], in ALU instructions."
    76 UnpackNumber "this unpack does not fit the operation"
        "From file A, operations on floats unpack to floats and the others to integers; r4 unpacks 16 and 8 bits to floats only [AG p.31-32]."
    77 UnpackAppliesToOther "the unpack also applies to another operand"
        "Every use of the unpacked register in this instruction is unpacked, in both ALUs. Write the suffix there too if that is meant."
    78 UnpackUnused "the unpack applies to nothing"
        "No source of the operation can be unpacked that way."
    79 UnpackAmbiguous "the unpack may mean either source"
        "Both r4 and a register of file A are sources; write the suffix at the one that is meant."
    80 SecondPack "only one pack per instruction"
        "The instruction has one pack field [AG p.31]."
    81 PackNotHere "this cannot be packed"
        "Packing is done when writing to registers 0 to 31 of file A, or, for bytes from floats, by the mul ALU [AG p.31-32]."
    82 PackNumber "this pack does not fit the operation"
        "Results of float operations are packed to halves, the others to integers [AG p.31]."
    83 PackVersusUnpack "pack and unpack do not fit together"
        "One bit (pm) chooses for both: file A's pack and unpack, or r4's unpack and the mul ALU's pack [AG p.30]."
    84 SecondCondition "the condition is given twice"
        "Each ALU has one condition."
    85 ConditionNotHere "no such condition here"
        "Branches have conditions over all elements (.allz, .anyn, …), other instructions per element (.ifz, .ifn, …)."
    86 SecondSetFlags ".setf is given twice"
        "There is one flag-setting bit per instruction."
    87 FlagsOfAdd "the flags come from the add ALU"
        "Flags are taken from the mul ALU only if the add ALU does nothing [AG p.28]."
    88 TwoTargets "two targets are not possible here"
        "Two targets use both ALUs."
    89 PerElementMismatch "the constant does not fit this load"
        "ldipes takes elements of -2 to 1, ldipeu of 0 to 3, and neither takes a float."
    90 SemaphoreMismatch "semaphore acquire and release in one instruction"
        "Bit 4 of the immediate tells acquire from release [AG p.33]."
    91 BranchNotAlone "a branch must be alone in its line"
        "The branch instruction has no other operation [AG p.34]."
    92 BranchTarget "this cannot be a branch target"
        "Targets are a label, a number, and a register of ra0 to ra31, or one of these with such a register."
    93 SecondBranchTarget "two branch targets of one kind"
        "A branch adds one number and one register."
    94 AbsoluteLabel "an absolute branch to a label"
        "bra goes to a bus address; a label is an offset from the start of the code, which is right only for code at address 0. Use brr."
    95 BranchTargetUnaligned "the branch target is not aligned"
        "Instructions start at multiples of 8 bytes."
    96 OddBranchRegister "an odd branch register"
        "Bit 45 is both the lowest bit of the register's number and the flag-setting bit; the vendor's errata allow even registers only (HW-2780). Take an even register, or say .setf."
    97 ReadNotHere "read cannot do this"
        "read fills a read address and nothing else: registers of the files and small immediates, without rotation."

    // Interface directives.
    120 BadInterface "a bad interface directive"
        "The forms are `.stage fragment|vertex|coordinate|user`, `.threads 1|2`, `.uniform NAME, TYPE [, COUNT]`, `.attribute NAME, COMPONENTS`, `.varying NAME [, COMPONENTS]`, `.texture NAME, UNIT`."
    121 InterfaceRedefined "the interface names this twice"
        "Each uniform, attribute, varying and texture has one name."
}
