//! Copies of blocks, taken out of a program.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_nest::{AffineIndex, Array, ArrayKind, ExpressionKind, Index, Program};

use super::{Place, Statement};
use crate::error::PartError;

/// The arrays of the program of which there is only one block at a time, with the number of loops around that.
pub(super) type Blocks<'a> = BTreeMap<&'a str, usize>;

/// The statements of a program with whole arrays in place of the blocks that are copied from them, or to them.
///
/// # Errors
/// The first array that is not one of the program, nor a block of one.
pub(super) fn without<'a>(
    source: &Program,
    blocked: &'a Program,
) -> Result<(Vec<Statement<'a>>, Blocks<'a>), PartError> {
    let mut statements = Statement::all(blocked);
    let mut blocks = Blocks::new();
    for array in &blocked.arrays {
        let of_source = source.array(&array.name);
        if of_source.is_some_and(|own| (own.element, &own.shape, &own.min) == (array.element, &array.shape, &array.min))
        {
            continue;
        }
        let error = |reason: &str| PartError { part: array.name.clone(), reason: reason.to_owned() };
        let block = Block::of(array, &statements).map_err(error)?;
        if of_source.is_some_and(|own| own.kind == ArrayKind::Buffer && own.element == array.element) {
            blocks.insert(&array.name, block.depth);
            continue;
        }
        let whole = block.whole(&statements).map_err(error)?;
        for statement in &mut statements {
            for place in statement.places_mut().filter(|place| place.array == array.name) {
                *place = whole.place(place).ok_or_else(|| error("an index of it is beyond the limits"))?;
            }
        }
        statements.retain(|statement| !whole.copies.contains(&statement.number));
    }
    Ok((statements, blocks))
}

/// A block of an array: in each iteration of the loops around all that uses it, the first statement writes all of it.
struct Block<'a> {
    array: &'a Array,
    /// The loops around all that uses it.
    depth: usize,
    /// The places of the statements that use it, in order.
    users: Vec<usize>,
}

/// The whole array of a block.
struct Whole<'a> {
    array: &'a str,
    depth: usize,
    /// Its elements: functions of the loops around the block, and of the indices of the block, which are numbered after these loops.
    indices: Vec<AffineIndex>,
    /// The numbers of the statements that copy.
    copies: Vec<usize>,
}

