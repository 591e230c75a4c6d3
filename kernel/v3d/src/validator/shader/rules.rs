//! The rules of the instruction set that depend on an instruction and the two before it only.
//!
//! Violations have undefined results [AG p.37], so nothing could be proved about the program.

use super::ProgramKind;
use v3d_hw::qpu::access::Conditional;
use v3d_hw::qpu::accesses::{Accesses, Write, accumulators};
use v3d_hw::qpu::{
    AddOp, Alu, BranchCondition, Condition, Hazard, ImmediateKind, Instruction, LoadImmediate, Mux, PackMul,
    ReadSource, Signal, SmallImmediate, Unpack, WriteTarget, address_sets,
};

/// The rules of one instruction.
pub(super) fn alone(kind: ProgramKind, instruction: &Instruction, accesses: &Accesses) -> Result<(), &'static str> {
    codes(instruction)?;
    for write in &accesses.writes {
        destination(kind, write)?;
    }
    if accesses.writes_twice() {
        return Err("writes one accumulator or I/O register by both ALUs");
    }
    if let Instruction::Alu(alu) = instruction {
        operands(kind, alu, accesses)?;
    }
    signal(kind, instruction.signal())?;
    one_peripheral(accesses)
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
    if mul_runs && pm && matches!(PackMul::of_field(pack), PackMul::Reserved(_)) {
        return Err("has a reserved pack mode");
    }
    Ok(())
}

/// Destinations of results.
fn destination(kind: ProgramKind, result: &Write) -> Result<(), &'static str> {
    let fragment = matches!(kind, ProgramKind::Fragment { .. });
    match result.target {
        WriteTarget::Register(_) | WriteTarget::Accumulator(_) | WriteTarget::Nop => return Ok(()),
        WriteTarget::VpmLdAddr | WriteTarget::VpmStAddr => return Err("starts a DMA of the VPM"),
        WriteTarget::HostInterrupt => return Err("interrupts the host"),
        WriteTarget::MutexRelease => return Err("releases the mutex"),
        WriteTarget::VpmWrite | WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup if fragment => {
            return Err("uses the VPM in a fragment shader");
        }
        WriteTarget::QuadX | WriteTarget::QuadY => return Err("moves quads"),
        WriteTarget::TlbAlphaMask => return Err("writes the alpha mask, which is OpenVG's"),
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
    let row = result.target.row();
    // The stencil set-up takes effect per element, as the stencil test does.
    let may_be_conditional =
        row.conditional == Conditional::PerElement || result.target == WriteTarget::TlbStencilSetup;
    if !result.acts && !result.target.is_r5() {
        return Err("writes to a peripheral by an operation that does nothing");
    }
    if !may_be_conditional && result.condition != Condition::Always {
        return Err(match result.target {
            WriteTarget::Tmu { .. } => "writes a texture coordinate conditionally",
            WriteTarget::UniformsAddress => "moves the address of the uniforms to an address that is not known",
            _ => "writes to the SFU, the VPM or a TMU conditionally",
        });
    }
    if result.bytes != Write::WHOLE {
        return Err("packs a single byte for an I/O register");
    }
    Ok(())
}

/// Operands.
fn operands(kind: ProgramKind, alu: &Alu, accesses: &Accesses) -> Result<(), &'static str> {
    let fragment = matches!(kind, ProgramKind::Fragment { .. });
    for read in accesses.read() {
        match read.source {
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
            ReadSource::Unmapped(_) if read.used != Condition::Never => {
                return Err("reads an address that nothing is mapped to");
            }
            _ => {}
        }
    }
    let unpacks = alu.unpack != Unpack::None && !alu.pm && alu.uses(Mux::A);
    if unpacks && !matches!(alu.sources()[0], Some(ReadSource::Register(_))) {
        return Err("unpacks what is not read from register file A");
    }
    Ok(())
}

