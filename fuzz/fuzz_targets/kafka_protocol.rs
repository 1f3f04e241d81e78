//! Our consumer protocol beside that of the `kafka-protocol` crate.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::rival::check(data));
