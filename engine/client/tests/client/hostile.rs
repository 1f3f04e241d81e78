//! Answers that no broker should send: random bytes, and good answers with bytes changed or cut off.

use kafka_protocol::messages::{ApiKey, MetadataResponse};
use kafka_protocol::protocol::Encodable;
use tenure_client::read_any_answer;

use crate::fake::{Answer, Ask, usual};
use crate::interop::Random;

const KEYS: [i16; 20] = [3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 25, 26, 28, 36, 37];

#[test]
fn random_bytes_are_read_or_refused() {
    let mut random = Random(1);
    for round in 0..40_000 {
        let key = KEYS[random.below(KEYS.len())];
        let version = random.below(14) as i16;
        let len = random.below(60);
        // Many zeros, since they are lengths and counts.
        let body: Vec<u8> = (0..len)
            .map(|_| if random.below(3) == 0 { random.below(256) as u8 } else { random.below(3) as u8 })
            .collect();
        let _ = (round, read_any_answer(key, version, &body));
    }
}

#[test]
fn good_answers_are_read_and_damaged_ones_do_no_harm() {
    let ask = |key, version| Ask { key, version, body: bytes::Bytes::from_static(&[0xff; 0]), port: 9092 };
    let mut message = bytes::BytesMut::new();
    MetadataResponse::default().encode(&mut message, 12).unwrap();
    let Answer::Body(versions) = usual(&ask(ApiKey::ApiVersions, 3)) else { panic!() };
    let mut random = Random(2);
    for (key, version, good) in [(3, 12, message.to_vec()), (18, 3, versions)] {
        read_any_answer(key, version, &good).unwrap();
        for end in 0..good.len() {
            assert!(read_any_answer(key, version, &good[..end]).is_err(), "cut off at {end}");
        }
        for _ in 0..5_000 {
            let mut bad = good.clone();
            let at = random.below(bad.len());
            bad[at] = random.below(256) as u8;
            let _ = read_any_answer(key, version, &bad);
        }
    }
}
