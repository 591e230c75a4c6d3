//! The header is that of the sources.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["board", "failure", "device", "resource", "pipeline", "frame"] {
        builder = builder.with_src(package.join(format!("src/{file}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let path = package.join("include/v3d.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let made = String::from_utf8(made).unwrap();
    assert!(made.contains("} v3d_board;") && made.contains("v3d_submit("), "it has no declarations");
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), made, "UPDATE_HEADER=1 writes it");
}
