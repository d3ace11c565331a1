//! Random programs of rows that no number of words divides.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A program that depends on the seed alone: rows of any length are kept, or not, and read in loops of two parts from some column on:
/// cropped, enlarged, reduced, or with the words of a part in the opposite order. The columns that the parts leave are copies of the
/// last one, by statements of their own.
pub fn random_program_in_parts(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (width, height) = (random.random_range(8..=70_i64), random.random_range(1..=5_i64));
    let (part, first) = (random.random_range(2..=4_i64), random.random_range(0..=3_i64));
    let is_kept = random.random_ratio(1, 2);
    let source = if is_kept { "kept" } else { "image" };
    let steps = (width - first) / part;
    // The extents of the inner and the outer loop, the column that is written, and the column that is read.
    let (inner, outer, target, column) = match random.random_range(0..5) {
        0 => (part, steps, format!("i + {part}*t"), format!("i + {part}*t + {first}")),
        1 => (part, steps, format!("i + {part}*t"), format!("{part}*t - i + {}", first + part - 1)),
        2 => (part, width - first, format!("i + {part}*t"), format!("t + {first}")),
        3 => (2, width - first - 1, "i + 2*t".to_owned(), format!("i + t + {first}")),
        _ => (1, steps, "t".to_owned(), format!("{part}*t + i + {first}")),
    };
    let columns = inner * outer;
    let rest = random.random_range(0..=2_i64);
    let schedule = ["", "schedule: dnn\n"].choose(&mut random).expect("there are two");
    let value = ["", " + 1", " * 3 - 7"].choose(&mut random).expect("there are some");
    let rows = format!("  - for y in 0..{height}:\n");
    let (mut buffers, mut nest) = (String::new(), String::new());
    if is_kept {
        buffers = format!("buffers: {{kept: {{type: u16, shape: [{width}, {height}]}}}}\n");
        nest = format!("{rows}    - for x in 0..{width}:\n      - kept[x, y] = image[x, y]\n");
    }
    nest += &format!("{rows}    - for t in 0..{outer}:\n      - for i in 0..{inner}:\n");
    nest += &format!("        - output[{target}, y] = {source}[{column}, y]{value}\n");
    for column in columns..columns + rest {
        nest += &format!("{rows}    - output[{column}, y] = {source}[{}, y]\n", width - 1);
    }
    format!(
        "name: parts_{seed}\n{schedule}inputs: {{image: {{type: u16, shape: [{width}, {height}]}}}}\noutputs: {{output: {{type: u16, \
         shape: [{}, {height}]}}}}\n{buffers}nest:\n{nest}",
        columns + rest
    )
}
