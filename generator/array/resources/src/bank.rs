//! The registers of a bank of a global buffer: one source of its RTL, of bitstreams, and of what is printed for programs and people.

use pushmem_csr::{Field, Layout, Register, SoftwareAccess, WORD_BYTES, upper};
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec};
use pushmem_files::text;
use serde::Serialize;

use crate::address::{Address, WHOLE_ARRAY};

/// The feature of the registers of a bank, at the row of the array itself and the first column of the bank.
pub const BANK_FEATURE: u32 = 1;

pushmem_files::named! {
    /// A bit of the status of a bitstream, in the order of the bits.
    pub enum BitstreamState {
        /// It is loaded.
        Busy = "busy",
        /// It was loaded, and each of its writes was taken.
        Done = "done",
        /// Its header has another digest, or more writes than follow it in the half.
        WrongHeader = "wrong_header",
        /// A write went to a register that is not there.
        Refused = "refused",
        /// The half was the array's.
        Unavailable = "unavailable",
    }
}

impl BitstreamState {
    /// The meaning of its field.
    fn meaning(self) -> &'static str {
        match self {
            Self::Busy => "A bitstream is loaded",
            Self::Done => "The last bitstream was loaded, each of its writes taken",
            Self::WrongHeader => "Its header has another digest, or as many writes as a half has rows",
            Self::Refused => "One of its writes went to a register that is not there",
            Self::Unavailable => "It was not begun, as the half was the array's",
        }
    }
}

/// The effect of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BankMeaning {
    /// Whether a DMA works from the next flush on.
    Enable {
        /// Which: that of the stream into the array, or out of it.
        direction: Direction,
    },
    /// Whether both DMAs count one time, as the ports of one memory: it stands still while either waits.
    CommonTime,
    /// The host gives a half to the array. Reads 1 until the run that had it is over.
    HandOver {
        /// Number of the half.
        half: u32,
    },
    /// The half of the current run, or of the last one.
    Half,
    /// Whether a DMA has words to move.
    Busy {
        /// Which.
        direction: Direction,
    },
    /// Extent of a level, less one.
    Extent {
        /// Which DMA.
        direction: Direction,
        /// Loop level, innermost 0.
        level: u32,
    },
    /// The row of the bank at which a bitstream begins, those of half 1 following those of half 0. A write begins to load it. Reads the row that comes next.
    BitstreamRow,
    /// How far a bitstream is.
    Bitstream {
        /// Which of it.
        state: BitstreamState,
    },
    /// Cycle of the first word.
    CycleStart {
        /// Which DMA.
        direction: Direction,
    },
    /// Cycles between two words when a level increments, less one.
    CycleGap {
        /// Which DMA.
        direction: Direction,
        /// Loop level, innermost 0.
        level: u32,
    },
    /// Number of the first word in the half.
    AddressStart {
        /// Which DMA.
        direction: Direction,
    },
    /// Words from one to the next when a level increments, modulo the words of a half.
    AddressDelta {
        /// Which DMA.
        direction: Direction,
        /// Loop level, innermost 0.
        level: u32,
    },
}

impl BankMeaning {
    /// The signal of the hardware that it is a part of: fields of a signal follow each other, the first lowest.
    pub fn signal(self) -> Option<String> {
        let (direction, part) = match self {
            BankMeaning::CommonTime => return Some("common_time".to_owned()),
            BankMeaning::Enable { direction } => (direction, "enable"),
            BankMeaning::Extent { direction, .. } => (direction, "extents"),
            BankMeaning::CycleStart { direction } => (direction, "cycle_start"),
            BankMeaning::CycleGap { direction, .. } => (direction, "gaps"),
            BankMeaning::AddressStart { direction } => (direction, "address_start"),
            BankMeaning::AddressDelta { direction, .. } => (direction, "deltas"),
            BankMeaning::HandOver { .. }
            | BankMeaning::Half
            | BankMeaning::Busy { .. }
            | BankMeaning::BitstreamRow
            | BankMeaning::Bitstream { .. } => return None,
        };
        Some(format!("{}_{part}", direction.transfer()))
    }
}

