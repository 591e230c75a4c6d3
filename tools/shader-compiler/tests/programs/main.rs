//! Compiled programs in the model, against an interpreter and against formulas.

mod captures;
mod formulas;
mod interpret;
mod machine;
mod random;
mod refusals;
