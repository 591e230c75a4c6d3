//! Index data: a thread enters that of an Indexed Primitive List like a sub-list.
//!
//! While a thread is there, CTnCS shows a level of nesting and CTnRA0 the record behind the list [rpi-hal src/v3d.rs, examples/gpu_cube.rs].

use super::{Assembly, Cle, CleError, CleFault, Context, Run, Step};
use v3d_hw::BusAddr;
use v3d_hw::control_list::{IndexType, IndexedPrimitiveList};
use v3d_hw::registers::Thread;

/// Index data that a thread has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexData {
    /// Address of the Indexed Primitive List.
    pub(super) record: BusAddr,
    /// Address of the record behind it.
    next: BusAddr,
    /// The primitives of all indices, if the thread has stopped at the first one: the data begins at its end address.
    pub(super) stopped_with: Option<u64>,
}

impl Cle {
    /// Executes an Indexed Primitive List.
    pub(super) fn draw_indexed(
        &mut self,
        thread: Thread,
        at: BusAddr,
        next: BusAddr,
        record: &IndexedPrimitiveList,
        context: &mut Context<'_>,
    ) -> Result<Step, CleError> {
        let assembly = Assembly::indexed(record)?;
        let bytes = u64::from(record.length) * if record.index_type == IndexType::Bits16 { 2 } else { 1 };
        let list = self.thread_mut(thread);
        let end = list.end;
        let mut indices = IndexData { record: at, next, stopped_with: None };
        if record.address == end {
            indices.stopped_with = Some(assembly.remaining_primitives());
            (list.current, list.indices) = (end, Some(indices));
            context.faults.report(CleFault { thread, at, error: CleError::EndAtIndexData });
            self.stop(thread, Run::StoppedAtEnd, context);
            return Ok(Step::Blocked);
        }
        list.indices = Some(indices);
        // An offset of 0 is no less within the data, but then it begins there.
        if u64::from(end.0.wrapping_sub(record.address.0)) < bytes {
            context.faults.report(CleFault { thread, at, error: CleError::EndInIndexData });
        }
        self.assemble(thread, at, assembly, context)?;
        Ok(Step::Next)
    }

    /// The index data that a thread is in: it has stopped there, or the binner has not read all of it.
    pub(super) fn indices(&self, thread: Thread) -> Option<IndexData> {
        let reads = thread == Thread::Binning && self.ptb.is_working();
        self.thread(thread).indices.filter(|indices| reads || indices.stopped_with.is_some())
    }

    /// The address to which a thread returns from the index data that it is in.
    pub(super) fn return_from_indices(&self, thread: Thread) -> Option<BusAddr> {
        self.indices(thread).map(|indices| indices.next)
    }

    /// The index data at which a thread has stopped.
    pub(super) fn stopped_at_indices(&self, thread: Thread) -> Option<IndexData> {
        self.thread(thread).indices.filter(|indices| indices.stopped_with.is_some())
    }
}
