//! Netlists of the shape of well-known programs.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_netlist::{CellId, Core, Netlist};
use pushmem_pe::Operation;

use crate::builder::{Builder, Operand, Tap};

/// Words in a row of the image.
const ROW: i64 = 16;

/// A corner detector of the size of Harris' in the published evaluation.
///
/// # Panics
/// When the array has no memories.
pub fn harris(spec: &ArraySpec) -> Netlist {
    copies(spec, 1)
}

/// So many detectors side by side, each with streams of its own.
///
/// # Panics
/// When the array has no memories.
pub fn copies(spec: &ArraySpec, count: usize) -> Netlist {
    let mut builder = Builder::new("harris");
    for _ in 0..count {
        detector(&mut builder, spec);
    }
    builder.finish()
}

fn detector(builder: &mut Builder, spec: &ArraySpec) {
    let input = builder.cell("input", Core::Input);
    let rows = rows(builder, spec, Tap::of(input));
    let [gradient_x, gradient_y] = [false, true].map(|is_vertical| {
        let gradient = gradient(builder, &rows, is_vertical);
        clamped(builder, gradient)
    });
    let products = [(gradient_x, gradient_x), (gradient_x, gradient_y), (gradient_y, gradient_y)];
    let sums = products.map(|(one, other)| {
        let product = binary(builder, Operation::Multiply, Tap::of(one), Tap::of(other));
        let product = scaled(builder, product);
        let sum = window_sum(builder, Tap::of(product));
        let sum = scaled(builder, sum);
        clamped(builder, sum)
    });
    let [xx, xy, yy] = sums.map(Tap::of);
    let determinant = {
        let one = binary(builder, Operation::Multiply, xx, yy);
        let other = binary(builder, Operation::Multiply, xy, xy);
        binary(builder, Operation::Subtract, Tap::of(one), Tap::of(other))
    };
    let trace = binary(builder, Operation::Add, xx, yy);
    let square = binary(builder, Operation::Multiply, Tap::of(trace), Tap::of(trace));
    let part = scaled(builder, square);
    let response = binary(builder, Operation::Subtract, Tap::of(determinant), Tap::of(part));
    let response = scaled(builder, response);
    let response = clamped(builder, response);
    // A corner is a local maximum above a threshold.
    let rows = self::rows(builder, spec, Tap::of(response));
    let mut neighbours = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        for cycles in 0..3 {
            if (place, cycles) != (1, 1) {
                neighbours.push(row.before(cycles));
            }
        }
    }
    let mut most = neighbours[0];
    for neighbour in &neighbours[1..] {
        most = Tap::of(binary(builder, Operation::MaximumSigned, most, *neighbour));
    }
    let is_more = builder.pe(Operation::LessSigned, &[Operand::Tap(most), Operand::Tap(rows[1].before(1))], &[], None);
    let bit = Operand::Tap(Tap::of(is_more));
    let corner = builder.pe(Operation::Select, &[Operand::Constant(255), Operand::Constant(0)], &[bit], None);
    let above = with_constant(builder, Operation::MaximumSigned, rows[1].before(1), 0);
    let result = binary(builder, Operation::And, Tap::of(corner), Tap::of(above));
    let result = with_constant(builder, Operation::ShiftLeft, Tap::of(result), 1);
    let output = builder.cell("output", Core::Output);
    builder.connect(Layer::Word, Tap::of(result), output, 0);
}

/// A row and the two before it.
fn rows(builder: &mut Builder, spec: &ArraySpec, row: Tap) -> [Tap; 3] {
    let tile = &spec.memory.as_ref().expect("an array with memories").tile;
    let first = builder.memory(tile, 0, ROW, row);
    let second = builder.memory(tile, 3 * ROW, ROW, Tap::of(first));
    [row, Tap::of(first), Tap::of(second)]
}

/// A gradient of a 3 × 3 window, with weights 1, 2, 1.
fn gradient(builder: &mut Builder, rows: &[Tap; 3], is_vertical: bool) -> CellId {
    let side = |at: i64| {
        [0, 1, 2].map(|place| match is_vertical {
            true => rows[at as usize].before(place),
            false => rows[place as usize].before(at),
        })
    };
    let [plus, minus] = [side(0), side(2)].map(|[first, middle, last]| {
        let ends = binary(builder, Operation::Add, first, last);
        let twice = with_constant(builder, Operation::ShiftLeft, middle, 1);
        binary(builder, Operation::Add, Tap::of(ends), Tap::of(twice))
    });
    binary(builder, Operation::Subtract, Tap::of(plus), Tap::of(minus))
}

/// The sum of a window of 3 × 3 words, of which each row is 5 cycles after the one before.
fn window_sum(builder: &mut Builder, word: Tap) -> CellId {
    let mut sum: Option<Tap> = None;
    for row in 0..3 {
        for column in 0..3 {
            let next = word.before(5 * row + column);
            sum = Some(match sum {
                None => next,
                Some(sum) => Tap::of(binary(builder, Operation::Add, sum, next)),
            });
        }
    }
    sum.expect("nine words").cell
}

/// A word divided by 16, rounded.
fn scaled(builder: &mut Builder, cell: CellId) -> CellId {
    let rounded = with_constant(builder, Operation::Add, Tap::of(cell), 8);
    with_constant(builder, Operation::ShiftRightSigned, Tap::of(rounded), 4)
}

/// A word between two bounds.
fn clamped(builder: &mut Builder, cell: CellId) -> CellId {
    let operands = [Operand::Tap(Tap::of(cell)), Operand::Constant(0x3fff), Operand::Constant(0xc000)];
    builder.pe(Operation::ClampSigned, &operands, &[], None)
}

fn binary(builder: &mut Builder, operation: Operation, one: Tap, other: Tap) -> CellId {
    builder.pe(operation, &[Operand::Tap(one), Operand::Tap(other)], &[], None)
}

fn with_constant(builder: &mut Builder, operation: Operation, word: Tap, constant: u32) -> CellId {
    builder.pe(operation, &[Operand::Tap(word), Operand::Constant(constant)], &[], None)
}
