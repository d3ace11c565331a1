//! Random programs of reductions, in the texts that a reader of a linear-algebra book would write.

use itertools::Itertools;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The text of a program whose sums are nested in any way: with their first values beside the loops that add, in a nest above, or in
/// another statement; over one loop or two, which may be unrolled; two sums of one loop; into a buffer, or into the output itself. Some
/// are products or extremes, or of bits.
pub fn random_reductions(seed: u64) -> String {
    reductions(seed, ["u16", "i16", "u8"])
}

/// As [`random_reductions`], of numbers of bfloat16. Some unroll loops so that copies would add in another order than the program.
pub fn random_reductions_of_numbers(seed: u64) -> String {
    reductions(seed, ["bf16"; 3])
}

/// Sums of one of these types.
fn reductions(seed: u64, elements: [&'static str; 3]) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5a11);
    let element = *elements.get(random.random_range(0..3)).expect("one of three");
    let [rows, columns, depth, planes] = [2..=7, 2..=6, 2..=12, 1..=3].map(|extents| random.random_range(extents));
    let operators = ChaCha8Rng::seed_from_u64(seed ^ 0x0b5e);
    let mut draft =
        Draft { rows, columns, depth, planes, element, random, operators, nest: Vec::new(), has_result: false };
    let two = draft.random.random_bool(0.4);
    let sums = if two { vec!["first", "second"] } else { vec!["first"] };
    let is_output = !two && draft.random.random_bool(0.4);
    let target = if is_output { vec!["output"] } else { sums };
    draft.sums(&target);
    if !is_output && !draft.has_result {
        draft.own_nest(&target);
    }
    draft.text(&target)
}

struct Draft {
    rows: i64,
    columns: i64,
    depth: i64,
    planes: i64,
    element: &'static str,
    random: ChaCha8Rng,
    /// Those of the updates, apart from all else that is drawn.
    operators: ChaCha8Rng,
    nest: Vec<String>,
    has_result: bool,
}

impl Draft {
    fn line(&mut self, level: usize, text: &str) {
        self.nest.push(format!("{:indent$}- {text}", "", indent = 2 + 2 * level));
    }

    /// A loop, perhaps unrolled.
    fn header(&mut self, variable: &str, extent: i64, often: f64) -> String {
        let divisors = (2..=extent).filter(|factor| extent % factor == 0).collect_vec();
        match divisors.is_empty() || !self.random.random_bool(often) {
            true => format!("for {variable} in 0..{extent}:"),
            false => {
                let factor = divisors[self.random.random_range(0..divisors.len())];
                format!("for {variable} in 0..{extent} unroll {factor}:")
            }
        }
    }

    fn outer(&mut self) -> [String; 2] {
        let (rows, columns) = (self.rows, self.columns);
        [self.header("i", rows, 0.1), self.header("j", columns, 0.2)]
    }

    /// A value that a sum begins with.
    fn first(&mut self) -> String {
        let number = self.random.random_range(0..9);
        match self.random.random_range(0..4) {
            0 => format!("{number}"),
            1 => format!("c[i] + {number}"),
            _ => "0".to_owned(),
        }
    }

    /// The term that is added.
    fn term(&mut self) -> String {
        // Loop variables have 32 bits.
        let element = if self.element == "bf16" { "i16 as bf16" } else { self.element };
        let terms = ["a[k, l, i] * b[k, j]", "a[k, l, i]", "b[k, j] * c[i]", "max(a[k, l, i], b[k, j])"];
        let first = terms[self.random.random_range(0..terms.len())];
        match self.random.random_range(0..5) {
            0 => format!("{first} + (k as {element})"),
            1 => format!("{first} * 3 + ((2 * l + j) as {element})"),
            _ => first.to_owned(),
        }
    }

    /// The statement that joins an element with a term.
    fn update(&mut self, target: &str, term: &str) -> String {
        let of_bits = self.element != "bf16";
        match self.operators.random_range(0..14) {
            0 | 1 => format!("{target} = max({target}, {term})"),
            2 => format!("{target} = min({term}, {target})"),
            3 => format!("{target} = {target} * ({term})"),
            4 if of_bits => format!("{target} = {target} ^ ({term})"),
            5 => format!("{target} = {target} + {term}"),
            6 if of_bits => format!("{target} = {target} & ({term})"),
            _ => format!("{target} += {term}"),
        }
    }

    fn sums(&mut self, sums: &[&str]) {
        let apart = self.random.random_bool(0.25);
        if apart {
            let [rows, columns] = self.outer();
            self.line(0, &rows);
            self.line(1, &columns);
            self.begin(sums);
        }
        let [rows, columns] = self.outer();
        self.line(0, &rows);
        self.line(1, &columns);
        if !apart {
            self.begin(sums);
        }
        let (planes, depth) = (self.planes, self.depth);
        let headers = match self.random.random_bool(0.2) {
            // Loops of a window, all at once.
            true => [format!("for l in 0..{planes} unroll {planes}:"), self.header("k", depth, 0.5)],
            false => [self.header("l", planes, 0.2), self.header("k", depth, 0.3)],
        };
        let turned = self.random.random_bool(0.3);
        let headers = if turned { headers.into_iter().rev().collect_vec() } else { headers.to_vec() };
        for (level, header) in headers.iter().enumerate() {
            self.line(2 + level, header);
        }
        for sum in sums {
            let term = self.term();
            let update = self.update(&format!("{sum}[j, i]"), &term);
            self.line(4, &format!("\"{update}\""));
        }
        if sums[0] != "output" && self.random.random_bool(0.6) {
            self.result(sums);
        }
    }

    fn begin(&mut self, sums: &[&str]) {
        for sum in sums {
            let first = self.first();
            self.line(2, &format!("\"{sum}[j, i] = {first}\""));
        }
    }

    /// The statement that takes the sums.
    fn result(&mut self, sums: &[&str]) {
        let of = sums.iter().map(|sum| format!("{sum}[j, i]")).join(" - ");
        self.line(2, &format!("\"output[j, i] = {of} + c[i]\""));
        self.has_result = true;
    }

    /// That statement in a nest of its own.
    fn own_nest(&mut self, sums: &[&str]) {
        let [rows, columns] = self.outer();
        self.line(0, &rows);
        self.line(1, &columns);
        self.result(sums);
    }

    fn text(mut self, sums: &[&str]) -> String {
        let Draft { rows, columns, depth, planes, element, .. } = self;
        let buffers = sums.iter().filter(|sum| **sum != "output");
        let buffers = buffers.map(|sum| format!("  {sum}: {{type: {element}, shape: [{columns}, {rows}]}}\n")).join("");
        let schedule = if self.random.random_bool(0.5) { "schedule: dnn\n" } else { "" };
        let buffers = if buffers.is_empty() { buffers } else { format!("buffers:\n{buffers}") };
        format!(
            "name: reductions\n{schedule}inputs:\n  a: {{type: {element}, shape: [{depth}, {planes}, {rows}]}}\n  \
             b: {{type: {element}, shape: [{depth}, {columns}]}}\n  c: {{type: {element}, shape: [{rows}]}}\noutputs:\n  \
             output: {{type: {element}, shape: [{columns}, {rows}]}}\n{buffers}nest:\n{}\n",
            self.nest.join("\n")
        )
    }
}
