//! The streams of an IO tile, cycle by cycle as in `stream_in.veryl` and `stream_out.veryl`.

use std::collections::VecDeque;

use pushmem_configuration::ScheduleRegisters;
use pushmem_fabric::ArraySpec;

use crate::route::Slot;
use crate::schedule::Schedule;

/// A word with its bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// The word.
    pub data: u32,
    /// The bit beside it.
    pub bit: bool,
}

/// Flush and stall, as they reach the tiles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    pub flush: bool,
    pub stall: bool,
}

/// Sizes that all streams share.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    buffer: usize,
    latency: u32,
}

impl Sizes {
    fn of(spec: &ArraySpec) -> Self {
        Sizes { buffer: spec.io.buffer as usize, latency: spec.stall_latency() }
    }
}

/// A stream of an IO tile, with what is known of the cycles ahead.
#[derive(Debug)]
pub struct IoStream<Ahead> {
    /// The column of its tile.
    pub column: usize,
    sizes: Sizes,
    schedule: Schedule,
    buffer: VecDeque<Beat>,
    ahead: Ahead,
    /// The outputs of the core of a stream into the array, the inputs of that of one out of it.
    pub data: Slot,
    pub bit: Slot,
}

/// A stream into the array.
pub type StreamIn = IoStream<Decided>;

/// A stream out of the array.
pub type StreamOut = IoStream<()>;

/// The cycles that a stream into the array has decided.
#[derive(Debug, Default)]
pub struct Decided {
    /// Whether they have a beat, the array's current one first.
    due: VecDeque<bool>,
    /// Beats of these cycles.
    taken: usize,
}

impl<Ahead: Default> IoStream<Ahead> {
    pub fn new(spec: &ArraySpec, registers: ScheduleRegisters, column: usize, [data, bit]: [Slot; 2]) -> Self {
        let (sizes, schedule) = (Sizes::of(spec), Schedule::new(registers));
        IoStream { column, sizes, schedule, buffer: VecDeque::new(), ahead: Ahead::default(), data, bit }
    }

    /// The word and the bit that the core shows, or takes.
    pub fn slots(&mut self) -> [&mut Slot; 2] {
        [&mut self.data, &mut self.bit]
    }

    /// Starts the schedule.
    pub fn flush(&mut self) {
        self.ahead = Ahead::default();
        self.schedule.flush();
    }
}

impl StreamIn {
    /// Whether a beat from outside is taken in this cycle.
    pub fn is_ready(&self) -> bool {
        self.buffer.len() < self.sizes.buffer
    }

    /// Whether time must stand still.
    pub fn requests(&self) -> bool {
        self.ahead.due.len() as u32 <= self.sizes.latency
    }

    /// Puts the beat of this cycle into the values.
    pub fn show(&self, values: &mut [u32]) {
        let is_due = self.ahead.due.front().copied().unwrap_or(false);
        let Beat { data, bit } = if is_due { self.buffer[0] } else { Beat::default() };
        values[self.data as usize] = data;
        values[self.bit as usize] = bit.into();
    }

    /// Ends a cycle in which a beat was offered or not.
    pub fn clock(&mut self, control: Control, offered: Option<Beat>) {
        let enters = offered.filter(|_| self.is_ready());
        let is_short = self.schedule.fires() && self.buffer.len() == self.ahead.taken;
        let passes = !control.stall && !self.ahead.due.is_empty();
        let decides = !is_short && (passes || self.ahead.due.len() as u32 != self.sizes.latency + 1);
        if passes && self.ahead.due.pop_front() == Some(true) {
            self.buffer.pop_front();
            self.ahead.taken -= 1;
        }
        if decides {
            let fires = self.schedule.fires();
            self.ahead.due.push_back(fires);
            self.ahead.taken += usize::from(fires);
            self.schedule.advance();
        }
        self.buffer.extend(enters);
        if control.flush {
            self.flush();
        }
    }
}

impl StreamOut {
    /// The beat that is offered to the outside in this cycle.
    pub fn beat(&self) -> Option<Beat> {
        self.buffer.front().copied()
    }

    /// Whether time must stand still.
    pub fn requests(&self) -> bool {
        self.buffer.len() + self.sizes.latency as usize >= self.sizes.buffer
    }

    /// Ends a cycle in which the outside takes a beat or not.
    pub fn clock(&mut self, control: Control, is_taken: bool, values: &[u32]) {
        if is_taken {
            self.buffer.pop_front();
        }
        if !control.stall {
            if self.schedule.fires() {
                self.buffer.push_back(Beat { data: values[self.data as usize], bit: values[self.bit as usize] != 0 });
            }
            self.schedule.advance();
        }
        if control.flush {
            self.flush();
        }
    }
}
