//! Ranges of a job's memory in a job folder.

use serde_json::Value as Json;

/// Memory is allocated in whole pages.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// A range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Address of the first byte.
    pub(crate) address: u32,
    /// Size in bytes.
    pub(crate) bytes: u32,
}

impl Span {
    /// The range of a region in a job's description, which has an `address` and either a `size` or rows; `None` for anything else.
    pub(crate) fn of_region(region: &Json) -> Option<Self> {
        let number = |member: &str| region[member].as_u64().and_then(|number| u32::try_from(number).ok());
        let bytes = number("size").or_else(|| number("stride_bytes")?.checked_mul(number("height")?))?;
        Some(Self { address: number("address")?, bytes })
    }

    /// End of the range.
    pub(crate) fn end(self) -> u64 {
        u64::from(self.address) + u64::from(self.bytes)
    }
}

/// The pages that contain ranges, in ascending order; adjacent ones are merged.
pub(crate) fn pages(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| span.address);
    let mut pages: Vec<Span> = Vec::new();
    for span in spans {
        let address = span.address / PAGE_BYTES * PAGE_BYTES;
        let end = span.end().next_multiple_of(u64::from(PAGE_BYTES));
        match pages.last_mut() {
            Some(last) if u64::from(address) <= last.end() => {
                last.bytes = (end.max(last.end()) - u64::from(last.address)) as u32;
            }
            _ => pages.push(Span { address, bytes: (end - u64::from(address)) as u32 }),
        }
    }
    pages
}
