//! The kinds of files: how each is told, and which command takes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_files::{Code, Diagnostic, Document, FieldPath};
use pushmem_packaging::Timing;
use pushmem_tile::TileSpec;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::purposes;

/// The kinds of files that commands read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Array,
    ArrayConfiguration,
    ProcessingElement,
    Specification,
    RegressionList,
    MutantList,
    AcceleratorMutantList,
    PassMutantList,
    Program,
    SramBinding,
    ClockGate,
    Buffer,
    Configuration,
    Timing,
    TimingModel,
    Statement,
    Pipeline,
    Words,
    Image,
    Python,
    Network,
    LoopsInC,
    Binary,
}

/// How a kind is told, and what it is for.
struct Row {
    kind: FileKind,
    /// The name of the kind in messages, with its article.
    is: &'static str,
    /// Keys of documents, any of which tells it if no row above does; endings of files that are no documents.
    told_by: ToldBy,
    /// The command that takes it, for a message.
    taken_by: &'static str,
}

enum ToldBy {
    /// A value of the key `kind`; another key tells it where there is no `kind`.
    Kind {
        value: &'static str,
        or_key: &'static str,
    },
    Keys(&'static [&'static str]),
    /// The keys of [`Timing`].
    KeysOfTiming,
    Endings(&'static [&'static str]),
    /// Bytes that are no text.
    Contents,
}

use ToldBy::{Contents, Endings, Keys, KeysOfTiming, Kind};

