//! The nest of a pipeline, in the syntax of nests.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use itertools::Itertools;
use pushmem_files::free_name;
use pushmem_nest as nest;
use pushmem_nest::syntax::{Declared, Header, NodeSyntax, Places, ProgramSyntax};
use pushmem_nest::{ArrayKind, Binary, Index, Policy, Span, Type, is_reserved};

use crate::convert::{Converted, Converter};
use crate::floats::Floats;
use crate::held::unrolled;
use crate::looked_up::with_tables;
use crate::loops::Loops;
use crate::plan::{self, Array, Arrays, Box, Point, Stage, Storage, Term, Unroll};
use crate::rates::{in_turns_of_rates, is_streamed};
use crate::rebuild::rewritten;
use crate::regions::ranges;
use crate::scan::follow_streams;
use crate::statements::{Writer, identifier};
use crate::straight::{straightened, with_few_writers};
use crate::substitution::with_variables;
use crate::turns::{after_reads, changing_place, in_turns};
use crate::value::{Element, Load, Value, Variable, all_loads};
use crate::{Problem, Result};

/// The fewest choices by one coordinate for which the values of it have blocks of their own.
const FEWEST_CHOICES: i64 = 16;

/// A loop with its iterations.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub variable: Variable,
    pub range: (i64, i64),
    pub unroll: i64,
    /// Whether it goes along a dimension, and is none of a reduction.
    pub is_dimension: bool,
}

/// A store.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// An element of an array.
    pub target: Element,
    pub value: Converted,
    pub updates: bool,
}

impl Statement {
    pub fn array(&self) -> usize {
        self.target.array()
    }

    /// All that it loads, for indices too.
    fn loads(&self) -> Vec<&Element> {
        all_loads([&self.value].into_iter().chain(self.target.values()))
    }

    /// All loads from arrays, those of indices too: each array with its indices, unless data choose them.
    pub fn array_loads(&self) -> impl Iterator<Item = (usize, &[Index])> {
        self.loads().into_iter().filter(|load| !load.is_entry()).map(|load| (load.array(), load.indices()))
    }

    /// The element that it stores and those that it loads, but for those for indices.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        [&self.target].into_iter().chain(self.value.loads())
    }

    /// Puts other parts into its value and its target.
    pub fn rewrite(&mut self, part: &mut impl FnMut(&Value<Element>) -> Option<Converted>) {
        self.value = rewritten(&self.value, &mut HashMap::new(), part);
        let target = Rc::new(Value::Load(self.target.clone()));
        if let Value::Load(target) = &*rewritten(&target, &mut HashMap::new(), part) {
            self.target = target.clone();
        }
    }

    /// Whether data choose elements that it accesses.
    fn chooses(&self) -> bool {
        self.elements().any(|element| matches!(element, Element::Chosen { .. }))
    }
}

/// Loops around statements.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Outermost first.
    pub loops: Vec<Loop>,
    pub statements: Vec<Statement>,
    pub span: Span,
}

impl Loop {
    fn extent(&self) -> i64 {
        self.range.1 - self.range.0 + 1
    }

    pub fn is_rolled(&self) -> bool {
        self.extent() > self.unroll
    }
}

impl Block {
    /// The loads of its values.
    pub fn loads(&self) -> Vec<&Element> {
        self.statements.iter().flat_map(|statement| statement.value.loads()).collect()
    }

    /// The indices of all loads from arrays, those of which tables are looked up too.
    pub fn indices(&self) -> impl Iterator<Item = &Index> {
        let loads = self.statements.iter().flat_map(Statement::array_loads);
        loads.flat_map(|(_, indices)| indices)
    }

    /// The values of each of so many variables: 0 of one that no loop has.
    pub fn ranges(&self, variables: usize) -> Box {
        let mut ranges = vec![(0, 0); variables];
        self.loops.iter().for_each(|each| ranges[each.variable] = each.range);
        ranges
    }

