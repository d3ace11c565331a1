//! The library modules a tile needs.

use askama::Template;
use pushmem_files::template;
use pushmem_tile::{Kind, Reset, Style, TileSpec};
use pushmem_veryl::SourceFile;

use crate::names::{ControllerNames, Names};

macro_rules! library {
    ($name:literal) => {
        SourceFile {
            name: concat!("pushmem_", $name).to_owned(),
            text: include_str!(concat!("../../../../templates/rtl/library/", $name, ".veryl")).to_owned(),
        }
    };
}

pub(crate) fn render(name: &str, template: &impl Template) -> SourceFile {
    SourceFile { name: name.to_owned(), text: pushmem_files::render(template) }
}

/// Library modules, used ones before their users.
pub(crate) fn modules(spec: &TileSpec, names: &Names) -> Vec<SourceFile> {
    let has_addresses = spec.controllers().iter().any(|c| c.addresses.iter().any(|a| a.bits > 0));
    let gated = spec.clock_gating;

    let mut sources = vec![library!("one_hot_mux")];
    match spec.style {
        Style::Recurrence => {
            if has_addresses {
                sources.extend([library!("modular_adder"), library!("address_generator")]);
            }
            sources.push(library!("schedule_generator"));
        }
        Style::PerLevel => {
            sources.extend([
                library!("modular_adder"),
                library!("address_generator_per_level"),
                library!("cycle_counter"),
            ]);
        }
        Style::Multiplier => sources.extend([library!("address_generator_multiplier"), library!("cycle_counter")]),
    }
    sources.extend(nest(spec.style, gated, spec.reset));
    match spec.kind {
        Kind::WideFetch { .. } => sources.extend([
            render(&names.aggregator, &template!("aggregator.veryl", names: &'a Names = names, gated: bool = gated)),
            render(
                &names.transpose_buffer,
                &template!(
                    "transpose_buffer.veryl",
                    names: &'a Names = names,
                    chaining: bool = spec.chaining,
                    gated: bool = gated,
                ),
            ),
            library!("delay"),
            library!("sram"),
        ]),
        Kind::DualPort | Kind::QuadPort | Kind::Rom => sources.extend([library!("delay"), library!("sram")]),
        Kind::RegisterFile => sources.push(render(
            &names.register_file,
            &template!("register_file.veryl", names: &'a Names = names, gated: bool = gated),
        )),
    }
    if spec.fifo_mode {
        sources.extend([library!("ring_pointer"), library!("fifo_control")]);
    }
    if spec.ram_mode {
        sources.push(library!("ram_control"));
    }
    if spec.bist {
        sources.push(library!("bist"));
    }
    if !chooses(spec) {
        sources.remove(0);
    }
    sources
}

/// The Veryl sources of a controller in recurrence form, without clock gates, for other hardware that follows a schedule.
pub fn controller_sources() -> Vec<SourceFile> {
    let mut sources = vec![library!("one_hot_mux"), library!("schedule_generator")];
    sources.extend(nest(Style::Recurrence, false, Reset::default()));
    sources
}

/// The Veryl sources of an address generator in recurrence form and of an SRAM, which need those of [`controller_sources`] before them.
pub fn address_sources() -> Vec<SourceFile> {
    vec![library!("modular_adder"), library!("address_generator"), library!("sram")]
}

/// The iteration domain, and the controller around it.
fn nest(style: Style, gated: bool, reset: Reset) -> [SourceFile; 2] {
    let names = &ControllerNames::of(style, gated);
    let iteration_domain = template!(
        "iteration_domain.veryl",
        names: &'a ControllerNames = names,
        /// Whether the loop indices themselves are wanted, not only which of them increments.
        indices: bool = style == Style::Multiplier,
    );
    let controller = template!(
        "controller.veryl",
        names: &'a ControllerNames = names,
        style: Style = style,
        gated: bool = gated,
        /// Whether a reset needs clock edges.
        synchronous: bool = reset == Reset::Synchronous,
    );
    [render(&names.iteration_domain, &iteration_domain), render(&names.controller, &controller)]
}

/// Whether there is anything to choose from: deltas and gaps of levels, lanes of a row, or controllers that share a port.
fn chooses(spec: &TileSpec) -> bool {
    let shared = |count: u32| (0..spec.kind.memory_ports()).any(|port| spec.kind.sharing(port, count).count() > 1);
    match (spec.style, spec.kind) {
        (Style::Recurrence, _) | (_, Kind::WideFetch { .. }) => true,
        (_, Kind::Rom) => false,
        (_, Kind::DualPort | Kind::QuadPort | Kind::RegisterFile) => shared(spec.inputs) || shared(spec.outputs),
    }
}
