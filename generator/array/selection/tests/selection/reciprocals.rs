//! Quotients by values that have few values, on all operands at which they change.

use pushmem_cells::{Cells, Table};
use pushmem_nest::{Binary, Type};
use pushmem_pe::{Numbers, PeSpec};

use crate::common::{pe, read, selected};

/// The cells of an expression of two inputs, and its program.
struct Division {
    program: pushmem_nest::Program,
    cells: Cells,
}

impl Division {
    fn of(expression: &str, left: Type, right: Type, spec: &PeSpec) -> Self {
        let (left, right) = (left.name(), right.name());
        let text = format!(
            "
name: division
inputs:
  a: {{type: {left}, shape: [4]}}
  b: {{type: {right}, shape: [4]}}
outputs:
  o: {{type: {left}, shape: [4]}}
nest:
  - for x in 0..4:
    - 'o[x] = {expression}'
"
        );
        let program = read(&text);
        let cells = selected(&program, spec).remove(0).unwrap();
        Division { program, cells }
    }

    fn evaluate(&self, left: i64, right: i64) -> u32 {
        let entry =
            |table: Table, index: u32| self.cells.contents(&self.program, table)[index as usize] as u32 & 0xffff;
        self.cells.evaluate(&Numbers { word_bits: 16 }, &[left as u32 & 0xffff, right as u32 & 0xffff], &[0], entry)[0]
    }

    /// Compares the quotient by, or the remainder of, a divisor at its multiples, before them, and at the ends: between
    /// them, products with a factor grow with the dividend, so that no other dividend can be wrong.
    fn check(&self, operator: Binary, of: Type, divisor: i64, seen: i64) {
        let step = divisor.abs().max(1);
        let multiples = (of.min() / step - 1..=of.max() / step + 1).map(|multiple| multiple * step);
        let near = multiples.flat_map(|multiple| [multiple - 1, multiple]);
        for dividend in near.filter(|dividend| of.holds(*dividend)).chain([of.min(), of.max()]) {
            let expected = operator.apply(of, dividend, divisor) as u32 & 0xffff;
            assert_eq!(self.evaluate(dividend, seen), expected, "{dividend} {operator:?} {divisor}: {:#?}", self.cells);
        }
    }

    /// Processing elements and tables.
    fn size(&self) -> (usize, usize) {
        (self.cells.cells.len(), self.cells.fetches.len())
    }
}

fn specs() -> Vec<PeSpec> {
    ["amber_pe", "lean_pe", "largest_pe"].map(pe).into()
}

#[test]
fn quotients_of_bytes_are_exact() {
    for spec in specs() {
        for of in [Type::U8, Type::I8] {
            for (operator, name) in [(Binary::Divide, "/"), (Binary::Modulo, "%")] {
                let division = Division::of(&format!("a[x] {name} b[x]"), of, of, &spec);
                assert!(division.size().1 > 0, "{:#?}", division.cells);
                for divisor in of.min()..=of.max() {
                    division.check(operator, of, divisor, divisor);
                }
            }
        }
    }
}

#[test]
fn quotients_of_words_by_bytes_are_exact() {
    let divisions = [
        ("lean_pe", "/", Binary::Divide, Type::U16, Type::U8, 1),
        ("amber_pe", "%", Binary::Modulo, Type::U16, Type::U8, 9),
        ("amber_pe", "/", Binary::Divide, Type::I16, Type::I8, 9),
        ("largest_pe", "%", Binary::Modulo, Type::I16, Type::I8, 9),
        ("amber_pe", "/", Binary::Divide, Type::I16, Type::U8, 9),
    ];
    // All divisors of one kind, some of the others.
    for (spec, sign, operator, of, by, step) in divisions {
        let division = Division::of(&format!("a[x] {sign} (b[x] as {})", of.name()), of, by, &pe(spec));
        assert!(division.size().1 > 0, "{:#?}", division.cells);
        (by.min()..=by.max()).step_by(step).for_each(|divisor| division.check(operator, of, divisor, divisor));
    }
}

/// -32768 / -1 and 65535 / -1 fit no word: one more bit is seen where a shift takes it.
#[test]
fn quotients_that_fit_no_word_have_two() {
    for spec in specs() {
        for (of, by) in [(Type::I16, Type::I16), (Type::U16, Type::I16), (Type::I16, Type::I8), (Type::U16, Type::I8)] {
            let name = of.name();
            let division = Division::of(&format!("((a[x] as i32) / (b[x] as i32) >> 1) as {name}"), of, by, &spec);
            for dividend in [of.min(), of.min() + 1, -1, 0, 1, of.max()].into_iter().filter(|value| of.holds(*value)) {
                for divisor in [by.min(), -2, -1, 0, 1, 2, by.max()] {
                    let expected = Binary::Divide.apply(Type::I32, dividend, divisor) >> 1;
                    let found = division.evaluate(dividend, divisor);
                    assert_eq!(found, expected as u32 & 0xffff, "{dividend} / {divisor}: {:#?}", division.cells);
                }
            }
        }
    }
}

/// Values of the divisor that no table could hold as they are, but one holds them from the least on, or as those of what they are
/// computed from.
#[test]
fn tables_are_numbered_by_what_divisors_depend_on() {
    for spec in specs() {
        let far = Division::of("a[x] / (b[x] as u16 + 40000)", Type::U16, Type::U8, &spec);
        (0..256).for_each(|seen| far.check(Binary::Divide, Type::U16, seen + 40000, seen));
        let scaled = Division::of("a[x] / (max(b[x], 1) as u16 * 200)", Type::U16, Type::U8, &spec);
        (0..256).for_each(|seen| scaled.check(Binary::Divide, Type::U16, seen.max(1) * 200, seen));
        assert!(far.size().1 > 0 && scaled.size().1 > 0);
        // Found by random programs: a table that is numbered from 0 by values that begin at 1.
        let halves = Division::of("a[x] / max((b[x] as i16) / 32, 1)", Type::I16, Type::I16, &spec);
        for seen in [-32768, -1, 0, 31, 32, 64, 95, 96, 4000, 32767] {
            halves.check(Binary::Divide, Type::I16, (seen >> 5).max(1), seen);
        }
    }
}

/// Five elements and a table take the place of 66 for bits of the quotient; of small dividends, two elements and two tables.
#[test]
fn few_elements_divide() {
    let spec = pe("amber_pe");
    let size = |expression: &str, left: Type| Division::of(expression, left, Type::U8, &spec).size();
    assert_eq!(size("a[x] / max(b[x] as u16, 1)", Type::U16), (6, 1));
    assert_eq!(size("(a[x] as u16 * 32 / max(b[x] as u16, 1)) as u8", Type::U8), (3, 2));
    // One shift is enough for few divisors.
    assert_eq!(size("a[x] / (b[x] & 3)", Type::U8), (2, 1));
    // No table has the reciprocals of all words.
    assert_eq!(Division::of("a[x] / b[x]", Type::U16, Type::U16, &spec).size().1, 0);
}
