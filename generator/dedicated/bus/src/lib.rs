//! Shells that connect an accelerator to the buses of a system.
//!
//! [`axis`] wraps the module of an accelerator by the list of its ports: its streams become AXI4-Stream with frames, its control and
//! configuration registers of an AXI4-Lite subordinate, and ports that are neither pass as they are. Beside the RTL there are the kernel
//! description of Vitis and the registers in C; a [`Shell`] has what packages tell of it.
//!
//! [`axi`] gives each stream a manager of AXI4 instead, which reads or writes an image in memory: addresses and strides are arguments of a run.
//! Firmware has a driver, and SoCs of LiteX a module.
//!
//! [`adapter`] puts the configuration port of a memory tile behind APB, AXI4-Lite or TileLink-UL.
//!
//! [`buffered_axi`] is the shell of a reconfigurable array with its global buffer, whose rows an AXI4 subordinate reads and writes.
//!
//! [`array_axis`] and [`array_axi`] do the same for a reconfigurable array. Such a shell serves every bitstream whose streams are as
//! many as it has: which IO tile a stream belongs to, its beats, and its walk through an image are registers, which [`Program`] has values for.
//!
//! [`Manager`] is the model of a manager: the bytes of memory that a stream reads or writes.
//!
//! Hardware that varies by parameters alone is a module in `templates/bus/library`; the shell is printed.

mod adapter;
mod array;
mod driver;
mod image;
mod litex;
mod managers;
mod model;
mod program;
mod registers;
mod rows;
mod subordinate;
mod tiles;

use std::ops::Deref;

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{Register, WORD_BYTES, upper};
use pushmem_images::Element;
use pushmem_rtl::name_resets;
use pushmem_systemverilog::{FILE_LIST, File, ModulePort, file_list, files_of, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::{CompileError, SourceFile};

pub use adapter::{Adapter, Block, adapter};
pub use array::{ArrayModule, array_axi, array_axis};
pub use image::{Elements, WalkError};
use managers::Image;
pub use managers::Memory;
pub use model::{Manager, Placed};
pub use program::{IoStream, Program, ProgramError, ProgramImage};
use registers::DataPath;
pub use registers::{manager_registers, registers, window};
use rows::Rows;
pub use rows::{BankLane, BufferedProgram, GlobalBuffer, buffered_axi};
pub use subordinate::RegisterBus;
use subordinate::Subordinate;
pub use tiles::tile_files;

/// The accelerator that a shell is for.
#[derive(Clone, Debug)]
pub struct Accelerator<'a> {
    /// Name of its module.
    pub module: &'a str,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// The traffic of each input stream, in the order of its ports.
    pub inputs: Vec<Traffic>,
    /// The same of each output stream.
    pub outputs: Vec<Traffic>,
    /// Cycles from a read on the configuration port until its data show.
    pub config_latency: u32,
    /// How its flip-flops are reset.
    pub reset: Reset,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Version of the files.
    pub version: &'a str,
}

/// The text of a module, which has a file of its name.
fn text_of<'a>(rtl: &'a [File], module: &str) -> Option<&'a str> {
    let file = format!("{module}.sv");
    let named = |(path, _): &&File| path.rsplit('/').next() == Some(&file);
    rtl.iter().find(named).map(|(_, text)| text.as_str())
}

/// The beats of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Beats in a run.
    pub beats: u64,
    /// The type of the words of a beat. In the accelerator, each takes 16 bits; in memory and in streams of the shell as many as its type.
    pub element: Element,
    /// The type of the elements of the program, of which those of 32 bits are two words.
    pub whole: Element,
}

