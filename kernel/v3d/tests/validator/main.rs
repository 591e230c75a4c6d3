//! The validator: what it accepts, and that every way out of a job's rights is refused.

mod lists;
mod lookups;
mod programs;
mod relocation;
mod rules;
mod scene;
mod work;
