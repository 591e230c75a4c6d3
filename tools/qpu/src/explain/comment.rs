//! Explanations of field values: the comments in the tables of `qpu explain`.

use v3d_hw::qpu::{AddOp, Condition, MulOp, Mux, PackMul, ReadSource, Signal, Unpack, WriteTarget};

/// The effect of a signal, in addition to the two operations [AG p.29].
pub(super) fn signal(signal: Signal) -> &'static str {
    match signal {
        Signal::Breakpoint => "the QPU stops here until the host resumes it",
        Signal::None => "no signal",
        Signal::ThreadSwitch => "the QPU switches to its other thread after two more instructions",
        Signal::ProgramEnd => "the program ends after two more instructions",
        Signal::ScoreboardWait => "waits until all earlier primitives are done with these pixels",
        Signal::ScoreboardUnlock => "from here on, later primitives may access these pixels",
        Signal::LastThreadSwitch => "as thrsw, and it is the last switch of the program",
        Signal::LoadCoverage => "loads the tile buffer's coverage into r4",
        Signal::LoadColor => "loads the tile buffer's colour into r4",
        Signal::LoadColorEnd => {
            "loads the tile buffer's colour into r4, and ends the program after two more instructions"
        }
        Signal::LoadTmu0 => "loads the oldest result of TMU 0 into r4, for the next instruction",
        Signal::LoadTmu1 => "loads the oldest result of TMU 1 into r4, for the next instruction",
        Signal::LoadAlpha => "loads the tile buffer's alpha mask into r4",
        Signal::SmallImmediate => "raddr_b is a constant or a rotation, and no register of file B is read",
        Signal::LoadImmediate => "bits 59:57 distinguish constants from semaphores",
        Signal::Branch => "three more instructions are executed before the jump",
    }
}

/// The elements in which a result is written [AG p.28].
pub(super) fn condition(condition: Condition) -> &'static str {
    match condition {
        Condition::Never => "no element is written",
        Condition::Always => "all 16 elements are written",
        Condition::ZSet => "elements whose flag Z is set are written",
        Condition::ZClear => "elements whose flag Z is clear are written",
        Condition::NSet => "elements whose flag N is set are written",
        Condition::NClear => "elements whose flag N is clear are written",
        Condition::CSet => "elements whose flag C is set are written",
        Condition::CClear => "elements whose flag C is clear are written",
    }
}

/// What the add ALU computes of its operands a and b [AG p.35].
pub(super) fn add_operation(operation: AddOp) -> &'static str {
    match operation {
        AddOp::Nop => "the add ALU does nothing",
        AddOp::Fadd => "a + b of floats",
        AddOp::Fsub => "a - b of floats",
        AddOp::Fmin => "the smaller float",
        AddOp::Fmax => "the greater float",
        AddOp::Fminabs => "the smaller of |a| and |b|, floats",
        AddOp::Fmaxabs => "the greater of |a| and |b|, floats",
        AddOp::Ftoi => "float a as signed integer, towards zero",
        AddOp::Itof => "signed integer a as float",
        AddOp::Add => "a + b of integers",
        AddOp::Sub => "a - b of integers",
        AddOp::Shr => "a shifted right by b, zeros from the left",
        AddOp::Asr => "a shifted right by b, the sign from the left",
        AddOp::Ror => "a rotated right by b bits",
        AddOp::Shl => "a shifted left by b",
        AddOp::Min => "the smaller signed integer",
        AddOp::Max => "the greater signed integer",
        AddOp::And => "a and b, bit by bit; of equal operands a copy",
        AddOp::Or => "a or b, bit by bit; of equal operands a copy",
        AddOp::Xor => "a exclusive or b, bit by bit; of equal operands zero",
        AddOp::Not => "the complement of a, bit by bit",
        AddOp::Clz => "number of leading zero bits of a",
        AddOp::V8adds => "four sums of bytes, at most 255",
        AddOp::V8subs => "four differences of bytes, at least 0",
        AddOp::Reserved(_) => "no operation has this code",
    }
}

/// What the mul ALU computes of its operands a and b [AG p.36].
pub(super) fn mul_operation(operation: MulOp) -> &'static str {
    match operation {
        MulOp::Nop => "the mul ALU does nothing",
        MulOp::Fmul => "a * b of floats",
        MulOp::Mul24 => "the product of the low 24 bits of a and b, its low 32 bits",
        MulOp::V8muld => "four products of bytes, in which 255 stands for 1",
        MulOp::V8min => "the smaller of each pair of bytes; of equal operands a copy",
        MulOp::V8max => "the greater of each pair of bytes; of equal operands a copy",
        MulOp::V8adds => "four sums of bytes, at most 255",
        MulOp::V8subs => "four differences of bytes, at least 0",
    }
}

/// The source of an operand, if its name does not tell.
pub(super) fn operand(mux: Mux, is_immediate: bool) -> Option<&'static str> {
    match mux {
        Mux::A => Some("the register at raddr_a"),
        Mux::B if is_immediate => Some("the small immediate"),
        Mux::B => Some("the register at raddr_b"),
        Mux::R4 => Some("the last result of SFU, TMU or tile buffer"),
        _ => None,
    }
}