/// Why there is no shell.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The module is not among the files, or its ports are not those of an accelerator.
    #[error(
        "the module `{module}` has not the ports of an accelerator with {inputs} input and {outputs} output streams"
    )]
    Ports {
        /// Name of the module.
        module: String,
        /// Input streams that it should have.
        inputs: usize,
        /// Output streams that it should have.
        outputs: usize,
    },
    /// The module is not among the files, or has no configuration port with byte addresses of 32 bits.
    #[error("the module `{module}` has no configuration port of a memory tile")]
    ConfigurationPort {
        /// Name of the module.
        module: String,
    },
    /// The configuration port takes all 32 bits of an address: the registers of the shell have no place beside it.
    #[error("the configuration of `{module}` takes all {bits} bits of an address, so that no registers fit beside it")]
    Addresses {
        /// Name of the module.
        module: String,
        /// Bits of the configuration port.
        bits: u32,
    },
    /// A stream goes through its array in an order that no manager follows.
    #[error("no manager of AXI4 follows the stream `{stream}`: {error}")]
    Walk {
        /// Name of the stream.
        stream: String,
        /// Why not.
        error: WalkError,
    },
    /// There are more images than a register has bits, or than there are addresses for their arguments.
    #[error(
        "{images} images with {words} words of arguments are more than the {limit} that the shell has registers for"
    )]
    Images {
        /// Input and output images.
        images: usize,
        /// Words of their addresses and strides.
        words: usize,
        /// The most images.
        limit: usize,
    },
    /// There are more streams than columns, or than there are registers for.
    #[error("{readers} sources and {writers} sinks are more than the {limit} of `{array}`")]
    Streams {
        /// Name of the array.
        array: String,
        /// Sources that were asked for.
        readers: u32,
        /// Sinks that were asked for.
        writers: u32,
        /// The most of either, or of both together.
        limit: String,
    },
    /// The banks have more bytes than a subordinate has addresses for.
    #[error("the {bytes} bytes of its banks are more than the {limit} that an AXI4 subordinate has addresses for")]
    Bytes {
        /// Bytes of all banks.
        bytes: u64,
        /// The most bytes.
        limit: u64,
    },
    /// A fault of a template.
    #[error(transparent)]
    Veryl(#[from] CompileError),
}

/// A shell, with what packages tell of it.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Name of its module.
    pub module: String,
    /// Path and text of each file: the list of all modules, and the modules of the shell among them.
    pub files: Vec<File>,
    /// A description in a few words.
    pub about: String,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Its registers, and those in the window of the host of an array.
    pub registers: Vec<Register<()>>,
    /// Byte address of the configuration port of the accelerator, if it has one.
    pub window: Option<u64>,
    /// Its interfaces in IP-XACT, with the address space of managers.
    pub interfaces: String,
    /// The memory map of the rows of a global buffer in IP-XACT; nothing without one.
    pub memory_map: String,
}

/// The ports of the clock and of the reset of a shell, as kernels of Vitis have them.
pub const CLOCK: &str = "ap_clk";
/// See [`CLOCK`].
pub const RESET: &str = "ap_rst_n";

impl Shell {
    /// Its modules, path and text of each.
    pub fn rtl(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|(path, _)| path.starts_with("rtl/"))
    }

    /// The shell with modules that it is around among its files.
    fn with(self, rtl: &[File]) -> Self {
        Shell { files: rtl.iter().cloned().chain(self.files).collect(), ..self }
    }
}

/// A stream of the accelerator.
struct Stream {
    name: String,
    /// The ports of the shell begin with it.
    port: String,
    output: bool,
    /// Its number among those of its direction.
    number: usize,
    /// Bits of a beat at the accelerator.
    bits: u32,
    traffic: Traffic,
}

impl Stream {
    fn beats(&self) -> u64 {
        self.traffic.beats
    }

    /// Words of a beat.
    fn lanes(&self) -> u32 {
        self.bits / WORD_BITS
    }

    /// Whether words have an upper byte that nothing outside of the accelerator has.
    fn is_narrow(&self) -> bool {
        self.traffic.element.bits() < WORD_BITS
    }

    fn is_signed(&self) -> bool {
        self.traffic.element.is_signed()
    }

    /// Bits of a beat in TDATA.
    fn data_bits(&self) -> u32 {
        self.lanes() * self.traffic.element.bits()
    }

    /// The signals of a beat: outside, as words of the accelerator, and the one that the accelerator connects to.
    fn data(&self) -> String {
        format!("{}_tdata", self.port)
    }

    fn words(&self) -> String {
        format!("stream_{}_words", self.name)
    }

    fn connected_to(&self) -> String {
        if self.is_narrow() { self.words() } else { self.data() }
    }
}

/// The number of the interface between shells and drivers: another one where firmware of the one is not for hardware of the other. It is a
/// part of the identity.
pub const INTERFACE: u32 = 2;

/// The beginning of the names of ports to the rows of a global buffer.
const ROWS: &str = "rows_";

