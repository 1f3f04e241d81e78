//! What must hold for `init-producer-id-response-draft`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("init-producer-id-response-draft", data));
