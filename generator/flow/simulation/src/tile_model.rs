//! Models of tiles: their RTL with a harness.

use std::path::PathBuf;

use askama::Template;
use itertools::Itertools;
use pushmem_bist::MemoryShape;
use pushmem_configuration::Configuration;
use pushmem_files::{Diagnostic, template};
use pushmem_tile::TileSpec;
use pushmem_waves::tile_view;

use crate::build::ModelSources;
use crate::frame::TilePorts;
use crate::rtl::rtl_files;
use crate::verilator::Verilator;

/// The file of the SRAM wrapper, and what takes its place to test the self-test.
const SRAM_WRAPPER: &str = "pushmem_sram.sv";
const FAULTY_SRAM: &str = include_str!("../../../../templates/testbench/faulty_sram.sv");

impl Verilator {
    /// Builds the model of a tile, or finds it in the cache; `wave` for one that writes a wave file. Returns the
    /// executable.
    ///
    /// # Errors
    /// Those of Verilator and of the compiler.
    pub fn build(&self, spec: &TileSpec, wave: bool) -> Result<PathBuf, Diagnostic> {
        let mut rtl = rtl_files(spec)?;
        if wave {
            // The signals do not depend on the configuration: only layouts do.
            let view = tile_view(spec, &pushmem_rtl::tile_module(spec), &Configuration::default());
            rtl.push(("waves.sv".to_owned(), view.systemverilog()));
        }
        self.build_files(spec, &rtl, wave)
    }

    /// Builds a model from SystemVerilog files that have the ports of the tile, as [`Verilator::build`].
    ///
    /// # Errors
    /// As [`Verilator::build`].
    pub fn build_files(&self, spec: &TileSpec, rtl: &[(String, String)], wave: bool) -> Result<PathBuf, Diagnostic> {
        self.build_block(&pushmem_rtl::tile_module(spec), &TilePorts::of(spec).block(), rtl, wave)
    }

    /// Builds a model of a tile with a self-test and an SRAM that can have faults, as [`Verilator::build`], for
    /// [`crate::self_test`].
    ///
    /// # Errors
    /// As [`Verilator::build`]; also when the tile has no self-test.
    pub fn build_self_test(&self, spec: &TileSpec, rtl: &[(String, String)]) -> Result<PathBuf, Diagnostic> {
        let Some(shape) = MemoryShape::of(spec) else {
            let message = format!("`{}` has no self-test", spec.name);
            return Err(Diagnostic::new(message).with_help("give its specification `bist: true`"));
        };
        let top = pushmem_rtl::tile_module(spec);
        let text = template!(
            "self_test.cpp",
            spec: &'a TileSpec = spec,
            top: &'a str = &top,
            shape: MemoryShape = shape,
        )
        .render()
        .expect("templates write to memory");
        let harness = [("harness.cpp".to_owned(), text)];
        let faulty = |(name, text): &(String, String)| {
            let text = if name == SRAM_WRAPPER { FAULTY_SRAM } else { text };
            (name.clone(), text.to_owned())
        };
        let rtl = rtl.iter().map(faulty).collect_vec();
        self.build_model(ModelSources {
            top: &top,
            class: "Vtile",
            rtl: &rtl,
            libraries: Vec::new(),
            harness: &harness,
            shared: &[],
            wave: false,
            flatten: false,
        })
    }
}
