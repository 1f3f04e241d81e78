//! What a member measures of its rebalances, with Kafka's names and units.
//!
//! Source: KIP-429, consumer metrics; the names are those of the released Java consumer
//! (`consumer-coordinator-metrics`). Times are in milliseconds unless the name says otherwise. Averages and maxima
//! cover a window of [`WINDOW_MS`], made of two halves of which the older is dropped, as in Kafka. So do rates, which are
//! over the span of the window that has passed, half of it at least; only the rebalances a day of the KIP's text are
//! counted since the start.

/// The length of the window for averages, maxima and rates.
pub const WINDOW_MS: u64 = 60_000;

/// How many times something happened, how long it took, and the longest of the window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency {
    count: u64,
    sum_ms: u64,
    halves: [Half; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Half {
    number: u64,
    count: u64,
    sum_ms: u64,
    max_ms: u64,
}

impl Latency {
    /// Counts one more.
    pub fn record(&mut self, took_ms: u64, now_ms: u64) {
        self.count = self.count.saturating_add(1);
        self.sum_ms = self.sum_ms.saturating_add(took_ms);
        let number = half_number(now_ms);
        let [even, odd] = &mut self.halves;
        let slot = if number % 2 == 1 { odd } else { even };
        if slot.number != number {
            *slot = Half { number, ..Half::default() };
        }
        slot.count = slot.count.saturating_add(1);
        slot.sum_ms = slot.sum_ms.saturating_add(took_ms);
        slot.max_ms = slot.max_ms.max(took_ms);
    }

    /// How many there were since the start.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How long they took together since the start.
    pub fn total_ms(&self) -> u64 {
        self.sum_ms
    }

    /// The mean over the window; `None` if the window is empty.
    pub fn avg_ms(&self, now_ms: u64) -> Option<f64> {
        let (count, sum) = self.window(now_ms).fold((0, 0), |(count, sum), half| {
            (u64::saturating_add(count, half.count), u64::saturating_add(sum, half.sum_ms))
        });
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// The longest of the window; `None` if the window is empty.
    pub fn max_ms(&self, now_ms: u64) -> Option<u64> {
        self.window(now_ms).map(|half| half.max_ms).max()
    }

    /// How many of them there were in `unit_ms`, going by the window.
    pub fn rate(&self, now_ms: u64, unit_ms: f64) -> f64 {
        let count = self.window(now_ms).fold(0, |count, half| u64::saturating_add(count, half.count));
        let half_ms = WINDOW_MS / 2;
        count as f64 * unit_ms / (half_ms + now_ms % half_ms) as f64
    }

    fn window(&self, now_ms: u64) -> impl Iterator<Item = &Half> {
        let number = half_number(now_ms);
        self.halves.iter().filter(move |half| half.count > 0 && half.number.saturating_add(1) >= number)
    }
}

/// The number of the half window in which a moment lies, counted from 1 so that 0 is "never".
fn half_number(now_ms: u64) -> u64 {
    (now_ms / (WINDOW_MS / 2)).saturating_add(1)
}

/// What a member has measured.
///
/// # Examples
///
/// ```
/// use tenure::protocol::metrics::MemberMetrics;
///
/// let mut metrics = MemberMetrics::new(0);
/// metrics.rebalance.record(120, 1_000);
/// metrics.rebalance.record(80, 2_000);
/// let value = |name, now_ms| metrics.values(now_ms).into_iter().find(|one| one.name == name).unwrap().value;
/// assert_eq!(value("rebalance-latency-avg", 10_000), Some(100.0));
/// assert_eq!(value("rebalance-rate-per-hour", 10_000), Some(180.0)); // two in 40 seconds
/// let half_an_hour = 1_800_000;
/// assert_eq!(value("rebalance-latency-avg", half_an_hour), None); // nothing in the last minute
/// assert_eq!(value("rebalance-rate-per-hour", half_an_hour), Some(0.0));
/// assert_eq!(value("rebalance-total", half_an_hour), Some(2.0));
/// assert_eq!(value("rebalance-latency-total", half_an_hour), Some(200.0));
/// assert_eq!(value("rebalance-rate-per-day", half_an_hour), Some(96.0)); // since the start
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberMetrics {
    /// From the start of a rebalance to its completion, callbacks included.
    pub rebalance: Latency,
    /// From JoinGroup to its answer.
    pub join: Latency,
    /// From SyncGroup to its answer.
    pub sync: Latency,
    /// From Heartbeat to its answer.
    pub heartbeat: Latency,
    /// From a commit's first try to its end.
    pub commit: Latency,
    /// Time in the assigned callback.
    pub assigned: Latency,
    /// Time in the revoked callback.
    pub revoked: Latency,
    /// Time in the lost callback.
    pub lost: Latency,
    /// From the start of a rebalance to its failure: refused, timed out or overtaken by the next.
    pub failed_rebalances: Latency,
    /// When the last rebalance was completed.
    pub last_rebalance_ms: Option<u64>,
    /// When the last heartbeat was answered well.
    pub last_heartbeat_ms: Option<u64>,
    /// Partitions assigned at present.
    pub assigned_partitions: u64,
    started_ms: u64,
}

/// One metric under Kafka's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricValue {
    /// Kafka's name of it.
    pub name: &'static str,
    /// What it counts in.
    pub unit: MetricUnit,
    /// Its value; `None` while there is nothing to tell (Kafka shows NaN).
    pub value: Option<f64>,
}

/// What a metric counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricUnit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// A number that only grows.
    Count,
    /// A number that goes up and down.
    Gauge,
    /// Events a second.
    PerSecond,
    /// Events an hour.
    PerHour,
    /// Events a day: the KIP's text.
    PerDay,
}

