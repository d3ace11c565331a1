//! The meaning of cells in operators of loop nests. The proof takes it in place of the model of processing elements.

use std::collections::HashMap;

use pushmem_arithmetic::Code;
use pushmem_cells::{Bit, BitSource, Cell, Cells, Predicate, Sequence, Table, Word};
use pushmem_datapaths::Datapath;
use pushmem_nest::{Binary, Operation, Program, Type, Unary, Word as Half};
use pushmem_pe::{FloatOperation, Operation as Element};

/// Steps of what the cells of an operation compute, where words have [`Half::BITS`].
pub(crate) struct Meaning {
    pub code: Code,
    /// The steps of the words of the result, low word first.
    pub results: Vec<usize>,
    /// The tables that it has, after those of the program.
    pub tables: Vec<Vec<i64>>,
}

/// The first of words that are an arithmetic progression, which wraps, and the step.
fn progression(words: &[u32]) -> Option<[i64; 2]> {
    let of = |number: usize| words.get(number).map(|word| i64::from(*word));
    let (first, second) = (of(0)?, of(1)?);
    let step = Type::I16.wrap(second - first);
    let is_next = |(number, word): (i64, &u32)| Type::U16.wrap(first + number * step) == i64::from(*word);
    (0..).zip(words).all(is_next).then_some([first, step])
}

/// Writes the cells of an operation as steps.
pub(crate) fn meaning(program: &Program, operation: &Operation, cells: &Cells) -> Meaning {
    let accesses = Datapath::accesses(program, operation);
    let elements = accesses.iter().map(|access| program.arrays[access.array].element).enumerate();
    let loads = elements.flat_map(|(load, element)| element.words().iter().map(move |half| (load, element, *half)));
    let mut reader = Reader {
        program,
        cells,
        loads: loads.collect(),
        code: Code::default(),
        tables: Vec::new(),
        known: HashMap::new(),
        outcomes: Vec::new(),
    };
    for cell in &cells.cells {
        let outcome = reader.outcome(cell);
        reader.outcomes.push(outcome);
    }
    let results = cells.results.iter().map(|word| reader.word(*word)).collect();
    Meaning { code: reader.code, results, tables: reader.tables }
}

