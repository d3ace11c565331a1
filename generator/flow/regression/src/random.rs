//! Random configurations and specifications.

mod specs;

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_configuration::{Chain, Configuration, ControllerConfiguration};
use pushmem_model::{Inputs, TileModel};
use pushmem_tile::{Controller, Kind, Mode, Role, TileSpec, timing};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

pub use specs::{random_spec, random_spec_of_any_size, random_spec_with_extras};

/// Runs of random configurations are kept about this short, in cycles.
const RUN_CYCLES: u64 = 3000;

/// Most firings of a controller, and most cycles of a pause, where a random configuration draws the largest that there is.
const LARGEST: u64 = 2048;

/// How often a field has one of its limits.
const LIMIT_PROBABILITY: f64 = 0.2;

/// How often a configuration of a tile with modes has one.
const MODE_PROBABILITY: f64 = 0.6;

/// A number up to `limit`, mostly up to `usual`; often one of the limits, where the largest is at most `most`.
fn with_limits(least: u64, usual: u64, limit: u64, most: u64, rng: &mut ChaCha8Rng) -> u64 {
    if limit <= most && rng.random_bool(LIMIT_PROBABILITY) {
        return *[limit, limit, least, limit.saturating_sub(1)].choose_with(rng).max(&least);
    }
    rng.random_range(least..=usual.min(limit).max(least))
}

/// A random configuration without regard to what it does: controllers run over each other. It fits the tile.
pub fn arbitrary_configuration(spec: &TileSpec, rng: &mut ChaCha8Rng) -> Configuration {
    let controllers = spec
        .controllers()
        .iter()
        .filter_map(|controller| {
            let runs = rng.random_bool(0.85);
            runs.then(|| (controller.name.clone(), arbitrary_controller(controller, rng)))
        })
        .collect();
    Configuration { tile: spec.name.clone(), controllers, chain: random_chain(spec, rng), ..Configuration::default() }
}

fn random_chain(spec: &TileSpec, rng: &mut ChaCha8Rng) -> Chain {
    if !spec.chaining {
        return Chain::default();
    }
    let highest = (1_u64 << spec.tile_id_bits()) - 1;
    // Mostly one of the first tiles, which arbitrary addresses are likely to mean.
    let likely = if rng.random_bool(0.6) { highest.min(3) } else { highest };
    Chain { enable: rng.random_bool(0.5), tile_id: with_limits(0, likely, highest, highest, rng) as u32 }
}

/// A row to begin with: in a chain, mostly one that the tile owns.
fn random_base(spec: &TileSpec, chain: Chain, rng: &mut ChaCha8Rng) -> i64 {
    let rows = i64::from(spec.rows);
    let owned = chain.enable && rng.random_bool(0.7);
    rng.random_range(0..rows) + if owned { i64::from(chain.tile_id) * rows } else { 0 }
}

fn arbitrary_controller(controller: &Controller, rng: &mut ChaCha8Rng) -> ControllerConfiguration {
    let limit = 1_u64 << controller.extent_bits;
    let gap_limit = 1_u64 << controller.cycle_bits;
    let levels = with_limits(1, u64::from(controller.levels), u64::from(controller.levels), u64::MAX, rng);
    let mut budget = rng.random_range(1..=400_u64);
    let mut firings = 1;
    let extent = (0..levels)
        .map(|_| {
            let extent = with_limits(1, budget.min(12), limit, LARGEST / firings, rng);
            budget = (budget / extent).max(1);
            firings *= extent;
            extent
        })
        .collect::<Domain>();
    let start = with_limits(0, 39, gap_limit - 1, LARGEST, rng);
    let mut cycle = Affine { start: start as i64, stride: Vec::new() };
    let mut inside = 0;
    let mut steps = firings;
    for &extent in &extent {
        // Mostly close together, now and then far apart. Loops outside step less often.
        steps /= extent;
        let usual = if rng.random_bool(0.05) { 600 } else { 6 };
        let gap = with_limits(1, usual, gap_limit, LARGEST / (steps * (extent - 1).max(1)), rng);
        let stride = inside + gap as i64;
        inside += stride * (extent as i64 - 1);
        cycle.stride.push(stride);
    }
    let mut configured = ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() };
    for generator in &controller.addresses {
        let reach = (generator.modulus as i64).min(1 << 20);
        let mut any = || match rng.random_range(0..10) {
            0..3 => rng.random_range(-2..=2),
            3..5 => *[generator.modulus as i64 - 1, generator.modulus as i64 / 2].choose_with(rng),
            _ => rng.random_range(-reach..=reach),
        };
        let stride = (0..levels).map(|_| any()).collect();
        configured.set_address(generator.memory, Affine { start: any(), stride });
    }
    configured
}

