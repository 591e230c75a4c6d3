//! The film that the scene saves where there is no display

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

/// Behind the board there is the background; in the middle there is the board, whose squares are green and brown.
#[test]
fn the_scene_saves_a_film() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("film.apng");
    let scene = env!("CARGO_BIN_EXE_scene-template");
    let output = Command::new(scene).arg("--save").arg(&path).args(["--frames", "2"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("model reports"), "{told}");
    let mut reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
    assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(2));
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    assert_eq!((width, height), (640, 360));
    let mut pictures = [vec![0; 3 * width * height], vec![0; 3 * width * height]];
    for picture in &mut pictures {
        reader.next_frame(picture).unwrap();
        let pixel = |x: usize, y: usize| &picture[3 * (y * width + x)..][..3];
        for (x, y) in [(0, 0), (639, 0), (0, 359)] {
            assert_eq!(pixel(x, y), [46, 58, 82], "({x}, {y})");
        }
        let [red, _, blue] = pixel(320, 200) else { panic!("a pixel has three channels") };
        assert!(red > blue, "there is no board in the middle: {:?}", pixel(320, 200));
    }
    assert_ne!(pictures[0], pictures[1], "the camera does not move");
}
