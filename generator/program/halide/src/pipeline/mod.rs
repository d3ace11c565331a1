//! Pipelines of Halide before lowering: `.hlpipe` files, as `halide.serialize_pipeline` and generators in C++ write them.
//!
//! 1. [`read`]: the tables of the file become [Funcs](syntax) as they were written; [`print`] makes a text of them, which messages
//!    point into.
//! 2. [`lower`]: calls of Funcs that no array holds become their values, and the others [stages](plan) in order.
//! 3. [`regions`]: the boxes of all arrays, from those of the outputs on; [`held`]: the types that memories hold.
//! 4. [`text`]: indices and tables by [`convert`], loops by [`loops`] and [`scan`], and then the nest. Other rates become choices in a
//!    scan by [`rates`], and all that is no sum of variables becomes copies and loops, where arrays are kept, by [`straight`].

mod convert;
mod flat;
mod floats;
mod functions;
mod held;
mod intern;
mod interval;
mod known;
mod loops;
mod lower;
mod plan;
mod print;
mod proof;
mod rates;
mod read;
mod regions;
mod runs;
mod scan;
mod sizes;
mod straight;
mod syntax;
mod text;
mod turns;
mod walk;

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Document};
use pushmem_nest::{Checked, Language, Policy, Program, Source, Type};

use crate::fault::Result;
pub use floats::Floats;
pub use loops::Loops;
use lower::Lowering;
use plan::{Box, Plan, Storage};
use sizes::{Declarations, Sizes};

/// Turns a serialized pipeline into a program, which is named like the file `name`, without its ending.
///
/// # Errors
/// Where the bytes are no pipeline, with the byte. Otherwise at the place in the text of the pipeline: types that have no hardware, sizes that
/// are not known, addresses that depend on data, numbers that are not of bfloat16 unless they are to be narrowed, and all that
/// [`Program::read`] finds.
pub fn import_pipeline(name: &str, bytes: &[u8], floats: Floats) -> Result<Checked, Diagnostic> {
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
/// As [`import_pipeline`].
pub fn import_with_loops(name: &str, bytes: &[u8], loops: Loops, floats: Floats) -> Result<Checked, Diagnostic> {
    let declarations = Declarations::read(bytes).map_err(|problem| {
        Diagnostic::new(format!("`{name}`: {problem}"))
            .with_help("write `// input: 64, 64` with the extent of each dimension, innermost first")
    })?;
    let mut pipeline = read::pipeline(bytes).map_err(|malformed| {
        Diagnostic::new(format!("`{name}` is no pipeline of Halide: at byte {}, {}", malformed.at, malformed.what))
            .or_code(Code::Unreadable)
            .with_help("write it anew, by `halide.serialize_pipeline` of Halide 21")
    })?;
    let (text, names) = print::text(&mut pipeline);
    let source = Source::new(name, &text, Language::Halide);
    let floats = declarations.floats.unwrap_or(floats);
    floats::check(&pipeline, floats).map_err(|fault| crate::located(&source, fault))?;
    let sizes = Sizes { pipeline: &pipeline, names: &names, floats, declarations: &declarations };
    let made = made(&sizes, loops).map_err(|fault| crate::located(&source, fault))?;
    let Made { mut plan, boxes, held } = made;
    let notes = std::mem::take(&mut plan.notes);
    let schedule = declarations.schedule.or((loops == Loops::Kept).then_some(Policy::Dnn));
    let nest = text::Nest { name: &crate::stem(name), schedule, loops, floats, plan, boxes, held };
    let emitted = nest.emit().map_err(|fault| crate::located(&source, fault))?;
    let document = Document::parse(name, emitted.text.as_str())?;
    let mut checked = Program::translated(&document, source.clone(), |span| emitted.place(span))?;
    for (span, said, name) in &emitted.renamed {
        let message = format!("`{said}` is called `{name}` in the nest");
        let help = format!("rename it, or write `{name}` in commands");
        checked.warnings.push(source.diagnostic(*span, message).with_help(help).as_warning());
    }
    let called = emitted.renamed.iter().map(|(_, said, name)| (said.clone(), name.clone())).collect();
    let missed = proof::prove(&sizes, &called, &checked.program, proof::LIMITS);
    let missed = missed.map_err(|fault| crate::located(&source, fault))?;
    if !missed.is_empty() {
        let names = missed.iter().map(|name| format!("`{name}`")).join(", ");
        let message = format!("{names} was not compared with the pipeline: even one pixel takes too many operations");
        let help = "import it with smaller extents and the same schedule, too: that is compared";
        checked.warnings.push(Diagnostic::new(message).with_help(help).as_warning());
    }
    for (span, note) in &notes {
        checked.warnings.push(source.diagnostic(*span, note.as_str()).as_warning());
    }
    Ok(checked)
}

/// A plan with the boxes and the types of its arrays.
struct Made {
    plan: Plan,
    boxes: Vec<Option<Box>>,
    held: Vec<Type>,
}

/// The plan of a pipeline. Funcs of 32 bits whose values do not fit 16 become parts of what reads them, one after the other: their
/// arrays would have two words for each element. Arrays hold those that are none, as their updates take other elements, and outputs.
fn made(sizes: &Sizes, loops: Loops) -> Result<Made> {
    let mut inline: BTreeSet<usize> = BTreeSet::new();
    let mut wide: BTreeSet<(usize, usize)> = BTreeSet::new();
    loop {
        let plan = Lowering::plan(sizes, loops, &inline, &wide)?;
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
            return Ok(Made { plan, boxes, held });
        }
        for (func, place, is_buffer) in missing {
            let mut more = inline.clone();
            let is_new = is_buffer && more.insert(func);
            match is_new && Lowering::plan(sizes, loops, &more, &wide).is_ok() {
                true => inline = more,
                false => _ = wide.insert((func, place)),
            }
        }
    }
}
