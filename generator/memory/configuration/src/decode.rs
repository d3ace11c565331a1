//! Register writes back to a configuration.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_registers::{Contents, Meaning, Register, RegisterMap, SoftwareAccess, WORD_BYTES};
use pushmem_tile::{Controller, Mode, Style, TileSpec};
use thiserror::Error;

use crate::file::{Chain, Configuration, ControllerConfiguration};
use crate::writes::RegisterWrite;
use pushmem_affine::{Affine, deltas, strides};

/// Why writes are not a configuration: register writes one of a tile, a bitstream one of an array.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("write {write}: {message}")]
pub struct DecodeError {
    /// Index of the write at fault; behind the last for one that is missing.
    pub write: usize,
    /// The fault, in words.
    pub message: String,
}

/// The configuration that register writes load into a tile that was just reset.
///
/// Registers hold values modulo their memory, so addresses come back in their canonical form: starts from 0, strides
/// between minus and plus half the memory. Encoding the result gives the same register contents, but for controllers that
/// are not enabled, of which nothing is kept.
///
/// # Errors
/// When the first write is not the digest of the specification; when a register is never written, or the last write does not
/// bring the configuration into force, as in a file that was cut; when a write goes to no register, sets unused bits or an
/// address beyond the memory.
pub fn decode(writes: &[RegisterWrite], spec: &TileSpec, map: &RegisterMap) -> Result<Configuration, DecodeError> {
    let controllers = spec.controllers();
    let mut state: BTreeMap<u32, u32> = BTreeMap::new();
    for (index, write) in writes.iter().enumerate() {
        check_write(*write, spec, &controllers, map).map_err(|message| DecodeError { write: index, message })?;
        state.insert(write.address, write.data);
    }
    check_complete(writes, map)?;
    let value = |wanted: Meaning| -> u64 {
        map.fields().find(|(_, field)| field.meaning == wanted).map_or(0, |(register, field)| {
            let data = state.get(&register.offset).copied().unwrap_or(0);
            u64::from((data & field.mask()) >> field.low)
        })
    };
    let mode = match spec.modes().filter(|&mode| value(Meaning::Mode { mode }) == 1).collect_vec()[..] {
        [] => Mode::UnifiedBuffer,
        [mode] => mode,
        [one, other, ..] => {
            let message = format!("a tile has one mode, and not both `{}` and `{}`", one.name(), other.name());
            return Err(DecodeError { write: writes.len(), message });
        }
    };
    let controllers: BTreeMap<_, _> = controllers
        .iter()
        .enumerate()
        .filter(|(index, _)| value(Meaning::Enable { controller: *index }) == 1)
        .map(|(index, controller)| {
            let configured = decode_controller(index, controller, spec.style, &value)
                .map_err(|message| DecodeError { write: writes.len(), message })?;
            Ok((controller.name.clone(), configured))
        })
        .collect::<Result<_, _>>()?;
    if mode != Mode::UnifiedBuffer && !controllers.is_empty() {
        let message = format!("in the mode `{}` no controller runs", mode.name());
        return Err(DecodeError { write: writes.len(), message });
    }
    Ok(Configuration {
        tile: spec.name.clone(),
        spec_digest: Some(map.spec_digest.clone()),
        mode,
        controllers,
        chain: Chain { enable: value(Meaning::ChainEnable) == 1, tile_id: value(Meaning::TileId) as u32 },
        contents: map.contents.map_or_else(Vec::new, |contents| decode_contents(&state, contents)),
    })
}

/// The writes must begin with the digest, or they may be for another tile; set every register, or some were lost; and end with
/// the write that brings the configuration into force, or the end was lost.
fn check_complete(writes: &[RegisterWrite], map: &RegisterMap) -> Result<(), DecodeError> {
    let [digest, others @ ..] = map.registers.as_slice() else { return Ok(()) };
    if writes.first().map(|write| write.address) != Some(digest.offset) {
        let message = "the writes do not begin with the digest of the specification they were made for".to_owned();
        return Err(DecodeError { write: 0, message });
    }
    // Of a file that was cut, the end is missing: the write that brings the configuration into force.
    let last: Vec<&Register> = map.into_force().collect();
    let (before, end) = writes.split_at(writes.len().saturating_sub(last.len()));
    let lacks =
        |writes: &[RegisterWrite], register: &Register| writes.iter().all(|write| write.address != register.offset);
    let never = others.iter().find(|register| lacks(writes, register));
    let ends_before = || {
        let (register, _) = last
            .iter()
            .zip(end)
            .find(|(register, write)| write.address != register.offset || lacks(before, register))?;
        Some(*register)
    };
    if let Some(missing) = never.or_else(ends_before) {
        let message = format!("the writes end without one to `{}`: the file was cut", missing.name);
        return Err(DecodeError { write: writes.len(), message });
    }
    match (map.commit(), end) {
        (Some(commit), [RegisterWrite { data: 0, .. }]) => {
            let message = format!("the last write to `{}` is not 1: no flush would take the others", commit.name);
            Err(DecodeError { write: before.len(), message })
        }
        _ => Ok(()),
    }
}

