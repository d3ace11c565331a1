//! Programs: arrays, tables, and loops of operations on them.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_float::{Format, Function};

use crate::expression::{Expression, ExpressionKind};
use crate::index::{AffineIndex, Index};
use crate::operators::Binary;
use crate::source::{SourceText, Span};
use crate::types::Type;

/// A loop nest over arrays.
///
/// Programs come from [`read`](Program::read), [`from_document`](Program::from_document) and
/// [`ProgramBuilder`](crate::ProgramBuilder), all of which check them. Later stages rely on what was checked: indices
/// within their arrays, types that agree, loops that run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of the program.
    pub name: String,
    /// How to schedule it, if the program says so.
    pub schedule: Option<Policy>,
    /// Inputs, outputs and buffers, in this order, each in the order of the file.
    pub arrays: Vec<Array>,
    /// Tables of constants.
    pub tables: Vec<Table>,
    /// Loops and operations, in the order of execution.
    pub nest: Vec<Node>,
    /// The text that the places refer to.
    pub source: SourceText,
}

pushmem_files::named! {
    /// The kind of a program, which decides how it is scheduled.
    pub enum Policy {
        /// Neural networks: loops of stages are pipelined coarsely.
        Dnn = "dnn",
        /// Image pipelines: all stages are fused into one raster scan.
        Stencil = "stencil",
    }
}

pushmem_files::named! {
    /// Where the elements of an array come from and go to.
    #[derive(PartialOrd, Ord)]
    pub enum ArrayKind {
        /// Comes from outside and is never written.
        Input = "input",
        /// Goes outside.
        Output = "output",
        /// Exists only within the program.
        Buffer = "buffer",
    }
}

pushmem_files::named! {
    /// A level of the memory hierarchy, the largest first.
    #[derive(PartialOrd, Ord)]
    pub enum Level {
        /// The global buffer (GLB), a few large banks for whole images.
        GlobalBuffer = "global_buffer",
        /// The memory tiles (MEM).
        Memory = "memory",
        /// The register files (ponds) beside processing elements.
        RegisterFile = "register_file",
    }
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The name.
    pub name: String,
    /// Input, output or buffer.
    pub kind: ArrayKind,
    /// The type of the elements: any but that of truth values.
    pub element: Type,
    /// The number of elements in each dimension, innermost first, all positive.
    pub shape: Vec<i64>,
    /// The least index in each dimension.
    pub min: Vec<i64>,
    /// The level of the memory hierarchy where its elements are, if the program says so.
    pub level: Option<Level>,
    /// Whether some access of it has indices that depend on data: it is in a random-access memory.
    pub random_access: bool,
    /// Where it is declared: its name.
    pub span: Span,
}

impl Array {
    /// A buffer in memory tiles, with these least indices and extents.
    pub fn buffer(name: String, element: Type, min: Vec<i64>, shape: Vec<i64>, span: Span) -> Array {
        Array { name, kind: ArrayKind::Buffer, element, shape, min, level: None, random_access: false, span }
    }

    /// The type of the results of the statements that write it: that of its elements. To a random-access memory go an element and its
    /// address together, the element in the low word.
    pub fn written(&self) -> Type {
        if self.random_access { Type::U32 } else { self.element.as_words() }
    }

    /// The greatest index in a dimension.
    pub fn max(&self, dimension: usize) -> i64 {
        self.min[dimension] + self.shape[dimension] - 1
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }

    /// The indices of the element at this place, if the elements lie side by side, those along the innermost dimension first.
    pub fn indices(&self, place: usize) -> Vec<i64> {
        let mut rest = place as i64;
        let index = |(extent, min): (&i64, &i64)| {
            let index = rest % extent + min;
            rest /= extent;
            index
        };
        self.shape.iter().zip(&self.min).map(index).collect()
    }

    /// The place of the element with these indices, if the array has it, as in [`Array::indices`].
    pub fn place(&self, indices: &[i64]) -> Option<usize> {
        let (mut place, mut distance) = (0, 1);
        for (index, (min, extent)) in indices.iter().zip(self.min.iter().zip(&self.shape)) {
            place += (0..*extent).contains(&(index - min)).then_some((index - min) * distance)?;
            distance *= extent;
        }
        usize::try_from(place).ok()
    }

    /// The number of words in each dimension, innermost first: the words of an element lie side by side. An array without
    /// dimensions has one of the words of its element.
    pub fn shape_in_words(&self) -> Vec<i64> {
        let words = self.element.words().len() as i64;
        match self.shape.split_first() {
            Some((innermost, rest)) => [innermost * words].iter().chain(rest).copied().collect(),
            None => vec![words],
        }
    }
}

