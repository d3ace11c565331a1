//! Random programs.

use std::fmt::Write as _;

use itertools::Itertools;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::expression::{ELEMENTS, NUMBERS, Term, WIDE_ELEMENTS, expression};
use crate::parameters::Parameters;
use crate::recurrences::Recurrences;

/// Names of the loops, innermost first.
const LOOPS: [&str; 3] = ["x", "y", "z"];

/// Names of the loops over the window of a reduction, by dimension.
const WINDOW_LOOPS: [&str; 3] = ["i", "j", "k"];

/// Steps of the finest array in one step: numerator and denominator.
pub(crate) type Scale = (i64, i64);

/// An array that later stages can read.
#[derive(Clone, Debug)]
struct Array {
    name: String,
    type_name: &'static str,
    shape: Vec<i64>,
    /// Of each dimension.
    scale: Vec<Scale>,
}

/// How an index moves with a loop: `coefficient · variable / divisor`, one of them 1.
#[derive(Clone, Copy, Debug)]
struct Step {
    coefficient: i64,
    divisor: i64,
}

/// How indices outside of an array are avoided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boundary {
    /// The loop is so short that there are none.
    None,
    Clamp,
    Mirror,
    Outside,
}

/// A program that depends on the seed alone.
pub fn random_program(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    Generator::new(&mut random, seed).program()
}

/// As [`random_program`], with parameters that come at run time and that many iterations read.
pub fn random_program_with_parameters(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator = Generator::new(&mut random, seed);
    generator.parameters = Some(Parameters::new(seed));
    generator.program()
}

/// As [`random_program`], with stages that take results of their own earlier iterations.
pub fn random_program_with_recurrences(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator = Generator::new(&mut random, seed);
    generator.recurrences = Some(Recurrences::new(seed));
    generator.program()
}

/// As [`random_program`], with elements of 32 bits in most arrays.
pub fn random_program_of_wide_elements(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator = Generator::new(&mut random, seed);
    generator.elements = Some(&WIDE_ELEMENTS);
    generator.recurrences = seed.is_multiple_of(3).then(|| Recurrences::new(seed));
    generator.program()
}

/// As [`random_program`], with numbers of bfloat16 in most arrays.
pub fn random_program_of_numbers(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator = Generator::new(&mut random, seed);
    generator.elements = Some(&NUMBERS);
    generator.recurrences = seed.is_multiple_of(3).then(|| Recurrences::new(seed));
    generator.program()
}

