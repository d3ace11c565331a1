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
//! [`array_shell`] does the same for a reconfigurable array. Such a shell serves every bitstream whose streams are as many as it has: which IO
//! tile a stream belongs to, its beats, and its walk through an image are registers, which [`Program`] has values for. The rows of an array
//! with a global buffer are behind an AXI4 subordinate, in place of streams.
//!
//! [`Manager`] is the model of a manager: the bytes of memory that a stream reads or writes.
//!
//! An error has advice where there is another choice; without advice, it is a fault of who calls this.
//!
//! Hardware that varies by parameters alone is a module in `templates/bus/library`; the shell is printed.

mod adapter;
mod array;
mod description;
mod driver;
mod image;
mod library;
mod litex;
mod managers;
mod model;
mod program;
mod registers;
mod shell;
mod streams;
mod subordinate;
mod tiles;

use itertools::Itertools;
use pushmem_csr::Register;
use pushmem_files::{Diagnostic, render};
use pushmem_images::Element;
use pushmem_rtl::name_resets;
use pushmem_systemverilog::{File, files_of, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

pub use adapter::{Adapter, Block, adapter};
pub use array::{ArrayModule, ArrayPorts, GlobalBuffer, IoTiles, array_shell};
use description::{Buffer, Description, Interfaces};
pub use image::{Elements, WalkError};
pub use managers::Memory;
pub use model::{Manager, Placed};
pub use program::{Lane, Place, Program, ProgramError, ProgramImage};
pub use registers::window;
use shell::View;
pub use subordinate::RegisterBus;
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

/// Advice where managers of AXI4 do not do.
const ANY_ORDER: &str = "choose `--bus axis`, whose streams a DMA of the system feeds in any order";

/// The refusal of a module that has not the ports of an accelerator with so many streams: it is not among the files, or is another one.
fn without_ports(module: &str, inputs: usize, outputs: usize) -> Diagnostic {
    Diagnostic::new(format!(
        "the module `{module}` has not the ports of an accelerator with {inputs} input and {outputs} output streams"
    ))
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
}

/// The number of the interface between shells and drivers: another one where firmware of the one is not for hardware of the other. It is a
/// part of the identity.
pub const INTERFACE: u32 = 2;

/// The beginning of the names of ports to the rows of a global buffer.
const ROWS: &str = "rows_";

/// Bits of a word at the ports of accelerators.
pub(crate) const WORD_BITS: u32 = 16;

/// The shell of an accelerator with AXI4-Stream for its streams.
///
/// # Errors
/// When the ports are not those of an accelerator, or its configuration leaves no address for the shell.
pub fn axis(accelerator: &Accelerator) -> Result<Shell, Diagnostic> {
    shell(accelerator, &View::of(accelerator, &format!("{}_axis", accelerator.module))?)
}

/// The shell of an accelerator with a manager of AXI4 for each stream, which reads its words from an image in memory or writes them there:
/// `images` are those of the inputs, then those of the outputs.
///
/// # Errors
/// As [`axis`], and when a stream is no walk through an image, or there are too many.
pub fn axi(accelerator: &Accelerator, images: &[Elements], memory: Memory) -> Result<Shell, Diagnostic> {
    let view = View::of(accelerator, &format!("{}_axi", accelerator.module))?.with_images(images, memory)?;
    shell(accelerator, &view)
}

/// The files of a shell: the library, the control, the shell as it is printed, what tools want to know, and those of firmware.
fn shell(accelerator: &Accelerator, view: &View) -> Result<Shell, Diagnostic> {
    let mut files = new_files(accelerator.rtl, compiled(view.sources(), accelerator.reset)?);
    let top = files.last().map_or("", |(_, text)| text);
    let ports = ports_of(&view.module, top).expect("Veryl prints a port a line");
    let sources = accelerator.rtl.iter().chain(&files).map(|(path, _)| path.clone()).collect_vec();
    let registers = view.registers();
    let description = Description { registers, ports, sources, version: accelerator.version, shell: view };
    files.extend(description.files());
    files.extend(description.driver());
    let interfaces = format!("  {}", render(&Interfaces(&description)).trim_end());
    let memory_map = view.rows().map(|rows| format!("    {}", render(&Buffer { rows }).trim_end()));
    let memory_map = memory_map.unwrap_or_default();
    let window = description.window().filter(|_| !view.programmed());
    let about = format!("{} behind {}", description.of_hardware(), description.buses());
    let (module, identity, registers) = (view.module.clone(), view.identity, description.registers);
    Ok(Shell { module, files, about, identity, registers, window, interfaces, memory_map })
}

/// Those of some files that a block does not have: it has the header of the macros, too.
fn new_files(rtl: &[File], mut files: Vec<File>) -> Vec<File> {
    files.retain(|(path, _)| rtl.iter().all(|(other, _)| other != path));
    files
}

/// The SystemVerilog files of modules, in the folder `rtl`.
fn compiled(sources: Vec<SourceFile>, reset: Reset) -> Result<Vec<File>, Diagnostic> {
    let compiled = pushmem_rtl::compile(sources, reset);
    let mut modules = compiled.map_err(|error| Diagnostic::new(error.to_string()))?;
    for module in &mut modules {
        module.text = reset.of_system_verilog(&module.text);
    }
    name_resets(&mut modules, reset);
    Ok(files_of(modules).into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect())
}

/// A name for the shell that no module of what is in it has.
fn free_name(rtl: &[File], name: &str) -> String {
    let mut name = name.to_owned();
    while text_of(rtl, &name).is_some() {
        name.push_str("_shell");
    }
    name
}
