//! The RTL of kernels in Verilator: all modules in one model, compared with their pipelines.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use pushmem_datapaths::{DIVIDER, Datapath, DedicatedOperators, FetchPorts, Ports, TableMemories};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Operation, Program, Type};
use pushmem_testing::{Part, verilator};
use pushmem_veryl::{Reset, SourceFile};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{apps, random_value, read};
use crate::expressions;
use crate::pipeline::Pipeline;

const CYCLES: usize = 1500;

/// The types of results: programs go through them in rotation.
const RESULTS: [Type; 6] = [Type::U16, Type::I8, Type::I16, Type::U8, Type::I32, Type::U32];

/// Expressions beside those of the benchmark programs: each operator on each type, signed division above all.
const EXPRESSIONS: &[&str] = &[
    "b[x, y] / b[0, y]",
    "b[x, y] % b[0, y]",
    "b[x, y] / b[0, y] + b[x, y] % b[0, y]",
    "a[x, y] / a[0, y]",
    "a[x, y] % a[0, y]",
    "d[x, y] / d[0, y]",
    "d[x, y] % d[0, y]",
    "c[x, y] / c[0, y] + c[x, y] % c[0, y]",
    "(a[x, y] as u32 * 65537) / (a[0, y] as u32 + 3)",
    "(b[x, y] as i32 * 65537) / (b[0, y] as i32 * 3)",
    "(b[x, y] as i32 * 65537) % (b[0, y] as i32 * 3)",
    "b[x, y] / 7 + b[x, y] / -8 + b[x, y] % 16",
    "b[x, y] << b[0, y]",
    "b[x, y] >> b[0, y]",
    "a[x, y] << a[0, y]",
    "a[x, y] >> a[0, y]",
    "d[x, y] << (b[0, y] as i8)",
    "d[x, y] >> (b[0, y] as i8)",
    "(b[x, y] as i32) << (d[0, y] as i32)",
    "(b[x, y] as u32) >> (d[0, y] as u32)",
    "absd(b[x, y], b[0, y])",
    "absd(a[x, y], a[0, y]) + absd(c[x, y], c[0, y]) as u16",
    "abs(b[x, y]) + abs(d[x, y]) as u16",
    "abs(0 - a[x, y]) + abs(0 - b[x, y])",
    "min(b[x, y], b[0, y]) * max(d[x, y], d[0, y]) as i16",
    "(-d[x, y]) as u8 as i16 & !b[x, y] | b[0, y] ^ 77",
    "sel(b[x, y] < b[0, y] && a[x, y] >= 100, a[x, y], d[x, y] as u16)",
    "(b[x, y] == -32768) as u16 + (d[x, y] != -128) as u16",
    "x * 3 - y * 100000 + (a[x, y] as i32) * (b[x, y] as i32)",
    "(!(a[x, y] < a[0, y])) as i16",
    "s[d[x, y]] as i16 + s[d[0, y] & 15] as i16",
    "t[a[x, y]] + t[b[x, y]] + t[c[x, y]]",
    "outside(a[x - 1, y], 7) + a[x, y]",
    "absd(a[x, y], 0) - absd(c[x, y], 0) as u16",
    "absd(b[x, y], -32768) - absd(32767, b[0, y])",
    "5",
    "-6",
    "-7",
    "d[x, y]",
    "(a[x, y] / 2) as u8",
    "e[x, y]",
    "f[x, y] * f[0, y] + e[x, y] as i32",
    "max(f[x, y] >> 3, f[0, y]) - (b[x, y] as i32)",
    "(e[x, y] / 7 + e[0, y] % 1000) as i32",
    "(f[x, y] >> 16) as i16",
    "abs(f[x, y]) + absd(f[x, y], f[0, y])",
];

