//! A bundle: an instruction of the hardware before registers are allocated.
//!
//! It determines the operation of each ALU, and the read port of each operand.
//!
//! A live range has a bank (accumulators, file A, file B or r4), which determines when and with which other operands it can be read. The register within the
//! bank does not matter for an instruction, since two ranges that are live at the same time never share one. So whether operations can be merged into one
//! instruction is decided here, before register allocation.

use naga::Span;
use v3d_hw::qpu::address_map::{TmuCoordinate, is_read_in_either_file, is_register, is_written_in_either_file};
use v3d_hw::qpu::{AddOp, Condition, File, MulOp, ReadSource, Signal, Unpack, WriteTarget};

use crate::machine::{Operand, Operation, Pack, Register, Target, Work};
use crate::ssa::StreamWord;

/// A class of interchangeable registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bank {
    /// r0 to r3: can be read by the next instruction, in any number.
    Accumulator,
    /// Register file A: one register per instruction can be read, two instructions after it was written at the earliest [AG p.17, p.37].
    A,
    /// Register file B, likewise.
    B,
    /// The result of the special function unit or of a lookup.
    R4,
}

impl Bank {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Accumulator => "acc",
            Self::A => "a",
            Self::B => "b",
            Self::R4 => "r4",
        }
    }
}

/// A live range: a value in one bank, from its definition to its last use; an index into the schedule's live ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RangeId(pub(crate) u32);

impl RangeId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operand with its bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlacedOperand {
    Range(Bank, RangeId, Unpack),
    /// A small immediate, by its code.
    Small(u8),
    /// An I/O address that is read through the port of one file.
    Fixed(File, u8),
    /// An I/O address that can be read through either port.
    Either(u8, Through),
    R5,
}

/// The read port of an I/O address that either port can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    /// The operation's port for streams.
    Own,
    /// The other port, for the second stream that an operation reads.
    Opposite,
    /// The port through which the other operation of the instruction reads the same element.
    Shared,
}

/// The ports for streams of an operation, and of the other one in its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamPorts {
    own: File,
    others: File,
}

impl StreamPorts {
    /// The port that reads an operand.
    pub(crate) const fn of(self, through: Through) -> File {
        match (through, self.own) {
            (Through::Own, own) => own,
            (Through::Opposite, File::A) => File::B,
            (Through::Opposite, File::B) => File::A,
            (Through::Shared, _) => self.others,
        }
    }
}

/// The destination of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Destination {
    Nothing,
    Range(Bank, RangeId),
    /// An I/O address; with a file, if the address has another meaning in the other file.
    Address(Option<File>, WriteTarget),
}

impl Destination {
    /// The file whose write port it needs; `None` if it can use either.
    const fn file(self) -> Option<File> {
        match self {
            Self::Range(Bank::A, _) => Some(File::A),
            Self::Range(Bank::B, _) => Some(File::B),
            Self::Address(file, _) => file,
            _ => None,
        }
    }
}

/// An operation whose registers are live ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) work: Work,
    operands: [PlacedOperand; 2],
    count: u8,
    pub(crate) destination: Destination,
    pub(crate) condition: Condition,
    pub(crate) sets_flags: bool,
    pub(crate) pack: Pack,
    pub(crate) uniform: Option<StreamWord>,
    pub(crate) span: Span,
    /// The ports through which each [`PlacedOperand::Either`] is read.
    pub(crate) stream_ports: StreamPorts,
    /// It reads an operand through either port.
    has_stream: bool,
    /// See [`Operation::accesses_unit`].
    accesses_unit: bool,
    /// It reads or writes a word of the VPM.
    accesses_vpm: bool,
    /// See [`Operation::sets_up_vpm`].
    sets_up_vpm: bool,
    /// The unpack mode that it needs, and the bank of that operand.
    unpacks: Option<(Bank, Unpack)>,
}

