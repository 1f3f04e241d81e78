//! Water filling: free partitions go where loads are least, the narrowest classes first.

use super::Work;
use crate::group::Group;

impl Work {
    /// Starts from everyone at home and hands out what is free, class by class.
    ///
    /// Cost: O(A log A) at worst; each class costs the number of its subscribers.
    pub(super) fn fill(&mut self, group: &Group) {
        let classes = group.classes();
        self.flow.clear();
        self.flow.extend_from_slice(&self.home);
        self.free.clear();
        self.free.extend_from_slice(&classes.size);
        self.load.clear();
        for arcs in classes.member_start.windows(2) {
            let mut load = 0;
            for arc in arcs[0] as usize..arcs[1] as usize {
                load += self.home[arc];
                self.free[classes.arc_class[arc] as usize] -= self.home[arc];
            }
            self.load.push(load);
        }
        self.order.clear();
        for (class, bounds) in classes.class_start.windows(2).enumerate() {
            if self.free[class] > 0 {
                self.order.push((u64::from(bounds[1] - bounds[0]) << 32) | class as u64);
            }
        }
        self.order.sort_unstable();
        for at in 0..self.order.len() {
            let class = self.order[at] as u32 as usize;
            let many = core::mem::take(&mut self.free[class]);
            self.pour(group, class, many);
        }
    }

    /// Gives `many` partitions of a class to its least loaded subscribers.
    pub(super) fn pour(&mut self, group: &Group, class: usize, many: u32) {
        let classes = group.classes();
        let range = classes.class_start[class] as usize..classes.class_start[class + 1] as usize;
        let members = &classes.class_member[range.clone()];
        let arcs = &classes.class_arc[range];
        // The water level: the greatest L such that filling everyone up to L takes no more than `many`.
        self.levels.clear();
        self.levels.extend(members.iter().map(|&member| u64::from(self.load[member as usize])));
        self.levels.sort_unstable();
        let (mut used, mut level) = (0u64, 0u64);
        let many = u64::from(many);
        for (at, &load) in self.levels.iter().enumerate() {
            let below = at as u64;
            if below > 0 && used + (load - level) * below > many {
                break;
            }
            used += (load - level) * below;
            level = load;
        }
        let below = self.levels.iter().take_while(|&&load| load <= level).count() as u64;
        level += (many - used) / below;
        let mut rest = (many - used) % below;
        for (&member, &arc) in members.iter().zip(arcs) {
            let load = &mut self.load[member as usize];
            let up = level.saturating_sub(u64::from(*load)) as u32
                + u32::from(rest > 0 && u64::from(*load) <= level);
            if up > 0 && rest > 0 && u64::from(*load) <= level {
                rest -= 1;
            }
            *load += up;
            self.flow[arc as usize] += up;
        }
    }
}