    /// The variables of the loops along dimensions that are not wholly unrolled.
    pub fn rolled(&self) -> impl Iterator<Item = Variable> {
        self.loops.iter().filter(|each| each.is_dimension && each.is_rolled()).map(|each| each.variable)
    }

    /// Puts the loops of these variables into this order, in the places that they have together.
    pub fn rearrange(&mut self, order: &[Variable]) {
        let places: Vec<usize> = self.loops.iter().positions(|each| order.contains(&each.variable)).collect();
        let moved: Vec<Loop> = order
            .iter()
            .filter_map(|variable| self.loops.iter().find(|each| each.variable == *variable).cloned())
            .collect();
        for (place, each) in places.into_iter().zip(moved) {
            self.loops[place] = each;
        }
    }

    fn accumulates(&self) -> bool {
        let follows = |each: &Loop| {
            let of = |statement: &Statement| {
                statement.target.indices().iter().any(|index| index.variables().contains(&each.variable))
            };
            self.statements.iter().all(of)
        };
        self.statements.iter().any(|statement| statement.updates)
            && self.loops.iter().any(|each| each.is_rolled() && !follows(each))
    }
}

/// A nest, and what users are told of it.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub nest: ProgramSyntax<'static>,
    /// Names that are others in the nest, each with its place.
    pub renamed: Vec<(Span, String, String)>,
    /// Directives of the schedule that the nest does not follow.
    pub notes: Vec<(Span, String)>,
}

/// The parts of a nest.
pub(crate) struct Nest<'a> {
    pub name: &'a str,
    pub schedule: Option<Policy>,
    pub loops: Loops,
    pub floats: Floats,
    pub arrays: Arrays,
}

