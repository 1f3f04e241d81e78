//! Real Kafka for tests: a broker on loopback, connections that speak raw requests, foreign group members, and a
//! ledger that says who owned what and when.
//!
//! ```text
//! requirement   is the tool there? without it a test says so loudly, and fails where CI=true
//! broker        one KRaft node from Maven's jars, gone when its test is, however that ends
//! connection    one request, one answer, over a blocking socket
//! ledger        who owned what and when, and who at the same time
//! host          members of other clients, in processes of their own
//! records       written and read for their offsets alone
//! topics        create, grow and delete
//! course        courses of events for a broker and its model, and what each answers
//! clock         nanoseconds that every process of this machine agrees on
//! ```
//!
//! A test that starts a broker is `#[ignore]`d, so that the plain test run needs no Java; `.ci/run interop` runs it.
//!
//! # Examples
//!
//! ```no_run
//! use tenure_peers::{Broker, Settings, or_skip};
//!
//! let Some(broker) = or_skip(Broker::start(&Settings::default())) else { return };
//! broker.create_topic("orders", 6).unwrap();
//! println!("point a client at {}", broker.bootstrap());
//! ```

mod broker;
mod clock;
mod connection;
pub mod course;
mod host;
mod ledger;
mod records;
mod requirement;
mod topics;

pub use broker::{Broker, Settings};
pub use clock::now_ns;
pub use connection::{Connection, Correlation};
pub use host::{Client, Host, MemberSettings, ZombieProducer};
pub use ledger::{Entry, Happening, Ledger, Overlap, Place};
pub use requirement::{PeerError, or_skip, require};
