//! The bottleneck of a run, and the cost and gain of the next step: twice the copies of all operations that are too slow for half of the cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use itertools::Itertools;
use pushmem_files::{Diagnostic, counted};
use pushmem_nest::{ArrayKind, Loop, Node, Operation, Program, Span};
use serde::Serialize;

use crate::compile::Compiled;
use crate::recurrences::Recurrences;

/// The input or the operation that is busy in the most cycles of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bottleneck {
    /// The input, the array that the operation writes, or the compute unit that operations share.
    pub name: String,
    /// The line of the operation in the program.
    pub line: Option<usize>,
    /// Cycles in which it is busy.
    pub cycles: u64,
    /// Cycles from one iteration to the next: of more than one, it waits for its own results.
    pub interval: u64,
    /// Nothing where more copies do not help.
    pub next_step: Option<NextStep>,
}

/// Twice the copies of some operations, and twice the words a cycle of some inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// The inputs and the arrays that the operations write.
    pub of: Vec<String>,
    /// Cycles of a run then, if the rest of them stays as it is.
    pub cycles: u64,
    /// More multipliers.
    pub multipliers: u64,
    /// More processing elements.
    pub processing_elements: u64,
    /// More words a cycle, of inputs and outputs.
    pub words: u64,
}

/// Who needs cycles: all that is unrolled together, or shares a unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum User {
    Input(usize),
    Operation(usize),
    Unit(String),
}

impl User {
    /// That of a stage, an iteration of which takes it.
    fn of(compiled: &Compiled, operations: &[(Vec<&Loop>, &Operation)], stage: usize) -> User {
        let Some(operation) = compiled.extraction.origins[stage].operation() else {
            return User::Input(compiled.extraction.pipeline.stages[stage].write.array);
        };
        match operations[operation].1.unit() {
            Some(unit) => User::Unit(unit.to_owned()),
            None => User::Operation(operation),
        }
    }

    /// The input, the array that the operation writes, or the unit.
    fn name(&self, program: &Program, operations: &[(Vec<&Loop>, &Operation)]) -> String {
        match self {
            User::Input(array) => program.arrays[*array].name.clone(),
            User::Operation(number) => program.arrays[operations[*number].1.target.array].name.clone(),
            User::Unit(name) => name.clone(),
        }
    }
}

/// The cycles in which a user is busy.
#[derive(Clone, Copy, Default)]
struct Busy {
    cycles: u64,
    interval: u64,
    /// Whether an iteration takes the result of the one before, or writes to a memory of one port, so that the copies of several would
    /// wait for each other.
    recurs: bool,
}

impl Bottleneck {
    /// That of a compiled program; nothing if it has no stage.
    pub fn of(compiled: &Compiled) -> Option<Bottleneck> {
        let users = users(compiled);
        // Of several, operations that wait for their own results first.
        let (most, busy) = users.iter().max_by_key(|(_, busy)| (busy.cycles, busy.interval))?;
        let program = &compiled.program;
        let operations = program.operations();
        let line = match most {
            User::Operation(number) => {
                let location = program.diagnostic(operations[*number].1.span, "").location();
                location.map(|(_, line, _)| line)
            }
            User::Input(_) | User::Unit(_) => None,
        };
        let name = most.name(program, &operations);
        let next_step = (busy.cycles > 1).then(|| next_step(compiled, &users, busy.cycles));
        Some(Bottleneck { name, line, cycles: busy.cycles, interval: busy.interval, next_step: next_step.flatten() })
    }
}

