//! The C header of an accelerator.

use itertools::Itertools;
use pushmem_configuration::RegisterWrite;
use pushmem_files::text;
use pushmem_graph::{Accelerator, Stream};

use crate::names::Names;
use crate::text::listing;
use crate::top::self_test::{self_tested, widest};

struct TileWrites<'a> {
    name: &'a str,
    lines: Vec<String>,
}

struct StreamLayout {
    lower: String,
    upper: String,
    title: String,
    /// Its number among the inputs or among the outputs.
    number: usize,
    lanes: usize,
    beats: u64,
    /// Number of the first element in each lane.
    starts: String,
    loops: Vec<StreamLoop>,
}

struct StreamLoop {
    name: String,
    extent: u64,
    /// Step of the element's number from one iteration to the next, in each lane.
    strides: String,
}

/// The header; `name` is that of the top module, `writes` are those of each tile, whose windows have `bytes` bytes.
pub(crate) fn print(
    accelerator: &Accelerator,
    name: &str,
    run_cycles: u64,
    writes: &[Vec<RegisterWrite>],
    bytes: u64,
) -> String {
    let lower = name.to_lowercase();
    let mut names = Names::default();
    let inputs = accelerator.inputs.iter().enumerate().map(|stream| (stream, "Input"));
    let outputs = accelerator.outputs.iter().enumerate().map(|stream| (stream, "Output"));
    let streams = inputs.chain(outputs).map(|(stream, kind)| layout(accelerator, stream, kind, &lower, &mut names));
    let line = |writes: &[RegisterWrite]| {
        writes.iter().map(|write| format!("{{0x{:08x}u, 0x{:08x}u}},", write.address, write.data)).join(" ")
    };
    let configured = accelerator.configured();
    let tiles = configured.iter().zip(writes);
    let tiles = tiles.map(|(tile, writes)| TileWrites { name: tile.name, lines: writes.chunks(4).map(line).collect() });
    let self_tested = self_tested(accelerator).into_iter().map(|(place, _)| configured[place].name);
    text!(
        "accelerator.h",
        name: &'a str = &accelerator.name,
        upper: String = lower.to_uppercase(),
        run_cycles: u64 = run_cycles,
        bytes: u64 = bytes,
        tiles: Vec<TileWrites<'a>> = tiles.collect(),
        writes: usize = writes.iter().map(Vec::len).sum(),
        streams: Vec<StreamLayout> = streams.collect(),
        /// Names of the tiles whose memories have a self-test, and words of 32 bits in the widest of their rows.
        self_tested: Vec<&'a str> = self_tested.collect(),
        row_words: u32 = widest(accelerator).map_or(0, |(width, _)| width.div_ceil(32)),
        /// Names begin with it.
        lower: String = lower,
    )
}

fn layout(
    accelerator: &Accelerator,
    (number, stream): (usize, &Stream),
    kind: &str,
    prefix: &str,
    names: &mut Names,
) -> StreamLayout {
    let counter = &accelerator.counters[stream.counter];
    let lower = names.claim(&format!("{prefix}_{}", stream.name).to_lowercase(), "stream");
    let levels = counter.loops.iter().zip(&counter.extent).enumerate();
    let loops = levels.map(|(level, (name, &extent))| StreamLoop {
        name: name.clone(),
        extent,
        strides: stream.lanes.iter().map(|lane| lane.element.stride[level]).join(", "),
    });
    let order = counter.loops.iter().map(|name| format!("`{name}`")).collect_vec();
    let fastest = match order.as_slice() {
        [] => "a single beat".to_owned(),
        [only] => format!("a beat for each {only}"),
        _ => format!("beats for {}, the first fastest", listing(&order)),
    };
    StreamLayout {
        upper: lower.to_uppercase(),
        lower,
        title: format!("{kind} stream of `{}`, {}: {fastest}.", stream.name, stream.element.name()),
        number,
        lanes: stream.lanes.len(),
        beats: counter.iterations(),
        starts: stream.lanes.iter().map(|lane| lane.element.start).join(", "),
        loops: loops.collect(),
    }
}
