//! A cache of rendering lists.
//!
//! A list depends only on its pass. Consecutive frames mostly have the same passes, with a few display pages and memory addresses in turn, so most lists are
//! found in the cache.

use alloc::vec::Vec;
use v3d::record_list::RecordList;
use v3d::rendering_list::RenderingPass;

use crate::error::Error;

/// Capacity of the cache: all combinations of three display pages and two frames in flight.
const KEPT: usize = 6;

/// Recently used lists with their passes, oldest first.
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