fn check_write(
    write: RegisterWrite,
    spec: &TileSpec,
    controllers: &[Controller],
    map: &RegisterMap,
) -> Result<(), String> {
    let RegisterWrite { address, data } = write;
    if let Some(contents) = map.contents
        && address >= contents.offset
        && address < contents.offset_of(contents.words, 0)
        && address.is_multiple_of(WORD_BYTES)
    {
        let half = (address - contents.offset) / WORD_BYTES % contents.registers_per_word;
        let bits = (spec.word_bits - half * 8 * WORD_BYTES).min(32);
        if u64::from(data) >> bits != 0 {
            return Err(format!("{data:08x} at {address:08x} sets bits above a {}-bit word", spec.word_bits));
        }
        return Ok(());
    }
    let Some(register) = map.registers.iter().find(|register| register.offset == address) else {
        return Err(format!("the tile `{}` has no register at {address:08x}", spec.name));
    };
    if register.access == SoftwareAccess::ReadOnly {
        let expected = register.fields[0].reset;
        if data != expected {
            return Err(format!(
                "these writes were made for another specification: digest {data:08x}, but that of `{}` is {expected:08x}",
                spec.name
            ));
        }
        return Ok(());
    }
    if u64::from(data) >> register.used_bits() != 0 {
        return Err(format!("{data:08x} sets unused bits of `{}`", register.name));
    }
    for field in &register.fields {
        let (Meaning::AddressStart { controller, address } | Meaning::AddressStep { controller, address, .. }) =
            field.meaning
        else {
            continue;
        };
        let value = u64::from((data & field.mask()) >> field.low);
        let modulus = controllers[controller].addresses[address].modulus;
        // The adder of an address generator wraps sums of two addresses below the modulus, and nothing else.
        if value >= modulus {
            return Err(format!("`{}` of `{}` is {value}, but addresses wrap at {modulus}", field.name, register.name));
        }
    }
    Ok(())
}

pub(crate) fn decode_controller(
    index: usize,
    controller: &Controller,
    style: Style,
    value: &impl Fn(Meaning) -> u64,
) -> Result<ControllerConfiguration, String> {
    let levels = 0..controller.levels;
    let extent = levels.clone().map(|level| value(Meaning::Extent { controller: index, level }) + 1).collect_vec();
    let cycle_steps = levels.clone().map(|level| value(Meaning::CycleStep { controller: index, level })).collect_vec();
    let address_steps = (0..controller.addresses.len())
        .map(|address| {
            levels.clone().map(|level| value(Meaning::AddressStep { controller: index, address, level })).collect_vec()
        })
        .collect_vec();
    // Outer levels of which nothing is set were not configured.
    let used = levels
        .rev()
        .map(|level| level as usize)
        .find(|&level| {
            extent[level] != 1 || cycle_steps[level] != 0 || address_steps.iter().any(|steps| steps[level] != 0)
        })
        .map_or(0, |level| level + 1);
    let extent = extent[..used].to_vec();
    let mut configured = ControllerConfiguration {
        cycle: Affine {
            start: value(Meaning::CycleStart { controller: index }) as i64,
            stride: schedule_strides(style, &cycle_steps[..used], &extent, 1 << controller.cycle_bits).map_err(
                |level| format!("{}, level {level}: the schedule's stride is beyond 2^63 cycles", controller.name),
            )?,
        },
        extent: extent.clone().into(),
        ..ControllerConfiguration::default()
    };
    for (address, generator) in controller.addresses.iter().enumerate().filter(|(_, generator)| generator.bits > 0) {
        let modulus = i128::from(generator.modulus);
        let start = value(Meaning::AddressStart { controller: index, address }) as i64;
        let steps = address_steps[address][..used].iter().map(|&step| i128::from(step)).collect_vec();
        let stride = match style {
            Style::Recurrence => strides(&steps, &extent, |stride| stride.rem_euclid(modulus)),
            Style::PerLevel | Style::Multiplier => steps,
        };
        let stride = stride.into_iter().map(|stride| balanced(stride, modulus)).collect();
        configured.set_address(generator.memory, Affine { start, stride });
    }
    Ok(configured)
}

/// The strides of a schedule whose gaps are from 1 to the modulus, or the level whose stride no program would ask for.
fn schedule_strides(style: Style, steps: &[u64], extents: &[u64], modulus: i128) -> Result<Vec<i64>, usize> {
    // A level of one iteration never increments: any stride that gives the same register will do, so a small one.
    let representative = |level: usize, stride: i128| {
        let stride = if extents[level] == 1 { stride.rem_euclid(modulus) } else { stride };
        i64::try_from(stride).map_err(|_| level)
    };
    match style {
        Style::Recurrence => {
            let gaps = steps.iter().map(|&step| i128::from(step) + 1).collect_vec();
            let strides = strides(&gaps, extents, |stride| stride);
            strides.into_iter().enumerate().map(|(level, stride)| representative(level, stride)).collect()
        }
        Style::PerLevel | Style::Multiplier => {
            let mut known: Vec<i64> = Vec::new();
            for (level, &step) in steps.iter().enumerate() {
                // The stride is known modulo 2^width; its gap decides which of the candidates it is.
                known.push(step as i64);
                let gap = deltas(&known, &extents[..=level])[level];
                let stride = i128::from(step) - gap + 1 + (gap - 1).rem_euclid(modulus);
                known[level] = representative(level, stride)?;
            }
            Ok(known)
        }
    }
}

/// The representative of `value` modulo `modulus` nearest to 0.
fn balanced(value: i128, modulus: i128) -> i64 {
    let reduced = value.rem_euclid(modulus);
    (if reduced > modulus / 2 { reduced - modulus } else { reduced }) as i64
}

fn decode_contents(state: &BTreeMap<u32, u32>, contents: Contents) -> Vec<u64> {
    let words = state
        .range(contents.offset..)
        .map(|(&address, _)| (address - contents.offset) / WORD_BYTES / contents.registers_per_word + 1)
        .max()
        .unwrap_or(0);
    (0..words)
        .map(|word| {
            (0..contents.registers_per_word)
                .map(|half| {
                    let data = state.get(&contents.offset_of(word, half)).copied().unwrap_or(0);
                    u64::from(data) << (half * 8 * WORD_BYTES)
                })
                .sum()
        })
        .collect()
}
