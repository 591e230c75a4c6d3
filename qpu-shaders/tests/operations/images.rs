//! Images: operations of image instructions, and texture operations of a shader core.
//!
//! Each row is a composition of macros in `operations/image*.qinc`, executed at random positions of random texels.

mod atomic;
mod image;
mod machine;
mod memory;
mod sample;
mod sampler;

use crate::table::{Answer, Cost, Document, LargestError, Row};
use sample::{Detail, Variant};

fn row(document: Document, operation: &str, name: &str, file: &'static str, measured: (Cost, LargestError)) -> Row {
    let (cost, error) = measured;
    Row {
        document,
        operation: operation.to_owned(),
        answer: Answer::Built { name: name.to_owned(), file, cost, error },
    }
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let of_images =
        |operation: &str, name: &str, file, measured| row(Document::Images, operation, name, file, measured);
    let mut rows = Vec::new();
    for (mip, number) in [("", 0), ("_MIP", 1)] {
        let conversions = [("", "image_unpack"), ("_PCK", "mov ra16, r4"), ("_PCK_SGN", "image_sign_extend COMPBITS")];
        for (kind, conversion) in conversions {
            let name = format!("IMAGE_LOAD{mip}{kind}");
            let calls = format!("image_load {number}; {conversion}");
            rows.push(of_images(&name, &calls, "image_memory.qinc", memory::check_load(&name)));
        }
        for (kind, conversion) in [("", "image_pack"), ("_PCK", "mov r0, ra16")] {
            let name = format!("IMAGE_STORE{mip}{kind}");
            let calls = format!("image_level_words {number}; image_address 2, 2, 2; {conversion}; image_scatter 5, 32");
            rows.push(of_images(&name, &calls, "image_memory.qinc", memory::check_store(&name)));
        }
    }
    let resource = memory::check_get_resource("IMAGE_GET_RESINFO");
    rows.push(of_images("IMAGE_GET_RESINFO", "image_get_resource", "image.qinc", resource));
    for (name, operation, meaning) in atomic::ATOMICS {
        let call = format!("image_atomic 3 (image_atomic_{operation})");
        rows.push(of_images(name, &call, "image_atomic.qinc", atomic::check(name, operation, meaning)));
    }
    for variant in Variant::all() {
        rows.push(of_images(&variant.name(), &variant.call(), "image_sample.qinc", sample::check(variant)));
    }
    rows.push(of_images("IMAGE_GET_LOD", "image_get_lod", "image_lod.qinc", sample::check_get_lod()));
    rows.extend(instructions());
    rows
}

/// The texture operations of the other document. Inactive elements perform lookups like the others, so its `live` and `all` are the same here.
fn instructions() -> [Row; 5] {
    let of_instructions =
        |operation, name: &str, file, measured| row(Document::Instructions, operation, name, file, measured);
    let sampled = |operation, detail| {
        let variant = Variant::plain(detail);
        of_instructions(operation, &variant.call(), "image_sample.qinc", sample::check(variant))
    };
    let fetch = memory::check_load("IMAGE_LOAD_MIP");
    let size = memory::check_get_resource("texsize");
    [
        sampled("texauto live/all", Detail::Implicit),
        sampled("texbias live/all", Detail::Biased),
        sampled("texlod live/all", Detail::Explicit),
        of_instructions("texfetch live/all", "image_load 1; image_unpack", "image_memory.qinc", fetch),
        of_instructions("texsize live/all", "image_get_resource", "image.qinc", size),
    ]
}
