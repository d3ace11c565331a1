//! Terms as values of nests: the indices of loads as indices of arrays, and entries of constants as those of tables.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_float::Format;
use pushmem_nest::{AffineIndex, Binary, Index, Piece, Span, Type, Unary};

use crate::fit::{Sampled, index_of};
use crate::floats::{Floats, greatest, of_another_scale, shown};
use crate::interval::Intervals;
use crate::plan::{Arrays, Box, Point, Storage, Term};
use crate::value::{Element, Value, Variable};
use crate::walk::refined;
use crate::{Problem, Result};

/// The most lines of which an index is made.
const MOST_LINES: usize = 8;

/// A value of a nest.
pub(crate) type Converted = Rc<Value<Element>>;

/// The conversion of the terms of a stage.
pub(crate) struct Converter<'a> {
    pub arrays: &'a Arrays,
    /// The ranges of all variables.
    pub ranges: &'a Box,
    pub floats: Floats,
    /// The variables of which all values are there at once.
    pub unrolled: BTreeSet<Variable>,
    /// The definition, for messages.
    pub span: Span,
    pub known: HashMap<usize, Converted>,
}

impl Converter<'_> {
    /// A term that is computed for all values of the variables.
    pub fn value(&mut self, term: &Term) -> Result<Converted> {
        let mut known = std::mem::take(&mut self.known);
        let value = self.within(term, self.ranges, &mut known);
        self.known = known;
        value
    }

    /// A term that is used for these values of the variables only.
    fn within(&self, term: &Term, used: &Box, known: &mut HashMap<usize, Converted>) -> Result<Converted> {
        let place = Rc::as_ptr(term) as usize;
        if let Some(value) = known.get(&place) {
            return Ok(value.clone());
        }
        let value = match &**term {
            Value::Number(word, of) if of.format().is_some_and(|format| !format.is_finite(*word as u16)) => {
                return Err(self.infinite(*of));
            }
            Value::Number(number, of) => Value::Number(*number, *of),
            Value::Variable(variable) => Value::Variable(*variable),
            Value::Load(point) => self.load(point, used, known)?,
            Value::Unary(operator, of) => Value::Unary(*operator, self.within(of, used, known)?),
            Value::Binary(operator, left, right) => {
                Value::Binary(*operator, self.within(left, used, known)?, self.within(right, used, known)?)
            }
            Value::Cast(to, of) => {
                if let Some(format) = to.format().filter(|_| self.is_wide_number(of)) {
                    let whole = self.within(of, used, known)?;
                    let value = wide_number(whole, self.arrays.plan.terms.type_of(of), format);
                    known.insert(place, value.clone());
                    return Ok(value);
                }
                let between = self.between(*to, of)?;
                let of = self.within(of, used, known)?;
                let of = between.map_or(of.clone(), |between| Rc::new(Value::Cast(between, of)));
                if self.type_of(&of) == Some(*to) { (*of).clone() } else { Value::Cast(*to, of) }
            }
            Value::Select(condition, then, otherwise) => self.select(condition, [then, otherwise], used, known)?,
        };
        let value = Rc::new(value);
        known.insert(place, value.clone());
        Ok(value)
    }

    /// Refuses a constant of this type that is infinite, or no number.
    fn infinite(&self, of: Type) -> Problem {
        let format = of.format().map_or(String::new(), |format| format.to_string());
        let help = match self.floats {
            Floats::Narrowed(format) => {
                format!("numbers end at {}: {}", shown(greatest(format)), of_another_scale(format))
            }
            Floats::Exact => format!(
                "begin extremes with a finite number; `--narrow-floats {}` takes the greatest one in the place of an infinite one",
                of.name()
            ),
        };
        Problem::new(self.span, format!("a constant is beyond the numbers of {format}")).with_help(help)
    }

    /// Whether an integer of 32 bits becomes a number that need not be rounded once, and is not known to fit 16 bits.
    fn is_wide_number(&self, of: &Term) -> bool {
        if self.arrays.plan.terms.type_of(of).bits() <= 16 || self.floats == Floats::Exact {
            return false;
        }
        let (low, high) = self.intervals(|intervals| intervals.of(of));
        ![Type::I16, Type::U16].iter().any(|narrow| narrow.holds(low) && narrow.holds(high))
    }

    fn intervals<Found>(&self, find: impl Fn(&mut Intervals<'_>) -> Found) -> Found {
        let variables = |variable: usize| self.ranges[variable];
        let arrays =
            |array: usize| ((self.arrays.held[array].min(), self.arrays.held[array].max()), self.arrays.held[array]);
        find(&mut Intervals::new(&variables, &arrays))
    }

    /// The type of 16 bits by which a number becomes an integer of 32 bits, or that a number.
    fn between(&self, to: Type, of: &Term) -> Result<Option<Type>> {
        let from = self.arrays.plan.terms.type_of(of);
        let Some(format) = from.format().or(to.format()) else { return Ok(None) };
        if from == to || from.bits().max(to.bits()) <= 16 {
            return Ok(None);
        }
        let (low, high) = match to.format() {
            Some(_) => self.intervals(|intervals| intervals.of(of)),
            None => {
                let (low, high) = self.intervals(|intervals| intervals.number(of));
                (low.min(0.0).max(i64::MIN as f64) as i64, high.max(0.0).min(i64::MAX as f64) as i64)
            }
        };
        let found = [Type::I16, Type::U16].into_iter().find(|between| between.holds(low) && between.holds(high));
        let fault = || {
            let message = match to.format() {
                Some(_) => format!("an integer from {low} to {high} becomes a number of {format}"),
                None => format!(
                    "a number of {format} becomes an integer of type {}, and is not known to fit 16 bits",
                    to.name()
                ),
            };
            Problem::new(self.span, message)
                .with_help("hardware converts integers of 16 bits: limit the value by `clamp`, or cast it to 16 bits")
        };
        found.map(Some).ok_or_else(fault)
    }

    /// The type of a load; of other values it is not needed.
    fn type_of(&self, value: &Value<Element>) -> Option<Type> {
        match value {
            Value::Load(element) => Some(self.arrays.held[element.array()]),
            _ => None,
        }
    }

    fn select(
        &self,
        condition: &Term,
        chosen: [&Term; 2],
        used: &Box,
        known: &mut HashMap<usize, Converted>,
    ) -> Result<Value<Element>> {
        if let Some(outside) = self.outside(condition, chosen) {
            return Ok(outside);
        }
        let mut value = |truth: bool, term: &Term| match refined(condition, truth, used) {
            None => Ok(None),
            Some(inner) if inner == *used => self.within(term, used, known).map(Some),
            Some(inner) => self.within(term, &inner, &mut HashMap::new()).map(Some),
        };
        match (value(true, chosen[0])?, value(false, chosen[1])?) {
            (Some(then), Some(otherwise)) => {
                let bounds = self.bounds(condition).map_or_else(|| self.within(condition, used, known), Ok)?;
                Ok(Value::Select(bounds, then, otherwise))
            }
            (Some(only), None) | (None, Some(only)) => Ok((*only).clone()),
            // Nothing is used here.
            (None, None) => Ok((*self.within(chosen[1], used, known)?).clone()),
        }
    }

    /// A condition on the bounds of coordinates, without the bounds that hold anyway; nothing if it is none.
    fn bounds(&self, condition: &Term) -> Option<Converted> {
        let mut said = Vec::new();
        inequalities(condition, true, self.ranges, &mut said)?;
        said.retain(|each| each.range(self.ranges).0 < 0);
        let bound = |of: &Index| {
            let AffineIndex { constant, terms } = of.as_affine()?;
            let (low, high) = match terms[..] {
                [(variable, 1)] => (Value::number(-constant), Rc::new(Value::Variable(variable))),
                [(variable, -1)] => (Rc::new(Value::Variable(variable)), Value::number(*constant)),
                _ => return None,
            };
            Some(Value::binary(Binary::LessEqual, low, high))
        };
        let bounds = said.iter().map(bound).collect::<Option<Vec<_>>>()?;
        bounds.into_iter().reduce(|all, bound| Value::binary(Binary::And, all, bound))
    }

    /// A load with a constant beyond the array, of a choice between the two by whether the index is within.
    fn outside(&self, condition: &Term, chosen: [&Term; 2]) -> Option<Value<Element>> {
        let (point, constant, truth) = match (&**chosen[0], &**chosen[1]) {
            (Value::Load(point), Value::Number(constant, _)) => (point, *constant, true),
            (Value::Number(constant, _), Value::Load(point)) => (point, *constant, false),
            _ => return None,
        };
        let region = self.arrays.boxes[point.array]
            .as_ref()
            .filter(|_| !point.indices.iter().any(|index| self.is_narrowed(index)))?;
        if matches!(self.arrays.plan.arrays[point.array].storage, Storage::Constants(_)) {
            return None;
        }
        let mut said = Vec::new();
        inequalities(condition, truth, self.ranges, &mut said)?;
        let (mut indices, mut needed) = (Vec::new(), Vec::new());
        for (index, (low, high)) in point.indices.iter().zip(region) {
            let index = index_of(&**index, self.ranges)?;
            let (first, last) = index.range(self.ranges);
            let of = match &index.pieces[..] {
                [(1, Piece::Clamp { of, .. })] if index.affine == Default::default() => of.clone(),
                _ => index.clone(),
            };
            // The clamped index reaches to the edges of the array, and not beyond.
            if (first, last) != (*low, *high) && of != index || first < *low || last > *high {
                return None;
            }
            if of != index {
                needed.push(of.plus(&Index::constant(*low), -1)?);
                needed.push(Index::constant(*high).plus(&of, -1)?);
            }
            indices.push(of);
        }
        let tells = |each: &Index| each.range(self.ranges).0 < 0;
        let same =
            |one: &[Index], other: &[Index]| one.iter().filter(|each| tells(each)).all(|each| other.contains(each));
        let load = Element::Array { array: point.array, indices, outside: Some(constant), span: point.span };
        (same(&said, &needed) && same(&needed, &said)).then_some(Value::Load(load))
    }

    fn load(&self, point: &Point, used: &Box, known: &mut HashMap<usize, Converted>) -> Result<Value<Element>> {
        let array = &self.arrays.plan.arrays[point.array];
        if let Storage::Constants(entries) = &array.storage {
            return self.entry(point, entries, used, known);
        }
        self.refuse_narrowed(point)?;
        let Some(indices) = self.indices(point) else { return Ok(Value::Load(self.chosen(point, used, known)?)) };
        let region = self.arrays.boxes[point.array].as_ref();
        let within = |ranges: &Box, number: usize| {
            let (low, high) = region.map_or((0, 0), |region| region[number]);
            index_of(&*point.indices[number], ranges).is_some_and(|index| {
                let (first, last) = index.range(ranges);
                low <= first && last <= high
            })
        };
        let all = |ranges: &Box| (0..indices.len()).all(|number| within(ranges, number));
        // Elements beyond the array are not used.
        let outside = (!all(self.ranges) && all(used)).then_some(0);
        Ok(Value::Load(Element::Array { array: point.array, indices, outside, span: point.span }))
    }

    /// The element that a definition stores.
    pub fn element(&mut self, point: &Point) -> Result<Element> {
        self.refuse_narrowed(point)?;
        if let Some(indices) = self.indices(point) {
            return Ok(Element::new(point.array, indices, point.span));
        }
        let mut known = std::mem::take(&mut self.known);
        let element = self.chosen(point, self.ranges, &mut known);
        self.known = known;
        element
    }

    /// An element that data or a table choose.
    fn chosen(&self, point: &Point, used: &Box, known: &mut HashMap<usize, Converted>) -> Result<Element> {
        let indices = point.indices.iter().map(|index| self.within(index, used, known)).collect::<Result<_>>()?;
        Ok(Element::Chosen { array: point.array, indices, span: point.span })
    }

    /// Refuses indices that are computed with narrowed numbers.
    fn refuse_narrowed(&self, point: &Point) -> Result<()> {
        if !point.indices.iter().any(|index| self.is_narrowed(index)) {
            return Ok(());
        }
        let name = &self.arrays.plan.arrays[point.array].name;
        let message = format!("which element of `{name}` is read depends on numbers that are narrowed");
        Err(Problem::new(point.span, message).with_help(
            "compute indices with integers: a coordinate has more bits than a number of bfloat16 or float16",
        ))
    }

    /// The indices of an element, as address generators compute them; nothing, if data or a table choose it.
    fn indices(&self, point: &Point) -> Option<Vec<Index>> {
        let index = |index: &Term| index_of(&**index, self.ranges).or_else(|| self.bent(index));
        let are_known = point.indices.iter().all(|index| index.is_known());
        are_known.then(|| point.indices.iter().map(index).collect())?
    }

    /// Whether an index is computed with numbers that have fewer bits than those of the pipeline.
    fn is_narrowed(&self, index: &Term) -> bool {
        self.floats != Floats::Exact && index.parts().into_iter().any(Value::is_number)
    }

    /// An index of one sum of variables that goes along a few lines.
    fn bent(&self, index: &Term) -> Option<Index> {
        let Sampled { sum, first, values } = Sampled::new(&**index, self.ranges)?;
        let variable = self.ranges.len();
        let most =
            if sum.variables().iter().all(|each| self.unrolled.contains(each)) { usize::MAX } else { MOST_LINES };
        lines(variable, first, &values, most)?.substituted(variable, &sum)
    }

    /// An entry of constants: a number, or an entry of a table.
    fn entry(
        &self,
        point: &Point,
        entries: &[i64],
        used: &Box,
        known: &mut HashMap<usize, Converted>,
    ) -> Result<Value<Element>> {
        let array = &self.arrays.plan.arrays[point.array];
        let said = array.said.clone().unwrap_or_default();
        let (mut flat, mut place, mut stride) = (None::<Converted>, Some(0), 1);
        for (index, (low, high)) in point.indices.iter().zip(said) {
            match **index {
                Value::Number(at, _) if !(low..=high).contains(&at) => {
                    let message = format!("`{}` is read at {at}, and has the indices {low} to {high}", array.name);
                    return Err(Problem::new(point.span, message));
                }
                Value::Number(at, _) => place = place.map(|place| place + (at - low) * stride),
                _ => place = None,
            }
            let mut at = self.within(index, used, known)?;
            if low != 0 {
                at = Value::binary(Binary::Subtract, at, Value::number(low));
            }
            if stride != 1 {
                at = Value::binary(Binary::Multiply, at, Value::number(stride));
            }
            stride *= high - low + 1;
            flat = Some(match flat {
                Some(before) => Value::binary(Binary::Add, before, at),
                None => at,
            });
        }
        let constant = place.and_then(|place| entries.get(usize::try_from(place).ok()?));
        Ok(match constant {
            Some(entry) => Value::Number(*entry, self.arrays.held[point.array]),
            None => {
                let index = flat.unwrap_or_else(|| Value::number(0));
                Value::Load(Element::Table { table: point.array, index })
            }
        })
    }
}

