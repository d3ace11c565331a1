//! Runs of the RTL beside the model.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use pushmem_bitstream::Bitstream;
use pushmem_emulator::{Inputs, RunStreams, StreamOutputs};
use pushmem_fabric::ArraySpec;
use pushmem_files::{Code, Diagnostic};
use pushmem_interconnect::answer_latency;
use pushmem_process::Conversation;
use pushmem_simulation::stopped;
use serde::Serialize;

use crate::build::Rtl;
use crate::record::Layout;

/// Cycles that are given to the RTL at a time.
const BATCH: usize = 1 << 12;

/// Cycles of a standstill before the writes of a bitstream, until commands reach the tiles, and after them, until answers have come and
/// streams are at rest.
pub fn around_writes(spec: &ArraySpec) -> (u32, u32) {
    (spec.control_depth + 1, answer_latency(spec) + 2 * spec.stall_latency())
}

/// The RTL of an array at work. A difference ends it; the model may go on.
pub struct Lockstep {
    conversation: Conversation,
    layout: Layout,
    /// Cycles since the flush that the RTL ran, and those that wait, with the answers of the model.
    cycles: u64,
    waiting: usize,
    questions: Vec<u8>,
    expected: Vec<u8>,
    answers: Vec<u8>,
    busy: Duration,
    failure: Option<Diagnostic>,
}

/// A run in which RTL and model showed the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The cycles that were compared, from the flush on.
    pub cycles: u64,
    /// Seconds that the RTL took for them.
    pub seconds: f64,
}

impl Lockstep {
    /// Starts a program of [`crate::build()`], and loads a bitstream, whose streams are `streams`, while time stands still.
    ///
    /// # Errors
    /// When the program cannot be started or ends, or the array refuses a write.
    pub fn start(
        executable: &Path,
        spec: &ArraySpec,
        rtl: Rtl,
        bitstream: &Bitstream,
        streams: &RunStreams,
    ) -> Result<Self, Diagnostic> {
        let mut columns: Vec<u32> = streams.inputs.keys().chain(streams.outputs.keys()).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        let arguments = columns.iter().map(u32::to_string);
        let conversation = Conversation::start(Command::new(executable).args(arguments))?;
        let mut lockstep = Lockstep {
            conversation,
            layout: Layout { columns },
            cycles: 0,
            waiting: 0,
            questions: Vec::new(),
            expected: Vec::new(),
            answers: Vec::new(),
            busy: Duration::ZERO,
            failure: None,
        };
        lockstep.load(spec, rtl, bitstream)?;
        Ok(lockstep)
    }

    fn load(&mut self, spec: &ArraySpec, rtl: Rtl, bitstream: &Bitstream) -> Result<(), Diagnostic> {
        let still = Inputs { stall: true, ..Inputs::default() };
        let (before, after) = around_writes(spec);
        let (before, after) = (before as usize, after as usize);
        let writes = bitstream.writes.iter().map(|write| Some((write.address, write.data)));
        let cycles = std::iter::repeat_n(None, before).chain(writes).chain(std::iter::repeat_n(None, after));
        for write in cycles {
            self.layout.push_cycle(&still, write, &mut self.questions);
            self.waiting += 1;
        }
        let answers = self.ask()?;
        let latency = answer_latency(spec) as usize;
        let refused = answers.chunks_exact(self.layout.answer_bytes()).position(|answer| answer[0] & 1 != 0);
        // A frozen array has no registers but those of memories.
        match refused.and_then(|cycle| bitstream.writes.get(cycle.checked_sub(before + latency)?)) {
            Some(write) if rtl == Rtl::Configured => {
                let message = format!("the RTL refuses the write of {:08x} to {:08x}", write.data, write.address);
                Err(Diagnostic::new(message).or_code(Code::Difference).as_fault("bitstream"))
            }
            _ => Ok(()),
        }
    }

    /// Takes a cycle of the model: the inputs that it had, and its outputs. The first is that of the flush.
    pub fn observe(&mut self, inputs: &Inputs, outputs: &[StreamOutputs]) {
        if self.failure.is_some() {
            return;
        }
        self.layout.push_cycle(inputs, None, &mut self.questions);
        self.layout.push_answer(outputs, &mut self.expected);
        self.waiting += 1;
        if self.waiting == BATCH {
            self.failure = self.compare().err();
        }
    }

    /// Ends the run.
    ///
    /// # Errors
    /// When the RTL showed something else than the model in some cycle, or ended before.
    pub fn finish(mut self) -> Result<Agreement, Diagnostic> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.compare().map(|()| Agreement { cycles: self.cycles, seconds: self.busy.as_secs_f64() }),
        }
    }

    fn compare(&mut self) -> Result<(), Diagnostic> {
        let started = Instant::now();
        let answers = self.ask()?;
        self.busy += started.elapsed();
        let bytes = self.layout.answer_bytes();
        let expected = std::mem::take(&mut self.expected);
        let differs = |(rtl, model): &(&[u8], &[u8])| rtl != model;
        let mut pairs = answers.chunks_exact(bytes).zip(expected.chunks_exact(bytes)).enumerate();
        if let Some((cycle, (rtl, model))) = pairs.find(|(_, pair)| differs(pair)) {
            return Err(self.different(self.cycles + cycle as u64, rtl, model));
        }
        self.cycles += (answers.len() / bytes) as u64;
        self.answers = answers;
        self.expected = expected;
        self.expected.clear();
        Ok(())
    }

    fn different(&self, cycle: u64, rtl: &[u8], model: &[u8]) -> Diagnostic {
        let (column, [rtl, model]) = self.layout.difference(rtl, model);
        let place = column.map_or_else(String::new, |column| format!(" on column {column}"));
        let message = format!("{cycle} cycles after the flush the RTL shows{place}: {rtl}; the model: {model}");
        Diagnostic::new(message).or_code(Code::Difference).as_fault("specification and the bitstream")
    }

    /// The answers to the cycles that wait.
    fn ask(&mut self) -> Result<Vec<u8>, Diagnostic> {
        let mut answers = std::mem::take(&mut self.answers);
        answers.resize(self.waiting * self.layout.answer_bytes(), 0);
        let (count, questions) = (self.waiting as u32, &self.questions);
        let feed = |to: &mut dyn io::Write| to.write_all(&count.to_le_bytes()).and_then(|()| to.write_all(questions));
        if self.conversation.ask(feed, &mut answers).is_err() {
            return Err(stopped(self.conversation.end()).or_code(Code::Tool));
        }
        self.waiting = 0;
        self.questions.clear();
        Ok(answers)
    }
}
