//! Pipelines of Halide before lowering: `.hlpipe` files, as `halide.serialize_pipeline` and generators in C++ write them, become nests.
//!
//! Each stage takes what the one before returns:
//!
//! | Module | From | To |
//! |---|---|---|
//! | `flat`, `read` | bytes | the tables of the file: Funcs as they were written (`syntax`) |
//! | `sizes` | lines behind the pipeline | what Halide does not write |
//! | `print` | Funcs | a text, which messages point into |
//! | `floats` | numbers with a fraction | those that hardware computes as Halide does |
//! | `lower` | Funcs, schedules | a `plan`: calls of Funcs that no array holds become their values, the others stages in order |
//! | `levels` | Funcs that are computed level by level | an array for each level |
//! | `array_expansion` | updates of other elements | parts of a definition |
//! | `regions` | the boxes of outputs | those of all arrays |
//! | `held` | the values of arrays | the types that memories hold |
//! | `convert` | terms | values of nests, with their indices and tables |
//! | `rates`, `scan` | blocks of image pipelines | choices for other rates, loops in the order in which streams arrive |
//! | `looked_up` | blocks | tables of known indices that are no sums of variables |
//! | `straight`, `turns` | blocks of kept arrays | copies and loops for indices that are no sums of variables |
//! | `emit`, `statements` | blocks | a nest in the syntax of nests |
//! | `proof` | the file and the nest | whether they compute the same |
//!
//! Some of them rest on helpers: `loops` are those of a schedule, `interval` finds the values of a term, `known` those of Funcs without
//! images, `fit` the simplest index with given values, `functions` and `intrinsics` say the functions of Halide in the operators of
//! nests, `intern` keeps each term once, `substitution`, `rebuild`, `runs` and `walk` take values and indices apart.
//!
//! [`pushmem_nest`] resolves the nest as one from YAML, so that its checks and messages hold here, too. Places are those of the text of the
//! pipeline.

mod array_expansion;
mod convert;
mod emit;
mod fit;
mod flat;
mod floats;
mod functions;
mod held;
mod intern;
mod interval;
mod intrinsics;
mod known;
mod levels;
mod looked_up;
mod loops;
mod lower;
mod packing;
mod plan;
mod print;
mod proof;
mod rates;
mod read;
mod rebuild;
mod regions;
mod runs;
mod scan;
mod sizes;
mod statements;
mod straight;
mod substitution;
mod sweeps;
mod syntax;
mod target;
mod turns;
mod value;
mod walk;

use std::collections::BTreeSet;
use std::path::Path;

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, read_bytes};
use pushmem_nest::{Checked, Language, Policy, Problem, Program, SourceText, Type};

use crate::lower::Lowering;
use crate::plan::{Arrays, Storage};
use crate::sizes::{Declarations, Sizes};

pub use floats::Floats;
pub use loops::Loops;

type Result<T, E = Problem> = std::result::Result<T, E>;

/// Whether a file is a pipeline of Halide: its name ends in `.hlpipe`.
pub fn is_halide(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "hlpipe")
}

/// Reads a pipeline from a file.
///
/// # Errors
/// As [`import`], and when the file cannot be read.
pub fn read(path: &Path, floats: Floats) -> Result<Checked, Diagnostic> {
    import(&path.display().to_string(), &read_bytes(path)?, floats)
}

/// Reads a pipeline with other loops than its schedule has; nothing of another file.
///
/// # Errors
/// As [`read`].
pub fn read_with_loops(path: &Path, loops: Loops, floats: Floats) -> Option<Result<Checked, Diagnostic>> {
    let read = || import_with_loops(&path.display().to_string(), &read_bytes(path)?, loops, floats);
    is_halide(path).then(read)
}

/// Reads a pipeline with other loops than its schedule has, as far as its cost needs it: nothing proves that they compute the same.
///
/// # Errors
/// As [`read`], but for its proof.
pub fn candidate(path: &Path, loops: Loops, floats: Floats) -> Option<Result<Program, Diagnostic>> {
    let read = || {
        let imported = imported(&path.display().to_string(), &read_bytes(path)?, loops, floats, false)?;
        Ok(imported.program)
    };
    is_halide(path).then(read)
}

/// Turns a serialized pipeline into a program, which is named like the file `name`, without its ending.
///
/// # Errors
/// Where the bytes are no pipeline, with the byte. Otherwise at the place in the text of the pipeline: types that have no hardware, sizes that
/// are not known, addresses that depend on data, numbers that are of two formats, or of none, unless they are to be narrowed, and all that
/// [`Program::read`](pushmem_nest::Program::read) finds.
pub fn import(name: &str, bytes: &[u8], floats: Floats) -> Result<Checked, Diagnostic> {
    let refused = match import_with_loops(name, bytes, Loops::Scheduled, floats) {
        Err(refused) if !refused.is_fault() => refused,
        done => return done,
    };
    // Boundaries of boundaries may have indices only as arrays of their own.
    import_with_loops(name, bytes, Loops::Kept, floats).map_err(|other| if other.is_fault() { other } else { refused })
}

/// Turns a serialized pipeline into a program with these loops.
///
/// # Errors
/// As [`import`].
pub fn import_with_loops(name: &str, bytes: &[u8], loops: Loops, floats: Floats) -> Result<Checked, Diagnostic> {
    imported(name, bytes, loops, floats, true)
}

