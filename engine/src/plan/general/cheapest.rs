//! Cheapest paths inside a block: what is too much goes where something is missing, at least cost.
//!
//! A block is a network of its own. Its members must have one less than its level, λ − 1; the one above
//! belongs to the block's *terminal*, which must get a fixed number of them:
//!
//! ```text
//! class ──► member ──► class ──► …      take, give
//!             │ ▲
//!             ▼ │                        a member at λ lends its last one to the terminal
//!          terminal
//! ```
//!
//! So the excess (free partitions of a class, members above λ, too many at λ) equals what is missing
//! (members below λ − 1, too few at λ), and one kind of search serves for all: by Dijkstra, over reduced
//! costs, from the side with fewer nodes, until about as much is found as is asked for. Then the potentials of
//! what was reached rise (or fall), which makes all its cheapest paths tight, and partitions are shifted along
//! tight steps that go back in the order of settling, as many as there is room for.

use super::Work;
use super::blocks::Block;
use crate::group::{Classes, NONE};

/// The block at work.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its number: the scope of its members and classes.
    scope: u32,
    from: u32,
    to: u32,
    level: u32,
    /// The number of the first class as a node, and of the terminal.
    classes: usize,
    terminal: usize,
}

impl Work {
    /// Routes all excess of the block, whose free partitions, loads and potentials are given; the terminal's
    /// potential is in `terminal`. False if something is left that no path can take.
    pub(super) fn route_cheapest(&mut self, classes: &Classes, block: &Block, scope: u32) -> bool {
        let place = Place {
            scope,
            from: block.from,
            to: block.to,
            level: block.level,
            classes: self.load.len(),
            terminal: self.load.len() + classes.len(),
        };
        if block.level == 0 {
            return true;
        }
        self.frontier.fit(place.terminal + 1 + classes.len());
        self.count_optional(&place);
        self.terminal_potential = self.terminal[scope as usize];
        let members = &self.members[block.from as usize..block.to as usize];
        self.least_potential = members.iter().map(|&m| self.potential[m as usize]).min().unwrap_or(0);
        self.find_firm(classes, &place);
        let mut sound = true;
        loop {
            let (sources, sinks) = self.count_sides(classes, &place);
            if sources == 0 && sinks == 0 {
                break;
            }
            sound = if sources < sinks {
                self.route_once::<true>(classes, &place)
            } else {
                self.route_once::<false>(classes, &place)
            };
            if !sound {
                break;
            }
        }
        self.terminal[scope as usize] = self.terminal_potential;
        sound
    }

    /// How many more members are at the level than there shall be.
    fn count_optional(&mut self, place: &Place) {
        let (mut total, mut at_level) = (0i64, 0i64);
        for &m in &self.members[place.from as usize..place.to as usize] {
            let load = self.load[m as usize];
            total += i64::from(load);
            at_level += i64::from(load >= place.level);
        }
        total += self.block_classes.iter().map(|&c| i64::from(self.free[c as usize])).sum::<i64>();
        let least = i64::from(place.level - 1) * i64::from(place.to - place.from);
        self.optional = at_level - (total - least);
    }

    /// Finds the classes of which every partition is at home and in a right rack: giving one costs a move.
    fn find_firm(&mut self, classes: &Classes, place: &Place) {
        self.firm.clear();
        self.firm.resize(classes.len(), true);
        let at_home = |m: usize| !self.away[m] && self.load[m] == self.home_load[m];
        let members = &self.members[place.from as usize..place.to as usize];
        let others = members.iter().filter(|&&m| !at_home(m as usize));
        for &m in others.chain(&self.astray[self.astray_of(place.scope)]) {
            let m = m as usize;
            for a in classes.member_start[m] as usize..classes.member_start[m + 1] as usize {
                if self.flow[a] > self.home[a] || (self.flow[a] > 0 && classes.mismatch.get(a) == Some(&true))
                {
                    self.firm[classes.arc_class[a] as usize] = false;
                }
            }
        }
    }

