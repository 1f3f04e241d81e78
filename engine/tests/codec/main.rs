//! Every golden vector and every codec case, through the library, in both directions.

mod cases;
mod compact;
#[allow(unreachable_pub, reason = "the fuzz crate includes this file as a public module")]
mod compact_properties;
mod consumer;
mod damage;
mod messages;
#[allow(unreachable_pub, reason = "the fuzz crate includes this file as a public module")]
mod properties;
mod replay;
mod sticky;
mod streams;
mod support;
