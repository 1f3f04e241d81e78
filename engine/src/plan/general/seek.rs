//! Paths between members found depth first, one after the other, with a look ahead for an end.
//!
//! [Layers](super::search) find shortest paths and go through all that is as near. This ends at the first path that it
//! finds: where ends are many, or left over are few, it sees a small part of that. Each class looks at all its members
//! for an end before it goes on from one:
//!
//! ```text
//! member ──► class ──► any end?  yes: shift, back to the begin
//!                      no:  the next member, from there on
//! ```
//!
//! A node from which nothing was found is *spent* for the rest of the sweep; others go on where they stopped. Paths have
//! a greatest length in each sweep, so what is spent may still lead somewhere: the last word is that of layers.

use super::Work;
use super::search::Hunt;
use crate::group::Classes;

/// Members on the longest path of each sweep, without the last.
const LONGEST: [usize; 4] = [1, 2, 4, 64];

impl Work {
    /// As [`route`](Self::route), after sweeps for short paths.
    pub(super) fn seek<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
    ) -> bool {
        for members in LONGEST {
            let mut left = 0;
            self.begin_sweep();
            for at in hunt.from..hunt.to {
                let m = self.members[at as usize] as usize;
                while self.amount::<FORWARD>(hunt, m, true) > 0
                    && !self.spent(m)
                    && self.descend::<MODE, FORWARD>(classes, hunt, m, 2 * members - 1)
                {}
                left += self.amount::<FORWARD>(hunt, m, true);
            }
            if left == 0 {
                return true;
            }
        }
        self.route::<MODE, FORWARD>(classes, hunt)
    }

    fn begin_sweep(&mut self) {
        self.begin_layers();
        // `base`: seen, goes on where it stopped; above: on the path, or spent.
        self.top = self.base + 1;
    }

    #[inline]
    fn spent(&self, node: usize) -> bool {
        self.layer_of[node] > self.base
    }

    /// Puts a node on the path.
    #[inline]
    fn step_on(&mut self, node: usize, first: u32) {
        if self.layer_of[node] < self.base {
            self.edge[node] = first;
            self.queue.push(node as u32);
        }
        self.layer_of[node] = self.top;
    }

    /// Looks for one path and shifts as much as it takes. False if there is none.
    fn descend<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        begin: usize,
        longest: usize,
    ) -> bool {
        let members = self.load.len();
        self.path.clear();
        let mut node = begin;
        self.step_on(begin, classes.member_start[begin]);
        loop {
            if node < members {
                if let Some((a, c)) = self.next_class::<MODE, FORWARD>(classes, hunt, node) {
                    self.path.push((node as u32, a));
                    node = members + c;
                    self.step_on(node, 0);
                    continue;
                }
            } else if let Some((a, m, end)) =
                self.next_member::<MODE, FORWARD>(classes, hunt, node - members, self.path.len() < longest)
            {
                self.path.push((node as u32, a));
                if end {
                    self.shift_found::<MODE, FORWARD>(classes, hunt, begin, m);
                    return true;
                }
                node = m;
                self.step_on(m, classes.member_start[m]);
                continue;
            }
            // Spent. The one before goes on behind it.
            match self.path.pop() {
                Some((before, _)) => node = before as usize,
                None => return false,
            }
        }
    }

    /// The next class that the member leads to.
    #[inline]
    fn next_class<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        m: usize,
    ) -> Option<(u32, usize)> {
        let members = self.load.len();
        let end = classes.member_start[m + 1];
        let mut a = self.edge[m];
        while a < end {
            let c = classes.arc_class[a as usize] as usize;
            if !self.spent(members + c) && self.open::<MODE, FORWARD>(classes, hunt, a as usize, m, c) {
                self.edge[m] = a;
                return Some((a, c));
            }
            a += 1;
        }
        self.edge[m] = a;
        None
    }

    /// The next member that the class leads to, first of all those that end a path. The steps of a class are counted
    /// twice: once for ends, once for all.
    #[inline]
    fn next_member<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        c: usize,
        on: bool,
    ) -> Option<(u32, usize, bool)> {
        let node = self.load.len() + c;
        let range = classes.of_class(c);
        let len = range.len() as u32;
        let mut step = self.edge[node];
        while step < len {
            let at = range.start + step as usize;
            let m = classes.class_member[at] as usize;
            if self.is_target::<FORWARD>(hunt, m)
                && self.scope[m] == hunt.scope
                && self.leads::<MODE, FORWARD>(classes, hunt, at, m, c)
            {
                self.edge[node] = step;
                return Some((classes.class_arc[at], m, true));
            }
            step += 1;
        }
        let twice = if on { len.saturating_mul(2) } else { len };
        while step < twice {
            let at = range.start + (step - len) as usize;
            let m = classes.class_member[at] as usize;
            if !self.spent(m)
                && self.scope[m] == hunt.scope
                && self.leads::<MODE, FORWARD>(classes, hunt, at, m, c)
            {
                self.edge[node] = step;
                return Some((classes.class_arc[at], m, false));
            }
            step += 1;
        }
        self.edge[node] = step;
        None
    }

    /// Whether a step leads from the class to the member at this position.
    #[inline]
    fn leads<const MODE: u8, const FORWARD: bool>(
        &self,
        classes: &Classes,
        hunt: &Hunt,
        at: usize,
        m: usize,
        c: usize,
    ) -> bool {
        if FORWARD {
            self.takes::<MODE>(classes, hunt, classes.class_arc[at] as usize, m, c)
        } else {
            self.gives_here::<MODE>(classes, hunt, at, m)
        }
    }

    /// Shifts along the path that was found, and opens its nodes again.
    fn shift_found<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        begin: usize,
        end: usize,
    ) {
        let many = self.amount::<FORWARD>(hunt, begin, true).min(self.amount::<FORWARD>(hunt, end, false));
        // Seen from its begin, a path of one direction is one of the other.
        if FORWARD {
            self.shift::<MODE, false>(classes, hunt, begin, end, many);
        } else {
            self.shift::<MODE, true>(classes, hunt, begin, end, many);
        }
        for &(node, _) in &self.path {
            self.layer_of[node as usize] = self.base;
        }
    }
}
