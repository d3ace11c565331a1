//! Random arrays.

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Blocks};
use pushmem_files::{Diagnostic, Document};
use pushmem_pe::Operation;
use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand_chacha::ChaCha8Rng;

/// The name of a random register file.
const REGISTER_FILE: &str = "random_register_file";

/// The blocks of a random array.
struct RandomBlocks {
    pe: String,
    register_file: String,
    memory: String,
}

impl Blocks for RandomBlocks {
    fn processing_element(&self, name: &str) -> Result<Document, Diagnostic> {
        Document::parse(name, self.pe.clone())
    }

    fn tile(&self, name: &str) -> Result<Document, Diagnostic> {
        Document::parse(name, if name == REGISTER_FILE { self.register_file.clone() } else { self.memory.clone() })
    }
}

/// A random array of 2 × 2 tiles or more, with at most so many rows and columns; and its specification with those of its blocks as text.
pub fn random_array(longest_side: u32, random: &mut ChaCha8Rng) -> (ArraySpec, String) {
    let mut side = || random.random_range(2..=longest_side.max(2));
    let (columns, rows) = (side(), side());
    let word_bits = *[8, 16, 16, 32].choose(random).expect("some widths");
    let clock_gating = random.random::<bool>();
    let reset = *["asynchronous", "synchronous"].choose(random).expect("some kinds");
    let blocks = RandomBlocks {
        pe: processing_element(word_bits, random),
        register_file: register_file(word_bits, clock_gating, reset, random),
        memory: memory(word_bits, clock_gating, reset, random),
    };
    let has_register_files = random.random_bool(0.4);
    let register_files = if has_register_files { format!("register_file: {REGISTER_FILE}\n") } else { String::new() };
    let every = random.random_bool(0.7).then(|| random.random_range(2..=columns));
    let memories = every.map_or(String::new(), |every| format!("memory: {{tile: random_memory, every: {every}}}\n"));
    let topology = ["wilton", "disjoint"].choose(random).expect("some topologies");
    let hop_limit = [1, 1, 2, 4].choose(random).expect("some limits");
    let control_depth = random.random_range(1..=4);
    let block = block(columns, rows, every.unwrap_or(1), random);
    let global_buffer = global_buffer(columns, &mut random.clone());
    let text = format!(
        "name: random\nkind: array\ncolumns: {columns}\nrows: {rows}\npe: random_pe\n{register_files}{memories}io: {{levels: {}, extent_bits: {}, \
         cycle_bits: {}, buffer: {}}}\ntracks: {{word: {}, bit: {}}}\ntopology: {topology}\nhop_limit: {hop_limit}\n{block}\
         control_depth: {control_depth}\nclock_gating: {clock_gating}\n{global_buffer}",
        random.random_range(2..=4),
        random.random_range(4..=16),
        random.random_range(10..=16),
        random.random_range(control_depth + 4..=control_depth + 12),
        random.random_range(1..=5),
        random.random_range(1..=5),
    );
    let document = Document::parse("random.yaml", text.clone()).expect("it is YAML");
    let spec = ArraySpec::from_document(&document, &blocks);
    let RandomBlocks { pe, register_file, memory } = blocks;
    let texts = [text, pe, register_file, memory].join("---\n");
    (spec.unwrap_or_else(|error| panic!("a random array can be built: {error:?}\n{texts}")), texts)
}

/// Banks of some columns, or no global buffer.
fn global_buffer(columns: u32, random: &mut ChaCha8Rng) -> String {
    if random.random_bool(0.6) {
        return String::new();
    }
    let banks = (1..=columns).filter(|banks| columns.is_multiple_of(*banks)).choose(random).expect("one bank fits");
    format!(
        "global_buffer: {{banks: {banks}, bank_bytes: {}, levels: {}, extent_bits: {}, cycle_bits: {}}}\n",
        1 << random.random_range(5..=10),
        random.random_range(1..=7),
        random.random_range(4..=16),
        random.random_range(2..=16),
    )
}

