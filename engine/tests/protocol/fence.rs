//! Fencing as members live it: KIP-447's edge case step by step, zombies that pause at every point, and the upgrade.

use tenure::fence::cycle::{CycleAction, CycleConfig, CyclePhase, ProducerName};
use tenure::fence::stable::{StableFetch, StableFetchAction, StableFetchConfig};
use tenure::fence::transaction::{TransactionKey, TransactionPhase};
use tenure::fence::upgrade::{Practice, ProducerPlan, UpgradeError, check_upgrade};
use tenure::fence::{GroupMetadata, Rules};
use tenure::protocol::coordinator::{Config, GroupPhase};
use tenure::protocol::error::ErrorCode;
use tenure::protocol::message::*;

use crate::broker::*;
use crate::world::*;

fn named(id: &str) -> CycleConfig {
    CycleConfig::new(ProducerName::TransactionalId(id.into()))
}

fn in_group(member_id: &str) -> CycleConfig {
    CycleConfig::new(ProducerName::of_member(GROUP, None, member_id))
}

fn world(fence: Rules) -> World {
    World::new(Config { fence, ..prompt() })
}

/// The first member falls silent until its session ends; the second rejoins and is alone. Answers the generation.
fn drop_first(world: &mut World, ids: &[String]) -> i32 {
    let generation = world.broker.group().generation;
    for _ in 0..2 {
        world.pass(6_000);
        world.broker.ask(heartbeat(&ids[1], generation));
    }
    assert_eq!(world.broker.phase(), GroupPhase::PreparingRebalance);
    rejoin(world, &ids[1..])
}

/// These members make the next generation, the first of them leading.
fn rejoin(world: &mut World, ids: &[String]) -> i32 {
    let callers: Vec<Caller> = ids.iter().map(|id| world.broker.send(join(id))).collect();
    let joins: Vec<JoinGroupResponse> = callers.into_iter().map(|one| world.broker.joined(one)).collect();
    world.broker.sync_all(&joins);
    joins[0].generation_id
}

/// KIP-447's edge case, its five steps; answers what readers of committed records see at the end.
fn edge_case(rules: Rules) -> (Vec<i64>, Vec<CycleAction>) {
    let mut world = world(rules);
    let ids = world.broker.stable_group(2);
    let mut a = world.worker(named("a"), &ids[0], 1);
    let mut b = world.worker(named("b"), &ids[1], 1);

    // 1. Client A tries to commit offsets for P1, but doesn't get to do so before a long GC.
    world.process(&mut a, 0);
    a.cycle.commit(done(0)).unwrap();
    let stuck = world.run_until(&mut a, |request| matches!(request, Request::TxnOffsetCommit(_))).unwrap();

    // 2. Client A becomes a zombie due to session timeout; the group rebalanced.
    // 3. Client B was assigned P1.
    let generation = drop_first(&mut world, &ids);
    b.place(&ids[1], generation);

    // 4. Client B sees no pending offsets, since A hasn't committed anything, and proceeds.
    assert_eq!(stable_offset(&mut world.broker), Ok(None));
    world.process(&mut b, 0);
    b.cycle.commit(done(0)).unwrap();
    world.run(&mut b);
    assert_eq!(b.told, [CycleAction::Committed]);

    // 5. Client A is back online and goes on with its commit.
    world.deliver(&mut a, stuck);
    world.run(&mut a);
    (world.output.committed, a.told)
}

#[test]
fn kip_447_edge_case_the_generation_catches_the_zombie() {
    for (rules, code) in [
        (Rules::Draft, ErrorCode::IllegalGeneration),
        (Rules::Shipped, ErrorCode::UnknownMemberId),
        (Rules::Strict, ErrorCode::UnknownMemberId),
    ] {
        let (committed, told) = edge_case(rules);
        assert_eq!(committed, [0], "{rules:?}: exactly once");
        assert_eq!(told, [CycleAction::Aborted { reason: code }], "{rules:?}");
    }
}

