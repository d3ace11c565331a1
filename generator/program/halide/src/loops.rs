//! The loops of a definition: their order, and how many iterations of each are executed at once.
//!
//! Halide's loops are parts of variables: a split makes two of one. Here a variable has one loop. Its place is that of its innermost part
//! that is not unrolled, and its parts that are unrolled are neighbours if no other part is within them.

use std::collections::BTreeMap;

use itertools::Itertools;

use crate::plan::Unroll;
use crate::syntax::{Definition, Dimension, Execution, Func, Split, SplitKind};

/// A variable in the order of the loops.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub name: String,
    pub unroll: Unroll,
}

/// The part of variables that a loop goes through.
#[derive(Clone, Debug)]
struct Part<'a> {
    /// The variables that it goes through, outermost first. Of each split on the way from one to its part, whether that is the inner one.
    roots: Vec<(&'a str, Vec<bool>)>,
    /// How many iterations it has, if it is the inner one of a split.
    extent: Option<i64>,
}

impl<'a> Part<'a> {
    /// All of a variable.
    fn whole(name: &'a str) -> Self {
        Self { roots: vec![(name, Vec::new())], extent: None }
    }
}

/// The loops that a pipeline gets. Its schedule says which hardware there is, and never whether there is any: where memories cannot
/// serve the loops of the schedule, they may serve others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// Those of the schedule.
    Scheduled,
    /// Those of the schedule, with whole arrays between them.
    Kept,
    /// Rows of a Func around columns, and the loops of reductions within, one iteration at a time.
    Raster,
    /// As [`Loops::Raster`], with reductions that are wholly unrolled.
    Unrolled,
    /// As [`Loops::Kept`], with elements that are looked up where indices are no sums of variables, and not copied.
    LookedUp,
    /// As [`Loops::LookedUp`], with a copy of all elements that are looked up.
    Gathered,
}

impl Loops {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 6] =
        [Self::Scheduled, Self::Kept, Self::Raster, Self::Unrolled, Self::LookedUp, Self::Gathered];

    /// The words for these loops in messages.
    pub fn said(self) -> &'static str {
        match self {
            Self::Scheduled => "the loops of the schedule",
            Self::Kept => "whole arrays between its stages",
            Self::Raster => "rows around columns around the loops of reductions, one iteration at a time",
            Self::Unrolled => "rows around columns, and reductions wholly unrolled",
            Self::LookedUp => "whole arrays between its stages, whose elements are looked up",
            Self::Gathered => "whole arrays between its stages, and copies of elements that are looked up",
        }
    }

    /// Whether there are whole arrays between stages, whatever these are.
    pub(crate) fn keeps_arrays(self) -> bool {
        matches!(self, Self::Kept | Self::LookedUp | Self::Gathered)
    }

    /// Whether elements are looked up where indices are no sums of variables.
    pub(crate) fn looks_up(self) -> bool {
        matches!(self, Self::LookedUp | Self::Gathered)
    }

    /// The variables of a definition of a Func with these arguments, outermost first, and what of the schedule is for
    /// processors only.
    pub(crate) fn order(self, definition: &Definition, func: &Func) -> (Vec<Order>, Vec<&'static str>) {
        let (mut found, ignored) = order(definition);
        let arguments = &func.arguments;
        if self == Self::Scheduled || self.keeps_arrays() {
            return (found, ignored);
        }
        let reduced = |name: &String| definition.domain.iter().rposition(|each| &each.name == name);
        let place = |each: &Order| {
            let along = arguments.iter().rposition(|argument| *argument == each.name);
            let within = reduced(&each.name);
            // The loops that add numbers remain in their order.
            let among = within.filter(|_| !func.has_numbers());
            (within.is_some(), std::cmp::Reverse(among), std::cmp::Reverse(along))
        };
        found.sort_by_key(place);
        for each in &mut found {
            each.unroll = match self {
                Self::Unrolled if reduced(&each.name).is_some() => Unroll::Whole,
                _ => Unroll::By(1),
            };
        }
        if self == Self::Unrolled {
            let missing = definition.domain.iter().rev().filter(|each| !found.iter().any(|own| own.name == each.name));
            let missing = missing.map(|each| Order { name: each.name.clone(), unroll: Unroll::Whole });
            let missing: Vec<Order> = missing.collect();
            found.extend(missing);
        }
        (found, ignored)
    }
}

