//! Under-voltage and throttling in words

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// The bits of [`Throttled`](super::Throttled) in words: what applies now, and what applied since the boot [raspberrypi.com, "vcgencmd", get_throttled].
#[must_use]
pub fn throttling(bits: u32) -> String {
    const CAUSES: [&str; 4] = ["under-voltage", "ARM frequency capped", "throttled", "soft temperature limit"];
    let list = |bits: u32| {
        let named = CAUSES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 != 0);
        let list = named.map(|(_, cause)| *cause).collect::<Vec<_>>().join(", ");
        if list.is_empty() { "none".to_string() } else { list }
    };
    format!("now {}; since the boot {} ({bits:#x})", list(bits), list(bits >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that the documentation of `vcgencmd get_throttled` takes apart: 0x50000 is under-voltage and throttling since the boot.
    #[test]
    fn throttling_is_told_for_now_and_since_the_boot() {
        assert_eq!(throttling(0), "now none; since the boot none (0x0)");
        assert_eq!(throttling(0x5_0000), "now none; since the boot under-voltage, throttled (0x50000)");
        assert_eq!(
            throttling(0x8_000a),
            "now ARM frequency capped, soft temperature limit; since the boot soft temperature limit (0x8000a)"
        );
    }
}