/// All kinds. Of documents with keys of several, the first.
#[rustfmt::skip]
const KINDS: [Row; 23] = [
    Row {
        kind: FileKind::Array, is: "a specification of an array", told_by: Kind { value: "array", or_key: "columns" },
        taken_by: "`pushmem generate` writes its RTL, `pushmem encode` and `pushmem decode` turn its configurations into bitstreams and back, and `pushmem simulate` runs them",
    },
    Row {
        kind: FileKind::TimingModel, is: "a timing model of an array", told_by: Keys(&["timing_of"]),
        taken_by: "`pushmem build PROGRAM --array ARRAY --clock PS --timing-model FILE` checks a clock period with it",
    },
    Row {
        kind: FileKind::ArrayConfiguration, is: "a configuration of an array", told_by: Keys(&["array"]),
        taken_by: "`pushmem encode ARRAY CONFIGURATION` makes a bitstream of it",
    },
    Row {
        kind: FileKind::ProcessingElement, is: "a specification of a processing element",
        told_by: Kind { value: "processing_element", or_key: "operations" },
        taken_by: "`pushmem generate` writes its RTL",
    },
    Row {
        kind: FileKind::Specification, is: "a tile specification", told_by: Keys(&["kind"]),
        taken_by: "`pushmem generate` writes its RTL, and `pushmem build PROGRAM --tile FILE` makes memories of it",
    },
    Row {
        kind: FileKind::RegressionList, is: "a regression list", told_by: Keys(&["tests"]),
        taken_by: "`pushmem regress --lists FOLDER` runs the lists of a folder",
    },
    Row {
        kind: FileKind::MutantList, is: "a list of mutants", told_by: Keys(&["mutants"]),
        taken_by: "`pushmem mutants --list FILE` takes it",
    },
    Row {
        kind: FileKind::AcceleratorMutantList, is: "a list of mutants of accelerators", told_by: Keys(&["accelerator_mutants"]),
        taken_by: "`pushmem mutants --accelerators FILE` takes it",
    },
    Row {
        kind: FileKind::PassMutantList, is: "a list of faults in passes", told_by: Keys(&["pass_mutants"]),
        taken_by: "`scripts/faults` of the project reads it, plants the faults, and tells what is wrong with the list",
    },
    Row {
        kind: FileKind::Program, is: "a program", told_by: Keys(&["nest"]),
        taken_by: "`pushmem build` compiles it, and simulates it with --rtl",
    },
    Row {
        kind: FileKind::SramBinding, is: "a binding of an SRAM macro", told_by: Keys(&["macro", "any_shape"]),
        taken_by: "the option --sram of `pushmem generate`, `build` and `synth` takes it",
    },
    Row {
        kind: FileKind::ClockGate, is: "a clock gate", told_by: Keys(&["cell"]),
        taken_by: "the option --clock-gate of `pushmem generate`, `build` and `synth` takes it",
    },
    Row {
        kind: FileKind::Buffer, is: "a buffer", told_by: Keys(&["ports"]),
        taken_by: "`pushmem map` maps it to tiles",
    },
    Row {
        kind: FileKind::Configuration, is: "a tile configuration", told_by: Keys(&["tile"]),
        taken_by: "`pushmem simulate SPEC CONFIGURATION` runs it, and `pushmem encode` makes register writes of it",
    },
    Row {
        kind: FileKind::Timing, is: "a file of timing constraints", told_by: KeysOfTiming,
        taken_by: "the option --timing of `pushmem generate` and `build` takes it",
    },
    Row {
        kind: FileKind::Statement, is: "a lowered statement of Halide", told_by: Endings(&["stmt"]),
        taken_by: "it is not read: write the pipeline before it is lowered, by `halide.serialize_pipeline(halide.Pipeline(func), \"func.hlpipe\")`, or by `hw_accelerate(…).write(\"func.hlpipe\")` of the module pushmem_halide",
    },
    Row {
        kind: FileKind::Pipeline, is: "a pipeline of Halide", told_by: Endings(&["hlpipe"]),
        taken_by: "`pushmem build` compiles it, and `pushmem import halide` makes a loop nest of it",
    },
    Row {
        kind: FileKind::Words, is: "a file of words", told_by: Endings(&["hex"]),
        taken_by: "the option --input of `pushmem simulate` and `build` takes words, `pushmem decode` register writes",
    },
    Row {
        kind: FileKind::Image, is: "an image", told_by: Endings(&["npy", "pgm", "ppm", "png"]),
        taken_by: "`pushmem run PROGRAM --input FILE` runs a program on it",
    },
    Row {
        kind: FileKind::Python, is: "a Python script", told_by: Endings(&["py"]),
        taken_by: "run it where Halide is installed; `pushmem build` takes the *.hlpipe that it writes",
    },
    Row {
        kind: FileKind::Network, is: "a network", told_by: Endings(&["onnx", "tflite", "pt", "pth", "pb", "h5", "keras", "safetensors"]),
        taken_by: purposes::NETWORKS,
    },
    Row {
        kind: FileKind::LoopsInC, is: "a program in C", told_by: Endings(&["c", "cc", "cpp", "cxx"]),
        taken_by: purposes::LOOPS_IN_C,
    },
    Row {
        kind: FileKind::Binary, is: "a binary file", told_by: Contents,
        taken_by: "check the name of the file",
    },
];

impl Row {
    fn of(kind: FileKind) -> &'static Row {
        KINDS.iter().find(|row| row.kind == kind).expect("all kinds are in the table")
    }

    /// The keys of documents of this kind, the first most telling.
    fn keys(&self) -> Vec<String> {
        match self.told_by {
            Kind { or_key, .. } => vec![or_key.to_owned()],
            Keys(keys) => keys.iter().map(ToString::to_string).collect(),
            KeysOfTiming => Timing::KEYS.iter().map(ToString::to_string).collect(),
            Endings(_) | Contents => Vec::new(),
        }
    }

    /// The key that tells a document with these keys and this value of `kind`, if it is of this kind.
    fn telling_key(&self, found: &BTreeMap<String, IgnoredAny>, kind: Option<&str>) -> Option<String> {
        match (&self.told_by, kind) {
            (Kind { value, .. }, Some(kind)) => (kind == *value).then(|| KIND.to_owned()),
            _ => self.keys().into_iter().find(|key| found.contains_key(key)),
        }
    }
}

