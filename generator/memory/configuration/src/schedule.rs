//! The registers of a controller that stands alone: one that has a schedule and no addresses, and one with addresses.

use itertools::Itertools;
use pushmem_affine::{Affine, deltas};
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
        Ok(ControllerRegisters::of(configured, controller)?.schedule)
    }

    /// The configuration that they stand for. Its registers are these again.
    ///
    /// # Errors
    /// When a stride of the schedule is beyond 2^63 cycles.
    pub fn configuration(&self, controller: &Controller) -> Result<ControllerConfiguration, String> {
        ControllerRegisters { schedule: self.clone(), addresses: Vec::new() }.configuration(controller)
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
        check_controller(controller, configured, &FieldPath::root().key(&controller.name))?;
        Ok(Self::in_style(configured, controller, Style::Recurrence))
    }

    /// The registers of a controller that was checked, in the form of a style: deltas, or in their place strides. Those of levels left out
    /// are 0, as are addresses that are not given.
    pub(crate) fn in_style(configured: &ControllerConfiguration, controller: &Controller, style: Style) -> Self {
        let levels = controller.levels as usize;
        let padded = |values: Vec<u64>| values.into_iter().chain(std::iter::repeat(0)).take(levels).collect();
        // The recurrence counts down a gap, so it holds one less.
        let steps = |function: &Affine, modulus: i128, bias: i128| {
            let steps = match style {
                Style::Recurrence => {
                    deltas(&function.stride, &configured.extent).into_iter().map(|by| by - bias).collect()
                }
                Style::PerLevel | Style::Multiplier => function.stride.iter().copied().map(i128::from).collect_vec(),
            };
            padded(steps.into_iter().map(|step| step.rem_euclid(modulus) as u64).collect())
        };
        let modulus = 1_i128 << controller.cycle_bits;
        let addresses = controller.addresses.iter().map(|generator| {
            let (nowhere, modulus) = (Affine::default(), i128::from(generator.modulus));
            let function = configured.address(generator.memory).unwrap_or(&nowhere);
            let start = i128::from(function.start).rem_euclid(modulus) as u64;
            AddressRegisters { start, deltas: steps(function, modulus, 0) }
        });
        ControllerRegisters {
            addresses: addresses.collect(),
            schedule: ScheduleRegisters {
                extents: padded(configured.extent.iter().map(|extent| extent - 1).collect()),
                start: i128::from(configured.cycle.start).rem_euclid(modulus) as u64,
                gaps: steps(&configured.cycle, modulus, 1),
            },
        }
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
