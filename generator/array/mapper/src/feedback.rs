//! Words that come back to the kernel that computed them.

use pushmem_compiler::Compiled;
use pushmem_graph::{Driver, KernelId, Source};

/// The most cycles of a loop whose words are joined last. Words that take longer have time for a row of elements.
const LONGEST: u64 = 16;

/// By operation, the stage of each load in which selection takes it to come: the later, the fewer cycles the word of the kernel itself
/// has to come back there. So chains join it last, and the loop goes through few elements.
pub(crate) fn arrivals(compiled: &Compiled) -> Vec<Vec<u64>> {
    let accelerator = &compiled.accelerator;
    let mut arrivals = vec![Vec::new(); compiled.program.operations().len()];
    for (number, kernel) in accelerator.kernels.iter_enumerated() {
        let of = &accelerator.datapaths[kernel.datapath];
        let of_operation: &mut Vec<u64> = &mut arrivals[of.operation];
        for ((load, _), operand) in of.datapath.operands().into_iter().zip(&kernel.operands) {
            of_operation.resize(of_operation.len().max(load + 1), 0);
            let cycles = back_from(compiled, number, *operand);
            let spent = of.datapath.arrival(load);
            let stage = cycles.map_or(0, |cycles| LONGEST.saturating_sub(cycles.saturating_sub(spent)));
            of_operation[load] = of_operation[load].max(stage);
        }
    }
    arrivals
}

/// The fewest cycles from the begin of an iteration of a kernel until an operand is its result, perhaps by a choice.
fn back_from(compiled: &Compiled, kernel: KernelId, operand: Source) -> Option<u64> {
    let accelerator = &compiled.accelerator;
    let Source::Wire(wire) = operand else { return None };
    match &accelerator.wires[wire].driver {
        Driver::ShiftRegister { of, length } => {
            back_from(compiled, kernel, Source::Wire(*of)).map(|cycles| cycles + length)
        }
        Driver::Kernel { kernel: of, .. } if *of == kernel => {
            Some(accelerator.datapaths[accelerator.kernels[kernel].datapath].datapath.latency())
        }
        Driver::Select { cases, .. } => cases.iter().filter_map(|case| back_from(compiled, kernel, case.source)).min(),
        _ => None,
    }
}
