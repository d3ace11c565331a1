//! Specifications of arrays: what is shipped, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use pushmem_fabric::{ArraySpec, BlockShape, Direction, Folder, Place, Side, TileKind, Topology};
use pushmem_files::{Diagnostic, Document};

fn constraints() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints")
}

fn parse(text: &str) -> Result<ArraySpec, Diagnostic> {
    ArraySpec::from_document(&Document::parse("array.yaml", text).unwrap(), &Folder(constraints()))
}

#[test]
fn shipped_specifications_read_back() {
    let files: Vec<PathBuf> =
        fs::read_dir(constraints().join("arrays")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 4);
    for file in files {
        let document = Document::read(&file).unwrap();
        let spec =
            ArraySpec::from_document(&document, &Folder(constraints())).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parse(&spec.to_yaml()).unwrap(), spec, "{}", file.display());
        assert_eq!(spec.name, file.file_stem().unwrap().to_str().unwrap());
    }
}

#[test]
fn kinds_follow_columns() {
    let spec = parse(
        "name: a\nkind: array\ncolumns: 8\nrows: 3\npe: image_pe\nmemory: {tile: small, every: 4}\nblock: {columns: 4, rows: 3}",
    )
    .unwrap();
    assert_eq!(spec.kind(Place { row: 0, column: 3 }), Some(TileKind::Io));
    assert_eq!(spec.kind(Place { row: 1, column: 3 }), Some(TileKind::Memory));
    assert_eq!(spec.kind(Place { row: 3, column: 4 }), Some(TileKind::Pe));
    assert_eq!(spec.kind(Place { row: 4, column: 4 }), None);
    for kind in TileKind::ALL {
        let there = spec.places().filter(|place| spec.kind(*place) == Some(kind)).count() as u32;
        assert_eq!(spec.count(kind), there);
    }
}

/// Each track that comes in reaches one track of each other side, and no two the same.
#[test]
fn turns_are_one_to_one() {
    for topology in [Topology::Disjoint, Topology::Wilton] {
        for tracks in 1..=8 {
            for from in Side::ALL {
                for to in Side::ALL.into_iter().filter(|to| *to != from) {
                    let mut sources: Vec<u32> =
                        (0..tracks).map(|track| topology.source(from, to, track, tracks)).collect();
                    sources.sort_unstable();
                    assert!(sources.into_iter().eq(0..tracks), "{topology:?} {from:?} {to:?} {tracks}");
                }
            }
        }
    }
}

/// The digest changes with what bitstreams depend on, and with nothing else.
#[test]
fn digests_tell_arrays_apart() {
    let base = "name: a\nkind: array\ncolumns: 4\nrows: 4\npe: image_pe\n";
    let digest = |more: &str| parse(&format!("{base}{more}")).unwrap().digest();
    assert_eq!(
        digest("block: {columns: 2, rows: 1}\ncontrol_depth: 3\nio: {buffer: 40}\nclock_gating: true\n"),
        digest("")
    );
    for more in [
        "memory: {tile: small, every: 2}",
        "tracks: {word: 4, bit: 5}",
        "topology: disjoint",
        "hop_limit: 2",
        "io: {levels: 3}",
        "register_file: pond",
        "global_buffer: {banks: 2}",
    ] {
        assert_ne!(digest(more), digest(""), "{more}");
    }
}

#[test]
fn the_default_block_is_the_largest_that_fits() {
    let block = |columns: u32, rows: u32, memory: &str| {
        parse(&format!("name: a\nkind: array\ncolumns: {columns}\nrows: {rows}\npe: image_pe\n{memory}")).unwrap().block
    };
    let shape = |columns, rows| BlockShape { columns, rows };
    assert_eq!(block(32, 16, "memory: {tile: small, every: 4}"), shape(8, 8));
    assert_eq!(block(6, 10, "memory: {tile: small, every: 4}"), shape(6, 5));
    assert_eq!(block(12, 1, ""), shape(6, 1));
}