struct Generator<'a> {
    random: &'a mut ChaCha8Rng,
    name: String,
    dimensions: usize,
    arrays: Vec<Array>,
    inputs: usize,
    /// Whether each array is read.
    used: Vec<bool>,
    has_table: bool,
    /// How often the innermost loops are unrolled where their extents allow it.
    unroll: i64,
    parameters: Option<Parameters>,
    recurrences: Option<Recurrences>,
    /// Types that arrays have in the place of the usual ones, each as often.
    elements: Option<&'static [&'static str]>,
    body: String,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut ChaCha8Rng, seed: u64) -> Self {
        let dimensions = *[1, 2, 2, 2, 2, 3].choose(random).expect("there are some");
        Generator {
            dimensions,
            name: format!("random_{seed}"),
            arrays: Vec::new(),
            inputs: random.random_range(1..=2).min(random.random_range(1..=3)),
            used: Vec::new(),
            has_table: random.random_ratio(1, 4),
            unroll: *[1, 1, 1, 1, 2, 4].choose(random).expect("there are some"),
            parameters: None,
            recurrences: None,
            elements: None,
            body: String::new(),
            random,
        }
    }

    fn program(mut self) -> String {
        let shape = self.input_shape();
        for number in 0..self.inputs {
            let type_name = self.element();
            let scale = vec![(1, 1); self.dimensions];
            self.add(Array { name: format!("input_{number}"), type_name, shape: shape.clone(), scale });
        }
        for number in 0..self.random.random_range(1..=6) {
            self.stage(number);
        }
        // Arrays without a reader are outputs; an input without a reader is copied to an output.
        let unused = (0..self.inputs).filter(|&array| !self.used[array]).collect_vec();
        for array in unused {
            self.copy(array);
        }
        self.text()
    }

    fn element(&mut self) -> &'static str {
        if let Some(elements) = self.elements {
            return elements.choose(self.random).expect("there are some");
        }
        // Mostly words: bytes overflow early and hide differences.
        if self.random.random_ratio(2, 3) { "u16" } else { ELEMENTS.choose(self.random).expect("there are some") }
    }

    fn add(&mut self, array: Array) {
        self.arrays.push(array);
        self.used.push(false);
    }

    fn input_shape(&mut self) -> Vec<i64> {
        let limits = match self.dimensions {
            1 => vec![(30, 400)],
            2 => vec![(12, 60), (6, 24)],
            _ => vec![(8, 24), (6, 12), (2, 5)],
        };
        let mut shape = limits.into_iter().map(|(low, high)| self.random.random_range(low..=high)).collect_vec();
        // Unrolled loops and whole fetches want round numbers; odd ones are as common.
        if self.unroll > 1 || self.random.random_ratio(1, 3) {
            shape[0] = (shape[0] + 7) / 8 * 8;
        }
        shape
    }

    /// Adds a stage that reads some of the arrays so far.
    fn stage(&mut self, number: usize) {
        let (scale, sources) = self.sources();
        // The loops run as far as all sources allow.
        let windows = sources.iter().map(|_| self.window()).collect_vec();
        let reduction = self.random.random_ratio(1, 6).then(|| self.reduction());
        let sums = reduction.clone().unwrap_or_else(|| vec![1; self.dimensions]);
        let boundary =
            *[Boundary::None, Boundary::None, Boundary::None, Boundary::Clamp, Boundary::Mirror, Boundary::Outside]
                .choose(self.random)
                .expect("there are some");
        let mut extents = Vec::new();
        for dimension in 0..self.dimensions {
            let longest = sources.iter().zip(&windows).map(|((array, steps), window)| {
                let (step, extent) = (steps[dimension], self.arrays[*array].shape[dimension]);
                let reach = if boundary == Boundary::None { window[dimension] + sums[dimension] - 1 } else { 0 };
                // The last index: ⌊coefficient·i/divisor⌋ + reach ≤ extent − 1.
                ((extent - 1 - reach) * step.divisor + step.divisor - 1) / step.coefficient + 1
            });
            extents.push(longest.min().unwrap_or(1));
        }
        if extents.iter().any(|&extent| extent < 2) {
            return;
        }
        let unrolled = self.unroll > 1 && self.random.random_ratio(4, 5);
        if unrolled {
            extents[0] -= extents[0] % self.unroll;
            if extents[0] < 2 * self.unroll {
                return;
            }
        }
        let mut terms = Vec::new();
        for ((array, steps), window) in sources.iter().zip(&windows) {
            let taps = self.random.random_range(1..=if reduction.is_some() { 2 } else { 5 });
            for _ in 0..taps {
                let offsets = window.iter().map(|&reach| self.random.random_range(0..=reach)).collect_vec();
                terms.push(self.load(*array, steps, &offsets, &sums, boundary));
            }
            self.used[*array] = true;
        }
        if self.random.random_ratio(1, 6) {
            let level = self.random.random_range(0..self.dimensions);
            terms.push(Term { text: LOOPS[level].to_owned(), type_name: "i32" });
        }
        if reduction.is_some() && self.random.random_ratio(1, 3) {
            let window = (0..self.dimensions).filter(|&dimension| sums[dimension] > 1).collect_vec();
            let dimension = *window.choose(self.random).expect("a window has a loop");
            terms.push(Term { text: WINDOW_LOOPS[dimension].to_owned(), type_name: "i32" });
        }
        if let Some(parameters) = &mut self.parameters {
            terms.extend(parameters.terms(&LOOPS[..self.dimensions], &extents, &scale));
        }
        let type_name = self.element();
        let name = format!("stage_{number}");
        if let Some(recurrences) = self.recurrences.as_mut().filter(|_| reduction.is_none()) {
            terms.extend(recurrences.terms(&name, type_name, &LOOPS[..self.dimensions], unrolled));
        }
        let table = self.has_table.then_some("curve");
        let value = expression(self.random, &terms, type_name, table);
        let target = format!("{name}[{}]", LOOPS[..self.dimensions].iter().join(", "));
        let loops = (0..self.dimensions).rev().map(|dimension| {
            let unroll = if dimension == 0 && unrolled { format!(" unroll {}", self.unroll) } else { String::new() };
            format!("for {} in 0..{}{unroll}:", LOOPS[dimension], extents[dimension])
        });
        let loops = loops.collect_vec();
        match reduction {
            None => self.nest(&loops, 0, &format!("{target} = {value}")),
            Some(window) => self.sum(&loops, &window, &target, &value, type_name),
        }
        self.add(Array { name, type_name, shape: extents, scale });
    }

    /// The extents of a window that is added up at once; not all are 1.
    fn reduction(&mut self) -> Vec<i64> {
        let mut window = vec![1; self.dimensions];
        for _ in 0..self.random.random_range(1..=2) {
            let dimension = self.random.random_range(0..self.dimensions);
            window[dimension] = self.random.random_range(2..=3);
        }
        window
    }

    /// Writes the sum of a value over a window: what it begins with, and the update.
    fn sum(&mut self, loops: &[String], window: &[i64], target: &str, value: &str, type_name: &str) {
        let first = expression(self.random, &[], type_name, None);
        let first = format!("{target} = {first}");
        let window = window.iter().zip(WINDOW_LOOPS).filter(|(extent, _)| **extent > 1);
        let window = window.map(|(extent, name)| format!("for {name} in 0..{extent} unroll {extent}:")).collect_vec();
        let update = format!("{target} += {value}");
        self.nest(loops, 0, &first);
        // In the same loops, or in its own, where the window may be the outer loops.
        match self.random.random_range(0..4) {
            0 | 1 => self.nest(&[loops, &window].concat(), loops.len(), &update),
            2 => self.nest(&[loops, &window].concat(), 0, &update),
            _ => self.nest(&[&window, loops].concat(), 0, &update),
        }
    }

    /// Writes a statement in loops, outermost first, of which so many are open already.
    fn nest(&mut self, loops: &[String], open: usize, statement: &str) {
        let mut line = |depth: usize, text: &str| {
            writeln!(self.body, "{:indent$}- {text}", "", indent = 2 + 2 * depth).expect("strings can be written");
        };
        for (depth, header) in loops.iter().enumerate().skip(open) {
            line(depth, header);
        }
        line(loops.len(), &format!("\"{statement}\""));
    }

    /// Up to three arrays, and how a common loop moves over each of them.
    fn sources(&mut self) -> (Vec<Scale>, Vec<(usize, Vec<Step>)>) {
        // Recent arrays first, so that chains are common; the first decides the scale.
        let recent = self.random.random_range(0..self.arrays.len().min(3));
        let first = self.arrays.len() - 1 - recent;
        let mut scale = self.arrays[first].scale.clone();
        for level in &mut scale {
            let (numerator, denominator) = *level;
            *level = match self.random.random_range(0..10) {
                0 => lowest(numerator * 2, denominator),
                1 => lowest(numerator, denominator * 2),
                2 if self.random.random_ratio(1, 3) => lowest(numerator * 3, denominator),
                _ => *level,
            };
        }
        let candidates = std::iter::once(first)
            .chain((0..2).map(|_| self.random.random_range(0..self.arrays.len())))
            .unique()
            .collect_vec();
        let sources = candidates
            .into_iter()
            .filter_map(|array| {
                let steps = self.arrays[array].scale.iter().zip(&scale).map(|(of, own)| step(*of, *own));
                Some((array, steps.collect::<Option<Vec<Step>>>()?))
            })
            .collect();
        (scale, sources)
    }

    /// How far a window reaches in each dimension.
    fn window(&mut self) -> Vec<i64> {
        (0..self.dimensions)
            .map(|_| *[0, 0, 1, 1, 2, 2, 3, 4, 6].choose(self.random).expect("there are some"))
            .collect()
    }

    fn load(&mut self, array: usize, steps: &[Step], offsets: &[i64], sums: &[i64], boundary: Boundary) -> Term {
        let Array { name, type_name, shape, .. } = &self.arrays[array];
        let indices = (0..steps.len()).map(|dimension| {
            let (variable, offset, extent) = (LOOPS[dimension], offsets[dimension], shape[dimension]);
            let mut moved = match (steps[dimension].coefficient, steps[dimension].divisor) {
                (1, 1) => variable.to_owned(),
                (coefficient, 1) => format!("{coefficient}*{variable}"),
                (_, divisor) => format!("{variable}/{divisor}"),
            };
            if sums[dimension] > 1 {
                moved += &format!(" + {}", WINDOW_LOOPS[dimension]);
            }
            // Windows around the point need boundaries on both sides.
            let shift = if boundary == Boundary::None { offset } else { offset - 1 };
            let index = match shift {
                0 => moved,
                shift if shift < 0 => format!("{moved} - {}", -shift),
                shift => format!("{moved} + {shift}"),
            };
            match boundary {
                Boundary::Clamp => format!("clamp({index}, 0, {})", extent - 1),
                Boundary::Mirror => format!("mirror({index}, 0, {})", extent - 1),
                Boundary::None | Boundary::Outside => index,
            }
        });
        let access = format!("{name}[{}]", indices.collect_vec().join(", "));
        let text = if boundary == Boundary::Outside {
            format!("outside({access}, {})", self.random.random_range(0..100))
        } else {
            access
        };
        Term { text, type_name }
    }

    /// Adds a stage that copies an array to the outside.
    fn copy(&mut self, array: usize) {
        let Array { name, type_name, shape, scale } = self.arrays[array].clone();
        let copy = format!("{name}_copy");
        for dimension in (0..self.dimensions).rev() {
            let indent = 2 + 2 * (self.dimensions - 1 - dimension);
            writeln!(self.body, "{:indent$}- for {} in 0..{}:", "", LOOPS[dimension], shape[dimension])
                .expect("strings can be written");
        }
        let indices = LOOPS[..self.dimensions].iter().join(", ");
        let indent = 2 + 2 * self.dimensions;
        writeln!(self.body, "{:indent$}- {copy}[{indices}] = {name}[{indices}]", "").expect("strings can be written");
        self.used[array] = true;
        self.add(Array { name: copy, type_name, shape, scale });
    }

    fn text(self) -> String {
        let declare = |arrays: &mut dyn Iterator<Item = &Array>| {
            let line = |array: &Array| {
                format!("  {}: {{type: {}, shape: [{}]}}\n", array.name, array.type_name, array.shape.iter().join(", "))
            };
            arrays.map(line).collect::<String>()
        };
        let used = &self.used;
        let after_inputs = || self.arrays.iter().zip(used).skip(self.inputs);
        let mut inputs = declare(&mut self.arrays[..self.inputs].iter());
        inputs += &self.parameters.as_ref().map_or_else(String::new, Parameters::declared);
        let outputs = declare(&mut after_inputs().filter(|(_, used)| !**used).map(|(array, _)| array));
        let buffers = declare(&mut after_inputs().filter(|(_, used)| **used).map(|(array, _)| array));
        let mut text = format!("name: {}\ninputs:\n{inputs}outputs:\n{outputs}", self.name);
        if !buffers.is_empty() {
            write!(text, "buffers:\n{buffers}").expect("strings can be written");
        }
        if self.has_table && self.body.contains("curve[") {
            let values = (0..16).map(|entry| entry * entry % 251).join(", ");
            writeln!(text, "tables:\n  curve: {{type: u16, values: [{values}]}}").expect("strings can be written");
        }
        write!(text, "nest:\n{}", self.body).expect("strings can be written");
        text
    }
}

/// How an index into an array of one scale moves with a loop of another.
fn step(of: (i64, i64), own: (i64, i64)) -> Option<Step> {
    match lowest(own.0 * of.1, own.1 * of.0) {
        (coefficient, 1) if coefficient <= 4 => Some(Step { coefficient, divisor: 1 }),
        (1, divisor) if divisor <= 4 => Some(Step { coefficient: 1, divisor }),
        _ => None,
    }
}

/// A fraction in lowest terms.
fn lowest(numerator: i64, denominator: i64) -> (i64, i64) {
    let (mut divisor, mut rest) = (numerator, denominator);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (numerator / divisor, denominator / divisor)
}
