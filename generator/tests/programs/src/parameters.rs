//! Parameters of random programs: inputs of few words, each of which many iterations read.

use itertools::Itertools;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::expression::{ELEMENTS, Term};
use crate::generate::Scale;

/// An input of parameters.
struct Parameter {
    name: String,
    type_name: &'static str,
    shape: Vec<i64>,
    /// The loop that its first index follows, and how finely; nothing if all indices are constant.
    along: Option<(usize, Scale)>,
}

/// The parameters of a program. They are drawn apart from the rest of it.
pub(crate) struct Parameters {
    random: ChaCha8Rng,
    parameters: Vec<Parameter>,
}

impl Parameters {
    pub fn new(seed: u64) -> Self {
        Parameters { random: ChaCha8Rng::seed_from_u64(seed ^ 0x70a2), parameters: Vec::new() }
    }

    /// Loads of parameters for a stage with these loops, innermost first.
    pub fn terms(&mut self, loops: &[&str], extents: &[i64], scale: &[Scale]) -> Vec<Term> {
        let count = self.random.random_range(0..=2);
        (0..count).flat_map(|_| self.loads(loops, extents, scale)).collect()
    }

    /// Loads of one of them, a known one or another.
    fn loads(&mut self, loops: &[&str], extents: &[i64], scale: &[Scale]) -> Vec<Term> {
        let fits = |parameter: &Parameter| match parameter.along {
            Some((level, of)) => level < scale.len() && of == scale[level] && extents[level] <= parameter.shape[0],
            None => true,
        };
        let known = self.parameters.iter().positions(fits).collect_vec();
        let number = match known.choose(&mut self.random).filter(|_| self.random.random_ratio(1, 2)) {
            Some(&number) => number,
            None => self.add(extents, scale),
        };
        let Parameter { name, type_name, shape, along } = &self.parameters[number];
        let mut terms = Vec::new();
        for _ in 0..self.random.random_range(1..=2) {
            let mut beyond = false;
            let mut index = |(dimension, &extent): (usize, &i64)| {
                let Some((level, _)) = along.filter(|_| dimension == 0) else {
                    return self.random.random_range(0..extent).to_string();
                };
                let (variable, last, away) = (loops[level], extent - 1, self.random.random_range(1..=3));
                match self.random.random_range(0..8) {
                    0 => format!("clamp({variable} - {away}, 0, {last})"),
                    1 => format!("clamp({variable} + {away}, 0, {last})"),
                    side @ (2 | 3) => {
                        beyond = true;
                        format!("{variable} {} {away}", if side == 2 { "-" } else { "+" })
                    }
                    _ => match self.random.random_range(0..=extent - extents[level]) {
                        0 => variable.to_owned(),
                        later => format!("{variable} + {later}"),
                    },
                }
            };
            let access = format!("{name}[{}]", shape.iter().enumerate().map(&mut index).join(", "));
            let text = match beyond {
                true => format!("outside({access}, {})", self.random.random_range(0..100)),
                false => access,
            };
            terms.push(Term { text, type_name });
        }
        terms
    }

    /// Adds a parameter: scalars and weights, or words along one of the loops of a stage.
    fn add(&mut self, extents: &[i64], scale: &[Scale]) -> usize {
        let type_name = ELEMENTS.choose(&mut self.random).expect("there are some");
        // Words for each column, of which there are many, are rarer than words for each row.
        let outer = usize::from(self.random.random_ratio(2, 3))..extents.len();
        let along = if outer.is_empty() || self.random.random_ratio(1, 2) {
            None
        } else {
            Some(self.random.random_range(outer))
        };
        let (shape, along) = match along {
            None => {
                let dimensions = self.random.random_range(1..=2);
                ((0..dimensions).map(|_| self.random.random_range(1..=3)).collect_vec(), None)
            }
            Some(level) => {
                let more = *[0, 0, 1, 3].choose(&mut self.random).expect("there are some");
                let first = vec![extents[level] + more];
                let others = self.random.random_ratio(1, 4).then_some(2);
                (first.into_iter().chain(others).collect(), Some((level, scale[level])))
            }
        };
        let name = format!("parameter_{}", self.parameters.len());
        self.parameters.push(Parameter { name, type_name, shape, along });
        self.parameters.len() - 1
    }

    /// Their declarations.
    pub fn declared(&self) -> String {
        let line = |Parameter { name, type_name, shape, .. }: &Parameter| {
            format!("  {name}: {{type: {type_name}, shape: [{}]}}\n", shape.iter().join(", "))
        };
        self.parameters.iter().map(line).collect()
    }
}
