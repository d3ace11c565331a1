//! Random networks: programs whose reductions are loops.

mod layers;

use std::fmt::Write as _;

use itertools::Itertools;
use rand::seq::IndexedRandom;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::expression::{ELEMENTS, Term, expression};

/// Iterations of a nest in all tiles together, at most.
const ITERATIONS: i64 = 1600;

/// Iterations of all nests in all tiles together, beyond which no layer is added.
const ENOUGH: i64 = 6000;

/// A program of imperfect loop nests that depends on the seed alone.
pub fn random_network(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    Generator::new(&mut random, seed).program()
}

/// As [`random_network`], with elements of 32 bits in most arrays.
pub fn random_network_of_wide_elements(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator = Generator::new(&mut random, seed);
    generator.main_type = if seed.is_multiple_of(2) { "i32" } else { "u32" };
    generator.program()
}

/// An array that nests can read.
#[derive(Clone, Debug)]
struct Array {
    name: String,
    type_name: &'static str,
    shape: Vec<i64>,
    /// The number of tile loops around the nests that write it.
    level: usize,
    read: bool,
}

/// A loop of a nest.
#[derive(Clone, Debug)]
struct Loop {
    name: String,
    extent: i64,
}

/// The statements within the tile loops of a level.
#[derive(Clone, Debug, Default)]
struct Section {
    /// Before and after the next tile loop.
    before: String,
    after: String,
}

