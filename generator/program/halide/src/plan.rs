//! The computed part of a pipeline: arrays, and the stages that store them.

use std::rc::Rc;

use pushmem_nest::{Span, Type};

use crate::intern::Interner;
use crate::value::{Place, Value, Variable};

/// A value that is kept once.
pub(crate) type Term = Rc<Value<Point>>;

/// An element of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Point {
    pub array: usize,
    pub indices: Vec<Term>,
    pub place: Place,
}

/// The least and the greatest index of each dimension.
pub(crate) type Box = Vec<(i64, i64)>;

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

/// An array.
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
#[derive(Debug)]
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
}

/// How many iterations of a loop are executed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unroll {
    By(i64),
    Whole,
}

impl Array {
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
