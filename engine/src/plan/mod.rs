//! The plan room.
