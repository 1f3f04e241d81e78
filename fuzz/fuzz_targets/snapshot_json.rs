//! What must hold for group snapshots in JSON, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::command::snapshot_json(data));
