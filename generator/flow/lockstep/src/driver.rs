//! The driver in C that configures an array from its global buffer, on the Verilated array.

use askama::Template;
use pushmem_csr::upper;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_interconnect::{HOST_LATENCY, answer_latency, with_global_buffer_module};
use pushmem_resources::{BankDriverNames, BankMap, bank_driver};
use pushmem_systemverilog::File;

use crate::standalone::RunOfBanks;

#[derive(Template)]
#[template(path = "driver/check.c", escape = "none")]
struct Check<'a> {
    spec: &'a ArraySpec,
    name: &'a str,
    prefix: &'a str,
    registers: &'a str,
    program: &'a str,
    program_prefix: String,
    loaded: usize,
    stored: usize,
    cycles: u64,
    row_bytes: u32,
    /// A word of ones, as C has it.
    word_mask: String,
}

#[derive(Template)]
#[template(path = "driver/simulation.h", escape = "none")]
struct SimulationHeader<'a> {
    spec: &'a ArraySpec,
    name: &'a str,
    prefix: &'a str,
}

#[derive(Template)]
#[template(path = "driver/simulation.cpp", escape = "none")]
struct Simulation<'a> {
    spec: &'a ArraySpec,
    name: &'a str,
    answer: u32,
    host_answer: u32,
}

#[derive(Template)]
#[template(path = "driver/Makefile", escape = "none")]
struct Makefile<'a> {
    spec: &'a ArraySpec,
    program: &'a str,
    array: String,
}

/// The folder `global_buffer` of a program: the driver with the registers of banks, and a C program that runs it on the Verilated array; nothing without
/// a global buffer.
pub fn driver_check(spec: &ArraySpec, run: &RunOfBanks) -> Vec<File> {
    let Some(map) = BankMap::of(spec) else { return Vec::new() };
    let BankDriverNames { functions: name, results: prefix, registers } = &BankDriverNames::of(spec);
    let check = Check {
        spec,
        name,
        prefix,
        registers,
        program: run.program,
        program_prefix: upper(run.program),
        loaded: run.loaded,
        stored: run.stored,
        cycles: run.cycles,
        row_bytes: GlobalBufferSpec::ROW_BYTES,
        word_mask: format!("0x{:x}ull", u64::MAX >> (u64::BITS - spec.word_bits())),
    };
    let simulation = Simulation { spec, name, answer: answer_latency(spec), host_answer: HOST_LATENCY };
    let makefile = Makefile { spec, program: run.program, array: with_global_buffer_module(spec) };
    let rendered = |text: askama::Result<String>| text.expect("templates write to memory") + "\n";
    let mut files: Vec<(&str, String)> = vec![("registers.h", map.to_c_header())];
    files.extend(bank_driver(spec));
    files.extend([
        ("check.c", rendered(check.render())),
        ("simulation.h", rendered(SimulationHeader { spec, name, prefix }.render())),
        ("simulation.cpp", rendered(simulation.render())),
        ("Makefile", rendered(makefile.render())),
    ]);
    files.into_iter().map(|(file, text)| (format!("global_buffer/{file}"), text)).collect()
}
