//! The driver in C that configures an array from its global buffer, on the Verilated array.

use pushmem_csr::upper;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_files::text;
use pushmem_interconnect::{HOST_LATENCY, answer_latency, with_global_buffer_module};
use pushmem_resources::{BankDriverNames, bank_driver};
use pushmem_systemverilog::File;

use crate::standalone::RunOfBanks;

/// The driver of an array, and the run of a program that is its test.
struct Driver<'a> {
    spec: &'a ArraySpec,
    names: BankDriverNames,
    run: &'a RunOfBanks<'a>,
}

impl Driver<'_> {
    /// A word of ones, as C has it.
    fn word_mask(&self) -> String {
        format!("0x{:x}ull", u64::MAX >> (u64::BITS - self.spec.word_bits()))
    }
}

/// The folder `global_buffer` of a program: the driver with the registers of banks, and a C program that runs it on the Verilated array; nothing without
/// a global buffer.
pub fn driver_check(spec: &ArraySpec, run: &RunOfBanks) -> Vec<File> {
    if spec.global_buffer.is_none() {
        return Vec::new();
    }
    let driver = &Driver { spec, names: BankDriverNames::of(spec), run };
    let mut files = bank_driver(spec);
    files.extend([
        ("check.c", text!("driver/check.c", driver: &'a Driver<'a> = driver)),
        ("simulation.h", text!("driver/simulation.h", driver: &'a Driver<'a> = driver)),
        ("simulation.cpp", text!("driver/simulation.cpp", driver: &'a Driver<'a> = driver)),
        ("Makefile", text!("driver/Makefile", driver: &'a Driver<'a> = driver)),
    ]);
    files.into_iter().map(|(file, text)| (format!("global_buffer/{file}"), text)).collect()
}
