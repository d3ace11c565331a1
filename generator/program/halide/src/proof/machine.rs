//! The execution of a nest as it stands: of all of it, or of the operations that some elements depend on.

use foldhash::{HashMap, HashMapExt};
use pushmem_nest::{Access, Expression, ExpressionKind, Load, Node, Operation, Part, Program};

use super::worlds::World;

/// The execution needs more operations than are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// An operation with the values of the loops around it.
pub(crate) type Execution<'a> = (&'a Operation, Vec<i64>);

/// A nest with its memories. Inputs are in none: a pixel follows from its place.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    steps: &'a Steps<'a>,
    world: &'a World,
    /// Of each array, the parameter of the pipeline that it is, if it is an input.
    inputs: &'a [Option<usize>],
    /// The elements that were written, by their flat places.
    memories: Vec<HashMap<usize, i64>>,
}

/// The expressions of a nest as steps, each with the places of those that it computes with among those before it.
pub(crate) struct Steps<'a> {
    of: HashMap<Part<'a>, Vec<(&'a Expression, Operands)>>,
    /// The number of steps that an operation takes, by its expression.
    costs: HashMap<Part<'a>, u64>,
}

/// The steps of the operands of an expression, which has three at most.
type Operands = [usize; 3];

impl<'a> Steps<'a> {
    pub fn new(program: &'a Program) -> Self {
        let mut steps = Self { of: HashMap::new(), costs: HashMap::new() };
        for (_, operation) in program.operations() {
            let indices = operation.accesses().filter_map(|access| access.computed.as_ref()).flatten();
            for expression in indices.chain([&operation.expression]) {
                steps.of.insert(Part(expression), of_expression(expression));
            }
            let cost = steps.cost_of(operation);
            steps.costs.insert(Part(&operation.expression), cost);
        }
        steps
    }

    fn cost_of(&self, operation: &Operation) -> u64 {
        let size = |expression: &Expression| self.of[&Part(expression)].len() as u64;
        let indices =
            |access: &Access| access.indices.len() as u64 + access.computed.iter().flatten().map(size).sum::<u64>();
        size(&operation.expression) + operation.reads().map(indices).sum::<u64>() + indices(&operation.target)
    }

    /// The number of steps that an operation takes.
    pub fn cost(&self, operation: &Operation) -> u64 {
        self.costs[&Part(&operation.expression)]
    }

    /// The number of steps that a nest takes.
    pub fn whole_cost(&self, nodes: &[Node]) -> u64 {
        let of = |node: &Node| match node {
            Node::Operation(operation) => self.cost(operation),
            Node::Loop(each) => (each.extent as u64).saturating_mul(self.whole_cost(&each.body)),
        };
        nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(of(node)))
    }

    /// The value of an expression, if all that it is computed of is known.
    fn value(
        &self,
        program: &Program,
        expression: &Expression,
        variables: &[i64],
        loads: &impl Fn(usize) -> Option<i64>,
    ) -> Option<i64> {
        let steps = &self.of[&Part(expression)];
        let mut values: Vec<Option<i64>> = Vec::with_capacity(steps.len());
        for (step, operands) in steps {
            let of = |operand: usize| values[operands[operand]];
            let value = match &step.kind {
                ExpressionKind::Constant(number) => Some(*number),
                ExpressionKind::Variable(variable) => variables.get(*variable).copied(),
                ExpressionKind::Load(load) => loads(*load),
                ExpressionKind::Lookup { table, .. } => {
                    let entry = of(0).and_then(|index| usize::try_from(index).ok());
                    entry.and_then(|entry| program.tables[*table].values.get(entry).copied())
                }
                ExpressionKind::Unary { operator, operand } => of(0).map(|of| operator.apply(operand.value, of)),
                ExpressionKind::Binary { operator, left, .. } => {
                    of(0).zip(of(1)).map(|(one, other)| operator.apply(left.value, one, other))
                }
                ExpressionKind::Select { .. } => match of(0) {
                    None => None,
                    Some(0) => of(2),
                    Some(_) => of(1),
                },
                ExpressionKind::Cast(operand) => of(0).map(|of| operand.value.cast(step.value, of)),
            };
            values.push(value);
        }
        values.pop().flatten()
    }
}

fn of_expression(expression: &Expression) -> Vec<(&Expression, Operands)> {
    let mut places: HashMap<Part, usize> = HashMap::new();
    let mut steps = Vec::new();
    for (place, part) in expression.parts().into_iter().enumerate() {
        let mut operands = Operands::default();
        for (operand, of) in operands.iter_mut().zip(part.operands()) {
            *operand = places[&Part(of)];
        }
        places.insert(Part(part), place);
        steps.push((part, operands));
    }
    steps
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a Program, steps: &'a Steps<'a>, world: &'a World, inputs: &'a [Option<usize>]) -> Self {
        Self { program, steps, world, inputs, memories: vec![HashMap::new(); program.arrays.len()] }
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
        // Indices that depend on data are computed of the loads before.
        let mut loads = Vec::with_capacity(operation.loads.len());
        for load in &operation.loads {
            let value = self.load(load, &Iteration { machine: self, variables, loads: &loads });
            loads.push(value);
        }
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

    fn load(&self, load: &Load, at: &Iteration) -> Option<i64> {
        let array = &self.program.arrays[load.access.array];
        let indices = at.indices(&load.access)?;
        match (array.place(&indices), self.inputs[load.access.array]) {
            (None, _) => load.outside,
            (Some(_), Some(parameter)) => Some(self.world.pixel(parameter, array.element, &indices)),
            (Some(place), None) => self.element(load.access.array, place),
        }
    }
}

/// An iteration of which some loads are known, the first ones.
struct Iteration<'a, 'b> {
    machine: &'a Machine<'b>,
    variables: &'a [i64],
    loads: &'a [Option<i64>],
}

impl Iteration<'_, '_> {
    fn value(&self, expression: &Expression) -> Option<i64> {
        let Machine { program, steps, .. } = self.machine;
        steps.value(program, expression, self.variables, &|load| self.loads.get(load).copied().flatten())
    }

    fn indices(&self, access: &Access) -> Option<Vec<i64>> {
        match &access.computed {
            None => Some(access.indices.iter().map(|index| index.evaluate(self.variables)).collect()),
            Some(indices) => indices.iter().map(|index| self.value(index)).collect(),
        }
    }

    fn place(&self, access: &Access) -> Option<usize> {
        self.machine.program.arrays[access.array].place(&self.indices(access)?)
    }
}
