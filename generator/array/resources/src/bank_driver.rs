//! The driver in C that configures an array from its global buffer.

use pushmem_csr::upper;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_files::text;

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

/// The header of the registers of banks, that of the driver and its source: name and text of each. None for an array without a global buffer.
pub fn bank_driver(spec: &ArraySpec) -> Vec<(&'static str, String)> {
    let Some(map) = BankMap::of(spec) else { return Vec::new() };
    let names = &BankDriverNames::of(spec);
    vec![
        ("registers.h", map.to_c_header()),
        ("driver.h", text!("driver/driver.h", spec: &'a ArraySpec = spec, names: &'a BankDriverNames = names)),
        ("driver.c", text!("driver/driver.c", spec: &'a ArraySpec = spec, names: &'a BankDriverNames = names)),
    ]
}