/// The loops of a definition, innermost first, each with its part of variables.
fn loops(definition: &Definition) -> impl Iterator<Item = (&Dimension, Part<'_>)> {
    let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
    for Split { kind, old, outer, inner, factor } in &definition.splits {
        let mut taken = |name| parts.remove(name).unwrap_or_else(|| Part::whole(name));
        match kind {
            SplitKind::Split => {
                let before = taken(old.as_str());
                let with = |is_inner: bool, extent| {
                    let extended = before.roots.iter().map(|(root, path)| (*root, [&path[..], &[is_inner]].concat()));
                    Part { roots: extended.collect(), extent }
                };
                let factor = factor.as_ref().and_then(|factor| factor.number());
                parts.extend([(outer.as_str(), with(false, None)), (inner.as_str(), with(true, factor))]);
            }
            SplitKind::Rename | SplitKind::Purify => {
                let before = taken(old.as_str());
                parts.insert(outer, before);
            }
            SplitKind::Fuse => {
                let roots = [taken(outer.as_str()).roots, taken(inner.as_str()).roots].concat();
                parts.insert(old, Part { roots, extent: None });
            }
        }
    }
    definition.loops.iter().map(move |each| {
        let name = each.name.as_str();
        (each, parts.get(name).cloned().unwrap_or_else(|| Part::whole(name)))
    })
}

/// The reductions of a definition, outermost first, if its loops go through their values as one loop for each would: parts of a variable
/// are within each other, and no part of another reduction is between them.
pub(crate) fn summing_order(definition: &Definition) -> Option<Vec<&str>> {
    // Of the innermost loop, the innermost variable is the last one.
    let mut found: Vec<(&str, Vec<bool>)> =
        loops(definition).flat_map(|(_, part)| part.roots.into_iter().rev()).collect();
    found.reverse();
    found.retain(|(root, _)| definition.domain.iter().any(|reduction| reduction.name == *root));
    let is_in_order = found.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1);
    let mut order: Vec<&str> = found.into_iter().map(|(root, _)| root).collect();
    order.dedup();
    (is_in_order && order.iter().all_unique()).then_some(order)
}

/// The variables of a definition, outermost first, and what of the schedule is for processors only.
fn order(definition: &Definition) -> (Vec<Order>, Vec<&'static str>) {
    let fused = definition.splits.iter().filter(|split| split.kind == SplitKind::Fuse);
    let mut ignored: Vec<&'static str> = fused.map(|_| "fuse").collect();
    let mut found: Vec<Order> = Vec::new();
    let mut rolled: Vec<&str> = Vec::new();
    for (dimension, part) in loops(definition) {
        ignored.extend(match dimension.execution {
            Execution::Serial | Execution::Unrolled => None,
            Execution::Parallel => Some("parallel"),
            Execution::Vectorized => Some("vectorize"),
            Execution::Elsewhere => Some("the loops of a GPU"),
        });
        let is_unrolled = dimension.execution == Execution::Unrolled && part.roots.len() == 1;
        for (root, _) in part.roots.into_iter().rev() {
            let place = found.iter().position(|each| each.name == root).unwrap_or(found.len());
            if place == found.len() {
                found.push(Order { name: root.to_owned(), unroll: Unroll::By(1) });
            }
            if !is_unrolled {
                if !rolled.contains(&root) {
                    // The place of a variable is that of its first part that is a loop.
                    let here = found.remove(place);
                    found.push(here);
                    rolled.push(root);
                }
                continue;
            }
            // Of a part around one that is a loop, copies are no neighbours.
            let each = &mut found[place];
            each.unroll = match (each.unroll, part.extent) {
                (unroll, _) if rolled.contains(&root) => unroll,
                (Unroll::By(before), Some(extent)) => Unroll::By(before.saturating_mul(extent.clamp(1, 1 << 24))),
                _ => Unroll::Whole,
            };
        }
    }
    found.retain(|each| each.name != OUTERMOST);
    found.reverse();
    (found, ignored)
}

/// The loop around all others, which has one iteration.
const OUTERMOST: &str = "__outermost";

#[cfg(test)]
mod tests {
    use super::{order, summing_order};
    use crate::plan::Unroll;
    use crate::syntax::{Definition, Dimension, Element, Execution, Expression, Kind, Reduction, Split, SplitKind};

