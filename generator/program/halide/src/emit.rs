//! Definitions as the text of a nest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use itertools::Itertools;
use pushmem_nest::{Index, Policy, Span, Type, is_reserved};

use crate::boundaries::Boundaries;
use crate::fault::Result;
use crate::merge::{Merged, tidied};
use crate::program::Stores;
use crate::shapes::{Shape, no_table};
use crate::text::{Printer, identifier, tables_of};
use crate::unfold::{Level, Unfolded};
use crate::value::{Element, Variable};

/// The text of a nest, and the places that its parts come from.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub text: String,
    /// Bytes of the text with the place in the text of Halide, in ascending order.
    pub places: Vec<(Range<usize>, Span)>,
    /// The names of all arrays.
    pub names: Vec<String>,
    /// Where the parts begin and end of which the definitions were made.
    pub boundaries: Boundaries,
}

/// The nest that is emitted.
pub(crate) struct Nest<'a> {
    pub name: &'a str,
    pub schedule: Option<Policy>,
    pub program: &'a Stores<'a>,
    pub shapes: &'a [Vec<Shape>],
    pub types: &'a [Type],
    pub is_table: &'a [bool],
    pub unfolded: &'a Unfolded,
    /// Of each array, its definitions; arrays in the order of execution.
    pub definitions: &'a [(usize, Vec<Merged>)],
    /// Where the parts begin and end of which the definitions were made.
    pub boundaries: Boundaries,
}

