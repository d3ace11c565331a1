//! The computed part of a pipeline: arrays, and the stages that store them.

use std::rc::Rc;

use pushmem_nest::{Span, Type};

use crate::held::{is_wide, unrolled};
use crate::intern::Interner;
use crate::value::{Load, Value, Variable, all_loads};

/// A value that is kept once.
pub(crate) type Term = Rc<Value<Point>>;

/// An element of an array.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub array: usize,
    pub indices: Vec<Term>,
    pub span: Span,
}

impl Load for Point {
    fn values(&self) -> &[Term] {
        &self.indices
    }
}

/// The least and the greatest index of each dimension.
pub(crate) type Box = Vec<(i64, i64)>;

/// The least range that has all of two.
pub(crate) fn hull(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The least box that has all of two.
pub(crate) fn hull_of_boxes(one: &Box, other: &Box) -> Box {
    one.iter().zip(other).map(|(one, other)| hull(*one, *other)).collect()
}

/// Arrays, and the stages that store them, in the order of execution.
#[derive(Default)]
pub(crate) struct Plan {
    pub arrays: Vec<Array>,
    pub stages: Vec<Stage>,
    /// The names of all variables, and the ranges of those of reductions.
    pub variables: Vec<(String, Option<(i64, i64)>)>,
    pub terms: Interner,
    /// The directives of schedules without a meaning here, each once.
    pub notes: Vec<(Span, String)>,
}

/// A plan with the boxes of its arrays, if they are used, and the types of their elements.
pub(crate) struct Arrays {
    pub plan: Plan,
    pub boxes: Vec<Option<Box>>,
    pub held: Vec<Type>,
}

impl Arrays {
    /// Adds an array.
    pub fn add(&mut self, array: Array, region: Option<Box>, held: Type) -> usize {
        self.plan.arrays.push(array);
        self.boxes.push(region);
        self.held.push(held);
        self.held.len() - 1
    }
}

#[derive(Debug)]
pub(crate) struct Array {
    pub name: String,
    pub storage: Storage,
    /// The type of its values in Halide. Their array may have a narrower one.
    pub value: Type,
    /// Whether it is known not to have a narrower one.
    pub is_wide: bool,
    pub dimensions: usize,
    /// The box that is said to be there, if it is.
    pub said: Option<Box>,
    pub span: Span,
}

/// The kind of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Input,
    Output,
    Buffer,
    /// Constants, innermost dimension first.
    Constants(Rc<Vec<i64>>),
}

/// A definition of the values of a Func.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub func: usize,
    /// The array of each value.
    pub arrays: Vec<usize>,
    pub targets: Vec<Term>,
    /// The values, without those of undefined elements.
    pub values: Vec<Option<Term>>,
    /// Outermost first.
    pub loops: Vec<Loop>,
    pub updates: bool,
    pub span: Span,
}

/// A loop of a stage.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub variable: Variable,
    /// The dimension of the Func that it goes along, if it is not one of a reduction.
    pub dimension: Option<usize>,
    pub unroll: Unroll,
    /// Whether the last value of the variable comes first.
    pub is_reversed: bool,
}

/// How many iterations of a loop are executed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unroll {
    By(i64),
    /// As many as divide its iterations, and no more than this: the factor of an update that became part of a definition.
    AtMost(i64),
    Whole,
}

impl Plan {
    /// The value of an element of an array.
    pub fn load(&mut self, array: usize, indices: &[Term], span: Span) -> Term {
        let (value, loaded) = (self.arrays[array].value, self.arrays[array].loaded());
        let load = self.terms.load(Point { array, indices: indices.to_vec(), span }, loaded);
        self.terms.cast(value, load)
    }

    /// The most iterations, one after the other, of the updates of an element of a Func.
    pub fn terms_in_turn(&self, func: usize) -> i64 {
        let in_turn = |each: &Loop| {
            let (low, high) = self.variables[each.variable].1.unwrap_or_default();
            (high - low + 1) / unrolled(each.unroll, high - low + 1)
        };
        let of_stage = |stage: &Stage| {
            let again = stage.loops.iter().filter(|each| each.dimension.is_none());
            again.map(in_turn).fold(1, i64::saturating_mul)
        };
        self.stages.iter().filter(|stage| stage.func == func && stage.updates).map(of_stage).max().unwrap_or(1)
    }
}

impl Stage {
    /// The terms that it computes: values, and the indices of the element that it stores.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.values.iter().flatten().chain(&self.targets)
    }

    /// The elements of these arrays that it loads, those for indices too.
    pub fn loads_of(&self, arrays: &[usize]) -> impl Iterator<Item = &Point> {
        all_loads(self.terms()).into_iter().filter(|point| arrays.contains(&point.array))
    }
}

/// Stages in their order, each with the definition that it updates, if it is an update.
pub(crate) fn with_definitions(stages: &[Stage]) -> impl Iterator<Item = (Option<&Stage>, &Stage)> {
    let mut definition = None;
    stages.iter().map(move |stage| {
        let updated = definition.filter(|_| stage.updates);
        if updated.is_none() {
            definition = Some(stage);
        }
        (updated, stage)
    })
}

impl Array {
    /// An image or a number from outside.
    pub fn input(name: String, value: Type, dimensions: usize, said: Option<Box>, span: Span) -> Self {
        Self { name, storage: Storage::Input, value, is_wide: true, dimensions, said, span }
    }

    /// Constants with these entries in a box.
    pub fn constants(name: String, value: Type, entries: Vec<i64>, said: Box, span: Span) -> Self {
        let is_wide = is_wide(value, &entries);
        let storage = Storage::Constants(Rc::new(entries));
        Self { name, storage, value, is_wide, dimensions: said.len(), said: Some(said), span }
    }

    /// An array of the same kind of another name, of which no box is said.
    pub fn like(&self, name: String) -> Self {
        let Self { storage, value, is_wide, dimensions, span, .. } = self;
        let (storage, value, is_wide, dimensions, span) = (storage.clone(), *value, *is_wide, *dimensions, *span);
        Self { name, storage, value, is_wide, dimensions, said: None, span }
    }

    /// The entry of constants at these indices, if these are constant, too.
    pub fn entry(&self, indices: &[Term]) -> Option<i64> {
        let (Storage::Constants(entries), Some(said)) = (&self.storage, &self.said) else { return None };
        let mut place = 0;
        for (index, (low, high)) in indices.iter().zip(said).rev() {
            let index = index.as_number()?;
            place = (low..=high).contains(&&index).then(|| place * (high - low + 1) + index - low)?;
        }
        entries.get(place as usize).copied()
    }

    /// The type of its loads: that of its values, or a narrower one, which is cast to that where it is loaded.
    pub fn loaded(&self) -> Type {
        match self.value {
            Type::Bool => Type::U8,
            whole @ (Type::U32 | Type::I32) if self.is_wide => whole,
            Type::U32 => Type::U16,
            Type::I32 => Type::I16,
            narrow => narrow,
        }
    }
}