/// Expressions of numbers of bfloat16, and [likewise](expressions::of_numbers) of float16: each operator, and each conversion.
const NUMBERS: &[&str] = &[
    "g[x, y]",
    "g[x, y] + g[0, y]",
    "g[x, y] - g[0, y]",
    "g[x, y] - 1.5",
    "g[x, y] * g[0, y]",
    "g[x, y] * 0.1 + g[0, y] / 8",
    "min(g[x, y], g[0, y])",
    "max(g[x, y], g[0, y]) * 3",
    "clamp(g[x, y], -1, 1.5)",
    "abs(g[x, y]) - (-g[0, y])",
    "absd(g[x, y], g[0, y])",
    "sel(g[x, y] == g[0, y], 1.0, sel(g[x, y] != 2, g[0, y], -0.0))",
    "sel(g[x, y] < g[0, y] && g[x, y] >= -100, g[x, y], a[x, y] as bf16)",
    "sel(g[x, y] <= g[0, y] || g[x, y] > 7.5, d[x, y] as bf16, b[x, y] as bf16)",
    "(c[x, y] as bf16) * (a[x, y] as bf16)",
    "(x as i16 as bf16) + ((y < 2) as bf16)",
    "(a[x, y] / 2) as bf16",
    "g[x, y] as u16 as bf16",
    "g[x, y] as i16 as bf16",
    "g[x, y] as u8 as bf16",
    "g[x, y] as i8 as bf16",
    "t[g[x, y] as u16 & 3] as bf16 + g[0, y]",
    "outside(g[x - 1, y], 7.25) + g[x, y]",
    "g[x, y] + g[0, y] + g[1, y] + g[2, y] + g[3, y] + 0.0 + 1.0 + 2.0",
    "sqrt(g[x, y] * g[x, y] + g[0, y] * g[0, y])",
    "g[x, y] * reciprocal(g[0, y])",
    "exp(g[x, y])",
    "log(abs(g[x, y]))",
];

/// The module of a kernel, with its datapath, ports and program.
struct Kernel {
    name: String,
    text: String,
    datapath: Datapath,
    ports: Ports,
    program: Program,
}

impl Kernel {
    fn new(program: &Program, number: usize, name: String) -> Self {
        Self::with_memories(program, number, name, TableMemories::NONE)
    }

    fn with_memories(program: &Program, number: usize, name: String, memories: TableMemories) -> Self {
        let operation = program.operations()[number].1;
        let datapath =
            DatapathGraph::of(program, operation).pipelined(&DedicatedOperators::LONG_STAGES, memories).unwrap();
        let text = datapath.module(program, operation, &name);
        let ports = datapath.ports(program, operation);
        Self { name, text, datapath, ports, program: program.clone() }
    }

    /// The number of words of its result.
    fn results(&self) -> usize {
        self.datapath.result_type().words().len()
    }
}

fn number_kernels() -> Vec<Kernel> {
    let kernel = |(number, value): (usize, Type)| {
        let program = read(&expressions::program(&expressions::of_numbers(NUMBERS[number], value), value));
        Kernel::new(&program, 0, format!("{}_{number}", value.name()))
    };
    let types = [Type::Bf16, Type::F16];
    types.into_iter().flat_map(|value| (0..NUMBERS.len()).map(move |number| (number, value))).map(kernel).collect()
}

/// A kernel for each operation of the programs, of equal ones only the first.
fn kernels_of(programs: impl IntoIterator<Item = Program>) -> Vec<Kernel> {
    let mut known = HashSet::new();
    let mut kernels = Vec::new();
    for program in programs {
        // The bench has no memories that data choose words of.
        let plain = |operation: &Operation| {
            let accesses = operation.loads.iter().map(|load| &load.access).chain([&operation.target]);
            { accesses }.all(|access| access.computed.is_none())
        };
        for (number, (_, operation)) in program.operations().iter().enumerate().filter(|(_, (_, of))| plain(of)) {
            let kernel = Kernel::new(&program, number, format!("{}_{}", program.name, operation.name));
            if known.insert(kernel.datapath.clone()) {
                kernels.push(kernel);
            }
        }
    }
    kernels
}

/// Random programs, always the same.
fn random_kernels(count: usize) -> Vec<Kernel> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let strategy = expressions::expression();
    let kernel = |number: usize| {
        let (expression, _) = strategy.new_tree(&mut runner).unwrap().current();
        let program = read(&expressions::program(&expression, RESULTS[number % RESULTS.len()]));
        Kernel::new(&program, 0, format!("random_{number}"))
    };
    (0..count).map(kernel).collect()
}

fn expression_kernels() -> Vec<Kernel> {
    // Each once with a result of 16 bits and once with one of 8, or with and without sign in 32.
    let kernel = |number: usize| {
        let program = read(&expressions::program(EXPRESSIONS[number / 2], RESULTS[number % RESULTS.len()]));
        Kernel::new(&program, 0, format!("expression_{number}"))
    };
    (0..2 * EXPRESSIONS.len()).map(kernel).collect()
}

/// Look-ups in all tables, with both latencies of memories.
fn fetching_kernels() -> Vec<Kernel> {
    let expressions = [
        "t[a[x, y]]",
        "t[a[x, y]] + t[b[x, y]] + t[c[x, y]]",
        "s[d[x, y]] as i16 * 3 + s[d[0, y] & 15] as i16",
        "t[s[d[x, y]] as u16] + a[0, y] / 3",
        "sel(a[x, y] < 50, t[min(a[x, y], 7)], t[a[0, y] % 8 + 1] + t[x])",
    ];
    let kernel = |number: usize| {
        let program = read(&expressions::program(expressions[number / 2], RESULTS[number % 3]));
        let memories = TableMemories { logic_words: 0, latency: 1 + number as u64 % 2 };
        Kernel::with_memories(&program, 0, format!("fetching_{number}"), memories)
    };
    (0..2 * expressions.len()).map(kernel).collect()
}

