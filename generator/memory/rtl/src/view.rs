//! View of a tile for templates.

use pushmem_registers::{Register, RegisterMap, SoftwareAccess};
use pushmem_tile::{AddressGenerator, Controller, Kind, Memory, Role, Style, TileSpec, index_bits_for};

use crate::names::{Names, upper_camel_case};

/// A tile as templates see it.
pub(crate) struct TileView<'a> {
    pub spec: &'a TileSpec,
    pub map: &'a RegisterMap,
    pub names: Names,
    pub roles: Vec<RoleView>,
    /// Width of the cycle counter that styles other than the recurrence need.
    pub cycle_bits: Option<u32>,
}

/// The controllers of a role as templates see them: they differ in nothing but their port.
pub(crate) struct RoleView {
    pub role: Role,
    pub name: &'static str,
    /// Its name in constants of the package.
    pub constant: String,
    /// How many there are.
    pub count: u32,
    /// The ports that tell one from the others; none where a tile has but one whatever its ports.
    pub ports: Option<Ports>,
    pub levels: u32,
    pub extent_bits: u32,
    pub cycle_bits: u32,
    pub addresses: Vec<AddressView>,
}

/// The ports that controllers of a role are for.
pub(crate) struct Ports {
    /// The constant with their number.
    pub number: &'static str,
    /// The index in loops.
    pub index: &'static str,
}

/// An address generator that exists in hardware.
pub(crate) struct AddressView {
    pub memory: Memory,
    /// Signal of all addresses of a role, for example `in2agg_agg_address`.
    pub signal: String,
    /// The constant with the width of one.
    pub constant: String,
    pub bits: u32,
    /// 0 where the width of the address or of the memory's own index does the wrapping.
    pub modulus: u64,
    /// First unused bit.
    pub unused_from: Option<u32>,
}

/// A configuration field of the controllers of a role.
pub(crate) struct ConfigField {
    pub name: String,
    /// Width in constants of the package, outermost dimension first.
    pub dimensions: Vec<String>,
    /// Whether controllers take it in the cycle of a flush. They read all others in the cycles of a run alone, from the
    /// active registers: in the cycle of a flush, the run before it may still fire.
    pub loaded_at_flush: bool,
}

impl ConfigField {
    /// Its type in Veryl.
    pub fn logic_type(&self) -> String {
        format!("logic<{}>", self.dimensions.join(", "))
    }
}

impl<'a> TileView<'a> {
    pub fn of(spec: &'a TileSpec, map: &'a RegisterMap) -> Self {
        let controllers = spec.controllers();
        let widest = controllers.iter().map(|c| c.cycle_bits).max();
        let cycle_bits = widest.filter(|_| spec.style != Style::Recurrence);
        // Those of a role follow each other.
        let roles = controllers.chunk_by(|one, other| one.role == other.role).map(|role| RoleView::of(spec, role));
        TileView { spec, map, names: Names::of(spec), roles: roles.collect(), cycle_bits }
    }

    /// The controllers of a role.
    pub fn role(&self, role: Role) -> &RoleView {
        self.roles.iter().find(|view| view.role == role).expect("asked for by tiles that have it")
    }

    /// Bits of a row address within the tile.
    pub fn row_address_bits(&self) -> u32 {
        index_bits_for(self.spec.rows)
    }
}

impl RoleView {
    fn of(spec: &TileSpec, controllers: &[Controller]) -> Self {
        let Controller { role, levels, extent_bits, cycle_bits, .. } = controllers[0];
        let generators = controllers[0].addresses.iter().filter(|generator| generator.bits > 0);
        let addresses = generators.map(|generator| AddressView::of(spec, role, generator)).collect();
        let ports = match role {
            Role::StencilValid | Role::Rom2Out => None,
            _ if role.is_of_inputs() => Some(Ports { number: "NumInputs", index: "i" }),
            _ => Some(Ports { number: "NumOutputs", index: "o" }),
        };
        RoleView {
            role,
            name: role.name(),
            constant: upper_camel_case(role.name()),
            count: controllers.len() as u32,
            ports,
            levels,
            extent_bits,
            cycle_bits,
            addresses,
        }
    }

    /// The index of one of them in a vector of all, within a loop over their ports.
    pub fn at(&self) -> String {
        self.ports.as_ref().map_or_else(String::new, |ports| format!("[{}]", ports.index))
    }

