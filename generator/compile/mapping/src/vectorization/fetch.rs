//! Vectorization of reads: how the words of a stream come out of the rows of a memory, by a transpose buffer (dissertation
//! §5.5).

use itertools::Itertools;
use num_integer::gcd;
use pushmem_affine::{Affine, deltas};
use pushmem_tile::timing;

use crate::nest::Nest;

/// Most reads that the analysis of a candidate enumerates.
const ENUMERATION_LIMIT: u128 = 1 << 18;

/// Words in the rows of a wide-fetch tile, and when rows arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub fetch_width: i64,
    /// Rows of the transpose buffer.
    pub rows: i64,
    /// Cycles of the SRAM from read to data.
    pub latency: u32,
    /// Cycles that the schedule generator of fetches can wait from one to the next.
    pub longest_wait: i128,
}

/// A vectorized read: rows fetched into the transpose buffer one after the other, words read from there.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    /// Its name in messages.
    pub name: String,
    /// The fetches; functions: number of the row in memory, and number of the fetched row. In time they are still where the
    /// reads are; [`Fetch::window`] says how far they must move.
    pub fetches: Nest,
    /// The reads; function: the word, counted through all fetched rows in the order of their numbers: that of the fetches, but
    /// where these go backwards, upwards in each round.
    pub reads: Nest,
    /// The earliest and the latest offset of the fetches.
    pub window: (i64, i64),
    /// Whether rows are replaced before any of their words is read.
    pub wasteful: bool,
}

/// How to fetch for a read stream whose only function is the word in memory: the fewest fetches first. Also why other
/// ways do not work.
pub(crate) fn candidates(read: &Nest, shape: Shape) -> (Vec<Fetch>, Vec<String>) {
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for inside in (0..=read.depth()).rev() {
        for walk in walks(read, shape, inside) {
            match candidate(read, shape, inside, walk) {
                Ok(fetch) => found.push(fetch),
                Err(reason) => failed.push(reason),
            }
        }
    }
    (found, failed.into_iter().unique().collect())
}

/// How the fetches between two steps of the loops outside follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    /// The loop walks through rows: a fetch every so many cycles, about when it enters a row.
    Along(i64),
    /// All rows that the inner loops need, a fetch every so many cycles.
    Window(i64),
}

/// The ways to fetch with `inside` loops left to the transpose buffer.
fn walks(read: &Nest, shape: Shape, inside: usize) -> Vec<Walk> {
    let mut walks = Vec::new();
    if inside < read.depth() {
        let step = function(read).stride[inside].abs();
        let turn = read.cycle.stride[inside] * shape.fetch_width;
        if (1..=shape.fetch_width).contains(&step) && turn % step == 0 {
            let pace = turn / step;
            walks.push(Walk::Along(pace));
            // A little faster where the last fetch of a round would meet the first of the next.
            let rows = (footprint(read, inside + 1, shape.fetch_width).1 - 1) / shape.fetch_width + 1;
            let round = read.cycle.stride.get(inside + 1);
            let faster = round.filter(|_| rows > 1).map(|round| (round - 1) / (rows - 1));
            walks.extend(faster.filter(|faster| (1..pace).contains(faster)).map(Walk::Along));
        }
    }
    let rows = (footprint(read, inside, shape.fetch_width).1 - 1) / shape.fetch_width + 1;
    let pace = read.cycle.stride.get(inside).map_or(1, |stride| (stride / rows).max(1));
    walks.push(Walk::Window(pace));
    walks.extend((pace > 1 && rows > 1).then_some(Walk::Window(1)));
    walks
}

fn function(read: &Nest) -> &Affine {
    &read.functions[0]
}

