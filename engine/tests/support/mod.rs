//! What the judges share: snapshots by name, answers by name, and the rules of DESIGN.md §2 and §4.
//!
//! Everything here works on names and plain maps, so that no index, bit row or class of the library can
//! make judge and judged wrong in the same way.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

pub mod answer;
pub mod course;
pub mod judge;
pub mod random;
pub mod snapshot;