impl Placed {
    /// `range` returns the live range of a register. `None` if a register has none. A register that is written has no destination yet.
    pub(crate) fn new(operation: &Operation, range: impl Fn(Register) -> Option<(Bank, RangeId)>) -> Option<Self> {
        let destination = Self::fixed_destination(operation.target);
        let mut placed = Self {
            work: operation.work,
            operands: [PlacedOperand::R5; 2],
            count: operation.operands.len() as u8,
            destination,
            condition: operation.condition,
            sets_flags: operation.sets_flags,
            pack: operation.pack,
            uniform: match operation.target {
                Target::Texture(_, word) => Some(word),
                _ => None,
            },
            span: operation.span,
            stream_ports: StreamPorts { own: File::A, others: File::A },
            has_stream: false,
            accesses_unit: operation.accesses_unit(),
            accesses_vpm: operation.reads_vpm() || operation.writes_vpm(),
            sets_up_vpm: operation.sets_up_vpm(),
            unpacks: None,
        };
        for (slot, &operand) in placed.operands.iter_mut().zip(&operation.operands) {
            let is_second = placed.has_stream && operation.operands.first() != Some(&operand);
            let through = if is_second { Through::Opposite } else { Through::Own };
            *slot = match operand {
                Operand::Register(register) => {
                    let (bank, range) = range(register)?;
                    PlacedOperand::Range(bank, range, Unpack::None)
                }
                Operand::Part(register, unpack) => {
                    let (bank, range) = range(register)?;
                    if placed.unpacks.is_none() && unpack != Unpack::None {
                        placed.unpacks = Some((bank, unpack));
                    }
                    PlacedOperand::Range(bank, range, unpack)
                }
                Operand::Small(code) => PlacedOperand::Small(code),
                Operand::Uniform(word) => {
                    placed.uniform = placed.uniform.or(Some(word));
                    placed.has_stream = true;
                    PlacedOperand::Either(ReadSource::Uniform.address(), through)
                }
                Operand::Input(file, source) => {
                    let address = source.address();
                    if is_read_in_either_file(address) {
                        placed.has_stream = true;
                        PlacedOperand::Either(address, through)
                    } else {
                        PlacedOperand::Fixed(file, address)
                    }
                }
                Operand::Shared(source) => PlacedOperand::Either(source.address(), Through::Shared),
                Operand::Coefficient => PlacedOperand::R5,
            };
        }
        Some(placed)
    }

    /// The destination of an operation whose result is not in a register.
    pub(crate) fn fixed_destination(target: Target) -> Destination {
        let address = |file, target: WriteTarget| {
            let is_open = is_written_in_either_file(target.address());
            Destination::Address((!is_open).then_some(file), target)
        };
        match target {
            Target::Nothing | Target::Register(_) => Destination::Nothing,
            Target::Special(function, _) => address(File::A, function),
            Target::Texture(coordinate, _) => address(File::A, WriteTarget::Tmu { unit: 0, coordinate }),
            Target::Memory => address(File::A, WriteTarget::Tmu { unit: 0, coordinate: TmuCoordinate::S }),
            Target::Output(file, target) => address(file, target),
            Target::Color => address(File::A, WriteTarget::Accumulator(0)),
            Target::BlueAlpha => address(File::A, WriteTarget::Accumulator(1)),
        }
    }

    pub(crate) fn operands(&self) -> &[PlacedOperand] {
        &self.operands[..usize::from(self.count)]
    }

    fn writes_tmu(&self) -> bool {
        matches!(self.destination, Destination::Address(_, WriteTarget::Tmu { .. }))
    }

    fn reads_uniform(&self) -> bool {
        let uniform = ReadSource::Uniform.address();
        let mut streams = self.operands().iter();
        streams.any(|operand| matches!(*operand, PlacedOperand::Either(address, through) if address == uniform && through != Through::Shared))
    }

