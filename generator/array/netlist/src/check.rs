//! Whether an array has what a netlist asks for.

use std::collections::{HashMap, HashSet};

use pushmem_affine::beyond_largest;
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Layer, TileKind};
use pushmem_files::{Fault, FieldPath};
use pushmem_pe::{Mode, PeConfiguration};
use pushmem_resources::TileLayout;
use pushmem_tile::TileSpec;

use crate::netlist::{CellId, Core, Netlist, only_predicate};

impl Netlist {
    /// Checks the netlist against an array: names are identifiers and unique, ports and operations exist, an output drives one
    /// net, an input reads one, and of an operand that a net drives, the mode is direct or held.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, spec: &ArraySpec) -> Result<(), Fault> {
        let layouts = TileKind::ALL.map(|kind| TileLayout::of(spec, kind));
        let mut driven: HashMap<(CellId, Layer, u32), FieldPath> = HashMap::new();
        self.check_nets(&layouts, &mut driven)?;
        let mut names = HashSet::new();
        for (cell, place) in self.cells.iter().zip(0..) {
            let path = FieldPath::root().key("cells").index(place);
            check_name(&path, &cell.name)?;
            if !names.insert(cell.name.as_str()) {
                let message = format!("there are two cells `{}`", cell.name);
                return Err(Fault::new(path.key("name"), message, "give each cell a name of its own"));
            }
            let is_driven = |layer: Layer, port: u32| driven.contains_key(&(CellId::from(place), layer, port));
            match &cell.core {
                Core::Pe(pe) => check_operation(spec, &layouts[TileKind::Pe as usize], &path, pe, is_driven)?,
                Core::Memory(memory) => check_memory(spec, &path.key("memory"), |_| memory.clone())?,
                Core::Predicate(schedule) => {
                    check_memory(spec, &path.key("predicate"), |tile| only_predicate(schedule, tile))?;
                }
                Core::Input | Core::Output => {}
            }
        }
        Ok(())
    }

    fn check_nets(
        &self,
        layouts: &[TileLayout; 3],
        driven: &mut HashMap<(CellId, Layer, u32), FieldPath>,
    ) -> Result<(), Fault> {
        let mut sources = HashSet::new();
        let port = |path: FieldPath, cell: CellId, count: &dyn Fn(&TileLayout) -> usize, port: u32| {
            let Some(cell) = self.cells.get(cell) else {
                return Err(Fault::new(path, "there is no such cell", "name one of the cells above"));
            };
            if port as usize >= count(&layouts[cell.core.kind() as usize]) {
                let message = format!("`{}` has no such port", cell.name);
                return Err(Fault::new(path, message, "name a port of the cell's tile"));
            }
            Ok(cell)
        };
        for (net, place) in self.nets.iter().zip(0..) {
            let path = FieldPath::root().key("nets").index(place);
            let from = path.key("from");
            let source = port(from.clone(), net.source, &|layout| layout.cell_outputs(net.layer).len(), net.port)?;
            if source.core == Core::Output {
                let message = format!("`{}` leaves the array, and drives nothing", source.name);
                return Err(Fault::new(from, message, "take the cell that drives it"));
            }
            if net.layer == Layer::Word && matches!(source.core, Core::Predicate(_)) {
                let message = format!("`{}` gives no words", source.name);
                return Err(Fault::new(from, message, "take its bit"));
            }
            if !sources.insert((net.layer, net.source, net.port)) {
                let message = format!("this output of `{}` drives another net already", source.name);
                return Err(Fault::new(from, message, "make one net of the two"));
            }
            if net.sinks.is_empty() {
                return Err(Fault::new(path.key("to"), "nothing reads this net", "remove it"));
            }
            for (sink, place) in net.sinks.iter().zip(0..) {
                let path = path.key("to").index(place);
                if let Some(message) = beyond_largest(sink.cycles) {
                    return Err(Fault::new(path.key("cycles"), message, "cells start within the cycles of a run"));
                }
                let path = path.key("input");
                let cell = port(path.clone(), sink.cell, &|layout| layout.cell_inputs(net.layer).len(), sink.port)?;
                let reads_nothing = match cell.core {
                    Core::Input => Some("enters the array"),
                    Core::Predicate(_) => Some("follows loop indices"),
                    Core::Pe(_) | Core::Memory(_) | Core::Output => None,
                };
                if let Some(why) = reads_nothing {
                    let message = format!("`{}` {why}, and reads nothing", cell.name);
                    return Err(Fault::new(path, message, "name an input of another cell"));
                }
                if driven.insert((sink.cell, net.layer, sink.port), path.clone()).is_some() {
                    let message = format!("this input of `{}` reads another net already", cell.name);
                    return Err(Fault::new(path, message, "an input has one source"));
                }
            }
        }
        Ok(())
    }
}