/// The registers of the banks of a global buffer, which are all alike.
#[derive(Clone, Debug, Serialize)]
pub struct BankMap {
    array: String,
    spec_digest: String,
    banks: u32,
    bank_bytes: u32,
    /// Columns of a bank.
    columns: u32,
    feature: u32,
    /// The registers. Their numbers in addresses are a quarter of their offsets.
    pub registers: Vec<Register<BankMeaning>>,
}

impl BankMap {
    /// The registers of the banks of an array's global buffer, if it has one.
    pub fn of(spec: &ArraySpec) -> Option<Self> {
        let buffer = spec.global_buffer.as_ref()?;
        Some(BankMap {
            array: spec.name.clone(),
            spec_digest: spec.digest(),
            banks: buffer.banks,
            bank_bytes: buffer.bank_bytes,
            columns: buffer.columns,
            feature: BANK_FEATURE,
            registers: registers(buffer, spec.bank_address_bits()),
        })
    }

    /// The number of the register that has a field of a meaning, and the field.
    ///
    /// # Panics
    /// If no register has it.
    pub fn field(&self, meaning: BankMeaning) -> (u32, &Field<BankMeaning>) {
        let mut fields =
            self.registers.iter().flat_map(|register| register.fields.iter().map(move |field| (register, field)));
        let (register, field) = fields.find(|(_, field)| field.meaning == meaning).expect("banks have all fields");
        (register.offset / WORD_BYTES, field)
    }

    /// The address of a register of a bank.
    pub fn address(&self, bank: u32, register: u32) -> Address {
        Address { row: WHOLE_ARRAY, column: bank * self.columns, feature: self.feature, register }
    }

    /// The address of a register of all banks: a write there goes to all, a read has the OR of them.
    pub fn address_of_all(&self, register: u32) -> Address {
        Address { row: WHOLE_ARRAY, column: WHOLE_ARRAY, feature: self.feature, register }
    }

    /// The bank and the register that an address names, if it is that of a register of a bank.
    pub fn named(&self, address: Address) -> Option<(u32, &Register<BankMeaning>)> {
        let bank = address.column / self.columns;
        let register = self.registers.get(address.register as usize)?;
        (bank < self.banks && self.address(bank, address.register) == address).then_some((bank, register))
    }

