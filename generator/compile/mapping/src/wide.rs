//! Streams on one wide-fetch tile.

use foldhash::HashMap;
use std::cell::OnceCell;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_tile::{Kind, Role, TileSpec};

use crate::attempt::{Attempt, Kept, Running, configurations};
use crate::controllers::parameters;
use crate::group::{Space, Stream};
use crate::nest::Nest;
use crate::storage_folding::rows_needed;
use crate::supply::after_writes;
use crate::vectorization::{self, Fetch, Filling, Shape, Storage};

/// Offsets tried for each controller of the SRAM.
const OFFSET_LIMIT: i64 = 64;

/// Combinations of ways to fetch that are tried for a set of reads.
const COMBINATION_LIMIT: usize = 64;

/// Combinations of layouts that are tried for several streams.
const LAYOUT_LIMIT: usize = 8;

/// Comparisons of accesses of the SRAM when one stream has it for itself: offsets that are not found soon are not there.
const COMPARISON_LIMIT_ALONE: usize = 1 << 15;

/// Comparisons of accesses of the SRAM when several streams are to share it.
const COMPARISON_LIMIT: usize = 4096;

/// Maps streams to one tile, or one stream to a chain. The layouts of classified streams are kept in `known`.
pub(crate) fn map(spec: &TileSpec, streams: &[&Stream], known: &mut KnownLayouts) -> Result<Attempt, Vec<String>> {
    let Kind::WideFetch { fetch_width, agg_words, tb_words } = spec.kind else {
        return Err(vec![format!("{} tiles have no aggregators", spec.kind.name())]);
    };
    let shape = Shape {
        fetch_width: i64::from(fetch_width),
        rows: i64::from(tb_words / fetch_width),
        latency: spec.sram_latency,
        longest_wait: 1 << parameters(spec, Role::Sram2Tb, 0).cycle_bits,
    };
    let agg_words = i64::from(agg_words);
    let mut failed = Vec::new();
    let (mut first_input, mut first_output) = (0, 0);
    let of_streams = streams.iter().map(|stream| known.of(stream, u64::from(fetch_width))).collect_vec();
    let layouts: Vec<Vec<Layout>> = streams
        .iter()
        .zip(&of_streams)
        .map(|(&stream, of_stream)| {
            failed.extend(of_stream.failed.iter().cloned());
            let layout = |stored| Layout { stream, first_input, first_output, stored };
            let layouts = of_stream.stored.iter().map(layout).collect();
            first_input += stream.writes.len();
            first_output += stream.reads.len();
            layouts
        })
        .collect();
    let limit = if streams.len() == 1 { usize::MAX } else { LAYOUT_LIMIT };
    for layout in layouts.iter().map(|layouts| layouts.iter()).multi_cartesian_product().take(limit) {
        let name = layout.iter().map(|layout| layout.storage().name.as_str()).unique().join(", ");
        let named = |reason: &String| format!("{name}: {reason}");
        let plans: Result<Vec<&Plan>, &Vec<String>> =
            layout.iter().map(|layout| layout.plan(shape, agg_words).as_ref()).collect();
        let outcome = plans.map_err(Clone::clone).and_then(|plans| with_plans(spec, &layout, &plans));
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

/// The layouts of streams so far, by the class of the stream: a stream that is tried beside many others is planned once.
#[derive(Default)]
pub(crate) struct KnownLayouts(HashMap<usize, Rc<StreamLayouts>>);

/// The ways to lay out the words of a stream.
struct StreamLayouts {
    stored: Vec<Stored>,
    /// Why there are no others.
    failed: Vec<String>,
}

/// A way to lay out the words of a stream, and its plan once that was wanted. Neither depends on the streams beside it.
struct Stored {
    storage: Storage,
    plan: OnceCell<Result<Plan, Vec<String>>>,
    /// Rows that must be kept, if the way to fetch does not matter: counted when all accesses have their cycles, as few do.
    span: OnceCell<i64>,
}

/// A stream on some inputs and outputs of a tile, and a way to lay out its words.
struct Layout<'a> {
    stream: &'a Stream,
    first_input: usize,
    first_output: usize,
    stored: &'a Stored,
}

impl KnownLayouts {
    /// The layouts of a stream. Those of a stream without a class are not kept.
    fn of(&mut self, stream: &Stream, fetch_width: u64) -> Rc<StreamLayouts> {
        let layouts = || {
            let (storages, failed) = Storage::candidates(stream, fetch_width);
            let stored = storages
                .into_iter()
                .map(|storage| Stored { storage, plan: OnceCell::new(), span: OnceCell::new() })
                .collect();
            Rc::new(StreamLayouts { stored, failed })
        };
        match stream.class {
            0 => layouts(),
            class => Rc::clone(self.0.entry(class).or_insert_with(layouts)),
        }
    }
}

/// When rows can be written, and the ways to fetch for each read.
struct Plan {
    /// By write, the earliest and the latest offset.
    write_windows: Vec<(i64, i64)>,
    choices: Vec<Vec<Choice>>,
    /// Ways to fetch that do not work.
    failed: Vec<String>,
}

/// A way to fetch, and its constraints on the writes.
struct Choice {
    /// Its number among those of the read.
    number: usize,
    fetch: Fetch,
    /// By write, the least offset of the fetches relative to that of the writes of rows.
    after_writes: Vec<Option<i64>>,
}

impl Stored {
    fn planned(&self, stream: &Stream, shape: Shape, agg_words: i64) -> Result<Plan, Vec<String>> {
        let storage = &self.storage;
        let mut write_windows = Vec::new();
        for filling in &storage.fillings {
            let window = filling.window((agg_words / shape.fetch_width) as u64);
            if window.0 > window.1 {
                let message = format!(
                    "a row is complete {} cycles after its first word, and the aggregator of {agg_words} words keeps it for {}",
                    window.0, window.1
                );
                return Err(vec![message]);
            }
            write_windows.push(window);
        }
        let mut choices = Vec::new();
        let mut failed = Vec::new();
        for (number, read) in stream.reads.iter().enumerate() {
            let (fetches, mut reasons) =
                vectorization::candidates(&read.nest.weighted(&storage.strides).merged(&[]), shape);
            let mut possible = Vec::new();
            for fetch in fetches {
                match after_writes(stream, storage, read, &fetch.fetches, &fetch.reads) {
                    Ok(after_writes) => {
                        let there = after_writes.iter().zip(&write_windows);
                        let there = there.filter_map(|(after, window)| Some((*after)? + window.0)).max();
                        let late = there.map_or(0, |there| there - fetch.window.1);
                        if late <= 0 {
                            possible.push(Choice { number: possible.len(), fetch, after_writes });
                        } else {
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
        Ok(Plan { write_windows, choices, failed })
    }
}

impl<'a> Layout<'a> {
    fn storage(&self) -> &'a Storage {
        &self.stored.storage
    }

    /// Rows that must be kept for elements, whatever the way to fetch; nothing for iterations.
    fn span(&self) -> Option<i64> {
        let elements = matches!(self.stream.space, Space::Elements { .. });
        elements.then(|| *self.stored.span.get_or_init(|| self.storage().span(self.stream)))
    }

    fn plan(&self, shape: Shape, agg_words: i64) -> &'a Result<Plan, Vec<String>> {
        self.stored.plan.get_or_init(|| self.stored.planned(self.stream, shape, agg_words))
    }

    /// The accesses to the SRAM: the writes of rows, whose numbers begin at `first`, then the fetches.
    fn accesses<'b>(&'b self, plan: &Plan, choices: &'b [&Choice], first: usize) -> Vec<Access<'b>> {
        let fillings = &self.storage().fillings;
        let write = |(number, (filling, &window)): (usize, (&'a Filling, &(i64, i64)))| {
            // The row that is moved last holds the word that is written last.
            let after = (0..fillings.len()).filter_map(|before| {
                let Space::Elements { past, .. } = &self.stream.space else { return None };
                let collecting = (self.storage().fetch_width - 1) * filling.pace;
                past.gaps[before][number].map(|gap| (first + before, collecting + 1 - gap))
            });
            Access { id: (first + number, 0), nest: &filling.rows, window, late: false, after: after.collect() }
        };
        let writes = fillings.iter().zip(&plan.write_windows).enumerate().map(write);
        let fetches = (first + fillings.len()..).zip(choices).map(|(number, choice)| {
            let after = (first..).zip(&choice.after_writes).filter_map(|(write, after)| Some((write, (*after)?)));
            let Fetch { fetches: nest, window, .. } = &choice.fetch;
            Access { id: (number, choice.number), nest, window: *window, late: true, after: after.collect() }
        });
        writes.chain(fetches).collect()
    }

    /// All controllers, with the offsets of the accesses of the SRAM.
    fn controllers(&self, stream: usize, choices: &[&Choice], offsets: &[i64]) -> Vec<Running> {
        let (write_offsets, fetch_offsets) = offsets.split_at(self.storage().fillings.len());
        let mut running = Vec::new();
        for (port, (filling, &offset)) in (self.first_input..).zip(self.storage().fillings.iter().zip(write_offsets)) {
            let (words, rows) = (filling.words.clone(), filling.rows.shifted(offset));
            running.push(Running { role: Role::In2Agg, port, stream, nest: words, main: None });
            running.push(Running { role: Role::Agg2Sram, port, stream, nest: rows, main: Some(1) });
        }
        for (port, (choice, &offset)) in (self.first_output..).zip(choices.iter().zip(fetch_offsets)) {
            let fetches = choice.fetch.fetches.shifted(offset);
            running.push(Running { role: Role::Sram2Tb, port, stream, nest: fetches, main: Some(0) });
            running.push(Running { role: Role::Tb2Out, port, stream, nest: choice.fetch.reads.clone(), main: None });
        }
        running
    }
}

fn with_plans(spec: &TileSpec, layouts: &[&Layout], plans: &[&Plan]) -> Result<Attempt, Vec<String>> {
    let mut tried = Vec::new();
    let choices = plans.iter().flat_map(|plan| &plan.choices);
    // Fetches of rows without a reader take cycles of the SRAM that another stream can use.
    let frugal = |choice: &&Choice| plans.len() == 1 || !choice.fetch.wasteful;
    let choices = choices.map(|choices| choices.iter().filter(frugal).collect_vec()).collect_vec();
    if choices.iter().all(|choices| !choices.is_empty()) {
        let mut taken = vec![0; choices.len()];
        let mut known = Apart::default();
        for _ in 0..COMBINATION_LIMIT {
            let choice = choices.iter().zip(&taken).map(|(choices, &taken)| choices[taken]).collect_vec();
            match with_choice(spec, layouts, plans, &choice, &mut known) {
                // Ways to fetch that do not work by themselves are no news where another does.
                Ok(configurations) => return Ok(Attempt { configurations, tried }),
                Err(Refusal { reads, reason }) => {
                    tried.push(reason);
                    // The first reads fail with any choice of the others.
                    let last = (0..reads).rev().find(|&read| taken[read] + 1 < choices[read].len());
                    let Some(last) = last else { break };
                    taken[last] += 1;
                    taken[last + 1..].fill(0);
                }
            }
        }
    }
    Err(plans.iter().flat_map(|plan| plan.failed.clone()).chain(tried).collect())
}

/// Why ways to fetch do not go together.
struct Refusal {
    /// The first so many reads are enough for it, whatever the others do.
    reads: usize,
    reason: String,
}

fn with_choice(
    spec: &TileSpec,
    layouts: &[&Layout],
    plans: &[&Plan],
    choice: &[&Choice],
    known: &mut Apart,
) -> Result<Vec<Configuration>, Refusal> {
    let own = |layout: &Layout| &choice[layout.first_output..][..layout.stream.reads.len()];
    let mut accesses: Vec<Access> = Vec::new();
    let mut first_accesses = Vec::new();
    for (layout, plan) in layouts.iter().zip(plans) {
        first_accesses.push(accesses.len());
        accesses.extend(layout.accesses(plan, own(layout), accesses.len()));
    }
    let simple = layouts.len() == 1 && layouts[0].stream.writes.len() == 1;
    let comparisons = if simple { COMPARISON_LIMIT_ALONE } else { COMPARISON_LIMIT };
    let mut placing = Placing::new(&accesses, comparisons, known);
    if placing.place().is_err() {
        let names = choice.iter().map(|choice| &choice.fetch.name).join(", ");
        let reads = accesses[..=placing.deepest].iter().filter(|access| access.late).count();
        return Err(Refusal { reads, reason: format!("{names}: the SRAM has no free cycles for all of them") });
    }
    let offsets = placing.offsets;
    let mut running = Vec::new();
    let mut rows = Vec::new();
    for (stream, (layout, &first)) in layouts.iter().zip(&first_accesses).enumerate() {
        let own = own(layout);
        let offsets = &offsets[first..];
        running.extend(layout.controllers(stream, own, &offsets[..layout.storage().fillings.len() + own.len()]));
        let space = &layout.storage().space;
        rows.push(match layout.span() {
            Some(span) => (space.clone(), false, span),
            None => {
                // The space of a stream in order is its only write of rows.
                let needed =
                    |(choice, &offset): (&&Choice, &i64)| rows_needed(&choice.fetch.fetches, offset, space, offsets[0]);
                let needed = own.iter().zip(&offsets[1..]).map(needed).max().unwrap_or(1);
                (space.shifted(offsets[0]), true, needed)
            }
        });
    }
    let kept = rows.iter().map(|(rows, in_order, needed)| Kept { rows, in_order: *in_order, needed: *needed });
    let reads = choice.len();
    configurations(spec, &running, &kept.collect_vec()).map_err(|reason| Refusal { reads, reason })
}

/// Its number, and that of the way to fetch.
type AccessId = (usize, usize);

/// Accesses to the SRAM: the writes of rows of one port, or fetches.
struct Access<'a> {
    id: AccessId,
    nest: &'a Nest,
    /// The earliest and the latest offset.
    window: (i64, i64),
    /// Whether it is to be as late as possible, and not as early.
    late: bool,
    /// Accesses that come before, and the least offset relative to theirs.
    after: Vec<(usize, i64)>,
}

/// Chooses offsets one after the other, of writes as early and of fetches as late as possible, so that no two accesses of
/// the SRAM fall into one cycle.
struct Placing<'a> {
    accesses: &'a [Access<'a>],
    /// Those of the first accesses.
    offsets: Vec<i64>,
    /// The last access that offsets were tried for.
    deepest: usize,
    /// Comparisons of accesses that are left.
    comparisons: usize,
    known: &'a mut Apart,
}

/// Whether two accesses are apart depends on the distance of their offsets alone: answers so far, by the two and the
/// distance.
type Apart = HashMap<(AccessId, AccessId, i64), bool>;

/// Accesses by their numbers, as bits: a tile has few ports.
type Accesses = u32;

impl Placing<'_> {
    fn new<'a>(accesses: &'a [Access<'a>], comparisons: usize, known: &'a mut Apart) -> Placing<'a> {
        Placing { accesses, offsets: Vec::new(), deepest: 0, comparisons, known }
    }

    /// Finds offsets for the accesses that have none.
    ///
    /// # Errors
    /// The accesses that are in the way where they are: with others in other places it would be the same. The last of them
    /// moves next (conflict-directed backjumping; Prosser, Computational Intelligence 9(3), 1993).
    fn place(&mut self) -> Result<(), Accesses> {
        let number = self.offsets.len();
        let Some(next) = self.accesses.get(number) else { return Ok(()) };
        self.deepest = self.deepest.max(number);
        let mut in_the_way = 0;
        let (mut earliest, mut latest) = next.window;
        for &(before, least) in &next.after {
            if let Some(at) = self.offsets.get(before) {
                earliest = earliest.max(at + least);
                in_the_way |= 1 << before;
            }
        }
        for (before, (placed, &at)) in self.accesses.iter().zip(&self.offsets).enumerate() {
            for (_, least) in placed.after.iter().filter(|(after, _)| *after == number) {
                latest = latest.min(at - least);
                in_the_way |= 1 << before;
            }
        }
        let candidates: Vec<i64> = match next.late {
            false => (earliest..=latest).take(OFFSET_LIMIT as usize).collect(),
            true => (earliest.max(latest - OFFSET_LIMIT)..=latest).rev().collect(),
        };
        for offset in candidates {
            if next.nest.cycle.start + offset < 0 {
                break;
            }
            if let Some(met) = self.met(number, offset) {
                in_the_way |= 1 << met;
                continue;
            }
            self.offsets.push(offset);
            let Err(in_their_way) = self.place() else { return Ok(()) };
            self.offsets.pop();
            if in_their_way >> number & 1 == 0 {
                return Err(in_their_way);
            }
            in_the_way |= in_their_way & !(1 << number);
        }
        Err(in_the_way)
    }

    /// The first access before this one that it meets, or may meet when the comparisons are used up.
    fn met(&mut self, number: usize, offset: i64) -> Option<usize> {
        let Placing { accesses, offsets, comparisons, known, .. } = self;
        let next = &accesses[number];
        (0..number).find(|&before| {
            let (other, at) = (&accesses[before], offsets[before]);
            *comparisons = comparisons.saturating_sub(1);
            let meets_never = || next.nest.never_meets(offset, other.nest, at);
            *comparisons == 0 || !*known.entry((next.id, other.id, offset - at)).or_insert_with(meets_never)
        })
    }
}