/// A random configuration that keeps all promises: no port conflict, no word lost, none read before it was written.
/// For a specification too small for anything interesting, it passes a single word on as far as the schedule goes;
/// `None` when not even that works.
pub fn legal_configuration(spec: &TileSpec, rng: &mut ChaCha8Rng) -> Option<Configuration> {
    let modes = spec.modes().collect_vec();
    if !modes.is_empty() && rng.random_bool(MODE_PROBABILITY) {
        return Some(mode_configuration(spec, *modes.choose_with(rng), rng));
    }
    let found = (0..200).find_map(|_| {
        let configuration = match spec.kind {
            Kind::WideFetch { .. } if spec.rom_mode && rng.random_bool(0.3) => rom_configuration(spec, rng),
            Kind::WideFetch { fetch_width, agg_words, tb_words } => {
                wide_fetch_configuration(spec, fetch_width, agg_words, tb_words, rng)
            }
            Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => direct_configuration(spec, rng),
            Kind::Rom => rom_configuration(spec, rng),
        };
        is_legal(spec, &configuration).then_some(configuration)
    });
    let found = found.map(|configuration| with_contents(spec, configuration, rng));
    found.or_else(|| Some(single_word(spec)).filter(|configuration| is_legal(spec, configuration)))
}

/// A tile in a mode, in which nothing can go wrong: a RAM has contents, so that a word that is read was written.
fn mode_configuration(spec: &TileSpec, mode: Mode, rng: &mut ChaCha8Rng) -> Configuration {
    let words = if mode == Mode::Ram { spec.words() } else { 0 };
    let contents = random_words(spec, words, rng);
    Configuration { tile: spec.name.clone(), mode, contents, ..Configuration::default() }
}

/// The configuration, now and then with words that the memory has at first.
fn with_contents(spec: &TileSpec, configuration: Configuration, rng: &mut ChaCha8Rng) -> Configuration {
    if !spec.contents || !configuration.contents.is_empty() || rng.random() {
        return configuration;
    }
    let words = rng.random_range(0..=spec.words());
    Configuration { contents: random_words(spec, words, rng), ..configuration }
}

fn random_words(spec: &TileSpec, words: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    (0..words).map(|_| rng.random::<u64>() >> (64 - spec.word_bits)).collect()
}

/// A single word from input 0 to output 0, by as many controllers as can start early enough.
fn single_word(spec: &TileSpec) -> Configuration {
    let mut start = 0;
    let mut controllers = BTreeMap::new();
    let is_of_rom_mode = |role: Role| spec.rom_mode && role == Role::Rom2Out;
    let moves = |role: Role| role != Role::StencilValid && !is_of_rom_mode(role);
    for controller in spec.controllers().iter().filter(|c| c.port == 0 && moves(c.role)) {
        if start >= 1_u64 << controller.cycle_bits {
            break;
        }
        let once = |start: u64| Affine { start: start as i64, stride: vec![1] };
        let mut configured = ControllerConfiguration { extent: [1].into(), cycle: once(start), ..Default::default() };
        for generator in &controller.addresses {
            configured.set_address(generator.memory, once(0));
        }
        controllers.insert(controller.name.clone(), configured);
        start += match controller.role {
            Role::In2Agg => timing::AGGREGATOR_WRITE,
            Role::Sram2Tb => timing::sram_to_transpose_buffer(spec.sram_latency),
            _ => timing::SRAM_WRITE,
        };
    }
    Configuration { tile: spec.name.clone(), controllers, ..Configuration::default() }
}

