//! The protocol room.
