//! Configurations from text.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration, ControllerRegisters};
use pushmem_fabric::{ArraySpec, Direction, Layer, TileKind};
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath, nearest};
use pushmem_pe::Mode;
use pushmem_resources::{Graph, Meaning, Node, TileLayout};
use serde::Deserialize;

use crate::bank::{BankConfiguration, bank_name};
use crate::configuration::{Configuration, TileConfiguration, TileName};
use crate::print::{MODE, OPCODE, UNCONNECTED, local, outgoing, source_name};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationFile {
    array: String,
    spec_digest: Option<String>,
    #[serde(default)]
    tiles: BTreeMap<String, TileFile>,
    #[serde(default)]
    banks: BTreeMap<String, BankConfiguration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TileFile {
    operation: Option<String>,
    lut: Option<u32>,
    unused_lut: Option<u32>,
    #[serde(default)]
    operands: BTreeMap<String, OperandFile>,
    #[serde(default)]
    inputs: BTreeMap<String, String>,
    #[serde(default)]
    words: BTreeMap<String, String>,
    #[serde(default)]
    bits: BTreeMap<String, String>,
    #[serde(default)]
    passing: Vec<String>,
    memory: Option<MemoryConfiguration>,
    stream_in: Option<ControllerConfiguration>,
    stream_out: Option<ControllerConfiguration>,
    #[serde(default)]
    registers: BTreeMap<String, u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandFile {
    #[serde(default)]
    constant: u32,
    from: Option<String>,
    #[serde(default)]
    delay: u32,
    mode: Option<String>,
}

impl Configuration {
    /// Reads only the name of the array that a configuration document is for.
    ///
    /// # Errors
    /// A located message when the document is not a configuration.
    pub fn array_of(document: &Document) -> Result<String, Diagnostic> {
        Ok(document.deserialize::<ConfigurationFile>()?.array)
    }

    /// Reads the configuration of an array, as [`Configuration::to_yaml`] prints it.
    ///
    /// # Errors
    /// A located message when a key is unknown, a name is none of the array, or a value does not fit.
    pub fn from_document(document: &Document, spec: &ArraySpec, graph: &Graph) -> Result<Self, Diagnostic> {
        let file: ConfigurationFile = document.deserialize()?;
        let reader = Reader { document, spec, graph };
        reader.configuration(&file).map_err(|problem| problem.or_code(Code::Configuration))
    }
}

struct Reader<'a> {
    document: &'a Document,
    spec: &'a ArraySpec,
    graph: &'a Graph,
}

impl Reader<'_> {
    fn configuration(&self, file: &ConfigurationFile) -> Result<Configuration, Diagnostic> {
        let root = FieldPath::root();
        let digest = self.spec.digest();
        if file.array != self.spec.name {
            let message = format!("this configuration is for `{}`, not for `{}`", file.array, self.spec.name);
            return self.document.refuse(&root.key("array"), message, "name the array that it was made for");
        }
        if file.spec_digest.as_ref().is_some_and(|given| *given != digest) {
            let message = format!("this configuration was made for another `{}`: its digest is {digest}", file.array);
            let help = "make it again, or leave the digest out if routes and operations still mean the same";
            return self.document.refuse(&root.key("spec_digest"), message, help);
        }
        let mut configuration = Configuration::default();
        for (name, tile) in &file.tiles {
            let path = root.key("tiles").key(name);
            let found = TileName::parse(name).filter(|found| self.graph.kind(found.place) == Some(found.kind));
            let Some(found) = found else {
                let message = format!("`{}` has no tile `{name}`", self.spec.name);
                let help = "tiles are named by kind, column and row, as `pe_0_1`; row 0 is that of IO tiles";
                return self.document.refuse_at_key(&path, message, help);
            };
            let layout = self.graph.layout(found.kind);
            let read = TileReader { reader: self, layout, path, configuration: TileConfiguration::idle(layout) };
            let tile = read.tile(tile)?;
            if !tile.is_idle() {
                configuration.tiles.insert(found.place, tile);
            }
        }
        for (name, bank) in &file.banks {
            let path = root.key("banks").key(name);
            let number = self.bank(&path, name, bank)?;
            if !bank.is_idle() {
                configuration.banks.insert(number, bank.clone());
            }
        }
        Ok(configuration)
    }

    fn at_key(&self, path: &FieldPath, fault: Fault) -> Diagnostic {
        Fault { path: path.clone(), at_key: true, ..fault }.located(self.document, Code::Configuration)
    }

    /// The number of a bank of the global buffer, by its name. Its configuration fits its registers.
    fn bank(&self, path: &FieldPath, name: &str, configuration: &BankConfiguration) -> Result<u32, Diagnostic> {
        let banks = self.spec.global_buffer.as_ref().map_or(0, |buffer| buffer.banks);
        let Some(bank) = (0..banks).find(|bank| bank_name(*bank) == name) else {
            let message = format!("`{}` has no bank `{name}`", self.spec.name);
            let help = match banks {
                0 => "it has no `global_buffer`: remove it".to_owned(),
                1 => "it has `bank_0` alone".to_owned(),
                _ => format!("it has bank_0 to {}", bank_name(banks - 1)),
            };
            return self.document.refuse_at_key(path, message, help);
        };
        for direction in Direction::ALL {
            let Some(transfer) = configuration.transfer(direction) else { continue };
            let controller = self.spec.bank_controller(direction).expect("the array has banks");
            ControllerRegisters::of(transfer, &controller)
                .map_err(|finding| self.at_key(&path.key(direction.transfer()), finding))?;
        }
        Ok(bank)
    }
}

