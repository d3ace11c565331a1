//! Indices that are known and are no sums of variables: entries of tables, which counters look up.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::{Binary, Index, Span};

use crate::emit::Block;
use crate::fit::index_of;
use crate::held::NARROW;
use crate::loops::Loops;
use crate::lower::MOST_ENTRIES;
use crate::plan::{Array, Arrays, Box};
use crate::rebuild::value_of;
use crate::straight::Straight;
use crate::value::{Element, Evaluator, Value, Variable};
use crate::{Problem, Result};

type Indexed = Rc<Value<Element>>;

/// The blocks in which known indices are looked up if they are no sums of variables. Where arrays are kept, indices with pieces are none, unless
/// all of their variables are unrolled.
///
/// # Errors
/// When a table would have too many entries.
pub(crate) fn with_tables(blocks: Vec<Block>, are_kept: bool, loops: Loops, arrays: &mut Arrays) -> Result<Vec<Block>> {
    let edged = blocks.iter().flat_map(Block::loads).filter_map(|load| match load {
        Element::Array { array, outside: Some(_), .. } => Some(*array),
        _ => None,
    });
    let edged = edged.collect();
    let computed = loops.looks_up();
    let mut tables =
        Tables { straight: Straight::new(arrays), computed, edged, copies: HashMap::new(), known: HashMap::new() };
    blocks.into_iter().try_for_each(|block| tables.look_up(block, are_kept))?;
    Ok(tables.straight.done)
}

struct Tables<'a> {
    straight: Straight<'a>,
    /// Whether indices with pieces are computed where they are looked up.
    computed: bool,
    /// The arrays that are read beyond their edges, as memories whose elements are looked up are not: those are copies.
    edged: BTreeSet<usize>,
    copies: HashMap<usize, usize>,
    /// The table of each list of entries.
    known: HashMap<Vec<i64>, usize>,
}

impl Tables<'_> {
    fn look_up(&mut self, mut block: Block, are_kept: bool) -> Result<()> {
        let ranges = block.ranges(self.straight.arrays.plan.variables.len());
        let rolled: BTreeSet<Variable> =
            block.loops.iter().filter(|each| each.is_rolled()).map(|each| each.variable).collect();
        let is_summed = |index: &Index| {
            index.pieces.is_empty() || !are_kept || index.variables().iter().all(|variable| !rolled.contains(variable))
        };
        let mut fault = None;
        let mut part = |value: &Value<Element>| {
            let Value::Load(element) = value else { return None };
            let found = self.element(element, &ranges, &is_summed).transpose()?;
            found.map(|element| Rc::new(Value::Load(element))).map_err(|found| fault = Some(found)).ok()
        };
        block.statements.iter_mut().for_each(|statement| statement.rewrite(&mut part));
        if let Some(fault) = fault {
            return Err(fault);
        }
        block.statements.iter().for_each(|statement| _ = self.copies.remove(&statement.array()));
        self.straight.done.push(block);
        Ok(())
    }

    /// The element with indices by tables, if it needs some.
    fn element(
        &mut self,
        element: &Element,
        ranges: &Box,
        is_summed: &impl Fn(&Index) -> bool,
    ) -> Result<Option<Element>> {
        let (array, values, span) = match element {
            Element::Chosen { array, indices, span } if indices.iter().all(|index| index.is_known()) => {
                (*array, indices.clone(), span)
            }
            Element::Array { array, indices, outside: None, span } if !indices.iter().all(is_summed) => {
                (*array, indices.iter().map(value_of).collect(), span)
            }
            _ => return Ok(None),
        };
        let array = match self.edged.contains(&array) {
            true => *self.copies.entry(array).or_insert_with(|| self.straight.begun_anew(array, *span)),
            false => array,
        };
        if let Element::Array { indices, .. } = element
            && self.computed
        {
            return Ok(Some(Element::new(array, indices.clone(), *span)));
        }
        let look_up = |value: &Indexed| match index_of(&**value, ranges).filter(is_summed) {
            Some(sum) => Ok(value_of(&sum)),
            None => self.entry(array, value, ranges, *span),
        };
        let indices = values.iter().map(look_up).collect::<Result<_>>()?;
        Ok(Some(Element::Chosen { array, indices, span: *span }))
    }

    /// The entry of a table that an index of an array is.
    fn entry(&mut self, array: usize, index: &Indexed, ranges: &Box, span: Span) -> Result<Indexed> {
        let loops = index
            .own_variables()
            .into_iter()
            .map(|variable| (variable, ranges[variable].0, ranges[variable].1 - ranges[variable].0 + 1));
        let loops: Vec<(Variable, i64, i64)> = loops.collect();
        let count = loops.iter().fold(1, |count: i64, (.., extent)| count.saturating_mul(*extent));
        let name = self.straight.arrays.plan.arrays[array].name.clone();
        let refused = |message: String| {
            Problem::new(span, message).with_help(
            "indices are sums of variables times constants, with `/` and `%` by positive constants, `clamp` and `mirror_image`",
        )
        };
        if count > MOST_ENTRIES {
            let message =
                format!("this index of `{name}` is no sum of variables, and has more than {MOST_ENTRIES} values");
            return Err(refused(message));
        }
        let (mut place, mut stride) = (Value::number(0), 1);
        let mut point: Vec<i64> = ranges.iter().map(|range| range.0).collect();
        for &(variable, low, extent) in &loops {
            let offset = Value::binary(Binary::Subtract, Rc::new(Value::Variable(variable)), Value::number(low));
            place = Value::binary(Binary::Add, place, Value::binary(Binary::Multiply, offset, Value::number(stride)));
            stride *= extent;
        }
        let evaluator = Evaluator::new(&**index);
        let entry = |number: i64| {
            let mut rest = number;
            for &(variable, low, extent) in &loops {
                point[variable] = low + rest % extent;
                rest /= extent;
            }
            evaluator.evaluate(&|variable| point.get(variable).copied())
        };
        let entries: Option<Vec<i64>> = (0..count).map(entry).collect();
        let entries = entries.ok_or_else(|| refused(format!("this index of `{name}` is no sum of variables")))?;
        let place = index_of(&*place, ranges).map_or(place, |sum| value_of(&sum));
        Ok(Rc::new(Value::Load(Element::Table { table: self.table(&name, entries, span, &refused)?, index: place })))
    }

    fn table(
        &mut self,
        name: &str,
        entries: Vec<i64>,
        span: Span,
        refused: &impl Fn(String) -> Problem,
    ) -> Result<usize> {
        if let Some(table) = self.known.get(&entries) {
            return Ok(*table);
        }
        let holds = |of: &pushmem_nest::Type| entries.iter().all(|entry| of.holds(*entry));
        let of = NARROW.into_iter().find(holds);
        let of = of.ok_or_else(|| refused(format!("this index of `{name}` has values of more than 16 bits")))?;
        let said = vec![(0, entries.len() as i64 - 1)];
        let array = Array::constants(format!("{name}_place"), of, entries.clone(), said, span);
        let table = self.straight.arrays.add(array, None, of);
        self.known.insert(entries, table);
        Ok(table)
    }
}
