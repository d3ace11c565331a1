//! The driver in C that configures an array from its global buffer.

use askama::Template;
use pushmem_csr::upper;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_files::render;

use crate::address::DIGEST;
use crate::bank::BankMap;

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
struct Header<'a>(&'a ArraySpec, &'a BankDriverNames);

#[derive(Template)]
#[template(path = "driver/driver.c", escape = "none")]
struct Source<'a>(&'a ArraySpec, &'a BankDriverNames);

/// The header of the registers of banks, that of the driver and its source: name and text of each. None for an array without a global buffer.
pub fn bank_driver(spec: &ArraySpec) -> Vec<(&'static str, String)> {
    let Some(map) = BankMap::of(spec) else { return Vec::new() };
    let names = &BankDriverNames::of(spec);
    vec![
        ("registers.h", map.to_c_header()),
        ("driver.h", render(&Header(spec, names))),
        ("driver.c", render(&Source(spec, names))),
    ]
}
