//! Tests that terms are the values of their steps: for all values of few bits, of random steps and of each operator with each constant.

use itertools::Itertools;
use pushmem_float::Format;
use pushmem_nest::{Binary, Type, Unary, Word};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::code::{Code, Kind, Step};
use crate::evaluate::{Columns, evaluate};
use crate::terms::{Atom, Bounds, Function, Term, Terms};

const INTEGERS: [Type; 6] = [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32];

/// The value of a term for these values of the loads, if it has less than 127 bits.
fn value_of(terms: &Terms, of: Term, loads: &[i64]) -> Option<i128> {
    let polynomial = terms.polynomial(of);
    polynomial.terms.iter().try_fold(polynomial.constant, |sum, (monomial, factor)| {
        let mut atoms = monomial.iter().map(|atom| value_of_atom(terms, terms.atom_of(*atom), loads));
        sum.checked_add(atoms.try_fold(*factor, |product: i128, atom| product.checked_mul(atom?))?)
    })
}

fn value_of_atom(terms: &Terms, atom: &Atom, loads: &[i64]) -> Option<i128> {
    let of = |term: &Term| value_of(terms, *term, loads);
    let all = |terms: &[Term]| terms.iter().map(of).collect::<Option<Vec<i128>>>();
    Some(match atom {
        Atom::Load(load) | Atom::Variable(load) => loads[*load].into(),
        Atom::Modulo(term, bits) => of(term)?.rem_euclid(1 << bits),
        Atom::Quotient(term, divisor) => of(term)?.div_euclid(*divisor),
        Atom::IsNegative(term) => (of(term)? < 0).into(),
        Atom::IsZero(term) => (of(term)? == 0).into(),
        Atom::Least(terms) => all(terms)?.into_iter().min()?,
        Atom::Greatest(terms) => all(terms)?.into_iter().max()?,
        Atom::All(terms) => all(terms)?.into_iter().fold(-1, |all, of| all & of),
        Atom::Any(terms) => all(terms)?.into_iter().fold(0, |any, of| any | of),
        Atom::Select(condition, then, otherwise) => of(if of(condition)? != 0 { then } else { otherwise })?,
        Atom::Product(one, other) => of(one)?.checked_mul(of(other)?)?,
        Atom::Apply(function, operands) => {
            let operands = all(operands)?.into_iter().map(|operand| operand as i64).collect_vec();
            match *function {
                Function::Table(table) => TABLE.get(operands[0] as usize).copied().unwrap_or(0) + table as i128,
                Function::Unary(operator) => operator.apply(Type::U16, operands[0]).into(),
                Function::Binary(Binary::ShiftLeft) => shifted(operands[0].into(), operands[1]),
                Function::Binary(operator) if operator.is_of_numbers() => {
                    operator.apply(Type::U16, operands[0], operands[1]).into()
                }
                // Of the widest type, so that nothing wraps.
                Function::Binary(operator) => match operands[1] {
                    0 => 0,
                    by if operator == Binary::Divide => operands[0].div_euclid(by).into(),
                    by => operands[0].rem_euclid(by).into(),
                },
                Function::ToInteger { float, to } => float.cast(to, operands[0]).into(),
            }
        }
    })
}

const TABLE: [i128; 5] = [3, 1, 4, 1, 5];

fn shifted(value: i128, amount: i64) -> i128 {
    match amount {
        32.. => 0,
        0..32 => value << amount,
        _ => value >> (-amount).min(32),
    }
}

