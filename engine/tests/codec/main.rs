//! Every golden vector and every codec case, through the library, in both directions.

mod cases;
mod consumer;
mod sticky;
mod support;