#[test]
fn canary_without_the_fence_the_edge_case_doubles_a_record() {
    let (committed, told) = edge_case(Rules::Off);
    assert_eq!(committed, [0, 0]);
    assert_eq!(told, [CycleAction::Committed]);
}

/// The zombie stops before each of its requests in turn; whatever the point, each record comes out once.
#[test]
fn a_zombie_that_pauses_anywhere_never_doubles_or_skips_a_record() {
    for point in ["AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"] {
        let stops = |request: &Request| request.name() == point;
        for delivered_first in [false, true] {
            let mut world = world(Rules::Shipped);
            let ids = world.broker.stable_group(2);
            let mut a = world.worker(named("a"), &ids[0], 1);
            let mut b = world.worker(named("b"), &ids[1], 1);
            a.cycle.begin(0).unwrap();
            a.cycle.write(TopicPartition::new("out", 0)).unwrap();
            let mut stuck = world.run_until(&mut a, stops);
            if stuck.is_none() {
                assert_eq!(world.output.write(a.cycle.producer(), 0), ErrorCode::None);
                a.cycle.commit(done(0)).unwrap();
                stuck = world.run_until(&mut a, stops);
            }
            let stuck = stuck.expect(point);
            // Either the request is stuck in the process, or it arrived and the answer is.
            if delivered_first {
                world.ask(stuck.to, stuck.request.clone());
            }
            let generation = drop_first(&mut world, &ids);
            b.place(&ids[1], generation);
            // B waits as long as A's transaction holds the offset back: its timeout ends it at the latest.
            let mut offset = stable_offset(&mut world.broker);
            for _ in 0..120 {
                if offset.is_err() {
                    world.pass(1_000);
                    world.broker.ask(heartbeat(&ids[1], generation));
                    offset = stable_offset(&mut world.broker);
                }
            }
            for next in offset.expect("the wait ends").unwrap_or(0)..3 {
                world.process(&mut b, next);
                b.cycle.commit(done(next)).unwrap();
                world.run(&mut b);
                assert_eq!(b.told, [CycleAction::Committed], "{point}");
                b.told.clear();
            }
            // A wakes: its request arrives again, or at last.
            world.deliver(&mut a, stuck);
            a.cycle.handle_lost();
            world.run(&mut a);
            assert_eq!(world.output.committed, [0, 1, 2], "{point}, delivered first: {delivered_first}");
            assert_eq!(stable_offset(&mut world.broker), Ok(Some(3)), "{point}");
            assert_ne!(a.cycle.phase(), CyclePhase::Dead, "{point}: the process goes on");
        }
    }
}

/// Every answer in turn is lost: the request is repeated and the transaction is committed once.
#[test]
fn a_lost_answer_is_asked_for_again() {
    for lost in 0..4 {
        let mut world = world(Rules::Shipped);
        let ids = world.broker.stable_group(1);
        let mut a = world.worker(named("a"), &ids[0], 1);
        let mut requests = 0;
        let mut committing = false;
        a.cycle.begin(0).unwrap();
        a.cycle.write(TopicPartition::new("out", 0)).unwrap();
        loop {
            while let Some(held) = world.run_until(&mut a, |_| true) {
                if requests == lost {
                    world.ask(held.to, held.request.clone());
                    world.pass(5_000);
                    world.broker.ask(heartbeat(&ids[0], 1));
                    a.cycle.handle_timeout(u64::MAX);
                } else {
                    world.deliver(&mut a, held);
                }
                requests += 1;
            }
            if committing {
                break;
            }
            committing = true;
            assert_eq!(world.output.write(a.cycle.producer(), 0), ErrorCode::None);
            a.cycle.commit(done(0)).unwrap();
        }
        assert!(requests > lost, "there is a request to lose");
        assert_eq!(world.output.committed, [0], "answer {lost} lost");
        assert_eq!(a.told.last(), Some(&CycleAction::Committed));
        assert_eq!(stable_offset(&mut world.broker), Ok(Some(1)));
        // And the next transaction is clean.
        world.process(&mut a, 1);
        a.cycle.commit(done(1)).unwrap();
        world.run(&mut a);
        assert_eq!(world.output.committed, [0, 1]);
    }
}

