//! Bindings from documents.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_systemverilog::is_keyword;
use serde::Deserialize;

use super::{Binding, Constant, Described, Figures, MacroPort, Output, PortKind, Views};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingFile {
    #[serde(rename = "macro")]
    name: Option<String>,
    width: Option<u32>,
    depth: Option<u32>,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    reads_while_written: bool,
    #[serde(default)]
    any_shape: bool,
    #[serde(default)]
    ports: Vec<MacroPort>,
    #[serde(default)]
    constants: BTreeMap<String, Constant>,
    #[serde(default)]
    views: Views,
    #[serde(default)]
    figures: Figures,
}

/// The prefix of names of the generator's own modules, and of those that a model needs beside its pins.
const OWN_PREFIX: &str = "pushmem_";

const MAX_WIDTH: u32 = 1024;

const MAX_DEPTH: u32 = 1 << 20;

pub(super) struct Reader<'a> {
    pub document: &'a Document,
}

impl Reader<'_> {
    pub fn resolve(&self, file: BindingFile) -> Result<Described, Diagnostic> {
        let root = FieldPath::root();
        self.check_views(&file.views)?;
        if file.any_shape {
            let given = [
                ("macro", file.name.is_some()),
                ("width", file.width.is_some()),
                ("depth", file.depth.is_some()),
                ("ports", !file.ports.is_empty()),
                ("constants", !file.constants.is_empty()),
                ("figures", file.figures != Figures::default()),
            ];
            if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                let help = format!("remove `any_shape`, or `{key}`");
                return self.document.refuse(
                    &root.key(key),
                    format!("`{key}` means nothing with `any_shape: true`"),
                    help,
                );
            }
            return Ok(Described::AnyShape(file.views));
        }
        let (Some(name), Some(width), Some(depth)) = (file.name, file.width, file.depth) else {
            return self.document.refuse(
                &root,
                "a macro has a name and a shape",
                "give `macro`, `width` (bits of a row) and `depth` (rows); or `any_shape: true`",
            );
        };
        for (key, value, least, most) in [("width", width, 1, MAX_WIDTH), ("depth", depth, 2, MAX_DEPTH)] {
            if !(least..=most).contains(&value) {
                let message = format!("`{key}` is {value}, which is not from {least} to {most}");
                return self.document.refuse(&root.key(key), message, "see the macro's data sheet");
            }
        }
        let binding = Binding {
            name,
            width,
            depth,
            output: file.output,
            reads_while_written: file.reads_while_written,
            ports: file.ports,
            constants: file.constants,
            views: file.views,
            figures: file.figures,
        };
        self.check_ports(&binding)?;
        self.check_names(&binding)?;
        Ok(Described::Macro(binding))
    }

    fn check_views(&self, views: &Views) -> Result<(), Diagnostic> {
        let path = FieldPath::root().key("views");
        let pairs = [
            (("lef", views.lef.is_some()), ("gds", views.gds.is_some()), "an outline and a layout"),
            (("power", !views.power.is_empty()), ("ground", !views.ground.is_empty()), "pins of both supplies"),
        ];
        for (one, other, what) in pairs {
            let (missing, given) = if one.1 { (other, one) } else { (one, other) };
            if given.1 && !missing.1 {
                let message = format!("`{}` is given without `{}`", given.0, missing.0);
                let help = format!("flows need {what}: add `{}`", missing.0);
                return self.document.refuse(&path.key(given.0), message, help);
            }
        }
        if !views.corners.is_empty() && views.liberty.is_none() {
            let help = "add `liberty`: the one of these files for tools that know one corner";
            return self.document.refuse(&path.key("corners"), "`corners` is given without `liberty`", help);
        }
        // Names go to Tcl and into lists separated by spaces.
        let plain = |name: &&String| {
            !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "{}[]$\"\\;".contains(c))
        };
        for (key, pins) in [("power", &views.power), ("ground", &views.ground)] {
            if let Some(name) = pins.iter().find(|name| !plain(name)) {
                let help = "name the pins as the LEF file does";
                return self.document.refuse(&path.key(key), format!("`{name}` is not the name of a pin"), help);
            }
        }
        Ok(())
    }

    fn check_ports(&self, binding: &Binding) -> Result<(), Diagnostic> {
        let ports = FieldPath::root().key("ports");
        if binding.ports.is_empty() {
            return self.document.refuse(&ports, "a macro has ports", "add `ports:` with an item for each");
        }
        for (number, port) in binding.ports.iter().enumerate() {
            let path = ports.index(number);
            let kind = match port.kind {
                PortKind::ReadWrite => "read_write",
                PortKind::Read => "read",
                PortKind::Write => "write",
            };
            let selectable = port.select.is_some();
            let needed = [
                ("data_in", port.data_in.is_some(), port.writes(), port.writes()),
                ("data_out", port.data_out.is_some(), port.reads(), port.reads()),
                ("mask", port.mask.is_some(), false, port.writes()),
                ("write", port.write.is_some(), port.writes() && (port.reads() || !selectable), port.writes()),
                ("read", port.read.is_some(), port.kind == PortKind::Read && !selectable, port.reads()),
            ];
            for (key, given, required, allowed) in needed {
                if required && !given {
                    let message = format!("a port of the kind `{kind}` needs `{key}`");
                    return self.document.refuse(
                        &path,
                        message,
                        format!("add `{key}` with the name of the macro's pin"),
                    );
                }
                if given && !allowed {
                    let message = format!("a port of the kind `{kind}` has no `{key}`");
                    return self.document.refuse(&path.key(key), message, format!("remove `{key}`"));
                }
            }
            if port.kind == PortKind::ReadWrite && !selectable && port.read.is_none() {
                let message = "nothing tells this port to do nothing";
                return self.document.refuse(
                    &path,
                    message,
                    "add `select`, the chip select, or `read`, the read enable",
                );
            }
            if let Some(mask) = &port.mask
                && (mask.bits == 0 || !binding.width.is_multiple_of(mask.bits))
            {
                let message = format!("a row of {} bits has no mask with a bit for {}", binding.width, mask.bits);
                let help = format!("`bits` divides the width, {}", binding.width);
                return self.document.refuse(&path.key("mask").key("bits"), message, help);
            }
        }
        let masks = binding.ports.iter().filter(|port| port.writes());
        if masks.map(|port| port.mask.as_ref().map(|mask| mask.bits)).dedup().count() > 1 {
            return self.document.refuse(
                &ports,
                "ports that write have different masks",
                "use a macro with equal masks",
            );
        }
        Ok(())
    }

    fn check_names(&self, binding: &Binding) -> Result<(), Diagnostic> {
        let identifier = |name: &str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let pins = binding.pins();
        let names = pins.iter().map(|(name, ..)| *name).chain([binding.name.as_str()]);
        let root = FieldPath::root();
        if let Some(name) = names.clone().find(|name| !identifier(name)) {
            let message = format!("`{name}` is not a name of Verilog");
            return self.document.refuse(
                &root,
                message,
                "names are letters, digits and underscores, and begin with no digit",
            );
        }
        if let Some(name) = names.clone().find(|name| is_keyword(name)) {
            let help = "no module and no pin can be called so; see the macro's data sheet";
            return self.document.refuse(&root, format!("`{name}` is a keyword of SystemVerilog"), help);
        }
        if let Some(name) = names.clone().find(|name| name.starts_with(OWN_PREFIX)) {
            let message = format!("`{name}` begins as names of the generator's own modules do, by `{OWN_PREFIX}`");
            return self.document.refuse(&root, message, "put a module with other names around the macro");
        }
        if let Some(name) = pins.iter().map(|(name, ..)| *name).duplicates().next() {
            return self.document.refuse(&root, format!("two pins are named `{name}`"), "ports share only clocks");
        }
        for (number, port) in binding.ports.iter().enumerate() {
            let differs = |other: &&MacroPort| other.clock == port.clock && other.edge != port.edge;
            if binding.ports[..number].iter().any(|other| differs(&other)) {
                let path = root.key("ports").index(number);
                let message =
                    format!("ports that share the clock `{}` take their inputs at different edges", port.clock);
                return self.document.refuse(&path, message, "give them one `edge`, or clocks of their own");
            }
        }
        for (name, constant) in &binding.constants {
            let fits =
                (1..=64).contains(&constant.bits) && (constant.bits == 64 || constant.value >> constant.bits == 0);
            if !fits && (constant.value != 0 || !(1..=MAX_WIDTH).contains(&constant.bits)) {
                let message = format!("the value {} does not fit {} bits", constant.value, constant.bits);
                let help = "give `bits`, the width of the pin, and a `value` that fits";
                return self.document.refuse(&root.key("constants").key(name), message, help);
            }
        }
        Ok(())
    }
}
