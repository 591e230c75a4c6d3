//! Interleaved vertices from the values of each attribute.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use shader_compiler::interface::{Attribute, Number};

use super::values::{Values, kind};
use super::{Error, Stages};

/// Bytes of a vertex.
pub(super) fn stride(attributes: &[Attribute]) -> usize {
    4 * attributes.iter().map(Attribute::words).sum::<u32>() as usize
}

/// The bytes of all vertices.
pub(super) fn interleaved(stages: &Stages, given: &[(&str, Values<'_>)]) -> Result<Vec<u8>, Error> {
    let attributes = stages.attributes();
    let by_name = |name: &str| attributes.iter().find(|attribute| !attribute.is_vertex_index && attribute.name == name);
    let mut count = None;
    for (name, values) in given {
        let attribute = by_name(name).ok_or_else(|| unknown(stages, name))?;
        let components = attribute.components as usize;
        let wrong = |expected: String| Error::Kind {
            shader: stages.name.clone(),
            name: (*name).to_string(),
            expected,
            given: values.described(),
        };
        let all = values.len() / components;
        let (Attribute { number, .. }, first) = (attribute, *count.get_or_insert(all));
        if *number != values.number() || !values.len().is_multiple_of(components) {
            return Err(wrong(format!("{components} of {} for each vertex", kind(*number))));
        }
        if all != first {
            return Err(wrong(format!("an attribute of {first} vertices as those before")));
        }
    }
    let count = count.unwrap_or(0);
    let words = stride(attributes) / 4;
    let mut vertices = vec![0u32; count * words];
    for attribute in attributes {
        let start = attribute.offset_words as usize;
        if attribute.is_vertex_index {
            for (number, vertex) in (0..).zip(vertices.chunks_exact_mut(words)) {
                vertex[start] = number;
            }
            continue;
        }
        let Some((_, values)) = given.iter().find(|(name, _)| *name == attribute.name) else {
            let (shader, name) = (stages.name.clone(), attribute.name.clone());
            return Err(Error::Missing { shader, what: "attribute", name });
        };
        let in_a_word = if attribute.number == Number::Half { 2 } else { 1 };
        let (bits, components) = (values.bits(), attribute.components as usize);
        for (vertex, values) in vertices.chunks_exact_mut(words).zip(bits.chunks_exact(components)) {
            for (at, value) in values.iter().enumerate() {
                vertex[start + at / in_a_word] |= value << (at % in_a_word * 16);
            }
        }
    }
    Ok(vertices.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn unknown(stages: &Stages, name: &str) -> Error {
    let known = stages.attributes().iter().filter(|attribute| !attribute.is_vertex_index);
    let known: Vec<String> = known
        .map(|attribute| format!("`{}` ({} of {})", attribute.name, attribute.components, kind(attribute.number)))
        .collect();
    Error::Name { shader: stages.name.clone(), what: "attribute", name: name.to_string(), known: known.join(", ") }
}