/// An integer of 32 bits as a number: that of its magnitude, with its sign.
fn wide_number(of: Converted, from: Type, format: Format) -> Converted {
    let magnitude = match from.is_signed() {
        true => Rc::new(Value::Unary(Unary::Absolute, of.clone())),
        false => of.clone(),
    };
    let number = of_magnitude(magnitude, format);
    if !from.is_signed() {
        return number;
    }
    let is_negative = Value::binary(Binary::Less, of, Rc::new(Value::Number(0, from)));
    Rc::new(Value::Select(is_negative, Rc::new(Value::Unary(Unary::FloatNegate(format), number.clone())), number))
}

/// A magnitude of 32 bits as a number: its high half times 65536, and its low one. Where 65536 is infinite, so is already the greatest
/// integer of 16 bits, which then stands for all beyond it.
fn of_magnitude(magnitude: Converted, format: Format) -> Converted {
    let to = Type::of_format(format);
    let number = |value: i64, of: Type| Rc::new(Value::Number(value, of));
    let as_number = |half: Converted| Rc::new(Value::Cast(to, Rc::new(Value::Cast(Type::U16, half))));
    let (greatest, scale) = (number(Type::U16.max(), Type::U32), format.from_integer(Type::U16.max() + 1));
    if !format.is_finite(scale) {
        return as_number(Value::binary(Binary::Minimum, magnitude, greatest));
    }
    let high = as_number(Value::binary(Binary::ShiftRight, magnitude.clone(), number(16, Type::U32)));
    let low = as_number(Value::binary(Binary::And, magnitude, greatest));
    let scaled = Value::binary(Binary::FloatMultiply(format), high, number(scale.into(), to));
    Value::binary(Binary::FloatAdd(format), scaled, low)
}

