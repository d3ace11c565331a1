//! The modules beside the top module: the library, and a kernel for each datapath.

use itertools::Itertools;
use pushmem_accelerator::Accelerator;
use pushmem_kernels::{DIVIDER, FetchPorts};
use pushmem_nest::Program;

use crate::names::Names;

const RUN_CONTROL: (&str, &str) =
    ("pushmem_run_control", include_str!("../../../templates/accelerator/library/pushmem_run_control.sv"));
const LOOP_COUNTER: (&str, &str) =
    ("pushmem_loop_counter", include_str!("../../../templates/accelerator/library/pushmem_loop_counter.sv"));
const STREAM_BUFFER: (&str, &str) =
    ("pushmem_stream_buffer", include_str!("../../../templates/accelerator/library/pushmem_stream_buffer.sv"));
const SHIFT_REGISTER: (&str, &str) =
    ("pushmem_shift_register", include_str!("../../../templates/accelerator/library/pushmem_shift_register.sv"));

const LATE_FLUSH: (&str, &str) =
    ("pushmem_late_flush", include_str!("../../../templates/accelerator/library/pushmem_late_flush.sv"));

/// The modules of the library, which have the same text in every accelerator with asynchronous reset: name and text.
pub const LIBRARY: [(&str, &str); 6] = [RUN_CONTROL, LATE_FLUSH, LOOP_COUNTER, STREAM_BUFFER, SHIFT_REGISTER, DIVIDER];

/// A kernel's module.
pub(crate) struct KernelModule {
    pub name: String,
    pub text: String,
    /// Names of the ports for loads.
    pub loads: Vec<String>,
    /// Names of the ports for loop variables.
    pub variables: Vec<String>,
    /// Names of the ports for look-ups in tables beside it.
    pub fetches: Vec<FetchPorts>,
}

/// The kernels' modules, in the order of the datapaths.
pub(crate) fn kernels(
    accelerator: &Accelerator,
    program: &Program,
    top: &str,
    modules: &mut Names,
) -> Vec<KernelModule> {
    let operations = program.operations();
    let kernel = |of: &pushmem_accelerator::OperationDatapath| {
        let operation = operations[of.operation].1;
        let name = modules.claim(&format!("{top}_{}", of.name), "kernel");
        let ports = of.datapath.ports(program, operation);
        KernelModule {
            text: of.datapath.module(program, operation, &name),
            loads: ports.loads,
            variables: ports.variables.into_iter().map(|(_, name)| name).collect(),
            fetches: ports.fetches,
            name,
        }
    };
    accelerator.datapaths.iter().map(kernel).collect_vec()
}

/// The modules of the library that are needed.
pub(crate) fn library(accelerator: &Accelerator) -> Vec<(&'static str, String)> {
    let divides = accelerator.datapaths.iter().any(|of| of.datapath.divides());
    let shifts = accelerator.shift_register_words() > 0;
    let late = accelerator.tiles.iter().any(|tile| tile.begin > 0);
    let needed = LIBRARY.into_iter().filter(|(name, _)| match *name {
        "pushmem_shift_register" => shifts,
        "pushmem_divider" => divides,
        "pushmem_late_flush" => late,
        _ => true,
    });
    needed.map(|(name, text)| (name, accelerator.spec.reset.of_system_verilog(text))).collect()
}
