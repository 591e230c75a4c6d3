//! The units around a vertex or coordinate shader: the two windows of its batch in the VPM.
//!
//! Attributes are in columns, one for each vertex of the batch, packed one after the other in bytes; the shader reads them as rows. It writes shaded
//! vertices to the other window in the same way, where PTB and PSE find them [AG p.60-61].

use crate::fault::Signals;
use crate::qpu::lanes::{Lanes, Mask};
use crate::qpu::{Io, IoError};
use crate::vpm::block::Cursor;
use crate::vpm::{ReadQueue, Vpm, VpmError};
use v3d_hw::vpm::{ReadSetupWord, WINDOW_ROWS, WriteSetupWord};

/// KiB of a window of 64 rows.
const WINDOW_KIB: u8 = 4;

/// The VPM of one batch.
#[derive(Clone, Debug)]
pub struct VertexIo {
    inputs: Vpm,
    outputs: Vpm,
    reads: ReadQueue,
    write: Option<Cursor>,
    signals: Signals,
}

impl Default for VertexIo {
    fn default() -> Self {
        Self::new()
    }
}

impl VertexIo {
    /// Empty windows of 64 rows.
    pub fn new() -> Self {
        Self {
            inputs: Vpm::new(WINDOW_KIB, WINDOW_ROWS),
            outputs: Vpm::new(WINDOW_KIB, WINDOW_ROWS),
            reads: ReadQueue::default(),
            write: None,
            signals: Signals::default(),
        }
    }

    /// Begins a batch: clears both windows and sets their numbers of rows.
    pub fn begin(&mut self, input_rows: u32, output_rows: u32) {
        for (window, rows) in [(&mut self.inputs, input_rows), (&mut self.outputs, output_rows)] {
            window.set_window(rows);
            window.clear();
        }
        self.reads.clear();
        self.write = None;
        self.signals = Signals::default();
    }

    /// Signals raised by accesses since the batch began.
    pub const fn signals(&self) -> Signals {
        self.signals
    }

    /// The attributes' window.
    pub fn inputs_mut(&mut self) -> &mut Vpm {
        &mut self.inputs
    }

    /// The shaded vertices' window.
    pub fn outputs(&self) -> &Vpm {
        &self.outputs
    }

    /// Vectors that are set up and not read.
    pub fn unread(&self) -> u32 {
        self.reads.outstanding()
    }
}

impl Io for VertexIo {
    fn vpm_read(&mut self) -> Result<Lanes, IoError> {
        let vector = self.reads.pop(&self.inputs);
        self.signals.vpm_read_range |= matches!(vector, Err(VpmError::ReadOutside { .. }));
        Ok(vector?)
    }

    fn vpm_write(&mut self, value: &Lanes, mask: Mask) -> Result<(), IoError> {
        let cursor = self.write.as_mut().ok_or(VpmError::NoSetup("VPM write"))?;
        let written = cursor.write(&mut self.outputs, value, mask);
        cursor.advance();
        self.signals.vpm_write_range |= matches!(written, Err(VpmError::WriteOutside { .. }));
        Ok(written?)
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), IoError> {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(setup) => Ok(self.reads.push(&setup, word)?),
            ReadSetupWord::Reserved(word) => Err(VpmError::Setup(word).into()),
            ReadSetupWord::Load(_) | ReadSetupWord::LoadStride(_) => Err(IoError::NotAccessible("the VCD")),
        }
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), IoError> {
        match WriteSetupWord::decode(word) {
            WriteSetupWord::Write(setup) => {
                self.write = Some(Cursor::to_write(&setup).ok_or(VpmError::Setup(word))?);
                Ok(())
            }
            WriteSetupWord::Reserved(word) => Err(VpmError::Setup(word).into()),
            WriteSetupWord::Store(_) | WriteSetupWord::StoreStride(_) => Err(IoError::NotAccessible("the VDW")),
        }
    }

    fn scoreboard_unlock(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}