/// The row of the first word, and the words from there to the last that the loops inside reach, whatever the part of a
/// row that the loops outside add.
fn footprint(read: &Nest, inside: usize, fetch_width: i64) -> (i64, i64) {
    let word = function(read);
    let (mut low, mut high) = (word.start, word.start);
    for level in 0..read.depth() {
        let steps = read.extent[level] as i64 - 1;
        if level < inside {
            let travel = word.stride[level] * steps;
            low += travel.min(0);
            high += travel.max(0);
        } else {
            high += word.stride[level].rem_euclid(fetch_width) * steps;
        }
    }
    let row = low.div_euclid(fetch_width);
    (row, high - row * fetch_width + 1)
}

/// Plans the fetches, without the window.
fn plan(read: &Nest, shape: Shape, inside: usize, walk: Walk) -> Result<(Nest, Nest), String> {
    let width = shape.fetch_width;
    let word = function(read);
    // Loops from here on repeat the whole walk.
    let outside = inside + usize::from(matches!(walk, Walk::Along(_)));
    let (first_row, words) = footprint(read, outside, width);
    let rows = (words - 1) / width + 1;
    let (Walk::Along(pace) | Walk::Window(pace)) = walk;
    if let Walk::Window(_) = walk
        && rows > shape.rows
    {
        return Err(format!("its inner loops need {rows} rows at once; the transpose buffer has {}", shape.rows));
    }
    // A loop that walks backwards begins with the last row.
    let (begin, step) = match walk {
        Walk::Along(_) if word.stride[inside] < 0 => (rows - 1, -1),
        Walk::Along(_) | Walk::Window(_) => (0, 1),
    };
    let mut fetches = Nest {
        extent: vec![rows as u64].into(),
        cycle: Affine { start: read.cycle.start, stride: vec![pace] },
        functions: vec![
            Affine { start: first_row + begin, stride: vec![step] },
            Affine { start: begin, stride: vec![step] },
        ],
    };
    let mut reads = read.clone();
    reads.functions[0].start -= first_row * width;
    let mut number = rows;
    for level in outside..read.depth() {
        let part = word.stride[level].rem_euclid(width);
        fetches.extent.push(read.extent[level]);
        fetches.cycle.stride.push(read.cycle.stride[level]);
        fetches.functions[0].stride.push((word.stride[level] - part) / width);
        fetches.functions[1].stride.push(number);
        reads.functions[0].stride[level] = part + number * width;
        number *= read.extent[level] as i64;
    }
    let gaps = deltas(&fetches.cycle.stride, &fetches.extent);
    if gaps.iter().zip(&fetches.extent).any(|(&gap, &extent)| extent > 1 && gap < 1) {
        return Err(format!(
            "there is no time for {rows} fetches, one every {pace} cycles, in each round of its loops"
        ));
    }
    let longest = gaps.iter().zip(&fetches.extent).filter(|(_, extent)| **extent > 1).map(|(gap, _)| *gap).max();
    if let Some(wait) = longest.filter(|wait| *wait > shape.longest_wait) {
        return Err(format!(
            "{wait} cycles would be between two fetches; the schedule of `sram2tb` counts to {}",
            shape.longest_wait
        ));
    }
    Ok((fetches, reads))
}

fn candidate(read: &Nest, shape: Shape, inside: usize, walk: Walk) -> Result<Fetch, String> {
    let (fetches, reads) = plan(read, shape, inside, walk)?;
    let short = shortened(read, shape, inside, walk);
    if short.firings() > ENUMERATION_LIMIT {
        return Err("its loops are too irregular to analyse".to_owned());
    }
    let (short_fetches, short_reads) = plan(&short, shape, inside, walk)?;
    if !takes_turns(&short_fetches, shape) {
        return Err("rows fetched backwards would take the places of others in the transpose buffer".to_owned());
    }
    let (window, wasteful) = window(&short_fetches, &short_reads, shape);
    let name = match walk {
        Walk::Along(_) => format!("fetch along loop {inside}"),
        Walk::Window(_) => format!("fetch for {inside} inner loops at once"),
    };
    if window.0 > window.1 {
        let words = shape.rows * shape.fetch_width;
        return Err(format!("{name}: the transpose buffer of {words} words would be overwritten before the last read"));
    }
    Ok(Fetch { name, fetches, reads, window, wasteful })
}

