//! Loop nests at work.

use pushmem_configuration::{Affine, deltas};

/// The time of what never happens.
pub(crate) const NEVER: u64 = u64::MAX;

/// An affine function in recurrence form, modulo a number: that of the address space, or none.
#[derive(Clone, Debug)]
struct Counter {
    value: i64,
    deltas: Vec<i64>,
    modulus: Option<i64>,
}

impl Counter {
    fn advance(&mut self, by: i64) {
        self.value += by;
        if let Some(modulus) = self.modulus
            && self.value >= modulus
        {
            self.value -= modulus;
        }
    }
}

/// A controller or the stream of a port: when it fires next, and its functions then.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// The next firing, or [`NEVER`].
    pub next: u64,
    /// Firings so far.
    pub fired: u64,
    /// Cycle of the last firing.
    pub last: u64,
    /// Firings in all.
    pub total: u64,
    index: Vec<u64>,
    extent: Vec<u64>,
    gaps: Vec<u64>,
    counters: Vec<Counter>,
}

/// What a walker was in when a period began.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub next: u64,
    fired: u64,
    index: Vec<u64>,
    values: Vec<i64>,
}

/// How a walker moves in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// It does not fire.
    Rests,
    /// A level moves on by some steps, and everything inside it is back where it was.
    Steps { level: usize, steps: u64 },
}

impl Walker {
    /// A walker through loops, innermost first, with functions and what they count modulo. Loops that continue the loop
    /// inside them in every function are one loop: the firings are the same.
    pub fn new(extent: &[u64], cycle: &Affine, functions: &[(&Affine, Option<i64>)]) -> Walker {
        let mut extent = extent.to_vec();
        let mut strides: Vec<(Vec<i64>, Option<i64>)> = [(cycle, None)]
            .iter()
            .chain(functions)
            .map(|(function, modulus)| {
                let mut stride = function.stride.clone();
                stride.resize(extent.len(), 0);
                (stride, *modulus)
            })
            .collect();
        let mut level = 0;
        while level < extent.len() {
            let continues = level > 0
                && strides.iter().all(|(stride, modulus)| {
                    let difference =
                        i128::from(stride[level]) - i128::from(stride[level - 1]) * i128::from(extent[level - 1]);
                    modulus.map_or(difference, |modulus| difference.rem_euclid(i128::from(modulus))) == 0
                });
            if !continues && extent[level] > 1 {
                level += 1;
                continue;
            }
            let removed = extent.remove(level);
            for (stride, _) in &mut strides {
                stride.remove(level);
            }
            if continues {
                extent[level - 1] *= removed;
            }
        }
        let total = extent.iter().product();
        let last = strides[0].0.iter().zip(&extent).map(|(stride, &extent)| stride * (extent as i64 - 1)).sum::<i64>();
        let gaps = deltas(&strides[0].0, &extent).into_iter().map(|gap| gap.max(1) as u64).collect();
        let counters = functions
            .iter()
            .zip(&strides[1..])
            .map(|((function, modulus), (stride, _))| {
                let reduce =
                    |value: i128| modulus.map_or(value, |modulus| value.rem_euclid(i128::from(modulus))) as i64;
                Counter {
                    value: reduce(i128::from(function.start)),
                    deltas: deltas(stride, &extent).into_iter().map(reduce).collect(),
                    modulus: *modulus,
                }
            })
            .collect();
        Walker {
            next: cycle.start as u64,
            fired: 0,
            last: (cycle.start + last) as u64,
            total,
            index: vec![0; extent.len()],
            extent,
            gaps,
            counters,
        }
    }

    /// A walker that never fires.
    pub fn idle() -> Walker {
        Walker {
            next: NEVER,
            fired: 0,
            last: 0,
            total: 0,
            index: Vec::new(),
            extent: Vec::new(),
            gaps: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// The current value of a function.
    pub fn value(&self, function: usize) -> i64 {
        self.counters[function].value
    }

    /// Goes on to the next firing.
    pub fn fire(&mut self) {
        self.fired += 1;
        for level in 0..self.extent.len() {
            if self.index[level] + 1 < self.extent[level] {
                self.index[level] += 1;
                self.next += self.gaps[level];
                for counter in &mut self.counters {
                    counter.advance(counter.deltas[level]);
                }
                return;
            }
            self.index[level] = 0;
        }
        self.next = NEVER;
    }

    /// Remembers where it is.
    pub fn mark(&self) -> Mark {
        Mark {
            next: self.next,
            fired: self.fired,
            index: self.index.clone(),
            values: self.counters.iter().map(|counter| counter.value).collect(),
        }
    }

    /// How it moved since a mark set `period` cycles ago, if it moves the same way in the next period.
    pub fn advance_since(&self, mark: &Mark, period: u64) -> Option<Advance> {
        if self.fired == mark.fired {
            return Some(Advance::Rests);
        }
        if self.next == NEVER || self.next != mark.next + period {
            return None;
        }
        let level = (0..self.index.len()).rev().find(|&level| self.index[level] != mark.index[level])?;
        let same_inside = self.index[..level] == mark.index[..level];
        same_inside.then(|| Advance::Steps { level, steps: self.index[level] - mark.index[level] })
    }

    /// How much a function moved since a mark.
    pub fn moved(&self, mark: &Mark, function: usize) -> i64 {
        let difference = self.counters[function].value - mark.values[function];
        self.counters[function].modulus.map_or(difference, |modulus| difference.rem_euclid(modulus))
    }

    /// How many more periods it moves in the same way.
    pub fn repetitions(&self, advance: &Advance, now: u64, period: u64) -> u64 {
        match *advance {
            Advance::Rests if self.next == NEVER => NEVER,
            Advance::Rests => (self.next - now) / period,
            Advance::Steps { level, steps } => (self.extent[level] - 1 - self.index[level]) / steps,
        }
    }

    /// Moves on by whole periods.
    pub fn skip(&mut self, mark: &Mark, advance: &Advance, period: u64, periods: u64) {
        let Advance::Steps { level, steps } = *advance else { return };
        let moves: Vec<i64> = (0..self.counters.len()).map(|function| self.moved(mark, function)).collect();
        self.index[level] += steps * periods;
        self.next += period * periods;
        self.fired += (self.fired - mark.fired) * periods;
        for (counter, moved) in self.counters.iter_mut().zip(moves) {
            let value = i128::from(counter.value) + i128::from(moved) * i128::from(periods);
            counter.value = counter.modulus.map_or(value, |modulus| value.rem_euclid(i128::from(modulus))) as i64;
        }
    }
}
