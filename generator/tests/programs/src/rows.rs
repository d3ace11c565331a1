//! Random layers of rows: networks of one image, whose rows can flow from layer to layer.

use std::fmt::Write as _;

use itertools::Itertools;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A network of one to four layers for one image that depends on the seed alone: convolutions with the loops of their windows around
/// the rows, within them, or innermost; strides, frames of zeros, residual connections, copies and maxima between them.
pub fn random_rows(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let channels = *[1, 2, 4].choose(&mut random).expect("there are some");
    let size = [random.random_range(8..=16), random.random_range(8..=14)];
    let mut network =
        Network { random, channels, layers: Vec::new(), inputs: Vec::new(), buffers: Vec::new(), body: String::new() };
    network.input(size);
    for _ in 0..network.random.random_range(1..=4) {
        network.layer();
    }
    network.text(seed)
}

/// The array that layers hand on: channels, columns and rows.
#[derive(Clone, Debug)]
struct Layer {
    name: String,
    size: [i64; 2],
}

struct Network {
    random: ChaCha8Rng,
    channels: i64,
    layers: Vec<Layer>,
    inputs: Vec<String>,
    buffers: Vec<String>,
    body: String,
}

impl Network {
    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_ratio(1, count)
    }

    fn declare(&mut self, name: &str, shape: &[i64]) {
        self.buffers.push(format!("  {name}: {{type: i16, shape: [{}]}}\n", shape.iter().join(", ")));
    }

    /// A nest, its loops outermost first: (variable, extent). Those over channels are unrolled.
    fn nest(&mut self, loops: &[(&str, i64)], statement: &str) {
        self.nest_within(0, loops, statement);
    }

    /// A nest in so many loops that are open.
    fn nest_within(&mut self, depth: usize, loops: &[(&str, i64)], statement: &str) {
        for (level, (variable, extent)) in loops.iter().enumerate() {
            let unroll = if matches!(*variable, "w" | "z") { format!(" unroll {extent}") } else { String::new() };
            self.line(depth + level, &format!("for {variable} in 0..{extent}{unroll}:"));
        }
        self.line(depth + loops.len(), statement);
    }

    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.body, "{:indent$}- {text}", "", indent = 2 + 2 * depth).expect("strings can be written");
    }

    /// Loads an image of columns and rows.
    fn input(&mut self, size: [i64; 2]) {
        let shape = [self.channels, size[0], size[1]];
        self.inputs.push(format!("  image: {{type: i16, shape: [{}]}}\n", shape.iter().join(", ")));
        self.declare("layer0", &shape);
        self.nest(&[("y", size[1]), ("x", size[0]), ("w", self.channels)], "layer0[w, x, y] = image[w, x, y]");
        self.layers.push(Layer { name: "layer0".to_owned(), size });
    }

    /// Adds a layer.
    fn layer(&mut self) {
        let number = self.layers.len();
        let source = self.layers[number - 1].clone();
        let window = self.random.random_range(1..=3_i64).min(source.size[0]).min(source.size[1]);
        let step = if self.one_in(4) && source.size.iter().all(|&size| size >= 8) { 2 } else { 1 };
        let size = source.size.map(|size| (size - window) / step + 1);
        let name = format!("layer{number}");
        match self.random.random_range(0..6) {
            0 => {
                // Elements beside the image are zero.
                let framed = source.size.map(|size| size + 2);
                self.declare(&name, &[self.channels, framed[0], framed[1]]);
                self.nest(&[("y", framed[1]), ("x", framed[0]), ("w", self.channels)], &format!("{name}[w, x, y] = 0"));
                let loops = [("y", source.size[1]), ("x", source.size[0]), ("w", self.channels)];
                self.nest(&loops, &format!("{name}[w, x+1, y+1] = {}[w, x, y] + {number}", source.name));
                self.layers.push(Layer { name, size: framed });
            }
            1 => {
                // With an earlier layer, cropped.
                let other = self.layers.choose(&mut self.random).expect("there is the image").clone();
                let size = [0, 1].map(|side| source.size[side].min(other.size[side]));
                let [left, above] = [0, 1].map(|side| other.size[side] - size[side]);
                self.declare(&name, &[self.channels, size[0], size[1]]);
                let sum =
                    format!("{name}[w, x, y] = {}[w, x, y] - {}[w, x+{left}, y+{above}]", source.name, other.name);
                self.nest(&[("y", size[1]), ("x", size[0]), ("w", self.channels)], &sum);
                self.layers.push(Layer { name, size });
            }
            _ => {
                self.declare(&name, &[self.channels, size[0], size[1]]);
                self.convolution(&source, number, window, step, size);
                self.layers.push(Layer { name, size });
            }
        }
    }

    /// Sums of products over windows and channels, and what is made of them.
    fn convolution(&mut self, source: &Layer, number: usize, window: i64, step: i64, size: [i64; 2]) {
        let channels = self.channels;
        let shape = [channels, channels, window, window].iter().join(", ");
        self.inputs.push(format!("  weights{number}: {{type: i16, shape: [{shape}]}}\n"));
        self.declare(&format!("kernel{number}"), &[channels, channels, window, window]);
        let load = format!("kernel{number}[c, k, u, v] = weights{number}[c, k, u, v]");
        self.nest(&[("v", window), ("u", window), ("k", channels), ("c", channels)], &load);
        let [x, y] = [("x", size[0]), ("y", size[1])];
        let places = [("v", window), ("u", window)];
        // Copies of a maximum cannot update one element at once: it goes through channels one by one.
        let maximum = self.one_in(5);
        let (channel, places) = match maximum {
            true => ("c", [&[("c", channels)], &places[..]].concat()),
            false => ("z", places.to_vec()),
        };
        let lanes = [("w", channels), ("z", channels)];
        let lanes = if maximum { &lanes[..1] } else { &lanes[..] };
        // A line of sums in a loop over rows that all share, or all sums.
        let line = self.one_in(3);
        let (sums, sum) = (format!("sums{number}"), if line { "w, x" } else { "w, x, y" });
        let value = self.random.random_range(-3..=3);
        let first = format!("{sums}[{sum}] = {value}");
        let element = format!("{}[{channel}, {step}*x+u, {step}*y+v]", source.name);
        let update = match maximum {
            true => format!("{sums}[{sum}] = max({sums}[{sum}], {element} - kernel{number}[c, w, u, v])"),
            false => format!("{sums}[{sum}] += {element} * kernel{number}[z, w, u, v]"),
        };
        let result = format!("layer{number}[w, x, y] = max({sums}[{sum}] >> 2, 0)");
        if line {
            self.declare(&sums, &[channels, size[0]]);
            self.line(0, &format!("for y in 0..{}:", size[1]));
            self.nest_within(1, &[x, lanes[0]], &first);
            self.nest_within(1, &[&places[..], &[x], lanes].concat(), &update);
            self.nest_within(1, &[x, lanes[0]], &result);
            return;
        }
        self.declare(&sums, &[channels, size[0], size[1]]);
        self.nest(&[y, x, lanes[0]], &first);
        let order = match self.random.random_range(0..3) {
            0 => [&places[..], &[y, x]].concat(),
            1 => [&[y], &places[..], &[x]].concat(),
            _ => [&[y, x], &places[..]].concat(),
        };
        self.nest(&[&order[..], lanes].concat(), &update);
        self.nest(&[y, x, lanes[0]], &result);
    }

    fn text(mut self, seed: u64) -> String {
        let Layer { name, size: [width, height] } = self.layers.last().expect("there is the image").clone();
        let channels = self.channels;
        let lanes = if self.one_in(2) { format!(" unroll {channels}") } else { String::new() };
        let copy = [
            format!("  - for y in 0..{height}:\n    - for x in 0..{width}:\n      - for w in 0..{channels}{lanes}:\n"),
            format!("        - output[w, x, y] = {name}[w, x, y] + 1\n"),
        ];
        let (inputs, buffers, body) = (self.inputs.concat(), self.buffers.concat(), self.body + &copy.concat());
        format!(
            "name: rows_{seed}\nschedule: dnn\ninputs:\n{inputs}outputs:\n  output: {{type: i16, shape: [{channels}, {width}, \
             {height}]}}\nbuffers:\n{buffers}nest:\n{body}"
        )
    }
}
