//! Elements are written before they are read, and outputs are written as a whole.
//!
//! In closed form where accesses reach products of strided intervals, which is nearly always; else by going through all
//! accesses, if there are not too many; else there is a warning.

use itertools::Itertools;

use crate::index::Index;
use crate::interpret::{unwritten, unwritten_elements};
use crate::program::{Access, Array, ArrayKind, Loop, Operation, Program, ranges};
use crate::region::{Cover, Region, Strided, cover, enclosing_region, exact_region, fixed_part, preimage};
use crate::source::{Problem, Span};

/// The most accesses that are gone through one by one.
const MOST_ACCESSES: i64 = 1 << 22;

/// An operation with the loops around it.
struct Place<'a> {
    loops: Vec<&'a Loop>,
    operation: &'a Operation,
    ranges: Vec<(i64, i64)>,
}

/// The result of closed forms.
enum Answer {
    Yes,
    /// Not this element.
    No(Vec<i64>),
    Unknown,
}

pub(super) fn check(program: &Program, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) {
    let places = program
        .operations()
        .into_iter()
        .map(|(loops, operation)| Place { ranges: ranges(loops.iter().copied()), loops, operation })
        .collect_vec();
    let mut open = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let loads = place.operation.loads.iter().map(|load| (&load.access, load.outside.is_some()));
        let reads = loads.chain(place.operation.reduction.map(|_| (&place.operation.target, false)));
        for (read, may_be_outside) in reads {
            let array = &program.arrays[read.array];
            if array.kind == ArrayKind::Input {
                continue;
            }
            match is_written_before(&places, number, read, array, may_be_outside) {
                Answer::Yes => {}
                Answer::No(element) => {
                    let variables = preimage(&read.indices, &element, &place.ranges);
                    problems.push(unwritten(program, read, &place.loops, &variables));
                }
                Answer::Unknown => open.push(read.span),
            }
        }
    }
    let mut open_outputs = Vec::new();
    for (number, array) in program.arrays.iter().enumerate() {
        if array.kind == ArrayKind::Input {
            continue;
        }
        match (is_written_whole(program, &places, number), array.kind) {
            (Answer::Yes, _) => {}
            (Answer::No(element), ArrayKind::Output) => {
                problems.push(never_written(array, &element, data_decide(&places, number)));
            }
            (Answer::Unknown, ArrayKind::Output) => open_outputs.push(number),
            (Answer::No(element), _) if is_written(&places, number) && !data_decide(&places, number) => {
                warnings.push(never_written(array, &element, false).with_help("make the buffer smaller"));
            }
            (Answer::No(_) | Answer::Unknown, _) => {}
        }
    }
    if problems.is_empty() && !(open.is_empty() && open_outputs.is_empty()) {
        go_through(program, &places, &open, &open_outputs, problems, warnings);
    }
}

/// The message for an element that is never written, unless data decide so.
fn never_written(array: &Array, element: &[i64], data_decide: bool) -> Problem {
    let element = format!("`{}[{}]`", array.name, element.iter().join(", "));
    match data_decide {
        true => Problem::new(array.span, format!("{element} may never be written"))
            .with_help("data decide which elements are written: write first values to all elements before"),
        false => Problem::new(array.span, format!("{element} is never written"))
            .with_help("every element of an output must be written: enlarge the loops or shrink the output"),
    }
}

/// Whether data decide which elements of an array are written.
fn data_decide(places: &[Place], array: usize) -> bool {
    places.iter().any(|place| place.operation.target.array == array && !place.operation.target.is_known())
}

fn is_written(places: &[Place], array: usize) -> bool {
    places.iter().any(|place| place.operation.target.array == array)
}

/// Decides by execution what closed forms left open.
fn go_through(
    program: &Program,
    places: &[Place],
    open: &[Span],
    open_outputs: &[usize],
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) {
    let accesses = places.iter().try_fold(0_i64, |sum, place| {
        let iterations = place.loops.iter().map(|each| each.extent).product::<i64>();
        sum.checked_add(iterations.checked_mul(1 + place.operation.reads().count() as i64)?)
    });
    if accesses.is_none_or(|accesses| accesses > MOST_ACCESSES) {
        let outputs = open_outputs.iter().map(|&output| program.arrays[output].span);
        warnings.extend(open.iter().map(|&span| {
            Problem::new(span, "it is not known whether all that is read here was written before")
                .with_help("if it was not, the execution fails there")
        }));
        warnings.extend(outputs.map(|span| Problem::new(span, "it is not known whether all elements are written")));
        return;
    }
    match unwritten_elements(program) {
        Err(problem) => problems.push(problem),
        Ok(unwritten) => {
            for &output in open_outputs {
                let array = &program.arrays[output];
                if let Some(position) = unwritten[output] {
                    problems.push(never_written(array, &array.indices(position), data_decide(places, output)));
                }
            }
        }
    }
}

