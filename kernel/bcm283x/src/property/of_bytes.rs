//! Properties whose answers are bytes instead of words: the command line, the display's EDID

use alloc::string::String;

use super::Property;

/// The command line that the firmware passes to the kernel: words of its own, then the text of cmdline.txt.
///
/// Published command lines of boards have 216 to 312 bytes, most of them the firmware's own, so that the words of cmdline.txt come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetCommandLine;

/// The answer to [`GetCommandLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Its bytes, as many as fit, terminated by a zero.
    pub bytes: [u8; Self::BYTES],
    /// Length of the whole line in bytes, as the firmware tells it.
    pub length_bytes: u32,
}

impl CommandLine {
    /// Most bytes that the kernel reads.
    pub const BYTES: usize = 2048;

    /// The text up to its end or to the last byte that was read.
    #[must_use]
    pub fn text(&self) -> String {
        let end = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(self.bytes.len());
        String::from_utf8_lossy(&self.bytes[..end]).into_owned()
    }

    /// Whether the line is longer than what was read of it.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.length_bytes as usize > Self::BYTES
    }
}

impl Property for GetCommandLine {
    const TAG: u32 = 0x0005_0001;
    const NAME: &'static str = "GetCommandLine";
    const VALUE_WORDS: usize = CommandLine::BYTES / 4;
    const ANSWER_BYTES: u32 = 1;
    type Answer = CommandLine;

    fn request(&self, _value: &mut [u32]) {}

    fn answer(value: &[u32], answer_bytes: u32) -> CommandLine {
        let mut bytes = [0; CommandLine::BYTES];
        for (place, word) in bytes.chunks_mut(4).zip(value) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        CommandLine { bytes, length_bytes: answer_bytes }
    }
}

/// One block of the display's EDID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetEdidBlock {
    /// Number of the block; 0 is the base block.
    pub block: u32,
}

/// The answer to [`GetEdidBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdidBlock {
    /// 0 if there is such a block.
    pub status: u32,
    /// Its bytes.
    pub bytes: [u8; 128],
}

impl Property for GetEdidBlock {
    const TAG: u32 = 0x0003_0020;
    const NAME: &'static str = "GetEdidBlock";
    const VALUE_WORDS: usize = 2 + 32;
    const ANSWER_BYTES: u32 = 4 * (2 + 32);
    type Answer = EdidBlock;

    fn request(&self, value: &mut [u32]) {
        if let Some(first) = value.first_mut() {
            *first = self.block;
        }
    }

    fn answer(value: &[u32], _answer_bytes: u32) -> EdidBlock {
        let mut bytes = [0; 128];
        for (four, word) in bytes.chunks_exact_mut(4).zip(&value[2..]) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        EdidBlock { status: value[1], bytes }
    }
}
