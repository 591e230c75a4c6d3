//! The rules of the instruction set that need no more than an instruction and the two before it.
//!
//! What happens when one is broken is undefined [AG p.37]: nothing could then be said of what a program reaches.

use super::Kind;
use super::touches::{self, R4, R5, Touches};
use v3d_hw::qpu::{
    AddOp, Alu, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, Mux, ReadSource, Signal,
    WriteTarget,
};

/// The rules of one instruction.
pub(super) fn alone(kind: Kind, instruction: &Instruction) -> Result<(), &'static str> {
    codes(instruction)?;
    let results = touches::results(instruction);
    for result in &results {
        destination(kind, result)?;
    }
    if touches::writes_twice(&results) {
        return Err("writes one accumulator or I/O register by both ALUs");
    }
    if let Instruction::Alu(alu) = instruction {
        operands(kind, alu)?;
    }
    signal(kind, instruction.signal())?;
    one_peripheral(instruction, &results)
}

/// Reserved codes.
fn codes(instruction: &Instruction) -> Result<(), &'static str> {
    let (pm, pack, mul_runs) = match instruction {
        Instruction::Alu(alu) => {
            if matches!(alu.op_add, AddOp::Reserved(_)) {
                return Err("has a reserved operation");
            }
            (alu.pm, alu.pack, true)
        }
        Instruction::LoadImmediate(LoadImmediate { kind, pm, pack, .. }) => {
            if matches!(kind, ImmediateKind::Semaphore | ImmediateKind::Reserved(_)) {
                return Err("has a reserved kind of immediate");
            }
            (*pm, *pack, true)
        }
        Instruction::Semaphore(_) => return Err("waits for or increments a semaphore"),
        Instruction::Branch(branch) => {
            if matches!(branch.cond_br, BranchCondition::Reserved(_)) {
                return Err("has a reserved branch condition");
            }
            (false, 0, false)
        }
    };
    if mul_runs && pm && matches!(pack & 7, 1 | 2) {
        return Err("has a reserved pack mode");
    }
    Ok(())
}

/// Where a result may go.
fn destination(kind: Kind, result: &touches::Result) -> Result<(), &'static str> {
    let fragment = matches!(kind, Kind::Fragment { .. });
    let whole = result.bytes == 15;
    match result.target {
        WriteTarget::Register(_) | WriteTarget::Accumulator(_) | WriteTarget::Nop => return Ok(()),
        WriteTarget::VpmLdAddr | WriteTarget::VpmStAddr => return Err("starts a DMA of the VPM"),
        WriteTarget::HostInterrupt => return Err("interrupts the host"),
        WriteTarget::MutexRelease => return Err("releases the mutex"),
        WriteTarget::VpmWrite | WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup if fragment => {
            return Err("uses the VPM in a fragment shader");
        }
        WriteTarget::QuadX | WriteTarget::QuadY => return Err("moves quads"),
        WriteTarget::TlbAlphaMask => return Err("writes the alpha mask, which there is not"),
        WriteTarget::TlbStencilSetup
        | WriteTarget::TlbZ
        | WriteTarget::TlbColorMs
        | WriteTarget::TlbColorAll
        | WriteTarget::MsFlags
        | WriteTarget::RevFlag
            if !fragment =>
        {
            return Err("uses the tile buffer in a vertex or coordinate shader");
        }
        _ => {}
    }
    let may_be_conditional = matches!(
        result.target,
        WriteTarget::TlbStencilSetup
            | WriteTarget::TlbZ
            | WriteTarget::TlbColorMs
            | WriteTarget::TlbColorAll
            | WriteTarget::MsFlags
            | WriteTarget::RevFlag
            | WriteTarget::R5PerQuad
            | WriteTarget::R5Replicated
    );
    if result.is_nop && !matches!(result.target, WriteTarget::R5PerQuad | WriteTarget::R5Replicated) {
        return Err("writes to a peripheral by an operation that does nothing");
    }
    if !may_be_conditional && result.condition != Condition::Always {
        return Err(match result.target {
            WriteTarget::Tmu { .. } => "writes a texture coordinate conditionally",
            WriteTarget::UniformsAddress => "moves the address of the uniforms, where to, nobody can say",
            _ => "writes to the SFU, the VPM or a TMU conditionally",
        });
    }
    if !whole {
        return Err("packs a single byte for an I/O register");
    }
    Ok(())
}

