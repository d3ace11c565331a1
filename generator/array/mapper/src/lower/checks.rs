//! The parts of an application graph that an array cannot have.

use pushmem_cells::{Cells, Table};
use pushmem_compiler::Compiled;
use pushmem_fabric::ArraySpec;
use pushmem_files::Diagnostic;
use pushmem_graph::{Storage, WordDriver};
use pushmem_nest::Program;
use pushmem_pe::Operation;

use super::{is_by_turns, name_of_operation};

/// Checks that all memories of a program are memory tiles of the array, and that they can be joined.
pub(super) fn check_memories(storage: &Storage, spec: &ArraySpec) -> Result<(), Diagnostic> {
    let chained = storage.tiles.iter().find(|tile| tile.chain_from.is_some());
    if let Some(tile) = chained.filter(|_| spec.pe.opcode(Operation::Or).is_none()) {
        let message = format!("`{}` is one of several tiles of a memory, which operations `or` join", tile.name);
        return Err(Diagnostic::new(message).with_help("choose an array whose `pe` has it"));
    }
    Ok(())
}

/// Checks that memory tiles can be the tables that operations look up.
pub(super) fn check_tables(program: &Program, operations: &[Cells], spec: &ArraySpec) -> Result<(), Diagnostic> {
    let memory = spec.memory.as_ref().map(|memory| &memory.tile);
    for fetch in operations.iter().flat_map(|cells| &cells.fetches) {
        // Selection makes tables that tiles can hold.
        let (Table::Program(table) | Table::High(table)) = fetch.table else { continue };
        let table = &program.tables[table];
        let refused = |message: String, help: &str| Err(program.diagnostic(table.span, message).with_help(help));
        match memory.and_then(|tile| tile.table_words().map(|words| (tile, words))) {
            None => {
                let message = format!("memory tiles of `{}` have no contents of their own for this table", spec.name);
                return refused(
                    message,
                    "choose an array whose memory tile has `rom_mode`, or pass the table in as an input",
                );
            }
            Some((tile, words)) if table.values.len() > words as usize => {
                let entries = table.values.len();
                let message = format!("{entries} entries, but `{}` holds {words} words", tile.name);
                return refused(message, "choose a tile with more `rows`, or divide the table");
            }
            Some(_) => {}
        }
    }
    let nests = program.operations();
    for (operation, cells) in operations.iter().enumerate() {
        let (loops, of) = &nests[operation];
        for sequence in &cells.sequences {
            let (name, values) = (&loops[sequence.variable].variable, sequence.words.len());
            let help = "pass the values in as an input";
            match memory.and_then(|tile| tile.table_words()) {
                Some(words) if values <= words as usize => {}
                Some(words) => {
                    let message = format!(
                        "a function of `{name}` has {values} words, and memory tiles of `{}` hold {words}",
                        spec.name
                    );
                    return Err(program.diagnostic(of.span, message).with_help(help));
                }
                None => {
                    let message = format!(
                        "the value of `{name}` is an operand, and memory tiles of `{}` have no contents of their own to give it",
                        spec.name
                    );
                    let help = format!("choose an array whose memory tile has `rom_mode`, or {help}");
                    return Err(program.diagnostic(of.span, message).with_help(help));
                }
            }
        }
    }
    Ok(())
}

/// Checks that memory tiles can give the bits of loop indices.
pub(super) fn check_predicates(compiled: &Compiled, operations: &[Cells], spec: &ArraySpec) -> Result<(), Diagnostic> {
    let Some(memory) = spec.memory.as_ref().map(|memory| &memory.tile).filter(|tile| !tile.stencil_valid) else {
        return Ok(());
    };
    let graph = &compiled.graph;
    let chooses = |driver: &WordDriver| matches!(driver, WordDriver::Select(choices) if choices.len() > 1 && !is_by_turns(graph, choices));
    let refused = |message: String| {
        let message = format!("{message}, and memory tiles of `{}` have no controller for such bits", spec.name);
        Diagnostic::new(message).with_help(format!("set `stencil_valid: true` in the tile `{}`", memory.name))
    };
    let program = &compiled.program;
    if let Some(number) = operations.iter().position(|cells| !cells.predicates.is_empty()) {
        let name = name_of_operation(program, number);
        return Err(refused(format!("`{name}` of `{}` chooses by loop indices", program.name)));
    }
    if let Some(net) = graph.words.iter().find(|net| chooses(&net.driver)) {
        return Err(refused(format!("`{}` of `{}` chooses by loop indices", net.name, program.name)));
    }
    if let Some(net) = graph.words.iter().find(|net| matches!(net.driver, WordDriver::Hold(_))) {
        return Err(refused(format!("`{}` of `{}` takes words by loop indices", net.name, program.name)));
    }
    Ok(())
}
