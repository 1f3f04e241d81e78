//! Workloads, measuring and a counting allocator for the benches of tenure.
//!
//! ```text
//! workloads   named shapes × events, from a seed ──► Topology, Group, or a snapshot file
//! check       is a plan valid? asked in every bench's set-up, shares no code with the planner
//! measure     warm rounds beside a plain copy of their output, in thread CPU time
//! alloc       how often a piece of code asks for memory
//! guard       instructions and allocations beside a committed baseline
//! size        what it takes to say what a member owns, format beside format
//! contest     Tenure beside the assignors of other clients, and the reports of that
//! ```

pub mod alloc;
pub mod check;
pub mod contest;
pub mod guard;
pub mod measure;
pub mod size;
pub mod workloads;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