/// Checks the configuration of a memory tile.
fn check_memory(
    spec: &ArraySpec,
    path: &FieldPath,
    configuration: impl Fn(&TileSpec) -> MemoryConfiguration,
) -> Result<(), Fault> {
    let Some(columns) = &spec.memory else {
        let message = format!("`{}` has no memories", spec.name);
        return Err(Fault::new(path.clone(), message, "take an array with MEM tiles"));
    };
    configuration(&columns.tile).check(&columns.tile).map_err(|finding| {
        let help = finding.help.clone().unwrap_or_else(|| "see the keys of configurations".to_owned());
        Fault { help: Some(help), ..finding.under(path) }
    })
}

/// Refuses names that other texts could not name.
fn check_name(path: &FieldPath, name: &str) -> Result<(), Fault> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && name.chars().all(is_letter) {
        return Ok(());
    }
    let help = "use letters, digits and underscores, starting with a letter";
    Err(Fault::new(path.key("name"), format!("`{name}` cannot be the name of a cell"), help))
}

fn check_operation(
    spec: &ArraySpec,
    layout: &TileLayout,
    path: &FieldPath,
    pe: &PeConfiguration,
    is_driven: impl Fn(Layer, u32) -> bool,
) -> Result<(), Fault> {
    if spec.pe.opcode(pe.operation).is_none() {
        let message = format!("`{}` has no operation `{}`", spec.pe.name, pe.operation.name());
        return Err(Fault::new(path.key("operation"), message, "take another array, or other operations"));
    }
    if pe.lut.is_some() && !spec.pe.lut {
        let message = format!("`{}` has no table", spec.pe.name);
        return Err(Fault::new(path.key("lut"), message, "take an array whose elements have one"));
    }
    let words = pe.words.iter().zip(0..).map(|(word, port)| (Layer::Word, port, word.mode, word.constant));
    let bits = pe.bits.iter().zip(0..).map(|(bit, port)| (Layer::Bit, port, bit.mode, bit.constant.into()));
    for (layer, port, mode, constant) in words.chain(bits) {
        let constants = path.key("constants");
        let inputs = layout.cell_inputs(layer);
        let name = inputs.get(port as usize).map_or("", |input| &input.name);
        match (is_driven(layer, port), mode) {
            (true, Mode::Direct) | (false, Mode::Constant) => {}
            (true, Mode::Held) | (false, Mode::Accumulated) => {
                let modes = spec.pe.modes();
                let has = layer == Layer::Word && modes.of_word(port, modes.number(mode)) == mode;
                if !has {
                    let message = format!("the operand `{name}` of `{}` has no such mode", spec.pe.name);
                    let help = "take an array whose elements have `held_operands`, or the `accumulator`";
                    return Err(Fault::new(path.key("modes").key(name), message, help));
                }
            }
            (true, _) => {
                let message = format!("a net drives `{name}`, which is a constant or late");
                return Err(Fault::new(constants.key(name), message, "remove the constant, or the sink of the net"));
            }
            (false, _) => {
                let message = format!("nothing drives the operand `{name}`");
                return Err(Fault::new(path.clone(), message, "give it a net, or a constant"));
            }
        }
        if u64::from(constant) >> spec.bits(layer) != 0 || constant != 0 && name.is_empty() {
            let message = format!("the constant {constant} does not fit an operand of `{}`", spec.pe.name);
            let help = format!("operands are {} of {} bits", layer.name(), spec.bits(layer));
            return Err(Fault::new(constants.key(name), message, help));
        }
    }
    Ok(())
}
