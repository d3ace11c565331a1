//! Recurrences of random programs: loads of a stage of what it wrote in earlier iterations.

use itertools::Itertools;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::expression::Term;

/// The recurrences of a program. They are drawn apart from the rest of it.
pub(crate) struct Recurrences {
    random: ChaCha8Rng,
}

impl Recurrences {
    pub fn new(seed: u64) -> Self {
        Recurrences { random: ChaCha8Rng::seed_from_u64(seed ^ 0x9ec5) }
    }

    /// Loads of an array by the stage that writes it at these loops, innermost first: of the neighbour before along one loop or
    /// more, with any distance in the loops inside. Copies of an unrolled innermost loop take words of other rows.
    pub fn terms(&mut self, array: &str, type_name: &'static str, loops: &[&str], unrolled: bool) -> Vec<Term> {
        let first = usize::from(unrolled);
        if first == loops.len() || self.random.random_ratio(1, 3) {
            return Vec::new();
        }
        let count = self.random.random_range(1..=2);
        (0..count).map(|_| self.load(array, type_name, loops, first)).collect()
    }

    fn load(&mut self, array: &str, type_name: &'static str, loops: &[&str], first: usize) -> Term {
        let outermost = self.random.random_range(first..loops.len());
        let indices = loops.iter().enumerate().map(|(level, variable)| {
            let away = match level {
                _ if level == outermost => -self.random.random_range(1..=3),
                _ if level > outermost || level < first => 0,
                _ => self.random.random_range(-2..=2),
            };
            match away {
                0 => (*variable).to_owned(),
                away if away < 0 => format!("{variable} - {}", -away),
                away => format!("{variable} + {away}"),
            }
        });
        let access = format!("{array}[{}]", indices.collect_vec().join(", "));
        Term { text: format!("outside({access}, {})", self.random.random_range(0..100)), type_name }
    }
}
