//! Who owned what, and when: written by members of every kind, and checked for overlaps.

use core::fmt::{self, Write};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::clock::now_ns;

/// A topic's name and a partition's number.
pub type Place = (String, i32);

/// What happened to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// It was given partitions: from before its callback on they are its own.
    Assigned,
    /// It gave partitions back: they are its own until its callback has ended.
    Revoked,
    /// It heard that partitions are another's.
    Lost,
    /// It read records, from an offset up to another.
    Records {
        /// The first.
        from: i64,
        /// One past the last.
        to: i64,
    },
    /// It ended, in order or by a crash: it owns nothing any more.
    Ended,
    /// Its client said something worth keeping.
    Said(String),
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, by [`now_ns`].
    pub at_ns: u64,
    /// To whom.
    pub member: String,
    /// What.
    pub happening: Happening,
    /// Which partitions.
    pub places: Vec<Place>,
}

/// Two members that owned a partition at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// The partition.
    pub place: Place,
    /// Who had it first.
    pub first: String,
    /// Who was given it as well.
    pub second: String,
    /// Since when both had it.
    pub from_ns: u64,
    /// Until when, if it ended.
    pub until_ns: Option<u64>,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (topic, partition) = &self.place;
        write!(f, "{topic}-{partition} was both {}'s and {}'s", self.first, self.second)?;
        match self.until_ns {
            Some(until_ns) => write!(f, " for {} us", until_ns.saturating_sub(self.from_ns) / 1_000),
            None => write!(f, " to the end"),
        }
    }
}

