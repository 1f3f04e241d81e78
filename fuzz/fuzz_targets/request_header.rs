//! What must hold for `request-header`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("request-header", data));