#[test]
fn errors_point_at_the_key() {
    let base = "name: a\nkind: array\nrows: 4\n";
    for (more, message, line) in [
        ("columns: 0\npe: image_pe", "an array cannot have `columns` 0", 4),
        ("columns: 256\npe: image_pe", "an array cannot have `columns` 256", 4),
        ("columns: 4\npe: nothing", "cannot read", 5),
        ("columns: 4\npe: image_pe\nhop_limit: 3", "there cannot be up to 3 hops", 6),
        ("columns: 4\npe: image_pe\ncontrol_depth: 0", "cannot have `control_depth` 0", 6),
        ("columns: 4\npe: image_pe\ntracks: {word: 0, bit: 1}", "cannot have `tracks of words` 0", 6),
        ("columns: 4\npe: image_pe\ntracks: {word: 1, bit: 17}", "cannot have `tracks of bits` 17", 6),
        ("columns: 4\npe: image_pe\nmemory: {tile: small, every: 5}", "a multiple of 5, of 4", 6),
        ("columns: 4\npe: image_pe\nmemory: {tile: small, every: 1}", "a multiple of 1, of 4", 6),
        ("columns: 1\npe: image_pe\nmemory: {tile: small, every: 4}", "columns of their own, and the array has 1", 6),
        ("columns: 4\npe: image_pe\nmemory: {tile: rom, every: 4}", "`rom` is a ROM", 6),
        ("columns: 4\npe: image_pe\nmemory: {tile: word32, every: 4}", "have 32 bits, those of `image_pe` 16", 6),
        ("columns: 4\npe: image_pe\nregister_file: small", "`small` is of kind `wide_fetch`", 6),
        ("columns: 4\npe: word32_pe\nregister_file: pond", "`pond` have 16 bits, those of `word32_pe` 32", 6),
        ("columns: 4\npe: image_pe\nregister_file: pool", "cannot read", 6),
        ("columns: 4\npe: image_pe\nblock: {columns: 3, rows: 4}", "blocks of 3 columns are not all alike", 6),
        ("columns: 4\npe: image_pe\nblock: {columns: 4, rows: 3}", "blocks of 3 rows do not fill 4", 6),
        (
            "columns: 8\npe: image_pe\nmemory: {tile: small, every: 4}\nblock: {columns: 2, rows: 4}",
            "are not all alike",
            7,
        ),
        ("columns: 4\npe: image_pe\nio: {buffer: 5}", "a buffer of 5 beats, with a `control_depth` of 2", 6),
        ("columns: 4\npe: image_pe\ncontrol_depth: 4\nio: {buffer: 7}", "a stall takes 6 cycles", 7),
        ("columns: 4\npe: image_pe\nio: {levels: 9}", "cannot have `levels` 9", 6),
        ("columns: 4\npe: image_pe\nio: {cycle_bits: 33}", "cannot have `cycle_bits` 33", 6),
        ("columns: 4\npe: image_pe\nname_of: 1", "unknown", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {}", "16 banks do not have the 4 columns", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 3}", "3 banks do not have the 4 columns", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 2, columns: 1}", "2 banks do not have the 4", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 0}", "cannot have `banks` 0", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 4, bank_bytes: 48}", "cannot have 48 bytes", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 4, bank_bytes: 16}", "cannot have 16 bytes", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 4, bank_bytes: 33554432}", "cannot have 33554432", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 4, levels: 9}", "cannot have `levels` 9", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {banks: 4, cycle_bits: 0}", "cannot have `cycle_bits` 0", 6),
        ("columns: 4\npe: image_pe\nglobal_buffer: {rows: 4}", "unknown", 6),
    ] {
        let error = parse(&format!("{base}{more}")).unwrap_err();
        assert!(error.to_string().contains(message), "{more}: {error}");
        assert_eq!(error.location().unwrap().1, line, "{more}");
    }
}

/// A bank loads the stream of its first column, and stores that of its last.
#[test]
fn banks_have_columns_side_by_side() {
    let spec = |more: &str| {
        parse(&format!("name: a\nkind: array\ncolumns: 32\nrows: 1\npe: image_pe\nglobal_buffer: {more}")).unwrap()
    };
    let amber = spec("{}");
    let buffer = amber.global_buffer.as_ref().unwrap();
    assert_eq!((buffer.banks, buffer.bank_bytes, buffer.columns, buffer.controller.levels), (16, 1 << 18, 2, 7));
    assert_eq!((buffer.rows(), amber.words_per_row(), amber.bank_address_bits()), (1 << 14, 4, 16));
    assert_eq!(buffer.bytes(), 1 << 22);
    let banks = |direction: Direction| [6, 7, 31].map(|column| buffer.bank(column, direction));
    assert_eq!(banks(Direction::In), [Some(3), None, None]);
    assert_eq!(banks(Direction::Out), [None, Some(3), Some(15)]);
    assert_eq!(buffer.half_address(3, 1), 3 * (1 << 18) + (1 << 17));
    assert_eq!(parse(&amber.to_yaml()).unwrap(), amber);
    let alone = spec("{banks: 32, bank_bytes: 64, levels: 2}");
    let both = Direction::ALL.map(|direction| alone.global_buffer.as_ref().unwrap().bank(5, direction));
    assert_eq!(both, [Some(5); 2]);
    assert!(amber.has_stream(6, Direction::In) && !amber.has_stream(6, Direction::Out));
}
