//! States: tensors that live from one run of a network to the next.
//!
//! Most states are the last rows of a tensor. The file joins a state with new rows, and assigns the last rows of both to it. Such a
//! state has no array of its own: rows of earlier runs stay where they are, before those of a run, and are read there. Any other state
//! has a tensor, whose rows of the run before are read.

use std::collections::{BTreeMap, BTreeSet};

use crate::fault::{Fault, Result};
use crate::network::{Layer, LayerOperation, Move, Operand, Past};
use crate::tflite::recognize::{Recognizer, Value, View, natural};
use crate::tflite::schema::{Graph, Node, elements};

/// The states of a network.
#[derive(Debug)]
pub(crate) struct States {
    /// The elements of each before the first run.
    initial: BTreeMap<String, i64>,
    /// The joined tensors whose last rows are a state, with the name of the state.
    joined: BTreeMap<i64, String>,
    /// The tensors of others, and whether they are assigned.
    others: BTreeMap<String, (usize, bool)>,
}

impl States {
    /// Finds the states that are the last rows of a tensor.
    pub fn of(graph: &Graph) -> States {
        let joined = graph.nodes.iter().filter_map(|node| joined(graph, node)).collect();
        States { initial: BTreeMap::new(), joined, others: BTreeMap::new() }
    }

    fn is_joined(&self, state: &str) -> bool {
        self.joined.values().any(|name| name == state)
    }
}

/// The tensor that a node assigns the last rows of to a state whose other rows come first in it, with the name of the state.
fn joined(graph: &Graph, assign: &Node) -> Option<(i64, String)> {
    let giver = |tensor: &i64, operator: &str| {
        let mut nodes = graph.nodes.iter().filter(|node| node.outputs.contains(tensor));
        nodes.next().filter(|node| node.operator == operator)
    };
    let state = |handle: Option<&i64>| name(giver(handle?, "VAR_HANDLE")?);
    let own = state(assign.inputs.first()).filter(|_| assign.operator == "ASSIGN_VARIABLE")?;
    let last = giver(assign.inputs.get(1)?, "STRIDED_SLICE")?;
    let both = *last.inputs.first()?;
    let join = giver(&both, "CONCATENATION")?;
    let &[past, new] = join.inputs.as_slice() else { return None };
    let read = giver(&past, "READ_VARIABLE")?;
    let is_own =
        |node: &&Node| node.operator.ends_with("_VARIABLE") && state(node.inputs.first()).as_ref() == Some(&own);
    let users = graph.nodes.iter().filter(|node| node.inputs.contains(&past)).count()
        + usize::from(graph.outputs.contains(&past));
    let is_single = graph.nodes.iter().filter(is_own).count() == 2 && users == 1 && state(read.inputs.first())? == own;
    // All of other dimensions, and the rows behind those of before.
    let [of_past, of_new, of_both] = [past, new, both].map(|tensor| Some(&graph.tensor(tensor)?.shape));
    let (of_past, of_new, of_both) = (of_past?, of_new?, of_both?);
    let rows = |shape: &[i64]| Some((natural(shape)?[2], shape.len() > 2));
    let ((past_rows, true), (new_rows, true)) = (rows(of_past)?, rows(of_new)?) else { return None };
    let ends = crate::tflite::moves::ends(graph, last).ok()?;
    let is_last = ends.iter().enumerate().all(|(axis, of_axis)| match axis {
        1 => *of_axis == (new_rows, new_rows + past_rows, 1),
        _ => *of_axis == (0, of_both[axis], 1),
    });
    (is_single && is_last && join.integer(0, 0).ok()? == 1).then_some((both, own))
}

/// The name of the state of a handle.
fn name(handle: &Node) -> Option<String> {
    handle.options?.text(1).ok()
}