#[test]
fn the_transaction_coordinator_may_move_at_any_point() {
    for point in 0..4 {
        let mut world = world(Rules::Shipped);
        let ids = world.broker.stable_group(1);
        let mut a = world.worker(named("a"), &ids[0], 1);
        a.cycle.begin(0).unwrap();
        a.cycle.write(TopicPartition::new("out", 0)).unwrap();
        let mut sent = 0;
        for commit in [false, true] {
            if commit {
                assert_eq!(world.output.write(a.cycle.producer(), 0), ErrorCode::None);
                a.cycle.commit(done(0)).unwrap();
            }
            while let Some(held) = world.run_until(&mut a, |_| true) {
                // The markers of a decided transaction are stuck in the old coordinator; the new one sends its own.
                world.holds_markers = sent == point;
                world.deliver(&mut a, held);
                if sent == point {
                    world.move_transactions(1);
                    world.holds_markers = false;
                    world.deliver_markers();
                }
                sent += 1;
            }
        }
        assert!(sent > point, "there is a request to move after");
        assert_eq!(world.output.committed, [0], "moved after request {point}");
        let key = TransactionKey::Id("a".into());
        let phase = world.transactions.transaction(&key).map(|one| one.phase);
        assert_eq!(phase, Some(TransactionPhase::CompleteCommit));
    }
}

#[test]
fn a_marker_that_comes_again_does_not_end_the_next_transaction() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(1);
    let mut a = world.worker(named("a"), &ids[0], 1);
    world.holds_markers = true;
    world.process(&mut a, 0);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    let copies = world.markers.clone();
    assert_eq!(copies.len(), 2, "one for the group, one for the output");
    world.deliver_markers();
    world.holds_markers = false;

    world.process(&mut a, 1);
    a.cycle.commit(done(1)).unwrap();
    let stuck = world.run_until(&mut a, |request| matches!(request, Request::EndTxn(_))).unwrap();
    world.markers = copies;
    world.deliver_markers();
    assert_eq!(world.output.committed, [0]);
    assert_eq!(stable_offset(&mut world.broker), Err(ErrorCode::UnstableOffsetCommit));
    world.deliver(&mut a, stuck);
    world.run(&mut a);
    assert_eq!(world.output.committed, [0, 1]);
}

#[test]
fn an_expired_transaction_is_aborted_and_its_producer_goes_on() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(1);
    let mut a = world.worker(CycleConfig { transaction_timeout_ms: 9_000, ..named("a") }, &ids[0], 1);
    world.process(&mut a, 0);
    world.pass(9_000);
    world.broker.ask(heartbeat(&ids[0], 1));
    assert_eq!(world.output.write(a.cycle.producer(), 0), ErrorCode::InvalidProducerEpoch);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::InvalidProducerEpoch }]);
    a.told.clear();
    world.process(&mut a, 0);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    assert_eq!(world.output.committed, [0]);
}

#[test]
fn a_second_producer_of_the_same_name_stops_the_first() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(2);
    let mut old = world.worker(named("a"), &ids[0], 1);
    world.process(&mut old, 0);
    let mut new = world.worker(named("a"), &ids[1], 1);
    old.cycle.commit(done(0)).unwrap();
    world.run(&mut old);
    assert_eq!(old.told, [CycleAction::Dead { reason: ErrorCode::ProducerFenced }]);
    assert_eq!(old.cycle.phase(), CyclePhase::Dead);
    world.process(&mut new, 0);
    new.cycle.commit(done(0)).unwrap();
    world.run(&mut new);
    assert_eq!(world.output.committed, [0]);
}

