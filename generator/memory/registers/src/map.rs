//! Derivation of the register map from the specification.

use pushmem_csr::{SoftwareAccess, WORD_BITS, WORD_BYTES};
use pushmem_tile::{Controller, Mode, Style, TileSpec};
use serde::Serialize;

/// A field of a tile's register.
pub type Field = pushmem_csr::Field<Meaning>;

/// A register of a tile.
pub type Register = pushmem_csr::Register<Meaning>;

/// The registers of a tile while they are laid out.
type Layout = pushmem_csr::Layout<Meaning>;

/// The parameter that a field configures. Indices refer to [`TileSpec::controllers`] and to the controller's address
/// generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Meaning {
    /// The first 32 bits of the digest of the specification (read only).
    SpecDigest,
    /// Whether the next flush takes the values of the shadow registers.
    Commit,
    /// Whether a controller runs.
    Enable {
        /// Index of the controller.
        controller: usize,
    },
    /// Whether the tile is part of a chain.
    ChainEnable,
    /// Which piece of the chain's address space the tile owns.
    TileId,
    /// Whether the tile is at work in this mode, in place of its controllers.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// Extent of a loop level, minus one.
    Extent {
        /// Index of the controller.
        controller: usize,
        /// Loop level, innermost 0.
        level: u32,
    },
    /// Cycle of the first firing.
    CycleStart {
        /// Index of the controller.
        controller: usize,
    },
    /// Recurrence style: gap between two firings when this level increments, minus one. Other styles: stride of the
    /// level. Modulo 2^width.
    CycleStep {
        /// Index of the controller.
        controller: usize,
        /// Loop level, innermost 0.
        level: u32,
    },
    /// First address.
    AddressStart {
        /// Index of the controller.
        controller: usize,
        /// Index of the address generator within the controller.
        address: usize,
    },
    /// Recurrence style: change of the address when this level increments. Other styles: stride of the level. Modulo
    /// the memory's size.
    AddressStep {
        /// Index of the controller.
        controller: usize,
        /// Index of the address generator within the controller.
        address: usize,
        /// Loop level, innermost 0.
        level: u32,
    },
}

/// The contents of a ROM, or of a memory with a mode in which inputs address it, as a window of the configuration address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// Byte offset of the first word; the window is aligned to its size.
    pub offset: u32,
    /// Words in the memory.
    pub words: u32,
    /// Registers a word takes: one, or two for words of more than 32 bits, lower half first. The memory is written with
    /// the last of them, and where its rows have several words, with the last of a row.
    pub registers_per_word: u32,
    /// Words in a row of the memory.
    pub row_words: u32,
}

impl Contents {
    /// Bytes of the window: a power of two.
    pub fn bytes(&self) -> u32 {
        (self.words * self.registers_per_word * WORD_BYTES).next_power_of_two()
    }

    /// How words are written, for documents.
    pub fn rule(&self) -> String {
        match (self.registers_per_word, self.row_words) {
            (1, 1) => format!("{} words of a register each", self.words),
            (1, row) => {
                format!("{} words of a register each; the {row} words of a row are stored with the last", self.words)
            }
            (halves, _) => {
                format!(
                    "{} words of {halves} registers each, lower half first; a word is stored with the upper half",
                    self.words
                )
            }
        }
    }

    /// Byte offset behind the last word.
    pub fn end(&self) -> u32 {
        self.offset_of(self.words, 0)
    }

    /// Byte offset of the `half`-th register of a word.
    pub fn offset_of(&self, word: u32, half: u32) -> u32 {
        self.offset + (word * self.registers_per_word + half) * WORD_BYTES
    }
}

/// All registers of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterMap {
    /// Name of the tile.
    pub tile: String,
    /// Digest of the specification, see [`TileSpec::digest`].
    pub spec_digest: String,
    /// The registers by increasing offset.
    pub registers: Vec<Register>,
    /// The contents window, where there is one.
    pub contents: Option<Contents>,
}

impl RegisterMap {
    /// Derives the map of a tile.
    pub fn of(spec: &TileSpec) -> Self {
        let mut layout = Layout::default();
        layout.group(
            "spec_digest",
            "Identifies the specification this tile was generated from; compare it before loading a configuration.",
            SoftwareAccess::ReadOnly,
            vec![Field {
                reset: spec.digest_word(),
                ..Field::new("digest", 32, "First 32 bits of the digest", Meaning::SpecDigest)
            }],
        );
        let controllers = spec.controllers();
        if spec.shadow_registers {
            // Ahead of all that it brings into force: registers are written in this order, and a commit that no flush has
            // taken yet must be withdrawn first.
            let description = "The next flush takes the configuration that was written";
            layout.group(
                "commit",
                "Asks that the next flush take what all other registers hold, and is cleared by it.",
                SoftwareAccess::Request,
                vec![Field::new("commit", 1, description, Meaning::Commit)],
            );
        }
        layout.group(
            "control",
            "Which controllers run, and chaining.",
            SoftwareAccess::ReadWrite,
            control(spec, &controllers),
        );
        for (index, controller) in controllers.iter().enumerate() {
            add_controller(&mut layout, spec.style, index, controller);
        }
        let end = layout.registers.len() as u32 * WORD_BYTES;
        let contents = spec.content_words().map(|words| {
            let mut contents = Contents {
                offset: 0,
                words,
                registers_per_word: spec.word_bits.div_ceil(WORD_BITS),
                row_words: spec.kind.row_words(),
            };
            contents.offset = contents.bytes().max(end.next_power_of_two());
            contents
        });
        RegisterMap { tile: spec.name.clone(), spec_digest: spec.digest(), registers: layout.registers, contents }
    }

