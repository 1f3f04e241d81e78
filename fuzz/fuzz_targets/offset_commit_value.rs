//! What must hold for `offset-commit-value`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("offset-commit-value", data));
