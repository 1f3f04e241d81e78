//! The `tenure` command as its users meet it: a process, files, pipes, exit statuses.

mod bad;
mod budget;
mod cases;
mod codec;
mod describe;
mod explain;
mod good;
mod help;
mod lines;
mod live;
mod pipes;
mod prints;
mod properties;
mod replay;
#[path = "../../../tests/support/mod.rs"]
mod rules;
mod shell;
mod simulate;
mod support;
mod verify;
mod what_if;
