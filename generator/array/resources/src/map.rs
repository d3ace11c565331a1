//! The configuration registers of an array as JSON, C, SystemRDL, Python and Markdown.

use pushmem_csr::{Field, Register, SoftwareAccess, upper};
use pushmem_fabric::{ArraySpec, Layer, Place, TileKind};
use pushmem_files::text;
use pushmem_pe::Mode;
use pushmem_registers::{Meaning as MemoryMeaning, RegisterMap};
use serde::{Serialize, Serializer};

use crate::address::{Address, CLEAR, COMMON_FEATURES, DIGEST, START, STOP, kind_number};
use crate::ipxact::memory_map;
use crate::layout::{Feature, Meaning, MultiplexerInput, Node, TileLayout};

/// The configuration registers of an array, for programs and people.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayMap {
    /// Name of the array.
    array: String,
    /// Digest of the specification.
    pub(crate) spec_digest: String,
    digest_address: u32,
    clear_address: u32,
    start_address: u32,
    stop_address: u32,
    columns: u32,
    rows: u32,
    tiles: Vec<TileMap>,
    #[serde(skip)]
    places: Vec<PlaceEntry>,
}

/// The registers of a kind of tile.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TileMap {
    kind: &'static str,
    /// In addresses of all its tiles.
    number: u32,
    name: &'static str,
    /// The memory tile whose registers it has, and the number of their feature.
    memory: Option<String>,
    memory_feature: u32,
    /// The folder with its own map.
    memory_folder: &'static str,
    #[serde(skip)]
    memory_registers: Vec<Register<MemoryMeaning>>,
    pub(crate) registers: Vec<RegisterEntry>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RegisterEntry {
    name: String,
    feature: u32,
    number: u32,
    /// Fields, each with the name of the choice of each value from 0 on, if its values are choices.
    #[serde(serialize_with = "positions")]
    fields: Vec<Field<Vec<String>>>,
}

/// The fields without their reset values, which are all 0.
fn positions<S: Serializer>(fields: &[Field<Vec<String>>], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Position<'a> {
        name: &'a str,
        low: u32,
        bits: u32,
        description: &'a str,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        choices: &'a [String],
    }
    serializer.collect_seq(fields.iter().map(|field| Position {
        name: &field.name,
        low: field.low,
        bits: field.bits,
        description: &field.description,
        choices: &field.meaning,
    }))
}

/// A tile of the array.
#[derive(Clone, Debug)]
struct PlaceEntry {
    kind: &'static str,
    name: String,
    column: u32,
    row: u32,
    /// Byte offset of its registers.
    offset: u64,
}

impl ArrayMap {
    /// The registers of an array.
    pub fn of(spec: &ArraySpec) -> Self {
        ArrayMap {
            array: spec.name.clone(),
            spec_digest: spec.digest(),
            digest_address: DIGEST.word(),
            clear_address: CLEAR.word(),
            start_address: START.word(),
            stop_address: STOP.word(),
            columns: spec.columns,
            rows: spec.rows,
            tiles: spec.kinds().map(|kind| TileMap::of(spec, kind)).collect(),
            places: spec.places().filter_map(|place| PlaceEntry::of(spec, place)).collect(),
        }
    }

