//! Who held what, from when until when, as the members themselves saw it.

use core::fmt::Write;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tenure_client::{Change, GroupHandle, PartitionSet, RebalanceListener, TopicPartition};

/// What a member did with partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Holds them from here on.
    Took,
    /// Holds them no longer: it gave them back in order.
    Gave,
    /// Holds them no longer: they were taken away.
    Lost,
    /// Holds them no longer: it is gone, without a word.
    Crashed,
}

#[derive(Debug, Clone)]
struct Entry {
    at_ms: u128,
    member: String,
    deed: Deed,
    partitions: PartitionSet,
    generation: i32,
}

/// One book for all members, in the order in which things happened.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    started: Instant,
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), entries: Arc::default() }
    }

    pub(crate) fn write(&self, member: &str, deed: Deed, partitions: &PartitionSet, generation: i32) {
        let mut entries = self.entries.lock().unwrap();
        let at_ms = self.started.elapsed().as_millis();
        entries.push(Entry {
            at_ms,
            member: member.into(),
            deed,
            partitions: partitions.clone(),
            generation,
        });
    }

    /// Who holds each partition after all that is written, or the first moment at which two held one.
    pub(crate) fn holders(&self) -> Result<BTreeMap<TopicPartition, String>, String> {
        let mut holders: BTreeMap<TopicPartition, String> = BTreeMap::new();
        for entry in self.entries.lock().unwrap().iter() {
            for partition in entry.partitions.iter() {
                let before = match entry.deed {
                    Deed::Took => holders.insert(partition.clone(), entry.member.clone()),
                    _ => holders.remove(partition),
                };
                let fine = match (&before, entry.deed) {
                    (None, Deed::Took) => true,
                    (Some(before), Deed::Gave | Deed::Lost | Deed::Crashed) => *before == entry.member,
                    _ => false,
                };
                if !fine {
                    return Err(format!(
                        "at {} ms {} {:?} {partition}, which {before:?} held",
                        entry.at_ms, entry.member, entry.deed
                    ));
                }
            }
        }
        Ok(holders)
    }

    /// Writes down the end of a member that will not do it itself.
    pub(crate) fn crashed(&self, member: &str) {
        let held: Vec<TopicPartition> = self
            .holders()
            .unwrap()
            .into_iter()
            .filter(|(_, holder)| holder == member)
            .map(|(partition, _)| partition)
            .collect();
        let held: PartitionSet = held.into_iter().collect();
        self.write(member, Deed::Crashed, &held, -1);
    }

    /// How many times a partition changed hands.
    pub(crate) fn changes(&self) -> usize {
        self.entries
            .lock()
            .unwrap()
            .iter()
            .filter(|one| one.deed == Deed::Took)
            .map(|one| one.partitions.len())
            .sum()
    }

    /// The book, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for Entry { at_ms, member, deed, partitions, generation } in self.entries.lock().unwrap().iter() {
            let deed = format!("{deed:?}").to_lowercase();
            let generation =
                if *generation < 0 { String::new() } else { format!(" generation {generation}") };
            let _ = writeln!(text, "{at_ms:>7} ms  {member:<6} {deed:<8}{generation:<14} {partitions}");
        }
        text
    }
}

/// A listener that only writes.
pub(crate) struct Witness {
    pub(crate) name: String,
    pub(crate) ledger: Ledger,
}

impl Witness {
    fn note(&self, deed: Deed, change: &Change) {
        self.ledger.write(&self.name, deed, &change.partitions, change.metadata.generation_id);
    }
}

impl RebalanceListener for Witness {
    async fn assigned(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        self.note(Deed::Took, change);
        Ok(())
    }

    async fn revoked(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        self.note(Deed::Gave, change);
        Ok(())
    }

    async fn lost(&mut self, change: &Change, _: &GroupHandle) -> Result<(), String> {
        self.note(Deed::Lost, change);
        Ok(())
    }
}

#[test]
fn the_ledger_finds_two_holders_and_false_givers() {
    let one = PartitionSet::from_blocks([("t", [0])]);
    let ledger = Ledger::new();
    ledger.write("a", Deed::Took, &one, 1);
    assert_eq!(ledger.holders().unwrap().len(), 1);
    ledger.write("b", Deed::Took, &one, 2);
    assert!(ledger.holders().unwrap_err().contains("b Took t-0"));

    let ledger = Ledger::new();
    ledger.write("a", Deed::Took, &one, 1);
    ledger.write("b", Deed::Gave, &one, 2);
    assert!(ledger.holders().is_err(), "b gave what a held");

    let ledger = Ledger::new();
    ledger.write("a", Deed::Took, &one, 1);
    ledger.crashed("a");
    ledger.write("b", Deed::Took, &one, 2);
    assert_eq!(ledger.holders().unwrap().into_values().collect::<Vec<_>>(), ["b"]);
    assert_eq!(ledger.changes(), 2);
}
