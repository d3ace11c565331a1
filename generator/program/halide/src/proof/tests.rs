//! The proof finds faults that are planted in nests.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pushmem_float::Format;
use pushmem_images::Image;
use pushmem_nest::{
    Access, ArrayKind, Binary, Expression, ExpressionKind, Index, Node, Operation, Part, Program, Type,
};

use super::*;
use crate::sizes::{Declarations, Sizes};
use crate::{Floats, import, print, read};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Operator,
    SwappedOperands,
    OtherChoice,
    WrongCast,
    Constant,
    Index,
    StoredElsewhere,
    DroppedOperation,
    FewerIterations,
}

const KINDS: [Kind; 9] = [
    Kind::Operator,
    Kind::SwappedOperands,
    Kind::OtherChoice,
    Kind::WrongCast,
    Kind::Constant,
    Kind::Index,
    Kind::StoredElsewhere,
    Kind::DroppedOperation,
    Kind::FewerIterations,
];

/// The operator in the place of another one.
fn other(operator: Binary) -> Binary {
    match operator {
        Binary::Add => Binary::Subtract,
        Binary::Subtract | Binary::Multiply | Binary::Divide => Binary::Add,
        Binary::Modulo => Binary::Divide,
        Binary::ShiftLeft => Binary::ShiftRight,
        Binary::ShiftRight => Binary::ShiftLeft,
        Binary::And => Binary::Or,
        Binary::Or => Binary::Xor,
        Binary::Xor => Binary::And,
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::LessEqual,
        Binary::LessEqual => Binary::Less,
        Binary::Greater => Binary::GreaterEqual,
        Binary::GreaterEqual => Binary::Greater,
        Binary::Minimum => Binary::Maximum,
        Binary::Maximum => Binary::Minimum,
        Binary::AbsoluteDifference => Binary::Subtract,
        Binary::FloatAdd(format) => Binary::FloatSubtract(format),
        Binary::FloatSubtract(format) | Binary::FloatMultiply(format) => Binary::FloatAdd(format),
        Binary::FloatEqual(format) => Binary::FloatLessEqual(format),
        Binary::FloatLess(format) => Binary::FloatLessEqual(format),
        Binary::FloatLessEqual(format) => Binary::FloatLess(format),
        Binary::FloatMinimum(format) => Binary::FloatMaximum(format),
        Binary::FloatMaximum(format) => Binary::FloatMinimum(format),
    }
}

/// Plants a fault in an expression: whether it can have one of this kind.
fn planted(expression: &mut Expression, kind: Kind) -> bool {
    let of = expression.value;
    match (&mut expression.kind, kind) {
        // An absolute difference has another type than a difference.
        (ExpressionKind::Binary { operator, left, .. }, Kind::Operator)
            if other(*operator).result(left.value) == of =>
        {
            *operator = other(*operator);
        }
        (ExpressionKind::Binary { left, right, .. }, Kind::SwappedOperands) => std::mem::swap(left, right),
        (ExpressionKind::Select { then, otherwise, .. }, Kind::OtherChoice) => std::mem::swap(then, otherwise),
        (ExpressionKind::Constant(number), Kind::Constant) if of.is_integer() && of.holds(*number + 1) => *number += 1,
        // Twice the number.
        (ExpressionKind::Constant(number), Kind::Constant) if let Some(format) = of.format() => {
            *number += i64::from(format.fractions());
        }
        (_, Kind::WrongCast) if of.is_integer() && of.bits() > 8 => {
            let kind = ExpressionKind::Cast(Arc::new(expression.clone()));
            let narrow = Expression { kind, value: Type::I8, ..*expression };
            expression.kind = ExpressionKind::Cast(Arc::new(narrow));
        }
        _ => return false,
    }
    true
}

