//! Simplification of single nodes when they are added to a graph: folding, identities, and division by powers of two.
//!
//! Everything here is exact in the wrapping arithmetic of the types.

use pushmem_nest::{Binary, Type, Unary};

use crate::graph::Graph;
use pushmem_datapaths::NodeKind;

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
            read @ NodeKind::Read { .. } => self.intern(read, value),
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

    /// Division by a constant: powers of two are shifts, which round down as division does.
    fn quotient(&mut self, left: usize, divisor: i64) -> Option<usize> {
        let value = self.value(left);
        if divisor == 0 {
            return Some(self.constant(0, value));
        }
        if !divisor.unsigned_abs().is_power_of_two() {
            return None;
        }
        let amount = self.constant(i64::from(divisor.unsigned_abs().trailing_zeros()), value);
        let shifted = self.binary(Binary::ShiftRight, left, amount);
        // The remainder is not negative, so that the quotient by -d is the negative of the quotient by d.
        Some(if divisor < 0 { self.unary(Unary::Negate, shifted) } else { shifted })
    }

    /// Modulo a constant: of powers of two the low bits, whatever the signs.
    fn remainder(&mut self, left: usize, divisor: i64) -> Option<usize> {
        let value = self.value(left);
        if divisor == 0 {
            return Some(self.constant(0, value));
        }
        if !divisor.unsigned_abs().is_power_of_two() {
            return None;
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
            | Binary::FloatAdd(_)
            | Binary::FloatMultiply(_)
            | Binary::FloatEqual(_)
    )
}
