//! A processing element in Verilator.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use pushmem_pe::{Mode, Operand, Operation, Pe, PeConfiguration, PeKind, PeSpec, generate, module};
use pushmem_systemverilog::files_of;
use pushmem_testing::{Sources, quiet, verilator};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A specification without a file.
pub fn spec(
    name: &str,
    word_bits: u32,
    operand_delay: u32,
    lut: bool,
    operations: impl IntoIterator<Item = Operation>,
) -> PeSpec {
    let operations = operations.into_iter().collect();
    PeSpec {
        name: name.to_owned(),
        kind: PeKind::ProcessingElement,
        word_bits,
        operations,
        operand_delay,
        lut,
        held_operands: false,
        accumulator: None,
        multiplier_cycles: 1,
    }
}

/// The inputs of a cycle.
#[derive(Clone, Copy)]
struct Cycle {
    step: bool,
    configuration: PeConfiguration,
    words: [u32; 3],
    bits: [bool; 3],
}

/// A model of the RTL of a processing element. Without Verilator, nothing is run.
pub struct Bench {
    spec: PeSpec,
    rtl: Option<pushmem_testing::Bench>,
}

impl Bench {
    /// Checks that the RTL has no warnings.
    pub fn lint(spec: &PeSpec) {
        let Some(verilator) = verilator() else { return };
        let folder = tempfile::tempdir().unwrap();
        let files = files(spec);
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        let mut lint = Command::new(verilator);
        lint.args(["--lint-only", "-Wall", "--top-module", &module(spec)]);
        quiet(lint.args(files.iter().map(|(name, _)| name)).current_dir(&folder));
    }

    /// Builds the model.
    pub fn new(spec: &PeSpec) -> Self {
        let mut rtl = files(spec);
        rtl.push(("bench.sv".to_owned(), bench(spec)));
        let sources = Sources { rtl, harness: include_str!("harness.cpp"), flags: "-O2 -std=c++17" };
        Self { spec: spec.clone(), rtl: pushmem_testing::Bench::build(&sources) }
    }

    /// Runs every operation on all pairs of words, with random third words and bits.
    pub fn exhaustive(&self) {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let most = 1u32 << self.spec.word_bits;
        for operation in self.spec.operations.clone() {
            let pairs = (0..most).flat_map(|a| (0..most).map(move |b| (a, b)));
            let cycles = pairs.map(|(a, b)| {
                let direct = |constant: u32| Operand { mode: Mode::Direct, constant };
                let words = [direct(0); 3];
                let bits = [Operand { mode: Mode::Direct, constant: false }; 3];
                let configuration = PeConfiguration { operation, words, bits, lut: None };
                let bits = std::array::from_fn(|_| random.random());
                Cycle { step: true, configuration, words: [a, b, random.random_range(0..most)], bits }
            });
            let cycles: Vec<Cycle> = cycles.collect();
            self.check(&cycles);
        }
    }

