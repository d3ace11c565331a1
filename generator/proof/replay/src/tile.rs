//! Simulation of a tile on tokens, event by event.
//!
//! This is the cycle model, restricted to cycles in which a controller fires, and with tokens for words. Within a cycle
//! all reads see the memories as they were before its writes.

use std::collections::VecDeque;

use pushmem_affine::Affine;
use pushmem_buffers::{MappedTile, Source};
use pushmem_configuration::Configuration;
use pushmem_tile::{AddressGenerator, Controller, Kind, Memory as Place, Role, TileSpec};

use crate::chained::Folded;
use crate::error::ErrorKind;
use crate::memory::{CHAINED, Token, TracedMemory, UNDEFINED, later};
use crate::walker::{Advance, Mark, NEVER, Walker};

/// Words in the widest row.
const MAX_LANES: usize = 8;

/// A row, or a word in lane 0, on its way beside the SRAM.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    cycle: u64,
    port: usize,
    /// Row of the transpose buffer.
    row: usize,
    tokens: [Token; MAX_LANES],
}

/// How addresses of the main memory become rows of this tile.
#[derive(Clone, Copy, Debug)]
struct Ownership {
    rows: i64,
    /// The tile's number in its chain, if it is chained.
    tile: Option<i64>,
}

impl Ownership {
    /// The row, if this tile has it.
    fn row(self, address: i64) -> Option<usize> {
        let owned = self.tile.is_none_or(|tile| address / self.rows == tile);
        owned.then_some((address % self.rows) as usize)
    }
}

enum Datapath {
    Wide { width: usize, aggregators: Vec<TracedMemory>, sram: TracedMemory, transpose_buffers: Vec<TracedMemory> },
    Direct { kind: Kind, memory: TracedMemory },
}

/// A fault, and the controller that causes it. In a folded chain it may be none: two accesses in a cycle, of different tiles.
pub(crate) type Faulty = (usize, ErrorKind);

pub(crate) struct ReplayedTile {
    /// Names of the controllers, in the order of the walkers.
    names: Vec<String>,
    pub walkers: Vec<Walker>,
    inputs: usize,
    outputs: usize,
    latency: u64,
    ownership: Ownership,
    datapath: Datapath,
    arrivals: VecDeque<Arrival>,
    /// By output, the last cycle with a word, and the word.
    shown: Vec<(u64, Token)>,
    pub chain_from: Option<usize>,
    pub sources: Vec<Option<Source>>,
}

/// State of a tile at the beginning of a period.
pub(crate) struct TileMark {
    pub walkers: Vec<Mark>,
    arrivals: VecDeque<Arrival>,
}

/// How a tile moves in a period: how its controllers do, and how many words addresses move in each memory.
pub(crate) struct TileAdvance {
    pub walkers: Vec<Advance>,
    moved: Vec<usize>,
}

impl ReplayedTile {
    /// A tile in its first cycle; or a whole chain, of which `mapped` is the last tile.
    pub fn new(spec: &TileSpec, mapped: &MappedTile, folded: Option<&Folded>) -> ReplayedTile {
        let configuration = &mapped.configuration;
        let (names, walkers) = spec
            .controllers()
            .into_iter()
            // Neither moves words of a buffer; walkers are counted from the last roles.
            .filter(|controller| !matches!(controller.role, Role::StencilValid | Role::Rom2Out))
            .map(|controller| {
                let space = |address: &AddressGenerator| match folded {
                    Some(folded) if address.memory == spec.main_memory() => u64::from(folded.rows),
                    _ => address.modulus,
                };
                let walker = walker(configuration, &controller, space);
                (controller.name, walker)
            })
            .unzip();
        let memory = |words: u32| TracedMemory::new(words as usize, false);
        let rows = folded.map_or(spec.rows, |folded| folded.rows);
        let datapath = match spec.kind {
            Kind::WideFetch { fetch_width, agg_words, tb_words } => Datapath::Wide {
                width: fetch_width as usize,
                aggregators: (0..spec.inputs).map(|_| TracedMemory::new(agg_words as usize, true)).collect(),
                sram: memory(rows * fetch_width),
                transpose_buffers: (0..spec.outputs).map(|_| memory(tb_words)).collect(),
            },
            kind => Datapath::Direct { kind, memory: memory(rows) },
        };
        ReplayedTile {
            names,
            walkers,
            inputs: spec.inputs as usize,
            outputs: spec.outputs as usize,
            latency: u64::from(spec.sram_latency),
            ownership: Ownership {
                rows: i64::from(rows),
                tile: (configuration.chain.enable && folded.is_none())
                    .then_some(i64::from(configuration.chain.tile_id)),
            },
            datapath,
            arrivals: VecDeque::new(),
            shown: vec![(NEVER, UNDEFINED); spec.outputs as usize],
            chain_from: mapped.chain_from.filter(|_| folded.is_none()),
            sources: mapped.inputs.clone(),
        }
    }

