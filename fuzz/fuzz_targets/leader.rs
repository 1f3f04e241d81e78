//! What must hold of a leader's round, whatever bytes its members sent.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::leader::check(data));
