//! Every golden vector and every codec case, through the library, in both directions.

mod cases;
mod consumer;
mod messages;
mod sticky;
mod streams;
mod support;
