//! Specifications as YAML.

mod document;

use std::collections::BTreeMap;
use std::path::PathBuf;

use pushmem_files::{Code, Diagnostic, Document, FieldPath};
use pushmem_pe::{PeSpec, check_stem};
use pushmem_registers::{RegisterMap, WORD_BYTES};
use pushmem_tile::{ControllerSpec, Kind, TileSpec};

use crate::spec::{ArraySpec, BlockShape, GlobalBufferSpec, IoSpec, MemoryColumns, Tracks};
use document::{ArrayFile, GlobalBufferFile, IoFile, MemoryFile};

/// Most columns and most rows. Numbers of both have 8 bits in addresses, and the last one names the array itself.
const MAX_SIDE: u32 = 255;

/// Most hops between two registers.
const MAX_HOP_LIMIT: u32 = 8;

/// Most registers on the way of a command.
const MAX_CONTROL_DEPTH: u32 = 8;

/// Most columns and most rows of a block, where a specification does not say.
const DEFAULT_BLOCK_SIDE: u32 = 8;

/// Most registers and words of a table of a memory: the number of one has 12 bits in addresses.
const MAX_MEMORY_REGISTERS: u32 = 1 << 12;

/// Most loop levels of a stream, most bits of an extent or of a schedule, and most beats of a buffer.
const MAX_LEVELS: u32 = 8;
const MAX_REGISTER_BITS: u32 = 32;
const MAX_BUFFER: u32 = 64;

/// Loop levels and widths of the controllers of streams: those of memory tiles.
const DEFAULT_LEVELS: u32 = 6;
const DEFAULT_EXTENT_BITS: u32 = 16;
const DEFAULT_CYCLE_BITS: u32 = 16;

/// Beats of a buffer beyond those that arrive before a stall does: one that is taken, and one that comes in.
const LEAST_SPARE_BEATS: u32 = 2;

/// The global buffer of the Amber chip: 16 banks of 256 kB (unified-buffer paper, Fig. 12; dissertation, §7.1).
const DEFAULT_BANKS: u32 = 16;
const DEFAULT_BANK_BYTES: u32 = 1 << 18;
const DEFAULT_BANK_LEVELS: u32 = 7;

/// Fewest and most bytes of a bank: two rows in each half, and all banks within addresses of 32 bits.
const LEAST_BANK_BYTES: u32 = 2 * GlobalBufferSpec::HALVES * GlobalBufferSpec::ROW_BYTES;
const MOST_BANK_BYTES: u32 = 1 << 24;

/// The documents of the blocks that a specification names.
pub trait Blocks {
    /// The specification of a processing element.
    ///
    /// # Errors
    /// When there is none of this name.
    fn processing_element(&self, name: &str) -> Result<Document, Diagnostic>;

    /// The specification of a memory tile.
    ///
    /// # Errors
    /// When there is none of this name.
    fn tile(&self, name: &str) -> Result<Document, Diagnostic>;
}

/// The blocks of a folder such as `constraints`: files of processing elements in `pes`, and of memory tiles in `tiles`.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Blocks for Folder {
    fn processing_element(&self, name: &str) -> Result<Document, Diagnostic> {
        Document::read(&self.0.join("pes").join(format!("{name}.yaml")))
    }

    fn tile(&self, name: &str) -> Result<Document, Diagnostic> {
        Document::read(&self.0.join("tiles").join(format!("{name}.yaml")))
    }
}

impl ArraySpec {
    /// Reads a specification from a document; `blocks` has those that it names.
    ///
    /// # Errors
    /// A located message when the document has an unknown key or a value of the wrong type, names a block that is not there
    /// or that is wrong, or asks for an array that cannot be built.
    pub fn from_document(document: &Document, blocks: &impl Blocks) -> Result<Self, Diagnostic> {
        let file: ArrayFile = document.deserialize()?;
        check_stem(document, &file.name)?;
        Reader { document }.resolve(file, blocks).map_err(|problem| problem.or_code(Code::Specification))
    }
}

/// The specification and its text.
struct Reader<'a> {
    document: &'a Document,
}

