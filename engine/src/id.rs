//! Typed indices and the generation of a claim.
