//! The nodes of a datapath.

use std::borrow::Cow;

use pushmem_nest::{Binary, Type, Unary};

/// A value of a datapath: its operator and its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DatapathNode {
    /// The operator that computes the value.
    pub kind: NodeKind,
    /// The type of the value.
    pub value: Type,
    /// The pipeline stage in which the value is computed, combinationally; stage 0 is that of the operands. Of a divider,
    /// its first stage, likewise of a sum or a product of numbers with a fraction, and of a fetch, that of the address: the operands come out of registers there.
    pub stage: u64,
    /// The number of stages from [`stage`](DatapathNode::stage) to the one in which the value can be used: 0 but for dividers,
    /// operators of numbers with a fraction and fetches, which are pipelines of their own.
    pub latency: u64,
}

/// The operator of a node. Operands are indices of [`Datapath::nodes`](crate::Datapath::nodes), less than the node's
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A number that the type holds.
    Constant(i64),
    /// An element that is read, an index of [`Datapath::loads`](crate::Datapath::loads).
    Load(usize),
    /// A loop variable in the first copy, the outermost is 0.
    Variable(usize),
    /// An entry of a table of the program.
    Lookup {
        /// The table, an index of [`Program::tables`](pushmem_nest::Program::tables).
        table: usize,
        /// Which entry.
        index: usize,
    },
    /// An entry of a table in a memory beside the kernel.
    Fetch {
        /// The table, an index of [`Program::tables`](pushmem_nest::Program::tables).
        table: usize,
        /// Which entry. Only the low bits leave the kernel.
        index: usize,
        /// Their number.
        address_bits: u32,
        /// Cycles from the address to the entry.
        latency: u64,
    },
    /// An element of an array in a random-access memory beside the kernel.
    Read {
        /// The load that has this element, an index of [`Datapath::loads`](crate::Datapath::loads).
        load: usize,
        /// The address. Only the low bits leave the kernel.
        address: usize,
        /// Their number.
        address_bits: u32,
    },
    /// An operator of one operand.
    Unary {
        /// The operator.
        operator: Unary,
        /// The operand.
        operand: usize,
    },
    /// An operator of two operands of one type.
    Binary {
        /// The operator.
        operator: Binary,
        /// The first operand.
        left: usize,
        /// The second operand.
        right: usize,
    },
    /// One of two values.
    Select {
        /// A truth value.
        condition: usize,
        /// The value if it is true.
        then: usize,
        /// The value if it is false.
        otherwise: usize,
    },
    /// The value wrapped to the type of the node.
    Cast(usize),
}

impl NodeKind {
    /// The operands, in the order of the expression.
    pub fn operands(&self) -> impl Iterator<Item = usize> + use<> {
        let operands = match *self {
            NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) => [None; 3],
            NodeKind::Lookup { index: operand, .. }
            | NodeKind::Fetch { index: operand, .. }
            | NodeKind::Read { address: operand, .. }
            | NodeKind::Unary { operand, .. }
            | NodeKind::Cast(operand) => [Some(operand), None, None],
            NodeKind::Binary { left, right, .. } => [Some(left), Some(right), None],
            NodeKind::Select { condition, then, otherwise } => [Some(condition), Some(then), Some(otherwise)],
        };
        operands.into_iter().flatten()
    }

    /// The same with other operands.
    pub fn map(&self, mut operand_of: impl FnMut(usize) -> usize) -> NodeKind {
        match *self {
            leaf @ (NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_)) => leaf,
            NodeKind::Lookup { table, index } => NodeKind::Lookup { table, index: operand_of(index) },
            NodeKind::Fetch { table, index, address_bits, latency } => {
                NodeKind::Fetch { table, index: operand_of(index), address_bits, latency }
            }
            NodeKind::Read { load, address, address_bits } => {
                NodeKind::Read { load, address: operand_of(address), address_bits }
            }
            NodeKind::Unary { operator, operand } => NodeKind::Unary { operator, operand: operand_of(operand) },
            NodeKind::Cast(operand) => NodeKind::Cast(operand_of(operand)),
            NodeKind::Binary { operator, left, right } => {
                NodeKind::Binary { operator, left: operand_of(left), right: operand_of(right) }
            }
            NodeKind::Select { condition, then, otherwise } => NodeKind::Select {
                condition: operand_of(condition),
                then: operand_of(then),
                otherwise: operand_of(otherwise),
            },
        }
    }

    /// The name of the operator in the text of a datapath graph.
    pub fn name(&self) -> Cow<'static, str> {
        let (format, name) = match self {
            NodeKind::Constant(_) => (None, "constant"),
            NodeKind::Load(_) => (None, "load"),
            NodeKind::Variable(_) => (None, "loop"),
            NodeKind::Lookup { .. } | NodeKind::Fetch { .. } => (None, "lookup"),
            NodeKind::Read { .. } => (None, "read"),
            NodeKind::Cast(_) => (None, "cast"),
            NodeKind::Select { .. } => (None, "select"),
            NodeKind::Unary { operator, .. } => match *operator {
                Unary::Negate => (None, "negate"),
                Unary::Not => (None, "not"),
                Unary::Absolute => (None, "absolute"),
                Unary::FloatNegate(format) => (Some(format), "negate"),
                Unary::FloatAbsolute(format) => (Some(format), "absolute"),
                Unary::FloatFromInteger(format) => (Some(format), "from_integer"),
                Unary::FloatToInteger(format) => (Some(format), "to_integer"),
                Unary::FloatFunction(_, function) => (None, function.name()),
            },
            NodeKind::Binary { operator, .. } => match *operator {
                Binary::Add => (None, "add"),
                Binary::Subtract => (None, "subtract"),
                Binary::Multiply => (None, "multiply"),
                Binary::Divide => (None, "divide"),
                Binary::Modulo => (None, "modulo"),
                Binary::ShiftLeft => (None, "shift_left"),
                Binary::ShiftRight => (None, "shift_right"),
                Binary::And => (None, "and"),
                Binary::Or => (None, "or"),
                Binary::Xor => (None, "xor"),
                Binary::Equal => (None, "equal"),
                Binary::NotEqual => (None, "not_equal"),
                Binary::Less => (None, "less"),
                Binary::LessEqual => (None, "less_equal"),
                Binary::Greater => (None, "greater"),
                Binary::GreaterEqual => (None, "greater_equal"),
                Binary::Minimum => (None, "minimum"),
                Binary::Maximum => (None, "maximum"),
                Binary::AbsoluteDifference => (None, "absolute_difference"),
                Binary::FloatAdd(format) => (Some(format), "add"),
                Binary::FloatSubtract(format) => (Some(format), "subtract"),
                Binary::FloatMultiply(format) => (Some(format), "multiply"),
                Binary::FloatEqual(format) => (Some(format), "equal"),
                Binary::FloatLess(format) => (Some(format), "less"),
                Binary::FloatLessEqual(format) => (Some(format), "less_equal"),
                Binary::FloatMinimum(format) => (Some(format), "minimum"),
                Binary::FloatMaximum(format) => (Some(format), "maximum"),
            },
        };
        match format {
            Some(format) => Cow::Owned(format!("{}_{name}", format.prefix())),
            None => Cow::Borrowed(name),
        }
    }

    /// Whether this is a division or modulo, which has a pipeline of its own.
    pub fn is_division(&self) -> bool {
        matches!(self, NodeKind::Binary { operator: Binary::Divide | Binary::Modulo, .. })
    }

    /// Whether this is a constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, NodeKind::Constant(_))
    }
}
