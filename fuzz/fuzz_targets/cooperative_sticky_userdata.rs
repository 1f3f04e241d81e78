//! What must hold for `cooperative-sticky-userdata`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("cooperative-sticky-userdata", data));
