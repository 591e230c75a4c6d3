//! Rendering lists that were made before.
//!
//! A list only depends on the pass, and frames take turns over a few pages and a few places in memory, so it is seldom made anew.

use alloc::vec::Vec;
use v3d::record_list::RecordList;
use v3d::rendering_list::RenderingPass;

use crate::error::Error;

/// Lists that are kept: for a display with three pages and two frames under way, one of each pair.
const KEPT: usize = 6;

/// The lists of the passes that were drawn last, the latest made at the end.
#[derive(Debug, Default)]
pub(crate) struct RenderingLists(Vec<(RenderingPass, RecordList)>);

impl RenderingLists {
    /// The list of a pass.
    pub(crate) fn of(&mut self, pass: RenderingPass) -> Result<&RecordList, Error> {
        let index = match self.0.iter().position(|(known, _)| *known == pass) {
            Some(index) => index,
            None => {
                let list = pass.list()?;
                if self.0.len() == KEPT {
                    self.0.remove(0);
                }
                self.0.push((pass, list));
                self.0.len() - 1
            }
        };
        Ok(&self.0[index].1)
    }
}