/// Compares the terms of all steps with their values, for all values of the loads within these bounds.
fn check(code: &Code, loads: &[(i64, i64)]) -> bool {
    let leaves = |atom: &Atom| match atom {
        Atom::Load(load) => Bounds::new(loads[*load].0, loads[*load].1),
        _ => unreachable!(),
    };
    let tables = |_: usize| (Bounds::new(0, 5), TABLE.map(|entry| entry as i64).to_vec());
    let mut terms = Terms::new(&leaves, &tables);
    let mut known = Vec::new();
    for step in &code.steps {
        known.push(terms.of_step(code, *step, &known));
    }
    if terms.failed {
        return false;
    }
    let operands = loads.iter().map(|(low, high)| *low..=*high).multi_cartesian_product().collect_vec();
    let column = |load: usize| operands.iter().map(|operands| operands[load]).collect_vec();
    let of_step = |step: &Step| if let Kind::Load(load) = step.kind { Some(column(load)) } else { None };
    let mut values = Columns { samples: operands.len(), of_steps: code.steps.iter().map(of_step).collect() };
    evaluate(code, &[&TABLE.map(|entry| entry as i64)], 0..code.steps.len(), &mut values);
    for (number, term) in known.iter().enumerate() {
        let bounds = terms.bounds(*term);
        for (operands, expected) in operands.iter().zip(values.column(number)) {
            let Some(found) = value_of(&terms, *term, operands) else { continue };
            assert_eq!(
                found,
                i128::from(*expected),
                "step {number} of {:#?} for {operands:?} of {loads:?}",
                code.steps
            );
            assert!((bounds.low..=bounds.high).contains(&found), "{bounds:?} {found}");
        }
    }
    true
}

/// Bounds of a load of a type with so few values.
fn narrow(of: Type, count: i64, random: &mut ChaCha8Rng) -> (i64, i64) {
    let low = match random.random_range(0..4) {
        0 => of.min(),
        1 => of.max() - count + 1,
        2 => (-count / 2).max(of.min()),
        _ => random.random_range(of.min()..=of.max() - count + 1),
    };
    (low, low + count - 1)
}

#[test]
fn operators_with_constants() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for of in INTEGERS {
        let constants = [of.min(), of.min() + 1, of.max(), of.max() - 1, of.max() / 3];
        let constants = (of.min().max(-40)..=40).chain([63, 64, 96, 100, 120]).chain(constants);
        for constant in constants.filter(|constant| of.holds(*constant)) {
            for operator in Binary::OF_INTEGERS {
                for swapped in [false, true] {
                    let mut code = Code::default();
                    let (load, constant) = (code.load(0, of), code.constant(constant, of));
                    let (left, right) = if swapped { (constant, load) } else { (load, constant) };
                    let result = code.binary(operator, left, right);
                    if code.operand_type(result) == of {
                        code.binary(operator, result, right);
                        code.binary(operator, result, left);
                    }
                    let bounds = narrow(of, 256, &mut random);
                    assert!(check(&code, &[bounds]), "{code:?}");
                }
            }
        }
    }
}

/// Steps of a few types, of which some operands are constants that often come together in rules.
fn random_code(random: &mut ChaCha8Rng) -> Code {
    let mut code = Code::default();
    let types: Vec<Type> = (0..2).map(|_| *INTEGERS.choose(random).unwrap()).collect();
    for (load, of) in types.iter().enumerate() {
        code.load(load, *of);
    }
    for _ in 0..random.random_range(2..14) {
        let any = random.random_range(0..code.steps.len());
        let of = code.operand_type(any);
        let same = (0..code.steps.len()).filter(|other| code.operand_type(*other) == of).collect_vec();
        let other = *same.choose(random).unwrap();
        let constant = match random.random_range(0..4) {
            0 => 1_i64 << random.random_range(0..of.bits()),
            1 => (1_i64 << random.random_range(0..of.bits())) - 1,
            2 => random.random_range(-5..20),
            _ => random.random_range(of.min()..=of.max()),
        };
        let truths = (0..code.steps.len()).filter(|step| code.operand_type(*step) == Type::Bool).collect_vec();
        match random.random_range(0..10) {
            0 => {
                let value = *INTEGERS.choose(random).unwrap();
                code.cast(any, value);
            }
            1 if !truths.is_empty() => {
                let condition = *truths.choose(random).unwrap();
                code.select(condition, any, other);
            }
            2 => {
                let operator = *[Unary::Negate, Unary::Not, Unary::Absolute].choose(random).unwrap();
                if of != Type::Bool || operator == Unary::Not {
                    code.unary(operator, any);
                }
            }
            3 if of != Type::Bool => {
                code.lookup(0, any, Type::U8);
            }
            choice => {
                let operator = *Binary::OF_INTEGERS.choose(random).unwrap();
                if of == Type::Bool && !operator.takes_bool() {
                    continue;
                }
                let right = if choice < 7 { code.constant(of.wrap(constant), of) } else { other };
                code.binary(operator, any, right);
            }
        }
    }
    code
}