    /// How much farther than a firm class all are that have a partition of it, at least.
    #[inline]
    fn delay(&self, place: &Place, class: usize) -> i64 {
        if self.firm[class] {
            self.weights.moved + self.least_potential - self.potential[place.classes + class]
        } else {
            0
        }
    }

    /// How many steps lead out of the excess, and how many into what is missing.
    fn count_sides(&self, classes: &Classes, place: &Place) -> (u64, u64) {
        let (mut sources, mut sinks) = (0, 0);
        let (mut at_level, mut below) = (0, 0);
        for &m in &self.members[place.from as usize..place.to as usize] {
            let m = m as usize;
            let load = self.load[m];
            let arcs = u64::from(classes.member_start[m + 1] - classes.member_start[m]);
            sources += if load > place.level { arcs } else { 0 };
            sinks += if load + 1 < place.level { arcs } else { 0 };
            at_level += if load >= place.level { arcs } else { 0 };
            below += if load < place.level { arcs } else { 0 };
        }
        for &c in &self.block_classes {
            let c = c as usize;
            if self.free[c] > 0 {
                sources += u64::from(classes.class_start[c + 1] - classes.class_start[c]);
            }
        }
        match self.optional {
            0 => {}
            1.. => sources += at_level,
            _ => sinks += below,
        }
        (sources, sinks)
    }

    /// One search and the paths that it found.
    fn route_once<const FORWARD: bool>(&mut self, classes: &Classes, place: &Place) -> bool {
        if !self.explore::<FORWARD>(classes, place) {
            return false;
        }
        let reach = self.frontier.present();
        for at in 0..self.frontier.queue.len() {
            let node = self.frontier.queue[at] as usize;
            let rise = reach - self.frontier.distance(node).unwrap_or(reach);
            let rise = if FORWARD { -rise } else { rise };
            if node == place.terminal {
                self.terminal_potential += rise;
            } else if node < place.terminal {
                self.potential[node] += rise;
                if FORWARD && node < place.classes {
                    self.least_potential = self.least_potential.min(self.potential[node]);
                }
            } else {
                continue;
            }
            self.edge[node] = first_step(classes, place, node);
        }
        for at in 0..self.targets.len() {
            self.drain_cheapest::<FORWARD>(classes, place, self.targets[at] as usize);
        }
        true
    }

    /// Dijkstra from one side; `targets` gets what it found of the other. False if it found nothing.
    fn explore<const FORWARD: bool>(&mut self, classes: &Classes, place: &Place) -> bool {
        self.frontier.begin();
        self.targets.clear();
        self.offered = 0;
        self.doors = 0;
        self.probed = false;
        self.members_left = place.to - place.from;
        self.classes_left = self.block_classes.len() as u32;
        let mut asked = 0;
        for at in place.from..place.to {
            let m = self.members[at as usize] as usize;
            let amount = self.surplus_of::<FORWARD>(place, m);
            if amount > 0 {
                asked += amount;
                self.reach::<FORWARD>(place, m, 0);
            }
        }
        if FORWARD {
            for at in 0..self.block_classes.len() {
                let c = self.block_classes[at] as usize;
                if self.free[c] > 0 {
                    asked += i64::from(self.free[c]);
                    self.reach::<FORWARD>(place, place.classes + c, 0);
                }
            }
        }
        let begun = self.surplus_of::<FORWARD>(place, place.terminal);
        if begun > 0 {
            asked += begun;
            self.reach::<FORWARD>(place, place.terminal, 0);
        }
        let terminal_ends = if FORWARD { self.optional < 0 } else { self.optional > 0 };
        let at_end = if terminal_ends { self.optional.abs() } else { 0 };
        // The terminal is settled last at its distance, so that all members there may lead to it.
        let mut passed = false;
        loop {
            let mut held;
            loop {
                held = terminal_ends && !passed && self.frontier.settled(place.terminal);
                let doors = if held { i64::from(self.doors) } else { 0 };
                let enough = if self.probed && held { asked } else { 2 * asked };
                if self.offered + doors >= enough || self.offered >= asked {
                    break;
                }
                let Some(node) = self.frontier.pop() else { break };
                let node = node as usize;
                if node != place.terminal || !terminal_ends {
                    self.expand::<FORWARD>(classes, place, node);
                }
            }
            if held {
                self.frontier.postpone(place.terminal);
                self.targets.push(place.terminal as u32);
                self.offered += at_end;
            }
            if !self.targets.is_empty() && 2 * self.offered >= asked {
                return true;
            }
            if held {
                passed = true;
                self.expand::<FORWARD>(classes, place, place.terminal);
                // What that settled lies at the present distance, too.
                continue;
            }
            if terminal_ends && !passed && !FORWARD {
                self.probe(classes, place);
            }
            let Some(begin) = self.frontier.advance() else { return !self.targets.is_empty() };
            for at in begin..self.frontier.queue.len() {
                self.note::<FORWARD>(place, self.frontier.queue[at] as usize);
            }
        }
    }