struct Reader<'a> {
    program: &'a Program,
    cells: &'a Cells,
    /// The load of each word of loads, its type, and the word of the element.
    loads: Vec<(usize, Type, Half)>,
    code: Code,
    tables: Vec<Vec<i64>>,
    /// The steps of words that are none of cells.
    known: HashMap<Word, usize>,
    /// The word and the bit of each cell so far.
    outcomes: Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn word(&mut self, word: Word) -> usize {
        if let Word::Cell(cell) = word {
            return self.outcomes[cell].0;
        }
        if let Some(&step) = self.known.get(&word) {
            return step;
        }
        let step = match word {
            Word::Constant(constant) => self.code.constant(constant.into(), Type::U16),
            Word::Load(load) => {
                let (load, element, half) = self.loads[load];
                let whole = self.code.load(load, element);
                self.code.word(whole, half)
            }
            Word::Fetch(fetch) => {
                let of = self.cells.fetches[fetch];
                let index = self.word(of.index);
                match of.table {
                    Table::Program(table) | Table::High(table) => {
                        let half = if of.table == Table::Program(table) { Half::Low } else { Half::High };
                        let entry = self.code.lookup(table, index, self.program.tables[table].element);
                        self.code.word(entry, half)
                    }
                    Table::Selected(table) => self.entry(self.cells.tables[table].clone(), index),
                }
            }
            Word::Sequence(sequence) => {
                let Sequence { variable, first, words } = self.cells.sequences[sequence].clone();
                let variable = self.code.variable(variable);
                let first = self.code.constant(first, Type::I32);
                let index = self.code.binary(Binary::Subtract, variable, first);
                match progression(&words) {
                    Some(progression) => {
                        let [begin, step] = progression.map(|number| self.code.constant(number, Type::I32));
                        let product = self.code.binary(Binary::Multiply, index, step);
                        let sum = self.code.binary(Binary::Add, begin, product);
                        self.code.word(sum, Half::Low)
                    }
                    None => self.entry(words.into_iter().map(i64::from).collect(), index),
                }
            }
            Word::Cell(_) => unreachable!("words of cells have their steps"),
        };
        self.known.insert(word, step);
        step
    }

    /// The entry of a table of words that the program does not have.
    fn entry(&mut self, words: Vec<i64>, index: usize) -> usize {
        let number = self.program.tables.len() + self.tables.len();
        self.tables.push(words.into_iter().map(|word| Type::U16.wrap(word)).collect());
        self.code.lookup(number, index, Type::U16)
    }

    fn bit(&mut self, Bit { source, inverted }: Bit) -> usize {
        let bit = match source {
            BitSource::False => self.code.constant(0, Type::Bool),
            BitSource::Cell(cell) => self.outcomes[cell].1,
            BitSource::Predicate(predicate) => self.predicate(&self.cells.predicates[predicate]),
        };
        if inverted { self.code.unary(Unary::Not, bit) } else { bit }
    }

    fn predicate(&mut self, Predicate { variables }: &Predicate) -> usize {
        let mut holds = self.code.constant(1, Type::Bool);
        for (&variable, steps) in variables {
            let variable = self.code.variable(variable);
            let is_one = if steps.last - steps.first <= steps.step {
                let [is_first, is_last] = [steps.first, steps.last].map(|value| {
                    let value = self.code.constant(value, Type::I32);
                    self.code.binary(Binary::Equal, variable, value)
                });
                self.code.binary(Binary::Or, is_first, is_last)
            } else {
                let [first, last, step] =
                    [steps.first, steps.last, steps.step].map(|of| self.code.constant(of, Type::I32));
                let zero = self.code.constant(0, Type::I32);
                let is_above = self.code.binary(Binary::LessEqual, first, variable);
                let is_below = self.code.binary(Binary::LessEqual, variable, last);
                let distance = self.code.binary(Binary::Subtract, variable, first);
                let rest = self.code.binary(Binary::Modulo, distance, step);
                let is_step = self.code.binary(Binary::Equal, rest, zero);
                let is_within = self.code.binary(Binary::And, is_above, is_below);
                self.code.binary(Binary::And, is_within, is_step)
            };
            holds = self.code.binary(Binary::And, holds, is_one);
        }
        holds
    }

    /// The word and the bit of a cell.
    fn outcome(&mut self, cell: &Cell) -> (usize, usize) {
        let words = cell.words.map(|word| self.word(word));
        let bits = cell.bits.map(|bit| self.bit(bit));
        let (word, bit) = self.of_operation(cell.operation, words, bits[0]);
        let word = self.code.word(word, Half::Low);
        match cell.lut {
            None => (word, bit),
            Some(table) => (word, self.looked_up(table.into(), &bits)),
        }
    }

    /// The bit of a table that these bits choose, the first one the last to decide.
    fn looked_up(&mut self, table: u32, bits: &[usize]) -> usize {
        let Some((last, others)) = bits.split_last() else { return self.code.constant((table & 1).into(), Type::Bool) };
        let [low, high] = [0, 1 << others.len()].map(|from| self.looked_up(table >> from, others));
        self.code.select(*last, high, low)
    }

    /// The steps of the word, of which the low bits count, and of the bit.
    fn of_operation(&mut self, element: Element, words: [usize; 3], d: usize) -> (usize, usize) {
        use Element::*;
        let [a, b, _] = words;
        if element.has_fraction() {
            return self.of_numbers(element, a, b);
        }
        let code = &mut self.code;
        let no = code.constant(0, Type::Bool);
        // No sum, difference or product of words wraps in these types, but sums of products, of which the low bits are right.
        let (taken, exact) = if element.is_signed() { (Type::I16, Type::I32) } else { (Type::U16, Type::U32) };
        let [x, y, z] = words.map(|word| {
            let word = code.cast(word, taken);
            code.cast(word, exact)
        });
        match element {
            Pass => (a, d),
            Select => (code.select(d, a, b), d),
            Add | AddCarry | Subtract | SubtractCarry => self.of_carries(element, x, y, d),
            AddThree | MultiplyAdd => {
                let operator = if element == AddThree { Binary::Add } else { Binary::Multiply };
                let first = code.binary(operator, x, y);
                (code.binary(Binary::Add, first, z), no)
            }
            Multiply => (code.binary(Binary::Multiply, x, y), no),
            MultiplyMiddleUnsigned | MultiplyMiddleSigned | MultiplyHighUnsigned | MultiplyHighSigned => {
                let is_middle = matches!(element, MultiplyMiddleUnsigned | MultiplyMiddleSigned);
                let product = code.binary(Binary::Multiply, x, y);
                let bits = code.constant((if is_middle { Half::BITS / 2 } else { Half::BITS }).into(), exact);
                (code.binary(Binary::ShiftRight, product, bits), no)
            }
            ShiftLeft => (code.binary(Binary::ShiftLeft, x, y), no),
            ShiftRightUnsigned | ShiftRightSigned => {
                // The amount has no sign.
                let amount = code.cast(b, exact);
                (code.binary(Binary::ShiftRight, x, amount), no)
            }
            And => (code.binary(Binary::And, x, y), no),
            Or => (code.binary(Binary::Or, x, y), no),
            Xor => (code.binary(Binary::Xor, x, y), no),
            MinimumUnsigned | MinimumSigned => (code.binary(Binary::Minimum, x, y), code.binary(Binary::Less, x, y)),
            MaximumUnsigned | MaximumSigned => (code.binary(Binary::Maximum, x, y), code.binary(Binary::Less, x, y)),
            AbsoluteDifferenceUnsigned | AbsoluteDifferenceSigned => {
                (code.binary(Binary::AbsoluteDifference, x, y), code.binary(Binary::Less, x, y))
            }
            ClampUnsigned | ClampSigned => {
                let least = code.binary(Binary::Minimum, x, y);
                (code.binary(Binary::Maximum, least, z), no)
            }
            Absolute => {
                let zero = code.constant(0, exact);
                (code.unary(Unary::Absolute, x), code.binary(Binary::Less, x, zero))
            }
            ExtendUnsigned => (code.cast(a, Type::U8), no),
            ExtendSigned => (code.cast(a, Type::I8), no),
            Equal => twice(code.binary(Binary::Equal, x, y)),
            LessUnsigned | LessSigned => twice(code.binary(Binary::Less, x, y)),
            LessEqualUnsigned | LessEqualSigned => twice(code.binary(Binary::LessEqual, x, y)),
            _ => unreachable!("all others are of numbers with a fraction"),
        }
    }

    /// The same of sums and differences of two words without sign, whose bit is the carry.
    fn of_carries(&mut self, element: Element, x: usize, y: usize, d: usize) -> (usize, usize) {
        let code = &mut self.code;
        let d = match element {
            Element::Add => code.constant(0, Type::U32),
            Element::Subtract => code.constant(1, Type::U32),
            _ => code.cast(d, Type::U32),
        };
        let y = match element {
            Element::Add | Element::AddCarry => y,
            _ => {
                let ones = code.constant(Type::U16.max(), Type::U32);
                code.binary(Binary::Subtract, ones, y)
            }
        };
        let sum = code.binary(Binary::Add, x, y);
        let sum = code.binary(Binary::Add, sum, d);
        let bits = code.constant(Half::BITS.into(), Type::U32);
        let carry = code.binary(Binary::ShiftRight, sum, bits);
        (sum, code.bits(carry, Type::Bool))
    }

    /// The same of numbers with a fraction.
    fn of_numbers(&mut self, element: Element, a: usize, b: usize) -> (usize, usize) {
        let code = &mut self.code;
        let (format, operation) = element.float().expect("all others are of numbers with a fraction");
        let number = Type::of_format(format);
        let no = code.constant(0, Type::Bool);
        let [x, y] = [a, b].map(|word| code.bits(word, number));
        let (operator, is_bit) = match operation {
            FloatOperation::Add => (Binary::FloatAdd(format), false),
            FloatOperation::Subtract => (Binary::FloatSubtract(format), false),
            FloatOperation::Multiply => (Binary::FloatMultiply(format), false),
            FloatOperation::Equal => (Binary::FloatEqual(format), true),
            FloatOperation::Less => (Binary::FloatLess(format), true),
            FloatOperation::LessEqual => (Binary::FloatLessEqual(format), true),
            FloatOperation::FromInteger => {
                let signed = code.cast(a, Type::I16);
                return (code.cast(signed, number), no);
            }
            FloatOperation::ToInteger => return (code.cast(x, Type::I16), no),
        };
        let result = code.binary(operator, x, y);
        (result, if is_bit { result } else { no })
    }
}