impl Nest<'_> {
    /// The text.
    pub fn emit(&self) -> Result<Emitted> {
        let names = self.array_names();
        let mut text = format!("name: {}\n", identifier(self.name));
        if let Some(schedule) = self.schedule {
            text.push_str(&format!("schedule: {}\n", schedule.name()));
        }
        let mut emitted =
            Emitted { text, places: Vec::new(), names: names.clone(), boundaries: self.boundaries.clone() };
        let stored: BTreeSet<usize> = self.definitions.iter().map(|(array, _)| *array).collect();
        let arrays = &self.program.arrays;
        let used = |array: &usize| !self.shapes[*array].is_empty();
        let inputs = (0..arrays.len()).filter(|array| arrays[*array].is_argument && !stored.contains(array));
        let outputs = (0..arrays.len()).filter(|array| arrays[*array].is_argument && stored.contains(array));
        let buffers = self.definitions.iter().map(|(array, _)| *array).filter(|array| !arrays[*array].is_argument);
        self.section("inputs", inputs.filter(used).filter(|array| !self.is_table[*array]), &names, &mut emitted);
        self.section("outputs", outputs, &names, &mut emitted);
        self.section("buffers", buffers.filter(|array| !self.is_table[*array]), &names, &mut emitted);
        let values = self.definitions.iter().flat_map(|(_, each)| each).map(|definition| &definition.value);
        let looked_up: BTreeSet<usize> = values.flat_map(|value| tables_of(value)).collect();
        let tables: Vec<usize> = looked_up.into_iter().filter(|array| self.is_table[*array]).collect();
        if !tables.is_empty() {
            emitted.text.push_str("tables:\n");
        }
        for table in tables {
            let values = self.entries(table)?;
            let line = format!(
                "  {}: {{type: {}, values: [{}]}}\n",
                names[table],
                self.types[table].name(),
                values.iter().join(", ")
            );
            emitted.line(&line, arrays[table].span);
        }
        emitted.text.push_str("nest:\n");
        for (array, definitions) in self.definitions {
            for definition in definitions.iter().filter(|_| !self.is_table[*array]) {
                self.definition(definition, &names, &mut emitted)?;
            }
        }
        Ok(emitted)
    }

    /// Names for all arrays: those of Halide without what makes them unique there, where they still are.
    fn array_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for array in &self.program.arrays {
            let stem = identifier(array.name.split('$').next().unwrap_or(array.name));
            let full = identifier(array.name);
            let taken = |name: &String| names.contains(name) || is_reserved(name);
            let numbered = (2..).map(|number| format!("{full}_{number}"));
            let free = [stem, full.clone()].into_iter().chain(numbered).find(|name| !taken(name));
            names.push(free.unwrap_or(full));
        }
        names
    }

    fn section(&self, title: &str, arrays: impl Iterator<Item = usize>, names: &[String], emitted: &mut Emitted) {
        let arrays: Vec<usize> = arrays.collect();
        match (arrays.is_empty(), title) {
            (true, "outputs") => emitted.text.push_str("outputs: {}\n"),
            (true, _) => return,
            (false, _) => emitted.text.push_str(&format!("{title}:\n")),
        }
        for array in arrays {
            let (shape, min) = self.extents(array);
            let mut line = format!(
                "  {}: {{type: {}, shape: [{}]",
                names[array],
                self.types[array].name(),
                shape.iter().join(", ")
            );
            if min.iter().any(|min| *min != 0) {
                line.push_str(&format!(", min: [{}]", min.iter().join(", ")));
            }
            line.push_str("}\n");
            emitted.line(&line, self.program.arrays[array].span);
        }
    }

    /// The dimensions of an array that are kept: of a buffer, those with more than one element.
    fn kept(&self, array: usize) -> Vec<usize> {
        let coordinates = &self.unfolded.coordinates[array];
        if self.program.arrays[array].is_argument {
            return (0..self.shapes[array][0].len()).collect();
        }
        let wide = |dimension: &usize| {
            let (low, high) = self.unfolded.ranges[coordinates[*dimension]];
            low < high
        };
        let kept: Vec<usize> = (0..coordinates.len()).filter(wide).collect();
        if kept.is_empty() { vec![0] } else { kept }
    }

    /// The number of elements and the least index of the kept dimensions.
    fn extents(&self, array: usize) -> (Vec<i64>, Vec<i64>) {
        if self.program.arrays[array].is_argument {
            let shape = &self.shapes[array][0];
            return (shape.clone(), vec![0; shape.len()]);
        }
        let range = |dimension: usize| match self.unfolded.coordinates[array].get(dimension) {
            Some(variable) => self.unfolded.ranges[*variable],
            None => (0, 0),
        };
        let ranges = self.kept(array).into_iter().map(range);
        ranges.map(|(low, high)| (high - low + 1, low)).unzip()
    }

    /// The entries of a table.
    fn entries(&self, table: usize) -> Result<Vec<i64>> {
        let array = &self.program.arrays[table];
        if let Some(entries) = &array.entries {
            return Ok(entries.clone());
        }
        let of_data = || no_table(self.program, table);
        let shape = &self.shapes[table].first().ok_or_else(of_data)?;
        let coordinates = &self.unfolded.coordinates[table];
        let definitions = self.definitions.iter().filter(|(array, _)| *array == table).flat_map(|(_, each)| each);
        let definitions: Vec<&Merged> = definitions.collect();
        if coordinates.len() != shape.len() || definitions.is_empty() {
            return Err(of_data());
        }
        let entry = |flat: i64| {
            let mut rest = flat;
            let point: BTreeMap<Variable, i64> = coordinates
                .iter()
                .zip(shape.iter())
                .map(|(variable, extent)| {
                    let at = rest % extent;
                    rest /= extent;
                    (*variable, at)
                })
                .collect();
            let inside = |definition: &&&Merged| {
                coordinates
                    .iter()
                    .zip(&definition.domain)
                    .all(|(variable, range)| (range.0..=range.1).contains(&point[variable]))
            };
            match definitions.iter().rev().find(inside) {
                Some(definition) if !definition.updates => {
                    definition.value.evaluate(&|variable| point.get(&variable).copied())
                }
                Some(_) => None,
                None => Some(0),
            }
        };
        (0..shape.iter().product()).map(|flat| entry(flat).ok_or_else(of_data)).collect()
    }

    fn definition(&self, merged: &Merged, names: &[String], emitted: &mut Emitted) -> Result<()> {
        let coordinates = &self.unfolded.coordinates[merged.array];
        let mut ranges = self.unfolded.ranges.clone();
        for (variable, range) in coordinates.iter().zip(&merged.domain) {
            ranges[*variable] = *range;
        }
        for level in &merged.order {
            if let Level::Reduction(variable, range) = level {
                ranges[*variable] = *range;
            }
        }
        let value = tidied(&merged.value, &ranges)?;
        let mut variables: BTreeMap<Variable, String> = BTreeMap::new();
        let mut loops = Vec::new();
        for level in &merged.order {
            let (variable, (low, high), unroll) = match *level {
                Level::Coordinate(dimension) => {
                    (coordinates[dimension], merged.domain[dimension], merged.unroll[dimension])
                }
                Level::Reduction(variable, range) => (variable, range, 1),
            };
            if low == high {
                continue;
            }
            let wanted = match self.unfolded.names.get(&variable) {
                Some(name) => loop_name(name),
                None => self.program.variables.get(variable).map_or("i".to_owned(), |info| loop_name(info.name)),
            };
            let taken = |name: &String| variables.values().contains(name) || names.contains(name) || is_reserved(name);
            let numbered = (1..).map(|number| format!("{wanted}{number}"));
            let Some(name) = [wanted.clone()].into_iter().chain(numbered).find(|name| !taken(name)) else { continue };
            let unroll = if unroll > 1 { format!(" unroll {unroll}") } else { String::new() };
            loops.push(format!("for {name} in {low}..{}{unroll}:", high + 1));
            variables.insert(variable, name);
        }
        for (depth, header) in loops.iter().enumerate() {
            emitted.line(&format!("{:1$}- {header}\n", "", 2 + 2 * depth), merged.span);
        }
        let kept: Vec<Vec<usize>> = (0..names.len()).map(|array| self.kept(array)).collect();
        let printer = Printer { names, types: self.types, kept: &kept, variables, ranges };
        let own: Vec<Index> = coordinates.iter().map(|variable| Index::variable(*variable)).collect();
        let target = Element::new(merged.array, own, merged.span);
        let statement = printer.statement(&target, &value, merged.updates);
        emitted.line(&format!("{:1$}- {statement}\n", "", 2 + 2 * loops.len()), merged.span);
        Ok(())
    }
}

