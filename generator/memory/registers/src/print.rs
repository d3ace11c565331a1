//! The register map as JSON, C, SystemRDL and Markdown.

use askama::Template;

use pushmem_csr::{Access, WORD_BYTES, upper};

use crate::map::RegisterMap;

#[derive(Template)]
#[template(path = "registers.h", escape = "none")]
struct CHeader<'a> {
    map: &'a RegisterMap,
}

#[derive(Template)]
#[template(path = "registers.rdl", escape = "none")]
struct SystemRdl<'a> {
    map: &'a RegisterMap,
}

#[derive(Template)]
#[template(path = "registers.md", escape = "none")]
struct Markdown<'a> {
    map: &'a RegisterMap,
}

impl RegisterMap {
    /// The map as JSON, for programs.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a register map is plain data");
        text.push('\n');
        text
    }

    /// A C header with the offset of each register and the position and mask of each field.
    pub fn to_c_header(&self) -> String {
        render(&CHeader { map: self })
    }

    /// A SystemRDL 2.0 description.
    pub fn to_system_rdl(&self) -> String {
        render(&SystemRdl { map: self })
    }

    /// Tables for people.
    pub fn to_markdown(&self) -> String {
        render(&Markdown { map: self })
    }
}

fn render(template: &impl Template) -> String {
    template.render().expect("templates write to memory").trim().to_owned() + "\n"
}
