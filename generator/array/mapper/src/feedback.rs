//! Words that come back to the kernel that computed them.

use pushmem_compiler::Compiled;
use pushmem_graph::{Edge, KernelId, WordDriver};

use crate::lower::{first_of_unit, is_by_turns};

/// The most cycles of a loop whose words are joined last. Words that take longer have time for a row of elements.
const LONGEST: u64 = 16;

/// By operation, the stage of each load in which selection takes it to come: the later, the fewer cycles the word of the kernel itself
/// has to come back there. So chains join it last, and the loop goes through few elements.
pub(crate) fn arrivals(compiled: &Compiled) -> Vec<Vec<u64>> {
    let graph = &compiled.graph;
    let first_of_unit = first_of_unit(&compiled.program);
    let mut arrivals = vec![Vec::new(); first_of_unit.len()];
    for (number, kernel) in graph.kernels.iter_enumerated() {
        let operation = first_of_unit[kernel.operation];
        let datapath = &compiled.datapaths[operation];
        let of_operation: &mut Vec<u64> = &mut arrivals[operation];
        for ((load, _), operand) in datapath.operands().into_iter().zip(&kernel.operands) {
            of_operation.resize(of_operation.len().max(load + 1), 0);
            let cycles = back_from(compiled, number, *operand);
            let spent = datapath.arrival(load);
            let stage = cycles.map_or(0, |cycles| LONGEST.saturating_sub(cycles.saturating_sub(spent)));
            of_operation[load] = of_operation[load].max(stage);
        }
    }
    arrivals
}

/// The fewest cycles from the begin of an iteration of a kernel until an operand is its result, perhaps by a choice.
fn back_from(compiled: &Compiled, kernel: KernelId, operand: Edge) -> Option<u64> {
    let graph = &compiled.graph;
    let Edge::Net { net, delay } = operand else { return None };
    let cycles = match &graph.words[net].driver {
        WordDriver::Kernel { kernel: of, .. } if *of == kernel => Some(graph.kernels[kernel].latency),
        WordDriver::Select(choices) if !is_by_turns(graph, choices) => {
            choices.iter().filter_map(|choice| back_from(compiled, kernel, choice.edge)).min()
        }
        _ => None,
    };
    cycles.map(|cycles| cycles + delay)
}
