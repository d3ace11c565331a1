//! The memory of a tile, made of macros.

use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_tile::address_bits_for;

use crate::binding::{Active, Binding, ClockEdge, MacroPort, Output, Pin, PortKind};
use crate::memory::TileSram;

/// How macros make a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// The memory.
    pub memory: TileSram,
    /// The macro.
    pub binding: Binding,
    /// Macros side by side, of which each has a part of every row.
    pub columns: u32,
    /// Groups of rows.
    pub banks: u32,
    /// Rows of the memory in a row of a macro: more than one needs a write mask.
    pub lanes: u32,
    /// The use of each port of the macros, in their order.
    pub uses: Vec<PortUse>,
}

/// The use of a port of the macros: the port of the memory that writes through it, and the port that reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// Number of the memory's port that writes.
    pub write: Option<u32>,
    /// Number of the memory's port that reads.
    pub read: Option<u32>,
}

impl Assembly {
    /// Makes a memory of macros.
    ///
    /// # Errors
    /// When they do not fit, at the key of the binding that is in the way, with what would fit.
    pub fn new(memory: TileSram, binding: Binding, document: Option<&Document>) -> Result<Self, Diagnostic> {
        let refuse = |key: &str, message: String, help: String| {
            let diagnostic = match document {
                Some(document) => document.error(&FieldPath::root().key(key), message),
                None => Diagnostic::new(message),
            };
            diagnostic.with_help(help)
        };
        let (columns, lanes) = columns_and_lanes(&memory, &binding).map_err(|help| {
            let message = format!(
                "rows of {} bits cannot be made of macros of {} bits: `{}` does not fit the {} rows of {} bits of `{}`",
                memory.width, binding.width, binding.name, memory.depth, memory.width, memory.tile
            );
            refuse("width", message, help)
        })?;
        let uses = port_uses(&memory, &binding).ok_or_else(|| {
            let message = format!(
                "`{}` has too few ports: the memory of `{}` needs {}",
                binding.name,
                memory.tile,
                memory.ports()
            );
            refuse("ports", message, fitting_ports(&memory).to_owned())
        })?;
        let banks = memory.depth.div_ceil(binding.depth * lanes);
        if banks * lanes > 1 && !binding.depth.is_power_of_two() {
            let message = format!(
                "{} macros of {} rows cannot share the addresses of the {} rows of `{}`",
                banks * columns,
                binding.depth,
                memory.depth,
                memory.tile
            );
            let help = format!("use a macro with {} rows, or with any power of two", memory.depth);
            return Err(refuse("depth", message, help));
        }
        let made = Assembly { memory, binding, columns, banks, lanes, uses };
        if made.place_bits() >= made.memory.address_bits() {
            let Assembly { memory, binding, .. } = &made;
            let message = format!(
                "a row of `{}` holds {lanes} rows of {} bits, which leaves nothing to address: `{}` has {} rows",
                binding.name, memory.width, memory.tile, memory.depth
            );
            let help = format!("use a macro with rows of at most {} bits", memory.width * memory.depth.div_ceil(2));
            return Err(refuse("width", message, help));
        }
        Ok(made)
    }

    /// How many macros there are.
    pub fn macros(&self) -> u32 {
        self.columns * self.banks
    }

    /// Rows that the memory has in all places together: a place is a lane of a bank.
    fn places(&self) -> u32 {
        self.banks * self.lanes
    }

    /// Bits that choose a place; 0 when there is only one.
    pub(crate) fn place_bits(&self) -> u32 {
        address_bits_for(self.places())
    }

    pub(crate) fn lane_bits(&self) -> u32 {
        address_bits_for(self.lanes)
    }

    pub(crate) fn bank_bits(&self) -> u32 {
        address_bits_for(self.banks)
    }

    /// Whether the macro holds a row on its output.
    pub(crate) fn holds(&self) -> bool {
        self.binding.output == Output::Held
    }

    /// Bits of the address within a place.
    pub(crate) fn row_bits(&self) -> u32 {
        self.memory.address_bits() - self.place_bits()
    }

