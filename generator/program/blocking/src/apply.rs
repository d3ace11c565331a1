//! A program whose reduction goes block by block.

use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{
    Access, AffineIndex, Array, ArrayKind, ArrayOrigin, Index, Level, Load, Loop, Node, Operation, Program,
    StatementOrigin, Witness,
};

use crate::block::{Block, Cut, follows};
use crate::blocking::Blocking;
use crate::nests::around;
use crate::reduction::{Elementwise, Reduction};

impl Reduction {
    /// The program whose nest goes block by block, and how it follows from the one of the reduction. Before the block of an operand changes, a
    /// copy brings it from the global buffer to the memory tiles. Sums begin in memory tiles where all of their products come one after the other,
    /// and go from there to the nest that uses them; else they come from the global buffer as well, and go back.
    ///
    /// # Errors
    /// As those of a program that is read: for example if it has too many elements. Nothing if an index is beyond the limits.
    pub fn blocked(&self, blocking: &Blocking) -> Result<Option<(Program, Witness)>, Diagnostic> {
        let blocked = Blocked { reduction: self, cut: self.cut(blocking), names: self.variables() };
        let Some((program, witness)) = blocked.program() else { return Ok(None) };
        let document = Document::parse(program.source.name(), program.to_string())?;
        Ok(Some((Program::from_document(&document)?.program, witness)))
    }

    /// Its loops in blocks.
    pub(crate) fn cut<'a>(&'a self, blocking: &'a Blocking) -> Cut<'a> {
        Cut { loops: &self.update.loops, blocking }
    }

    /// Whether all products of a sum come one after the other, so that sums of no other block are begun before.
    pub(crate) fn sums_stay(&self, cut: Cut, sums: &Block) -> bool {
        let indices = [self.sum_indices()];
        let blocks: i64 = cut.iterations(sums.depth) * sums.shape.iter().product::<i64>();
        let is_whole = blocks == self.program.arrays[self.sums()].size() as i64;
        self.start.is_some()
            && sums.is_apart
            && is_whole
            && cut.blocking.outer[..sums.depth].iter().all(|place| follows(&indices, *place))
    }

    /// The names of all loop variables.
    fn variables(&self) -> Vec<String> {
        let operations = self.program.operations();
        operations.iter().flat_map(|(loops, _)| loops.iter().map(|level| level.variable.clone())).collect()
    }
}

/// A reduction that becomes blocks.
struct Blocked<'a> {
    reduction: &'a Reduction,
    cut: Cut<'a>,
    /// The names that are taken beside those of arrays and tables.
    names: Vec<String>,
}

/// An array in blocks.
struct InBlocks {
    /// The array as it was.
    whole: usize,
    /// That of a block.
    block: usize,
    of: Block,
    /// The dimension of the whole array that each dimension of a block is.
    layout: Vec<usize>,
    /// The element of the whole array at which a block begins, over the outer loops.
    corner: Vec<AffineIndex>,
    /// The elements of a block.
    origin: ArrayOrigin,
}

/// Sums in blocks, with the nests that write their first values and take their results, each with its place in the program, if these go block by
/// block as well.
type Sums<'a> = (&'a InBlocks, Option<&'a (usize, Elementwise)>, Option<&'a (usize, Elementwise)>);

/// Nodes, and the origins of their statements.
#[derive(Default)]
struct Part {
    nodes: Vec<Node>,
    origins: Vec<Option<StatementOrigin>>,
}

impl Part {
    fn push(&mut self, (node, origin): (Node, Option<StatementOrigin>)) {
        self.nodes.push(node);
        self.origins.push(origin);
    }

    fn append(&mut self, other: Part) {
        self.nodes.extend(other.nodes);
        self.origins.extend(other.origins);
    }

    /// All of it in a loop.
    fn within(self, level: Loop) -> Part {
        Part { nodes: around(vec![level], self.nodes), ..self }
    }
}

