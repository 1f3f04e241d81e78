//! Courses of events that a real coordinator and its model both go through.
//!
//! ```text
//!   datasets/courses/*.json ──► Course ──► play ──┬── ModelSide    tenure's coordinators
//!                                            │    └── BrokerSide   a real broker, by raw requests
//!                                            └──► what was answered to whom in each step, ids replaced by names
//! ```
//!
//! Both sides take the messages of `tenure::protocol::message`, and the same code puts their answers down, so that a
//! difference is one of behaviour.

mod answer;
mod broker_side;
mod model_side;
mod player;
mod record;
pub mod step;
mod wire;

pub use broker_side::BrokerSide;
pub use model_side::ModelSide;
pub use player::{Side, play};
pub use record::{Record, compare};
pub use step::{Course, CourseFile};
