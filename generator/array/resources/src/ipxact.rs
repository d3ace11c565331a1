//! The registers of an array as a memory map of IP-XACT (IEEE 1685-2014).
//!
//! Tiles of a kind are dimensions of register files: rows, in them columns up to the next one of memories, in those the processing elements. So
//! the map of a large array is as small as that of a few tiles.

use askama::Template;
use pushmem_csr::{Field, SoftwareAccess};
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_registers::RegisterMap;

use crate::address::{Address, CLEAR, DIGEST, START, STOP};
use crate::layout::Feature;
use crate::map::{ArrayMap, TileMap};

/// Indentation of a level.
const INDENT: &str = "  ";

/// The level of the register files.
const FIRST_LEVEL: usize = 4;

/// A register, or as many words one behind the other.
struct Register {
    name: String,
    words: u32,
    offset: u64,
    access: SoftwareAccess,
    fields: Vec<Field<()>>,
}

/// Registers and register files, so many times one behind the other.
#[derive(Template)]
#[template(path = "register_file.xml")]
struct RegisterFile {
    name: &'static str,
    count: u32,
    /// Byte offset of the first.
    offset: u64,
    /// Bytes of each.
    bytes: u64,
    registers: Vec<Register>,
    files: Vec<RegisterFile>,
}

#[derive(Template)]
#[template(path = "memory_map.xml")]
struct MemoryMap<'a> {
    map: &'a ArrayMap,
    bytes: u64,
    /// Name, byte offset and access.
    of_array: [(&'static str, u64, &'static str); 4],
    files: Vec<RegisterFile>,
}

impl RegisterFile {
    fn xml(&self) -> String {
        self.render().expect("templates write to memory")
    }

    /// The text with the indentation of its place.
    fn indented(&self) -> String {
        let mut level = FIRST_LEVEL;
        let mut text = String::new();
        for line in self.xml().lines() {
            let closes = line.starts_with("</");
            level -= usize::from(closes);
            text += &format!("{}{line}\n", INDENT.repeat(level));
            level += usize::from(!closes && !line.contains("</"));
        }
        text.trim_end().to_owned()
    }
}

pub(crate) fn memory_map(map: &ArrayMap, spec: &ArraySpec) -> String {
    let at = |row: u32, column: u32| Address { row, column, feature: 0, register: 0 }.offset();
    let (tile, row) = (at(0, 1), at(1, 0));
    let file =
        |name, count, offset, bytes, registers, files| RegisterFile { name, count, offset, bytes, registers, files };
    let tiles = |kind: TileKind, count: u32, first: u32| {
        file(kind.name(), count, at(0, first), tile, registers(map.tile(kind), spec, kind), Vec::new())
    };
    let columns = match &spec.memory {
        None => vec![tiles(TileKind::Pe, spec.columns, 0)],
        Some(memory) => {
            let (every, groups) = (memory.every, spec.columns / memory.every);
            let of_group = vec![tiles(TileKind::Pe, every - 1, 0), tiles(TileKind::Memory, 1, every - 1)];
            let mut columns = vec![file("groups", groups, 0, at(0, every), Vec::new(), of_group)];
            let rest = spec.columns % every;
            if rest > 0 {
                columns.push(RegisterFile { name: "last_pe", ..tiles(TileKind::Pe, rest, groups * every) });
            }
            columns
        }
    };
    let files = vec![tiles(TileKind::Io, spec.columns, 0), file("rows", spec.rows, row, row, Vec::new(), columns)];
    let command = |name, address| (name, Address::offset(address), "write-only");
    let digest = ("digest", DIGEST.offset(), "read-write");
    let of_array = [digest, command("clear", CLEAR), command("start", START), command("stop", STOP)];
    let whole = MemoryMap { map, bytes: row * u64::from(Address::ROWS), of_array, files };
    whole.render().expect("templates write to memory")
}

/// The registers of a tile, those of its memory and the words of its tables among them.
fn registers(tile: &TileMap, spec: &ArraySpec, kind: TileKind) -> Vec<Register> {
    let mut registers: Vec<Register> = tile
        .registers
        .iter()
        .map(|entry| entry.register())
        .map(|register| Register {
            name: register.name,
            words: 1,
            offset: register.offset.into(),
            access: register.access,
            fields: register.fields,
        })
        .collect();
    if let Some(memory) = spec.memory_of(kind) {
        let map = RegisterMap::of(memory);
        let feature = Feature::of_memory(kind).number();
        let first = Address { row: 0, column: 0, feature, register: 0 }.offset();
        registers.extend(map.registers.into_iter().map(|register| Register {
            name: format!("memory_{}", register.name),
            words: 1,
            offset: first + u64::from(register.offset),
            access: register.access,
            fields: register.fields.into_iter().map(Field::without_meaning).collect(),
        }));
        if let Some(contents) = map.contents {
            registers.push(Register {
                name: "memory_contents".to_owned(),
                words: contents.words * contents.registers_per_word,
                offset: first + u64::from(contents.offset),
                access: SoftwareAccess::ReadWrite,
                fields: vec![Field::new("word", memory.word_bits.min(pushmem_csr::WORD_BITS), "word of the table", ())],
            });
        }
    }
    registers.sort_by_key(|register| register.offset);
    registers
}
