//! Definitions of parts of an array, put together again.
//!
//! Halide partitions loops at the boundaries of images, and unrolling makes copies of a statement. All of them are parts of
//! one definition. It is found by trying: the definition of the largest part, with the edges repeated, mirrored or constant
//! beyond the arrays it reads. A candidate is taken only if it computes the same as each part in the box of that part.
//! Where none does, the parts are chosen between by the coordinates, which is always right.

use std::collections::BTreeSet;
use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{Binary, Index, Piece, Span, Type, Unary};

use crate::canonical::{Canonical, tidy};
use crate::fault::{Fault, Result};
use crate::fit::{constant_of, fit, only_variable};
use crate::rebuild::{mapped, value_of};
use crate::shapes::strides;
use crate::unfold::{Definition, Level};
use crate::value::{Element, Place, Value, Variable};

/// The most elements of an array whose parts are counted.
const MOST_ELEMENTS: i64 = 1 << 24;

/// The most parts that are chosen between by coordinates.
const MOST_PARTS: usize = 16;

/// The most parts into which updates divide what one `produce` computes.
const MOST_DIVIDED: usize = 64;

/// A definition of a box.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub array: usize,
    /// The least and the greatest value of each coordinate.
    pub domain: Vec<(i64, i64)>,
    /// How many successive values of each coordinate are computed at once.
    pub unroll: Vec<i64>,
    pub value: Rc<Value<Element>>,
    pub updates: bool,
    /// Whether the whole array is computed in one place, not by parts in the iterations of a loop.
    pub is_whole: bool,
    pub order: Vec<Level>,
    pub span: Span,
}

/// The context in which definitions are merged.
pub(crate) struct Merger<'a> {
    pub canonical: Canonical<'a>,
    /// The ranges of all variables.
    pub ranges: &'a [(i64, i64)],
    /// The variables of the coordinates of the array.
    pub coordinates: &'a [Variable],
    /// Whether the array is an argument: somebody else reads all of it.
    pub is_argument: bool,
}

/// A value that depends on the element it is for.
struct Update<'a> {
    array: usize,
    /// The least and the greatest value of each coordinate.
    domain: &'a [(i64, i64)],
    value: &'a Rc<Value<Element>>,
}

/// Elements of an array: the values of each coordinate.
pub(crate) type Domain = Vec<Vec<i64>>;

/// Parts of an array with one definition.
#[derive(Clone, Debug)]
struct Part {
    domains: Vec<Domain>,
    value: Rc<Value<Element>>,
}

/// The parts of a stage.
struct StageParts<'a> {
    /// The definition whose loops are those of the stage.
    first: &'a Definition,
    /// Whether all of them are computed in one place.
    is_whole: bool,
    /// The box around all parts.
    whole: Vec<(i64, i64)>,
    unroll: Vec<i64>,
    parts: Vec<Part>,
    /// Whether the parts are all of the box.
    covers: bool,
}

impl StageParts<'_> {
    /// One definition of all parts.
    fn merged(&self, value: Rc<Value<Element>>) -> Merged {
        Merged { unroll: self.unroll.clone(), ..self.merged_box(self.whole.clone(), value) }
    }

    /// A definition of a box, which computes an element at a time.
    fn merged_box(&self, domain: Vec<(i64, i64)>, value: Rc<Value<Element>>) -> Merged {
        let &Definition { array, updates, span, .. } = self.first;
        let unroll = vec![1; domain.len()];
        Merged { array, domain, unroll, value, updates, is_whole: self.is_whole, order: self.first.order.clone(), span }
    }

    /// A definition of each part, where they stay apart: planes of different definitions, as the channels of an image.
    fn separate(&self) -> Option<Vec<Merged>> {
        let Self { parts, whole, .. } = self;
        let boxes = parts.iter().all(|part| part.domains.len() == 1 && is_box(&part.domains[0]));
        let planes = (0..whole.len())
            .any(|dimension| parts.iter().all(|part| part.domains.iter().all(|domain| domain[dimension].len() == 1)));
        if !(boxes && (planes || !self.covers || self.first.updates) && disjoint(parts)) {
            return None;
        }
        let separate = |part: &Part| self.merged_box(bounding_box([&part.domains[0]]), part.value.clone());
        Some(parts.iter().map(separate).collect())
    }
}

