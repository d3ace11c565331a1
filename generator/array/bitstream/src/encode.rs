//! Configurations as bitstreams.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_configuration::{Configuration as MemoryConfiguration, RegisterWrite, encode as encode_memory};
use pushmem_fabric::{ArraySpec, Place};
use pushmem_files::Diagnostic;
use pushmem_registers::{RegisterMap, WORD_BYTES};
use pushmem_resources::{Address, BankMap, CLEAR, DIGEST, Feature, Graph, TileLayout};
use pushmem_tile::TileSpec;

use crate::bits::Bitstream;
use crate::configuration::{Configuration, TileConfiguration};

impl Configuration {
    /// The bitstream of the configuration: the digest of the array, which unlocks it; a write that clears all tiles; and the
    /// registers that are not 0. Memories have all their registers. Banks come last.
    ///
    /// # Errors
    /// When the configuration of a memory does not suit its tile.
    pub fn encode(&self, spec: &ArraySpec, graph: &Graph) -> Result<Bitstream, Diagnostic> {
        self.encoded(spec, graph, vec![CLEAR], |_| true)
    }

    /// The bitstream for some columns alone: the digest, writes that clear them, and the registers of their tiles. The others run on; those
    /// columns hold still until the next flush. [`Configuration::keeps_to`] tells whether the configuration has tiles in others, which
    /// are left out here, and whether the others disturb it.
    ///
    /// # Errors
    /// As [`Configuration::encode`].
    pub fn encode_columns(
        &self,
        spec: &ArraySpec,
        graph: &Graph,
        columns: &BTreeSet<u32>,
    ) -> Result<Bitstream, Diagnostic> {
        let clears = columns.iter().map(|column| Address::clear_of(*column)).collect();
        self.encoded(spec, graph, clears, |place| columns.contains(&place.column))
    }

    fn encoded(
        &self,
        spec: &ArraySpec,
        graph: &Graph,
        clears: Vec<Address>,
        is_loaded: impl Fn(&Place) -> bool,
    ) -> Result<Bitstream, Diagnostic> {
        let write = |address: Address, data: u32| RegisterWrite { address: address.word(), data };
        let mut writes = vec![write(DIGEST, spec.digest_word())];
        writes.extend(clears.into_iter().map(|address| write(address, 0)));
        for (place, tile) in self.tiles.iter().filter(|(place, _)| is_loaded(place)) {
            let kind = graph.kind(*place).expect("a configuration is for places of the array");
            for ((feature, register), data) in registers(graph.layout(kind), tile) {
                if data != 0 {
                    let Place { row, column } = *place;
                    writes.push(write(Address { row, column, feature: feature.number(), register }, data));
                }
            }
            if let Some((memory, configuration)) = spec.memory_of(kind).zip(tile.memory.as_ref()) {
                let at = Address {
                    row: place.row,
                    column: place.column,
                    feature: Feature::of_memory(kind).number(),
                    register: 0,
                };
                writes.extend(memory_writes(memory, configuration, at)?);
            }
        }
        if let Some((map, buffer)) = BankMap::of(spec).zip(spec.global_buffer.as_ref()) {
            let is_loaded = |bank: u32| is_loaded(&Place { row: 0, column: buffer.first_column(bank) });
            for (bank, configuration) in self.banks.iter().filter(|(bank, _)| is_loaded(**bank)) {
                let registers = configuration.registers(spec, &map)?;
                writes.extend(registers.into_iter().map(|(register, word)| write(map.address(*bank, register), word)));
            }
        }
        Ok(Bitstream { writes })
    }
}

/// The registers of the fields.
fn registers(layout: &TileLayout, tile: &TileConfiguration) -> BTreeMap<(Feature, u32), u32> {
    let mut registers = BTreeMap::new();
    for (field, value) in layout.fields.iter().zip(&tile.fields) {
        assert_eq!(field.value(value << field.low), *value, "{value} does not fit {}", field.meaning.name());
        *registers.entry((field.feature, field.register)).or_default() |= value << field.low;
    }
    registers
}

/// The writes of a memory whose first register is `at`.
fn memory_writes(
    memory: &TileSpec,
    configuration: &MemoryConfiguration,
    at: Address,
) -> Result<Vec<RegisterWrite>, Diagnostic> {
    let writes = encode_memory(configuration, memory, &RegisterMap::of(memory))?;
    let moved = |write: RegisterWrite| {
        let address = Address { register: write.address / WORD_BYTES, ..at };
        RegisterWrite { address: address.word(), ..write }
    };
    Ok(writes.into_iter().map(moved).collect())
}