/// What may be read.
fn operands(kind: Kind, alu: &Alu) -> Result<(), &'static str> {
    let fragment = matches!(kind, Kind::Fragment { .. });
    let sources = touches::sources(alu);
    for (source, mux) in sources.into_iter().zip([Mux::A, Mux::B]) {
        match source {
            ReadSource::VpmRead if fragment => return Err("reads the VPM in a fragment shader"),
            ReadSource::VpmLdBusy | ReadSource::VpmStBusy | ReadSource::VpmLdWait | ReadSource::VpmStWait => {
                return Err("asks for or waits for a DMA of the VPM");
            }
            ReadSource::MutexAcquire => return Err("takes the mutex"),
            ReadSource::Varying
            | ReadSource::XPixelCoord
            | ReadSource::YPixelCoord
            | ReadSource::MsFlags
            | ReadSource::RevFlag
                if !fragment =>
            {
                return Err("reads varyings or pixels in a vertex or coordinate shader");
            }
            ReadSource::Unmapped(_) if touches::consumes(alu, mux) => {
                return Err("reads an address that nothing is mapped to");
            }
            _ => {}
        }
    }
    if touches::unpacks_port_a(alu) && !matches!(sources[0], ReadSource::Register(_)) {
        return Err("unpacks what is not read from register file A");
    }
    Ok(())
}

/// What may be signalled.
fn signal(kind: Kind, signal: Signal) -> Result<(), &'static str> {
    let fragment = matches!(kind, Kind::Fragment { .. });
    match signal {
        Signal::Breakpoint => Err("is a breakpoint"),
        Signal::LoadAlpha => Err("reads the alpha mask, which there is not"),
        Signal::LoadCoverage | Signal::LoadColor | Signal::LoadColorEnd | Signal::ScoreboardWait if !fragment => {
            Err("uses the tile buffer in a vertex or coordinate shader")
        }
        Signal::ThreadSwitch | Signal::LastThreadSwitch if kind != (Kind::Fragment { threaded: true }) => {
            Err("switches threads in a program that runs as the only thread")
        }
        _ => Ok(()),
    }
}

/// Units that share a port: an instruction may access one of them once. A stencil set-up beside a lookup's result is allowed: Mesa's programs do that.
fn one_peripheral(instruction: &Instruction, results: &[touches::Result; 2]) -> Result<(), &'static str> {
    let (mut tmu, mut tlb, mut setup, mut sfu) = (0, 0, 0, 0);
    for result in results.iter().filter(|result| result.happens()) {
        match result.target {
            WriteTarget::Tmu { .. } => tmu += 1,
            WriteTarget::TlbStencilSetup => setup += 1,
            WriteTarget::TlbZ | WriteTarget::TlbColorMs | WriteTarget::TlbColorAll => tlb += 1,
            WriteTarget::SfuRecip | WriteTarget::SfuRecipSqrt | WriteTarget::SfuExp | WriteTarget::SfuLog => sfu += 1,
            _ => {}
        }
    }
    let loads_tmu = matches!(instruction.signal(), Signal::LoadTmu0 | Signal::LoadTmu1);
    let loads_tlb = matches!(instruction.signal(), Signal::LoadCoverage | Signal::LoadColor | Signal::LoadColorEnd);
    // A colour load together with a colour write is one access.
    let units = [tmu > 0, loads_tmu, tlb > 0 || loads_tlb || setup > 0 && !loads_tmu, sfu > 0];
    let too_many = tmu + tlb + setup + sfu > 1 || units.into_iter().filter(|&used| used).count() > 1;
    if too_many { Err("accesses more than one of TMU, tile buffer and SFU") } else { Ok(()) }
}

/// The rules between an instruction and the two before it: `previous` directly, `before` with one between.
pub(super) fn between(now: &Touches, previous: &Touches, before: &Touches) -> Result<(), &'static str> {
    if now.reads & previous.writes != 0 {
        return Err("reads a register that the instruction before it writes");
    }
    if previous.sfu || before.sfu {
        if now.reads_accumulators & R4 != 0 {
            return Err("reads r4 before the SFU's result is there");
        }
        if now.loads_r4 || now.sfu {
            return Err("writes r4 while a result of the SFU is on its way");
        }
    }
    if now.rotates & previous.replaces_accumulators != 0 {
        return Err("rotates an accumulator that the instruction before it writes");
    }
    if now.rotates_by_r5 && previous.writes_accumulators & R5 != 0 {
        return Err("rotates by r5, which the instruction before it writes");
    }
    if now.ms_flags && (previous.tlb_z || before.tlb_z) {
        return Err("reads the multisample mask too soon after a write of Z");
    }
    Ok(())
}
