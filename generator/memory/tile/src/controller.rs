//! The controllers of a tile and the widths of their fields, derived from the specification.

use crate::spec::{ControllerSpec, Kind, TileSpec, address_bits_for};

pushmem_files::named! {
    /// A memory that address generators address, in the order data passes them.
    #[derive(PartialOrd, Ord)]
    pub enum Memory {
        /// Aggregator of an input: by word when written, by row when read.
        Agg = "agg",
        /// The SRAM, by row.
        Sram = "sram",
        /// Transpose buffer of an output: by row when written, by word when read.
        Tb = "tb",
        /// The register file, by word.
        RegisterFile = "register_file",
    }
}

pushmem_files::named! {
    /// Function of a controller. Controllers of one role share their parameters; there is one for each port.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// Writes the word on input i into aggregator i.
        In2Agg = "in2agg",
        /// Moves a row from aggregator i into the SRAM.
        Agg2Sram = "agg2sram",
        /// Moves a row from the SRAM into transpose buffer o.
        Sram2Tb = "sram2tb",
        /// Shows a word of transpose buffer o on output o.
        Tb2Out = "tb2out",
        /// Writes the word on input i into the SRAM.
        In2Sram = "in2sram",
        /// Reads a word of the SRAM for output o.
        Sram2Out = "sram2out",
        /// Writes the word on input i into the register file.
        In2RegisterFile = "in2rf",
        /// Shows a word of the register file on output o.
        RegisterFile2Out = "rf2out",
        /// Reads the ROM at the address on input o, for output o.
        Rom2Out = "rom2out",
        /// Raises the stencil-valid output.
        StencilValid = "stencil_valid",
    }
}

impl Role {
    /// The function of a controller of this role, for documentation.
    pub fn purpose(self) -> &'static str {
        match self {
            Role::In2Agg => "writes the input word into the aggregator",
            Role::Agg2Sram => "moves an aggregator row into the SRAM",
            Role::Sram2Tb => "moves an SRAM row into the transpose buffer",
            Role::Tb2Out => "shows a transpose-buffer word on the output",
            Role::In2Sram => "writes the input word into the SRAM",
            Role::Sram2Out => "reads an SRAM word for the output",
            Role::In2RegisterFile => "writes the input word into the register file",
            Role::RegisterFile2Out => "shows a register-file word on the output",
            Role::Rom2Out => "reads the ROM at the address on the input",
            Role::StencilValid => "raises the stencil-valid output",
        }
    }

    /// The memories its address generators address.
    pub fn memories(self) -> &'static [Memory] {
        match self {
            Role::In2Agg => &[Memory::Agg],
            Role::Agg2Sram => &[Memory::Agg, Memory::Sram],
            Role::Sram2Tb => &[Memory::Sram, Memory::Tb],
            Role::Tb2Out => &[Memory::Tb],
            Role::In2Sram | Role::Sram2Out => &[Memory::Sram],
            Role::In2RegisterFile | Role::RegisterFile2Out => &[Memory::RegisterFile],
            Role::Rom2Out | Role::StencilValid => &[],
        }
    }

    /// Whether a controller of this role takes a word from an input when it fires.
    pub fn takes_input(self) -> bool {
        matches!(self, Role::In2Agg | Role::In2Sram | Role::In2RegisterFile | Role::Rom2Out)
    }

    /// Whether its controllers are those of inputs, and move data to the main memory.
    pub fn is_of_inputs(self) -> bool {
        matches!(self, Role::In2Agg | Role::Agg2Sram | Role::In2Sram | Role::In2RegisterFile)
    }

    /// How many controllers of this role a tile has.
    pub fn count(self, spec: &TileSpec) -> u32 {
        match self {
            Role::StencilValid | Role::Rom2Out => 1,
            _ if self.is_of_inputs() => spec.inputs,
            _ => spec.outputs,
        }
    }

    /// How many places its address generator for `memory` can reach within one tile: addresses wrap modulo this number.
    pub fn places(self, memory: Memory, kind: Kind, rows: u32) -> u32 {
        match (kind, self, memory) {
            (Kind::WideFetch { agg_words, .. }, Role::In2Agg, Memory::Agg) => agg_words,
            (Kind::WideFetch { agg_words, fetch_width, .. }, _, Memory::Agg) => agg_words / fetch_width,
            (Kind::WideFetch { tb_words, .. }, Role::Tb2Out, Memory::Tb) => tb_words,
            (Kind::WideFetch { tb_words, fetch_width, .. }, _, Memory::Tb) => tb_words / fetch_width,
            _ => rows,
        }
    }
}

