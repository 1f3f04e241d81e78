//! Cooperative rounds (KIP-429): from a plan to what each member gets now, keeps, gains and gives up.
//!
//! A plan says where partitions shall be. A partition that a cooperative member still holds cannot go to
//! another one yet: it is *withheld* this round, its holder revokes it and joins again, and the next round
//! hands it out. So in no round does a partition go to a member while a cooperative member other than that
//! one is a holder of it.
//!
//! ```text
//! claims of m   ∩ assignment of m   kept
//! assignment    − claims            added
//! claims        − assignment        revoked: m gives it up in order, then joins again
//! target        − assignment        withheld: still held by somebody else
//! ```

pub(crate) mod foreign;
mod round;

pub use round::{Mode, Round};
