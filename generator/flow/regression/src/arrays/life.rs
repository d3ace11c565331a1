//! The life of an array with a bitstream.

use std::collections::BTreeSet;

use pushmem_bitstream::{Bitstream, Configuration, decode};
use pushmem_configuration::RegisterWrite;
use pushmem_emulator::{Beat, Inputs, StreamInputs};
use pushmem_fabric::{ArraySpec, Place};
use pushmem_resources::{Address, Common, DIGEST, Feature, Graph, START, WHOLE_ARRAY};
use rand::Rng;
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;

use super::bench::{Change, Cycle};

/// Least and most cycles of a run. The next bitstream is loaded in the middle of it.
const RUN_CYCLES: std::ops::Range<usize> = 30..90;

/// How often a flush starts a run over, a stall holds it, and a register is accessed, of all cycles.
const FLUSHES: f64 = 0.02;
const STALLS: f64 = 0.15;
const ACCESSES: f64 = 0.3;

/// How often the array is locked in between, of all bitstreams.
const LOCKS: f64 = 0.3;

/// How often a cycle passes before the next write while others run.
const GAPS: f64 = 0.3;

/// Registers to draw from: the first, which a tile has or not, or any.
const FIRST_REGISTERS: u32 = 5;
const ANY_REGISTER: u32 = 1 << 12;

/// The cycles that load a configuration while time stands still, and start a run.
pub fn loading(spec: &ArraySpec, graph: &Graph, configuration: &Configuration) -> Vec<Cycle> {
    let bitstream = configuration.encode(spec, graph).expect("the configuration is one of the array");
    loading_of(spec, &bitstream, configuration)
}

/// The same with a bitstream that loads the configuration.
fn loading_of(spec: &ArraySpec, bitstream: &Bitstream, configuration: &Configuration) -> Vec<Cycle> {
    let still = still();
    // The tiles must stand still before the first write.
    let mut cycles = vec![still.clone(); spec.control_depth as usize + 1];
    let writes = bitstream.writes.iter();
    cycles.extend(writes.map(|write| Cycle { answer: Some(0), ..access_of(&still, write.address, write.data) }));
    let flush = Inputs { flush: true, ..still.inputs.clone() };
    cycles.push(Cycle { inputs: flush, ..still });
    // The tiles have it from the cycle on in which the flush reaches them.
    cycles.extend(vec![Cycle { is_loading: true, ..Cycle::default() }; spec.control_depth as usize - 1]);
    cycles.push(Cycle { configured: Some(configuration.clone()), ..Cycle::default() });
    cycles
}

/// A cycle in which time stands still, and streams are not compared.
fn still() -> Cycle {
    Cycle { inputs: Inputs { stall: true, ..Inputs::default() }, is_loading: true, ..Cycle::default() }
}

/// A write in a cycle.
fn access_of(cycle: &Cycle, address: u32, data: u32) -> Cycle {
    Cycle { write: true, address, data, ..cycle.clone() }
}

/// Random lives of an array.
pub struct Lives<'a> {
    /// The array.
    pub spec: &'a ArraySpec,
    /// Its routing resources.
    pub graph: &'a Graph,
    /// All that is random in them.
    pub random: &'a mut ChaCha8Rng,
}

