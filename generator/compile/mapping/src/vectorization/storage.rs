//! Vectorization of writes: how the words of a stream lie in the rows of a memory, and how an aggregator collects them
//! (dissertation §5.5.1).

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_tile::timing;

use crate::group::{Space, Stream};
use crate::linearization::Strides;
use crate::nest::Nest;
use crate::past::firings;
use crate::rounds::cut;

/// A layout: the word of the memory is a weighted sum of the functions of the stream's nests. Innermost groups of words are
/// dense and begin a new row of the memory, the rest of whose last row stays empty (dissertation §5.5.1).
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    /// Its name in messages.
    pub name: String,
    /// Words from one value of each function of the stream's nests to the next.
    pub strides: Vec<i64>,
    /// How each write fills rows.
    pub fillings: Vec<Filling>,
    /// The rows of the memory, if it had no end: loops through them, the number of the row as the first function. Where
    /// the words lie in the order in which they are written, the writes of rows.
    pub space: Nest,
    pub fetch_width: i64,
}

/// How a write collects words in an aggregator and moves them to the memory row by row.
#[derive(Clone, Debug)]
pub(crate) struct Filling {
    /// The words; function: the word of the aggregator, if it had no end.
    pub words: Nest,
    /// The writes of rows: loops, and when each could happen if it took no time. Functions: the row of the aggregator, rows
    /// counted in the order of time; the row of the memory.
    pub rows: Nest,
    /// Words of a group, and cycles between them.
    count: u64,
    pub pace: i64,
    fetch_width: u64,
}

impl Storage {
    /// The layouts to try for a stream, the densest first, and why others cannot be.
    pub fn candidates(stream: &Stream, fetch_width: u64) -> (Vec<Storage>, Vec<String>) {
        match &stream.space {
            Space::Iterations => (Storage::in_order(&stream.writes[0].nest, fetch_width), Vec::new()),
            Space::Elements { size, .. } => Storage::in_place(stream, size, fetch_width),
        }
    }

    /// Words lie in the order in which they are written.
    fn in_order(write: &Nest, fetch_width: u64) -> Vec<Storage> {
        let dense = match (1..write.depth()).find(|&level| !write.continues_in_time(level)) {
            _ if write.depth() == 0 => 0,
            Some(level) => level,
            None => write.depth(),
        };
        let storage = |grouped: usize| {
            let Strides { strides, words, block } = Strides::of(&write.extent, fetch_width, grouped);
            let filling = Filling::new(&write.weighted(&strides), fetch_width, grouped);
            let name = match grouped {
                0 if fetch_width > 1 => "one word a row".to_owned(),
                _ if words == block => "rows without gaps".to_owned(),
                _ => format!("groups of {words} words in {} rows each", block / fetch_width),
            };
            let space = filling.rows.clone();
            Storage { name, strides, fillings: vec![filling], space, fetch_width: fetch_width as i64 }
        };
        (0..=dense).rev().map(storage).unique_by(|storage| storage.strides.clone()).collect()
    }

    /// Each element has its place: dimensions in the order in which a write goes through them.
    fn in_place(stream: &Stream, size: &[u64], fetch_width: u64) -> (Vec<Storage>, Vec<String>) {
        let orders = stream.writes.iter().map(|write| dimensions_in_time(&write.nest)).unique().collect_vec();
        let layouts = (0..=size.len()).rev().cartesian_product(&orders).map(|(grouped, order)| {
            let sizes = order.iter().map(|&dimension| size[dimension]).collect_vec();
            let found = Strides::of(&sizes, fetch_width, grouped);
            let mut strides = vec![0; size.len()];
            for (&dimension, &stride) in order.iter().zip(&found.strides) {
                strides[dimension] = stride;
            }
            (grouped, sizes, Strides { strides, ..found })
        });
        let mut storages = Vec::new();
        let mut failed = Vec::new();
        for (grouped, sizes, layout) in layouts.unique_by(|(_, _, layout)| layout.strides.clone()) {
            let (words, block) = (layout.words, layout.block);
            let name = match grouped {
                0 if fetch_width > 1 => "words in place, one a row".to_owned(),
                _ if words == block => "words in place".to_owned(),
                _ => format!("words in place, {words} in {} rows each", block / fetch_width),
            };
            let fillings = stream.writes.iter().enumerate().map(|(number, write)| {
                let address = write.nest.weighted(&layout.strides).merged(&[]);
                Filling::in_place(&address, fetch_width, &layout)
                    .map_err(|reason| format!("{name}: input {number}: {reason}"))
            });
            match fillings.collect::<Result<Vec<_>, _>>() {
                Ok(fillings) => {
                    let space = layout.space(&sizes[grouped..], fetch_width);
                    let fetch_width = fetch_width as i64;
                    storages.push(Storage { name, strides: layout.strides, fillings, space, fetch_width });
                }
                Err(reason) => failed.push(reason),
            }
        }
        (storages, failed)
    }