    /// Bytes of configuration address space, contents included.
    pub fn bytes(&self) -> u32 {
        let end = self.registers.len() as u32 * WORD_BYTES;
        self.contents.map_or(end, |contents| contents.offset + contents.bytes())
    }

    /// All fields, each with its register.
    pub fn fields(&self) -> impl Iterator<Item = (&Register, &Field)> {
        self.registers.iter().flat_map(|register| register.fields.iter().map(move |field| (register, field)))
    }

    /// The registers that bring a configuration into force: they are cleared before all others are written, and written again
    /// after them. Without shadow registers those that let controllers run or choose a mode, otherwise `commit`.
    pub fn into_force(&self) -> impl Iterator<Item = &Register> {
        let commit = self.commit();
        let lets_run = |meaning| matches!(meaning, Meaning::Enable { .. } | Meaning::Mode { .. });
        let enables = move |register: &Register| register.fields.iter().any(|field| lets_run(field.meaning));
        self.registers.iter().filter(move |register| match commit {
            Some(commit) => register.offset == commit.offset,
            None => enables(register),
        })
    }

    /// The register that brings the others into force, where they are shadow registers.
    pub fn commit(&self) -> Option<&Register> {
        self.registers.iter().find(|register| register.access == SoftwareAccess::Request)
    }

    /// Bits of configuration that can be written, contents excluded. With shadow registers the tile holds each twice.
    pub fn configuration_bits(&self) -> u32 {
        self.registers
            .iter()
            .filter(|register| register.access == SoftwareAccess::ReadWrite)
            .map(Register::used_bits)
            .sum()
    }
}

fn control(spec: &TileSpec, controllers: &[Controller]) -> Vec<Field> {
    let mut fields: Vec<Field> = controllers
        .iter()
        .enumerate()
        .map(|(index, controller)| {
            let description = format!("{} runs after a flush", controller.name);
            Field::new(format!("enable_{}", controller.name), 1, description, Meaning::Enable { controller: index })
        })
        .collect();
    if spec.chaining {
        fields.push(Field::new("chain_enable", 1, "The tile is one piece of a chain", Meaning::ChainEnable));
        let description = "Upper address bits of the piece this tile owns";
        fields.push(Field::new("tile_id", spec.tile_id_bits(), description, Meaning::TileId));
    }
    for mode in spec.modes() {
        let description = match mode {
            Mode::UnifiedBuffer => "The controllers run",
            Mode::Fifo => "The tile is a FIFO after a flush",
            Mode::Ram => "The tile is a random-access memory after a flush",
        };
        fields.push(Field::new(format!("{}_enable", mode.name()), 1, description, Meaning::Mode { mode }));
    }
    fields
}

/// Adds the registers of a controller: its extents, its schedule, and its addresses.
fn add_controller(layout: &mut Layout, style: Style, index: usize, controller: &Controller) {
    let name = &controller.name;
    let levels = 0..controller.levels;
    let step = match style {
        Style::Recurrence => "delta",
        Style::PerLevel | Style::Multiplier => "stride",
    };
    let extents = levels
        .clone()
        .map(|level| {
            let description = format!("Extent of level {level}, minus one");
            let meaning = Meaning::Extent { controller: index, level };
            Field::new(format!("level_{level}"), controller.extent_bits, description, meaning)
        })
        .collect();
    layout.group(
        &format!("{name}_extent"),
        &format!("Extents of {name}, which {}.", controller.role.purpose()),
        SoftwareAccess::ReadWrite,
        extents,
    );

    let start = Field::new(
        "start",
        controller.cycle_bits,
        "Cycle of the first firing, counted from the flush",
        Meaning::CycleStart { controller: index },
    );
    let steps = levels.clone().map(|level| {
        let description = match style {
            Style::Recurrence => {
                format!("Cycles between two firings when level {level} increments, minus one")
            }
            Style::PerLevel | Style::Multiplier => format!("Schedule stride of level {level}"),
        };
        let meaning = Meaning::CycleStep { controller: index, level };
        Field::new(format!("{step}_{level}"), controller.cycle_bits, description, meaning)
    });
    layout.group(
        &format!("{name}_cycle"),
        &format!("Schedule of {name}."),
        SoftwareAccess::ReadWrite,
        std::iter::once(start).chain(steps).collect(),
    );

    for (address, generator) in controller.addresses.iter().enumerate().filter(|(_, generator)| generator.bits > 0) {
        let memory = generator.memory.name();
        let meaning = Meaning::AddressStart { controller: index, address };
        let start = Field::new("start", generator.bits, "First address", meaning);
        let steps = levels.clone().map(|level| {
            let description = match style {
                Style::Recurrence => {
                    format!("Change of the address when level {level} increments")
                }
                Style::PerLevel | Style::Multiplier => {
                    format!("Address stride of level {level}")
                }
            };
            let meaning = Meaning::AddressStep { controller: index, address, level };
            Field::new(format!("{step}_{level}"), generator.bits, description, meaning)
        });
        layout.group(
            &format!("{name}_{memory}"),
            &format!("Addresses of {name} in `{memory}`, modulo {}.", generator.modulus),
            SoftwareAccess::ReadWrite,
            std::iter::once(start).chain(steps).collect(),
        );
    }
}
