//! Programs of Halide: what `Func.compile_to_lowered_stmt` prints becomes a nest.
//!
//! Each stage is a module, and takes what the one before returns:
//!
//! | Module | From | To |
//! |---|---|---|
//! | `lexer`, `parser` | text | a tree with places |
//! | `program` | names, `let`, loops, conditions | stores with their loops, expressions of loop variables and loads |
//! | `wide` | Funcs of 32 bits | the expressions that use them |
//! | `types` | what elements are used with | the types of the arguments, which are not printed |
//! | `shapes` | flat addresses | indices of dimensions |
//! | `turns` | folded rows | rows that are all kept |
//! | `unfold` | tiles, sliding windows, copies | whole arrays with coordinates |
//! | `merge` | the parts of partitioned and unrolled loops | one definition of each Func |
//! | `trim` | what is read | definitions of that |
//! | `order` | the order in which streams arrive | loops of image pipelines in that order |
//! | `emit` | definitions | the text of a nest |
//! | `proof` | the statement and the nest | whether they compute the same |
//!
//! Some of them rest on helpers: `fit` finds the simplest index with given values, `folding` the remainders that keep rows in
//! turn, `canonical` tells whether two expressions compute the same in a box, `boundaries` where an output shows the ends of
//! definitions, `tuples` which updates read what they have stored.
//!
//! The text is read by [`pushmem_nest`], so that its checks and messages hold here, too. Places are those of Halide's text.
//!
//! ```
//! let text = "
//! // input: u16[64]
//! // output: u16[63]
//! module name=sums, target=x86-64-linux
//! external_plus_metadata func sums (input, output) {
//! produce output {
//!  for (output.s0.x, 0, 63) {
//!   output[output.s0.x] = input[output.s0.x] + input[output.s0.x + 1]
//!  }
//! }
//! }
//! ";
//! let program = pushmem_halide::import("sums.stmt", text).unwrap().program;
//! assert!(program.to_string().ends_with("
//! nest:
//!   - for x in 0..63:
//!     - output[x] = input[x] + input[x + 1]
//! "));
//! ```

mod boundaries;
mod canonical;
mod declarations;
mod emit;
mod fault;
mod fit;
mod folding;
mod intrinsics;
mod lexer;
mod merge;
mod order;
mod parser;
mod pipeline;
mod program;
mod proof;
mod rebuild;
mod shapes;
mod syntax;
mod text;
mod trim;
mod tuples;
mod turns;
mod types;
mod unfold;
mod value;
mod wide;

use std::collections::BTreeMap;
use std::path::Path;

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, counted, read_bytes, read_text};
use pushmem_nest::{Checked, Language, Policy, Program, Source, Type, is_reserved};

use crate::canonical::Canonical;
use crate::emit::{Emitted, Nest};
use crate::fault::Fault;
use crate::merge::{Merged, Merger};
use crate::program::Stores;
use crate::proof::{Compared, Limits, Statement};
use crate::shapes::Shape;
use crate::syntax::Module;
use crate::unfold::Definition;

/// The most stores of all readings in which the places of a Func are kept apart: some seconds.
const MOST_GUESSED: usize = 1 << 12;

pub use pipeline::{Floats, Loops, import_pipeline, import_with_loops};

/// Whether a file is one that Halide wrote: its name ends in `.stmt` or `.hlpipe`.
pub fn is_halide(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "stmt") || is_pipeline(path)
}

/// Whether a file is a pipeline before lowering: its name ends in `.hlpipe`.
fn is_pipeline(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "hlpipe")
}

/// Whether a text is a lowered statement, whatever its file is called: comments, and then a module.
pub fn holds_statement(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| line.starts_with("module name="))
}

/// Reads a program from a file that Halide wrote. Numbers with a fraction are those of bfloat16.
///
/// # Errors
/// As [`import`] or [`import_pipeline`], and when the file cannot be read.
pub fn read(path: &Path) -> Result<Checked, Diagnostic> {
    read_in_steps(path, Floats::default(), |_| {})
}

/// Reads a pipeline before lowering with other loops than its schedule has; nothing of another file.
///
/// # Errors
/// As [`read`].
pub fn read_with_loops(path: &Path, loops: Loops, floats: Floats) -> Option<Result<Checked, Diagnostic>> {
    let read = || import_with_loops(&path.display().to_string(), &read_bytes(path)?, loops, floats);
    is_pipeline(path).then(read)
}

/// Reads a program as [`read`] does, and tells `step` in words what it is doing.
///
/// # Errors
/// As [`read`].
pub fn read_in_steps(path: &Path, floats: Floats, step: impl FnMut(&str)) -> Result<Checked, Diagnostic> {
    let name = path.display().to_string();
    match is_pipeline(path) {
        true => import_pipeline(&name, &read_bytes(path)?, floats),
        false => import_within(&name, &read_text(path)?, proof::LIMITS, step),
    }
}