/// The sums of which a condition says that none is negative, if it is one of such.
fn inequalities(condition: &Term, truth: bool, ranges: &Box, found: &mut Vec<Index>) -> Option<()> {
    match &**condition {
        Value::Unary(Unary::Not, of) => inequalities(of, !truth, ranges, found),
        Value::Binary(operator @ (Binary::And | Binary::Or), left, right) if (*operator == Binary::And) == truth => {
            inequalities(left, truth, ranges, found)?;
            inequalities(right, truth, ranges, found)
        }
        Value::Binary(operator, left, right) => {
            let (left, right) = (index_of(&**left, ranges)?, index_of(&**right, ranges)?);
            let least = |great: &Index, small: &Index, by: i64| great.plus(small, -1)?.plus(&Index::constant(by), -1);
            found.push(match (operator, truth) {
                (Binary::Less, true) | (Binary::GreaterEqual, false) => least(&right, &left, 1)?,
                (Binary::LessEqual, true) | (Binary::Greater, false) => least(&right, &left, 0)?,
                (Binary::Greater, true) | (Binary::LessEqual, false) => least(&left, &right, 1)?,
                (Binary::GreaterEqual, true) | (Binary::Less, false) => least(&left, &right, 0)?,
                _ => return None,
            });
            Some(())
        }
        _ => None,
    }
}