    /// Ports in use, with what they do.
    pub(crate) fn used(&self) -> impl Iterator<Item = UsedPort<'_>> {
        let ports = self.binding.ports.iter().zip(&self.uses).enumerate();
        let ports = ports.filter(|(_, (_, port_use))| **port_use != PortUse::default());
        ports.map(|(number, (port, &port_use))| UsedPort { assembly: self, number, port, port_use })
    }

    /// Outputs of the macro that are not read.
    pub(crate) fn unused_outputs(&self) -> impl Iterator<Item = &str> {
        let ports = self.binding.ports.iter().zip(&self.uses).filter(|(_, port_use)| port_use.read.is_none());
        ports.filter_map(|(port, _)| port.data_out.as_deref())
    }

    /// The connections of an instance: pin and expression.
    pub(crate) fn connections(&self) -> Vec<(&str, String)> {
        let mut connections: Vec<(&str, String)> = Vec::new();
        for (number, (port, port_use)) in self.binding.ports.iter().zip(&self.uses).enumerate() {
            let used = UsedPort { assembly: self, number, port, port_use: *port_use };
            for (pin, expression) in used.connections() {
                if connections.iter().all(|(other, _)| *other != pin) {
                    connections.push((pin, expression));
                }
            }
        }
        connections.extend(self.binding.constants.iter().map(|(name, constant)| {
            let value = match constant.value {
                0 => "'0".to_owned(),
                value => format!("{}'h{value:x}", constant.bits),
            };
            (name.as_str(), value)
        }));
        connections
    }
}

/// Macros side by side, and rows in a row of a macro; or what would fit.
fn columns_and_lanes(memory: &TileSram, binding: &Binding) -> Result<(u32, u32), String> {
    let (needed, given) = (memory.width, binding.width);
    if needed.is_multiple_of(given) {
        return Ok((needed / given, 1));
    }
    let divisors = [1, 2, 4, 8].into_iter().filter(|parts| needed.is_multiple_of(*parts)).map(|parts| needed / parts);
    let list = divisors.map(|bits| bits.to_string()).collect::<Vec<_>>().join(", ");
    let narrower = format!("a macro of {list} bits would");
    if given < needed || !given.is_multiple_of(needed) || !(given / needed).is_power_of_two() {
        return Err(format!("{narrower}; or a power of two times {needed} bits, with a write mask"));
    }
    match binding.mask_bits() {
        Some(bits) if needed.is_multiple_of(bits) => Ok((1, given / needed)),
        Some(bits) => {
            Err(format!("{narrower}; or this one with a mask bit for {needed} bits or a part of them, not {bits}"))
        }
        None => Err(format!("{narrower}; or this one with a write mask, to write a part of a row")),
    }
}

/// Which ports of the macros serve those of the memory.
fn port_uses(memory: &TileSram, binding: &Binding) -> Option<Vec<PortUse>> {
    let mut uses = vec![PortUse::default(); binding.ports.len()];
    let kinds = binding.ports.iter().map(|port| port.kind);
    if memory.exclusive
        && let Some(both) = kinds.clone().position(|kind| kind == PortKind::ReadWrite)
    {
        uses[both] = PortUse { write: Some(0), read: Some(0) };
        return Some(uses);
    }
    let mut take = |wanted: PortKind| {
        let free = |kind: PortKind, uses: &[PortUse]| {
            (0..uses.len()).find(|&port| uses[port] == PortUse::default() && binding.ports[port].kind == kind)
        };
        let port = free(wanted, &uses).or_else(|| free(PortKind::ReadWrite, &uses))?;
        // Taken, whatever is set below.
        uses[port] = PortUse { write: Some(0), read: Some(0) };
        Some(port)
    };
    let writes = (0..memory.writes).map(|_| take(PortKind::Write)).collect::<Option<Vec<_>>>()?;
    let reads = (0..memory.reads).map(|_| take(PortKind::Read)).collect::<Option<Vec<_>>>()?;
    for (number, port) in writes.into_iter().enumerate() {
        uses[port] = PortUse { write: Some(number as u32), read: None };
    }
    for (number, port) in reads.into_iter().enumerate() {
        uses[port] = PortUse { write: None, read: Some(number as u32) };
    }
    Some(uses)
}

