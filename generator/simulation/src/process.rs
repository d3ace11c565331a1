//! A Verilated model at work.

use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use pushmem_files::Diagnostic;
use pushmem_tile::TileSpec;

use crate::frame::{Frame, Layout, Response};

/// A running harness. Its state goes on from batch to batch.
pub struct RtlProcess {
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    layout: Layout,
}

impl RtlProcess {
    /// Starts a built model; `wave` names the file of a model that writes waves.
    ///
    /// # Errors
    /// When the executable cannot be started.
    pub fn start(executable: &Path, spec: &TileSpec, wave: Option<&Path>) -> Result<Self, Diagnostic> {
        let mut command = Command::new(executable);
        command.args(wave).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Diagnostic::new(format!("cannot run `{}`: {error}", executable.display())))?;
        let to = child.stdin.take();
        let from = child.stdout.take().expect("standard output is piped");
        Ok(RtlProcess { child, to, from, layout: Layout::of(spec) })
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
        let to = self.to.as_mut().expect("standard input is open until the end");
        let mut bytes = vec![0; frames.len() * layout.response_bytes()];
        // The process answers while it is being fed: both directions at once, or both pipes fill up.
        let received = std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut to = BufWriter::with_capacity(1 << 16, to);
                let mut record = Vec::new();
                for (number, frame) in frames.iter().enumerate() {
                    record.clear();
                    layout.encode(frame, number + 1 == frames.len(), &mut record);
                    // The reader notices when the process is gone.
                    if to.write_all(&record).is_err() {
                        return;
                    }
                }
                let _ = to.flush();
            });
            self.from.read_exact(&mut bytes)
        });
        match received {
            Ok(()) => Ok(bytes.chunks_exact(layout.response_bytes()).map(|record| layout.decode(record)).collect()),
            Err(_) => Err(self.failure()),
        }
    }

    /// Ends the process, which completes its wave file.
    ///
    /// # Errors
    /// When it ends with a failure: what it printed.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        self.to = None;
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> Diagnostic {
        self.to = None;
        let mut said = String::new();
        let _ = self.from.read_to_string(&mut said);
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        let _ = self.child.wait();
        Diagnostic::new(format!("the RTL simulation stopped:\n{}", said.trim()))
    }
}

impl Drop for RtlProcess {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
