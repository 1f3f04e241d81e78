//! The group room.
