//! Properties whose answers are bytes instead of words: the command line, the display's EDID

use super::{MESSAGE_WORDS, Property};

/// The command line that the firmware passes to the kernel: the text of cmdline.txt and its own additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetCommandLine;

/// The answer to [`GetCommandLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Its bytes, as many as fit, terminated by a zero.
    pub bytes: [u8; Self::BYTES],
}

impl CommandLine {
    const BYTES: usize = 256;
}

impl Property for GetCommandLine {
    const TAG: u32 = 0x0005_0001;
    const NAME: &'static str = "GetCommandLine";
    const VALUE_WORDS: usize = CommandLine::BYTES / 4;
    const ANSWER_BYTES: u32 = 1;
    type Answer = CommandLine;

    fn request(&self, _value: &mut [u32]) {}

    fn answer(value: &[u32; MESSAGE_WORDS]) -> CommandLine {
        let mut bytes = [0; CommandLine::BYTES];
        for (place, word) in bytes.chunks_mut(4).zip(value) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        CommandLine { bytes }
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

    fn answer(value: &[u32; MESSAGE_WORDS]) -> EdidBlock {
        let mut bytes = [0; 128];
        for (four, word) in bytes.chunks_exact_mut(4).zip(&value[2..]) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        EdidBlock { status: value[1], bytes }
    }
}
