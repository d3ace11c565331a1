//! Bindings: what the ports of an SRAM macro mean.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Document, FieldPath};
use pushmem_systemverilog::is_keyword;
use pushmem_tile::address_bits_for;
use serde::Deserialize;

use crate::memory::TileSram;

/// A macro: its shape, and what its ports mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name of the macro's module.
    pub name: String,
    /// Bits of a row.
    pub width: u32,
    /// Rows.
    pub depth: u32,
    /// How long a row that was read stays on the output.
    pub output: Output,
    /// Whether a read in the cycle in which another port writes the same row gives the old row.
    pub reads_while_written: bool,
    /// The ports.
    pub ports: Vec<MacroPort>,
    /// Other inputs, and what they are tied to.
    pub constants: BTreeMap<String, Constant>,
    /// Files of the library for the tools of a chip flow, as they are to be named there.
    pub views: Views,
    /// Its area and energy.
    pub figures: Figures,
}

/// How long a row stays on the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Until the port reads the next.
    #[default]
    Held,
    /// For one cycle.
    OneCycle,
}

/// The clock edge at which a macro takes its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockEdge {
    /// The edge at which the tile's registers change.
    #[default]
    Rising,
    /// Half a cycle later.
    Falling,
}

/// The level at which a signal does what its name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Active {
    /// High.
    #[default]
    High,
    /// Low.
    Low,
}

/// The accesses of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortKind {
    /// A read or a write in each cycle.
    ReadWrite,
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// A control signal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Name.
    pub port: String,
    /// Level.
    #[serde(default)]
    pub active: Active,
}

/// A mask of the bits to be written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// Name.
    pub port: String,
    /// Level at which bits are written.
    #[serde(default)]
    pub active: Active,
    /// Bits of a row that a bit of the mask stands for.
    pub bits: u32,
}

/// A port of a macro.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacroPort {
    /// Its accesses.
    pub kind: PortKind,
    /// Clock. Ports may share it.
    pub clock: String,
    /// Edge at which inputs are taken.
    #[serde(default)]
    pub edge: ClockEdge,
    /// Chip select: without it nothing happens.
    #[serde(default)]
    pub select: Option<Pin>,
    /// Write enable. A port that reads or writes reads when it does not write.
    #[serde(default)]
    pub write: Option<Pin>,
    /// Read enable.
    #[serde(default)]
    pub read: Option<Pin>,
    /// Address.
    pub address: String,
    /// Row to write.
    #[serde(default)]
    pub data_in: Option<String>,
    /// Row that was read.
    #[serde(default)]
    pub data_out: Option<String>,
    /// Which bits are written.
    #[serde(default)]
    pub mask: Option<Mask>,
}

/// A constant input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Width.
    pub bits: u32,
    /// Value.
    #[serde(default)]
    pub value: u64,
}

/// The inputs of place and route for a macro: the files of its library, and its properties beside Verilog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Views {
    /// The kit that has the files. Their paths begin at its folder, or without a kit at that of the package.
    #[serde(default)]
    pub kit: Option<Kit>,
    /// Outline and pins.
    #[serde(default)]
    pub lef: Option<String>,
    /// Timing, for tools that know one corner.
    #[serde(default)]
    pub liberty: Option<String>,
    /// Timing by the names of corners, with wildcards, for tools that know several.
    #[serde(default)]
    pub corners: BTreeMap<String, String>,
    /// Layout.
    #[serde(default)]
    pub gds: Option<String>,
    /// Pins of the outline that take the supply voltage.
    #[serde(default)]
    pub power: Vec<String>,
    /// Pins of the outline that take the ground.
    #[serde(default)]
    pub ground: Vec<String>,
}

/// The name of a design kit to each flow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kit {
    /// As LibreLane calls it, and its folder in that with all kits.
    pub librelane: String,
    /// The platform of OpenROAD-flow-scripts.
    pub openroad: String,
}

/// Both names, as a binding has them.
impl Display for Kit {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "`{{librelane: {}, openroad: {}}}`", self.librelane, self.openroad)
    }
}

