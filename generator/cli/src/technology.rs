//! The SRAM macros that are named on the command line.

use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath, nearest};
use pushmem_rtl::{checker_module, registers_module, tile_module};
use pushmem_technology::{Assembly, Binding, Memory, Technology};
use pushmem_tile::TileSpec;

/// The names and texts of bindings.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../constraints/sram/", $name, ".yaml")))),*]
    };
}

/// The bindings of `constraints/sram` by their names: part of the program, so that they are there wherever it is run.
const SHIPPED: [(&str, &str); 4] =
    shipped!["generic", "ihp_sg13g2_512x64", "openram_freepdk45_512x64", "sky130_1rw1r_512x32"];

/// The memories of these tiles, in the macros that are named for them; in macros of their own shapes without.
///
/// # Errors
/// When a name is not that of a tile with an SRAM, a binding cannot be read, or its macro does not fit.
pub fn read(specs: &[&TileSpec], named: &[(String, PathBuf)]) -> Result<Technology, Diagnostic> {
    Technology::new(assemblies(specs, named)?)
}

/// The memory of each of these tiles, as [`read`].
///
/// # Errors
/// As [`read`].
pub fn assemblies(specs: &[&TileSpec], named: &[(String, PathBuf)]) -> Result<Vec<Assembly>, Diagnostic> {
    let memories = specs.iter().filter_map(|spec| Memory::of(spec)).collect_vec();
    if let Some(name) = named.iter().map(|(name, _)| name).duplicates().next() {
        return Err(
            Diagnostic::new(format!("two macros are named for the memory of `{name}`")).with_help("name one by --sram")
        );
    }
    if let Some((name, _)) = named.iter().find(|(name, _)| memories.iter().all(|memory| memory.tile != *name)) {
        let tiles = memories.iter().map(|memory| format!("`{}`", memory.tile)).join(", ");
        let help = match memories.len() {
            0 => "there is no tile with an SRAM here".to_owned(),
            1 => format!("the tile with an SRAM is {tiles}"),
            _ => format!("tiles with an SRAM are {tiles}"),
        };
        return Err(Diagnostic::new(format!("no tile with an SRAM is named `{name}`")).with_help(help));
    }
    let assemble = |memory: Memory| match named.iter().find(|(name, _)| *name == memory.tile) {
        None => Assembly::new(memory.clone(), Binding::in_shape_of(&memory), None),
        Some((_, file)) => {
            let (binding, document) = read_binding(file, &memory)?;
            if specs.iter().any(|spec| modules(spec).contains(&binding.name)) {
                let message = format!("the design has a module `{}` of its own", binding.name);
                let diagnostic = document.error(&FieldPath::root().key("macro"), message);
                return Err(diagnostic.with_help("rename the tile, or put a module with another name around the macro"));
            }
            Assembly::new(memory, binding, Some(&document))
        }
    };
    memories.into_iter().map(assemble).collect()
}

/// The names of a tile's own modules.
fn modules(spec: &TileSpec) -> Vec<String> {
    let memory = Memory::of(spec).map(|memory| memory.name);
    [tile_module(spec), registers_module(spec), checker_module(spec)].into_iter().chain(memory).collect()
}

/// Reads a binding: a file, or one of `constraints/sram` by its name.
fn read_binding(named: &Path, memory: &Memory) -> Result<(Binding, Document), Diagnostic> {
    let is_name = named.components().count() == 1 && named.extension().is_none() && !named.exists();
    let Some(name) = named.to_str().filter(|_| is_name) else { return Binding::read(named, memory) };
    let names = SHIPPED.map(|(shipped, _)| shipped);
    match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        Some((_, text)) => Binding::of_document(Document::parse(format!("{name}.yaml"), *text)?, memory),
        None => {
            let suggestion = nearest(name, names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
            Err(Diagnostic::new(format!("there is no file and no binding `{name}`"))
                .with_help(format!("{suggestion}give a file, or one of {}", names.join(", "))))
        }
    }
}
