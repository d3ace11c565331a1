//! Programs that answer while they are being fed.

use std::io::{self, BufWriter, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use pushmem_files::Diagnostic;

use crate::run::{Finished, cannot_run};

/// A running program, which is killed when this is dropped.
pub struct Conversation {
    name: String,
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    errors: Option<JoinHandle<Vec<u8>>>,
}

impl Conversation {
    /// Starts a program.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn start(command: &mut Command) -> Result<Self, Diagnostic> {
        let name = format!("`{}`", command.get_program().display());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| cannot_run(&name, &error))?;
        let to = child.stdin.take();
        let from = child.stdout.take().expect("standard output is piped");
        let errors = child.stderr.take().expect("standard error is piped");
        Ok(Conversation { name, child, to, from, errors: Some(thread::spawn(|| read_all(errors))) })
    }

    /// Feeds it what `question` writes, while the answer comes: as many bytes as `answer` has.
    ///
    /// # Errors
    /// When it ends before it has answered; [`Conversation::end`] tells why.
    pub fn ask(
        &mut self,
        question: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
        answer: &mut [u8],
    ) -> io::Result<()> {
        let to = self.to.as_mut().expect("standard input is open until the end");
        // Both directions at once, or both pipes fill up.
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut to = BufWriter::with_capacity(1 << 16, to);
                // The reader notices when the program is gone.
                question(&mut to).and_then(|()| to.flush()).is_ok()
            });
            self.from.read_exact(answer)
        })
    }

    /// Ends it by the end of its input, and waits.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn end(&mut self) -> io::Result<Finished> {
        self.to = None;
        let mut stdout = Vec::new();
        self.from.read_to_end(&mut stdout)?;
        let stderr = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        Ok(Finished::new(self.name.clone(), self.child.wait()?, stdout, stderr))
    }
}

/// All that comes before the first error.
fn read_all(mut from: ChildStderr) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = from.read_to_end(&mut text);
    text
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
