//! Reading a specification, filling in defaults, refusing impossible values.

mod document;
mod modes;

use std::collections::BTreeMap;
use std::path::Path;

use pushmem_files::{Code, Diagnostic, Document, FieldPath, nearest, to_yaml};

use crate::controller::{Memory, Role, narrowest_address};
use crate::spec::{ControllerSpec, Kind, Reset, TileSpec};
pub(crate) use document::KindName;
use document::{ALL_ROLES, ControllerFile, SpecFile, default};
use modes::AddressedMemory;

/// Version of the rules by which registers are laid out. A change of the rules needs a new number: it is part of the
/// digest, so that register writes made by one version are not taken for another's.
const REGISTER_LAYOUT: u32 = 1;

/// Widest field of a register.
const REGISTER_BITS: u32 = 32;

/// Module and file names are built from the tile's name.
const MAX_NAME_LENGTH: usize = 40;

/// The most rows of a tile, which keep simulation models and tables of a sensible size.
pub const MAX_ROWS: u32 = 1 << 20;

/// More tiles than any chip has.
const MAX_COUNT: u32 = 1 << 20;

impl TileSpec {
    /// Reads a specification file.
    ///
    /// # Errors
    /// A located message when the file cannot be read, is not YAML, has an unknown key or a value of the wrong type, or
    /// asks for a tile that cannot be built; the message names the expected values.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        Self::from_document(&Document::read(path)?)
    }

    /// Reads a specification from a document.
    ///
    /// # Errors
    /// As [`TileSpec::read`].
    pub fn from_document(document: &Document) -> Result<Self, Diagnostic> {
        let file: SpecFile = document.deserialize()?;
        Reader { document }.resolve(&file).map_err(|problem| problem.or_code(Code::Specification))
    }

    /// The completed specification as YAML. Reading it gives the same specification.
    pub fn to_yaml(&self) -> String {
        to_yaml(&self.to_file())
    }

    /// The values of [`TileSpec::to_yaml`].
    pub(crate) fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self.to_file()).expect("a specification is plain data")
    }

    fn to_file(&self) -> SpecFile {
        let (fetch_width, agg_words, tb_words) = match self.kind {
            Kind::WideFetch { fetch_width, agg_words, tb_words } => {
                (Some(fetch_width), Some(agg_words), Some(tb_words))
            }
            _ => (None, None, None),
        };
        let controllers = self
            .controllers
            .iter()
            .map(|(role, controller)| {
                let address_bits =
                    controller.address_bits.iter().map(|(memory, &bits)| (memory.name().to_owned(), bits)).collect();
                let file = ControllerFile {
                    levels: Some(controller.levels),
                    extent_bits: Some(controller.extent_bits),
                    cycle_bits: Some(controller.cycle_bits),
                    address_bits,
                };
                (role.name().to_owned(), file)
            })
            .collect();
        SpecFile {
            name: self.name.clone(),
            kind: self.kind.named(),
            register_layout: Some(REGISTER_LAYOUT),
            word_bits: Some(self.word_bits),
            fetch_width,
            rows: self.rows,
            count: self.count,
            inputs: Some(self.inputs),
            outputs: Some(self.outputs),
            agg_words,
            tb_words,
            sram_latency: (self.kind != Kind::RegisterFile).then_some(self.sram_latency),
            chaining: Some(self.chaining),
            output_chaining: self.output_chaining.then_some(true),
            stencil_valid: Some(self.stencil_valid),
            // Keys that came later than digests appear only where they are set.
            rom_mode: self.rom_mode.then_some(true),
            fifo_mode: self.fifo_mode.then_some(true),
            ram_mode: self.ram_mode.then_some(true),
            contents: self.contents.then_some(true),
            style: Some(self.style),
            bist: self.bist.then_some(true),
            // Options of the chip appear only where they differ from their defaults, so that digests stay the same.
            reset: (self.reset != Reset::default()).then_some(self.reset),
            clock_gating: self.clock_gating.then_some(true),
            shadow_registers: self.shadow_registers.then_some(true),
            controllers,
        }
    }
}

/// Resolves a parsed file against its document, so that each finding points at its place.
struct Reader<'a> {
    document: &'a Document,
}

