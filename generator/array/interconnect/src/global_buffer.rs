//! The global buffer: banks, and the array with them.

use itertools::Itertools;
use pushmem_csr::{Register as MapRegister, SoftwareAccess, WORD_BYTES};
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec};
use pushmem_files::template;
use pushmem_resources::{BANK_FEATURE, BankMap, BankMeaning, BitstreamState, CLEAR, DIGEST};
use pushmem_veryl::SourceFile;

use crate::{answer_latency, array_module, render};

/// Cycles from an access of the host to its answer: registers before and after the banks, and the read of the SRAM.
pub const HOST_LATENCY: u32 = 3;

/// Modules that parameters can express, without `pushmem_`.
const LIBRARY: [(&str, &str); 4] = [
    ("bank_configuration", include_str!("../../../../templates/array/library/bank_configuration.veryl")),
    ("bank_half", include_str!("../../../../templates/array/library/bank_half.veryl")),
    ("bank_load", include_str!("../../../../templates/array/library/bank_load.veryl")),
    ("bank_store", include_str!("../../../../templates/array/library/bank_store.veryl")),
];

/// The register that has this name in the map, and in the RTL the reset.
const CONTROL: &str = "control";

/// The name of the module of a bank.
pub fn bank_module(spec: &ArraySpec) -> String {
    format!("{}_bank", spec.name)
}

/// The name of the module of an array with its global buffer.
pub fn with_global_buffer_module(spec: &ArraySpec) -> String {
    format!("{}_with_global_buffer", spec.name)
}

struct Register<'a> {
    name: &'a str,
    number: u32,
    bits: u32,
}

/// Fields that a DMA takes together.
struct Signal {
    name: String,
    bits: u32,
    /// Concatenation of slices of registers.
    value: String,
}

/// The sources of the global buffer; none without one.
pub fn sources(spec: &ArraySpec) -> Vec<SourceFile> {
    let Some((buffer, map)) = spec.global_buffer.as_ref().zip(BankMap::of(spec)) else { return Vec::new() };
    let mut sources = pushmem_rtl::address_sources();
    let library = LIBRARY.iter();
    sources
        .extend(library.map(|(name, text)| SourceFile { name: format!("pushmem_{name}"), text: (*text).to_owned() }));
    let (bank, module) = (bank_module(spec), with_global_buffer_module(spec));
    let number = |meaning: BankMeaning| map.field(meaning).0;
    let registers = map.registers.iter().filter(|register| register.access == SoftwareAccess::ReadWrite);
    let template = template!(
        "bank.veryl",
        spec: &'a ArraySpec = spec,
        buffer: &'a GlobalBufferSpec = buffer,
        module: &'a str = &bank,
        row_bits: u32 = buffer.rows().ilog2(),
        /// The registers that keep what was written.
        registers: Vec<Register<'a>> = registers.map(kept).collect(),
        signals: Vec<Signal> = signals(&map),
        hand_over: u32 = number(BankMeaning::HandOver { half: 0 }),
        status: u32 = number(BankMeaning::Half),
        configuration: u32 = number(BankMeaning::BitstreamRow),
        configuration_status: u32 = number(BankMeaning::Bitstream { state: BitstreamState::Busy }),
    );
    sources.push(render(&bank, &template));
    let template = template!(
        "with_global_buffer.veryl",
        spec: &'a ArraySpec = spec,
        buffer: &'a GlobalBufferSpec = buffer,
        module: &'a str = &module,
        bank: &'a str = &bank,
        /// Bits of a byte address within a bank.
        bank_bits: u32 = buffer.bank_bytes.ilog2(),
    );
    sources.push(render(&module, &template));
    sources
}

fn kept(register: &MapRegister<BankMeaning>) -> Register<'_> {
    Register { name: &register.name, number: register.offset / WORD_BYTES, bits: register.used_bits() }
}

/// The signals that the DMAs take, in the order of the registers.
fn signals(map: &BankMap) -> Vec<Signal> {
    let fields = map.registers.iter().flat_map(|register| register.fields.iter().map(move |field| (register, field)));
    let fields = fields.filter_map(|(register, field)| Some((field.meaning.signal()?, register, field)));
    let chunks = fields.chunk_by(|(signal, ..)| signal.clone());
    let signal = |(name, fields): (String, Vec<_>)| {
        let slices = fields.iter().rev().map(|(_, register, field): &(_, &MapRegister<_>, &pushmem_csr::Field<_>)| {
            let (name, high, low) = (&register.name, field.high(), field.low);
            // A field may be the whole register.
            match register.fields.as_slice() {
                [_] if low == 0 => format!("{name}_q"),
                _ => format!("{name}_q[{high}:{low}]"),
            }
        });
        Signal {
            name,
            bits: fields.iter().map(|(.., field)| field.bits).sum(),
            value: format!("{{{}}}", slices.format(", ")),
        }
    };
    chunks.into_iter().map(|(key, fields)| (key, fields.collect_vec())).map(signal).collect()
}
