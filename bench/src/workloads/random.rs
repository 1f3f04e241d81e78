//! A small generator of random numbers: the same seed gives the same numbers on every machine.

/// A 64-bit counter, scrambled: enough for workloads, no use for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator for a seed and a purpose, so that one purpose does not shift the numbers of another.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut state = seed ^ 0x517c_c1b7_2722_0a95;
        for byte in purpose.bytes() {
            state = scramble(state ^ u64::from(byte));
        }
        Self { state }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.state)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// A number from `from` to `to`, both included.
    pub fn within(&mut self, from: u32, to: u32) -> u32 {
        from + self.below(to - from + 1)
    }

    /// `count` different numbers below `bound`, ascending.
    pub fn choose(&mut self, count: u32, bound: u32) -> Vec<u32> {
        let mut left = count.min(bound);
        let mut chosen = Vec::with_capacity(left as usize);
        for number in 0..bound {
            if self.below(bound - number) < left {
                chosen.push(number);
                left -= 1;
            }
        }
        chosen
    }

    /// A random UUID, as Kafka's coordinator appends it to a client id.
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.bits(), self.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            0x8000 | low >> 48 & 0x3fff,
            low & 0xffff_ffff_ffff
        )
    }
}

fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_stay_in_their_range_and_repeat() {
        let mut a = Random::new(1, "a");
        let mut b = Random::new(1, "a");
        for bound in 1..200 {
            let n = a.below(bound);
            assert!(n < bound);
            assert_eq!(n, b.below(bound));
        }
        assert_ne!(Random::new(1, "a").bits(), Random::new(1, "b").bits());
        for count in 0..20 {
            let chosen = a.choose(count, 20);
            assert_eq!(chosen.len(), count as usize);
            assert!(chosen.is_sorted_by(|x, y| x < y) && chosen.iter().all(|&n| n < 20));
        }
        let uuid = a.uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
    }
}
