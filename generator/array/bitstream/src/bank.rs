//! The configuration of a bank of a global buffer.

use std::collections::BTreeMap;

use pushmem_configuration::{AddressRegisters, ControllerConfiguration, ControllerRegisters, ScheduleRegisters};
use pushmem_fabric::{ArraySpec, Direction};
use pushmem_files::Fault;
use pushmem_resources::{BankMap, BankMeaning};
use pushmem_tile::Controller;
use serde::Deserialize;

/// The configuration of a bank: its DMAs, whose addresses are those of words in a half, under `sram`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BankConfiguration {
    /// Whether both DMAs count one time, as the ports of one memory.
    pub common_time: bool,
    /// The DMA that feeds a stream into the array, if it works.
    pub load: Option<ControllerConfiguration>,
    /// The DMA that takes a stream out of the array, if it works.
    pub store: Option<ControllerConfiguration>,
}

impl BankConfiguration {
    /// The DMA of a direction, if it works.
    pub fn transfer(&self, direction: Direction) -> Option<&ControllerConfiguration> {
        match direction {
            Direction::In => self.load.as_ref(),
            Direction::Out => self.store.as_ref(),
        }
    }

    /// The same, to be set.
    pub fn transfer_mut(&mut self, direction: Direction) -> &mut Option<ControllerConfiguration> {
        match direction {
            Direction::In => &mut self.load,
            Direction::Out => &mut self.store,
        }
    }

    /// Whether all its registers are 0.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// The words of the registers that are not 0, by their numbers.
    ///
    /// # Errors
    /// When a value does not fit the controllers of the banks.
    ///
    /// # Panics
    /// If the array has no global buffer.
    pub fn registers(&self, spec: &ArraySpec, map: &BankMap) -> Result<BTreeMap<u32, u32>, Fault> {
        let mut words = BTreeMap::new();
        let mut set = |meaning: BankMeaning, value: u64| {
            let (register, field) = map.field(meaning);
            if value != 0 {
                *words.entry(register).or_default() |= (value as u32) << field.low;
            }
        };
        set(BankMeaning::CommonTime, self.common_time.into());
        for direction in Direction::ALL {
            let Some(transfer) = self.transfer(direction) else { continue };
            let registers = ControllerRegisters::of(transfer, &controller(spec, direction))?;
            set(BankMeaning::Enable { direction }, 1);
            set(BankMeaning::CycleStart { direction }, registers.schedule.start);
            for (level, extent) in (0..).zip(registers.schedule.extents) {
                set(BankMeaning::Extent { direction, level }, extent);
            }
            for (level, gap) in (0..).zip(registers.schedule.gaps) {
                set(BankMeaning::CycleGap { direction, level }, gap);
            }
            for AddressRegisters { start, deltas } in registers.addresses {
                set(BankMeaning::AddressStart { direction }, start);
                (0..).zip(deltas).for_each(|(level, delta)| set(BankMeaning::AddressDelta { direction, level }, delta));
            }
        }
        Ok(words)
    }

    /// The configuration that words in registers stand for, those that are not given 0.
    ///
    /// # Errors
    /// When a schedule is one that no program would ask for, or a DMA that does not work has registers: that would be lost.
    ///
    /// # Panics
    /// If the array has no global buffer.
    pub fn of_registers(words: &BTreeMap<u32, u32>, spec: &ArraySpec, map: &BankMap) -> Result<Self, String> {
        let value = |meaning: BankMeaning| {
            let (register, field) = map.field(meaning);
            u64::from((words.get(&register).copied().unwrap_or(0) & field.mask()) >> field.low)
        };
        let common_time = value(BankMeaning::CommonTime) != 0;
        let mut bank = BankConfiguration { common_time, ..BankConfiguration::default() };
        for direction in
            Direction::ALL.into_iter().filter(|direction| value(BankMeaning::Enable { direction: *direction }) != 0)
        {
            let controller = controller(spec, direction);
            let levels = 0..controller.levels;
            let of = |meaning: &dyn Fn(u32) -> BankMeaning| levels.clone().map(|level| value(meaning(level))).collect();
            let registers = ControllerRegisters {
                schedule: ScheduleRegisters {
                    extents: of(&|level| BankMeaning::Extent { direction, level }),
                    start: value(BankMeaning::CycleStart { direction }),
                    gaps: of(&|level| BankMeaning::CycleGap { direction, level }),
                },
                addresses: vec![AddressRegisters {
                    start: value(BankMeaning::AddressStart { direction }),
                    deltas: of(&|level| BankMeaning::AddressDelta { direction, level }),
                }],
            };
            *bank.transfer_mut(direction) = Some(registers.configuration(&controller)?);
        }
        let written = words.iter().filter(|(_, word)| **word != 0);
        match bank.registers(spec, map) {
            Ok(registers) if written.eq(&registers) => Ok(bank),
            Ok(_) => Err("a DMA that does not work has registers that are not 0".to_owned()),
            Err(finding) => Err(finding.message),
        }
    }
}

/// The controller of a DMA.
fn controller(spec: &ArraySpec, direction: Direction) -> Controller {
    spec.bank_controller(direction).expect("the array has a global buffer")
}

/// The name of a bank in configurations.
pub(crate) fn bank_name(bank: u32) -> String {
    format!("bank_{bank}")
}
