//! Every client in one group, and crashes in it.

use tenure_peers::Client;

use crate::world::{JAVA, OLD_JAVA, World};

#[test]
#[ignore = "needs a Kafka broker and other clients: .ci/run interop"]
fn every_client_in_one_group_and_two_of_them_crash() {
    let clients = [JAVA, OLD_JAVA, Client::Franz, Client::Librdkafka, Client::KafkaPython];
    let Some(mut world) = World::new("mixed", &[7, 7], &clients) else { return };
    let with = ["cooperative-sticky"];
    world.tenure("tenure-1", &with);
    world.settle("tenure joins", 0);
    world.foreign_alone(JAVA, "java", &with);
    for client in [OLD_JAVA, Client::Franz, Client::Librdkafka, Client::KafkaPython] {
        world.foreign(client, &client.to_string(), &with);
    }
    world.tenure("tenure-2", &with);
    world.settle("all join", 0);
    assert_eq!(world.ledger.loads().len(), 7);

    // Nobody is told: the coordinator finds out by the session's end, and the rest takes over.
    world.crash("java");
    world.settle("java crashes", 1);
    world.crash("tenure-1");
    world.settle("tenure crashes", 1);
    world.end();
}