/// Checks so many random codes, for a few values of each load, and returns how many are beyond all limits.
fn check_random(draw: fn(&mut ChaCha8Rng) -> Code, seed: u64, codes: usize, values: i64) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut is_too_large = || {
        let code = draw(&mut random);
        let types = code.steps.iter().filter(|step| matches!(step.kind, Kind::Load(_))).map(|step| step.value);
        let bounds = types.map(|of| narrow(of, values, &mut random)).collect_vec();
        !check(&code, &bounds)
    };
    (0..codes).filter(|_| is_too_large()).count()
}

#[test]
fn random_steps() {
    let too_large = check_random(random_code, 2, 6000, 11);
    assert!(too_large < 60, "{too_large}");
}

/// Sums, differences, products and selections of words, with their carries, as numbers of two words are computed of them.
fn random_words(random: &mut ChaCha8Rng) -> Code {
    let mut code = Code::default();
    let (mut words, mut truths) = (Vec::new(), Vec::new());
    for load in 0..2 {
        let of = *INTEGERS.choose(random).unwrap();
        let whole = code.load(load, of);
        words.extend(of.words().iter().map(|word| code.word(whole, *word)));
    }
    for _ in 0..random.random_range(2..6) {
        let pick = |words: &[usize], random: &mut ChaCha8Rng| *words.choose(random).unwrap();
        let [a, b] = [pick(&words, random), pick(&words, random)];
        let exact = if random.random_bool(0.5) { Type::U32 } else { Type::I32 };
        let taken = if exact == Type::U32 { Type::U16 } else { Type::I16 };
        let [x, y] = [a, b].map(|word| {
            let word = code.cast(word, taken);
            code.cast(word, exact)
        });
        match random.random_range(0..7) {
            choice @ 0..2 => {
                let [x, mut y] = [a, b].map(|word| code.cast(word, Type::U32));
                let mut carry = truths.choose(random).map_or_else(|| code.constant(1, Type::Bool), |carry| *carry);
                if choice == 1 {
                    let all = code.constant(0xffff, Type::U32);
                    y = code.binary(Binary::Subtract, all, y);
                }
                carry = code.cast(carry, Type::U32);
                let sum = code.binary(Binary::Add, x, y);
                let sum = code.binary(Binary::Add, sum, carry);
                let sixteen = code.constant(16, Type::U32);
                let high = code.binary(Binary::ShiftRight, sum, sixteen);
                truths.push(code.bits(high, Type::Bool));
                words.push(code.word(sum, Word::Low));
            }
            2 => {
                let product = code.binary(Binary::Multiply, x, y);
                words.extend([Word::Low, Word::High].map(|word| code.word(product, word)));
            }
            3 => truths.push(code.binary(Binary::Less, x, y)),
            4 if !truths.is_empty() => words.push(code.select(pick(&truths, random), a, b)),
            5 if truths.len() > 1 => {
                let [one, other] = [pick(&truths, random), pick(&truths, random)];
                let operator = *[Binary::And, Binary::Or, Binary::Xor].choose(random).unwrap();
                truths.push(code.binary(operator, one, other));
                let number = code.constant(random.random_range(0..2), Type::Bool);
                truths.push(code.select(one, other, number));
            }
            _ => {
                let distance = code.binary(Binary::AbsoluteDifference, x, y);
                let sixteen = code.constant(16, code.operand_type(distance));
                let all = code.binary(Binary::Add, distance, sixteen);
                let part = code.binary(Binary::ShiftRight, all, sixteen);
                words.extend([all, part].map(|of| code.word(of, Word::Low)));
            }
        }
    }
    code
}