impl Recognizer<'_> {
    /// The elements of states before the first run, which another graph assigns.
    pub fn called_once(&mut self, node: &Node) -> Result<()> {
        let called = usize::try_from(node.integer(0, 0)?).ok().and_then(|number| self.model.graphs.get(number));
        let graph = called.ok_or_else(|| Fault::new("CALL_ONCE of no graph"))?;
        for each in &graph.nodes {
            match (each.operator.as_str(), each.inputs.as_slice()) {
                ("VAR_HANDLE", _) => {}
                ("ASSIGN_VARIABLE", &[handle, value]) => {
                    let state = graph.nodes.iter().find(|node| node.outputs.contains(&handle)).and_then(name);
                    let tensor = graph.tensor(value).filter(|_| state.is_some());
                    let tensor = tensor.ok_or_else(|| Fault::new("CALL_ONCE assigns to no state"))?;
                    let values: BTreeSet<i64> = tensor.constant(elements::INT8)?.into_iter().collect();
                    let (state, mut values) = (state.unwrap_or_default(), values.into_iter());
                    let (Some(initial), None) = (values.next(), values.next()) else {
                        let message = format!("the state `{state}` begins with different elements");
                        return Err(Fault::new(message).with_help("all of its elements begin with the same integer"));
                    };
                    self.states.initial.insert(state, initial);
                }
                (other, _) => return Err(Fault::new(format!("CALL_ONCE of a graph with {other} is not read"))),
            }
        }
        Ok(())
    }

    /// A name for a state.
    pub fn handle(&mut self, node: &Node) -> Result<()> {
        let state = name(node).ok_or_else(|| Fault::new("VAR_HANDLE without a name is not read"))?;
        if let [output] = node.outputs.as_slice() {
            self.values.insert(*output, Value::State(state));
        }
        Ok(())
    }

    fn state(&self, node: &Node) -> Result<String> {
        match node.inputs.first().and_then(|handle| self.values.get(handle)) {
            Some(Value::State(state)) => Ok(state.clone()),
            _ => Err(Fault::new(format!("{} of no state", node.operator))),
        }
    }

    /// The elements of a state.
    pub fn state_read(&mut self, node: &Node) -> Result<()> {
        let state = self.state(node)?;
        if self.states.is_joined(&state) {
            if let [output] = node.outputs.as_slice() {
                self.values.insert(*output, Value::Past);
            }
            return Ok(());
        }
        let tensor = self.result(node, 0)?;
        let (name, shape, element) = (self.name_of(tensor), tensor.shape.clone(), tensor.type_of()?);
        let extent =
            natural(&shape).ok_or_else(|| Fault::new(format!("the state `{state}` has the shape {shape:?}")))?;
        let (tensor, is_assigned) = match self.states.others.get(&state) {
            Some(own) => *own,
            None => {
                let tensor = self.built.tensor(&name, element, extent)?;
                self.built.network.tensors[tensor].past = Some(self.past(&state, extent[2])?);
                self.states.others.insert(state, (tensor, false));
                (tensor, false)
            }
        };
        let row = if is_assigned { 0 } else { -extent[2] };
        let operand = Operand { from: [0, 0, row], ..Operand::of(tensor, extent) };
        self.give(node, 0, operand)
    }

    /// The rows of a state, with the elements before the first run.
    fn past(&self, state: &str, rows: i64) -> Result<Past> {
        let initial = self.states.initial.get(state).copied();
        let message = || Fault::new(format!("the state `{state}` has no elements to begin with"));
        Ok(Past { rows, initial: initial.ok_or_else(|| message().with_help("CALL_ONCE assigns them"))? })
    }

    /// Assigns to a state.
    pub fn state_assigned(&mut self, node: &Node) -> Result<()> {
        let state = self.state(node)?;
        if self.states.is_joined(&state) {
            return Ok(());
        }
        let (view, _) = self.image_of(node, 1)?;
        match self.states.others.get_mut(&state) {
            Some((tensor, is_assigned)) if !*is_assigned => {
                *is_assigned = true;
                let name = self.built.network.names.take(&format!("{state}_next"));
                let operation = LayerOperation::Moves(vec![Move::of(view.operand)]);
                self.built.network.layers.push(Layer { name, output: *tensor, operation });
                Ok(())
            }
            _ => Err(Fault::new(format!("the state `{state}` is assigned twice, or before it is read"))
                .with_help("read a state, and then assign to it once")),
        }
    }

    /// Checks the states after the last node.
    ///
    /// # Errors
    /// Names a state that is never assigned.
    pub fn finished(&self) -> Result<()> {
        match self.states.others.iter().find(|(_, (_, is_assigned))| !is_assigned) {
            Some((state, _)) => Err(Fault::new(format!("the state `{state}` is read, and never assigned"))),
            None => Ok(()),
        }
    }

    /// The rows of a state before those of a tensor, as one operand; nothing where a node joins others.
    pub fn joined_past(&mut self, node: &Node) -> Result<Option<Operand>> {
        let Some(state) = node.outputs.first().and_then(|output| self.states.joined.get(output)).cloned() else {
            return Ok(None);
        };
        let rows = natural(&self.operand(node, 0)?.shape).map_or(0, |extent| extent[2]);
        let past = self.past(&state, rows)?;
        let (View { operand, .. }, _) = self.image_of(node, 1)?;
        let network = &self.built.network;
        let is_output = |tensor: usize| {
            let mut outputs = self.graph.outputs.iter().map(|output| self.values.get(output));
            outputs.any(|value| matches!(value, Some(Value::View(view)) if view.operand.tensor == tensor))
        };
        let is_free = |tensor: &usize| {
            network.tensors[*tensor].past.is_none() && !network.is_read_outside(*tensor) && !is_output(*tensor)
        };
        let tensor = match self.whole(operand).filter(is_free) {
            Some(tensor) => tensor,
            None => self.copied(operand, &format!("{state}_new"))?,
        };
        self.built.network.tensors[tensor].past = Some(past);
        let [channels, width, height] = operand.extent;
        Ok(Some(Operand { tensor, from: [0, 0, -rows], extent: [channels, width, rows + height] }))
    }
}
