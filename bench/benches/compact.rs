//! Is the compact form as quick as Kafka's sticky formats, for the same ownership?
//!
//! ```text
//! cargo bench -p tenure-bench --bench compact                       the group of the front page, scattered
//! TENURE_BENCH_SMOKE=1 cargo bench -p tenure-bench --bench compact  a small group, in seconds
//! ```
//!
//! 1,000 members own 100 of 100,000 partitions in 100 topics each, at random, as after much churn: about one
//! partition a run. Both forms are written from the same named lists into memory that is there, the compact one also from
//! the places of topics in the list, which a member may keep; and read into the same sum
//! over topics and partitions. Before criterion's samples a line gives bytes and ratios, ours and theirs by
//! turns in one run. `leader` is the whole round, bytes to bytes, under each assignor's name.

mod common;

use core::hint::black_box;
use core::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use tenure::Topology;
use tenure::codec::compact::{Claim, CompactFields, CompactScratch, CompactUserData, Owned, TopicList};
use tenure::codec::sticky::{COOPERATIVE_STICKY, STICKY, TENURE_COOPERATIVE_STICKY, encode_cooperative};
use tenure::codec::{History, StickyFields, Subscription, SubscriptionFields, TopicPartitions};
use tenure::protocol::leader::{Leader, LeaderScratch};
use tenure::protocol::message::JoinMember;
use tenure_bench::alloc::{self, Counting};
use tenure_bench::measure::thread_time;

use common::{CpuTime, SEED, criterion, smoke};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TOPICS: usize = 100;
const GENERATION: i32 = 1_041;

fn main() {
    let mut criterion = criterion();
    let members = if smoke() { 20 } else { 1_000 };
    let names: Vec<String> = (0..TOPICS).map(|topic| format!("topic-{topic:05}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let topics = TopicList::new(&names).expect("names are short");
    let owned = deal(members, &names);
    let blocks: Vec<Vec<TopicPartitions<'_>>> = owned
        .iter()
        .map(|member| {
            member.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect()
        })
        .collect();
    let mut group = Group::new(&topics, &blocks);
    group.report();
    group.bench(&mut criterion);
    criterion.final_summary();
}

/// What each member owns: topics and their partitions, both ascending.
type Dealt<'a> = Vec<Vec<(&'a str, Vec<i32>)>>;

/// Deals all partitions at random, 100 to a member.
fn deal<'a>(members: usize, names: &[&'a str]) -> Dealt<'a> {
    let per_topic = members;
    let mut state = SEED;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut partitions: Vec<usize> = (0..per_topic * names.len()).collect();
    for at in (1..partitions.len()).rev() {
        partitions.swap(at, below(at + 1));
    }
    partitions
        .chunks_mut(names.len())
        .map(|mine| {
            mine.sort_unstable();
            mine.chunk_by(|a, b| a / per_topic == b / per_topic)
                .map(|block| {
                    let numbers = block.iter().map(|partition| (partition % per_topic) as i32).collect();
                    (names[block[0] / per_topic], numbers)
                })
                .collect()
        })
        .collect()
}

