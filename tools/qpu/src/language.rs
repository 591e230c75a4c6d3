//! The words of the language: mnemonics, registers, suffixes, operators, directives.
//!
//! # Sources
//! [vc4asm], whose language this is; names of registers, operations and signals also from [AG p.27-38].

pub mod directive;
pub mod mnemonic;
pub mod operator;
pub mod register;
pub mod suffix;

pub use directive::Directive;
pub use mnemonic::Mnemonic;
pub use operator::{Binary, Unary};
pub use suffix::Suffix;
