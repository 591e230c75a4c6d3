//! The host's processor in words: figures of speed mean nothing without it.

use std::fs;

/// The model of the processor, and those of its vector extensions that the model can use.
pub(super) fn processor() -> String {
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text).map(str::to_owned));
    let model = model.unwrap_or_else(|| format!("{} processor of an unknown model", std::env::consts::ARCH));
    match extensions().as_slice() {
        [] => format!("{model}, without vector extensions that are used"),
        found => format!("{model}, with {}", found.join(", ")),
    }
}

/// The model's name in Linux' `/proc/cpuinfo`, which has none on AArch64.
fn model_name(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim()).filter(|name| !name.is_empty())
}

#[cfg(target_arch = "x86_64")]
fn extensions() -> Vec<&'static str> {
    let found = [
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("AVX-512F", std::arch::is_x86_feature_detected!("avx512f")),
        ("AVX-512BW", std::arch::is_x86_feature_detected!("avx512bw")),
        ("AVX-512CD", std::arch::is_x86_feature_detected!("avx512cd")),
        ("AVX-512DQ", std::arch::is_x86_feature_detected!("avx512dq")),
        ("AVX-512VL", std::arch::is_x86_feature_detected!("avx512vl")),
    ];
    found.into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn extensions() -> Vec<&'static str> {
    if cfg!(target_arch = "aarch64") { vec!["NEON"] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(model_name(text), expected);
    }

    #[test]
    fn the_model_is_in_the_line_with_its_name() {
        check("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 1\n", Some("AMD EPYC"));
        check("processor\t: 0\nBogoMIPS\t: 38.40\n", None);
        check("model name\t:\n", None);
    }
}
