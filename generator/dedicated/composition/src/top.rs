//! The top module of an accelerator.

mod bus;
mod fixed;
mod memory;
mod ports;
mod promises;
mod rams;
mod roms;
pub(crate) mod self_test;
mod signals;
mod streams;
mod waves;
mod words;

use askama::Template;
use index_vec::IndexSlice;
use pushmem_files::{Diagnostic, counted, render};
use pushmem_graph::{Accelerator, DatapathId, Memories};
use pushmem_nest::{Level, Program};
use pushmem_systemverilog::asserts;
use pushmem_waves::View;

use crate::modules::KernelModule;
use crate::tables::TableModule;
use crate::text::{aligned, lines};
use crate::window::Window;
use signals::Signals;

/// The names of the ports of the streams: each has `_valid`, `_ready` and `_data` behind it.
#[derive(Clone, Debug)]
pub(crate) struct StreamPorts {
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

/// The top module.
pub(crate) struct Top {
    pub text: String,
    pub streams: StreamPorts,
    pub waves: View,
}

#[derive(Template)]
#[template(path = "top.sv", escape = "none")]
struct TopTemplate {
    description: Vec<String>,
    name: String,
    ports: Vec<Vec<String>>,
    sections: Vec<Section>,
}

impl TopTemplate {
    /// Whether a part of the module has assertions.
    fn asserts(&self) -> bool {
        self.sections.iter().any(|section| asserts(&section.body))
    }
}

/// A part of the module.
struct Section {
    comment: Vec<String>,
    body: String,
}

impl Section {
    fn new(comment: impl AsRef<str>, body: impl Into<String>) -> Self {
        Section { comment: lines(comment.as_ref()), body: aligned(&body.into()) }
    }

    /// The part that a template prints.
    fn of(comment: impl AsRef<str>, body: &impl Template) -> Self {
        Section::new(comment, body.render().expect("templates write to memory"))
    }
}

/// Context from which the parts of the module are printed.
struct Context<'a> {
    accelerator: &'a Accelerator,
    program: &'a Program,
    kernels: &'a IndexSlice<DatapathId, [KernelModule]>,
    tables: &'a [TableModule],
    window: Window,
    signals: Signals<'a>,
}

/// Prints the top module.
///
/// # Errors
/// When a schedule is none that hardware could follow.
pub(crate) fn print(
    accelerator: &Accelerator,
    program: &Program,
    (kernels, tables): (&IndexSlice<DatapathId, [KernelModule]>, &[TableModule]),
    window: Window,
    name: &str,
) -> Result<Top, Diagnostic> {
    let context = Context { accelerator, program, kernels, tables, window, signals: Signals::of(accelerator) };
    let mut sections = vec![context.run_control()];
    sections.extend(context.late_flushes());
    sections.extend(context.loop_counters()?);
    sections.extend(context.cycle_of_run());
    sections.extend(context.configuration_bus());
    sections.extend(context.self_tests());
    sections.extend(context.ahead_of_time());
    sections.extend(context.inputs());
    sections.extend(context.words());
    sections.extend(context.outputs());
    sections.extend(context.read_by_assertions());
    let template =
        TopTemplate { description: context.description(), name: name.to_owned(), ports: context.ports(), sections };
    let text = render(&template);
    let waves = context.waves(name)?;
    Ok(Top { text, streams: context.signals.streams, waves })
}

/// Cycles of a run: until the last output, and the last input, even if nothing came of it, has passed.
pub(crate) fn run_cycles(accelerator: &Accelerator) -> u64 {
    let inputs = accelerator.inputs.iter().map(|stream| accelerator.counters[stream.counter].last() + 1);
    inputs.max().map_or(0, |last| last.max(0) as u64).max(accelerator.length)
}

/// The name of a level's tiles in comments.
fn tile_of(accelerator: &Accelerator, level: Level) -> &'static str {
    match (accelerator.target.memories, level) {
        (Memories::Fixed, _) => "memory bank",
        (Memories::Tiles, Level::GlobalBuffer) => "global-buffer bank",
        (Memories::Tiles, Level::Memory) => "memory tile",
        (Memories::Tiles, Level::RegisterFile) => "register file",
    }
}

impl Context<'_> {
    /// The name of a library module that has a reset.
    fn library(&self, module: &str) -> String {
        self.accelerator.target.memory().reset.module_name(module)
    }

    fn description(&self) -> Vec<String> {
        let accelerator = self.accelerator;
        let mut parts = vec![counted(accelerator.instances().count(), "kernel")];
        for level in accelerator.levels_in_use() {
            let tiles = counted(accelerator.count_at(level), tile_of(accelerator, level));
            parts.push(match accelerator.target.memories {
                Memories::Fixed => tiles,
                Memories::Tiles => format!("{tiles} `{}`", accelerator.spec_at(level).name),
            });
        }
        if !accelerator.delay_lines.is_empty() {
            parts.push(format!("{} in delay lines", counted(accelerator.delay_line_words(), "word")));
        }
        if !accelerator.roms.is_empty() {
            parts.push(match accelerator.target.memories {
                Memories::Fixed => counted(accelerator.roms.len(), "table"),
                Memories::Tiles => {
                    format!("{} `{}`", counted(accelerator.roms.len(), "ROM"), accelerator.target.rom().name)
                }
            });
        }
        if !accelerator.rams.is_empty() {
            let memories = if accelerator.rams.len() == 1 { "memory" } else { "memories" };
            parts.push(format!("{} random-access {memories}", accelerator.rams.len()));
        }
        if accelerator.shift_register_words() > 0 {
            parts.push(format!("{} in shift registers", counted(accelerator.shift_register_words(), "word")));
        }
        if accelerator.hold_registers() > 0 {
            parts.push(counted(accelerator.hold_registers(), "hold register"));
        }
        let mut text = lines(&format!("Accelerator `{}`: {}.", accelerator.name, parts.join(", ")));
        text.push(String::new());
        text.extend(lines(
            "Everything follows one schedule of cycles. A cycle of the schedule takes place when every input stream that \
             is due has a word and every output stream that is due has room; until then everything waits.",
        ));
        text.extend(lines(&format!(
            "Timing: a run has {} and as many more as streams make it wait. A stream passes a beat in each cycle in \
             which its `valid` and `ready` are both high; what is offered stays until it is taken. No output depends on \
             an input of the same cycle. Words narrower than 16 bits are extended by their type.",
            counted(run_cycles(accelerator), "cycle")
        )));
        if accelerator.stall_latency > 0 {
            text.extend(lines(&format!(
                "Stalls have {}: the streams are so many cycles ahead of the hardware, and have room for the beats between.",
                counted(accelerator.stall_latency, "register")
            )));
        }
        text
    }
}
