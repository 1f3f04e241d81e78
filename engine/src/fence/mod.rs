//! The fence room.
