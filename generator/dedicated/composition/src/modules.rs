//! The modules beside the top module: the library, and a kernel for each datapath.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use pushmem_datapaths::{DIVIDER, FetchPorts};
use pushmem_files::replace_identifiers;
use pushmem_graph::{Accelerator, DatapathId, Memories};
use pushmem_nest::Program;
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::names::Names;

/// Names of the modules of the library that have a reset: as they are called where it is asynchronous.
pub(crate) const RUN_CONTROL: &str = "pushmem_run_control";
pub(crate) const LATE_FLUSH: &str = "pushmem_late_flush";
pub(crate) const LOOP_COUNTER: &str = "pushmem_loop_counter";
pub(crate) const STREAM_BUFFER: &str = "pushmem_stream_buffer";
/// Those of accelerators whose stall has registers.
pub(crate) const STALL_PIPELINE: &str = "pushmem_stall_pipeline";
pub(crate) const SKID_BUFFER: &str = "pushmem_skid_buffer";

/// The name of the module that shifts words.
pub(crate) const SHIFT_REGISTER: &str = "pushmem_shift_register";
/// The module of long delays, where memories are made for the program. It has a reset.
pub(crate) const DELAY_LINE: &str = "pushmem_delay_line";
/// The module of a memory that is made for the program, and that of the accesses of its ports. The latter has a reset.
pub(crate) const FIXED_MEMORY: &str = "pushmem_fixed_memory";
pub(crate) const ACCESS_SEQUENCE: &str = "pushmem_access_sequence";
/// The name of the module that holds a word.
pub(crate) const HOLD_REGISTER: &str = "pushmem_hold_register";
/// The name of the module of arrays whose elements data choose. It has a reset.
pub(crate) const RANDOM_ACCESS_MEMORY: &str = "pushmem_random_access_memory";

macro_rules! library {
    ($name:literal) => {
        include_str!(concat!("../../../../templates/accelerator/library/pushmem_", $name, ".sv"))
    };
}

/// The modules of the library, which have the same text in every accelerator with asynchronous reset: name and text.
pub const LIBRARY: [(&str, &str); 13] = [
    (RUN_CONTROL, library!("run_control")),
    (STALL_PIPELINE, library!("stall_pipeline")),
    (LATE_FLUSH, library!("late_flush")),
    (LOOP_COUNTER, library!("loop_counter")),
    (STREAM_BUFFER, library!("stream_buffer")),
    (SKID_BUFFER, library!("skid_buffer")),
    (SHIFT_REGISTER, library!("shift_register")),
    (DELAY_LINE, library!("delay_line")),
    (FIXED_MEMORY, library!("fixed_memory")),
    (ACCESS_SEQUENCE, library!("access_sequence")),
    (HOLD_REGISTER, library!("hold_register")),
    (RANDOM_ACCESS_MEMORY, library!("random_access_memory")),
    DIVIDER,
];

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
    /// Names of the ports for the addresses of random-access memories.
    pub addresses: Vec<String>,
}

/// The kernels' modules, in the order of the datapaths.
pub(crate) fn kernels(
    accelerator: &Accelerator,
    program: &Program,
    top: &str,
    modules: &mut Names,
) -> IndexVec<DatapathId, KernelModule> {
    let operations = program.operations();
    let kernel = |of: &pushmem_graph::OperationDatapath| {
        let operation = operations[of.operation].1;
        let name = modules.claim(&format!("{top}_{}", of.name), "kernel");
        let ports = of.datapath.ports(program, operation);
        KernelModule {
            text: of.datapath.module(program, operation, &name),
            loads: ports.loads,
            variables: ports.variables.into_iter().map(|(_, name)| name).collect(),
            fetches: ports.fetches,
            addresses: ports.addresses,
            name,
        }
    };
    accelerator.datapaths.iter().map(kernel).collect()
}

/// All names of modules of the library.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let both = |name: &str| [Reset::Asynchronous, Reset::Synchronous].map(|reset| reset.module_name(name));
    LIBRARY.into_iter().flat_map(move |(name, _)| both(name)).chain(pushmem_float::module_names())
}

/// The modules of the library that are needed. Where the reset is synchronous, those that have one are called so.
pub(crate) fn library(accelerator: &Accelerator) -> Vec<(String, String)> {
    let divides = accelerator.datapaths.iter().any(|of| of.datapath.divides());
    let late = accelerator.tiles.iter().any(|tile| tile.begin > 0);
    let is_fixed = accelerator.target.memories == Memories::Fixed;
    let stalls_late = accelerator.stall_latency > 0;
    let shifts = accelerator.shift_register_words() > 0 || stalls_late && !accelerator.inputs.is_empty();
    let needed = LIBRARY.into_iter().filter(|(name, _)| match *name {
        SHIFT_REGISTER => shifts,
        DELAY_LINE => !accelerator.delay_lines.is_empty(),
        FIXED_MEMORY | ACCESS_SEQUENCE => is_fixed && !accelerator.tiles.is_empty(),
        HOLD_REGISTER => accelerator.hold_registers() > 0,
        RANDOM_ACCESS_MEMORY => !accelerator.rams.is_empty(),
        LATE_FLUSH => late,
        STALL_PIPELINE => stalls_late,
        SKID_BUFFER => stalls_late && !accelerator.outputs.is_empty(),
        STREAM_BUFFER => !stalls_late || !accelerator.inputs.is_empty(),
        name if name == DIVIDER.0 => divides,
        _ => true,
    });
    let reset = accelerator.target.memory().reset;
    // A module may have instances of others.
    let has_reset = |word: &str| LIBRARY.iter().any(|(name, text)| *name == word && Reset::is_in(text));
    let named = |(name, text): (&str, &str)| match Reset::is_in(text) {
        true => {
            let text = replace_identifiers(text, |word| has_reset(word).then(|| reset.module_name(word)));
            (reset.module_name(name), reset.of_system_verilog(&text))
        }
        false => (name.to_owned(), text.to_owned()),
    };
    needed.map(named).chain(numbers(accelerator)).collect()
}

/// The modules of operators of numbers with a fraction that are needed.
fn numbers(accelerator: &Accelerator) -> impl Iterator<Item = (String, String)> {
    let wanted: BTreeSet<String> = accelerator.datapaths.iter().flat_map(|of| of.datapath.float_modules()).collect();
    system_verilog(pushmem_float::used(|name| wanted.contains(name))).into_iter()
}

/// Modules in Veryl as SystemVerilog. They have no reset.
fn system_verilog(modules: Vec<pushmem_float::Module>) -> Vec<(String, String)> {
    if modules.is_empty() {
        return Vec::new();
    }
    let sources = modules.into_iter().map(|module| SourceFile { name: module.name, text: module.text }).collect();
    let emitted = pushmem_veryl::compile(sources, pushmem_veryl::Reset::Asynchronous);
    emitted.expect("the library is in Veryl").into_iter().map(Into::into).collect()
}
