//! The parts of the `tenure` command that other programs and the fuzz targets use.

pub mod alloc;
pub mod budget;
pub mod codec;
pub mod describe;
pub mod explain;
pub mod json;
pub mod judgement;
pub mod live;
pub mod number;
pub mod result;
pub mod scenario;
pub mod snapshot;
