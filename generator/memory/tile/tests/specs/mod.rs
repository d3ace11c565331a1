//! Specifications for tests of several crates: the shipped ones, and random ones of every kind and style.
#![allow(dead_code, reason = "each of the crates that include this file uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use pushmem_files::{Diagnostic, Document};
use pushmem_tile::{Style, TileSpec};

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// The shipped specification files.
pub fn shipped_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("constraints/tiles")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    files
}

/// The shipped specifications.
pub fn shipped() -> Vec<TileSpec> {
    shipped_files().iter().map(|file| TileSpec::read(file).unwrap()).collect()
}

/// The shipped specification of a name.
pub fn tile(name: &str) -> TileSpec {
    TileSpec::read(&root().join(format!("constraints/tiles/{name}.yaml"))).unwrap()
}

/// A specification from its text.
pub fn spec_of(text: &str) -> TileSpec {
    TileSpec::from_document(&Document::parse("spec.yaml", text).unwrap()).unwrap()
}

/// Whether a refusal of `text` has these fragments in its message and help, and points at this line.
pub fn says(problem: &Diagnostic, message: &str, line: usize, help: &str, text: &str) {
    assert!(problem.message().contains(message), "{message:?} is not in {problem:?}, for\n{text}");
    assert_eq!(problem.location().map(|place| place.1), Some(line), "{problem:?}, for\n{text}");
    assert!(problem.help().unwrap_or_default().contains(help), "{help:?} is not the help of {problem:?}, for\n{text}");
}

/// A specification in another style.
pub fn styled(spec: &TileSpec, style: Style) -> TileSpec {
    TileSpec { style, ..spec.clone() }
}

/// Random specifications that can be built.
pub fn specs() -> impl Strategy<Value = TileSpec> {
    let kinds = select(vec!["wide_fetch", "wide_fetch", "dual_port", "quad_port", "register_file", "rom"]);
    let style = select(Style::ALL.map(Style::name).to_vec());
    let memory = (8_u32..=64, 2_u32..=300, 1_u32..=2, any::<bool>(), any::<bool>(), any::<bool>());
    let ports = (1_u32..=4, 1_u32..=4);
    let wide_fetch = (0_u32..=3, 1_u32..=4, 1_u32..=4);
    let controllers = (1_u32..=8, 1_u32..=8, 1_u32..=32, 1_u32..=32, 0_u32..=9);
    (kinds, style, memory, ports, wide_fetch, controllers).prop_map(
        |(kind, style, memory, ports, wide_fetch, controllers)| {
            let (word_bits, rows, latency, chaining, stencil_valid, shadow_registers) = memory;
            let chaining = chaining && kind != "rom";
            let rows = if chaining { rows.next_power_of_two() } else { rows };
            let mut text = format!(
                "name: random\nkind: {kind}\nstyle: {style}\nword_bits: {word_bits}\nrows: {rows}\n\
                 chaining: {chaining}\nstencil_valid: {stencil_valid}\nshadow_registers: {shadow_registers}\n"
            );
            let (mut inputs, mut outputs) = ports;
            if kind == "wide_fetch" {
                let fetch_width = 1 << wide_fetch.0;
                inputs = inputs.min(fetch_width.max(2) - 1);
                outputs = outputs.min(fetch_width.max(2) - inputs);
                let (agg_words, tb_words) = (wide_fetch.1 * fetch_width, wide_fetch.2 * fetch_width);
                text += &format!("fetch_width: {fetch_width}\nagg_words: {agg_words}\ntb_words: {tb_words}\n");
            }
            if kind != "rom" {
                text += &format!("inputs: {inputs}\noutputs: {outputs}\n");
            }
            if kind != "register_file" {
                text += &format!("sram_latency: {latency}\n");
            }
            let (levels, other_levels, extent_bits, cycle_bits, spare) = controllers;
            let bits = rows.next_power_of_two().ilog2() + 1 + spare;
            text += &format!(
                "controllers:\n  all: {{levels: {levels}, extent_bits: {extent_bits}, cycle_bits: {cycle_bits}}}\n"
            );
            let (writer, reader, memory) = match kind {
                "wide_fetch" => ("agg2sram", "sram2tb", "sram"),
                "register_file" => ("in2rf", "rf2out", "register_file"),
                "rom" => return spec_of(&text),
                _ => ("in2sram", "sram2out", "sram"),
            };
            text += &format!("  {writer}: {{levels: {other_levels}, address_bits: {{{memory}: {bits}}}}}\n");
            text += &format!("  {reader}: {{address_bits: {{{memory}: {bits}}}}}\n");
            spec_of(&text)
        },
    )
}
