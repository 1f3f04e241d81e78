//! A first look at each kernel.

use tenure::plan::{Assignor, Config, Path, Strategy};
use tenure::revoke::{Mode, Round};
use tenure::{Group, Topology};

#[test]
fn a_fresh_uniform_group_has_every_topic_within_one() {
    let mut topology = Topology::builder();
    for topic in 0..7 {
        topology.add_topic(&format!("t{topic}"), 5 + topic);
    }
    let topology = topology.build().unwrap();
    let mut builder = Group::builder(&topology);
    for member in 0..4 {
        let mut member = builder.member(&format!("m{member}"));
        for topic in 0..7 {
            member.topic(&format!("t{topic}"));
        }
    }
    let group = builder.build().unwrap();
    let (plan, outcome) = Assignor::default().assign(&group).unwrap();
    assert_eq!(outcome.path, Path::Uniform);
    assert_eq!((outcome.stats.load_min, outcome.stats.load_max), (14, 14));
    for topic in 0..7 {
        let base = topology.bases()[topic]..topology.bases()[topic + 1];
        let counts: Vec<usize> = group
            .member_indices()
            .map(|m| plan.target(m).iter().filter(|p| base.contains(&p.get())).count())
            .collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn different_subscriptions_are_served() {
    let topology = Topology::builder().topic("a", 6).topic("b", 4).build().unwrap();
    let mut builder = Group::builder(&topology);
    builder.member("x").topic("a").owned("a", 0..6).generation(1);
    builder.member("y").topic("a").topic("b");
    builder.member("z").topic("b").owned("b", 0..4).generation(1);
    let group = builder.build().unwrap();
    let (plan, outcome) = Assignor::new(Config::new().strategy(Strategy::Sticky)).assign(&group).unwrap();
    assert_eq!(outcome.path, Path::General);
    assert_eq!(plan.assigned(), 10);
    let round = Round::new(&group, &plan, Mode::Shipped);
    for m in group.member_indices() {
        assert!(round.assignment(m).all(|p| group.subscribes(m, topology.topic_of(p))));
    }
}
