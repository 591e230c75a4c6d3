//! Texture and memory lookup unit (TMU), as one QPU sees it [AG section 4].
//!
//! A program writes the coordinates of a lookup, `s` last: that starts it. Each write takes a uniform; in the order of the writes they are parameters
//! 0 to 3 of the texture. A lookup that writes only `s` reads a word of memory at that address, and takes no uniform. Results queue up in a receive
//! FIFO, from which load signals take them: one vector for each lookup, two for RGBA64.
//!
//! The request FIFO has eight slots for coordinates and the receive FIFO eight for results [AG p.39]. A program with more lookups in flight hangs
//! sooner or later on hardware; here it continues, and the overflow is reported. Loading from an empty FIFO would hang for ever; here it is reported,
//! and returns zeros.
//!
//! `tmu/filter.rs` defines a lookup element by element. `tmu/vectorized.rs` computes what programs use most in vectors of 16 elements, with the same
//! results; [`conformance`] compares them.
//!
//! Lookups are computed when `s` is written. Hardware computes them later, but memory that changes in between is undefined there.
//!
//! # What neither guide nor drivers say
//! - S16F, S8 and S16 samples are in the lowest bits of the result, with zeros above.
//! - YUYV becomes Y, U, V, 255 in place of red, green, blue and alpha, without conversion.
//! - Precision of the filters: coordinates are products of 32-bit floats, and blending has 8 bits of fraction.
//! - One-bit and four-bit texels: the lowest bits of a byte are its first texel, as in OpenVG.

mod border;
pub mod conformance;
mod cube;
mod etc1;
mod filter;
mod format;
mod half;
mod lod;
mod texture;
mod vectorized;
mod wrap;

pub use crate::fault::tmu::TmuFault;

use crate::memory::Memory;
use crate::qpu::lanes::Lanes;
use crate::simd::vectors::Vectors;
use crate::simd::words::Words;
use crate::simd::{SimdDispatch, SimdTask};
use texture::Texture;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::TmuCoordinate;
use vectorized::Prepared;

/// Slots for coordinates in the request FIFO of a QPU [AG p.39].
const REQUEST_SLOTS: u32 = 8;
/// Slots for results in the receive FIFO of a QPU [AG p.40].
const RECEIVE_SLOTS: u32 = 8;
const _: () = assert!(REQUEST_SLOTS <= RECEIVE_SLOTS);
/// Quads that the performance counter counts for a lookup of 16 words: each word is one [imrc QT12].
const WORD_QUADS: u64 = 16;
/// Quads that it counts for a lookup of a texture.
pub(crate) const TEXTURE_QUADS: u64 = 4;
/// Textures that are kept prepared: as many as a program usually looks up.
const KEPT_TEXTURES: usize = 8;
/// Results that are kept, in spite of an overflow.
pub(crate) const KEPT_RESULTS: usize = 32;

/// The FIFOs between one QPU and one TMU: the coordinates of the lookup that is being written, and results. Translated code accesses them, too.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Fifos {
    /// s, t, r and b of the lookup whose coordinates are being written.
    pub(crate) coordinates: [Lanes; 4],
    /// Results, as a ring.
    pub(crate) received: [Received; KEPT_RESULTS],
    /// The uniforms of that lookup, in the order of the writes.
    pub(crate) parameters: [u32; 4],
    /// Number of writes.
    pub(crate) writes: u32,
    /// The coordinates written so far, one bit each.
    pub(crate) written: u32,
    /// Index of the next result.
    pub(crate) first: u32,
    /// Number of results.
    pub(crate) count: u32,
    /// Slots of the request FIFO in use.
    pub(crate) request_slots: u32,
}

/// One entry of the receive FIFO.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Received {
    pub(crate) value: Lanes,
    /// Slots of the request FIFO that this entry's lookup took; on the last entry of the lookup.
    pub(crate) request_slots: u32,
}