/// Whether the model finds nothing wrong.
fn is_legal(spec: &TileSpec, configuration: &Configuration) -> bool {
    if configuration.check(spec).is_err() {
        return false;
    }
    let mut tile = TileModel::new(spec);
    tile.configure(configuration);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    for _ in 0..8 * RUN_CYCLES {
        if tile.is_idle() {
            return tile.take_violations().is_empty();
        }
        tile.clock(&Inputs::default());
    }
    false
}

/// A loop nest over rows or words, two loops that may be folded into one.
struct Loops {
    inner: u64,
    outer: u64,
    /// Cycles from one iteration to the next, of the inner and of the outer loop.
    period: i64,
    outer_period: i64,
}

impl Loops {
    fn random(levels: u32, extent_bits: u32, cycle_bits: u32, period: u64, rng: &mut ChaCha8Rng) -> Self {
        let limit = 1_u64 << extent_bits;
        let iterations = (RUN_CYCLES / period).max(2);
        let inner = with_limits(1, iterations.min(24), limit, iterations, rng);
        let left = iterations / inner;
        let outer = if levels < 2 { 1 } else { with_limits(1, left.clamp(1, 16), limit, left, rng) };
        // Whole periods of pause keep everyone's SRAM slots apart.
        let longest_pause = ((1_u64 << cycle_bits) / period).saturating_sub(1).min(5);
        let pause = rng.random_range(0..=longest_pause);
        Loops { inner, outer, period: period as i64, outer_period: ((inner + pause) * period) as i64 }
    }

    fn iterations(&self) -> u64 {
        self.inner * self.outer
    }

    /// Cycles from the first iteration to the last.
    fn span(&self) -> i64 {
        (self.inner as i64 - 1) * self.period + (self.outer as i64 - 1) * self.outer_period
    }

    /// The strides of a function that goes by `step` from iteration to iteration.
    fn linear(&self, step: i64) -> Vec<i64> {
        self.strides(step, step * self.inner as i64)
    }

    fn strides(&self, inner: i64, outer: i64) -> Vec<i64> {
        if self.outer == 1 { vec![inner] } else { vec![inner, outer] }
    }

    fn extents(&self) -> Domain {
        if self.outer == 1 { [self.inner].into() } else { [self.inner, self.outer].into() }
    }

    fn cycle(&self, start: i64) -> Affine {
        Affine { start, stride: self.strides(self.period, self.outer_period) }
    }
}

/// Puts a loop inside: over the words of a row.
fn inside<T>(first: T, mut rest: Vec<T>) -> Vec<T> {
    rest.insert(0, first);
    rest
}