/// Bits of a word at the ports of accelerators.
pub(crate) const WORD_BITS: u32 = 16;

/// A channel with rules: a name, bits of its payload, and the expressions of `valid`, `ready` and the payload.
type Channel = (String, u32, String, String, String);

/// A shell, as templates print it.
struct View<'a> {
    accelerator: &'a str,
    module: String,
    address_bits: u32,
    config_bits: u32,
    config_latency: u32,
    /// Cycles from an access to the configuration port to its error.
    error_latency: u32,
    identity: u32,
    /// Widths of the vectors of streams by direction.
    inputs: usize,
    outputs: usize,
    streams: Vec<Stream>,
    passed: Vec<ModulePort>,
    reset: Reset,
    /// The bus to memory, if streams are images there, and the image of each stream.
    memory: Memory,
    images: Vec<Image>,
    /// Words of the arguments of a run.
    argument_words: usize,
    /// Whether beats and walks are registers, those of the host of an array.
    programmed: bool,
    /// The global buffer, of an array that has one.
    rows: Option<Rows>,
}

/// The shell with streams, in Veryl.
#[derive(Template)]
#[template(path = "axis.veryl", escape = "none")]
struct Axis<'a>(&'a View<'a>);

/// The shell with images, in Veryl.
#[derive(Template)]
#[template(path = "axi.veryl", escape = "none")]
struct Axi<'a>(&'a View<'a>);

impl<'a> Deref for Axis<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        self.0
    }
}

impl<'a> Deref for Axi<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        self.0
    }
}

/// The control of runs.
#[derive(Template)]
#[template(path = "control.veryl", escape = "none")]
struct Control {
    path: DataPath,
}

/// An argument of a kernel of Vitis.
struct KernelArgument {
    name: String,
    /// Whether it is the address of an image; else it is a number.
    address: bool,
    /// The type in C.
    c_type: String,
    port: String,
    offset: u32,
}

/// The contents of the files that tools read.
struct Description<'a> {
    shell: &'a View<'a>,
    registers: Vec<Register<()>>,
    ports: Vec<ModulePort>,
    sources: Vec<String>,
    version: &'a str,
}

#[derive(Template)]
#[template(path = "interfaces.xml")]
struct Interfaces<'a>(&'a Description<'a>);

#[derive(Template)]
#[template(path = "global_buffer.xml")]
struct Buffer<'a> {
    rows: &'a Rows,
}

#[derive(Template)]
#[template(path = "kernel.xml")]
struct Kernel<'a>(&'a Description<'a>);

#[derive(Template)]
#[template(path = "registers.h", escape = "none")]
struct Header<'a>(&'a Description<'a>);

/// The modules of managers, whose beats and walks are parameters or registers.
macro_rules! managers {
    ($($template:ident: $path:literal, $end:literal);*) => {
        $(
            #[derive(Template)]
            #[template(path = $path, escape = "none")]
            struct $template {
                programmed: bool,
            }

            impl $template {
                fn module(&self) -> String {
                    format!("pushmem_axi_{}{}", style(self.programmed), $end)
                }
            }
        )*
    };
}

managers! {
    Bursts: "library/axi_bursts.veryl", "bursts";
    Reader: "library/axi_reader.veryl", "reader";
    Writer: "library/axi_writer.veryl", "writer"
}

impl Bursts {
    fn lasts(&self) -> &'static str {
        if self.programmed { "lasts_i" } else { "Lasts" }
    }

    fn sizes(&self) -> &'static str {
        if self.programmed { "sizes_i" } else { "Sizes" }
    }
}

/// The words of a beat of the stream, as an expression of a manager.
fn lanes(programmed: bool) -> &'static str {
    if programmed { "lanes_i as RoomBits" } else { "Lanes as RoomBits" }
}

/// The beats of a run, as an expression of a manager.
fn beats(programmed: bool) -> &'static str {
    if programmed { "beats_q" } else { "Beats as BeatBits" }
}

impl Reader {
    fn bursts(&self) -> String {
        Bursts { programmed: self.programmed }.module()
    }

    fn beats(&self) -> &'static str {
        beats(self.programmed)
    }

    fn lanes(&self) -> &'static str {
        lanes(self.programmed)
    }
}

impl Writer {
    fn bursts(&self) -> String {
        Bursts { programmed: self.programmed }.module()
    }

