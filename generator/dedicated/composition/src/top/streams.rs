//! Time and the streams that it depends on: run control, loop counters, and the buffers at the boundary.

use itertools::Itertools;
use pushmem_files::{Diagnostic, counted};
use pushmem_graph::{Stream, WORD_BITS};

use super::{Context, Section, run_cycles};
use crate::instance::Instance;
use crate::modules::{LATE_FLUSH, RUN_CONTROL, SHIFT_REGISTER, SKID_BUFFER, STALL_PIPELINE, STREAM_BUFFER};
use crate::text::{concatenation, range, vector};

/// The longest line of code that is not broken.
const LINE: usize = 120;

impl Context<'_> {
    pub(super) fn run_control(&self) -> Section {
        let streams = self.accelerator.inputs.len() + self.accelerator.outputs.len();
        let vector = vector(streams as u32);
        if self.accelerator.stall_latency > 0 {
            return self.run_control_ahead(streams, &vector);
        }
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

    /// Run control ahead of the hardware, and the registers between both.
    fn run_control_ahead(&self, streams: usize, vector: &str) -> Section {
        let control = Instance::new(self.library(RUN_CONTROL), "u_run_control")
            .parameter("Length", run_cycles(self.accelerator))
            .parameter("Streams", streams)
            .same(&["clk_i", "rst_ni"])
            .to(&[("start_i", "start_ahead"), ("busy_o", "busy_ahead_unused"), ("done_o", "done_ahead")])
            .to(&[("due_i", "due"), ("ready_i", "ready"), ("flush_o", "flush_ahead"), ("step_o", "step_ahead")]);
        let pipeline = Instance::new(self.library(STALL_PIPELINE), "u_stall_pipeline")
            .parameter("Latency", self.accelerator.stall_latency)
            .same(&["clk_i", "rst_ni", "start_i", "busy_o", "done_o"])
            .to(&[("ask_o", "start_ahead"), ("flush_i", "flush_ahead"), ("step_i", "step_ahead")])
            .to(&[("done_i", "done_ahead"), ("flush_o", "flush"), ("step_o", "step")]);
        let bits = ["start_ahead", "busy_ahead_unused", "done_ahead", "flush_ahead", "step_ahead", "flush", "step"];
        let bits = bits.iter().map(|name| format!("    logic {name};\n")).join("");
        // Delays and kernels know of steps alone.
        let accelerator = self.accelerator;
        let is_read =
            !self.signals.counters.is_empty() || !accelerator.tiles.is_empty() || !accelerator.configured().is_empty();
        let unread = if is_read { "" } else { "\n    logic flush_unused;\n    assign flush_unused = flush;" };
        let body = format!(
            "{bits}    logic{vector} due;\n    logic{vector} ready;\n{}\n{}{unread}",
            control.print(),
            pipeline.print()
        );
        let text = format!(
            "Time of the streams: `flush_ahead` is high in the cycle before a run, `step_ahead` in each of its cycles in which \
             time goes on: then all streams that are `due` are also `ready`. `flush` and `step` are the same for the hardware, \
             {} later.",
            counted(self.accelerator.stall_latency, "cycle")
        );
        Section::new(text, body)
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

    pub(super) fn loop_counters(&self) -> Result<Vec<Section>, Diagnostic> {
        let counters = self.signals.counters_ahead.values().chain(self.signals.counters.values());
        let mut sections: Vec<Section> = counters
            .map(|counter| Ok(Section::new(counter.description(), counter.print("clk_i", "rst_ni")?)))
            .collect::<Result<_, Diagnostic>>()?;
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
        &self.signals.stream_counter(stream.counter).steps
    }

    /// High in the cycles in which a beat of a stream passes.
    fn passes(&self, stream: &Stream) -> String {
        format!("{} && {}", self.signals.stream_time(self.accelerator).step, self.steps(stream))
    }

    pub(super) fn inputs(&self) -> Vec<Section> {
        let streams = self.accelerator.inputs.iter().enumerate();
        let input = |(number, stream): (usize, &Stream)| {
            let port = &self.signals.streams.inputs[number];
            let words = stream.lanes.iter().map(|lane| self.signals.wires[lane.wire].clone()).collect_vec();
            let listed = broken(concatenation(words.iter().cloned()));
            let width = stream.lanes.len() as u32 * WORD_BITS;
            let pipeline = self.signals.pipelines.get(number);
            let buffer = Instance::new(self.library(STREAM_BUFFER), self.signals.stream_buffers[number].as_str())
                .parameter("Width", width)
                .same(&["clk_i", "rst_ni"])
                .port("in_valid_i", format!("{port}_valid_i"))
                .port("in_ready_o", format!("{port}_ready_o"))
                .port("in_data_i", format!("{port}_data_i"))
                .port("out_valid_o", format!("ready[{number}]"))
                .port("out_ready_i", self.passes(stream))
                .port("out_data_o", pipeline.map_or(listed.as_str(), |(_, beat)| beat));
            let mut body = words.iter().map(|word| format!("    logic [15:0] {word};")).collect_vec();
            body.extend(pipeline.map(|(_, beat)| format!("    logic{} {beat};", range(width))));
            body.push(buffer.print());
            body.extend(pipeline.map(|(name, beat)| {
                // A beat that is not due is not read, so that none has to wait in the registers.
                let pipeline = Instance::new(SHIFT_REGISTER, name.as_str())
                    .parameter("Width", width)
                    .parameter("Length", self.accelerator.stall_latency)
                    .same(&["clk_i"])
                    .port("step_i", "1'b1")
                    .port("in_data_i", beat)
                    .port("out_data_o", &listed);
                pipeline.print()
            }));
            Section::new(format!("Words of the input stream `{}`.", stream.name), body.join("\n"))
        };
        streams.map(input).collect()
    }

    pub(super) fn outputs(&self) -> Vec<Section> {
        let before = self.accelerator.inputs.len();
        let output = |(number, stream): (usize, &Stream)| {
            let port = &self.signals.streams.outputs[number];
            let words = stream.lanes.iter().map(|lane| self.signals.wires[lane.wire].clone());
            let name = self.signals.stream_buffers[before + number].as_str();
            let late = self.accelerator.stall_latency;
            let module = self.library(if late > 0 { SKID_BUFFER } else { STREAM_BUFFER });
            let width = stream.lanes.len() as u32 * WORD_BITS;
            let buffer = Instance::new(module, name).parameter("Width", width);
            let buffer = if late > 0 { buffer.parameter("Latency", late) } else { buffer };
            let (claim, ready) = if late > 0 { ("claim_i", "ready_o") } else { ("in_valid_i", "in_ready_o") };
            let buffer = buffer
                .same(&["clk_i", "rst_ni"])
                .port(claim, self.passes(stream))
                .port(ready, format!("ready[{}]", before + number))
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
