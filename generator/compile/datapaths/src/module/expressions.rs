//! Values and operators as expressions of SystemVerilog.

use pushmem_nest::{Binary, Type, Unary, Word};

use super::Writer;
use crate::node::NodeKind;

/// The width of the port for a load or a result of a type: that of all its words.
pub(super) fn port_bits(value: Type) -> u32 {
    value.words().len() as u32 * Word::BITS
}

/// Whether a number of this type is the bits of its port as they are.
pub(super) fn is_port(value: Type) -> bool {
    !value.is_signed() && value.bits() == port_bits(value)
}

/// The range of a vector: nothing for a single bit.
pub(super) fn bit_range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0]", bits - 1) }
}

/// `logic signed [7:0] name`
pub(super) fn declaration(value: Type, name: &str) -> String {
    let sign = if value.is_signed() { "signed " } else { "" };
    match value.bits() {
        1 => format!("logic {sign}{name}"),
        bits => format!("logic {sign}[{}:0] {name}", bits - 1),
    }
}

pub(super) fn literal(number: i64, value: Type) -> String {
    let bits = value.bits();
    match number {
        _ if value == Type::Bool => format!("1'b{number}"),
        _ if !value.is_signed() => format!("{bits}'d{number}"),
        // Its magnitude is beyond the type.
        _ if number == value.min() => format!("{bits}'sh{:x}", value.unsigned().wrap(number)),
        ..0 => format!("-{bits}'sd{}", -number),
        _ => format!("{bits}'sd{number}"),
    }
}

/// A literal whose bits matter.
pub(super) fn mask(number: i64, value: Type) -> String {
    let (bits, digits) = (value.bits(), value.bits() as usize / 4);
    let sign = if value.is_signed() { "s" } else { "" };
    match value {
        Type::Bool => literal(number, value),
        _ => format!("{bits}'{sign}h{:0digits$x}", value.unsigned().wrap(number)),
    }
}

/// The prefix of a value's name.
pub(super) fn stem(kind: &NodeKind, value: Type, constant: bool) -> &'static str {
    match kind {
        NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) => "value",
        NodeKind::Lookup { .. } | NodeKind::Fetch { .. } => "entry",
        NodeKind::Read { .. } => "element",
        NodeKind::Select { .. } => "selected",
        NodeKind::Cast(_) => match value {
            Type::Bf16 | Type::F16 => "number",
            Type::Bool => "truth",
            integer => integer.name(),
        },
        NodeKind::Unary { operator, .. } => match operator {
            Unary::Negate | Unary::FloatNegate(_) => "negative",
            Unary::Not => "inverse",
            Unary::Absolute | Unary::FloatAbsolute(_) => "magnitude",
            Unary::FloatFromInteger(_) | Unary::FloatFunction(..) => "number",
            Unary::FloatToInteger(_) => "integer",
        },
        NodeKind::Binary { operator, .. } => match operator {
            Binary::Add | Binary::FloatAdd(_) => "sum",
            Binary::Subtract | Binary::FloatSubtract(_) => "difference",
            Binary::Multiply | Binary::FloatMultiply(_) => "product",
            Binary::Divide => "quotient",
            Binary::Modulo => "remainder",
            Binary::ShiftLeft | Binary::ShiftRight => "shifted",
            Binary::And if constant => "masked",
            Binary::And => "both",
            Binary::Or => "either",
            Binary::Xor => "exclusive",
            Binary::Equal | Binary::FloatEqual(_) => "equal",
            Binary::NotEqual => "unequal",
            Binary::Less | Binary::FloatLess(_) => "less",
            Binary::LessEqual | Binary::FloatLessEqual(_) => "at_most",
            Binary::Greater => "greater",
            Binary::GreaterEqual => "at_least",
            Binary::Minimum | Binary::FloatMinimum(_) => "minimum",
            Binary::Maximum | Binary::FloatMaximum(_) => "maximum",
            Binary::AbsoluteDifference => "distance",
        },
    }
}