impl Merger<'_> {
    /// Merges the definitions of an array, which are in the order of the text.
    pub fn merge(&mut self, definitions: &[Definition]) -> Result<Vec<Merged>> {
        let mut checked = Vec::new();
        for definition in definitions {
            self.check(definition)?;
            checked.push(Definition { value: self.with_outside(definition), ..definition.clone() });
        }
        let mut stages: Vec<Vec<Definition>> = Vec::new();
        for definition in self.composed(checked)? {
            match self.continued(&stages, &definition) {
                Some(place) => self.add(&mut stages[place], definition)?,
                None => stages.push(vec![definition]),
            }
        }
        let mut merged: Vec<Merged> = Vec::new();
        for stage in &stages {
            let mut next = self.stage(stage, stages.len() == 1)?;
            // An update without a loop is a part of the definition that it updates.
            if let ([last], [update]) = (&mut merged[..], &next[..])
                && !last.updates
                && last.domain == update.domain
                && !update.order.iter().any(|level| matches!(level, Level::Reduction(..)))
            {
                let whole = Update { array: update.array, domain: &update.domain, value: &update.value };
                let value = self.substituted(&whole, &last.value)?;
                *last = Merged { value, updates: false, ..next.remove(0) };
                continue;
            }
            if let ([last], [over]) = (&merged[..], &next[..])
                && !last.updates
                && !over.updates
            {
                let over = self.overwritten(last, over)?;
                merged = vec![over];
                continue;
            }
            merged.append(&mut next);
        }
        Ok(merged)
    }

    /// The definitions, where an array is computed in several places: in each of them, updates are put into what they update.
    fn composed(&self, definitions: Vec<Definition>) -> Result<Vec<Definition>> {
        if definitions.iter().map(|definition| definition.production).all_equal() {
            return Ok(definitions);
        }
        let mut all = Vec::new();
        for (_, production) in &definitions.into_iter().chunk_by(|definition| definition.production) {
            let production: Vec<Definition> = production.collect();
            let values = |updates: bool| production.iter().filter(move |each| each.updates == updates);
            let is_apart = values(false).array_combinations().all(|[one, other]| !overlap(&one.domain, &other.domain));
            let mut parts: Option<Vec<Definition>> = is_apart.then(|| values(false).cloned().collect());
            for update in values(true) {
                parts = parts.map(|parts| self.updated(parts, update)).transpose()?.flatten();
            }
            all.extend(parts.unwrap_or(production));
        }
        Ok(all)
    }

    /// Definitions of separate elements after an update, if all that it updates is among them.
    fn updated(&self, parts: Vec<Definition>, update: &Definition) -> Result<Option<Vec<Definition>>> {
        let mut updated = Vec::new();
        let mut elements = 0;
        for part in parts {
            let Some((inside, others)) = divided(&part.domain, &update.domain) else {
                updated.push(part);
                continue;
            };
            elements += volume(&inside);
            updated.extend(others.into_iter().map(|domain| Definition { domain, ..part.clone() }));
            let box_of = bounding_box([&inside]);
            let whole = Update { array: update.array, domain: &box_of, value: &update.value };
            let value = self.substituted(&whole, &part.value)?;
            updated.push(Definition { domain: inside, value, updates: false, ..update.clone() });
        }
        let reduces = update.order.iter().any(|level| matches!(level, Level::Reduction(..)));
        Ok((!reduces && elements == volume(&update.domain) && updated.len() <= MOST_DIVIDED).then_some(updated))
    }

    /// The stage to which a definition belongs, if one of those before: the last one, or another one if all after that are of
    /// other elements, as where each part of a loop gives its rows an initial value and then updates them.
    fn continued(&mut self, stages: &[Vec<Definition>], definition: &Definition) -> Option<usize> {
        for (place, stage) in stages.iter().enumerate().rev() {
            if self.continues(stage, definition) {
                return Some(place);
            }
            if stage.iter().any(|other| overlap(&other.domain, &definition.domain)) {
                return None;
            }
        }
        None
    }

    /// Whether a definition belongs to the same stage as those before: it gives the same values to the same elements.
    fn continues(&mut self, stage: &[Definition], definition: &Definition) -> bool {
        if stage[0].updates != definition.updates {
            return false;
        }
        if definition.updates {
            let same = |other: &Definition| other.domain == definition.domain && same_order(other, definition);
            let apart =
                |other: &Definition| same_order(other, definition) && !overlap(&other.domain, &definition.domain);
            return stage.iter().any(same) || stage.iter().all(apart);
        }
        stage.iter().filter(|other| overlap(&other.domain, &definition.domain)).all(|other| {
            let (one, two) = (bounding_box([&other.domain]), bounding_box([&definition.domain]));
            let both: Vec<_> = one.iter().zip(&two).map(|(one, two)| (one.0.max(two.0), one.1.min(two.1))).collect();
            let ranges = self.within(&both);
            self.canonical.number(&other.value, &ranges) == self.canonical.number(&definition.value, &ranges)
        })
    }

    /// A definition of which a part is overwritten, as in `f(x, y) = 0; f(x, 3) = 1`.
    fn overwritten(&self, last: &Merged, over: &Merged) -> Result<Merged> {
        let refuse = || {
            Fault::new(over.span, "elements are written again with other values")
                .with_help("write each element of a Func once, or compute it by `compute_root`")
                .about_parts_of(over.array)
        };
        let inside = last.domain.iter().zip(&over.domain).all(|(last, over)| last.0 <= over.0 && over.1 <= last.1);
        if !(inside && last.is_whole && over.is_whole) {
            return Err(refuse());
        }
        let parts = [last, over].map(|each| Part {
            domains: vec![each.domain.iter().map(|(low, high)| (*low..=*high).collect()).collect()],
            value: each.value.clone(),
        });
        let value = self.chosen(&parts, &last.domain).ok_or_else(refuse)?;
        Ok(Merged { value, ..last.clone() })
    }

    /// Adds a definition to a stage: an update of the same elements in the same loops continues the one before.
    fn add(&self, stage: &mut Vec<Definition>, definition: Definition) -> Result<()> {
        let same = |other: &Definition| other.domain == definition.domain && same_order(other, &definition);
        match stage.iter().position(same).filter(|_| definition.updates) {
            Some(place) => {
                let domain = bounding_box([&definition.domain]);
                let update = Update { array: definition.array, domain: &domain, value: &definition.value };
                let value = self.substituted(&update, &stage[place].value)?;
                stage[place].value = value;
            }
            None => stage.push(definition),
        }
        Ok(())
    }

    /// The value of an update with another value in the place of the element that it updates.
    fn substituted(&self, update: &Update, by: &Rc<Value<Element>>) -> Result<Rc<Value<Element>>> {
        let ranges = self.within(update.domain);
        let own: Vec<Index> = self.coordinates.iter().map(|each| tidy(&Index::variable(*each), &ranges)).collect();
        let is_own = |indices: &[Index]| indices.iter().map(|index| tidy(index, &ranges)).eq(own.iter().cloned());
        mapped(
            update.value,
            &mut |value| match value {
                Value::Load(Element::Array { array, indices, .. }) if *array == update.array && is_own(indices) => {
                    Some(Ok(by.clone()))
                }
                _ => None,
            },
            &mut |array, indices, outside, span| match array == update.array && !is_own(indices) {
                true => Err(Fault::new(span, "this is another element of the array that is written")
                    .with_help("a Func is updated from its own elements and from other Funcs")),
                false => Ok(Element::Array { array, indices: indices.to_vec(), outside, place: Place(span) }),
            },
        )
    }

    /// Checks that an update reads no other elements of its array.
    fn check(&self, definition: &Definition) -> Result<()> {
        let domain = bounding_box([&definition.domain]);
        let update = Update { array: definition.array, domain: &domain, value: &definition.value };
        self.substituted(&update, &Value::number(0)).map(|_| ())
    }

    /// The ranges of all variables, where the coordinates are in a box.
    fn within(&self, box_of: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut ranges = self.ranges.to_vec();
        for (variable, range) in self.coordinates.iter().zip(box_of) {
            ranges[*variable] = *range;
        }
        ranges
    }

    /// The definitions of one stage, none of which depends on another; it may be the only one of the array.
    fn stage(&mut self, stage: &[Definition], is_only: bool) -> Result<Vec<Merged>> {
        let mut all = self.parts_of(stage);
        let updates = all.first.updates;
        if let [Part { value, .. }] = &all.parts[..] {
            if stage.len() == 1 && is_box(&stage[0].domain) {
                return Ok(vec![all.merged(value.clone())]);
            }
            // Elements between have no value, so that nothing reads them, as rows that a consumer of half the rate skips; a box
            // is computed.
            let is_sparse = !all.covers && !updates && is_only && !self.is_argument;
            if is_sparse && self.stays_inside(value, &self.within(&all.whole)) {
                return Ok(vec![all.merged_box(all.whole.clone(), value.clone())]);
            }
        }
        if all.covers
            && !updates
            && let Some(value) = self.fitted(&all.parts, &all.whole)
        {
            return Ok(vec![all.merged(value)]);
        }
        if !updates {
            all.parts = self.joined(all.parts);
        }
        if all.covers
            && let Some(candidate) = self.agreeing(&all.parts, &all.whole)?
        {
            return Ok(vec![all.merged(candidate)]);
        }
        if let Some(separate) = all.separate() {
            return Ok(separate);
        }
        let refuse = || {
            Fault::new(all.first.span, "the parts of this Func cannot be put together")
                .with_help(
                    "compute what is beyond the boundary in a Func of its own, by `compute_root` or `compute_at`",
                )
                .about_parts_of(all.first.array)
        };
        if !all.covers || all.parts.len() > MOST_PARTS || updates {
            return Err(refuse());
        }
        let value = self.chosen(&all.parts, &all.whole).ok_or_else(refuse)?;
        Ok(vec![all.merged(value)])
    }

    /// The parts of a stage: its definitions, those of one value together.
    fn parts_of<'a>(&mut self, stage: &'a [Definition]) -> StageParts<'a> {
        // Definitions at the edges may have lost their loops.
        let size = |each: &Definition| (each.followed, volume(&each.domain));
        let largest = stage.iter().enumerate().max_by_key(|(place, each)| (size(each), std::cmp::Reverse(*place)));
        let mut parts: Vec<(usize, Part)> = Vec::new();
        for definition in stage {
            let number = self.canonical.number(&definition.value, self.ranges);
            match parts.iter_mut().find(|(other, _)| *other == number) {
                Some((_, part)) => part.domains.push(definition.domain.clone()),
                None => {
                    let part = Part { domains: vec![definition.domain.clone()], value: definition.value.clone() };
                    parts.push((number, part));
                }
            }
        }
        let mut parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
        parts.iter_mut().for_each(|part| unite(&mut part.domains));
        let domains: Vec<&Domain> = stage.iter().map(|definition| &definition.domain).collect();
        let whole = bounding_box(domains.iter().copied());
        StageParts {
            first: largest.map_or(&stage[0], |(_, definition)| definition),
            is_whole: stage.iter().all(|definition| definition.is_whole),
            unroll: unrolling(&domains, &whole, !stage.iter().any(|definition| definition.is_part)),
            covers: covers(&parts, &whole),
            whole,
            parts,
        }
    }

    /// The first candidate that computes the same as each part in the box of that part.
    fn agreeing(&mut self, parts: &[Part], whole: &[(i64, i64)]) -> Result<Option<Rc<Value<Element>>>> {
        for candidate in self.candidates(parts, whole)? {
            let mut agrees = true;
            for part in parts {
                for box_of in part.domains.iter().flat_map(boxes) {
                    let ranges = self.within(&box_of);
                    agrees &= self.canonical.number(&candidate, &ranges) == self.canonical.number(&part.value, &ranges);
                }
            }
            if agrees {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Definitions that may be those of all parts.
    fn candidates(&self, parts: &[Part], whole: &[(i64, i64)]) -> Result<Vec<Rc<Value<Element>>>> {
        let size = |part: &&Part| part.domains.iter().map(volume).sum::<i64>();
        let mut candidates: Vec<Rc<Value<Element>>> = parts.iter().map(|part| part.value.clone()).collect();
        let Some(largest) = parts.iter().max_by_key(size) else { return Ok(candidates) };
        let ranges = self.within(whole);
        for mirrored in [false, true] {
            candidates.push(self.with_boundary(&largest.value, &ranges, |index, (low, high)| {
                let of = index.clone();
                (if mirrored { Piece::Mirror { of, low, high } } else { Piece::Clamp { of, low, high } }).into()
            })?);
        }
        for part in parts {
            for number in constants(&part.value).into_iter().chain([0]).sorted().dedup() {
                candidates.push(self.with_constant(&largest.value, &ranges, number)?);
            }
        }
        candidates.extend(self.rolled(parts));
        Ok(candidates)
    }

    /// The value with all indices that leave their arrays changed.
    fn with_boundary(
        &self,
        value: &Rc<Value<Element>>,
        ranges: &[(i64, i64)],
        change: impl Fn(&Index, (i64, i64)) -> Index,
    ) -> Result<Rc<Value<Element>>> {
        mapped(value, &mut |_| None, &mut |array, indices, outside, span| {
            let bounds = &self.canonical.bounds[array];
            let changed = indices.iter().zip(bounds).map(|(index, &bound)| {
                let (low, high) = index.range(ranges);
                if low >= bound.0 && high <= bound.1 { index.clone() } else { change(index, bound) }
            });
            Ok(Element::Array { array, indices: changed.collect(), outside, place: Place(span) })
        })
    }

    /// The value with a constant beyond all arrays.
    fn with_constant(
        &self,
        value: &Rc<Value<Element>>,
        ranges: &[(i64, i64)],
        constant: i64,
    ) -> Result<Rc<Value<Element>>> {
        mapped(value, &mut |_| None, &mut |array, indices, outside, span| {
            let bounds = &self.canonical.bounds[array];
            let inside = indices.iter().zip(bounds).all(|(index, bound)| {
                let (low, high) = index.range(ranges);
                low >= bound.0 && high <= bound.1
            });
            let outside = if inside { outside } else { outside.or(Some(constant)) };
            Ok(Element::Array { array, indices: indices.to_vec(), outside, place: Place(span) })
        })
    }

    /// Whether all indices are within their arrays.
    fn stays_inside(&self, value: &Value<Element>, ranges: &[(i64, i64)]) -> bool {
        value.array_loads().into_iter().all(|(array, indices)| {
            indices.iter().zip(&self.canonical.bounds[array]).all(|(index, bound)| {
                let (low, high) = tidy(index, ranges).range(ranges);
                low >= bound.0 && high <= bound.1
            })
        })
    }

    /// Parts joined with neighbours whose definitions differ in indices only, as far as that goes.
    fn joined(&self, mut parts: Vec<Part>) -> Vec<Part> {
        parts.sort_by(|one, other| one.domains.cmp(&other.domains));
        let mut joined: Vec<Part> = Vec::new();
        for mut part in parts {
            let found = joined.iter().enumerate().find_map(|(place, other)| {
                let whole = bounding_box(other.domains.iter().chain(&part.domains));
                let both = [other.clone(), part.clone()];
                Some((place, self.fitted(&both, &whole)?))
            });
            match found {
                Some((place, value)) => {
                    joined[place].value = value;
                    joined[place].domains.append(&mut part.domains);
                    unite(&mut joined[place].domains);
                }
                None => joined.push(part),
            }
        }
        joined
    }

    /// The definition of parts that differ in indices only, each of which is one function of a coordinate over all of them.
    fn fitted(&self, parts: &[Part], whole: &[(i64, i64)]) -> Option<Rc<Value<Element>>> {
        let values: Vec<&Rc<Value<Element>>> = parts.iter().map(|part| &part.value).collect();
        common(&values, &|indices| self.fitted_index(parts, indices, whole))
    }

    /// The index that is that of each part where its coordinates are.
    fn fitted_index(&self, parts: &[Part], indices: &[&Index], whole: &[(i64, i64)]) -> Option<Index> {
        if indices.iter().all_equal() {
            return Some(indices[0].clone());
        }
        let variables: BTreeSet<Variable> = indices.iter().flat_map(|index| index.variables()).collect();
        let mut point = vec![0; self.ranges.len()];
        (0..whole.len())
            .filter(|dimension| variables.iter().all(|each| *each == self.coordinates[*dimension]))
            .find_map(|dimension| {
                let (coordinate, (low, high)) = (self.coordinates[dimension], whole[dimension]);
                let mut values: Vec<Option<i64>> = vec![None; (high - low + 1) as usize];
                for (part, index) in parts.iter().zip(indices) {
                    for &at in part.domains.iter().flat_map(|domain| &domain[dimension]) {
                        point[coordinate] = at;
                        let value = index.evaluate(&point);
                        if *values[(at - low) as usize].get_or_insert(value) != value {
                            return None;
                        }
                    }
                }
                fit(coordinate, low, &values.into_iter().collect::<Option<Vec<i64>>>()?)
            })
    }

    /// The definition of copies that differ by what a coordinate adds to indices.
    fn rolled(&self, parts: &[Part]) -> Option<Rc<Value<Element>>> {
        let [one, other, ..] = parts else { return None };
        let (first, second) = (one.domains.first()?, other.domains.first()?);
        let dimension = (0..first.len()).find(|&dimension| {
            first[dimension].len() == 1 && second[dimension].len() == 1 && first[dimension] != second[dimension]
        })?;
        let at = [first[dimension][0], second[dimension][0]];
        roll(&one.value, &other.value, at, self.coordinates[dimension])
    }

    /// The value of each part where its coordinates are.
    fn chosen(&self, parts: &[Part], whole: &[(i64, i64)]) -> Option<Rc<Value<Element>>> {
        let ranges = self.within(whole);
        let (first, others) = parts.split_first()?;
        let mut value = self.with_constant(&first.value, &ranges, 0).ok()?;
        for part in others {
            let here = self.with_constant(&part.value, &ranges, 0).ok()?;
            for domain in &part.domains {
                let mut condition: Option<Rc<Value<Element>>> = None;
                for (dimension, values) in domain.iter().enumerate() {
                    let coordinate = Rc::new(Value::Variable(self.coordinates[dimension]));
                    for test in tests(values, whole[dimension], &coordinate)? {
                        condition = Some(match condition {
                            None => test,
                            Some(others) => Value::binary(Binary::And, others, test),
                        });
                    }
                }
                value = Rc::new(Value::Select(condition?, here.clone(), value));
            }
        }
        Some(value)
    }

    /// The value with `select(x < 1, 0, image[max(x, 1) - 1])` as a load that is 0 outside, and no choices that are none.
    fn with_outside(&self, definition: &Definition) -> Rc<Value<Element>> {
        let box_of: Vec<(i64, i64)> = bounding_box([&definition.domain]);
        let ranges = self.within(&box_of);
        self.outside_in(&definition.value, &ranges)
    }

    fn outside_in(&self, value: &Rc<Value<Element>>, ranges: &[(i64, i64)]) -> Rc<Value<Element>> {
        if let Value::Select(condition, then, otherwise) = &**value {
            if let Some(truth) = constant_of(&**condition, ranges) {
                return self.outside_in(if truth != 0 { then } else { otherwise }, ranges);
            }
            let opposite = Rc::new(Value::Unary(Unary::Not, condition.clone()));
            let found = match (&**then, &**otherwise) {
                (Value::Number(number, _), Value::Load(load)) => self.outside(condition, *number, load, ranges),
                (Value::Load(load), Value::Number(number, _)) => self.outside(&opposite, *number, load, ranges),
                _ => None,
            };
            if let Some(load) = found {
                return Rc::new(Value::Load(load));
            }
        }
        Rc::new(value.with(|operand| self.outside_in(operand, ranges)))
    }

    /// The load that is `number` outside of the array, if it is so exactly where the condition is true.
    fn outside(
        &self,
        condition: &Rc<Value<Element>>,
        number: i64,
        load: &Element,
        ranges: &[(i64, i64)],
    ) -> Option<Element> {
        let Element::Array { array, indices, outside: None, place } = load else { return None };
        let mut alternatives = Vec::new();
        disjuncts(condition, false, &mut alternatives);
        let mut indices = indices.clone();
        let mut tested: Vec<Variable> = Vec::new();
        for alternative in &alternatives {
            tested.push(only_variable(alternative.as_ref())?);
        }
        for variable in tested.iter().copied().sorted().dedup() {
            let (first, last) = ranges[variable];
            let is_out = |at: i64| -> Option<bool> {
                let mut out = false;
                for (alternative, of) in alternatives.iter().zip(&tested) {
                    out |= *of == variable && alternative.evaluate(&|_| Some(at))? != 0;
                }
                Some(out)
            };
            let out: Vec<bool> = (first..=last).map(is_out).collect::<Option<_>>()?;
            let mut reached = vec![false; out.len()];
            for (index, bound) in indices.iter_mut().zip(&self.canonical.bounds[*array]) {
                if index.variables().into_iter().collect::<Vec<_>>() != [variable] {
                    continue;
                }
                let mut point = vec![0; variable + 1];
                let mut at = |index: &Index, value: i64| {
                    point[variable] = value;
                    index.evaluate(&point)
                };
                // The index where it counts, continued to where it does not.
                let inside = out.iter().position(|out| !out)?;
                let inside_end = out.iter().rposition(|out| !out)?;
                if out[inside..=inside_end].iter().any(|out| *out) {
                    return None;
                }
                let start = first + inside as i64;
                let values: Vec<i64> = (start..=first + inside_end as i64).map(|value| at(index, value)).collect();
                let line = match values[..] {
                    // Any line goes through one value; whether it leaves the array where it should is checked below.
                    [value] => Index::variable(variable).plus(&Index::constant(value - start), 1)?,
                    _ => fit(variable, start, &values).filter(|line| line.pieces.is_empty())?,
                };
                for (reached, value) in reached.iter_mut().zip(first..) {
                    let value = at(&line, value);
                    *reached |= value < bound.0 || value > bound.1;
                }
                *index = line;
            }
            if reached != out {
                return None;
            }
        }
        Some(Element::Array { array: *array, indices, outside: Some(number), place: *place })
    }
}

/// The operands of `||`, also in the form `!(a && b)`.
fn disjuncts(condition: &Rc<Value<Element>>, negated: bool, found: &mut Vec<Rc<Value<Element>>>) {
    let either = if negated { Binary::And } else { Binary::Or };
    match &**condition {
        Value::Unary(Unary::Not, operand) => disjuncts(operand, !negated, found),
        Value::Binary(operator, left, right) if *operator == either => {
            disjuncts(left, negated, found);
            disjuncts(right, negated, found);
        }
        _ if negated => found.push(Rc::new(Value::Unary(Unary::Not, condition.clone()))),
        _ => found.push(condition.clone()),
    }
}

/// Whether the loops are in the same order, or nothing depends on it, as each element is updated once.
fn same_order(one: &Definition, other: &Definition) -> bool {
    let reduces = |each: &Definition| each.order.iter().any(|level| matches!(level, Level::Reduction(..)));
    one.order == other.order || !(reduces(one) || reduces(other))
}

fn overlap(one: &Domain, other: &Domain) -> bool {
    one.iter().zip(other).all(|(one, other)| one.iter().any(|value| other.binary_search(value).is_ok()))
}

/// The intersection of two domains, and the rest of the first in boxes; nothing if they have nothing in common.
fn divided(domain: &Domain, by: &Domain) -> Option<(Domain, Vec<Domain>)> {
    let is_in = |values: &[i64], value: &i64| values.binary_search(value).is_ok();
    let mut inside = domain.clone();
    let mut others = Vec::new();
    for (dimension, values) in by.iter().enumerate() {
        let (both, rest): (Vec<i64>, Vec<i64>) = inside[dimension].iter().partition(|value| is_in(values, value));
        if !rest.is_empty() {
            let mut other = inside.clone();
            other[dimension] = rest;
            others.push(other);
        }
        inside[dimension] = both;
    }
    (inside.iter().all(|values| !values.is_empty())).then_some((inside, others))
}

fn disjoint(parts: &[Part]) -> bool {
    parts.iter().array_combinations().all(|[one, other]| {
        !one.domains.iter().cartesian_product(&other.domains).any(|(one, other)| overlap(one, other))
    })
}

/// The least and the greatest values of each coordinate.
fn bounding_box<'a>(domains: impl IntoIterator<Item = &'a Domain>) -> Vec<(i64, i64)> {
    let mut whole: Vec<(i64, i64)> = Vec::new();
    for domain in domains {
        for (dimension, values) in domain.iter().enumerate() {
            let (low, high) = (values[0], values[values.len() - 1]);
            match whole.get_mut(dimension) {
                Some(range) => *range = (range.0.min(low), range.1.max(high)),
                None => whole.push((low, high)),
            }
        }
    }
    whole
}

/// The boxes of a domain. Where the values have many gaps, as those of a copy of a statement, these are filled.
pub(crate) fn boxes(domain: &Domain) -> Vec<Vec<(i64, i64)>> {
    const MOST_RUNS: usize = 4;
    let runs = domain.iter().map(|values| {
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for &value in values {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == value => *last = value,
                _ => runs.push((value, value)),
            }
        }
        if runs.len() > MOST_RUNS { vec![(values[0], values[values.len() - 1])] } else { runs }
    });
    runs.multi_cartesian_product().collect()
}

