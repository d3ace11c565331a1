//! Whether two stages run an iteration in the same cycle, or two accesses have an element in common.

use num_integer::gcd;
use pushmem_affine::Affine;

use pushmem_stages::{Stage, Subscript};

/// So many combinations of loop indices are looked at, at most.
const MOST_STEPS: u32 = 1 << 20;

/// Whether some iterations of two stages are in the same cycle, some cycles of the first later. Exact, but for nests so
/// deep and irregular that too many combinations of indices would have to be tried: then the answer is yes.
pub fn coincide(one: (&Stage, &Affine), other: (&Stage, &Affine), later: i64) -> bool {
    let (mut terms, mut wanted) =
        (Vec::new(), i128::from(other.0.first_cycle(other.1)) - i128::from(one.0.first_cycle(one.1)));
    wanted -= i128::from(later);
    // The times of both are equal: the sum of the terms of the first, less those of the second, is `wanted`. A term
    // with a negative factor counts from its end, which makes all factors positive.
    for ((stage, schedule), sign) in [(one, 1), (other, -1)] {
        for (level, stride) in stage.loops.iter().zip(&schedule.stride) {
            let (factor, most) = (sign * i128::from(*stride), i128::from(level.extent) - 1);
            if factor < 0 {
                wanted -= factor * most;
            }
            terms.push(Term { factor: factor.abs(), most });
        }
    }
    let mut sum = Sum::of(terms);
    sum.can_be(0, wanted)
}

/// Whether two subscripts without division and boundary have a value in common. As exact as [`coincide`].
pub fn meet(one: (&Stage, &Subscript), other: (&Stage, &Subscript)) -> bool {
    let values = |subscript: &Subscript| Affine {
        start: subscript.constant + subscript.offset,
        stride: subscript.coefficients.clone(),
    };
    coincide((one.0, &values(one.1)), (other.0, &values(other.1)), 0)
}

/// A factor, times 0, 1, … or `most`.
#[derive(Clone, Copy, Debug)]
struct Term {
    factor: i128,
    most: i128,
}

/// A sum of terms, the greatest factors first.
struct Sum {
    terms: Vec<Term>,
    /// By term, the greatest sum of it and those behind it, and the greatest common divisor of these sums.
    rest: Vec<(i128, i128)>,
    steps: u32,
}

impl Sum {
    fn of(mut terms: Vec<Term>) -> Self {
        terms.retain(|term| term.factor > 0 && term.most > 0);
        terms.sort_by_key(|term| std::cmp::Reverse(term.factor));
        terms.dedup_by(|next, kept| {
            let same = next.factor == kept.factor;
            if same {
                kept.most += next.most;
            }
            same
        });
        let mut rest = vec![(0, 0)];
        for term in terms.iter().rev() {
            let (most, multiple) = rest[rest.len() - 1];
            rest.push((most + term.factor * term.most, gcd(multiple, term.factor)));
        }
        rest.reverse();
        Sum { terms, rest, steps: 0 }
    }

    /// Whether the terms from one on can be so much together.
    fn can_be(&mut self, from: usize, wanted: i128) -> bool {
        let (most, multiple) = self.rest[from];
        if !(0..=most).contains(&wanted) || (multiple > 0 && wanted % multiple != 0) {
            return false;
        }
        let Some(&Term { factor, most }) = self.terms.get(from) else { return true };
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return true;
        }
        let behind = self.rest[from + 1].0;
        let first = ((wanted - behind).max(0) + factor - 1) / factor;
        let last = most.min(wanted / factor);
        (first..=last).any(|count| self.can_be(from + 1, wanted - factor * count))
    }
}

#[cfg(test)]
mod tests {
    use super::{coincide, meet};
    use pushmem_affine::Affine;

    use pushmem_stages::{Access, Stage, StageLoop, Subscript};

    /// A stage with these extents and strides, innermost first, and its first cycle.
    fn stage(loops: &[(u64, i64)], start: i64) -> (Stage, Affine) {
        let level = |&(extent, _): &(u64, i64)| StageLoop { name: "i".to_owned(), min: 0, extent };
        let stage = Stage {
            name: "stage".to_owned(),
            group: 0,
            loops: loops.iter().map(level).collect(),
            shared: 0,
            reads: Vec::new(),
            write: Access { array: 0, subscripts: Vec::new() },
            latency: 0,
        };
        (stage, Affine { start, stride: loops.iter().map(|level| level.1).collect() })
    }

    fn cycles(loops: &[(u64, i64)], start: i64) -> Vec<i64> {
        loops.iter().fold(vec![start], |cycles, &(extent, stride)| {
            cycles.iter().flat_map(|&cycle| (0..extent as i64).map(move |index| cycle + stride * index)).collect()
        })
    }

    /// Blocks of eight of which each second one is another stage's.
    #[test]
    fn blocks_that_take_turns_do_not_meet() {
        let (blocks, _) = stage(&[(8, 1), (4, 16)], 0);
        let at = |constant| Subscript::affine(vec![1, 16], constant);
        assert!(!meet((&blocks, &at(0)), (&blocks, &at(8))));
        assert!(meet((&blocks, &at(0)), (&blocks, &at(7))));
    }

    /// All pairs of some nests at many distances, as counting tells.
    #[test]
    fn what_coincides_is_found() {
        let nests: [&[(u64, i64)]; 7] = [
            &[],
            &[(8, 1)],
            &[(4, 2), (3, 16)],
            &[(2, 4), (2, 32)],
            &[(5, 3), (4, -7)],
            &[(3, 5), (2, 1), (3, 40)],
            &[(4, 0), (3, 6)],
        ];
        for one in nests {
            for other in nests {
                for later in -90..90 {
                    let (first, second) = (cycles(one, 3), cycles(other, 10));
                    let expected = first.iter().any(|cycle| second.contains(&(cycle + later)));
                    let ((a, at_a), (b, at_b)) = (stage(one, 3), stage(other, 10));
                    assert_eq!(coincide((&a, &at_a), (&b, &at_b), later), expected, "{one:?} {other:?} {later}");
                }
            }
        }
    }
}
