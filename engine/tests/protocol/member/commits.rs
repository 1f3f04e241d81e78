//! Commits: what may be sent, and what a rebalance does to them.

use tenure::protocol::error::ErrorCode;
use tenure::protocol::member::*;
use tenure::protocol::message::*;

use super::heartbeat;
use crate::host::*;

#[test]
fn commits_are_checked_before_they_are_sent() {
    let mut host = Host::stable(cooperative(), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 1), offset("t1", 1, 1)], 0).unwrap();
    host.member.commit(Vec::new(), 0).unwrap();
    assert!(host.nothing_sent());
    assert_eq!(host.commits[0].1, Err(CommitError::NotOwned(set("t1", [1]))));
    assert_eq!(host.commits[1].1, Ok(()));
    // No answer at all: tried again until its time is over.
    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
    let mut tries = 0;
    while host.commits.len() == 2 {
        let at_ms = host.member.poll_timeout().unwrap();
        host.tick(at_ms);
        while let Some((id, request)) = host.sent.pop_front() {
            match request {
                Request::FindCoordinator(_) => {
                    host.answer(id, FindCoordinatorResponse { error: ErrorCode::None, node_id: 1 });
                }
                Request::OffsetCommit(_) => tries += 1,
                _ => host.answer(id, heartbeat(ErrorCode::None)),
            }
        }
    }
    assert_eq!(host.commits[2].1, Err(CommitError::TimedOut));
    assert!(tries >= 2, "{tries}");
    // A broker that refuses for a reason of its own.
    host.member.commit(vec![offset("t1", 0, 1)], host.now_ms).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::OffsetMetadataTooLarge));
    assert_eq!(host.commits[3].1, Err(CommitError::Refused(ErrorCode::OffsetMetadataTooLarge)));
    assert_eq!(host.member.state(), MemberState::Stable);
}

#[test]
fn eager_members_cannot_retry_a_commit_over_a_rebalance() {
    let mut host = Host::stable(eager(), &set("t1", [0]));
    host.member.commit(vec![offset("t1", 0, 1)], 0).unwrap();
    let (id, commit) = host.take_commit();
    host.answer(id, commit_answer(&commit, ErrorCode::RebalanceInProgress));
    assert_eq!(host.commits[0].1, Err(CommitError::RebalanceInProgress { retriable: false }));
}