impl Lives<'_> {
    /// The cycles in which a configuration is loaded and runs, with random streams, stalls, flushes, and accesses to registers. Often a
    /// wrong digest locks the array in between: then it refuses all writes, and goes on as before.
    pub fn life(&mut self, configuration: &Configuration) -> Vec<Cycle> {
        let bitstream = configuration.encode(self.spec, self.graph).expect("the configuration is one of the array");
        self.life_of(&bitstream, configuration)
    }

    /// The same, but some registers of all tiles of a kind are written before those of the configuration.
    pub fn common_life(&mut self, configuration: &Configuration) -> Vec<Cycle> {
        let Lives { spec, graph, random } = self;
        let mut bitstream = configuration.encode(spec, graph).expect("the configuration is one of the array");
        for _ in 0..random.random_range(1..4) {
            let column = random.random::<bool>().then(|| random.random_range(0..spec.columns));
            let place = spec.places().filter(|place| column.is_none_or(|column| column == place.column)).choose(random);
            let kind = spec.kind(place.expect("columns have tiles")).expect("a place of the array");
            let layout = graph.layout(kind);
            let (feature, register) = layout.registers().choose(random).expect("tiles have registers");
            let fields = layout.fields.iter().filter(|field| (field.feature, field.register) == (feature, register));
            let data =
                fields.map(|field| field.value(random.random::<u32>()) << field.low).fold(0, |all, value| all | value);
            let common = Common { kind, column, feature: feature.number(), register };
            // Behind the digest and the clear. A tile that is written is in use.
            if data != 0 {
                bitstream.writes.insert(2, RegisterWrite { address: common.address().word(), data });
            }
        }
        let configuration = decode(&bitstream, spec, graph).expect("all of these are registers of the array");
        self.life_of(&bitstream, &configuration)
    }

    fn life_of(&mut self, bitstream: &Bitstream, configuration: &Configuration) -> Vec<Cycle> {
        let mut cycles = loading_of(self.spec, bitstream, configuration);
        // Sources and sinks of different speed.
        let rates = self.rates();
        cycles.extend(self.run(configuration, &rates));
        if self.random.random_bool(LOCKS) {
            cycles.extend(self.locked(configuration));
            cycles.extend(self.run(configuration, &rates));
        }
        cycles
    }

    /// Some cycles of a run, in which the sources and sinks of columns are ready so often.
    fn run(&mut self, configuration: &Configuration, rates: &[[f64; 2]]) -> Vec<Cycle> {
        let count = self.random.random_range(RUN_CYCLES);
        let mut cycles = Vec::with_capacity(count);
        for _ in 0..count {
            let inputs = self.inputs(rates);
            let access = if self.random.random_bool(ACCESSES) { self.access(configuration) } else { Cycle::default() };
            cycles.push(Cycle { inputs, ..access });
        }
        cycles
    }

    /// The inputs of a cycle of a run.
    fn inputs(&mut self, rates: &[[f64; 2]]) -> Inputs {
        let mut stream = |[offers, takes]: [f64; 2]| StreamInputs {
            beat: self.random.random_bool(offers).then(|| self.beat()),
            ready: self.random.random_bool(takes),
        };
        let streams = rates.iter().map(|rates| stream(*rates)).collect();
        let (flush, stall) = (self.random.random_bool(FLUSHES), self.random.random_bool(STALLS));
        Inputs { flush, start: false, stall, streams }
    }

    /// The cycles in which the other columns run on while some are cleared, get the tiles of `next`, and start with the next flush, or
    /// alone; and the configuration of the array from then on. Nothing in the other columns takes anything from those.
    pub fn reloading(
        &mut self,
        configuration: &Configuration,
        next: &Configuration,
        columns: &BTreeSet<u32>,
    ) -> (Vec<Cycle>, Configuration) {
        let rates = self.rates();
        let is_loaded = |place: &Place| columns.contains(&place.column);
        let mut now = configuration.clone();
        let mut together = configuration.clone();
        together.tiles.retain(|place, _| !is_loaded(place));
        let loaded = next.tiles.iter().filter(|(place, _)| is_loaded(place));
        together.tiles.extend(loaded.map(|(place, tile)| (*place, tile.clone())));
        let bitstream = together.encode_columns(self.spec, self.graph, columns);
        let bitstream = bitstream.expect("the configuration is one of the array");
        let cycle = |lives: &mut Self| Cycle { is_partial: true, ..lives.cycle(&rates) };
        let mut cycles = Vec::new();
        let mut cleared = Vec::new();
        for write in &bitstream.writes {
            while self.random.random_bool(GAPS) {
                cycles.push(cycle(self));
            }
            if let Some(column) = Address::of(write.address).cleared_column() {
                cleared.push((cycles.len(), column));
            }
            cycles.push(Cycle { answer: Some(0), ..access_of(&cycle(self), write.address, write.data) });
        }
        // All have arrived before the flush.
        let depth = self.spec.control_depth as usize;
        cycles.extend((0..depth + 2).map(|_| cycle(self)));
        cycles.extend(self.starting(&together, cycle));
        for (place, column) in cleared {
            now.tiles.retain(|tile, _| tile.column != column);
            cycles[place + depth + 1].columns = Some(Change::Cleared([column].into(), now.clone()));
        }
        cycles.extend(self.run(&together, &rates));
        (cycles, together)
    }

    /// The cycles in which all columns that hold still start with `together`: with a flush of the array, or alone.
    fn starting(&mut self, together: &Configuration, cycle: impl Fn(&mut Self) -> Cycle) -> Vec<Cycle> {
        let depth = self.spec.control_depth as usize;
        let mut cycles: Vec<Cycle> = (0..depth + 2).map(|_| cycle(self)).collect();
        if self.random.random() {
            cycles[0].inputs.flush = true;
        } else {
            cycles[0] = Cycle { answer: Some(0), ..access_of(&cycles[0], START.word(), self.random.random()) };
            cycles[0].inputs.start = true;
        }
        cycles[depth + 1].columns = Some(Change::Started(together.clone()));
        cycles
    }

    /// The cycles in which some columns are stopped one after the other, and start again where they were loaded, while the others run.
    /// Nothing in the others takes anything from those.
    pub fn stopping(&mut self, configuration: &Configuration, columns: &BTreeSet<u32>) -> Vec<Cycle> {
        let rates = self.rates();
        let mut cycles = self.run(configuration, &rates);
        let depth = self.spec.control_depth as usize;
        let mut others = configuration.clone();
        for column in columns {
            let place = cycles.len();
            let stop = access_of(&self.cycle(&rates), Address::stop_of(*column).word(), self.random.random());
            cycles.push(Cycle { answer: Some(0), ..stop });
            cycles.extend((0..depth + self.random.random_range(1..5)).map(|_| self.cycle(&rates)));
            others.tiles.retain(|tile, _| tile.column != *column);
            cycles[place + depth + 1].columns = Some(Change::Stopped([*column].into(), others.clone()));
        }
        cycles.extend(self.starting(configuration, |lives| lives.cycle(&rates)));
        cycles.extend(self.run(configuration, &rates));
        cycles
    }

    /// A wrong digest, writes that the array refuses, a clear among them, and the right digest, while time stands still.
    fn locked(&mut self, configuration: &Configuration) -> Vec<Cycle> {
        let Lives { spec, graph, random } = self;
        let still = Cycle { is_loading: false, ..still() };
        let wrong = spec.digest_word() ^ (1 << random.random_range(0..u32::BITS));
        let mut cycles = vec![still.clone(); spec.control_depth as usize + 1];
        cycles.push(access_of(&still, DIGEST.word(), wrong));
        let bitstream = configuration.encode(spec, graph).expect("the configuration is one of the array");
        // Those after the digest.
        let refused = bitstream.writes.iter().skip(1).take(random.random_range(1..9));
        cycles.extend(refused.map(|write| access_of(&still, write.address, !write.data)));
        cycles.push(Cycle { answer: Some(0), ..access_of(&still, DIGEST.word(), spec.digest_word()) });
        cycles
    }

    /// How often the source and the sink of each column are ready.
    fn rates(&mut self) -> Vec<[f64; 2]> {
        (0..self.spec.columns).map(|_| [rate(self.random), rate(self.random)]).collect()
    }

    fn beat(&mut self) -> Beat {
        let mask = u32::MAX >> (u32::BITS - self.spec.word_bits());
        Beat { data: self.random.random::<u32>() & mask, bit: self.random.random() }
    }

    /// A cycle of a run without a flush.
    fn cycle(&mut self, rates: &[[f64; 2]]) -> Cycle {
        Cycle { inputs: Inputs { flush: false, ..self.inputs(rates) }, ..Cycle::default() }
    }

    /// A read of some register, or a write to an address that does not exist.
    fn access(&mut self, configuration: &Configuration) -> Cycle {
        let Lives { spec, graph, random } = self;
        if random.random_bool(0.1) {
            return Cycle { read: true, address: DIGEST.word(), answer: Some(spec.digest_word()), ..Cycle::default() };
        }
        if random.random_bool(0.2) {
            return self.common_access();
        }
        let address = Address {
            row: random.random_range(0..=spec.rows + 1),
            column: random.random_range(0..=spec.columns),
            feature: random.random_range(0..5),
            register: match random.random_bool(0.9) {
                true => random.random_range(0..FIRST_REGISTERS),
                false => random.random_range(0..ANY_REGISTER),
            },
        };
        let is_memory_register = |address: Address| {
            let layout = graph.kind(address.place()).map(|kind| graph.layout(kind));
            layout.is_some_and(|layout| layout.is_of_memory(address.feature, address.register))
        };
        // Tests of memory tiles access registers of memories.
        if is_memory_register(address) {
            return Cycle::default();
        }
        let answer = read(graph, configuration, address);
        let write = answer.is_none() && random.random() && !address.is_of_array(spec.columns);
        Cycle { write, read: !write, address: address.word(), data: random.random(), answer, ..Cycle::default() }
    }

    /// A read of a register of all tiles of a kind, or a write to one that no tile has: both are errors.
    fn common_access(&mut self) -> Cycle {
        let Lives { spec, graph, random } = self;
        let column = if random.random() { WHOLE_ARRAY } else { random.random_range(0..=spec.columns) };
        let (feature, register) = (random.random_range(0..16), random.random_range(0..FIRST_REGISTERS));
        let address = Address { row: WHOLE_ARRAY, column, feature, register };
        if address.is_of_array(spec.columns) {
            return Cycle::default();
        }
        let has = |common: Common, place: Place| {
            let kind = graph.kind(place).filter(|kind| common.has(*kind, place));
            kind.is_some_and(|kind| {
                let layout = graph.layout(kind);
                let is_of_memory = layout.is_of_memory(common.feature, common.register);
                let register = |(feature, register): (Feature, u32)| (feature.number(), register);
                is_of_memory || layout.registers().map(register).any(|one| one == (common.feature, common.register))
            })
        };
        let exists = address.common().is_some_and(|common| spec.places().any(|place| has(common, place)));
        let write = !exists && random.random();
        Cycle { write, read: !write, address: address.word(), data: random.random(), ..Cycle::default() }
    }
}

/// How often a source has a beat, or a sink takes one: often always.
fn rate(random: &mut ChaCha8Rng) -> f64 {
    if random.random_bool(0.4) { 1.0 } else { random.random_range(0.2..1.0) }
}

/// The contents of a register, if there is one.
fn read(graph: &Graph, configuration: &Configuration, address: Address) -> Option<u32> {
    let Place { row, column } = address.place();
    let place = Place { row, column };
    let layout = graph.layout(graph.kind(place)?);
    let fields = layout.fields.iter().enumerate();
    let here =
        fields.filter(|(_, field)| (field.feature.number(), field.register) == (address.feature, address.register));
    let tile = configuration.tiles.get(&place);
    let values = here.map(|(index, field)| tile.map_or(0, |tile| tile.fields[index]) << field.low);
    values.reduce(|all, value| all | value)
}
