//! Buses by which a system writes and reads the registers of a block.

use askama::Template;
use itertools::Itertools;
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
        match signal.end {
            // Each subordinate has one of its own.
            "psel" => "PSELx".to_owned(),
            _ => upper(&signal.name()),
        }
    }

    /// Its signals but those of AXI4-Lite, where addresses have so many bits: channel, name there, whether the subordinate drives it, bits.
    fn table(self, address: u32) -> Vec<(&'static str, &'static str, bool, u32)> {
        const IN: bool = false;
        const OUT: bool = true;
        match self {
            RegisterBus::Apb => vec![
                ("", "psel", IN, 1),
                ("", "penable", IN, 1),
                ("", "pwrite", IN, 1),
                ("", "paddr", IN, address),
                ("", "pwdata", IN, 32),
                ("", "pstrb", IN, 4),
                ("", "pready", OUT, 1),
                ("", "prdata", OUT, 32),
                ("", "pslverr", OUT, 1),
            ],
            RegisterBus::AxiLite => Vec::new(),
            RegisterBus::TileLink => vec![
                ("a_", "valid", IN, 1),
                ("a_", "ready", OUT, 1),
                ("a_", "opcode", IN, 3),
                ("a_", "param", IN, 3),
                ("a_", "size", IN, 2),
                ("a_", "source", IN, SOURCE_BITS),
                ("a_", "address", IN, address),
                ("a_", "mask", IN, 4),
                ("a_", "data", IN, 32),
                ("a_", "corrupt", IN, 1),
                ("d_", "valid", OUT, 1),
                ("d_", "ready", IN, 1),
                ("d_", "opcode", OUT, 3),
                ("d_", "param", OUT, 2),
                ("d_", "size", OUT, 2),
                ("d_", "source", OUT, SOURCE_BITS),
                ("d_", "sink", OUT, 1),
                ("d_", "denied", OUT, 1),
                ("d_", "data", OUT, 32),
                ("d_", "corrupt", OUT, 1),
            ],
        }
    }

    /// Its channels whose offers stay until they are taken. Requests of TileLink may go away.
    fn channels(self) -> &'static [&'static str] {
        match self {
            RegisterBus::Apb => &[],
            RegisterBus::AxiLite => &AXI_CHANNELS,
            RegisterBus::TileLink => &["d_"],
        }
    }
}

/// The channels of AXI4.
pub(crate) const AXI_CHANNELS: [&str; 5] = ["aw", "w", "b", "ar", "r"];

/// Bits of the signals of AXI4 that vary.
#[derive(Clone, Copy)]
pub(crate) struct AxiBits {
    pub id: u32,
    pub address: u32,
    pub data: u32,
}

/// A signal of a bus.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    /// Its channel and its name there in the standard, in lower case.
    pub channel: &'static str,
    pub end: &'static str,
    /// The port of the shell.
    pub port: String,
    /// Whether the shell drives it.
    pub output: bool,
    pub bits: u32,
}

impl Signal {
    fn new(port: &str, (channel, end, output, bits): (&'static str, &'static str, bool, u32)) -> Self {
        Signal { channel, end, port: format!("{port}_{channel}{end}"), output, bits }
    }

    /// Its name in the standard, in lower case.
    pub fn name(&self) -> String {
        format!("{}{}", self.channel, self.end)
    }
}

/// The signals of channels of AXI4 at ports that begin so, in the order of the ports: of a manager, or of a subordinate, which has no use for
/// the kind of memory.
pub(crate) fn axi(port: &str, channels: &[&'static str], bits: AxiBits, is_manager: bool) -> Vec<Signal> {
    let AxiBits { id, address, data } = bits;
    let of_channel = |&channel: &&'static str| {
        let output = is_manager != ["b", "r"].contains(&channel);
        let mut payload = match channel {
            "aw" | "ar" => vec![("id", id), ("addr", address), ("len", 8), ("size", 3), ("burst", 2)],
            "w" => vec![("data", data), ("strb", data / 8), ("last", 1)],
            "b" => vec![("id", id), ("resp", 2)],
            _ => vec![("id", id), ("data", data), ("resp", 2), ("last", 1)],
        };
        if is_manager && channel.starts_with('a') {
            payload.extend([("cache", 4), ("prot", 3)]);
        }
        let mut signals = payload.into_iter().map(|(end, bits)| (channel, end, output, bits)).collect_vec();
        let at = if is_manager { signals.len() } else { 0 };
        signals.splice(at..at, [(channel, "valid", output, 1), (channel, "ready", !output, 1)]);
        signals.into_iter().map(|signal| Signal::new(port, signal))
    };
    channels.iter().flat_map(of_channel).collect()
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
        let Subordinate { bus, port, address_bits: address, .. } = *self;
        if bus != RegisterBus::AxiLite {
            return bus.table(address).into_iter().map(|signal| Signal::new(port, signal)).collect();
        }
        let mut signals = axi(port, &AXI_CHANNELS, AxiBits { id: 0, address, data: 32 }, false);
        signals.retain(|signal| !["id", "len", "size", "burst", "last"].contains(&signal.end));
        signals
    }

    /// The channels whose rules are watched.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        channels(self.port, self.bus.channels(), &self.signals())
    }

    /// The interface in IP-XACT, if the bus has a definition there.
    pub(crate) fn bus_interface(&self) -> Option<String> {
        let template = BusInterface { subordinate: self, definition: self.bus.definition()? };
        Some(template.render().expect("templates write to memory"))
    }
}

/// The channels of these names of a port, among its signals.
pub(crate) fn channels(port: &str, names: &[&str], signals: &[Signal]) -> Vec<Channel> {
    let channel = |name: &&str| {
        let is_payload = |signal: &&Signal| signal.channel == *name && !["valid", "ready"].contains(&signal.end);
        let payload = signals.iter().filter(is_payload).collect_vec();
        let ports = payload.iter().map(|signal| &signal.port).join(", ");
        (
            format!("{port}_{}", name.trim_end_matches('_')),
            payload.iter().map(|signal| signal.bits).sum(),
            format!("{port}_{name}valid"),
            format!("{port}_{name}ready"),
            if payload.len() == 1 { ports } else { format!("{{{ports}}}") },
        )
    };
    names.iter().map(channel).collect()
}

/// An interface of a component, IEEE 1685-2014.
#[derive(Template)]
#[template(path = "bus_interface.xml")]
struct BusInterface<'a> {
    subordinate: &'a Subordinate,
    definition: &'static str,
}
