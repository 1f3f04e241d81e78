//! The broker itself: it comes up, obeys, and is gone when its test is, even one that panics.

use std::net::TcpStream;
use std::panic;

use tenure_peers::{Broker, Settings, or_skip};

#[test]
#[ignore = "needs a Kafka broker: .ci/run interop"]
fn a_broker_comes_up_and_goes_with_its_test() {
    let settings = Settings::default().property("group.max.size", 3);
    let Some(broker) = or_skip(Broker::start(&settings)) else { return };
    broker.create_topic("orders", 3).unwrap();
    broker.grow_topic("orders", 5).unwrap();
    let error = broker.create_topic("orders", 3).unwrap_err().to_string();
    assert!(error.contains("error 36"), "{error}");
    broker.delete_topic("orders").unwrap();
    let error = broker.grow_topic("orders", 7).unwrap_err().to_string();
    assert!(error.contains("error 3"), "{error}");

    let address = broker.bootstrap().to_owned();
    TcpStream::connect(&address).unwrap();
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        let _held = broker;
        panic!("as a failing test does");
    }));
    assert!(panicked.is_err());
    assert!(TcpStream::connect(&address).is_err(), "a broker outlived its test");
}