/// The ports that would fit.
fn fitting_ports(memory: &TileSram) -> &'static str {
    match (memory.exclusive, memory.writes) {
        (true, _) => "use a macro with a `read_write` port, or with a `write` and a `read` port",
        (false, 1) => "use a macro with two ports: `write` and `read`, or `read_write` and `read`, or two `read_write`",
        (false, _) => "use a macro with four ports, or another kind of tile",
    }
}

/// A port of the macros that is used, or not: then it is tied to nothing.
pub(crate) struct UsedPort<'a> {
    assembly: &'a Assembly,
    pub number: usize,
    pub port: &'a MacroPort,
    pub port_use: PortUse,
}

impl<'a> UsedPort<'a> {
    /// Its purpose, for a comment.
    pub fn purpose(&self) -> String {
        match (self.port_use.write, self.port_use.read) {
            (Some(_), Some(_)) => "writes or reads".to_owned(),
            (Some(write), None) => format!("writes for port {write}"),
            (None, read) => format!("reads for port {}", read.unwrap_or(0)),
        }
    }

    /// Whether it takes its inputs half a cycle later.
    pub fn falling(&self) -> bool {
        self.port.edge == ClockEdge::Falling
    }

    /// The address, of the memory's port that is active.
    pub fn address(&self) -> String {
        let bits = self.assembly.memory.address_bits();
        let slice = |name: &str, port: u32| format!("{name}[{}:{}]", (port + 1) * bits - 1, port * bits);
        match (self.port_use.write, self.port_use.read) {
            (Some(write), Some(read)) => {
                format!("write_i[{write}] ? {} : {}", slice("write_address_i", write), slice("read_address_i", read))
            }
            (Some(write), None) => slice("write_address_i", write),
            (None, read) => slice("read_address_i", read.unwrap_or(0)),
        }
    }

    /// The row to write: its part of all rows that are written.
    pub fn row(&self) -> Option<String> {
        let width = self.assembly.memory.width;
        let write = self.port_use.write?;
        Some(format!("write_row_i[{}:{}]", (write + 1) * width - 1, write * width))
    }

    /// The row that is read: its part of all.
    pub fn read_row(&self) -> String {
        let width = self.assembly.memory.width;
        let read = self.port_use.read.unwrap_or(0);
        format!("read_row_o[{}:{}]", (read + 1) * width - 1, read * width)
    }

    /// The mask of a write to one lane, in the polarity of the macro, highest lane first.
    fn mask(&self, active: Active, bits: u32) -> String {
        let Assembly { memory, binding, lanes, .. } = self.assembly;
        if *lanes == 1 {
            return if active == Active::High { "'1" } else { "'0" }.to_owned();
        }
        let lane_bits = self.assembly.lane_bits();
        let each = memory.width / bits;
        assert_eq!(each * lanes, binding.width / bits);
        let invert = if active == Active::High { "" } else { "~" };
        let lanes = (0..*lanes).rev();
        let parts = lanes.map(|lane| format!("{{{each}{{port_{}_lane == {lane_bits}'d{lane}}}}}", self.number));
        format!("{invert}{{{}}}", parts.collect::<Vec<_>>().join(", "))
    }

    fn level(&self, pin: &Pin, expression: &str) -> String {
        let plain = expression.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match pin.active {
            Active::High => expression.to_owned(),
            Active::Low if plain => format!("~{expression}"),
            Active::Low => format!("~({expression})"),
        }
    }

