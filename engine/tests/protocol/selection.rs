//! Protocol selection (KIP-429).

use tenure::protocol::member::{Member, MemberConfig};
use tenure::protocol::selection::*;

#[test]
fn ids_are_the_kips() {
    assert_eq!(RebalanceProtocol::Eager.id(), 0);
    assert_eq!(RebalanceProtocol::Cooperative.id(), 1);
    for protocol in RebalanceProtocol::ALL {
        assert_eq!(RebalanceProtocol::for_id(protocol.id()), Ok(protocol));
    }
    let error = RebalanceProtocol::for_id(2).unwrap_err().to_string();
    assert!(error.contains('2') && error.contains("cooperative"), "{error}");
}

#[test]
fn built_in_assignors_support_what_the_kip_says() {
    use RebalanceProtocol::{Cooperative, Eager};
    for (name, protocols) in [
        ("range", &[Eager][..]),
        ("roundrobin", &[Eager]),
        ("sticky", &[Eager]),
        ("cooperative-sticky", &[Eager, Cooperative]),
        ("tenure-cooperative-sticky", &[Eager, Cooperative]),
    ] {
        let assignor = Assignor::by_name(name).unwrap();
        assert_eq!(assignor.name(), name);
        assert_eq!(assignor.supported_protocols(), protocols, "{name}");
    }
    assert_eq!(Assignor::by_name("Range"), None);
}

#[test]
fn highest_protocol_supported_by_all_wins() {
    let both = Assignor::new("x", &RebalanceProtocol::ALL);
    let common = |list: &[Assignor]| Selection::new(list, ProtocolPolicy::Selected).map(|one| one.common());
    assert_eq!(common(core::slice::from_ref(&both)), Ok(RebalanceProtocol::Cooperative));
    assert_eq!(common(&[both.clone(), Assignor::cooperative_sticky()]), Ok(RebalanceProtocol::Cooperative));
    assert_eq!(common(&[both.clone(), Assignor::range()]), Ok(RebalanceProtocol::Eager));
    assert_eq!(common(&[Assignor::range(), both]), Ok(RebalanceProtocol::Eager));
}

#[test]
fn lists_that_cannot_work_are_refused_at_the_start() {
    let only_cooperative = Assignor::new("y", &[RebalanceProtocol::Cooperative]);
    let nothing = Assignor::new("z", &[]);
    for (list, word) in [
        (vec![], "empty"),
        (vec![Assignor::range(), Assignor::range()], "name of its own"),
        (vec![Assignor::range(), only_cooperative], "y (cooperative)"),
        (vec![nothing], "z (none)"),
    ] {
        let error = Selection::new(&list, ProtocolPolicy::Selected).unwrap_err().to_string();
        assert!(error.contains("partition.assignment.strategy"), "{error}");
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn the_policy_decides_how_a_mixed_list_behaves() {
    let list = [Assignor::cooperative_sticky(), Assignor::range()];
    let selected = Selection::new(&list, ProtocolPolicy::Selected).unwrap();
    assert_eq!(selected.protocol_of("cooperative-sticky"), Some(RebalanceProtocol::Cooperative));
    assert_eq!(selected.protocol_of("range"), Some(RebalanceProtocol::Eager));
    assert_eq!(selected.protocol_of("sticky"), None);
    let common = Selection::new(&list, ProtocolPolicy::Common).unwrap();
    assert_eq!(common.protocol_of("cooperative-sticky"), Some(RebalanceProtocol::Eager));
}

#[test]
fn claims_need_a_subscription_that_carries_them() {
    let selection = Selection::new(&[Assignor::cooperative_sticky()], ProtocolPolicy::Selected).unwrap();
    let mut config = MemberConfig::new("g", selection);
    config.subscription_version = 0;
    let error = Member::new(config, 0).unwrap_err().to_string();
    assert!(error.contains("at least 1"), "{error}");
}

#[test]
fn settings_that_contradict_each_other_name_the_remedy() {
    type Change = fn(&mut MemberConfig);
    let selection = Selection::new(&[Assignor::range()], ProtocolPolicy::Selected).unwrap();
    let base = MemberConfig::new("g", selection);
    let changes: [(&str, Change); 6] = [
        ("group.id", |config| config.group_id.clear()),
        ("group.instance.id", |config| config.group_instance_id = Some(String::new())),
        ("heartbeat.interval.ms", |config| config.heartbeat_interval_ms = config.session_timeout_ms),
        ("session.timeout.ms", |config| config.session_timeout_ms = u64::MAX),
        ("request.timeout.ms", |config| config.request_timeout_ms = 0),
        ("retry.backoff.ms", |config| config.retry_backoff_max_ms = 1),
    ];
    for (setting, change) in changes {
        let mut config = base.clone();
        change(&mut config);
        let error = Member::new(config, 0).unwrap_err().to_string();
        assert!(error.contains(setting), "{error}");
    }
}

#[test]
fn a_roll_out_is_checked_before_it_starts() {
    let group = [vec!["range"], vec!["range", "sticky"]];
    let error = check_roll_out(&group, &["cooperative-sticky"]).unwrap_err().to_string();
    assert!(error.contains("[range]"), "{error}");
    assert!(error.contains("[range, cooperative-sticky]"), "{error}");
    let path = roll_out_path(&Assignor::range(), &Assignor::cooperative_sticky());
    let mut list: Vec<Vec<String>> = vec![vec!["range".into()]; 2];
    for step in path {
        let names: Vec<&str> = step.iter().map(String::as_str).collect();
        // Each member is replaced alone, beside the old ones.
        for at in 0..list.len() {
            check_roll_out(&list, &names).unwrap();
            list[at] = step.clone();
        }
    }
    assert_eq!(common_names(&list), ["cooperative-sticky"]);
}
