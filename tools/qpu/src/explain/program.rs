//! Explanations of whole programs: a listing, and each instruction with its positions in the streams.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use qpu_text::Text;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{INSTRUCTION_BYTES, Instruction, ReadSource, WriteTarget};
use v3d_hw::vpm::{ElementSize, Location, ReadSetupWord, WriteSetupWord};

use super::explain;
use crate::interface::{Interface, Stage, StreamItem};

/// Explains a program: its words, and for each instruction what it reads from the streams of uniforms, varyings and the VPM, and writes to the VPM.
///
/// The interface gives the names of the words in a stream; they have none if it is empty. Positions in the streams are counted in program order, as long as
/// there is no branch.
pub fn explain_program(words: &[u64], interface: &Interface) -> String {
    let mut text = String::new();
    let stage = Stage::NAMED.iter().find(|(_, stage)| *stage == interface.stage);
    let stage = stage.map_or("program".to_owned(), |(name, _)| format!("{name} shader"));
    let bytes = words.len() * INSTRUCTION_BYTES as usize;
    let _ = writeln!(text, "{stage}: {} instructions, {bytes} bytes\n", words.len());
    let _ = writeln!(text, " PC| offset|      low word|  high word| instruction");
    let _ = writeln!(text, "---+-------+--------------+-----------+------------");
    for (pc, &word) in words.iter().enumerate() {
        let (low, high, text_of_word) = (word as u32, word >> 32, Text(word));
        let _ = writeln!(text, "{pc:3}| {:#06x}|    {low:#010x}| {high:#010x}| {text_of_word}", pc * 8);
    }
    let mut streams = Streams::new(interface);
    for (pc, &word) in words.iter().enumerate() {
        let _ = writeln!(text, "\n[{pc}] offset {:#06x}", pc * 8);
        text += &explain(word);
        for line in streams.pass(&Instruction::decode(word)) {
            let _ = writeln!(text, "  -> {line}");
        }
    }
    text
}

/// The positions in the streams so far; `None` where a branch has made them unknown.
struct Streams<'i> {
    interface: &'i Interface,
    uniforms: Option<u32>,
    varyings: Option<u32>,
    /// Row of the VPM that the next read or write accesses.
    vpm_read: Option<u32>,
    vpm_write: Option<u32>,
    /// Number of coordinates written for the next lookup, by TMU.
    coordinates: [u32; 2],
}

impl<'i> Streams<'i> {
    fn new(interface: &'i Interface) -> Self {
        Self { interface, uniforms: Some(0), varyings: Some(0), vpm_read: None, vpm_write: None, coordinates: [0; 2] }
    }

    /// What an instruction reads and writes, in sentences.
    fn pass(&mut self, instruction: &Instruction) -> Vec<String> {
        let mut lines = Vec::new();
        let accesses = instruction.accesses();
        let mut read: Vec<ReadSource> = accesses.read().map(|read| read.source).collect();
        // If both files read a stream, both get the same word.
        read.dedup();
        lines.extend(read.into_iter().filter_map(|source| self.read(source)));
        for write in &accesses.writes {
            lines.extend(self.write(write.target, instruction.loaded_word()));
        }
        if matches!(instruction, Instruction::Branch(_)) {
            *self = Self { uniforms: None, varyings: None, ..Self::new(self.interface) };
        }
        lines
    }

    fn read(&mut self, source: ReadSource) -> Option<String> {
        match source {
            ReadSource::Uniform => self.uniform().map(|word| format!("takes {word}")),
            ReadSource::Varying => {
                let number = take(&mut self.varyings)?;
                let own = self.interface.primitive.unwrap_or_default().own_varyings();
                let name = match number.checked_sub(own) {
                    None => Some("one of the primitive's own".to_owned()),
                    Some(number) => self.varying_name(number),
                };
                Some(format!("takes varying {number}{}", behind(name)))
            }
            ReadSource::VpmRead => {
                let row = take(&mut self.vpm_read)?;
                let attribute =
                    |a: &&crate::interface::Attribute| (a.offset_words..a.offset_words + a.words()).contains(&row);
                let name = self.interface.attributes.iter().find(attribute);
                let name = name.map(|a| component(&a.name, row - a.offset_words, a.words()));
                Some(format!("takes row {row} of the VPM{}", behind(name)))
            }
            _ => None,
        }
    }

    fn write(&mut self, target: WriteTarget, constant: Option<u32>) -> Option<String> {
        match target {
            WriteTarget::UniformsAddress => {
                self.uniforms = None;
                None
            }
            WriteTarget::VpmVcdRdSetup => {
                // Set-up words of the DMA do not change the position of reads.
                match constant.map(ReadSetupWord::decode) {
                    Some(ReadSetupWord::Read(setup)) => {
                        self.vpm_read = first_row(setup.address, setup.horizontal, setup.size, setup.stride);
                    }
                    Some(_) => {}
                    None => self.vpm_read = None,
                }
                None
            }
            WriteTarget::VpmVcdWrSetup => {
                match constant.map(WriteSetupWord::decode) {
                    Some(WriteSetupWord::Write(setup)) => {
                        self.vpm_write = first_row(setup.address, setup.horizontal, setup.size, setup.stride);
                    }
                    Some(_) => {}
                    None => self.vpm_write = None,
                }
                None
            }
            WriteTarget::VpmWrite => {
                let row = take(&mut self.vpm_write)?;
                Some(format!("fills row {row} of the VPM{}", behind(self.shaded_vertex(row))))
            }
            WriteTarget::Tmu { unit, coordinate } => {
                let written = self.coordinates.get_mut(usize::from(unit))?;
                let parameter = *written;
                *written += 1;
                if coordinate == TmuCoordinate::S {
                    *written = 0;
                    if parameter == 0 {
                        return Some("a lookup of words of memory: it takes no uniform".to_owned());
                    }
                }
                self.uniform().map(|word| format!("takes {word} as texture parameter {parameter}"))
            }
            _ => None,
        }
    }