struct Group<'a> {
    topics: &'a TopicList<'a>,
    blocks: &'a [Vec<TopicPartitions<'a>>],
    /// The same by place.
    claims: Vec<Vec<Claim>>,
    partitions: u64,
    scratch: CompactScratch,
    buffer: Vec<u8>,
    /// The user data of each member, and as members of each assignor.
    compact: Vec<Vec<u8>>,
    sticky: Vec<Vec<u8>>,
    joined: [(&'static str, Vec<JoinMember>); 3],
    topology: Topology,
    leader_scratch: LeaderScratch,
}

impl<'a> Group<'a> {
    fn new(topics: &'a TopicList<'a>, blocks: &'a [Vec<TopicPartitions<'a>>]) -> Self {
        let compact: Vec<Vec<u8>> = blocks
            .iter()
            .map(|owned| compact_fields(topics, owned).encode().expect("names are short"))
            .collect();
        let sticky: Vec<Vec<u8>> =
            blocks.iter().map(|owned| sticky_fields(owned).encode().expect("names are short")).collect();
        let cooperative = encode_cooperative(GENERATION);
        let join = |name: &'static str| {
            let member = |at: usize| {
                let (user_data, owned): (&[u8], &[TopicPartitions<'_>]) = match name {
                    STICKY => (&sticky[at], &[]),
                    COOPERATIVE_STICKY => (&cooperative, &blocks[at]),
                    _ => (&compact[at], &[]),
                };
                let fields = SubscriptionFields {
                    topics: topics.names(),
                    user_data: Some(user_data),
                    owned,
                    generation: Some(GENERATION),
                    rack: None,
                };
                JoinMember {
                    member_id: format!("member-{at:05}"),
                    group_instance_id: None,
                    metadata: fields.encode(3).expect("names are short"),
                }
            };
            (name, (0..blocks.len()).map(member).collect())
        };
        let joined = [join(STICKY), join(COOPERATIVE_STICKY), join(TENURE_COOPERATIVE_STICKY)];
        let mut topology = Topology::builder();
        for name in topics.names() {
            topology.add_topic(name, blocks.len() as u32);
        }
        Self {
            topics,
            claims: blocks.iter().map(|owned| numbered(topics, owned)).collect(),
            blocks,
            partitions: (blocks.len() * TOPICS) as u64,
            scratch: CompactScratch::default(),
            buffer: vec![0; 1 << 16],
            joined,
            compact,
            sticky,
            topology: topology.build().expect("names differ"),
            leader_scratch: LeaderScratch::new(),
        }
    }

    fn encode_compact(&mut self) -> usize {
        let mut total = 0;
        for owned in self.blocks {
            let fields = compact_fields(self.topics, owned);
            total += fields.encode_into(&mut self.scratch, &mut self.buffer).expect("it fits");
        }
        total
    }

    /// From the places of the topics, which a member may keep.
    fn encode_numbered(&mut self) -> usize {
        let mut total = 0;
        for claims in &self.claims {
            let fields = CompactFields { owned: Owned::Claims(claims), ..compact_fields(self.topics, &[]) };
            total += fields.encode_into(&mut self.scratch, &mut self.buffer).expect("it fits");
        }
        total
    }

    fn encode_sticky(&mut self) -> usize {
        let mut total = 0;
        for owned in self.blocks {
            total += sticky_fields(owned).encode_into(&mut self.buffer).expect("it fits");
        }
        total
    }

    /// Reads what the members of one of the assignors sent, and every partition in it.
    fn decode(&self, which: usize) -> u64 {
        let (name, members) = &self.joined[which];
        let mut sum = 0;
        let mut seal = None;
        for member in members {
            let subscription = Subscription::decode(&member.metadata).expect("a codec wrote it");
            if *name == TENURE_COOPERATIVE_STICKY {
                // As the leader does: one checksum of a list that all have.
                let seal = *seal.get_or_insert_with(|| CompactUserData::seal(subscription.topics));
                let data = subscription.user_data.expect("it was sent");
                let read = CompactUserData::decode_sealed(data, subscription.topics, seal)
                    .expect("a codec wrote it");
                read.claims().for_each(|claim| sum += u64::from(claim.topic) ^ u64::from(claim.partition));
            } else {
                for block in History::of(&subscription, name).owned {
                    let topic = self.topic(block.topic.as_bytes());
                    block.partitions.into_iter().for_each(|partition| sum += topic ^ partition as u64);
                }
            }
        }
        sum
    }

    /// The place of a name in the list. The names are made so that it can be told from their last two digits: cheaper
    /// than any look-up.
    fn topic(&self, name: &[u8]) -> u64 {
        match name {
            [.., tens, ones] => u64::from(tens - b'0') * 10 + u64::from(ones - b'0'),
            _ => 0,
        }
    }

    fn lead(&mut self, which: usize) {
        let (name, members) = &self.joined[which];
        let first = members[0].member_id.as_str();
        let round = Leader::new().round_into(name, members, first, &self.topology, &mut self.leader_scratch);
        match round {
            Ok(round) => {
                assert_eq!((round.unreadable().len(), round.stats().moves), (0, 0), "everybody keeps all");
                black_box(round.bytes());
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Bytes, allocations, and ratios of the shortest of many runs by turns.
    fn report(&mut self) {
        let sums: Vec<u64> = (0..3).map(|which| self.decode(which)).collect();
        assert!(sums.iter().all(|sum| *sum == sums[0]), "all say the same: {sums:?}");
        self.encode_compact();
        let (len, used) = alloc::count(|| self.encode_compact());
        assert_eq!(used.allocations, 0, "writing allocates");
        assert_eq!(self.encode_numbered(), len, "the same bytes, whatever they are made from");
        let (_, used) = alloc::count(|| self.encode_numbered());
        assert_eq!(used.allocations, 0, "writing allocates");
        let (_, used) = alloc::count(|| self.decode(2));
        assert_eq!(used.allocations, 0, "reading allocates");
        let sticky_len: usize = self.sticky.iter().map(Vec::len).sum();
        assert_eq!(len, self.compact.iter().map(Vec::len).sum::<usize>());
        let members = self.blocks.len() as f64;
        let bound: f64 = (0..TOPICS as u64)
            .map(|nth| ((self.partitions - nth) as f64 / (nth + 1) as f64).log2() / 8.0)
            .sum();
        println!(
            "\n{members} members: {:.1} bytes each, sticky {:.1}, bound {bound:.1}; 0 allocations",
            len as f64 / members,
            sticky_len as f64 / members
        );
        let mut times = [f64::INFINITY; 9];
        let budget = Duration::from_millis(if smoke() { 5 } else { 4_000 });
        let begin = thread_time();
        let mut turn = 0;
        while thread_time() - begin < budget {
            let mut time = |at: usize, run: &mut dyn FnMut()| {
                let before = thread_time();
                run();
                times[at] = times[at].min((thread_time() - before).as_nanos() as f64);
            };
            // Who comes first fetches what is owned from far away, for all: so all take turns at that, too.
            for step in 0..3 {
                let which = [0, 1, 8][(turn + step) % 3];
                time(which, &mut || {
                    _ = black_box(match which {
                        0 => self.encode_sticky(),
                        1 => self.encode_compact(),
                        _ => self.encode_numbered(),
                    });
                });
            }
            turn += 1;
            for which in 0..3 {
                time(2 + which, &mut || _ = black_box(self.decode(which)));
            }
            for which in 0..3 {
                time(5 + which, &mut || self.lead(which));
            }
        }
        let per = |at: usize| times[at] / self.partitions as f64;
        println!("ns a partition, the shortest of many runs by turns; ratios are theirs to ours");
        println!(
            "write   sticky {:.2}, compact by name {:.2}, by place {:.2}: {:.2} and {:.2}",
            per(0),
            per(1),
            per(8),
            times[0] / times[1],
            times[0] / times[8]
        );
        println!(
            "read    sticky {:.2}, cooperative-sticky {:.2}, compact {:.2}: {:.2} and {:.2}",
            per(2),
            per(3),
            per(4),
            times[2] / times[4],
            times[3] / times[4]
        );
        println!(
            "leader  sticky {:.2}, cooperative-sticky {:.2}, compact {:.2}: {:.2} and {:.2}",
            per(5),
            per(6),
            per(7),
            times[5] / times[7],
            times[6] / times[7]
        );
    }

    fn bench(&mut self, criterion: &mut Criterion<CpuTime>) {
        let mut benches = criterion.benchmark_group("compact");
        benches.throughput(Throughput::Elements(self.partitions));
        benches.bench_function(BenchmarkId::new("write", "sticky"), |b| b.iter(|| self.encode_sticky()));
        benches.bench_function(BenchmarkId::new("write", "compact"), |b| b.iter(|| self.encode_compact()));
        benches.bench_function(BenchmarkId::new("write", "compact-by-place"), |b| {
            b.iter(|| self.encode_numbered());
        });
        for (which, name) in [STICKY, COOPERATIVE_STICKY, TENURE_COOPERATIVE_STICKY].into_iter().enumerate() {
            benches.bench_function(BenchmarkId::new("read", name), |b| b.iter(|| self.decode(which)));
            benches.bench_function(BenchmarkId::new("leader", name), |b| b.iter(|| self.lead(which)));
        }
        benches.finish();
    }
}

fn compact_fields<'a>(topics: &'a TopicList<'a>, owned: &'a [TopicPartitions<'a>]) -> CompactFields<'a> {
    CompactFields { owned: Owned::Blocks(owned), generation: Some(GENERATION), ..CompactFields::new(topics) }
}

fn numbered(topics: &TopicList<'_>, owned: &[TopicPartitions<'_>]) -> Vec<Claim> {
    let claims = owned.iter().flat_map(|block| {
        let topic = topics.find(block.topic).expect("all are in the list");
        block.partitions.iter().map(move |&partition| Claim { topic, partition: partition as u32 })
    });
    claims.collect()
}

fn sticky_fields<'a>(owned: &'a [TopicPartitions<'a>]) -> StickyFields<'a> {
    StickyFields { previous: owned, generation: Some(GENERATION) }
}