    /// The map as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a register map is plain data") + "\n"
    }

    /// The map as a C header: addresses, shifts and masks.
    pub fn to_c_header(&self) -> String {
        text!("bank_registers.h", map: &'a BankMap = self)
    }

    /// The map of a bank in SystemRDL.
    pub fn to_system_rdl(&self) -> String {
        text!("bank_registers.rdl", map: &'a BankMap = self)
    }

    /// The map as a table in Markdown.
    pub fn to_markdown(&self) -> String {
        text!("bank_registers.md", map: &'a BankMap = self)
    }

    /// The address of the first register of all banks.
    fn first_address_of_all(&self) -> u32 {
        self.address_of_all(0).word()
    }

    /// The address of the first register of bank 0.
    fn first_address(&self) -> u32 {
        self.address(0, 0).word()
    }
}

/// The registers of a bank, whose words have addresses of so many bits.
fn registers(buffer: &GlobalBufferSpec, address_bits: u32) -> Vec<Register<BankMeaning>> {
    let mut layout = Layout::default();
    let enable = |direction: Direction| {
        let name = direction.transfer();
        let description = format!("The {name} DMA works from the next flush on");
        Field::new(format!("enable_{name}"), 1, description, BankMeaning::Enable { direction })
    };
    let description = "Both DMAs count one time, which stands still while either waits";
    let common_time = Field::new("common_time", 1, description, BankMeaning::CommonTime);
    let control = Direction::ALL.map(enable).into_iter().chain([common_time]).collect();
    layout.group("control", "Which DMAs work, and how.", SoftwareAccess::ReadWrite, control);
    let half = |half: u32| {
        let description = format!("1 gives half {half} to the array, until the run that works with it is over");
        Field::new(format!("half_{half}"), 1, description, BankMeaning::HandOver { half })
    };
    let halves = (0..GlobalBufferSpec::HALVES).map(half).collect();
    layout.group(
        "hand_over",
        "Halves that are the array's. Writing 0 leaves them as they are, and a bank whose DMAs do not work keeps them for the host.",
        SoftwareAccess::Request,
        halves,
    );
    let busy = |direction: Direction| {
        let name = direction.transfer();
        let description = format!("The {name} DMA has words to move");
        Field::new(format!("{name}_busy"), 1, description, BankMeaning::Busy { direction })
    };
    let half = Field::new("half", 1, "Half of the current run, or of the last one", BankMeaning::Half);
    let status = std::iter::once(half).chain(Direction::ALL.map(busy)).collect();
    layout.group("status", "The run.", SoftwareAccess::ReadOnly, status);
    for direction in Direction::ALL {
        add_transfer(&mut layout, buffer, address_bits, direction);
    }
    add_bitstream(&mut layout, buffer);
    layout.registers
}

/// Adds the registers of the configuration DMA.
fn add_bitstream(layout: &mut Layout<BankMeaning>, buffer: &GlobalBufferSpec) {
    let bits = (buffer.rows() * GlobalBufferSpec::HALVES).ilog2();
    let row = "Row of the header, those of half 1 after those of half 0; reads the row that comes next";
    let row = Field::new("row", bits, row, BankMeaning::BitstreamRow);
    let description = "Bitstream in the bank. A write begins to load it, while none is loaded from this bank.";
    layout.group("configuration", description, SoftwareAccess::Request, vec![row]);
    let state = |state: BitstreamState| {
        let (name, description) = (state.name(), state.meaning());
        Field::new(name, 1, description, BankMeaning::Bitstream { state })
    };
    let states = BitstreamState::ALL.map(state).to_vec();
    layout.group("configuration_status", "The last bitstream.", SoftwareAccess::ReadOnly, states);
}

/// Adds the registers of a DMA: its extents, its schedule, and its addresses.
fn add_transfer(layout: &mut Layout<BankMeaning>, buffer: &GlobalBufferSpec, address_bits: u32, direction: Direction) {
    let (name, widths) = (direction.transfer(), &buffer.controller);
    let levels = 0..widths.levels;
    let extent = |level: u32| {
        let description = format!("Extent of level {level}, minus one");
        Field::new(format!("level_{level}"), widths.extent_bits, description, BankMeaning::Extent { direction, level })
    };
    let extents = levels.clone().map(extent).collect();
    layout.group(&format!("{name}_extent"), &format!("Extents of the {name} DMA."), SoftwareAccess::ReadWrite, extents);
    let start = "Cycle of the first word, counted from the flush";
    let start = Field::new("start", widths.cycle_bits, start, BankMeaning::CycleStart { direction });
    let gap = |level: u32| {
        let description = format!("Cycles between two words when level {level} increments, minus one");
        Field::new(format!("gap_{level}"), widths.cycle_bits, description, BankMeaning::CycleGap { direction, level })
    };
    let cycles = std::iter::once(start).chain(levels.clone().map(gap)).collect();
    layout.group(&format!("{name}_cycle"), &format!("Schedule of the {name} DMA."), SoftwareAccess::ReadWrite, cycles);
    let start = Field::new("start", address_bits, "First word", BankMeaning::AddressStart { direction });
    let delta = |level: u32| {
        let description = format!("Words from one to the next when level {level} increments");
        Field::new(format!("delta_{level}"), address_bits, description, BankMeaning::AddressDelta { direction, level })
    };
    let addresses = std::iter::once(start).chain(levels.map(delta)).collect();
    let description = format!("Words of the {name} DMA in the half, modulo {}.", 1_u64 << address_bits);
    layout.group(&format!("{name}_address"), &description, SoftwareAccess::ReadWrite, addresses);
}
