//! How loops and arrays move with the output.

use std::collections::HashMap;

use itertools::Itertools;
use num_integer::Integer;
use pushmem_files::{Code, Diagnostic};
use pushmem_nest::{
    Access, Array, ArrayKind, Binary, Expression, ExpressionKind, Index, Loop, Operation, Part, Piece, Program,
};

use pushmem_affine::Fraction;

/// The motion of a program along a dimension of its output: iterations of each loop, and elements of each array in each of its dimensions, for
/// one element of the output.
#[derive(Clone, Debug)]
pub struct Motion {
    /// By loop, in the order of the text.
    pub loops: Vec<Fraction>,
    /// By array and dimension.
    pub arrays: Vec<Vec<Fraction>>,
    /// Elements of the output by which tiles are apart are multiples of this.
    pub unit: i64,
}

/// An operation, with the loops around it by their numbers.
struct Statement<'a> {
    loops: Vec<usize>,
    path: Vec<&'a Loop>,
    operation: &'a Operation,
}

/// A program as the search for its motion sees it.
struct Search<'a> {
    program: &'a Program,
    /// Operations, the last one first.
    statements: Vec<Statement<'a>>,
    loops: Vec<Option<Fraction>>,
    arrays: Vec<Vec<Option<Fraction>>>,
    unit: i64,
}

impl Motion {
    /// The motion along a dimension of an output.
    ///
    /// # Errors
    /// When something depends on the place of the tile: at the place in the program, with a way out.
    pub fn along(program: &Program, output: usize, dimension: usize) -> Result<Motion, Diagnostic> {
        let mut search = Search::new(program);
        for (place, motion) in search.arrays[output].iter_mut().enumerate() {
            *motion = Some(if place == dimension { Fraction::ONE } else { Fraction::ZERO });
        }
        search.infer();
        search.check()?;
        let of = |motion: &Option<Fraction>| motion.unwrap_or(Fraction::ZERO);
        let arrays = search.arrays.iter().map(|array| array.iter().map(of).collect()).collect();
        let loops = search.loops.iter().map(of).collect_vec();
        let whole = loops.iter().fold(search.unit, |unit, motion| unit.lcm(&motion.denominator));
        Ok(Motion { loops, arrays, unit: whole })
    }
}

/// The loops of a program in the order of the text.
pub(crate) fn loops(program: &Program) -> Vec<&Loop> {
    let mut found: Vec<&Loop> = Vec::new();
    for (path, _) in program.operations() {
        for each in path {
            if !found.iter().any(|other| std::ptr::eq(*other, each)) {
                found.push(each);
            }
        }
    }
    found
}

/// Coefficients of the variables in an index, by their places in the path: what a quotient adds is a fraction; remainders and limits stay.
fn coefficients(index: &Index, depth: usize) -> Vec<Fraction> {
    let mut sum = vec![Fraction::ZERO; depth];
    for &(variable, coefficient) in &index.affine.terms {
        sum[variable] = sum[variable].plus(Fraction::new(coefficient, 1));
    }
    for (coefficient, piece) in &index.pieces {
        if let Piece::Quotient { of, by } = piece {
            for (variable, inner) in coefficients(of, depth).into_iter().enumerate() {
                sum[variable] = sum[variable].plus(inner.times(*coefficient).divided(*by));
            }
        }
    }
    sum
}

impl<'a> Search<'a> {
    fn new(program: &'a Program) -> Self {
        let all = loops(program);
        let number = |each: &Loop| all.iter().position(|other| std::ptr::eq(*other, each)).expect("it is one of all");
        let statements = program.operations().into_iter().rev().map(|(path, operation)| Statement {
            loops: path.iter().map(|each| number(each)).collect(),
            path,
            operation,
        });
        Search {
            program,
            statements: statements.collect(),
            loops: vec![None; all.len()],
            arrays: program.arrays.iter().map(|array| vec![None; array.shape.len()]).collect(),
            unit: 1,
        }
    }

    /// Finds the motions that follow from those that are known, from the output towards the inputs. Loops of which nothing is known do
    /// not move: those of reductions.
    fn infer(&mut self) {
        loop {
            let mut changed = false;
            for number in 0..self.statements.len() {
                changed |= self.solve_loops(number) | self.follow(number);
            }
            if !changed && !self.choose() {
                return;
            }
        }
    }

