//! The validator on jobs of another driver; see foreign/README.md.

use v3d::Job;
use v3d::hw::BusAddr;
use v3d::platform::GpuMemory;
use v3d::record_list::ControlList;
use v3d::validator::{self, Refusal, Rights, Span};

/// Memory as described by a job's text; other memory is zero.
struct Memory(Vec<u8>);

impl GpuMemory for Memory {
    fn base(&self) -> BusAddr {
        BusAddr(0)
    }

    fn bytes(&self) -> u32 {
        self.0.len() as u32
    }

    fn store(&self, _offset: u32, _bytes: &[u8]) {
        panic!("the validator writes to memory");
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
    }
}

fn number(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// Checks the job that a text describes.
fn check(text: &str) -> Result<(), Refusal> {
    let mut memory = Memory(vec![0; 32 << 20]);
    let (mut readable, mut writable, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let span = || Span { address: BusAddr(number(words[1])), bytes: number(words[2]) };
        match words[0] {
            "lists" => lists = words[1..].iter().map(|word| BusAddr(number(word))).collect(),
            "read" => readable.push(span()),
            "write" => writable.push(span()),
            "bytes" => {
                let start = number(words[1]) as usize;
                for (at, digits) in words[2].as_bytes().chunks(2).enumerate() {
                    memory.0[start + at] = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
                }
            }
            other => panic!("{other}"),
        }
    }
    let list = |start: usize| ControlList { start: lists[start], end_exclusive: lists[start + 1] };
    let job = Job { binning: Some(list(0)), rendering: list(2) };
    validator::check(&memory, &Rights::new(&readable, &writable).unwrap(), &job)
}

#[test]
fn what_is_safe_is_accepted() {
    for (name, text) in [
        ("cube_depth", include_str!("foreign/cube_depth.txt")),
        ("lit_textured", include_str!("foreign/lit_textured.txt")),
        ("tex_mip_trilinear", include_str!("foreign/tex_mip_trilinear.txt")),
        ("tex_cube", include_str!("foreign/tex_cube.txt")),
        ("msaa_tri", include_str!("foreign/msaa_tri.txt")),
        // These two branch and change the address of their uniforms.
        ("loop_mandelbrot", include_str!("foreign/loop_mandelbrot.txt")),
        ("math_exp", include_str!("foreign/math_exp.txt")),
        // Its vertex shader looks up an array by an address that it computes.
        ("uniform_array_vs_indirect", include_str!("foreign/uniform_array_vs_indirect.txt")),
    ] {
        assert_eq!(check(text), Ok(()), "{name}");
    }
}

/// A texture that is not entirely the job's is rejected: its buffer is shortened page by page until the validator rejects it.
#[test]
fn a_buffer_that_is_too_short_is_noticed() {
    let text = include_str!("foreign/tex_mip_trilinear.txt");
    // The texture is the only read-only buffer of more than a page.
    let texture =
        text.lines().find(|line| line.starts_with("read") && number(line.rsplit(' ').next().unwrap()) > 0x1000);
    let texture = texture.unwrap();
    let words: Vec<&str> = texture.split(' ').collect();
    let shorter = |bytes: u32| format!("read {} {bytes:#x}", words[1]);
    let refused = (1..16)
        .map(|pages| number(words[2]).saturating_sub(pages * 0x1000))
        .find_map(|bytes| check(&text.replace(texture, &shorter(bytes))).err().map(|refusal| (bytes, refusal)));
    let (bytes, refusal) = refused.expect("the texture may be cut short by 60 KiB");
    assert!(bytes > 0 && refusal.to_string().contains("which the job may not read"), "{refusal}");
}

/// A uniform array that is not entirely the job's: the shader's limit exceeds it.
#[test]
fn a_limit_beyond_the_buffer_is_noticed() {
    let text = include_str!("foreign/uniform_array_vs_indirect.txt");
    let array = text.lines().find(|line| line.starts_with("read") && line.ends_with(" 0x100000")).unwrap();
    let words: Vec<&str> = array.split(' ').collect();
    let smallest = (0..=0x1000)
        .step_by(16)
        .find(|bytes| check(&text.replace(array, &format!("read {} {bytes:#x}", words[1]))).is_ok())
        .expect("the array is not read at all");
    assert!(smallest > 0, "a lookup into nothing is accepted");
    let shorter = format!("read {} {:#x}", words[1], smallest - 16);
    let refusal = check(&text.replace(array, &shorter)).unwrap_err().to_string();
    assert!(refusal.contains("GL Shader State") && refusal.contains("which the job may not read"), "{refusal}");
}
