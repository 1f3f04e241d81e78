//! The same check for everybody: what the members got, decoded from the bytes they would have got, and what they have
//! once nothing has to wait any more.

use tenure::codec::Assignment;
use tenure::id::{MemberIndex, PartitionIndex};
use tenure::{Group, Topology};

use super::exchange::Answer;
use super::{Call, Contestant, Failure};
use crate::check::{self, Figures};
use crate::workloads::Workload;

/// Rounds within which a cooperative group must have handed everything over.
const ROUNDS: u32 = 4;

/// What came of a group under one contestant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Figures of what the members have in the end, moves counted from what they had at first.
    pub figures: Figures,
    /// Partitions that nobody was given in the first round.
    pub withheld: u64,
    /// Rounds until nothing was withheld.
    pub rounds: u32,
    /// Bytes of all subscriptions of the first round.
    pub bytes_in: u64,
    /// Bytes of all assignments of the first round; 0 if there are none.
    pub bytes_out: u64,
}

/// Leads the group, and leads it on until everybody has everything; checks each step. The contestant keeps the group
/// that was loaded last: load again after this.
///
/// # Errors
///
/// What is wrong with an answer, or why there was none.
pub fn judge(contestant: &mut dyn Contestant, workload: &Workload) -> Result<Verdict, Failure> {
    let group = workload.group();
    let cooperative = contestant.protocol() == "cooperative-sticky";
    let first = contestant.answer()?;
    let bytes_out = match &first {
        Answer::Bytes(all) => all.iter().map(|bytes| bytes.len() as u64).sum(),
        Answer::Lists(_) => 0,
    };
    let bytes_in =
        workload.joined(contestant.protocol()).iter().map(|member| member.metadata.len() as u64).sum();
    // The broker's assignor names the target at once and lets the coordinator hand it over.
    let hands_over = cooperative && matches!(first, Answer::Bytes(_));
    let mut lists = lists(&group, workload, &first).map_err(Failure::Refused)?;
    let (mut withheld, mut rounds) = (0, 1);
    if hands_over {
        withheld = check::handed_over(&group, |member| &lists[member.at()]).map_err(Failure::Refused)?;
        let (mut left, mut next) = (withheld, workload.clone());
        while left > 0 {
            if rounds == ROUNDS {
                return Err(Failure::Refused(format!("{left} partitions still wait after {rounds} rounds")));
            }
            rounds += 1;
            own(&mut next, &group, &lists);
            contestant.load(&next)?;
            contestant.call(Call::Round, 1)?;
            let group = next.group();
            lists = self::lists(&group, &next, &contestant.answer()?).map_err(Failure::Refused)?;
            left = check::handed_over(&group, |member| &lists[member.at()]).map_err(Failure::Refused)?;
        }
    }
    let figures = check::figures(&group, |member| &lists[member.at()]).map_err(Failure::Refused)?;
    Ok(Verdict { figures, withheld, rounds, bytes_in, bytes_out })
}

/// The members have what they were given, and join again in the next generation.
fn own(workload: &mut Workload, group: &Group, lists: &[Vec<PartitionIndex>]) {
    let topology = group.topology();
    let numbers: Vec<u32> = workload.existing_numbers().collect();
    let generation = workload.members.iter().filter_map(|member| member.generation).max().unwrap_or(0) + 1;
    for member in &mut workload.members {
        let index = group.find(&member.id).expect("the group has the workload's members");
        member.generation = Some(generation);
        member.owned = lists[index.at()]
            .iter()
            .map(|&partition| (numbers[topology.topic_of(partition).at()], topology.number(partition)))
            .collect();
    }
}

