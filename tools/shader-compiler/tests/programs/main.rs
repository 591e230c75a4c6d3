//! Compiled programs in the model, compared with an interpreter and with formulas.

mod budgets;
mod captures;
mod exactness;
mod exits;
mod formulas;
mod fragments;
mod front_ends;
mod image;
mod interpret;
mod machine;
mod memory;
mod mesa;
mod mistakes;
mod positions;
mod random;
mod refusals;
mod registers;
mod textures;
mod threads;
mod varyings;
