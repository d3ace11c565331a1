//! Runs of a mapped program on the model of the array.

use std::collections::BTreeMap;

use pushmem_bitstream::Configuration;
use pushmem_compiler::Compiled;
use pushmem_emulator::{Beat, Emulator, Inputs, Observer, StreamInputs};
use pushmem_files::Diagnostic;
use pushmem_images::Image;

use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::{join, split};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The output arrays by name.
    pub outputs: BTreeMap<String, Image>,
    /// Cycles from the flush to the last beat that left.
    pub cycles: u64,
}

/// Runs a configuration on the model of the array, as the host of a chip would: it offers beats as long as they are taken, and takes
/// what leaves.
///
/// # Errors
/// When an input is missing or has another shape than declared, or when beats do not come.
pub fn execute(
    mapped: &Mapped,
    configuration: &Configuration,
    compiled: &Compiled,
    target: &ArrayTarget,
    images: &BTreeMap<String, Image>,
) -> Result<Execution, Diagnostic> {
    execute_observed(mapped, configuration, compiled, target, images, &mut |_, _| ())
}

/// The same; `observe` is given the inputs and the outputs of each cycle, from that of the flush on.
///
/// # Errors
/// As [`execute`].
pub fn execute_observed(
    mapped: &Mapped,
    configuration: &Configuration,
    compiled: &Compiled,
    target: &ArrayTarget,
    images: &BTreeMap<String, Image>,
    observe: &mut Observer,
) -> Result<Execution, Diagnostic> {
    let accelerator = &compiled.accelerator;
    let beats = accelerator.input_beats(&compiled.program, images)?;
    let words = split(&beats, accelerator.inputs.iter().map(|stream| stream.lanes.len()));
    let column = |cell| mapped.place(cell).column as usize;
    let sources: Vec<usize> = mapped.lowered.input_lanes(accelerator).iter().map(|lane| column(lane.cell)).collect();
    let outputs = mapped.lowered.output_lanes(accelerator);
    let sinks: Vec<usize> = outputs.iter().map(|lane| column(lane.cell)).collect();
    let wanted = |lane: usize| accelerator.counters[outputs[lane].counter].iterations() as usize;
    let mut emulator = Emulator::new(&target.spec, target.graph.clone());
    emulator.load(configuration);
    let mut given = vec![0; sources.len()];
    let mut left: Vec<Vec<u32>> = vec![Vec::new(); sinks.len()];
    let span = mapped.implementation.routing.lags.iter().copied().max().unwrap_or(0) as u64;
    // Streams of a run begin some cycles after its flush; words that never come end it.
    let most = accelerator.length + span + 10 * u64::from(target.spec.stall_latency()) + 100;
    let mut inputs =
        Inputs { streams: vec![StreamInputs::default(); target.spec.columns as usize], ..Inputs::default() };
    for cycle in 0..most {
        let shown = emulator.outputs();
        for (lane, &column) in sources.iter().enumerate() {
            let word = words[lane].get(given[lane]);
            inputs.streams[column].beat = word.map(|word| Beat { data: *word, bit: false });
            given[lane] += usize::from(word.is_some() && shown[column].ready);
        }
        for (lane, &column) in sinks.iter().enumerate() {
            inputs.streams[column].ready = true;
            left[lane].extend(shown[column].beat.map(|beat| beat.data));
        }
        if left.iter().enumerate().all(|(lane, words)| words.len() >= wanted(lane)) {
            let outputs = join(&left, accelerator.outputs.iter().map(|stream| stream.lanes.len()));
            return Ok(Execution { outputs: accelerator.arrays(&compiled.program, &outputs)?, cycles: cycle });
        }
        inputs.flush = cycle == 0;
        observe(&inputs, shown);
        emulator.clock(&inputs);
    }
    let (lane, words) =
        left.iter().enumerate().find(|(lane, words)| words.len() < wanted(*lane)).expect("a lane waits");
    let name = &mapped.lowered.netlist.cells[outputs[lane].cell].name;
    let message = format!("the array gave {} of {} words of `{name}` in {most} cycles", words.len(), wanted(lane));
    Err(Diagnostic::new(message).as_fault("program"))
}