    /// Where few members are at the level, looks from their side whether they have a partition of a class that
    /// was reached; so classes that wait need not be gone through to find them.
    fn probe(&mut self, classes: &Classes, place: &Place) {
        let at_level = |work: &Self, m: u32| work.load[m as usize] == place.level;
        self.probed = false;
        let mut arcs = 0;
        for &m in &self.members[place.from as usize..place.to as usize] {
            if at_level(self, m) {
                arcs += classes.member_start[m as usize + 1] - classes.member_start[m as usize];
            }
        }
        if arcs as usize > classes.arcs() / 8 {
            return;
        }
        self.probed = true;
        for at in place.from..place.to {
            let m = self.members[at as usize];
            let node = m as usize;
            if !at_level(self, m) || self.frontier.settled(node) {
                continue;
            }
            for a in classes.member_start[node] as usize..classes.member_start[node + 1] as usize {
                let c = classes.arc_class[a] as usize;
                if self.flow[a] > 0
                    && self.class_scope[c] == place.scope
                    && self.frontier.settled(place.classes + c)
                    && let Some(distance) = self.frontier.distance(place.classes + c)
                {
                    let cost = self.give_cost(classes, a, node, c);
                    self.reach::<false>(place, node, distance + cost);
                }
            }
        }
    }

    /// How much a node has to give (forward) or to get (backward) where a search begins.
    #[inline]
    fn surplus_of<const FORWARD: bool>(&self, place: &Place, node: usize) -> i64 {
        if node < place.classes {
            let load = self.load[node];
            i64::from(if FORWARD {
                load.saturating_sub(place.level)
            } else {
                (place.level - 1).saturating_sub(load)
            })
        } else if node == place.terminal {
            (if FORWARD { self.optional } else { -self.optional }).max(0)
        } else if FORWARD {
            i64::from(self.free[node - place.classes])
        } else {
            0
        }
    }

    /// How much a node at the other end takes (forward) or gives (backward).
    #[inline]
    fn room<const FORWARD: bool>(&self, place: &Place, node: usize) -> i64 {
        if FORWARD { self.surplus_of::<false>(place, node) } else { self.surplus_of::<true>(place, node) }
    }

    /// Offers a node to the frontier.
    #[inline]
    fn reach<const FORWARD: bool>(&mut self, place: &Place, node: usize, distance: i64) {
        if self.frontier.offer(node, distance) {
            self.note::<FORWARD>(place, node);
        }
    }

    /// Notes what a node that was just settled is good for.
    fn note<const FORWARD: bool>(&mut self, place: &Place, node: usize) {
        if node >= place.terminal {
            return;
        }
        if node < place.classes {
            self.members_left -= 1;
        } else {
            self.classes_left -= 1;
        }
        let room = self.room::<FORWARD>(place, node);
        if room > 0 {
            self.targets.push(node as u32);
            self.offered += room;
        }
        // A member below the level may take one that is the terminal's; one at the level may be asked for its.
        if node < place.classes && (self.load[node] < place.level) == FORWARD {
            let step = self.terminal_potential - self.potential[node];
            let distance = self.frontier.present() + if FORWARD { -step } else { step };
            let open = self.load[node] == place.level - u32::from(FORWARD);
            match self.frontier.distance(place.terminal) {
                Some(known) if known < distance => {}
                Some(known) if known == distance => self.doors += u32::from(open),
                _ => {
                    self.doors = u32::from(open);
                    self.frontier.offer(place.terminal, distance);
                }
            }
        }
    }

