//! The rebalance and transaction protocols: complete state × event tables, and the named cases of
//! `datasets/cases/protocol`.

mod broker;
mod coordinator;
mod coordinator_table;
