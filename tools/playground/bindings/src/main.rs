//! Writes the JavaScript for a module that uses wasm-bindgen: `playground-bindings MODULE.wasm FOLDER`.
#![forbid(unsafe_code)]

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let module = arguments.next().context("usage: playground-bindings MODULE.wasm FOLDER")?;
    let folder = arguments.next().context("usage: playground-bindings MODULE.wasm FOLDER")?;
    Bindgen::new().input_path(&module).web(true)?.typescript(false).generate(&folder)
}
