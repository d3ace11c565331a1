//! Affine maps as hardware computes them.

use crate::affine::Affine;
use crate::domain::Domain;

/// An affine function in recurrence form, perhaps modulo the size of an address space: its value now, and its change when
/// each level increments and all levels inside it return to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recurrence {
    value: i64,
    deltas: Vec<i64>,
    modulus: Option<i64>,
}

impl Recurrence {
    /// The recurrence of a function at the first point of a domain.
    ///
    /// # Panics
    /// When, without a modulus, a delta does not fit 64 bits.
    pub fn new(function: &Affine, domain: &Domain, modulus: Option<i64>) -> Self {
        let reduce = |value: i128| {
            let value = modulus.map_or(value, |modulus| value.rem_euclid(i128::from(modulus)));
            i64::try_from(value).expect("functions that are walked have small deltas")
        };
        Recurrence {
            value: reduce(i128::from(function.start)),
            deltas: domain.deltas(&function.stride).into_iter().map(reduce).collect(),
            modulus,
        }
    }

    /// The value at the point at which it is. With a modulus, less than it and never negative.
    #[inline]
    pub fn value(&self) -> i64 {
        self.value
    }

    /// The changes by level, innermost first; with a modulus, none is negative.
    pub fn deltas(&self) -> &[i64] {
        &self.deltas
    }

    /// Follows a step in which `level` increments. A level beyond those of the function leaves it as it is.
    #[inline]
    pub fn advance(&mut self, level: usize) {
        let Some(delta) = self.deltas.get(level) else { return };
        self.value += delta;
        if let Some(modulus) = self.modulus
            && self.value >= modulus
        {
            self.value -= modulus;
        }
    }

    /// How much the value changed since it was `earlier`; with a modulus, the change that is not negative.
    pub fn moved(&self, earlier: i64) -> i64 {
        let difference = self.value - earlier;
        self.modulus.map_or(difference, |modulus| difference.rem_euclid(modulus))
    }

    /// Repeats a change so many times.
    ///
    /// # Panics
    /// When, without a modulus, the value does not fit 64 bits.
    pub fn repeat(&mut self, change: i64, times: u64) {
        let value = i128::from(self.value) + i128::from(change) * i128::from(times);
        let value = self.modulus.map_or(value, |modulus| value.rem_euclid(i128::from(modulus)));
        self.value = i64::try_from(value).expect("functions that are walked have small values");
    }
}