fn volume(domain: &Domain) -> i64 {
    domain.iter().map(|values| values.len() as i64).product()
}

/// Whether there are no gaps.
fn is_box(domain: &Domain) -> bool {
    domain.iter().all(|values| values[values.len() - 1] - values[0] + 1 == values.len() as i64)
}

/// Unites domains that differ in one dimension, until there are none.
fn unite(domains: &mut Vec<Domain>) {
    let unite_two = |one: &Domain, other: &Domain| {
        let differ: Vec<usize> = (0..one.len()).filter(|&dimension| one[dimension] != other[dimension]).collect();
        match differ[..] {
            [] => Some(one.clone()),
            [dimension] => {
                let mut united = one.clone();
                united[dimension] = one[dimension].iter().merge(&other[dimension]).copied().dedup().collect();
                Some(united)
            }
            _ => None,
        }
    };
    'again: loop {
        for [one, other] in (0..domains.len()).array_combinations() {
            if let Some(united) = unite_two(&domains[one], &domains[other]) {
                domains[one] = united;
                domains.remove(other);
                continue 'again;
            }
        }
        return;
    }
}

/// Whether the parts are all of a box.
fn covers(parts: &[Part], whole: &[(i64, i64)]) -> bool {
    let size = whole.iter().fold(1_i64, |size, (low, high)| size.saturating_mul(high - low + 1));
    if size > MOST_ELEMENTS {
        return false;
    }
    let strides = strides(whole.iter().map(|(low, high)| high - low + 1));
    let mut seen = vec![false; size as usize];
    for domain in parts.iter().flat_map(|part| &part.domains) {
        let places = domain.iter().zip(whole).zip(&strides).map(|((values, range), stride)| {
            values.iter().map(|value| (value - range.0) * stride).collect::<Vec<i64>>()
        });
        for place in places.multi_cartesian_product() {
            seen[place.iter().sum::<i64>() as usize] = true;
        }
    }
    seen.into_iter().all(|seen| seen)
}

