//! The register map for tools: IP-XACT, SystemRDL and Python.

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{AddressMap, Register, SoftwareAccess, WORD_BYTES};
use pushmem_files::{render, text};
use pushmem_registers::{Contents, RegisterMap};
use pushmem_systemverilog::ModulePort;

use crate::package::Design;

/// Registers in the address space of a design: those of a tile, or of a shell.
#[derive(Clone, Debug)]
pub struct AddressBlock {
    /// Name of the block in the design.
    pub name: String,
    /// Byte address of its first register.
    pub base: u64,
    /// The kind of block, which has these registers: the name of a tile or of a shell.
    pub kind: String,
    /// The digest of what the registers were made from, as software compares it.
    pub digest: String,
    /// The registers by increasing offset.
    pub registers: Vec<Register<()>>,
    /// The contents of a memory behind them, where there are some.
    pub contents: Option<Contents>,
    /// Whether hardware changes the registers; else it only clears those that ask for something.
    pub is_volatile: bool,
}

impl AddressBlock {
    /// The registers of a tile of this name at an address.
    pub fn of_tile(name: &str, base: u64, map: RegisterMap) -> Self {
        let RegisterMap { tile, spec_digest, registers, contents } = map;
        let registers = registers.into_iter().map(Register::without_meaning).collect();
        let (name, kind, digest) = (name.to_owned(), tile, spec_digest);
        AddressBlock { name, base, kind, digest, registers, contents, is_volatile: false }
    }

    /// Bytes of its registers.
    fn register_bytes(&self) -> u32 {
        self.registers.iter().map(|register| register.offset + WORD_BYTES).max().unwrap_or(WORD_BYTES)
    }

    /// Whether hardware changes a register.
    fn changes(&self, register: &Register<()>) -> bool {
        self.is_volatile || register.access == SoftwareAccess::Request
    }

    /// The address map of its kind, in SystemRDL.
    fn address_map(&self) -> String {
        let AddressBlock { kind: title, digest, registers, contents, is_volatile, .. } = self;
        let (name, description) = (&format!("{title}_registers"), &format!("Digest {digest}."));
        let rest = &contents.as_ref().map_or_else(String::new, Contents::to_system_rdl);
        let map = AddressMap { name, title, description, registers, volatile: *is_volatile, rest };
        render(&map).trim_end().to_owned()
    }
}

/// The kinds of blocks, each once.
fn kinds(blocks: &[AddressBlock]) -> Vec<&AddressBlock> {
    blocks.iter().unique_by(|block| &block.kind).collect()
}

/// IEEE 1685-2014.
#[derive(Template)]
#[template(path = "component.xml")]
pub(crate) struct Component<'a> {
    pub design: &'a Design<'a>,
    pub ports: &'a [ModulePort],
}

/// The registers of a design in Python.
pub(crate) fn python(design: &Design) -> String {
    let kinds = kinds(&design.blocks);
    text!("registers.py", design: &'a Design<'a> = design, kinds: Vec<&'a AddressBlock> = kinds)
}

/// The registers of a design with this top module at their addresses, in SystemRDL 2.0.
pub(crate) fn system_rdl(top: &str, about: &str, blocks: &[AddressBlock]) -> String {
    text!(
        "registers.rdl",
        top: &'a str = top,
        about: &'a str = about,
        blocks: &'a [AddressBlock] = blocks,
        kinds: Vec<&'a AddressBlock> = kinds(blocks),
    )
}
