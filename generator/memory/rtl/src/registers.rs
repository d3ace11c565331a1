//! The register file of a tile.

use askama::Template;
use pushmem_registers::{Access, Meaning, Register, RegisterMap, WORD_BYTES};
use pushmem_tile::{Reset, TileSpec};
use pushmem_veryl::Source;

use crate::library::render;
use crate::names::{Names, bits_for};
use crate::view::{Signal, TileView, writable};

#[derive(Template)]
#[template(path = "registers.veryl", escape = "none")]
struct Registers<'a> {
    spec: &'a TileSpec,
    map: &'a RegisterMap,
    names: &'a Names,
    writable: Vec<&'a Register>,
    /// Of these, those that say which controllers run, and the others.
    enabling: Vec<&'a Register>,
    others: Vec<&'a Register>,
    /// What makes the other registers active, where they are a shadow.
    commit: Option<&'a Register>,
    signals: &'a [Signal],
    /// Lowest bit of the write data that no register has.
    unused_from: Option<u32>,
    /// Whether a reset needs clock edges.
    synchronous: bool,
    /// Bits of the number of a register.
    number_bits: u32,
    /// Whether there is a register of every such number.
    full: bool,
}

pub(crate) fn source(view: &TileView) -> Source {
    let writable = writable(view.map);
    let widest = writable.iter().map(|register| register.used_bits()).max().unwrap_or(0);
    let (enabling, others) = writable.iter().partition(|register| enables(register));
    let registers = view.map.registers.len() as u32;
    let number_bits = bits_for(registers);
    let template = Registers {
        spec: view.spec,
        map: view.map,
        names: &view.names,
        writable,
        enabling,
        others,
        commit: view.map.commit(),
        signals: &view.signals,
        unused_from: (widest < 32).then_some(widest),
        synchronous: view.spec.reset == Reset::Synchronous,
        number_bits,
        full: registers.is_power_of_two(),
    };
    render(&view.names.registers, &template)
}

/// Whether the register says which controllers run.
fn enables(register: &Register) -> bool {
    register.fields.iter().any(|field| matches!(field.meaning, Meaning::Enable { .. }))
}

/// The number of the register in its block, as a literal. Registers follow each other without a gap.
fn number(register: &Register, bits: u32) -> String {
    format!("{bits}'d{}", register.offset / WORD_BYTES)
}

/// What a read of the register gives, 32 bits wide.
fn read_value(register: &Register) -> String {
    match register.access {
        Access::ReadOnly => {
            let value = register.fields.iter().map(|field| field.reset << field.low).sum::<u32>();
            format!("32'h{value:08x}")
        }
        Access::ReadWrite | Access::Request => match 32 - register.used_bits() {
            0 => format!("{}_q", register.name),
            unused => format!("{{{unused}'d0, {}_q}}", register.name),
        },
    }
}
