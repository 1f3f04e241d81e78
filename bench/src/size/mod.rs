//! How many bytes it takes to say what a member owns, by format, pattern, topics and partitions.
//!
//! One member owns a tenth of all partitions, as in a group of ten. Topics have equal numbers of partitions and names of
//! 18 bytes. Counted is what the ownership takes in a subscription, with its generation and all lengths; not the topics
//! subscribed to, which are the same in every format.

mod plot;
mod report;

pub use plot::plot;
pub use report::{csv, markdown};

use roaring::RoaringBitmap;
use tenure::codec::compact::{CompactFields, CompactUserData, Owned, TopicList};
use tenure::codec::{StickyFields, Subscription, SubscriptionFields, TopicPartitions};

use crate::workloads::Random;

/// Which partitions a member owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// One run of partitions after the other: what range leaves.
    Contiguous,
    /// Every tenth: what round robin leaves.
    RoundRobin,
    /// Any: what is left after many rebalances.
    Random,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Contiguous, Self::RoundRobin, Self::Random];

    /// A name for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
        }
    }
}

/// A way to write what is owned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Kafka's `ownedPartitions` of `cooperative-sticky`, and its user data.
    Cooperative,
    /// Kafka's user data of `sticky`.
    Sticky,
    /// A Roaring bitmap for each topic, behind its name.
    RoaringByTopic,
    /// One Roaring bitmap over all partitions of all topics.
    Roaring,
    /// What lies between partitions, over all topics, as varints.
    Varints,
    /// Tenure's compact user data.
    Tenure,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Cooperative, Self::Sticky, Self::RoaringByTopic, Self::Roaring, Self::Varints, Self::Tenure];

    /// A name for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cooperative => "kafka-cooperative",
            Self::Sticky => "kafka-sticky",
            Self::RoaringByTopic => "roaring-by-topic",
            Self::Roaring => "roaring",
            Self::Varints => "varints",
            Self::Tenure => "tenure",
        }
    }
}

/// Members of the group.
pub const MEMBERS: u32 = 10;

/// Partitions owned, in the report.
pub const OWNED: [u32; 7] = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];

/// Topics, in the report.
pub const TOPICS: [u32; 4] = [1, 10, 100, 1_000];

/// What a member owns.
#[derive(Clone, Debug)]
pub struct Holding {
    names: Vec<String>,
    /// Partitions of each topic.
    each: u32,
    /// Numbers over all topics, ascending.
    numbers: Vec<u32>,
}

const SEED: u64 = 429;
const GENERATION: i32 = 1_000;

impl Holding {
    /// About `owned` partitions: a tenth of as many as the topics can have alike.
    pub fn new(pattern: Pattern, topics: u32, owned: u32) -> Self {
        let each = (owned * MEMBERS).div_ceil(topics);
        let all = each * topics;
        let owned = all / MEMBERS;
        let numbers = match pattern {
            // The fourth of ten shares: of each topic, or of all together where topics have too few to share.
            Pattern::Contiguous if each < MEMBERS => (owned * 3..owned * 4).collect(),
            Pattern::Contiguous => {
                let share = |part: u32| (u64::from(each) * u64::from(part) / u64::from(MEMBERS)) as u32;
                (0..topics).flat_map(|topic| topic * each + share(3)..topic * each + share(4)).collect()
            }
            Pattern::RoundRobin => (0..owned).map(|at| at * MEMBERS + 3).collect(),
            Pattern::Random => {
                let purpose = format!("size/{topics}/{owned}");
                Random::new(SEED, &purpose).choose(owned, all)
            }
        };
        Self { names: (0..topics).map(|topic| format!("orders.events-{topic:04}")).collect(), each, numbers }
    }

    /// How many partitions are owned.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// log2 of the number of ways to own so many of all, in bytes: less no code can do on average over all ways.
    pub fn entropy_bytes(&self) -> f64 {
        let (all, owned) = (self.names.len() as f64 * f64::from(self.each), self.len() as f64);
        let share = owned / all;
        let bits = -share * share.log2() - (1.0 - share) * (1.0 - share).log2();
        all * bits / 8.0
    }

    fn blocks(&self) -> Vec<(&str, Vec<i32>)> {
        self.numbers
            .chunk_by(|a, b| a / self.each == b / self.each)
            .map(|numbers| {
                let name = self.names[(numbers[0] / self.each) as usize].as_str();
                (name, numbers.iter().map(|number| (number % self.each) as i32).collect())
            })
            .collect()
    }