/// Blocks of any size that fills the array, or of the default size.
fn block(columns: u32, rows: u32, every: u32, random: &mut ChaCha8Rng) -> String {
    if random.random_bool(0.5) {
        return String::new();
    }
    let fits = |side: &u32| columns.is_multiple_of(*side) && (*side == columns || side.is_multiple_of(every));
    let width = (1..=columns).filter(fits).choose(random).expect("that of the array fits");
    let height = (1..=rows).filter(|side| rows.is_multiple_of(*side)).choose(random).expect("that of the array fits");
    format!("block: {{columns: {width}, rows: {height}}}\n")
}

/// Some operations, which a processing element can have together.
fn processing_element(word_bits: u32, random: &mut ChaCha8Rng) -> String {
    let of_width = |operation: &Operation| word_bits == 16 || !operation.has_fraction();
    let count = random.random_range(1..=9);
    let mut operations = Operation::ALL.into_iter().filter(of_width).choose_multiple(random, count);
    // Products come with their low words, and some operation takes whole words.
    operations.extend([Operation::Multiply, Operation::Xor]);
    let operations = operations.into_iter().unique().map(Operation::name).join(", ");
    let (lut, held) = (random.random_bool(0.7), random.random_bool(0.7));
    let held = match lut && held {
        true => {
            ["held_operands: true\n", "held_operands: true\naccumulator: a\n", "held_operands: true\naccumulator: b\n"]
                .choose(random)
                .expect("some kinds")
        }
        false => "",
    };
    let late = if random.random_bool(0.3) { "multiplier_cycles: 2\n" } else { "" };
    format!(
        "name: random_pe\nkind: processing_element\nword_bits: {word_bits}\noperand_delay: {}\nlut: {lut}\n{held}{late}\
         operations: [{operations}]\n",
        random.random_range(1..=3),
    )
}

fn register_file(word_bits: u32, clock_gating: bool, reset: &str, random: &mut ChaCha8Rng) -> String {
    format!(
        "name: {REGISTER_FILE}\nkind: register_file\nword_bits: {word_bits}\nrows: {}\ninputs: {}\noutputs: {}\nstencil_valid: {}\n\
         reset: {reset}\nclock_gating: {}\ncontrollers: {{all: {{levels: {}, extent_bits: 8, cycle_bits: 12}}}}\n",
        random.random_range(4..=32),
        random.random_range(1..=2),
        random.random_range(1..=2),
        random.random::<bool>(),
        clock_gating && random.random(),
        random.random_range(2..=3),
    )
}

fn memory(word_bits: u32, clock_gating: bool, reset: &str, random: &mut ChaCha8Rng) -> String {
    let is_wide = random.random_bool(0.7);
    let kind = if is_wide { "wide_fetch" } else { "dual_port" };
    let clock_gating = clock_gating && random.random();
    let (has_bit, chaining) = (random.random::<bool>(), random.random::<bool>());
    // A table has a predicate beside it.
    let has_table = is_wide && has_bit;
    let rom_mode = if has_table { "rom_mode: true\n" } else { "" };
    // 64 words at least; addresses of a table and of a chain have a bit for each of their halves.
    let least = if is_wide { 16 } else { 64 };
    let rows = if has_table || chaining { least } else { random.random_range(least..=least + 4) };
    let (inputs, outputs) = if is_wide { (random.random_range(1..=2), random.random_range(1..=2)) } else { (1, 1) };
    format!(
        "name: random_memory\nkind: {kind}\nword_bits: {word_bits}\nrows: {rows}\ninputs: {inputs}\noutputs: {outputs}\n\
         stencil_valid: {has_bit}\n{rom_mode}reset: {reset}\nchaining: {chaining}\nclock_gating: {clock_gating}\n\
         controllers: {{all: {{levels: {}, extent_bits: 8, cycle_bits: 12}}}}\n",
        random.random_range(2..=4),
    )
}
