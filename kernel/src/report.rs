//! A board's report as text, and its parts, each of which fits into a QR code
//!
//! `selftest board` writes the report line by line. A board without a serial cable shows it on the screen, a part at a time ([`crate::report::report_page`]).
//! Each part begins with a line that names the report and the part, so that parts that are sent one by one can be put together; the other lines are the
//! report's.

pub mod report_page;

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::crc32;

/// Most bytes of a part: the capacity of a QR code of version 25 with error correction level L in byte mode [ISO/IEC 18004, table 7].
///
/// Such a code has 117 x 117 modules. With the border that it needs, these are 5 pixels each on a display of 720 lines, and 3 on one of 480 lines. Larger codes
/// exist, but are harder to scan.
pub const PART_BYTES: usize = 1273;

/// The end of a line that announces a step. Such lines show where a board hangs, and are not part of the report.
const ANNOUNCEMENT: &str = " ...";

/// A report under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    text: String,
}

impl Report {
    /// An empty report.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: String::new() }
    }

    /// Whether a line that was printed belongs to the report.
    #[must_use]
    pub fn has(line: &str) -> bool {
        !line.ends_with(ANNOUNCEMENT)
    }

    /// Appends a line. Characters other than ASCII become question marks, as on the screen.
    pub fn line(&mut self, line: &str) {
        self.text.extend(line.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }));
        self.text.push('\n');
    }

    /// All lines.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The report in parts of at most [`PART_BYTES`]; a single part if the report is empty.
    ///
    /// Lines stay whole, except for those that do not fit into a part.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        let crc = crc32::of_bytes(self.text.as_bytes());
        // A title's length does not depend on its numbers as long as they have two digits each.
        let capacity = PART_BYTES - title(crc, 99, 99).len();
        let mut bodies: Vec<String> = Vec::new();
        for line in self.text.split_inclusive('\n') {
            for piece in pieces(line, capacity) {
                match bodies.last_mut() {
                    Some(body) if body.len() + piece.len() <= capacity => body.push_str(piece),
                    _ => bodies.push(piece.into()),
                }
            }
        }
        if bodies.is_empty() {
            bodies.push(String::new());
        }
        let count = bodies.len();
        bodies.iter().enumerate().map(|(index, body)| title(crc, index + 1, count) + body).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The first line of a part.
fn title(crc: u32, number: usize, count: usize) -> String {
    format!("vc4 board report {crc:08X}, part {number} of {count}\n")
}

/// Pieces of a line, of at most `bytes` bytes each. The line consists of ASCII.
fn pieces(line: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let starts = (0..line.len()).step_by(bytes.max(1));
    starts.map(move |start| &line[start..line.len().min(start + bytes)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &[&str]) -> Report {
        let mut report = Report::new();
        lines.iter().for_each(|line| report.line(line));
        report
    }

    /// The lines of all parts without their titles.
    fn put_together(parts: &[String]) -> String {
        parts.iter().map(|part| part.split_once('\n').unwrap().1).collect()
    }

    #[test]
    fn a_short_report_is_one_part() {
        // The CRC-32 of "123456789\n", computed by Python's zlib.
        assert_eq!(report(&["123456789"]).parts(), ["vc4 board report E0117757, part 1 of 1\n123456789\n"]);
        assert_eq!(Report::new().parts(), ["vc4 board report 00000000, part 1 of 1\n"]);
        assert_eq!(report(&["na\u{ef}ve\tx"]).text(), "na?ve?x\n");
    }

    #[test]
    fn a_long_report_is_cut_between_lines() {
        let lines: Vec<String> = (0..100).map(|n| format!("step {n:2}: {}", "x".repeat(n % 71))).collect();
        let report = report(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let parts = report.parts();
        assert_eq!((report.text().len(), parts.len()), (3891, 4));
        for (index, part) in parts.iter().enumerate() {
            assert!(part.len() <= PART_BYTES && part.ends_with('\n'));
            assert!(part.contains(&format!("part {} of {}\nstep ", index + 1, parts.len())), "{part}");
        }
        assert_eq!(put_together(&parts), report.text());
    }

    #[test]
    fn a_line_longer_than_a_part_is_cut() {
        let report = report(&[&"y".repeat(3 * PART_BYTES)]);
        let parts = report.parts();
        assert_eq!(parts.len(), 4);
        assert!(parts.iter().all(|part| part.len() <= PART_BYTES));
        assert_eq!(put_together(&parts), report.text());
    }

    #[test]
    fn announcements_do_not_belong_to_a_report() {
        assert!(!Report::has("step  1: IDENT0: is there a V3D with power? ..."));
        assert!(Report::has("step  1: passed, 0 ms: IDENT0 0x02443356"));
    }
}
