//! Names of modules.

use itertools::Itertools;
use pushmem_tile::{Kind, Role, Style, TileSpec, index_bits_for};

/// Name of the top module of a tile.
pub fn tile_module(spec: &TileSpec) -> String {
    format!("{}_tile", spec.name)
}

/// Name of the module with the configuration registers of a tile.
pub fn registers_module(spec: &TileSpec) -> String {
    format!("{}_registers", spec.name)
}

/// The output ports of that module whose registers controllers use: those of all roles together, then one for each role.
pub fn configuration_outputs(spec: &TileSpec) -> Vec<String> {
    let controllers = spec.controllers();
    let roles = controllers.iter().map(|controller| controller.role.name()).unique();
    std::iter::once("control").chain(roles).map(|name| format!("{name}_o")).collect()
}

/// Name of the module with the assertions of a tile.
pub fn checker_module(spec: &TileSpec) -> String {
    format!("{}_checker", spec.name)
}

/// The constant of the package, and of the tile, that says how many loop levels the controllers of a role have.
pub fn levels_constant(role: Role) -> String {
    format!("{}Levels", upper_camel_case(role.name()))
}

/// Name of the package with the sizes of a tile and the types of its registers.
pub fn package_of(spec: &TileSpec) -> String {
    format!("{}_pkg", spec.name)
}

/// The names of the modules of a controller.
pub(crate) struct ControllerNames {
    pub controller: String,
    pub iteration_domain: String,
    pub address_generator: String,
}

impl ControllerNames {
    pub fn of(style: Style, clock_gating: bool) -> Self {
        let styled = |stem: &str| match style {
            Style::Recurrence => format!("pushmem_{stem}"),
            style => format!("pushmem_{stem}_{}", style.name()),
        };
        ControllerNames {
            controller: gated(styled("controller"), clock_gating),
            iteration_domain: match style {
                Style::Multiplier => "pushmem_iteration_domain_indexed".to_owned(),
                Style::Recurrence | Style::PerLevel => "pushmem_iteration_domain".to_owned(),
            },
            address_generator: styled("address_generator"),
        }
    }
}

fn gated(module: String, clock_gating: bool) -> String {
    if clock_gating { format!("{module}_gated") } else { module }
}

/// The names that templates use, which depend on the style and options of the tile.
pub(crate) struct Names {
    pub tile: String,
    pub package: String,
    pub registers: String,
    pub checker: String,
    pub controller: String,
    pub address_generator: String,
    pub aggregator: String,
    pub transpose_buffer: String,
    pub register_file: String,
    /// Module that a tile has as its SRAM: the wrapper, or the self-test with the wrapper in it.
    pub sram: &'static str,
    /// Name of the level registers in address generators.
    pub steps: &'static str,
    pub rom_address_bits: u32,
}

impl Names {
    pub fn of(spec: &TileSpec) -> Self {
        let ControllerNames { controller, address_generator, .. } = ControllerNames::of(spec.style, spec.clock_gating);
        let gated = |module: &str| gated(module.to_owned(), spec.clock_gating);
        Names {
            tile: tile_module(spec),
            package: package_of(spec),
            registers: registers_module(spec),
            checker: checker_module(spec),
            controller,
            address_generator,
            aggregator: gated("pushmem_aggregator"),
            transpose_buffer: gated(match spec.chaining {
                true => "pushmem_transpose_buffer_chained",
                false => "pushmem_transpose_buffer",
            }),
            register_file: gated("pushmem_register_file"),
            sram: if spec.bist { "pushmem_bist" } else { "pushmem_sram" },
            steps: match spec.style {
                Style::Recurrence => "deltas",
                Style::PerLevel | Style::Multiplier => "strides",
            },
            rom_address_bits: if spec.kind == Kind::Rom { index_bits_for(spec.rows) } else { 0 },
        }
    }
}

/// `in2agg` as `In2Agg`.
pub(crate) fn upper_camel_case(name: &str) -> String {
    let mut upper = true;
    let letters = name.chars().filter_map(|letter| {
        let shown = if upper { letter.to_ascii_uppercase() } else { letter };
        upper = matches!(letter, '_' | '2');
        (letter != '_').then_some(shown)
    });
    letters.collect()
}