    /// Name of a controller.
    pub fn name(&self, controller: usize) -> &str {
        &self.names[controller]
    }

    /// The controller that gives the words of an output.
    pub fn output_controller(&self, output: usize) -> usize {
        self.walkers.len() - self.outputs + output
    }

    /// The last cycle in which a controller fires, or a word arrives that it sent, if one ever does.
    pub fn last_event(&self) -> Option<u64> {
        // The controllers that read the SRAM: those before the last, or the last.
        let readers = match self.datapath {
            Datapath::Wide { .. } => 2 * self.inputs..2 * self.inputs + self.outputs,
            Datapath::Direct { .. } => self.inputs..self.inputs + self.outputs,
        };
        let fires = self.walkers.iter().enumerate().filter(|(_, walker)| walker.total > 0);
        let last =
            |(number, walker): (usize, &Walker)| walker.last + if readers.contains(&number) { self.latency } else { 0 };
        fires.map(last).max()
    }

    /// The cycle of the next event.
    pub fn next(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(NEVER, |arrival| arrival.cycle);
        self.walkers.iter().fold(arrival, |next, walker| next.min(walker.next))
    }

    /// The word that an output shows in a cycle, once [`ReplayedTile::show`] is done.
    pub fn shown(&self, output: usize, cycle: u64) -> Option<Token> {
        let (when, token) = self.shown[output];
        (when == cycle).then_some(token)
    }

    /// Lets the outputs show the words of this cycle; `chained` are the words on the chain inputs.
    pub fn show(&mut self, cycle: u64, chained: impl Fn(usize) -> Token) {
        let first = self.walkers.len() - self.outputs;
        match &mut self.datapath {
            Datapath::Wide { transpose_buffers, .. } => {
                for (output, buffer) in transpose_buffers.iter_mut().enumerate() {
                    let walker = &self.walkers[first + output];
                    if walker.next == cycle {
                        let token = buffer.read(walker.value(0) as usize);
                        self.shown[output] = (cycle, if token == CHAINED { chained(output) } else { token });
                    }
                }
            }
            Datapath::Direct { memory, .. } => {
                for output in 0..self.outputs {
                    let walker = &self.walkers[first + output];
                    if walker.next == cycle {
                        let token = self.ownership.row(walker.value(0)).map_or(CHAINED, |row| memory.read(row));
                        let cycle = cycle + self.latency;
                        self.arrivals.push_back(Arrival { cycle, port: output, row: 0, tokens: [token; MAX_LANES] });
                    }
                }
                while let Some(arrival) = self.arrivals.front().filter(|arrival| arrival.cycle == cycle) {
                    let token = arrival.tokens[0];
                    self.shown[arrival.port] = (cycle, if token == CHAINED { chained(arrival.port) } else { token });
                    self.arrivals.pop_front();
                }
            }
        }
    }

    /// Ends a cycle; `wires` are the words on the inputs.
    pub fn clock(&mut self, cycle: u64, wires: impl Fn(usize) -> Token) -> Result<(), Faulty> {
        match self.datapath {
            Datapath::Wide { .. } => self.clock_wide(cycle, wires)?,
            Datapath::Direct { .. } => self.clock_direct(cycle, wires)?,
        }
        for walker in &mut self.walkers {
            if walker.next == cycle {
                walker.fire();
            }
        }
        Ok(())
    }

