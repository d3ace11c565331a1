//! Random programs whose statements share units.

use std::fmt::Write as _;

use itertools::Itertools;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A program of two to four layers that depends on the seed alone. They share one unit: of products that add up, with weights that come
/// at run time in all lanes of channels, or of neighbours in an image.
pub fn random_program_with_units(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let layers = random.random_range(2..=4);
    let mut program = Program { inputs: String::new(), buffers: String::new(), nest: String::new() };
    let output = if random.random_bool(0.7) {
        convolutions(&mut program, &mut random, layers)
    } else {
        neighbours(&mut program, &mut random, layers)
    };
    let Program { inputs, buffers, nest } = program;
    format!("name: units_{seed}\ninputs:\n{inputs}outputs:\n{output}buffers:\n{buffers}nest:\n{nest}")
}

#[derive(Clone, Debug)]
struct Program {
    inputs: String,
    buffers: String,
    nest: String,
}

impl Program {
    /// A nest: its loops outermost first, with their extents and unroll factors.
    fn nest(&mut self, loops: &[(&str, i64, i64)], statement: &str) {
        for (level, (variable, extent, unroll)) in loops.iter().enumerate() {
            let unroll = if *unroll > 1 { format!(" unroll {unroll}") } else { String::new() };
            self.line(level, &format!("for {variable} in 0..{extent}{unroll}:"));
        }
        self.line(loops.len(), statement);
    }

    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.nest, "{:indent$}- {text}", "", indent = 2 + 2 * depth).expect("strings can be written");
    }
}

fn declaration(name: &str, shape: &[i64]) -> String {
    format!("  {name}: {{type: i16, shape: [{}]}}\n", shape.iter().join(", "))
}

/// Convolutions with as many lanes of channels each. Gives the output.
fn convolutions(program: &mut Program, random: &mut ChaCha8Rng, layers: usize) -> String {
    let lanes = |random: &mut ChaCha8Rng| *[1, 2, 4, 4, 4].choose(random).expect("there are some");
    let (from, to) = (lanes(random), lanes(random));
    let group = from.max(to);
    let channels = |random: &mut ChaCha8Rng| group * random.random_range(1..=2);
    let mut size = [random.random_range(8..=14), random.random_range(7..=10)];
    let mut of = channels(random);
    program.inputs += &declaration("input", &[of, size[0], size[1]]);
    let mut read = "input".to_owned();
    if random.random_bool(0.5) {
        program.buffers += &declaration("loaded", &[of, size[0], size[1]]);
        let loops = [("z", of / from, 1), ("y", size[1], 1), ("x", size[0], 1), ("zi", from, from)];
        program.nest(&loops, &format!("loaded[{from}*z+zi, x, y] = input[{from}*z+zi, x, y]"));
        "loaded".clone_into(&mut read);
    }
    for layer in 0..layers {
        let window = *[1, 1, 2, 3].choose(random).expect("there are some");
        let next = [size[0] - window + 1, size[1] - window + 1];
        let (sums, weights, made) = (format!("f{layer}"), format!("k{layer}"), channels(random));
        program.inputs += &declaration(&weights, &[of, made, window, window]);
        program.buffers += &declaration(&sums, &[made, next[0], next[1]]);
        let image = [("y", next[1], 1), ("x", next[0], 1)];
        let element = format!("{sums}[{to}*w+wi, x, y]");
        program.nest(&[&[("w", made / to, 1)][..], &image, &[("wi", to, to)]].concat(), &format!("{element} = 0"));
        let outer = [("w", made / to, 1), ("z", of / from, 1), ("v", window, 1), ("u", window, 1)];
        let update = format!(
            "{element} += {weights}[{from}*z+zi, {to}*w+wi, u, v] * {read}[{from}*z+zi, x+u, y+v]: {{share: layer}}"
        );
        program.nest(&[&outer[..], &image, &[("wi", to, to), ("zi", from, from)]].concat(), &update);
        (size, of, read) = (next, made, sums);
        if random.random_bool(0.3) {
            let rectified = format!("r{layer}");
            program.buffers += &declaration(&rectified, &[of, size[0], size[1]]);
            let loops = [("z", of / from, 1), ("y", size[1], 1), ("x", size[0], 1), ("zi", from, from)];
            program.nest(&loops, &format!("{rectified}[{from}*z+zi, x, y] = max({read}[{from}*z+zi, x, y], 0)"));
            read = rectified;
        }
    }
    let loops = [("z", of / to, 1), ("y", size[1], 1), ("x", size[0], 1), ("zi", to, to)];
    program.nest(&loops, &format!("output[{to}*z+zi, x, y] = {read}[{to}*z+zi, x, y]"));
    declaration("output", &[of, size[0], size[1]])
}

/// Filters of neighbours, each of the result of the one before. Gives the output.
fn neighbours(program: &mut Program, random: &mut ChaCha8Rng, layers: usize) -> String {
    let mut size = [random.random_range(10..=20), random.random_range(8..=12)];
    program.inputs += &declaration("input", &size);
    program.buffers += &declaration("f0", &size);
    program.nest(&[("y", size[1], 1), ("x", size[0], 1)], "f0[x, y] = input[x, y] / 16");
    let filters: [fn(&str) -> String; 3] = [
        |of| format!("((abs({of}[x, y] - {of}[x+1, y+1]) as i16) * 3 + max({of}[x, y], {of}[x+1, y+1]) * 5) / 8"),
        |of| {
            format!(
                "clamp({of}[x, y] * 7 - {of}[x+1, y] * 3 + (abs({of}[x, y]) as i16) * 2 + min({of}[x+1, y], 100), -2000, 2000)"
            )
        },
        |of| format!("({of}[x, y] + {of}[x+1, y]) / 2"),
    ];
    let filter = filters.choose(random).expect("there are some");
    for layer in 1..=layers {
        size = [size[0] - 1, size[1] - 1];
        program.buffers += &declaration(&format!("f{layer}"), &size);
        let value = filter(&format!("f{}", layer - 1));
        program.nest(&[("y", size[1], 1), ("x", size[0], 1)], &format!("f{layer}[x, y] = {value}: {{share: filter}}"));
    }
    program.nest(&[("y", size[1], 1), ("x", size[0], 1)], &format!("output[x, y] = f{layers}[x, y] + 1"));
    declaration("output", &size)
}