    /// Whether it reads an element that the other operation of the instruction reads, too.
    fn shares(&self) -> bool {
        self.operands().iter().any(|operand| matches!(operand, PlacedOperand::Either(_, Through::Shared)))
    }

    /// Whether it reads an operand from r4 or file A without unpacking, with these ports for streams.
    fn reads_whole(&self, bank: Bank, stream_ports: StreamPorts) -> bool {
        self.operands().iter().any(|operand| match *operand {
            PlacedOperand::Range(of, _, Unpack::None) => of == bank,
            PlacedOperand::Fixed(File::A, _) => bank == Bank::A,
            PlacedOperand::Either(_, through) => bank == Bank::A && stream_ports.of(through) == File::A,
            _ => false,
        })
    }

    const fn fits_add(&self) -> bool {
        matches!(self.work, Work::Add(_) | Work::Move)
    }

    fn fits_mul(&self) -> bool {
        match self.work {
            Work::Mul(_) | Work::Rotate(_) => true,
            // A move is `or` on the add ALU or `v8min` on the mul ALU, whose flags and packs differ.
            Work::Move => !self.sets_flags && self.pack == Pack::None && self.unpacks.is_none(),
            _ => false,
        }
    }
}

/// The value that a read port delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Port {
    Range(RangeId),
    Address(u8),
    /// A small immediate, in the field of file B.
    Small(u8),
    /// A rotation, in the field of file B.
    Rotation(u8),
}

impl Port {
    /// Whether several operations of an instruction can read it: it is neither a stream nor a unit.
    const fn is_shared(self) -> bool {
        match self {
            Self::Range(_) | Self::Small(_) => true,
            Self::Address(address) => is_register(address),
            Self::Rotation(_) => false,
        }
    }
}

/// An operand, with the place of its register if it has one.
pub(crate) type Reading<'o> = (&'o Operand, Option<(Bank, RangeId)>);

/// A quick test whether an operation can read two operands: each file has one port, and a small immediate takes that of file B.
pub(crate) fn may_read_together((one, first): Reading<'_>, (other, second): Reading<'_>) -> bool {
    match (first, second) {
        (Some((Bank::A, a)), Some((Bank::A, b))) | (Some((Bank::B, a)), Some((Bank::B, b))) => a == b,
        (Some((Bank::B, _)), None) => !matches!(other, Operand::Small(_)),
        (None, Some((Bank::B, _))) => !matches!(one, Operand::Small(_)),
        _ => true,
    }
}

/// Number of kinds of operations.
pub(crate) const KINDS: usize = 5;

/// The kind of an operation, by the fields of an instruction that it needs.
pub(crate) const fn kind(work: Work) -> usize {
    match work {
        Work::Add(_) => 0,
        Work::Mul(_) | Work::Rotate(_) => 1,
        Work::Move => 2,
        Work::Load(_) => 3,
        Work::LoadTexture => 4,
    }
}

/// The operations of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    pub(crate) add: Option<Placed>,
    pub(crate) mul: Option<Placed>,
    /// A load of a lookup's result into r4.
    pub(crate) load: Option<Placed>,
    /// A load of a 32-bit immediate, which excludes all other operations.
    pub(crate) immediate: Option<Placed>,
    pub(crate) port_a: Option<Port>,
    pub(crate) port_b: Option<Port>,
    /// The bank that is unpacked, file A or r4, and how.
    pub(crate) unpack: Option<(Bank, Unpack)>,
    /// Write swap: the add ALU writes file B and the mul ALU file A.
    pub(crate) swaps_writes: bool,
    /// A thread switch signal.
    pub(crate) thread: Option<Signal>,
}

impl Bundle {
    /// An instruction without operations.
    pub(crate) const EMPTY: Self = Self {
        add: None,
        mul: None,
        load: None,
        immediate: None,
        port_a: None,
        port_b: None,
        unpack: None,
        swaps_writes: false,
        thread: None,
    };