    fn clock_wide(&mut self, cycle: u64, wires: impl Fn(usize) -> Token) -> Result<(), Faulty> {
        let Datapath::Wide { width, aggregators, sram, transpose_buffers } = &mut self.datapath else {
            unreachable!("called for wide tiles")
        };
        let width = *width;
        let conflict = |controller: usize, busy: &mut bool| {
            let fault = ErrorKind::PortConflict { memory: Place::Sram.name() };
            if std::mem::replace(busy, true) { Err((controller, fault)) } else { Ok(()) }
        };
        let mut busy = false;
        let mut write = None;
        for (port, aggregator) in aggregators.iter_mut().enumerate() {
            let controller = self.inputs + port;
            let walker = &self.walkers[controller];
            if walker.next == cycle {
                let first = walker.value(0) as usize * width;
                let mut tokens = [UNDEFINED; MAX_LANES];
                for (lane, token) in tokens[..width].iter_mut().enumerate() {
                    *token = aggregator.read(first + lane);
                }
                if let Some(row) = self.ownership.row(walker.value(1)) {
                    conflict(controller, &mut busy)?;
                    write = Some((row, tokens));
                }
            }
        }
        for port in 0..self.outputs {
            let controller = 2 * self.inputs + port;
            let walker = &self.walkers[controller];
            if walker.next == cycle {
                let mut tokens = [CHAINED; MAX_LANES];
                if let Some(row) = self.ownership.row(walker.value(0)) {
                    conflict(controller, &mut busy)?;
                    for (lane, token) in tokens[..width].iter_mut().enumerate() {
                        *token = sram.read(row * width + lane);
                    }
                }
                let row = walker.value(1) as usize;
                self.arrivals.push_back(Arrival { cycle: cycle + self.latency, port, row, tokens });
            }
        }
        while let Some(arrival) = self.arrivals.front().filter(|arrival| arrival.cycle == cycle) {
            for (lane, &token) in arrival.tokens[..width].iter().enumerate() {
                transpose_buffers[arrival.port].write(arrival.row * width + lane, token);
            }
            self.arrivals.pop_front();
        }
        if let Some((row, tokens)) = write {
            for (lane, &token) in tokens[..width].iter().enumerate() {
                sram.write(row * width + lane, token);
            }
        }
        for (port, aggregator) in aggregators.iter_mut().enumerate() {
            let walker = &self.walkers[port];
            if walker.next == cycle {
                let address = walker.value(0);
                if aggregator.write(address as usize, wires(port)) {
                    return Err((port, ErrorKind::Overrun { address: address as u64 }));
                }
            }
        }
        Ok(())
    }

    fn clock_direct(&mut self, cycle: u64, wires: impl Fn(usize) -> Token) -> Result<(), Faulty> {
        let Datapath::Direct { kind, memory } = &mut self.datapath else { unreachable!("called for direct tiles") };
        let place = if matches!(kind, Kind::RegisterFile) { Place::RegisterFile } else { Place::Sram };
        for (first, count) in [(0, self.inputs), (self.inputs, self.outputs)] {
            let mut busy = 0_u32;
            for port in 0..count {
                let walker = &self.walkers[first + port];
                if walker.next == cycle && self.ownership.row(walker.value(0)).is_some() {
                    let bit = 1 << kind.memory_port(port as u32);
                    if busy & bit != 0 {
                        return Err((first + port, ErrorKind::PortConflict { memory: place.name() }));
                    }
                    busy |= bit;
                }
            }
        }
        for port in 0..self.inputs {
            let walker = &self.walkers[port];
            if walker.next == cycle
                && let Some(row) = self.ownership.row(walker.value(0))
            {
                memory.write(row, wires(port));
            }
        }
        Ok(())
    }

    /// Remembers the state, and begins to record anew.
    pub fn mark(&mut self) -> TileMark {
        for memory in self.datapath.memories_mut() {
            memory.mark();
        }
        TileMark { walkers: self.walkers.iter().map(Walker::mark).collect(), arrivals: self.arrivals.clone() }
    }

    /// How controllers and addresses moved since a mark set `period` cycles ago; nothing when they will not do the same
    /// again.
    pub fn advance_since(&self, mark: &TileMark, period: u64) -> Option<TileAdvance> {
        let walkers: Vec<Advance> = self
            .walkers
            .iter()
            .zip(&mark.walkers)
            .map(|(walker, mark)| walker.advance_since(mark, period))
            .collect::<Option<_>>()?;
        let mut moved: Vec<Option<usize>> = vec![None; self.datapath.memories().len()];
        for (number, (walker, mark)) in self.walkers.iter().zip(&mark.walkers).enumerate() {
            if walkers[number] == Advance::Rests {
                continue;
            }
            for (function, memory, unit) in self.uses(number) {
                let words = self.datapath.memories()[memory].words();
                let by = walker.moved(mark, function);
                let main = Some(memory) == self.datapath.main();
                // Tiles of a chain own rows by address, so that there only whole turns leave everything as it was.
                if main && self.ownership.tile.is_some() && by != 0 {
                    return None;
                }
                let by = (by as usize).checked_mul(unit)? % words;
                if *moved[memory].get_or_insert(by) != by {
                    return None;
                }
            }
        }
        let moved = moved.into_iter().map(|moved| moved.unwrap_or(0)).collect();
        Some(TileAdvance { walkers, moved })
    }

    /// Whether a period has words from outside that the tile keeps.
    pub fn takes_words(&self, advance: &TileAdvance) -> bool {
        advance.walkers[..self.inputs].iter().any(|walker| *walker != Advance::Rests)
    }