/// By user, the cycles in which it is busy.
fn users(compiled: &Compiled) -> BTreeMap<User, Busy> {
    let operations = compiled.program.operations();
    let coarse = compiled.coarse.as_ref().and_then(|plan| plan.coarse.as_ref());
    let interval = |stage: usize| match coarse {
        Some(coarse) => coarse.stages.iter().find(|of| of.stages.contains(&stage)).map_or(1, |of| of.interval),
        None => compiled.recurrence.as_ref().map_or(1, |recurrence| recurrence.interval),
    };
    let mut users: BTreeMap<User, Busy> = BTreeMap::new();
    // In a coarse pipeline, what comes back in each cycle is a running sum, of which several terms are added at once.
    let recurrent = compiled.coarse.is_none().then(|| Recurrences::of(&compiled.program).loads);
    // Copies of an operation are busy at the same time, operations of one unit after each other.
    let mut of_operations: BTreeMap<(User, Option<usize>), Busy> = BTreeMap::new();
    for (number, origin) in compiled.extraction.origins.iter().enumerate() {
        let stage = &compiled.extraction.pipeline.stages[number];
        let part = origin.operation();
        let interval = interval(number);
        let comes_back = |operation: usize| recurrent.as_ref().is_some_and(|loads| !loads[operation].is_empty());
        // A random-access memory takes one element a cycle.
        let is_alone = compiled.program.arrays[stage.write.array].random_access;
        let recurs = interval > 1 || is_alone || part.is_some_and(comes_back);
        let iterations: u64 = stage.loops.iter().map(|level| level.extent).product();
        let busy = of_operations.entry((User::of(compiled, &operations, number), part)).or_default();
        // The last iteration of a loop need not wait for another.
        let cycles = iterations.saturating_mul(interval).min(compiled.graph.length);
        busy.cycles = busy.cycles.max(cycles);
        busy.interval = busy.interval.max(interval);
        busy.recurs |= recurs;
    }
    for ((user, _), part) in of_operations {
        let busy = users.entry(user).or_default();
        busy.cycles = busy.cycles.saturating_add(part.cycles);
        busy.interval = busy.interval.max(part.interval);
        busy.recurs |= part.recurs;
    }
    users
}

/// The users that are too slow for half of the cycles of the busiest, and the cycles then: more than half where one waits for its own results.
fn slow(users: &BTreeMap<User, Busy>, most: u64) -> (BTreeSet<&User>, u64) {
    let waits = users.values().filter(|busy| busy.recurs).map(|busy| busy.cycles).max().unwrap_or(0);
    let then = most.div_ceil(2).max(waits);
    (users.iter().filter(|(_, busy)| busy.cycles > then).map(|(user, _)| user).collect(), then)
}

/// Twice the copies of all users that are too slow for half of the cycles of the busiest; nothing where one of them waits for its own
/// results.
fn next_step(compiled: &Compiled, users: &BTreeMap<User, Busy>, most: u64) -> Option<NextStep> {
    let program = &compiled.program;
    let operations = program.operations();
    let (slow, then) = slow(users, most);
    let in_sequence = compiled.coarse.as_ref().is_some_and(|plan| plan.coarse.is_none());
    let gained = match in_sequence {
        // All of them, one after the other.
        true => slow.iter().map(|user| users[user].cycles / 2).sum(),
        false => most - then,
    };
    let is_slow = |user: &User| slow.contains(user);
    let user_of = |stage: usize| User::of(compiled, &operations, stage);
    let graph = &compiled.graph;
    let kernels = graph.instances().filter(|(number, _)| is_slow(&user_of(graph.stage_of(*number))));
    let datapaths = kernels.map(|(_, kernel)| &compiled.datapaths[kernel.operation]).collect_vec();
    let is_stream = |stage: &usize| {
        let written = program.arrays.get(compiled.extraction.pipeline.stages[*stage].write.array);
        let is_input = compiled.extraction.origins[*stage].operation().is_none();
        is_input || written.is_some_and(|array| array.kind == ArrayKind::Output)
    };
    let words = (0..compiled.extraction.origins.len()).filter(|stage| is_slow(&user_of(*stage)) && is_stream(stage));
    let cycles = graph.length.checked_sub(gained).filter(|_| gained > 0)?;
    Some(NextStep {
        of: slow.iter().map(|user| user.name(program, &operations)).unique().collect(),
        cycles,
        multipliers: datapaths.iter().map(|datapath| datapath.multipliers()).sum(),
        processing_elements: datapaths.iter().map(|datapath| datapath.processing_elements()).sum(),
        words: words.count() as u64,
    })
}

