//! Simulation of tiles and read ports, cycle by cycle.

use pushmem_buffers::{MappedBuffer, Source};
use pushmem_buffers::{Port, UnifiedBuffer};
use pushmem_tile::TileSpec;

use crate::chained::Folded;
use crate::error::{ErrorKind, ReadIteration, ReplayError, WordOrigin};
use crate::expectation::{Expectation, Numbering};
use crate::memory::{CHAINED, Token, UNDEFINED};
use crate::recurrence::Search;
use crate::report::ReplayReport;
use crate::tile::ReplayedTile;
use crate::walker::{NEVER, Walker};

/// A read port, and the output that serves it.
pub(crate) struct Reader {
    port: Port,
    pub walker: Walker,
    tile: usize,
    output: usize,
}

/// State of the tiles of a buffer and of its read ports.
pub(crate) struct Simulation {
    pub tiles: Vec<ReplayedTile>,
    pub readers: Vec<Reader>,
    pub expectation: Expectation,
    /// Number among the write ports, by number among all ports.
    writer_of_port: Vec<usize>,
    writer_names: Vec<String>,
    /// Cycle after the last event: a write after all reads changes no word, but may break a promise of the tile.
    pub end: u64,
}

impl Simulation {
    /// All tiles in their first cycle, with those chains folded that may be.
    pub fn new(
        buffer: &UnifiedBuffer,
        mapped: &MappedBuffer,
        spec: &TileSpec,
        folded: &[Option<Folded>],
    ) -> Result<Simulation, String> {
        // Where each tile is simulated; of a folded chain the last tile is.
        let mut place = Vec::new();
        let mut tiles: Vec<ReplayedTile> = Vec::new();
        for folded in folded {
            let count = folded.as_ref().map_or(1, |folded| folded.tiles.len());
            place.extend(std::iter::repeat_n(tiles.len(), count));
            let mut tile = ReplayedTile::new(spec, &mapped.tiles[place.len() - 1], folded.as_ref());
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
        let of_readers = readers.iter().map(|reader| &reader.walker).filter(|walker| walker.total > 0);
        let last = of_readers.map(|walker| walker.last).chain(tiles.iter().filter_map(ReplayedTile::last_event));
        let end = last.max().map_or(0, |last| last + 1);
        Ok(Simulation {
            expectation: Expectation::new(&numbering, &writes, readers.len()),
            tiles,
            readers,
            writer_of_port,
            writer_names: writes.into_iter().map(|port| port.name).collect(),
            end,
        })
    }

    /// Runs to the last word.
    pub fn run(mut self, may_skip: bool) -> Result<ReplayReport, ReplayError> {
        let mut report = ReplayReport {
            cycles_total: self.end,
            cycles_simulated: self.end,
            words: self.readers.iter().map(|reader| reader.walker.total).sum(),
            skips: 0,
        };
        let mut search = Search::new(may_skip && self.expectation.can_repeat());
        loop {
            let now = self.next();
            if now >= self.end {
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

    /// Checks the word on a read port in this cycle.
    fn check(&mut self, number: usize, now: u64) -> Result<(), ReplayError> {
        let reader = &mut self.readers[number];
        let shown = self.tiles[reader.tile].shown(reader.output, now);
        if reader.walker.next != now {
            return match shown {
                None => Ok(()),
                Some(_) => Err(self.fault(number, now, ErrorKind::UnexpectedWord)),
            };
        }
        let expected = self.expectation.expected(number, reader.walker.value(0), now);
        if expected == UNDEFINED {
            return Err(self.fault(number, now, ErrorKind::NeverWritten));
        }
        match shown {
            Some(token) if token == expected => {
                reader.walker.fire();
                Ok(())
            }
            Some(token) => {
                let (expected, found) = (self.word(expected), self.word(token));
                Err(self.fault(number, now, ErrorKind::WrongWord { expected, found }))
            }
            None => {
                let expected = self.word(expected);
                Err(self.fault(number, now, ErrorKind::MissingWord { expected }))
            }
        }
    }

    fn word(&self, token: Token) -> WordOrigin {
        if token >= CHAINED {
            return WordOrigin::Undefined;
        }
        let (cycle, writer) = self.expectation.origin(token);
        WordOrigin::Written { port: self.writer_names[writer].as_str().into(), cycle }
    }

    fn fault(&self, number: usize, cycle: u64, fault: ErrorKind) -> ReplayError {
        let Reader { port, walker, tile, output } = &self.readers[number];
        let index = port.iteration(walker.fired);
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
