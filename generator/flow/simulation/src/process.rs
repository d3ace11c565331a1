//! A Verilated model at work.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use pushmem_files::Diagnostic;
use pushmem_process::{Conversation, Finished};
use pushmem_tile::TileSpec;

use crate::frame::{Frame, Layout, Response};

/// A running harness. Its state goes on from batch to batch.
pub struct RtlProcess {
    conversation: Conversation,
    layout: Layout,
}

impl RtlProcess {
    /// Starts a built model; `wave` names the file of a model that writes waves.
    ///
    /// # Errors
    /// When the executable cannot be started.
    pub fn start(executable: &Path, spec: &TileSpec, wave: Option<&Path>) -> Result<Self, Diagnostic> {
        let conversation = Conversation::start(Command::new(executable).args(wave))?;
        Ok(RtlProcess { conversation, layout: Layout::of(spec) })
    }

    /// Runs a batch of cycles.
    ///
    /// # Errors
    /// When the process ends before it has answered, as it does when an assertion fails: what it printed.
    pub fn run(&mut self, frames: &[Frame]) -> Result<Vec<Response>, Diagnostic> {
        if frames.is_empty() {
            return Ok(Vec::new());
        }
        let layout = self.layout;
        let mut bytes = vec![0; frames.len() * layout.response_bytes()];
        let feed = |to: &mut dyn Write| {
            let mut record = Vec::new();
            frames.iter().enumerate().try_for_each(|(number, frame)| {
                record.clear();
                layout.encode(frame, number + 1 == frames.len(), &mut record);
                to.write_all(&record)
            })
        };
        match self.conversation.ask(feed, &mut bytes) {
            Ok(()) => Ok(bytes.chunks_exact(layout.response_bytes()).map(|record| layout.decode(record)).collect()),
            Err(_) => Err(stopped(self.conversation.end())),
        }
    }

    /// Ends the process, which completes its wave file.
    ///
    /// # Errors
    /// When it ends with a failure: what it printed.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        match self.conversation.end() {
            Ok(end) if end.status.success() => Ok(()),
            end => Err(stopped(end)),
        }
    }
}

/// The error that the process ended too early, or badly.
fn stopped(end: io::Result<Finished>) -> Diagnostic {
    match end {
        Ok(end) => Diagnostic::new(format!("the RTL simulation stopped ({}):\n{}", end.status, end.log().trim())),
        Err(error) => Diagnostic::new(format!("the RTL simulation stopped: {error}")),
    }
}
