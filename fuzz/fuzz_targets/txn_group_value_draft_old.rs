//! What must hold for `txn-group-value-draft-old`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::codec::check("txn-group-value-draft-old", data));