/// Whether operations before have written what the operation of this number reads.
///
/// While the loops around both stay in one iteration, an operation above is complete before one below starts. So it
/// suffices that within each such iteration what is read is written; what those loops add to both indices must agree.
///
/// Of a read that may lie outside of its array, only what is inside counts. Where data decide which element is read, all are.
fn is_written_before(places: &[Place], number: usize, read: &Access, array: &Array, may_be_outside: bool) -> Answer {
    let is_computed = read.computed.is_some();
    let reader = &places[number];
    let mut groups: Vec<(usize, Vec<Region>)> = Vec::new();
    let mut all_are_exact = true;
    for writer in places[..number].iter().filter(|writer| writer.operation.target.array == read.array) {
        let common = shared_loops(writer, reader);
        let target = &writer.operation.target;
        let agree = target.indices.iter().zip(&read.indices).all(|(written, read)| {
            let parts = (fixed_part(&written.affine, common), fixed_part(&read.affine, common));
            parts.0 == parts.1
        });
        let is_known = agree && target.computed.is_none();
        match exact_region(&target.indices, common, &writer.ranges).filter(|_| is_known) {
            None => all_are_exact = false,
            Some(region) => match groups.iter_mut().find(|(shared, _)| *shared == common) {
                Some((_, regions)) => regions.push(region),
                None => groups.push((common, vec![region])),
            },
        }
    }
    add_own(reader, read, &mut groups);
    for (common, regions) in &groups {
        let moves = |index: &Index| !fixed_part(&index.affine, *common).is_empty();
        let mut candidates = vec![enclosing_region(&read.indices, *common, &reader.ranges)];
        match may_be_outside {
            _ if is_computed => candidates = vec![whole(array)],
            false => candidates.extend(exact_region(&read.indices, *common, &reader.ranges)),
            // Without what fixed variables add, it is not known what is inside.
            true if read.indices.iter().any(moves) => continue,
            true => candidates.push(whole(array)),
        }
        if candidates.iter().any(|region| cover(region, regions) == Cover::Whole) {
            return Answer::Yes;
        }
    }
    if !may_be_outside && !is_computed && is_written_so_far(reader, read, &groups) {
        return Answer::Yes;
    }
    // Operations below write first if a loop around both repeats.
    let below_may_write = places[number..].iter().any(|writer| {
        let common = shared_loops(writer, reader);
        writer.operation.target.array == read.array && reader.loops[..common].iter().any(|each| each.extent > 1)
    });
    let only_separate = groups.iter().all(|(common, _)| *common == 0) && groups.len() <= 1;
    if !all_are_exact || below_may_write || !only_separate || may_be_outside || is_computed {
        return Answer::Unknown;
    }
    let regions = groups.pop().map(|(_, regions)| regions).unwrap_or_default();
    match exact_region(&read.indices, 0, &reader.ranges).map(|region| cover(&region, &regions)) {
        Some(Cover::Missing(element)) => Answer::No(element),
        _ => Answer::Unknown,
    }
}

/// Whether what a read does not find of this iteration of the outermost loop was written in those before, or before the loop: both move
/// along a dimension with the loop, and what is written has no gaps.
fn is_written_so_far(reader: &Place, read: &Access, groups: &[(usize, Vec<Region>)]) -> bool {
    let moves = |index: &Index| fixed_part(&index.affine, 1).first().map(|(_, step)| *step);
    let mut moving = read.indices.iter().enumerate().filter_map(|(place, index)| Some((place, moves(index)?)));
    let (Some((dimension, step @ 1..)), None) = (moving.next(), moving.next()) else { return false };
    let of_loops = |loops: usize| groups.iter().find(|(common, _)| *common == loops).map(|(_, regions)| regions);
    let first = step * reader.ranges[0].0;
    let mut needed = enclosing_region(&read.indices, 1, &reader.ranges);
    needed[dimension].start += first;
    of_loops(1).into_iter().flatten().any(|written| {
        let mut written = written.clone();
        written[dimension].start += first;
        let front = written[dimension];
        // Later iterations read elements behind the front of this dimension, and all elements of the others.
        let mut behind = needed.clone();
        let end = (needed[dimension].start + needed[dimension].count).max(front.start);
        behind[dimension].count = end - needed[dimension].start;
        let mut beside = needed.clone();
        beside[dimension] = front;
        let before = of_loops(0).into_iter().flatten().cloned().chain([written.clone()]).collect_vec();
        let has_no_gaps = front.stride == 1 && front.count >= step;
        has_no_gaps && cover(&beside, &[written]) == Cover::Whole && cover(&behind, &before) == Cover::Whole
    })
}