    fn beats(&self) -> &'static str {
        beats(self.programmed)
    }

    fn lanes(&self) -> &'static str {
        lanes(self.programmed)
    }
}

/// A part of the names of managers.
fn style(programmed: bool) -> &'static str {
    if programmed { "programmed_" } else { "" }
}

macro_rules! library {
    ($($name:literal),*) => {
        [$((concat!("pushmem_", $name), include_str!(concat!("../../../../templates/bus/library/", $name, ".veryl")))),*]
    };
}

/// Modules of every shell, of one with streams, and of one with images beside the managers: name and Veryl text.
const LIBRARY: [(&str, &str); 3] = library!("channel_rules", "axi_lite", "configuration_access");
const OF_STREAMS: [(&str, &str); 2] = library!("stream_in_frame", "stream_out_frame");
const OF_IMAGES: [(&str, &str); 1] = library!("fifo");
const OF_ROWS: [(&str, &str); 3] = library!("fifo", "axi_burst", "axi_rows");

/// Modules of an adapter to each bus.
const OF_APB: [(&str, &str); 3] = library!("apb_rules", "apb", "configuration_access");
const OF_AXI_LITE: [(&str, &str); 3] = LIBRARY;
const OF_TILELINK: [(&str, &str); 3] = library!("channel_rules", "tilelink", "configuration_access");

/// The shell of an accelerator with AXI4-Stream for its streams.
///
/// # Errors
/// When the ports are not those of an accelerator, or its configuration leaves no address for the shell.
pub fn axis(accelerator: &Accelerator) -> Result<Shell, BusError> {
    let view = View::of(accelerator, &format!("{}_axis", accelerator.module))?;
    shell(accelerator, &view, registers(view.inputs as u32), |_| Vec::new())
}

/// The shell of an accelerator with a manager of AXI4 for each stream, which reads its words from an image in memory or writes them there:
/// `images` are those of the inputs, then those of the outputs.
///
/// # Errors
/// As [`axis`], and when a stream is no walk through an image, or there are too many.
pub fn axi(accelerator: &Accelerator, images: &[Elements], memory: Memory) -> Result<Shell, BusError> {
    let view = View::of(accelerator, &format!("{}_axi", accelerator.module))?.with_images(images, memory)?;
    let registers = manager_registers(view.images.len() as u32, &view.arguments());
    shell(accelerator, &view, registers, |description| description.driver())
}

/// The files of a shell: the library, the control, the shell as it is printed, what tools want to know, and those of firmware.
fn shell(
    accelerator: &Accelerator,
    view: &View,
    registers: Vec<Register<()>>,
    firmware: impl FnOnce(&Description) -> Vec<File>,
) -> Result<Shell, BusError> {
    let compiled = compiled(view.sources(), accelerator.reset)?;
    // The accelerator has the header of the macros, too.
    let is_new = |(path, _): &File| accelerator.rtl.iter().all(|(other, _)| other != path);
    let mut files = compiled.into_iter().filter(is_new).collect_vec();
    let top = files.last().map_or("", |(_, text)| text);
    let ports = ports_of(&view.module, top).expect("Veryl prints a port a line");
    let sources = accelerator.rtl.iter().chain(&files).map(|(path, _)| path.clone()).collect_vec();
    let description = Description { registers, ports, sources, version: accelerator.version, shell: view };
    files.extend(description.files());
    files.extend(firmware(&description));
    let interfaces = format!("  {}", render(&Interfaces(&description)).trim_end());
    let memory_map = view.rows.as_ref().map(|rows| format!("    {}", render(&Buffer { rows }).trim_end()));
    let memory_map = memory_map.unwrap_or_default();
    let window = description.window().filter(|_| !view.programmed);
    let about = format!("{} behind {}", description.of_hardware(), description.buses());
    let (module, identity, registers) = (view.module.clone(), view.identity, description.registers);
    Ok(Shell { module, files, about, identity, registers, window, interfaces, memory_map })
}

/// The SystemVerilog files of modules, in the folder `rtl`.
fn compiled(sources: Vec<SourceFile>, reset: Reset) -> Result<Vec<File>, BusError> {
    let mut modules = pushmem_rtl::compile(sources, reset)?;
    for module in &mut modules {
        module.text = reset.of_system_verilog(&module.text);
    }
    name_resets(&mut modules, reset);
    Ok(files_of(modules).into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect())
}