    /// An instruction with one operation; `None` if it cannot be encoded.
    pub(crate) fn of(operation: &Placed, destination: Destination) -> Option<Self> {
        let mut bundle = Self::EMPTY;
        bundle.join(bundle.joint(&bundle.ways(operation), operation, destination)?);
        Some(bundle)
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = &Placed> {
        [&self.add, &self.mul, &self.load, &self.immediate].into_iter().flatten()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.add.is_none() && self.mul.is_none() && self.load.is_none() && self.immediate.is_none()
    }

    /// The word of the uniforms that it reads.
    pub(crate) fn uniform(&self) -> Option<StreamWord> {
        self.operations().find_map(|operation| operation.uniform)
    }

    /// Whether an operation accesses a unit of which an instruction accesses one only.
    pub(crate) fn accesses_unit(&self) -> bool {
        self.operations().any(|operation| operation.accesses_unit)
    }

    pub(crate) fn span(&self) -> Option<Span> {
        self.operations().map(|operation| operation.span).next()
    }

    /// Whether its signal field is unused.
    pub(crate) fn has_signal(&self) -> bool {
        let is_in_b = matches!(self.port_b, Some(Port::Small(_) | Port::Rotation(_)));
        self.immediate.is_some() || self.load.is_some() || is_in_b || self.thread.is_some()
    }

    /// A quick test which kinds of operations may fit, by the fields they need: most pairs fail here.
    pub(crate) fn room(&self) -> [bool; KINDS] {
        if self.immediate.is_some() {
            return [false; KINDS];
        }
        let is_move = |alu: &Option<Placed>| alu.is_none_or(|placed| placed.work == Work::Move);
        let (add, mul) = (is_move(&self.add), is_move(&self.mul));
        let mut room = [false; KINDS];
        room[kind(Work::LoadTexture)] = !self.has_signal();
        room[kind(Work::Add(AddOp::Nop))] = add;
        room[kind(Work::Mul(MulOp::Nop))] = mul;
        room[kind(Work::Move)] = add || mul;
        room
    }

    /// A quick test whether an operand cannot be read together with those of the instruction: most pairs fail here or before.
    #[inline]
    pub(crate) fn excludes(&self, (operand, place): Reading<'_>) -> bool {
        // Streams can be read through the other port.
        match (operand, place) {
            (_, Some((Bank::A, range))) => matches!(self.port_a, Some(Port::Range(other)) if other != range),
            (_, Some((Bank::B, range))) => match self.port_b {
                Some(Port::Range(other)) => other != range,
                Some(Port::Small(_) | Port::Rotation(_)) => true,
                Some(Port::Address(_)) | None => false,
            },
            (Operand::Small(code), _) => match self.port_b {
                Some(Port::Small(other)) => other != *code,
                Some(Port::Range(_) | Port::Rotation(_)) => true,
                Some(Port::Address(_)) | None => false,
            },
            _ => false,
        }
    }

    /// The ways in which the units and read ports of the instruction have room for one more operation, whatever its destination is, unless that is a unit.
    pub(crate) fn ways(&self, new: &Placed) -> Ways {
        let none = Ways([None; 2]);
        if matches!(new.work, Work::Load(_)) {
            return Ways([(self.is_empty() && self.thread.is_none()).then_some(Way::Alone), None]);
        }
        if self.immediate.is_some() || !self.may_join(new) {
            return none;
        }
        if new.work == Work::LoadTexture {
            return Ways([(!self.has_signal()).then_some(Way::Signal), None]);
        }
        let routed = |add: Option<&Placed>, mul: Option<&Placed>| self.routed(add, mul);
        match (&self.add, &self.mul) {
            (None, None) if new.fits_add() => Ways([routed(Some(new), None).map(Way::Add), None]),
            (None, None) => Ways([routed(None, Some(new)).map(Way::Mul), None]),
            (Some(old), None) | (None, Some(old)) => {
                let is_mul = old.fits_add() && new.fits_mul();
                let is_add = new.fits_add() && old.fits_mul();
                Ways([
                    is_mul.then(|| routed(Some(old), Some(new))).flatten().map(Way::Mul),
                    is_add.then(|| routed(Some(new), Some(old))).flatten().map(Way::Add),
                ])
            }
            (Some(_), Some(_)) => none,
        }
    }

    /// The first of these ways in which the destination of an operation fits, too. The operation must be independent of the others.
    pub(crate) fn joint(&self, ways: &Ways, new: &Placed, destination: Destination) -> Option<Joint> {
        let both_write = |old: &Placed| match (old.destination, destination) {
            (Destination::Address(_, a), Destination::Address(_, b)) => {
                a.is_same(b) && !matches!(a, WriteTarget::Register(_))
            }
            (Destination::Range(_, a), Destination::Range(_, b)) => a == b,
            _ => false,
        };
        if self.operations().any(both_write) {
            return None;
        }
        let other = self.add.as_ref().or(self.mul.as_ref());
        let other = other.map(|old| (old.pack, old.destination));
        let own = Some((new.pack, destination));
        let fits = |way: &Way| {
            let (add, mul, routes) = match way {
                Way::Alone => return Some(destination.file() == Some(File::B)),
                Way::Signal => return Some(self.swaps_writes),
                Way::Add(routes) => (own, other, routes),
                Way::Mul(routes) => (other, own, routes),
            };
            let swaps_writes = swaps_writes(add, mul)?;
            (packs(add, false, routes.unpack) && packs(mul, true, routes.unpack)).then_some(swaps_writes)
        };
        ways.0.iter().flatten().find_map(|&way| {
            let swaps_writes = fits(&way)?;
            Some(Joint { placed: Placed { destination, ..*new }, way, swaps_writes })
        })
    }

    /// Adds an operation.
    pub(crate) fn join(&mut self, joint: Joint) {
        let Joint { placed, way, swaps_writes } = joint;
        self.swaps_writes = swaps_writes;
        match way {
            Way::Alone => self.immediate = Some(placed),
            Way::Signal => self.load = Some(placed),
            Way::Add(routes) => {
                if let Some(other) = self.add.take() {
                    self.mul = Some(other);
                }
                self.add = Some(placed);
                self.route(routes);
            }
            Way::Mul(routes) => {
                if let Some(other) = self.mul.take() {
                    self.add = Some(other);
                }
                self.mul = Some(placed);
                self.route(routes);
            }
        }
    }

    /// Sets the read ports and the unpacker for the operations of both ALUs.
    const fn route(&mut self, routes: Routes) {
        let Routes { stream_ports: [add_ports, mul_ports], port_a, port_b, unpack } = routes;
        if let Some(add) = &mut self.add {
            add.stream_ports = add_ports;
        }
        if let Some(mul) = &mut self.mul {
            mul.stream_ports = mul_ports;
        }
        (self.port_a, self.port_b, self.unpack) = (port_a, port_b, unpack);
    }

    /// Whether the units that the operations access allow them to be in one instruction.
    fn may_join(&self, new: &Placed) -> bool {
        self.operations().all(|old| {
            let uniforms = old.uniform.is_some() && new.uniform.is_some();
            // A write of a TMU parameter consumes a uniform.
            let tmu = old.writes_tmu() && new.reads_uniform() || new.writes_tmu() && old.reads_uniform();
            let set_up = old.sets_up_vpm && new.accesses_vpm || new.sets_up_vpm && old.accesses_vpm;
            !(uniforms || tmu || set_up || old.accesses_unit && new.accesses_unit)
        })
    }

    /// Assigns read ports and unpackers to the operands of both operations.
    fn routed(&self, add: Option<&Placed>, mul: Option<&Placed>) -> Option<Routes> {
        if add.is_some() && mul.is_some_and(|mul| mul.sets_flags) {
            // Flags come from the add ALU if it has an operation.
            return None;
        }
        let packs = |placed: &Placed| placed.pack != Pack::None || placed.unpacks.is_some();
        if add.is_some_and(packs) && mul.is_some_and(packs) {
            return None;
        }
        let has_stream = |placed: &Placed| placed.has_stream;
        let (add_streams, mul_streams) = (add.is_some_and(has_stream), mul.is_some_and(has_stream));
        let both = [File::A, File::B];
        let mut routes = None;
        for &add_port in &both[..1 + usize::from(add_streams)] {
            for &mul_port in &both[..1 + usize::from(mul_streams)] {
                routes = routes.or_else(|| self.with_ports([add, mul], [add_port, mul_port]));
            }
        }
        routes
    }

    fn with_ports(&self, operations: [Option<&Placed>; 2], [add_port, mul_port]: [File; 2]) -> Option<Routes> {
        let add_ports = StreamPorts { own: add_port, others: mul_port };
        let mul_ports = StreamPorts { own: mul_port, others: add_port };
        let stream_ports = [add_ports, mul_ports];
        let mut routes = Routes { stream_ports, port_a: None, port_b: None, unpack: None };
        let [add, mul] = operations;
        if let Some(add) = add {
            routes.read(add, add_ports, [None; 2])?;
        }
        if let Some(mul) = mul {
            let shares = mul.shares() || add.is_some_and(Placed::shares);
            let before = if shares { [None; 2] } else { [routes.port_a, routes.port_b] };
            routes.read(mul, mul_ports, before)?;
        }
        // Both ports do not read the same stream.
        if routes.port_a == routes.port_b && routes.port_a.is_some_and(|port| !port.is_shared()) {
            return None;
        }
        let is_in_b = matches!(routes.port_b, Some(Port::Small(_) | Port::Rotation(_)));
        if is_in_b && (self.load.is_some() || self.thread.is_some()) {
            return None;
        }
        let unpacks = |placed: &Placed| placed.unpacks.is_some();
        if add.is_some_and(unpacks) || mul.is_some_and(unpacks) { routes.with_unpack(operations) } else { Some(routes) }
    }
}

/// The ways in which an operation can be a part of an instruction, best first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways([Option<Way>; 2]);

impl Ways {
    /// Whether there is one.
    pub(crate) const fn is_any(&self) -> bool {
        self.0[0].is_some() || self.0[1].is_some()
    }
}

/// An operation with its destination, and the way in which it is a part of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    placed: Placed,
    way: Way,
    swaps_writes: bool,
}

