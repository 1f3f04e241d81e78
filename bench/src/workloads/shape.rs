//! Shapes: how many topics, partitions and members, and who subscribes to what.

use std::sync::Arc;

use super::event::growth;
use super::{Event, Member, Random, Topic, Workload};

/// Who subscribes to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subscriptions {
    /// Everybody to everything.
    All,
    /// All, but one random member leaves one topic out.
    OneLess,
    /// All but the last topic, which only one random member takes as well.
    OneMore,
    /// Every other member leaves out the last tenth of the topics.
    TwoLists,
    /// Each to all topics but one, in turn.
    AllButOne,
    /// Each to this many neighbouring topics; the window slides from member to member and wraps.
    Window(u32),
    /// Each to a random number of random topics, between these two, both included.
    Random(u32, u32),
    /// Each to a random set of this share of the topics: numerator, denominator.
    Share(u32, u32),
    /// Topics in buckets of this many; every member belongs to one bucket.
    Buckets(u32),
    /// Few topics are wanted by most, most topics by few; members differ as much.
    Skewed,
}

/// How many of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Topics.
    pub topics: u32,
    /// Partitions of each topic; of the average one if topics differ.
    pub partitions: u32,
    /// Members.
    pub members: u32,
}

/// How replicas and members lie in racks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Racks {
    /// Racks with brokers; the members are spread over them at random.
    pub racks: u8,
    /// Replicas of each partition, each in another rack.
    pub replicas: u8,
}

/// A named shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Shape {
    /// Its name, without racks.
    pub name: &'static str,
    /// Its size in measurements.
    pub full: Size,
    /// Its size where it only has to run.
    pub small: Size,
    /// Who subscribes to what.
    pub subscriptions: Subscriptions,
    /// Racks, if known.
    pub racks: Option<Racks>,
}

const fn size(topics: u32, partitions: u32, members: u32) -> Size {
    Size { topics, partitions, members }
}

const fn shape(name: &'static str, full: Size, small: Size, subscriptions: Subscriptions) -> Shape {
    Shape { name, full, small, subscriptions, racks: None }
}

/// All shapes: uniform ones by size, then those with different subscriptions.
pub const SHAPES: &[Shape] = &[
    shape("uniform-1k", size(10, 100, 10), size(4, 25, 5), Subscriptions::All),
    shape("uniform-10k", size(100, 100, 100), size(10, 30, 10), Subscriptions::All),
    shape("uniform-100k", size(100, 1_000, 1_000), size(10, 100, 30), Subscriptions::All),
    shape("uniform-400k", size(400, 1_000, 4_000), size(20, 60, 40), Subscriptions::All),
    shape("uniform-1m", size(1_000, 1_000, 10_000), size(30, 50, 70), Subscriptions::All),
    shape("uniform-10m", size(1_000, 10_000, 50_000), size(10, 200, 90), Subscriptions::All),
    shape("small-topics", size(20_000, 5, 1_000), size(100, 5, 20), Subscriptions::All),
    shape("one-less", size(100, 1_000, 1_000), size(10, 100, 30), Subscriptions::OneLess),
    shape("one-more", size(101, 1_000, 1_000), size(11, 100, 30), Subscriptions::OneMore),
    shape("two-lists", size(100, 1_000, 1_000), size(10, 100, 30), Subscriptions::TwoLists),
    shape("all-but-one", size(200, 200, 500), size(12, 20, 30), Subscriptions::AllButOne),
    shape("windows", size(200, 50, 400), size(60, 10, 40), Subscriptions::Window(20)),
    shape("buckets", size(200, 500, 1_000), size(12, 30, 30), Subscriptions::Buckets(2)),
    shape("random-10k", size(100, 100, 100), size(10, 20, 10), Subscriptions::Random(1, 50)),
    shape("random-100k", size(1_000, 100, 1_000), size(40, 20, 40), Subscriptions::Random(1, 50)),
    shape("random-1m", size(10_000, 100, 10_000), size(80, 20, 80), Subscriptions::Random(1, 49)),
    shape("two-thirds", size(500, 2_000, 2_000), size(15, 60, 30), Subscriptions::Share(2, 3)),
    shape("skewed", size(1_000, 100, 1_000), size(40, 20, 40), Subscriptions::Skewed),
];

/// Shapes that a person can read, for the files in `datasets/workloads`.
pub const READABLE: &[Shape] = &[
    shape("shop", size(3, 12, 4), size(3, 12, 4), Subscriptions::All),
    shape("shop-mixed", size(5, 6, 5), size(5, 6, 5), Subscriptions::Random(1, 3)),
];

