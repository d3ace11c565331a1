//! The register map for tools: IP-XACT and Python.

use askama::Template;
use itertools::Itertools;
use pushmem_registers::{Access, RegisterMap, WORD_BYTES};
use pushmem_systemverilog::Port;

use crate::package::Design;

/// The registers of a tile in the address space of a design.
#[derive(Clone, Debug)]
pub struct Block {
    /// Name of the tile in the design.
    pub name: String,
    /// Address of its first register.
    pub base: u64,
    /// Its registers.
    pub map: RegisterMap,
}

/// IEEE 1685-2014.
#[derive(Template)]
#[template(path = "component.xml")]
pub(crate) struct Component<'a> {
    pub design: &'a Design<'a>,
    pub ports: &'a [Port],
}

#[derive(Template)]
#[template(path = "registers.py", escape = "none")]
pub(crate) struct Python<'a> {
    pub design: &'a Design<'a>,
}

impl Python<'_> {
    /// The kinds of tiles, each once.
    fn maps(&self) -> Vec<&RegisterMap> {
        self.design.blocks.iter().map(|block| &block.map).unique_by(|map| &map.tile).collect()
    }
}

impl Component<'_> {
    /// Bytes of the registers of a block.
    fn register_bytes(&self, map: &RegisterMap) -> u32 {
        map.registers.len() as u32 * WORD_BYTES
    }
}
