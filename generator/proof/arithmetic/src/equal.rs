//! Whether two codes compute the same.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};
use itertools::Itertools;
use pushmem_nest::Word;

use crate::code::{Address, Code};
use crate::evaluate::{Columns, evaluate};
use crate::leaves::{Leaf, leaves};
use crate::samples::{Operands, Sampler};
use crate::terms::{Atom, Bounds, Term, Terms, digest};

/// Bits of operands all of whose values are tried.
const MOST_BITS: u32 = 20;

/// Steps of a trial of all values, and of all such trials of a statement, times the values: bounds of the time that they take.
const MOST_STEPS: usize = 1 << 26;

/// Values that are computed at once.
const BLOCK: usize = 1 << 12;

/// Samples that decide which steps may be equal.
const SIGNATURE: usize = 64;

/// How deep below a step operands are taken as any values.
const DEEPEST: usize = 4;

/// How it is known that a datapath computes its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Evidence {
    /// Both have one normal form.
    NormalForm,
    /// All values were tried, of the operands or of parts of both.
    Exhaustive,
    /// Samples agree, if there were any: no proof.
    Samples,
}

/// Operands for which two codes differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub operands: BTreeMap<Leaf, i64>,
    pub expected: i64,
    pub found: i64,
    /// The load whose address differs, if it is not the result.
    pub address: Option<usize>,
}

/// A statement and its datapath.
pub(crate) struct Pair<'a> {
    pub statement: &'a Code,
    pub datapath: &'a Code,
    /// The bounds of loads, as far as there are closer ones than those of their types.
    pub loads: &'a [Bounds],
    pub variables: &'a [Bounds],
    /// The entries of each table.
    pub tables: &'a [&'a [i64]],
    /// Whether samples are compared where nothing is proven.
    pub has_samples: bool,
}

impl Pair<'_> {
    /// How it is known that both compute the same.
    ///
    /// # Errors
    /// Operands for which they do not.
    pub fn compare(&self) -> Result<Evidence, Difference> {
        let leaves = leaves([self.statement, self.datapath], self.loads, self.variables);
        with_terms(&leaves, self.tables, |terms| self.compare_with(terms, &leaves))
    }

    fn compare_with(&self, terms: &mut Terms, leaves: &BTreeMap<Leaf, Bounds>) -> Result<Evidence, Difference> {
        let expected = terms.of_code(self.statement);
        let found = terms.of_code(self.datapath);
        let are_within = self.are_within_tables(terms, &expected, &found);
        // Terms are no values after a failure: two of them may be equal by chance.
        if are_within && self.are_equal(terms, &expected, &found) && !terms.failed {
            return Ok(Evidence::NormalForm);
        }
        if are_within && let Some(outcome) = self.by_all_operands(leaves) {
            return outcome.map(|()| Evidence::Exhaustive);
        }
        let mut sampler = Sampler::new([self.statement, self.datapath], leaves);
        if are_within && !terms.failed {
            let sweep = Sweep::new(self, sampler.random(SIGNATURE), &expected);
            if let Some(found) = sweep.found(terms)
                && self.are_equal(terms, &expected, &found)
                && !terms.failed
            {
                return Ok(Evidence::Exhaustive);
            }
        }
        if self.has_samples {
            self.agree(&sampler.systematic(self.statement, terms, &expected))?;
        }
        Ok(Evidence::Samples)
    }

    /// Whether each index of the datapath that must be in a table is in it: by its bounds, or as the word of an index of the statement, which
    /// is in its table wherever the program runs without an error.
    fn are_within_tables(&self, terms: &mut Terms, expected: &[Term], found: &[Term]) -> bool {
        self.datapath.lookups.iter().all(|&(table, index)| {
            let last = self.tables[table].len() as i128 - 1;
            let is_of_statement = |terms: &mut Terms, (step, _, high): &(usize, i64, i64)| {
                i128::from(*high) == last && terms.modulo(expected[*step], Word::BITS) == found[index]
            };
            terms.bounds(found[index]).is_within(0, last)
                || self.statement.bounded.iter().any(|bounded| is_of_statement(terms, bounded))
        })
    }

    /// The pairs of ends whose low bits must be equal: the result, and the addresses.
    fn ends(&self) -> impl Iterator<Item = (usize, usize, Option<u32>, Option<usize>)> {
        let results = (self.statement.result, self.datapath.result, None, None);
        let address = |found: &Address| {
            let expected = self.statement.addresses.iter().find(|expected| expected.load == found.load)?;
            Some((expected.step, found.step, Some(expected.bits), Some(found.load)))
        };
        [results].into_iter().chain(self.datapath.addresses.iter().filter_map(address))
    }

    fn are_equal(&self, terms: &mut Terms, expected: &[Term], found: &[Term]) -> bool {
        self.ends().all(|(one, other, bits, _)| match bits {
            None => expected[one] == found[other],
            Some(bits) => terms.modulo(expected[one], bits) == terms.modulo(found[other], bits),
        })
    }

    /// Tries all operands, if they are few.
    fn by_all_operands(&self, leaves: &BTreeMap<Leaf, Bounds>) -> Option<Result<(), Difference>> {
        let steps = self.statement.steps.len() + self.datapath.steps.len();
        let bounds = leaves.values().copied().collect_vec();
        let trials = trials(&bounds).filter(|trials| trials * steps <= MOST_STEPS)?;
        let blocks = (0..trials).step_by(BLOCK).map(|first| first..(first + BLOCK).min(trials));
        let mut outcomes = blocks.map(|block| {
            let columns = columns(&bounds, block);
            self.agree(&leaves.keys().copied().zip(columns).collect())
        });
        Some(outcomes.try_for_each(|outcome| outcome))
    }

    /// Compares both for these operands, where the program has no error.
    fn agree(&self, operands: &Operands) -> Result<(), Difference> {
        let [expected, found] = [self.statement, self.datapath].map(|code| {
            let mut values = with_leaves(code, operands);
            evaluate(code, self.tables, 0..code.steps.len(), &mut values);
            values
        });
        for (one, other, bits, address) in self.ends() {
            let mask = bits.map_or(-1, |bits| (1 << bits) - 1);
            let both = expected.column(one).iter().copied().zip_eq(found.column(other).iter().copied()).enumerate();
            let is_valid = |sample: usize| {
                let within =
                    |(step, low, high): &(usize, i64, i64)| (*low..=*high).contains(&expected.column(*step)[sample]);
                self.statement.bounded.iter().all(within)
            };
            let mut wrong = both.filter(|(_, (one, other))| (one ^ other) & mask != 0);
            if let Some((sample, (expected, found))) = wrong.find(|(sample, _)| is_valid(*sample)) {
                let operands = operands.iter().map(|(leaf, values)| (*leaf, values[sample])).collect();
                return Err(Difference { operands, expected: expected & mask, found: found & mask, address });
            }
        }
        Ok(())
    }
}

