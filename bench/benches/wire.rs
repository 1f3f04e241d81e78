//! What do a leader's bytes cost: reading all members, writing all assignments, and a whole round of both with the
//! plan between them?
//!
//! ```text
//! cargo bench -p tenure-bench --bench wire                                  both sizes, both sticky assignors
//! cargo bench -p tenure-bench --bench wire -- uniform-100k/cooperative-sticky/leader --profile-time 5
//! TENURE_BENCH_SMOKE=1 cargo bench -p tenure-bench --bench wire             small groups, in seconds
//! ```
//!
//! The members' bytes are those of Java clients of a settled group, each in memory of its own as a client has them.
//! Before anything is timed a line says what was led, that it is valid, how often a warm round allocates, and how it
//! compares with a plain copy of the bytes that came in and with a plain pass over them.

mod common;

use core::hint::black_box;
use core::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use tenure::Topology;
use tenure::codec::{Assignment, AssignmentFields, Subscription, TopicPartitions};
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::message::JoinMember;
use tenure_bench::alloc::{self, Counting};
use tenure_bench::check;
use tenure_bench::measure::thread_time;
use tenure_bench::workloads::Shape;

use common::{CpuTime, SEED, criterion, smoke};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 100,000 partitions × 1,000 members in 100 topics, and 1,000,000 × 10,000 in 1,000.
const SIZES: [&str; 2] = ["uniform-100k", "uniform-1m"];

const PROTOCOLS: [&str; 2] = ["cooperative-sticky", "sticky"];

fn main() {
    let mut criterion = criterion();
    for name in SIZES {
        let shape = Shape::find(name).expect("a shape of the table");
        let shape = if smoke() { shape.small() } else { shape };
        for protocol in PROTOCOLS {
            wire(&mut criterion, shape, protocol);
        }
    }
    criterion.final_summary();
}

fn wire(criterion: &mut Criterion<CpuTime>, shape: Shape, protocol: &'static str) {
    let mut benches = criterion.benchmark_group(format!("{}/{protocol}", shape.full_name()));
    let mut bench = None;
    let partitions = shape.partitions(tenure_bench::workloads::Event::Steady, SEED);
    benches.throughput(Throughput::Elements(partitions));
    type Part = fn(&mut Wire);
    let parts: [(&str, Part); 5] = [
        ("leader", Wire::lead),
        ("decode", |wire| _ = black_box(wire.decode())),
        ("encode", Wire::encode),
        ("copy", Wire::copy),
        ("pass", |wire| _ = black_box(wire.pass())),
    ];
    for (part, run) in parts {
        benches.bench_function(BenchmarkId::from_parameter(part), |bencher| {
            let wire = bench.get_or_insert_with(|| Wire::set_up(&shape, protocol, partitions));
            bencher.iter(|| run(wire));
        });
    }
    benches.finish();
}

/// A group as its leader gets it, and everything that its rounds need.
struct Wire {
    leader: Leader,
    protocol: &'static str,
    members: Vec<JoinMember>,
    topology: Topology,
    scratch: LeaderScratch,
    /// What the leader wrote, by member, as values to be written again.
    assigned: Vec<Vec<(String, Vec<i32>)>>,
    buffer: Vec<u8>,
}

