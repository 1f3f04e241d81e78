//! Tenure in one group with members of other clients, under each assignor: as leader, as follower, and again.

use tenure_peers::{Client, Happening};

use crate::world::{JAVA, OLD_JAVA, World};

/// Members come and go: Tenure leads, then leaves the lead to another client, then comes back as a follower.
fn comes_and_goes(strategy: &str, others: [Client; 2]) {
    let name = format!("{strategy}-{}-{}", others[0], others[1]).replace('.', "_");
    let Some(mut world) = World::new(&name, &[6, 6], &others) else { return };
    let with = [strategy];
    world.tenure("tenure-1", &with);
    world.settle("tenure joins", 0);
    world.foreign(others[0], "other-1", &with);
    world.settle("the first other joins", 0);
    world.foreign(others[1], "other-2", &with);
    world.settle("the second other joins", 0);
    let status = world.member("tenure-1").status();
    assert!(status.leads, "{status:?}");
    assert_eq!(status.assignor.as_deref(), Some(strategy));

    world.close("tenure-1");
    world.settle("tenure leaves", 0);
    world.tenure("tenure-2", &with);
    world.settle("tenure comes back", 0);
    let status = world.member("tenure-2").status();
    assert!(!status.leads, "{status:?}");
    world.close("other-1");
    world.settle("an other leaves", 0);
    if strategy == "cooperative-sticky" {
        keeps_what_stays(&world);
    }
    world.end();
}

/// Cooperative members give back only what moves: nobody gave everything back while it stayed.
fn keeps_what_stays(world: &World) {
    let full = world.full("tenure-1");
    let entries = world.ledger.entries();
    let revoked: usize = entries
        .iter()
        .filter(|one| one.member == full && one.happening == Happening::Revoked)
        .take_while(|one| one.places.len() < 12)
        .map(|one| one.places.len())
        .sum();
    // Twelve, six, four: it gave back six and two, and four as it left.
    assert_eq!(revoked, 12, "{}", world.ledger.table());
}

macro_rules! tests {
    ($($name:ident: $strategy:literal, $first:expr, $second:expr;)*) => {
        $(
            #[test]
            #[ignore = "needs a Kafka broker and other clients: .ci/run interop"]
            fn $name() {
                comes_and_goes($strategy, [$first, $second]);
            }
        )*
    };
}

tests! {
    with_java_cooperative_sticky: "cooperative-sticky", JAVA, OLD_JAVA;
    with_java_sticky: "sticky", JAVA, OLD_JAVA;
    with_java_range: "range", OLD_JAVA, JAVA;
    with_java_roundrobin: "roundrobin", OLD_JAVA, JAVA;
    with_franz_go_cooperative_sticky: "cooperative-sticky", Client::Franz, Client::Franz;
    with_franz_go_sticky: "sticky", Client::Franz, JAVA;
    with_franz_go_range: "range", Client::Franz, Client::Franz;
    with_librdkafka_cooperative_sticky: "cooperative-sticky", Client::Librdkafka, Client::Librdkafka;
    with_librdkafka_roundrobin: "roundrobin", Client::Librdkafka, Client::Librdkafka;
    with_kafka_python_cooperative_sticky: "cooperative-sticky", Client::KafkaPython, Client::KafkaPython;
    with_kafka_python_sticky: "sticky", Client::KafkaPython, Client::KafkaPython;
    with_kafka_python_range: "range", Client::KafkaPython, Client::KafkaPython;
}
