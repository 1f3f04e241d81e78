//! The owned room.