/// A truth value as the word and as the bit.
fn twice(truth: usize) -> (usize, usize) {
    (truth, truth)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use itertools::Itertools;
    use pushmem_arithmetic::Sample;
    use pushmem_cells::{CellEvaluator, Fetch, Steps};
    use pushmem_files::Document;
    use pushmem_pe::Numbers;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Loads of one word and of two, and a table of words.
    const PROGRAM: &str = "
name: words
inputs: {a: {type: i16, shape: [8, 9]}, b: {type: u32, shape: [8, 9]}, c: {type: u8, shape: [8, 9]}}
outputs: {o: {type: u32, shape: [8, 9]}}
tables: {t: {type: i32, values: [5, -1, 70000, 9]}}
nest:
  - for y in 0..9:
    - for x in 0..8:
      - o[x, y] = (a[x, y] as u32) + b[x, y] + (c[x, y] as u32)
";
    const LOADED_WORDS: usize = 4;
    const ROWS: i64 = 9;
    const COLUMNS: i64 = 8;

    fn word(random: &mut ChaCha8Rng) -> u32 {
        let special = [
            0, 1, 2, 15, 16, 17, 31, 32, 255, 256, 0x3f80, 0x4000, 0x7c00, 0x7f80, 0x7fff, 0x8000, 0xff80, 0xfffe,
            0xffff,
        ];
        if random.random_bool(0.6) { *special.choose(random).unwrap() } else { random.random_range(0..=0xffff) }
    }

    /// Cells of any operations, of what comes before them.
    fn random_cells(random: &mut ChaCha8Rng) -> Cells {
        let mut cells = Cells {
            tables: vec![(0..4).map(|_| word(random).into()).collect()],
            fetches: [Table::Program(0), Table::High(0), Table::Selected(0)]
                .map(|table| Fetch { table, index: Word::Load(3) })
                .to_vec(),
            ..Cells::default()
        };
        let (first, step) = (word(random), word(random));
        let progression = (0..COLUMNS as u32).map(|number| (first + number * step) & 0xffff).collect();
        let any = (0..ROWS).map(|_| word(random)).collect();
        cells.sequences = vec![
            Sequence { variable: 0, first: 0, words: any },
            Sequence { variable: 1, first: 0, words: progression },
        ];
        for _ in 0..3 {
            let values = |most: i64, random: &mut ChaCha8Rng| {
                let first = random.random_range(0..most);
                let step = random.random_range(1..4);
                Steps { first, last: first + step * random.random_range(0..=(most - 1 - first) / step), step }
            };
            let variables = BTreeMap::from([(0, values(ROWS, random)), (1, values(COLUMNS, random))]);
            cells.predicates.push(Predicate { variables });
        }
        for number in 0..random.random_range(1..6) {
            let words = [0, 1, 2].map(|_| match random.random_range(0..6) {
                0 => Word::Constant(word(random)),
                1 => Word::Sequence(random.random_range(0..2)),
                2 => Word::Fetch(random.random_range(0..3)),
                3 | 4 if number > 0 => Word::Cell(random.random_range(0..number)),
                _ => Word::Load(random.random_range(0..LOADED_WORDS)),
            });
            let bits = [0, 1, 2].map(|_| match random.random_range(0..3) {
                0 => Bit::constant(random.random_bool(0.5)),
                1 if number > 0 => Bit::of_cell(random.random_range(0..number)),
                _ => {
                    let source = BitSource::Predicate(random.random_range(0..3));
                    Bit { source, inverted: random.random_bool(0.5) }
                }
            });
            let lut = random.random_bool(0.4).then(|| random.random());
            cells.cells.push(Cell { operation: *Element::ALL.choose(random).unwrap(), words, bits, lut });
        }
        let last = cells.cells.len() - 1;
        // The bit of each cell chooses once, too.
        cells.cells.push(Cell {
            operation: Element::Select,
            words: [Word::Constant(1), Word::Constant(2), Word::Constant(0)],
            bits: [Bit::of_cell(last), Bit::constant(false), Bit::constant(false)],
            lut: None,
        });
        cells.results = vec![Word::Cell(last), Word::Cell(last + 1)];
        cells
    }

    #[test]
    fn cells_compute_what_they_mean() {
        let program = Program::from_document(&Document::parse("words.yaml", PROGRAM).unwrap()).unwrap().program;
        let operation = program.operations()[0].1;
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..4000 {
            let cells = random_cells(random);
            let Meaning { code, results, tables } = meaning(&program, operation, &cells);
            let samples = (0..8).map(|_| {
                let loads = vec![
                    Type::I16.wrap(word(random).into()),
                    Type::U32.wrap(i64::from(word(random)) << 16 | i64::from(word(random))),
                    random.random_range(0..6),
                ];
                Sample { loads, variables: vec![random.random_range(0..ROWS), random.random_range(0..COLUMNS)] }
            });
            let samples = samples.collect_vec();
            let found = code.results(&results, &program, &tables, &samples);
            let mut evaluator = CellEvaluator::new(&cells, Numbers { word_bits: Half::BITS });
            for (number, Sample { loads, variables }) in samples.iter().enumerate() {
                let words = [Half::Low.of(loads[0]), Half::Low.of(loads[1]), Half::High.of(loads[1]), loads[2] as u16];
                let entry = |table: Table, index: u32| {
                    let entries = cells.contents(&program, table);
                    entries.get(index as usize).map_or(0, |entry| *entry as u32 & 0xffff)
                };
                let expected = evaluator.evaluate(&words.map(u32::from), variables, entry).collect_vec();
                let found = found.iter().map(|of_step| of_step[number] as u32).collect_vec();
                assert_eq!(found, expected, "{cells:?} for {loads:?} and {variables:?}");
            }
            seen.extend(cells.cells.iter().map(|cell| cell.operation));
        }
        assert_eq!(seen.len(), Element::ALL.len());
    }
}