impl Reader<'_> {
    fn error(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        self.document.error(&FieldPath::root().key(key), message)
    }

    fn refuse<T>(&self, key: &str, message: impl Into<String>, help: impl Into<String>) -> Result<T, Diagnostic> {
        Err(self.error(key, message).with_help(help))
    }

    fn resolve(&self, file: &SpecFile) -> Result<TileSpec, Diagnostic> {
        self.check_name(&file.name)?;
        if let Some(layout) = file.register_layout
            && layout != REGISTER_LAYOUT
        {
            return self.refuse(
                "register_layout",
                format!("register layout {layout} is another than this program's, {REGISTER_LAYOUT}"),
                "remove `register_layout` and generate the tile anew",
            );
        }
        let kind = self.kind(file)?;
        let rom = kind == Kind::Rom;
        let word_bits = self.ranged("word_bits", file.word_bits.unwrap_or(default::WORD_BITS), 1, 64)?;
        let rows = self.ranged("rows", file.rows, 2, MAX_ROWS)?;
        let count = file.count.map(|count| self.ranged("count", count, 1, MAX_COUNT)).transpose()?;
        let inputs = self.ranged("inputs", file.inputs.unwrap_or(if rom { 1 } else { default::INPUTS }), 1, 4)?;
        let outputs = self.ranged("outputs", file.outputs.unwrap_or(if rom { 1 } else { default::OUTPUTS }), 1, 4)?;
        self.check_ports(file, kind, inputs, outputs)?;
        let sram_latency = match (kind, file.sram_latency) {
            (Kind::RegisterFile, Some(_)) => {
                return self.refuse(
                    "sram_latency",
                    "a register file has no SRAM: it is read in the cycle of the firing",
                    "remove `sram_latency`",
                );
            }
            (Kind::RegisterFile, None) => 0,
            (_, latency) => self.ranged("sram_latency", latency.unwrap_or(default::SRAM_LATENCY), 1, 2)?,
        };
        let chaining = file.chaining.unwrap_or(false);
        self.check_chaining(kind, chaining, rows)?;
        let stencil_valid = file.stencil_valid.unwrap_or(false);
        let memory = AddressedMemory { kind, word_bits, rows, sram_latency };
        let mut spec = TileSpec {
            name: file.name.clone(),
            kind,
            word_bits,
            rows,
            count,
            inputs,
            outputs,
            sram_latency,
            chaining,
            output_chaining: self.output_chaining(kind, file.output_chaining)?,
            stencil_valid,
            rom_mode: self.addressed_mode("rom_mode", file.rom_mode, &memory)?,
            fifo_mode: self.fifo_mode(kind, file.fifo_mode)?,
            ram_mode: self.ram_mode(file.ram_mode, inputs, &memory)?,
            contents: self.contents(file.contents, &memory)?,
            style: file.style.unwrap_or_default(),
            bist: self.bist(kind, file.bist)?,
            reset: file.reset.unwrap_or_default(),
            clock_gating: file.clock_gating.unwrap_or(false),
            shadow_registers: file.shadow_registers.unwrap_or(false),
            controllers: BTreeMap::new(),
        };
        spec.controllers = self.controllers(file, &spec)?;
        self.check_tile_id(file, &spec)?;
        Ok(spec)
    }

    fn ranged(&self, key: &str, value: u32, low: u32, high: u32) -> Result<u32, Diagnostic> {
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        Err(self.error(key, format!("`{key}` is {value}; it must be from {low} to {high}")))
    }

    fn check_name(&self, name: &str) -> Result<(), Diagnostic> {
        let mut characters = name.chars();
        let starts_well = characters.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on_well = characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !starts_well || !goes_on_well || name.contains("__") || name.ends_with('_') || name.len() > MAX_NAME_LENGTH {
            return self.refuse("name", format!("`{name}` cannot be the name of a module"), format!(
                "use at most {MAX_NAME_LENGTH} lower-case letters, digits and single underscores, starting with a letter"
            ));
        }
        Ok(())
    }

    fn kind(&self, file: &SpecFile) -> Result<Kind, Diagnostic> {
        let wide_fetch_only = [
            ("fetch_width", file.fetch_width, "every row holds one word"),
            ("agg_words", file.agg_words, "there is no aggregator"),
            ("tb_words", file.tb_words, "there is no transpose buffer"),
        ];
        let plain = |kind: Kind| {
            for (key, value, reason) in wide_fetch_only {
                if value.is_some() {
                    return self.refuse(
                        key,
                        format!("`{key}` means nothing in a {} tile: {reason}", kind.name()),
                        format!("remove `{key}`, or use `kind: wide_fetch`"),
                    );
                }
            }
            Ok(kind)
        };
        match file.kind {
            KindName::DualPort => plain(Kind::DualPort),
            KindName::QuadPort => plain(Kind::QuadPort),
            KindName::RegisterFile => plain(Kind::RegisterFile),
            KindName::Rom => plain(Kind::Rom),
            KindName::WideFetch => {
                let fetch_width = file.fetch_width.unwrap_or(default::FETCH_WIDTH);
                if ![1, 2, 4, 8].contains(&fetch_width) {
                    return Err(
                        self.error("fetch_width", format!("`fetch_width` is {fetch_width}; it must be 1, 2, 4 or 8"))
                    );
                }
                let buffer = |key: &str, value: Option<u32>| {
                    let words = value.unwrap_or(default::BUFFER_ROWS * fetch_width);
                    let words = self.ranged(key, words, fetch_width, 16 * fetch_width)?;
                    if words % fetch_width != 0 {
                        return Err(self.error(
                            key,
                            format!("`{key}` is {words}; it must be a multiple of the fetch width, {fetch_width}"),
                        ));
                    }
                    Ok(words)
                };
                Ok(Kind::WideFetch {
                    fetch_width,
                    agg_words: buffer("agg_words", file.agg_words)?,
                    tb_words: buffer("tb_words", file.tb_words)?,
                })
            }
        }
    }

    fn check_ports(&self, file: &SpecFile, kind: Kind, inputs: u32, outputs: u32) -> Result<(), Diagnostic> {
        match kind {
            // Each port at full rate takes one SRAM access every fetch_width cycles. The narrow widths get one input and
            // one output all the same, at a lower rate.
            Kind::WideFetch { fetch_width, .. } if inputs + outputs > fetch_width.max(2) => self.refuse(
                match (file.inputs, file.outputs) {
                    (None, None) => "fetch_width",
                    (None, Some(_)) => "outputs",
                    (Some(_), None) => "inputs",
                    _ if outputs > inputs => "outputs",
                    _ => "inputs",
                },
                format!(
                    "{inputs} inputs and {outputs} outputs: the single SRAM port of fetch width {fetch_width} serves \
                         at most {} ports together",
                    fetch_width.max(2)
                ),
                format!(
                    "use fewer ports or a larger `fetch_width`; without the keys there are {} inputs and {} outputs",
                    default::INPUTS,
                    default::OUTPUTS
                ),
            ),
            Kind::Rom if inputs != outputs || outputs != 1 => self.refuse(
                if inputs != 1 { "inputs" } else { "outputs" },
                format!("a rom has one address input and one output, not {inputs} and {outputs}"),
                "use one rom tile for each port",
            ),
            _ => Ok(()),
        }
    }

    fn check_chaining(&self, kind: Kind, chaining: bool, rows: u32) -> Result<(), Diagnostic> {
        if !chaining {
            return Ok(());
        }
        match kind {
            Kind::Rom => self.refuse(
                "chaining",
                "a rom cannot be chained: its address comes from an input of the tile's own width",
                "set `chaining: false`, or give the rom more rows",
            ),
            _ if !rows.is_power_of_two() => self.refuse(
                "rows",
                format!(
                    "{rows} rows cannot be chained: a tile owns an aligned piece of the address space, which must be \
                         a power of two"
                ),
                format!(
                    "use {} or {} rows, or set `chaining: false`",
                    rows.next_power_of_two() / 2,
                    rows.next_power_of_two()
                ),
            ),
            _ => Ok(()),
        }
    }

    fn controllers(&self, file: &SpecFile, spec: &TileSpec) -> Result<BTreeMap<Role, ControllerSpec>, Diagnostic> {
        let roles = spec.roles();
        let names: Vec<&str> = roles.iter().map(|role| role.name()).chain([ALL_ROLES]).collect();
        for name in file.controllers.keys() {
            if !names.contains(&name.as_str()) {
                let path = FieldPath::root().key("controllers").key(name);
                let message = format!("a {} tile as specified has no controller role `{name}`", spec.kind.name());
                let suggestion = nearest(name, names.iter().copied())
                    .map(|near| format!("did you mean `{near}`? "))
                    .unwrap_or_default();
                return self.document.refuse_at_key(
                    &path,
                    message,
                    format!("{suggestion}the roles are {}", names.join(", ")),
                );
            }
        }
        roles.into_iter().map(|role| Ok((role, self.controller(file, spec, role)?))).collect()
    }

    fn controller(&self, file: &SpecFile, spec: &TileSpec, role: Role) -> Result<ControllerSpec, Diagnostic> {
        let base = FieldPath::root().key("controllers");
        let ranged = |key: &str, get: fn(&ControllerFile) -> Option<u32>, default: u32, low: u32, high: u32| {
            let mut given = [role.name(), ALL_ROLES]
                .into_iter()
                .filter_map(|section| get(file.controllers.get(section)?).map(|value| (section, value)));
            if let Some((section, value)) = given.clone().find(|(_, value)| !(low..=high).contains(value)) {
                let path = base.key(section).key(key);
                return Err(self.document.error(&path, format!("`{key}` is {value}; it must be from {low} to {high}")));
            }
            Ok(given.next().map_or(default, |(_, value)| value))
        };
        let levels = ranged("levels", |c| c.levels, default::LEVELS, 1, 8)?;
        let extent_bits = ranged("extent_bits", |c| c.extent_bits, default::EXTENT_BITS, 1, REGISTER_BITS)?;
        let cycle_bits = ranged("cycle_bits", |c| c.cycle_bits, default::CYCLE_BITS, 1, REGISTER_BITS)?;
        if let Some(all) = file.controllers.get(ALL_ROLES)
            && !all.address_bits.is_empty()
        {
            return self.document.refuse_at_key(
                &base.key(ALL_ROLES).key("address_bits"),
                "roles address different memories",
                "give `address_bits` for each role that needs it",
            );
        }
        let given = file.controllers.get(role.name()).map(|c| c.address_bits.clone()).unwrap_or_default();
        let path = base.key(role.name()).key("address_bits");
        let names: Vec<&str> = role.memories().iter().map(|memory| memory.name()).collect();
        if let Some(name) = given.keys().find(|name| !names.contains(&name.as_str())) {
            return self.document.refuse_at_key(
                &path.key(name),
                format!("`{}` does not address `{name}`", role.name()),
                match names.as_slice() {
                    [] => "remove `address_bits`".to_owned(),
                    names => format!("it addresses {}", names.join(" and ")),
                },
            );
        }
        let address_bits = role
            .memories()
            .iter()
            .map(|&memory| Ok((memory, self.address_bits(spec, role, memory, given.get(memory.name()), &path)?)))
            .collect::<Result<_, Diagnostic>>()?;
        Ok(ControllerSpec { levels, extent_bits, cycle_bits, address_bits })
    }

    fn address_bits(
        &self,
        spec: &TileSpec,
        role: Role,
        memory: Memory,
        given: Option<&u32>,
        path: &FieldPath,
    ) -> Result<u32, Diagnostic> {
        let needed = narrowest_address(role, memory, spec.kind, spec.rows);
        let chained = spec.chaining && memory == spec.main_memory();
        // A chain of one tile is no chain: there must be at least one bit of tile ID.
        let lowest = if chained { needed + 1 } else { needed };
        let default = if chained { default::CHAINED_ADDRESS_BITS.max(lowest) } else { lowest };
        let bits = given.copied().unwrap_or(default);
        if (lowest..=REGISTER_BITS).contains(&bits) {
            return Ok(bits);
        }
        let reason = if chained { " and a tile ID" } else { "" };
        let message = format!(
            "{bits} bits do not address `{}`: its {} places{reason} need {lowest} to {REGISTER_BITS}",
            memory.name(),
            role.places(memory, spec.kind, spec.rows),
        );
        Err(self.document.error(&path.key(memory.name()), message))
    }

    /// All address generators of a chained memory see the same address space.
    fn check_tile_id(&self, file: &SpecFile, spec: &TileSpec) -> Result<(), Diagnostic> {
        if !spec.chaining {
            return Ok(());
        }
        let memory = spec.main_memory();
        let mut widths = spec
            .controllers
            .iter()
            .filter_map(|(role, controller)| controller.address_bits.get(&memory).map(|&bits| (*role, bits)));
        let Some((first, first_bits)) = widths.next() else {
            return Ok(());
        };
        for (role, bits) in widths {
            if bits != first_bits {
                // Point at a width that the file gives; one of the two must be there, as defaults agree.
                let gives = |c: &ControllerFile| c.address_bits.contains_key(memory.name());
                let given = if file.controllers.get(role.name()).is_some_and(gives) { role } else { first };
                let path =
                    FieldPath::root().key("controllers").key(given.name()).key("address_bits").key(memory.name());
                return self.document.refuse(
                    &path,
                    format!(
                        "a chain has one address space, but `{}` has {first_bits} address bits and `{}` has {bits}",
                        first.name(),
                        role.name()
                    ),
                    "give both the same `address_bits`",
                );
            }
        }
        Ok(())
    }
}
