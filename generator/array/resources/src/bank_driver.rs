//! The driver in C that configures an array from its global buffer.

use askama::Template;
use pushmem_csr::upper;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};

use crate::address::DIGEST;

/// The names in the driver of an array.
#[derive(Clone, Debug)]
pub struct BankDriverNames {
    /// The beginning of names of functions.
    pub functions: String,
    /// The beginning of names of results.
    pub results: String,
    /// The beginning of names of registers.
    pub registers: String,
}

impl BankDriverNames {
    /// Those of an array.
    pub fn of(spec: &ArraySpec) -> Self {
        let functions = format!("{}_buffer", spec.name);
        BankDriverNames { results: upper(&functions), registers: upper(&spec.name), functions }
    }
}

#[derive(Template)]
#[template(path = "driver/driver.h", escape = "none")]
struct Header<'a> {
    spec: &'a ArraySpec,
    name: &'a str,
    prefix: &'a str,
}

#[derive(Template)]
#[template(path = "driver/driver.c", escape = "none")]
struct Source<'a> {
    spec: &'a ArraySpec,
    name: &'a str,
    prefix: &'a str,
    registers: &'a str,
    digest_address: u32,
    row_bytes: u32,
}

/// The header of the driver and its source, beside which is that of the registers of banks: name and text of each. None for an array without a
/// global buffer.
pub fn bank_driver(spec: &ArraySpec) -> Vec<(&'static str, String)> {
    if spec.global_buffer.is_none() {
        return Vec::new();
    }
    let BankDriverNames { functions: name, results: prefix, registers } = &BankDriverNames::of(spec);
    let header = Header { spec, name, prefix };
    let (digest_address, row_bytes) = (DIGEST.word(), GlobalBufferSpec::ROW_BYTES);
    let source = Source { spec, name, prefix, registers, digest_address, row_bytes };
    let rendered = |text: askama::Result<String>| text.expect("templates write to memory") + "\n";
    vec![("driver.h", rendered(header.render())), ("driver.c", rendered(source.render()))]
}