/// A table of constants, indexed from 0 by expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name.
    pub name: String,
    /// The type of the entries: any but that of truth values.
    pub element: Type,
    /// The entries.
    pub values: Vec<i64>,
    /// The function of numbers that it is for, or a part of the table of which it is, where the program calls that; nothing for tables
    /// that it declares.
    pub function: Option<(Format, Function)>,
    /// Where it is declared: its name.
    pub span: Span,
}

/// A loop or an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A loop.
    Loop(Loop),
    /// An operation.
    Operation(Box<Operation>),
}

/// A loop with constant bounds and step 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The name of the variable, unique among the loops around and within, not beside.
    pub variable: String,
    /// The first value of the variable.
    pub min: i64,
    /// The number of iterations, positive.
    pub extent: i64,
    /// How many successive iterations are executed at once, by as many copies of the hardware; divides the extent.
    pub unroll: i64,
    /// Loops and operations of an iteration, in the order of execution.
    pub body: Vec<Node>,
    /// Where its header is.
    pub span: Span,
}

impl Loop {
    /// The last value of the variable.
    pub fn max(&self) -> i64 {
        self.min + self.extent - 1
    }
}

/// A statement: loads, an expression of what was loaded, one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// A name, unique in the program: the target's, and a number if it has several operations.
    pub name: String,
    /// The name of the function that computes it, if it was built from one: operations with one name may share hardware.
    pub function: Option<String>,
    /// The element that is written.
    pub target: Access,
    /// The operator that joins the value with the element, which must have one already, if the statement is a reduction: `+`
    /// of `+=`. It has an [identity](Binary::identity), so that the order of the iterations does not matter.
    pub reduction: Option<Binary>,
    /// The elements that are read, in the order of the expression, each only once.
    pub loads: Vec<Load>,
    /// The value, of the type of the target.
    pub expression: Expression,
    /// The compute unit that it shares with others, if it does not have its own.
    pub share: Option<Share>,
    /// Where the statement is.
    pub span: Span,
}

/// A compute unit that several operations share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

impl Operation {
    /// A statement that copies an element of this type, with the name of the array that it writes.
    pub fn copy(name: String, target: Access, load: Load, element: Type) -> Operation {
        let span = target.span;
        let expression = Expression { kind: ExpressionKind::Load(0), value: element, span };
        let loads = vec![load];
        Operation { name, function: None, target, reduction: None, loads, expression, share: None, span }
    }

    /// All expressions: that of the value, and the indices that depend on data.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let computed = self.accesses().filter_map(|access| access.computed.as_ref()).flatten();
        computed.chain([&self.expression])
    }

    /// The statement in other loops, where the variables of its own have these values; nothing beyond [`INDEX_LIMIT`](crate::INDEX_LIMIT).
    pub fn in_loops(&self, values: &[AffineIndex]) -> Option<Operation> {
        let load = |load: &Load| Some(Load { access: load.access.in_loops(values)?, outside: load.outside });
        Some(Operation {
            target: self.target.in_loops(values)?,
            loads: self.loads.iter().map(load).collect::<Option<_>>()?,
            expression: self.expression.in_loops(values)?,
            ..self.clone()
        })
    }

    /// All accesses that read: the loads, and of a reduction the target.
    pub fn reads(&self) -> impl Iterator<Item = &Access> {
        self.loads.iter().map(|load| &load.access).chain(self.reduction.map(|_| &self.target))
    }

    /// The name of the compute unit that it shares with others, if it shares one.
    pub fn unit(&self) -> Option<&str> {
        self.share.as_ref().map(|share| share.name.as_str())
    }

    /// Whether it and another operation, or it itself, share a compute unit.
    pub fn shares_unit(&self, other: &Operation) -> bool {
        self.unit().is_some() && self.unit() == other.unit()
    }

    /// Whether it is a reduction whose iterations and copies join their values in the order of the program.
    pub fn sums_in_order(&self) -> bool {
        self.reduction.is_some() && self.expression.value.sums_in_order()
    }

    /// Whether it reads the element that it writes.
    pub fn updates(&self) -> bool {
        self.reads().any(|access| access.is_same_element(&self.target))
    }
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The array, an index of [`Program::arrays`].
    pub array: usize,
    /// One index for each dimension of the array, innermost first. Of indices that are [computed](Access::computed) the first element
    /// of the array, which stands for all of it.
    pub indices: Vec<Index>,
    /// The indices as i32 values of the operation, where one of them depends on data.
    pub computed: Option<Vec<Expression>>,
    /// Where it is written.
    pub span: Span,
}

impl Access {
    /// An element whose indices are functions of the loop variables.
    pub fn new(array: usize, indices: Vec<Index>, span: Span) -> Access {
        Access { array, indices, computed: None, span }
    }

    /// The same with other expressions in place of the indices that depend on data; nothing if there is none for one of them.
    pub fn with_computed(&self, mut of: impl FnMut(&Expression) -> Option<Expression>) -> Option<Access> {
        let computed = match &self.computed {
            Some(indices) => Some(indices.iter().map(&mut of).collect::<Option<_>>()?),
            None => None,
        };
        Some(Access { computed, ..self.clone() })
    }

