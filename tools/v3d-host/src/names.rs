//! Names of what is in the model's memory, as the description of a job has them.

use v3d::platform::{Named, Names};
use v3d_sim::job::Buffer;
use v3d_sim::job::names::{Name, NameKind};

/// Allocations, as the member `buffers` has them.
pub(crate) fn buffers(names: &Names) -> Vec<Buffer> {
    names.memory().map(|(address, size, name)| Buffer { address, size, kind: name.to_owned() }).collect()
}

/// All other names, as the member `names` has them.
pub(crate) fn others(names: &Names) -> Vec<Name> {
    let member = |(address, what, name): (u32, Named, &str)| {
        let (kind, size, word) = match what {
            Named::Memory { .. } => return None,
            Named::Pass => (NameKind::Pass, 0, 0),
            Named::Draw => (NameKind::Draw, 0, 0),
            Named::Line => (NameKind::Line, 0, 0),
            Named::Program { bytes } => (NameKind::Program, bytes, 0),
            Named::Uniform { word } => (NameKind::Uniform, 0, word),
        };
        Some(Name { address, kind, name: name.to_owned(), size, word })
    };
    names.others().filter_map(member).collect()
}
