//! A global allocator that counts: the command's own, which a bench declares as its own too.

pub use tenure_cli::alloc::{Counting, Used, count};