/// Area and energy of a macro, from its compiler, a measurement or an estimate; missing keys are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Area in square micrometres.
    #[serde(default)]
    pub area_um2: Option<u32>,
    /// Energy of reading a row, in femtojoules.
    #[serde(default)]
    pub read_energy_fj: Option<u32>,
    /// Energy of writing a row, in femtojoules.
    #[serde(default)]
    pub write_energy_fj: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingFile {
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

impl MacroPort {
    /// Whether it can read.
    pub fn reads(&self) -> bool {
        self.kind != PortKind::Write
    }

    /// Whether it can write.
    pub fn writes(&self) -> bool {
        self.kind != PortKind::Read
    }
}

impl Binding {
    /// The binding of a file to the memory of a tile. A file that says `any_shape` stands for a macro in the shape of each
    /// memory.
    ///
    /// # Errors
    /// A located message when the file cannot be read or does not describe a macro.
    pub fn read(path: &Path, memory: &TileSram) -> Result<(Self, Document), Diagnostic> {
        Self::of_document(Document::read(path)?, memory)
    }

    /// As [`Binding::read`], of a document.
    ///
    /// # Errors
    /// As [`Binding::read`].
    pub fn of_document(document: Document, memory: &TileSram) -> Result<(Self, Document), Diagnostic> {
        let binding = match Described::of_document(&document)? {
            Described::Macro(binding) => binding,
            Described::AnyShape(views) => Binding { views, ..Binding::in_shape_of(memory) },
        };
        Ok((binding, document))
    }

    /// A macro in the shape of a memory: what there is without a file. Ports are named as Chisel names those of memories.
    pub fn in_shape_of(memory: &TileSram) -> Self {
        let pin = |port: String| Some(Pin { port, active: Active::High });
        let named = |kind: PortKind, prefix: String| MacroPort {
            kind,
            clock: format!("{prefix}_clk"),
            edge: ClockEdge::Rising,
            select: pin(format!("{prefix}_en")),
            write: (kind == PortKind::ReadWrite).then(|| pin(format!("{prefix}_wmode"))).flatten(),
            read: None,
            address: format!("{prefix}_addr"),
            data_in: match kind {
                PortKind::ReadWrite => Some(format!("{prefix}_wdata")),
                PortKind::Write => Some(format!("{prefix}_data")),
                PortKind::Read => None,
            },
            data_out: match kind {
                PortKind::ReadWrite => Some(format!("{prefix}_rdata")),
                PortKind::Read => Some(format!("{prefix}_data")),
                PortKind::Write => None,
            },
            mask: None,
        };
        let ports = if memory.exclusive {
            vec![named(PortKind::ReadWrite, "RW0".to_owned())]
        } else {
            let writes = (0..memory.writes).map(|port| named(PortKind::Write, format!("W{port}")));
            writes.chain((0..memory.reads).map(|port| named(PortKind::Read, format!("R{port}")))).collect()
        };
        Binding {
            name: format!("{}_{}x{}", memory.name, memory.depth, memory.width),
            width: memory.width,
            depth: memory.depth,
            output: Output::Held,
            reads_while_written: true,
            ports,
            constants: BTreeMap::new(),
            views: Views::default(),
            figures: Figures::default(),
        }
    }

    /// The library file with its timing, if it is there.
    pub fn liberty(&self) -> Option<&str> {
        self.views.liberty.as_deref().filter(|file| Path::new(file).is_file())
    }

    /// Bits of an address.
    pub fn address_bits(&self) -> u32 {
        address_bits_for(self.depth)
    }

    /// Bits that a bit of the write mask stands for: the same for all ports.
    pub fn mask_bits(&self) -> Option<u32> {
        self.ports.iter().find_map(|port| port.mask.as_ref()).map(|mask| mask.bits)
    }

    /// All its pins in the order of the module: name, width, and whether it is an output.
    pub fn pins(&self) -> Vec<(&str, u32, bool)> {
        let mut pins: Vec<(&str, u32, bool)> = Vec::new();
        for (number, port) in self.ports.iter().enumerate() {
            if self.ports[..number].iter().all(|other| other.clock != port.clock) {
                pins.push((&port.clock, 1, false));
            }
            let controls = [&port.select, &port.write, &port.read];
            pins.extend(controls.into_iter().flatten().map(|pin| (pin.port.as_str(), 1, false)));
            pins.push((&port.address, self.address_bits(), false));
            pins.extend(port.data_in.iter().map(|name| (name.as_str(), self.width, false)));
            pins.extend(port.mask.iter().map(|mask| (mask.port.as_str(), self.width / mask.bits, false)));
            pins.extend(port.data_out.iter().map(|name| (name.as_str(), self.width, true)));
        }
        pins.extend(self.constants.iter().map(|(name, constant)| (name.as_str(), constant.bits, false)));
        pins
    }
}

/// The contents of a file of bindings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// A macro.
    Macro(Binding),
    /// One in the shape of each memory, with these views.
    AnyShape(Views),
}

impl Described {
    /// Reads a binding, whatever memory it is for.
    ///
    /// # Errors
    /// As [`Binding::read`].
    pub fn of_document(document: &Document) -> Result<Self, Diagnostic> {
        let binding = document.deserialize().and_then(|file| Reader { document }.resolve(file));
        binding.map_err(|problem| problem.or_code(Code::Binding))
    }
}

struct Reader<'a> {
    document: &'a Document,
}

