//! Cases and golden plans, through every door of the library.

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod certified;
mod expectation;
mod golden;
mod golden_sticky;
mod many;
mod smoke;
mod verifier;
