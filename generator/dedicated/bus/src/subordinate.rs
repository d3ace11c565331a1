//! Buses by which a system writes and reads the registers of a block.

use askama::Template;
use pushmem_csr::upper;

use crate::shell::Channel;

/// Bits of the source of a request of TileLink: the default of its module.
const SOURCE_BITS: u32 = 8;

/// A bus of registers. Its module in the library hands one access after another to the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterBus {
    /// APB4.
    Apb,
    /// AXI4-Lite with 32 bits of data.
    AxiLite,
    /// TileLink-UL with 32 bits of data.
    TileLink,
}

impl RegisterBus {
    /// Its name in those of modules.
    pub fn name(self) -> &'static str {
        match self {
            RegisterBus::Apb => "apb",
            RegisterBus::AxiLite => "axi_lite",
            RegisterBus::TileLink => "tilelink",
        }
    }

    /// Its name in the standard.
    pub fn standard(self) -> &'static str {
        match self {
            RegisterBus::Apb => "APB4",
            RegisterBus::AxiLite => "AXI4-Lite",
            RegisterBus::TileLink => "TileLink-UL",
        }
    }

    /// The beginning of the names of ports that lead to a configuration port.
    fn configuration_port(self) -> &'static str {
        match self {
            RegisterBus::Apb => "s_apb_config",
            RegisterBus::AxiLite => "s_axi_config",
            RegisterBus::TileLink => "s_tl_config",
        }
    }

    /// Its definition in IP-XACT, by the names of Arm; TileLink has none.
    fn definition(self) -> Option<&'static str> {
        match self {
            RegisterBus::Apb | RegisterBus::AxiLite => Some(self.standard()),
            RegisterBus::TileLink => None,
        }
    }

    /// The name of a signal in that definition.
    fn logical(self, signal: &Signal) -> String {
        match signal.name {
            // Each subordinate has one of its own.
            "psel" => "PSELx".to_owned(),
            name => upper(name),
        }
    }

    /// Name, direction and bits of its signals, where addresses have so many bits: whether the subordinate drives it.
    fn table(self, address: u32) -> Vec<(&'static str, bool, u32)> {
        const IN: bool = false;
        const OUT: bool = true;
        match self {
            RegisterBus::Apb => vec![
                ("psel", IN, 1),
                ("penable", IN, 1),
                ("pwrite", IN, 1),
                ("paddr", IN, address),
                ("pwdata", IN, 32),
                ("pstrb", IN, 4),
                ("pready", OUT, 1),
                ("prdata", OUT, 32),
                ("pslverr", OUT, 1),
            ],
            RegisterBus::AxiLite => vec![
                ("awvalid", IN, 1),
                ("awready", OUT, 1),
                ("awaddr", IN, address),
                ("wvalid", IN, 1),
                ("wready", OUT, 1),
                ("wdata", IN, 32),
                ("wstrb", IN, 4),
                ("bvalid", OUT, 1),
                ("bready", IN, 1),
                ("bresp", OUT, 2),
                ("arvalid", IN, 1),
                ("arready", OUT, 1),
                ("araddr", IN, address),
                ("rvalid", OUT, 1),
                ("rready", IN, 1),
                ("rdata", OUT, 32),
                ("rresp", OUT, 2),
            ],
            RegisterBus::TileLink => vec![
                ("a_valid", IN, 1),
                ("a_ready", OUT, 1),
                ("a_opcode", IN, 3),
                ("a_param", IN, 3),
                ("a_size", IN, 2),
                ("a_source", IN, SOURCE_BITS),
                ("a_address", IN, address),
                ("a_mask", IN, 4),
                ("a_data", IN, 32),
                ("a_corrupt", IN, 1),
                ("d_valid", OUT, 1),
                ("d_ready", IN, 1),
                ("d_opcode", OUT, 3),
                ("d_param", OUT, 2),
                ("d_size", OUT, 2),
                ("d_source", OUT, SOURCE_BITS),
                ("d_sink", OUT, 1),
                ("d_denied", OUT, 1),
                ("d_data", OUT, 32),
                ("d_corrupt", OUT, 1),
            ],
        }
    }

    /// Its channels whose offers stay until they are taken: the beginning of the names of their signals. Requests of TileLink may go away.
    fn channels(self) -> &'static [&'static str] {
        match self {
            RegisterBus::Apb => &[],
            RegisterBus::AxiLite => &["aw", "w", "b", "ar", "r"],
            RegisterBus::TileLink => &["d_"],
        }
    }
}

/// A signal of a bus.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    /// Its name in the standard, in lower case.
    pub name: &'static str,
    /// The port of the shell.
    pub port: String,
    /// Whether the subordinate drives it.
    pub output: bool,
    pub bits: u32,
}

/// The subordinate of a shell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subordinate {
    pub bus: RegisterBus,
    /// The names of its ports begin with it.
    pub port: &'static str,
    /// The ports of the clock and of the reset.
    pub clock: &'static str,
    pub reset: &'static str,
    pub address_bits: u32,
}

impl Subordinate {
    /// The one that leads to the configuration port of a block.
    pub(crate) fn of_configuration(bus: RegisterBus, address_bits: u32) -> Self {
        Subordinate { bus, port: bus.configuration_port(), clock: "clk_i", reset: "rst_ni", address_bits }
    }

    /// The signals, in the order of the ports.
    pub(crate) fn signals(&self) -> Vec<Signal> {
        let signal = |(name, output, bits)| Signal { name, port: format!("{}_{name}", self.port), output, bits };
        self.bus.table(self.address_bits).into_iter().map(signal).collect()
    }

    /// The channels whose rules are watched.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        let signals: Vec<(&str, u32)> = self.signals().into_iter().map(|signal| (signal.name, signal.bits)).collect();
        self.bus.channels().iter().map(|name| channel(self.port, name, &signals)).collect()
    }

    /// The interface in IP-XACT, if the bus has a definition there.
    pub(crate) fn bus_interface(&self) -> Option<String> {
        let template = BusInterface { subordinate: self, definition: self.bus.definition()? };
        Some(template.render().expect("templates write to memory"))
    }
}

/// The channel of a port whose signals begin with a name, among these with their bits.
pub(crate) fn channel(port: &str, name: &str, signals: &[(&str, u32)]) -> Channel {
    let is_payload =
        |(signal, _): &&(&str, u32)| signal.strip_prefix(name).is_some_and(|end| !["valid", "ready"].contains(&end));
    let payload: Vec<&(&str, u32)> = signals.iter().filter(is_payload).collect();
    let ports: Vec<String> = payload.iter().map(|(signal, _)| format!("{port}_{signal}")).collect();
    let signal = |end: &str| format!("{port}_{name}{end}");
    (
        signal("").trim_end_matches('_').to_owned(),
        payload.iter().map(|(_, bits)| bits).sum(),
        signal("valid"),
        signal("ready"),
        match &ports[..] {
            [port] => port.clone(),
            ports => format!("{{{}}}", ports.join(", ")),
        },
    )
}

/// An interface of a component, IEEE 1685-2014.
#[derive(Template)]
#[template(path = "bus_interface.xml")]
struct BusInterface<'a> {
    subordinate: &'a Subordinate,
    definition: &'static str,
}