/// Turns a serialized pipeline into a program with these loops, which may be proven to compute the same.
fn imported(name: &str, bytes: &[u8], loops: Loops, floats: Floats, is_proven: bool) -> Result<Checked, Diagnostic> {
    let declarations = Declarations::read(bytes).map_err(|problem| {
        Diagnostic::new(format!("`{name}`: {problem}"))
            .with_help("write `// input: 64, 64` with the extent of each dimension, innermost first")
    })?;
    let floats = declarations.floats.unwrap_or(floats);
    let mut pipeline = read::pipeline(bytes, floats).map_err(|malformed| {
        Diagnostic::new(format!("`{name}` is no pipeline of Halide: at byte {}, {}", malformed.at, malformed.what))
            .or_code(Code::Unreadable)
            .with_help("write it anew, by `halide.serialize_pipeline` of Halide 21")
    })?;
    let (text, names) = print::text(&mut pipeline);
    pipeline.give_dimensions();
    let source = SourceText::new(name, &text, Language::Halide);
    floats::check(&pipeline, floats).map_err(|problem| source.locate(problem))?;
    let sizes = Sizes { pipeline: &pipeline, names: &names, floats, declarations: &declarations };
    let mut arrays = made(&sizes, loops).map_err(|problem| source.locate(problem))?;
    let notes = std::mem::take(&mut arrays.plan.notes);
    let schedule = declarations.schedule.or(loops.keeps_arrays().then_some(Policy::Dnn));
    let nest = emit::Nest { name: &stem(name), schedule, loops, floats, arrays };
    let emitted = nest.emit().map_err(|problem| source.locate(problem))?;
    let mut checked = emitted.nest.resolve(source.clone())?;
    for (span, said, name) in &emitted.renamed {
        let message = format!("`{said}` is called `{name}` in the nest");
        let help = format!("rename it, or write `{name}` in commands");
        checked.warnings.push(source.diagnostic(*span, message).with_help(help).as_warning());
    }
    let called = emitted.renamed.iter().map(|(_, said, name)| (said.clone(), name.clone())).collect();
    let proven = || proof::prove(&sizes, &called, &checked.program, proof::LIMITS);
    let missed = if is_proven { proven() } else { Ok(Vec::new()) };
    let missed = missed.map_err(|problem| source.locate(problem))?;
    if !missed.is_empty() {
        let names = missed.iter().map(|name| format!("`{name}`")).join(", ");
        let message = format!(
            "{names} was not compared with the pipeline: even one pixel takes too many operations, or Halide leaves all of them open"
        );
        let help = "import it with smaller extents and the same schedule, too: that is compared";
        checked.warnings.push(Diagnostic::new(message).with_help(help).as_warning());
    }
    for (span, note) in notes.iter().chain(&emitted.notes) {
        checked.warnings.push(source.diagnostic(*span, note.as_str()).as_warning());
    }
    Ok(checked)
}

/// The name of a file without folder and ending.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}

/// The most terms that the updates of a Func without an array add one after the other in its schedule. Memories with two words for each
/// element take less hardware than more operations.
const FEW_TERMS: i64 = 16;

/// The plan of a pipeline. Funcs of 32 bits whose values do not fit 16 become parts of what reads them, one after the other: their
/// arrays would have two words for each element. Arrays hold those that are none, as their updates take other elements, outputs, and
/// sums of more than a few terms.
fn made(sizes: &Sizes, loops: Loops) -> Result<Arrays> {
    let mut inline: BTreeSet<usize> = BTreeSet::new();
    let mut wide: BTreeSet<(usize, usize)> = BTreeSet::new();
    loop {
        let mut plan = Lowering::plan(sizes, loops, &inline, &wide)?;
        sweeps::divided(&mut plan, loops);
        levels::divided(&mut plan);
        packing::packed(&mut plan);
        array_expansion::joined(&mut plan);
        let boxes = regions::regions(&plan)?;
        let held = held::held(&plan, &boxes);
        let missing = (0..held.len()).filter(|array| held[*array].is_none() && boxes[*array].is_some());
        let value = |array: usize| {
            let stage = plan.stages.iter().find(|stage| stage.arrays.contains(&array))?;
            let place = stage.arrays.iter().position(|each| *each == array)?;
            // Copies to outputs belong to the Funcs that are copied.
            let func = stage.func.min(usize::MAX - stage.func);
            Some((func, place, plan.arrays[array].storage == Storage::Buffer))
        };
        let missing: Vec<(usize, usize, bool)> = missing.filter_map(value).collect();
        if missing.is_empty() {
            let held = held.into_iter().map(|of| of.unwrap_or(Type::I16)).collect();
            return Ok(Arrays { plan, boxes, held });
        }
        for (func, place, is_buffer) in missing {
            let mut more = inline.clone();
            let is_short = plan.terms_in_turn(func) <= FEW_TERMS;
            let is_new = is_buffer && is_short && more.insert(func);
            match is_new && Lowering::plan(sizes, loops, &more, &wide).is_ok() {
                true => inline = more,
                false => _ = wide.insert((func, place)),
            }
        }
    }
}