impl Nest<'_> {
    /// The nest.
    pub fn emit(mut self) -> Result<Emitted> {
        let (mut blocks, mut notes) = (Vec::new(), Vec::new());
        for stage in &std::mem::take(&mut self.arrays.plan.stages) {
            if stage.arrays.iter().any(|array| self.arrays.boxes[*array].is_some()) {
                self.blocks(stage, &mut blocks)?;
                notes.extend(self.unrolled_less(stage));
            }
        }
        self.trim(&mut blocks);
        let is_pipeline = match self.schedule {
            Some(policy) => policy == Policy::Stencil,
            None => !blocks.iter().any(|block| block.accumulates() || block.statements.iter().any(Statement::chooses)),
        };
        if is_pipeline {
            blocks.iter_mut().for_each(in_turns_of_rates);
        }
        let is_streamed = is_pipeline && (self.schedule.is_some() || blocks.iter().all(is_streamed));
        let is_scan = is_streamed && follow_streams(&mut blocks, &self.arrays.boxes);
        let schedule = self.schedule.or((!is_scan).then_some(Policy::Dnn));
        if schedule == Some(Policy::Dnn) {
            blocks = straightened(blocks, &mut self.arrays, self.loops);
            if self.loops != Loops::Scheduled && !self.loops.looks_up() {
                blocks = with_few_writers(blocks, &mut self.arrays);
            }
        }
        let is_kept = schedule == Some(Policy::Dnn);
        blocks = with_tables(blocks, is_kept, self.loops, &mut self.arrays)?;
        if self.loops.looks_up() && blocks.iter().flat_map(Block::indices).all(|index| index.pieces.is_empty()) {
            return Err(Problem::new(Span::default(), "all indices are sums of variables: no element is looked up"));
        }
        let (names, renamed) = self.array_names();
        let (arrays, tables) = self.declarations(&blocks, &names);
        let nest = ProgramSyntax {
            name: identifier(self.name),
            schedule,
            arrays,
            tables,
            nest: blocks.iter().flat_map(|block| self.block(block, &names)).collect(),
            places: Places::one(Span::default()),
        };
        Ok(Emitted { nest, renamed, notes })
    }

    /// The loops of a stage whose factor divides no number of their iterations: other copies than the schedule says.
    fn unrolled_less(&self, stage: &Stage) -> Vec<(Span, String)> {
        let all = ranges(&self.arrays.plan, stage, &self.arrays.boxes);
        let note = |each: &plan::Loop| {
            let (Unroll::By(factor), (low, high)) = (each.unroll, all[each.variable]) else { return None };
            let extent = high - low + 1;
            let copies = unrolled(each.unroll, extent);
            let name = &self.arrays.plan.variables[each.variable].0;
            (copies < factor.min(extent)).then(|| {
                let said = format!("`{name}` has {extent} iterations, which {factor} does not divide");
                (
                    stage.span,
                    format!("{said}: it is unrolled by {copies}; choose a factor that divides them, or other extents"),
                )
            })
        };
        stage.loops.iter().filter_map(note).collect()
    }

    /// The blocks of a stage. Where a value chooses between many by a coordinate, each of its values has blocks of its own.
    fn blocks(&mut self, stage: &Stage, blocks: &mut Vec<Block>) -> Result<()> {
        let all = ranges(&self.arrays.plan, stage, &self.arrays.boxes);
        let chooser = chooser(stage, &all);
        let stage = &self.with_turned_loops(stage, &all);
        let Some(variable) = chooser else { return self.blocks_in(stage, &all, blocks) };
        for at in all[variable].0..=all[variable].1 {
            let mut one = all.clone();
            one[variable] = (at, at);
            self.blocks_in(stage, &one, blocks)?;
        }
        Ok(())
    }

    /// The stage with all loops from the least value of their variable to the greatest: those that are reversed have another variable
    /// in the place of theirs.
    fn with_turned_loops(&self, stage: &Stage, ranges: &Box) -> Stage {
        let terms = &self.arrays.plan.terms;
        let turned = stage.loops.iter().filter(|each| each.is_reversed).map(|plan::Loop { variable, .. }| {
            let (low, high) = ranges[*variable];
            let ends = terms.number(low + high, Type::I32);
            (*variable, terms.binary(Binary::Subtract, ends, terms.variable(*variable)))
        });
        let turned: HashMap<Variable, Term> = turned.collect();
        if turned.is_empty() { stage.clone() } else { with_variables(&self.arrays.plan, stage, turned) }
    }

    /// The blocks of a stage for these values of the variables: of a first definition, each value has its own.
    fn blocks_in(&mut self, stage: &Stage, all: &Box, blocks: &mut Vec<Block>) -> Result<()> {
        let mut converter = Converter {
            arrays: &self.arrays,
            ranges: all,
            span: stage.span,
            floats: self.floats,
            unrolled: BTreeSet::new(),
            known: HashMap::new(),
        };
        let loops = stage.loops.iter().map(|each| {
            let range = all[each.variable];
            let unroll = unrolled(each.unroll, range.1 - range.0 + 1);
            Loop { variable: each.variable, range, unroll, is_dimension: each.dimension.is_some() }
        });
        let loops: Vec<Loop> = loops.collect();
        converter.unrolled = loops.iter().filter(|each| !each.is_rolled()).map(|each| each.variable).collect();
        let mut statements = Vec::new();
        for (array, value) in stage.arrays.iter().zip(&stage.values) {
            let Some(value) = value else { continue };
            let point = Point { array: *array, indices: stage.targets.clone(), span: stage.span };
            let target = converter.element(&point)?;
            let value =
                stored(&converter.value(value)?, self.arrays.plan.arrays[*array].value, self.arrays.held[*array]);
            statements.push(Statement { target, value, updates: stage.updates });
        }
        let span = stage.span;
        if stage.updates {
            if let Some(array) = changing_place(&statements) {
                let name = &self.arrays.plan.arrays[array].name;
                let message = format!(
                    "the place of this update is read in `{name}`, which the update changes: Halide looks for the place of each value anew"
                );
                return Err(Problem::new(span, message).with_help("read the place in a Func of its own"));
            }
            let statements = in_turns(statements, |statement| self.aside(statement, &loops));
            blocks.push(Block { loops, statements, span });
        } else {
            blocks.extend(after_reads(statements).into_iter().map(|each| Block {
                loops: loops.clone(),
                statements: vec![each],
                span,
            }));
        }
        Ok(())
    }

    /// A statement in two: one keeps its value in an array of its own, with an element for each iteration, and one stores it.
    fn aside(&mut self, statement: Statement, loops: &[Loop]) -> (Statement, Statement) {
        let (array, span) = (statement.array(), self.arrays.plan.arrays[statement.array()].span);
        let of = &self.arrays.plan.arrays[array];
        // An update without loops has one iteration.
        let dimensions = loops.len().max(1);
        let like = of.like(format!("{}_next", of.name));
        let kept = Array { storage: Storage::Buffer, dimensions, ..like };
        let mut region: Box = loops.iter().rev().map(|each| each.range).collect();
        let mut indices: Vec<Index> = loops.iter().rev().map(|each| Index::variable(each.variable)).collect();
        region.resize(dimensions, (0, 0));
        indices.resize(dimensions, Index::constant(0));
        let kept = self.arrays.add(kept, Some(region), self.arrays.held[array]);
        let element = Element::new(kept, indices, span);
        let kept = Rc::new(Value::Load(element.clone()));
        let aside = Statement { target: element, value: statement.value, updates: false };
        (aside, Statement { value: kept, ..statement })
    }

    /// Removes what is stored and not read, as values of tuples may be.
    fn trim(&self, blocks: &mut Vec<Block>) {
        let mut wanted: BTreeSet<usize> = (0..self.arrays.plan.arrays.len())
            .filter(|array| self.arrays.plan.arrays[*array].storage == Storage::Output)
            .collect();
        for block in blocks.iter_mut().rev() {
            // The elements that a statement reads of its own array are wanted if the array is; a later statement of the block may read an earlier one.
            loop {
                let before = wanted.len();
                for statement in
                    block.statements.iter().filter(|statement| wanted.contains(&statement.array())).collect_vec()
                {
                    wanted.extend(statement.array_loads().map(|(array, _)| array));
                }
                if wanted.len() == before {
                    break;
                }
            }
            block.statements.retain(|statement| wanted.contains(&statement.array()));
        }
        blocks.retain(|block| !block.statements.is_empty());
    }

    /// Names for all arrays: those that the user gave them, where they can be names.
    fn array_names(&self) -> (Vec<String>, Vec<(Span, String, String)>) {
        let (mut names, mut renamed): (Vec<String>, _) = (Vec::new(), Vec::new());
        for array in &self.arrays.plan.arrays {
            let wanted = identifier(&array.name);
            let free = free_name(&wanted, 2, |name| !names.contains(name) && !is_reserved(name));
            if free != array.name && matches!(array.storage, Storage::Input | Storage::Output) {
                renamed.push((array.span, array.name.clone(), free.clone()));
            }
            names.push(free);
        }
        (names, renamed)
    }

    /// The arrays and tables that statements use, the arrays in the order of their kinds.
    fn declarations(
        &self,
        blocks: &[Block],
        names: &[String],
    ) -> (Vec<Declared<'static, nest::Array>>, Vec<Declared<'static, nest::Table>>) {
        let statements = blocks.iter().flat_map(|block| &block.statements);
        let used = statements.flat_map(|statement| [&statement.target].into_iter().chain(statement.loads()));
        let used: BTreeSet<usize> = used.map(Element::array).collect();
        let (mut arrays, mut tables) = (Vec::new(), Vec::new());
        for array in used {
            let (name, span, element) =
                (names[array].clone(), self.arrays.plan.arrays[array].span, self.arrays.held[array]);
            let kind = match &self.arrays.plan.arrays[array].storage {
                Storage::Input => ArrayKind::Input,
                Storage::Output => ArrayKind::Output,
                Storage::Buffer => ArrayKind::Buffer,
                Storage::Constants(entries) => {
                    let table = nest::Table { name, element, values: entries.to_vec(), function: None, span };
                    tables.push(Declared::new(table, span));
                    continue;
                }
            };
            let region = self.arrays.boxes[array].as_deref().unwrap_or_default();
            let (min, shape) = region.iter().map(|(low, high)| (*low, high - low + 1)).unzip();
            let buffer = nest::Array::buffer(name, element, min, shape, span);
            arrays.push(Declared::new(nest::Array { kind, ..buffer }, span));
        }
        (arrays, tables)
    }

    fn block(&self, block: &Block, names: &[String]) -> Vec<NodeSyntax> {
        let span = block.span;
        let mut variables: BTreeMap<Variable, String> = BTreeMap::new();
        let mut ranges: Box = vec![(0, 0); self.arrays.plan.variables.len()];
        let mut headers = Vec::new();
        for each in &block.loops {
            ranges[each.variable] = each.range;
            if each.extent() == 1 {
                continue;
            }
            let wanted = loop_name(&self.arrays.plan.variables[each.variable].0);
            let taken = |name: &String| variables.values().contains(name) || names.contains(name) || is_reserved(name);
            let numbered = (1..).map(|number| format!("{wanted}{number}"));
            let Some(name) = [wanted.clone()].into_iter().chain(numbered).find(|name| !taken(name)) else { continue };
            let unroll = (each.unroll > 1).then_some(each.unroll);
            headers.push(Header::new(&name, each.range.0..each.range.1 + 1, unroll, span));
            variables.insert(each.variable, name);
        }
        let writer = Writer { names, types: &self.arrays.held, variables, ranges, values: HashMap::new(), span };
        let statement = |Statement { target, value, updates }: &Statement| {
            NodeSyntax::Statement(writer.statement(target, value, *updates))
        };
        let statements = block.statements.iter().map(statement).collect();
        headers.into_iter().rev().fold(statements, |body, header| vec![NodeSyntax::Loop(header, body)])
    }
}

