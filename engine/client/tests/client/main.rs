//! The client against a scripted broker on loopback, and against a real one where there is Java.

mod connection;
mod fake;
mod hostile;
mod interop;
mod ledger;
mod membership;
mod reader;
mod security;
