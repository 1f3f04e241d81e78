//! Any group at all: the planner against the verifier, which shares no code with it.
//!
//! The fuzz target and a test on stable share this function. The bytes are read as the structure of a group, so
//! that few of them are wasted on what the builder refuses.

use core::cell::RefCell;

use arbitrary::{Result, Unstructured};
use tenure::id::PartitionIndex;
use tenure::plan::{Assignor, Config, Objective, Plan, Scratch, Strategy, Verdict};
use tenure::revoke::{Mode, Round};
use tenure::verify::{self, Certificate, Proposal};
use tenure::{Group, Protocol, Topology};

/// Plans the group that the bytes describe and lets the verifier judge the plan.
///
/// # Panics
/// When the plan is invalid, not optimal, not proven, unsafe, or another one for the same group written in
/// another order or planned in used memory; or when the verifier errs.
pub fn planner_vs_verifier(data: &[u8]) {
    // Bytes that run out read as zeros, so this does not fail; and if it did, there would be no group.
    let Ok(spec) = Spec::read(&mut Unstructured::new(data)) else { return };
    spec.judge();
}

#[derive(Debug)]
struct Topic {
    partitions: u8,
    /// A set of racks for each partition, as bits; repeated if it is too short, unknown if it is empty.
    racks: Vec<u8>,
}

#[derive(Debug)]
struct Member {
    topics: u16,
    /// Topic (beyond the last: unknown), first partition, how many more.
    claims: Vec<(u8, i8, u8)>,
    generation: i32,
    rack: u8,
    eager: bool,
    instance: Option<u8>,
}

#[derive(Debug)]
struct Spec {
    strategy: Strategy,
    objective: Objective,
    topics: Vec<Topic>,
    members: Vec<Member>,
}

impl Spec {
    fn read(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let strategies =
            [Strategy::CooperativeSticky, Strategy::Sticky, Strategy::Range, Strategy::RoundRobin];
        // Mostly sticky: the others only have to be valid.
        let strategy = strategies[usize::from(bytes.int_in_range(0..=31u8)?.saturating_sub(28))];
        let objective = *bytes.choose(&[Objective::RackThenMoves, Objective::MovesThenRack])?;
        let (racks, odd): (bool, bool) = (bytes.arbitrary()?, bytes.arbitrary()?);
        let many: bool = bytes.arbitrary()?;
        let mut topics = Vec::new();
        for _ in 0..bytes.int_in_range(0..=10u8)? {
            let partitions = bytes.int_in_range(0..=if many { 16 } else { 3u8 })?;
            let racks = if racks { bytes.arbitrary::<[u8; 3]>()?.to_vec() } else { Vec::new() };
            topics.push(Topic { partitions, racks });
        }
        let mut members = Vec::new();
        let usual: u16 = bytes.arbitrary()?;
        for _ in 0..bytes.int_in_range(0..=12u8)? {
            let topics = if bytes.ratio(1, 3)? { usual } else { bytes.arbitrary()? };
            let mut claims = Vec::new();
            for _ in 0..bytes.int_in_range(0..=5u8)? {
                let topic = bytes.int_in_range(0..=if odd { 11 } else { 9u8 })?;
                claims.push((
                    topic,
                    bytes.int_in_range(if odd { -2 } else { 0 }..=16i8)?,
                    bytes.int_in_range(0..=7u8)?,
                ));
            }
            members.push(Member {
                topics,
                claims,
                generation: match bytes.int_in_range(0..=7u8)? {
                    0 if odd => bytes.arbitrary()?,
                    1 if odd => -1,
                    2 if odd => 6,
                    _ => 5,
                },
                rack: if racks { bytes.int_in_range(0..=5u8)? } else { 0 },
                eager: odd && bytes.ratio(1, 5)?,
                instance: if bytes.ratio(1, 8)? { Some(bytes.int_in_range(0..=3u8)?) } else { None },
            });
        }
        Ok(Self { strategy, objective, topics, members })
    }

