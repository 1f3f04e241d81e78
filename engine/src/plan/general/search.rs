//! Paths between members: shortest ones found in layers, then used up in batches (Dinic, Hopcroft–Karp).
//!
//! A step leads from a member that has a partition of a class to a subscriber of the class. Nodes are
//! members (0..M) and classes (M..M + C); a search is confined to one *scope*, the members settled together.
//!
//! ```text
//! forward:   members above `high` ──► has a partition of c ──► subscribes to c ──► … members below `low`
//! backward:  the same from the other end, when fewer members have room than have too much
//! ```
//!
//! A search that finds nothing proves something: what it visited is closed. The path stack is our own,
//! *because* a path may be as long as there are nodes.

use core::ops::Range;

use super::Work;
use crate::group::Classes;

/// Any partition may move: loads alone count.
pub(super) const PLAIN: u8 = 0;
/// A member gives up partitions at home only if it is at home with more than `high`, and takes none of
/// another rack.
pub(super) const CAREFUL: u8 = 1;

/// A partition goes only to a rack that fits, if any does.
pub(super) const FITTING: u8 = 2;
/// Where nothing is at home and nodes have prices: along cheapest paths.
pub(super) const TIGHT: u8 = 3;

/// Members or classes from which on a frontier is wide.
const WIDE: usize = 256;

/// Where and between which loads a search runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hunt {
    /// The scope's number in `scope` and `class_scope`.
    pub(super) scope: u32,
    /// Its members: a range of `members`.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Members above give.
    pub(super) high: u32,
    /// Members below take.
    pub(super) low: u32,
}