impl Blocked<'_> {
    fn program(mut self) -> Option<(Program, Witness)> {
        let reduction = self.reduction;
        let mut program = reduction.program.clone();
        let outer = self.outer_loops();
        let (inner, values) = self.inner_loops()?;
        let mut operands = Vec::new();
        for operand in &reduction.operands {
            let Some(block) = self.cut.block(&operand.loads).filter(|block| block.depth > 0) else {
                // Words from outside come once.
                if program.arrays[operand.array].kind == ArrayKind::Input {
                    program.arrays[operand.array].level.get_or_insert(Level::Memory);
                }
                continue;
            };
            operands.push(self.in_blocks(&mut program, operand.array, block, &operand.loads)?);
        }
        let indices = [reduction.sum_indices()];
        let block = self.cut.block(&indices)?;
        let stays = reduction.sums_stay(self.cut, &block);
        let sums = match block.depth {
            0 => None,
            _ => Some(self.in_blocks(&mut program, reduction.sums(), block, &indices)?),
        };
        let result = reduction.result.as_ref().filter(|_| stays && sums.is_some());
        if let Some(sums) = &sums {
            let whole = &mut program.arrays[sums.whole];
            if result.is_some() {
                // All that is left of it are its blocks: it is one.
                whole.shape = sums.layout.iter().map(|dimension| sums.of.shape[*dimension]).collect();
                whole.min = vec![0; whole.shape.len()];
                whole.level = None;
            } else if !stays || whole.kind == ArrayKind::Buffer {
                whole.level.get_or_insert(Level::GlobalBuffer);
            }
        }
        let mut update = reduction.update.operation.clone();
        for access in update.loads.iter_mut().map(|load| &mut load.access).chain([&mut update.target]) {
            let of = operands.iter().chain(&sums).find(|of| of.whole == access.array);
            *access = in_block(access, &values, of)?;
        }
        if result.is_some() {
            update.target.array = reduction.sums();
        }
        let origin = reduction.origin(reduction.place, values);
        let body = Part { nodes: around(inner, vec![Node::Operation(Box::new(update))]), origins: vec![Some(origin)] };
        let start = reduction.start.as_ref().filter(|_| stays);
        let body =
            self.in_outer_loops(&program, &outer, body, &operands, sums.as_ref().map(|sums| (sums, start, result)))?;
        let mut same = Witness::same(&reduction.program);
        same.arrays.extend(operands.iter().chain(&sums).map(|of| of.origin.clone()));
        if result.is_some() {
            // The array of the block has taken the place of the whole one.
            let sums = sums.as_ref()?;
            program.arrays.remove(sums.block);
            same.arrays.swap_remove(sums.whole);
        }
        let is_within = |place: &usize| sums.is_some() && start.is_some_and(|(start, _)| start == place);
        let is_after = |place: &usize| result.is_some_and(|(result, _)| result == place);
        let (mut whole, mut body) = (Part::default(), Some(body));
        for (place, node) in std::mem::take(&mut program.nest).into_iter().enumerate() {
            if place == reduction.place {
                whole.append(body.take()?);
            } else if !is_within(&place) && !is_after(&place) {
                let first = reduction.number(place);
                let origins = same.statements[first..first + node.operations()].to_vec();
                whole.append(Part { nodes: vec![node], origins });
            }
        }
        program.nest = whole.nodes;
        Some((program, Witness { statements: whole.origins, ..same }))
    }

    /// A nest within a block in the loops from block to block, with what comes before a block and after it: copies of operands, and the first
    /// values and the results of sums.
    fn in_outer_loops(
        &self,
        program: &Program,
        outer: &[Loop],
        mut body: Part,
        operands: &[InBlocks],
        sums: Option<Sums>,
    ) -> Option<Part> {
        for depth in (0..=outer.len()).rev() {
            let mut part = Part::default();
            for operand in operands.iter().filter(|operand| operand.of.depth == depth) {
                part.push((self.copy(program, operand, true)?, None));
            }
            let here = sums.filter(|(sums, ..)| sums.of.depth == depth);
            if let Some((sums, start, result)) = here {
                part.push(match start {
                    Some((place, start)) => self.elementwise((*place, start), sums, result.is_some())?,
                    None => (self.copy(program, sums, true)?, None),
                });
            }
            part.append(body);
            if let Some((sums, _, result)) = here {
                part.push(match result {
                    Some((place, result)) => self.elementwise((*place, result), sums, true)?,
                    None => (self.copy(program, sums, false)?, None),
                });
            }
            body = match depth.checked_sub(1) {
                Some(place) => part.within(outer[place].clone()),
                None => part,
            };
        }
        Some(body)
    }

    /// A name like this that nothing has, and now is taken.
    fn new_name(&mut self, like: &str) -> String {
        let name = self.unused(like);
        self.names.push(name.clone());
        name
    }

    /// A name like this that nothing has.
    fn unused(&self, like: &str) -> String {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        self.reduction.program.unused_name(like, &names)
    }

    /// The loops from block to block.
    fn outer_loops(&mut self) -> Vec<Loop> {
        let Cut { loops, blocking } = self.cut;
        let from_block_to_block = |place: &usize| {
            let level = &loops[*place];
            let variable = self.new_name(&format!("{}_block", level.variable));
            Loop {
                variable,
                min: 0,
                extent: level.extent / blocking.tiles[*place],
                unroll: 1,
                body: Vec::new(),
                span: level.span,
            }
        };
        blocking.outer.iter().map(from_block_to_block).collect()
    }

    /// The loops within a block, and the values of the loop variables of the nest over all loops.
    fn inner_loops(&mut self) -> Option<(Vec<Loop>, Vec<AffineIndex>)> {
        let Cut { loops, blocking } = self.cut;
        let mut values = (0..loops.len()).map(|place| self.corner_of(place)).collect::<Option<Vec<_>>>()?;
        let mut inner: Vec<Loop> = Vec::new();
        let mut push = |level: Loop, place: usize, step: i64| {
            let variable = AffineIndex::variable(blocking.outer.len() + inner.len());
            let moved = variable.plus(&AffineIndex::constant(-level.min), 1)?;
            values[place] = values[place].plus(&moved, step)?;
            inner.push(level);
            Some(())
        };
        for &place in &blocking.inner {
            let Loop { min, unroll, ref variable, span, .. } = loops[place];
            let steps = blocking.tiles[place] / unroll;
            let (min, variable) = match unroll {
                1 if !self.cut.is_cut(place) => (min, variable.clone()),
                1 => (0, variable.clone()),
                _ if steps > 1 => (0, self.new_name(&format!("{variable}_step"))),
                _ => continue,
            };
            if steps > 1 {
                push(Loop { variable, min, extent: steps, unroll: 1, body: Vec::new(), span }, place, unroll)?;
            }
        }
        for (place, level) in loops.iter().enumerate().filter(|(_, level)| level.unroll > 1) {
            push(Loop { min: 0, extent: level.unroll, ..level.clone() }, place, 1)?;
        }
        Some((inner, values))
    }

    /// The value of a loop variable of the nest in the first iteration of a block.
    fn corner_of(&self, place: usize) -> Option<AffineIndex> {
        let Cut { loops, blocking } = self.cut;
        let first = AffineIndex::constant(loops[place].min);
        match blocking.outer.iter().position(|cut| *cut == place) {
            Some(outer) => first.plus(&AffineIndex::variable(outer), blocking.tiles[place]),
            None => Some(first),
        }
    }

    /// An array in blocks: that of a block is declared.
    fn in_blocks(
        &mut self,
        program: &mut Program,
        whole: usize,
        of: Block,
        accesses: &[Vec<AffineIndex>],
    ) -> Option<InBlocks> {
        let corner = |dimension: usize| {
            let (low, _) = self.cut.hull(accesses, dimension);
            let blocking = self.cut.blocking;
            blocking.outer.iter().enumerate().try_fold(AffineIndex::constant(low), |corner, (outer, place)| {
                let step = accesses[0][dimension].coefficient(*place) * blocking.tiles[*place];
                corner.plus(&AffineIndex::variable(outer), step)
            })
        };
        let corner = (0..of.shape.len()).map(corner).collect::<Option<Vec<_>>>()?;
        let declared = program.arrays[whole].clone();
        let layout = self.cut.layout(&accesses[0]);
        program.arrays.push(Array {
            name: self.new_name(&format!("{}_block", declared.name)),
            kind: ArrayKind::Buffer,
            shape: layout.iter().map(|dimension| of.shape[*dimension]).collect(),
            min: vec![0; of.shape.len()],
            level: None,
            ..declared.clone()
        });
        let lies_alike = layout.is_sorted();
        let comes_in_order =
            declared.kind == ArrayKind::Input && lies_alike && self.cut.is_in_order(&of, accesses, &declared.shape);
        if self.reduction.sums() != whole && !comes_in_order {
            program.arrays[whole].level.get_or_insert(Level::GlobalBuffer);
        }
        let place_of = |dimension: usize| layout.iter().position(|own| *own == dimension).expect("each has its place");
        let element =
            |dimension: usize| corner[dimension].plus(&AffineIndex::variable(of.depth + place_of(dimension)), 1);
        let elements = (0..of.shape.len()).map(element).collect::<Option<_>>()?;
        let origin = ArrayOrigin::held(whole, of.depth, elements);
        Some(InBlocks { whole, block: program.arrays.len() - 1, of, layout, corner, origin })
    }

    /// The nest that copies a block from the whole array, or back, in the order in which the block lies.
    fn copy(&self, program: &Program, in_blocks: &InBlocks, to_block: bool) -> Option<Node> {
        let InBlocks { whole, block, of, layout, origin, .. } = in_blocks;
        let Array { element, span, ref name, .. } = program.arrays[*whole];
        let rank = of.shape.len();
        let variable = |place: usize| Index::variable(of.depth + rank - 1 - place);
        let of_block = Access::new(*block, (0..rank).map(variable).collect(), span);
        let of_whole = origin.load(&of_block)?.access;
        let (target, access) = if to_block { (of_block, of_whole) } else { (of_whole, of_block) };
        let load = Load { access, outside: None };
        let operation = Operation::copy(name.clone(), target, load, element);
        let level = |dimension: &usize| {
            let extent = of.shape[*dimension];
            let unroll = if *dimension == 0 { self.lanes(*whole, extent) } else { 1 };
            let variable = self.unused(&format!("i{dimension}"));
            Loop { variable, min: 0, extent, unroll, body: Vec::new(), span }
        };
        around(layout.iter().rev().map(level).collect(), vec![Node::Operation(Box::new(operation))]).pop()
    }

    /// The words of the innermost dimension of an array that a copy moves in a cycle.
    fn lanes(&self, array: usize, extent: i64) -> i64 {
        match self.cut.blocking.is_wide {
            true => self.reduction.lanes(array, extent),
            false => 1,
        }
    }

    /// A nest of an iteration for each element, within a block, in the order in which it lies. `is_in_place` if the array of the block is the whole
    /// one.
    fn elementwise(
        &self,
        (place, each): (usize, &Elementwise),
        sums: &InBlocks,
        is_in_place: bool,
    ) -> Option<(Node, Option<StatementOrigin>)> {
        let InBlocks { whole, block, of, layout, corner, .. } = sums;
        let block = if is_in_place { *whole } else { *block };
        let rank = of.shape.len();
        let variable = |place: usize| of.depth + rank - 1 - place;
        let mut values = vec![AffineIndex::constant(0); rank];
        for (own, dimension) in layout.iter().enumerate() {
            values[each.loop_of[*dimension]] = corner[*dimension].plus(&AffineIndex::variable(variable(own)), 1)?;
        }
        let mut operation = each.nest.operation.clone();
        for access in operation.loads.iter_mut().map(|load| &mut load.access).chain([&mut operation.target]) {
            if access.array == *whole {
                *access = Access::new(block, (0..rank).map(variable).map(Index::variable).collect(), access.span);
            } else {
                *access = in_block(access, &values, None)?;
            }
        }
        let level = |dimension: &usize| {
            let level = &each.nest.loops[each.loop_of[*dimension]];
            let extent = of.shape[*dimension];
            let unroll = if extent % level.unroll == 0 { level.unroll } else { 1 };
            Loop { min: 0, extent, unroll, ..level.clone() }
        };
        let nest =
            around(layout.iter().rev().map(level).collect(), vec![Node::Operation(Box::new(operation))]).pop()?;
        Some((nest, Some(self.reduction.origin(place, values))))
    }
}

