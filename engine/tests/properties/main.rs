//! Properties of plans, judged by brute force and by a minimum-cost flow that know only DESIGN.md §2 and §4.
//!
//! `TENURE_EXHAUSTIVE=1` judges every group of up to 4 members and 6 partitions instead of a sample;
//! `TENURE_GROUPS=N` sets how many larger random groups are judged.

#[path = "../support/mod.rs"]
mod support;

mod exact;
mod exhaustive;
mod flow;
#[allow(unreachable_pub, reason = "the fuzz crate includes this file as a public module")]
mod fuzzed;
mod groups;
mod larger;
mod problem;
mod replay;
mod spoilt;