fn wide_fetch_configuration(
    spec: &TileSpec,
    fetch_width: u32,
    agg_words: u32,
    tb_words: u32,
    rng: &mut ChaCha8Rng,
) -> Configuration {
    let lanes = i64::from(fetch_width);
    let (agg_rows, tb_rows) = (i64::from(agg_words) / lanes, i64::from(tb_words) / lanes);
    let inputs = rng.random_range(1..=spec.inputs);
    let outputs = rng.random_range(1..=spec.outputs);
    // Words of a row follow each other by `gap`; rows by `period`, in which everyone has an SRAM slot of its own.
    let mut gap = rng.random_range(1..=3_i64);
    let accesses = i64::from(inputs + outputs);
    let width = |role: Role| &spec.controllers[&role];
    let word_levels = width(Role::In2Agg).levels.min(width(Role::Tb2Out).levels);
    // With a single level, the loop over the words of a row and the loop over rows are one.
    let merged = word_levels == 1;
    let period = if merged {
        gap = gap.max((accesses + lanes - 1) / lanes);
        lanes * gap
    } else {
        (lanes * gap).max(accesses) + rng.random_range(0..=2)
    };
    let mut slots = (0..period).collect_vec();
    slots.shuffle(rng);
    let slots = slots.into_iter();
    let levels = (word_levels - 1).min(width(Role::Agg2Sram).levels).min(width(Role::Sram2Tb).levels);
    let extent_bits = spec.controllers.values().map(|c| c.extent_bits).min().unwrap_or(1);
    let extent_bits = if merged { extent_bits.saturating_sub(fetch_width.ilog2()) } else { extent_bits };
    let cycle_bits = spec.controllers.values().map(|c| c.cycle_bits).min().unwrap_or(1);
    let loops = Loops::random(levels, extent_bits, cycle_bits, period as u64, rng);
    let step = *[1, 1, 1, -1, 3].choose_with(rng);
    let chain = random_chain(spec, rng);
    let bases = (0..inputs).map(|_| random_base(spec, chain, rng)).collect_vec();
    let mut build = WideFetch { spec, lanes, gap, period, merged, step, bases, loops, slots, written_from: Vec::new() };
    let mut controllers = BTreeMap::new();
    for input in 0..inputs {
        controllers.extend(build.input(input, agg_rows, rng));
    }
    for output in 0..outputs {
        controllers.extend(build.output(output, tb_rows, rng));
    }
    add_stencil_valid(spec, &build.loops, &mut controllers, rng);
    Configuration { tile: spec.name.clone(), controllers, chain, ..Configuration::default() }
}

/// A random configuration of a wide-fetch tile, so far as it is chosen.
struct WideFetch<'a, Slots> {
    spec: &'a TileSpec,
    /// Words of a row.
    lanes: i64,
    /// Cycles from word to word of a row.
    gap: i64,
    /// Cycles from row to row.
    period: i64,
    /// Whether the loop over the words of a row and the loop over rows are one.
    merged: bool,
    /// Rows from one written row to the next.
    step: i64,
    /// The first row of each input.
    bases: Vec<i64>,
    /// Loops over rows.
    loops: Loops,
    /// Cycles of the period in which no access of the SRAM is yet.
    slots: Slots,
    /// The cycle from which the first row of each input is in the SRAM.
    written_from: Vec<i64>,
}