/// The partitions of each member, ascending, by the group's member index.
fn lists(group: &Group, workload: &Workload, answer: &Answer) -> Result<Vec<Vec<PartitionIndex>>, String> {
    let topology = group.topology();
    let mut lists = vec![Vec::new(); group.members()];
    let names: Vec<&str> = workload.existing().map(|topic| topic.name.as_str()).collect();
    for (at, member) in workload.members.iter().enumerate() {
        let index: MemberIndex = group.find(&member.id).ok_or("a member is not of the group")?;
        let list: &mut Vec<PartitionIndex> = &mut lists[index.at()];
        match answer {
            Answer::Bytes(all) => {
                let assignment = Assignment::decode(&all[at])
                    .map_err(|error| format!("the assignment of {}: {error}", member.id))?;
                for block in assignment.assigned {
                    let name = block.topic.to_str_lossy();
                    for number in block.partitions.iter() {
                        list.push(partition(topology, &name, number)?);
                    }
                }
            }
            Answer::Lists(all) => {
                for &(topic, number) in &all[at] {
                    let name =
                        names.get(topic as usize).ok_or_else(|| format!("topic {topic} of an answer"))?;
                    list.push(partition(topology, name, number as i32)?);
                }
            }
        }
        list.sort_unstable();
    }
    Ok(lists)
}

fn partition(topology: &Topology, topic: &str, number: i32) -> Result<PartitionIndex, String> {
    topology
        .find(topic)
        .and_then(|topic| topology.partition(topic, number))
        .ok_or_else(|| format!("{topic} has no partition {number}"))
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::contest::exchange::Answer;
    use crate::contest::own::Own;
    use crate::contest::{Call, Contestant, Failure, SEED, Spent};
    use crate::workloads::{Event, Shape, Workload};

    /// Answers as Tenure would, but one assignment is empty.
    struct Forgetful(Own);

    impl Contestant for Forgetful {
        fn name(&self) -> &str {
            "forgetful"
        }

        fn protocol(&self) -> &'static str {
            self.0.protocol()
        }

        fn calls(&self) -> &'static [Call] {
            self.0.calls()
        }

        fn load(&mut self, workload: &Workload) -> Result<(), Failure> {
            self.0.load(workload)
        }

        fn call(&mut self, call: Call, times: u32) -> Result<Spent, Failure> {
            self.0.call(call, times)
        }

        fn answer(&mut self) -> Result<Answer, Failure> {
            let Answer::Bytes(mut all) = self.0.answer()? else { unreachable!("a leader writes bytes") };
            all[1] = vec![0, 0, 0, 0, 0, 0, 255, 255, 255, 255];
            Ok(Answer::Bytes(all))
        }

        fn version(&self) -> Option<String> {
            None
        }
    }

    fn workload(shape: &str, event: Event) -> Workload {
        let shape = Shape::find(shape).unwrap().small();
        event.apply(&shape, &shape.fresh(SEED).settled(), SEED)
    }

    #[test]
    fn what_waits_arrives_in_the_second_round() {
        for shape in ["shop", "random-10k"] {
            let workload = workload(shape, Event::OneJoins);
            let mut own = Own::default();
            own.load(&workload).unwrap();
            own.call(Call::Round, 1).unwrap();
            let proven = own.bench().unwrap().outcome().stats;
            let verdict = judge(&mut own, &workload).unwrap();
            assert_eq!(verdict.rounds, 2, "{shape}");
            assert!(verdict.withheld > 0 && verdict.bytes_out > 0, "{shape}");
            assert_eq!(verdict.figures.sum_of_squares, proven.sum_of_squares, "{shape}");
            assert_eq!(verdict.figures.moves, u64::from(proven.moves), "{shape}");
        }
    }

    #[test]
    fn a_member_that_gets_nothing_is_noticed() {
        let workload = workload("shop", Event::OneLeaves);
        let mut forgetful = Forgetful(Own::default());
        forgetful.load(&workload).unwrap();
        let Err(Failure::Refused(why)) = judge(&mut forgetful, &workload) else { panic!("it was believed") };
        assert!(why.contains("is lost: nobody holds it"), "{why}");
    }
}
