//! The validator: what it accepts, and that it rejects every access beyond a job's rights.

mod heap;
mod lists;
mod lookups;
mod programs;
mod relocation;
mod rules;
mod scene;
mod work;