    /// The dimension of a vector of all.
    pub fn all(&self) -> String {
        self.ports.as_ref().map_or_else(String::new, |ports| format!("<{}>", ports.number))
    }

    /// Bits of the address generators' input: the increments, or the raw indices.
    pub fn point_type(&self, style: Style) -> String {
        match style {
            Style::Multiplier => format!("logic<{0}Levels * {0}ExtentBits>", self.constant),
            Style::Recurrence | Style::PerLevel => format!("logic<{}Levels>", self.constant),
        }
    }

    /// The name of the same. Linters accept an unconnected signal with `unused` in its name.
    pub fn point(&self, style: Style) -> String {
        let point = if style == Style::Multiplier { "indices" } else { "increments" };
        let unused = if self.addresses.is_empty() { "_unused" } else { "" };
        self.own(&format!("{point}{unused}"))
    }

    /// The name of the clock of the registers of a controller, likewise.
    pub fn clock(&self, style: Style) -> String {
        let followed = !self.addresses.is_empty() && style != Style::Multiplier;
        self.own(if followed { "clk" } else { "clk_unused" })
    }

    /// A signal that one controller has for itself: the block of a loop tells it apart from those of other roles.
    pub fn own(&self, signal: &str) -> String {
        if self.ports.is_some() { signal.to_owned() } else { format!("{}_{signal}", self.name) }
    }

    /// Name of the instance of a controller.
    pub fn instance(&self) -> String {
        if self.ports.is_some() { "u_controller".to_owned() } else { format!("u_{}", self.name) }
    }

    /// The address for `memory`.
    pub fn address(&self, memory: Memory) -> Option<&AddressView> {
        self.addresses.iter().find(|address| address.memory == memory)
    }

    /// The registers' fields for a controller, lowest bits first, in the order of the register map.
    pub fn config(&self, style: Style, names: &Names) -> Vec<ConfigField> {
        let constant = &self.constant;
        let levels = format!("{constant}Levels");
        let field =
            |name: String, dimensions: Vec<String>, loaded_at_flush| ConfigField { name, dimensions, loaded_at_flush };
        // The other styles add the start to a sum, and loop indices count up from 0.
        let starts = style == Style::Recurrence;
        let cycle = format!("{constant}CycleBits");
        let mut fields = vec![
            field(
                "extents".to_owned(),
                vec![levels.clone(), format!("{constant}ExtentBits")],
                style != Style::Multiplier,
            ),
            field("cycle_start".to_owned(), vec![cycle.clone()], starts),
            field(format!("cycle_{}", names.steps), vec![levels.clone(), cycle], false),
        ];
        for address in &self.addresses {
            let memory = address.memory.name();
            fields.push(field(format!("{memory}_start"), vec![address.constant.clone()], starts));
            let dimensions = vec![levels.clone(), address.constant.clone()];
            fields.push(field(format!("{memory}_{}", names.steps), dimensions, false));
        }
        fields
    }
}

impl AddressView {
    fn of(spec: &TileSpec, role: Role, generator: &AddressGenerator) -> Self {
        let AddressGenerator { memory, bits, modulus } = *generator;
        let places = role.places(memory, spec.kind, spec.rows);
        let chained = spec.chaining && memory == spec.main_memory();
        let used = if chained { bits } else { index_bits_for(places) };
        AddressView {
            memory,
            signal: format!("{}_{}_address", role.name(), memory.name()),
            constant: format!("{}{}Bits", upper_camel_case(role.name()), upper_camel_case(memory.name())),
            bits,
            modulus: if modulus.is_power_of_two() { 0 } else { modulus },
            unused_from: (used < bits).then_some(used),
        }
    }
}

/// The registers that hold configuration.
pub(crate) fn writable(map: &RegisterMap) -> Vec<&Register> {
    map.registers.iter().filter(|register| register.access == SoftwareAccess::ReadWrite).collect()
}

/// Words of an SRAM row and rows of the buffers, for the wide-fetch tile.
pub(crate) fn wide_fetch(spec: &TileSpec) -> Option<(u32, u32, u32)> {
    match spec.kind {
        Kind::WideFetch { fetch_width, agg_words, tb_words } => {
            Some((fetch_width, agg_words / fetch_width, tb_words / fetch_width))
        }
        _ => None,
    }
}
