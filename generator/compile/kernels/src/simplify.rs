//! Simplification of single nodes when they are added to a graph: folding, identities, and division by powers of two.
//!
//! Everything here is exact in the wrapping arithmetic of the types.

use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;
use crate::node::NodeKind;

impl Graph<'_> {
    /// A node of this value, or a simpler one.
    pub fn node(&mut self, kind: NodeKind, value: Type) -> usize {
        match kind {
            NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) => self.intern(kind, value),
            NodeKind::Lookup { table, index } => {
                let entry = self.as_constant(index).and_then(|index| usize::try_from(index).ok());
                match entry.and_then(|entry| self.tables[table].values.get(entry)) {
                    Some(&number) => self.constant(number, value),
                    None => self.intern(self.placed_lookup(table, index), value),
                }
            }
            NodeKind::Fetch { table, index, .. } => self.node(NodeKind::Lookup { table, index }, value),
            NodeKind::Unary { operator, operand } => self.unary(operator, operand),
            NodeKind::Binary { operator, left, right } => self.binary(operator, left, right),
            NodeKind::Select { condition, then, otherwise } => self.select(condition, then, otherwise),
            NodeKind::Cast(operand) => self.cast(operand, value),
        }
    }

    pub fn unary(&mut self, operator: Unary, operand: usize) -> usize {
        let operands = self.value(operand);
        let value = operator.result(operands);
        if let Some(number) = self.as_constant(operand) {
            return self.constant(operator.apply(operands, number), value);
        }
        match (operator, self.vertices[operand].kind) {
            (Unary::Negate | Unary::Not, NodeKind::Unary { operator: inner, operand }) if inner == operator => operand,
            (Unary::Negate, NodeKind::Binary { operator: Binary::Subtract, left, right }) => {
                self.binary(Binary::Subtract, right, left)
            }
            // Also of the least number: it is its own negative. A number without sign is not its negative's absolute value.
            (Unary::Absolute, NodeKind::Unary { operator: Unary::Negate, operand }) if operands.is_signed() => {
                self.unary(Unary::Absolute, operand)
            }
            (Unary::Absolute, _) if self.vertices[operand].range.0 >= 0 => self.cast(operand, value),
            _ => self.intern(NodeKind::Unary { operator, operand }, value),
        }
    }

    pub fn cast(&mut self, operand: usize, value: Type) -> usize {
        let from = self.value(operand);
        if from == value {
            return operand;
        }
        if let Some(number) = self.as_constant(operand) {
            return self.constant(number, value);
        }
        if let NodeKind::Cast(inner) = self.vertices[operand].kind {
            let (low, high) = self.vertices[inner].range;
            // Nothing was lost that is kept now.
            if value.bits() <= from.bits() || (from.holds(low) && from.holds(high)) {
                return self.cast(inner, value);
            }
        }
        self.intern(NodeKind::Cast(operand), value)
    }

    pub fn select(&mut self, condition: usize, then: usize, otherwise: usize) -> usize {
        if let Some(truth) = self.as_constant(condition) {
            return if truth != 0 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if let NodeKind::Unary { operator: Unary::Not, operand } = self.vertices[condition].kind {
            return self.select(operand, otherwise, then);
        }
        if self.value(then) == Type::Bool {
            match (self.as_constant(then), self.as_constant(otherwise)) {
                (Some(_), Some(0)) => return condition,
                (Some(0), Some(_)) => return self.unary(Unary::Not, condition),
                _ => {}
            }
        }
        self.intern(NodeKind::Select { condition, then, otherwise }, self.value(then))
    }

    pub fn binary(&mut self, operator: Binary, left: usize, right: usize) -> usize {
        let operands = self.value(left);
        let value = operator.result(operands);
        if let (Some(one), Some(other)) = (self.as_constant(left), self.as_constant(right)) {
            return self.constant(operator.apply(operands, one, other), value);
        }
        // Of comparisons in both directions one is enough.
        match operator {
            Binary::Greater => return self.binary(Binary::Less, right, left),
            Binary::GreaterEqual => return self.binary(Binary::LessEqual, right, left),
            _ => {}
        }
        let (left, right) = if is_commutative(operator) { self.sorted(left, right) } else { (left, right) };
        let simpler = if left == right { self.of_equal(operator, left) } else { None };
        let simpler = simpler.or_else(|| self.by_range(operator, left, right));
        let simpler = simpler.or_else(|| match (self.as_constant(left), self.as_constant(right)) {
            (_, Some(number)) => self.with_constant(operator, left, right, number),
            (Some(number), _) => self.of_constant(operator, number, right),
            _ => None,
        });
        if let Some(simpler) = simpler {
            return simpler;
        }
        let is_natural = |node: usize| self.vertices[node].range.0 >= 0;
        let divides = matches!(operator, Binary::Divide | Binary::Modulo);
        if divides && operands.is_signed() && is_natural(left) && is_natural(right) {
            // Without signs division takes two stages less.
            let left = self.cast(left, operands.unsigned());
            let right = self.cast(right, operands.unsigned());
            let result = self.binary(operator, left, right);
            return self.cast(result, operands);
        }
        self.intern(NodeKind::Binary { operator, left, right }, value)
    }

    /// Constants to the right, otherwise the node that was there first to the left.
    fn sorted(&self, left: usize, right: usize) -> (usize, usize) {
        let key = |node: usize| (self.as_constant(node).is_some(), node);
        if key(left) <= key(right) { (left, right) } else { (right, left) }
    }

    fn of_equal(&mut self, operator: Binary, operand: usize) -> Option<usize> {
        let value = operator.result(self.value(operand));
        match operator {
            Binary::And | Binary::Or | Binary::Minimum | Binary::Maximum => Some(operand),
            Binary::Subtract | Binary::Xor | Binary::AbsoluteDifference | Binary::Modulo => {
                Some(self.constant(0, value))
            }
            Binary::NotEqual | Binary::Less => Some(self.constant(0, value)),
            Binary::Equal | Binary::LessEqual => Some(self.constant(1, value)),
            _ => None,
        }
    }

    /// The result of the operator where the bounds of the operands decide it.
    fn by_range(&mut self, operator: Binary, left: usize, right: usize) -> Option<usize> {
        let (one, other) = (self.vertices[left].range, self.vertices[right].range);
        let (below, above) = (one.1 < other.0, other.1 < one.0);
        let mut truth = |truth: bool| Some(self.constant(i64::from(truth), Type::Bool));
        match operator {
            Binary::Equal if below || above => truth(false),
            Binary::NotEqual if below || above => truth(true),
            Binary::Less if below => truth(true),
            Binary::Less if other.1 <= one.0 => truth(false),
            Binary::LessEqual if one.1 <= other.0 => truth(true),
            Binary::LessEqual if above => truth(false),
            Binary::Minimum if one.1 <= other.0 => Some(left),
            Binary::Minimum if other.1 <= one.0 => Some(right),
            Binary::Maximum if one.1 <= other.0 => Some(right),
            Binary::Maximum if other.1 <= one.0 => Some(left),
            Binary::AbsoluteDifference if one.1 <= other.0 || other.1 <= one.0 => {
                let (more, less) = if one.1 <= other.0 { (right, left) } else { (left, right) };
                let distance = self.binary(Binary::Subtract, more, less);
                Some(self.cast(distance, self.value(left).unsigned()))
            }
            Binary::Divide if one.0 >= 0 && below => Some(self.constant(0, self.value(left))),
            Binary::Modulo if one.0 >= 0 && below => Some(left),
            _ => None,
        }
    }

    /// A constant on the left of an operator that is not commutative.
    fn of_constant(&mut self, operator: Binary, number: i64, right: usize) -> Option<usize> {
        match operator {
            Binary::Subtract if number == 0 => Some(self.unary(Unary::Negate, right)),
            Binary::Divide | Binary::Modulo | Binary::ShiftLeft | Binary::ShiftRight if number == 0 => {
                Some(self.constant(0, self.value(right)))
            }
            _ => None,
        }
    }

    /// A constant on the right.
    fn with_constant(&mut self, operator: Binary, left: usize, right: usize, number: i64) -> Option<usize> {
        let operands = self.value(left);
        let ones = operands.wrap(-1);
        match operator {
            Binary::Add | Binary::Subtract | Binary::Or | Binary::Xor if number == 0 => Some(left),
            Binary::And if number == 0 => Some(right),
            Binary::And if number == ones => Some(left),
            Binary::Or if number == ones => Some(right),
            Binary::Xor if number == ones => Some(self.unary(Unary::Not, left)),
            // A mask that covers all that the value may be.
            Binary::And if number & (number + 1) == 0 && number > 0 && self.is_within(left, 0, number) => Some(left),
            Binary::Multiply if number == 0 => Some(right),
            Binary::Multiply if number == 1 => Some(left),
            Binary::Equal if operands == Type::Bool && number == 1 => Some(left),
            Binary::NotEqual if operands == Type::Bool && number == 0 => Some(left),
            Binary::Equal | Binary::NotEqual if operands == Type::Bool => Some(self.unary(Unary::Not, left)),
            Binary::Divide => self.quotient(left, number),
            Binary::Modulo => self.remainder(left, number),
            Binary::ShiftLeft => self.shift(left, number),
            Binary::ShiftRight => self.shift(left, -number),
            _ => None,
        }
    }

    fn is_within(&self, node: usize, low: i64, high: i64) -> bool {
        let range = self.vertices[node].range;
        low <= range.0 && range.1 <= high
    }

    /// Division by a constant: powers of two are shifts, which round down as division does, and others products.
    fn quotient(&mut self, left: usize, divisor: i64) -> Option<usize> {
        let value = self.value(left);
        if divisor == 0 {
            return Some(self.constant(0, value));
        }
        if !divisor.unsigned_abs().is_power_of_two() {
            let quotient = self.quotient_by_product(left, divisor.abs())?;
            return Some(if divisor < 0 { self.unary(Unary::Negate, quotient) } else { quotient });
        }
        let amount = self.constant(i64::from(divisor.unsigned_abs().trailing_zeros()), value);
        let shifted = self.binary(Binary::ShiftRight, left, amount);
        // The remainder is not negative, so that the quotient by -d is the negative of the quotient by d.
        Some(if divisor < 0 { self.unary(Unary::Negate, shifted) } else { shifted })
    }

    /// The quotient by a positive constant as the high bits of a product; nothing if the product does not fit 32 bits.
    fn quotient_by_product(&mut self, left: usize, divisor: i64) -> Option<usize> {
        let (value, (low, high)) = (self.value(left), self.vertices[left].range);
        // Counted from a multiple of the divisor no number is negative.
        let turns = if low < 0 { (-low + divisor - 1) / divisor } else { 0 };
        let greatest = high.checked_add(turns.checked_mul(divisor)?)?;
        let reciprocal = Reciprocal::of(divisor, greatest)?;
        let number = match turns {
            0 => self.cast(left, Type::U32),
            _ => {
                let wide = self.cast(left, Type::I32);
                let offset = self.constant(turns * divisor, Type::I32);
                let natural = self.binary(Binary::Add, wide, offset);
                self.cast(natural, Type::U32)
            }
        };
        let factor = self.constant(reciprocal.factor, Type::U32);
        let mut quotient = self.binary(Binary::Multiply, number, factor);
        if reciprocal.first_shift > 0 {
            let shift = self.constant(reciprocal.first_shift, Type::U32);
            let high_bits = self.binary(Binary::ShiftRight, quotient, shift);
            quotient = self.binary(Binary::Add, high_bits, number);
        }
        let shift = self.constant(reciprocal.shift, Type::U32);
        quotient = self.binary(Binary::ShiftRight, quotient, shift);
        if turns > 0 {
            let turns = self.constant(turns, Type::I32);
            let natural = self.cast(quotient, Type::I32);
            quotient = self.binary(Binary::Subtract, natural, turns);
        }
        Some(self.cast(quotient, value))
    }

    /// Modulo a constant: of powers of two the low bits, whatever the signs.
    fn remainder(&mut self, left: usize, divisor: i64) -> Option<usize> {
        let value = self.value(left);
        if divisor == 0 {
            return Some(self.constant(0, value));
        }
        if !divisor.unsigned_abs().is_power_of_two() {
            // The remainder has the sign of none of the two.
            let quotient = self.quotient_by_product(left, divisor.abs())?;
            let divisor = self.constant(divisor.abs(), value);
            let multiple = self.binary(Binary::Multiply, quotient, divisor);
            return Some(self.binary(Binary::Subtract, left, multiple));
        }
        let mask = self.constant(divisor.abs() - 1, value);
        Some(self.binary(Binary::And, left, mask))
    }

    /// A shift to the left by a constant, which may be negative: amounts become 1 to the width less 1.
    fn shift(&mut self, left: usize, amount: i64) -> Option<usize> {
        let value = self.value(left);
        let bits = i64::from(value.bits());
        if amount == 0 {
            return Some(left);
        }
        if amount >= bits || (amount <= -bits && !value.is_signed()) {
            return Some(self.constant(0, value));
        }
        let operator = if amount > 0 { Binary::ShiftLeft } else { Binary::ShiftRight };
        let limited = self.constant(amount.abs().min(bits - 1), value);
        if let NodeKind::Binary { operator: inner, left: from, right: first } = self.vertices[left].kind
            && inner == operator
            && let Some(first) = self.as_constant(first)
        {
            let sum = self.constant((first + amount.abs()).min(Type::I8.max()), value);
            return Some(self.binary(operator, from, sum));
        }
        Some(self.intern(NodeKind::Binary { operator, left, right: limited }, value))
    }
}