impl Reader<'_> {
    fn refuse(&self, path: &FieldPath, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.document.error(path, message).with_help(help)
    }

    fn resolve(&self, file: BindingFile) -> Result<Described, Diagnostic> {
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
                return Err(self.refuse(&root.key(key), format!("`{key}` means nothing with `any_shape: true`"), help));
            }
            return Ok(Described::AnyShape(file.views));
        }
        let (Some(name), Some(width), Some(depth)) = (file.name, file.width, file.depth) else {
            return Err(self.refuse(
                &root,
                "a macro has a name and a shape",
                "give `macro`, `width` (bits of a row) and `depth` (rows); or `any_shape: true`",
            ));
        };
        for (key, value, least, most) in [("width", width, 1, MAX_WIDTH), ("depth", depth, 2, MAX_DEPTH)] {
            if !(least..=most).contains(&value) {
                let message = format!("`{key}` is {value}, which is not from {least} to {most}");
                return Err(self.refuse(&root.key(key), message, "see the macro's data sheet"));
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
                return Err(self.refuse(&path.key(given.0), message, help));
            }
        }
        if !views.corners.is_empty() && views.liberty.is_none() {
            let help = "add `liberty`: the one of these files for tools that know one corner";
            return Err(self.refuse(&path.key("corners"), "`corners` is given without `liberty`", help));
        }
        // Names go to Tcl and into lists separated by spaces.
        let plain = |name: &&String| {
            !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "{}[]$\"\\;".contains(c))
        };
        for (key, pins) in [("power", &views.power), ("ground", &views.ground)] {
            if let Some(name) = pins.iter().find(|name| !plain(name)) {
                let help = "name the pins as the LEF file does";
                return Err(self.refuse(&path.key(key), format!("`{name}` is not the name of a pin"), help));
            }
        }
        Ok(())
    }

    fn check_ports(&self, binding: &Binding) -> Result<(), Diagnostic> {
        let ports = FieldPath::root().key("ports");
        if binding.ports.is_empty() {
            return Err(self.refuse(&ports, "a macro has ports", "add `ports:` with an item for each"));
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
                    return Err(self.refuse(&path, message, format!("add `{key}` with the name of the macro's pin")));
                }
                if given && !allowed {
                    let message = format!("a port of the kind `{kind}` has no `{key}`");
                    return Err(self.refuse(&path.key(key), message, format!("remove `{key}`")));
                }
            }
            if port.kind == PortKind::ReadWrite && !selectable && port.read.is_none() {
                let message = "nothing tells this port to do nothing";
                return Err(self.refuse(&path, message, "add `select`, the chip select, or `read`, the read enable"));
            }
            if let Some(mask) = &port.mask
                && (mask.bits == 0 || !binding.width.is_multiple_of(mask.bits))
            {
                let message = format!("a row of {} bits has no mask with a bit for {}", binding.width, mask.bits);
                let help = format!("`bits` divides the width, {}", binding.width);
                return Err(self.refuse(&path.key("mask").key("bits"), message, help));
            }
        }
        let masks = binding.ports.iter().filter(|port| port.writes());
        if masks.map(|port| port.mask.as_ref().map(|mask| mask.bits)).dedup().count() > 1 {
            return Err(self.refuse(&ports, "ports that write have different masks", "use a macro with equal masks"));
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
            return Err(self.refuse(
                &root,
                message,
                "names are letters, digits and underscores, and begin with no digit",
            ));
        }
        if let Some(name) = names.clone().find(|name| is_keyword(name)) {
            let help = "no module and no pin can be called so; see the macro's data sheet";
            return Err(self.refuse(&root, format!("`{name}` is a keyword of SystemVerilog"), help));
        }
        if let Some(name) = names.clone().find(|name| name.starts_with(OWN_PREFIX)) {
            let message = format!("`{name}` begins as names of the generator's own modules do, by `{OWN_PREFIX}`");
            return Err(self.refuse(&root, message, "put a module with other names around the macro"));
        }
        if let Some(name) = pins.iter().map(|(name, ..)| *name).duplicates().next() {
            return Err(self.refuse(&root, format!("two pins are named `{name}`"), "ports share only clocks"));
        }
        for (number, port) in binding.ports.iter().enumerate() {
            let differs = |other: &&MacroPort| other.clock == port.clock && other.edge != port.edge;
            if binding.ports[..number].iter().any(|other| differs(&other)) {
                let path = root.key("ports").index(number);
                let message =
                    format!("ports that share the clock `{}` take their inputs at different edges", port.clock);
                return Err(self.refuse(&path, message, "give them one `edge`, or clocks of their own"));
            }
        }
        for (name, constant) in &binding.constants {
            let fits =
                (1..=64).contains(&constant.bits) && (constant.bits == 64 || constant.value >> constant.bits == 0);
            if !fits && (constant.value != 0 || !(1..=MAX_WIDTH).contains(&constant.bits)) {
                let message = format!("the value {} does not fit {} bits", constant.value, constant.bits);
                let help = "give `bits`, the width of the pin, and a `value` that fits";
                return Err(self.refuse(&root.key("constants").key(name), message, help));
            }
        }
        Ok(())
    }
}
