//! Tenure decides which member of a Kafka consumer group owns which partition.

extern crate alloc;

pub mod codec;
pub mod fence;
pub mod group;
pub mod id;
pub mod owned;
pub mod plan;
pub mod protocol;
pub mod rack;
pub mod revoke;
pub mod topology;
pub mod verify;

#[cfg(feature = "simulation")]
pub mod simulation;

pub use group::{Group, Protocol, Shape};
pub use topology::Topology;
