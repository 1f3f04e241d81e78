//! Callbacks, eager and cooperative: what they carry, their order, and errors in them.

use tenure::codec::StickyUserData;
use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::partition_set::PartitionSet;
use tenure::protocol::payload::MemberSubscription;
use tenure::protocol::selection::*;

use super::COOP;
use crate::host::*;

#[test]
fn an_eager_member_gives_all_back_and_takes_all_as_new() {
    let mut host = Host::stable(eager(), &set("t1", [0, 1]));
    host.beat(ErrorCode::RebalanceInProgress);
    let claimed = host.follow(2, "range", &set("t1", [1, 2]));
    assert!(claimed.owned.is_empty());
    assert_eq!(
        host.log[1..],
        ["revoked t1-0 t1-1", "JoinGroup", "SyncGroup", "assigned t1-1 t1-2", "report"]
    );
    assert_eq!(host.callbacks[0].metadata.generation_id, 1);
    assert_eq!(host.callbacks[1].metadata.generation_id, 2);
    assert!(host.nothing_sent(), "no second round");
}

#[test]
fn no_callback_for_an_empty_set() {
    for config in [cooperative(), eager()] {
        let assignor = config.selection.assignors()[0].name().to_owned();
        let mut host = Host::stable(config, &PartitionSet::new());
        host.member.request_rejoin("test", 0).unwrap();
        host.follow(2, &assignor, &PartitionSet::new());
        host.beat(ErrorCode::UnknownMemberId);
        host.follow(3, &assignor, &PartitionSet::new());
        host.member.close(host.now_ms);
        host.pump();
        assert!(host.callbacks.is_empty());
    }
}

#[test]
fn the_first_callback_error_is_told_after_the_rest_ran_and_the_change_counts() {
    // The KIP's example: {1, 2} becomes {2, 3}; assigned(3) fails, revoked(1) still runs.
    for mode in [Mode::Draft, Mode::Shipped] {
        let mut host = Host::stable(cooperative().with_mode(mode), &set("t", [1, 2]));
        host.auto_callbacks = false;
        host.member.request_rejoin("test", 0).unwrap();
        host.follow(2, COOP, &set("t", [2, 3]));
        assert_eq!(host.told().len(), 1);
        host.finish(Err("first"));
        assert!(host.reports.is_empty(), "the other callback runs before");
        host.finish(Err("second"));
        let first = match mode {
            Mode::Draft => {
                assert_eq!(
                    host.told(),
                    [(CallbackKind::Assigned, "t-3".into()), (CallbackKind::Revoked, "t-1".into())]
                );
                CallbackKind::Assigned
            }
            Mode::Shipped => {
                assert_eq!(
                    host.told(),
                    [(CallbackKind::Revoked, "t-1".into()), (CallbackKind::Assigned, "t-3".into())]
                );
                CallbackKind::Revoked
            }
        };
        let Report::CallbackFailed { kind, message, .. } = &host.reports[0] else {
            panic!("{:?}", host.reports)
        };
        assert_eq!((*kind, message.as_str()), (first, "first"));
        assert_eq!(host.reports.len(), 2, "told once, then the generation is settled");
        assert_eq!(host.member.owned(), &set("t", [2, 3]));
    }
}

#[test]
fn sticky_members_remember_what_they_gave_back() {
    let mut host = Host::stable(config(&[Assignor::sticky()]), &set("t1", [3]));
    host.beat(ErrorCode::RebalanceInProgress);
    let (_, join) = host.take_join();
    let read = MemberSubscription::decode("a", &join.protocols[0].metadata).unwrap();
    assert!(read.owned.is_empty());
    let data = StickyUserData::decode(read.user_data.as_deref());
    assert_eq!(data.generation, Some(1));
    let block = data.previous.iter().next().unwrap();
    assert!(block.topic == "t1" && block.partitions.iter().eq([3]));
}

#[test]
fn the_released_policy_is_eager_for_a_mixed_list() {
    let list = [Assignor::cooperative_sticky(), Assignor::range()];
    let selection = Selection::new(&list, ProtocolPolicy::Common).unwrap();
    let mut host = Host::stable(MemberConfig::new("group", selection), &set("t1", [0]));
    host.beat(ErrorCode::RebalanceInProgress);
    let claimed = host.follow(2, COOP, &set("t1", [0]));
    assert!(claimed.owned.is_empty());
    assert_eq!(
        host.told(),
        [(CallbackKind::Revoked, "t1-0".into()), (CallbackKind::Assigned, "t1-0".into())]
    );
}
