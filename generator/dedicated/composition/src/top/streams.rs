//! Time and the streams that it depends on: run control, loop counters, and the buffers at the boundary.

use itertools::Itertools;
use pushmem_graph::{Stream, WORD_BITS};

use super::{Context, Section, run_cycles};
use crate::error::CompositionError;
use crate::instance::Instance;
use crate::modules::{LATE_FLUSH, RUN_CONTROL, STREAM_BUFFER};
use crate::text::{concatenation, vector};

/// The longest line of code that is not broken.
const LINE: usize = 120;

impl Context<'_> {
    pub(super) fn run_control(&self) -> Section {
        let streams = self.accelerator.inputs.len() + self.accelerator.outputs.len();
        let vector = vector(streams as u32);
        let control = Instance::new(self.library(RUN_CONTROL), "u_run_control")
            .parameter("Length", run_cycles(self.accelerator))
            .parameter("Streams", streams)
            .same(&["clk_i", "rst_ni", "start_i", "busy_o", "done_o"])
            .to(&[("due_i", "due"), ("ready_i", "ready"), ("flush_o", "flush"), ("step_o", "step")]);
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
            let instance = Instance::new(self.library(LATE_FLUSH), instance.as_str())
                .parameter("Cycles", begin)
                .same(&["clk_i", "rst_ni"])
                .to(&[("flush_i", "flush"), ("step_i", "step")])
                .port("late_flush_o", name);
            format!("    logic {name};\n{}", instance.print())
        };
        let flushes = self.signals.late_flushes.iter().map(late_flush).collect_vec();
        let comment =
            "Tiles that are used late are flushed late: their controllers count from a later cycle of the run.";
        (!flushes.is_empty()).then(|| Section::new(comment, flushes.join("\n")))
    }

    pub(super) fn loop_counters(&self) -> Result<Vec<Section>, CompositionError> {
        let counters = self.signals.counters.values();
        let mut sections: Vec<Section> = counters
            .map(|counter| Ok(Section::new(counter.description(), counter.print("clk_i", "rst_ni")?)))
            .try_collect()?;
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
            let buffer = Instance::new(self.library(STREAM_BUFFER), self.signals.stream_buffers[number].as_str())
                .parameter("Width", stream.lanes.len() as u32 * WORD_BITS)
                .same(&["clk_i", "rst_ni"])
                .port("in_valid_i", format!("{port}_valid_i"))
                .port("in_ready_o", format!("{port}_ready_o"))
                .port("in_data_i", format!("{port}_data_i"))
                .port("out_valid_o", format!("ready[{number}]"))
                .port("out_ready_i", format!("step && {}", self.steps(stream)))
                .port("out_data_o", broken(concatenation(words.iter().cloned())));
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
            let buffer =
                Instance::new(self.library(STREAM_BUFFER), self.signals.stream_buffers[before + number].as_str())
                    .parameter("Width", stream.lanes.len() as u32 * WORD_BITS)
                    .same(&["clk_i", "rst_ni"])
                    .port("in_valid_i", format!("step && {}", self.steps(stream)))
                    .port("in_ready_o", format!("ready[{}]", before + number))
                    .port("in_data_i", broken(concatenation(words)))
                    .port("out_valid_o", format!("{port}_valid_o"))
                    .port("out_ready_i", format!("{port}_ready_i"))
                    .port("out_data_o", format!("{port}_data_o"));
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
