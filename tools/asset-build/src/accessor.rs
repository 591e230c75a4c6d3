//! Whether accessors are what a primitive needs.
//!
//! The crate `gltf` reads an accessor as the type that is asked for, and takes its type, its size and its place in a buffer on trust: what is checked here
//! would be a panic there.

use gltf::accessor::{DataType, Dimensions};
use gltf::buffer::View;
use gltf::{Accessor, Primitive, Semantic};

/// Checks all accessors of a primitive that are read; how many vertices and indices they have.
pub(crate) fn check_primitive(primitive: &Primitive<'_>, buffers: &[Vec<u8>]) -> Result<usize, String> {
    use DataType::{F32, U8, U16, U32};
    let mut count = 0usize;
    let mut read = |what: &str, accessor: Option<Accessor<'_>>, types: &[DataType], dimensions| {
        let Some(accessor) = accessor else { return Ok(()) };
        count = count.saturating_add(accessor.count());
        check(&accessor, buffers, types, dimensions)
            .map_err(|reason| format!("its {what} are accessor {}, and {reason}", accessor.index()))
    };
    read("positions", primitive.get(&Semantic::Positions), &[F32], Dimensions::Vec3)?;
    read("normals", primitive.get(&Semantic::Normals), &[F32], Dimensions::Vec3)?;
    read("texture coordinates", primitive.get(&Semantic::TexCoords(0)), &[F32, U8, U16], Dimensions::Vec2)?;
    read("indices", primitive.indices(), &[U8, U16, U32], Dimensions::Scalar)?;
    Ok(count)
}

/// Checks an accessor: its type, and that its buffers have all of it.
pub(crate) fn check(
    accessor: &Accessor<'_>,
    buffers: &[Vec<u8>],
    types: &[DataType],
    dimensions: Dimensions,
) -> Result<(), String> {
    let (ty, count, size) = (accessor.data_type(), accessor.count(), accessor.size());
    if !types.contains(&ty) || accessor.dimensions() != dimensions {
        return Err(format!("that has {:?} of {ty:?} instead of {dimensions:?} of {types:?}", accessor.dimensions()));
    }
    let sparse = accessor.sparse();
    match accessor.view() {
        Some(view) => check_view(&view, accessor.offset(), count, size, buffers)?,
        None if sparse.is_none() => return Err("that has no buffer view".to_owned()),
        // The elements that nothing replaces are 0: there is no buffer that bounds their number.
        None if count > super::model::MAX_READ => return Err(format!("that has {count} elements")),
        None => {}
    }
    if let Some(sparse) = sparse {
        let (indices, values) = (sparse.indices(), sparse.values());
        if sparse.count() > count {
            return Err(format!("{} of its {count} elements are replaced", sparse.count()));
        }
        check_view(&indices.view(), indices.offset(), sparse.count(), indices.index_type().size(), buffers)?;
        check_view(&values.view(), values.offset(), sparse.count(), size, buffers)?;
    }
    Ok(())
}

/// Checks that a view of a buffer has so many elements of a size in bytes behind an offset.
fn check_view(view: &View<'_>, offset: usize, count: usize, size: usize, buffers: &[Vec<u8>]) -> Result<(), String> {
    let stride = view.stride().unwrap_or(size);
    if stride < size {
        return Err(format!("its elements of {size} bytes are {stride} bytes apart"));
    }
    let Some(before_last) = count.checked_sub(1) else { return Err("that has no elements".to_owned()) };
    let end = before_last.checked_mul(stride).and_then(|last| last.checked_add(offset)?.checked_add(size));
    let in_buffer = view.offset().checked_add(view.length());
    let bytes = buffers.get(view.buffer().index()).map_or(0, Vec::len);
    let fits = end.is_some_and(|end| end <= view.length()) && in_buffer.is_some_and(|end| end <= bytes);
    if fits { Ok(()) } else { Err(format!("buffer view {} does not have its {count} elements", view.index())) }
}