/// One address generator: its width and the number its addresses wrap at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressGenerator {
    /// The memory it addresses.
    pub memory: Memory,
    /// Width of the address, its start and its strides or deltas, in bits; 0 when there is a single place to address,
    /// and then there is no hardware.
    pub bits: u32,
    /// Addresses wrap modulo this number.
    pub modulus: u64,
}

/// One controller: an iteration domain, a schedule generator and its address generators.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controller {
    /// Name in configurations, registers and RTL, for example `in2agg_0`.
    pub name: String,
    /// Its function.
    pub role: Role,
    /// Number of its input or output port.
    pub port: u32,
    /// Loop levels.
    pub levels: u32,
    /// Width of an extent, in bits.
    pub extent_bits: u32,
    /// Width of the schedule, in bits.
    pub cycle_bits: u32,
    /// Its address generators, in the order of [`Role::memories`].
    pub addresses: Vec<AddressGenerator>,
}

impl Controller {
    pub(crate) fn of(spec: &TileSpec, role: Role, port: u32) -> Self {
        let widths = &spec.controllers[&role];
        let addresses = role
            .memories()
            .iter()
            .map(|&memory| {
                let places = role.places(memory, spec.kind, spec.rows);
                let bits = widths.address_bits[&memory];
                let chained = spec.chaining && memory == spec.main_memory();
                let modulus = if chained { 1 << bits } else { u64::from(places) };
                AddressGenerator { memory, bits: if modulus == 1 { 0 } else { bits }, modulus }
            })
            .collect();
        Controller {
            // A tile has one stencil-valid generator, so its name needs no number.
            name: match role {
                Role::StencilValid => role.name().to_owned(),
                _ => format!("{}_{port}", role.name()),
            },
            role,
            port,
            levels: widths.levels,
            extent_bits: widths.extent_bits,
            cycle_bits: widths.cycle_bits,
            addresses,
        }
    }

    /// A controller that stands alone and raises a signal in the cycles of its schedule, as that of the stencil-valid output does.
    pub fn of_schedule(name: &str, widths: &ControllerSpec) -> Self {
        let ControllerSpec { levels, extent_bits, cycle_bits, .. } = *widths;
        let (name, role) = (name.to_owned(), Role::StencilValid);
        Controller { name, role, port: 0, levels, extent_bits, cycle_bits, addresses: Vec::new() }
    }

    /// Path of its instance in the RTL of the tile. The controllers of a role are a loop over their ports, except where a tile has
    /// one whatever its ports.
    pub fn instance(&self) -> String {
        match self.role {
            Role::StencilValid | Role::Rom2Out => format!("u_{}", self.role.name()),
            role => format!("gen_{}[{}].u_controller", role.name(), self.port),
        }
    }

    /// Its bit of a signal of the tile that its whole role has: `in2agg_fire[0]` for `fire`.
    pub fn signal(&self, signal: &str) -> String {
        match self.role {
            Role::StencilValid | Role::Rom2Out => format!("{}_{signal}", self.role.name()),
            role => format!("{}_{signal}[{}]", role.name(), self.port),
        }
    }

    /// The address generator for `memory`, if this controller has one.
    pub fn address(&self, memory: Memory) -> Option<&AddressGenerator> {
        self.addresses.iter().find(|address| address.memory == memory)
    }
}

/// The narrowest address that reaches every place, given the role and memory.
pub(crate) fn narrowest_address(role: Role, memory: Memory, kind: Kind, rows: u32) -> u32 {
    address_bits_for(role.places(memory, kind, rows))
}
