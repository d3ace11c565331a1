//! Advice on programs: changes that would make them faster or possible.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::{Array, Language, Load, Loop, Operation, Program};
use pushmem_stages::{Access, StageLoop};

use crate::extract::Extraction;

/// An input that comes in the order in which an operation reads it, and of which elements come more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The operation, an index of [`Program::operations`].
    pub operation: usize,
    /// The load, an index of [`Operation::loads`].
    pub load: usize,
    /// How many of the outermost loops other nests are in, too: elements that they read again may well be meant to come
    /// again.
    pub outer: usize,
    /// The words that come in all iterations of the other loops.
    pub words: u64,
    /// The elements that these words are of.
    pub elements: u64,
}

impl Repeated {
    /// The words that `accesses` load in these loops, one for each access in an iteration; nothing if each element is
    /// loaded once. Loops are innermost first; the last `outer` of them are around other nests, too.
    pub(crate) fn of(
        (operation, load): (usize, usize),
        array: &Array,
        accesses: &[Access],
        loops: &[StageLoop],
        outer: usize,
    ) -> Option<Self> {
        let own = &loops[..loops.len() - outer];
        let words = own.iter().map(|level| level.extent).product::<u64>() * accesses.len() as u64;
        let elements = elements(array, accesses, own);
        (words > elements).then_some(Repeated { operation, load, outer, words, elements })
    }
}

/// How many elements of an array affine accesses reach in these loops, the innermost of those around them.
fn elements(array: &Array, accesses: &[Access], loops: &[StageLoop]) -> u64 {
    let sizes = array.shape.iter().scan(1, |size, extent| {
        let before = *size;
        *size *= extent;
        Some(before)
    });
    let sizes = sizes.collect_vec();
    let mut reached = vec![false; array.size()];
    for access in accesses {
        let first = access.subscripts.iter().zip(&sizes).zip(&array.min);
        let first: i64 = first.map(|((subscript, size), min)| size * (subscript.constant - min)).sum();
        reached[first as usize] = true;
    }
    // All accesses move alike.
    for (level, bounds) in loops.iter().enumerate() {
        let moves = accesses[0].subscripts.iter().zip(&sizes);
        let stride: i64 = moves.map(|(subscript, size)| size * subscript.coefficients[level]).sum();
        spread(&mut reached, stride, bounds.extent as usize);
    }
    reached.into_iter().filter(|reached| *reached).count() as u64
}

/// Reaches from each place also those up to `count - 1` strides further, all of which there are.
fn spread(reached: &mut [bool], stride: i64, count: usize) {
    let (length, stride, is_down) = (reached.len(), stride.unsigned_abs() as usize, stride < 0);
    let mut done = 1;
    while done < count && stride > 0 {
        // Places reached in so many steps from those already reached need twice as many steps in all.
        let steps = done.min(count - done);
        let distance = steps * stride;
        for place in 0..length.saturating_sub(distance) {
            match is_down {
                true => reached[place] |= reached[place + distance],
                false => reached[length - 1 - place] |= reached[length - 1 - place - distance],
            }
        }
        done += steps;
    }
}

impl Extraction {
    /// Warnings: inputs that come word by word as they are read, the same elements again and again, with the remedy.
    pub fn warnings(&self, program: &Program) -> Vec<Diagnostic> {
        let operations = program.operations();
        let warning = |repeated: &Repeated| {
            let (loops, operation) = &operations[repeated.operation];
            repeated.warning(program, loops, operation)
        };
        self.repeated.iter().map(warning).collect()
    }
}

impl Repeated {
    fn warning(&self, program: &Program, loops: &[&Loop], operation: &Operation) -> Diagnostic {
        let Load { access, .. } = &operation.loads[self.load];
        let array = &program.arrays[access.array];
        let each = match &loops[..self.outer] {
            [] => String::new(),
            outer => format!("in each iteration of {}, ", outer.iter().map(|level| quoted(&level.variable)).join(", ")),
        };
        let message = format!(
            "{each}`{}` comes in {} words for {} elements: as often as one is read here, it comes again",
            array.name, self.words, self.elements
        );
        let element = |name: &str| format!("{name}[{}]", coordinates(array));
        let copy = format!("`{} = {}`", element("loaded"), element(&array.name));
        let copied = match program.source.language() {
            Language::Nest => format!("copy it to a buffer, which keeps it, in loops of its own: {copy}"),
            Language::Halide => format!("copy it by a Func, which is kept: {copy} and `loaded.compute_root()`"),
        };
        let unrolled = unrolling(program).map_or(String::new(), |unrolled| format!("; or {unrolled}"));
        program
            .diagnostic(access.span, message)
            .with_help(format!("{copied}, and read `loaded` here{unrolled}"))
            .as_warning()
    }
}

/// Advice on how a program becomes an image pipeline that is none only because it adds up windows in loops. Nothing
/// where the reason is another: an array that is to be kept, or a sum over other elements than a window.
pub fn unrolling(program: &Program) -> Option<String> {
    if program.schedule.is_some() || program.arrays.iter().any(|array| array.level.is_some()) {
        return None;
    }
    let operations = program.operations();
    let added = operations.iter().flat_map(|(loops, operation)| {
        let adds = |variable: &usize| operation.merges(*variable) && runs(loops[*variable]);
        (0..loops.len()).filter(adds).map(move |variable| (loops, *operation, variable))
    });
    let added = added.collect_vec();
    if added.is_empty() || !added.iter().all(|(loops, operation, variable)| is_window(loops, operation, *variable)) {
        return None;
    }
    let names = added.iter().map(|(loops, _, variable)| quoted(&loops[*variable].variable)).unique().join(", ");
    let how = match program.source.language() {
        Language::Nest => String::new(),
        Language::Halide => {
            let targets = added.iter().map(|(_, operation, _)| &program.arrays[operation.target.array].name).unique();
            let calls = targets.map(|name| format!("`{name}.update().unroll(…)`")).join(", ");
            format!(", each variable of the RDom by {calls}")
        }
    };
    Some(format!("unroll {names} fully{how}, so that one iteration adds up a window"))
}

/// Whether a loop moves the reads of an operation along a dimension in which another loop moves it, too.
fn is_window(loops: &[&Loop], operation: &Operation, variable: usize) -> bool {
    let mut indices = operation.loads.iter().flat_map(|load| &load.access.indices);
    indices.any(|index| {
        let variables = index.variables();
        variables.contains(&variable)
            && variables.iter().any(|&other| other != variable && !operation.merges(other) && runs(loops[other]))
    })
}

/// Whether a loop has iterations that are not executed at once.
fn runs(level: &Loop) -> bool {
    level.extent > level.unroll
}

fn quoted(name: &String) -> String {
    format!("`{name}`")
}

/// Names for the coordinates of an element.
fn coordinates(array: &Array) -> String {
    ["x", "y", "z", "w", "v", "u", "t", "s"].into_iter().take(array.shape.len()).join(", ")
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn places_are_reached_step_by_step() {
        for (first, stride, count) in [(0, 1, 10), (1, 3, 3), (9, -1, 10), (8, -4, 3), (4, 0, 5), (2, 1, 1)] {
            let mut reached = vec![false; 10];
            reached[first as usize] = true;
            spread(&mut reached, stride, count);
            let expected = (0..10).map(|place| (0..count as i64).any(|step| first + step * stride == place));
            assert_eq!(reached, expected.collect::<Vec<_>>(), "{first} {stride} {count}");
        }
    }
}
