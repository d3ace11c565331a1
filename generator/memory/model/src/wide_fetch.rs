//! Aggregators, single-port SRAM and transpose buffers.

use pushmem_tile::{Mode, Role, TileSpec};

use crate::context::Context;
use crate::fetches::{Early, Fetch, Fetches, Rows};
use crate::fifo::Fifo;
use crate::memory::{self, Delay};
use crate::ports::{Inputs, Outputs};
use crate::violation::ViolationKind;
use crate::word::Word;

/// Words in the widest row.
const MAX_LANES: usize = 8;

type Row = memory::Row<MAX_LANES>;
type Memory = memory::Memory<MAX_LANES>;
type ReadPort = memory::ReadPort<MAX_LANES>;

/// Address generators of a controller, in the order of [`Role::memories`].
const AGG_OF_IN2AGG: usize = 0;
const AGG_OF_AGG2SRAM: usize = 0;
const SRAM_OF_AGG2SRAM: usize = 1;
const SRAM_OF_SRAM2TB: usize = 0;
const TB_OF_SRAM2TB: usize = 1;
const TB_OF_TB2OUT: usize = 0;

struct Aggregator {
    memory: Memory,
    /// Words written and not read since, by address.
    unread: Vec<bool>,
}

impl Aggregator {
    /// Whether it has the words of another one, as far as anybody wrote those.
    fn refines(&self, other: &Self) -> bool {
        self.memory.refines(&other.memory, 0) && self.unread == other.unread
    }
}

struct TransposeBuffer {
    memory: Memory,
    /// Rows of which this tile has the data; the others come from the chain.
    owned: Vec<bool>,
    /// The row in which a fetch arrives, on the way beside the SRAM.
    delay: Delay<(u64, Fetch)>,
    /// The fetches of its rows, where they are followed.
    fetches: Option<Fetches>,
}

impl TransposeBuffer {
    fn new(rows: u32, fetch_width: u64, latency: u32, follows_fetches: bool) -> Self {
        TransposeBuffer {
            memory: Memory::new(rows),
            owned: vec![true; rows as usize],
            delay: Delay::new(latency),
            fetches: follows_fetches.then(|| Fetches::new(rows, fetch_width)),
        }
    }

    /// Whether it has the words of another one, as far as anybody wrote those. Fetches that are followed have numbers of their own.
    fn refines(&self, other: &Self) -> bool {
        self.fetches.is_none()
            && self.memory.refines(&other.memory, 0)
            && (&self.owned, &self.delay) == (&other.owned, &other.delay)
    }

    /// Ends a cycle in which a row arrives.
    fn arrive(&mut self, cycle: u64, row: u64, fetch: Fetch, data: &Row) {
        self.memory.write_row(row, *data);
        self.owned[row as usize] = fetch.row.0;
        if let Some(fetches) = &mut self.fetches {
            fetches.arrive(cycle, row as usize, fetch);
        }
    }

    /// Drops pending rows, and forgets the fetches of the last run.
    fn flush(&mut self) {
        self.delay.flush();
        self.fetches.iter_mut().for_each(Fetches::flush);
    }
}

/// A memory of single words that the SRAM is instead: a table, or one that is written, too.
#[derive(PartialEq, Eq)]
struct Table {
    /// Words of it, a power of two.
    words: u64,
    /// The address on the way beside the SRAM.
    delay: Delay<u64>,
    /// The write whose row was read in the cycle before: address and word.
    modify: Option<(u64, u64)>,
}

impl Table {
    /// Drops the word on its way, and a write that is not done.
    fn flush(&mut self) {
        self.delay.flush();
        self.modify = None;
    }
}

/// The name of a place that a RAM is accessed at, in violations.
const ACCESS: &str = "data_in_0";

pub(crate) struct WideFetch {
    /// Words of a row, a power of two.
    fetch_width: u64,
    /// Whether a controller reads the table.
    has_rom_mode: bool,
    mode: Mode,
    table: Option<Table>,
    fifo: Fifo,
    aggregators: Vec<Aggregator>,
    sram: Memory,
    /// When each row of it was last written in this run, where fetches are followed.
    written: Vec<Option<u64>>,
    read_port: ReadPort,
    transpose_buffers: Vec<TransposeBuffer>,
}