/// How many values of each coordinate are computed at once: by how much the copies of a statement step.
/// `copies` says that there are no parts of a loop's iterations.
fn unrolling(domains: &[&Domain], whole: &[(i64, i64)], copies: bool) -> Vec<i64> {
    let of = |dimension: usize| {
        let extent = whole[dimension].1 - whole[dimension].0 + 1;
        let steps = domains.iter().map(|domain| match &domain[dimension][..] {
            [one, two, ..] => two - one,
            _ if copies && domains.len() as i64 >= extent => extent,
            _ => 1,
        });
        // The parts at the edges of a partitioned loop have one value; the copies are alike.
        let step = steps.min().unwrap_or(1);
        if extent % step == 0 { step } else { 1 }
    };
    (0..whole.len()).map(of).collect()
}

/// Numbers that select a constant or are one.
fn constants(value: &Value<Element>) -> Vec<i64> {
    let mut found = Vec::new();
    match value {
        Value::Number(number, of) if *of != Type::Bool => found.push(*number),
        Value::Load(Element::Array { outside: Some(number), .. }) => found.push(*number),
        _ => {}
    }
    found.extend(value.operands().into_iter().flat_map(|operand| constants(operand)));
    found
}

/// The conditions under which a coordinate has one of these values.
fn tests(values: &[i64], (low, high): (i64, i64), coordinate: &Rc<Value<Element>>) -> Option<Vec<Rc<Value<Element>>>> {
    let (first, last) = (values[0], values[values.len() - 1]);
    let mut tests = Vec::new();
    let compared = |operator, with| Value::binary(operator, coordinate.clone(), Value::number(with));
    let step = if values.len() > 1 { values[1] - first } else { 1 };
    if values.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return None;
    }
    if first - step >= low {
        tests.push(compared(Binary::GreaterEqual, first));
    }
    if last + step <= high {
        tests.push(compared(Binary::LessEqual, last));
    }
    if step > 1 {
        let remainder = compared(Binary::Modulo, step);
        tests.push(Value::binary(Binary::Equal, remainder, Value::number(first.rem_euclid(step))));
    }
    Some(tests)
}

