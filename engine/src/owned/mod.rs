//! Who owns what: claims of members, settled by generation.

pub(crate) mod claims;
pub(crate) mod row;

pub use claims::Findings;