/// The program with its [next step](NextStep): of the loops around each statement that is too slow, the innermost that is unrolled in part has
/// twice the copies, or else the innermost that can.
///
/// # Errors
/// More copies do not help; a statement that is too slow shares a unit, or no loop around it can have twice the copies.
pub fn with_next_step(compiled: &Compiled) -> Result<Program, Diagnostic> {
    let mut program = compiled.source.clone();
    let users = users(compiled);
    let most = users.values().map(|busy| busy.cycles).max().unwrap_or(0);
    if next_step(compiled, &users, most).is_none() {
        let message = format!("more copies do not help `{}`: its bottleneck waits for its own results", program.name);
        return Err(Diagnostic::new(message));
    }
    let operations = compiled.program.operations();
    let mut wanted = Vec::new();
    for user in slow(&users, most).0 {
        match user {
            User::Input(_) => {}
            User::Operation(number) => wanted.push(operations[*number].1.span),
            User::Unit(name) => {
                let message = format!("statements share `{name}`, which is too slow: give them units of their own");
                return Err(Diagnostic::new(message));
            }
        }
    }
    let wanted = with_twice_the_copies(&mut program.nest, 0, &wanted, &|level| level.unroll > 1);
    let left = with_twice_the_copies(&mut program.nest, 0, &wanted, &|_| true);
    match left.first() {
        None => Ok(program),
        Some(span) => Err(program
            .diagnostic(*span, "no loop around this statement can have twice the copies")
            .with_help("give a loop an extent that is a multiple of twice its unroll factor")),
    }
}

/// Unrolls loops around statements twice as far, the innermost of those that may, where copies write elements of their own or add. `depth` loops
/// are around the nodes. Returns the statements that are left.
fn with_twice_the_copies(nodes: &mut [Node], depth: usize, wanted: &[Span], may: &dyn Fn(&Loop) -> bool) -> Vec<Span> {
    let mut left = Vec::new();
    for node in nodes {
        match node {
            Node::Operation(operation) => left.extend(wanted.contains(&operation.span).then_some(operation.span)),
            Node::Loop(level) => {
                let mut inside = with_twice_the_copies(&mut level.body, depth + 1, wanted, may);
                let is_even = level.extent % (2 * level.unroll) == 0;
                if !inside.is_empty() && is_even && may(level) && level.body.iter().all(|node| has_copies(node, depth))
                {
                    level.unroll *= 2;
                    inside.clear();
                }
                left.append(&mut inside);
            }
        }
    }
    left
}

/// Whether copies along a loop, of those around, write elements of their own or add.
fn has_copies(node: &Node, variable: usize) -> bool {
    match node {
        Node::Operation(operation) => operation.reduction.is_some() || operation.target.follows(variable),
        Node::Loop(level) => level.body.iter().all(|node| has_copies(node, variable)),
    }
}

/// `sums` in line 42, busy in 8064 of … cycles.
impl Bottleneck {
    /// The lines of a report, each with its name.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, String)> {
        let next = self.next_step.iter().map(|next| ("next step", next.to_string()));
        [("busiest", self.to_string())].into_iter().chain(next)
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.name)?;
        if let Some(line) = self.line {
            write!(formatter, " in line {line}")?;
        }
        write!(formatter, ", busy in {}", counted(self.cycles, "cycle"))?;
        match self.interval {
            1 => Ok(()),
            interval => write!(formatter, ", an iteration every {interval}"),
        }
    }
}

impl fmt::Display for NextStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// So many are named.
        const NAMED: usize = 3;
        let of = match self.of.len() {
            0..=NAMED => self.of.iter().map(|name| format!("`{name}`")).join(", "),
            count => format!("{count} arrays"),
        };
        let costs = [
            (self.multipliers, "more multiplier"),
            (self.processing_elements, "more processing element"),
            (self.words, "more word"),
        ];
        let costs = costs.into_iter().filter(|(count, _)| *count > 0);
        let costs = costs.map(|(count, of)| counted(count, of)).join(", ");
        write!(formatter, "twice the copies of {of}: about {} with {costs}", counted(self.cycles, "cycle"))
    }
}