/// The entries of one test, shared by all that write to it.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    shared: Arc<(Mutex<Vec<Entry>>, Condvar)>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an entry down.
    pub fn put(&self, entry: Entry) {
        let (entries, changed) = &*self.shared;
        entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        changed.notify_all();
    }

    /// Puts down what happens now.
    pub fn note(&self, member: &str, happening: Happening, places: Vec<Place>) {
        self.put(Entry { at_ns: now_ns(), member: member.to_owned(), happening, places });
    }

    /// All entries in the order of time. Of equal times what ends comes first.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let begins = |entry: &Entry| entry.happening == Happening::Assigned;
        entries.sort_by_key(|entry| (entry.at_ns, begins(entry)));
        entries
    }

    /// Waits until the entries are as wanted; false if that does not come about within `patience`.
    pub fn wait_until(&self, patience: Duration, wanted: impl Fn(&Self) -> bool) -> bool {
        let begin = Instant::now();
        loop {
            if wanted(self) {
                return true;
            }
            let Some(left) = patience.checked_sub(begin.elapsed()) else { return false };
            let (entries, changed) = &*self.shared;
            let guard = entries.lock().unwrap_or_else(PoisonError::into_inner);
            let pause = left.min(Duration::from_millis(20));
            drop(changed.wait_timeout(guard, pause).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Who owns each partition after the last entry.
    pub fn owners(&self) -> BTreeMap<Place, BTreeSet<String>> {
        let mut owners: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
        walk(&self.entries(), |place, member, begins, _| {
            let of_place = owners.entry(place.clone()).or_default();
            if begins {
                of_place.insert(member.to_owned())
            } else {
                of_place.remove(member)
            };
        });
        owners.retain(|_, members| !members.is_empty());
        owners
    }

    /// How many partitions each member owns after the last entry.
    pub fn loads(&self) -> BTreeMap<String, usize> {
        let mut loads = BTreeMap::new();
        for member in self.owners().into_values().flatten() {
            *loads.entry(member).or_default() += 1;
        }
        loads
    }

    /// Every time that two members owned a partition at once, in the order in which they began.
    pub fn overlaps(&self) -> Vec<Overlap> {
        let mut owners: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
        let mut found: Vec<Overlap> = Vec::new();
        walk(&self.entries(), |place, member, begins, at_ns| {
            let of_place = owners.entry(place.clone()).or_default();
            if !begins {
                of_place.remove(member);
                let open = |one: &&mut Overlap| {
                    one.until_ns.is_none()
                        && one.place == *place
                        && (one.first == member || one.second == member)
                };
                found.iter_mut().filter(open).for_each(|one| one.until_ns = Some(at_ns));
                return;
            }
            let others = of_place.iter().filter(|other| *other != member);
            found.extend(others.map(|other| Overlap {
                place: place.clone(),
                first: other.clone(),
                second: member.to_owned(),
                from_ns: at_ns,
                until_ns: None,
            }));
            of_place.insert(member.to_owned());
        });
        found
    }

    /// Partitions given to a member that had them already: an assignment that is no change.
    pub fn given_twice(&self) -> Vec<(String, Place)> {
        let mut owned: BTreeSet<(String, Place)> = BTreeSet::new();
        let mut found = Vec::new();
        walk(&self.entries(), |place, member, begins, _| {
            let one = (member.to_owned(), place.clone());
            if !begins {
                owned.remove(&one);
            } else if !owned.insert(one.clone()) {
                found.push(one);
            }
        });
        found
    }

    /// The offsets of a partition below `end` that nobody read.
    pub fn unread(&self, place: &Place, end: i64) -> Vec<i64> {
        let mut read = BTreeSet::new();
        for entry in self.entries() {
            if let Happening::Records { from, to } = entry.happening
                && entry.places.contains(place)
            {
                read.extend(from..to);
            }
        }
        (0..end).filter(|offset| !read.contains(offset)).collect()
    }

    /// The entries as a table: milliseconds since the first, member, what, and which partitions.
    pub fn table(&self) -> String {
        let entries = self.entries();
        let begin_ns = entries.first().map_or(0, |entry| entry.at_ns);
        let mut out = String::new();
        for entry in &entries {
            let ms = entry.at_ns.saturating_sub(begin_ns) / 1_000_000;
            let what = match &entry.happening {
                Happening::Assigned => "assigned".to_owned(),
                Happening::Revoked => "revoked".to_owned(),
                Happening::Lost => "lost".to_owned(),
                Happening::Records { from, to } => format!("records {from}..{to}"),
                Happening::Ended => "ended".to_owned(),
                Happening::Said(text) => format!("says {text}"),
            };
            let places = entry.places.iter().map(|(topic, partition)| format!(" {topic}-{partition}"));
            let places: String = places.collect();
            let _ = writeln!(out, "{ms:>7} ms  {:<28} {what}{places}", entry.member);
        }
        out
    }
}

/// Goes through the beginnings and ends of ownership in the order of time.
fn walk(entries: &[Entry], mut step: impl FnMut(&Place, &str, bool, u64)) {
    let mut owned: BTreeMap<&str, BTreeSet<&Place>> = BTreeMap::new();
    for entry in entries {
        let own = owned.entry(&entry.member).or_default();
        match entry.happening {
            Happening::Assigned => {
                for place in &entry.places {
                    own.insert(place);
                    step(place, &entry.member, true, entry.at_ns);
                }
            }
            Happening::Revoked | Happening::Lost => {
                for place in &entry.places {
                    own.remove(place);
                    step(place, &entry.member, false, entry.at_ns);
                }
            }
            Happening::Ended => {
                for place in core::mem::take(own) {
                    step(place, &entry.member, false, entry.at_ns);
                }
            }
            Happening::Records { .. } | Happening::Said(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(ledger: &Ledger, at_ns: u64, member: &str, happening: Happening, partitions: &[i32]) {
        let places = partitions.iter().map(|&one| ("t".to_owned(), one)).collect();
        ledger.put(Entry { at_ns, member: member.into(), happening, places });
    }

    /// A handover without fault: a gives 1 back at 20, b is given it at 20.
    fn faultless() -> Ledger {
        let ledger = Ledger::new();
        put(&ledger, 20, "b", Happening::Assigned, &[1]);
        put(&ledger, 10, "a", Happening::Assigned, &[0, 1]);
        put(&ledger, 20, "a", Happening::Revoked, &[1]);
        put(&ledger, 30, "a", Happening::Ended, &[]);
        put(&ledger, 40, "b", Happening::Assigned, &[0]);
        ledger
    }

    #[test]
    fn a_handover_is_no_overlap() {
        let ledger = faultless();
        assert_eq!(ledger.overlaps(), []);
        assert_eq!(ledger.given_twice(), []);
        assert_eq!(ledger.loads(), BTreeMap::from([("b".to_owned(), 2)]));
    }

    #[test]
    fn a_planted_overlap_is_found() {
        let ledger = faultless();
        put(&ledger, 19, "c", Happening::Assigned, &[1]);
        put(&ledger, 25, "c", Happening::Lost, &[1]);
        let found = ledger.overlaps();
        let words: Vec<String> = found.iter().map(Overlap::to_string).collect();
        assert_eq!(words, ["t-1 was both a's and c's for 0 us", "t-1 was both c's and b's for 0 us"]);
        assert_eq!(
            found.iter().map(|one| (one.from_ns, one.until_ns)).collect::<Vec<_>>(),
            [(19, Some(20)), (20, Some(25))]
        );
    }

    #[test]
    fn an_overlap_without_end_and_a_gift_of_what_is_owned_are_found() {
        let ledger = faultless();
        put(&ledger, 50, "c", Happening::Assigned, &[0]);
        put(&ledger, 60, "c", Happening::Assigned, &[0]);
        let words: Vec<String> = ledger.overlaps().iter().map(Overlap::to_string).collect();
        assert_eq!(words, ["t-0 was both b's and c's to the end", "t-0 was both b's and c's to the end"]);
        assert_eq!(ledger.given_twice(), [("c".to_owned(), ("t".to_owned(), 0))]);
    }

    #[test]
    fn what_nobody_read_is_found() {
        let ledger = faultless();
        put(&ledger, 11, "a", Happening::Records { from: 0, to: 3 }, &[0]);
        put(&ledger, 41, "b", Happening::Records { from: 2, to: 4 }, &[0]);
        put(&ledger, 42, "b", Happening::Records { from: 5, to: 6 }, &[0]);
        assert_eq!(ledger.unread(&("t".to_owned(), 0), 7), [4, 6]);
        assert_eq!(ledger.unread(&("t".to_owned(), 1), 1), [0]);
        assert!(ledger.table().contains("     0 ms  a                            assigned t-0 t-1\n"));
    }
}
