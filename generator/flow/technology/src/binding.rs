//! Bindings: what the ports of an SRAM macro mean.

mod read;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use pushmem_files::{Code, Diagnostic, Document};
use pushmem_tile::address_bits_for;
use serde::Deserialize;

use crate::memory::TileSram;
use read::Reader;

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
    pub select: Option<Pin>,
    /// Write enable. A port that reads or writes reads when it does not write.
    pub write: Option<Pin>,
    /// Read enable.
    pub read: Option<Pin>,
    /// Address.
    pub address: String,
    /// Row to write.
    pub data_in: Option<String>,
    /// Row that was read.
    pub data_out: Option<String>,
    /// Which bits are written.
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
    pub kit: Option<Kit>,
    /// Outline and pins.
    pub lef: Option<String>,
    /// Timing, for tools that know one corner.
    pub liberty: Option<String>,
    /// Timing by the names of corners, with wildcards, for tools that know several.
    #[serde(default)]
    pub corners: BTreeMap<String, String>,
    /// Layout.
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
    pub area_um2: Option<u32>,
    /// Energy of reading a row, in femtojoules.
    pub read_energy_fj: Option<u32>,
    /// Energy of writing a row, in femtojoules.
    pub write_energy_fj: Option<u32>,
}

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