    /// The bytes of the ownership, really written.
    ///
    /// # Panics
    ///
    /// If Tenure's data does not say again what went into it.
    pub fn bytes(&self, way: Way) -> usize {
        let blocks = self.blocks();
        let owned: Vec<TopicPartitions<'_>> =
            blocks.iter().map(|(topic, partitions)| TopicPartitions { topic, partitions }).collect();
        match way {
            Way::Cooperative => {
                let with = SubscriptionFields {
                    owned: &owned,
                    user_data: Some(&GENERATION.to_be_bytes()),
                    ..SubscriptionFields::default()
                };
                let without = SubscriptionFields::default();
                let len = |fields: SubscriptionFields<'_>| fields.encode(1).expect("names are short").len();
                len(with) - len(without)
            }
            Way::Sticky => {
                let fields = StickyFields { previous: &owned, generation: Some(GENERATION) };
                fields.encode().expect("names are short").len()
            }
            Way::RoaringByTopic => {
                let topic = |(name, numbers): &(&str, Vec<i32>)| {
                    let set = numbers.iter().map(|number| number.unsigned_abs()).collect();
                    2 + name.len() + 4 + serialized(set)
                };
                4 + 4 + blocks.iter().map(topic).sum::<usize>()
            }
            Way::Roaring => 4 + serialized(self.numbers.iter().copied().collect()),
            Way::Varints => {
                let mut bytes = GENERATION.to_be_bytes().to_vec();
                let mut next = 0;
                for &number in &self.numbers {
                    let mut left = number - next;
                    next = number + 1;
                    while left >= 0x80 {
                        bytes.push((left & 0x7f) as u8 | 0x80);
                        left >>= 7;
                    }
                    bytes.push(left as u8);
                }
                bytes.len()
            }
            Way::Tenure => self.tenure(&owned),
        }
    }

    fn tenure(&self, owned: &[TopicPartitions<'_>]) -> usize {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let topics = TopicList::new(&names).expect("names are short");
        let mut fields = CompactFields::new(&topics);
        fields.owned = Owned::Blocks(owned);
        fields.generation = Some(GENERATION);
        let bytes = fields.encode().expect("numbers are small");
        let subscription = SubscriptionFields { topics: &names, ..SubscriptionFields::default() };
        let subscription = subscription.encode(1).expect("names are short");
        let list = Subscription::decode(&subscription).expect("it was just written").topics;
        let read = CompactUserData::decode(&bytes, list).expect("it was just written");
        let told = read.claims().map(|claim| claim.topic * self.each + claim.partition);
        assert!(told.eq(self.numbers.iter().copied()), "compact user data says something else");
        bytes.len()
    }
}

/// With containers of runs where they are shorter.
fn serialized(mut set: RoaringBitmap) -> usize {
    set.optimize();
    let mut bytes = Vec::new();
    set.serialize_into(&mut bytes).expect("memory takes everything");
    bytes.len()
}

/// One line of the report.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which partitions are owned.
    pub pattern: Pattern,
    /// Number of topics.
    pub topics: u32,
    /// Partitions owned.
    pub owned: usize,
    /// The entropy bound.
    pub entropy: f64,
    /// Bytes of each of [`Way::ALL`].
    pub bytes: [usize; 6],
}

impl Row {
    /// Writes the ownership in every way.
    pub fn new(pattern: Pattern, topics: u32, owned: u32) -> Self {
        let holding = Holding::new(pattern, topics, owned);
        let bytes = Way::ALL.map(|way| holding.bytes(way));
        Self { pattern, topics, owned: holding.len(), entropy: holding.entropy_bytes(), bytes }
    }

    /// Every row of the report with at most so many partitions owned.
    pub fn all(most: u32) -> impl Iterator<Item = Self> {
        let owned = move || OWNED.into_iter().filter(move |&owned| owned <= most);
        let shapes = move |pattern| {
            TOPICS.into_iter().flat_map(move |topics| owned().map(move |owned| (pattern, topics, owned)))
        };
        let shapes = Pattern::ALL.into_iter().flat_map(shapes);
        shapes.map(|(pattern, topics, owned)| Self::new(pattern, topics, owned))
    }
}

/// What a record holds by default, "1 MB".
pub const LIMIT: usize = 1_048_588;

/// Groups beyond are not tried.
const PARTITIONS_MAX: u32 = 1 << 23;

/// The partitions with which the ownership of a whole group of ten takes [`LIMIT`] bytes: the smallest number, to
/// within one part in a hundred; `None` if eight million don't.
pub fn reaches_limit(pattern: Pattern, topics: u32, way: Way) -> Option<u32> {
    let group = |partitions: u32| {
        Holding::new(pattern, topics, partitions / MEMBERS).bytes(way) * MEMBERS as usize > LIMIT
    };
    let (mut low, mut high) = (1_000, 2_000);
    while !group(high) {
        (low, high) = (high, high * 2);
        if high > PARTITIONS_MAX {
            return None;
        }
    }
    while high - low > high / 100 {
        let middle = low.midpoint(high);
        if group(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
