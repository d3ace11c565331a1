//! The registers of a controller that stands alone: one that has a schedule and no addresses, and one with addresses.

use pushmem_affine::deltas;
use pushmem_files::{Fault, FieldPath};
use pushmem_registers::Meaning;
use pushmem_tile::{Controller, Style};

use crate::check::check_controller;
use crate::decode::decode_controller;
use crate::file::ControllerConfiguration;

/// The values of the registers of a controller in recurrence form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleRegisters {
    /// Extent of each level, less one, innermost first.
    pub extents: Vec<u64>,
    /// Cycle of the first firing.
    pub start: u64,
    /// Cycles between two firings when a level increments, less one, innermost first.
    pub gaps: Vec<u64>,
}

impl ScheduleRegisters {
    /// The registers of a configured controller. Levels left out have extent 1.
    ///
    /// # Errors
    /// When an extent, the start or a gap does not fit the controller, or it is given addresses.
    pub fn of(configured: &ControllerConfiguration, controller: &Controller) -> Result<Self, Fault> {
        check_controller(controller, configured, &FieldPath::root().key(&controller.name))?;
        let levels = controller.levels as usize;
        let padded = |values: Vec<u64>| values.into_iter().chain(std::iter::repeat(0)).take(levels).collect();
        let modulus = 1_i128 << controller.cycle_bits;
        let gaps = deltas(&configured.cycle.stride, &configured.extent);
        Ok(ScheduleRegisters {
            extents: padded(configured.extent.iter().map(|extent| extent - 1).collect()),
            start: configured.cycle.start as u64,
            gaps: padded(gaps.into_iter().map(|gap| (gap - 1).rem_euclid(modulus) as u64).collect()),
        })
    }

    /// The configuration that they stand for. Its registers are these again.
    ///
    /// # Errors
    /// When a stride of the schedule is beyond 2^63 cycles.
    pub fn configuration(&self, controller: &Controller) -> Result<ControllerConfiguration, String> {
        let value = |meaning: Meaning| match meaning {
            Meaning::Extent { level, .. } => self.extents[level as usize],
            Meaning::CycleStart { .. } => self.start,
            Meaning::CycleStep { level, .. } => self.gaps[level as usize],
            _ => 0,
        };
        decode_controller(0, controller, Style::Recurrence, &value)
    }
}

/// The values of the registers of a controller in recurrence form with address generators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerRegisters {
    /// The extents and the schedule.
    pub schedule: ScheduleRegisters,
    /// The addresses, in the order of the controller's address generators.
    pub addresses: Vec<AddressRegisters>,
}

/// The values of the registers of an address generator in recurrence form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRegisters {
    /// First address.
    pub start: u64,
    /// Change of the address when a level increments, innermost first, below the modulus.
    pub deltas: Vec<u64>,
}

impl ControllerRegisters {
    /// The registers of a configured controller. Levels left out have extent 1. Addresses wrap at their moduli.
    ///
    /// # Errors
    /// When an extent, the start or a gap does not fit the controller, or it has not the addresses that it is given.
    pub fn of(configured: &ControllerConfiguration, controller: &Controller) -> Result<Self, Fault> {
        let schedule = ScheduleRegisters::of(configured, controller)?;
        let addresses = controller.addresses.iter().filter_map(|generator| {
            let address = configured.address(generator.memory)?;
            let wrapped = |value: i128| value.rem_euclid(i128::from(generator.modulus)) as u64;
            let deltas = deltas(&address.stride, &configured.extent).into_iter().map(wrapped);
            let deltas = deltas.chain(std::iter::repeat(0)).take(controller.levels as usize).collect();
            Some(AddressRegisters { start: wrapped(address.start.into()), deltas })
        });
        Ok(ControllerRegisters { addresses: addresses.collect(), schedule })
    }

    /// The configuration that they stand for. Its registers are these again.
    ///
    /// # Errors
    /// When a stride of the schedule is beyond 2^63 cycles.
    pub fn configuration(&self, controller: &Controller) -> Result<ControllerConfiguration, String> {
        let value = |meaning: Meaning| match meaning {
            Meaning::Extent { level, .. } => self.schedule.extents[level as usize],
            Meaning::CycleStart { .. } => self.schedule.start,
            Meaning::CycleStep { level, .. } => self.schedule.gaps[level as usize],
            Meaning::AddressStart { address, .. } => self.addresses[address].start,
            Meaning::AddressStep { address, level, .. } => self.addresses[address].deltas[level as usize],
            _ => 0,
        };
        decode_controller(0, controller, Style::Recurrence, &value)
    }
}
