//! The replay.
//!
//! # Why skipping is exact
//!
//! Between two marked moments lies a period. The run from the second moment on is the run from the first moment on,
//! later by the period, for as long as these hold:
//!
//! - every walker (controller or port) that fires has come to the same place in all its inner loops and has moved on by
//!   some steps in one loop, which has room for as many steps again; walkers that do not fire in the period stay silent;
//! - all addresses in a memory have moved by the same number of words, so that the memory may as well have been turned;
//! - every word that was read in the period before it was written there is, in its new place, the same word, later: a
//!   token as much younger as the period is long; and so in each place that follows, until one that the period wrote,
//!   after which the writes of the periods provide the words. What was read after it was written in the period follows.
//!   Words that were not read do not matter, however old they are. The same goes for whether a word of an aggregator that
//!   was overwritten had been moved on, and rows on their way to transpose buffers follow each other in the same way;
//! - what a read port expects moves on with time: the write of the element is some steps of one of its loops later, and
//!   that loop has room for them.
//!
//! By induction over the periods each then reads the same words as the one before, later, and so writes the same words,
//! later: a place that a period needs was last written either before the second moment, and then was looked at, or by the
//! repetition of a write that was looked at. All checks of a skipped period come out as in the first. Memories after the
//! skip are those that the skipped writes leave, word for word, so that the rest of the run reads nothing else than it
//! would have.

use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_mapping::{MappedBuffer, Source};
use pushmem_tile::{Kind, TileSpec};

use crate::error::{Fault, ReadIteration, ReplayError, Word};
use crate::expectation::{Expectation, Numbering};
use crate::fold::{Folded, folded};
use crate::memory::{CHAINED, Token, UNDEFINED};
use crate::report::ReplayReport;
use crate::tile::{Tile, TileAdvance, TileMark};
use crate::walker::{Advance, Mark, NEVER, Walker};

/// A skip must save this part of the rest of the run: a shorter period may otherwise hide a longer one that saves more.
const WORTHWHILE: u64 = 4;

/// After so many cycles without a skip, one that saves as many is welcome.
const PATIENCE: u64 = 1 << 16;

