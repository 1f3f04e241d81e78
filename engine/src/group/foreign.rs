//! Claims on what does not exist: by topic and number, joined where they touch.
//!
//! Topics get ranks before claims are sorted, *because* a peer may claim a hundred thousand numbers under two names
//! that only differ at their ends: names are then compared once each and not once a claim.

use alloc::vec::Vec;

use super::Foreign;
use crate::id::utf16_cmp;
use crate::topology::names::Names;

/// The order of the names that claims refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    low: u32,
    /// By number of the text, from `low` on.
    rank: Vec<u32>,
    texts: Vec<u32>,
}

impl Ranks {
    /// Ranks the topics of these claims: equal names, equal ranks.
    pub(crate) fn fill(&mut self, claims: &[Foreign], texts: &Names) {
        self.texts.clear();
        // Claims on one topic mostly follow each other.
        let mut last = None;
        for claim in claims {
            if last.replace(claim.topic) != Some(claim.topic) {
                self.texts.push(claim.topic);
            }
        }
        self.texts.sort_unstable();
        self.texts.dedup();
        let (low, high) = (self.texts.first().copied(), self.texts.last().copied());
        self.low = low.unwrap_or(0);
        self.rank.clear();
        self.rank.resize(high.map_or(0, |high| (high - self.low) as usize + 1), 0);
        let name = |text: u32| texts.get(text as usize);
        self.texts.sort_unstable_by(|&a, &b| utf16_cmp(name(a), name(b)));
        let (mut rank, mut before) = (0, None);
        for &text in &self.texts {
            if before.is_some_and(|before| name(before) != name(text)) {
                rank += 1;
            }
            before = Some(text);
            self.rank[(text - self.low) as usize] = rank;
        }
    }

    /// The rank of a claim's topic.
    #[inline]
    pub(crate) fn of(&self, claim: &Foreign) -> u32 {
        self.rank[(claim.topic - self.low) as usize]
    }

    pub(crate) fn memory_usage(&self) -> usize {
        (self.rank.capacity() + self.texts.capacity()) * 4
    }
}

/// Sorts one member's claims and appends them to `list`, disjoint.
pub(super) fn append(claims: &mut [Foreign], texts: &Names, ranks: &mut Ranks, list: &mut Vec<Foreign>) {
    if claims.is_empty() {
        return;
    }
    ranks.fill(claims, texts);
    claims.sort_unstable_by_key(|claim| (ranks.of(claim), claim.from, claim.to));
    let from = list.len();
    for claim in claims.iter() {
        match list[from..].last_mut() {
            Some(last) if ranks.of(last) == ranks.of(claim) && claim.from <= last.to.saturating_add(1) => {
                last.to = last.to.max(claim.to);
            }
            _ => list.push(*claim),
        }
    }
}