    /// The next word of the uniforms.
    fn uniform(&mut self) -> Option<String> {
        let word = take(&mut self.uniforms)?;
        let item = self
            .interface
            .stream()
            .into_iter()
            .find(|item| (item.offset_words()..item.offset_words().saturating_add(item.words())).contains(&word));
        let name = item.map(|item| match item {
            StreamItem::Uniform(uniform) => {
                let name = component(&uniform.name, word - uniform.offset_words, uniform.words());
                format!("{name}, {}", uniform.ty.name())
            }
            StreamItem::Texture(texture, words) => component(&texture.name, word - words.offset_words, words.words()),
        });
        Some(format!("uniform {word}{}", behind(name)))
    }

    fn varying_name(&self, number: u32) -> Option<String> {
        let found = self.interface.varyings.iter().find(|v| (v.offset..v.offset + v.components).contains(&number));
        found.map(|varying| component(&varying.name, number - varying.offset, varying.components))
    }

    /// The meaning of a row in the output of a coordinate or vertex shader [AG p.60-61].
    fn shaded_vertex(&self, row: u32) -> Option<String> {
        const CLIP: [&str; 4] = ["Xc", "Yc", "Zc", "Wc"];
        const SCREEN: [&str; 3] = ["Ys:Xs", "Zs", "1/Wc"];
        let row = match self.interface.stage {
            Stage::Coordinate => match CLIP.get(row as usize) {
                Some(&name) => return Some(name.to_owned()),
                None => row - CLIP.len() as u32,
            },
            Stage::Vertex => row,
            _ => return None,
        };
        if let Some(&name) = SCREEN.get(row as usize) {
            return Some(name.to_owned());
        }
        let row = row - SCREEN.len() as u32;
        match (self.interface.point_size, row) {
            (true, 0) => Some("the point's size".to_owned()),
            (true, _) => self.varying_name(row - 1),
            (false, _) => self.varying_name(row),
        }
    }
}

/// The first row of a set-up, if it accesses whole rows one after the other.
fn first_row(address: u8, horizontal: bool, size: ElementSize, stride: u8) -> Option<u32> {
    let Location { y, .. } = Location::unpack(address, horizontal, size)?;
    (horizontal && size == ElementSize::Bits32 && stride == 1).then_some(u32::from(y))
}

fn take(count: &mut Option<u32>) -> Option<u32> {
    let taken = (*count)?;
    *count = taken.checked_add(1);
    Some(taken)
}

fn behind(name: Option<String>) -> String {
    name.map_or(String::new(), |name| format!(": {name}"))
}

/// `matrix[3]`, or only the name if the value has one word.
fn component(name: &str, number: u32, of: u32) -> String {
    if of == 1 { name.to_owned() } else { format!("{name}[{number}]") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Source, assemble};

    fn arrows(source: &str) -> Vec<String> {
        let assembly = assemble(&[Source::new("streams.qasm", source)], &Options::default()).unwrap();
        let text = explain_program(&assembly.words, &assembly.interface);
        text.lines().filter_map(|line| line.strip_prefix("  -> ")).map(str::to_owned).collect()
    }

    #[test]
    fn words_of_the_streams_have_their_declared_names() {
        let declared = ".stage fragment\n.varying uv, 2\n.uniform shade, float\n.texture image, 0, 2d\n";
        let code = "fmul r0, vary, unif\nmov r1, vary\nmov t0t, r1\nmov t0s, r0\nldtmu0\nmov t0s, r0\n";
        assert_eq!(
            arrows(&format!("{declared}{code}")),
            [
                "takes varying 0: uv[0]",
                "takes uniform 0: shade, float",
                "takes varying 1: uv[1]",
                "takes uniform 1: image[0] as texture parameter 0",
                "takes uniform 2: image[1] as texture parameter 1",
                "a lookup of words of memory: it takes no uniform",
            ]
        );
    }

    #[test]
    fn rows_of_the_vpm_are_counted_from_their_set_up_on() {
        let declared = ".include <vc4.qinc>\n.stage vertex\n.attribute position, 3\n.attribute uv, 2\n.varying uv, 2\n";
        let code = "mov vr_setup, vpm_setup(2, 1, h32(2))\nmov vw_setup, vpm_setup(0, 1, h32(2))\nmov r0, vpm\nmov r1, vpm\n\
                    mov vpm, r0\nmov vpm, r1\n";
        assert_eq!(
            arrows(&format!("{declared}{code}")),
            [
                "takes row 2 of the VPM: position[2]",
                "takes row 3 of the VPM: uv[0]",
                "fills row 2 of the VPM: 1/Wc",
                "fills row 3 of the VPM: uv[0]",
            ]
        );
    }

    #[test]
    fn nothing_is_counted_behind_a_branch_or_a_set_up_that_is_computed() {
        assert_eq!(arrows(".uniform a, float, 2\nbra -, ra0\nmov r0, unif"), [""; 0]);
        assert_eq!(arrows(".include <vc4.qinc>\nmov vr_setup, ra0\nmov r0, vpm"), [""; 0]);
    }
}