    fn accesses(statement: &Statement<'a>) -> impl Iterator<Item = &'a Access> + use<'a> {
        let operation = statement.operation;
        std::iter::once(&operation.target).chain(operation.loads.iter().map(|load| &load.access))
    }

    /// Solves for loops that are the only unknown ones of an index whose motion is known.
    fn solve_loops(&mut self, number: usize) -> bool {
        let mut changed = false;
        let statement = &self.statements[number];
        for access in Self::accesses(statement) {
            for (index, motion) in access.indices.iter().zip(&self.arrays[access.array]) {
                let Some(motion) = motion else { continue };
                let (unknown, rest) = self.rest(statement, index, *motion);
                if let [(place, coefficient)] = unknown[..] {
                    self.loops[statement.loops[place]] = Some(rest.quotient(coefficient));
                    changed = true;
                }
            }
        }
        changed
    }

    /// The unknown variables of an index with their coefficients, and what is left of its motion for them.
    fn rest(&self, statement: &Statement, index: &Index, motion: Fraction) -> (Vec<(usize, Fraction)>, Fraction) {
        let mut rest = motion;
        let mut unknown = Vec::new();
        for (place, coefficient) in coefficients(index, statement.path.len()).into_iter().enumerate() {
            match self.loops[statement.loops[place]] {
                Some(known) => rest = rest.plus(coefficient.product(known).times(-1)),
                None if !coefficient.is_zero() => unknown.push((place, coefficient)),
                None => {}
            }
        }
        (unknown, rest)
    }

    /// Finds the motions of arrays whose indices have no unknown loops.
    fn follow(&mut self, number: usize) -> bool {
        let mut found = Vec::new();
        let statement = &self.statements[number];
        for access in Self::accesses(statement) {
            for (dimension, index) in access.indices.iter().enumerate() {
                let (unknown, rest) = self.rest(statement, index, Fraction::ZERO);
                if self.arrays[access.array][dimension].is_none() && unknown.is_empty() {
                    found.push((access.array, dimension, rest.times(-1)));
                }
            }
        }
        let changed = !found.is_empty();
        for (array, dimension, motion) in found {
            self.arrays[array][dimension] = Some(motion);
        }
        changed
    }

    /// Decides on loops for which nothing follows: of those that share an index of the target the outermost one moves, others do not.
    fn choose(&mut self) -> bool {
        let is_known =
            |statement: &&Statement| self.arrays[statement.operation.target.array].iter().all(Option::is_some);
        let is_open = |statement: &&Statement| statement.loops.iter().any(|each| self.loops[*each].is_none());
        let mut open = self.statements.iter().filter(is_open);
        let Some(statement) = open.clone().find(is_known).or_else(|| open.next()) else { return false };
        let target = &statement.operation.target;
        let shared = target.indices.iter().zip(&self.arrays[target.array]).find_map(|(index, motion)| {
            let (unknown, _) = self.rest(statement, index, (*motion)?);
            Some(unknown.get(1..)?.iter().map(|(place, _)| statement.loops[*place]).collect_vec())
                .filter(|rest| !rest.is_empty())
        });
        let still = match shared {
            Some(inner) => inner,
            None => statement.loops.iter().copied().filter(|each| self.loops[*each].is_none()).collect(),
        };
        still.into_iter().for_each(|each| self.loops[each] = Some(Fraction::ZERO));
        true
    }

    /// Checks that all statements move alike.
    fn check(&mut self) -> Result<(), Diagnostic> {
        let mut unit = self.unit;
        for statement in self.statements.iter().rev() {
            let operation = statement.operation;
            for access in Self::accesses(statement) {
                self.check_access(statement, access, &mut unit)?;
            }
            for load in operation.loads.iter().filter(|load| load.outside.is_some()) {
                if self.arrays[load.access.array].iter().flatten().any(|motion| !motion.is_zero()) {
                    let message = "what is read outside of the array depends on where the tile is";
                    return Err(self.refused(load.access.span, message));
                }
            }
            let value = self.motion_of(statement, &operation.expression, &mut unit)?;
            if !value.is_zero() {
                let message = "the value depends on where the tile is";
                return Err(self.refused(operation.expression.span, message));
            }
        }
        self.unit = unit;
        self.check_writers()?;
        self.check_arrays()
    }

