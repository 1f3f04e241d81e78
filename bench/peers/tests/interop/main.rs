//! Tests beside a real broker. Each is ignored in a plain run; `.ci/run interop` runs them all.

mod broker;
mod courses;