#[test]
fn words_of_numbers() {
    let too_large = check_random(random_words, 3, 8000, 9);
    assert!(too_large < 80, "{too_large}");
}

/// Numbers that are moved, divided, limited and selected by their signs, as those are that take the least and the greatest of a type.
fn random_limits(random: &mut ChaCha8Rng) -> Code {
    let mut code = Code::default();
    let mut numbers = Vec::new();
    for load in 0..2 {
        let load = code.load(load, *[Type::I8, Type::U8, Type::I16].choose(random).unwrap());
        numbers.push(code.cast(load, Type::I32));
    }
    for _ in 0..random.random_range(3..10) {
        let [one, other] = [0; 2].map(|_| *numbers.choose(random).unwrap());
        let constant = code.constant(random.random_range(-9..9), Type::I32);
        let amount = code.constant(random.random_range(1..4), Type::I32);
        let either = if random.random_bool(0.5) { other } else { constant };
        numbers.push(match random.random_range(0..7) {
            0 => code.binary(*[Binary::Add, Binary::Subtract].choose(random).unwrap(), one, either),
            1 => code.binary(Binary::ShiftRight, one, amount),
            2 => code.binary(*[Binary::Minimum, Binary::Maximum].choose(random).unwrap(), one, either),
            3 => {
                let narrow = code.cast(one, *[Type::I8, Type::U8].choose(random).unwrap());
                code.cast(narrow, Type::I32)
            }
            _ => {
                let (compared, branch) = (*numbers.choose(random).unwrap(), *numbers.choose(random).unwrap());
                let condition = code.binary(Binary::Less, compared, constant);
                let branches = if random.random_bool(0.5) { [either, branch] } else { [branch, either] };
                code.select(condition, branches[0], branches[1])
            }
        });
    }
    code
}

#[test]
fn limits_of_numbers() {
    let too_large = check_random(random_limits, 4, 8000, 11);
    assert!(too_large < 80, "{too_large}");
}

/// Products with reciprocals, as divisions by constants become, and some that are none.
#[test]
fn reciprocals() {
    let leaves = |_: &Atom| Bounds::new(0, 400);
    let tables = |_: usize| unreachable!();
    let mut proven = 0;
    for shift in 8..16 {
        for factor in 1..300 {
            let mut terms = Terms::new(&leaves, &tables);
            let load = terms.atom(Atom::Load(0));
            let product = terms.scale(load, factor);
            let quotient = terms.quotient(product, 1 << shift);
            for number in 0..=400 {
                assert_eq!(value_of(&terms, quotient, &[number]), Some((i128::from(number) * factor) >> shift));
            }
            proven += usize::from(
                !matches!(terms.as_atom(quotient), Some(Atom::Quotient(_, divisor)) if *divisor == 1 << shift),
            );
        }
    }
    assert!(proven > 100, "{proven}");
}

/// Signs of all words of numbers with a fraction, and extremes of some: zeros, least and greatest numbers, infinities and no numbers.
#[test]
fn numbers_with_a_fraction() {
    for (format, of) in Format::ALL.into_iter().map(|format| (format, Type::of_format(format))) {
        let infinity = i64::from(format.infinity());
        for operator in [Unary::FloatNegate(format), Unary::FloatAbsolute(format)] {
            let mut code = Code::default();
            let operand = code.load(0, of);
            code.unary(operator, operand);
            assert!(check(&code, &[(of.min(), of.max())]));
        }
        let special = [0, 0x8000].into_iter().flat_map(|sign| [0, infinity - 2, infinity / 2].map(|word| sign + word));
        for (one, other) in special.clone().cartesian_product(special) {
            for operator in [Binary::FloatMinimum(format), Binary::FloatMaximum(format), Binary::FloatAdd(format)] {
                let mut code = Code::default();
                let (left, right) = (code.load(0, of), code.load(1, of));
                code.binary(operator, left, right);
                code.binary(operator, right, left);
                assert!(check(&code, &[(one, one + 5), (other, other + 5)]));
            }
        }
    }
}