    /// Runs so many cycles with random operations, modes, words and bits, and some in which time stands still.
    pub fn random(&self, count: usize) {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(self.spec.word_bits * 16 + self.spec.operand_delay));
        let random = &mut random;
        let mut configuration = self.configuration(random);
        let cycles = (0..count).map(|_| {
            if random.random_bool(0.2) {
                configuration = self.configuration(random);
            } else {
                configuration.operation = self.operation(random);
            }
            let words = std::array::from_fn(|_| self.word(random));
            let bits = std::array::from_fn(|_| random.random());
            Cycle { step: random.random_bool(0.9), configuration, words, bits }
        });
        let cycles: Vec<Cycle> = cycles.collect();
        self.check(&cycles);
    }

    fn operation(&self, random: &mut ChaCha8Rng) -> Operation {
        self.spec.operations[random.random_range(0..self.spec.operations.len())]
    }

    fn configuration(&self, random: &mut ChaCha8Rng) -> PeConfiguration {
        let modes = self.spec.modes();
        // Of numbers, those of no mode are there as well.
        let number = |random: &mut ChaCha8Rng| random.random_range(0..1u32 << self.spec.mode_bits());
        let word = |place: u32, random: &mut ChaCha8Rng| modes.of_word(place, number(random));
        PeConfiguration {
            operation: self.operation(random),
            words: [0, 1, 2].map(|place| Operand { mode: word(place, random), constant: self.word(random) }),
            bits: [(); 3].map(|_| Operand { mode: modes.of_bit(number(random)), constant: random.random() }),
            lut: (self.spec.lut && random.random()).then(|| random.random()),
        }
    }

    /// A word, often an extreme, a small one, or one with few bits.
    fn word(&self, random: &mut ChaCha8Rng) -> u32 {
        let mask = u32::MAX >> (32 - self.spec.word_bits);
        let near = random.random_range(-3i32..=3) as u32;
        mask & match random.random_range(0..6) {
            0 => near,
            1 => near.wrapping_add(1 << (self.spec.word_bits - 1)),
            2 => (1u32 << random.random_range(0..self.spec.word_bits)).wrapping_add(near),
            // The neighbourhood of 1, of infinity and of the least numbers of bfloat16, and of float16.
            3 => [0x3f80, 0x7f80, 0xff80, 0x0080, 0x8080, 0x3c00, 0x7c00, 0xfc00, 0x0400, 0x8400u32]
                [random.random_range(0..10)]
            .wrapping_add(near),
            _ => random.random(),
        }
    }

    /// Holds the RTL against the model, in every cycle.
    fn check(&self, cycles: &[Cycle]) {
        let Some(rtl) = &self.rtl else { return };
        let answers = rtl.run(cycles.iter().flat_map(|cycle| self.record(cycle)).collect());
        assert_eq!(answers.len(), 5 * cycles.len());
        let mut model = Pe::new(&self.spec, cycles[0].configuration);
        for (number, (cycle, answer)) in cycles.iter().zip(answers.chunks_exact(5)).enumerate() {
            model.configuration = cycle.configuration;
            let expected = model.results(cycle.words, cycle.bits);
            let word = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]);
            assert_eq!(
                (word, answer[4] != 0),
                (expected.word, expected.bit),
                "cycle {number}: {:?} of {:x?} and {:?}",
                cycle.configuration,
                cycle.words,
                cycle.bits
            );
            if cycle.step {
                model.step(cycle.words, cycle.bits);
            }
        }
    }

    /// A cycle as the harness reads it.
    fn record(&self, cycle: &Cycle) -> Vec<u8> {
        let PeConfiguration { operation, words, bits, lut } = cycle.configuration;
        let modes = words.map(|operand| operand.mode).into_iter().chain(bits.map(|operand| operand.mode));
        let packed = |bits: [bool; 3]| bits.into_iter().rev().fold(0, |all, bit| 2 * all + u8::from(bit));
        let mut record = vec![cycle.step.into(), self.spec.opcode(operation).unwrap() as u8];
        record.extend([packed(cycle.bits), packed(bits.map(|operand| operand.constant))]);
        record.extend([lut.unwrap_or_default(), lut.is_some().into()]);
        record.extend(modes.map(|mode| self.spec.modes().number(mode) as u8));
        let constants = words.map(|operand| operand.constant);
        record.extend(cycle.words.into_iter().chain(constants).flat_map(u32::to_le_bytes));
        record
    }
}

fn files(spec: &PeSpec) -> Vec<(String, String)> {
    files_of(generate(spec).unwrap_or_else(|error| panic!("{error}")))
}

/// A module around the processing element with ports that the harness can write alike for all specifications.
fn bench(spec: &PeSpec) -> String {
    let (w, mode_bits) = (spec.word_bits, spec.mode_bits());
    let (words, bits) = (spec.word_operands(), spec.bit_operands());
    let mut ports = String::new();
    for name in ["step", "lut_selected"] {
        writeln!(ports, "    input logic {name},").unwrap();
    }
    for name in ["operation", "lut", "bit_in", "bit_constant"] {
        writeln!(ports, "    input logic [7:0] {name},").unwrap();
    }
    for place in 0..3 {
        writeln!(ports, "    input logic [7:0] data_mode_{place}, bit_mode_{place},").unwrap();
        writeln!(ports, "    input logic [31:0] data_{place}, constant_{place},").unwrap();
    }
    let joined = |name: &str, count: u32, bits: u32| {
        let parts = (0..count).rev().map(|place| format!("{name}_{place}[{}:0]", bits - 1)).collect::<Vec<_>>();
        format!("{{{}}}", parts.join(", "))
    };
    let mut connections = vec![
        ".clk_i(clk)".to_owned(),
        ".step_i(step)".to_owned(),
        format!(".operation_i(operation[{}:0])", spec.opcode_bits() - 1),
        format!(".data_mode_i({})", joined("data_mode", words, mode_bits)),
        format!(".data_constant_i({})", joined("constant", words, w)),
        format!(".data_i({})", joined("data", words, w)),
        format!(".result_o(result[{}:0])", w - 1),
        ".result_bit_o(result_bit)".to_owned(),
    ];
    if bits > 0 {
        connections.push(format!(".bit_mode_i({})", joined("bit_mode", bits, mode_bits)));
        connections.push(format!(".bit_constant_i(bit_constant[{}:0])", bits - 1));
        connections.push(format!(".bit_i(bit_in[{}:0])", bits - 1));
    }
    if spec.lut {
        connections.extend([".lut_i(lut)".to_owned(), ".lut_selected_i(lut_selected)".to_owned()]);
    }
    let padding = if w < 32 { format!("    assign result[31:{w}] = '0;\n") } else { String::new() };
    format!(
        "/* verilator lint_off UNUSEDSIGNAL */\nmodule bench (\n    input logic clk,\n{ports}    output logic [31:0] result,\n    \
         output logic result_bit\n);\n{padding}    {} u_pe ({});\nendmodule\n",
        module(spec),
        connections.join(", ")
    )
}
