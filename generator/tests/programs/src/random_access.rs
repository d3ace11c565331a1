//! Random programs whose data choose elements of arrays.

use itertools::Itertools;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A program with one to three arrays in random-access memories: nests that set all of their elements, that update and replace
/// elements which data choose, that look elements up, perhaps through each other, in loops of their own or around several of these, and
/// nests that give all elements out. All indices are within their arrays.
pub fn random_program_of_random_accesses(seed: u64) -> String {
    Draw { random: ChaCha8Rng::seed_from_u64(seed ^ 0x4a11), memories: Vec::new(), outputs: 0 }.program(seed)
}

/// An array whose elements data choose.
struct Memory {
    name: String,
    type_name: &'static str,
    shape: Vec<i64>,
    min: Vec<i64>,
}

struct Draw {
    random: ChaCha8Rng,
    memories: Vec<Memory>,
    outputs: usize,
}

/// The extents of the inputs, innermost first, and of the loops over them.
struct Images {
    width: i64,
    height: i64,
    names: Vec<&'static str>,
}

const TYPES: [&str; 6] = ["u8", "i8", "u16", "i16", "u32", "i32"];

impl Draw {
    fn one_of(&mut self, chances: u32) -> bool {
        self.random.random_ratio(1, chances)
    }

    fn choice<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.random_range(0..of.len())]
    }

    fn program(mut self, seed: u64) -> String {
        let images = Images {
            width: 2 * self.random.random_range(2..=9),
            height: self.random.random_range(1..=7),
            names: ["a", "b"][..self.random.random_range(1..=2)].to_vec(),
        };
        for number in 0..self.random.random_range(1..=3) {
            let dimensions = self.random.random_range(1..=2);
            let extent = if dimensions == 1 { 40 } else { 7 };
            let shape = (0..dimensions).map(|_| self.random.random_range(1..=extent)).collect();
            let min =
                (0..dimensions).map(|_| if self.one_of(4) { self.random.random_range(-5..=5) } else { 0 }).collect();
            let type_name = self.choice(&TYPES);
            self.memories.push(Memory { name: format!("m{number}"), type_name, shape, min });
        }
        let mut nest = Vec::new();
        for memory in 0..self.memories.len() {
            nest.extend(self.first_values(memory));
        }
        let (mut outputs, around) = (Vec::new(), self.one_of(3));
        let mut body = Vec::new();
        for _ in 0..self.random.random_range(1..=4) {
            body.extend(self.step(&images, &mut outputs, around));
        }
        if around && !body.is_empty() {
            nest.push("- for t in 0..2:".to_owned());
            body.iter_mut().for_each(|line| line.insert_str(0, "  "));
        }
        nest.extend(body);
        for memory in 0..self.memories.len() {
            let name = format!("all{memory}");
            let Memory { type_name, shape, min, name: of } = &self.memories[memory];
            outputs.push(format!("  {name}: {{type: {type_name}, shape: {shape:?}, min: {min:?}}}"));
            let indices = (0..shape.len()).map(|dimension| format!("i{dimension}")).join(", ");
            let statement = format!("{name}[{indices}] = {of}[{indices}]");
            let loops = self.loops_through(memory);
            nest.extend(within(&loops, &[statement]));
        }
        let inputs = images.names.iter();
        let inputs = inputs.map(|name| format!("  {name}: {{type: u8, shape: [{}, {}]}}", images.width, images.height));
        let buffers = self.memories.iter().map(|memory| {
            let Memory { name, type_name, shape, min } = memory;
            format!("  {name}: {{type: {type_name}, shape: {shape:?}, min: {min:?}}}")
        });
        let [inputs, buffers] = [inputs.collect_vec(), buffers.collect_vec()].map(|of| of.join("\n"));
        let outputs = outputs.join("\n");
        let nest = nest.iter().map(|line| format!("  {line}")).join("\n");
        format!("name: accesses_{seed}\ninputs:\n{inputs}\noutputs:\n{outputs}\nbuffers:\n{buffers}\nnest:\n{nest}\n")
    }

    /// The loops through an array, outermost first.
    fn loops_through(&self, memory: usize) -> Vec<String> {
        let Memory { shape, min, .. } = &self.memories[memory];
        let level =
            |dimension: usize| format!("for i{dimension} in {}..{}", min[dimension], min[dimension] + shape[dimension]);
        (0..shape.len()).rev().map(level).collect()
    }

    /// The nest that sets all elements.
    fn first_values(&mut self, memory: usize) -> Vec<String> {
        let Memory { name, shape, type_name, .. } = &self.memories[memory];
        let indices = (0..shape.len()).map(|dimension| format!("i{dimension}")).join(", ");
        let (name, type_name) = (name.clone(), *type_name);
        let value = match self.random.random_range(0..3) {
            0 => "0".to_owned(),
            1 => format!("(3*i0 + {}) as {type_name}", self.random.random_range(0..50)),
            _ => self.random.random_range(0..100).to_string(),
        };
        within(&self.loops_through(memory), &[format!("{name}[{indices}] = {value}")])
    }

    /// A nest over the images with one statement or two.
    fn step(&mut self, images: &Images, outputs: &mut Vec<String>, around: bool) -> Vec<String> {
        let count = if self.one_of(3) { 2 } else { 1 };
        let mut statements = Vec::new();
        let mut writes = false;
        for _ in 0..count {
            if self.one_of(2) && !around {
                let name = format!("o{}", self.outputs);
                self.outputs += 1;
                outputs.push(format!("  {name}: {{type: u16, shape: [{}, {}]}}", images.width, images.height));
                let value = self.value(images, 2);
                statements.push(format!("{name}[x, y] = {value}"));
                continue;
            }
            writes = true;
            let memory = self.random.random_range(0..self.memories.len());
            let (element, type_name) = (self.element(images, memory, 1), self.memories[memory].type_name);
            let value = self.value(images, 1);
            // The low half of an extreme depends on the high one.
            let is_wide = type_name.ends_with("32");
            statements.push(match self.random.random_range(0..6) {
                0 => format!("{element} = ({value}) as {type_name}"),
                1 => format!("{element} += 1"),
                2 => format!("{element} += ({value}) as {type_name}"),
                3 if is_wide => format!("{element} = {element} - ({value}) as {type_name}"),
                4 => format!("{element} = sel(({value}) > 300, {element} - 7, {element} * 5)"),
                3 => format!("{element} = max({element}, ({value}) as {type_name})"),
                _ => format!("{element} = {element} * 3 + ({value}) as {type_name}"),
            });
        }
        let unroll = if !writes && self.one_of(3) { " unroll 2" } else { "" };
        let loops = [format!("for y in 0..{}", images.height), format!("for x in 0..{}{unroll}", images.width)];
        within(&loops, &statements)
    }

    /// An element that data choose.
    fn element(&mut self, images: &Images, memory: usize, depth: u32) -> String {
        let dimensions = self.memories[memory].shape.len();
        let by_data = self.random.random_range(0..dimensions);
        let index = |draw: &mut Self, dimension: usize| {
            let (extent, least) = (draw.memories[memory].shape[dimension], draw.memories[memory].min[dimension]);
            if dimension != by_data && draw.one_of(2) {
                return format!("clamp(x, {least}, {})", least + extent - 1);
            }
            let data = draw.data(images, depth);
            match draw.random.random_range(0..3) {
                0 => format!("clamp(({data}) as i32, {least}, {})", least + extent - 1),
                _ => format!("({data}) as i32 % {extent} + {least}"),
            }
        };
        let indices = (0..dimensions).map(|dimension| index(self, dimension)).join(", ");
        format!("{}[{indices}]", self.memories[memory].name)
    }

    /// A number of u16 out of the images, or out of a memory.
    fn data(&mut self, images: &Images, depth: u32) -> String {
        if depth > 0 && self.one_of(3) {
            let memory = self.random.random_range(0..self.memories.len());
            return format!("{} as u16", self.element(images, memory, depth - 1));
        }
        let name = self.choice(&images.names);
        match self.random.random_range(0..3) {
            0 => format!("{name}[x, y] as u16 * {}", self.random.random_range(2..9)),
            1 => format!("({name}[x, y] / {}) as u16", self.random.random_range(2..9)),
            _ => format!("{name}[x, y] as u16"),
        }
    }

    /// A value of u16.
    fn value(&mut self, images: &Images, depth: u32) -> String {
        let one = match self.one_of(2) {
            true => {
                let memory = self.random.random_range(0..self.memories.len());
                format!("{} as u16", self.element(images, memory, depth - 1))
            }
            false => self.data(images, depth),
        };
        if self.one_of(2) {
            return one;
        }
        let other = self.data(images, 0);
        let operator = self.choice(&["+", "-", "*", "^"]);
        format!("({one}) {operator} ({other})")
    }
}

/// Statements within loops, the first of which is the outermost, line by line.
fn within(loops: &[String], statements: &[String]) -> Vec<String> {
    let header = |(depth, header): (usize, &String)| format!("{}- {header}:", "  ".repeat(depth));
    let statement = |statement: &String| format!("{}- {statement}", "  ".repeat(loops.len()));
    loops.iter().enumerate().map(header).chain(statements.iter().map(statement)).collect()
}