/// Makes terms for leaves with these bounds and tables with these entries, and passes them to a function.
pub(crate) fn with_terms<Result>(
    leaves: &BTreeMap<Leaf, Bounds>,
    tables: &[&[i64]],
    function: impl FnOnce(&mut Terms) -> Result,
) -> Result {
    let bounds = |atom: &Atom| match *atom {
        Atom::Load(load) => leaves[&Leaf::Load(load)],
        Atom::Variable(variable) => leaves[&Leaf::Variable(variable)],
        _ => unreachable!("only leaves have bounds of their own"),
    };
    let entries = |table: usize| {
        let values = tables[table];
        let ends = values.iter().chain([&0]).minmax().into_option().unwrap_or((&0, &0));
        (Bounds::new(*ends.0, *ends.1), values.to_vec())
    };
    function(&mut Terms::new(&bounds, &entries))
}

/// The columns of a code of which only leaves are known.
fn with_leaves(code: &Code, operands: &Operands) -> Columns {
    let samples = operands.values().map(Vec::len).next().unwrap_or(1);
    let column = |leaf: Leaf| operands.get(&leaf).cloned().unwrap_or_else(|| vec![0; samples]);
    Columns { samples, of_steps: code.steps.iter().map(|step| Leaf::of(&step.kind).map(column)).collect() }
}

/// How many combinations of values there are, if they are few.
fn trials(bounds: &[Bounds]) -> Option<usize> {
    let trials = bounds.iter().try_fold(1_i128, |trials, of| trials.checked_mul(of.high - of.low + 1))?;
    (trials <= 1 << MOST_BITS).then_some(trials as usize)
}

/// Some of all combinations of values within these bounds: a column for each.
fn columns(bounds: &[Bounds], trials: std::ops::Range<usize>) -> Vec<Vec<i64>> {
    let mut columns = bounds.iter().map(|_| Vec::with_capacity(trials.len())).collect_vec();
    for trial in trials {
        let mut rest = trial as i128;
        for (column, Bounds { low, high }) in columns.iter_mut().zip(bounds) {
            let count = high - low + 1;
            column.push((low + rest % count) as i64);
            rest /= count;
        }
    }
    columns
}

/// The search for steps of a datapath that are equal to steps of its statement though their terms are not: all values are tried of
/// what both are computed from.
struct Sweep<'a> {
    pair: &'a Pair<'a>,
    expected: &'a [Term],
    /// The steps of the statement by the digest of their values.
    by_values: HashMap<u64, Vec<usize>>,
    /// The digests of the values of the steps of the datapath.
    digests: Vec<u64>,
    /// Steps times values that may still be tried.
    budget: std::cell::Cell<usize>,
}