/// The memories of the tables beside a kernel.
fn memories(kernel: &Kernel) -> String {
    let mut text = String::new();
    for (fetch, FetchPorts { address, word }) in kernel.datapath.fetches().iter().zip(&kernel.ports.fetches) {
        let (name, bits, latency) = (&kernel.name, fetch.value.bits(), fetch.latency);
        let (address, word) = (format!("{name}_{address}"), format!("{name}_{word}"));
        writeln!(text, "    logic [{}:0] {address};", fetch.address_bits - 1).unwrap();
        writeln!(text, "    logic [{}:0] {word}, {word}_at, {word}_row [{latency}];", bits - 1).unwrap();
        writeln!(text, "    always_comb case ({address})").unwrap();
        for (entry, value) in kernel.program.tables[fetch.table].values.iter().enumerate() {
            let value = fetch.value.unsigned().wrap(*value);
            writeln!(text, "        {}'d{entry}: {word}_at = {bits}'d{value};", fetch.address_bits).unwrap();
        }
        writeln!(text, "        default: {word}_at = '0;\n    endcase").unwrap();
        writeln!(text, "    always_ff @(posedge clk) if (step) begin\n        {word}_row[0] <= {word}_at;").unwrap();
        for stage in 1..latency {
            writeln!(text, "        {word}_row[{stage}] <= {word}_row[{}];", stage - 1).unwrap();
        }
        writeln!(text, "    end\n    assign {word} = {word}_row[{}];", latency - 1).unwrap();
    }
    text
}

/// A module around all kernels: operand `i` of each is word `i`. The words of their results follow each other.
fn bench(kernels: &[Kernel]) -> (String, usize, usize) {
    let words = kernels.iter().map(|kernel| kernel.datapath.operands().len()).max().unwrap_or(1).max(4);
    let words = words.next_multiple_of(4);
    let variables = kernels.iter().flat_map(|kernel| &kernel.ports.variables).map(|(number, _)| number + 1).max();
    let variables = variables.unwrap_or(1).max(3);
    let mut text = format!(
        "module bench (\n    input logic clk,\n    input logic step,\n    input logic [{}:0] variables,\n    \
         input logic [{}:0] words,\n    output logic [{}:0] results\n);\n",
        32 * variables - 1,
        16 * words - 1,
        16 * kernels.iter().map(Kernel::results).sum::<usize>() - 1
    );
    text.push_str("    logic [1:0] operands_unused;\n    assign operands_unused = {^variables, ^words};\n");
    let mut result = 0;
    for kernel in kernels {
        let Kernel { name, ports, .. } = kernel;
        text.push_str(&memories(kernel));
        write!(text, "    {name} u_{name} (.clk_i(clk), .step_i(step)").unwrap();
        for (variable, port) in &ports.variables {
            write!(text, ", .{port}(variables[{}:{}])", 32 * variable + 31, 32 * variable).unwrap();
        }
        let mut first = 0;
        for (load, port) in kernel.datapath.loads().iter().zip(&ports.loads) {
            let end = first + load.words().len();
            write!(text, ", .{port}(words[{}:{}])", 16 * end - 1, 16 * first).unwrap();
            first = end;
        }
        for port in ports.fetches.iter().flat_map(|FetchPorts { address, word }| [address, word]) {
            write!(text, ", .{port}({name}_{port})").unwrap();
        }
        let end = result + kernel.results();
        writeln!(text, ", .result_o(results[{}:{}]));", 16 * end - 1, 16 * result).unwrap();
        result = end;
    }
    (text + "endmodule\n", words, variables)
}

/// Writes all modules to a folder and returns the names of the files.
fn write_modules(folder: &Path, kernels: &[Kernel], bench: &str) -> Vec<String> {
    let (divider, text) = DIVIDER;
    let numbers = pushmem_float::used(|name| kernels.iter().any(|of| of.datapath.float_modules().contains(name)));
    let numbers = numbers.into_iter().map(|module| SourceFile { name: module.name, text: module.text });
    let numbers = pushmem_veryl::compile(numbers.collect(), Reset::Asynchronous).unwrap();
    let mut files = vec![(divider.to_owned(), text), ("bench".to_owned(), bench)];
    files.extend(numbers.iter().map(|module| (module.name.clone(), module.text.as_str())));
    files.extend(kernels.iter().map(|kernel| (kernel.name.clone(), kernel.text.as_str())));
    for (name, text) in &files {
        fs::write(folder.join(format!("{name}.sv")), text).unwrap();
    }
    files.into_iter().map(|(name, _)| format!("{name}.sv")).collect()
}

