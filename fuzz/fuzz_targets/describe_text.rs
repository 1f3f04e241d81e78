//! What must hold for prints of `kafka-consumer-groups.sh`, whatever the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| tenure_fuzz::command::describe_text(data));
