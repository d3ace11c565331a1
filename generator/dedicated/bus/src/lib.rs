//! Shells that connect an accelerator to the buses of a system.
//!
//! [`axis`] wraps the module of an accelerator by the list of its ports: its streams become AXI4-Stream with frames, its control and
//! configuration registers of an AXI4-Lite subordinate, and ports that are neither pass as they are. Beside the RTL there are what tools want
//! to know of the shell: IP-XACT, a package of FuseSoC, the kernel description of Vitis, and the registers in C.
//!
//! Hardware that varies by parameters alone is a module in `templates/bus/library`; the shell is printed.

mod registers;

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{Access, Register, upper};
use pushmem_rtl::name_resets;
use pushmem_systemverilog::{File, Port, file_list, files_of, is_header, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::{CompileError, Source};

pub use registers::{registers, window};

/// The accelerator that a shell is for.
#[derive(Clone, Debug)]
pub struct Accelerator<'a> {
    /// Name of its module.
    pub module: &'a str,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// Beats in a run of each input stream, in the order of its ports.
    pub inputs: Vec<u64>,
    /// The same of each output stream.
    pub outputs: Vec<u64>,
    /// Cycles from a read on the configuration port until its data show.
    pub config_latency: u32,
    /// How its flip-flops are reset.
    pub reset: Reset,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Version of the files.
    pub version: &'a str,
}

impl Accelerator<'_> {
    /// The text of a module, which has a file of its name.
    fn text_of(&self, module: &str) -> Option<&str> {
        let file = format!("{module}.sv");
        let named = |(path, _): &&File| path.rsplit('/').next() == Some(&file);
        self.rtl.iter().find(named).map(|(_, text)| text.as_str())
    }
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
    /// The configuration port takes all 32 bits of an address: the registers of the shell have no place beside it.
    #[error("the configuration of `{module}` takes all {bits} bits of an address, so that no registers fit beside it")]
    Addresses {
        /// Name of the module.
        module: String,
        /// Bits of the configuration port.
        bits: u32,
    },
    /// A fault of a template.
    #[error(transparent)]
    Veryl(#[from] CompileError),
}

/// The files of a shell.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Name of its module.
    pub module: String,
    /// Path and text of each file, the modules of the shell among them.
    pub files: Vec<File>,
}

/// A stream of the accelerator.
struct Stream {
    name: String,
    /// The ports of the shell begin with it.
    port: String,
    output: bool,
    /// Its number among those of its direction.
    number: usize,
    bits: u32,
    beats: u64,
}

/// A channel with rules: a name, bits of its payload, and the expressions of `valid`, `ready` and the payload.
type Channel = (String, u32, String, String, String);

/// The shell with streams, in Veryl.
#[derive(Template)]
#[template(path = "axis.veryl", escape = "none")]
struct Axis<'a> {
    accelerator: &'a str,
    module: String,
    address_bits: u32,
    config_bits: u32,
    config_latency: u32,
    identity: u32,
    /// Widths of the vectors of streams by direction.
    inputs: usize,
    outputs: usize,
    streams: Vec<Stream>,
    passed: Vec<Port>,
    reset: Reset,
}

#[derive(Template)]
#[template(path = "control.veryl", escape = "none")]
struct Control;

/// The contents of the files that tools read.
struct Description<'a> {
    shell: &'a Axis<'a>,
    registers: Vec<Register<()>>,
    ports: Vec<Port>,
    sources: Vec<String>,
    version: &'a str,
}

#[derive(Template)]
#[template(path = "component.xml")]
struct Component<'a>(&'a Description<'a>);

#[derive(Template)]
#[template(path = "kernel.xml")]
struct Kernel<'a>(&'a Description<'a>);

#[derive(Template)]
#[template(path = "fusesoc.core", escape = "none")]
struct FuseSoc<'a>(&'a Description<'a>);

#[derive(Template)]
#[template(path = "registers.h", escape = "none")]
struct Header<'a>(&'a Description<'a>);

macro_rules! library {
    ($($name:literal),*) => {
        [$((concat!("pushmem_", $name), include_str!(concat!("../../../../templates/bus/library/", $name, ".veryl")))),*]
    };
}