impl<'a> Sweep<'a> {
    fn new(pair: &'a Pair<'a>, operands: Operands, expected: &'a [Term]) -> Self {
        let [of_statement, digests] = [pair.statement, pair.datapath].map(|code| {
            let mut values = with_leaves(code, &operands);
            evaluate(code, pair.tables, 0..code.steps.len(), &mut values);
            (0..code.steps.len()).map(|step| digest(values.column(step))).collect_vec()
        });
        let mut by_values: HashMap<u64, Vec<usize>> = HashMap::new();
        for (step, (values, needed)) in of_statement.into_iter().zip(pair.statement.needed()).enumerate() {
            if needed {
                by_values.entry(values).or_default().push(step);
            }
        }
        Self { pair, expected, by_values, digests, budget: std::cell::Cell::new(MOST_STEPS) }
    }

    /// The terms of the datapath, those of the statement for steps that are equal to it; nothing if none is.
    fn found(&self, terms: &mut Terms) -> Option<Vec<Term>> {
        let code = self.pair.datapath;
        let needed = code.needed();
        let mut found: Vec<Term> = Vec::with_capacity(code.steps.len());
        let mut is_new = false;
        for (number, step) in code.steps.iter().enumerate() {
            let mut term = if needed[number] { terms.of_step(code, *step, &found) } else { terms.constant(0) };
            let alike = self.by_values.get(&self.digests[number]).filter(|_| needed[number]);
            let alike = alike.into_iter().flatten().copied().unique_by(|step| self.expected[*step]).collect_vec();
            if !alike.iter().any(|step| self.expected[*step] == term) {
                found.push(term);
                if let Some(step) = alike.into_iter().find(|step| self.is_equal(terms, &found, *step, number)) {
                    term = self.expected[step];
                    is_new = true;
                }
                found.pop();
            }
            found.push(term);
        }
        is_new.then_some(found)
    }

    /// Whether a step of the datapath has the values of one of the statement, for all values of some terms that both are computed from.
    fn is_equal(&self, terms: &mut Terms, found: &[Term], expected: usize, step: usize) -> bool {
        let mut cut = vec![expected];
        for _ in 0..DEEPEST {
            let statement = self.pair.statement;
            let operands = |step: &usize| match statement.steps[*step].kind.operands().next() {
                None => vec![*step],
                Some(_) => statement.steps[*step].kind.operands().collect_vec(),
            };
            let deeper = cut.iter().flat_map(operands).sorted_unstable().dedup().collect_vec();
            if deeper == cut {
                return false;
            }
            cut = deeper;
            let of_cut = cut.iter().map(|step| self.expected[*step]).unique().collect_vec();
            let of_cut = of_cut.into_iter().filter(|term| terms.as_constant(*term).is_none()).collect_vec();
            if let Some(equal) = self.is_equal_above(terms, found, &of_cut, expected, step) {
                return equal;
            }
        }
        false
    }

    /// The same for all values of these terms; nothing if one of both has other operands, or there are too many values.
    fn is_equal_above(
        &self,
        terms: &mut Terms,
        found: &[Term],
        cut: &[Term],
        expected: usize,
        step: usize,
    ) -> Option<bool> {
        let Pair { statement, datapath, tables, .. } = *self.pair;
        let bounds = cut.iter().map(|term| terms.bounds(*term)).collect_vec();
        let trials = trials(&bounds)?;
        let above = cone(statement, self.expected, cut, expected)?;
        let of_datapath = cone(datapath, found, cut, step)?;
        let cost = trials * (above.len() + of_datapath.len());
        self.budget.set(self.budget.get().checked_sub(cost)?);
        let equal = (0..trials).step_by(BLOCK).all(|first| {
            let block = first..(first + BLOCK).min(trials);
            let samples = block.len();
            let columns = columns(&bounds, block);
            let result = |code: &Code, of_steps: &[Term], cone: &[usize], end: usize| {
                let mut values = Columns { samples, of_steps: vec![None; code.steps.len()] };
                for &step in cone {
                    let place = cut.iter().position(|term| *term == of_steps[step]);
                    values.of_steps[step] = place.map(|place| columns[place].clone());
                }
                evaluate(code, tables, cone.iter().copied(), &mut values);
                values.column(end).to_vec()
            };
            result(statement, self.expected, &above, expected) == result(datapath, found, &of_datapath, step)
        });
        Some(equal)
    }
}

/// The steps from which one is computed above a cut, ascending; nothing if it depends on a leaf beside the cut.
fn cone(code: &Code, terms: &[Term], cut: &[Term], end: usize) -> Option<Vec<usize>> {
    let mut open = vec![end];
    let mut known = std::collections::BTreeSet::new();
    while let Some(step) = open.pop() {
        if !known.insert(step) || (step != end && cut.contains(&terms[step])) {
            continue;
        }
        if Leaf::of(&code.steps[step].kind).is_some() && !cut.contains(&terms[step]) {
            return None;
        }
        open.extend(code.steps[step].kind.operands());
    }
    Some(known.into_iter().collect())
}