/// Names of topics where there are few of them: in order, as every workload's topics are.
const NAMES: [&str; 8] =
    ["clicks", "emails", "invoices", "orders", "payments", "returns", "shipments", "visits"];

impl Shape {
    /// The shape of a name: one of [`SHAPES`] or [`READABLE`], or one with racks, `+racks3` (two replicas in three racks) or
    /// `+racks5` (three in five).
    pub fn find(name: &str) -> Option<Self> {
        let (plain, racks) = match name.split_once('+') {
            None => (name, None),
            Some((plain, "racks3")) => (plain, Some(Racks { racks: 3, replicas: 2 })),
            Some((plain, "racks5")) => (plain, Some(Racks { racks: 5, replicas: 3 })),
            Some(_) => return None,
        };
        let shape = SHAPES.iter().chain(READABLE).find(|shape| shape.name == plain)?;
        Some(Self { racks, ..*shape })
    }

    /// The name, racks included.
    pub fn full_name(&self) -> String {
        match self.racks {
            None => self.name.to_string(),
            Some(racks) => format!("{}+racks{}", self.name, racks.racks),
        }
    }

    /// The same shape in its small size.
    #[must_use]
    pub fn small(self) -> Self {
        Self { full: self.small, ..self }
    }

    /// Whether all members subscribe alike.
    pub fn is_uniform(&self) -> bool {
        self.subscriptions == Subscriptions::All
    }

    /// Partitions of the group after an event, without making the group.
    pub fn partitions(&self, event: Event, seed: u64) -> u64 {
        let sizes = self.sizes(seed);
        let grown =
            if event == Event::TopicsGrow { sizes.iter().step_by(10).map(|&n| growth(n)).sum() } else { 0 };
        u64::from(sizes.iter().sum::<u32>() + grown)
    }

    /// The group before its first round.
    pub fn fresh(&self, seed: u64) -> Workload {
        let topics = self.make_topics(seed);
        let mut ids = Random::new(seed, "member ids");
        let mut places = Random::new(seed, "member racks");
        let mut lists = Lists::new(self, seed);
        let members = (0..self.full.members)
            .map(|number| Member {
                id: self.member_id(number, &mut ids),
                topics: lists.list(number),
                owned: Vec::new(),
                generation: None,
                rack: self.racks.map(|racks| places.below(u32::from(racks.racks)) as u8),
            })
            .collect();
        Workload { topics, members, deleted: Vec::new() }
    }

    /// One more member, with a subscription as others of this shape have it.
    pub(super) fn newcomer(&self, seed: u64, number: u32, ids: &mut Random) -> Member {
        let mut places = Random::new(seed, "newcomer racks");
        // The lists of one shape are a sequence: a newcomer's comes after those of all the first members.
        let mut lists = Lists::new(self, seed);
        for member in 0..number {
            lists.skip(member);
        }
        Member {
            id: self.member_id(number, ids),
            topics: lists.list(number),
            owned: Vec::new(),
            generation: None,
            rack: self.racks.map(|racks| places.below(u32::from(racks.racks)) as u8),
        }
    }

    /// The client's id and what the coordinator appends. Few clients have ids of their own, numbered; where
    /// there are many, each is the first consumer of its process.
    pub(super) fn member_id(&self, number: u32, ids: &mut Random) -> String {
        let few = self.full.members as usize <= NAMES.len();
        if few {
            format!("shop-{}-{}", number + 1, ids.uuid())
        } else {
            format!("consumer-app-1-{}", ids.uuid())
        }
    }

    fn make_topics(&self, seed: u64) -> Vec<Topic> {
        let count = self.full.topics;
        let mut random = Random::new(seed, "replica racks");
        let sizes = self.sizes(seed);
        let digits = (count.max(2) - 1).to_string().len();
        let topic = |(number, partitions): (usize, u32)| Topic {
            name: match NAMES.get(number) {
                Some(name) if count as usize <= NAMES.len() => (*name).to_string(),
                _ => format!("events-{number:0digits$}"),
            },
            partitions,
            racks: match self.racks {
                None => Vec::new(),
                Some(racks) => (0..partitions).map(|_| replicas(racks, &mut random)).collect(),
            },
        };
        sizes.into_iter().enumerate().map(topic).collect()
    }

