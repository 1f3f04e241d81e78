//! The upgrade of KIP-429: two rolling restarts from range to cooperative-sticky, and two back, under traffic.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tenure_peers::{Connection, Place};

use crate::world::{JAVA, OLD_JAVA, World};

/// Writes to every partition until it is told to stop; then it says where each ends.
struct Traffic {
    stops: Arc<AtomicBool>,
    writer: JoinHandle<BTreeMap<Place, i64>>,
}

impl Traffic {
    fn start(world: &World) -> Self {
        let stops = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stops);
        let places = world.places();
        let address = world.broker.bootstrap().to_owned();
        let writer = thread::spawn(move || {
            let mut connection = Connection::open(&address, "traffic").unwrap();
            let mut ends = BTreeMap::new();
            while !told.load(Ordering::Relaxed) {
                for place in &places {
                    let end = connection.produce(&place.0, place.1, 3).unwrap();
                    ends.insert(place.clone(), end);
                }
                thread::sleep(Duration::from_millis(50));
            }
            ends
        });
        Self { stops, writer }
    }

    fn stop(self) -> BTreeMap<Place, i64> {
        self.stops.store(true, Ordering::Relaxed);
        self.writer.join().unwrap()
    }
}

#[test]
#[ignore = "needs a Kafka broker and other clients: .ci/run interop"]
fn from_range_to_cooperative_sticky_and_back_under_traffic() {
    let Some(mut world) = World::new("upgrade", &[4, 4], &[JAVA, OLD_JAVA]) else { return };
    let traffic = Traffic::start(&world);
    let both: &[&str] = &["cooperative-sticky", "range"];
    // What each restart leaves in the lists, and what the group chooses once all have it.
    let restarts: [(&[&str], &str); 5] = [
        (&["range"], "range"),
        (both, "cooperative-sticky"),
        (&["cooperative-sticky"], "cooperative-sticky"),
        (both, "cooperative-sticky"),
        (&["range"], "range"),
    ];
    for (turn, (list, chosen)) in restarts.into_iter().enumerate() {
        for kind in ["tenure", "java", "old-java"] {
            if turn > 0 {
                world.close(&format!("{kind}-{}", turn - 1));
            }
            let name = format!("{kind}-{turn}");
            match kind {
                "tenure" => world.tenure(&name, list),
                "java" => world.foreign(JAVA, &name, list),
                _ => world.foreign(OLD_JAVA, &name, list),
            }
            // By range four and four become four, two and two.
            world.settle(&format!("restart {turn} of {kind}"), 2);
        }
        let status = world.member(&format!("tenure-{turn}")).status();
        assert_eq!(status.assignor.as_deref(), Some(chosen), "restart {turn}: {status:?}");
    }
    let ends = traffic.stop();
    let unread = |place: &Place| world.ledger.unread(place, ends.get(place).copied().unwrap_or(0));
    let read =
        world.ledger.wait_until(Duration::from_secs(60), |_| ends.keys().all(|one| unread(one).is_empty()));
    let left: Vec<_> =
        ends.keys().map(|one| (one, unread(one))).filter(|(_, left)| !left.is_empty()).collect();
    assert!(read && left.is_empty(), "never read: {left:?}\n{}", world.ledger.table());
    assert!(ends.values().sum::<i64>() > 500, "{ends:?}");
    world.end();
}