/// The modules of the library: name and Veryl text.
const LIBRARY: [(&str, &str); 4] = library!("channel_rules", "axi_lite", "stream_in_frame", "stream_out_frame");

/// The module of the control of runs.
const CONTROL: &str = "pushmem_bus_control";

/// The shell of an accelerator with AXI4-Stream for its streams.
///
/// # Errors
/// When the ports are not those of an accelerator, or its configuration leaves no address for the shell.
pub fn axis(accelerator: &Accelerator) -> Result<Shell, BusError> {
    let shell = Axis::of(accelerator)?;
    let library = LIBRARY.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let printed = [(CONTROL.to_owned(), render(&Control)), (shell.module.clone(), render(&shell))];
    let sources = library.into_iter().chain(printed).map(|(name, text)| Source { name, text }).collect();
    let mut modules = pushmem_rtl::compile(sources, accelerator.reset)?;
    for module in &mut modules {
        module.text = accelerator.reset.of_system_verilog(&module.text);
    }
    name_resets(&mut modules, accelerator.reset);
    let modules = files_of(modules).into_iter().map(|(name, text)| (format!("rtl/{name}"), text));
    // The accelerator has the header of the macros, too.
    let mut files = modules.filter(|(path, _)| accelerator.rtl.iter().all(|(other, _)| other != path)).collect_vec();
    let top = files.last().map_or("", |(_, text)| text);
    let ports = ports_of(&shell.module, top).expect("Veryl prints a port a line");
    let sources = accelerator.rtl.iter().chain(&files).map(|(path, _)| path.clone()).collect_vec();
    let registers = registers(shell.inputs as u32);
    let description = Description { registers, ports, sources, version: accelerator.version, shell: &shell };
    files.extend(description.files());
    Ok(Shell { module: shell.module.clone(), files })
}

impl<'a> Axis<'a> {
    fn of(accelerator: &Accelerator<'a>) -> Result<Self, BusError> {
        let (inputs, outputs) = (accelerator.inputs.len(), accelerator.outputs.len());
        let module = accelerator.module;
        let wrong = || BusError::Ports { module: module.to_owned(), inputs, outputs };
        let text = accelerator.text_of(module).ok_or_else(wrong)?;
        let ports = ports_of(module, text).ok_or_else(wrong)?;
        let streams = streams(&ports, accelerator);
        let of = |output: bool| streams.iter().filter(|stream| stream.output == output).count();
        if of(false) != inputs || of(true) != outputs || outputs == 0 {
            return Err(wrong());
        }
        let config_bits = ports.iter().find(|port| port.name == "config_address_i").map_or(0, |port| port.bits);
        if config_bits >= u32::BITS {
            return Err(BusError::Addresses { module: module.to_owned(), bits: config_bits });
        }
        Ok(Axis {
            accelerator: module,
            module: free_name(accelerator),
            address_bits: window(config_bits).ilog2() + 1,
            config_bits,
            config_latency: accelerator.config_latency,
            identity: accelerator.identity,
            inputs: inputs.max(1),
            outputs,
            passed: ports.into_iter().filter(|port| !is_known(&port.name, &streams)).collect(),
            streams,
            reset: accelerator.reset,
        })
    }

    /// The type of the reset, which Veryl must know where it goes into SystemVerilog.
    fn reset_type(&self) -> &'static str {
        match self.reset {
            Reset::Asynchronous => "reset_async_low",
            Reset::Synchronous => "reset_sync_low",
        }
    }

    /// The channels whose rules are watched: those that the shell offers, and those that others do. They have the names of their
    /// ports: a stream may be called `b` as well as a channel of AXI4-Lite.
    fn channels(&self) -> Vec<Channel> {
        let bits = self.address_bits;
        let lite = [
            ("aw", bits, "s_axi_control_awaddr".to_owned()),
            ("w", 36, "{s_axi_control_wdata, s_axi_control_wstrb}".to_owned()),
            ("b", 2, "s_axi_control_bresp".to_owned()),
            ("ar", bits, "s_axi_control_araddr".to_owned()),
            ("r", 34, "{s_axi_control_rdata, s_axi_control_rresp}".to_owned()),
        ];
        let lite = lite.into_iter().map(|(name, bits, payload)| {
            let signal = |end: &str| format!("s_axi_control_{name}{end}");
            (signal(""), bits, signal("valid"), signal("ready"), payload)
        });
        let streams = self.streams.iter().map(|Stream { port, bits, .. }| {
            let payload = format!("{{{port}_tlast, {port}_tkeep, {port}_tdata}}");
            (port.clone(), bits + bits / 8 + 1, format!("{port}_tvalid"), format!("{port}_tready"), payload)
        });
        lite.chain(streams).collect()
    }
}

