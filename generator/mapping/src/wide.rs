//! Streams on one wide-fetch tile.

use itertools::Itertools;
use pushmem_configuration::{Affine, Configuration};
use pushmem_tile::{Kind, Role, TileSpec, timing};

use crate::attempt::{Attempt, Running, configurations};
use crate::fetch::{self, Fetch, Shape};
use crate::nest::Nest;
use crate::storage::Storage;
use crate::supply::{longest_wait, rows_needed};

/// Offsets tried for each controller of the SRAM.
const OFFSET_LIMIT: i64 = 64;

/// Combinations of ways to fetch that are tried for a set of reads.
const COMBINATION_LIMIT: usize = 64;

/// A read of the tile: which output, and which word of the write stream (by digits) when.
pub(crate) type Read<'a> = &'a Nest;

/// Maps one write stream and its reads, given as iterations of the write, to one tile or chain. Output `i` serves the
/// `i`-th read.
pub(crate) fn map(spec: &TileSpec, write: &Nest, reads: &[Read]) -> Result<Attempt, Vec<String>> {
    let Kind::WideFetch { fetch_width, agg_words, tb_words } = spec.kind else {
        return Err(vec![format!("{} tiles have no aggregators", spec.kind.name())]);
    };
    let mut failed = Vec::new();
    for storage in Storage::candidates(write, u64::from(fetch_width)) {
        let shape = Shape {
            fetch_width: i64::from(fetch_width),
            rows: i64::from(tb_words / fetch_width),
            latency: spec.sram_latency,
        };
        let named = |reason: String| format!("{}: {reason}", storage.name);
        match with_storage(spec, write, reads, &storage, shape, i64::from(agg_words)) {
            Ok(Attempt { configurations, tried }) => {
                failed.extend(tried.into_iter().map(named));
                return Ok(Attempt { configurations, tried: failed.into_iter().unique().collect() });
            }
            Err(reasons) => failed.extend(reasons.into_iter().map(named)),
        }
    }
    Err(failed.into_iter().unique().collect())
}

/// A way to fetch, and what it asks of the write.
struct Choice {
    fetch: Fetch,
    /// Least offset of the fetches relative to that of the writes of rows.
    after_write: i64,
}

fn with_storage(
    spec: &TileSpec,
    write: &Nest,
    reads: &[Read],
    storage: &Storage,
    shape: Shape,
    agg_words: i64,
) -> Result<Attempt, Vec<String>> {
    let aggregator_rows = agg_words / shape.fetch_width;
    let write_window = storage.window(aggregator_rows as u64);
    if write_window.0 > write_window.1 {
        let message = format!(
            "a row is complete {} cycles after its first word, and the aggregator of {agg_words} words keeps it for {}",
            write_window.0, write_window.1
        );
        return Err(vec![message]);
    }
    let mut choices = Vec::new();
    let mut failed = Vec::new();
    for (number, read) in reads.iter().enumerate() {
        let (fetches, mut reasons) = fetch::candidates(&read.weighted(&storage.strides).merged(&[]), shape);
        let mut possible = Vec::new();
        for fetch in fetches {
            match longest_wait(&fetch.fetches, &storage.rows) {
                Ok(wait) => {
                    let after_write = wait + timing::SRAM_WRITE as i64;
                    let latest = fetch.window.1;
                    if after_write + write_window.0 <= latest {
                        possible.push(Choice { fetch, after_write });
                    } else {
                        let late = after_write + write_window.0 - latest;
                        reasons.push(format!("{}: read {late} cycles before its row can be there", fetch.name));
                    }
                }
                Err(reason) => reasons.push(format!("{}: {reason}", fetch.name)),
            }
        }
        failed.extend(reasons.into_iter().map(|reason| format!("output {number}: {reason}")));
        if possible.is_empty() {
            return Err(failed);
        }
        choices.push(possible);
    }
    let mut tried = Vec::new();
    for choice in choices.iter().map(|choices| choices.iter()).multi_cartesian_product().take(COMBINATION_LIMIT) {
        match with_choice(spec, write, storage, write_window, &choice, agg_words) {
            // Ways to fetch that do not work by themselves are no news where another does.
            Ok(configurations) => return Ok(Attempt { configurations, tried }),
            Err(reason) => tried.push(reason),
        }
    }
    failed.extend(tried);
    Err(failed)
}