/// A tile that is being read.
struct TileReader<'a> {
    reader: &'a Reader<'a>,
    layout: &'a TileLayout,
    path: FieldPath,
    configuration: TileConfiguration,
}

impl TileReader<'_> {
    fn tile(mut self, file: &TileFile) -> Result<TileConfiguration, Diagnostic> {
        self.check_keys(file)?;
        if self.layout.kind == TileKind::Pe {
            self.operation(file)?;
        }
        for (name, from) in &file.inputs {
            let path = self.path.key("inputs").key(name);
            let (layer, port) = self.port(&path, name, false)?;
            self.connect(&path, layer, port, from)?;
        }
        for (layer, routes) in [(Layer::Word, &file.words), (Layer::Bit, &file.bits)] {
            for (name, from) in routes {
                self.route(layer, name, from)?;
            }
        }
        for (place, name) in file.passing.iter().enumerate() {
            self.pass(&self.path.key("passing").index(place), name)?;
        }
        self.memory(file)?;
        for (direction, beats) in [(Direction::In, &file.stream_in), (Direction::Out, &file.stream_out)] {
            if let Some(beats) = beats {
                self.stream(direction, beats)?;
            }
        }
        for (name, value) in &file.registers {
            self.register(&self.path.key("registers").key(name), name, *value)?;
        }
        Ok(self.configuration)
    }

    /// Refuses keys of tiles of another kind.
    fn check_keys(&self, file: &TileFile) -> Result<(), Diagnostic> {
        let (is_pe, is_io) = (self.layout.kind == TileKind::Pe, self.layout.kind == TileKind::Io);
        let has_memory = self.reader.spec.memory_of(self.layout.kind).is_some();
        for (key, is_given, belongs) in [
            ("operation", file.operation.is_some(), is_pe),
            ("lut", file.lut.is_some(), is_pe && self.reader.spec.pe.lut),
            ("unused_lut", file.unused_lut.is_some(), is_pe && self.reader.spec.pe.lut),
            ("operands", !file.operands.is_empty(), is_pe),
            ("inputs", !file.inputs.is_empty(), !is_pe || has_memory),
            ("memory", file.memory.is_some(), has_memory),
            ("stream_in", file.stream_in.is_some(), is_io),
            ("stream_out", file.stream_out.is_some(), is_io),
            ("registers", !file.registers.is_empty(), is_io),
        ] {
            if is_given && !belongs {
                let message = format!("this tile has no `{key}`");
                return self.reader.document.refuse_at_key(&self.path.key(key), message, "remove it");
            }
        }
        Ok(())
    }

    fn operation(&mut self, file: &TileFile) -> Result<(), Diagnostic> {
        if let Some(name) = &file.operation {
            let path = self.path.key("operation");
            let operations = &self.reader.spec.pe.operations;
            let known = operations.iter().find(|operation| operation.name() == *name);
            let known = known.and_then(|operation| self.reader.spec.pe.opcode(*operation));
            let opcode = known.or_else(|| name.strip_prefix(OPCODE)?.parse().ok());
            let Some(opcode) = opcode else {
                let names = operations.iter().map(|operation| operation.name().to_owned()).collect_vec();
                return Err(self.unknown(&path, "operation", name, &names));
            };
            self.set(&path, Meaning::Operation, opcode as u32)?;
        }
        for (key, lut, selected) in [("lut", file.lut, 1), ("unused_lut", file.unused_lut, 0)] {
            if let Some(lut) = lut {
                self.set(&self.path.key(key), Meaning::LutSelected, selected)?;
                self.set(&self.path.key(key), Meaning::Lut, lut)?;
            }
        }
        for (name, operand) in &file.operands {
            self.operand(name, operand)?;
        }
        Ok(())
    }

    fn operand(&mut self, name: &str, file: &OperandFile) -> Result<(), Diagnostic> {
        let path = self.path.key("operands").key(name);
        let (layer, operand) = self.port(&path, name, true)?;
        let mode = match (&file.from, &file.mode) {
            (_, Some(name)) => self.mode(&path.key("mode"), layer, operand, name)?,
            (None, None) => Mode::Constant,
            (Some(_), None) if file.delay == 0 => Mode::Direct,
            (Some(_), None) => Mode::Delayed(file.delay),
        };
        if file.delay > 0 && !matches!(mode, Mode::Delayed(_)) {
            let (message, help) = match mode {
                Mode::Constant => ("a constant cannot be late", "give the track that it is `from`"),
                _ => ("an operand of this mode cannot be late", "give the mode or the delay"),
            };
            return self.reader.document.refuse(&path.key("delay"), message.to_owned(), help);
        }
        let most = self.reader.spec.pe.operand_delay;
        if file.delay > most {
            let message = format!("an operand cannot be {} cycles late", file.delay);
            let help = format!("give at most {most}, the `operand_delay` of `{}`", self.reader.spec.pe.name);
            return self.reader.document.refuse(&path.key("delay"), message, help);
        }
        self.set(&path.key("mode"), Meaning::Mode { layer, operand }, self.layout.mode_number(mode))?;
        self.set(&path.key("constant"), Meaning::Constant { layer, operand }, file.constant)?;
        if let Some(from) = &file.from {
            self.connect(&path.key("from"), layer, operand, from)?;
        }
        Ok(())
    }

    /// The mode of a name, where it is not the one that a track or its absence asks for. One that the operand does not have is named by
    /// its number.
    fn mode(&self, path: &FieldPath, layer: Layer, operand: u32, name: &str) -> Result<Mode, Diagnostic> {
        let named = [("constant", Mode::Constant), ("held", Mode::Held), ("accumulated", Mode::Accumulated)];
        let has = |mode: Mode| self.layout.mode(layer, operand, self.layout.mode_number(mode)) == mode;
        let named = || named.into_iter().filter(|(_, mode)| has(*mode));
        let undefined = || {
            let number = name.strip_prefix(MODE)?.parse().ok()?;
            matches!(self.layout.mode(layer, operand, number), Mode::Undefined(_)).then_some(Mode::Undefined(number))
        };
        let known = named().find(|(other, _)| *other == name).map(|(_, mode)| mode);
        known.or_else(undefined).ok_or_else(|| {
            let names = named().map(|(name, _)| name.to_owned()).collect_vec();
            self.unknown(path, "mode", name, &names)
        })
    }

    /// The input of a name, either among the operands of the processing element or among the others.
    fn port(&self, path: &FieldPath, name: &str, is_operand: bool) -> Result<(Layer, u32), Diagnostic> {
        let layout = self.layout;
        let ports = |layer: Layer| {
            let ports = (0..).zip(layout.inputs(layer)).filter(move |(_, port)| is_operand == layout.is_operand(port));
            ports.map(move |(place, port)| (layer, place, port.name.as_str()))
        };
        let found = Layer::ALL.into_iter().flat_map(ports).find(|(_, _, port)| *port == name);
        found.map(|(layer, place, _)| (layer, place)).ok_or_else(|| {
            let names = Layer::ALL.into_iter().flat_map(ports).map(|(_, _, name)| name).collect_vec();
            let title = if is_operand { "operand" } else { "input" };
            let message = format!("this tile has no {title} `{name}`");
            self.reader.document.error_at_key(path, message).with_help(format!("its {title}s are {}", names.join(", ")))
        })
    }

    fn connect(&mut self, path: &FieldPath, layer: Layer, port: u32, from: &str) -> Result<(), Diagnostic> {
        let value = self.source(path, layer, Node::Input { port }, from)?;
        self.set(path, Meaning::Connection { layer, port }, value)
    }

    fn route(&mut self, layer: Layer, name: &str, from: &str) -> Result<(), Diagnostic> {
        let path = self.path.key(&format!("{}s", layer.name())).key(name);
        let tracks = self.layout.fields.iter().filter_map(|field| match field.meaning {
            Meaning::Select { layer: of, side, track } if of == layer => Some((side, track)),
            _ => None,
        });
        let tracks = tracks.collect_vec();
        let Some(&(side, track)) = tracks.iter().find(|(side, track)| outgoing(*side, *track) == name) else {
            let names = tracks.iter().map(|(side, track)| outgoing(*side, *track)).join(", ");
            let message = format!("no track `{name}` leaves this tile");
            return self.reader.document.refuse_at_key(&path, message, format!("there are {names}"));
        };
        let value = self.source(&path, layer, Node::Register { side, track }, from)?;
        self.set(&path, Meaning::Select { layer, side, track }, value)
    }

    fn pass(&mut self, path: &FieldPath, name: &str) -> Result<(), Diagnostic> {
        let passing = self.layout.fields.iter().filter_map(|field| match field.meaning {
            Meaning::Pass { layer, side, track } => {
                Some((format!("{}_{}", layer.name(), outgoing(side, track)), field.meaning))
            }
            _ => None,
        });
        let passing: BTreeMap<String, Meaning> = passing.collect();
        match passing.get(name) {
            Some(meaning) => self.set(path, *meaning, 1),
            None => {
                let message = format!("no track `{name}` can pass around its register");
                let help = "with a `hop_limit` above 1, tracks are named by layer, side and number, as `word_east_0`";
                self.reader.document.refuse(path, message, help)
            }
        }
    }

    fn memory(&mut self, file: &TileFile) -> Result<(), Diagnostic> {
        let tile = self.reader.spec.memory_of(self.layout.kind);
        let Some((memory, tile)) = file.memory.as_ref().zip(tile) else { return Ok(()) };
        memory.check(tile).map_err(|finding| self.reader.at_key(&self.path.key("memory"), finding))?;
        self.configuration.memory = Some(memory.clone());
        Ok(())
    }

    fn stream(&mut self, direction: Direction, beats: &ControllerConfiguration) -> Result<(), Diagnostic> {
        let Reader { document, spec, .. } = self.reader;
        let set = self.configuration.set_stream(spec, self.layout, direction, beats);
        set.map_err(|fault| fault.under(&self.path).located(document, Code::Configuration))
    }

    /// Sets a field of a stream, by the name that it has in the register map.
    fn register(&mut self, path: &FieldPath, name: &str, value: u32) -> Result<(), Diagnostic> {
        let of_streams = self.layout.fields.iter().map(|field| field.meaning).filter(|field| field.stream().is_some());
        let names: BTreeMap<String, Meaning> = of_streams.map(|field| (field.name(), field)).collect();
        match names.get(name) {
            Some(meaning) => self.set(path, *meaning, value),
            None => Err(self.unknown(path, "register", name, &names.into_keys().collect_vec())),
        }
    }

    /// The value that makes a node take what has this name.
    fn source(&self, path: &FieldPath, layer: Layer, node: Node, name: &str) -> Result<u32, Diagnostic> {
        let local = local(self.layout, layer, node);
        let values = 0..local.first_value + local.choices.len() as u32;
        let found = values.clone().find(|value| source_name(self.layout, local, *value) == name);
        let unconnected = || name.strip_prefix(UNCONNECTED)?.parse().ok().filter(|value| !values.contains(value));
        found.or_else(unconnected).ok_or_else(|| {
            let names = values.map(|value| source_name(self.layout, local, value)).collect_vec();
            self.unknown(path, "source", name, &names)
        })
    }

    fn unknown(&self, path: &FieldPath, what: &str, name: &str, names: &[String]) -> Diagnostic {
        let near = nearest(name, names.iter().map(String::as_str));
        let suggestion = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let message = format!("there is no {what} `{name}` here");
        self.reader.document.error(path, message).with_help(format!("{suggestion}there are {}", names.join(", ")))
    }

    /// Sets a field, if the value fits.
    fn set(&mut self, path: &FieldPath, meaning: Meaning, value: u32) -> Result<(), Diagnostic> {
        let place = self.layout.field(meaning).expect("the tile has the field of a name that it has");
        let bits = self.layout.fields[place].bits;
        if u64::from(value) >> bits != 0 {
            let message = format!("{value} does not fit the {bits} bits of `{}`", meaning.name());
            let help = format!("give at most {}", (1_u64 << bits) - 1);
            return self.reader.document.refuse(path, message, help);
        }
        self.configuration.fields[place] = value;
        Ok(())
    }
}
