//! The YAML form of a configuration.

use std::collections::BTreeMap;
use std::path::Path;

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath, text};
use pushmem_tile::{Memory, Mode, TileSpec};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::check::check;
use pushmem_affine::{Affine, Domain};

/// The configuration of one controller. All functions have one stride for each level, as many as there are extents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerConfiguration {
    /// Iterations of each loop level, innermost first, each at least 1. Levels left out have extent 1.
    pub extent: Domain,
    /// When it fires, in unstalled cycles since the flush.
    pub cycle: Affine,
    /// Addresses in the aggregator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agg: Option<Affine>,
    /// Addresses in the SRAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sram: Option<Affine>,
    /// Addresses in the transpose buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tb: Option<Affine>,
    /// Addresses in the register file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_file: Option<Affine>,
}

impl ControllerConfiguration {
    /// The addresses in `memory`.
    pub fn address(&self, memory: Memory) -> Option<&Affine> {
        match memory {
            Memory::Agg => self.agg.as_ref(),
            Memory::Sram => self.sram.as_ref(),
            Memory::Tb => self.tb.as_ref(),
            Memory::RegisterFile => self.register_file.as_ref(),
        }
    }

    /// The addresses by memory.
    pub fn addresses(&self) -> Vec<(Memory, &Affine)> {
        Memory::ALL.into_iter().filter_map(|memory| Some((memory, self.address(memory)?))).collect()
    }

    /// Sets the addresses in `memory`.
    pub fn set_address(&mut self, memory: Memory, address: Affine) {
        let place = match memory {
            Memory::Agg => &mut self.agg,
            Memory::Sram => &mut self.sram,
            Memory::Tb => &mut self.tb,
            Memory::RegisterFile => &mut self.register_file,
        };
        *place = Some(address);
    }

    /// The cycle in which it fires for the last time, in unstalled cycles since the flush.
    pub fn last_firing(&self) -> u128 {
        let last: Vec<u64> = self.extent.iter().map(|extent| extent - 1).collect();
        u128::try_from(self.cycle.at(&last)).unwrap_or(0)
    }

    /// How many times it fires in a run.
    pub fn firings(&self) -> u128 {
        self.extent.iterations()
    }
}

/// Chaining: which piece of a larger memory the tile is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Whether the tile is part of a chain. Without, its addresses wrap within the tile.
    pub enable: bool,
    /// The tile owns the rows from `tile_id · rows` to the next multiple of `rows`.
    #[serde(default)]
    pub tile_id: u32,
}

/// The configuration of a tile, in human terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name of the tile it is for.
    pub tile: String,
    /// Digest of the specification it was made for, where a program wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_digest: Option<String>,
    /// The mode of the tile.
    #[serde(default)]
    pub mode: Mode,
    /// The controllers that run, by name; none but in a unified buffer.
    #[serde(default)]
    pub controllers: BTreeMap<String, ControllerConfiguration>,
    /// Chaining.
    #[serde(default)]
    pub chain: Chain,
    /// The words of a ROM or RAM, from address 0; the rest is left as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<u64>,
}

/// The keys that a file with the schedule of a unified buffer has at least.
#[derive(Deserialize)]
struct OfUnifiedBuffer {
    #[serde(rename = "controllers")]
    _controllers: IgnoredAny,
}

impl Configuration {
    /// The same, so many cycles later.
    #[must_use]
    pub fn later(mut self, cycles: i64) -> Self {
        self.controllers.values_mut().for_each(|controller| controller.cycle.start += cycles);
        self
    }

    /// Reads a configuration file and checks it against the specification of its tile.
    ///
    /// # Errors
    /// A located message when the file cannot be read, is not YAML, has an unknown key or a value of the wrong type, was
    /// made for another specification, or has a value that the tile cannot hold.
    pub fn read(path: &Path, spec: &TileSpec) -> Result<Self, Diagnostic> {
        Self::from_document(&Document::read(path)?, spec)
    }

    /// Reads a configuration from a document, as [`Configuration::read`].
    ///
    /// # Errors
    /// As [`Configuration::read`].
    pub fn from_document(document: &Document, spec: &TileSpec) -> Result<Self, Diagnostic> {
        let configuration: Configuration = document.deserialize()?;
        if configuration.mode == Mode::UnifiedBuffer {
            document.deserialize::<OfUnifiedBuffer>()?;
        }
        configuration.check(spec).map_err(|fault| fault.located(document, Code::Configuration))?;
        Ok(configuration)
    }

    /// Reads only the name of the tile that a configuration document is for.
    ///
    /// # Errors
    /// A located message when the document is not a configuration.
    pub fn tile_of(document: &Document) -> Result<String, Diagnostic> {
        let configuration: Configuration = document.deserialize()?;
        if configuration.tile.is_empty() {
            return Err(document.error(&FieldPath::root().key("tile"), "the name of the tile is empty"));
        }
        Ok(configuration.tile)
    }

    /// Checks the configuration against the specification of its tile.
    ///
    /// # Errors
    /// The first finding: its place in the configuration, the fault, and advice.
    pub fn check(&self, spec: &TileSpec) -> Result<(), Fault> {
        check(self, spec)
    }

    /// The configuration as YAML. Reading it gives the same configuration.
    pub fn to_yaml(&self) -> String {
        text!("configuration.yaml", configuration: &'a Configuration = self)
    }
}

/// A name, quoted where YAML would read no text.
fn text(name: &str) -> String {
    if name == "null" { format!("'{name}'") } else { name.to_owned() }
}

/// A list in flow style.
fn list<T: std::fmt::Display>(items: &[T]) -> String {
    format!("[{}]", items.iter().join(", "))
}

/// An affine function in flow style.
fn affine(function: &Affine) -> String {
    format!("{{start: {}, stride: {}}}", function.start, list(&function.stride))
}