    /// Offers all that one step leads to (backward: comes from).
    fn expand<const FORWARD: bool>(&mut self, classes: &Classes, place: &Place, node: usize) {
        let distance = self.frontier.present();
        if if node < place.classes { self.classes_left } else { self.members_left } == 0 {
            return;
        }
        if node < place.classes {
            for a in classes.member_start[node] as usize..classes.member_start[node + 1] as usize {
                let c = classes.arc_class[a] as usize;
                if (FORWARD && self.flow[a] == 0)
                    || self.class_scope[c] != place.scope
                    || self.frontier.settled(place.classes + c)
                {
                    continue;
                }
                let cost = if FORWARD {
                    self.give_cost(classes, a, node, c)
                } else {
                    self.take_cost(classes, a, node, c)
                };
                self.reach::<FORWARD>(place, place.classes + c, distance + cost);
            }
        } else if node == place.terminal {
            for at in place.from..place.to {
                let m = self.members[at as usize] as usize;
                // Forward to members at the level, which give; backward to those below, which take.
                if (self.load[m] >= place.level) == FORWARD {
                    let step = self.terminal_potential - self.potential[m];
                    self.reach::<FORWARD>(place, m, distance + if FORWARD { step } else { -step });
                }
            }
        } else {
            let c = if node > place.terminal { node - place.terminal - 1 } else { node - place.classes };
            let distance = self.frontier.distance(place.classes + c).unwrap_or(distance);
            if !FORWARD && node < place.terminal {
                // Its members can wait, and if the search ends before, they need not be looked at.
                let delay = self.delay(place, c);
                if delay > 0 {
                    self.frontier.offer(place.terminal + 1 + c, distance + delay);
                    return;
                }
            }
            for at in classes.class_start[c] as usize..classes.class_start[c + 1] as usize {
                let (m, a) = (classes.class_member[at] as usize, classes.class_arc[at] as usize);
                if self.frontier.settled(m) || self.scope[m] != place.scope || (!FORWARD && self.flow[a] == 0)
                {
                    continue;
                }
                let cost =
                    if FORWARD { self.take_cost(classes, a, m, c) } else { self.give_cost(classes, a, m, c) };
                self.reach::<FORWARD>(place, m, distance + cost);
            }
        }
    }

