//! Derivation of the register map from the specification.

use pushmem_tile::{Controller, Style, TileSpec};
use serde::Serialize;

/// Bytes of a register; offsets are multiples of it.
pub const WORD_BYTES: u32 = 4;

/// Bits of a register.
const WORD_BITS: u32 = 8 * WORD_BYTES;

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

/// Accesses that software has to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Writes are ignored.
    ReadOnly,
    /// Reads give the written value.
    ReadWrite,
    /// Reads give the written value, until the hardware has done it and clears the register.
    Request,
}

/// A field of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Name within the register.
    pub name: String,
    /// Lowest bit.
    pub low: u32,
    /// Width in bits.
    pub bits: u32,
    /// Value after reset.
    pub reset: u32,
    /// One line for documentation.
    pub description: String,
    /// The parameter that it configures.
    pub meaning: Meaning,
}

impl Field {
    /// Highest bit.
    pub fn high(&self) -> u32 {
        self.low + self.bits - 1
    }

    /// The field's bits set.
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (WORD_BITS - self.bits)) << self.low
    }
}

/// A 32-bit register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Name, unique in the map.
    pub name: String,
    /// Byte offset.
    pub offset: u32,
    /// Accesses that software has.
    pub access: Access,
    /// One line for documentation.
    pub description: String,
    /// Fields from bit 0 up, without gaps between them.
    pub fields: Vec<Field>,
}

impl Register {
    /// Bits in use, from bit 0 up.
    pub fn used_bits(&self) -> u32 {
        self.fields.iter().map(|field| field.bits).sum()
    }
}

/// The contents of a ROM, or of a memory with a ROM mode, as a window of the configuration address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// Byte offset of the first word; the window is aligned to its size.
    pub offset: u32,
    /// Words in the memory.
    pub words: u32,
    /// Registers a word takes: one, or two for words of more than 32 bits, lower half first. The memory is written with
    /// the last of them, and where its rows have several words, with the last of a row.
    pub registers_per_word: u32,
}

impl Contents {
    /// Bytes of the window: a power of two.
    pub fn bytes(&self) -> u32 {
        (self.words * self.registers_per_word * WORD_BYTES).next_power_of_two()
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
    /// The contents window of a ROM, or of a memory with a ROM mode.
    pub contents: Option<Contents>,
}

impl RegisterMap {
    /// Derives the map of a tile.
    pub fn of(spec: &TileSpec) -> Self {
        let mut layout = Layout { registers: Vec::new() };
        layout.group(
            "spec_digest",
            "Identifies the specification this tile was generated from; compare it before loading a configuration.",
            Access::ReadOnly,
            vec![Field {
                reset: spec.digest_word(),
                ..field("digest", 32, "First 32 bits of the digest", Meaning::SpecDigest)
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
                Access::Request,
                vec![field("commit", 1, description, Meaning::Commit)],
            );
        }
        layout.group("control", "Which controllers run, and chaining.", Access::ReadWrite, control(spec, &controllers));
        for (index, controller) in controllers.iter().enumerate() {
            layout.controller(spec.style, index, controller);
        }
        let end = layout.registers.len() as u32 * WORD_BYTES;
        let contents = spec.content_words().map(|words| {
            let mut contents = Contents { offset: 0, words, registers_per_word: spec.word_bits.div_ceil(WORD_BITS) };
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
    /// after them. Without shadow registers those that let controllers run, otherwise `commit`.
    pub fn into_force(&self) -> impl Iterator<Item = &Register> {
        let commit = self.commit();
        let enables =
            |register: &Register| register.fields.iter().any(|field| matches!(field.meaning, Meaning::Enable { .. }));
        self.registers.iter().filter(move |register| match commit {
            Some(commit) => register.offset == commit.offset,
            None => enables(register),
        })
    }

    /// The register that brings the others into force, where they are shadow registers.
    pub fn commit(&self) -> Option<&Register> {
        self.registers.iter().find(|register| register.access == Access::Request)
    }

    /// Bits of configuration that can be written, contents excluded. With shadow registers the tile holds each twice.
    pub fn configuration_bits(&self) -> u32 {
        self.registers.iter().filter(|register| register.access == Access::ReadWrite).map(Register::used_bits).sum()
    }
}

fn field(name: impl Into<String>, bits: u32, description: impl Into<String>, meaning: Meaning) -> Field {
    Field { name: name.into(), low: 0, bits, reset: 0, description: description.into(), meaning }
}

fn control(spec: &TileSpec, controllers: &[Controller]) -> Vec<Field> {
    let mut fields: Vec<Field> = controllers
        .iter()
        .enumerate()
        .map(|(index, controller)| {
            let description = format!("{} runs after a flush", controller.name);
            field(format!("enable_{}", controller.name), 1, description, Meaning::Enable { controller: index })
        })
        .collect();
    if spec.chaining {
        fields.push(field("chain_enable", 1, "The tile is one piece of a chain", Meaning::ChainEnable));
        let description = "Upper address bits of the piece this tile owns";
        fields.push(field("tile_id", spec.tile_id_bits(), description, Meaning::TileId));
    }
    fields
}

struct Layout {
    registers: Vec<Register>,
}

impl Layout {
    fn controller(&mut self, style: Style, index: usize, controller: &Controller) {
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
                field(format!("level_{level}"), controller.extent_bits, description, meaning)
            })
            .collect();
        self.group(
            &format!("{name}_extent"),
            &format!("Extents of {name}, which {}.", controller.role.purpose()),
            Access::ReadWrite,
            extents,
        );

        let start = field(
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
            field(format!("{step}_{level}"), controller.cycle_bits, description, meaning)
        });
        self.group(
            &format!("{name}_cycle"),
            &format!("Schedule of {name}."),
            Access::ReadWrite,
            std::iter::once(start).chain(steps).collect(),
        );

        for (address, generator) in controller.addresses.iter().enumerate().filter(|(_, generator)| generator.bits > 0)
        {
            let memory = generator.memory.name();
            let meaning = Meaning::AddressStart { controller: index, address };
            let start = field("start", generator.bits, "First address", meaning);
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
                field(format!("{step}_{level}"), generator.bits, description, meaning)
            });
            self.group(
                &format!("{name}_{memory}"),
                &format!("Addresses of {name} in `{memory}`, modulo {}.", generator.modulus),
                Access::ReadWrite,
                std::iter::once(start).chain(steps).collect(),
            );
        }
    }

    /// Packs the fields of a group into as many registers as they need.
    fn group(&mut self, name: &str, description: &str, access: Access, fields: Vec<Field>) {
        let mut words: Vec<Vec<Field>> = Vec::new();
        let mut used = WORD_BITS;
        for mut field in fields {
            if used + field.bits > WORD_BITS {
                words.push(Vec::new());
                used = 0;
            }
            field.low = used;
            used += field.bits;
            words.last_mut().expect("a word was just begun").push(field);
        }
        let alone = words.len() == 1;
        for (number, fields) in words.into_iter().enumerate() {
            self.registers.push(Register {
                name: if alone { name.to_owned() } else { format!("{name}_{number}") },
                offset: self.registers.len() as u32 * WORD_BYTES,
                access,
                description: description.to_owned(),
                fields,
            });
        }
    }
}