/// The places of two results in the ring, from a number on.
#[inline]
fn two_results(ring: &mut [Received; KEPT_RESULTS], from: u32) -> Option<[&mut Lanes; 2]> {
    let places = [from, from + 1].map(|place| place as usize % KEPT_RESULTS);
    let [first, second] = ring.get_disjoint_mut(places).ok()?;
    Some([&mut first.value, &mut second.value])
}

/// The place of a coordinate in [`Fifos::coordinates`].
pub(crate) const fn place(coordinate: TmuCoordinate) -> usize {
    match coordinate {
        TmuCoordinate::S => 0,
        TmuCoordinate::T => 1,
        TmuCoordinate::R => 2,
        TmuCoordinate::B => 3,
    }
}

/// A texture, with the parameters that it is decoded from.
#[derive(Clone, Debug)]
struct KnownTexture {
    parameters: [u32; 4],
    /// The number of writes that gave them; the others are 0.
    writes: u32,
    texture: Texture,
    /// `None`: its lookups cannot be computed in vectors.
    prepared: Option<Prepared>,
}

impl KnownTexture {
    /// Whether it is the texture of the lookup that a write of `s` is about to start; the parameter of that write is already there. Parameters are compared
    /// one by one, and only those that are given: they have just been stored that way, and a load of several would have to wait for the stores.
    #[inline]
    fn is_of(&self, fifos: &Fifos) -> bool {
        let mut given = fifos.parameters.iter().zip(&self.parameters).take(self.writes as usize);
        self.writes == fifos.writes + 1 && given.all(|(one, other)| one == other)
    }
}

/// A write of `s`, as [`Tmu::write`] does it in vectors. `None`: it is left to that.
pub(crate) struct VectorLookup<'a> {
    pub(crate) tmu: &'a mut Tmu,
    pub(crate) s: &'a Lanes,
    /// The next uniform; ignored if the write takes none.
    pub(crate) uniform: u32,
    pub(crate) memory: Memory<'a>,
}

impl SimdTask for VectorLookup<'_> {
    /// Whether it takes a uniform.
    type Output = Option<bool>;

    #[inline(always)]
    fn run<V: Vectors>(self) -> Option<bool> {
        let Self { tmu, s, uniform, memory } = self;
        tmu.look_up::<V>(s, uniform, memory)
    }
}

/// Notes that the words at addresses have been read.
#[cold]
fn note_words(addresses: &Lanes, memory: Memory<'_>) {
    for address in addresses.0 {
        let first = u64::from(BusAddr(address).offset() & !3);
        memory.note_read(first..first + 4);
    }
}

/// One QPU's side of a TMU.
#[derive(Clone, Debug)]
pub struct Tmu {
    pub(crate) fifos: Fifos,
    /// The prepared textures.
    textures: Vec<KnownTexture>,
    /// The one looked up last: lookups of the same texture follow each other.
    latest: usize,
    quads: u64,
    simd: SimdDispatch,
}

impl Default for Tmu {
    fn default() -> Self {
        Self { fifos: Fifos::default(), textures: Vec::new(), latest: 0, quads: 0, simd: SimdDispatch::new() }
    }
}

impl Tmu {
    /// A TMU without lookups.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the vectors of its lookups.
    pub(crate) fn limit_simd(&mut self, simd: SimdDispatch) {
        self.simd = simd;
    }

    /// Whether a write of `coordinate` takes a uniform: all do, except for an `s` alone.
    pub fn needs_uniform(&self, coordinate: TmuCoordinate) -> bool {
        coordinate != TmuCoordinate::S || self.fifos.writes > 0
    }

    /// Number of results that can be loaded.
    pub const fn pending(&self) -> usize {
        self.fifos.count as usize
    }

