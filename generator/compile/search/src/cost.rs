//! The cost of a candidate.

/// The cost is the product of the tiles, one more, and of the cycles to the power 2^4: half the tiles make up for 4 % more cycles.
const SQUARES_OF_CYCLES: u32 = 4;

/// Cycles and memory tiles of a program.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Cycles of a run.
    pub cycles: u64,
    /// Memory tiles.
    pub tiles: u64,
}

impl Cost {
    /// Whether it is less than another. Nothing but quotients and products of numbers decides, which are the same on any machine.
    pub fn is_less(self, other: Cost) -> bool {
        let ratio = |one: u64, other: u64| one as f64 / other as f64;
        let cycles = ratio(self.cycles.max(1), other.cycles.max(1));
        let power = (0..SQUARES_OF_CYCLES).fold(cycles, |power, _| power * power);
        power * ratio(self.tiles + 1, other.tiles + 1) < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;

    #[test]
    fn tiles_make_up_for_cycles_in_one_order() {
        let costs = [(1000, 9), (1040, 4), (1050, 4), (1100, 1), (1150, 1), (1170, 0), (1000, 99), (u64::MAX, 1 << 40)];
        let costs = costs.map(|(cycles, tiles)| Cost { cycles, tiles });
        let is_less = |one: usize, other: usize| costs[one].is_less(costs[other]);
        // Half the tiles for 4 % more cycles, a fifth for 10 %, a tenth for 15 %.
        assert!(is_less(1, 0) && is_less(0, 2) && is_less(3, 0) && is_less(0, 4) && is_less(5, 6) && is_less(4, 6));
        for one in 0..costs.len() {
            assert!(!is_less(one, one));
            for (other, third) in (0..costs.len()).flat_map(|other| (0..costs.len()).map(move |third| (other, third))) {
                assert!(!(is_less(one, other) && is_less(other, third)) || is_less(one, third));
            }
        }
    }
}
