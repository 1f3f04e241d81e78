//! The fence's decisions over every combination, against the rules written down a second time, as what must hold.

use tenure::fence::{
    CommitIdentity, FenceError, GroupPhase, Membership, Rules, admit_commit, admit_member, admit_producer,
    admit_transactional_commit,
};
use tenure::protocol::error::ErrorCode;

/// Generation 7; "a" and "s" are members, "s" holds the instance "i". Empty and dead groups have nobody.
struct Group(GroupPhase);

impl Group {
    fn has_members(&self) -> bool {
        !matches!(self.0, GroupPhase::Empty | GroupPhase::Dead)
    }
}

impl Membership for Group {
    fn phase(&self) -> GroupPhase {
        self.0
    }

    fn generation(&self) -> i32 {
        7
    }

    fn has_member(&self, member_id: &str) -> bool {
        self.has_members() && ["a", "s"].contains(&member_id)
    }

    fn instance_holder(&self, instance_id: &str) -> Option<&str> {
        (self.has_members() && instance_id == "i").then_some("s")
    }
}

fn code(outcome: Result<(), FenceError>) -> ErrorCode {
    outcome.err().map_or(ErrorCode::None, |error| error.code())
}

/// What a commit that names somebody gets in a group with or without members.
fn by_identity(group: &Group, who: &CommitIdentity<'_>) -> ErrorCode {
    let present = group.has_members();
    match (who.member_id, who.instance_id) {
        ("s", Some("i")) | ("s" | "a", None) if present => {
            if who.generation == 7 {
                ErrorCode::None
            } else {
                ErrorCode::IllegalGeneration
            }
        }
        (_, Some("i")) if present => ErrorCode::FencedInstanceId,
        _ => ErrorCode::UnknownMemberId,
    }
}

#[test]
fn every_combination_is_decided_as_the_rules_say() {
    let mut checked = 0;
    for phase in GroupPhase::ALL {
        let group = Group(phase);
        for generation in [i32::MIN, -1, 0, 6, 7, 8, i32::MAX] {
            for member_id in ["", "a", "s", "stranger"] {
                for instance_id in [None, Some("i"), Some("nobody's")] {
                    let who = CommitIdentity { generation, member_id, instance_id };
                    let nobody = generation < 0 && member_id.is_empty() && instance_id.is_none();
                    let dead = phase == GroupPhase::Dead;
                    let outsider_of_empty = phase == GroupPhase::Empty && generation < 0;

                    let plain = match () {
                        () if dead => ErrorCode::CoordinatorNotAvailable,
                        () if outsider_of_empty => ErrorCode::None,
                        () if nobody => ErrorCode::UnknownMemberId,
                        () => match by_identity(&group, &who) {
                            ErrorCode::None if phase == GroupPhase::CompletingRebalance => {
                                ErrorCode::RebalanceInProgress
                            }
                            other => other,
                        },
                    };
                    assert_eq!(code(admit_commit(&group, &who)), plain, "{phase} {who:?}");

                    for rules in [Rules::Draft, Rules::Shipped, Rules::Strict, Rules::Off] {
                        let expected = match rules {
                            _ if dead => ErrorCode::CoordinatorNotAvailable,
                            Rules::Off => ErrorCode::None,
                            Rules::Draft if generation >= 0 && generation != 7 => {
                                ErrorCode::IllegalGeneration
                            }
                            Rules::Draft => ErrorCode::None,
                            _ if outsider_of_empty => ErrorCode::None,
                            Rules::Strict if nobody => ErrorCode::UnknownMemberId,
                            Rules::Shipped if nobody => ErrorCode::None,
                            _ => by_identity(&group, &who),
                        };
                        let seen = code(admit_transactional_commit(&group, &who, rules));
                        assert_eq!(seen, expected, "{rules:?} {phase} {who:?}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert_eq!(checked, 5 * 7 * 4 * 3 * 4);
}

#[test]
fn an_error_names_what_was_older_and_what_to_do() {
    let group = Group(GroupPhase::Stable);
    let text = |outcome: Result<(), FenceError>| outcome.unwrap_err().to_string();
    let zombie = CommitIdentity { generation: 6, member_id: "a", instance_id: None };
    let generation = text(admit_commit(&group, &zombie));
    assert!(generation.contains("generation 6 is not the group's, which is 7"), "{generation}");
    assert!(generation.contains("ILLEGAL_GENERATION (22)") && generation.contains("join the group again"));
    let instance = text(admit_member(&group, "old", Some("i")));
    assert!(instance.contains("instance \"i\" is held by member \"s\", not by \"old\""), "{instance}");
    let epoch = text(admit_producer(9, 3, Some(4)));
    assert!(epoch.contains("epoch 3 of producer 9 is older than 4"), "{epoch}");
    assert!(admit_producer(9, 4, Some(4)).is_ok() && admit_producer(9, 0, None).is_ok());
}