impl Work {
    /// Moves partitions along paths until none is left; true if no member of the scope is above `high`, or
    /// none below `low`. If false, `visited` tells what the last search reached.
    pub(super) fn route<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
    ) -> bool {
        loop {
            if !self.layer::<MODE, FORWARD>(classes, hunt) {
                let segment = &self.members[hunt.from as usize..hunt.to as usize];
                return segment.iter().all(|&m| self.load[m as usize] <= hunt.high)
                    || segment.iter().all(|&m| self.load[m as usize] >= hunt.low);
            }
            for at in 0..self.targets.len() {
                self.drain::<MODE, FORWARD>(classes, hunt, self.targets[at]);
            }
        }
    }

    /// Whether the last search reached a node.
    #[inline]
    pub(super) fn visited(&self, node: usize) -> bool {
        self.layer_of[node] >= self.base
    }

    /// Breadth first from one end; `targets` gets the nearest members of the other end. False if there is none.
    pub(super) fn layer<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
    ) -> bool {
        let members = self.load.len();
        self.begin_layers();
        let base = self.base;
        let one_scope = self.scopes == 1;
        // Targets that offer twice what is asked for are enough: most of it will find its way.
        let (mut asked, mut offered) = (0u64, 0u64);
        for at in hunt.from..hunt.to {
            let m = self.members[at as usize];
            let load = self.load[m as usize];
            if if FORWARD { load > hunt.high } else { load < hunt.low } {
                asked += u64::from(self.amount::<FORWARD>(hunt, m as usize, true));
                self.visit(m as usize, base, classes.member_start[m as usize]);
            }
        }
        // How many members and classes were reached, by turns the kind of the frontier and the other kind.
        let (mut reached, mut opposite) = (self.queue.len(), 0);
        let (mut begin, mut layer) = (0, base);
        while begin < self.queue.len() && self.targets.is_empty() {
            let end = self.queue.len();
            self.top = layer + 1;
            let by_members = (self.queue[begin] as usize) < members;
            let all = if by_members { classes.len() } else { (hunt.to - hunt.from) as usize };
            let rest = all - opposite;
            // Where the frontier is wide and little is left to reach, what is left asks the frontier.
            let ask = one_scope && end - begin >= WIDE && end - begin > rest / 2;
            match (by_members, ask) {
                (true, false) => self.classes_after::<MODE, FORWARD>(classes, hunt, begin..end, layer),
                (true, true) => self.classes_before::<MODE, FORWARD>(classes, hunt, layer),
                (false, false) => {
                    for at in begin..end {
                        let c = self.queue[at] as usize - members;
                        for at in classes.of_class(c) {
                            let m = classes.class_member[at] as usize;
                            if self.layer_of[m] >= base || !(one_scope || self.scope[m] == hunt.scope) {
                                continue;
                            }
                            // Seen from the class the step is taken the other way round.
                            let passes = if FORWARD {
                                self.takes::<MODE>(classes, hunt, classes.class_arc[at] as usize, m, c)
                            } else {
                                self.gives_here::<MODE>(classes, hunt, at, m)
                            };
                            if passes {
                                self.visit(m, layer + 1, classes.member_start[m]);
                                offered += self.offer::<FORWARD>(hunt, m);
                                if offered >= 2 * asked {
                                    return true;
                                }
                            }
                        }
                    }
                }
                (false, true) => {
                    for at in hunt.from..hunt.to {
                        let m = self.members[at as usize] as usize;
                        if self.layer_of[m] >= base || !self.follows::<MODE, FORWARD>(classes, hunt, m) {
                            continue;
                        }
                        self.visit(m, layer + 1, classes.member_start[m]);
                        offered += self.offer::<FORWARD>(hunt, m);
                        if offered >= 2 * asked {
                            return true;
                        }
                    }
                }
            }
            (reached, opposite) = (opposite + self.queue.len() - end, reached);
            (begin, layer) = (end, layer + 1);
        }
        !self.targets.is_empty()
    }

    /// Reaches the classes that members of the frontier, a range of the queue, lead to.
    fn classes_after<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        frontier: Range<usize>,
        layer: u32,
    ) {
        let members = self.load.len();
        for at in frontier {
            let m = self.queue[at] as usize;
            for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
                let c = classes.arc_class[a] as usize;
                if self.layer_of[members + c] < self.base
                    && self.open::<MODE, FORWARD>(classes, hunt, a, m, c)
                {
                    self.visit(members + c, layer + 1, classes.class_start[c]);
                }
            }
        }
    }

    /// Reaches the same classes, each of those not reached yet looking for a member that leads to it.
    fn classes_before<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        layer: u32,
    ) {
        let members = self.load.len();
        for c in 0..classes.len() {
            if self.layer_of[members + c] >= self.base {
                continue;
            }
            let found = classes.of_class(c).any(|at| {
                let m = classes.class_member[at] as usize;
                self.layer_of[m] >= self.base
                    && if FORWARD {
                        self.gives_here::<MODE>(classes, hunt, at, m)
                    } else {
                        self.takes::<MODE>(classes, hunt, classes.class_arc[at] as usize, m, c)
                    }
            });
            if found {
                self.visit(members + c, layer + 1, classes.class_start[c]);
            }
        }
    }

    /// Whether a class that was reached leads to the member.
    #[inline]
    fn follows<const MODE: u8, const FORWARD: bool>(&self, classes: &Classes, hunt: &Hunt, m: usize) -> bool {
        (classes.member_start[m] as usize..classes.member_start[m + 1] as usize).any(|a| {
            let c = classes.arc_class[a] as usize;
            self.layer_of[self.load.len() + c] >= self.base
                && if FORWARD {
                    self.takes::<MODE>(classes, hunt, a, m, c)
                } else {
                    self.gives::<MODE>(hunt, a, m)
                }
        })
    }

    /// Notes a member just reached if it is a target; returns what it offers.
    #[inline]
    fn offer<const FORWARD: bool>(&mut self, hunt: &Hunt, m: usize) -> u64 {
        if !self.is_target::<FORWARD>(hunt, m) {
            return 0;
        }
        self.targets.push(m as u32);
        u64::from(self.amount::<FORWARD>(hunt, m, false))
    }

    pub(super) fn begin_layers(&mut self) {
        self.base = self.top + 1;
        if self.base > u32::MAX / 2 {
            self.layer_of.fill(0);
            self.base = 1;
        }
        self.top = self.base;
        self.queue.clear();
        self.targets.clear();
    }

    #[inline]
    pub(super) fn visit(&mut self, node: usize, layer: u32, first_edge: u32) {
        self.layer_of[node] = layer;
        self.edge[node] = first_edge;
        self.queue.push(node as u32);
    }

    #[inline]
    pub(super) fn is_target<const FORWARD: bool>(&self, hunt: &Hunt, m: usize) -> bool {
        if FORWARD { self.load[m] < hunt.low } else { self.load[m] > hunt.high }
    }

    /// Whether a search going forward (backward) may step from a member to a class.
    #[inline]
    pub(super) fn open<const MODE: u8, const FORWARD: bool>(
        &self,
        classes: &Classes,
        hunt: &Hunt,
        a: usize,
        m: usize,
        c: usize,
    ) -> bool {
        if FORWARD { self.gives::<MODE>(hunt, a, m) } else { self.takes::<MODE>(classes, hunt, a, m, c) }
    }

    /// Whether the member may give a partition of the class.
    #[inline]
    pub(super) fn gives<const MODE: u8>(&self, hunt: &Hunt, a: usize, m: usize) -> bool {
        let flow = self.flow[a];
        flow > 0
            && match MODE {
                CAREFUL => flow > self.home[a] || self.home_load[m] > hunt.high,
                _ => true,
            }
    }

    /// As [`gives`](Self::gives), from a position in the class's list: what lies there mostly tells.
    #[inline]
    pub(super) fn gives_here<const MODE: u8>(
        &self,
        classes: &Classes,
        hunt: &Hunt,
        at: usize,
        m: usize,
    ) -> bool {
        self.foreign[at] > 0
            || ((MODE == PLAIN || (MODE == FITTING && !self.fresh) || self.home_load[m] > hunt.high)
                && self.flow[classes.class_arc[at] as usize] > 0)
    }

    /// Whether the member may take a partition of the class.
    #[inline]
    pub(super) fn takes<const MODE: u8>(
        &self,
        classes: &Classes,
        hunt: &Hunt,
        a: usize,
        m: usize,
        c: usize,
    ) -> bool {
        self.class_scope[c] == hunt.scope
            && match MODE {
                CAREFUL => classes.mismatch.get(a) != Some(&true),
                FITTING => !self.mismatched(classes, a, c),
                TIGHT => self.foreign_cost(classes, a, m, c) == 0,
                _ => true,
            }
    }

    /// How many partitions the member may give at the same cost.
    #[inline]
    fn give_limit<const MODE: u8>(&self, hunt: &Hunt, a: usize, m: usize) -> u32 {
        let (flow, home) = (self.flow[a], self.home[a]);
        match MODE {
            CAREFUL if self.home_load[m] <= hunt.high => flow - home,
            _ => flow,
        }
    }

    /// Depth first from a target down the layers to where the search began, until the target has what it
    /// needs or is cut off.
    pub(super) fn drain<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        target: u32,
    ) {
        let members = self.load.len();
        loop {
            let need = self.amount::<FORWARD>(hunt, target as usize, false);
            if need == 0 {
                return;
            }
            self.path.clear();
            let mut node = target as usize;
            loop {
                let begun = self.layer_of[node] == self.base;
                let available = if begun { self.amount::<FORWARD>(hunt, node, true) } else { 0 };
                if available > 0 {
                    self.shift::<MODE, FORWARD>(classes, hunt, target as usize, node, need.min(available));
                    break;
                }
                if !begun
                    && let Some((arc, next)) = self.step_down::<MODE, FORWARD>(classes, hunt, node, members)
                {
                    self.path.push((node as u32, arc));
                    node = next;
                    continue;
                }
                self.layer_of[node] = 0;
                match self.path.pop() {
                    Some((before, _)) => {
                        node = before as usize;
                        self.edge[node] += 1;
                    }
                    None => return,
                }
            }
        }
    }

    /// How much a node at the begin (or the end) of a path has to give or room to take.
    #[inline]
    pub(super) fn amount<const FORWARD: bool>(&self, hunt: &Hunt, node: usize, begin: bool) -> u32 {
        if FORWARD == begin {
            self.load[node].saturating_sub(hunt.high)
        } else {
            hunt.low.saturating_sub(self.load[node])
        }
    }

    /// The next usable edge from a node to the layer below it.
    #[inline]
    fn step_down<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        node: usize,
        members: usize,
    ) -> Option<(u32, usize)> {
        let below = self.layer_of[node] - 1;
        if node < members {
            while self.edge[node] < classes.member_start[node + 1] {
                let a = self.edge[node] as usize;
                let c = classes.arc_class[a] as usize;
                let passes = self.layer_of[members + c] == below
                    && if FORWARD {
                        self.takes::<MODE>(classes, hunt, a, node, c)
                    } else {
                        self.gives::<MODE>(hunt, a, node)
                    };
                if passes {
                    return Some((a as u32, members + c));
                }
                self.edge[node] += 1;
            }
        } else {
            let c = node - members;
            while self.edge[node] < classes.class_start[c + 1] {
                let at = self.edge[node] as usize;
                let m = classes.class_member[at] as usize;
                let a = classes.class_arc[at] as usize;
                if self.layer_of[m] == below && self.open::<MODE, FORWARD>(classes, hunt, a, m, c) {
                    return Some((a as u32, m));
                }
                self.edge[node] += 1;
            }
        }
        None
    }

    /// Shifts up to `most` partitions along the path from `begin` (where the search began) and `target`.
    pub(super) fn shift<const MODE: u8, const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        hunt: &Hunt,
        target: usize,
        begin: usize,
        most: u32,
    ) {
        let members = self.load.len();
        let mut many = most;
        for at in 0..self.path.len() {
            let (node, arc) = (self.path[at].0 as usize, self.path[at].1 as usize);
            // A member's entry steps to a class, a class's entry to a member.
            if (node < members) != FORWARD {
                let giver =
                    if node < members { node } else { self.path.get(at + 1).map_or(begin, |e| e.0 as usize) };
                many = many.min(self.give_limit::<MODE>(hunt, arc, giver));
            }
        }
        for at in 0..self.path.len() {
            let (node, arc) = (self.path[at].0 as usize, self.path[at].1 as usize);
            let next = || self.path.get(at + 1).map_or(begin, |e| e.0 as usize);
            let member = if node < members { node } else { next() };
            if (node < members) == FORWARD {
                self.flow[arc] += many;
            } else {
                self.flow[arc] -= many;
                if self.flow[arc] < self.home[arc] {
                    self.away[member] = true;
                    self.any_away = true;
                }
            }
            let foreign = self.flow[arc].saturating_sub(self.home[arc]);
            self.foreign[classes.position(arc, member)] = foreign;
        }
        let (giver, taker) = if FORWARD { (begin, target) } else { (target, begin) };
        self.load[taker] += many;
        self.load[giver] -= many;
        debug_assert!(many > 0 && classes.arcs() == self.flow.len());
    }
}
