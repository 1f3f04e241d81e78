//! The rebalance and transaction protocols: complete state × event tables, and the named cases of
//! `datasets/cases/protocol`.

mod broker;
mod budget;
mod cases_coordinator;
mod cases_member;
mod compact;
mod coordinator;
mod coordinator_table;
mod cycle;
mod decision;
mod fence;
mod host;
mod leader;
#[allow(unreachable_pub, reason = "the fuzz crate takes the same file")]
mod leader_properties;
mod member;
mod member_table;
mod selection;
#[cfg(feature = "simulation")]
mod simulator;
mod transaction;
mod world;
