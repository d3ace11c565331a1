//! Iteration of loop nests.

use pushmem_affine::{Affine, Domain, Recurrence};

/// The time of an event that never happens.
pub(crate) const NEVER: u64 = u64::MAX;

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
    domain: Domain,
    gaps: Vec<u64>,
    functions: Vec<Recurrence>,
}

/// The state of a walker at the begin of a period.
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
    pub fn new(domain: &Domain, cycle: &Affine, functions: &[(&Affine, Option<i64>)]) -> Walker {
        let mut domain = domain.clone();
        let all = std::iter::once((cycle, None)).chain(functions.iter().copied());
        let mut all: Vec<(Affine, Option<i64>)> = all.map(|(function, modulus)| (function.clone(), modulus)).collect();
        merge(&mut domain, &mut all);
        let (cycle, _) = all.remove(0);
        let gaps = domain.deltas(&cycle.stride).into_iter().map(|gap| gap.max(1) as u64).collect();
        let recurrence = |(function, modulus): &(Affine, Option<i64>)| Recurrence::new(function, &domain, *modulus);
        Walker {
            next: cycle.start as u64,
            fired: 0,
            last: cycle.value(&domain.last()) as u64,
            total: domain.iter().product(),
            index: vec![0; domain.depth()],
            gaps,
            functions: all.iter().map(recurrence).collect(),
            domain,
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
            domain: Domain::default(),
            gaps: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// The current value of a function.
    pub fn value(&self, function: usize) -> i64 {
        self.functions[function].value()
    }

    /// Goes on to the next firing.
    pub fn fire(&mut self) {
        self.fired += 1;
        match self.domain.advance(&mut self.index) {
            Some(level) => {
                self.next += self.gaps[level];
                self.functions.iter_mut().for_each(|function| function.advance(level));
            }
            None => self.next = NEVER,
        }
    }

    /// Remembers where it is.
    pub fn mark(&self) -> Mark {
        Mark {
            next: self.next,
            fired: self.fired,
            index: self.index.clone(),
            values: self.functions.iter().map(Recurrence::value).collect(),
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
        self.functions[function].moved(mark.values[function])
    }

    /// How many more periods it moves in the same way.
    pub fn repetitions(&self, advance: &Advance, now: u64, period: u64) -> u64 {
        match *advance {
            Advance::Rests if self.next == NEVER => NEVER,
            Advance::Rests => (self.next - now) / period,
            Advance::Steps { level, steps } => (self.domain[level] - 1 - self.index[level]) / steps,
        }
    }

    /// Moves on by whole periods.
    pub fn skip(&mut self, mark: &Mark, advance: &Advance, period: u64, periods: u64) {
        let Advance::Steps { level, steps } = *advance else { return };
        let moves: Vec<i64> = (0..self.functions.len()).map(|function| self.moved(mark, function)).collect();
        self.index[level] += steps * periods;
        self.next += period * periods;
        self.fired += (self.fired - mark.fired) * periods;
        for (function, moved) in self.functions.iter_mut().zip(moves) {
            function.repeat(moved, periods);
        }
    }
}

/// Removes loops of one iteration, and makes one loop of each two that continue each other in all functions.
fn merge(domain: &mut Domain, functions: &mut [(Affine, Option<i64>)]) {
    functions.iter_mut().for_each(|(function, _)| function.stride.resize(domain.depth(), 0));
    let mut level = 0;
    while level < domain.depth() {
        let continues = level > 0
            && functions.iter().all(|(Affine { stride, .. }, modulus)| {
                let inside = i128::from(stride[level - 1]) * i128::from(domain[level - 1]);
                let difference = i128::from(stride[level]) - inside;
                modulus.map_or(difference, |modulus| difference.rem_euclid(i128::from(modulus))) == 0
            });
        if !continues && domain[level] > 1 {
            level += 1;
            continue;
        }
        let removed = domain.remove(level);
        for (function, _) in &mut *functions {
            function.stride.remove(level);
        }
        if continues {
            domain[level - 1] *= removed;
        }
    }
}
