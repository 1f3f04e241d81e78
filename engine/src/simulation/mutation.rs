//! Faults planted on purpose: a judge that never finds anything may be blind, so each of these must be found.

use core::fmt;

/// One rule of the protocol that a run leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutation {
    /// The leader hands out what others still hold.
    WithholdsNothing,
    /// A member takes the assignment of an earlier generation for that of the present one.
    BelievesLateAnswers,
    /// The coordinator takes commits of any generation and any member.
    AdmitsAnyCommit,
    /// The coordinator takes transactional commits of any generation and any member. What comes of it is judged by the
    /// output alone.
    NoTransactionFence,
    /// A new owner does not wait for the offsets of pending transactions.
    ReadsUnstableOffsets,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::WithholdsNothing,
        Self::BelievesLateAnswers,
        Self::AdmitsAnyCommit,
        Self::NoTransactionFence,
        Self::ReadsUnstableOffsets,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WithholdsNothing => "withholds-nothing",
            Self::BelievesLateAnswers => "believes-late-answers",
            Self::AdmitsAnyCommit => "admits-any-commit",
            Self::NoTransactionFence => "no-transaction-fence",
            Self::ReadsUnstableOffsets => "reads-unstable-offsets",
        }
    }

    /// The mutation with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