impl<'a> View<'a> {
    /// The shell with streams, of this name if no module of the accelerator has it.
    fn of(accelerator: &Accelerator<'a>, name: &str) -> Result<Self, BusError> {
        let (inputs, outputs) = (accelerator.inputs.len(), accelerator.outputs.len());
        let module = accelerator.module;
        let wrong = || BusError::Ports { module: module.to_owned(), inputs, outputs };
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
            return Err(BusError::Addresses { module: module.to_owned(), bits: config_bits });
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
            programmed: false,
            rows: None,
        })
    }

    /// Veryl of the library, the control, and the shell.
    fn sources(&self) -> Vec<SourceFile> {
        let programmed = self.programmed;
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
        let text = match path {
            DataPath::Streams => render(&Axis(self)),
            DataPath::Images => render(&Axi(self)),
            DataPath::Rows => self.rows_text(),
        };
        printed.push((self.module.clone(), text));
        sources.extend(printed.into_iter().map(|(name, text)| SourceFile { name, text }));
        sources
    }

    /// How the words of runs reach it.
    fn path(&self) -> DataPath {
        match (&self.rows, self.images.is_empty()) {
            (Some(_), _) => DataPath::Rows,
            (None, false) => DataPath::Images,
            (None, true) => DataPath::Streams,
        }
    }

    /// A part of the names of its managers.
    fn style(&self) -> &'static str {
        style(self.programmed)
    }

    fn reset_type(&self) -> &'static str {
        reset_type(self.reset)
    }

    /// The hardware that it is of, for people.
    fn of_hardware(&self) -> String {
        match self.accelerator.strip_suffix("_host").filter(|_| self.programmed) {
            Some(array) if self.rows.is_some() => format!("array `{array}` with its global buffer"),
            Some(array) => format!("array `{array}`"),
            None => format!("accelerator `{}`", self.accelerator),
        }
    }

    /// The registers of the shell, with the window to the configuration.
    fn subordinate(&self) -> Subordinate {
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
    fn channels(&self) -> Vec<Channel> {
        let lite = self.subordinate().channels();
        if !self.images.is_empty() {
            return lite.into_iter().chain(self.image_channels()).collect();
        }
        if let Some(rows) = &self.rows {
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
    fn module(&self) -> String {
        format!("pushmem_{}_control", self.path.control())
    }

    fn managers(&self) -> bool {
        self.path == DataPath::Images
    }

    fn streams(&self) -> bool {
        self.path == DataPath::Streams
    }

    fn rows(&self) -> bool {
        self.path == DataPath::Rows
    }

    /// Bits of the number of a register: those of images have a page for their arguments.
    fn number_bits(&self) -> u32 {
        if self.managers() { 10 } else { 6 }
    }

    /// Number of a register as a literal.
    fn at(&self, name: &str) -> String {
        format!("{}'d{}", self.number_bits(), registers::word(name, self.path))
    }

    /// Number of the first argument.
    fn arguments(&self) -> u32 {
        registers::ARGUMENTS / WORD_BYTES
    }

    /// Interrupts that there are.
    fn interrupts(&self) -> usize {
        registers::interrupts("", self.path).len()
    }
}

impl Description<'_> {
    fn files(&self) -> Vec<File> {
        let module = &self.shell.module;
        vec![
            (FILE_LIST.to_owned(), file_list(self.sources.iter().map(String::as_str))),
            ("kernel.xml".to_owned(), render(&Kernel(self))),
            (format!("{module}_registers.h"), render(&Header(self))),
        ]
    }

    /// Byte address of the window, if there is one.
    fn window(&self) -> Option<u64> {
        (self.shell.config_bits > 0).then(|| window(self.shell.config_bits))
    }

    fn window_bytes(&self) -> u64 {
        1 << self.shell.config_bits
    }

    /// Bytes of the address space.
    fn bytes(&self) -> u64 {
        1 << self.shell.address_bits
    }

    /// The interface of the registers.
    fn control_interface(&self) -> String {
        self.shell.subordinate().bus_interface().expect("AXI4-Lite has a definition")
    }

    /// The signals of a stream, or of the manager of an image, by their names in the standard.
    fn of_stream(&self, port: &str) -> Vec<(String, &str)> {
        self.signals(&format!("{port}_"))
    }

    /// The arguments of a kernel of Vitis: addresses are pointers, strides numbers.
    fn kernel_arguments(&self) -> Vec<KernelArgument> {
        let argument = |name: String, address: bool, c_type: String, port: String, word: usize| {
            let offset = registers::ARGUMENTS + WORD_BYTES * word as u32;
            KernelArgument { name, address, c_type, port, offset }
        };
        let of_image = |image: &Image| {
            let pointer = format!("{}*", image.c_type());
            let address = argument(image.name.clone(), true, pointer, self.shell.port(image), image.address_word);
            let strides = image.strides.iter().map(|stride| {
                let name = format!("{}_stride_{}", image.name, stride.dimension);
                argument(name, false, "int".to_owned(), "s_axi_control".to_owned(), stride.word)
            });
            [address].into_iter().chain(strides).collect_vec()
        };
        self.shell.images.iter().flat_map(of_image).collect()
    }

    /// The hardware that the shell is of, for people.
    fn of_hardware(&self) -> String {
        let of = self.shell.of_hardware();
        of[..1].to_uppercase() + &of[1..]
    }

    /// The bus that the shell connects to, for people.
    fn buses(&self) -> &'static str {
        match self.shell.path() {
            DataPath::Streams => "AXI4-Lite and AXI4-Stream",
            DataPath::Images | DataPath::Rows => "AXI4-Lite and AXI4",
        }
    }

    /// Signals by their names in the standard, and the ports.
    fn signals(&self, prefix: &str) -> Vec<(String, &str)> {
        let of = |port: &'_ ModulePort| port.name.strip_prefix(prefix).map(upper);
        self.ports.iter().filter_map(|port| Some((of(port)?, port.name.as_str()))).collect()
    }
}