/// The coordinate that a first definition chooses between many values by.
fn chooser(stage: &Stage, ranges: &Box) -> Option<Variable> {
    let mut counts: BTreeMap<Variable, i64> = BTreeMap::new();
    let (mut seen, mut parts) = (HashSet::new(), Vec::new());
    stage.values.iter().flatten().for_each(|value| value.add_parts(&mut seen, &mut parts));
    for part in parts {
        if let Value::Select(condition, ..) = part
            && let Value::Binary(Binary::Equal, left, right) = &**condition
            && let (Value::Variable(variable), Value::Number(..)) = (&**left, &**right)
        {
            *counts.entry(*variable).or_default() += 1;
        }
    }
    let is_free = |variable: &Variable| {
        let extent = ranges[*variable].1 - ranges[*variable].0 + 1;
        let along = stage.loops.iter().any(|each| each.variable == *variable && each.dimension.is_some());
        along && !stage.updates && extent <= 2 * counts[variable]
    };
    counts.keys().find(|variable| counts[variable] >= FEWEST_CHOICES && is_free(variable)).copied()
}

/// The value as memories hold it. Low bits of sums are sums of low bits, so that reductions remain what they are.
fn stored(value: &Converted, of: Type, held: Type) -> Converted {
    if of == held {
        return value.clone();
    }
    match &**value {
        Value::Binary(operator @ (Binary::Add | Binary::Subtract), left, right) if of != Type::Bool => {
            Value::binary(*operator, stored(left, of, held), stored(right, of, held))
        }
        Value::Cast(_, inner)
            if matches!(**inner, Value::Load(Element::Array { .. } | Element::Chosen { .. })) && of != Type::Bool =>
        {
            Rc::new(Value::Cast(held, inner.clone()))
        }
        Value::Number(number, _) => Rc::new(Value::Number(held.wrap(*number), held)),
        _ => Rc::new(Value::Cast(held, value.clone())),
    }
}

/// The name of a variable in nests: `r_x` of `r.x`, and `i0` of `_0`, as boundary conditions have.
fn loop_name(name: &str) -> String {
    let name = identifier(name);
    if name.starts_with('_') { format!("i{}", name.trim_start_matches('_')) } else { name }
}