/// The key that names the kind of a specification.
const KIND: &str = "kind";

#[derive(Default, Deserialize)]
struct KindOnly {
    kind: Option<String>,
}

/// The key of each kind of document, for a document of no known kind.
pub fn keys_of_kinds() -> String {
    let of_row = |row: &Row| match row.told_by {
        Kind { value, .. } => Some(format!("{} has `{KIND}: {value}`", row.is)),
        _ => Some(format!("{} has the key `{}`", row.is, row.keys().first()?)),
    };
    KINDS.iter().filter_map(of_row).join(", ")
}

/// The kinds that a document may be of, the most likely first, each with the key that tells it.
fn told(document: &Document) -> Vec<(FileKind, String)> {
    let found: BTreeMap<String, IgnoredAny> = document.deserialize().unwrap_or_default();
    let KindOnly { kind } = document.deserialize().unwrap_or_default();
    KINDS.iter().filter_map(|row| Some((row.kind, row.telling_key(&found, kind.as_deref())?))).collect()
}

/// The kind of a document, if that is clear.
pub fn of(document: &Document) -> Option<FileKind> {
    told(document).first().map(|(kind, _)| *kind)
}

/// The kind of a file that is no document, if that is clear.
fn of_other(path: &Path) -> Option<FileKind> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_told = |row: &&Row| matches!(row.told_by, Endings(endings) if endings.contains(&ending.as_str()));
    if let Some(row) = KINDS.iter().find(is_told) {
        return Some(row.kind);
    }
    // Of a pipe, whoever reads it next would miss what is read here.
    if !path.is_file() {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(1 << 13).read_to_end(&mut start).ok()?;
    let is_utf16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    match start.contains(&0) && !is_utf16 {
        true => Some(FileKind::Binary),
        false => holds_statement(&String::from_utf8_lossy(&start)).then_some(FileKind::Statement),
    }
}

/// Whether a text is a lowered statement of Halide, whatever its file is called: comments, and then a module.
fn holds_statement(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| line.starts_with("module name="))
}

/// Reads a document that is to be of one of these kinds. One of which it is not clear what it is passes: its reader names what
/// is unknown or missing.
///
/// # Errors
/// When the file is clearly something else: at the key that tells it, with what takes it. And as [`Document::read`].
pub fn read(path: &Path, expected: &[FileKind]) -> Result<Document, Diagnostic> {
    // A file that is not there is no other file, whatever its name.
    if let Some(kind) = of_other(path).filter(|_| path.exists()) {
        return Err(Diagnostic::new(format!("`{}` is {}", path.display(), unlike(kind, expected)))
            .or_code(Code::OtherFile)
            .with_help(Row::of(kind).taken_by));
    }
    let document = Document::read(path)?;
    refuse_other(&document, expected)?;
    Ok(document)
}

/// Reads a document that can be checked by itself: one of any kind, but faults in passes, which only the project has.
///
/// # Errors
/// As [`read`].
pub fn read_document(path: &Path) -> Result<Document, Diagnostic> {
    let is_document = |row: &&Row| !matches!(row.told_by, Endings(_) | Contents);
    let kinds = KINDS.iter().filter(is_document).map(|row| row.kind);
    read(path, &kinds.filter(|kind| *kind != FileKind::PassMutantList).collect_vec())
}

/// Reads a configuration of a tile.
///
/// # Errors
/// As [`read`], and when the configuration is wrong, or one of another tile.
pub fn configuration(path: &Path, spec: &TileSpec) -> Result<Configuration, Diagnostic> {
    Configuration::from_document(&read(path, &[FileKind::Configuration])?, spec)
}

