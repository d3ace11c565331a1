//! Bitstreams back to configurations.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_configuration::{
    Configuration as MemoryConfiguration, DecodeError, RegisterWrite, decode as decode_memory,
};
use pushmem_csr::{Register, SoftwareAccess};
use pushmem_fabric::{ArraySpec, Place};
use pushmem_registers::{RegisterMap, WORD_BYTES};
use pushmem_resources::{Address, BankMap, BankMeaning, CLEAR, Common, DIGEST, Graph, TileLayout};
use pushmem_tile::TileSpec;

use crate::bank::BankConfiguration;
use crate::bits::Bitstream;
use crate::configuration::{Configuration, TileConfiguration, TileName};

/// The writes of a memory, each with its index in the bitstream.
type MemoryWrites = Vec<(usize, RegisterWrite)>;

/// The configuration that a bitstream loads into an array, whatever it had before. Tiles that end up idle are left out.
///
/// # Errors
/// When the first write is not the digest of the array or the second does not clear it, or a column of it; when a write goes to no register, or
/// sets unused bits; when the writes to a memory are not a whole configuration of it.
pub fn decode(bitstream: &Bitstream, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, DecodeError> {
    let mut configuration = Configuration::default();
    let mut memories: BTreeMap<Place, MemoryWrites> = BTreeMap::new();
    // The words of the registers of banks, each bank with its last write.
    let mut banks: BTreeMap<u32, (usize, BTreeMap<u32, u32>)> = BTreeMap::new();
    let map = BankMap::of(spec);
    check_start(bitstream, spec)?;
    // Without a clear of all, the columns that are loaded.
    let mut columns = BTreeSet::new();
    let mut is_whole = false;
    for (index, write) in bitstream.writes.iter().enumerate().skip(1) {
        let refuse = |message: String| Err(DecodeError { write: index, message });
        let address = Address::of(write.address);
        if address == CLEAR {
            is_whole = true;
            configuration.tiles.clear();
            memories.clear();
            banks.clear();
            continue;
        }
        if address == DIGEST && write.data == spec.digest_word() {
            continue;
        }
        if let Some(column) = address.cleared_column().filter(|column| *column < spec.columns) {
            columns.insert(column);
            configuration.tiles.retain(|place, _| place.column != column);
            memories.retain(|place, _| place.column != column);
            let of_column = |bank: u32| spec.global_buffer.as_ref().is_some_and(|buffer| buffer.has(bank, column));
            banks.retain(|bank, _| !of_column(*bank));
            continue;
        }
        if let Some((bank, register)) = map.as_ref().and_then(|map| map.named(address)) {
            if let Err(message) = check_bank_write(register, write) {
                return refuse(message);
            }
            let (last, words) = banks.entry(bank).or_default();
            *last = index;
            words.insert(address.register, write.data);
            continue;
        }
        let targets = targets(spec, graph, address);
        if targets.is_empty() {
            let (word, place) = (write.address, address.place());
            return refuse(format!("{word:08x} is no address of `{}`: it has no {place}", spec.name));
        }
        for Address { row, column, .. } in targets.iter().copied() {
            let (place, address) = (Place { row, column }, targets[0]);
            if !is_whole && !columns.contains(&column) {
                return refuse(format!("{:08x} is in a column that no write before it clears", write.address));
            }
            let layout = graph.layout(graph.kind(place).expect("targets are tiles of the array"));
            if layout.is_of_memory(address.feature, address.register) {
                let write = RegisterWrite { address: address.register * WORD_BYTES, data: write.data };
                memories.entry(place).or_default().push((index, write));
                continue;
            }
            let tile = configuration.tile_mut(graph, place);
            if let Err(message) = set_register(layout, tile, address, write.data) {
                return refuse(format!("{}: {message}", TileName { kind: layout.kind, place }));
            }
        }
    }
    for (place, writes) in memories {
        let tile = graph.kind(place).and_then(|kind| spec.memory_of(kind)).expect("a memory has registers");
        configuration.tile_mut(graph, place).memory = memory(tile, &writes, bitstream.writes.len())?;
    }
    configuration.tiles.retain(|_, tile| !tile.is_idle());
    for (bank, (last, words)) in banks {
        let map = map.as_ref().expect("banks have registers");
        let decoded = BankConfiguration::of_registers(&words, spec, map);
        let decoded =
            decoded.map_err(|message| DecodeError { write: last, message: format!("bank {bank}: {message}") })?;
        configuration.banks.insert(bank, decoded);
    }
    configuration.banks.retain(|_, bank| !bank.is_idle());
    Ok(configuration)
}

/// Refuses a write to a register of a bank that is no part of a configuration, or sets unused bits of it.
fn check_bank_write(register: &Register<BankMeaning>, write: &RegisterWrite) -> Result<(), String> {
    let name = &register.name;
    if register.access != SoftwareAccess::ReadWrite {
        return Err(format!("{:08x} is `{name}` of a bank, which is no part of a configuration", write.address));
    }
    if u64::from(write.data) >> register.used_bits() != 0 {
        return Err(format!("{:08x} sets unused bits of `{name}` of a bank", write.data));
    }
    Ok(())
}

/// The registers of tiles that a write goes to.
fn targets(spec: &ArraySpec, graph: &Graph, address: Address) -> Vec<Address> {
    let Some(common) = address.common() else {
        return graph.kind(address.place()).map(|_| address).into_iter().collect();
    };
    let has = |place: &Place| graph.kind(*place).is_some_and(|kind| common.has(kind, *place));
    let Common { feature, register, .. } = common;
    let register = |Place { row, column }: Place| Address { row, column, feature, register };
    spec.places().filter(has).map(register).collect()
}

/// The digest must come first, or the bitstream may be for another array; then all must be cleared, or something of an earlier
/// configuration may be left.
fn check_start(bitstream: &Bitstream, spec: &ArraySpec) -> Result<(), DecodeError> {
    let refuse = |write: usize, message: String| Err(DecodeError { write, message });
    let [digest, clear] = [0, 1].map(|place| bitstream.writes.get(place).copied());
    let expected = spec.digest_word();
    match digest {
        Some(write) if write.address == DIGEST.word() && write.data == expected => {}
        Some(write) if write.address == DIGEST.word() => {
            let (data, name) = (write.data, &spec.name);
            return refuse(
                0,
                format!(
                    "this bitstream was made for another array: digest {data:08x}, but that of `{name}` is {expected:08x}"
                ),
            );
        }
        _ => return refuse(0, "the writes do not begin with the digest of the array".to_owned()),
    }
    match clear {
        Some(write) if write.address == CLEAR.word() => Ok(()),
        Some(write) if Address::of(write.address).cleared_column().is_some_and(|column| column < spec.columns) => {
            Ok(())
        }
        _ => refuse(1, format!("the second write does not clear the array: it goes to {:08x}", CLEAR.word())),
    }
}

/// Sets the fields of a register.
fn set_register(layout: &TileLayout, tile: &mut TileConfiguration, address: Address, data: u32) -> Result<(), String> {
    let mut unused = data;
    let mut is_there = false;
    for (field, value) in layout.fields.iter().zip(&mut tile.fields) {
        if (field.feature.number(), field.register) == (address.feature, address.register) {
            *value = field.value(data);
            unused &= !(*value << field.low);
            is_there = true;
        }
    }
    match (is_there, unused) {
        (true, 0) => Ok(()),
        (true, _) => Err(format!("{data:08x} sets unused bits of register {}", address.register)),
        (false, _) => Err(format!("there is no register {} of feature {}", address.register, address.feature)),
    }
}

/// The configuration that writes load into a memory: none, if none of its controllers runs.
fn memory(tile: &TileSpec, writes: &MemoryWrites, end: usize) -> Result<Option<MemoryConfiguration>, DecodeError> {
    let alone: Vec<RegisterWrite> = writes.iter().map(|(_, write)| *write).collect();
    let configuration = decode_memory(&alone, tile, &RegisterMap::of(tile)).map_err(|error| {
        let write = writes.get(error.write).map_or(end, |(index, _)| *index);
        DecodeError { write, message: error.message }
    })?;
    Ok((!configuration.controllers.is_empty()).then_some(configuration))
}
