//! Packing: a Func of several values becomes one of words that have them side by side, where an update takes values of earlier iterations
//! for each other, as a complex recursive filter does. A scan computes a word in each iteration; of the values by themselves, each would
//! wait for a whole scan of the other.

use std::collections::{BTreeSet, HashMap};

use pushmem_nest::{Binary, Type};

use crate::array_expansion::Reads;
use crate::held::NARROW;
use crate::intern::Interner;
use crate::plan::{Array, Plan, Point, Stage, Storage, Term, with_definitions};
use crate::substitution::Substitution;

/// Packs the values of Funcs with such updates.
pub(crate) fn packed(plan: &mut Plan) {
    let is_coupled = |(definition, stage): &(Option<&Stage>, &Stage)| {
        let reads = || definition.zip(Reads::of(plan, stage));
        stage.arrays.len() > 1 && reads().is_some_and(|(definition, reads)| reads.is_coupled_scan(definition))
    };
    let coupled: BTreeSet<Vec<usize>> =
        with_definitions(&plan.stages).filter(is_coupled).map(|(_, stage)| stage.arrays.clone()).collect();
    for arrays in coupled {
        if let Some(word) = Word::of(plan, &arrays) {
            word.pack(plan);
        }
    }
}

/// A word that has the elements of several arrays.
struct Word {
    /// The arrays, each with the place of its lowest bit.
    parts: Vec<(usize, u32)>,
    value: Type,
}

impl Word {
    /// The word of these arrays, if a memory has words that are as wide, and all definitions compute all values.
    fn of(plan: &Plan, arrays: &[usize]) -> Option<Self> {
        let is_whole = |stage: &Stage| stage.arrays != arrays || stage.values.iter().all(Option::is_some);
        if !plan.stages.iter().all(is_whole) {
            return None;
        }
        let (mut parts, mut bits) = (Vec::new(), 0);
        for &array in arrays {
            let Array { storage, value, .. } = &plan.arrays[array];
            if *storage != Storage::Buffer || !NARROW.contains(value) {
                return None;
            }
            parts.push((array, bits));
            bits += value.bits();
        }
        let value = [Type::U16, Type::U32].into_iter().find(|word| bits <= word.bits())?;
        Some(Self { parts, value })
    }

    /// Lets a plan have an array of these words in the place of the arrays.
    fn pack(&self, plan: &mut Plan) {
        let array = plan.arrays.len();
        let first = &plan.arrays[self.parts[0].0];
        let name = first.name.strip_suffix("_0").unwrap_or(&first.name).to_owned();
        let is_wide = self.value == Type::U32;
        plan.arrays.push(Array { value: self.value, is_wide, said: first.said.clone(), ..first.like(name) });
        let Plan { arrays, stages, terms, .. } = plan;
        let types: Vec<Type> = self.parts.iter().map(|(part, _)| arrays[*part].value).collect();
        for (part, _) in &self.parts {
            arrays[*part].said = None;
        }
        let load = |_: &Point, point: Point, loaded| {
            let part = self.parts.iter().find(|(part, _)| *part == point.array);
            Some(match part {
                None => terms.load(point, loaded),
                Some(&(_, lowest)) => {
                    let word = terms.load(Point { array, ..point }, self.value);
                    terms.cast(loaded, self.shifted(terms, Binary::ShiftRight, word, lowest))
                }
            })
        };
        for stage in stages {
            Substitution::new(terms, HashMap::new(), load).within(stage);
            if stage.arrays.first() == Some(&self.parts[0].0) {
                let values = std::mem::take(&mut stage.values).into_iter().flatten().zip(&types);
                stage.values = vec![self.joined(terms, values)];
                stage.arrays = vec![array];
            }
        }
    }

    /// The word of these values.
    fn joined<'a>(&self, terms: &Interner, values: impl Iterator<Item = (Term, &'a Type)>) -> Option<Term> {
        let part = |((value, of), (_, lowest)): ((Term, &Type), &(usize, u32))| {
            // The bits of a negative number, without copies of its sign.
            let word = terms.cast(self.value, terms.cast(of.unsigned(), value));
            self.shifted(terms, Binary::ShiftLeft, word, *lowest)
        };
        values.zip(&self.parts).map(part).reduce(|word, part| terms.binary(Binary::Or, word, part))
    }

    fn shifted(&self, terms: &Interner, operator: Binary, word: Term, by: u32) -> Term {
        match by {
            0 => word,
            _ => terms.binary(operator, word, terms.number(by.into(), self.value)),
        }
    }
}