    /// Depth first from a target back to where the search began, by way of nodes settled earlier, until it has no
    /// room or is cut off. What finds no way in that order waits for the next search, *because* looking for all
    /// ways in any order costs more than that.
    fn drain_cheapest<const FORWARD: bool>(&mut self, classes: &Classes, place: &Place, target: usize) {
        loop {
            let room = self.room::<FORWARD>(place, target);
            if room == 0 || !self.frontier.settled(target) {
                return;
            }
            self.path.clear();
            let mut node = target;
            loop {
                let available = self.surplus_of::<FORWARD>(place, node);
                if available > 0 {
                    self.shift_cheapest::<FORWARD>(place, target, node, room.min(available));
                    break;
                }
                if let Some((arc, next)) = self.step_back::<FORWARD>(classes, place, node) {
                    self.path.push((node as u32, arc));
                    node = next;
                    continue;
                }
                self.frontier.strike(node);
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

    /// The next tight step from a node to one settled before it. Beyond the arcs of a member comes the
    /// terminal, without an arc.
    fn step_back<const FORWARD: bool>(
        &mut self,
        classes: &Classes,
        place: &Place,
        node: usize,
    ) -> Option<(u32, usize)> {
        let order = self.frontier.order(node)?;
        let earlier = |work: &Self, next: usize| work.frontier.order(next).is_some_and(|other| other < order);
        if node < place.classes {
            let end = classes.member_start[node + 1];
            while self.edge[node] < end {
                let a = self.edge[node] as usize;
                let c = classes.arc_class[a] as usize;
                if earlier(self, place.classes + c)
                    && self.class_scope[c] == place.scope
                    && if FORWARD {
                        self.take_cost(classes, a, node, c) == 0
                    } else {
                        self.flow[a] > 0 && self.give_cost(classes, a, node, c) == 0
                    }
                {
                    return Some((a as u32, place.classes + c));
                }
                self.edge[node] += 1;
            }
            let open = self.load[node] == place.level - u32::from(!FORWARD);
            if self.edge[node] == end
                && open
                && self.potential[node] == self.terminal_potential
                && earlier(self, place.terminal)
            {
                return Some((NONE, place.terminal));
            }
        } else if node == place.terminal {
            while self.edge[node] < place.to {
                let m = self.members[self.edge[node] as usize] as usize;
                let open = self.load[m] == place.level - u32::from(FORWARD);
                if open && self.potential[m] == self.terminal_potential && earlier(self, m) {
                    return Some((NONE, m));
                }
                self.edge[node] += 1;
            }
        } else {
            let c = node - place.classes;
            while self.edge[node] < classes.class_start[c + 1] {
                let at = self.edge[node] as usize;
                let (m, a) = (classes.class_member[at] as usize, classes.class_arc[at] as usize);
                if earlier(self, m)
                    && self.scope[m] == place.scope
                    && if FORWARD {
                        self.flow[a] > 0 && self.give_cost(classes, a, m, c) == 0
                    } else {
                        self.take_cost(classes, a, m, c) == 0
                    }
                {
                    return Some((a as u32, m));
                }
                self.edge[node] += 1;
            }
        }
        None
    }

    /// Shifts up to `most` partitions along the path, between `begin`, where the search began, and `target`.
    fn shift_cheapest<const FORWARD: bool>(&mut self, place: &Place, target: usize, begin: usize, most: i64) {
        let mut many = u32::try_from(most).unwrap_or(u32::MAX);
        for &(node, arc) in &self.path {
            let limit = if arc == NONE {
                1
            } else {
                let (flow, home) = (self.flow[arc as usize], self.home[arc as usize]);
                // A member's entry steps to a class, a class's entry to a member.
                if ((node as usize) < place.classes) == FORWARD {
                    if flow < home { home - flow } else { u32::MAX }
                } else if flow > home {
                    flow - home
                } else {
                    flow
                }
            };
            many = many.min(limit);
        }
        debug_assert!(many > 0);
        for at in 0..self.path.len() {
            let (node, arc) = (self.path[at].0 as usize, self.path[at].1);
            let next = self.path.get(at + 1).map_or(begin, |entry| entry.0 as usize);
            if arc == NONE {
                // From the member to the terminal one more, from the terminal to the member one less.
                let (m, to_member) = if node == place.terminal { (next, !FORWARD) } else { (node, FORWARD) };
                self.load[m] = if to_member { self.load[m] - 1 } else { self.load[m] + 1 };
                continue;
            }
            let arc = arc as usize;
            if (node < place.classes) == FORWARD {
                self.flow[arc] += many;
                let class = if FORWARD { next } else { node } - place.classes;
                self.firm[class] = false;
            } else {
                self.flow[arc] -= many;
                if self.flow[arc] < self.home[arc] {
                    self.away[if node < place.classes { node } else { next }] = true;
                    self.any_away = true;
                }
            }
        }
        let (giver, taker) = if FORWARD { (begin, target) } else { (target, begin) };
        for (node, gives) in [(giver, true), (taker, false)] {
            if node == place.terminal {
                self.optional += if gives { -i64::from(many) } else { i64::from(many) };
            } else if node >= place.classes {
                self.free[node - place.classes] -= many;
            } else if gives {
                self.load[node] -= many;
            } else {
                self.load[node] += many;
            }
        }
    }
}

/// The first step of a node, as it is counted in `edge`.
#[inline]
fn first_step(classes: &Classes, place: &Place, node: usize) -> u32 {
    if node < place.classes {
        classes.member_start[node]
    } else if node >= place.terminal {
        place.from
    } else {
        classes.class_start[node - place.classes]
    }
}
