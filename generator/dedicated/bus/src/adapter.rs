//! Adapters of a configuration port to the buses of a system.

use askama::Template;
use pushmem_files::{Diagnostic, render};
use pushmem_systemverilog::{File, ModulePort, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::library::{OF_APB, OF_AXI_LITE, OF_TILELINK};
use crate::shell::Channel;
use crate::subordinate::{RegisterBus, Subordinate};
use crate::{compiled, free_name, new_files, text_of};

/// The beginning of the names of the ports of a configuration port.
const CONFIGURATION: &str = "config_";

/// The fewest bits of an address: TileLink has two for the bytes of a register.
const LEAST_ADDRESS_BITS: u32 = 3;

/// A block with the configuration port of a memory tile: byte addresses, and an error one cycle after an access.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Name of its module.
    pub module: &'a str,
    /// A description in a few words, as part of a sentence.
    pub about: &'a str,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// Bytes of the addresses of its registers.
    pub bytes: u32,
    /// Cycles from a read on the configuration port until its data show.
    pub read_latency: u32,
    /// How its flip-flops are reset.
    pub reset: Reset,
}

/// The files of an adapter.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Name of its module, which has the block in it.
    pub module: String,
    /// Path and text of its modules, used ones before their users.
    pub rtl: Vec<File>,
    /// The interface of the bus in IP-XACT; nothing if it has no definition there.
    pub interfaces: String,
}

/// The adapter, in Veryl.
#[derive(Template)]
#[template(path = "adapter.veryl", escape = "none")]
struct View<'a> {
    module: String,
    block: &'a str,
    about: &'a str,
    bus: RegisterBus,
    address_bits: u32,
    read_latency: u32,
    passed: Vec<ModulePort>,
    reset: Reset,
}

impl View<'_> {
    fn subordinate(&self) -> Subordinate {
        Subordinate::of_configuration(self.bus, self.address_bits)
    }

    fn channels(&self) -> Vec<Channel> {
        self.subordinate().channels()
    }
}

/// A module around a block, in which a bus reaches its configuration port; all other ports are those of the block.
///
/// # Errors
/// When the block has no such configuration port.
pub fn adapter(block: &Block, bus: RegisterBus) -> Result<Adapter, Diagnostic> {
    let wrong = || Diagnostic::new(format!("the module `{}` has no configuration port of a memory tile", block.module));
    let text = text_of(block.rtl, block.module).ok_or_else(wrong)?;
    let ports = ports_of(block.module, text).ok_or_else(wrong)?;
    if !ports.iter().any(|port| port.name == "config_address_i" && port.bits == u32::BITS) {
        return Err(wrong());
    }
    let is_own =
        |port: &ModulePort| !port.name.starts_with(CONFIGURATION) && !["clk_i", "rst_ni"].contains(&port.name.as_str());
    let view = View {
        module: free_name(block.rtl, &format!("{}_{}", block.module, bus.name())),
        block: block.module,
        about: block.about,
        bus,
        address_bits: block.bytes.next_power_of_two().ilog2().max(LEAST_ADDRESS_BITS),
        read_latency: block.read_latency,
        passed: ports.into_iter().filter(is_own).collect(),
        reset: block.reset,
    };
    let modules = match bus {
        RegisterBus::Apb => OF_APB,
        RegisterBus::AxiLite => OF_AXI_LITE,
        RegisterBus::TileLink => OF_TILELINK,
    };
    let source = |(name, text): (&str, &str)| SourceFile { name: name.to_owned(), text: text.to_owned() };
    let printed = SourceFile { name: view.module.clone(), text: render(&view) };
    let files = compiled(modules.into_iter().map(source).chain([printed]).collect(), block.reset)?;
    let rtl = new_files(block.rtl, files);
    let interface = view.subordinate().bus_interface();
    let within = |text: String| format!("  <ipxact:busInterfaces>\n{text}\n  </ipxact:busInterfaces>");
    Ok(Adapter { interfaces: interface.map_or_else(String::new, within), module: view.module, rtl })
}