/// The index that goes along lines through these values from `first` on, if they are at most so many: each line adds its part.
fn lines(variable: Variable, first: i64, values: &[i64], most: usize) -> Option<Index> {
    let mut index = Index::constant(*values.first()?);
    let steps: Vec<i64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut at = 0;
    let mut count = 0;
    while at < steps.len() {
        let length = steps[at..].iter().take_while(|step| **step == steps[at]).count();
        if steps[at] != 0 {
            count += 1;
            let of = Index::variable(variable).plus(&Index::constant(first + at as i64), -1)?;
            index = index.plus(&Piece::Clamp { of, low: 0, high: length as i64 }.into(), steps[at])?;
        }
        at += length;
        if count > most {
            return None;
        }
    }
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::{MOST_LINES, lines};

    #[test]
    fn an_index_goes_along_lines() {
        for values in [vec![2, 1, 0, 1, 2, 3, 2, 1], vec![0, 0, 5, 5, 5], vec![7]] {
            let index = lines(0, -2, &values, MOST_LINES).unwrap();
            let found: Vec<i64> = (-2..).take(values.len()).map(|at| index.evaluate(&[at])).collect();
            assert_eq!(found, values);
        }
        let zigzag: Vec<i64> = (0..40).map(|at| at % 2).collect();
        assert_eq!(lines(0, 0, &zigzag, MOST_LINES), None);
    }
}
