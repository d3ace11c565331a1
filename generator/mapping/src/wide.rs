//! Streams on one wide-fetch tile.

use std::cell::OnceCell;

use itertools::Itertools;
use pushmem_configuration::{Affine, Configuration};
use pushmem_tile::{Kind, Role, TileSpec, timing};

use crate::attempt::{Attempt, Kept, Running, Share, configurations};
use crate::fetch::{self, Fetch, Shape};
use crate::nest::Nest;
use crate::storage::Storage;
use crate::supply::{longest_wait, rows_needed};

/// Offsets tried for each controller of the SRAM.
const OFFSET_LIMIT: i64 = 64;

/// Combinations of ways to fetch that are tried for a set of reads.
const COMBINATION_LIMIT: usize = 64;

/// Combinations of layouts that are tried for several streams.
const LAYOUT_LIMIT: usize = 8;

/// Comparisons of accesses of the SRAM when several streams are to share it.
const COMPARISON_LIMIT: usize = 4096;

/// Maps write streams and their reads to one tile, or one stream to a chain.
pub(crate) fn map(spec: &TileSpec, shares: &[Share]) -> Result<Attempt, Vec<String>> {
    let Kind::WideFetch { fetch_width, agg_words, tb_words } = spec.kind else {
        return Err(vec![format!("{} tiles have no aggregators", spec.kind.name())]);
    };
    let shape = Shape {
        fetch_width: i64::from(fetch_width),
        rows: i64::from(tb_words / fetch_width),
        latency: spec.sram_latency,
    };
    let agg_words = i64::from(agg_words);
    let layouts: Vec<Vec<Layout>> = shares
        .iter()
        .zip(first_outputs(shares))
        .map(|(&share, first_output)| {
            let storages = Storage::candidates(share.write, u64::from(fetch_width));
            storages.into_iter().map(|storage| Layout { share, first_output, storage, plan: OnceCell::new() }).collect()
        })
        .collect();
    let mut failed = Vec::new();
    let limit = if shares.len() == 1 { usize::MAX } else { LAYOUT_LIMIT };
    for layout in layouts.iter().map(|layouts| layouts.iter()).multi_cartesian_product().take(limit) {
        let name = layout.iter().map(|layout| layout.storage.name.as_str()).unique().join(", ");
        let named = |reason: &String| format!("{name}: {reason}");
        let plans: Result<Vec<&Plan>, &Vec<String>> =
            layout.iter().map(|layout| layout.plan(shape, agg_words).as_ref()).collect();
        let outcome = plans.map_err(Clone::clone).and_then(|plans| with_plans(spec, &layout, &plans, agg_words));
        match outcome {
            Ok(Attempt { configurations, tried }) => {
                failed.extend(tried.iter().map(named));
                return Ok(Attempt { configurations, tried: failed.into_iter().unique().collect() });
            }
            Err(reasons) => failed.extend(reasons.iter().map(named)),
        }
    }
    Err(failed.into_iter().unique().collect())
}

/// The first output of each share.
fn first_outputs(shares: &[Share]) -> Vec<usize> {
    let mut next = 0;
    let first = |share: &Share| {
        let first = next;
        next += share.reads.len();
        first
    };
    shares.iter().map(first).collect()
}

/// A share and a way to lay out its words.
struct Layout<'a> {
    share: Share<'a>,
    first_output: usize,
    storage: Storage,
    plan: OnceCell<Result<Plan, Vec<String>>>,
}

/// When rows can be written, and the ways to fetch for each read.
struct Plan {
    write_window: (i64, i64),
    choices: Vec<Vec<Choice>>,
    /// Ways to fetch that do not work.
    failed: Vec<String>,
}

/// A way to fetch, and what it asks of the write.
struct Choice {
    fetch: Fetch,
    /// Least offset of the fetches relative to that of the writes of rows.
    after_write: i64,
}

impl Layout<'_> {
    fn plan(&self, shape: Shape, agg_words: i64) -> &Result<Plan, Vec<String>> {
        self.plan.get_or_init(|| self.planned(shape, agg_words))
    }

    fn planned(&self, shape: Shape, agg_words: i64) -> Result<Plan, Vec<String>> {
        let storage = &self.storage;
        let write_window = storage.window((agg_words / shape.fetch_width) as u64);
        if write_window.0 > write_window.1 {
            let message = format!(
                "a row is complete {} cycles after its first word, and the aggregator of {agg_words} words keeps it for {}",
                write_window.0, write_window.1
            );
            return Err(vec![message]);
        }
        let mut choices = Vec::new();
        let mut failed = Vec::new();
        for (number, read) in self.share.reads.iter().enumerate() {
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
            let output = self.first_output + number;
            failed.extend(reasons.into_iter().map(|reason| format!("output {output}: {reason}")));
            if possible.is_empty() {
                return Err(failed);
            }
            choices.push(possible);
        }
        Ok(Plan { write_window, choices, failed })
    }
}

fn with_plans(spec: &TileSpec, layouts: &[&Layout], plans: &[&Plan], agg_words: i64) -> Result<Attempt, Vec<String>> {
    let mut tried = Vec::new();
    let choices = plans.iter().flat_map(|plan| &plan.choices);
    // Rows that nobody reads take cycles of the SRAM that another stream can use.
    let frugal = |choice: &&Choice| plans.len() == 1 || !choice.fetch.wasteful;
    let choices = choices.map(|choices| choices.iter().filter(frugal));
    for choice in choices.multi_cartesian_product().take(COMBINATION_LIMIT) {
        match with_choice(spec, layouts, plans, &choice, agg_words) {
            // Ways to fetch that do not work by themselves are no news where another does.
            Ok(configurations) => return Ok(Attempt { configurations, tried }),
            Err(reason) => tried.push(reason),
        }
    }
    Err(plans.iter().flat_map(|plan| plan.failed.clone()).chain(tried).collect())
}