    /// The element in other loops, where the variables of its own have these values: as [`Operation::in_loops`].
    pub fn in_loops(&self, values: &[AffineIndex]) -> Option<Access> {
        let indices = self.indices.iter().map(|index| index.composed(values)).collect::<Option<_>>()?;
        Access { indices, ..self.clone() }.with_computed(|index| index.in_loops(values))
    }

    /// Whether it is the same element as another access in each iteration of the same loops.
    pub fn is_same_element(&self, other: &Access) -> bool {
        self.array == other.array && self.indices == other.indices && self.computed == other.computed
    }

    /// Whether loops and tables alone decide which element it is, and not data.
    pub(crate) fn is_known(&self) -> bool {
        let is_load = |part: &&Expression| matches!(part.kind, ExpressionKind::Load(_));
        !self.computed.iter().flatten().any(|index| index.parts().iter().any(is_load))
    }

    /// Whether all indices are affine functions of the loop variables.
    pub fn is_affine(&self) -> bool {
        self.computed.is_none() && self.indices.iter().all(|index| index.as_affine().is_some())
    }

    /// Whether some index depends on a loop variable, or may do so because it depends on data.
    pub fn follows(&self, variable: usize) -> bool {
        self.computed.is_some() || self.indices.iter().any(|index| index.variables().contains(&variable))
    }
}

/// An element that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The element.
    pub access: Access,
    /// The value outside of the array, from `outside(array[…], value)`. Without, the indices are always inside.
    pub outside: Option<i64>,
}

impl Program {
    /// How to schedule it: as the program says, or else by the rule of the papers: as an image pipeline where every
    /// reduction is unrolled completely, as a neural network where some loop adds to the same element again and again
    /// (unified-buffer paper §V-B). A program that says where an array is kept is scheduled as one that keeps arrays: as a
    /// neural network; likewise one where several statements of a loop add to one array, though the loop has one iteration, and one with
    /// indices that depend on data.
    pub fn policy(&self) -> Policy {
        let accumulates = |(loops, operation): &(Vec<&Loop>, &Operation)| {
            (0..loops.len())
                .any(|variable| operation.merges(variable) && loops[variable].extent > loops[variable].unroll)
        };
        let operations = self.operations();
        let keeps = self.arrays.iter().any(|array| array.level.is_some() || array.random_access);
        let is_network = keeps || operations.iter().any(accumulates) || update_together(&operations);
        let rule = if is_network { Policy::Dnn } else { Policy::Stencil };
        self.schedule.unwrap_or(rule)
    }

    /// The array of this name.
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|array| array.name == name)
    }

    /// The arrays of this kind.
    pub fn arrays_of(&self, kind: ArrayKind) -> impl Iterator<Item = &Array> {
        self.arrays.iter().filter(move |array| array.kind == kind)
    }

    /// All operations in the order of the text, each with the loops around it, outermost first.
    pub fn operations(&self) -> Vec<(Vec<&Loop>, &Operation)> {
        let (mut loops, mut found) = (Vec::new(), Vec::new());
        for node in &self.nest {
            node.visit(&mut loops, &mut |loops, operation| found.push((loops.to_vec(), operation)));
        }
        found
    }

    /// The operations, to change them.
    pub fn operations_mut(&mut self) -> Vec<&mut Operation> {
        fn visit<'a>(nodes: &'a mut [Node], found: &mut Vec<&'a mut Operation>) {
            for node in nodes {
                match node {
                    Node::Operation(operation) => found.push(operation),
                    Node::Loop(inner) => visit(&mut inner.body, found),
                }
            }
        }
        let mut found = Vec::new();
        visit(&mut self.nest, &mut found);
        found
    }

    /// A diagnostic that points at a place of the program.
    pub fn diagnostic(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.source.diagnostic(span, message)
    }
}

/// Whether two operations within a loop of one iteration add to one array.
fn update_together(operations: &[(Vec<&Loop>, &Operation)]) -> bool {
    let updates = operations.iter().filter(|(_, operation)| operation.reduction.is_some());
    let within = |(loops, operation): &(Vec<&Loop>, &Operation)| {
        let is_around = |(variable, level): &(usize, &&Loop)| level.extent == 1 && operation.merges(*variable);
        let around = loops.iter().enumerate().filter(is_around);
        around.map(|(_, level)| (std::ptr::from_ref::<Loop>(level), operation.target.array)).collect_vec()
    };
    !updates.flat_map(within).all_unique()
}

/// The ranges of the variables of these loops, as [`Index::range`] takes them.
pub fn ranges<'a>(loops: impl IntoIterator<Item = &'a Loop>) -> Vec<(i64, i64)> {
    loops.into_iter().map(|each| (each.min, each.max())).collect()
}
