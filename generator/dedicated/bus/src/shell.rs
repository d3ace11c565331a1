//! Shells in Veryl: the control of runs, and a module with the ports of a bus around the accelerator.

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{Register, WORD_BYTES};
use pushmem_files::{Diagnostic, render};
use pushmem_systemverilog::{ModulePort, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::array::{ArrayModule, GlobalBuffer};
use crate::library::{Bursts, LIBRARY, Manager, OF_IMAGES, OF_ROWS, OF_STREAMS, Reader, Writer, style};
use crate::managers::{Image, Memory};
use crate::registers::{DataPath, window};
use crate::streams::{Stream, is_known, streams};
use crate::subordinate::{RegisterBus, Subordinate};
use crate::{Accelerator, ROWS, free_name, registers, text_of, without_ports};

/// A channel with rules: a name, bits of its payload, and the expressions of `valid`, `ready` and the payload.
pub(super) type Channel = (String, u32, String, String, String);

/// A shell, which its template prints in Veryl.
#[derive(Template)]
#[template(path = "shell.veryl", escape = "none")]
pub(super) struct View<'a> {
    pub accelerator: &'a str,
    pub module: String,
    pub address_bits: u32,
    pub config_bits: u32,
    pub config_latency: u32,
    /// Cycles from an access to the configuration port to its error.
    pub error_latency: u32,
    pub identity: u32,
    /// Widths of the vectors of streams by direction.
    pub inputs: usize,
    pub outputs: usize,
    pub streams: Vec<Stream>,
    pub passed: Vec<ModulePort>,
    pub reset: Reset,
    /// The bus to memory, if streams are images there, and the image of each stream.
    pub memory: Memory,
    pub images: Vec<Image>,
    /// Words of the arguments of a run.
    pub argument_words: usize,
    /// The array that it is of, whose host has beats and walks in registers.
    pub array: Option<&'a ArrayModule<'a>>,
}

/// The control of runs.
#[derive(Template)]
#[template(path = "control.veryl", escape = "none")]
struct Control {
    path: DataPath,
}

impl<'a> View<'a> {
    /// The shell with streams, of this name if no module of the accelerator has it.
    pub fn of(accelerator: &Accelerator<'a>, name: &str) -> Result<Self, Diagnostic> {
        let (inputs, outputs) = (accelerator.inputs.len(), accelerator.outputs.len());
        let module = accelerator.module;
        let wrong = || without_ports(module, inputs, outputs);
        let text = text_of(accelerator.rtl, module).ok_or_else(wrong)?;
        let ports = ports_of(module, text).ok_or_else(wrong)?;
        let streams = streams(&ports, accelerator);
        let of = |output: bool| streams.iter().filter(|stream| stream.output == output).count();
        let has_rows = ports.iter().any(|port| port.name.starts_with(ROWS));
        if of(false) != inputs || of(true) != outputs || outputs == 0 && !has_rows {
            return Err(wrong());
        }
        let config_bits = ports.iter().find(|port| port.name == "config_address_i").map_or(0, |port| port.bits);
        if config_bits >= u32::BITS {
            let message = format!(
                "the configuration of `{module}` takes all {config_bits} bits of an address, so that no registers fit beside it"
            );
            let help = "choose a tile with more rows or ports, so that there are fewer tiles";
            return Err(Diagnostic::new(message).with_help(help));
        }
        Ok(View {
            accelerator: module,
            module: free_name(accelerator.rtl, name),
            address_bits: window(config_bits).ilog2() + 1,
            config_bits,
            config_latency: accelerator.config_latency,
            error_latency: 1,
            identity: accelerator.identity,
            inputs: inputs.max(1),
            outputs,
            passed: ports.into_iter().filter(|port| !is_known(&port.name, &streams)).collect(),
            streams,
            reset: accelerator.reset,
            memory: Memory::default(),
            images: Vec::new(),
            argument_words: 0,
            array: None,
        })
    }

    /// Whether a stream comes in: a program may make its words of loop indices alone.
    fn takes_words(&self) -> bool {
        self.streams.iter().any(|stream| !stream.output)
    }