/// What accesses the SRAM: the writes of rows of a share, or fetches.
struct Access<'a> {
    nest: &'a Nest,
    /// The earliest and the latest offset.
    window: (i64, i64),
    /// For fetches: the access that writes their rows, and the least offset relative to its offset.
    after: Option<(usize, i64)>,
}

fn with_choice(
    spec: &TileSpec,
    layouts: &[&Layout],
    plans: &[&Plan],
    choice: &[&Choice],
    agg_words: i64,
) -> Result<Vec<Configuration>, String> {
    // Each share: its writes, then its fetches.
    let mut accesses: Vec<Access> = Vec::new();
    let mut writes = Vec::new();
    for (layout, plan) in layouts.iter().zip(plans) {
        let write = accesses.len();
        writes.push(write);
        accesses.push(Access { nest: &layout.storage.rows, window: plan.write_window, after: None });
        let own = &choice[layout.first_output..][..layout.share.reads.len()];
        accesses.extend(own.iter().map(|choice| Access {
            nest: &choice.fetch.fetches,
            window: choice.fetch.window,
            after: Some((write, choice.after_write)),
        }));
    }
    let mut offsets = Vec::new();
    let mut comparisons = if layouts.len() == 1 { usize::MAX } else { COMPARISON_LIMIT };
    if !place(&accesses, &mut offsets, &mut comparisons) {
        let names = choice.iter().map(|choice| &choice.fetch.name).join(", ");
        return Err(format!("{names}: the SRAM has no free cycles for all of them"));
    }
    let mut running = Vec::new();
    let mut rows = Vec::new();
    for (share, (layout, &write)) in layouts.iter().zip(&writes).enumerate() {
        let own = &choice[layout.first_output..][..layout.share.reads.len()];
        let (write_offset, fetch_offsets) = (offsets[write], &offsets[write + 1..]);
        let storage = &layout.storage;
        let needed = own
            .iter()
            .zip(fetch_offsets)
            .map(|(choice, &offset)| rows_needed(&choice.fetch.fetches, offset, &storage.rows, write_offset))
            .max()
            .unwrap_or(1);
        rows.push((moved(&storage.rows, write_offset), needed));
        running.extend(controllers(share, layout, write_offset, own, fetch_offsets, agg_words));
    }
    let kept = rows.iter().map(|(rows, needed)| Kept { rows, needed: *needed }).collect_vec();
    configurations(spec, &running, &kept)
}

/// Chooses offsets one after the other, of writes as early and of fetches as late as possible, so that no two accesses of
/// the SRAM fall into one cycle.
fn place(accesses: &[Access], offsets: &mut Vec<i64>, comparisons: &mut usize) -> bool {
    let Some(next) = accesses.get(offsets.len()) else { return true };
    let (earliest, latest) = next.window;
    let candidates: Vec<i64> = match next.after {
        None => (earliest..=latest).take(OFFSET_LIMIT as usize).collect(),
        Some((write, after)) => {
            (earliest.max(offsets[write] + after).max(latest - OFFSET_LIMIT)..=latest).rev().collect()
        }
    };
    for offset in candidates {
        if next.nest.cycle.start + offset < 0 {
            break;
        }
        let mut others = accesses.iter().zip(&*offsets);
        let apart = others.all(|(other, &at)| {
            *comparisons = comparisons.saturating_sub(1);
            *comparisons > 0 && next.nest.never_meets(offset, other.nest, at)
        });
        if apart {
            offsets.push(offset);
            if place(accesses, offsets, comparisons) {
                return true;
            }
            offsets.pop();
        }
    }
    false
}

fn moved(nest: &Nest, offset: i64) -> Nest {
    let mut nest = nest.clone();
    nest.cycle.start += offset;
    nest
}

/// All controllers of a share.
fn controllers(
    share: usize,
    layout: &Layout,
    write_offset: i64,
    choice: &[&Choice],
    fetch_offsets: &[i64],
    agg_words: i64,
) -> Vec<Running> {
    let storage = &layout.storage;
    let word = Affine { start: 0, stride: storage.strides.iter().map(|stride| stride % agg_words).collect() };
    let words = Nest { functions: vec![word], ..layout.share.write.clone() };
    let mut rows = moved(&storage.rows, write_offset);
    // Rows of the aggregator follow each other as rows of the SRAM do.
    rows.functions.push(rows.functions[0].clone());
    let mut running = vec![
        Running { role: Role::In2Agg, port: share, share, nest: words, main: None },
        Running { role: Role::Agg2Sram, port: share, share, nest: rows, main: Some(1) },
    ];
    for (port, (choice, &offset)) in (layout.first_output..).zip(choice.iter().zip(fetch_offsets)) {
        let fetches = moved(&choice.fetch.fetches, offset);
        running.push(Running { role: Role::Sram2Tb, port, share, nest: fetches, main: Some(0) });
        running.push(Running { role: Role::Tb2Out, port, share, nest: choice.fetch.reads.clone(), main: None });
    }
    running
}