/// The part of an instruction that an operation takes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// All of it, for a 32-bit immediate.
    Alone,
    /// The signal, for a load of a lookup's result.
    Signal,
    Add(Routes),
    Mul(Routes),
}

/// The read ports and the unpacker of the operations of both ALUs.
#[derive(Clone, Copy, Debug)]
struct Routes {
    /// The ports for streams of each operation.
    stream_ports: [StreamPorts; 2],
    port_a: Option<Port>,
    port_b: Option<Port>,
    unpack: Option<(Bank, Unpack)>,
}

impl Routes {
    /// Assigns read ports to the operands of an operation, whose ports for streams are given; `before` are the ports of the other operation.
    fn read(&mut self, placed: &Placed, streams: StreamPorts, before: [Option<Port>; 2]) -> Option<()> {
        let Self { port_a, port_b, .. } = self;
        if let Work::Rotate(places) = placed.work {
            // The rotation's amount is in the field of the small immediate.
            if !matches!(placed.operands(), [PlacedOperand::Range(Bank::Accumulator, _, Unpack::None)]) {
                return None;
            }
            take(port_b, Port::Rotation(places), before[1])?;
        }
        for &operand in placed.operands() {
            match operand {
                PlacedOperand::Range(Bank::A, range, _) => take(port_a, Port::Range(range), before[0])?,
                PlacedOperand::Range(Bank::B, range, Unpack::None) => take(port_b, Port::Range(range), before[1])?,
                PlacedOperand::Range(Bank::Accumulator | Bank::R4, _, Unpack::None)
                | PlacedOperand::Range(Bank::R4, ..) => {}
                // Accumulators and file B cannot be unpacked.
                PlacedOperand::Range(Bank::Accumulator | Bank::B, ..) => return None,
                PlacedOperand::Small(code) => take(port_b, Port::Small(code), before[1])?,
                PlacedOperand::Fixed(File::A, address) => take(port_a, Port::Address(address), before[0])?,
                PlacedOperand::Fixed(File::B, address) => take(port_b, Port::Address(address), before[1])?,
                PlacedOperand::Either(address, through) => match streams.of(through) {
                    File::A => take(port_a, Port::Address(address), before[0])?,
                    File::B => take(port_b, Port::Address(address), before[1])?,
                },
                PlacedOperand::R5 => {}
            }
        }
        Some(())
    }

