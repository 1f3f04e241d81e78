//! Every shape and event at its small size: repeatable, valid, and what its name says.

use tenure::plan::Assignor;

use super::{EVENTS, Event, SHAPES, Shape};
use crate::check::check;

const SEED: u64 = 7;

#[test]
fn every_event_of_every_shape_gives_a_valid_plan() {
    for shape in SHAPES {
        for racks in ["", "+racks3", "+racks5"] {
            let shape = Shape::find(&format!("{}{racks}", shape.name)).unwrap().small();
            let settled = shape.fresh(SEED).settled();
            for event in Event::ALL {
                let workload = event.apply(&shape, &settled, SEED);
                assert_eq!(workload, event.apply(&shape, &settled, SEED), "the same seed, the same group");
                let partitions: u64 = workload.topics.iter().map(|topic| u64::from(topic.partitions)).sum();
                if event != Event::TopicDeleted {
                    assert_eq!(partitions, shape.partitions(event, SEED));
                }
                let group = workload.group();
                let (plan, outcome) = Assignor::default().assign(&group).unwrap();
                if let Err(error) = check(&group, &plan, &outcome) {
                    panic!("{}/{event}: {error}", shape.full_name());
                }
                // An event may take away what made the shape uneven: the odd member, the odd topic.
                if event == Event::Steady {
                    assert_eq!(group.classes().uniform(), shape.is_uniform() && shape.racks.is_none());
                }
            }
        }
    }
}

#[test]
fn events_do_what_their_names_say() {
    let shape = Shape::find("uniform-10k").unwrap().small();
    let settled = shape.fresh(SEED).settled();
    let members = settled.members.len();
    for event in EVENTS {
        let group = event.apply(&shape, &settled, SEED);
        let owned: usize = group.members.iter().map(|member| member.owned.len()).sum();
        let partitions: u32 = group.topics.iter().map(|topic| topic.partitions).sum();
        match event {
            Event::Fresh => assert_eq!((group.members.len(), owned), (members, 0)),
            Event::Steady => assert_eq!((group.members.len(), owned as u32), (members, partitions)),
            Event::OneLeaves | Event::TenthLeaves => {
                assert_eq!(group.members.len(), members - 1);
                assert!((owned as u32) < partitions);
            }
            Event::OneJoins => assert_eq!(group.members.len(), members + 1),
            _ => assert!((owned as u32) < partitions),
        }
    }
    let stale = Event::StaleMember.apply(&shape, &settled, SEED).group();
    let (_, outcome) = Assignor::default().assign(&stale).unwrap();
    assert!(outcome.findings.stale_claims > 0, "{:?}", outcome.findings);
    let deleted = Event::TopicDeleted.apply(&shape, &settled, SEED).group();
    let (_, outcome) = Assignor::default().assign(&deleted).unwrap();
    assert!(outcome.findings.foreign_claims > 0, "{:?}", outcome.findings);
}

#[test]
fn planted_faults_are_found() {
    let shape = Shape::find("one-less").unwrap().small();
    let settled = shape.fresh(SEED).settled();
    let group = settled.group();
    let (plan, truth) = Assignor::default().assign(&group).unwrap();
    assert_eq!(check(&group, &plan, &truth), Ok(()));
    let mut wrong = truth;
    wrong.stats.moves += 1;
    assert!(check(&group, &plan, &wrong).unwrap_err().contains("moves"));
    wrong = truth;
    wrong.stats.load_max += 1;
    assert!(check(&group, &plan, &wrong).unwrap_err().contains("load_max"));

    // Lost: the topics have grown since that plan.
    let grown = Event::TopicsGrow.apply(&shape, &settled, SEED);
    let mut same_bases = settled.clone();
    same_bases.topics.last_mut().unwrap().partitions += 5;
    assert!(check(&same_bases.group(), &plan, &truth).unwrap_err().contains("wanted true"));
    assert!(check(&grown.group(), &plan, &truth).is_err());

    // A stranger: the plan of a group in which everybody subscribes to everything.
    let mut alike = settled;
    let all = (0..alike.topics.len() as u32).collect::<Vec<u32>>();
    for member in &mut alike.members {
        member.topics = all.clone().into();
        member.owned.clear();
    }
    let (plan, truth) = Assignor::default().assign(&alike.group()).unwrap();
    assert!(check(&group, &plan, &truth).unwrap_err().contains("does not subscribe"));
}
