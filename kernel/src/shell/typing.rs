//! Commands that are typed while a scene shows the console

use alloc::{string::ToString, vec::Vec};

use super::{
    line_editor::LineEditor,
    session::{ExecuteLine, Session},
};
use crate::{
    print, println,
    shell::command::{Command, PROMPT},
    terminal::{
        console::{self, Terminal},
        keys::CONTROL_C,
    },
};

/// The line that is being edited between frames.
#[derive(Debug)]
pub(super) struct Typing {
    editor: LineEditor,
    execute_line: ExecuteLine,
    /// What was typed since the scene read its keys.
    heard: Vec<u8>,
}

impl Typing {
    /// Prints the prompt.
    pub(super) fn new(execute_line: ExecuteLine) -> Self {
        print!("{PROMPT}");
        Self { editor: LineEditor::new(), execute_line, heard: Vec::new() }
    }

    /// The bytes that were typed since the last call: keys of the scene, too.
    pub(super) fn take_heard(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.heard)
    }

    /// Processes input and executes complete lines. `true` if the scene must end: a command that needs the V3D is then left to the shell.
    pub(super) fn go_on(&mut self, session: &mut Session) -> bool {
        while let Some(byte) = console::try_read() {
            self.heard.push(byte);
            if byte == CONTROL_C {
                println!();
                return true;
            }
            if !self.editor.feed(byte, &mut Terminal) {
                continue;
            }
            let line = self.editor.line();
            if Command::parse(line).is_ok_and(|command| command.is_some_and(|command| command.takes_the_engine())) {
                session.next_line = Some(line.to_string());
                return true;
            }
            (self.execute_line)(line, session);
            print!("{PROMPT}");
        }
        false
    }
}
