//! The package of a tile and its register file.

use askama::Template;
use itertools::Itertools;
use pushmem_registers::{Field, Meaning, Register, RegisterMap, SoftwareAccess, WORD_BYTES};
use pushmem_tile::{Kind, Reset, Role, TileSpec, index_bits_for};
use pushmem_veryl::SourceFile;

use crate::library::render;
use crate::names::Names;
use crate::view::{ConfigField, RoleView, TileView, wide_fetch, writable};

#[derive(Template)]
#[template(path = "package.veryl", escape = "none")]
struct Package<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    roles: &'a [RoleView],
    /// Words of a row of the SRAM and rows of the buffers, where there are any.
    buffers: Option<(u32, u32, u32)>,
    /// Bits of the address of a row.
    address_bits: u32,
}

#[derive(Template)]
#[template(path = "registers.veryl", escape = "none")]
struct Registers<'a> {
    spec: &'a TileSpec,
    map: &'a RegisterMap,
    names: &'a Names,
    roles: &'a [RoleView],
    writable: Vec<&'a Register>,
    /// The register whose write makes the others active, where they are a shadow.
    commit: Option<&'a Register>,
    /// Ending of the signals with the written values: flip-flops, or put together from those of clocks of their own.
    written: &'static str,
    /// Lowest bit of the write data that no register has.
    unused_from: Option<u32>,
    /// Whether a reset needs clock edges.
    synchronous: bool,
    /// Bits of the number of a register.
    number_bits: u32,
    /// Whether there is a register of every such number.
    full: bool,
}

/// The types of the controllers' configurations, and the constants they need.
pub(crate) fn package(view: &TileView) -> SourceFile {
    let template = Package {
        spec: view.spec,
        names: &view.names,
        roles: &view.roles,
        buffers: wide_fetch(view.spec),
        address_bits: view.row_address_bits(),
    };
    render(&view.names.package, &template)
}

pub(crate) fn source(view: &TileView) -> SourceFile {
    let writable = writable(view.map);
    let widest = writable.iter().map(|register| register.used_bits()).max().unwrap_or(0);
    let registers = view.map.registers.len() as u32;
    let template = Registers {
        spec: view.spec,
        map: view.map,
        names: &view.names,
        roles: &view.roles,
        writable,
        commit: view.map.commit(),
        written: if view.spec.clock_gating { "written" } else { "q" },
        unused_from: (widest < 32).then_some(widest),
        synchronous: view.spec.reset == Reset::Synchronous,
        number_bits: index_bits_for(registers),
        full: registers.is_power_of_two(),
    };
    render(&view.names.registers, &template)
}

impl Package<'_> {
    fn config(&self, role: &RoleView) -> Vec<ConfigField> {
        let mut fields = role.config(self.spec.style, self.names);
        // The first member of a structure is the highest.
        fields.reverse();
        fields
    }
}