/// A multiplication that divides by a constant (Granlund and Montgomery, *Division by invariant integers using multiplication*,
/// PLDI 1994).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    factor: i64,
    /// If it is not 0, the product is shifted by this, and the number is added, before the last shift.
    first_shift: i64,
    shift: i64,
}

impl Reciprocal {
    /// The one with the smallest factor for numbers from 0 to `greatest`, with products of 32 bits.
    fn of(divisor: i64, greatest: i64) -> Option<Reciprocal> {
        let (divisor, greatest, most) = (i128::from(divisor), i128::from(greatest), i128::from(u32::MAX));
        for shift in 0..48 {
            let power = 1_i128 << shift;
            let factor = (power + divisor - 1) / divisor;
            // The factor is too large by an error that must stay below one step of the quotient.
            if (factor * divisor - power) * greatest >= power {
                continue;
            }
            let found =
                |factor: i128, first_shift: i64, shift: i64| Reciprocal { factor: factor as i64, first_shift, shift };
            if factor * greatest <= most {
                return Some(found(factor, 0, shift));
            }
            // The number itself in place of the highest bit of the factor.
            let rest = factor - (1 << 16);
            let fits = (1 << 16..1 << 17).contains(&factor) && rest * greatest <= most && shift > 16;
            return fits.then(|| found(rest, 16, shift - 16));
        }
        None
    }

