//! Groups of a live cluster: what a coordinator tells, as a snapshot to plan from and as news to watch.
//!
//! Pure: the client has asked, this only understands.

mod group;
mod observer;

pub use group::{LiveGroup, understand};
pub use observer::{Event, Holder, Move, Observer, Rebalance, Sight};