impl<Slots: Iterator<Item = i64>> WideFetch<'_, Slots> {
    /// The strides of a function whose innermost loop is over the words of a row.
    fn strides(&self, word: i64, rows: Vec<i64>) -> Vec<i64> {
        if self.merged { vec![word] } else { inside(word, rows) }
    }

    /// The extents of loops over so many words of each row.
    fn extents(&self, words: i64) -> Domain {
        match self.merged {
            true => [words as u64 * self.loops.inner].into(),
            false => inside(words as u64, self.loops.extents().to_vec()).into(),
        }
    }

    /// The first cycle of the next free slot, from a cycle on.
    fn slot_from(&mut self, earliest: i64) -> i64 {
        let slot = self.slots.next().unwrap_or(0);
        earliest + (slot - earliest).rem_euclid(self.period)
    }

    /// The controllers of an input: the words of rows into the aggregator, and rows into the SRAM.
    fn input(&mut self, input: u32, agg_rows: i64, rng: &mut ChaCha8Rng) -> [(String, ControllerConfiguration); 2] {
        let (lanes, gap) = (self.lanes, self.gap);
        let start = rng.random_range(0..=12_i64);
        let agg_start = rng.random_range(0..agg_rows) * lanes;
        let last_word = start + (lanes - 1) * gap;
        let in2agg = ControllerConfiguration {
            extent: self.extents(lanes),
            cycle: Affine { start, stride: self.strides(gap, self.loops.cycle(0).stride) },
            agg: Some(Affine { start: agg_start, stride: self.strides(1, self.loops.linear(lanes)) }),
            ..Default::default()
        };
        let start = self.slot_from(last_word + timing::AGGREGATOR_WRITE as i64);
        self.written_from.push(start + timing::SRAM_WRITE as i64);
        let agg2sram = ControllerConfiguration {
            extent: self.loops.extents(),
            cycle: self.loops.cycle(start),
            agg: Some(Affine { start: agg_start / lanes, stride: self.loops.linear(1) }),
            sram: Some(Affine { start: self.bases[input as usize], stride: self.loops.linear(self.step) }),
            ..Default::default()
        };
        [(format!("in2agg_{input}"), in2agg), (format!("agg2sram_{input}"), agg2sram)]
    }

    /// The controllers of an output: rows into the transpose buffer, and their words out of it.
    fn output(&mut self, output: u32, tb_rows: i64, rng: &mut ChaCha8Rng) -> [(String, ControllerConfiguration); 2] {
        let (lanes, step) = (self.lanes, self.step);
        let source = rng.random_range(0..self.bases.len() as u32) as usize;
        let base = self.bases[source];
        // In the order of the writes after some rows; or, when all is written, in any order.
        let in_order = rng.random_bool(0.6);
        let lag = match in_order {
            true => rng.random_range(0..=self.loops.iterations().min(9)) as i64 * self.period,
            false => self.loops.span(),
        };
        let start = self.slot_from(self.written_from[source] + lag);
        let loops = &self.loops;
        let sram = if in_order {
            Affine { start: base, stride: loops.linear(step) }
        } else {
            let reach = step * (loops.iterations() as i64 - 1);
            match rng.random_range(0..3) {
                // Backwards.
                0 => Affine { start: base + reach, stride: loops.linear(-step) },
                // The same few rows again and again.
                1 => Affine { start: base, stride: loops.strides(step, 0) },
                // Another order of the two loops.
                _ => Affine { start: base, stride: loops.strides(0, step) },
            }
        };
        let tb_start = rng.random_range(0..tb_rows);
        let arrives = start + timing::sram_to_transpose_buffer(self.spec.sram_latency) as i64;
        let sram2tb = ControllerConfiguration {
            extent: loops.extents(),
            cycle: loops.cycle(start),
            sram: Some(sram),
            tb: Some(Affine { start: tb_start, stride: loops.linear(1) }),
            ..Default::default()
        };
        // All words of a row forwards or backwards, the first only, or every other one.
        let (words, first, stride) = match rng.random_range(0..4) {
            _ if self.merged => (lanes, 0, 1),
            0 => (lanes, lanes - 1, -1),
            1 => (1, 0, 1),
            2 if lanes > 1 => (lanes / 2, 0, 2),
            _ => (lanes, 0, 1),
        };
        let first_word = arrives + rng.random_range(0..=2);
        let tb2out = ControllerConfiguration {
            extent: self.extents(words),
            cycle: Affine { start: first_word, stride: self.strides(self.gap, loops.cycle(0).stride) },
            tb: Some(Affine { start: tb_start * lanes + first, stride: self.strides(stride, loops.linear(lanes)) }),
            ..Default::default()
        };
        [(format!("sram2tb_{output}"), sram2tb), (format!("tb2out_{output}"), tb2out)]
    }
}

fn add_stencil_valid(
    spec: &TileSpec,
    loops: &Loops,
    controllers: &mut BTreeMap<String, ControllerConfiguration>,
    rng: &mut ChaCha8Rng,
) {
    if spec.stencil_valid && rng.random_bool(0.5) {
        let cycle = loops.cycle(rng.random_range(0..=12));
        controllers.insert(
            Role::StencilValid.name().to_owned(),
            ControllerConfiguration { extent: loops.extents(), cycle, ..Default::default() },
        );
    }
}