struct Generator<'a> {
    random: &'a mut ChaCha8Rng,
    name: String,
    /// The extents of the loops over tiles, outermost first. Their variables are `t0` and `t1`.
    tiles: Vec<i64>,
    /// Of each level, from outside of all tile loops to inside of all.
    sections: Vec<Section>,
    /// Whether what is written now stands behind the inner tile loops.
    after: bool,
    inputs: Vec<Array>,
    arrays: Vec<Array>,
    outputs: Vec<Array>,
    /// The type that most arrays have.
    main_type: &'static str,
    iterations: i64,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut ChaCha8Rng, seed: u64) -> Self {
        let loops = *[0, 0, 1, 1, 1, 2].choose(random).expect("there are some");
        let tiles = (0..loops).map(|_| random.random_range(1..=4)).collect_vec();
        let main_type =
            if random.random_ratio(2, 3) { "i16" } else { ELEMENTS.choose(random).expect("there are some") };
        Generator {
            name: format!("network_{seed}"),
            sections: vec![Section::default(); tiles.len() + 1],
            tiles,
            after: false,
            inputs: Vec::new(),
            arrays: Vec::new(),
            outputs: Vec::new(),
            main_type,
            iterations: 0,
            random,
        }
    }

    fn program(mut self) -> String {
        let inside = self.tiles.len();
        let mut accumulated = Vec::new();
        for level in 0..inside {
            if self.random.random_ratio(1, 3) {
                accumulated.push(self.accumulator(level));
            }
        }
        let shape = self.shape();
        self.load(inside, &shape);
        for _ in 0..self.random.random_range(1..=4) {
            self.layer(inside);
        }
        for array in accumulated {
            self.accumulate(inside, array);
        }
        for level in (0..=inside).rev() {
            self.after = true;
            if level < inside && self.random.random_ratio(1, 4) {
                self.layer(level);
            }
            let unread = (0..self.arrays.len()).filter(|&array| self.arrays[array].level == level);
            for array in unread.filter(|&array| !self.arrays[array].read).collect_vec() {
                self.drain(level, array);
            }
        }
        self.text()
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_ratio(1, count)
    }

    fn choose<Item: Copy>(&mut self, items: &[Item]) -> Item {
        *items.choose(self.random).expect("there are some")
    }

    /// How often a nest within so many tile loops runs.
    fn times(&self, level: usize) -> i64 {
        self.tiles[..level].iter().product()
    }

    fn element(&mut self) -> &'static str {
        if self.one_in(6) { self.choose(&ELEMENTS) } else { self.main_type }
    }

    /// The shape of the first buffer: channels, width and height, some of them.
    fn shape(&mut self) -> Vec<i64> {
        let channels = self.choose(&[1, 2, 3, 4, 4, 6, 8]);
        let (width, height) = (self.random.random_range(3..=10), self.random.random_range(3..=8));
        match self.random.random_range(0..6) {
            0 => vec![self.random.random_range(6..=40)],
            1 => vec![2 * width, height],
            2 => vec![channels, 2 * width],
            _ => vec![channels, width, height],
        }
    }

    fn add(&mut self, prefix: &str, type_name: &'static str, shape: Vec<i64>, level: usize) -> usize {
        let name = format!("{prefix}{}", self.arrays.len());
        self.arrays.push(Array { name, type_name, shape, level, read: false });
        self.arrays.len() - 1
    }

    /// An element of a new input, whose indices follow these loops, and perhaps the tiles.
    fn input(&mut self, level: usize, loops: &[Loop]) -> Term {
        let type_name = self.element();
        let mut indices = loops.iter().map(|level| level.name.clone()).collect_vec();
        let mut shape = loops.iter().map(|level| level.extent).collect_vec();
        let mut moved = vec![false; shape.len()];
        for tile in 0..level {
            let (variable, count) = (format!("t{tile}"), self.tiles[tile]);
            let dimension = self.random.random_range(0..shape.len());
            match self.random.random_range(0..8) {
                // The same for all tiles.
                0 => {}
                // A dimension of its own.
                1 => {
                    indices.push(variable);
                    shape.push(count);
                    moved.push(true);
                }
                _ if moved[dimension] => {}
                // Beside each other, or overlapping.
                kind => {
                    let extent = shape[dimension];
                    let step = if kind < 5 { extent } else { self.random.random_range(1..=extent) };
                    indices[dimension] = format!("{step}*{variable} + {}", indices[dimension]);
                    shape[dimension] += step * (count - 1);
                    moved[dimension] = true;
                }
            }
        }
        let name = format!("input{}", self.inputs.len());
        let text = format!("{name}[{}]", indices.iter().join(", "));
        self.inputs.push(Array { name, type_name, shape, level: 0, read: true });
        Term { text, type_name }
    }

    /// Loads a new buffer from a new input.
    fn load(&mut self, level: usize, shape: &[i64]) -> usize {
        let loops = output_loops(shape);
        let term = self.input(level, &loops);
        let buffer = self.add("loaded", term.type_name, shape.to_vec(), level);
        let order = self.order(&loops);
        let target = self.target(buffer);
        self.nest(level, &order, &format!("{target} = {}", term.text));
        buffer
    }

    /// An element of a buffer with these indices.
    fn target(&self, buffer: usize) -> String {
        let Array { name, shape, .. } = &self.arrays[buffer];
        format!("{name}[{}]", output_loops(shape).iter().map(|level| &level.name).join(", "))
    }

    /// Loops in some order, outermost first: mostly the innermost dimension within the others.
    fn order(&mut self, loops: &[Loop]) -> Vec<Loop> {
        let mut order = loops.iter().rev().cloned().collect_vec();
        if self.one_in(5) {
            order.shuffle(self.random);
        }
        order
    }

    /// The header of a loop, perhaps unrolled.
    fn header(&mut self, of: &Loop, copies: &mut i64) -> String {
        let factors = [2, 4, of.extent].into_iter().filter(|&factor| of.extent % factor == 0 && factor > 1);
        let factors = factors.filter(|factor| *copies * factor <= 8).collect_vec();
        let unroll = match self.random.random_range(0..5) {
            0 if !factors.is_empty() => self.choose(&factors),
            _ => 1,
        };
        *copies *= unroll;
        let unroll = if unroll > 1 { format!(" unroll {unroll}") } else { String::new() };
        format!("for {} in 0..{}{unroll}:", of.name, of.extent)
    }

    /// Writes a line within so many loops of a level.
    fn line(&mut self, level: usize, depth: usize, text: &str) {
        let section = &mut self.sections[level];
        let body = if self.after { &mut section.after } else { &mut section.before };
        writeln!(body, "{:indent$}- {text}", "", indent = 2 + 2 * (level + depth)).expect("strings can be written");
    }

    /// Writes a statement in loops, outermost first.
    fn nest(&mut self, level: usize, loops: &[Loop], statement: &str) {
        self.inner_nest(level, 0, loops, &mut 1, statement);
    }

    /// Writes a statement in loops within so many others, of which so many copies are there.
    fn inner_nest(&mut self, level: usize, depth: usize, loops: &[Loop], copies: &mut i64, statement: &str) {
        for (number, of) in loops.iter().enumerate() {
            let header = self.header(of, copies);
            self.line(level, depth + number, &header);
        }
        self.line(level, depth + loops.len(), &format!("\"{statement}\""));
        self.iterations += self.times(level) * iterations(loops);
    }

    /// A buffer that a nest within so many tile loops may read, recent ones rather.
    fn source(&mut self, level: usize) -> Option<usize> {
        let deeper = self.one_in(10);
        let readable = |array: &Array| array.level <= level || deeper;
        let candidates = self.arrays.iter().positions(readable).collect_vec();
        let recent = self.random.random_range(0..3_usize).min(candidates.len().checked_sub(1)?);
        Some(candidates[candidates.len() - 1 - recent])
    }

    /// The loops of a result as those of its dimensions: in this order, or transposed.
    fn dimensions(&mut self, mut loops: Vec<Loop>) -> Vec<Loop> {
        if self.one_in(6) {
            loops.shuffle(self.random);
        }
        loops
    }

    fn access(&mut self, array: usize, indices: &[String]) -> Term {
        self.arrays[array].read = true;
        let Array { name, type_name, .. } = &self.arrays[array];
        Term { text: format!("{name}[{}]", indices.iter().join(", ")), type_name }
    }

    /// An element of another array, whose indices follow some of these loops: of one that is there and is large enough, or
    /// of a new one.
    fn operand(&mut self, level: usize, loops: &[Loop]) -> Term {
        if self.one_in(2)
            && let Some(array) = self.source(level)
        {
            let shape = self.arrays[array].shape.clone();
            let mut rest = loops.to_vec();
            let index = |extent: i64, random: &mut ChaCha8Rng| {
                let fitting = rest.iter().positions(|of| of.extent <= extent).collect_vec();
                let preferred = fitting.iter().copied().find(|&of| rest[of].extent == extent);
                match preferred.or_else(|| fitting.choose(random).copied()) {
                    Some(of) => rest.remove(of).name,
                    None => random.random_range(0..extent).to_string(),
                }
            };
            let mut index = index;
            let indices = shape.iter().map(|&extent| index(extent, self.random)).collect_vec();
            return self.access(array, &indices);
        }
        let mut follows = loops.iter().filter(|_| self.random.random_ratio(3, 4)).cloned().collect_vec();
        if follows.is_empty() {
            follows = loops[..1].to_vec();
        }
        if self.one_in(5) {
            return self.input(level, &follows);
        }
        let shape = follows.iter().map(|level| level.extent).collect_vec();
        // Weights may stay over all tiles.
        let outer = if self.after || self.one_in(2) { level } else { self.random.random_range(0..=level) };
        let buffer = self.load(outer, &shape);
        let indices = follows.iter().map(|level| level.name.clone()).collect_vec();
        self.access(buffer, &indices)
    }

    /// A buffer that is initialized outside of inner tile loops, to be added to within them.
    fn accumulator(&mut self, level: usize) -> usize {
        let shape = self.shape();
        let type_name = self.element();
        let buffer = self.add("sums", type_name, shape.clone(), level);
        let target = self.target(buffer);
        let order = self.order(&output_loops(&shape));
        let first = expression(self.random, &[], type_name, None);
        self.nest(level, &order, &format!("{target} = {first}"));
        buffer
    }

    /// Adds to an accumulator in every tile.
    fn accumulate(&mut self, level: usize, buffer: usize) {
        let Array { shape, type_name, level: outer, .. } = self.arrays[buffer].clone();
        let loops = output_loops(&shape);
        let mut every = loops.clone();
        if self.one_in(2) {
            every.push(Loop { name: "r".to_owned(), extent: self.random.random_range(2..=4) });
        }
        if iterations(&every) * self.times(level) > ITERATIONS {
            every = loops;
        }
        let count = self.random.random_range(1..=2);
        // Mostly it is not read here.
        self.arrays[buffer].level = usize::MAX;
        let terms = (0..count).map(|_| self.operand(level, &every)).collect_vec();
        self.arrays[buffer].level = outer;
        let value = self.product(&terms, type_name);
        let target = self.target(buffer);
        let update = self.update(&target, &value);
        let mut order = self.order(&every);
        if self.one_in(3) {
            order.shuffle(self.random);
        }
        self.nest(level, &order, &update);
        // The layers that have read it do not count as its end.
        self.arrays[buffer].read = false;
    }

    /// Makes an array without a reader an output.
    fn drain(&mut self, level: usize, array: usize) {
        let Array { shape, type_name: read_type, .. } = self.arrays[array].clone();
        let loops = output_loops(&shape);
        let mut indices = loops.iter().map(|of| of.name.clone()).collect_vec();
        let read = self.access(array, &indices);
        let mut shape = shape;
        let mut moved = vec![false; shape.len()];
        for tile in 0..level {
            let (variable, count) = (format!("t{tile}"), self.tiles[tile]);
            let dimension = self.random.random_range(0..shape.len());
            if self.one_in(3) || moved[dimension] {
                indices.push(variable);
                shape.push(count);
                moved.push(true);
            } else {
                indices[dimension] = format!("{}*{variable} + {}", shape[dimension], indices[dimension]);
                shape[dimension] *= count;
                moved[dimension] = true;
            }
        }
        let type_name = if self.one_in(4) { self.element() } else { read_type };
        let value = match self.random.random_range(0..4) {
            0 => expression(self.random, std::slice::from_ref(&read), type_name, None),
            _ if type_name == read_type => read.text,
            _ => format!("{} as {type_name}", read.text),
        };
        let name = format!("output{}", self.outputs.len());
        let order = self.order(&loops);
        self.nest(level, &order, &format!("{name}[{}] = {value}", indices.iter().join(", ")));
        self.outputs.push(Array { name, type_name, shape, level, read: true });
    }

    fn text(self) -> String {
        let declare = |arrays: &[Array]| {
            let line = |array: &Array| {
                format!("  {}: {{type: {}, shape: [{}]}}\n", array.name, array.type_name, array.shape.iter().join(", "))
            };
            arrays.iter().map(line).collect::<String>()
        };
        let mut body = String::new();
        for (level, section) in self.sections.iter().enumerate() {
            body += &section.before;
            if let Some(extent) = self.tiles.get(level) {
                writeln!(body, "{:indent$}- for t{level} in 0..{extent}:", "", indent = 2 + 2 * level)
                    .expect("strings can be written");
            }
        }
        for section in self.sections.iter().rev() {
            body += &section.after;
        }
        let [inputs, outputs, buffers] = [&self.inputs, &self.outputs, &self.arrays].map(|arrays| declare(arrays));
        let name = self.name;
        format!("name: {name}\nschedule: dnn\ninputs:\n{inputs}outputs:\n{outputs}buffers:\n{buffers}nest:\n{body}")
    }
}

/// The loops over the elements of an array of this shape, innermost first.
fn output_loops(shape: &[i64]) -> Vec<Loop> {
    shape.iter().enumerate().map(|(dimension, &extent)| Loop { name: format!("v{dimension}"), extent }).collect()
}

fn iterations(loops: &[Loop]) -> i64 {
    loops.iter().map(|of| of.extent).product()
}