impl Reduction {
    /// The number of the first statement of a node.
    fn number(&self, place: usize) -> usize {
        self.program.nest[..place].iter().map(Node::operations).sum()
    }

    /// The origin of the statement of a nest, whose loop variables have these values.
    fn origin(&self, place: usize, values: Vec<AffineIndex>) -> StatementOrigin {
        StatementOrigin::of(self.number(place), values)
    }

    /// The words of the innermost dimension of an array that the lanes of the nest use side by side: as many as divide so many.
    pub(crate) fn lanes(&self, array: usize, extent: i64) -> i64 {
        let operation = &self.update.operation;
        let accesses = operation.loads.iter().map(|load| &load.access).chain([&operation.target]);
        let along = accesses.filter(|access| access.array == array).filter_map(|access| access.indices.first());
        let unrolled = along.flat_map(|index| {
            let steps = index.affine.terms.iter().filter(|(_, step)| *step == 1);
            steps.map(|(place, _)| self.update.loops[*place].unroll)
        });
        unrolled.filter(|unroll| extent % unroll == 0).max().unwrap_or(1)
    }
}

/// An access of the nest in the new loops, perhaps of a block.
fn in_block(access: &Access, values: &[AffineIndex], of: Option<&InBlocks>) -> Option<Access> {
    let mut indices = access.indices.iter().map(|index| index.composed(values)).collect::<Option<Vec<_>>>()?;
    let mut array = access.array;
    if let Some(of) = of {
        array = of.block;
        let corner = |dimension: usize| Index { affine: of.corner[dimension].clone(), pieces: Vec::new() };
        let within = of.layout.iter().map(|dimension| indices[*dimension].plus(&corner(*dimension), -1));
        indices = within.collect::<Option<Vec<_>>>()?;
    }
    Some(Access { array, indices, ..access.clone() })
}