fn direct_configuration(spec: &TileSpec, rng: &mut ChaCha8Rng) -> Configuration {
    let (write_role, read_role) = spec.kind.direct_roles().expect("called for direct tiles only");
    let inputs = rng.random_range(1..=spec.inputs);
    let outputs = rng.random_range(1..=spec.outputs);
    let period = i64::from(inputs.max(outputs)) + rng.random_range(0..=2);
    let widths = [write_role, read_role].map(|role| &spec.controllers[&role]);
    let levels = widths.iter().map(|c| c.levels).min().unwrap_or(1);
    let extent_bits = widths.iter().map(|c| c.extent_bits).min().unwrap_or(1);
    let cycle_bits = widths.iter().map(|c| c.cycle_bits).min().unwrap_or(1);
    let loops = Loops::random(levels, extent_bits, cycle_bits, period as u64, rng);
    let step = *[1, 1, -1, 5].choose_with(rng);
    let chain = random_chain(spec, rng);
    let memory = spec.main_memory();
    let mut controllers = BTreeMap::new();
    let mut insert = |role: Role, port: u32, cycle: Affine, address: Affine| {
        let mut configured = ControllerConfiguration { extent: loops.extents(), cycle, ..Default::default() };
        configured.set_address(memory, address);
        controllers.insert(format!("{}_{port}", role.name()), configured);
    };
    let mut bases = Vec::new();
    let mut slots = (0..period).collect_vec();
    slots.shuffle(rng);
    for input in 0..inputs {
        let start = slots[input as usize];
        let base = random_base(spec, chain, rng);
        bases.push((base, start));
        insert(write_role, input, loops.cycle(start), Affine { start: base, stride: loops.linear(step) });
    }
    slots.shuffle(rng);
    for output in 0..outputs {
        let (base, written) = bases[rng.random_range(0..inputs) as usize];
        let in_order = rng.random_bool(0.6);
        let lag = if in_order { rng.random_range(0..=8) * period } else { loops.span() };
        let earliest = written + timing::SRAM_WRITE as i64 + lag;
        let start = earliest + (slots[output as usize] - earliest).rem_euclid(period);
        let address = if in_order {
            Affine { start: base, stride: loops.linear(step) }
        } else {
            Affine { start: base + step * (loops.iterations() as i64 - 1), stride: loops.linear(-step) }
        };
        insert(read_role, output, loops.cycle(start), address);
    }
    add_stencil_valid(spec, &loops, &mut controllers, rng);
    Configuration { tile: spec.name.clone(), controllers, chain, ..Configuration::default() }
}

fn rom_configuration(spec: &TileSpec, rng: &mut ChaCha8Rng) -> Configuration {
    let width = &spec.controllers[&Role::Rom2Out];
    let period = rng.random_range(1..=3);
    let loops = Loops::random(width.levels, width.extent_bits, width.cycle_bits, period, rng);
    let mut controllers = BTreeMap::new();
    let cycle = loops.cycle(rng.random_range(0..=9));
    controllers.insert(
        format!("{}_0", Role::Rom2Out.name()),
        ControllerConfiguration { extent: loops.extents(), cycle, ..Default::default() },
    );
    add_stencil_valid(spec, &loops, &mut controllers, rng);
    let contents = random_words(spec, spec.words(), rng);
    Configuration { tile: spec.name.clone(), controllers, contents, ..Configuration::default() }
}

/// Picks an item of an array.
trait ChooseWith<T> {
    fn choose_with(&self, rng: &mut ChaCha8Rng) -> &T;
}

impl<T> ChooseWith<T> for [T] {
    fn choose_with(&self, rng: &mut ChaCha8Rng) -> &T {
        &self[rng.random_range(0..self.len())]
    }
}