/// The parts of an expression, each before its operands and once, as a nest has each once.
fn parts(expression: &Expression) -> Vec<&Expression> {
    fn visit<'a>(of: &'a Expression, known: &mut HashSet<Part<'a>>, found: &mut Vec<&'a Expression>) {
        if known.insert(Part(of)) {
            found.push(of);
            of.operands().into_iter().for_each(|operand| visit(operand, known, found));
        }
    }
    let mut found = Vec::new();
    visit(expression, &mut HashSet::new(), &mut found);
    found
}

/// The expression with a fault in the part of this number, wherever that is used; nothing, if there can be none.
fn with_fault(expression: &Expression, part: usize, kind: Kind) -> Option<Expression> {
    let faulty = Part(parts(expression)[part]);
    expression.rebuilt_by(&mut |old, mut new| {
        let is_possible = Part(old) != faulty || planted(&mut new, kind);
        is_possible.then_some(new)
    })
}

/// Lets an access be to the next element, if the array has it.
fn moved(access: &mut Access, dimension: usize, arrays: &[Array], ranges: &[(i64, i64)]) -> Option<()> {
    let array = &arrays[access.array];
    let index = &mut access.indices[dimension];
    let next = index.plus(&Index::constant(1), 1).filter(|_| access.computed.is_none())?;
    *index = next.clamped(array.min[dimension], array.max(dimension), ranges);
    Some(())
}

fn operations<'a>(
    nodes: &'a mut [Node],
    ranges: &mut Vec<(i64, i64)>,
    found: &mut Vec<(&'a mut Operation, Vec<(i64, i64)>)>,
) {
    for node in nodes {
        match node {
            Node::Operation(operation) => found.push((operation, ranges.clone())),
            Node::Loop(each) => {
                ranges.push((each.min, each.max()));
                operations(&mut each.body, ranges, found);
                ranges.pop();
            }
        }
    }
}

/// The most faults of a kind that are planted in a nest, spread over its operations and expressions.
const MOST_PLANTED: usize = 6;

/// How many places for faults of a kind a nest has at most.
fn places(program: &Program, kind: Kind) -> Vec<(usize, usize)> {
    let operations = program.operations();
    let count = |operation: &Operation| match kind {
        Kind::Index => operation.loads.iter().map(|load| load.access.indices.len()).sum(),
        Kind::StoredElsewhere => operation.target.indices.len(),
        _ => parts(&operation.expression).len(),
    };
    match kind {
        Kind::FewerIterations | Kind::DroppedOperation => (0..program.nest.len()).map(|place| (place, 0)).collect(),
        _ => {
            let of = |(place, (_, operation)): (usize, &(_, &Operation))| {
                (0..count(operation)).map(move |part| (place, part)).collect::<Vec<_>>()
            };
            operations.iter().enumerate().flat_map(of).collect()
        }
    }
}

/// The nest with a fault of a kind at this place; nothing, if there can be none.
fn mutant(program: &Program, kind: Kind, (place, part): (usize, usize)) -> Option<Program> {
    let mut mutant = program.clone();
    match kind {
        Kind::FewerIterations => match &mut mutant.nest[place] {
            Node::Loop(each) if each.extent > each.unroll => each.extent -= each.unroll,
            _ => return None,
        },
        Kind::DroppedOperation => _ = mutant.nest.remove(place),
        _ => {
            let mut all = Vec::new();
            operations(&mut mutant.nest, &mut Vec::new(), &mut all);
            let (operation, ranges) = &mut all[place];
            match kind {
                Kind::Index => {
                    let mut accesses = operation.loads.iter_mut().map(|load| &mut load.access);
                    let mut rest = part;
                    let access = accesses.find(|access| {
                        let count = access.indices.len();
                        let is_here = rest < count;
                        rest -= if is_here { 0 } else { count };
                        is_here
                    })?;
                    moved(access, rest, &program.arrays, ranges)?;
                }
                Kind::StoredElsewhere => moved(&mut operation.target, part, &program.arrays, ranges)?,
                _ => operation.expression = with_fault(&operation.expression, part, kind)?,
            }
        }
    }
    Some(mutant)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines")
}