fn run(command: &mut Command, folder: &Path) {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let complains = err.contains("%Warning") || err.contains("%Error");
    assert!(output.status.success() && !complains, "{command:?} in {}:\n{out}\n{err}", folder.display());
}

#[test]
fn modules_of_all_applications_are_clean() {
    let Some(verilator) = verilator() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut kernels = kernels_of(apps());
    kernels.extend(fetching_kernels());
    kernels.extend(number_kernels());
    kernels.extend(random_kernels(100));
    let (bench, ..) = bench(&kernels);
    let files = write_modules(folder.path(), &kernels, &bench);
    let mut lint = Command::new(verilator);
    lint.args(["--lint-only", "-Wall", "--top-module", "bench"]).args(files).current_dir(folder.path());
    run(&mut lint, folder.path());
}

#[test]
fn modules_do_what_their_pipelines_do() {
    let Some(verilator) = verilator() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let names = ["gaussian", "harris", "unsharp", "demosaic", "camera_pipeline", "exposure_fusion"];
    let mut kernels = kernels_of(apps().into_iter().filter(|program| names.contains(&program.name.as_str())));
    kernels.extend(expression_kernels());
    kernels.extend(fetching_kernels());
    kernels.extend(number_kernels());
    kernels.extend(random_kernels(24));
    let kernels: Vec<Kernel> = Part::chosen().of(kernels).collect();
    let (bench, words, variables) = bench(&kernels);
    let files = write_modules(folder.path(), &kernels, &bench);
    fs::write(folder.path().join("harness.cpp"), include_str!("harness.cpp")).unwrap();
    let mut build = Command::new(verilator);
    build.args(["--cc", "--exe", "--build", "-j", "2", "-Wall", "--top-module", "bench", "--output-split", "0"]);
    build.args(["--x-assign", "fast", "-CFLAGS", "-O1 -std=c++17", "harness.cpp"]).args(files);
    run(build.current_dir(folder.path()), folder.path());

    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut stimuli = Vec::new();
    let mut cycles = Vec::new();
    for _ in 0..CYCLES {
        let step = random.random_bool(0.9);
        let values: Vec<i64> = (0..variables).map(|_| random_value(Type::I32, &mut random)).collect();
        let operands: Vec<i64> = (0..words).map(|_| random_value(Type::U16, &mut random)).collect();
        stimuli.push(u8::from(step));
        values.iter().for_each(|&value| stimuli.extend((value as u32).to_le_bytes()));
        operands.iter().for_each(|&operand| stimuli.extend((operand as u16).to_le_bytes()));
        cycles.push((step, values, operands));
    }
    let mut model = Command::new(folder.path().join("obj_dir/Vbench"));
    let mut model = model.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = model.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || input.write_all(&stimuli).unwrap());
    let answers = model.wait_with_output().unwrap().stdout;
    feeder.join().unwrap();

    let bytes = answers.len() / CYCLES;
    assert_eq!(bytes, (2 * kernels.iter().map(Kernel::results).sum::<usize>()).next_multiple_of(4));
    let mut first = 0;
    for kernel in &kernels {
        let mut pipeline = Pipeline::new(&kernel.datapath, &kernel.program.tables);
        let mut steps = 0;
        for ((step, values, operands), answer) in cycles.iter().zip(answers.chunks_exact(bytes)) {
            let operands: Vec<u16> = operands.iter().map(|&operand| operand as u16).collect();
            let mut loads = vec![0; kernel.datapath.loads().len()];
            kernel.datapath.joined(&operands, &mut loads);
            // The output of a stalled pipeline is checked when it goes on. A wire shows its operands always.
            if *step {
                pipeline.step(&loads, values);
                let found = answer[2 * first..2 * (first + kernel.results())].chunks(2);
                let found: Vec<u16> = found.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
                if steps >= kernel.datapath.latency() {
                    let words = kernel.datapath.result_type().words().iter();
                    let expected: Vec<u16> = words.map(|word| word.of(pipeline.result())).collect();
                    assert_eq!(found, expected, "step {steps} of {loads:?} {values:?}:\n{}", kernel.text);
                }
                steps += 1;
            }
        }
        first += kernel.results();
    }
}