    fn refused(&self, span: pushmem_nest::Span, message: &str) -> Diagnostic {
        let message = format!("`{}` computes no tile of a larger image: {message}", self.program.name);
        self.program.diagnostic(span, message).or_code(Code::Refused).with_help(
            "let the program compute the inner part of the image from an input with a border, which the host fills in; \
             or compile it for the whole image, without `--image-size`",
        )
    }

    /// An access moves as its array does, and has no part that depends on the place.
    fn check_access(&self, statement: &Statement, access: &Access, unit: &mut i64) -> Result<(), Diagnostic> {
        let array = &self.program.arrays[access.array];
        for (dimension, index) in access.indices.iter().enumerate() {
            let motion = self.motion_of_index(statement, index, access, unit)?;
            let expected = self.arrays[access.array][dimension].unwrap_or(Fraction::ZERO);
            if motion != expected {
                let message = format!(
                    "`{}` is accessed at places that move with the tile, and at others that do not, or in another way",
                    array.name
                );
                return Err(self.refused(access.span, &message));
            }
            *unit = unit.lcm(&motion.denominator);
        }
        Ok(())
    }

    fn motion_of_index(
        &self,
        statement: &Statement,
        index: &Index,
        access: &Access,
        unit: &mut i64,
    ) -> Result<Fraction, Diagnostic> {
        let mut motion = Fraction::ZERO;
        for &(variable, coefficient) in &index.affine.terms {
            motion = motion.plus(self.of_loop(statement, variable).times(coefficient));
        }
        for (coefficient, piece) in &index.pieces {
            let of = self.motion_of_index(statement, piece.of(), access, unit)?;
            match piece {
                Piece::Quotient { by, .. } => {
                    let quotient = of.divided(*by);
                    *unit = unit.lcm(&quotient.denominator);
                    motion = motion.plus(quotient.times(*coefficient));
                }
                Piece::Remainder { by, .. } => *unit = unit.lcm(&of.divided(*by).denominator),
                Piece::Clamp { .. } | Piece::Mirror { .. } if of.is_zero() => {}
                Piece::Clamp { .. } | Piece::Mirror { .. } => {
                    let message = "the border of the image, where indices are limited, depends on where the tile is";
                    return Err(self.refused(access.span, message));
                }
            }
        }
        Ok(motion)
    }

    fn of_loop(&self, statement: &Statement, variable: usize) -> Fraction {
        self.loops[statement.loops[variable]].unwrap_or(Fraction::ZERO)
    }

    /// The motion of a value: that of a loop variable, of which sums and remainders are known.
    fn motion_of(
        &self,
        statement: &Statement,
        expression: &Expression,
        unit: &mut i64,
    ) -> Result<Fraction, Diagnostic> {
        let mut motions: HashMap<Part, Fraction> = HashMap::new();
        for part in expression.parts() {
            let operands: Vec<(&Expression, Fraction)> =
                part.operands().into_iter().map(|operand| (operand, motions[&Part(operand)])).collect();
            let motion = self.motion_of_part(statement, part, &operands, unit)?;
            motions.insert(Part(part), motion);
        }
        Ok(motions[&Part(expression)])
    }

    /// The motion of a value whose operands have known ones.
    fn motion_of_part(
        &self,
        statement: &Statement,
        part: &Expression,
        operands: &[(&Expression, Fraction)],
        unit: &mut i64,
    ) -> Result<Fraction, Diagnostic> {
        if let ExpressionKind::Variable(variable) = part.kind {
            return Ok(self.of_loop(statement, variable));
        }
        let motion = |place: usize| operands[place].1;
        if operands.iter().all(|(_, motion)| motion.is_zero()) {
            return Ok(Fraction::ZERO);
        }
        let constant = |place: usize| match operands[place].0.kind {
            ExpressionKind::Constant(value) if value != 0 => Some(value),
            _ => None,
        };
        let found = match &part.kind {
            ExpressionKind::Binary { operator: Binary::Add, .. } => Some(motion(0).plus(motion(1))),
            ExpressionKind::Binary { operator: Binary::Subtract, .. } => Some(motion(0).plus(motion(1).times(-1))),
            ExpressionKind::Binary { operator: Binary::Multiply, .. } => match (constant(0), constant(1)) {
                (Some(factor), _) => Some(motion(1).times(factor)),
                (_, Some(factor)) => Some(motion(0).times(factor)),
                _ => None,
            },
            ExpressionKind::Binary { operator: Binary::Modulo, .. } if motion(1).is_zero() => constant(1).map(|by| {
                *unit = unit.lcm(&motion(0).divided(by).denominator);
                Fraction::ZERO
            }),
            _ => None,
        };
        found.ok_or_else(|| self.refused(part.span, "the value depends on where the tile is"))
    }