impl Emitted {
    fn line(&mut self, line: &str, span: Span) {
        let start = self.text.len();
        self.text.push_str(line);
        self.places.push((start..self.text.len(), span));
    }

    /// The place in the text of Halide that a part of the text comes from.
    pub fn place(&self, span: Span) -> Span {
        let place = self.places.iter().rfind(|(range, _)| range.start <= span.start);
        place.or(self.places.first()).map_or(Span::default(), |(_, span)| *span)
    }
}

/// The name of a variable of a Func, out of the name of its loop: `x` of `blur.s0.x.rebased`, `r_x` of `sum.s1.r12$x`.
pub(crate) fn loop_name(name: &str) -> String {
    let mut parts = name.split('.');
    let part = match parts.find(|part| is_stage(part)) {
        Some(_) => parts.next().unwrap_or(name),
        None => name.rsplit('.').next().unwrap_or(name),
    };
    let part = match part.split_once('$') {
        Some((domain, dimension)) => {
            format!("{}_{dimension}", domain.trim_end_matches(|character: char| character.is_ascii_digit()))
        }
        None => part.to_owned(),
    };
    let part = identifier(&part);
    // Boundary conditions have the variables `_0` and `_1`.
    if part.starts_with('_') { format!("i{}", part.trim_start_matches('_')) } else { part }
}

/// Whether a part of a name is that of a definition of a Func: `s0` is the first, `s1` the first update.
pub(crate) fn is_stage(part: &str) -> bool {
    part.strip_prefix('s').is_some_and(|number| number.parse::<u32>().is_ok())
}
