//! Time and the streams that it depends on: run control, loop counters, and the buffers at the boundary.

use itertools::Itertools;
use pushmem_accelerator::{Stream, WORD_BITS};

use super::{Context, Section, run_cycles};
use crate::error::CompositionError;
use crate::instance::Instance;
use crate::text::{concatenation, vector};

/// The longest line of code that is not broken.
const LINE: usize = 120;

impl Context<'_> {
    pub(super) fn run_control(&self) -> Section {
        let streams = self.accelerator.inputs.len() + self.accelerator.outputs.len();
        let vector = vector(streams as u32);
        let control = Instance::new("pushmem_run_control", "u_run_control")
            .parameter("LENGTH", run_cycles(self.accelerator))
            .parameter("STREAMS", streams)
            .same(&["clk", "rst_n", "start", "busy", "done", "due", "ready", "flush", "step"]);
        let body = format!(
            "    logic flush;\n    logic step;\n    logic{vector} due;\n    logic{vector} ready;\n{}",
            control.print()
        );
        Section::new(
            "Time: `flush` is high in the cycle before a run, `step` in each of its cycles in which time goes on: then \
             all streams that are `due` are also `ready`.",
            body,
        )
    }

    /// The flushes of tiles whose time begins later than the run.
    pub(super) fn late_flushes(&self) -> Option<Section> {
        let late_flush = |(begin, (name, instance)): (&u64, &(String, String))| {
            let instance = Instance::new("pushmem_late_flush", instance.as_str())
                .parameter("CYCLES", begin)
                .same(&["clk", "rst_n", "flush", "step"])
                .port("late_flush", name);
            format!("    logic {name};\n{}", instance.print())
        };
        let flushes = self.signals.late_flushes.iter().map(late_flush).collect_vec();
        let comment =
            "Tiles that are used late are flushed late: their controllers count from a later cycle of the run.";
        (!flushes.is_empty()).then(|| Section::new(comment, flushes.join("\n")))
    }

    pub(super) fn loop_counters(&self) -> Result<Vec<Section>, CompositionError> {
        let counters = self.signals.counters.values();
        let mut sections: Vec<Section> =
            counters.map(|counter| Ok(Section::new(counter.description(), counter.print()?))).try_collect()?;
        let streams = self.accelerator.inputs.iter().chain(&self.accelerator.outputs);
        let steps = streams.map(|stream| self.steps(stream).to_owned());
        sections.push(Section::new(
            "A stream is due when its loops step.",
            format!("    assign due = {};", broken(concatenation(steps))),
        ));
        Ok(sections)
    }

    /// High in the cycles in which a stream is due.
    fn steps(&self, stream: &Stream) -> &str {
        &self.signals.counters[&stream.counter].steps
    }

    pub(super) fn inputs(&self) -> Vec<Section> {
        let streams = self.accelerator.inputs.iter().enumerate();
        let input = |(number, stream): (usize, &Stream)| {
            let port = &self.signals.streams.inputs[number];
            let words = stream.lanes.iter().map(|lane| self.signals.wires[lane.wire].clone()).collect_vec();
            let buffer = Instance::new("pushmem_stream_buffer", self.signals.stream_buffers[number].as_str())
                .parameter("WIDTH", stream.lanes.len() as u32 * WORD_BITS)
                .same(&["clk", "rst_n"])
                .port("in_valid", format!("{port}_valid"))
                .port("in_ready", format!("{port}_ready"))
                .port("in_data", format!("{port}_data"))
                .port("out_valid", format!("ready[{number}]"))
                .port("out_ready", format!("step && {}", self.steps(stream)))
                .port("out_data", broken(concatenation(words.iter().cloned())));
            let mut body = words.iter().map(|word| format!("    logic [15:0] {word};")).collect_vec();
            body.push(buffer.print());
            Section::new(format!("Words of the input stream `{}`.", stream.name), body.join("\n"))
        };
        streams.map(input).collect()
    }

    pub(super) fn outputs(&self) -> Vec<Section> {
        let before = self.accelerator.inputs.len();
        let output = |(number, stream): (usize, &Stream)| {
            let port = &self.signals.streams.outputs[number];
            let words = stream.lanes.iter().map(|lane| self.signals.wires[lane.wire].clone());
            let buffer = Instance::new("pushmem_stream_buffer", self.signals.stream_buffers[before + number].as_str())
                .parameter("WIDTH", stream.lanes.len() as u32 * WORD_BITS)
                .same(&["clk", "rst_n"])
                .port("in_valid", format!("step && {}", self.steps(stream)))
                .port("in_ready", format!("ready[{}]", before + number))
                .port("in_data", broken(concatenation(words)))
                .port("out_valid", format!("{port}_valid"))
                .port("out_ready", format!("{port}_ready"))
                .port("out_data", format!("{port}_data"));
            Section::new(format!("Words of the output stream `{}`.", stream.name), buffer.print())
        };
        self.accelerator.outputs.iter().enumerate().map(output).collect()
    }
}

/// A list in braces, over several lines where it is too long for one.
fn broken(list: String) -> String {
    const INDENT: &str = "            ";
    if list.len() <= LINE - INDENT.len() {
        return list;
    }
    let mut lines = vec![String::new()];
    for part in list.split_inclusive(", ") {
        if lines.last().is_some_and(|line| INDENT.len() + line.len() + part.len() > LINE) {
            lines.push(String::new());
        }
        lines.last_mut().expect("there is a line").push_str(part);
    }
    lines.iter().map(|line| line.trim_end()).join(&format!("\n{INDENT}"))
}