impl Reader<'_> {
    fn resolve(&self, file: ArrayFile, blocks: &impl Blocks) -> Result<ArraySpec, Diagnostic> {
        let root = FieldPath::root();
        for (key, value, most) in [
            ("columns", file.columns, MAX_SIDE),
            ("rows", file.rows, MAX_SIDE - 1),
            ("control_depth", file.control_depth, MAX_CONTROL_DEPTH),
        ] {
            self.check_range(&root.key(key), key, value, most)?;
        }
        let tracks = root.key("tracks");
        self.check_range(&tracks.key("word"), "tracks of words", file.tracks.word, Tracks::MOST)?;
        self.check_range(&tracks.key("bit"), "tracks of bits", file.tracks.bit, Tracks::MOST)?;
        if !file.hop_limit.is_power_of_two() || file.hop_limit > MAX_HOP_LIMIT {
            let message = format!("there cannot be up to {} hops between two registers", file.hop_limit);
            return self.document.refuse(&root.key("hop_limit"), message, "give 1, 2, 4 or 8");
        }
        let pe = self.located(&root.key("pe"), || PeSpec::from_document(&blocks.processing_element(&file.pe)?))?;
        let register_file = file.register_file.as_ref();
        let register_file = register_file.map(|name| self.register_file(name, &file, &pe, blocks)).transpose()?;
        let memory = file.memory.as_ref().map(|memory| self.memory(memory, &file, &pe, blocks)).transpose()?;
        self.check_resets(register_file.as_ref(), memory.as_ref())?;
        let block = self.block(&file)?;
        let io = self.io(file.io, file.control_depth)?;
        let global_buffer =
            file.global_buffer.map(|buffer| self.global_buffer(buffer, file.columns, &pe)).transpose()?;
        let ArrayFile { name, kind, columns, rows, tracks, topology, hop_limit, control_depth, clock_gating, .. } =
            file;
        Ok(ArraySpec {
            name,
            kind,
            columns,
            rows,
            pe,
            register_file,
            memory,
            io,
            tracks,
            topology,
            hop_limit,
            block,
            control_depth,
            clock_gating,
            global_buffer,
        })
    }

    /// The specification of a block, or the key that names it with what is wrong there.
    fn located<Spec>(
        &self,
        key: &FieldPath,
        read: impl FnOnce() -> Result<Spec, Diagnostic>,
    ) -> Result<Spec, Diagnostic> {
        read().map_err(|problem| match problem.location() {
            Some(_) => problem,
            None => {
                let located = self.document.error(key, problem.message());
                located.with_help(problem.help().unwrap_or_default())
            }
        })
    }

    fn memory(
        &self,
        memory: &MemoryFile,
        file: &ArrayFile,
        pe: &PeSpec,
        blocks: &impl Blocks,
    ) -> Result<MemoryColumns, Diagnostic> {
        let key = FieldPath::root().key("memory");
        let MemoryFile { tile: name, every } = memory;
        if file.columns < 2 {
            let message = "memories and processing elements have columns of their own, and the array has 1";
            return self.document.refuse(&key, message, "give 2 `columns` or more, or leave out `memory`");
        }
        if *every < 2 || *every > file.columns {
            let message =
                format!("a memory in every column whose number is a multiple of {every}, of {}", file.columns);
            let help = match file.columns {
                2 => "give 2, so that there are memories and processing elements".to_owned(),
                columns => {
                    format!("give a number from 2 to {columns}, so that there are memories and processing elements")
                }
            };
            return self.document.refuse(&key.key("every"), message, help);
        }
        let key = key.key("tile");
        let tile = self.located(&key, || TileSpec::from_document(&blocks.tile(name)?))?;
        self.check_memory(&key, &tile, file, pe)?;
        let refuse = |message: String, help: &str| self.document.refuse(&key, message, help);
        if tile.kind == Kind::Rom {
            return refuse(
                format!("`{}` is a ROM: it takes addresses, not streams", tile.name),
                "choose a memory that streams of words are written to and read from",
            );
        }
        Ok(MemoryColumns { tile, every: *every })
    }

    fn register_file(
        &self,
        name: &str,
        file: &ArrayFile,
        pe: &PeSpec,
        blocks: &impl Blocks,
    ) -> Result<TileSpec, Diagnostic> {
        let key = FieldPath::root().key("register_file");
        let tile = self.located(&key, || TileSpec::from_document(&blocks.tile(name)?))?;
        self.check_memory(&key, &tile, file, pe)?;
        if tile.kind != Kind::RegisterFile {
            let message = format!("`{}` is of kind `{}`", tile.name, tile.kind.name());
            let help = "choose a tile of kind `register_file`; larger memories are the MEM tiles of `memory`";
            return self.document.refuse(&key, message, help);
        }
        Ok(tile)
    }

    /// Memories of an array have one reset: so have the tiles around them.
    fn check_resets(&self, register_file: Option<&TileSpec>, memory: Option<&MemoryColumns>) -> Result<(), Diagnostic> {
        match (register_file, memory) {
            (Some(file), Some(MemoryColumns { tile, .. })) if file.reset != tile.reset => {
                let message = format!("`{}` and `{}` have different resets", file.name, tile.name);
                let key = FieldPath::root().key("register_file");
                self.document.refuse(&key, message, "choose blocks with the same `reset`")
            }
            _ => Ok(()),
        }
    }

    /// Refuses a memory that does not go with the tracks and the registers of an array.
    fn check_memory(&self, key: &FieldPath, tile: &TileSpec, file: &ArrayFile, pe: &PeSpec) -> Result<(), Diagnostic> {
        let refuse = |message: String, help: &str| self.document.refuse(key, message, help);
        if tile.word_bits != pe.word_bits {
            let message = format!(
                "words of `{}` have {} bits, those of `{}` {}",
                tile.name, tile.word_bits, pe.name, pe.word_bits
            );
            return refuse(message, "choose blocks with words of the same width: a track has one");
        }
        if RegisterMap::of(tile).bytes() / WORD_BYTES > MAX_MEMORY_REGISTERS {
            return refuse(
                format!(
                    "the table of `{}` and its registers need more than {MAX_MEMORY_REGISTERS} addresses",
                    tile.name
                ),
                "choose a memory tile with fewer words, or without `rom_mode`",
            );
        }
        if tile.clock_gating && !file.clock_gating {
            return refuse(
                format!("`{}` has `clock_gating`, the array has not", tile.name),
                "give the array `clock_gating: true`, or choose a memory tile without it",
            );
        }
        let options = [
            (tile.bist, "bist"),
            (tile.shadow_registers, "shadow_registers"),
            (tile.fifo_mode, "fifo_mode"),
            (tile.ram_mode, "ram_mode"),
            (tile.output_chaining, "output_chaining"),
        ];
        for (has_it, option) in options {
            if has_it {
                let message = format!("`{}` has `{option}`, which an array does not connect", tile.name);
                return refuse(message, "choose a memory tile without it");
            }
        }
        Ok(())
    }

    /// The streams of IO tiles. Their buffers must hold the beats that pass before a stall reaches the tiles.
    fn io(&self, file: IoFile, control_depth: u32) -> Result<IoSpec, Diagnostic> {
        let key = FieldPath::root().key("io");
        let least = control_depth + 2 + LEAST_SPARE_BEATS;
        let buffer = file.buffer.unwrap_or(least.next_power_of_two());
        if !(least..=MAX_BUFFER).contains(&buffer) {
            let message = format!(
                "a buffer of {buffer} beats, with a `control_depth` of {control_depth}: a stall takes {} cycles",
                control_depth + 2
            );
            let help = format!("give a number from {least} to {MAX_BUFFER}");
            return self.document.refuse(&key.key("buffer"), message, help);
        }
        let levels = file.levels.unwrap_or(DEFAULT_LEVELS);
        Ok(IoSpec { buffer, controller: self.controller(&key, levels, file.extent_bits, file.cycle_bits)? })
    }

    /// A controller without addresses.
    fn controller(
        &self,
        key: &FieldPath,
        levels: u32,
        extent_bits: Option<u32>,
        cycle_bits: Option<u32>,
    ) -> Result<ControllerSpec, Diagnostic> {
        let [extent_bits, cycle_bits] =
            [extent_bits.unwrap_or(DEFAULT_EXTENT_BITS), cycle_bits.unwrap_or(DEFAULT_CYCLE_BITS)];
        for (name, value, most) in [
            ("levels", levels, MAX_LEVELS),
            ("extent_bits", extent_bits, MAX_REGISTER_BITS),
            ("cycle_bits", cycle_bits, MAX_REGISTER_BITS),
        ] {
            self.check_range(&key.key(name), name, value, most)?;
        }
        Ok(ControllerSpec { levels, extent_bits, cycle_bits, address_bits: BTreeMap::new() })
    }

    /// The global buffer: banks side by side, each above as many columns, and rows of whole words.
    fn global_buffer(
        &self,
        file: GlobalBufferFile,
        array_columns: u32,
        pe: &PeSpec,
    ) -> Result<GlobalBufferSpec, Diagnostic> {
        let key = FieldPath::root().key("global_buffer");
        let banks = file.banks.unwrap_or(DEFAULT_BANKS);
        self.check_range(&key.key("banks"), "banks", banks, MAX_SIDE)?;
        let columns = file.columns.unwrap_or(array_columns / banks);
        if file.columns.is_some() {
            self.check_range(&key.key("columns"), "columns", columns, MAX_SIDE)?;
        }
        if columns * banks != array_columns {
            let message = format!("{banks} banks do not have the {array_columns} columns of the array among them");
            let help = format!("give a divisor of {array_columns}, and as `columns` those of a bank, or leave it out");
            return self.document.refuse(&key.key("banks"), message, help);
        }
        let bank_bytes = file.bank_bytes.unwrap_or(DEFAULT_BANK_BYTES);
        if !bank_bytes.is_power_of_two() || !(LEAST_BANK_BYTES..=MOST_BANK_BYTES).contains(&bank_bytes) {
            let message = format!("a bank cannot have {bank_bytes} bytes");
            let help = format!("give a power of two from {LEAST_BANK_BYTES} to {MOST_BANK_BYTES}");
            return self.document.refuse(&key.key("bank_bytes"), message, help);
        }
        if !GlobalBufferSpec::ROW_BITS.is_multiple_of(pe.word_bits) || pe.word_bits == GlobalBufferSpec::ROW_BITS {
            let (row, word) = (GlobalBufferSpec::ROW_BITS, pe.word_bits);
            let message = format!("rows of {row} bits do not hold several words of {word} bits, as `{}` has", pe.name);
            return self.document.refuse(
                &key,
                message,
                "choose a processing element of 16 or 32 bits, or leave out the key",
            );
        }
        let levels = file.levels.unwrap_or(DEFAULT_BANK_LEVELS);
        let controller = self.controller(&key, levels, file.extent_bits, file.cycle_bits)?;
        Ok(GlobalBufferSpec { banks, bank_bytes, columns, controller })
    }

    /// The block that is given, or the largest that fits.
    fn block(&self, file: &ArrayFile) -> Result<BlockShape, Diagnostic> {
        let every = file.memory.as_ref().map_or(1, |memory| memory.every);
        let divides = |block: u32, whole: u32| block > 0 && whole.is_multiple_of(block);
        let columns_fit =
            |columns: u32| divides(columns, file.columns) && (columns == file.columns || columns.is_multiple_of(every));
        let Some(block) = file.block else {
            let largest = |fits: &dyn Fn(u32) -> bool, whole: u32| {
                (1..=DEFAULT_BLOCK_SIDE).rev().find(|side| fits(*side)).unwrap_or(whole)
            };
            let columns = largest(&columns_fit, file.columns);
            return Ok(BlockShape { columns, rows: largest(&|rows| divides(rows, file.rows), file.rows) });
        };
        let key = FieldPath::root().key("block");
        if !columns_fit(block.columns) {
            let message = format!("blocks of {} columns are not all alike in {} columns", block.columns, file.columns);
            let help = match every {
                1 => format!("give a divisor of {}", file.columns),
                every => format!(
                    "give {}, or a divisor of it that is a multiple of {every}, as columns of memories are",
                    file.columns
                ),
            };
            return self.document.refuse(&key.key("columns"), message, help);
        }
        if !divides(block.rows, file.rows) {
            let message = format!("blocks of {} rows do not fill {} rows", block.rows, file.rows);
            return self.document.refuse(&key.key("rows"), message, format!("give a divisor of {}", file.rows));
        }
        Ok(block)
    }

    fn check_range(&self, key: &FieldPath, name: &str, value: u32, most: u32) -> Result<(), Diagnostic> {
        if (1..=most).contains(&value) {
            return Ok(());
        }
        let message = format!("an array cannot have `{name}` {value}");
        self.document.refuse(key, message, format!("give a number from 1 to {most}"))
    }
}