impl MemberMetrics {
    /// Nothing measured yet, starting at this time.
    pub fn new(now_ms: u64) -> Self {
        Self { started_ms: now_ms, ..Self::default() }
    }

    /// Rebalances a day since the start, as the KIP puts it.
    pub fn rebalances_per_day(&self, now_ms: u64) -> f64 {
        let elapsed = now_ms.saturating_sub(self.started_ms);
        if elapsed == 0 { 0.0 } else { self.rebalance.count as f64 * 86_400_000.0 / elapsed as f64 }
    }

    /// All metrics under Kafka's names.
    pub fn values(&self, now_ms: u64) -> Vec<MetricValue> {
        use MetricUnit::{Count, Gauge, Milliseconds, PerDay, PerHour, PerSecond, Seconds};
        let mut values = Vec::with_capacity(40);
        let mut put = |name, unit, value| values.push(MetricValue { name, unit, value });
        for (names, latency) in [
            (["rebalance-latency-avg", "rebalance-latency-max"], &self.rebalance),
            (["join-time-avg", "join-time-max"], &self.join),
            (["sync-time-avg", "sync-time-max"], &self.sync),
            (["commit-latency-avg", "commit-latency-max"], &self.commit),
            (["partition-assigned-latency-avg", "partition-assigned-latency-max"], &self.assigned),
            (["partition-revoked-latency-avg", "partition-revoked-latency-max"], &self.revoked),
            (["partition-lost-latency-avg", "partition-lost-latency-max"], &self.lost),
        ] {
            let [avg, max] = names;
            put(avg, Milliseconds, latency.avg_ms(now_ms));
            put(max, Milliseconds, latency.max_ms(now_ms).map(|ms| ms as f64));
        }
        put("heartbeat-response-time-max", Milliseconds, self.heartbeat.max_ms(now_ms).map(|ms| ms as f64));
        put("rebalance-latency-total", Milliseconds, Some(self.rebalance.sum_ms as f64));
        for (names, unit, unit_ms, counted) in [
            (["join-total", "join-rate"], PerSecond, 1_000.0, &self.join),
            (["sync-total", "sync-rate"], PerSecond, 1_000.0, &self.sync),
            (["heartbeat-total", "heartbeat-rate"], PerSecond, 1_000.0, &self.heartbeat),
            (["commit-total", "commit-rate"], PerSecond, 1_000.0, &self.commit),
            (["rebalance-total", "rebalance-rate-per-hour"], PerHour, 3_600_000.0, &self.rebalance),
            (
                ["failed-rebalance-total", "failed-rebalance-rate-per-hour"],
                PerHour,
                3_600_000.0,
                &self.failed_rebalances,
            ),
        ] {
            let [total, rate] = names;
            put(total, Count, Some(counted.count as f64));
            put(rate, unit, Some(counted.rate(now_ms, unit_ms)));
        }
        put("rebalance-rate-per-day", PerDay, Some(self.rebalances_per_day(now_ms)));
        let ago = |at: Option<u64>| at.map(|at| (now_ms.saturating_sub(at) / 1_000) as f64);
        put("last-rebalance-seconds-ago", Seconds, ago(self.last_rebalance_ms));
        put("last-heartbeat-seconds-ago", Seconds, ago(self.last_heartbeat_ms));
        put("assigned-partitions", Gauge, Some(self.assigned_partitions as f64));
        values
    }

