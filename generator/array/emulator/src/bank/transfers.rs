//! Transfers of a bank: the rows that its load and its store move, and when.

use pushmem_configuration::ScheduleRegisters;
use pushmem_fabric::Direction;
use pushmem_resources::BankMeaning;

use super::{Bank, BankInputs};
use crate::schedule::Schedule;

/// A DMA as its registers say, in progress.
#[derive(Debug, Default)]
pub(super) struct Transfer {
    pub schedule: Schedule,
    /// Words of the current point of the loop nest, before they wrap.
    pub address: u64,
    deltas: Vec<u64>,
    /// Whether points of the loop nest are left.
    pub is_active: bool,
}

impl Transfer {
    pub fn fires(&self) -> bool {
        self.is_active && self.schedule.fires()
    }

    /// Goes to the next point of the loop nest; the schedule goes on by itself.
    pub fn step(&mut self) {
        match self.schedule.increments() {
            Some(level) => self.address = self.address.wrapping_add(self.deltas[level]),
            None => self.is_active = false,
        }
    }
}

impl Bank {
    /// A DMA at the beginning of its loop nest.
    pub(super) fn transfer(&self, direction: Direction) -> Transfer {
        let value = |meaning: BankMeaning| u64::from(self.value(meaning));
        let levels = 0..self.levels;
        let registers = ScheduleRegisters {
            extents: levels.clone().map(|level| value(BankMeaning::Extent { direction, level })).collect(),
            start: value(BankMeaning::CycleStart { direction }),
            gaps: levels.clone().map(|level| value(BankMeaning::CycleGap { direction, level })).collect(),
        };
        let mut schedule = Schedule::new(registers);
        let is_active = value(BankMeaning::Enable { direction }) != 0;
        if is_active {
            schedule.flush();
        }
        Transfer {
            schedule,
            address: value(BankMeaning::AddressStart { direction }),
            deltas: levels.map(|level| value(BankMeaning::AddressDelta { direction, level })).collect(),
            is_active,
        }
    }

    /// The value of a field.
    pub(super) fn value(&self, meaning: BankMeaning) -> u32 {
        let (register, field) = self.map.field(meaning);
        (self.registers[register as usize] & field.mask()) >> field.low
    }

    /// The address of the current word of a DMA.
    pub(super) fn wrapped(&self, transfer: &Transfer) -> u32 {
        (transfer.address & ((1 << self.address_bits) - 1)) as u32
    }

    /// Whether both DMAs count one time.
    fn has_common_time(&self) -> bool {
        self.value(BankMeaning::CommonTime) != 0
    }

    /// Whether the load DMA has room for a word.
    fn is_free(&self, inputs: &BankInputs) -> bool {
        self.grant() && (self.offers.is_none() || inputs.load_ready)
    }

    /// Whether the time of the load DMA goes on.
    pub(super) fn can_fetch(&self, inputs: &BankInputs) -> bool {
        let lacks = self.is_due() && inputs.store.is_none();
        self.is_free(inputs) && !(self.has_common_time() && (lacks || self.stores_first()))
    }

    /// Whether the load DMA goes on to its next word.
    pub(super) fn fetches(&self, inputs: &BankInputs) -> bool {
        self.load.fires() && self.can_fetch(inputs)
    }

    /// The row of the next word of the load DMA.
    fn load_row(&self) -> u32 {
        self.wrapped(&self.load) / self.words_per_row
    }

    /// Whether that row is not the one that the SRAM shows.
    fn wants_row(&self) -> bool {
        self.load.fires() && self.shown.as_ref().is_none_or(|(shown, _)| *shown != self.load_row())
    }

    /// Whether the load DMA reads the SRAM.
    pub(super) fn reads(&self, inputs: &BankInputs) -> bool {
        self.wants_row() && self.can_fetch(inputs)
    }

    /// Whether the gathered row goes first, in a time of both DMAs: a load is of it, or both want the SRAM.
    fn stores_first(&self) -> bool {
        let is_of_gathered = self.load.fires() && self.has_gathered() && self.load_row() == self.gathered_row;
        let meet = self.wants_row() && self.is_due() && self.has_gathered() && self.is_other_row();
        self.has_common_time() && (is_of_gathered || meet)
    }

    /// Whether the load DMA holds the time of the store DMA.
    pub(super) fn holds_store(&self, inputs: &BankInputs) -> bool {
        self.has_common_time() && (!self.is_free(inputs) || self.stores_first())
    }

    /// Whether the store DMA has a word to take, if one is offered and there is room.
    fn is_due(&self) -> bool {
        self.store.fires() && self.grant()
    }

    fn has_gathered(&self) -> bool {
        self.gathered.iter().any(Option::is_some)
    }

    fn is_other_row(&self) -> bool {
        self.wrapped(&self.store) / self.words_per_row != self.gathered_row
    }

    /// Whether the store DMA wants to write the row that it gathered.
    pub(super) fn writes(&self) -> bool {
        let is_full = self.gathered.iter().all(Option::is_some);
        let is_wanted = self.is_due() && self.is_other_row() || !self.store.is_active || self.stores_first();
        self.has_gathered() && (is_full || is_wanted)
    }

    /// Whether the store DMA takes a word that is offered.
    pub(super) fn can_store(&self, inputs: &BankInputs) -> bool {
        let is_room = !self.has_gathered() || !self.is_other_row() || self.writes() && !self.reads(inputs);
        self.is_due() && !self.holds_store(inputs) && is_room
    }

    pub(super) fn load_is_busy(&self) -> bool {
        self.load.is_active || self.offers.is_some()
    }

    pub(super) fn store_is_busy(&self) -> bool {
        self.store.is_active || self.has_gathered()
    }
}
