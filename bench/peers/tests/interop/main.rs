//! Tests beside a real broker. Each is ignored in a plain run; `.ci/run interop` runs them all.

mod broker;
mod courses;
mod groups;
mod mixed;
mod random_courses;
mod tenure_member;
mod upgrade;
mod world;
mod zombie;
