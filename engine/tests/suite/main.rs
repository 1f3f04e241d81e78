//! Cases and golden plans, through every door of the library.

mod golden;
mod smoke;