impl<'a> Block<'a> {
    fn of(array: &'a Array, statements: &[Statement]) -> Result<Self, &'static str> {
        let users = statements.iter().positions(|statement| statement.uses(&array.name)).collect_vec();
        let [first, others @ ..] = &users[..] else { return Err("nothing uses it") };
        let fill = &statements[*first];
        let depths = others.iter().map(|other| fill.shared(&statements[*other])).unique().collect_vec();
        let depth = match depths[..] {
            [depth] if depth > 0 => depth,
            _ => return Err("it is not written in the loops around all that uses it"),
        };
        // Beyond the block, the whole array may have an element.
        if !users.iter().all(|user| statements[*user].is_plain_in(&array.name)) {
            return Err("an access of it may be outside, is not affine, or depends on data");
        }
        let block = Block { array, depth, users: users.clone() };
        let writes_all = fill.operation.reduction.is_none()
            && fill.loads.iter().all(|place| place.array != array.name)
            && block.goes_through(fill, &fill.target);
        if !writes_all {
            return Err("its first statement does not write all of it");
        }
        Ok(block)
    }

    /// Whether the loops of a statement within those around the block go through all elements of it, each once.
    fn goes_through(&self, statement: &Statement, place: &Place) -> bool {
        let Block { array, depth, .. } = *self;
        let own = &statement.loops[depth..];
        let loop_of = |(dimension, index): (usize, &Index)| {
            let inner = (0..own.len()).find(|inner| *index == Index::variable(depth + inner))?;
            let is_all = (own[inner].min, own[inner].extent) == (array.min[dimension], array.shape[dimension]);
            is_all.then_some(inner)
        };
        let loops = place.indices.iter().enumerate().map(loop_of).collect::<Option<Vec<_>>>();
        loops.is_some_and(|loops| loops.len() == own.len() && loops.iter().all_unique())
    }

    /// Where its elements come from, or go to.
    fn whole<'b>(&self, statements: &[Statement<'b>]) -> Result<Whole<'b>, &'static str> {
        let name = self.array.name.as_str();
        let (first, others) = self.users.split_first().expect("there is a first user");
        let fill = &statements[*first];
        let comes = copied(fill).and_then(|load| self.along(fill, &fill.target, load));
        let is_written = others.iter().any(|other| statements[*other].target.array == name);
        let in_nest = || statements.iter().filter(|statement| statement.shared(fill) > 0);
        if !is_written {
            let whole = comes.ok_or("its first statement does not copy")?;
            let is_kept = in_nest().all(|statement| statement.target.array != whole.array);
            return if is_kept { Ok(whole) } else { Err("the array that it copies is written meanwhile") };
        }
        let last = &statements[*others.last().expect("one writes it")];
        let goes = copied(last).filter(|load| load.array == name && last.target.array != name);
        let goes = goes.filter(|load| {
            self.goes_through(last, load)
                && others.iter().all(|other| {
                    statements[*other].number == last.number || statements[*other].shared(last) == self.depth
                })
        });
        let goes = goes
            .and_then(|load| self.along(last, load, &last.target))
            .ok_or("its last statement does not copy all of it back")?;
        let copies = match comes {
            Some(comes) if comes.array == goes.array && comes.indices == goes.indices => {
                [comes.copies, goes.copies.clone()].concat()
            }
            Some(comes) if comes.array == goes.array => return Err("it goes to another place than it comes from"),
            _ => goes.copies.clone(),
        };
        let others_use = in_nest().any(|statement| !copies.contains(&statement.number) && statement.uses(goes.array));
        if others_use {
            return Err("the array that it goes to is used meanwhile");
        }
        Ok(Whole { copies, ..goes })
    }

    /// The array at the other end of a copy that goes through the block at a place.
    fn along<'b>(&self, statement: &Statement<'b>, of_block: &Place, of_whole: &Place<'b>) -> Option<Whole<'b>> {
        let depth = self.depth;
        let around = (0..depth).map(AffineIndex::variable);
        let dimension_of = |inner: usize| {
            let dimension = of_block.indices.iter().position(|index| *index == Index::variable(depth + inner))?;
            Some(AffineIndex::variable(depth + dimension))
        };
        let inner = (0..statement.loops.len() - depth).map(dimension_of).collect::<Option<Vec<_>>>()?;
        let values = around.chain(inner).collect_vec();
        let indices = of_whole.indices.iter().map(|index| index.as_affine()?.composed(&values));
        let indices = indices.collect::<Option<Vec<_>>>()?;
        // Each element of the block is another one of the array.
        let is_alone = |dimension: usize| {
            let rows = indices.iter().filter(|index| index.coefficient(depth + dimension) != 0).collect_vec();
            let of_block = |index: &AffineIndex| index.terms.iter().filter(|(variable, _)| *variable >= depth).count();
            rows.len() == 1 && of_block(rows[0]) == 1
        };
        let is_injective =
            (0..self.array.shape.len()).all(|dimension| self.array.shape[dimension] == 1 || is_alone(dimension));
        is_injective.then(|| Whole { array: of_whole.array, depth, indices, copies: vec![statement.number] })
    }
}

impl<'a> Whole<'a> {
    /// The element of the whole array that an element of the block is.
    fn place(&self, of_block: &Place) -> Option<Place<'a>> {
        of_block.of_block(self.array, self.depth, &self.indices)
    }
}

/// The element that a statement copies, if that is all it does.
fn copied<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s Place<'a>> {
    let operation = statement.operation;
    let is_copy = operation.reduction.is_none() && operation.expression.kind == ExpressionKind::Load(0);
    let [load] = &operation.loads[..] else { return None };
    let is_plain = is_copy && load.outside.is_none() && operation.share.is_none() && !statement.chooses();
    is_plain.then(|| &statement.loads[0])
}
