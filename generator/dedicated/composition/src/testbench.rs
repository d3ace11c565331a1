//! The testbench and its input files.

use std::fmt::Write;

use pushmem_files::{Diagnostic, text};
use pushmem_graph::{Accelerator, Beats, Stream};
use pushmem_waves::View;

use crate::TileModule;
use crate::top::{StreamPorts, self_test};

/// The testbench, which is the same for all accelerators.
pub(crate) const HARNESS: &str = include_str!("../../../../templates/accelerator/testbench/harness.cpp");

/// Access to the streams, which the testbench and the platform of firmware share.
pub(crate) const STREAMS: &str = include_str!("../../../../templates/accelerator/testbench/streams.h");

/// The platform of firmware in simulation: path and text of each file.
pub(crate) const PLATFORM: [(&str, &str); 2] = [
    ("firmware/platform.h", include_str!("../../../../templates/accelerator/firmware/platform.h")),
    ("firmware/platform.cpp", include_str!("../../../../templates/accelerator/firmware/platform.cpp")),
];

struct StreamPort<'a> {
    port: &'a str,
    lanes: usize,
}

/// The header that describes the ports, and the contents of `writes.hex`, to the testbench.
pub(crate) fn ports(
    accelerator: &Accelerator,
    name: &str,
    streams: &StreamPorts,
    run_cycles: u64,
    register_writes: usize,
) -> String {
    text!(
        "testbench/ports.h",
        name: &'a str = name,
        inputs: Vec<StreamPort<'a>> = accelerator.inputs.iter().zip(&streams.inputs).map(stream_port).collect(),
        outputs: Vec<StreamPort<'a>> = accelerator.outputs.iter().zip(&streams.outputs).map(stream_port).collect(),
        /// Of all tiles.
        register_writes: usize = register_writes,
        has_shadow_registers: bool = accelerator.roms.is_empty() && all_shadow(accelerator),
        has_clock_gates: bool = accelerator.has_clock_gates(),
        read_cycles: u32 = read_cycles(accelerator),
        /// Cycles of the self-test of the memories, if there is one.
        self_test_cycles: Option<u64> = self_test::cycles(accelerator),
        /// Memories with a self-test, and the bits of their widest row.
        self_tested: usize = self_test::self_tested(accelerator).len(),
        row_bits: u32 = self_test::widest(accelerator).map_or(0, |(width, _)| width),
        run_cycles: u64 = run_cycles,
    )
}

/// Whether there are registers on the configuration bus, all of them shadow registers.
fn all_shadow(accelerator: &Accelerator) -> bool {
    let tiles = accelerator.configured();
    !tiles.is_empty() && tiles.iter().all(|tile| tile.spec.shadow_registers)
}

/// Cycles from a read on the configuration bus until all kinds of data show.
pub fn read_cycles(accelerator: &Accelerator) -> u32 {
    if accelerator.roms.is_empty() { 1 } else { accelerator.target.rom().configuration_read_latency() }
}

fn stream_port<'a>((stream, port): (&Stream, &'a String)) -> StreamPort<'a> {
    StreamPort { port, lanes: stream.lanes.len() }
}

/// The Makefile that builds and runs the testbench.
pub(crate) fn makefile(name: &str, tiles: &[TileModule]) -> String {
    text!("Makefile", name: &'a str = name, tiles: &'a [TileModule] = tiles)
}

/// Verilator's configuration for tiles in one model with the rest.
pub(crate) fn tiles(tiles: &[TileModule]) -> String {
    text!("testbench/tiles.vlt", tiles: &'a [TileModule] = tiles)
}

/// The module that `make wave` binds into the accelerator, and layouts for viewers.
pub(crate) fn waves(view: &View) -> [(String, String); 3] {
    let texts = [("sv", view.systemverilog()), ("gtkw", view.gtkwave()), ("sucl", view.surfer())];
    texts.map(|(ending, text)| (format!("testbench/waves.{ending}"), text))
}

/// The words of a stream as the testbench reads and writes them: a beat a line, lane 0 first.
pub fn format_beats(stream: &Stream, words: &[u16]) -> String {
    let mut text = String::with_capacity(5 * words.len());
    for beat in words.chunks(stream.lanes.len().max(1)) {
        for (lane, word) in beat.iter().enumerate() {
            let gap = if lane == 0 { "" } else { " " };
            write!(text, "{gap}{word:04x}").expect("writing to a string does not fail");
        }
        text.push('\n');
    }
    text
}

/// The file of each stream in the folder `testbench`.
///
/// # Errors
/// When the words are not those of all beats of a run.
pub(crate) fn beat_files(
    accelerator: &Accelerator,
    streams: &[Stream],
    ports: &[String],
    beats: &[Beats],
    ending: &str,
) -> Result<Vec<(String, String)>, Diagnostic> {
    let file = |(number, (stream, port)): (usize, (&Stream, &String))| {
        let words = beats.get(number).map_or(&[][..], |words| words.as_slice());
        let expected = accelerator.counters[stream.counter].iterations() * stream.lanes.len() as u64;
        let found = words.len() as u64;
        if found != expected {
            let name = &stream.name;
            let message = format!("the beats of the stream {name} have {expected} words, but {found} are given");
            return Err(Diagnostic::new(message));
        }
        Ok((format!("testbench/{port}{ending}"), format_beats(stream, words)))
    };
    streams.iter().zip(ports).enumerate().map(file).collect()
}
