//! The RTL of a memory tile at work.

use std::path::Path;

use pushmem_files::Diagnostic;
use pushmem_tile::TileSpec;

use crate::block::BlockProcess;
use crate::frame::{Frame, Response, TilePorts};

/// A running tile. Its state goes on from batch to batch.
pub struct RtlProcess {
    process: BlockProcess,
    ports: TilePorts,
}

impl RtlProcess {
    /// Starts a built model; `wave` names the file of a model that writes waves.
    ///
    /// # Errors
    /// When the executable cannot be started.
    pub fn start(executable: &Path, spec: &TileSpec, wave: Option<&Path>) -> Result<Self, Diagnostic> {
        let ports = TilePorts::of(spec);
        Ok(RtlProcess { process: BlockProcess::start(executable, ports.block(), wave)?, ports })
    }

    /// Runs a batch of cycles.
    ///
    /// # Errors
    /// As [`BlockProcess::run`].
    pub fn run(&mut self, frames: &[Frame]) -> Result<Vec<Response>, Diagnostic> {
        let RtlProcess { process, ports } = self;
        let drive = |cycle: usize, values: &mut Vec<u64>| {
            ports.drive(&frames[cycle], values);
            frames[cycle].assertions
        };
        let mut responses = Vec::with_capacity(frames.len());
        process.run(frames.len(), drive, |values| responses.push(ports.sample(values)))?;
        Ok(responses)
    }

    /// Ends the process, which completes its wave file.
    ///
    /// # Errors
    /// As [`BlockProcess::finish`].
    pub fn finish(self) -> Result<(), Diagnostic> {
        self.process.finish()
    }
}
