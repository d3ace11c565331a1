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

pushmem_files::named! {
    /// The kinds of files that commands read, by their names in messages, with articles. Of documents with keys of several, the first.
    pub enum FileKind {
        Array = "a specification of an array",
        TimingModel = "a timing model of an array",
        ArrayConfiguration = "a configuration of an array",
        ProcessingElement = "a specification of a processing element",
        Specification = "a tile specification",
        RegressionList = "a regression list",
        MutantList = "a list of mutants",
        AcceleratorMutantList = "a list of mutants of accelerators",
        PassMutantList = "a list of faults in passes",
        Program = "a program",
        SramBinding = "a binding of an SRAM macro",
        ClockGate = "a clock gate",
        Buffer = "a buffer",
        Configuration = "a tile configuration",
        Timing = "a file of timing constraints",
        Statement = "a lowered statement of Halide",
        Pipeline = "a pipeline of Halide",
        Words = "a file of words",
        Image = "an image",
        Python = "a Python script",
        Onnx = "a network of ONNX",
        Tflite = "a network of TensorFlow Lite",
        Network = "a network",
        LoopsInC = "a program in C",
        Binary = "a binary file",
    }
}

/// How a kind is told: keys of documents, any of which tells it if no kind above does; endings of files that are no documents.
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

impl FileKind {
    fn told_by(self) -> ToldBy {
        match self {
            FileKind::Array => Kind { value: "array", or_key: "columns" },
            FileKind::TimingModel => Keys(&["timing_of"]),
            FileKind::ArrayConfiguration => Keys(&["array"]),
            FileKind::ProcessingElement => Kind { value: "processing_element", or_key: "operations" },
            FileKind::Specification => Keys(&["kind"]),
            FileKind::RegressionList => Keys(&["tests"]),
            FileKind::MutantList => Keys(&["mutants"]),
            FileKind::AcceleratorMutantList => Keys(&["accelerator_mutants"]),
            FileKind::PassMutantList => Keys(&["pass_mutants"]),
            FileKind::Program => Keys(&["nest"]),
            FileKind::SramBinding => Keys(&["macro", "any_shape"]),
            FileKind::ClockGate => Keys(&["cell"]),
            FileKind::Buffer => Keys(&["ports"]),
            FileKind::Configuration => Keys(&["tile"]),
            FileKind::Timing => KeysOfTiming,
            FileKind::Statement => Endings(&["stmt"]),
            FileKind::Pipeline => Endings(&["hlpipe"]),
            FileKind::Words => Endings(&["hex"]),
            FileKind::Image => Endings(&["npy", "pgm", "ppm", "png"]),
            FileKind::Python => Endings(&["py"]),
            FileKind::Onnx => Endings(&["onnx"]),
            FileKind::Tflite => Endings(&["tflite"]),
            FileKind::Network => Endings(&["pt", "pth", "pb", "h5", "keras", "safetensors"]),
            FileKind::LoopsInC => Endings(&["c", "cc", "cpp", "cxx"]),
            FileKind::Binary => Contents,
        }
    }