/// The words of the outputs on the images beside the pipeline; nothing, if the nest cannot be executed.
fn outputs(program: &Program, name: &str) -> Option<Vec<Vec<i64>>> {
    let image = |array: &str| Image::read_any(&folder().join(format!("{name}.{array}.npy"))).unwrap();
    let inputs = program.arrays_of(ArrayKind::Input).map(|array| (array.name.clone(), image(&array.name)));
    let found = program.run(&inputs.collect()).ok()?;
    Some(found.into_values().map(|image| image.values().to_vec()).collect())
}

/// Whether elements differ: a zero is a zero with the other sign, too.
fn differ(of: Type, one: &[i64], other: &[i64]) -> bool {
    let is_same = |(one, other): (&i64, &i64)| {
        let numbers = of.format().map(|format| [one, other].map(|word| format.to_f64(*word as u16)));
        one == other || numbers.is_some_and(|[one, other]| one == other || one.is_nan())
    };
    !one.iter().zip(other).all(is_same)
}

#[test]
fn constants_of_all_formats_can_have_faults() {
    for format in Format::ALL {
        let kind = ExpressionKind::Constant(format.one().into());
        let mut constant = Expression { kind, value: Type::of_format(format), span: Default::default() };
        assert!(planted(&mut constant, Kind::Constant));
        let ExpressionKind::Constant(word) = constant.kind else { panic!("{constant:?}") };
        assert_eq!(format.to_f64(word as u16), 2.0, "{format}");
    }
}

/// Each fault that changes a pixel of the image beside a pipeline is found, whatever images the proof takes.
#[test]
fn planted_faults_are_found() {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "hlpipe"));
    let files: BTreeSet<PathBuf> = files.collect();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for file in files {
        let (name, bytes) = (file.file_stem().unwrap().to_str().unwrap(), fs::read(&file).unwrap());
        let program = import(&format!("{name}.hlpipe"), &bytes, Floats::Exact).unwrap().program;
        // Samples are no proof.
        if Steps::new(&program).whole_cost(&program.nest) * worlds::KINDS as u64 > LIMITS.whole {
            continue;
        }
        let declarations = Declarations::read(&bytes).unwrap();
        let mut pipeline = read::pipeline(&bytes, declarations.floats.unwrap_or_default()).unwrap();
        let (_, names) = print::text(&mut pipeline);
        let floats = declarations.floats.unwrap_or_default();
        let sizes = Sizes { pipeline: &pipeline, names: &names, floats, declarations: &declarations };
        let prove = |program: &Program| prove(&sizes, &BTreeMap::new(), program, LIMITS);
        assert!(prove(&program).unwrap().is_empty(), "{name}");
        let expected = outputs(&program, name).unwrap();
        let element = program.arrays_of(ArrayKind::Output).next().unwrap().element;
        for kind in KINDS {
            let places = places(&program, kind);
            let stride = places.len().div_ceil(MOST_PLANTED).max(1);
            let spread = (0..stride).flat_map(|first| places.iter().skip(first).step_by(stride));
            for mutant in spread.filter_map(|place| mutant(&program, kind, *place)).take(MOST_PLANTED) {
                let Some(found) = outputs(&mutant, name) else { continue };
                if found.iter().zip(&expected).any(|(one, other)| differ(element, other, one)) {
                    match prove(&mutant) {
                        Err(refusal) if refusal.is_fault() => *counts.entry(kind).or_default() += 1,
                        _ => missed.push(format!("{name}, {kind:?}:\n{mutant}")),
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {counts:?} are missed:\n{}", missed.len(), missed.join("\n"));
    for kind in KINDS {
        assert!(counts.get(&kind).is_some_and(|count| *count >= 10), "{kind:?}: {counts:?}");
    }
}