impl WideFetch {
    /// Undefined memories, of so many words in a row, in an aggregator and in a transpose buffer. Fetches may be followed.
    pub fn new(spec: &TileSpec, [fetch_width, agg_words, tb_words]: [u32; 3], follows_fetches: bool) -> Self {
        let aggregator =
            || Aggregator { memory: Memory::new(agg_words / fetch_width), unread: vec![false; agg_words as usize] };
        let tb_rows = tb_words / fetch_width;
        WideFetch {
            fetch_width: u64::from(fetch_width),
            has_rom_mode: spec.rom_mode,
            mode: Mode::default(),
            table: spec.content_words().map(|words| Table {
                words: words.into(),
                delay: Delay::new(spec.sram_latency),
                modify: None,
            }),
            fifo: Fifo::new(spec, fetch_width, agg_words, tb_words),
            aggregators: (0..spec.inputs).map(|_| aggregator()).collect(),
            sram: Memory::new(spec.rows),
            written: vec![None; if follows_fetches { spec.rows as usize } else { 0 }],
            read_port: ReadPort::new(spec.sram_latency),
            transpose_buffers: (0..spec.outputs)
                .map(|_| TransposeBuffer::new(tb_rows, fetch_width.into(), spec.sram_latency, follows_fetches))
                .collect(),
        }
    }

    fn split(&self, address: u64) -> (u64, u64) {
        (address >> self.fetch_width.trailing_zeros(), address & (self.fetch_width - 1))
    }

    /// Loads words from the first address on. Words of the last row that are not given become 0.
    pub fn load(&mut self, contents: &[u64]) {
        let padded = contents.len().next_multiple_of(self.fetch_width as usize);
        let words = contents.iter().chain(std::iter::repeat(&0));
        for (address, &word) in (0..).zip(words.take(padded)) {
            let (row, lane) = self.split(address);
            self.sram.write_word(row, lane, Word::new(word));
        }
    }

    /// Whether it has the words of another one, as far as anybody wrote those, in rows of the SRAM so many later.
    pub fn refines(&self, other: &Self, rows: u64) -> bool {
        let mut aggregators = self.aggregators.iter().zip(&other.aggregators);
        self.sram.refines(&other.sram, rows)
            && self.read_port.refines(&other.read_port)
            && aggregators.all(|(one, other)| one.refines(other))
            && self.transpose_buffers.iter().zip(&other.transpose_buffers).all(|(one, other)| one.refines(other))
            && (&self.table, &self.fifo) == (&other.table, &other.fifo)
    }

    /// Moves the words of the SRAM by so many rows.
    pub fn turn(&mut self, rows: u64) {
        self.sram.turn(rows);
    }