    /// An instruction has one unpacker, of file A or of r4 [AG p.30-32]. At most one of the operations packs or unpacks.
    fn with_unpack(mut self, operations: [Option<&Placed>; 2]) -> Option<Self> {
        let both = operations[0].is_some() && operations[1].is_some();
        for placed in operations.into_iter().flatten() {
            let Some((bank, unpack)) = placed.unpacks else { continue };
            // All operands that are read there are unpacked in the same way.
            let differs = |operand: &PlacedOperand| matches!(*operand, PlacedOperand::Range(of, _, other) if of == bank && other != unpack);
            let is_mixed = placed.operands().iter().any(|operand| {
                differs(operand)
                    || matches!(*operand, PlacedOperand::Range(of, _, other) if of != bank && other != Unpack::None)
            });
            let mut ported = operations.iter().zip(self.stream_ports);
            let is_read_whole =
                ported.any(|(placed, ports)| placed.is_some_and(|placed| placed.reads_whole(bank, ports)));
            if is_mixed || is_read_whole || bank == Bank::A && both {
                return None;
            }
            self.unpack = Some((bank, unpack));
        }
        Some(self)
    }
}

/// The packing and the destination of an operation.
type Write = (Pack, Destination);

/// Whether the packer that an operation needs is there: an instruction has one, of file A or of the mul ALU, whose unpacker is that of r4 [AG p.30-32].
fn packs(write: Option<Write>, is_mul: bool, unpack: Option<(Bank, Unpack)>) -> bool {
    write.is_none_or(|(pack, destination)| match pack {
        Pack::None => true,
        Pack::Mul(_) => is_mul && !matches!(unpack, Some((Bank::A, _))),
        Pack::A(_) => matches!(destination, Destination::Range(Bank::A, _)) && !matches!(unpack, Some((Bank::R4, _))),
    })
}