#[test]
fn a_fenced_instance_aborts_and_then_stops() {
    let mut world = world(Rules::Shipped);
    let first = world.broker.send(join_static("i1", ""));
    world.pass(0);
    let joined = world.broker.joined(first);
    world.broker.sync_all(core::slice::from_ref(&joined));
    let mut a = world.worker(named("a"), &joined.member_id, 1);
    a.metadata.group_instance_id = Some("i1".into());
    world.process(&mut a, 0);
    let taken_over = world.broker.send(join_static("i1", ""));
    assert_eq!(world.broker.joined(taken_over).error, ErrorCode::None);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    let reason = ErrorCode::FencedInstanceId;
    assert_eq!(a.told, [CycleAction::Aborted { reason }, CycleAction::Dead { reason }]);
    assert!(world.output.committed.is_empty());
    assert_eq!(stable_offset(&mut world.broker), Ok(None), "nothing is left pending");
}

#[test]
fn case_215_a_stable_fetch_waits_for_as_long_as_it_takes() {
    for ending in ["commit", "abort", "timeout"] {
        let mut world = world(Rules::Shipped);
        let ids = world.broker.stable_group(2);
        let mut a = world.worker(named("p"), &ids[0], 1);
        world.process(&mut a, 0);
        a.cycle.commit(done(0)).unwrap();
        let stuck = world.run_until(&mut a, |request| matches!(request, Request::EndTxn(_))).unwrap();
        let generation = drop_first(&mut world, &ids);

        let mut fetch = StableFetch::new(GROUP, StableFetchConfig::default());
        fetch.assign([t(0)], world.now_ms());
        let mut asked = 0;
        let settled = loop {
            match fetch.poll_action(world.now_ms()) {
                Some(StableFetchAction::Send { id, request }) => {
                    asked += 1;
                    let Response::OffsetFetch(response) = world.broker.ask(request) else { panic!() };
                    fetch.handle_response(id, response, world.now_ms());
                    if asked == 12 && ending != "timeout" {
                        let Request::EndTxn(mut end) = stuck.request.clone() else { panic!() };
                        end.committed = ending == "commit";
                        world.ask(stuck.to, end.into());
                    }
                }
                Some(settled) => break settled,
                None => {
                    let at_ms = fetch.poll_timeout().expect("it never gives up");
                    world.pass(at_ms - world.now_ms());
                    fetch.handle_timeout(at_ms);
                    // Heartbeats go on while it waits.
                    let beat = world.broker.ask(heartbeat(&ids[1], generation));
                    assert_eq!(beat.error(), ErrorCode::None);
                }
            }
        };
        let StableFetchAction::Settled { committed, waited_ms, .. } = settled else { panic!() };
        let expected = if ending == "commit" { Some(CommittedOffset::new(1)) } else { None };
        assert_eq!(committed, expected, "{ending}");
        assert!(asked > 10 && waited_ms > 5_000, "{ending}: asked {asked} times in {waited_ms} ms");
    }
}

#[test]
fn case_215_a_rebalance_ends_the_wait_without_a_word() {
    let mut fetch = StableFetch::new(GROUP, StableFetchConfig::default());
    fetch.assign([t(0), t(1)], 0);
    let Some(StableFetchAction::Send { id, .. }) = fetch.poll_action(0) else { panic!() };
    fetch.cancel();
    let late = OffsetFetchResponse {
        error: ErrorCode::None,
        partitions: vec![FetchedOffset { partition: t(0), committed: None, error: ErrorCode::None }],
    };
    fetch.handle_response(id, late.clone(), 5);
    assert_eq!((fetch.poll_action(5), fetch.poll_timeout()), (None, None));

    // One of two partitions revoked: the other is still waited for.
    fetch.assign([t(0), t(1)], 10);
    let Some(StableFetchAction::Send { id, .. }) = fetch.poll_action(10) else { panic!() };
    fetch.handle_response(id, late, 20);
    fetch.unassign([&t(0)]);
    assert_eq!(fetch.poll_action(20), None, "what was settled is not told any more");
    assert_eq!(
        fetch.waiting().map(|(partition, since)| (partition.clone(), since)).collect::<Vec<_>>(),
        [(t(1), 10)]
    );
}