    /// The command that takes it, for a message.
    #[rustfmt::skip]
    fn taken_by(self) -> &'static str {
        match self {
            FileKind::Array => "`pushmem generate` writes its RTL, `pushmem encode` and `pushmem decode` turn its configurations into bitstreams and back, and `pushmem simulate` runs them",
            FileKind::TimingModel => "`pushmem build PROGRAM --array ARRAY --clock PS --timing-model FILE` checks a clock period with it",
            FileKind::ArrayConfiguration => "`pushmem encode ARRAY CONFIGURATION` makes a bitstream of it",
            FileKind::ProcessingElement => "`pushmem generate` writes its RTL",
            FileKind::Specification => "`pushmem generate` writes its RTL, and `pushmem build PROGRAM --tile FILE` makes memories of it",
            FileKind::RegressionList => "`pushmem regress --lists FOLDER` runs the lists of a folder",
            FileKind::MutantList => "`pushmem mutants --list FILE` takes it",
            FileKind::AcceleratorMutantList => "`pushmem mutants --accelerators FILE` takes it",
            FileKind::PassMutantList => "`scripts/faults` of the project reads it, plants the faults, and tells what is wrong with the list",
            FileKind::Program => "`pushmem build` compiles it, and simulates it with --rtl",
            FileKind::SramBinding => "the option --sram of `pushmem generate`, `build` and `synth` takes it",
            FileKind::ClockGate => "the option --clock-gate of `pushmem generate`, `build` and `synth` takes it",
            FileKind::Buffer => "`pushmem map` maps it to tiles",
            FileKind::Configuration => "`pushmem simulate SPEC CONFIGURATION` runs it, and `pushmem encode` makes register writes of it",
            FileKind::Timing => "the option --timing of `pushmem generate` and `build` takes it",
            FileKind::Statement => "it is not read: write the pipeline before it is lowered, by `halide.serialize_pipeline(halide.Pipeline(func), \"func.hlpipe\")`, or by `hw_accelerate(…).write(\"func.hlpipe\")` of the module pushmem_halide",
            FileKind::Pipeline => "`pushmem build` compiles it, and `pushmem import halide` makes a loop nest of it",
            FileKind::Words => "the option --input of `pushmem simulate` and `build` takes words, `pushmem decode` register writes",
            FileKind::Image => "`pushmem run PROGRAM --input FILE` runs a program on it",
            FileKind::Python => "run it where Halide is installed; `pushmem build` takes the *.hlpipe that it writes",
            FileKind::Onnx => "`pushmem build` compiles it, and `pushmem import onnx FILE.onnx -o FOLDER` makes a loop nest of it",
            FileKind::Tflite => "`pushmem build` compiles it, and `pushmem import tflite FILE.tflite -o FOLDER` makes a loop nest of it",
            FileKind::Network => purposes::NETWORKS,
            FileKind::LoopsInC => purposes::LOOPS_IN_C,
            FileKind::Binary => "check the name of the file",
        }
    }

    /// The keys of documents of this kind, the first most telling.
    fn keys(self) -> Vec<String> {
        match self.told_by() {
            Kind { or_key, .. } => vec![or_key.to_owned()],
            Keys(keys) => keys.iter().map(ToString::to_string).collect(),
            KeysOfTiming => Timing::KEYS.iter().map(ToString::to_string).collect(),
            Endings(_) | Contents => Vec::new(),
        }
    }

    /// The key that tells a document with these keys and this value of `kind`, if it is of this kind.
    fn telling_key(self, found: &BTreeMap<String, IgnoredAny>, kind: Option<&str>) -> Option<String> {
        match (self.told_by(), kind) {
            (Kind { value, .. }, Some(kind)) => (kind == value).then(|| KIND.to_owned()),
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
    let of_kind = |of: FileKind| match of.told_by() {
        Kind { value, .. } => Some(format!("{} has `{KIND}: {value}`", of.name())),
        _ => Some(format!("{} has the key `{}`", of.name(), of.keys().first()?)),
    };
    FileKind::ALL.into_iter().filter_map(of_kind).join(", ")
}

/// The kinds that a document may be of, the most likely first, each with the key that tells it.
fn told(document: &Document) -> Vec<(FileKind, String)> {
    let found: BTreeMap<String, IgnoredAny> = document.deserialize().unwrap_or_default();
    let KindOnly { kind } = document.deserialize().unwrap_or_default();
    FileKind::ALL.into_iter().filter_map(|of| Some((of, of.telling_key(&found, kind.as_deref())?))).collect()
}

/// The kind of a document, if that is clear.
pub fn of(document: &Document) -> Option<FileKind> {
    told(document).first().map(|(kind, _)| *kind)
}

/// The kind of a file that is no document, if that is clear.
fn of_other(path: &Path) -> Option<FileKind> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_told = |of: &FileKind| matches!(of.told_by(), Endings(endings) if endings.contains(&ending.as_str()));
    if let Some(found) = FileKind::ALL.into_iter().find(is_told) {
        return Some(found);
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
            .with_help(kind.taken_by()));
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
    let is_document = |kind: &FileKind| !matches!(kind.told_by(), Endings(_) | Contents);
    let kinds = FileKind::ALL.into_iter().filter(is_document);
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
            Err(problem.with_help(kind.taken_by()))
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
    let is = kind.name();
    match expected {
        [_, _, _, _, ..] => is.to_owned(),
        few => format!("{is}, not {}", few.iter().map(|kind| kind.name()).join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use pushmem_files::Document;

    use super::{FileKind, of, read};

    #[test]
    fn keys_tell_kinds() {
        for kind in FileKind::ALL {
            // But for macros, which have ports as buffers have, keys tell one kind.
            for key in kind.keys() {
                assert_eq!(of(&Document::parse("a.yaml", format!("{key}: 1\n")).unwrap()), Some(kind), "{key}");
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
            ("g.onnx", "\u{8}\u{7}", "a network of ONNX"),
            ("g.tflite", "TFL3", "a network of TensorFlow Lite"),
            ("g.pt", "PK", "a network"),
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
