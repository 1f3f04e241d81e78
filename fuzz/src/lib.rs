//! What the fuzz targets check. Each target is a call of one function here.

/// The properties of the wire formats, shared with the tests that replay the corpora.
#[path = "../../engine/tests/codec/properties.rs"]
pub mod codec;
/// The properties of the command's readers, shared with the tests that replay the corpora.
#[path = "../../engine/cli/tests/command/properties.rs"]
pub mod command;
/// The properties of compact user data, shared with the tests that replay its corpus.
#[path = "../../engine/tests/codec/compact_properties.rs"]
pub mod compact;
/// The properties of a leader's round, shared with the protocol's tests.
#[path = "../../engine/tests/protocol/leader_properties.rs"]
pub mod leader;
/// The planner against the verifier, shared with the properties' own tests.
#[path = "../../engine/tests/properties/fuzzed.rs"]
pub mod planner;
pub mod rival;