/// Signals.
fn signal(kind: ProgramKind, signal: Signal) -> Result<(), &'static str> {
    let fragment = matches!(kind, ProgramKind::Fragment { .. });
    match signal {
        Signal::Breakpoint => Err("is a breakpoint"),
        Signal::LoadAlpha => Err("reads the alpha mask, which is OpenVG's"),
        Signal::LoadCoverage | Signal::LoadColor | Signal::LoadColorEnd | Signal::ScoreboardWait if !fragment => {
            Err("uses the tile buffer in a vertex or coordinate shader")
        }
        signal if signal.switches_threads() && kind != (ProgramKind::Fragment { threaded: true }) => {
            Err("switches threads in a program that runs as the only thread")
        }
        _ => Ok(()),
    }
}

/// Units that share a port: an instruction may access only one of them.
fn one_peripheral(accesses: &Accesses) -> Result<(), &'static str> {
    let writes = accesses.written().filter(|write| write.target.row().access.is_coupled).count();
    if writes > 1 || accesses.coupled_accesses() > 1 {
        return Err("accesses more than one of TMU, tile buffer and SFU");
    }
    Ok(())
}

/// Properties of an instruction that the following instructions depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Recent {
    /// Registers that it writes.
    writes: u64,
    /// Accumulators and flags that it writes, in any elements.
    writes_accumulators: u8,
    /// Accumulators and flags that it writes completely, in all elements.
    replaces_accumulators: u8,
    /// It writes to the SFU.
    sfu: bool,
    /// It writes Z.
    tlb_z: bool,
}

impl Recent {
    pub(super) fn of(accesses: &Accesses) -> Self {
        Self {
            writes: accesses.registers_written(),
            writes_accumulators: accesses.accumulators_written(),
            replaces_accumulators: accesses.accumulators_replaced(),
            sfu: accesses.writes_any(address_sets::SFU),
            tlb_z: accesses.writes_to(WriteTarget::TlbZ),
        }
    }
}

/// The rules between an instruction and the two before it, nearest first.
pub(super) fn between(now: &Accesses, recent: &[Recent; 2]) -> Result<(), &'static str> {
    let nearest = |hazard: Hazard| recent.iter().take(hazard.between() as usize);
    let written = |hazard, set: fn(&Recent) -> u64| nearest(hazard).fold(0, |sets, recent| sets | set(recent));
    let always = now.writes[1].condition == Condition::Always;
    let by_r5 = now.rotation == Some(SmallImmediate::RotateByR5);
    let r4 = u64::from(accumulators::R4);
    let broken = |hazard| match hazard {
        Hazard::ReadAfterWrite => now.registers_read() & written(hazard, |recent| recent.writes) != 0,
        Hazard::SfuResult => u64::from(now.accumulators_read()) & r4 != 0 && nearest(hazard).any(|recent| recent.sfu),
        Hazard::SfuBusy => u64::from(now.accumulators_written()) & r4 != 0 && nearest(hazard).any(|recent| recent.sfu),
        Hazard::RotationAfterWrite => {
            let replaced = written(hazard, |recent| recent.replaces_accumulators.into());
            always && u64::from(now.rotated) & replaced != 0
        }
        Hazard::RotationByR5AfterWrite => {
            let written = written(hazard, |recent| recent.writes_accumulators.into());
            by_r5 && written & u64::from(accumulators::R5) != 0
        }
        Hazard::MsFlagsAfterTlbZ => now.reads(ReadSource::MsFlags) && nearest(hazard).any(|recent| recent.tlb_z),
        // `path` and `walk` check these.
        Hazard::UniformAfterAddress
        | Hazard::TmuAfterNoSwap
        | Hazard::ScoreboardAfterStart
        | Hazard::BranchAfterBranch => false,
        // Sources disagree, or boards wait: programs that break these are accepted.
        Hazard::VpmReadAfterSetup | Hazard::ReadAfterRotatedWrite | Hazard::EndAfterTlbZ | Hazard::TmuAfterStart => {
            false
        }
    };
    if let Some(hazard) = Hazard::ALL.iter().find(|hazard| broken(**hazard)) {
        return Err(hazard.sentence());
    }
    Ok(())
}
