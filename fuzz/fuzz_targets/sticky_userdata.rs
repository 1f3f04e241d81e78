//! What must hold for `sticky-userdata`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("sticky-userdata", data));