impl<'a> Writer<'a> {
    pub(super) fn expression(&self, kind: &NodeKind, value: Type, stage: u64) -> String {
        let nodes = &self.datapath.nodes;
        let read = |node: usize| self.read(node, stage);
        match *kind {
            NodeKind::Lookup { table, index } => {
                let of = nodes[index].value;
                let function = self.functions.iter().find(|(known, index, _)| (*known, *index) == (table, of));
                let function = function.map(|(.., name)| name.as_str()).unwrap_or_default();
                let index = match of.is_signed() {
                    true => format!("$unsigned({})", read(index)),
                    false => read(index),
                };
                match value.is_signed() {
                    true => format!("$signed({function}({index}))"),
                    false => format!("{function}({index})"),
                }
            }
            NodeKind::Select { condition, then, otherwise } => {
                format!("{} ? {} : {}", read(condition), read(then), read(otherwise))
            }
            NodeKind::Cast(operand) => cast(&read(operand), nodes[operand].value, value),
            NodeKind::Unary { operator, operand } => {
                let (text, operands) = (read(operand), nodes[operand].value);
                match operator {
                    Unary::Negate => format!("-{text}"),
                    Unary::Not => format!("~{text}"),
                    Unary::Absolute => {
                        format!("$unsigned({text} < {} ? -{text} : {text})", literal(0, operands))
                    }
                    _ => unreachable!("operators of numbers with a fraction are instances or operations of bits"),
                }
            }
            NodeKind::Binary { operator, left, right } => {
                let operands = nodes[left].value;
                if let NodeKind::Constant(number) = nodes[right].kind {
                    return binary_with_constant(operator, &read(left), operands, number);
                }
                binary(operator, &read(left), &read(right), operands)
            }
            NodeKind::Constant(number) => literal(number, value),
            NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Fetch { .. } | NodeKind::Read { .. } => String::new(),
        }
    }

    /// The value of a type at the port of a load.
    pub(super) fn of_port(&self, load: usize, value: Type) -> String {
        let port = &self.ports.loads[load];
        let whole = value.bits() == port_bits(value);
        let bits = if whole { String::new() } else { format!("[{}:0]", value.bits() - 1) };
        if value.is_signed() { format!("$signed({port}{bits})") } else { format!("{port}{bits}") }
    }
}

fn cast(text: &str, from: Type, to: Type) -> String {
    let (from_bits, to_bits) = (from.bits(), to.bits());
    let sized = if to_bits == from_bits { text.to_owned() } else { format!("{to_bits}'({text})") };
    match (from.is_signed(), to.is_signed()) {
        (false, true) => format!("$signed({sized})"),
        (true, false) => format!("$unsigned({sized})"),
        _ => sized,
    }
}

fn binary_with_constant(operator: Binary, left: &str, operands: Type, number: i64) -> String {
    match operator {
        Binary::ShiftLeft => format!("{left} << {number}"),
        Binary::ShiftRight if operands.is_signed() => format!("{left} >>> {number}"),
        Binary::ShiftRight => format!("{left} >> {number}"),
        Binary::And | Binary::Or | Binary::Xor => format!("{left} {} {}", operator.symbol(), mask(number, operands)),
        _ => binary(operator, left, &literal(number, operands), operands),
    }
}

fn binary(operator: Binary, left: &str, right: &str, operands: Type) -> String {
    let zero = literal(0, operands);
    match operator {
        Binary::Minimum => format!("{left} < {right} ? {left} : {right}"),
        Binary::Maximum => format!("{left} < {right} ? {right} : {left}"),
        Binary::AbsoluteDifference => {
            let distance = format!("{left} < {right} ? {right} - {left} : {left} - {right}");
            if operands.is_signed() { format!("$unsigned({distance})") } else { distance }
        }
        // A negative amount shifts the other way: by ~amount, which is one less than -amount, and by one.
        Binary::ShiftLeft if operands.is_signed() => {
            format!("{right} < {zero} ? ({left} >>> $unsigned(~{right})) >>> 1 : {left} << $unsigned({right})")
        }
        Binary::ShiftRight if operands.is_signed() => {
            format!("{right} < {zero} ? ({left} << $unsigned(~{right})) << 1 : {left} >>> $unsigned({right})")
        }
        _ => format!("{left} {} {right}", operator.symbol()),
    }
}