impl Registers<'_> {
    /// The number of the register in its block, as a literal. Registers follow each other without a gap.
    fn number(&self, register: &Register) -> String {
        format!("{}'d{}", self.number_bits, register.offset / WORD_BYTES)
    }

    /// The value of a read of the register, 32 bits wide.
    fn read_value(&self, register: &Register) -> String {
        let value = match register.access {
            SoftwareAccess::ReadOnly => {
                let value = register.fields.iter().map(|field| field.reset << field.low).sum::<u32>();
                return format!("32'h{value:08x}");
            }
            SoftwareAccess::ReadWrite if !self.spec.clock_gating => self.places(register),
            SoftwareAccess::ReadWrite | SoftwareAccess::Request => {
                vec![Place { name: format!("{}_q", register.name), is_array: false }]
            }
        };
        let unused = Some(32 - register.used_bits()).filter(|unused| *unused > 0);
        let unused = unused.map(|unused| Place { name: format!("{unused}'d0"), is_array: false });
        vector(&unused.into_iter().chain(value).collect_vec())
    }

    /// The assignments of a write of the register.
    fn write(&self, register: &Register) -> String {
        let data = match register.used_bits() {
            32 => "config_write_data_i".to_owned(),
            used => format!("config_write_data_i[{}:0]", used - 1),
        };
        match self.places(register).as_slice() {
            [Place { name, is_array: false }] => format!("{name} = {data};"),
            places => format!("{{ {} = {data}; }}", vector(places)),
        }
    }

    /// The members of structures that the register holds, highest first.
    fn places(&self, register: &Register) -> Vec<Place> {
        if register.name == "control" {
            return vec![Place { name: format!("control_{}", self.written), is_array: false }];
        }
        let member = |field: &Field| self.member(field.meaning);
        let runs = register.fields.chunk_by(|one, other| member(one).name == member(other).name);
        let places = runs.map(|run| {
            let (first, last) = (member(&run[0]), member(&run[run.len() - 1]));
            match (first.index, last.index) {
                (Some(low), Some(high)) if high - low + 1 == first.count => Place { name: first.name, is_array: true },
                (Some(low), Some(high)) => {
                    Place { name: format!("{}{}", first.name, bits(high, low)), is_array: low < high }
                }
                _ => Place { name: first.name, is_array: false },
            }
        });
        let mut places = places.collect_vec();
        places.reverse();
        places
    }

    /// Where the value of a field is.
    fn member(&self, meaning: Meaning) -> Member {
        let controllers = self.spec.controllers();
        let steps = self.names.steps;
        let whole = |name: String| Member { name, index: None, count: 1 };
        let control = |name: String| format!("control_{}.{name}", self.written);
        let of = |controller: usize, name: &str| {
            let controller = &controllers[controller];
            let at = match controller.role {
                Role::StencilValid | Role::Rom2Out => String::new(),
                _ => format!("[{}]", controller.port),
            };
            format!("{}_{}{at}.{name}", controller.role.name(), self.written)
        };
        let level = |controller: usize, name: String, level| Member {
            name,
            index: Some(level),
            count: controllers[controller].levels,
        };
        let memory = |controller: usize, address: usize| controllers[controller].addresses[address].memory.name();
        match meaning {
            Meaning::SpecDigest | Meaning::Commit => unreachable!("not of a controller"),
            Meaning::Enable { controller } => {
                let role = controllers[controller].role;
                let view = self.roles.iter().find(|view| view.role == role).expect("each controller has a role");
                let index = view.ports.as_ref().map(|_| controllers[controller].port);
                Member { name: control(format!("{}_enable", role.name())), index, count: view.count }
            }
            Meaning::ChainEnable => whole(control("chain_enable".to_owned())),
            Meaning::TileId => whole(control("tile_id".to_owned())),
            Meaning::Mode { mode } => whole(control(format!("{}_enable", mode.name()))),
            Meaning::Extent { controller, level: number } => level(controller, of(controller, "extents"), number),
            Meaning::CycleStart { controller } => whole(of(controller, "cycle_start")),
            Meaning::CycleStep { controller, level: number } => {
                level(controller, of(controller, &format!("cycle_{steps}")), number)
            }
            Meaning::AddressStart { controller, address } => {
                whole(of(controller, &format!("{}_start", memory(controller, address))))
            }
            Meaning::AddressStep { controller, address, level: number } => {
                level(controller, of(controller, &format!("{}_{steps}", memory(controller, address))), number)
            }
        }
    }

    /// The flip-flops of a structure's registers, highest first: of `control`, or of a controller.
    fn flip_flops(&self, structure: &str) -> String {
        let of =
            |register: &&&Register| register.name == structure || register.name.starts_with(&format!("{structure}_"));
        let registers = self.writable.iter().filter(of).map(|register| format!("{}_q", register.name)).collect_vec();
        match registers.as_slice() {
            [register] => register.clone(),
            registers => format!("{{{}}}", registers.iter().rev().join(", ")),
        }
    }

    /// Where and which structures there are: `[0]` with `in2agg_0`.
    fn structures(&self, role: &RoleView) -> Vec<(String, String)> {
        match role.ports {
            Some(_) => (0..role.count).map(|port| (format!("[{port}]"), format!("{}_{port}", role.name))).collect(),
            None => {
                let controllers = self.spec.controllers();
                let controller = controllers.iter().find(|controller| controller.role == role.role);
                vec![(String::new(), controller.expect("each role has a controller").name.clone())]
            }
        }
    }

    /// The fields that the controllers of a role load in the cycle of a flush.
    fn loaded(&self, role: &RoleView) -> Vec<String> {
        let fields = role.config(self.spec.style, self.names).into_iter();
        fields.filter(|field| field.loaded_at_flush).map(|field| field.name).collect()
    }
}

/// A member of a structure, or an item of one that is a vector.
struct Member {
    name: String,
    index: Option<u32>,
    /// Items of the vector.
    count: u32,
}

/// Where the fields of a register are.
struct Place {
    name: String,
    /// Whether it is an array of vectors, which is no vector.
    is_array: bool,
}

/// The vector of all bits of these places, highest first.
fn vector(places: &[Place]) -> String {
    match places {
        [Place { name, is_array: false }] => name.clone(),
        _ => format!("{{{}}}", places.iter().map(|place| &place.name).join(", ")),
    }
}

/// A part of a vector.
fn bits(high: u32, low: u32) -> String {
    if high == low { format!("[{low}]") } else { format!("[{high}:{low}]") }
}