    /// Pins with what they are connected to.
    fn connections(&self) -> Vec<(&'a str, String)> {
        let port = self.port;
        let number = self.number;
        let Assembly { binding, banks, columns, .. } = self.assembly;
        let PortUse { write, read } = self.port_use;
        let unused = write.is_none() && read.is_none();
        let here = if *banks > 1 {
            format!(" & port_{number}_bank == {}'(bank)", self.assembly.bank_bits())
        } else {
            String::new()
        };
        let writing = write.map(|_| format!("port_{number}_write"));
        let reading = read.map(|_| format!("port_{number}_read"));
        let any = match (&writing, &reading) {
            (Some(write), Some(read)) if *banks > 1 => format!("({write} | {read}){here}"),
            (Some(write), Some(read)) => format!("{write} | {read}"),
            (Some(only), None) | (None, Some(only)) => format!("{only}{here}"),
            (None, None) => "1'b0".to_owned(),
        };
        // Without a chip select, the enables themselves say which bank is meant.
        let enable = |signal: &Option<String>| match signal {
            Some(signal) if port.select.is_none() => format!("{signal}{here}"),
            Some(signal) => signal.clone(),
            None => "1'b0".to_owned(),
        };
        let (row_bits, address_bits) = (self.assembly.row_bits(), binding.address_bits());
        let address = match (unused, address_bits - row_bits) {
            (true, _) => "'0".to_owned(),
            (false, 0) => format!("port_{number}_address[{}:0]", row_bits - 1),
            (false, above) => format!("{{{above}'d0, port_{number}_address[{}:0]}}", row_bits - 1),
        };
        let width = binding.width;
        let part = if *columns > 1 { format!("[column * {width}+:{width}]") } else { String::new() };
        let data_in = match write {
            None => "'0".to_owned(),
            Some(_) if self.assembly.lanes > 1 => format!("{{{}{{port_{number}_row}}}}", self.assembly.lanes),
            Some(_) => format!("port_{number}_row{part}"),
        };
        let place = match (banks, columns) {
            (1, 1) => String::new(),
            (_, 1) => format!("[bank * {width}+:{width}]"),
            (1, _) => format!("[column * {width}+:{width}]"),
            _ => format!("[(bank * {columns} + column) * {width}+:{width}]"),
        };
        let mut pins = vec![(port.clock.as_str(), "clk_i".to_owned())];
        pins.extend(port.select.iter().map(|pin| (pin.port.as_str(), self.level(pin, &any))));
        pins.extend(port.write.iter().map(|pin| (pin.port.as_str(), self.level(pin, &enable(&writing)))));
        pins.extend(port.read.iter().map(|pin| (pin.port.as_str(), self.level(pin, &enable(&reading)))));
        pins.push((port.address.as_str(), address));
        pins.extend(port.data_in.iter().map(|name| (name.as_str(), data_in.clone())));
        pins.extend(port.mask.iter().map(|mask| {
            let value = if write.is_some() { self.mask(mask.active, mask.bits) } else { "'0".to_owned() };
            (mask.port.as_str(), value)
        }));
        pins.extend(port.data_out.iter().map(|name| {
            let value = if read.is_some() { format!("port_{number}_out{place}") } else { format!("{name}_unused") };
            (name.as_str(), value)
        }));
        pins
    }
}

#[cfg(test)]
mod tests {
    use pushmem_files::Document;

    use super::*;

    fn memory(width: u32, depth: u32, exclusive: bool) -> TileSram {
        let (name, tile) = ("t_sram".to_owned(), "t".to_owned());
        TileSram { name, tile, width, depth, writes: 1, reads: 1, exclusive, latency: 1 }
    }

    fn assemble(memory: TileSram, shape: &str, ports: &str) -> Result<Assembly, String> {
        let text = format!("macro: m\n{shape}\nports:\n{ports}");
        let (binding, document) = Binding::of_document(Document::parse("m.yaml", text).unwrap(), &memory)
            .map_err(|e| e.message().to_owned())?;
        Assembly::new(memory, binding, Some(&document)).map_err(|error| error.message().to_owned())
    }

    const SINGLE: &str =
        "  - {kind: read_write, clock: c, select: {port: s}, write: {port: w}, address: a, data_in: d, data_out: q}\n";
    const MASKED: &str = "  - {kind: read_write, clock: c, select: {port: s}, write: {port: w}, address: a, data_in: d, \
                          data_out: q, mask: {port: m, bits: 8}}\n";
    #[test]
    fn names_are_those_that_verilog_allows() {
        let refused = |name: &str, port: &str| {
            let text = format!("macro: {name}\nwidth: 16\ndepth: 64\nports:\n{port}");
            let document = Document::parse("m.yaml", text).unwrap();
            Binding::of_document(document, &memory(16, 64, false)).unwrap_err().message().to_owned()
        };
        assert!(refused("module", SINGLE).contains("`module` is a keyword"));
        assert!(refused("pushmem_sram", SINGLE).contains("`pushmem_sram` begins as names of the generator's own"));
        assert!(refused("m", &SINGLE.replace("{port: s}", "{port: input}")).contains("`input` is a keyword"));
        // A clock that is an earlier port's address, and one with two edges.
        let read = READ.replace("clock: c", "clock: a");
        assert!(refused("m", &format!("{SINGLE}{read}")).contains("two pins are named `a`"));
        let falling = READ.replace("clock: c", "clock: c, edge: falling");
        assert!(
            refused("m", &format!("{SINGLE}{falling}")).contains("the clock `c` take their inputs at different edges")
        );
    }

