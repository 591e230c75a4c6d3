//! The page that shows what other projects' kernels draw.

use super::Outcome;
use crate::gallery::page::escaped;
use std::fmt::Write;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Other kernels on the model of the V3D</title>
<style>
body { margin: 2em auto; max-width: 84em; padding: 0 1em; background: #14171c; color: #d8dde4; font: 16px/1.5 system-ui, sans-serif; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(20em, 1fr)); gap: 2em; }
figure { margin: 0; } img { width: 100%; display: block; } figcaption { overflow-wrap: anywhere; } figcaption b { color: #fff; }
ul { margin: 0; padding-left: 1.2em; color: #ffb3a7; } a { color: #8ab8ff; }
</style>
</head>
<body>
<h1>Other kernels on the model of the V3D</h1>
<p>Each picture is the screen of a machine in QEMU in which an unmodified kernel of another project has run for some seconds, with this repository's model of
the V3D behind its registers. A list below a picture has the faults that the model reports.</p>
<main>
";

/// The page's HTML; pictures and texts are in the same folder.
pub(super) fn html(outcomes: &[Outcome]) -> String {
    let mut page = HEAD.to_owned();
    for outcome in outcomes {
        let (name, label) = (escaped(&outcome.image.name), escaped(&outcome.image.label));
        let (machine, drawn, crc) = (outcome.image.machine.name, outcome.drawn(), outcome.crc());
        // Writing to a string never fails.
        let _ = write!(
            page,
            "<figure><a href=\"{name}.png\"><img src=\"{name}.png\" alt=\"{label}\"></a>\
             <figcaption><b>{label}</b>: {machine}, {drawn:.1} % drawn, CRC-32 {crc:08x}"
        );
        if outcome.has_spoken {
            let _ = write!(page, ", <a href=\"{name}.txt\">serial port</a>");
        }
        if !outcome.faults.is_empty() {
            let _ = write!(page, "<ul>");
            for (sentence, count) in outcome.kinds_of_faults() {
                let _ = write!(page, "<li>{} ({count} times)</li>", escaped(sentence));
            }
            let _ = write!(page, "</ul><a href=\"{name}.faults\">all faults</a>");
        }
        page += "</figcaption></figure>\n";
    }
    page + "</main>\n</body>\n</html>\n"
}

#[cfg(test)]
mod tests {
    use super::super::images::tests::outcome;
    use super::*;
    use crate::picture::Picture;

    #[test]
    fn faults_and_the_serial_port_are_shown_where_there_are_some() {
        let mut quiet = outcome(Picture::filled(2, 2, [0; 3]), &[]);
        quiet.has_spoken = false;
        let page = html(&[quiet]);
        assert!(page.contains("<b>a &amp; b</b>: raspi3b, 0.0 % drawn") && page.contains("src=\"a---b-raspi3b.png\""));
        assert!(!page.contains("<ul>") && !page.contains("serial port"));
        let fault = "v3d fault: record at 0x00001000: 1 < 2";
        let page = html(&[outcome(Picture::filled(2, 2, [0; 3]), &[fault, fault])]);
        assert!(page.contains("<li>1 &lt; 2 (2 times)</li>"), "{page}");
        assert!(page.contains("href=\"a---b-raspi3b.txt\"") && page.contains("href=\"a---b-raspi3b.faults\""));
    }
}