    fn definition(splits: &[(&str, &str, &str, i64)], loops: &[(&str, Execution)]) -> Definition {
        let element = Element::INT32;
        let split = |&(old, outer, inner, factor): &(&str, &str, &str, i64)| Split {
            kind: SplitKind::Split,
            old: old.to_owned(),
            outer: outer.to_owned(),
            inner: inner.to_owned(),
            factor: Some(Expression::new(Kind::Integer(factor, element))),
        };
        Definition {
            predicate: None,
            values: Vec::new(),
            arguments: Vec::new(),
            domain: Vec::new(),
            splits: splits.iter().map(split).collect(),
            loops: loops
                .iter()
                .map(|(name, execution)| Dimension { name: (*name).to_owned(), execution: *execution })
                .collect(),
            specializations: 0,
            span: Default::default(),
        }
    }

    fn found(definition: &Definition) -> Vec<(String, Unroll)> {
        order(definition).0.into_iter().map(|each| (each.name, each.unroll)).collect()
    }

    #[test]
    fn sums_of_numbers_have_an_order() {
        use Execution::{Serial, Unrolled};
        let of = |splits: &[(&str, &str, &str, i64)], loops: &[(&str, Execution)]| {
            let element = Element::INT32;
            let number = || Expression::new(Kind::Integer(8, element));
            let mut definition = definition(splits, loops);
            definition.domain = ["r$x", "r$y"]
                .map(|name| Reduction { name: name.to_owned(), least: number(), extent: number() })
                .into();
            summing_order(&definition).map(|order| order.join(" around "))
        };
        let plain = [("r$x", Serial), ("x", Serial), ("r$y", Serial)];
        assert_eq!(of(&[], &plain).unwrap(), "r$y around r$x");
        let split = [("r$x", "ro", "ri", 2)];
        let within = [("ri", Unrolled), ("x", Serial), ("ro", Serial), ("r$y", Serial)];
        assert_eq!(of(&split, &within).unwrap(), "r$y around r$x");
        // A tile of the window: not all of a row is added before the next one.
        assert_eq!(of(&split, &[("ri", Serial), ("r$y", Serial), ("ro", Serial)]), None);
        // The second of each pair comes after the first of all.
        assert_eq!(of(&split, &[("ro", Serial), ("ri", Serial), ("r$y", Serial)]), None);
        let again = [split[0], ("ri", "rio", "rii", 2)];
        let parts = [("rii", Serial), ("rio", Serial), ("ro", Serial), ("r$y", Serial)];
        assert_eq!(of(&again, &parts).unwrap(), "r$y around r$x");
    }

    #[test]
    fn parts_of_a_variable_are_one_loop() {
        use Execution::{Parallel, Serial, Unrolled, Vectorized};
        let of = |name: &str, unroll| (name.to_owned(), unroll);
        let plain = definition(&[], &[("x", Serial), ("y", Serial), ("__outermost", Serial)]);
        assert_eq!(found(&plain), [of("y", Unroll::By(1)), of("x", Unroll::By(1))]);
        let unrolled = definition(&[("x", "x", "xi", 4)], &[("xi", Unrolled), ("x", Serial), ("y", Parallel)]);
        assert_eq!(found(&unrolled), [of("y", Unroll::By(1)), of("x", Unroll::By(4))]);
        assert_eq!(order(&unrolled).1, ["parallel"]);
        // Unrolled around another loop: it is the inner one of the two still.
        let around = definition(&[("x", "x", "xi", 4)], &[("y", Serial), ("xi", Unrolled), ("x", Serial)]);
        assert_eq!(found(&around), [of("x", Unroll::By(4)), of("y", Unroll::By(1))]);
        let whole = definition(&[], &[("r$x", Unrolled), ("x", Vectorized)]);
        assert_eq!(found(&whole), [of("x", Unroll::By(1)), of("r$x", Unroll::Whole)]);
        // Tiles: the loops within a tile are first.
        let tiled = definition(
            &[("x", "xo", "xi", 8), ("y", "yo", "yi", 8)],
            &[("xi", Serial), ("yi", Serial), ("k", Serial), ("xo", Serial), ("yo", Unrolled)],
        );
        assert_eq!(found(&tiled), [of("k", Unroll::By(1)), of("y", Unroll::By(1)), of("x", Unroll::By(1))]);
        // Both parts of a variable.
        let both = definition(&[("x", "xo", "xi", 8)], &[("xi", Unrolled), ("xo", Unrolled)]);
        assert_eq!(found(&both), [of("x", Unroll::Whole)]);
    }
}