    /// The results that can be loaded, the next one first.
    pub fn results(&self) -> impl Iterator<Item = Lanes> + '_ {
        let Fifos { received, first, count, .. } = &self.fifos;
        (*first..*first + *count).map(|place| received[place as usize % KEPT_RESULTS].value)
    }

    /// The coordinates of the next lookup that have been written, of s, t, r, b.
    pub fn coordinates(&self) -> [Option<Lanes>; 4] {
        let Fifos { coordinates, written, .. } = &self.fifos;
        std::array::from_fn(|place| (written >> place & 1 == 1).then_some(coordinates[place]))
    }

    /// Quads looked up so far, for the performance counter.
    pub fn take_quads(&mut self) -> u64 {
        std::mem::take(&mut self.quads)
    }

    /// Forgets the textures that have been looked up.
    pub(crate) fn forget_textures(&mut self) {
        self.textures.clear();
    }

    /// Whether no lookup of the known textures can fail, whatever its coordinates are.
    pub(crate) fn cannot_fail(&self, memory: Memory<'_>) -> bool {
        let words = memory.words().len() as u64;
        let cannot = |known: &KnownTexture| known.prepared.is_some() && known.texture.cannot_fail(4 * words);
        self.textures.len() < KEPT_TEXTURES && self.textures.iter().all(cannot)
    }

    /// Drops all lookups: a new program starts.
    pub fn reset(&mut self) {
        self.fifos.clear_request();
        (self.fifos.first, self.fifos.count, self.fifos.request_slots) = (0, 0, 0);
    }

    /// Writes a coordinate of the next lookup, with its uniform; `s` starts the lookup.
    ///
    /// [`Tmu::needs_uniform`] says whether the write takes a uniform; if not, `uniform` is ignored. After an error the lookup has a result all the
    /// same.
    pub fn write(
        &mut self,
        coordinate: TmuCoordinate,
        value: &Lanes,
        uniform: u32,
        memory: Memory<'_>,
    ) -> Result<(), TmuFault> {
        let direct = !self.needs_uniform(coordinate);
        let starts = coordinate == TmuCoordinate::S;
        if starts && self.simd.run(VectorLookup { tmu: self, s: value, uniform, memory }).is_some() {
            return Ok(());
        }
        let fifos = &mut self.fifos;
        let place = place(coordinate);
        if !starts {
            fifos.coordinates[place] = *value;
        }
        let twice = fifos.written >> place & 1 == 1;
        fifos.written |= 1 << place;
        if twice {
            return Err(TmuFault::CoordinateTwice(coordinate));
        }
        let writes = fifos.writes;
        if let Some(parameter) = fifos.parameters.get_mut(writes as usize) {
            *parameter = uniform;
        }
        let slots = writes + 1;
        fifos.writes = slots;
        if !starts {
            return Ok(());
        }
        let LookedUp { result, second, fault } =
            if direct { self.read_words(value, memory) } else { self.sample(value, memory) };
        self.fifos.clear_request();
        let results = [Some(result), second];
        let entries = results.iter().flatten().count() as u32;
        if self.fifos.count + entries <= KEPT_RESULTS as u32 {
            for (place, result) in self.fifos.next_results().into_iter().flatten().zip(results) {
                *place = result.unwrap_or(*place);
            }
        }
        let received = self.fifos.receive(slots, entries);
        fault.map_or(received, Err)
    }

    /// The cache lines that a lookup touches, before the write of `s` that starts it.
    pub(crate) fn footprint(&self, s: &Lanes, uniform: u32, memory: Memory<'_>) -> Vec<u32> {
        if !self.needs_uniform(TmuCoordinate::S) {
            let mut lines = Vec::new();
            s.0.iter().for_each(|&address| filter::footprint::add_line(&mut lines, address));
            return lines;
        }
        let mut parameters = self.fifos.parameters;
        if let Some(parameter) = parameters.get_mut(self.fifos.writes as usize) {
            *parameter = uniform;
        }
        let [_, t, r, b] = &self.fifos.coordinates;
        match Texture::decode(parameters) {
            Ok(texture) => filter::footprint::lines(&texture, memory, [s, t, r, b]),
            Err(_) => Vec::new(),
        }
    }

    /// Takes the next result.
    pub fn load(&mut self) -> Result<Lanes, TmuFault> {
        let fifos = &mut self.fifos;
        if fifos.count == 0 {
            return Err(TmuFault::ReceiveFifoEmpty);
        }
        let Received { value, request_slots } = fifos.received[fifos.first as usize % KEPT_RESULTS];
        fifos.count -= 1;
        // An empty ring begins at its start again, which the host has in its cache.
        fifos.first = if fifos.count == 0 { 0 } else { (fifos.first + 1) % KEPT_RESULTS as u32 };
        fifos.request_slots -= request_slots;
        Ok(value)
    }

    /// Memory lookup: each element's `s` is an address, whose two lowest bits are ignored.
    fn read_words(&mut self, addresses: &Lanes, memory: Memory<'_>) -> LookedUp {
        self.quads += WORD_QUADS;
        let mut looked_up = LookedUp::default();
        for (word, &address) in looked_up.result.0.iter_mut().zip(&addresses.0) {
            match memory.word(BusAddr(address)) {
                Ok(value) => *word = value,
                Err(error) => looked_up.fault = looked_up.fault.or(Some(error.into())),
            }
        }
        looked_up
    }

    /// Does what a write of `s` does in vectors, if that is possible and breaks no rule; returns whether it takes a uniform. Otherwise nothing that anyone can
    /// see has changed.
    ///
    /// Coordinates and results are not copied: copies in parts of a vector would delay its loads.
    #[inline(always)]
    fn look_up<V: Vectors>(&mut self, s: &Lanes, uniform: u32, memory: Memory<'_>) -> Option<bool> {
        let Fifos { written, writes, request_slots, .. } = self.fifos;
        let slots = writes + 1;
        // A lookup has no more results than it takes slots, and keeps these until the last one is loaded: so there is room for the results, too.
        let is_twice = written >> place(TmuCoordinate::S) & 1 == 1;
        if is_twice || request_slots + slots > REQUEST_SLOTS {
            return None;
        }
        let (entries, quads) = if writes == 0 {
            self.gather::<V>(s, memory)?;
            (1, WORD_QUADS)
        } else {
            *self.fifos.parameters.get_mut(writes as usize)? = uniform;
            (self.sample_in_vectors::<V>(s, memory)?, TEXTURE_QUADS)
        };
        self.quads += quads;
        self.fifos.clear_request();
        self.fifos.put(slots, entries);
        Some(writes != 0)
    }

    /// Loads words, if all of them are in memory, to the place of the next result.
    #[inline(always)]
    fn gather<V: Vectors>(&mut self, addresses: &Lanes, memory: Memory<'_>) -> Option<()> {
        let [result, _] = self.fifos.next_results()?;
        let bytes = V::Words::and(V::Words::load(addresses), V::Words::splat(BusAddr(u32::MAX).offset()));
        let [words] = V::Words::gather(memory.words_to_read(), [V::Words::shift_right(bytes, 2)])?;
        *result = V::Words::store(words);
        if memory.notes_reads() {
            note_words(addresses, memory);
        }
        Some(())
    }

    /// Looks up a texture, to the places of the next results; returns their number.
    #[inline(always)]
    fn sample_in_vectors<V: Vectors>(&mut self, s: &Lanes, memory: Memory<'_>) -> Option<u32> {
        if !self.is_latest(self.latest) {
            // Programs look up their textures in the same order again and again.
            let next = if self.latest + 1 < self.textures.len() { self.latest + 1 } else { 0 };
            if self.is_latest(next) {
                self.latest = next;
            } else {
                self.find_texture()?;
            }
        }
        let KnownTexture { texture, prepared, .. } = self.textures.get(self.latest)?;
        if memory.notes_reads() {
            memory.note_read(texture.extent()?);
        }
        let [_, t, r, b] = &self.fifos.coordinates;
        let results = two_results(&mut self.fifos.received, self.fifos.first + self.fifos.count)?;
        prepared.as_ref()?.sample::<V>(memory, [s, t, r, b], results)
    }

    /// Whether the texture with a number is that of the lookup that is being written.
    #[inline(always)]
    fn is_latest(&self, number: usize) -> bool {
        self.textures.get(number).is_some_and(|texture| texture.is_of(&self.fifos))
    }

    /// Makes the texture of some parameters the latest one.
    #[cold]
    fn find_texture(&mut self) -> Option<()> {
        let Fifos { parameters, writes, .. } = self.fifos;
        let writes = writes + 1;
        if let Some(known) = self.textures.iter().position(|texture| texture.is_of(&self.fifos)) {
            self.latest = known;
            return Some(());
        }
        let texture = Texture::decode(parameters).ok()?;
        let prepared = Prepared::new(&texture);
        let texture = KnownTexture { parameters, writes, texture, prepared };
        if self.textures.len() < KEPT_TEXTURES {
            self.latest = self.textures.len();
            self.textures.push(texture);
        } else {
            self.latest = (self.latest + 1) % KEPT_TEXTURES;
            self.textures[self.latest] = texture;
        }
        Some(())
    }

    /// Looks up a texture element by element.
    #[cold]
    fn sample(&mut self, s: &Lanes, memory: Memory<'_>) -> LookedUp {
        self.quads += TEXTURE_QUADS;
        let Fifos { coordinates: [_, t, r, b], parameters, .. } = &self.fifos;
        let coordinates = [s, t, r, b];
        if let Some(known) = self.textures.get(self.latest).filter(|known| known.parameters == *parameters) {
            return filter::sample(&known.texture, memory, coordinates);
        }
        match Texture::decode(*parameters) {
            Ok(texture) => filter::sample(&texture, memory, coordinates),
            Err(fault) => LookedUp { fault: Some(fault), ..LookedUp::default() },
        }
    }
}

