//! Bytes that terminals send for keys that are not characters

/// Moves the cursor to the start of the line.
pub const CONTROL_A: u8 = 0x01;
/// Moves the cursor left by a character.
pub const CONTROL_B: u8 = 0x02;
/// Ends a scene or an output.
pub const CONTROL_C: u8 = 0x03;
/// Deletes the character under the cursor.
pub const CONTROL_D: u8 = 0x04;
/// Moves the cursor to the end of the line.
pub const CONTROL_E: u8 = 0x05;
/// Moves the cursor right by a character.
pub const CONTROL_F: u8 = 0x06;
/// Deletes the character before the cursor.
pub const BACKSPACE: u8 = 0x08;
/// Ends a line.
pub const LINE_FEED: u8 = b'\n';
/// Deletes from the cursor to the end of the line.
pub const CONTROL_K: u8 = 0x0b;
/// Ends a line.
pub const CARRIAGE_RETURN: u8 = b'\r';
/// Deletes the line.
pub const CONTROL_U: u8 = 0x15;
/// Starts the sequence of a key such as an arrow.
pub const ESCAPE: u8 = 0x1b;
/// Sent by most terminals for backspace.
pub const DELETE: u8 = 0x7f;
