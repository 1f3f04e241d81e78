//! What must hold for `consumer-assignment-draft`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("consumer-assignment-draft", data));