/// Simulates mapped tiles from their configurations and checks that every read port shows, in each of its cycles and in
/// no other, the element it reads as last written before.
///
/// # Errors
/// The first fault in time.
pub fn replay(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<ReplayReport, ReplayError> {
    run(buffer, mapped, spec, true)
}

/// The same as [`replay`], cycle by cycle to the end.
///
/// # Errors
/// As [`replay`].
pub fn replay_all(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<ReplayReport, ReplayError> {
    run(buffer, mapped, spec, false)
}

fn run(
    buffer: &UnifiedBuffer,
    mapped: &MappedBuffer,
    spec: &TileSpec,
    may_skip: bool,
) -> Result<ReplayReport, ReplayError> {
    let malformed =
        |reason| ReplayError { cycle: 0, tile: None, controller: None, read: None, fault: Fault::Malformed(reason) };
    check(buffer, mapped, spec).map_err(malformed)?;
    let folded = folded(mapped, spec);
    if may_skip && folded.iter().any(Option::is_some) {
        // A fault of a folded chain may be none of its tiles, and has no tile to name.
        if let Ok(report) = Simulation::new(buffer, mapped, spec, &folded).map_err(malformed)?.run(true) {
            return Ok(report);
        }
    }
    let apart = vec![None; mapped.tiles.len()];
    Simulation::new(buffer, mapped, spec, &apart).map_err(malformed)?.run(may_skip)
}

/// Whether the parts fit each other.
fn check(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<(), String> {
    buffer.check().map_err(|error| error.to_string())?;
    if spec.kind == Kind::Rom {
        return Err("a rom holds no buffer".to_owned());
    }
    let digest = spec.digest();
    for (number, tile) in mapped.tiles.iter().enumerate() {
        // The digest takes longer than all other checks: once is enough.
        let mut configuration = tile.configuration.clone();
        configuration.spec_digest.take_if(|made_for| *made_for == digest);
        configuration.check(spec).map_err(|finding| format!("tile {number}: {}: {}", finding.path, finding.message))?;
        if tile.inputs.len() != spec.inputs as usize || tile.outputs.len() != spec.outputs as usize {
            return Err(format!("tile {number} has other ports than a {} tile", spec.name));
        }
        if tile.chain_from.is_some_and(|from| from >= number) {
            return Err(format!("tile {number} is chained to a tile that does not come before it"));
        }
        for source in tile.inputs.iter().flatten() {
            let exists = match *source {
                Source::Port(port) => buffer.ports.get(port).is_some_and(|port| port.direction == Direction::Write),
                Source::Output { tile, output } => tile < number && output < spec.outputs as usize,
            };
            if !exists {
                return Err(format!("tile {number} takes words from where there are none: {source:?}"));
            }
        }
    }
    Ok(())
}

/// A read port, and the output that serves it.
struct Reader {
    port: Port,
    walker: Walker,
    tile: usize,
    output: usize,
}

struct Simulation {
    tiles: Vec<Tile>,
    readers: Vec<Reader>,
    expectation: Expectation,
    /// Number among the write ports, by number among all ports.
    writer_of_port: Vec<usize>,
    writer_names: Vec<String>,
    /// Cycle after the last event.
    end: u64,
}

impl Simulation {
    fn new(
        buffer: &UnifiedBuffer,
        mapped: &MappedBuffer,
        spec: &TileSpec,
        folded: &[Option<Folded>],
    ) -> Result<Simulation, String> {
        // Where each tile is simulated; of a folded chain the last tile is.
        let mut place = Vec::new();
        let mut tiles: Vec<Tile> = Vec::new();
        for folded in folded {
            let count = folded.as_ref().map_or(1, |folded| folded.tiles.len());
            place.extend(std::iter::repeat_n(tiles.len(), count));
            let mut tile = Tile::new(spec, &mapped.tiles[place.len() - 1], folded.as_ref());
            tile.chain_from = tile.chain_from.map(|from| place[from]);
            for source in tile.sources.iter_mut().flatten() {
                if let Source::Output { tile, .. } = source {
                    *tile = place[*tile];
                }
            }
            tiles.push(tile);
        }
        let numbering = Numbering::of(buffer).ok_or("the buffer has too many elements to number")?;
        let ordered = |port: &Port| port.in_time_order().ok_or("a port has no order in time");
        let writes = buffer.writes().map(|(_, port)| ordered(port)).collect::<Result<Vec<_>, _>>()?;
        let mut writer_of_port = vec![usize::MAX; buffer.ports.len()];
        for (writer, (number, _)) in buffer.writes().enumerate() {
            writer_of_port[number] = writer;
        }
        let mut readers = Vec::new();
        for (number, port) in buffer.reads() {
            let mut serving = mapped.tiles.iter().enumerate().flat_map(|(tile, mapped)| {
                let outputs = mapped.outputs.iter().enumerate();
                outputs.filter(|(_, served)| **served == Some(number)).map(move |(output, _)| (tile, output))
            });
            let (Some((tile, output)), None) = (serving.next(), serving.next()) else {
                return Err(format!("not exactly one output serves the read port {}", port.name));
            };
            let port = ordered(port)?;
            let element = numbering.function(&port);
            let walker = Walker::new(&port.extents(), &port.schedule, &[(&element, None)]);
            readers.push(Reader { port, walker, tile: place[tile], output });
        }
        let walkers = tiles.iter().flat_map(|tile| tile.walkers()).chain(readers.iter().map(|reader| &reader.walker));
        let end = walkers.filter(|walker| walker.total > 0).map(|walker| walker.last + 1).max().unwrap_or(0);
        Ok(Simulation {
            expectation: Expectation::new(&numbering, &writes, readers.len()),
            tiles,
            readers,
            writer_of_port,
            writer_names: writes.into_iter().map(|port| port.name).collect(),
            end,
        })
    }

    fn run(mut self, may_skip: bool) -> Result<ReplayReport, ReplayError> {
        let mut report = ReplayReport {
            cycles_total: self.end,
            cycles_simulated: self.end,
            words: self.readers.iter().map(|reader| reader.walker.total).sum(),
            skips: 0,
        };
        let mut search = Search::new(may_skip && self.expectation.can_repeat());
        loop {
            let now = self.next();
            if now == NEVER {
                return Ok(report);
            }
            if let Some(skipped) = search.visit(&mut self, now) {
                report.cycles_simulated -= skipped;
                report.skips += 1;
                continue;
            }
            self.cycle(now)?;
        }
    }

    fn next(&self) -> u64 {
        let next = self.readers.iter().map(|reader| reader.walker.next).fold(NEVER, u64::min);
        self.tiles.iter().fold(next, |next, tile| next.min(tile.next()))
    }

    fn cycle(&mut self, now: u64) -> Result<(), ReplayError> {
        for number in 0..self.tiles.len() {
            let (before, rest) = self.tiles.split_at_mut(number);
            let tile = &mut rest[0];
            let chain = tile.chain_from.map(|from| &before[from]);
            tile.show(now, |output| chain.and_then(|from| from.shown(output, now)).unwrap_or(UNDEFINED));
        }
        for reader in 0..self.readers.len() {
            self.check(reader, now)?;
        }
        for number in 0..self.tiles.len() {
            let (before, rest) = self.tiles.split_at_mut(number);
            let tile = &mut rest[0];
            let sources = std::mem::take(&mut tile.sources);
            let wire = |port: usize| match sources[port] {
                Some(Source::Port(port)) => self.expectation.token(self.writer_of_port[port], now),
                Some(Source::Output { tile, output }) => before[tile].shown(output, now).unwrap_or(UNDEFINED),
                None => UNDEFINED,
            };
            let clocked = tile.clock(now, wire);
            tile.sources = sources;
            clocked.map_err(|(controller, fault)| ReplayError {
                cycle: now,
                tile: Some(number),
                controller: Some(self.tiles[number].name(controller).to_owned()),
                read: None,
                fault,
            })?;
        }
        Ok(())
    }

    /// Checks what a read port shows in this cycle.
    fn check(&mut self, number: usize, now: u64) -> Result<(), ReplayError> {
        let reader = &mut self.readers[number];
        let shown = self.tiles[reader.tile].shown(reader.output, now);
        if reader.walker.next != now {
            return match shown {
                None => Ok(()),
                Some(_) => Err(self.fault(number, now, Fault::UnexpectedWord)),
            };
        }
        let expected = self.expectation.expected(number, reader.walker.value(0), now);
        if expected == UNDEFINED {
            return Err(self.fault(number, now, Fault::NeverWritten));
        }
        match shown {
            Some(token) if token == expected => {
                reader.walker.fire();
                Ok(())
            }
            Some(token) => {
                let (expected, found) = (self.word(expected), self.word(token));
                Err(self.fault(number, now, Fault::WrongWord { expected, found }))
            }
            None => {
                let expected = self.word(expected);
                Err(self.fault(number, now, Fault::MissingWord { expected }))
            }
        }
    }

    fn word(&self, token: Token) -> Word {
        if token >= CHAINED {
            return Word::Undefined;
        }
        let (cycle, writer) = self.expectation.origin(token);
        Word::Written { port: self.writer_names[writer].as_str().into(), cycle }
    }

    fn fault(&self, number: usize, cycle: u64, fault: Fault) -> ReplayError {
        let Reader { port, walker, tile, output } = &self.readers[number];
        let mut rest = walker.fired;
        let index = port
            .domain
            .iter()
            .map(|level| {
                let index = rest % level.extent;
                rest /= level.extent;
                index
            })
            .collect();
        let tile_of_reader = &self.tiles[*tile];
        ReplayError {
            cycle,
            tile: Some(*tile),
            controller: Some(tile_of_reader.name(tile_of_reader.output_controller(*output)).to_owned()),
            read: Some(Box::new(ReadIteration { port: port.name.clone(), index })),
            fault,
        }
    }
}

/// The state at the beginning of a period.
struct Snapshot {
    cycle: u64,
    tiles: Vec<TileMark>,
    readers: Vec<Mark>,
    /// The controller whose firings may end the period: its tile and number.
    leader: (usize, usize),
}

/// The search for periods. Snapshots are taken further and further apart, so that any period is found soon after the
/// run becomes periodic, whatever its length (Brent's method).
struct Search {
    enabled: bool,
    snapshot: Option<Snapshot>,
    /// Firings of the leader to wait for the end of a period before a new snapshot, and how many have been.
    span: u64,
    seen: u64,
    last_skip: u64,
}

impl Search {
    fn new(enabled: bool) -> Search {
        Search { enabled, snapshot: None, span: 1, seen: 0, last_skip: 0 }
    }

    /// Looks at the simulation before cycle `now` is simulated. Gives how many cycles it has moved on.
    fn visit(&mut self, simulation: &mut Simulation, now: u64) -> Option<u64> {
        if !self.enabled {
            return None;
        }
        let Some(snapshot) = &self.snapshot else {
            self.take(simulation, now);
            return None;
        };
        let leader = &simulation.tiles[snapshot.leader.0].walkers()[snapshot.leader.1];
        if leader.next == NEVER {
            self.take(simulation, now);
            return None;
        }
        if leader.next != now || now == snapshot.cycle {
            return None;
        }
        self.seen += 1;
        if let Some(skipped) = simulation.skip(snapshot, now, self.last_skip) {
            self.span = 1;
            self.last_skip = now + skipped;
            self.snapshot = None;
            return Some(skipped);
        }
        if self.seen >= self.span {
            self.span *= 2;
            self.take(simulation, now);
        }
        None
    }

    fn take(&mut self, simulation: &mut Simulation, now: u64) {
        self.seen = 0;
        // The slowest of those at work.
        let leader = simulation
            .tiles
            .iter()
            .enumerate()
            .flat_map(|(tile, state)| state.walkers().iter().enumerate().map(move |(walker, at)| (at, (tile, walker))))
            .filter(|(walker, _)| walker.fired > 0 && walker.next != NEVER)
            .min_by_key(|(walker, _)| walker.total)
            .map(|(_, leader)| leader);
        self.snapshot = leader.map(|leader| {
            simulation.expectation.mark();
            Snapshot {
                cycle: now,
                tiles: simulation.tiles.iter_mut().map(Tile::mark).collect(),
                readers: simulation.readers.iter().map(|reader| reader.walker.mark()).collect(),
                leader,
            }
        });
    }
}

impl Simulation {
    /// Skips as many periods as are sure to repeat, if that saves enough. Gives the cycles skipped.
    fn skip(&mut self, snapshot: &Snapshot, now: u64, last_skip: u64) -> Option<u64> {
        let period = now - snapshot.cycle;
        let age = period * self.expectation.tokens_per_cycle();
        let readers: Vec<Advance> = self
            .readers
            .iter()
            .zip(&snapshot.readers)
            .map(|(reader, mark)| reader.walker.advance_since(mark, period))
            .collect::<Option<_>>()?;
        let mut periods = NEVER;
        for (number, ((reader, mark), advance)) in self.readers.iter().zip(&snapshot.readers).zip(&readers).enumerate()
        {
            periods = periods.min(reader.walker.repetitions(advance, now, period));
            if *advance != Advance::Rests {
                periods = periods.min(self.expectation.repetitions(number, &reader.walker, mark, period));
            }
        }
        let worthwhile = |periods: u64| {
            let saved = periods.saturating_mul(period);
            periods > 0
                && (saved.saturating_mul(WORTHWHILE) >= self.end - now
                    || (now - last_skip >= PATIENCE && saved >= PATIENCE))
        };
        if !worthwhile(periods) {
            return None;
        }
        let advances: Vec<TileAdvance> = self
            .tiles
            .iter()
            .zip(&snapshot.tiles)
            .map(|(tile, mark)| tile.advance_since(mark, period))
            .collect::<Option<_>>()?;
        for (tile, advance) in self.tiles.iter().zip(&advances) {
            for (walker, advance) in tile.walkers().iter().zip(&advance.walkers) {
                periods = periods.min(walker.repetitions(advance, now, period));
            }
        }
        if !worthwhile(periods) || periods == NEVER {
            return None;
        }
        for ((tile, mark), advance) in self.tiles.iter().zip(&snapshot.tiles).zip(&advances) {
            periods = tile.repetitions(mark, advance, period, age, periods);
        }
        if !worthwhile(periods) {
            return None;
        }
        for ((tile, mark), advance) in self.tiles.iter_mut().zip(&snapshot.tiles).zip(&advances) {
            tile.skip(mark, advance, period, age, periods);
        }
        for ((reader, mark), advance) in self.readers.iter_mut().zip(&snapshot.readers).zip(&readers) {
            reader.walker.skip(mark, advance, period, periods);
        }
        Some(period * periods)
    }
}
