//! What must hold for `heartbeat-request-draft`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("heartbeat-request-draft", data));