/// Refuses a document that is clearly of none of these kinds.
fn refuse_other(document: &Document, expected: &[FileKind]) -> Result<(), Diagnostic> {
    let told = told(document);
    match told.first().filter(|_| !told.iter().any(|(kind, _)| expected.contains(kind))) {
        None => Ok(()),
        Some((kind, key)) => {
            let message = format!("this is {}", unlike(*kind, expected));
            let problem = document.error_at_key(&FieldPath::root().key(key), message).or_code(Code::OtherFile);
            Err(problem.with_help(Row::of(*kind).taken_by))
        }
    }
}

/// Refuses a file that is clearly none of these kinds, where they are no documents. Pipes pass.
///
/// # Errors
/// As [`read`].
pub fn expect(path: &Path, expected: &[FileKind]) -> Result<(), Diagnostic> {
    match of_other(path) {
        _ if !path.is_file() => Ok(()),
        Some(kind) if expected.contains(&kind) => Ok(()),
        Some(_) => read(path, expected).map(drop),
        None => Document::read(path).map_or(Ok(()), |document| refuse_other(&document, expected)),
    }
}

/// The kind of a file, and the kinds that were expected, if they are no long list.
fn unlike(kind: FileKind, expected: &[FileKind]) -> String {
    let is = Row::of(kind).is;
    match expected {
        [_, _, _, _, ..] => is.to_owned(),
        few => format!("{is}, not {}", few.iter().map(|kind| Row::of(*kind).is).join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use pushmem_files::Document;

    use super::{FileKind, KINDS, of, read};

    #[test]
    fn each_kind_is_in_one_row() {
        for row in &KINDS {
            assert_eq!(KINDS.iter().filter(|other| other.kind == row.kind).count(), 1, "{:?}", row.kind);
            // But for macros, which have ports as buffers have, keys tell one kind.
            for key in row.keys() {
                assert_eq!(of(&Document::parse("a.yaml", format!("{key}: 1\n")).unwrap()), Some(row.kind), "{key}");
            }
        }
        assert_eq!(of(&Document::parse("a.yaml", "ports: []\nmacro: a\n").unwrap()), Some(FileKind::SramBinding));
        assert_eq!(of(&Document::parse("a.yaml", "rows: 1\n").unwrap()), None);
    }

    #[test]
    fn the_key_kind_tells_specifications_apart() {
        let kind = |text: &str| of(&Document::parse("a.yaml", text).unwrap());
        assert_eq!(kind("name: a\nkind: processing_element\n"), Some(FileKind::ProcessingElement));
        assert_eq!(kind("kind: rom\noperations: [add]\n"), Some(FileKind::Specification));
        assert_eq!(kind("operations: [add]\n"), Some(FileKind::ProcessingElement));
        assert_eq!(kind("kind: [rom]\n"), Some(FileKind::Specification));
    }

    #[test]
    fn files_that_are_no_documents_are_told() {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents, kind) in [
            ("a.stmt", "", "a lowered statement of Halide"),
            ("a.hlpipe", "", "a pipeline of Halide"),
            ("b.txt", "// input: u16[4]\nmodule name=blur, target=host\n", "a lowered statement of Halide"),
            ("c.PGM", "P2 1 1 1 0", "an image"),
            ("d.py", "import halide as hl", "a Python script"),
            ("e", "\u{7f}ELF\0\0", "a binary file"),
            ("f.hex", "00ff", "a file of words"),
            ("g.onnx", "\u{8}\u{7}", "a network"),
            ("h.cpp", "int main() {}", "a program in C"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, contents).unwrap();
            let refused = read(&path, &[FileKind::Program, FileKind::Specification]).unwrap_err();
            assert!(
                refused.message().ends_with(&format!("is {kind}, not a program or a tile specification")),
                "{refused:?}"
            );
            assert!(refused.help().is_some());
        }
        let missing = read(&folder.path().join("missing.png"), &[FileKind::Program]).unwrap_err();
        assert!(missing.message().starts_with("cannot read"), "{missing:?}");
    }
}