    /// Whether a word of the table is on its way.
    pub fn has_pending(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.delay.is_pending() || table.modify.is_some())
    }

    /// Whether it is a FIFO without words.
    pub fn is_empty_fifo(&self) -> bool {
        self.mode == Mode::Fifo && self.fifo.is_empty()
    }

    /// Adds the handshakes of the mode to outputs.
    pub fn handshake(&self, inputs: &Inputs, outputs: &mut Outputs) {
        outputs.ready = match self.mode {
            Mode::UnifiedBuffer => false,
            Mode::Fifo => self.fifo.is_ready(),
            Mode::Ram => self.table.as_ref().is_some_and(|table| table.modify.is_none()),
        };
        let is_taken = outputs.ready && inputs.handshake.valid;
        outputs.taken[0] |= is_taken;
        outputs.taken[1] |= self.mode == Mode::Ram && is_taken && inputs.handshake.write;
    }

    /// The word of the table that arrives in this cycle.
    fn table_word(&self) -> Option<(u64, Word)> {
        let address = self.table.as_ref()?.delay.arriving(None)?;
        let (_, lane) = self.split(address);
        Some((address, self.read_port.row().words[lane as usize]))
    }

    pub fn output(&self, context: &Context, inputs: &Inputs, port: u32) -> Option<Word> {
        if let Some((_, word)) = self.table_word().filter(|_| port == 0) {
            return Some(word);
        }
        if self.mode == Mode::Fifo && port == 0 {
            let (row, lane) = self.fifo.shown()?;
            return Some(self.transpose_buffers[0].memory.word(row, lane));
        }
        let controller = context.firing(Role::Tb2Out, port)?;
        let (row, lane) = self.split(controller.address(TB_OF_TB2OUT));
        let buffer = &self.transpose_buffers[port as usize];
        Some(if buffer.owned[row as usize] {
            buffer.memory.word(row, lane)
        } else {
            Word::new(inputs.chain[port as usize])
        })
    }

    /// Ends an unstalled cycle. Reads see the state before the writes of the same cycle.
    pub fn clock(&mut self, context: &mut Context, inputs: &Inputs) {
        if self.mode == Mode::Fifo {
            self.clock_fifo(inputs);
            return;
        }
        let mut accesses = 0;
        let write = self.collect_write(context, &mut accesses);
        self.read_outputs(context);
        let read = self.fetch_rows(context, &mut accesses);
        let read = self.read_table(context, inputs, &mut accesses, read);
        let modified = self.modified_row();
        let read = self.access_word(context, inputs, read);
        self.read_port.clock(read.map(|address| self.sram.row(address)));
        if let Some((address, row)) = write.or(modified) {
            self.sram.write_row(address, row);
            if let Some(written) = self.written.get_mut(address as usize) {
                *written = Some(context.cycle());
            }
        }
        self.write_aggregators(context, inputs);
    }

    /// Ends an unstalled cycle of a FIFO.
    fn clock_fifo(&mut self, inputs: &Inputs) {
        let moves = self.fifo.moves(inputs.handshake.valid, inputs.handshake.ready);
        let agg_row = *self.aggregators[0].memory.row(moves.agg_row);
        let buffer = &mut self.transpose_buffers[0];
        let departing = moves.fetch.map(|_| (moves.tb_row, Fetch::default()));
        let arriving = buffer.delay.arriving(departing);
        let of_sram = arriving.map(|(row, _)| (row, *self.read_port.row()));
        let past_sram = moves.passes.then_some((moves.tb_row, agg_row));
        for (row, data) in of_sram.into_iter().chain(past_sram) {
            buffer.memory.write_row(row, data);
            buffer.owned[row as usize] = true;
        }
        buffer.delay.clock(departing);
        self.read_port.clock(moves.fetch.map(|row| self.sram.row(row)));
        if let Some(row) = moves.store {
            self.sram.write_row(row, agg_row);
        }
        if let Some((row, lane)) = moves.push {
            self.aggregators[0].memory.write_word(row, lane, Word::new(inputs.data[0]));
        }
        self.fifo.clock(moves, arriving.is_some());
    }

    /// The row of a write of a RAM, with its word replaced.
    fn modified_row(&self) -> Option<(u64, Row)> {
        let (address, word) = self.table.as_ref()?.modify?;
        let (row, lane) = self.split(address);
        let mut data = *self.read_port.row();
        data.words[lane as usize] = Word::new(word);
        Some((row, data))
    }

    /// The row that an access to a RAM reads in this cycle, if one does.
    fn access_word(&mut self, context: &mut Context, inputs: &Inputs, read: Option<u64>) -> Option<u64> {
        let Some(table) = self.table.as_mut().filter(|_| self.mode == Mode::Ram) else { return read };
        let address = inputs.data[0];
        let is_accessed = table.modify.is_none() && inputs.handshake.valid;
        let writes = inputs.handshake.write;
        if is_accessed && address >= table.words {
            context.violation_at(ViolationKind::OutOfRange, ACCESS, format!("word {address}"));
        }
        let address = address % table.words;
        let (row, lane) = (address / self.fetch_width, address % self.fetch_width);
        if is_accessed && !writes && !self.sram.word(row, lane).defined {
            context.violation_at(ViolationKind::UndefinedRead, ACCESS, format!("word {address}"));
        }
        table.delay.clock((is_accessed && !writes).then_some(address));
        table.modify = (is_accessed && writes).then_some((address, inputs.data[1]));
        if is_accessed { Some(row) } else { read }
    }

    /// The SRAM write of this cycle. Several at once, which the schedule must prevent, are ORed as in the RTL.
    fn collect_write(&mut self, context: &mut Context, accesses: &mut u32) -> Option<(u64, Row)> {
        let mut write: Option<(u64, Row)> = None;
        for port in context.ports(Role::Agg2Sram) {
            let controller = context.controller(Role::Agg2Sram, port);
            let agg_row = controller.address(AGG_OF_AGG2SRAM);
            let (owned, address) = context.own_row(controller.address(SRAM_OF_AGG2SRAM));
            let aggregator = &mut self.aggregators[port as usize];
            let first = (agg_row * self.fetch_width) as usize;
            aggregator.unread[first..first + self.fetch_width as usize].fill(false);
            if owned {
                count_access(context, accesses, Role::Agg2Sram, port, address);
                let row = *aggregator.memory.row(agg_row);
                write = Some(match write {
                    Some((other, other_row)) => (other | address, other_row.or(row)),
                    None => (address, row),
                });
            }
        }
        write
    }

    /// The SRAM read of this cycle, with the command beside it for each transpose buffer, after the rows that arrive.
    fn fetch_rows(&mut self, context: &mut Context, accesses: &mut u32) -> Option<u64> {
        let mut read = None;
        for port in 0..self.transpose_buffers.len() as u32 {
            let departing = context.firing(Role::Sram2Tb, port).map(|controller| {
                (controller.address(TB_OF_SRAM2TB), context.own_row(controller.address(SRAM_OF_SRAM2TB)))
            });
            let departing = departing.map(|(tb_row, row)| {
                if let (true, address) = row {
                    count_access(context, accesses, Role::Sram2Tb, port, address);
                    read = Some(read.unwrap_or(0) | address);
                }
                (tb_row, self.depart(context, port, row))
            });
            let buffer = &mut self.transpose_buffers[port as usize];
            if let Some((row, fetch)) = buffer.delay.arriving(departing) {
                buffer.arrive(context.cycle(), row, fetch, self.read_port.row());
            }
            buffer.delay.clock(departing);
        }
        read
    }

    /// The fetch of a row, and the words shown earlier that were meant to come from it.
    fn depart(&mut self, context: &mut Context, port: u32, row: (bool, u64)) -> Fetch {
        let Some(fetches) = &mut self.transpose_buffers[port as usize].fetches else {
            return Fetch { row: (row.0, 0), ..Fetch::default() };
        };
        let (owned, address) = row;
        let written = self.written.get(address as usize).copied().flatten().filter(|_| owned);
        let (fetch, stale) = fetches.depart(row, written);
        for Early { held, meant, cycle, address } in stale {
            let place = || stale_word(address, held.number, meant);
            context.violation_before(cycle, ViolationKind::StaleRead, (Role::Tb2Out, port), place);
        }
        fetch
    }

    /// The read of the table in this cycle, which replaces any other.
    fn read_table(
        &mut self,
        context: &mut Context,
        inputs: &Inputs,
        accesses: &mut u32,
        read: Option<u64>,
    ) -> Option<u64> {
        if self.mode == Mode::Ram || !self.has_rom_mode {
            return read;
        }
        if let Some((address, word)) = self.table_word()
            && !word.defined
        {
            context.violation(ViolationKind::UndefinedRead, Role::Rom2Out, 0, || format!("rom word {address}"));
        }
        let Some(table) = &mut self.table else { return read };
        let fires = context.firing(Role::Rom2Out, 0).is_some();
        let address = fires.then_some(inputs.data[0] % table.words);
        table.delay.clock(address);
        let Some(address) = address else { return read };
        let row = address / self.fetch_width;
        count_access(context, accesses, Role::Rom2Out, 0, row);
        Some(row)
    }

    fn read_outputs(&mut self, context: &mut Context) {
        for port in context.ports(Role::Tb2Out) {
            let controller = context.controller(Role::Tb2Out, port);
            let address = controller.address(TB_OF_TB2OUT);
            let (row, lane) = self.split(address);
            let rows = Rows {
                fetching: context.controller(Role::Sram2Tb, port),
                generator: SRAM_OF_SRAM2TB,
                locate: &|address| context.own_row(address),
                written: &self.written,
            };
            let buffer = &mut self.transpose_buffers[port as usize];
            let stale = buffer
                .fetches
                .as_mut()
                .and_then(|fetches| fetches.read((context.cycle(), address), controller.loops(TB_OF_TB2OUT), &rows));
            if let Some((held, meant)) = stale {
                let place = || stale_word(address, held, meant);
                context.violation(ViolationKind::StaleRead, Role::Tb2Out, port, place);
            }
            if buffer.owned[row as usize] && !buffer.memory.word(row, lane).defined {
                context.violation(ViolationKind::UndefinedRead, Role::Tb2Out, port, || format!("tb word {address}"));
            }
        }
    }

    fn write_aggregators(&mut self, context: &mut Context, inputs: &Inputs) {
        for port in context.ports(Role::In2Agg) {
            let controller = context.controller(Role::In2Agg, port);
            let address = controller.address(AGG_OF_IN2AGG);
            let (row, lane) = self.split(address);
            let aggregator = &mut self.aggregators[port as usize];
            let unread = std::mem::replace(&mut aggregator.unread[address as usize], true);
            aggregator.memory.write_word(row, lane, Word::new(inputs.data[port as usize]));
            if unread {
                context.violation(ViolationKind::Overrun, Role::In2Agg, port, || format!("agg word {address}"));
            }
        }
    }

    /// The rows fetched for nothing in this run, by controller.
    pub fn unread_rows(&self, context: &Context) -> Vec<String> {
        self.counted(
            context,
            Role::Sram2Tb,
            |fetches| fetches.wasted,
            |controller, rows, cycle| match rows {
                1 => format!("{controller} fetches a row of which no word is read; it is replaced in cycle {cycle}"),
                _ => format!(
                    "{controller} fetches {rows} rows of which no word is read; the first is replaced in cycle {cycle}"
                ),
            },
        )
    }

    /// The words shown in this run that no fetch brings, by controller.
    pub fn unfetched_words(&self, context: &Context) -> Vec<String> {
        self.counted(
            context,
            Role::Tb2Out,
            |fetches| fetches.unfetched,
            |controller, words, cycle| match words {
                1 => format!("{controller} shows a word for which no row is fetched, in cycle {cycle}"),
                _ => {
                    format!("{controller} shows {words} words for which no row is fetched, the first in cycle {cycle}")
                }
            },
        )
    }

    /// A message for each transpose buffer that has a count: of the controller of a role, the count, and the cycle of the first.
    fn counted(
        &self,
        context: &Context,
        role: Role,
        of: fn(&Fetches) -> Option<(u64, u64)>,
        text: fn(&str, u64, u64) -> String,
    ) -> Vec<String> {
        let of_port = |(port, buffer): (usize, &TransposeBuffer)| {
            let (number, cycle) = of(buffer.fetches.as_ref()?)?;
            Some(text(&context.controller(role, port as u32).name, number, cycle))
        };
        self.transpose_buffers.iter().enumerate().filter_map(of_port).collect()
    }

    /// Drops pending rows and the words of a FIFO, and forgets the rows that the last run left unread; begins to work in a mode.
    pub fn flush(&mut self, mode: Mode) {
        self.mode = mode;
        self.transpose_buffers.iter_mut().for_each(TransposeBuffer::flush);
        self.table.iter_mut().for_each(Table::flush);
        self.fifo.flush();
        self.written.fill(None);
        for aggregator in &mut self.aggregators {
            aggregator.unread.fill(false);
        }
    }
}

/// Names a word of a fetch that an output shows in place of one of another.
fn stale_word(address: u64, held: u64, meant: i64) -> String {
    format!("tb word {address} of fetch {held} in place of fetch {meant}")
}

fn count_access(context: &mut Context, accesses: &mut u32, role: Role, port: u32, address: u64) {
    *accesses += 1;
    if *accesses > 1 {
        context.violation(ViolationKind::PortConflict, role, port, || format!("sram row {address}"));
    }
}
