//! The page that shows the gallery in a browser.

use super::Exhibit;
use std::fmt::Write;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>VideoCore IV from bare metal: the scenes</title>
<style>
body { margin: 2em auto; max-width: 84em; padding: 0 1em; background: #14171c; color: #d8dde4; font: 16px/1.5 system-ui, sans-serif; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(24em, 1fr)); gap: 2em; }
figure { margin: 0; } img { width: 100%; border-radius: 4px; display: block; } figcaption b { color: #fff; }
a { color: #8ab8ff; }
</style>
</head>
<body>
<h1>The scenes</h1>
<p>Drawn by the kernel through the V3D of a Raspberry Pi 3, in QEMU with the GPU model behind its registers. A picture opens in full size.</p>
<main>
";

/// The page's HTML; pictures are in the same folder.
pub(super) fn html(exhibits: &[Exhibit]) -> String {
    let mut page = HEAD.to_owned();
    for Exhibit { scene, has_film, .. } in exhibits {
        let (name, description) = (escaped(&scene.name), escaped(&scene.description));
        let shown = if *has_film { "apng" } else { "png" };
        // Writing to a string never fails.
        let _ = writeln!(
            page,
            "<figure><a href=\"{name}.png\"><img src=\"{name}.{shown}\" alt=\"{description}\"></a>\
             <figcaption><b>{name}</b>: {description}</figcaption></figure>"
        );
    }
    page + "</main>\n</body>\n</html>\n"
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Picture;
    use crate::run::SceneLine;

    #[test]
    fn films_are_shown_where_there_are_some() {
        let exhibit = |name: &str, has_film| Exhibit {
            scene: SceneLine { name: name.to_owned(), description: "a & b".to_owned() },
            picture: Picture { width: 1, height: 1, pixels: vec![[0; 3]] },
            has_film,
        };
        let page = html(&[exhibit("cube", true), exhibit("vpm", false)]);
        assert!(page.contains("src=\"cube.apng\"") && page.contains("href=\"cube.png\""));
        assert!(page.contains("src=\"vpm.png\"") && page.contains("a &amp; b"));
    }
}