impl Default for Fifos {
    fn default() -> Self {
        Self {
            coordinates: [Lanes::default(); 4],
            received: [Received::default(); KEPT_RESULTS],
            parameters: [0; 4],
            writes: 0,
            written: 0,
            first: 0,
            count: 0,
            request_slots: 0,
        }
    }
}

impl Fifos {
    /// The places of the next two results.
    #[inline]
    fn next_results(&mut self) -> Option<[&mut Lanes; 2]> {
        two_results(&mut self.received, self.first + self.count)
    }

    /// Receives the results of a lookup, one or two, which are in place; they are dropped if the ring is full.
    #[inline]
    fn receive(&mut self, slots: u32, entries: u32) -> Result<(), TmuFault> {
        let in_use = self.request_slots + slots;
        if self.count + entries > KEPT_RESULTS as u32 {
            return Err(TmuFault::FifoOverflow { used: in_use, slots: REQUEST_SLOTS });
        }
        self.put(slots, entries);
        if in_use > REQUEST_SLOTS || self.count > RECEIVE_SLOTS {
            return Err(TmuFault::FifoOverflow { used: in_use.max(self.count), slots: REQUEST_SLOTS });
        }
        Ok(())
    }

    /// Adds results that are in place, and for which there are places.
    #[inline(always)]
    fn put(&mut self, slots: u32, entries: u32) {
        for entry in 1..=entries {
            let place = (self.first + self.count) as usize % KEPT_RESULTS;
            self.received[place].request_slots = if entry == entries { slots } else { 0 };
            self.count += 1;
        }
        self.request_slots += slots;
    }

    /// A new lookup begins.
    #[inline]
    fn clear_request(&mut self) {
        // Coordinates that were not written count as 0 [AG p.40].
        for (place, coordinate) in self.coordinates.iter_mut().enumerate().skip(1) {
            if self.written >> place & 1 == 1 {
                *coordinate = Lanes::splat(0);
            }
        }
        self.parameters = [0; 4];
        (self.written, self.writes) = (0, 0);
    }
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LookedUp {
    result: Lanes,
    /// The blue and alpha halves of RGBA64.
    second: Option<Lanes>,
    /// The first fault.
    fault: Option<TmuFault>,
}