    /// Hands all metrics to the recorder of the `metrics` crate, labelled with the client and the group.
    #[cfg(feature = "metrics")]
    pub fn publish(&self, now_ms: u64, client_id: &str, group_id: &str) {
        for metric in self.values(now_ms) {
            let labels = [("client-id", client_id.to_owned()), ("group-id", group_id.to_owned())];
            match (metric.unit, metric.value) {
                (MetricUnit::Count, Some(value)) => {
                    metrics::counter!(metric.name, &labels).absolute(value as u64);
                }
                (_, value) => metrics::gauge!(metric.name, &labels).set(value.unwrap_or(f64::NAN)),
            }
        }
    }
}

#[cfg(all(test, feature = "metrics"))]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use metrics::{
        Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    };

    use super::*;

    /// What was handed over, by name and labels.
    #[derive(Default, Clone)]
    struct Book(Arc<Mutex<BTreeMap<String, f64>>>);

    struct Line(Book, String);

    impl Line {
        fn write(&self, value: f64) {
            self.0.0.lock().unwrap().insert(self.1.clone(), value);
        }
    }

    impl CounterFn for Line {
        fn increment(&self, _: u64) {
            panic!("totals are handed over as they are");
        }

        fn absolute(&self, value: u64) {
            self.write(value as f64);
        }
    }

    impl GaugeFn for Line {
        fn increment(&self, _: f64) {
            panic!("gauges are set");
        }

        fn decrement(&self, _: f64) {
            panic!("gauges are set");
        }

        fn set(&self, value: f64) {
            self.write(value);
        }
    }

    impl Book {
        fn line(&self, kind: &str, key: &Key) -> Arc<Line> {
            let labels: Vec<String> =
                key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            Arc::new(Line(self.clone(), format!("{kind} {} {}", key.name(), labels.join(","))))
        }
    }

    impl Recorder for Book {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.line("counter", key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.line("gauge", key))
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            panic!("Kafka has none here");
        }
    }

    #[test]
    fn all_values_reach_the_recorder_under_kafkas_names() {
        let mut measured = MemberMetrics::new(0);
        measured.join.record(30, 1_000);
        measured.lost.record(7, 1_000);
        let book = Book::default();
        metrics::with_local_recorder(&book, || measured.publish(2_000, "c", "g"));
        let book = book.0.lock().unwrap();
        let labels = "client-id=c,group-id=g";
        assert_eq!(book[&format!("counter join-total {labels}")], 1.0);
        assert_eq!(book[&format!("gauge join-time-max {labels}")], 30.0);
        assert_eq!(book[&format!("gauge partition-lost-latency-avg {labels}")], 7.0);
        assert!(
            book[&format!("gauge sync-time-avg {labels}")].is_nan(),
            "Kafka shows NaN where nothing was measured"
        );
        assert_eq!(book.len(), measured.values(2_000).len());
    }
}
