//! The terms of steps.

use pushmem_float::SIGN;
use pushmem_nest::{Binary, Type, Unary};

use crate::code::{Code, Kind, Step};
use crate::terms::{Atom, Function, Term, Terms};

impl Terms<'_> {
    /// The terms of the steps that are needed; 0 for others.
    pub fn of_code(&mut self, code: &Code) -> Vec<Term> {
        let needed = code.needed();
        let mut known = Vec::with_capacity(code.steps.len());
        let none = self.constant(0);
        for (step, needed) in code.steps.iter().zip(needed) {
            known.push(if needed { self.of_step(code, *step, &known) } else { none });
        }
        known
    }

    /// The term of a step of some code, where those of its operands are known.
    pub fn of_step(&mut self, code: &Code, step: Step, known: &[Term]) -> Term {
        match step.kind {
            Kind::Constant(number) => self.constant(number.into()),
            Kind::Load(load) => self.atom(Atom::Load(load)),
            Kind::Variable(variable) => self.atom(Atom::Variable(variable)),
            Kind::Lookup { table, index, .. } => self.lookup(table, known[index]),
            Kind::Unary { operator, operand } => self.unary(operator, step.value, known[operand]),
            Kind::Binary { operator, left, right } => {
                self.binary(operator, code.operand_type(left), known[left], known[right])
            }
            Kind::Select { condition, then, otherwise } => self.select(known[condition], known[then], known[otherwise]),
            Kind::Bits(operand) => known[operand],
            Kind::Cast(operand) => self.cast(code.operand_type(operand), step.value, known[operand]),
        }
    }

    fn unary(&mut self, operator: Unary, value: Type, of: Term) -> Term {
        match operator {
            Unary::Negate => {
                let negative = self.scale(of, -1);
                self.wrap(negative, value)
            }
            Unary::Not if value == Type::Bool => self.not(of),
            Unary::Not => {
                let negative = self.scale(of, -1);
                let inverse = self.shift(negative, -1);
                self.wrap(inverse, value)
            }
            Unary::Absolute => {
                let negative = self.scale(of, -1);
                let magnitude = self.greatest(of, negative);
                self.wrap(magnitude, value)
            }
            Unary::FloatNegate(_) => {
                let sign = self.constant(SIGN.into());
                self.xor(of, sign)
            }
            Unary::FloatAbsolute(_) => {
                let others = self.constant((!SIGN).into());
                self.and(of, others)
            }
            Unary::FloatFromInteger(_) | Unary::FloatToInteger(_) | Unary::FloatFunction(..) => {
                self.apply(Function::Unary(operator), vec![of])
            }
        }
    }

    fn cast(&mut self, from: Type, to: Type, of: Term) -> Term {
        match (from.format(), to.format()) {
            _ if from == to => of,
            (None, None) => self.wrap(of, to),
            (None, Some(format)) => self.apply(Function::Unary(Unary::FloatFromInteger(format)), vec![of]),
            (Some(_), _) => self.apply(Function::ToInteger { float: from, to }, vec![of]),
        }
    }

    fn binary(&mut self, operator: Binary, operands: Type, left: Term, right: Term) -> Term {
        let value = operator.result(operands);
        match operator {
            Binary::Add => {
                let sum = self.add(left, right);
                self.wrap(sum, value)
            }
            Binary::Subtract => {
                let difference = self.subtract(left, right);
                self.wrap(difference, value)
            }
            Binary::Multiply => {
                let product = self.multiply(left, right);
                self.wrap(product, value)
            }
            Binary::Divide | Binary::Modulo => {
                let divided = self.divided(operator, left, right);
                self.wrap(divided, value)
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                let amount = if operator == Binary::ShiftLeft { right } else { self.scale(right, -1) };
                let shifted = self.shifted(left, amount);
                self.wrap(shifted, value)
            }
            Binary::And => self.and(left, right),
            Binary::Or if value == Type::Bool => self.any(left, right),
            Binary::Or => self.or(left, right),
            Binary::Xor => self.xor(left, right),
            Binary::Equal => self.equal(left, right),
            Binary::NotEqual => {
                let equal = self.equal(left, right);
                self.not(equal)
            }
            Binary::Less => self.less(left, right),
            Binary::Greater => self.less(right, left),
            Binary::LessEqual => {
                let greater = self.less(right, left);
                self.not(greater)
            }
            Binary::GreaterEqual => {
                let less = self.less(left, right);
                self.not(less)
            }
            Binary::Minimum => self.least(left, right),
            Binary::Maximum => self.greatest(left, right),
            Binary::AbsoluteDifference => {
                let distance = self.distance(left, right);
                self.wrap(distance, value)
            }
            of_numbers => self.of_numbers(of_numbers, left, right),
        }
    }

    /// An operator of numbers with a fraction.
    fn of_numbers(&mut self, operator: Binary, left: Term, right: Term) -> Term {
        let (less, one, other) = match operator {
            Binary::FloatMinimum(format) => (Binary::FloatLess(format), left, right),
            Binary::FloatMaximum(format) => (Binary::FloatLess(format), right, left),
            Binary::FloatAdd(_) | Binary::FloatMultiply(_) | Binary::FloatEqual(_) => {
                return self.apply(Function::Binary(operator), vec![left.min(right), left.max(right)]);
            }
            _ => return self.apply(Function::Binary(operator), vec![left, right]),
        };
        let is_left = self.apply(Function::Binary(less), vec![one, other]);
        self.select(is_left, left, right)
    }

    /// A Euclidean quotient or remainder; by 0 it is 0.
    fn divided(&mut self, operator: Binary, left: Term, right: Term) -> Term {
        let Some(divisor) = self.as_constant(right) else {
            return self.apply(Function::Binary(operator), vec![left, right]);
        };
        let size = divisor.abs();
        match operator {
            _ if divisor == 0 => self.constant(0),
            Binary::Modulo if size.count_ones() == 1 => self.modulo(left, size.trailing_zeros()),
            Binary::Modulo => {
                let quotient = self.quotient(left, size);
                self.plus(left, quotient, -size)
            }
            _ => {
                let quotient = self.quotient(left, size);
                self.scale(quotient, divisor.signum())
            }
        }
    }

    /// A term shifted to the left by an amount, to the right where that is negative, by at most 32 bits.
    fn shifted(&mut self, of: Term, amount: Term) -> Term {
        match self.as_constant(amount) {
            None => self.apply(Function::Binary(Binary::ShiftLeft), vec![of, amount]),
            Some(32..) => self.constant(0),
            Some(amount @ 0..32) => self.scale(of, 1 << amount),
            Some(amount) => self.quotient(of, 1 << (-amount).min(32)),
        }
    }
}