/// Write swap: whether the add ALU writes file B; `None` if both ALUs would write the same file.
fn swaps_writes(add: Option<Write>, mul: Option<Write>) -> Option<bool> {
    let add = add.and_then(|(_, destination)| destination.file()).map(|file| file == File::B);
    let mul = mul.and_then(|(_, destination)| destination.file()).map(|file| file == File::A);
    match (add, mul) {
        (Some(add), Some(mul)) if add != mul => None,
        (Some(swaps), _) | (None, Some(swaps)) => Some(swaps),
        (None, None) => Some(false),
    }
}

/// Assigns a value to a port, if it is free or has the same value; `before` is the port's value for another operation of the instruction.
fn take(slot: &mut Option<Port>, port: Port, before: Option<Port>) -> Option<()> {
    match *slot {
        None => *slot = Some(port),
        Some(other) if other == port && (before.is_none() || port.is_shared()) => {}
        Some(_) => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    const VPM_READ: Operand = Operand::Input(File::A, ReadSource::VpmRead);
    const UNIFORM: Operand = Operand::Uniform(StreamWord::Constant(1));
    const SHARED: Operand = Operand::Shared(ReadSource::VpmRead);
    const VPM_PORT: Port = Port::Address(ReadSource::VpmRead.address());
    const UNIFORM_PORT: Port = Port::Address(ReadSource::Uniform.address());

    /// An operation whose registers are all the same accumulator.
    fn operation(work: Work, operands: &[Operand], target: Target) -> Operation {
        Operation::new(work, operands.to_vec(), target, Span::default())
    }

    fn to_register(work: Work, operands: &[Operand]) -> Operation {
        operation(work, operands, Target::Register(Register(0)))
    }

    /// The values of both read ports with these operations in one instruction, in the order of their addresses; `None` if they do not fit.
    fn check(operations: &[Operation], expected: Option<Vec<Port>>) {
        let mut bundle = Bundle::EMPTY;
        let mut fits = true;
        for (number, operation) in operations.iter().enumerate() {
            let placed = Placed::new(operation, |_| Some((Bank::Accumulator, RangeId(0)))).unwrap();
            let destination = match operation.target {
                Target::Register(_) => Destination::Range(Bank::Accumulator, RangeId(1 + number as u32)),
                target => Placed::fixed_destination(target),
            };
            match bundle.joint(&bundle.ways(&placed), &placed, destination) {
                Some(joint) => bundle.join(joint),
                None => fits = false,
            }
        }
        let mut ports: Vec<Port> = [bundle.port_a, bundle.port_b].into_iter().flatten().collect();
        ports.sort_by_key(|port| match port {
            Port::Address(address) | Port::Small(address) => *address,
            _ => u8::MAX,
        });
        assert_eq!(fits.then_some(ports), expected, "{operations:?}");
    }

    #[test]
    fn operations_share_an_element_of_a_stream_and_its_port() {
        let multiply = Work::Mul(MulOp::Fmul);
        let plain = Operand::Register(Register(0));
        let moves = to_register(Work::Move, &[VPM_READ]);
        let both = Some(vec![UNIFORM_PORT, VPM_PORT]);
        check(&[to_register(multiply, &[VPM_READ, UNIFORM])], both.clone());
        check(&[moves.clone(), to_register(multiply, &[SHARED, UNIFORM])], both);
        check(&[moves.clone(), to_register(multiply, &[SHARED, plain])], Some(vec![VPM_PORT]));
        check(&[moves.clone(), to_register(Work::Add(AddOp::Fadd), &[SHARED, SHARED])], Some(vec![VPM_PORT]));
        // A second element would be needed.
        check(&[moves, to_register(multiply, &[VPM_READ, plain])], None);
    }

    #[test]
    fn words_of_the_vpm_go_with_other_units_and_not_with_its_set_ups() {
        let plain = Operand::Register(Register(0));
        let reads = to_register(Work::Move, &[VPM_READ]);
        let output = |target| operation(Work::Move, &[plain], Target::Output(File::A, target));
        let special = |function| operation(Work::Move, &[plain], Target::Special(function, Register(0)));
        let writes = output(WriteTarget::VpmWrite);
        check(&[reads.clone(), writes.clone()], Some(vec![VPM_PORT]));
        check(&[reads.clone(), special(WriteTarget::SfuRecip)], Some(vec![VPM_PORT]));
        check(&[writes.clone(), special(WriteTarget::SfuRecip)], Some(vec![]));
        check(&[reads, output(WriteTarget::VpmVcdRdSetup)], None);
        check(&[writes.clone(), output(WriteTarget::VpmVcdWrSetup)], None);
        check(&[writes.clone(), writes], None);
        check(&[special(WriteTarget::SfuExp), special(WriteTarget::SfuRecip)], None);
    }
}