    /// The number of further periods, at most `limit`, in which the controllers find the same again, `age` later by
    /// tokens.
    pub fn repetitions(&self, mark: &TileMark, advance: &TileAdvance, period: u64, age: u64, limit: u64) -> u64 {
        let same_arrivals = self.arrivals.len() == mark.arrivals.len()
            && self.arrivals.iter().zip(&mark.arrivals).all(|(arrival, before)| {
                let row = self.datapath.arrival_row(arrival.port, before.row, &advance.moved);
                arrival.cycle == before.cycle + period
                    && arrival.port == before.port
                    && arrival.row == row
                    && arrival.tokens.iter().zip(&before.tokens).all(|(&token, &before)| token == later(before, age))
            });
        if !same_arrivals {
            return 0;
        }
        let memories = self.datapath.memories();
        memories.iter().zip(&advance.moved).fold(limit, |limit, (memory, &moved)| memory.repetitions(moved, age, limit))
    }

    /// The functions of a controller, the memories they address, and the words between two addresses.
    fn uses(&self, controller: usize) -> Vec<(usize, usize, usize)> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        match &self.datapath {
            Datapath::Direct { .. } => vec![(0, 0, 1)],
            Datapath::Wide { width, .. } => {
                let sram = inputs;
                let transpose_buffer = inputs + 1;
                if controller < inputs {
                    vec![(0, controller, 1)]
                } else if controller < 2 * inputs {
                    vec![(0, controller - inputs, *width), (1, sram, *width)]
                } else if controller < 2 * inputs + outputs {
                    vec![(0, sram, *width), (1, transpose_buffer + controller - 2 * inputs, *width)]
                } else {
                    vec![(0, transpose_buffer + controller - 2 * inputs - outputs, 1)]
                }
            }
        }
    }

    /// Moves on by whole periods.
    pub fn skip(&mut self, mark: &TileMark, advance: &TileAdvance, period: u64, age: u64, periods: u64) {
        let rows: Vec<usize> = self
            .arrivals
            .iter()
            .map(|arrival| {
                let moved: Vec<usize> = advance
                    .moved
                    .iter()
                    .zip(self.datapath.memories())
                    .map(|(&moved, memory)| (moved as u128 * u128::from(periods) % memory.words() as u128) as usize)
                    .collect();
                self.datapath.arrival_row(arrival.port, arrival.row, &moved)
            })
            .collect();
        for (arrival, row) in self.arrivals.iter_mut().zip(rows) {
            arrival.row = row;
            arrival.cycle += period * periods;
            for token in &mut arrival.tokens {
                *token = later(*token, age * periods);
            }
        }
        for ((walker, mark), advance) in self.walkers.iter_mut().zip(&mark.walkers).zip(&advance.walkers) {
            walker.skip(mark, advance, period, periods);
        }
        for (memory, &moved) in self.datapath.memories_mut().into_iter().zip(&advance.moved) {
            memory.skip(moved, age, periods);
        }
    }
}

impl Datapath {
    /// Aggregators, SRAM, transpose buffers; or the only memory.
    fn memories(&self) -> Vec<&TracedMemory> {
        match self {
            Datapath::Wide { aggregators, sram, transpose_buffers, .. } => {
                aggregators.iter().chain([sram]).chain(transpose_buffers).collect()
            }
            Datapath::Direct { memory, .. } => vec![memory],
        }
    }

    fn memories_mut(&mut self) -> Vec<&mut TracedMemory> {
        match self {
            Datapath::Wide { aggregators, sram, transpose_buffers, .. } => {
                aggregators.iter_mut().chain([sram]).chain(transpose_buffers).collect()
            }
            Datapath::Direct { memory, .. } => vec![memory],
        }
    }

    /// Number of the main memory.
    fn main(&self) -> Option<usize> {
        match self {
            Datapath::Wide { aggregators, .. } => Some(aggregators.len()),
            Datapath::Direct { .. } => Some(0),
        }
    }

    /// The row of the transpose buffer of `port` that is `moved` words further on.
    fn arrival_row(&self, port: usize, row: usize, moved: &[usize]) -> usize {
        match self {
            Datapath::Wide { width, aggregators, transpose_buffers, .. } => {
                let rows = transpose_buffers[port].words() / width;
                (row + moved[aggregators.len() + 1 + port] / width) % rows
            }
            Datapath::Direct { .. } => row,
        }
    }
}

fn walker(configuration: &Configuration, controller: &Controller, space: impl Fn(&AddressGenerator) -> u64) -> Walker {
    let Some(configured) = configuration.controllers.get(&controller.name) else { return Walker::idle() };
    let nowhere = Affine::default();
    let functions: Vec<_> = controller
        .addresses
        .iter()
        .map(|address| (configured.address(address.memory).unwrap_or(&nowhere), Some(space(address) as i64)))
        .collect();
    Walker::new(&configured.extent, &configured.cycle, &functions)
}
