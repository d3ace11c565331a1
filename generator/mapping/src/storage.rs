//! How the words of a write stream lie in memory.

use pushmem_configuration::Affine;
use pushmem_tile::timing;

use crate::nest::{Nest, value};

/// Words lie in the order in which they are written; rows of the memory hold words of one group of innermost loops, and
/// a group begins a new row (dissertation §5.5.1).
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    /// What it is, for messages.
    pub name: String,
    /// Words from one iteration of each loop of the write to the next.
    pub strides: Vec<i64>,
    /// The writes of rows: loops, when each could happen if it took no time, and the number of the row as the only
    /// function. Rows are numbered in the order of time.
    pub rows: Nest,
    /// Words of a group, and cycles between them.
    words: u64,
    pace: i64,
    fetch_width: u64,
}

impl Storage {
    /// The layouts to try for a write stream, the densest first.
    pub fn candidates(write: &Nest, fetch_width: u64) -> Vec<Storage> {
        let dense = match (1..write.depth()).find(|&level| !write.continues_in_time(level)) {
            _ if write.depth() == 0 => 0,
            Some(level) => level,
            None => write.depth(),
        };
        let mut storages: Vec<Storage> = Vec::new();
        for grouped in (0..=dense).rev() {
            let storage = Storage::new(write, fetch_width, grouped);
            if storages.iter().all(|other| other.strides != storage.strides) {
                storages.push(storage);
            }
        }
        storages
    }

    /// The layout where the `grouped` innermost loops share rows; with none, each word has a row of its own.
    fn new(write: &Nest, fetch_width: u64, grouped: usize) -> Storage {
        let words: u64 = write.extent[..grouped].iter().product();
        let rows_of_group = words.div_ceil(fetch_width);
        let mut strides = Vec::new();
        let mut next = if grouped == 0 { fetch_width } else { 1 };
        for (level, &extent) in write.extent.iter().enumerate() {
            if level == grouped && grouped > 0 {
                next = rows_of_group * fetch_width;
            }
            strides.push(next as i64);
            next *= extent;
        }
        let pace = if grouped == 0 { 1 } else { write.cycle.stride[0] };
        let mut extent = vec![rows_of_group];
        let mut cycle = Affine { start: write.cycle.start, stride: vec![pace * fetch_width as i64] };
        let mut row = Affine { start: 0, stride: vec![1] };
        extent.extend(&write.extent[grouped..]);
        cycle.stride.extend(&write.cycle.stride[grouped..]);
        row.stride.extend(strides[grouped..].iter().map(|stride| stride / fetch_width as i64));
        let name = match grouped {
            0 if fetch_width > 1 => "one word a row".to_owned(),
            _ if words.is_multiple_of(fetch_width) => "rows without gaps".to_owned(),
            _ => format!("groups of {words} words in {rows_of_group} rows each"),
        };
        Storage { name, strides, rows: Nest { extent, cycle, functions: vec![row] }, words, pace, fetch_width }
    }

    /// The earliest and the latest offset from [`Storage::rows`] at which rows can move from an aggregator of so many
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
        let words_in_last = self.words - (self.words.div_ceil(self.fetch_width) - 1) * self.fetch_width;
        let mut firsts = Vec::new();
        let mut earliest = i64::MIN;
        rows.for_each(|index| {
            let words = if index[0] == last_of_group { words_in_last } else { self.fetch_width };
            firsts.push(value(&rows.cycle, index));
            earliest = earliest.max((words as i64 - 1) * self.pace + timing::AGGREGATOR_WRITE as i64);
        });
        let slack = firsts.iter().zip(firsts.iter().skip(aggregator_rows as usize)).map(|(row, next)| next - row);
        (earliest, slack.min().unwrap_or(i64::from(u16::MAX)))
    }
}
