//! Modules of tables that are memories of constants.

use itertools::Itertools;
use pushmem_files::text;
use pushmem_graph::{Accelerator, Memories, Rom};
use pushmem_nest::Program;

use crate::names::Names;
use crate::text::{literal, range, vector};

/// A table's module.
pub(crate) struct TableModule {
    pub name: String,
    pub text: String,
    /// The look-ups that have an instance of it, indices of [`Accelerator::roms`].
    pub roms: Vec<usize>,
}

/// The tables of an accelerator whose memories are made for the program: those of the same contents are one module.
pub(crate) fn modules(
    accelerator: &Accelerator,
    program: &Program,
    top: &str,
    modules: &mut Names,
) -> Vec<TableModule> {
    if accelerator.target.memories == Memories::Tiles {
        return Vec::new();
    }
    let shape = |rom: &Rom| {
        let kernel = &accelerator.kernels[rom.kernel];
        let fetch = accelerator.datapaths[kernel.datapath].datapath.fetches()[rom.fetch];
        (fetch.address_bits, fetch.value.bits())
    };
    let alike = accelerator.roms.iter().enumerate().into_group_map_by(|(_, rom)| (rom.table, shape(rom)));
    let mut module = |roms: Vec<(usize, &Rom)>| {
        let first = roms[0].1;
        let (address_bits, bits) = shape(first);
        let table = program.tables[first.table].name.as_str();
        let name = modules.claim(&format!("{top}_{table}_table"), "table");
        let contents = first.configuration.contents.iter().zip(0..);
        let case = |(word, address): (&u64, u64)| {
            format!("{}: word_o <= {};", literal(address_bits, address), literal(bits, *word))
        };
        let (address_range, word_range) = (vector(address_bits), range(bits));
        let width = address_range.len().max(word_range.len());
        let text = text!(
            "table.sv",
            table: &'a str = table,
            name: &'a str = &name,
            clock_space: String = " ".repeat(width),
            address_range: String = format!("{address_range:width$}"),
            word_range: String = format!("{word_range:width$}"),
            /// The cases of the entries.
            words: Vec<String> = contents.map(case).collect(),
        );
        TableModule { name, text, roms: roms.into_iter().map(|(number, _)| number).collect() }
    };
    alike.into_iter().sorted_by_key(|(key, _)| *key).map(|(_, roms)| module(roms)).collect()
}
