//! What must hold for the command's readers, whatever the bytes: shared by the fuzz targets and the replay of
//! their corpora.

#![allow(unreachable_pub, reason = "the fuzz targets are another crate")]

use tenure::plan::{Assignor, Config, Strategy};
use tenure::revoke::{Mode, Round};
use tenure::verify::Proposal;
use tenure_cli::describe;
use tenure_cli::result::{Answer, write};
use tenure_cli::snapshot::{self, Snapshot};

/// Small enough that a round is quick.
const PARTITION_LIMIT: u32 = 1 << 12;

/// Any bytes are a snapshot that is planned rightly, or an error with its place and a remedy.
pub fn snapshot_json(data: &[u8]) {
    let options = snapshot::Options { partition_limit: PARTITION_LIMIT, ..snapshot::Options::default() };
    match snapshot::read(data, &options) {
        Ok(snapshot) => planned(&snapshot),
        Err(error) => {
            let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.column >= 1, "{error}");
            assert!(!error.message.is_empty() && !error.remedy.is_empty(), "{error}");
            assert!(error.field.len() < 4_000 && error.message.len() < 4_000, "{error}");
        }
    }
}

/// Any bytes are prints whose groups are planned rightly, or an error with a reason.
pub fn describe_text(data: &[u8]) {
    let options = describe::Options { partition_limit: PARTITION_LIMIT, ..describe::Options::default() };
    match describe::read(data, &options) {
        Ok(groups) => {
            for described in groups.iter().take(8) {
                let strategy = described.strategy().unwrap_or_default();
                let group = described.group(strategy, PARTITION_LIMIT).expect("the limit held while reading");
                planned(&Snapshot { strategy, group });
            }
        }
        Err(error) => assert!(!error.reason.is_empty(), "{error}"),
    }
}

/// Plans a group as it says and checks plan, round and document.
fn planned(snapshot: &Snapshot) {
    let Snapshot { strategy, group } = snapshot;
    let assignor = Assignor::new(Config::new().strategy(*strategy));
    let (plan, outcome) = assignor.assign(group).expect("the shapes are the group's own");
    let target = Proposal::from_lists(group, |member| plan.target(member).iter().copied());
    assert_eq!(target.faults(group), [], "{strategy}");
    if matches!(strategy, Strategy::Sticky | Strategy::CooperativeSticky) {
        assert_eq!(outcome.proof.balance.to_string(), "optimal");
    }
    // What the draft gives back is found by comparing all claims with all.
    let modes: &[Mode] = if group.members() <= 32 { &[Mode::Shipped, Mode::Draft] } else { &[Mode::Shipped] };
    for mode in modes {
        let round = Round::new(group, &plan, *mode);
        let answer = Answer { strategy: *strategy, round, outcome: &outcome, group: None, assumptions: &[] };
        let mut bytes = Vec::new();
        write(&mut bytes, &answer).expect("a vector takes all");
        let document = snapshot::read_plan(&bytes, group).expect("what we write we read");
        assert_eq!(document.target.faults(group), []);
        let given = document.assignments.expect("both are written");
        for p in group.member_indices().flat_map(|member| plan.target(member)) {
            assert_eq!(given.owner(*p).is_none(), plan.in_transfer(*p), "ready goes at once, the rest waits");
        }
    }
}
