//! Names of what is in the model's memory, as the description of a job has them.

use serde_json::{Value as Json, json};
use v3d::platform::{Named, Names};

/// Allocations, as the member `buffers` has them.
pub(crate) fn buffers(names: &Names) -> Json {
    names.memory().map(|(at, bytes, name)| json!({ "address": at, "size": bytes, "kind": name })).collect()
}

/// All other names, as the member `names` has them.
pub(crate) fn others(names: &Names) -> Json {
    let member = |(at, what, name): (u32, Named, &str)| {
        let mut member = json!({ "kind": what.word_for_kind(), "address": at, "name": name });
        match what {
            Named::Program { bytes } => member["size"] = json!(bytes),
            Named::Uniform { word } => member["word"] = json!(word),
            Named::Memory { .. } | Named::Pass | Named::Draw | Named::Line => {}
        }
        member
    };
    names.others().map(member).collect()
}