impl Wire {
    fn set_up(shape: &Shape, protocol: &'static str, partitions: u64) -> Self {
        let settled = shape.fresh(SEED).settled();
        let mut wire = Self {
            leader: Leader::new(),
            protocol,
            members: settled.joined(protocol),
            topology: settled.topology(),
            scratch: LeaderScratch::new(),
            assigned: Vec::new(),
            buffer: Vec::new(),
        };
        let name = format!("{}/{protocol}", shape.full_name());
        wire.lead();
        wire.lead();
        let ((), used) = alloc::count(|| wire.lead());
        assert_eq!(used.allocations, 0, "{name}: a warm round allocates");
        let (read, used) = alloc::count(|| wire.decode());
        assert_eq!(used.allocations, 0, "{name}: decoding allocates");

        let (members, came) = (wire.members.len(), wire.came());
        let round = wire.round();
        if let Err(error) = check::check(round.group(), round.plan(), round.outcome()) {
            panic!("{name}: {error}");
        }
        assert_eq!((round.unreadable().len(), round.stats().moves), (0, 0), "{name}: everybody keeps all");
        let assigned: Vec<_> = round.assignments().map(|(_, bytes)| named(bytes)).collect();
        let sent = round.bytes().len();
        wire.assigned = assigned;
        wire.buffer = vec![0; came.max(sent)];
        let ((), used) = alloc::count(|| wire.encode());
        assert_eq!(used.allocations, members as u64, "{name}: encoding lends each member's blocks once");

        let budget = Duration::from_millis(if smoke() { 1 } else { 400 });
        let lead = shortest(budget, || wire.lead());
        let copy = shortest(budget / 4, || wire.copy());
        let pass = shortest(budget / 4, || _ = black_box(wire.pass()));
        let per = |ns: f64| ns / partitions as f64;
        println!(
            "\n{name}: {members} members, {came} bytes in with {read} claims, {sent} bytes out, valid, 0 allocations \
             a round\n{name}: round {:.2} ns a partition, {:.2} without one pass over the bytes ({:.2}); {:.1} times a \
             copy of them ({:.2})",
            per(lead),
            per(lead - pass),
            per(pass),
            lead / copy,
            per(copy),
        );
        wire
    }

    fn came(&self) -> usize {
        self.members.iter().map(|member| member.metadata.len()).sum()
    }

    fn round(&mut self) -> tenure::protocol::leader::LeaderRound<'_> {
        let Self { leader, protocol, members, topology, scratch, .. } = self;
        let first = members[0].member_id.as_str();
        match leader.round_into(protocol, members, first, topology, scratch) {
            Ok(round) => round,
            Err(error) => panic!("{error}"),
        }
    }

    /// The whole round.
    fn lead(&mut self) {
        black_box(self.round().bytes());
    }

    /// Reads every member and every number in it, without looking anything up.
    fn decode(&self) -> usize {
        let mut claims = 0;
        for member in black_box(&self.members) {
            let subscription = Subscription::decode(&member.metadata).expect("a codec wrote it");
            let history = tenure::codec::History::of(&subscription, self.protocol);
            for block in history.owned {
                claims += block.partitions.iter().map(|p| usize::from(black_box(p) >= 0)).sum::<usize>();
            }
        }
        claims
    }

    /// Writes every assignment by the codec alone.
    fn encode(&mut self) {
        let mut at = 0;
        for member in &self.assigned {
            let assigned: Vec<_> =
                member.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
            let fields = AssignmentFields { assigned: &assigned, user_data: None };
            at += fields.encode_into(3, &mut self.buffer[at..]).expect("the buffer holds them all");
        }
        black_box(&self.buffer[..at]);
    }

    /// Copies what came in.
    fn copy(&mut self) {
        let mut at = 0;
        for member in &self.members {
            let end = at + member.metadata.len();
            self.buffer[at..end].copy_from_slice(&member.metadata);
            at = end;
        }
        black_box(&mut self.buffer);
    }

    /// Looks at every byte that came in once: their sum, eight at a time.
    fn pass(&self) -> u64 {
        let sum = |member: &JoinMember| {
            let (words, rest) = member.metadata.as_chunks::<8>();
            let words = words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
            rest.iter().fold(words, |sum, &byte| sum.wrapping_add(u64::from(byte)))
        };
        self.members.iter().fold(0, |total, member| total.wrapping_add(sum(member)))
    }
}

fn named(bytes: &[u8]) -> Vec<(String, Vec<i32>)> {
    let assignment = Assignment::decode(bytes).expect("the leader wrote it");
    let owned = |block: tenure::codec::Block<'_>| {
        (block.topic.to_str_lossy().into_owned(), block.partitions.iter().collect())
    };
    assignment.assigned.into_iter().map(owned).collect()
}

/// The shortest of at least three runs within a budget, in nanoseconds of CPU time.
fn shortest(budget: Duration, mut run: impl FnMut()) -> f64 {
    let begin = thread_time();
    let (mut shortest, mut runs) = (Duration::MAX, 0);
    while runs < 3 || thread_time() - begin < budget {
        let before = thread_time();
        run();
        shortest = shortest.min(thread_time() - before);
        runs += 1;
    }
    shortest.as_nanos() as f64
}