/// The numbers of the fetched rows, in the order of the fetches.
fn numbers(fetches: &Nest) -> Vec<i64> {
    fetches.extent.values(&fetches.functions[1]).collect()
}

/// Whether each row has the place in the transpose buffer that the row fetched longest ago had.
fn takes_turns(fetches: &Nest, shape: Shape) -> bool {
    let places = numbers(fetches).into_iter().map(|number| number.rem_euclid(shape.rows)).collect_vec();
    let turn = places.len().min(shape.rows as usize);
    places[..turn].iter().all_unique() && places.iter().zip(&places[turn..]).all(|(place, next)| place == next)
}

/// Which of the fetches brings the row of a number. Memories without rows are read word by word.
pub(crate) fn place(fetches: &Nest, number: i64) -> i64 {
    let step = fetches.functions.get(1).and_then(|numbers| numbers.stride.first());
    match (step, fetches.extent.first()) {
        (Some(-1), Some(&rows)) => number + rows as i64 - 1 - 2 * number.rem_euclid(rows as i64),
        _ => number,
    }
}

/// Few enough iterations to enumerate, with all that can happen between neighbours.
fn shortened(read: &Nest, shape: Shape, inside: usize, walk: Walk) -> Nest {
    let buffer = shape.rows * shape.fetch_width;
    let word = function(read);
    let extent = (0..read.depth())
        .map(|level| {
            let extent = read.extent[level];
            if level < inside {
                return extent;
            }
            if level == inside
                && let Walk::Along(pace) = walk
            {
                // Whole turns of the transpose buffer can go, so that lanes and rows stay as they are, but for fetches that gain
                // on the reads: each turn brings the last fetch nearer to the reads before it.
                let gains = pace * word.stride[level].abs() != read.cycle.stride[level] * shape.fetch_width;
                let turn = (buffer / gcd(word.stride[level], buffer)) as u64;
                return if gains { extent } else { extent - extent.saturating_sub(4 * turn) / turn * turn };
            }
            // Parts of rows add up over all iterations.
            let whole = word.stride[level] % shape.fetch_width == 0;
            if whole { extent.min(shape.rows as u64 + 2) } else { extent }
        })
        .collect();
    read.shortened(extent)
}

/// Offsets of the fetches for which each row arrives before its first read, and no row replaces one still to be read; and
/// whether one replaces a row that is not read at all.
fn window(fetches: &Nest, reads: &Nest, shape: Shape) -> ((i64, i64), bool) {
    let fetched: Vec<i64> = fetches.cycles().collect();
    let mut uses: Vec<Option<(i64, i64)>> = vec![None; fetched.len()];
    for (word, cycle) in reads.extent.values(function(reads)).zip(reads.cycles()) {
        let uses = &mut uses[(word / shape.fetch_width) as usize];
        *uses = Some(uses.map_or((cycle, cycle), |(first, _)| (first, cycle)));
    }
    let uses = numbers(fetches).into_iter().map(|number| uses[number as usize]).collect_vec();
    let arrival = timing::sram_to_transpose_buffer(shape.latency) as i64;
    let latest = fetched.iter().zip(&uses).filter_map(|(fetch, uses)| Some((*uses)?.0 - arrival - fetch)).min();
    // A row written at the end of a cycle replaces the row that is read in that cycle.
    let replaced = uses.iter().zip(fetched.iter().skip(shape.rows as usize));
    let wasteful = replaced.clone().any(|(uses, _)| uses.is_none());
    let earliest = replaced.filter_map(|(uses, fetch)| Some((*uses)?.1 - (arrival - 1) - fetch)).max();
    let latest = latest.unwrap_or(0);
    ((earliest.unwrap_or(latest - i64::from(u16::MAX)), latest), wasteful)
}