    /// The quotient of a number.
    #[cfg(test)]
    fn quotient(self, number: i64) -> i64 {
        let product = number * self.factor;
        assert!(product <= i64::from(u32::MAX), "{number} times {self:?}");
        match self.first_shift {
            0 => product >> self.shift,
            first => ((product >> first) + number) >> self.shift,
        }
    }
}

/// Whether the operands may be exchanged.
fn is_commutative(operator: Binary) -> bool {
    matches!(
        operator,
        Binary::Add
            | Binary::Multiply
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Equal
            | Binary::NotEqual
            | Binary::Minimum
            | Binary::Maximum
            | Binary::AbsoluteDifference
    )
}

#[cfg(test)]
mod tests {
    use super::Reciprocal;

    /// All numbers of 16 bits by all divisors that are no powers of two up to 600, by some large ones, and smaller numbers.
    #[test]
    fn products_are_quotients() {
        let divisors = (3_i64..600).chain([641, 1000, 6700, 21_845, 32_767, 43_691, 65_535]);
        for divisor in divisors.filter(|divisor| !(*divisor as u64).is_power_of_two()) {
            for greatest in [divisor, 255, 2_295, 32_767, 65_535] {
                let reciprocal = Reciprocal::of(divisor, greatest).expect("products of 16 bits fit");
                let wrong = (0..=greatest).find(|number| reciprocal.quotient(*number) != number / divisor);
                assert_eq!(wrong, None, "by {divisor} up to {greatest}: {reciprocal:?}");
            }
        }
    }

    #[test]
    fn products_beyond_32_bits_are_none() {
        assert_eq!(Reciprocal::of(9, i64::from(u32::MAX)), None);
    }
}