    /// Veryl of the library, the control, and the shell.
    pub fn sources(&self) -> Vec<SourceFile> {
        let programmed = self.programmed();
        let path = self.path();
        let library: &[(&str, &str)] = match path {
            DataPath::Rows => &OF_ROWS,
            DataPath::Images => &OF_IMAGES,
            DataPath::Streams if programmed => &[],
            DataPath::Streams => &OF_STREAMS,
        };
        let source = |(name, text): &(&str, &str)| SourceFile { name: (*name).to_owned(), text: (*text).to_owned() };
        let mut sources = LIBRARY.iter().chain(library).map(source).collect_vec();
        let mut printed = Vec::new();
        if path == DataPath::Images {
            let (bursts, reader, writer) = (Bursts { programmed }, Reader { programmed }, Writer { programmed });
            printed.push((bursts.module(), render(&bursts)));
            printed.push((reader.module(), render(&reader)));
            printed.push((writer.module(), render(&writer)));
        }
        let control = Control { path };
        printed.push((control.module(), render(&control)));
        printed.push((self.module.clone(), render(self)));
        sources.extend(printed.into_iter().map(|(name, text)| SourceFile { name, text }));
        sources
    }

    /// How the words of runs reach it.
    pub fn path(&self) -> DataPath {
        match (self.rows(), self.images.is_empty()) {
            (Some(_), _) => DataPath::Rows,
            (None, false) => DataPath::Images,
            (None, true) => DataPath::Streams,
        }
    }

    /// Whether beats and walks are registers, those of the host of an array.
    pub fn programmed(&self) -> bool {
        self.array.is_some()
    }

    /// The global buffer, of an array that has one.
    pub fn rows(&self) -> Option<&GlobalBuffer> {
        self.array.and_then(ArrayModule::rows)
    }

    /// Its registers, and those of the host of an array.
    pub fn registers(&self) -> Vec<Register<()>> {
        let path = self.path();
        let streams = if path == DataPath::Images { self.images.len() } else { self.inputs };
        let mut layout = registers::registers(path, streams as u32, &self.arguments());
        self.array.iter().for_each(|array| array.add_registers(&mut layout));
        layout.registers
    }

    /// A part of the names of its managers.
    fn style(&self) -> &'static str {
        style(self.programmed())
    }

    /// The hardware that it is of, for people.
    pub fn of_hardware(&self) -> String {
        match self.array {
            Some(array) if array.rows().is_some() => format!("array `{}` with its global buffer", array.name),
            Some(array) => format!("array `{}`", array.name),
            None => format!("accelerator `{}`", self.accelerator),
        }
    }

    /// The registers of the shell, with the window to the configuration.
    pub fn subordinate(&self) -> Subordinate {
        Subordinate {
            bus: RegisterBus::AxiLite,
            port: "s_axi_control",
            clock: "ap_clk",
            reset: "ap_rst_n",
            address_bits: self.address_bits,
        }
    }

    /// The channels whose rules are watched: those that the shell offers, and those that others do. They have the names of their
    /// ports: a stream may be called `b` as well as a channel of AXI4-Lite.
    pub fn channels(&self) -> Vec<Channel> {
        let lite = self.subordinate().channels();
        if !self.images.is_empty() {
            return lite.into_iter().chain(self.image_channels()).collect();
        }
        if let Some(rows) = self.rows() {
            return lite.into_iter().chain(rows.channels()).collect();
        }
        let streams = self.streams.iter().map(|stream| {
            let (port, bits) = (&stream.port, stream.data_bits());
            let payload = format!("{{{port}_tlast, {port}_tkeep, {port}_tdata}}");
            (port.clone(), bits + bits / 8 + 1, format!("{port}_tvalid"), format!("{port}_tready"), payload)
        });
        lite.into_iter().chain(streams).collect()
    }
}

impl Control {
    pub fn module(&self) -> String {
        format!("pushmem_{}_control", self.path.control())
    }

    pub fn managers(&self) -> bool {
        self.path == DataPath::Images
    }

    pub fn streams(&self) -> bool {
        self.path == DataPath::Streams
    }

    pub fn rows(&self) -> bool {
        self.path == DataPath::Rows
    }

    /// Bits of the number of a register: those of images have a page for their arguments.
    fn number_bits(&self) -> u32 {
        if self.managers() { 10 } else { 6 }
    }

    /// Number of a register as a literal.
    pub fn at(&self, name: &str) -> String {
        format!("{}'d{}", self.number_bits(), registers::word(name, self.path))
    }

    /// Number of the first argument.
    pub fn arguments(&self) -> u32 {
        registers::ARGUMENTS / WORD_BYTES
    }

    /// Interrupts that there are.
    fn interrupts(&self) -> usize {
        registers::interrupts("", self.path).len()
    }
}