#[test]
fn case_216_offsets_of_a_producer_that_never_returns_are_released_by_its_timeout() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(2);
    // Each restart uses a new transactional id, so nobody initialises the old one again.
    let mut a = world.worker(in_group("restart-1"), &ids[0], 1);
    world.process(&mut a, 0);
    a.cycle.commit(done(0)).unwrap();
    assert!(world.run_until(&mut a, |request| matches!(request, Request::EndTxn(_))).is_some());
    let started_ms = world.now_ms();

    world.worker(in_group("restart-2"), &ids[1], 1);
    assert_eq!(stable_offset(&mut world.broker), Err(ErrorCode::UnstableOffsetCommit));
    let blockers = world.broker.coordinator.blockers(GROUP);
    assert_eq!(blockers.len(), 1);
    assert_eq!((&blockers[0].partition, blockers[0].producer_id), (&t(0), a.cycle.producer().id));
    assert_eq!(
        blockers[0].since_ms, started_ms,
        "the wait is visible: which partition, which producer, since when"
    );

    world.pass(9_999);
    assert_eq!(stable_offset(&mut world.broker), Err(ErrorCode::UnstableOffsetCommit));
    world.pass(1);
    assert_eq!(
        stable_offset(&mut world.broker),
        Ok(None),
        "10 seconds, the default of a group-aware producer"
    );
    assert!(world.broker.coordinator.blockers(GROUP).is_empty());
}

#[test]
fn case_218_the_revoked_callback_commits_with_the_generation_of_that_moment() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(2);
    let mut a = world.worker(named("a"), &ids[0], 1);
    world.process(&mut a, 0);
    let stale = a.metadata.clone();
    // A cooperative round: a keeps running, its new assignment lacks t1-0, its metadata is already new.
    let generation = rejoin(&mut world, &ids);
    a.place(&ids[0], generation);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    a.cycle.handle_revoked(&[t(0)]);
    assert_eq!(a.told, [CycleAction::Committed]);

    // With a snapshot kept from before it is refused, and the loop lives.
    a.told.clear();
    world.process(&mut a, 1);
    a.metadata = stale;
    a.cycle.commit(done(1)).unwrap();
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::IllegalGeneration }]);
    assert_eq!(a.cycle.phase(), CyclePhase::Ready);
}

#[test]
fn case_221_a_rebalance_during_the_end_keeps_a_commit_whose_offsets_are_pending() {
    for stable_fetches in [true, false] {
        let mut world = world(Rules::Shipped);
        let ids = world.broker.stable_group(2);
        let mut a = world.worker(CycleConfig { stable_fetches, ..named("a") }, &ids[0], 1);
        world.process(&mut a, 0);
        a.cycle.commit(done(0)).unwrap();
        // TxnOffsetCommit succeeded; the heartbeat says REBALANCE_IN_PROGRESS before the end is sent.
        let held = world.run_until(&mut a, |request| matches!(request, Request::TxnOffsetCommit(_))).unwrap();
        world.deliver(&mut a, held);
        world.broker.send(join(&ids[1]));
        let beat = world.broker.ask(heartbeat(&ids[0], 1)).error();
        assert_eq!(beat, ErrorCode::None, "a follower with nothing new causes none");
        let newcomer = world.broker.new_member_id();
        world.broker.send(join(&newcomer));
        assert_eq!(world.broker.ask(heartbeat(&ids[0], 1)).error(), ErrorCode::RebalanceInProgress);
        a.cycle.handle_rebalance();
        world.run(&mut a);
        if stable_fetches {
            assert_eq!(a.told, [CycleAction::Committed]);
            assert_eq!(world.output.committed, [0]);
        } else {
            assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::RebalanceInProgress }]);
            assert!(world.output.committed.is_empty());
        }
    }
}