impl Control {
    /// Number of a register as a literal.
    fn at(&self, name: &str) -> String {
        format!("6'd{}", registers::word(name))
    }
}

impl Description<'_> {
    fn files(&self) -> [File; 5] {
        let module = &self.shell.module;
        [
            ("filelist_bus.f".to_owned(), file_list(self.sources.iter().map(String::as_str))),
            (format!("{module}.core"), render(&FuseSoc(self))),
            (format!("{module}.xml"), render(&Component(self))),
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

    /// The signals of the AXI4-Lite interface, by their names in the standard.
    fn lite(&self) -> Vec<(String, &str)> {
        self.signals("s_axi_control_")
    }

    /// The same of a stream.
    fn of_stream(&self, stream: &Stream) -> Vec<(String, &str)> {
        self.signals(&format!("{}_", stream.port))
    }

    /// Signals by their names in the standard, and the ports.
    fn signals(&self, prefix: &str) -> Vec<(String, &str)> {
        let of = |port: &'_ Port| port.name.strip_prefix(prefix).map(upper);
        self.ports.iter().filter_map(|port| Some((of(port)?, port.name.as_str()))).collect()
    }

    fn access(&self, access: Access) -> &'static str {
        match access {
            Access::ReadOnly => "read-only",
            Access::ReadWrite | Access::Request => "read-write",
        }
    }
}

/// The streams of an accelerator, by its ports.
fn streams(ports: &[Port], accelerator: &Accelerator) -> Vec<Stream> {
    let data = |port: &'_ Port| {
        let name = port.name.strip_suffix(if port.output { "_data_o" } else { "_data_i" })?.to_owned();
        let [valid, ready] = if port.output { ["_valid_o", "_ready_i"] } else { ["_valid_i", "_ready_o"] };
        let has = |end: &str| ports.iter().any(|other| other.name == format!("{name}{end}"));
        (has(valid) && has(ready)).then_some((name, port.output, port.bits))
    };
    let (mut inputs, mut outputs) = (accelerator.inputs.iter().enumerate(), accelerator.outputs.iter().enumerate());
    let found = ports.iter().filter_map(data).filter_map(|(name, output, bits)| {
        let (number, &beats) = if output { outputs.next()? } else { inputs.next()? };
        let port = format!("{}_axis_{name}", if output { "m" } else { "s" });
        Some(Stream { port, name, output, number, bits, beats })
    });
    found.collect()
}

/// Whether the shell connects a port to something of its own.
fn is_known(port: &str, streams: &[Stream]) -> bool {
    const CONTROL: [&str; 5] = ["clk_i", "rst_ni", "start_i", "busy_o", "done_o"];
    let of_stream = |stream: &Stream| {
        let ends = ["_valid_i", "_valid_o", "_ready_i", "_ready_o", "_data_i", "_data_o"];
        port.strip_prefix(stream.name.as_str()).is_some_and(|end| ends.contains(&end))
    };
    CONTROL.contains(&port) || port.starts_with("config_") || streams.iter().any(of_stream)
}

/// A name for the shell that no module of the accelerator has.
fn free_name(accelerator: &Accelerator) -> String {
    let mut name = format!("{}_axis", accelerator.module);
    while accelerator.text_of(&name).is_some() {
        name.push_str("_shell");
    }
    name
}

/// The name of a macro of the C header.
fn macro_name(prefix: &str, name: &str) -> String {
    format!("{prefix}_{name}")
}

fn render(template: &impl Template) -> String {
    template.render().expect("templates write to memory").trim().to_owned() + "\n"
}