/// One value for several that differ in indices only, which `index` makes one.
fn common(values: &[&Rc<Value<Element>>], index: &impl Fn(&[&Index]) -> Option<Index>) -> Option<Rc<Value<Element>>> {
    let (first, others) = values.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(Rc::clone(first));
    }
    if let Value::Load(Element::Array { array, outside, place, .. }) = &***first {
        let indices = values.iter().map(|value| match &***value {
            Value::Load(Element::Array { array: other, indices, outside: too, .. }) => {
                (array == other && outside == too).then_some(indices)
            }
            _ => None,
        });
        let indices: Vec<&Vec<Index>> = indices.collect::<Option<_>>()?;
        let of = |dimension| index(&indices.iter().map(|indices| &indices[dimension]).collect::<Vec<&Index>>());
        let indices = (0..indices[0].len()).map(of).collect::<Option<_>>()?;
        return Some(Rc::new(Value::Load(Element::Array { array: *array, indices, outside: *outside, place: *place })));
    }
    if let Value::Load(Element::Table { table, .. }) = &***first {
        let inner = values.iter().map(|value| match &***value {
            Value::Load(Element::Table { table: other, index }) => (table == other).then_some(index),
            _ => None,
        });
        let index = common(&inner.collect::<Option<Vec<_>>>()?, index)?;
        return Some(Rc::new(Value::Load(Element::Table { table: *table, index })));
    }
    let operands: Vec<Vec<&Rc<Value<Element>>>> = values.iter().map(|value| value.operands()).collect();
    if operands[0].is_empty() || !others.iter().all(|other| same_operator(first, other)) {
        return None;
    }
    let of = |place: usize| common(&operands.iter().map(|operands| operands[place]).collect::<Vec<_>>(), index);
    let mut found = (0..operands[0].len()).map(of).collect::<Option<Vec<_>>>()?.into_iter();
    Some(Rc::new(first.with(|operand| found.next().unwrap_or_else(|| operand.clone()))))
}