    /// The number of rows that a memory needs where a row holds several elements one after the other: from the row that
    /// is written or read to the highest one written by then. For streams of elements.
    pub fn span(&self, stream: &Stream) -> i64 {
        let nests = stream.writes.iter().map(|write| &write.nest).chain(stream.reads.iter().map(|read| &read.nest));
        let addresses = nests.map(|nest| nest.weighted(&self.strides)).collect_vec();
        let addresses = cut(&addresses.iter().collect_vec());
        let mut highest = 0;
        let mut span = 1;
        for firing in firings(&addresses) {
            let row = firing.value.div_euclid(self.fetch_width);
            if firing.nest < stream.writes.len() {
                highest = highest.max(row);
            }
            span = span.max(highest - row + 1);
        }
        span
    }
}

/// The dimensions in the order in which the loops of a nest move along them; those where it stays are last.
fn dimensions_in_time(nest: &Nest) -> Vec<usize> {
    let first_loop = |&dimension: &usize| {
        let stride = &nest.functions[dimension].stride;
        stride.iter().position(|&stride| stride != 0).unwrap_or(stride.len())
    };
    (0..nest.functions.len()).sorted_by_key(first_loop).collect()
}

impl Filling {
    /// For a write whose only function is the word in memory, and whose `grouped` innermost loops share rows.
    fn new(write: &Nest, fetch_width: u64, grouped: usize) -> Filling {
        let Strides { strides, words: count, block } = Strides::of(&write.extent, fetch_width, grouped);
        let pace = if grouped == 0 { 1 } else { write.cycle.stride[0] };
        let width = fetch_width as i64;
        let address = &write.functions[0];
        let mut rows = Nest {
            extent: vec![block / fetch_width].into(),
            cycle: Affine { start: write.cycle.start, stride: vec![pace * width] },
            functions: vec![
                Affine { start: 0, stride: vec![1] },
                Affine { start: address.start / width, stride: vec![1] },
            ],
        };
        rows.extent.extend(&write.extent[grouped..]);
        rows.cycle.stride.extend(&write.cycle.stride[grouped..]);
        // Rows of the aggregator follow each other in the order of time, wherever they go in the memory.
        rows.functions[0].stride.extend(strides[grouped..].iter().map(|stride| stride / width));
        rows.functions[1].stride.extend(address.stride[grouped..].iter().map(|stride| stride / width));
        let words = Nest { functions: vec![Affine { start: 0, stride: strides }], ..write.clone() };
        Filling { words, rows, count, pace, fetch_width }
    }

    /// For a write whose only function is the word in memory, if it fills rows one after the other.
    fn in_place(write: &Nest, fetch_width: u64, layout: &Strides) -> Result<Filling, String> {
        let address = &write.functions[0];
        let width = fetch_width as i64;
        let grouped = usize::from(address.stride.first() == Some(&1));
        let outside = &address.stride[grouped..];
        if std::iter::once(&address.start).chain(outside).any(|step| step % width != 0) {
            return Err(format!("its loops do not fill rows of {width} words one after the other"));
        }
        // Behind the words of the last row come the old words of the aggregator: there must be nothing in the memory.
        let count: u64 = write.extent[..grouped].iter().product();
        let block = layout.block as i64;
        let end = address.start + count as i64 - layout.words as i64;
        if !count.is_multiple_of(fetch_width) && std::iter::once(&end).chain(outside).any(|step| step % block != 0) {
            return Err(format!("it fills rows of {width} words in part, {count} at a time"));
        }
        Ok(Filling::new(write, fetch_width, grouped))
    }

    /// The earliest and the latest offset from [`Filling::rows`] at which rows can move from an aggregator of so many
    /// rows: not before the last word of the row, not after the first word that takes its place.
    pub fn window(&self, aggregator_rows: u64) -> (i64, i64) {
        // Enough rounds of each loop that a row and the one that replaces it are both there, wherever a round begins.
        let mut kept = 1;
        let extent = self
            .rows
            .extent
            .iter()
            .enumerate()
            .map(|(level, &extent)| {
                // The last row of a group may be partial, so that it must stay.
                let rounds = if level == 0 { 2 * aggregator_rows + 2 } else { aggregator_rows.div_ceil(kept) + 1 };
                let extent = extent.min(rounds);
                kept *= extent;
                extent
            })
            .collect();
        let rows = self.rows.shortened(extent);
        let last_of_group = rows.extent[0] - 1;
        let words_in_last = self.count - (self.count.div_ceil(self.fetch_width) - 1) * self.fetch_width;
        let mut firsts = Vec::new();
        let mut earliest = i64::MIN;
        rows.extent.for_each(|index| {
            let words = if index[0] == last_of_group { words_in_last } else { self.fetch_width };
            firsts.push(rows.cycle.value(index));
            earliest = earliest.max((words as i64 - 1) * self.pace + timing::AGGREGATOR_WRITE as i64);
        });
        let slack = firsts.iter().zip(firsts.iter().skip(aggregator_rows as usize)).map(|(row, next)| next - row);
        (earliest, slack.min().unwrap_or(i64::from(u16::MAX)))
    }
}
