//! All members' bytes, read one after the other or by several threads.
//!
//! A thread reads a stretch of the members, in order of their ids, into memory of its own; then they are handed on one
//! by one in that order, so that it does not show how many threads there were.

use alloc::vec::Vec;

use super::heads::Heads;
use super::member::{Course, Taken};
use super::{JoinEntry, LeaderError};

/// The memory of the threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Courses {
    list: Vec<Stretch>,
}

/// What one thread read.
#[derive(Debug, Clone, Default)]
struct Stretch {
    course: Course,
    /// The members, and where the claims of each end.
    #[cfg(feature = "rayon")]
    taken: Vec<(Option<Taken>, usize)>,
}

impl Courses {
    /// Reads the members at these positions and hands on each with its claims, in this order; nothing for one that is
    /// to be read with care. Ends at the first error.
    pub(super) fn each<M: JoinEntry>(
        &mut self,
        members: &[M],
        order: &[u32],
        protocol_name: &str,
        heads: &Heads,
        mut call: impl FnMut(u32, Option<(Taken, &[u32])>) -> Result<(), LeaderError>,
    ) -> Result<(), LeaderError> {
        #[cfg(feature = "rayon")]
        if let Some(count) = stretches(members, order) {
            if self.list.len() < count {
                self.list.resize_with(count, Stretch::default);
            }
            let list = &mut self.list[..count];
            read(list, members, order, protocol_name, heads);
            let ends = (1..=count).map(|at| order.len() * at / count);
            let mut from = 0;
            for (stretch, end) in list.iter().zip(ends) {
                let mut begin = 0;
                for (&position, &(taken, end)) in order[from..end].iter().zip(&stretch.taken) {
                    call(position, taken.map(|taken| (taken, &stretch.course.claims[begin..end])))?;
                    begin = end;
                }
                from = end;
            }
            return Ok(());
        }
        if self.list.is_empty() {
            self.list.push(Stretch::default());
        }
        let course = &mut self.list[0].course;
        course.clear();
        let mut previous = None;
        for &position in order {
            course.claims.clear();
            let bytes = members[position as usize].metadata();
            let taken = course.take(bytes, &mut previous, protocol_name, heads);
            call(position, taken.map(|taken| (taken, &course.claims[..])))?;
        }
        Ok(())
    }

    pub(super) fn memory_usage(&self) -> usize {
        let stretch = |stretch: &Stretch| {
            #[cfg(feature = "rayon")]
            let taken = stretch.taken.capacity() * size_of::<(Option<Taken>, usize)>();
            #[cfg(not(feature = "rayon"))]
            let taken = 0;
            stretch.course.memory_usage() + taken
        };
        self.list.capacity() * size_of::<Stretch>() + self.list.iter().map(stretch).sum::<usize>()
    }
}

/// Members whose bytes are fewer together are not worth a second thread.
#[cfg(feature = "rayon")]
const PARALLEL_BYTES: usize = 1 << 17;

/// How many stretches to read the members in, if more than one pays: in a pool, one for each of its threads.
#[cfg(feature = "rayon")]
fn stretches<M: JoinEntry>(members: &[M], order: &[u32]) -> Option<usize> {
    rayon::current_thread_index()?;
    let most = rayon::current_num_threads().min(order.len());
    let bytes: usize = order.iter().map(|&position| members[position as usize].metadata().len()).sum();
    (most > 1 && bytes >= PARALLEL_BYTES).then_some(most)
}

/// Reads members into as many stretches, each of nearly as many members.
#[cfg(feature = "rayon")]
fn read<M: JoinEntry>(
    list: &mut [Stretch],
    members: &[M],
    order: &[u32],
    protocol_name: &str,
    heads: &Heads,
) {
    let count = list.len();
    spread(list, 0, &|Stretch { course, taken }, at| {
        course.clear();
        taken.clear();
        let mut previous = None;
        for &position in &order[order.len() * at / count..order.len() * (at + 1) / count] {
            let bytes = members[position as usize].metadata();
            let one = course.take(bytes, &mut previous, protocol_name, heads);
            taken.push((one, course.claims.len()));
        }
    });
}

/// Runs each stretch with its number, `first` that of the first.
#[cfg(feature = "rayon")]
fn spread(list: &mut [Stretch], first: usize, run: &(impl Fn(&mut Stretch, usize) + Sync)) {
    match list {
        [] => {}
        [stretch] => run(stretch, first),
        _ => {
            let (left, right) = list.split_at_mut(list.len() / 2);
            let middle = first + left.len();
            rayon::join(|| spread(left, first, run), || spread(right, middle, run));
        }
    }
}