/// Turns the text of a lowered statement into a program, which is named like the file `name`, without its ending.
///
/// # Errors
/// At the place in the text: what is not of the language, or has no hardware, such as pointers, calls, vectors and floating
/// point; addresses that are not sums of loop variables; parts of a Func that do not fit together; all that
/// [`Program::read`] finds; and a pixel that the statement and the program do not agree on.
pub fn import(name: &str, text: &str) -> Result<Checked, Diagnostic> {
    import_within(name, text, proof::LIMITS, |_| {})
}

/// Imports with so many operations for the proof.
fn import_within(name: &str, text: &str, limits: Limits, mut step: impl FnMut(&str)) -> Result<Checked, Diagnostic> {
    let source = Source::new(name, text, Language::Halide);
    step("reading the statement");
    let read = Read::new(text).map_err(|fault| located(&source, fault))?;
    let first = match read.nest(&source, &read.program, limits, &mut { turns::MOST_OF_ALL }) {
        Err(refusal) => refusal,
        Ok((checked, compared)) => return Ok(warned(checked, &compared)),
    };
    // Where the parts of an array do not fit together, they may be understood as arrays of their own. That is a guess, which
    // only a comparison makes good.
    let arrays = 0..read.program.arrays.len();
    let guesses: Vec<usize> = match first.parts_of {
        // It may be another one that was understood wrongly before.
        Some(array) => [array].into_iter().chain(arrays.filter(|other| *other != array)).collect(),
        // Rows were taken for others, and it is not known of which array.
        None if first.is_misread => arrays.collect(),
        None => Vec::new(),
    };
    let is_about_loops = !guesses.is_empty();
    let (mut tried, mut left, mut accesses) = (0, MOST_GUESSED, turns::MOST_OF_ALL);
    for array in guesses {
        let (mut program, mut parts_of) = (read.program.clone(), Some(array));
        while let Some(apart) = parts_of.and_then(|array| program.apart(array)) {
            program = apart;
            let Some(rest) = left.checked_sub(program.stores.len()).filter(|_| accesses > 0) else {
                return Err(before_lowering(given_up(first.diagnostic, tried)));
            };
            (left, tried) = (rest, tried + 1);
            step(&format!("trying other places of `{}` ({tried})", program.arrays[array].name));
            match read.nest(&source, &program, limits, &mut accesses) {
                Err(refusal) => parts_of = refusal.parts_of,
                Ok((checked, compared)) if compared.missed().is_empty() => return Ok(checked),
                Ok(_) => break,
            }
        }
    }
    Err(if is_about_loops { before_lowering(first.diagnostic) } else { first.diagnostic })
}

/// A message about loops of a statement that are not understood, with the way around them.
fn before_lowering(refused: Diagnostic) -> Diagnostic {
    let way = "a pipeline before lowering, in a file `.hlpipe`, has no loops to be understood";
    let help = refused.help().map_or(way.to_owned(), |help| format!("{help}; {way}"));
    refused.with_help(help)
}

/// The message of the first reading, with how many others there were when the rest was given up.
fn given_up(first: Diagnostic, tried: usize) -> Diagnostic {
    let given_up = match tried {
        0 => "readings in which each place of a Func has an array of its own take too long".to_owned(),
        _ => format!(
            "{} in which each place of a Func has an array of its own, without success; more take too long",
            counted(tried, "reading")
        ),
    };
    let help = first.help().map_or(given_up.clone(), |help| format!("{help}. {given_up}"));
    first.with_help(help)
}

/// The program with a warning that names the outputs that were not compared.
fn warned(mut checked: Checked, compared: &Compared) -> Checked {
    if let missed @ [_, ..] = compared.missed() {
        let names = missed.iter().map(|name| format!("`{name}`")).join(", ");
        let message = format!("{names} was not compared with the statement: even one pixel takes too many operations");
        checked.warnings.push(
            Diagnostic::new(message)
                .with_help("import it with smaller extents and the same schedule, too: that is compared")
                .as_warning(),
        );
    }
    checked
}

/// Warnings of arguments that have other names in the nest: commands know them by these.
fn renamed(source: &Source, program: &Stores, names: &[String]) -> Vec<Diagnostic> {
    let arguments = program.arrays.iter().zip(names).filter(|(array, _)| array.is_argument);
    let renamed = arguments.filter_map(|(array, name)| {
        let said = array.name.split('$').next().unwrap_or(array.name);
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let why = match is_reserved(said) {
            true => "is a word of the language of nests",
            false if !said.chars().all(is_name) => "has more than letters, digits and `_`",
            false => "is the name of another array",
        };
        (said != name).then(|| {
            let message = format!("`{said}` is called `{name}` in the nest: it {why}");
            let help = format!("rename it, or write `{name}` in commands");
            source.diagnostic(array.span, message).with_help(help).as_warning()
        })
    });
    renamed.collect()
}

fn located(source: &Source, fault: Fault) -> Diagnostic {
    let diagnostic = source.diagnostic(fault.span, fault.message);
    let diagnostic = match fault.is_ours {
        true => diagnostic.as_fault("statement"),
        false => diagnostic,
    };
    match fault.help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// The name of a file without folder and ending.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}

/// A text that was read.
struct Read<'a> {
    module: Module<'a>,
    program: Stores<'a>,
    schedule: Option<Policy>,
    /// A number that follows from the text.
    seed: u64,
}