    /// The group, its names entered forwards or backwards.
    fn group(&self, backwards: bool) -> Group {
        fn order<T>(list: &[T], backwards: bool) -> Vec<(usize, &T)> {
            let mut list: Vec<_> = list.iter().enumerate().collect();
            if backwards {
                list.reverse();
            }
            list
        }
        let mut builder = Topology::builder();
        for (number, topic) in order(&self.topics, backwards) {
            let name = format!("t{number}");
            if topic.racks.is_empty() {
                builder.add_topic(&name, u32::from(topic.partitions));
                continue;
            }
            let sets = (0..usize::from(topic.partitions)).map(|p| {
                let set = topic.racks[p % topic.racks.len()];
                (0..4).filter(|rack| set >> rack & 1 != 0).map(|rack| format!("r{rack}")).collect()
            });
            builder.add_topic_with_racks(&name, sets.collect());
        }
        let topology = builder.build().unwrap();
        let mut builder = Group::builder(&topology);
        for (number, spec) in order(&self.members, backwards) {
            let mut member = builder.member(&format!("m{number}"));
            member.generation(spec.generation);
            member.protocol(if spec.eager { Protocol::Eager } else { Protocol::Cooperative });
            if spec.rack > 0 {
                member.rack(&format!("r{}", spec.rack - 1));
            }
            if let Some(instance) = spec.instance {
                member.instance(&format!("i{instance}"));
            }
            for (topic, _) in order(&[(); 11], backwards) {
                if spec.topics >> topic & 1 != 0 {
                    member.topic(&format!("t{topic}"));
                }
            }
            for (_, &(topic, from, more)) in order(&spec.claims, backwards) {
                let from = i32::from(from);
                member.owned_range(&format!("t{topic}"), from, from + i32::from(more));
            }
        }
        builder.build().unwrap()
    }

    fn judge(&self) {
        thread_local! {
            /// Memory that all groups before have used.
            static USED: RefCell<(Scratch, Plan, Certificate)> = RefCell::default();
        }
        let config = Config::new().strategy(self.strategy).objective(self.objective);
        let assignor = Assignor::new(config);
        let group = self.group(false);
        let (plan, outcome) = assignor.assign(&group).unwrap();
        let proposal = Proposal::from_lists(&group, |m| plan.target(m).iter().copied());
        assert_eq!(proposal.faults(&group), []);
        safe(&group, &plan);
        USED.with_borrow_mut(|(scratch, used, certificate)| {
            let backwards = self.group(true);
            scratch.reset(backwards.shape());
            used.reset(backwards.shape());
            let again = assignor.certify_into(&backwards, scratch, used, certificate).unwrap();
            assert_eq!(outcome, again, "another order and used memory");
            for member in group.member_indices() {
                assert_eq!(plan.target(member), used.target(member), "another order and used memory");
            }
            if matches!(self.strategy, Strategy::CooperativeSticky | Strategy::Sticky) {
                assert_eq!(
                    (outcome.proof.balance, outcome.proof.moves),
                    (Verdict::Optimal, Verdict::Optimal)
                );
                let figures = verify::check(&group, &proposal, certificate).unwrap();
                assert_eq!(figures.sum_of_squares, outcome.stats.sum_of_squares);
                assert_eq!(figures.moves, outcome.stats.moves);
                assert_eq!(figures.rack_mismatches, outcome.stats.rack_mismatches);
                let distance = verify::measure(&group, &proposal, self.objective).unwrap();
                assert!(distance.optimal(), "{distance:?}");
                verify::check(&group, &proposal, &distance.best.certificate).unwrap();
            }
        });
    }
}

/// No partition goes to a member while a cooperative member other than it holds the partition.
fn safe(group: &Group, plan: &Plan) {
    let round = Round::new(group, plan, Mode::Shipped);
    let claimed = |m, p| group.claims(m).any(|claim| claim == p);
    let holders = |p: PartitionIndex| {
        let claimants = group.member_indices().filter(move |&m| claimed(m, p));
        let top = claimants.clone().map(|m| group.generation(m)).max();
        claimants.filter(move |&m| Some(group.generation(m)) == top)
    };
    for member in group.member_indices() {
        for p in round.assignment(member) {
            let mut others =
                holders(p).filter(|&other| other != member && group.protocol(other) == Protocol::Cooperative);
            assert_eq!(others.next(), None, "partition {p} goes to member {member} too soon");
        }
        assert!(round.kept(member).chain(round.revoked(member)).count() == group.claims(member).len());
    }
}