/// The streams of an accelerator, by its ports.
fn streams(ports: &[ModulePort], accelerator: &Accelerator) -> Vec<Stream> {
    let data = |port: &'_ ModulePort| {
        let name = port.name.strip_suffix(if port.output { "_data_o" } else { "_data_i" })?.to_owned();
        let [valid, ready] = if port.output { ["_valid_o", "_ready_i"] } else { ["_valid_i", "_ready_o"] };
        let has = |end: &str| ports.iter().any(|other| other.name == format!("{name}{end}"));
        (has(valid) && has(ready)).then_some((name, port.output, port.bits))
    };
    let (mut inputs, mut outputs) = (accelerator.inputs.iter().enumerate(), accelerator.outputs.iter().enumerate());
    let found = ports.iter().filter_map(data).filter_map(|(name, output, bits)| {
        let (number, &traffic) = if output { outputs.next()? } else { inputs.next()? };
        let port = format!("{}_axis_{name}", if output { "m" } else { "s" });
        Some(Stream { port, name, output, number, bits, traffic })
    });
    found.collect()
}

/// Whether the shell connects a port to something of its own.
fn is_known(port: &str, streams: &[Stream]) -> bool {
    const CONTROL: [&str; 8] = ["clk_i", "rst_ni", "start_i", "busy_o", "done_o", "accepts_i", "half_i", "loads_o"];
    let of_stream = |stream: &Stream| {
        let ends =
            ["_valid_i", "_valid_o", "_ready_i", "_ready_o", "_data_i", "_data_o"].into_iter().chain(array::OF_STREAM);
        port.strip_prefix(stream.name.as_str()).is_some_and(|end| ends.clone().contains(&end))
    };
    CONTROL.contains(&port) || port.starts_with("config_") || port.starts_with(ROWS) || streams.iter().any(of_stream)
}

/// A name for the shell that no module of what is in it has.
fn free_name(rtl: &[File], name: &str) -> String {
    let mut name = name.to_owned();
    while text_of(rtl, &name).is_some() {
        name.push_str("_shell");
    }
    name
}

/// The type of the reset, which Veryl must know where it goes into SystemVerilog.
fn reset_type(reset: Reset) -> &'static str {
    match reset {
        Reset::Asynchronous => "reset_async_low",
        Reset::Synchronous => "reset_sync_low",
    }
}

/// The name of a macro of the C header.
fn macro_name(prefix: &str, name: &str) -> String {
    format!("{prefix}_{name}")
}

fn render(template: &impl Template) -> String {
    template.render().expect("templates write to memory").trim().to_owned() + "\n"
}