#[test]
fn a_revocation_ends_transactions_that_read_from_it_and_no_others() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(1);
    let mut a = world.worker(named("a"), &ids[0], 1);
    world.process(&mut a, 0);
    a.cycle.handle_revoked(&[t(7)]);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Committed]);
    a.told.clear();

    world.process(&mut a, 1);
    a.cycle.handle_revoked(&[t(0)]);
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::IllegalGeneration }]);
    a.told.clear();

    // Nothing declared: any revocation may concern it.
    a.cycle.begin(0).unwrap();
    a.cycle.handle_revoked(&[t(7)]);
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::IllegalGeneration }]);
    a.told.clear();

    // Declared another, but commits the one that is gone.
    a.cycle.begin(0).unwrap();
    a.cycle.read(t(1)).unwrap();
    a.cycle.handle_revoked(&[t(0)]);
    a.cycle.commit(done(0)).unwrap();
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Aborted { reason: ErrorCode::IllegalGeneration }]);
    assert_eq!(world.output.committed, [0]);
}

#[test]
fn commands_at_the_wrong_moment_change_nothing() {
    let mut world = world(Rules::Shipped);
    let mut a = Worker::new(named("a"));
    assert!(a.cycle.begin(0).is_err() && a.cycle.commit(done(0)).is_err() && a.cycle.abort().is_err());
    assert!(a.cycle.write(t(0)).is_err() && a.cycle.read(t(0)).is_err());
    a.cycle.start(0).unwrap();
    assert!(a.cycle.start(0).is_err());
    world.run(&mut a);
    assert_eq!(a.told, [CycleAction::Ready]);
    a.cycle.begin(0).unwrap();
    let error = a.cycle.begin(0).unwrap_err();
    assert!(error.to_string().contains("begin is not possible in state Open"), "{error}");
    // An empty transaction needs no broker, committed or aborted.
    a.told.clear();
    a.cycle.commit(Vec::new()).unwrap();
    assert!(world.run_until(&mut a, |_| true).is_none());
    a.cycle.begin(0).unwrap();
    a.cycle.abort().unwrap();
    assert!(world.run_until(&mut a, |_| true).is_none());
    assert_eq!(a.told, [CycleAction::Committed, CycleAction::Aborted { reason: ErrorCode::None }]);
}

#[test]
fn coordinators_that_moved_are_looked_up_and_a_pause_doubles_up_to_its_limit() {
    let mut a = Worker::new(named("a"));
    a.cycle.start(0).unwrap();
    let mut now_ms = 0;
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let Some(CycleAction::Send { id, request, .. }) = a.cycle.poll_action(&a.metadata, now_ms) else {
            panic!()
        };
        assert!(matches!(request, Request::InitProducerId(_)));
        let refused = InitProducerIdResponse::refused(ErrorCode::CoordinatorLoadInProgress);
        a.cycle.handle_response(id, refused.into(), now_ms).unwrap();
        assert_eq!(a.cycle.poll_action(&a.metadata, now_ms), None);
        pauses.push(a.cycle.poll_timeout().unwrap() - now_ms);
        now_ms = a.cycle.poll_timeout().unwrap();
        a.cycle.handle_timeout(now_ms);
    }
    assert_eq!(pauses, [100, 200, 400, 800, 1_000, 1_000]);
    let Some(CycleAction::Send { id, .. }) = a.cycle.poll_action(&a.metadata, now_ms) else { panic!() };
    let refused = InitProducerIdResponse::refused(ErrorCode::NotCoordinator);
    a.cycle.handle_response(id, refused.clone().into(), now_ms).unwrap();
    now_ms += 1_000;
    a.cycle.handle_timeout(now_ms);
    let Some(CycleAction::Send { request: Request::FindCoordinator(find), id, .. }) =
        a.cycle.poll_action(&a.metadata, now_ms)
    else {
        panic!()
    };
    assert_eq!((find.key.as_str(), find.kind), ("a", CoordinatorKind::Transaction));
    let found = FindCoordinatorResponse { error: ErrorCode::None, node_id: 3 };
    a.cycle.handle_response(id, found.into(), now_ms).unwrap();
    let again = a.cycle.poll_action(&a.metadata, now_ms);
    assert!(matches!(again, Some(CycleAction::Send { request: Request::InitProducerId(_), .. })));

    // The draft looks the transaction coordinator up by the group: key type 2.
    let mut b = Worker::new(in_group("m"));
    b.cycle.start(0).unwrap();
    let Some(CycleAction::Send { id, to, .. }) = b.cycle.poll_action(&b.metadata, 0) else { panic!() };
    assert_eq!(to, CoordinatorKind::TransactionByGroup);
    b.cycle.handle_response(id, refused.into(), 0).unwrap();
    b.cycle.handle_timeout(100);
    let Some(CycleAction::Send { request: Request::FindCoordinator(find), .. }) =
        b.cycle.poll_action(&b.metadata, 100)
    else {
        panic!()
    };
    assert_eq!((find.key.as_str(), find.kind.id()), (GROUP, 2));
}

