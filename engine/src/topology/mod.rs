//! The topology room.