fn with_choice(
    spec: &TileSpec,
    write: &Nest,
    storage: &Storage,
    write_window: (i64, i64),
    choice: &[&Choice],
    agg_words: i64,
) -> Result<Vec<Configuration>, String> {
    let mut offsets = Vec::new();
    for offset in (write_window.0..=write_window.1).take(OFFSET_LIMIT as usize) {
        offsets.clear();
        offsets.push(offset);
        if place(storage, choice, &mut offsets) {
            break;
        }
        offsets.clear();
    }
    let Some((&write_offset, fetch_offsets)) = offsets.split_first() else {
        let names = choice.iter().map(|choice| &choice.fetch.name).join(", ");
        return Err(format!("{names}: the SRAM has no free cycles for all of them"));
    };
    let needed = choice
        .iter()
        .zip(fetch_offsets)
        .map(|(choice, &offset)| rows_needed(&choice.fetch.fetches, offset, &storage.rows, write_offset))
        .max()
        .unwrap_or(1);
    let running = running(write, storage, write_offset, choice, fetch_offsets, agg_words);
    configurations(spec, &running, &storage.rows, needed)
}

/// Chooses offsets for the fetches one after the other, each as late as possible, so that no two accesses of the SRAM
/// fall into one cycle.
fn place(storage: &Storage, choice: &[&Choice], offsets: &mut Vec<i64>) -> bool {
    let number = offsets.len() - 1;
    let Some(next) = choice.get(number) else { return true };
    let (earliest, latest) = next.fetch.window;
    let earliest = earliest.max(offsets[0] + next.after_write).max(latest - OFFSET_LIMIT);
    for offset in (earliest..=latest).rev() {
        if next.fetch.fetches.cycle.start + offset < 0 {
            break;
        }
        let mut others =
            [&storage.rows].into_iter().chain(choice.iter().map(|choice| &choice.fetch.fetches)).zip(&*offsets);
        if others.all(|(other, &at)| next.fetch.fetches.never_meets(offset, other, at)) {
            offsets.push(offset);
            if place(storage, choice, offsets) {
                return true;
            }
            offsets.pop();
        }
    }
    false
}

/// All controllers.
fn running(
    write: &Nest,
    storage: &Storage,
    write_offset: i64,
    choice: &[&Choice],
    fetch_offsets: &[i64],
    agg_words: i64,
) -> Vec<Running> {
    let moved = |nest: &Nest, offset: i64| {
        let mut nest = nest.clone();
        nest.cycle.start += offset;
        nest
    };
    let word = Affine { start: 0, stride: storage.strides.iter().map(|stride| stride % agg_words).collect() };
    let mut rows = moved(&storage.rows, write_offset);
    // Rows of the aggregator follow each other as rows of the SRAM do.
    rows.functions.push(rows.functions[0].clone());
    let mut running = vec![
        Running { role: Role::In2Agg, port: 0, nest: Nest { functions: vec![word], ..write.clone() }, main: None },
        Running { role: Role::Agg2Sram, port: 0, nest: rows, main: Some(1) },
    ];
    for (port, (choice, &offset)) in choice.iter().zip(fetch_offsets).enumerate() {
        let fetches = moved(&choice.fetch.fetches, offset);
        running.push(Running { role: Role::Sram2Tb, port, nest: fetches, main: Some(0) });
        running.push(Running { role: Role::Tb2Out, port, nest: choice.fetch.reads.clone(), main: None });
    }
    running
}
