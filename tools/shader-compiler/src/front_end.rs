//! Parses a file to a module of naga: WGSL, and by naga's other front ends GLSL and SPIR-V.
//!
//! The extension of the file's name selects the front end. GLSL is the dialect of Vulkan, with one stage per file: `.vert`, `.frag` or `.comp`. In SPIR-V,
//! `.spv`, errors have no place, since there is no text.

use alloc::string::String;

use naga::Module;
#[cfg(feature = "glsl")]
use naga::ShaderStage;

use crate::budget::Budget;
use crate::diagnostic::Error;
use crate::stack::with_large_stack;
use bounds::Dialect;

mod bounds;
pub(crate) mod mistakes;
mod parts;
mod tokens;

pub use bounds::MAX_SOURCE_BYTES;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// The text that the module's spans refer to; empty for SPIR-V.
    pub text: String,
}

/// Parses a file.
///
/// # Errors
/// A diagnostic of naga, a file that is not UTF-8, or a source that exceeds a limit.
pub fn read(source: &[u8], path: &str) -> Result<Parsed, Error> {
    let read = with_large_stack(|| read_here(source, path));
    read.unwrap_or_else(|fault| Err(Error::without_place(fault, path)))
}

/// Parses a source in WGSL to a module of naga, on the caller's stack.
pub(crate) fn parse_here(source: &str, path: &str, budget: &Budget) -> Result<Module, Error> {
    bounds::check(source, Dialect::Wgsl, budget).map_err(|refusal| refusal.render(source, path))?;
    naga::front::wgsl::parse_str(source).map_err(|error| Error::parse(&error, source, path))
}

fn read_here(source: &[u8], path: &str) -> Result<Parsed, Error> {
    if source.len() > MAX_SOURCE_BYTES {
        let text = String::from_utf8_lossy(&source[..=MAX_SOURCE_BYTES]);
        bounds::check(&text, Dialect::Wgsl, &Budget::LARGE).map_err(|refusal| refusal.render(&text, path))?;
    }
    let extension = extension(path);
    #[cfg(feature = "spirv")]
    if extension == Some("spv") {
        // With this option enabled, positions would be flipped vertically.
        let options = naga::front::spv::Options { adjust_coordinate_space: false, ..Default::default() };
        let module = naga::front::spv::parse_u8_slice(source, &options).map_err(|error| Error::spirv(&error, path))?;
        return Ok(Parsed { module, text: String::new() });
    }
    let text = String::from_utf8(source.to_vec()).map_err(|error| Error::not_text(&error, path))?;
    #[cfg(feature = "glsl")]
    if let Some(stage) = glsl_stage(extension) {
        bounds::check(&text, Dialect::Glsl, &Budget::LARGE).map_err(|refusal| refusal.render(&text, path))?;
        let mut frontend = naga::front::glsl::Frontend::default();
        let parsed = frontend.parse(&stage.into(), &text);
        let module = parsed.map_err(|errors| Error::glsl(&errors, &text, path))?;
        return Ok(Parsed { module, text });
    }
    let _ = extension;
    let module = parse_here(&text, path, &Budget::LARGE)?;
    Ok(Parsed { module, text })
}

/// The extension of a file's name.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    name.rsplit_once('.').filter(|(before, _)| !before.is_empty()).map(|(_, extension)| extension)
}

/// The stage of a file in GLSL.
#[cfg(feature = "glsl")]
fn glsl_stage(extension: Option<&str>) -> Option<ShaderStage> {
    Some(match extension? {
        "vert" => ShaderStage::Vertex,
        "frag" => ShaderStage::Fragment,
        "comp" => ShaderStage::Compute,
        _ => return None,
    })
}