/// Adds what the reader itself writes, if all that is read of that was written in earlier iterations: within those loops around
/// groups that are in the same iteration then.
fn add_own(reader: &Place, read: &Access, groups: &mut Vec<(usize, Vec<Region>)>) {
    let target = &reader.operation.target;
    let is_computed = target.computed.is_some() || read.computed.is_some();
    if target.array != read.array || target.indices == read.indices || is_computed {
        return;
    }
    let Some(ago) = iterations_ago(reader, read) else { return };
    let Some(outermost) = ago.iter().position(|&iterations| iterations != 0).filter(|&level| ago[level] > 0) else {
        return;
    };
    if groups.iter().all(|(common, _)| *common != 0) {
        groups.push((0, Vec::new()));
    }
    for (common, regions) in groups.iter_mut().filter(|(common, _)| *common <= outermost) {
        regions.extend(exact_region(&target.indices, *common, &reader.ranges));
    }
}

/// How many iterations of each loop ago, outermost first, an operation wrote what it reads: of accesses along the same loops, one
/// for each dimension, and all of them.
fn iterations_ago(reader: &Place, read: &Access) -> Option<Vec<i64>> {
    let mut ago: Vec<Option<i64>> = reader.loops.iter().map(|each| (each.extent == 1).then_some(0)).collect();
    for (written, read) in reader.operation.target.indices.iter().zip(&read.indices) {
        let (written, read) = (written.as_affine()?, read.as_affine()?);
        let apart = written.constant - read.constant;
        match (written.terms.as_slice(), read.terms.as_slice()) {
            ([], []) if apart == 0 => {}
            (&[(variable, step)], &[other]) if other == (variable, step) && apart % step == 0 => {
                if ago[variable].replace(apart / step).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    ago.into_iter().collect()
}

/// How many loops are around both.
fn shared_loops(one: &Place, other: &Place) -> usize {
    one.loops.iter().zip(&other.loops).take_while(|(one, other)| std::ptr::eq(**one, **other)).count()
}

/// All elements of an array.
fn whole(array: &Array) -> Region {
    (0..array.shape.len()).map(|dimension| Strided::interval(array.min[dimension], array.max(dimension))).collect()
}

fn is_written_whole(program: &Program, places: &[Place], number: usize) -> Answer {
    let writers = places.iter().map(|place| (&place.operation.target, &place.ranges));
    let regions = writers
        .filter(|(target, _)| target.array == number && target.is_known())
        .map(|(target, ranges)| exact_region(&target.indices, 0, ranges).filter(|_| target.computed.is_none()))
        .collect_vec();
    let known = regions.iter().flatten().cloned().collect_vec();
    match cover(&whole(&program.arrays[number]), &known) {
        Cover::Whole => Answer::Yes,
        Cover::Missing(element) if known.len() == regions.len() => Answer::No(element),
        Cover::Missing(_) | Cover::Unknown => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pushmem_files::Document;

    use crate::interpret::unwritten_elements;
    use crate::program::ArrayKind;
    use crate::read::syntax;
    use crate::resolve::program::resolved;
    use crate::source::{Language, SourceText};

    /// Statements that write and read a buffer `b` and an output `o` of 6 x 3 elements, with loops around.
    fn nest() -> impl Strategy<Value = String> {
        let index = |variables: &'static [&'static str]| {
            let term =
                (0_i64..4, prop::sample::select(variables)).prop_map(|(factor, name)| format!("{factor}*{name}"));
            let affine = (prop::collection::vec(term, 0..3), -1_i64..3).prop_map(|(terms, constant)| {
                terms.into_iter().chain([constant.to_string()]).collect::<Vec<_>>().join("+")
            });
            prop_oneof![
                4 => affine.clone(),
                1 => affine.clone().prop_map(|index| format!("({index})/2")),
                1 => affine.prop_map(|index| format!("clamp({index}, 0, 2)")),
                4 => prop::sample::select(variables).prop_map(str::to_owned),
            ]
        };
        let element = move |variables| (index(variables), index(variables)).prop_map(|(x, y)| format!("[{x}, {y}]"));
        let statement = move |variables| {
            (element(variables), element(variables), 0..7).prop_map(|(target, read, kind)| match kind {
                0 | 1 => format!("b{target} = 1"),
                2 => format!("o{target} = b{read}"),
                3 => format!("o{target} = outside(b{read}, 7)"),
                4 => format!("b{target} = b{read}"),
                5 => format!("b{target} = outside(b{read}, 7)"),
                _ => format!("b{target} += 1"),
            })
        };
        let inner =
            (1..7, 1..4, prop::collection::vec(statement(&["x", "y", "t"]), 1..3)).prop_map(|(width, height, body)| {
                let body: String = body.iter().map(|statement| format!("        - {statement}\n")).collect();
                format!("    - for y in 0..{height}:\n      - for x in 0..{width}:\n{body}")
            });
        let child = prop_oneof![3 => inner, 1 => statement(&["t"]).prop_map(|text| format!("    - {text}\n"))];
        let whole = Just("    - for y in 0..3:\n      - for x in 0..6:\n        - b[x, y] = t as u16\n".to_owned());
        let tile = (1..4, prop::collection::vec(prop_oneof![2 => child, 1 => whole], 1..4))
            .prop_map(|(extent, children)| format!("  - for t in 0..{extent}:\n{}", children.join("")));
        prop::collection::vec(tile, 1..4).prop_map(|tiles| tiles.join(""))
    }

    /// The problems and warnings of a program whose rows of earlier iterations are read, with so many rows before the first and read.
    fn of_rows(before: i64, written: i64, step: i64, read: i64) -> (usize, usize) {
        let (steps, end) = (1 << 20, before + (step << 20) + 16);
        let text = format!(
            "name: p\noutputs: {{o: {{type: u16, shape: [{steps}]}}}}\nbuffers: {{b: {{type: u16, shape: [4, {end}]}}}}\nnest:\n  \
             - for y in 0..{before}:\n    - for k in 0..4:\n      - b[k, y] = 1\n  - for n in 0..{steps}:\n    - for y in 0..{written}:\n      \
             - for k in 0..4:\n        - b[k, y + {step}*n + {before}] = 2\n    - o[n] = 0\n    - for y in 0..{read}:\n      \
             - for k in 0..4:\n        - o[n] += b[k, y + {step}*n]\n"
        );
        let document = Document::parse("p.yaml", text).unwrap();
        let source = SourceText::new("p.yaml", document.text(), Language::Nest);
        let (program, mut problems, mut warnings) = resolved(&syntax(&document).unwrap(), source);
        super::check(&program, &mut problems, &mut warnings);
        (problems.len(), warnings.iter().filter(|warning| warning.message.contains("not known")).count())
    }

    #[test]
    fn rows_of_earlier_iterations_are_written() {
        assert_eq!(of_rows(3, 1, 1, 4), (0, 0));
        assert_eq!(of_rows(2, 3, 3, 5), (0, 0));
        // One row more than there is, and rows that are left out.
        assert_eq!(of_rows(3, 1, 1, 5), (0, 1));
        assert_eq!(of_rows(2, 2, 3, 4), (0, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_execution(nest in nest()) {
            let text = format!(
                "name: p\noutputs: {{o: {{type: u16, shape: [6, 3]}}}}\nbuffers: {{b: {{type: u16, shape: [6, 3]}}}}\nnest:\n  - for y in 0..3:\n    - for x in 0..6:\n      - o[x, y] = 2\n{nest}"
            );
            let document = Document::parse("p.yaml", text).unwrap();
            let source = SourceText::new("p.yaml", document.text(), Language::Nest);
            let (program, mut problems, mut warnings) = resolved(&syntax(&document).unwrap(), source);
            super::super::bounds::check(&program, &mut problems, &mut warnings);
            if problems.is_empty() {
                super::check(&program, &mut problems, &mut warnings);
                let complete = |unwritten: Vec<Option<usize>>| {
                    program.arrays.iter().zip(unwritten).all(|(array, unwritten)| array.kind == ArrayKind::Buffer || unwritten.is_none())
                };
                let right = unwritten_elements(&program).is_ok_and(complete);
                prop_assert_eq!(problems.is_empty(), right, "{:?}", problems);
            }
        }
    }
}
