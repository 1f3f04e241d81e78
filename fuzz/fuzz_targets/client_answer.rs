//! A broker's answer is any bytes: it is refused or read, and never makes the client reserve what it does not hold.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let [api_key, version, body @ ..] = data {
        let _ = tenure_client::read_any_answer(i16::from(api_key % 40), i16::from(version % 14), body);
    }
});
