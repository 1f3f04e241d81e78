//! The revoke room.