/// The upgrade: a partition moves from a member with a producer per partition to one with a producer per consumer.
#[test]
fn the_upgrade_is_fenced_once_every_member_sends_its_generation() {
    // What the old member's zombie sends: nothing of the group; or, after the first restart, its generation.
    for (rules, sends_generation, doubled) in [
        (Rules::Shipped, true, false),
        (Rules::Strict, true, false),
        (Rules::Strict, false, false),
        (Rules::Shipped, false, true),
    ] {
        let mut world = world(rules);
        let ids = world.broker.stable_group(2);
        let me = GroupMetadata { generation: 1, member_id: ids[0].clone(), ..GroupMetadata::outsider(GROUP) };
        let names = ProducerPlan::from_switch(false).names(&me, &[t(0)]);
        assert_eq!(names[0].transactional_id(), "g-t1-0");
        let (id, generation) = if sends_generation { (&ids[0][..], 1) } else { ("", -1) };
        let mut old = world.worker(CycleConfig::new(names[0].clone()), id, generation);
        let you =
            GroupMetadata { generation: 1, member_id: ids[1].clone(), ..GroupMetadata::outsider(GROUP) };
        let name = ProducerPlan::from_switch(true).names(&you, &[t(0)]).remove(0);
        let mut new = world.worker(CycleConfig::new(name), &ids[1], 1);
        world.process(&mut old, 0);
        old.cycle.commit(done(0)).unwrap();
        let stuck =
            world.run_until(&mut old, |request| matches!(request, Request::TxnOffsetCommit(_))).unwrap();
        let generation = drop_first(&mut world, &ids);
        new.place(&ids[1], generation);
        world.process(&mut new, 0);
        new.cycle.commit(done(0)).unwrap();
        world.run(&mut new);
        world.deliver(&mut old, stuck);
        world.run(&mut old);
        // The shipped rules have to let old producers pass: the check before the roll-out is what keeps it safe.
        assert_eq!(world.output.committed.len(), if doubled { 2 } else { 1 }, "{rules:?} {sends_generation}");
        let practice = |member: &str, plan, sends_generation| Practice {
            member: member.into(),
            plan,
            sends_generation,
            stable_fetches: true,
        };
        let members = [
            practice("old", ProducerPlan::PerPartition, sends_generation),
            practice("new", ProducerPlan::PerConsumer, true),
        ];
        let expected =
            if sends_generation { Ok(()) } else { Err(UpgradeError::Unfenced { member: "old".into() }) };
        assert_eq!(check_upgrade(&members), expected);
    }
}

#[test]
fn the_upgrade_back_is_fenced_too() {
    let mut world = world(Rules::Shipped);
    let ids = world.broker.stable_group(2);
    let mut new = world.worker(in_group(&ids[0]), &ids[0], 1);
    let mut old = world.worker(named("g-t1-0"), &ids[1], 1);
    world.process(&mut new, 0);
    new.cycle.commit(done(0)).unwrap();
    let stuck = world.run_until(&mut new, |request| matches!(request, Request::TxnOffsetCommit(_))).unwrap();
    let generation = drop_first(&mut world, &ids);
    old.place(&ids[1], generation);
    world.process(&mut old, 0);
    old.cycle.commit(done(0)).unwrap();
    world.run(&mut old);
    world.deliver(&mut new, stuck);
    world.run(&mut new);
    assert_eq!(world.output.committed, [0]);
}
