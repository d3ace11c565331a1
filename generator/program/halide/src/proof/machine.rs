//! The execution of a nest as it stands: of all of it, or of the operations that some elements depend on.

use foldhash::{HashMap, HashMapExt};
use pushmem_nest::{Access, Expression, ExpressionKind, Load, Node, Operation, Program};

use super::worlds::World;

/// The execution needs more operations than are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// An operation with the values of the loops around it.
pub(crate) type Execution<'a> = (&'a Operation, Vec<i64>);

/// A nest with its memories. Inputs are in none: a pixel follows from its place.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    world: &'a World,
    /// Of each array, the parameter of the pipeline that it is, if it is an input.
    inputs: &'a [Option<usize>],
    /// The elements that were written, by their flat places.
    memories: Vec<HashMap<usize, i64>>,
}

/// The number of steps that an operation takes.
pub(crate) fn cost(operation: &Operation) -> u64 {
    fn size(expression: &Expression) -> u64 {
        1 + expression.operands().into_iter().map(size).sum::<u64>()
    }
    let indices =
        |access: &Access| access.indices.len() as u64 + access.computed.iter().flatten().map(size).sum::<u64>();
    size(&operation.expression) + operation.reads().map(indices).sum::<u64>() + indices(&operation.target)
}

/// The number of steps that a nest takes.
pub(crate) fn whole_cost(nodes: &[Node]) -> u64 {
    let of = |node: &Node| match node {
        Node::Operation(operation) => cost(operation),
        Node::Loop(each) => (each.extent as u64).saturating_mul(whole_cost(&each.body)),
    };
    nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(of(node)))
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a Program, world: &'a World, inputs: &'a [Option<usize>]) -> Self {
        Self { program, world, inputs, memories: vec![HashMap::new(); program.arrays.len()] }
    }

    /// An element that was written.
    pub fn element(&self, array: usize, place: usize) -> Option<i64> {
        self.memories[array].get(&place).copied()
    }

    /// Executes all operations.
    pub fn run(&mut self) {
        let program = self.program;
        self.nodes(&program.nest, &mut Vec::new());
    }

    fn nodes(&mut self, nodes: &[Node], variables: &mut Vec<i64>) {
        for node in nodes {
            match node {
                Node::Operation(operation) => self.execute(operation, variables),
                Node::Loop(each) => {
                    variables.push(each.min);
                    for at in each.min..each.min + each.extent {
                        if let Some(last) = variables.last_mut() {
                            *last = at;
                        }
                        self.nodes(&each.body, variables);
                    }
                    variables.pop();
                }
            }
        }
    }

    /// Executes an operation. A value that depends on an element that was never written, or on none, is not written.
    pub fn execute(&mut self, operation: &Operation, variables: &[i64]) {
        let loads: Vec<Option<i64>> =
            operation.loads.iter().map(|load| self.load(load, operation, variables)).collect();
        let at = Iteration { machine: self, variables, loads: &loads };
        let value = at.value(&operation.expression);
        let place = at.place(&operation.target);
        let value = match (operation.reduction, place) {
            (Some(operator), Some(place)) => {
                let before = self.element(operation.target.array, place);
                let of = self.program.arrays[operation.target.array].element;
                before.zip(value).map(|(before, value)| operator.apply(of, before, value))
            }
            _ => value,
        };
        let memory = &mut self.memories[operation.target.array];
        match (place, value) {
            (Some(place), Some(value)) => _ = memory.insert(place, value),
            (Some(place), None) => _ = memory.remove(&place),
            // It is not known which element is another one now.
            (None, _) => memory.clear(),
        }
    }

    fn load(&self, load: &Load, operation: &Operation, variables: &[i64]) -> Option<i64> {
        let array = &self.program.arrays[load.access.array];
        // Indices are computed from elements by expressions without loads of their own.
        let earlier = Earlier { operation, machine: self, variables };
        let indices = earlier.indices(&load.access)?;
        let is_inside = indices
            .iter()
            .enumerate()
            .all(|(dimension, index)| (array.min[dimension]..=array.max(dimension)).contains(index));
        match (is_inside, load.outside) {
            (false, outside) => outside,
            (true, _) => match self.inputs[load.access.array] {
                Some(parameter) => Some(self.world.pixel(parameter, array.element, &indices)),
                None => self.element(load.access.array, self.flat(load.access.array, &indices)?),
            },
        }
    }

    /// The place of an element, if the array has it.
    fn flat(&self, array: usize, indices: &[i64]) -> Option<usize> {
        let array = &self.program.arrays[array];
        let (mut place, mut stride) = (0, 1);
        for (index, (min, extent)) in indices.iter().zip(array.min.iter().zip(&array.shape)) {
            if !(*min..min + extent).contains(index) {
                return None;
            }
            place += (index - min) * stride;
            stride *= extent;
        }
        usize::try_from(place).ok()
    }
}

/// The loads of an operation, each computed where an index needs it.
struct Earlier<'a, 'b> {
    operation: &'a Operation,
    machine: &'a Machine<'b>,
    variables: &'a [i64],
}

impl Earlier<'_, '_> {
    fn indices(&self, access: &Access) -> Option<Vec<i64>> {
        match &access.computed {
            None => Some(access.indices.iter().map(|index| index.evaluate(self.variables)).collect()),
            Some(indices) => {
                let loads =
                    |load: usize| self.machine.load(self.operation.loads.get(load)?, self.operation, self.variables);
                indices.iter().map(|index| value(self.machine.program, index, self.variables, &loads)).collect()
            }
        }
    }
}

/// An iteration whose loads are known.
struct Iteration<'a, 'b> {
    machine: &'a Machine<'b>,
    variables: &'a [i64],
    loads: &'a [Option<i64>],
}

impl Iteration<'_, '_> {
    fn value(&self, expression: &Expression) -> Option<i64> {
        value(self.machine.program, expression, self.variables, &|load| self.loads.get(load).copied().flatten())
    }

    fn place(&self, access: &Access) -> Option<usize> {
        let indices: Option<Vec<i64>> = match &access.computed {
            None => Some(access.indices.iter().map(|index| index.evaluate(self.variables)).collect()),
            Some(indices) => indices.iter().map(|index| self.value(index)).collect(),
        };
        self.machine.flat(access.array, &indices?)
    }
}

/// The value of an expression, if all that it is computed of is known.
fn value(
    program: &Program,
    expression: &Expression,
    variables: &[i64],
    loads: &impl Fn(usize) -> Option<i64>,
) -> Option<i64> {
    let of = |operand: &Expression| value(program, operand, variables, loads);
    match &expression.kind {
        ExpressionKind::Constant(number) => Some(*number),
        ExpressionKind::Variable(variable) => variables.get(*variable).copied(),
        ExpressionKind::Load(load) => loads(*load),
        ExpressionKind::Lookup { table, index } => {
            program.tables[*table].values.get(usize::try_from(of(index)?).ok()?).copied()
        }
        ExpressionKind::Unary { operator, operand } => Some(operator.apply(operand.value, of(operand)?)),
        ExpressionKind::Binary { operator, left, right } => Some(operator.apply(left.value, of(left)?, of(right)?)),
        ExpressionKind::Select { condition, then, otherwise } => match of(condition)? {
            0 => of(otherwise),
            _ => of(then),
        },
        ExpressionKind::Cast(operand) => Some(operand.value.cast(expression.value, of(operand)?)),
    }
}
