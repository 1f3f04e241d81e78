//! A properties file and a broker's half of a SCRAM exchange are any text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (first, last) = data.split_at(data.len() / 2);
    tenure_client::read_any_challenge(first, last);
    let properties = tenure_client::Properties::parse(&String::from_utf8_lossy(data));
    // No file that the text names is read: only SASL's settings are made.
    if properties.get("security.protocol") == Some("SASL_PLAINTEXT") {
        let _ = properties.security();
    }
});