/// What is unpacked from the register file or r4 [AG p.31-32].
pub(super) fn unpack(unpack: Unpack) -> &'static str {
    match unpack {
        Unpack::None => "all 32 bits as they are",
        Unpack::Half0 => "the low half: a half float for float operations, else a signed integer",
        Unpack::Half1 => "the high half: a half float for float operations, else a signed integer",
        Unpack::Byte3Replicated => "byte 3 in all four bytes",
        Unpack::Byte0 | Unpack::Byte1 | Unpack::Byte2 | Unpack::Byte3 => {
            "one byte: 0 to 255 as 0.0 to 1.0 for float operations, else an unsigned integer"
        }
    }
}

/// The conversion that the mul ALU's pack applies to a float [AG p.32].
pub(super) fn pack_mul(pack: PackMul) -> &'static str {
    match pack {
        PackMul::None => "all 32 bits as they are",
        PackMul::Replicated => "0.0 to 1.0 as 0 to 255, into all four bytes",
        PackMul::Reserved(_) => "no pack has this code",
        _ => "0.0 to 1.0 as 0 to 255, into one byte; the other three are unchanged",
    }
}

/// Side effects of reading a peripheral [AG p.37].
pub(super) fn read(source: ReadSource) -> Option<&'static str> {
    Some(match source {
        ReadSource::Uniform => "reads the next word of the uniforms, the same for all elements",
        ReadSource::Varying => "reads the next varying, A * x + B * y of each pixel, and loads its C into r5",
        ReadSource::ElementNumber => "the number of each element, 0 to 15",
        ReadSource::QpuNumber => "the number of this QPU",
        ReadSource::XPixelCoord => "the column of each element's pixel",
        ReadSource::YPixelCoord => "the row of each element's pixel",
        ReadSource::MsFlags => "the samples of each pixel that the primitive covers",
        ReadSource::RevFlag => "whether the primitive is back-facing",
        ReadSource::VpmRead => "reads the next vector of the VPM read set-up",
        ReadSource::VpmLdBusy => "whether the DMA load is still under way",
        ReadSource::VpmStBusy => "whether the DMA store is still under way",
        ReadSource::VpmLdWait => "waits until the DMA load is done",
        ReadSource::VpmStWait => "waits until the DMA store is done",
        ReadSource::MutexAcquire => "waits until no other QPU has the mutex, and takes it",
        ReadSource::Unmapped(_) => "this address is not mapped",
        ReadSource::Register(_) | ReadSource::Nop => return None,
    })
}

/// The effect of writing a peripheral [AG p.37-38].
pub(super) fn write(target: WriteTarget) -> Option<&'static str> {
    use v3d_hw::qpu::address_map::TmuCoordinate;
    Some(match target {
        WriteTarget::TmuNoSwap => "disables the swap of TMU numbers on odd QPUs of the slice",
        WriteTarget::R5PerQuad => "r5 of each quad becomes the value of its first element",
        WriteTarget::R5Replicated => "all elements of r5 become the value of element 0",
        WriteTarget::HostInterrupt => "interrupts the host",
        WriteTarget::UniformsAddress => "the next uniforms are read from the address in element 0",
        WriteTarget::QuadX => "the column of each quad",
        WriteTarget::QuadY => "the row of each quad",
        WriteTarget::MsFlags => "the samples that the next writes to the tile buffer may change",
        WriteTarget::RevFlag => "selects the stencil set-up of the front or the back",
        WriteTarget::TlbStencilSetup => "sets up the stencil test",
        WriteTarget::TlbZ => "performs the depth and stencil tests; later writes skip pixels that fail",
        WriteTarget::TlbColorMs => "writes the colour of the next sample of each pixel",
        WriteTarget::TlbColorAll => {
            "writes the colour of each pixel, as red, green, blue and alpha from the lowest byte on"
        }
        WriteTarget::TlbAlphaMask => "writes the alpha mask",
        WriteTarget::VpmWrite => "writes the next vector of the VPM write set-up",
        WriteTarget::VpmVcdRdSetup => "sets up reads of the VPM, or a DMA load, depending on the word's top bits",
        WriteTarget::VpmVcdWrSetup => "sets up writes of the VPM, or a DMA store, depending on the word's top bits",
        WriteTarget::VpmLdAddr => "starts the DMA load from this address",
        WriteTarget::VpmStAddr => "starts the DMA store to this address",
        WriteTarget::MutexRelease => "releases the mutex",
        WriteTarget::SfuRecip => "computes 1/x; r4 has it in the third instruction from here",
        WriteTarget::SfuRecipSqrt => "computes 1/sqrt(x); r4 has it in the third instruction from here",
        WriteTarget::SfuExp => "computes 2^x; r4 has it in the third instruction from here",
        WriteTarget::SfuLog => "computes log2(x); r4 has it in the third instruction from here",
        WriteTarget::Tmu { coordinate: TmuCoordinate::S, .. } => {
            "starts the lookup: of a texture if t was written, which consumes a uniform; else of the word at this address"
        }
        WriteTarget::Tmu { .. } => "a coordinate of the next lookup; consumes the next uniform as texture parameter",
        WriteTarget::Register(_) | WriteTarget::Accumulator(_) | WriteTarget::Nop => return None,
    })
}
