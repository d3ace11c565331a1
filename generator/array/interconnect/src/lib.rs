//! RTL of a reconfigurable array: Veryl filled in from templates and from the routing resources, compiled to SystemVerilog.
//!
//! All tiles of a kind are one module, and so are all blocks: the place of a tile comes in on ports.

mod array;
mod block;
mod configuration;
mod frozen;
mod global_buffer;
mod switch_box;
mod tile;

use std::thread;

use askama::Template;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::text;
use pushmem_registers::RegisterMap;
use pushmem_resources::TileLayout;
use pushmem_veryl::{CompileError, Emitted, SourceFile};

pub use block::tile_instance;
pub use frozen::freeze;
pub use global_buffer::{HOST_LATENCY, bank_module, with_global_buffer_module};

/// The module that arrays with a global buffer have besides those of the library.
const COLUMN_STAGE: (&str, &str) =
    ("column_stage", include_str!("../../../../templates/array/library/column_stage.veryl"));

/// Modules that parameters can express, without `pushmem_`.
const LIBRARY: [(&str, &str); 6] = [
    ("hop", include_str!("../../../../templates/array/library/hop.veryl")),
    ("connection_box", include_str!("../../../../templates/array/library/connection_box.veryl")),
    ("array_buffer", include_str!("../../../../templates/array/library/array_buffer.veryl")),
    ("stream_in", include_str!("../../../../templates/array/library/stream_in.veryl")),
    ("stream_out", include_str!("../../../../templates/array/library/stream_out.veryl")),
    ("control_stage", include_str!("../../../../templates/array/library/control_stage.veryl")),
];

/// The name of the top module of an array.
pub fn array_module(spec: &ArraySpec) -> String {
    format!("{}_array", spec.name)
}

/// The name of the package with the types of the tiles' configurations.
pub fn package_module(spec: &ArraySpec) -> String {
    format!("{}_array_pkg", spec.name)
}

/// The name of the module of the tiles of a kind.
pub fn tile_module(spec: &ArraySpec, kind: TileKind) -> String {
    format!("{}_{}_tile", spec.name, kind.name())
}

/// The name of the module of the blocks of tiles.
pub fn block_module(spec: &ArraySpec) -> String {
    format!("{}_block", spec.name)
}

/// The name of the module of the blocks of IO tiles.
pub fn io_block_module(spec: &ArraySpec) -> String {
    format!("{}_io_block", spec.name)
}

/// The control file with which Verilator compiles a block of tiles once, given `--hierarchical`.
pub fn verilator_hierarchy(spec: &ArraySpec) -> String {
    text!("hierarchy.vlt", block: String = block_module(spec), io_block: String = io_block_module(spec))
}

/// Cycles from an access through the configuration port of an array to its answer.
pub fn answer_latency(spec: &ArraySpec) -> u32 {
    spec.answer_latency()
}

/// The SystemVerilog of an array: one module a file, each file named as its module, used modules before their users. The last
/// is the array, or the array with its global buffer.
///
/// # Errors
/// The findings of Veryl in the rendered sources: they are a fault of the templates, not of the specification.
pub fn generate(spec: &ArraySpec) -> Result<Vec<Emitted>, CompileError> {
    // None of them needs the text of another.
    let (pe, memories, array) = thread::scope(|scope| {
        let pe = scope.spawn(|| pushmem_pe::generate(&spec.pe));
        let memory = |tile| scope.spawn(move || pushmem_rtl::generate(tile, &RegisterMap::of(tile)));
        let memories: Vec<_> = spec.memories().map(memory).collect();
        let array = pushmem_rtl::compile(sources(spec), spec.reset());
        let memories: Vec<_> = memories.into_iter().map(|one| one.join().expect("it does not panic")).collect();
        (pe.join().expect("it does not panic"), memories, array)
    });
    let mut modules: Vec<Emitted> = spec.clock_gating.then(pushmem_rtl::clock_gate).into_iter().collect();
    modules.extend(pe?);
    for memory in memories {
        modules.extend(memory?);
    }
    modules.extend(array?);
    Ok(without_copies(modules))
}

/// The modules without second copies: streams and memories have the same controllers.
fn without_copies(modules: Vec<Emitted>) -> Vec<Emitted> {
    let mut kept: Vec<Emitted> = Vec::new();
    for module in modules {
        match kept.iter().find(|other| other.name == module.name) {
            Some(other) => assert_eq!(other.text, module.text, "two modules have the name {}", module.name),
            None => kept.push(module),
        }
    }
    kept
}

/// The Veryl sources of the interconnect and the tiles, without those of processing elements and memories.
pub fn sources(spec: &ArraySpec) -> Vec<SourceFile> {
    let mut sources = pushmem_rtl::controller_sources();
    let library = LIBRARY.iter().chain(spec.global_buffer.as_ref().map(|_| &COLUMN_STAGE));
    sources
        .extend(library.map(|(name, text)| SourceFile { name: format!("pushmem_{name}"), text: (*text).to_owned() }));
    sources.push(configuration::package(spec));
    sources.extend(switch_box::sources(spec));
    for kind in spec.kinds() {
        let layout = TileLayout::of(spec, kind);
        sources.push(configuration::source(spec, &layout));
        sources.push(tile::source(spec, &layout));
    }
    sources.extend(block::sources(spec));
    sources.push(array::source(spec));
    sources.extend(global_buffer::sources(spec));
    sources
}

fn render(name: &str, template: &impl Template) -> SourceFile {
    SourceFile { name: name.to_owned(), text: pushmem_files::render(template) }
}

/// Whether the tiles of a kind take the flush: those that follow a schedule.
fn takes_flush(spec: &ArraySpec, kind: TileKind) -> bool {
    kind == TileKind::Io || spec.memory_of(kind).is_some()
}

/// Bits of a row or column that tell whether a track can pass around its register; 0 where it never can.
fn hop_bits(spec: &ArraySpec) -> u32 {
    spec.hop_limit.ilog2()
}
