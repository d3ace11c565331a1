//! Ways to write one network: whichever its author takes, the hardware costs the same.

use std::fmt::Write;

use pushmem_realization::Dedicated;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{compare, compiled, program};

/// How the zeros around the input of a layer are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Zeros {
    /// To the whole of an array, before the elements within.
    First,
    /// By a copy that reads beyond the array.
    Copied,
    /// By the statement of the sum.
    Read,
}

/// Where the loops of the window are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Window {
    /// Around those of the pixels.
    Outside,
    /// Within a row.
    InRows,
}

/// Layers of a network, all alike.
#[derive(Debug)]
struct Layers {
    count: usize,
    channels: i64,
    width: i64,
    height: i64,
    /// How far a window reaches around a pixel.
    reach: i64,
}

impl Layers {
    fn random(random: &mut ChaCha8Rng) -> Self {
        Layers {
            count: random.random_range(2..=3),
            channels: *[1, 2, 4].choose(random).unwrap(),
            width: random.random_range(6..=20),
            height: random.random_range(6..=16),
            reach: random.random_range(1..=2),
        }
    }

    /// The program in one of its spellings.
    fn spelled(&self, zeros: Zeros, window: Window) -> String {
        let Layers { count, channels, width, height, reach } = *self;
        let size = 2 * reach + 1;
        let image = format!("{{type: i16, shape: [C, {width}, {height}]}}");
        let kernel = format!("{{type: i16, shape: [C, C, {size}, {size}]}}");
        let (mut buffers, mut nest) = (format!("  a0: {image}\n"), String::new());
        let mut add = |loops: &[(&str, i64, i64)], statement: &str| {
            for (depth, (variable, first, end)) in loops.iter().enumerate() {
                let unroll = if ["k", "c"].contains(variable) { " unroll C" } else { "" };
                let indent = "  ".repeat(depth + 1);
                writeln!(nest, "{indent}- for {variable} in {first}..{end}{unroll}:").unwrap();
            }
            writeln!(nest, "{}- {statement}", "  ".repeat(loops.len() + 1)).unwrap();
        };
        let pixels = [("y", 0, height), ("x", 0, width), ("k", 0, channels)];
        add(&pixels, "a0[k, x, y] = input[k, x, y]");
        for layer in 0..count {
            let (next, around) = (layer + 1, 2 * reach);
            let out = if next == count { "output".to_owned() } else { format!("a{next}") };
            if next < count {
                writeln!(buffers, "  a{next}: {image}").unwrap();
            }
            writeln!(buffers, "  s{layer}: {image}").unwrap();
            let read = match zeros {
                Zeros::Read => format!("outside(a{layer}[c, x+u-{reach}, y+v-{reach}], 0)"),
                Zeros::First | Zeros::Copied => {
                    let shape = format!("[C, {}, {}]", width + around, height + around);
                    writeln!(buffers, "  p{layer}: {{type: i16, shape: {shape}}}").unwrap();
                    let all = [("y", 0, height + around), ("x", 0, width + around), ("k", 0, channels)];
                    if zeros == Zeros::First {
                        add(&all, &format!("p{layer}[k, x, y] = 0"));
                        add(&pixels, &format!("p{layer}[k, x+{reach}, y+{reach}] = a{layer}[k, x, y]"));
                    } else {
                        let copied = format!("outside(a{layer}[k, x-{reach}, y-{reach}], 0)");
                        add(&all, &format!("p{layer}[k, x, y] = {copied}"));
                    }
                    format!("p{layer}[c, x+u, y+v]")
                }
            };
            add(&pixels, &format!("s{layer}[k, x, y] = 0"));
            let (y, v, u) = (("y", 0, height), ("v", 0, size), ("u", 0, size));
            let inner = [("x", 0, width), ("k", 0, channels), ("c", 0, channels)];
            let outer = if window == Window::Outside { [v, u, y] } else { [y, v, u] };
            add(&[outer, inner].concat(), &format!("s{layer}[k, x, y] += w{layer}[c, k, u, v] * {read}"));
            add(&pixels, &format!("{out}[k, x, y] = max(s{layer}[k, x, y] >> 4, 0)"));
        }
        let weights: String = (0..count).map(|layer| format!("  w{layer}: {kernel}\n")).collect();
        format!(
            "name: layers\nconstants: {{C: {channels}}}\ninputs:\n  input: {image}\n{weights}outputs:\n  output: {image}\nbuffers:\n{buffers}nest:\n{nest}"
        )
    }
}

/// The cycles and the tiles of hardware.
fn cost(compiled: &Dedicated) -> (i64, i64) {
    (compiled.accelerator.length as i64, compiled.accelerator.tiles.len() as i64)
}

/// All spellings of networks have the same cycles but for a fiftieth, and the same tiles but for one.
#[test]
fn spellings_of_networks_cost_the_same() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for tile in ["dual_port", "amber"].repeat(3) {
        let layers = Layers::random(&mut random);
        let mut costs = Vec::new();
        for zeros in [Zeros::First, Zeros::Copied, Zeros::Read] {
            for window in [Window::Outside, Window::InRows] {
                let compiled = compiled(program(&layers.spelled(zeros, window)), tile);
                costs.push((zeros, window, cost(&compiled)));
                if random.random_range(0..6) == 0 {
                    compare(&compiled);
                }
            }
        }
        let (cycles, tiles) = costs[0].2;
        let is_alike = |(_, _, other): &(Zeros, Window, (i64, i64))| {
            50 * (other.0 - cycles).abs() <= cycles && (other.1 - tiles).abs() <= 1
        };
        assert!(costs.iter().all(is_alike), "{tile}: {layers:?}\n{costs:#?}");
    }
}