    const READ: &str = "  - {kind: read, clock: c, select: {port: s1}, address: a1, data_out: q1}\n";

    #[test]
    fn views_are_complete() {
        let refused = |views: &str| {
            let text = format!("macro: m\nwidth: 16\ndepth: 64\nports:\n{SINGLE}views: {views}\n");
            let document = Document::parse("m.yaml", text).unwrap();
            Binding::of_document(document, &memory(16, 64, false)).err().map(|error| error.message().to_owned())
        };
        assert_eq!(refused("{lef: a.lef, gds: a.gds, power: [VDD!, VDDA!], ground: [VSS!]}"), None);
        assert_eq!(refused("{liberty: typ.lib, corners: {'*_slow_*': slow.lib}}"), None);
        assert_eq!(refused("{lef: a.lef}").unwrap(), "`lef` is given without `gds`");
        assert_eq!(refused("{gds: a.gds}").unwrap(), "`gds` is given without `lef`");
        assert_eq!(refused("{ground: [VSS]}").unwrap(), "`ground` is given without `power`");
        assert_eq!(refused("{corners: {'*': a.lib}}").unwrap(), "`corners` is given without `liberty`");
        assert_eq!(refused("{power: ['V DD'], ground: [VSS]}").unwrap(), "`V DD` is not the name of a pin");
    }

    #[test]
    fn macros_stand_beside_and_behind_each_other() {
        let shape = |made: Result<Assembly, String>| made.map(|made| (made.columns, made.banks, made.lanes));
        let of = |width: u32, depth: u32, ports: &str, memory| {
            shape(assemble(memory, &format!("width: {width}\ndepth: {depth}"), ports))
        };
        assert_eq!(of(64, 512, SINGLE, memory(64, 512, true)), Ok((1, 1, 1)));
        assert_eq!(of(32, 128, SINGLE, memory(64, 512, true)), Ok((2, 4, 1)));
        assert_eq!(of(64, 1024, SINGLE, memory(64, 300, true)), Ok((1, 1, 1)));
        assert_eq!(of(32, 512, &format!("{MASKED}{READ}"), memory(16, 2048, false)), Ok((1, 2, 2)));
        assert!(of(48, 512, SINGLE, memory(64, 512, true)).unwrap_err().contains("rows of 64 bits"));
        assert!(of(32, 512, SINGLE, memory(16, 2048, true)).unwrap_err().contains("rows of 16 bits"));
        assert!(of(16, 2048, SINGLE, memory(16, 2048, false)).unwrap_err().contains("too few ports"));
        assert_eq!(of(32, 64, &format!("{MASKED}{READ}"), memory(16, 3, false)), Ok((1, 1, 2)));
        for rows in [2, 3, 4] {
            let wide = of(64, 64, &format!("{MASKED}{READ}"), memory(16, rows, false));
            assert!(wide.unwrap_err().contains("holds 4 rows of 16 bits, which leaves nothing to address"));
        }
        assert!(of(64, 300, SINGLE, memory(64, 512, true)).unwrap_err().contains("cannot share the addresses"));
    }

    #[test]
    fn ports_that_both_write_and_read_are_the_last_choice() {
        let uses = |ports: &str, memory| assemble(memory, "width: 16\ndepth: 64", ports).map(|made| made.uses);
        let both = PortUse { write: Some(0), read: Some(0) };
        let (write, read) = (PortUse { write: Some(0), read: None }, PortUse { write: None, read: Some(0) });
        assert_eq!(uses(&format!("{READ}{SINGLE}"), memory(16, 64, true)), Ok(vec![PortUse::default(), both]));
        assert_eq!(uses(&format!("{READ}{SINGLE}"), memory(16, 64, false)), Ok(vec![read, write]));
    }
}