    /// The map as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a register map is plain data");
        text.push('\n');
        text
    }

    /// The map as a C header: addresses, shifts and masks.
    pub fn to_c_header(&self) -> String {
        text!("registers.h", map: &'a ArrayMap = self)
    }

    /// The map in SystemRDL.
    pub fn to_system_rdl(&self) -> String {
        text!("registers.rdl", map: &'a ArrayMap = self)
    }

    /// The map as a module in Python: the registers of all tiles, those of memories among them.
    pub fn to_python(&self) -> String {
        text!(
            "registers.py",
            map: &'a ArrayMap = self,
            /// Features that addresses of all tiles of a kind can name.
            common_features: u32 = COMMON_FEATURES,
            /// A register of a processing element, for an example.
            first_register: &'a str = &self.tiles[0].registers[0].name,
        )
    }

    /// The map as a memory map of IP-XACT, a part of a component.
    pub fn to_ip_xact(&self, spec: &ArraySpec) -> String {
        memory_map(self, spec)
    }

    /// The registers of the tiles of a kind.
    pub(crate) fn tile(&self, kind: TileKind) -> &TileMap {
        self.tiles.iter().find(|tile| tile.number == kind_number(kind)).expect("a kind of tile that the array has")
    }

    /// The map as tables in Markdown.
    pub fn to_markdown(&self) -> String {
        text!("registers.md", map: &'a ArrayMap = self)
    }
}

impl PlaceEntry {
    fn of(spec: &ArraySpec, place: Place) -> Option<Self> {
        let (kind, Place { row, column }) = (spec.kind(place)?.name(), place);
        let offset = Address { row, column, feature: 0, register: 0 }.offset();
        Some(PlaceEntry { kind, name: format!("{kind}_{column}_{row}"), column, row, offset })
    }
}

impl TileMap {
    fn of(spec: &ArraySpec, kind: TileKind) -> Self {
        let layout = TileLayout::of(spec, kind);
        let register = |(feature, number): (Feature, u32)| {
            let fields = layout.fields.iter().filter(|field| (field.feature, field.register) == (feature, number));
            let entry = |field: &crate::layout::Field| {
                let choices = choices(spec, &layout, field.meaning);
                let description = description(&layout, field.meaning, &choices);
                Field { low: field.low, ..Field::new(field.meaning.name(), field.bits, description, choices) }
            };
            let (name, feature) = (format!("{}_{number}", feature.name()), feature.number());
            RegisterEntry { name, feature, number, fields: fields.map(entry).collect() }
        };
        let memory = spec.memory_of(kind);
        TileMap {
            kind: kind.name(),
            number: kind_number(kind),
            name: match kind {
                TileKind::Pe => "PE",
                TileKind::Memory => "MEM",
                TileKind::Io => "IO",
            },
            memory: memory.map(|memory| memory.name.clone()),
            memory_feature: Feature::of_memory(kind).number(),
            memory_folder: memory_folder(kind),
            memory_registers: memory.map_or(Vec::new(), |memory| RegisterMap::of(memory).registers),
            registers: layout.registers().map(register).collect(),
        }
    }
}

/// The folder of a generated array with the register map of the memory in the tiles of a kind.
pub fn memory_folder(kind: TileKind) -> &'static str {
    if kind == TileKind::Pe { "register_file" } else { "memory" }
}

impl RegisterEntry {
    /// The register, at its offset from the tile.
    pub(crate) fn register(&self) -> Register<()> {
        let offset = Address { row: 0, column: 0, feature: self.feature, register: self.number }.offset();
        Register {
            name: self.name.clone(),
            offset: u32::try_from(offset).expect("a tile has less than 2^18 bytes of registers"),
            access: SoftwareAccess::ReadWrite,
            description: String::new(),
            fields: self.fields.iter().cloned().map(Field::without_meaning).collect(),
        }
    }
}

/// The names of what the values of a field choose, from 0 on; none if its values are numbers.
fn choices(spec: &ArraySpec, layout: &TileLayout, meaning: Meaning) -> Vec<String> {
    let sources = |layer: Layer, node: Node, first: &str| {
        let found = layout.locals.iter().find(|local| (local.layer, local.node) == (layer, node));
        let choice = |choice: &MultiplexerInput| match choice {
            MultiplexerInput::Incoming { side, track } => format!("{}_{track}", side.name()),
            MultiplexerInput::Core { port } => layout.outputs(layer)[*port as usize].name.clone(),
            MultiplexerInput::Register => "register".to_owned(),
        };
        let names = found.into_iter().flat_map(|local| &local.choices).map(choice);
        [first.to_owned()].into_iter().chain(names).collect()
    };
    match meaning {
        Meaning::Select { layer, side, track } => sources(layer, Node::Register { side, track }, "holds still"),
        Meaning::Connection { layer, port } => sources(layer, Node::Input { port }, "nothing"),
        Meaning::Operation => {
            let first = spec.pe.operations.first().and_then(|operation| spec.pe.opcode(*operation)).unwrap_or(0);
            let names = spec.pe.operations.iter().map(|operation| operation.name().to_owned());
            vec!["nothing".to_owned(); first].into_iter().chain(names).collect()
        }
        Meaning::Mode { layer, operand } => {
            let field = layout.field(meaning).expect("a field of the tile");
            let name = |number: u32| match layout.mode(layer, operand, number) {
                Mode::Constant => Some("constant".to_owned()),
                Mode::Direct => Some("direct".to_owned()),
                Mode::Delayed(1) => Some("late by a cycle".to_owned()),
                Mode::Delayed(cycles) => Some(format!("late by {cycles} cycles")),
                Mode::Held => Some("held".to_owned()),
                Mode::Accumulated => Some("accumulated".to_owned()),
                Mode::Undefined(_) => None,
            };
            (0..1 << layout.fields[field].bits).map_while(name).collect()
        }
        _ => Vec::new(),
    }
}

/// A line on the effect of a field, with what each of its values chooses.
fn description(layout: &TileLayout, meaning: Meaning, choices: &[String]) -> String {
    let numbered: Vec<String> = choices.iter().enumerate().map(|(value, name)| format!("{value} {name}")).collect();
    let chosen = numbered.join(", ");
    let operand = |layer: Layer, operand: u32| layout.inputs(layer)[operand as usize].name.clone();
    match meaning {
        Meaning::Select { .. } => chosen,
        Meaning::Pass { .. } => "1 passes around the register, where the hop allows it".to_owned(),
        Meaning::Connection { layer, port: place } | Meaning::Mode { layer, operand: place } => {
            format!("{}: {chosen}", operand(layer, place))
        }
        Meaning::Operation => "opcode, see operations.md".to_owned(),
        Meaning::Constant { layer, operand: place } => format!("constant of {}", operand(layer, place)),
        Meaning::Lut => "table of d, e, f".to_owned(),
        Meaning::LutSelected => "the resulting bit is that of the table".to_owned(),
        Meaning::StreamEnable { .. } => "the stream has beats".to_owned(),
        Meaning::StreamExtent { level, .. } => format!("extent of level {level}, less one"),
        Meaning::StreamStart { .. } => "cycle of the first beat".to_owned(),
        Meaning::StreamGap { level, .. } => {
            format!("cycles between two beats when level {level} increments, less one")
        }
    }
}