/// One value of a coordinate for two, if their indices differ in proportion to it.
fn roll(
    one: &Rc<Value<Element>>,
    other: &Rc<Value<Element>>,
    at: [i64; 2],
    coordinate: Variable,
) -> Option<Rc<Value<Element>>> {
    let index = |one: &Index, other: &Index| {
        let difference = other.plus(one, -1)?.as_constant()?;
        let step = at[1] - at[0];
        let slope = (difference % step == 0).then_some(difference / step)?;
        let moved = Index::variable(coordinate).plus(&Index::constant(-at[0]), 1)?;
        one.plus(&moved, slope)
    };
    Some(Rc::new(match (&**one, &**other) {
        (one, other) if one == other => one.clone(),
        (
            Value::Load(Element::Array { array, indices, outside, place }),
            Value::Load(Element::Array { array: other, indices: others, outside: outside_too, .. }),
        ) if array == other && outside == outside_too => {
            let indices = indices.iter().zip(others).map(|(one, other)| index(one, other)).collect::<Option<_>>()?;
            Value::Load(Element::Array { array: *array, indices, outside: *outside, place: *place })
        }
        (Value::Number(number, Type::I32), Value::Number(second, Type::I32)) => {
            return Some(value_of(&index(&Index::constant(*number), &Index::constant(*second))?));
        }
        (one, other) => {
            let (operands, others) = (one.operands(), other.operands());
            if operands.is_empty() || !same_operator(one, other) {
                return None;
            }
            let rolled = operands.iter().zip(others).map(|(one, other)| roll(one, other, at, coordinate));
            let mut rolled = rolled.collect::<Option<Vec<_>>>()?.into_iter();
            one.with(|operand| rolled.next().unwrap_or_else(|| operand.clone()))
        }
    }))
}

fn same_operator(one: &Value<Element>, other: &Value<Element>) -> bool {
    match (one, other) {
        (Value::Unary(one, _), Value::Unary(other, _)) => one == other,
        (Value::Binary(one, ..), Value::Binary(other, ..)) => one == other,
        (Value::Cast(one, _), Value::Cast(other, _)) => one == other,
        (Value::Select(..), Value::Select(..)) => true,
        _ => false,
    }
}

/// The value with the simplest indices in the box.
pub(crate) fn tidied(value: &Rc<Value<Element>>, ranges: &[(i64, i64)]) -> Result<Rc<Value<Element>>> {
    mapped(value, &mut |_| None, &mut |array, indices, outside, span| {
        let indices = indices.iter().map(|index| tidy(index, ranges)).collect();
        Ok(Element::Array { array, indices, outside, place: Place(span) })
    })
}
