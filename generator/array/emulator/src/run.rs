//! Whole runs: beats in, beats out.

use std::collections::BTreeMap;

use pushmem_bitstream::Configuration;
use pushmem_fabric::Direction;

use crate::emulator::{Emulator, Inputs, StreamInputs, StreamOutputs};
use crate::streams::Beat;

/// The streams that a configuration gives to an array, by column, each with its beats in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStreams {
    /// Streams into the array.
    pub inputs: BTreeMap<u32, u128>,
    /// Streams out of the array.
    pub outputs: BTreeMap<u32, u128>,
}

/// The beats of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Clock cycles from the flush on, until the last beat has left.
    pub cycles: u64,
    /// Those of them in which time stood still.
    pub stalled: u64,
    /// The beats that left, by column.
    pub outputs: BTreeMap<u32, Vec<Beat>>,
}

/// Is given the inputs and the outputs of a cycle.
pub type Observer<'a> = dyn FnMut(&Inputs, &[StreamOutputs]) + 'a;

/// Why a run did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A stream into the array has fewer beats than its schedule.
    Ended {
        /// Its column.
        column: u32,
        /// The beats that it has.
        beats: u64,
        /// The beats that its schedule names.
        due: u128,
    },
    /// The run was longer than wanted.
    TooLong {
        /// The clock cycles that it was given.
        cycles: u64,
    },
}

impl RunStreams {
    /// The streams of a configuration.
    pub fn of(emulator: &Emulator, configuration: &Configuration) -> Self {
        let mut streams = RunStreams::default();
        for (place, tile) in &configuration.tiles {
            let Some(kind) = emulator.graph().kind(*place) else { continue };
            let layout = emulator.graph().layout(kind);
            for direction in Direction::ALL {
                let Some(registers) = tile.stream_registers(emulator.spec(), layout, direction) else { continue };
                let beats = registers.extents.iter().map(|extent| u128::from(*extent) + 1);
                let beats = beats.fold(1, u128::saturating_mul);
                match direction {
                    Direction::In => streams.inputs.insert(place.column, beats),
                    Direction::Out => streams.outputs.insert(place.column, beats),
                };
            }
        }
        streams
    }
}

impl Emulator {
    /// Loads a configuration and runs it once: flushes, offers the beats of `inputs`, by column, and takes those that leave, until all that are due
    /// have left. The host, a source or a sink waits for a cycle where `waits` says so, which is asked for each of them in each cycle.
    /// The run gives up after `limit` clock cycles. `observe` is given the inputs and the outputs of each cycle, from that of the flush on.
    ///
    /// # Errors
    /// When a stream into the array has fewer beats than are due, or the limit is reached.
    pub fn run(
        &mut self,
        configuration: &Configuration,
        inputs: &BTreeMap<u32, Vec<Beat>>,
        limit: u64,
        mut waits: impl FnMut() -> bool,
        observe: &mut Observer,
    ) -> Result<Trace, RunError> {
        let streams = RunStreams::of(self, configuration);
        for (column, due) in &streams.inputs {
            let beats = inputs.get(column).map_or(0, Vec::len) as u64;
            if u128::from(beats) < *due {
                return Err(RunError::Ended { column: *column, beats, due: *due });
            }
        }
        self.load(configuration);
        let flush = Inputs { flush: true, stall: true, ..Inputs::default() };
        observe(&flush, self.outputs());
        self.clock(&flush);
        let mut run = Trace { cycles: 1, stalled: 1, ..Trace::default() };
        let mut left: BTreeMap<u32, _> = streams.inputs.keys().map(|column| (*column, inputs[column].iter())).collect();
        run.outputs = streams.outputs.keys().map(|column| (*column, Vec::new())).collect();
        let mut cycle =
            Inputs { streams: vec![StreamInputs::default(); self.spec().columns as usize], ..Inputs::default() };
        let is_over =
            |run: &Trace| streams.outputs.iter().all(|(column, due)| run.outputs[column].len() as u128 >= *due);
        while !is_over(&run) {
            if run.cycles >= limit {
                return Err(RunError::TooLong { cycles: limit });
            }
            let outputs = self.outputs();
            cycle.stall = waits();
            for (column, beats) in &mut left {
                let place = *column as usize;
                cycle.streams[place].beat = beats.as_slice().first().copied().filter(|_| !waits());
                if outputs[place].ready && cycle.streams[place].beat.is_some() {
                    beats.next();
                }
            }
            for (column, taken) in &mut run.outputs {
                let place = *column as usize;
                cycle.streams[place].ready = !waits();
                taken.extend(outputs[place].beat.filter(|_| cycle.streams[place].ready));
            }
            run.stalled += u64::from(self.is_stalled());
            observe(&cycle, outputs);
            self.clock(&cycle);
            run.cycles += 1;
        }
        Ok(run)
    }
}
