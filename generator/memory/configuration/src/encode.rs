//! Configuration to register writes.

use pushmem_files::Fault;
use pushmem_registers::{Meaning, RegisterMap, WORD_BYTES};
use pushmem_tile::{Mode, TileSpec};

use crate::file::Configuration;
use crate::schedule::ControllerRegisters;
use crate::writes::RegisterWrite;

/// The register writes that load a configuration into a tile.
///
/// Every register is written, so that nothing of an earlier configuration is left. The first write is the digest of the
/// specification to its read-only register: hardware ignores it and [`crate::decode()`] checks it. The register that
/// brings a configuration into force (the control register, or with shadow registers `commit`) is cleared before
/// everything else and written last, so that a half-loaded configuration does nothing.
///
/// # Errors
/// The first finding when the configuration does not fit the tile.
pub fn encode(configuration: &Configuration, spec: &TileSpec, map: &RegisterMap) -> Result<Vec<RegisterWrite>, Fault> {
    configuration.check(spec)?;
    let values = Values::of(configuration, spec);
    let mut writes = Vec::new();
    let mut last = Vec::new();
    let into_force: Vec<u32> = map.into_force().map(|register| register.offset).collect();
    for register in &map.registers {
        let mut data = 0;
        for field in &register.fields {
            let value = values.field(field.meaning, field.reset);
            let value = u32::try_from(value).expect("a checked value fits its field");
            assert!(value <= field.mask() >> field.low, "{} does not fit {}", value, field.name);
            data |= value << field.low;
        }
        let write = RegisterWrite { address: register.offset, data };
        if into_force.contains(&register.offset) {
            // Nothing must run on a half-loaded configuration.
            writes.push(RegisterWrite { data: 0, ..write });
            last.push(write);
        } else {
            writes.push(write);
        }
    }
    if let Some(contents) = map.contents {
        // The memory is written by rows: what is left of the last one becomes 0.
        let row = spec.kind.row_words() as usize;
        let words = configuration.contents.iter().chain(std::iter::repeat(&0));
        let count = configuration.contents.len().next_multiple_of(row);
        for (index, &word) in words.take(count).enumerate() {
            for half in 0..contents.registers_per_word {
                let address = contents.offset_of(index as u32, half);
                let data = (word >> (half * 8 * WORD_BYTES)) as u32;
                writes.push(RegisterWrite { address, data });
            }
        }
    }
    writes.extend(last);
    Ok(writes)
}

/// The values of all fields. A controller that is not configured has all fields 0.
struct Values {
    controllers: Vec<Option<ControllerRegisters>>,
    chain: crate::file::Chain,
    mode: Mode,
}

impl Values {
    fn of(configuration: &Configuration, spec: &TileSpec) -> Self {
        let controllers = spec.controllers();
        let controllers = controllers.iter().map(|controller| {
            let configured = configuration.controllers.get(&controller.name)?;
            Some(ControllerRegisters::in_style(configured, controller, spec.style))
        });
        let controllers = controllers.collect();
        Values { controllers, chain: configuration.chain, mode: configuration.mode }
    }

    fn field(&self, meaning: Meaning, reset: u32) -> u64 {
        let of = |controller: usize| self.controllers[controller].as_ref();
        match meaning {
            Meaning::SpecDigest => u64::from(reset),
            Meaning::Commit => 1,
            Meaning::Enable { controller } => u64::from(of(controller).is_some()),
            Meaning::ChainEnable => u64::from(self.chain.enable),
            Meaning::TileId => u64::from(self.chain.tile_id),
            Meaning::Mode { mode } => u64::from(self.mode == mode),
            Meaning::Extent { controller, level } => of(controller).map_or(0, |of| of.schedule.extents[level as usize]),
            Meaning::CycleStart { controller } => of(controller).map_or(0, |of| of.schedule.start),
            Meaning::CycleStep { controller, level } => of(controller).map_or(0, |of| of.schedule.gaps[level as usize]),
            Meaning::AddressStart { controller, address } => of(controller).map_or(0, |of| of.addresses[address].start),
            Meaning::AddressStep { controller, address, level } => {
                of(controller).map_or(0, |of| of.addresses[address].deltas[level as usize])
            }
        }
    }
}
