//! Any group: the planner against the verifier.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::planner::planner_vs_verifier(data));