    /// The elements of a tile are written by its own iterations: those of a larger image that the tile lacks write none of them.
    fn check_writers(&self) -> Result<(), Diagnostic> {
        for (number, array) in self.program.arrays.iter().enumerate() {
            let writers =
                self.statements.iter().filter(|statement| statement.operation.target.array == number).collect_vec();
            for statement in &writers {
                self.check_moving_loops(statement)?;
            }
            for (dimension, motion) in self.arrays[number].iter().enumerate() {
                if !motion.unwrap_or(Fraction::ZERO).is_zero() {
                    self.check_blocks(array, dimension, &writers)?;
                }
            }
        }
        Ok(())
    }

    /// Iterations that a larger image has more of write elements of their own.
    fn check_moving_loops(&self, statement: &Statement) -> Result<(), Diagnostic> {
        let target = &statement.operation.target;
        for (place, each) in statement.path.iter().enumerate() {
            let moves = !self.of_loop(statement, place).is_zero();
            let is_in = |index: &Index| !coefficients(index, statement.path.len())[place].is_zero();
            if moves && !target.indices.iter().any(is_in) {
                let array = &self.program.arrays[target.array].name;
                let message = format!(
                    "a larger image has more iterations of `{}`, which write the same element of `{array}`",
                    each.variable
                );
                return Err(self.refused(target.span, &message));
            }
        }
        Ok(())
    }

    /// Iterations of the loop that moves write blocks of elements one after another, all writers the same ones.
    fn check_blocks(&self, array: &Array, dimension: usize, writers: &[&Statement]) -> Result<(), Diagnostic> {
        let mut blocks: Vec<(i64, i64)> = Vec::new();
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for statement in writers {
            let target = &statement.operation.target;
            let index = &target.indices[dimension];
            let overlap = || {
                let message = format!("`{}` is written by iterations of neighbouring tiles, too", array.name);
                self.refused(target.span, &message)
            };
            let affine = index.as_affine().ok_or_else(overlap)?;
            let moving = affine.terms.iter().filter(|(place, _)| !self.of_loop(statement, *place).is_zero());
            let [(place, coefficient)] = moving.copied().collect_vec()[..] else { return Err(overlap()) };
            if coefficient < 0 {
                return Err(self.refused(target.span, "a loop runs backwards through the image"));
            }
            blocks.push((coefficient, statement.path[place].extent));
            let (low, high) = index.range(&pushmem_nest::ranges(statement.path.iter().copied()));
            (first, last) = (first.min(low), last.max(high));
            let (size, count) = blocks[0];
            if blocks.last() != blocks.first() || last - first >= size * count {
                return Err(overlap());
            }
        }
        Ok(())
    }

    /// Images grow towards larger indices, and outputs in one dimension at a time: tiles would not cover them else.
    fn check_arrays(&self) -> Result<(), Diagnostic> {
        for (array, motions) in self.program.arrays.iter().zip(&self.arrays) {
            let is_backwards = motions.iter().flatten().any(|motion| motion.numerator < 0);
            if array.kind != ArrayKind::Buffer && is_backwards {
                let message = format!("`{}` is read backwards", array.name);
                return Err(self.refused(array.span, &message));
            }
            let moving = motions.iter().flatten().filter(|motion| !motion.is_zero()).count();
            if array.kind == ArrayKind::Output && moving > 1 {
                let message = format!("tiles of `{}` move in two dimensions at once, and leave gaps", array.name);
                return Err(self.refused(array.span, &message));
            }
        }
        Ok(())
    }
}