/// Why a program is no nest.
struct Refusal {
    diagnostic: Diagnostic,
    /// The array whose parts do not fit together, if it is about that.
    parts_of: Option<usize>,
    /// Whether the checks of nests have found it, or the comparison with the statement.
    is_misread: bool,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, parts_of: None, is_misread: true }
    }
}

impl<'a> Read<'a> {
    fn new(text: &'a str) -> Result<Self, Fault> {
        let declarations = declarations::declarations(text)?;
        let module = parser::parse(text)?;
        let program = wide::inlined(program::stores(&module, &declarations)?);
        // The hash of Fowler, Noll and Vo (FNV-1a): the standard library's may change with its version.
        let seed = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Ok(Self { module, program, schedule: declarations::schedule(text)?, seed })
    }

    /// The nest of the program, which may have more arrays than the text, checked, and what of it was compared.
    ///
    /// At most `accesses` are executed to find the rows of folded arrays; those that were are taken from it.
    fn nest(
        &self,
        source: &Source,
        program: &Stores,
        limits: Limits,
        accesses: &mut usize,
    ) -> Result<(Checked, Compared), Refusal> {
        let refuse = |fault: Fault| {
            let parts_of = fault.parts_of;
            Refusal { diagnostic: located(source, fault), parts_of, is_misread: false }
        };
        let inferred = Inferred::new(program).map_err(refuse)?;
        let emitted = inferred.emitted(&stem(source.name()), self.schedule, accesses).map_err(refuse)?;
        let document = Document::parse(source.name(), emitted.text.as_str())?;
        let mut checked = Program::translated(&document, source.clone(), |span| emitted.place(span))?;
        checked.warnings.extend(renamed(source, program, &emitted.names));
        let statement = Statement {
            module: &self.module,
            inferred: &inferred,
            names: &emitted.names,
            boundaries: &emitted.boundaries,
            seed: self.seed,
        };
        let compared = proof::prove(&statement, &checked.program, limits)
            .map_err(|fault| Refusal { is_misread: true, ..refuse(fault) })?;
        Ok((checked, compared))
    }
}

/// The stores of a program, with what the text does not say.
struct Inferred<'a> {
    program: &'a Stores<'a>,
    types: Vec<Type>,
    shapes: Vec<Vec<Shape>>,
}

impl<'a> Inferred<'a> {
    fn new(program: &'a Stores<'a>) -> Result<Self, Fault> {
        let types = types::infer(program)?;
        Ok(Self { program, types, shapes: shapes::shapes(program)? })
    }

    /// The text of the nest.
    fn emitted(&self, name: &str, schedule: Option<Policy>, accesses: &mut usize) -> Result<Emitted, Fault> {
        let Self { program, types, shapes } = self;
        let is_table = shapes::tables(program);
        let located = shapes::locate(program, shapes, &is_table)?;
        let (located, folded) = turns::unrolled(program, shapes, located, accesses)?;
        let mut unfolded = unfold::unfold(program, &located, &folded)?;
        let bounds: Vec<Vec<(i64, i64)>> = (program.arrays.iter().enumerate())
            .map(|(number, array)| match array.is_argument || unfolded.coordinates[number].is_empty() {
                true => shapes[number][0].iter().map(|extent| (0, extent - 1)).collect(),
                false => unfolded.coordinates[number].iter().map(|variable| unfolded.ranges[*variable]).collect(),
            })
            .collect();
        let boundaries = boundaries::boundaries(&unfolded);
        // An array is computed where its last part is: all it reads is above, and all that reads it below.
        let mut of_array: BTreeMap<usize, (usize, Vec<Definition>)> = BTreeMap::new();
        for (place, definition) in unfolded.definitions.iter().enumerate() {
            let entry = of_array.entry(definition.array).or_default();
            entry.0 = place;
            entry.1.push(definition.clone());
        }
        let mut definitions: Vec<(usize, usize, Vec<Merged>)> = Vec::new();
        for (array, (place, parts)) in of_array {
            let canonical = Canonical::new(types, &bounds);
            let coordinates = &unfolded.coordinates[array];
            let is_argument = program.arrays[array].is_argument;
            let mut merger = Merger { canonical, ranges: &unfolded.ranges, coordinates, is_argument };
            definitions.push((place, array, merger.merge(&parts)?));
        }
        definitions.sort_by_key(|(place, ..)| *place);
        let mut definitions: Vec<(usize, Vec<Merged>)> =
            definitions.into_iter().map(|(_, array, each)| (array, each)).collect();
        trim::trim(program, &is_table, &mut unfolded, &mut definitions);
        order::follow_streams(program, schedule, &unfolded, &mut definitions)?;
        let nest = Nest {
            name,
            schedule,
            program,
            shapes,
            types,
            is_table: &is_table,
            unfolded: &unfolded,
            definitions: &definitions,
            boundaries,
        };
        nest.emit()
    }
}