    /// Partitions of each topic. Skewed topics halve in size at every doubling of their rank.
    fn sizes(&self, seed: u64) -> Vec<u32> {
        let Size { topics, partitions, .. } = self.full;
        if self.subscriptions != Subscriptions::Skewed {
            return vec![partitions; topics as usize];
        }
        let total = f64::from(topics * partitions);
        let harmonic: f64 = (1..=topics).map(|rank| 1.0 / f64::from(rank)).sum();
        let mut sizes: Vec<u32> =
            (1..=topics).map(|rank| (total / harmonic / f64::from(rank)).max(1.0) as u32).collect();
        // Their names shall not tell: mix them.
        let mut random = Random::new(seed, "topic sizes");
        for at in (1..sizes.len()).rev() {
            sizes.swap(at, random.below(at as u32 + 1) as usize);
        }
        sizes
    }
}

/// Racks in a row, from a random one on, as brokers are taken in turn.
fn replicas(racks: Racks, random: &mut Random) -> Vec<u8> {
    let first = random.below(u32::from(racks.racks)) as u8;
    let mut set: Vec<u8> =
        (0..racks.replicas.min(racks.racks)).map(|at| (first + at) % racks.racks).collect();
    set.sort_unstable();
    set
}

/// The members' topic lists, one after the other; equal lists are shared.
struct Lists {
    shape: Shape,
    random: Random,
    all: Arc<[u32]>,
    less: Arc<[u32]>,
    odd: u32,
}

impl Lists {
    fn new(shape: &Shape, seed: u64) -> Self {
        let mut random = Random::new(seed, "subscriptions");
        let topics = shape.full.topics;
        let odd = random.below(shape.full.members.max(1));
        let less = match shape.subscriptions {
            Subscriptions::OneLess => {
                let without = random.below(topics);
                (0..topics).filter(|&topic| topic != without).collect()
            }
            Subscriptions::OneMore => (0..topics - 1).collect(),
            Subscriptions::TwoLists => (0..topics - topics / 10).collect(),
            _ => Arc::new([]) as Arc<[u32]>,
        };
        Self { shape: *shape, random, all: (0..topics).collect(), less, odd }
    }

    fn list(&mut self, member: u32) -> Arc<[u32]> {
        let Size { topics, members, .. } = self.shape.full;
        match self.shape.subscriptions {
            Subscriptions::All => self.all.clone(),
            Subscriptions::OneLess if member == self.odd => self.less.clone(),
            Subscriptions::OneLess => self.all.clone(),
            Subscriptions::OneMore if member == self.odd => self.all.clone(),
            Subscriptions::OneMore => self.less.clone(),
            Subscriptions::TwoLists if member.is_multiple_of(2) => self.all.clone(),
            Subscriptions::TwoLists => self.less.clone(),
            Subscriptions::AllButOne => (0..topics).filter(|&topic| topic != member % topics).collect(),
            Subscriptions::Window(width) => {
                let first = (u64::from(member) * u64::from(topics) / u64::from(members)) as u32;
                let mut list: Vec<u32> = (first..first + width.min(topics)).map(|at| at % topics).collect();
                list.sort_unstable();
                list.into()
            }
            Subscriptions::Random(from, to) => {
                let count = self.random.within(from, to).min(topics);
                self.random.choose(count, topics).into()
            }
            Subscriptions::Share(numerator, denominator) => {
                self.random.choose(topics * numerator / denominator, topics).into()
            }
            Subscriptions::Buckets(width) => {
                let bucket = member % (topics / width).max(1);
                (bucket * width..(bucket * width + width).min(topics)).collect()
            }
            Subscriptions::Skewed => self.skewed(topics),
        }
    }

    /// As [`list`](Self::list) for a list that nobody wants to see.
    fn skip(&mut self, member: u32) {
        if matches!(
            self.shape.subscriptions,
            Subscriptions::Random(..) | Subscriptions::Share(..) | Subscriptions::Skewed
        ) {
            self.list(member);
        }
    }

    /// Half of the members want up to three topics, a quarter up to six, and so on; a topic's chance falls
    /// with the square of its number.
    fn skewed(&mut self, topics: u32) -> Arc<[u32]> {
        let doublings = self.random.bits().trailing_zeros().min(7);
        let count = self.random.within(1, (3 << doublings).min(topics));
        let mut list: Vec<u32> = (0..count)
            .map(|_| {
                let x = u64::from(self.random.below(topics));
                (x * x / u64::from(topics)) as u32
            })
            .collect();
        list.sort_unstable();
        list.dedup();
        list.into()
    }
}
