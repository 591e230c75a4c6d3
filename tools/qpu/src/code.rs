//! Codes of diagnostics, with the text that `qpu explain CODE` prints.

use v3d_hw::qpu::Hazard;

/// Defines [`Code`] from one table: number, name, title, explanation. The title of a rule about a minimum distance is the sentence of its [`Hazard`].
macro_rules! diagnostic_codes {
    ($( $number:literal $name:ident $title:tt $explanation:literal )*) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $( #[doc = $explanation] $name = $number, )*
        }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &'static [Self] = &[$( Self::$name, )*];

            /// The problem in one line.
            pub const fn title(self) -> &'static str {
                match self { $( Self::$name => $title, )* }
            }

            /// The rule behind it, and how to fix it.
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

    /// The code with a number; the `E` may be left out.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['E', 'e']).unwrap_or(text);
        let number: u16 = digits.parse().ok()?;
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl core::fmt::Display for Code {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "E{:04}", self.number())
    }
}

diagnostic_codes! {
    // Syntax and expressions.
    1 UnexpectedText "unexpected text"
        "The line has something at this place that cannot stand there. Operands are separated by commas, \
        instructions of one word by semicolons, and an instruction ends with its line; `#` starts a comment."
    2 BadNumber "this is not a number"
        "Integers are decimal, or hexadecimal (0x), octal (0o or a leading 0o), or binary (0b), and fit 64 bits. Floats have a decimal point or an exponent."
    3 UndefinedName "this name is not defined"
        "A name in an expression must be a constant set before, an argument, a function, a register or an operator. \
        Labels are written with a colon: `:name`, or `r:name` as target of brr."
    4 WrongOperandType "an operator cannot be applied to this"
        "Numbers can be combined with all arithmetic operators, bit operators want integers. Registers can be added to (ra3 + 1 is ra4) and rotated (r0 << 3)."
    5 ExpressionTooDeep "the expression is nested too deeply"
        "Parentheses, unary operators and calls of functions may be nested 200 deep. A recursive function needs a condition that ends it."
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
    15 ConstantRedefined "the constant is final"
        "A name that was defined by .const or .lconst cannot be redefined; use .set for names that change."
    16 NotDefined "nothing to undo"
        "The name has no definition in this scope that could be removed."
    17 ArgumentCount "wrong number of arguments"
        "Macros and functions take exactly as many arguments as their definition names."
    18 UnknownMnemonic "no such instruction or macro"
        "Mnemonics are written in lower case. A macro must be defined before its first use."
    19 UnknownDirective "no such directive"
        "A dot at the start of a line begins a directive."
    20 UnknownSuffix "no such suffix"
        "A dot after a mnemonic or register begins a suffix: condition (.ifz, .nc), flags (.setf), pack and unpack \
        (.16a, .8abcds, .unpack8a), branch condition (.allz)."
    21 SuffixMisplaced "the suffix cannot stand here"
        "Conditions and .setf belong to a mnemonic or a target, unpack to a source, pack to a target, branch conditions to bra and brr."
    22 UnterminatedBlock "the block has no end"
        "Each .macro, .func, .rep, .foreach, .local, .back and .if needs its end in the same file or macro. For .if \
        in a file it is a warning, as the end of the file ends it [vc4asm]."
    23 EndWithoutStart "an end without a start"
        "This directive ends a block that was not started."
    24 AssertionFailed "the assertion failed"
        "An .assert has the value 0: the source says that this must not happen, often in a macro or function whose arguments are out of range."
    25 IncludeFailed "the file cannot be included"
        "Names in quotes are searched in the directory of the including file; names in angle brackets in the directories of -I first."
    26 NestedTooDeep "macros or includes are nested too deeply"
        "Macros, repetitions and includes may be nested 100 deep; one that contains itself never ends."
    27 TooMuchCode "the program is too long"
        "The sources may have 16 MiB together, the program 1 Mi words, and all repetitions 16 Mi iterations."
    28 LabelsDoNotConverge "the addresses of labels do not converge"
        "Code that depends on the addresses of later labels is assembled repeatedly, with the addresses of the previous pass. Here they change in each pass."
    29 FunctionNotExpression "a function must have one value"
        "The body of .func is one expression, with directives around it; it emits no code and defines no label."
    30 MacroRedefined "a macro or function is defined again"
        "The new definition is used from here on."
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

    38 SlotsWithoutBranch ".slots must follow a branch"
        "It marks the next three instructions as intended for the delay slots of the branch directly before it."

    39 TooManyCalls "too many calls of macros and functions"
        "An assembly may call macros, functions and repetitions a million times. A macro that calls another twice, which calls a third twice, \
        and so on, makes their number grow exponentially."

    40 TooManySteps "assembling takes too many steps"
        "Each token, line and iteration is a step, every time it is processed; an include is 1024. An assembly may take 32 Mi of them, some \
        seconds. A file that includes another twice, which includes a third twice, and so on, makes their number grow exponentially."

    // Instructions: conflicts between fields.
    50 AddAluTaken "the add ALU is in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU. add, sub, shifts, logic, float add and conversions need the add ALU."
    51 MulAluTaken "the mul ALU is in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU. fmul, mul24, v8muld, v8min, v8max and rotations need the mul ALU."
    52 BothAlusTaken "both ALUs are in use already"
        "An instruction has one operation of the add ALU and one of the mul ALU."
    53 NotWithLoadOrBranch "load immediates and branches stand alone"
        "Load immediate, semaphore and branch instructions have no operation fields: nothing else fits into the same word."
    54 ReadConflict "two different reads from one register file"
        "Each file has one read address per instruction: at most one register of file A and one of file B, used as \
        often as needed [AG p.28]. Copy one value into an accumulator first."
    55 ImmediateTakesFileB "a small immediate takes the place of the file B read"
        "The small immediate is in the field of the file B read address [AG p.29]. Use file A or an accumulator, or load the constant first."
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
        "The register at this address is write-only [AG p.38]."
    63 NotWritable "the register cannot be written"
        "The register at this address is read-only. r5 is written as r5quad or r5rep."
    64 TargetNotRegister "the target must be a register"
        "The first operand of an instruction is the register that gets the result, or `-` for none."
    65 SourceNotUsable "this cannot be a source here"
        "Sources of operations are registers and small immediates."
    66 SemaphoreSource "a semaphore cannot be a source here"
        "A semaphore is accessed by an instruction of its own: `sacq -, 3`, `mov -, srel3`."
    67 SecondRotation "only one rotation per instruction"
        "There is one rotator, at the output of the mul ALU [AG p.29]."
    68 RotationNeedsMul "rotation needs the mul ALU"
        "The rotator is at the output of the mul ALU [AG p.29]."
    69 RotationConflict "the rotation does not fit the small immediate"
        "Rotation and small immediate share one field."
    70 RotationDownByR5 "only upwards rotation by r5"
        "The hardware rotates the result upwards by r5. Write `target << r5` or `source >> r5`."
    71 RotationOfR5 "r5 cannot be rotated"
        "r5 is not among the sources that the rotator takes: r0 to r3 fully, the others within quads [AG p.29]."
    72 RotationWithinQuads "rotates within quads only"
        "A rotation across quads works on r0 to r3 only; from other sources each quad rotates in itself [vc4asm]."
    73 RotationAppliesToOther "the rotation also applies to the other source"
        "The rotator is at the output of the operation: both sources are rotated together."
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
        "Each ALU has one condition in the word, which holds or not for each element."
    85 ConditionNotHere "no such condition here"
        "Branches have conditions over all elements (.allz, .anyn, …), other instructions per element (.ifz, .ifn, …)."
    86 SecondSetFlags ".setf is given twice"
        "There is one flag-setting bit per instruction."
    87 FlagsOfAdd "the flags come from the add ALU"
        "Flags are taken from the mul ALU only if the add ALU does nothing [AG p.28]."
    88 TwoTargets "two targets are not possible here"
        "Two targets use both ALUs, so nothing else fits into the word."
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
        "Bit 45 is both the lowest bit of the register's number and the flag-setting bit; the vendor's errata allow \
        even registers only (HW-2780). Take an even register, or say .setf."
    97 ReadNotHere "read cannot do this"
        "read fills a read address and nothing else: registers of the files and small immediates, without rotation."

    98 TargetR4 "a write to r4"
        "r4 cannot be written by an instruction: it receives results of the SFU, the TMUs and the tile buffer. The write address with its number is \
        that of tmu_noswap [AG p.38]; say `tmurs` or `tmu_noswap` if that is meant."

    99 NotOptimized "the program is not optimized"
        "The optimizer moves instructions. It follows return addresses, and distances between labels in load immediates and branches, to where they are \
        branched by, and computes the distances again. It does not change programs that depend on the addresses of instructions in another way: that have data \
        between them, compute with a distance other than by adding to it, let an address get anywhere but into a branch, or branch to something else."

    // Interface directives.
    120 BadInterface "a bad interface directive"
        "The forms are `.stage fragment|vertex|coordinate|user`, `.threads 1|2`, `.uniform NAME, TYPE [, COUNT]`, \
        `.attribute NAME [, COMPONENTS [, KIND]]`, `.varying NAME [, COMPONENTS]`, `.texture NAME, UNIT [, 2d|2d64|cube|child [, bias] \
        [, LOOKUPS]]`, `.semaphore NUMBER, ACQUIRES, RELEASES`, \
        `.primitive triangles|lines|points`, `.point_size`, `.output color|half_color`."
    121 InterfaceRedefined "the interface names this twice"
        "Uniforms, attributes, varyings and textures have a name each. Only an attribute and a varying can have the same: a \
        vertex shader passes the one on as the other."

    // Rules of the hardware along paths of execution.
    200 ReadAfterWrite { Hazard::ReadAfterWrite.sentence() }
        "A value written to register file A or B arrives one instruction late: the next instruction must not read it \
        [AG p.37]. Put another instruction between, or pass the value in an accumulator, which has no such delay. \
        If the write is in the last delay slot of a branch, and the read at its target, it is a warning: the guide \
        makes no exception for branches, but optimized versions of GPU_FFT do this on boards, with a value that \
        is not used there."
    201 RotationAfterWrite { Hazard::RotationAfterWrite.sentence() }
        "The rotator reads values of all quads, of which the previous instruction has not written all yet: a rotated \
        accumulator must not be written by the instruction before [AG p.37]. Put another instruction between. It is a \
        warning, as Broadcom's tessellator does it where the elements that come from another quad do not matter."
    202 RotationByR5AfterWrite { Hazard::RotationByR5AfterWrite.sentence() }
        "The amount is taken from r5 before the previous instruction has written it [AG p.37]. Put another instruction between."
    203 UniformAfterAddress { Hazard::UniformAfterAddress.sentence() }
        "A write of the uniforms' address must be followed by two instructions that read no uniform, before the next uniform \
        is read [AG p.22]; until then the old stream is read."
    204 MsFlagsAfterTlbZ { Hazard::MsFlagsAfterTlbZ.sentence() }
        "The Z and stencil tests change the mask; it must not be read in the two instructions after the Z write [AG p.37]."
    205 TmuSoonAfterNoSwap { Hazard::TmuAfterNoSwap.sentence() }
        "The write of tmu_noswap must come three instructions before the first TMU write [AG p.23, p.37]; until then the request may go to the other TMU."
    206 NoSwapAfterTmu "TMU swap is changed after a TMU was used"
        "Requests made before and results read afterwards would belong to different TMUs."
    207 SfuBusy { Hazard::SfuBusy.sentence() }
        "An SFU result arrives in r4 for the third instruction after the write. No other instruction that leads to a \
        write of r4 (SFU, TMU load, TLB load) may be in the two between [AG p.23, p.37]."
    208 R4BeforeSfu { Hazard::SfuResult.sentence() }
        "An SFU result arrives in r4 for the third instruction after the write; r4 must not be read in the two \
        between [AG p.23]. Fill them with other work or nop."
    209 ScoreboardAtStart { Hazard::ScoreboardAfterStart.sentence() }
        "The scoreboard wait, by sbwait or by the first access of the tile buffer, must not occur in the first two \
        instructions of a fragment shader [AG p.37] (HW-2796). For sbwait in the second, see E0269."
    210 BranchInDelaySlots { Hazard::BranchAfterBranch.sentence() }
        "Three instructions after a branch are executed before it takes effect. If one of the first two is a branch, execution continues at a wrong \
        address [vc4asm]."
    211 BothAlusWriteSame "both ALUs write to the same register"
        "The contents of an accumulator or I/O register that both ALUs write are undefined [AG p.17]; two writes with \
        opposite conditions are possible, and so are two moves of the same value."
    212 VpmConflict "VPM accesses that do not work in one instruction"
        "Set-up words and data of the VPM use the same port: of two set-ups, a set-up and a read, or a set-up and a write in one instruction, only \
        one has an effect [vc4asm]."
    213 TwoPeripherals "two accesses to peripherals in one instruction"
        "An instruction can do one of: TMU write, TMU read, TLB write, TLB read, SFU write, mutex read, semaphore access [AG p.37]."
    214 ConditionalPeripheralWrite "a conditional write to a peripheral"
        "The peripheral is triggered whether the condition holds or not, with undefined data where it does not \
        [vc4asm]. Compute the value conditionally in an accumulator, then write it unconditionally. The tile \
        buffer's Z and colour, the multisample mask and the host interrupt do respect conditions. For VPM data it is a \
        warning: Broadcom's tessellator writes vectors in parts."
    215 PartialPeripheralWrite "a part of a word is written to a peripheral"
        "A pack that writes one byte keeps the other bytes of a register; a peripheral has no previous contents to keep [vc4asm]."
    216 RunsOffTheEnd "execution runs off the end of the program"
        "A program ends with thrend and two more instructions; without them, the words that follow in memory would be executed."
    217 AccessAtEnd "uniform, varying or VPM access in the last three instructions"
        "From the program end signal on, the QPU is prepared for the next program: the signalling instruction and \
        the two after it must not access uniforms, varyings or the VPM [AG p.22, p.37]. A write to a TMU takes a uniform as the \
        parameter of its lookup, unless it is of s alone [AG p.23, p.40]."
    218 Register14AtEnd "register 14 is used in the last three instructions"
        "W and Z of the next program are written to location 14 of both files in the last three instructions [AG p.21]."
    219 WriteAtEnd "the instruction that ends the program writes to a register file"
        "Its write cycle is used for the W and Z of the next program [AG p.21]. Accumulators and peripherals may be written."
    220 TlbZAtEnd "a Z write in the last instruction"
        "The final instruction must not write Z to the tile buffer [AG p.37]."
    221 TmuWithoutRequest "a TMU result is loaded that was never requested"
        "Each load signal takes one result; without a request it waits for ever, or takes another program's result."
    222 TmuFifoFull "too many TMU requests before a result is loaded"
        "The request FIFO has eight slots, and each parameter written takes one: four requests of (s, t), or eight \
        of s alone. Both threads of a QPU share it, so each may use four of them [AG p.39-40]. A request that finds \
        no room waits for a result to be loaded, which this program does only later."
    223 NeverWritten "a register is read that nothing has written"
        "The register is not written on any path to this instruction. It contains what an earlier program left in it."
    224 LostOverThreadSwitch "a value does not survive the thread switch"
        "After a switch, which takes effect after two more instructions, accumulators and flags contain the other thread's values \
        [AG p.21]. Keep the value in ra0 to ra15 or rb0 to rb15."
    225 UpperHalfOfFile "a threaded program uses the upper half of a register file"
        "With two threads each has 16 registers of a file; 16 to 31 are those of the other thread [AG p.20]."
    226 UniformCount "the number of uniforms differs from the interface"
        "Uniforms are a stream: one read too many or too few, and everything after it is shifted. A write to a TMU \
        parameter (but for direct lookups with s alone) reads one too [AG p.24]."
    227 VaryingCount "the number of varyings differs from the interface"
        "All varyings that the shader record announces must be read before the program ends [AG p.52]."
    228 TlbAfterUnlock "the tile buffer is accessed after the scoreboard is unlocked"
        "After sbdone, another QPU may process the same pixels."
    229 MutexBalance "the mutex is not taken and released in turn"
        "There is one mutex for all QPUs. A program that takes it twice waits for itself for ever; one that ends with it blocks all others [AG p.24]."
    230 VpmReadWithoutSetup "the VPM is read without a set-up"
        "Reads consume a FIFO that the read set-up word fills. Without a set-up they return undefined data according to \
        the guide [AG p.56], and wait for ever according to tests on boards [vc4asm]."
    231 VpmReadBeyondSetup "more vectors are read from the VPM than were set up"
        "A set-up word fills the FIFO with the number of vectors in its bits 23:20, 0 for 16. Reads beyond it give \
        undefined data according to the guide [AG p.56], and wait for ever according to tests on boards [vc4asm]. \
        Set up more, or read less."
    232 Unreachable "instructions that are never reached"
        "No path leads here: the code follows the end of the program or an unconditional branch, and no branch goes to it."
    233 Unmapped "there is nothing at this address"
        "The register address map leaves this address empty [AG p.38]."
    234 UniformWithTmuWrite "a uniform is read by an instruction that writes a TMU parameter"
        "The TMU write reads a uniform itself, its texture parameter: the instruction must not read another one [AG p.24]."
    235 LastSwitchMissing "the last thread switch is not lthrsw"
        "The final switch of a threaded program must be lthrsw, so that the other thread can start its next program [AG \
        p.21]. If no switch is lthrsw it is a warning: Broadcom's shaders of OpenVG have none, but all switch equally often."
    236 TmuResultLeft "a TMU result is requested but never loaded"
        "It stays in the FIFO and becomes the first result of the next program."
    237 ReservedCode "a reserved code"
        "A field of the word has a value to which the guide gives no meaning."
    238 VpmInFragment "VPM access in a fragment shader"
        "The FIFO of the varyings is also that of the VPM: a fragment shader cannot access the VPM [AG p.52]."
    239 StageMismatch "this does not belong to the stage"
        "Varyings and the tile buffer exist in fragment shaders only."
    240 AttributeCount "the number of attributes differs from the interface"
        "Each read of the VPM gives one component of one attribute for all 16 vertices; what is declared and what is \
        read must be the same number, or everything after it is shifted."
    241 TextureNotDeclared "a texture is looked up that the interface does not have"
        "The source declares its textures by `.texture`, with the TMU of each; a lookup by the other TMU would use parameters that nothing provides."
    242 R4BeforeLoad "r4 is read before a result is loaded into it"
        "TMU results wait in a FIFO until a signal (ldtmu0, ldtmu1) loads one into r4; tile buffer contents have \
        signals of their own. They are in r4 for the instruction after the signal, not for the one that has it [AG \
        p.23-24]. Nothing else has written r4 before."
    243 MutexUnsure "whether the mutex is taken depends on the path"
        "Paths join here, some with the mutex taken and some without. If the same condition is tested again \
        later, this is correct (.allow E0243); otherwise one of the paths waits for itself, or releases a mutex that another \
        QPU holds."
    244 SemaphoreBalance "a semaphore is not used as the interface says"
        "`.semaphore NUMBER, ACQUIRES, RELEASES` says how often a program acquires and releases a semaphore on its \
        way from start to end, so that the programs of all QPUs together can be made to balance. An acquire of a \
        semaphore at 0 waits for a release by another program, and a release of one at 15 for an acquire [AG p.33]."
    245 VpmWriteWithoutSetup "the VPM is written without a set-up"
        "The write set-up word says where a vector is written; at the start of a program nothing is set up [AG p.55, mesa vc4_qpu_emit.c]."
    246 ScoreboardNotUnlocked "the scoreboard is not unlocked"
        "The first access of the tile buffer implicitly waits for the scoreboard and locks it (sbwait is \
        not required [AG p.29]); after the last one the program must signal sbdone, or shaders of the same pixels \
        wait for it [AG p.47]."
    247 TlbBeforeLastSwitch "the tile buffer is accessed before the last thread switch"
        "The access locks the scoreboard. If the QPU switches to the other thread then, which may work on the same \
        pixels and be first in order, each waits for the other [mesa vc4_qpu_emit.c]. Put all accesses after lthrsw. If \
        there is none at all it is a warning, as for E0235."
    248 VpmReadLeft "vectors of the VPM are set up, but never read"
        "Exactly as many vectors must be read as were set up [AG p.56]. According to the same page, unread ones are \
        cancelled at the end of the program; according to another, they must be consumed [AG p.24]."
    249 VpmQueueFull "a third VPM read is set up while two are waiting"
        "Two read set-ups can be queued; one more is ignored [AG p.56]."
    250 SwitchAfterLast "a thread switch after the last one"
        "lthrsw says that no switch follows: the scoreboard may be locked from then on, and the other thread's next \
        program may start [AG p.21]. Only the last switch on each path may be lthrsw."
    251 SwitchUnthreaded "a thread switch in a program for one thread"
        "The source says .threads 1. Only programs that are marked as threadable share a QPU with another and may switch [AG p.21]."

    252 DelaySlots "the delay slots of a branch look forgotten"
        "Three instructions after a branch are executed before it takes effect, whether it is taken or not [AG p.34]. A program \
        that ends in them never reaches the target of the branch; a write to a loop counter is executed in each iteration, not \
        after the last; and a branch into its own delay slots executes the same instructions again. Put three nops after the \
        branch, or write `.slots` between the branch and the instructions if they are intended for the delay slots."
    253 NeverSwitches "a program for two threads that never switches them"
        "The source says .threads 2. On boards such a program works by itself, but hangs in a frame with programs that do \
        switch threads [bm docs/DRIVERS.md]. Say .threads 1, or signal lthrsw."
    254 TmuParameterWithoutS "a parameter of a TMU is written, and no s after it"
        "`s` must be written last: it starts the lookup, with the parameters t, r and b that were written before it [AG p.24, p.40]. A parameter written \
        after it belongs to the next lookup, and `s` alone reads memory. Without another s it stays in the FIFO for the next program."
    255 TmuResultWithoutSwitch "a program for two threads loads a TMU result without a thread switch"
        "Both threads of a QPU share the FIFOs of a TMU, which do not distinguish them: a result of the other thread may \
        precede this one. Switch threads after each request, and load its result before the next switch [AG p.40]."
    256 TmuResultOverSwitch "a TMU result is left over a second thread switch"
        "The first switch after a request lets the other thread load its own results, which precede this thread's. After the second \
        one, results of this thread would precede those of the other, which would load them. Load all of them between the two \
        [AG p.40]."
    257 TmuParametersOverSwitch "a thread switch between the parameters of a TMU request"
        "Both threads write parameters to the same FIFO [AG p.40]: those of the other thread would become part of this request. Write \
        all of them, s last, before the switch or after it; the two instructions after its signal are before it."

    // Rules on which sources disagree, reported on request.
    260 VpmReadSoon { Hazard::VpmReadAfterSetup.sentence() }
        "The guide demands three instructions from the set-up to the first read, and says that an earlier read returns \
        undefined data [AG p.56]. Tests on boards found that it waits for the data [vc4asm], and shaders of Mesa and \
        GPU_FFT rely on that."
    261 ManyDirectLookups "more than four direct lookups under way"
        "The request FIFO has room for eight lookups with s alone [AG p.39], but with more than four of them some \
        elements were seen to get another lookup's result [vc4asm]."
    262 VpmSetupSoon "VPM reads are set up before the ones before are read"
        "According to the guide, two set-ups can be queued [AG p.56]. Tests on boards found that the second one is ignored \
        as long as more than one vector of the first is outstanding [vc4asm], and Mesa reads all vectors of one set-up \
        before the next [mesa vc4_qpu_emit.c]."
    263 TlbZNearEnd { Hazard::EndAfterTlbZ.sentence() }
        "The guide forbids it in the last instruction only [AG p.37]; an erratum, in the last four or five [brcm HW-2806]."
    264 TmuAtStart { Hazard::TmuAfterStart.sentence() }
        "An erratum forbids it where TMUs are swapped between QPUs [brcm HW-2615]; the guide does not mention it."
    265 MutexWithVpmReads "the mutex is taken while VPM reads are under way"
        "An erratum demands that the FIFO of the VPM is empty when the mutex is taken [brcm HW-2497]; the guide does not mention it."
    266 BothAlusWriteParts "both ALUs write to one peripheral, with opposite conditions"
        "In elements that only the mul ALU writes, the value was observed to be undefined [vc4asm], although vc4asm's \
        checker accepts it. Select the value in an accumulator first."
    267 RotatedResultSoon { Hazard::ReadAfterRotatedWrite.sentence() }
        "A rotated result in register file A or B was observed to arrive one instruction later than other results [pyvc]; the guide does not mention it."
    268 OddBranchTarget "the branch target is in an odd register"
        "An erratum allows even registers only [brcm HW-2780]: bit 45 is both the lowest bit of the register's \
        number and the bit that sets the flags. Where the flags do not matter, odd ones work [vc4asm]."
    269 ScoreboardWaitSecond "a wait for the scoreboard in the second instruction"
        "The guide forbids it [AG p.37]; but Broadcom's own compiler emits it in nearly all shaders, and the note on \
        the erratum questions it [brcm HW-2796]."
}
