//! The register map as JSON, C, SystemRDL and Markdown.

use pushmem_files::{render, text};

use pushmem_csr::{AddressMap, SoftwareAccess, WORD_BYTES, upper};

use crate::map::{Contents, RegisterMap};

impl RegisterMap {
    /// The map as JSON, for programs.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a register map is plain data");
        text.push('\n');
        text
    }

    /// A C header with the offset of each register and the position and mask of each field.
    pub fn to_c_header(&self) -> String {
        text!("registers.h", map: &'a RegisterMap = self)
    }

    /// A SystemRDL 2.0 description.
    pub fn to_system_rdl(&self) -> String {
        let RegisterMap { tile, spec_digest, registers, contents } = self;
        let description = format!(
            "Configuration of the tile's controllers. Specification digest {spec_digest}.
            An access to an address at which there is nothing changes nothing, reads 0 and raises config_error_o in the next cycle."
        );
        let (name, title) = (&format!("{tile}_registers"), &format!("{tile} memory tile"));
        let rest = &contents.as_ref().map_or_else(String::new, Contents::to_system_rdl);
        let map = AddressMap { name, title, description: &description, registers, volatile: false, rest };
        format!("// Registers of the memory tile `{tile}`, SystemRDL 2.0.\n{}", render(&map))
    }

    /// Tables for people.
    pub fn to_markdown(&self) -> String {
        text!("registers.md", map: &'a RegisterMap = self)
    }
}

impl Contents {
    /// The window in SystemRDL 2.0, as a part of an address map.
    pub fn to_system_rdl(&self) -> String {
        text!("contents.rdl", contents: &'a Contents = self).trim_end().to_owned()
    }
}
