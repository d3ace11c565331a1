//! Programs as text: YAML that reads back as the same program.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

use itertools::Itertools;

use crate::expression::{Expression, ExpressionKind, Part};
use crate::index::{AffineIndex, Index, Piece};
use crate::named_values::{named_values, statement_in_yaml, value_names};
use crate::operators::{Binary, Unary};
use crate::program::{Access, ArrayKind, Loop, Node, Operation, Program};
use crate::types::Type;

/// Entries of a table on one line.
const ENTRIES_PER_LINE: usize = 16;

impl Display for Program {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "name: {}", self.name)?;
        if let Some(schedule) = self.schedule {
            writeln!(formatter, "schedule: {}", schedule.name())?;
        }
        for kind in [ArrayKind::Input, ArrayKind::Output, ArrayKind::Buffer] {
            let arrays = self.arrays_of(kind).collect_vec();
            if !arrays.is_empty() {
                writeln!(formatter, "{}s:", kind.name())?;
            }
            for array in arrays {
                let shape = array.shape.iter().join(", ");
                write!(formatter, "  {}: {{type: {}, shape: [{shape}]", array.name, array.element.name())?;
                if array.min.iter().any(|min| *min != 0) {
                    write!(formatter, ", min: [{}]", array.min.iter().join(", "))?;
                }
                if let Some(level) = array.level {
                    write!(formatter, ", level: {}", level.name())?;
                }
                writeln!(formatter, "}}")?;
            }
        }
        // The others come with the functions.
        let declared = self.tables.iter().filter(|table| table.function.is_none());
        if declared.clone().next().is_some() {
            writeln!(formatter, "tables:")?;
        }
        for table in declared {
            writeln!(formatter, "  {}:", table.name)?;
            writeln!(formatter, "    type: {}", table.element.name())?;
            let lines = table
                .values
                .chunks(ENTRIES_PER_LINE)
                .map(|line| line.iter().map(|entry| table.element.text(*entry)).join(", "));
            writeln!(formatter, "    values: [{}]", { lines }.join(",\n      "))?;
        }
        writeln!(formatter, "nest:")?;
        nodes(self, &self.nest, &mut Vec::new(), formatter)
    }
}

fn nodes<'a>(
    program: &'a Program,
    nodes_here: &'a [Node],
    loops: &mut Vec<&'a Loop>,
    formatter: &mut Formatter<'_>,
) -> fmt::Result {
    let indent = 2 + 2 * loops.len();
    for node in nodes_here {
        write!(formatter, "{:indent$}", "")?;
        match node {
            Node::Operation(operation) => {
                let (statement, values) = Printer { program, loops, operation }.statement_and_values();
                let share = operation.unit();
                writeln!(formatter, "{}", statement_in_yaml(&statement, share, &values, indent))?;
            }
            Node::Loop(each) => {
                write!(formatter, "- for {} in {}..{}", each.variable, each.min, each.min + each.extent)?;
                if each.unroll > 1 {
                    write!(formatter, " unroll {}", each.unroll)?;
                }
                writeln!(formatter, ":")?;
                loops.push(each);
                nodes(program, &each.body, loops, formatter)?;
                loops.pop();
            }
        }
    }
    Ok(())
}

/// Prints parts of an operation.
#[derive(Clone, Copy)]
pub struct Printer<'a> {
    /// The program.
    pub program: &'a Program,
    /// The loops around the operation, outermost first.
    pub loops: &'a [&'a Loop],
    /// The operation.
    pub operation: &'a Operation,
}

/// How tightly operators bind. The operators of two operands are numbered by [`Binary::precedence`].
mod precedence {
    pub const LOWEST: u8 = 0;
    pub const LOGICAL_OR: u8 = 1;
    pub const LOGICAL_AND: u8 = 2;
    pub const CAST: u8 = 10;
    pub const UNARY: u8 = 11;
}

impl<'a> Printer<'a> {
    /// The operation as a statement, with the values that it names: `output[x] = a * a where a = …`.
    pub fn statement(&self) -> String {
        let (statement, values) = self.statement_and_values();
        if values.is_empty() {
            return statement;
        }
        format!("{statement} where {}", values.into_iter().map(|(name, value)| format!("{name} = {value}")).join(", "))
    }

    /// The operation as a statement, and the values that it names, each computed with those before it.
    fn statement_and_values(&self) -> (String, Vec<(String, String)>) {
        let writer = self.writer();
        let value =
            |(part, name): &(&Expression, String)| (name.clone(), writer.computation(part, precedence::LOWEST, false));
        let values = writer.values.iter().map(value).collect();
        let Operation { target, expression, reduction, .. } = self.operation;
        let value = |least: u8| writer.computation(expression, least, true);
        let target = writer.access(target);
        let statement = match reduction {
            None => format!("{target} = {}", value(precedence::LOWEST)),
            Some(Binary::Add | Binary::FloatAdd(_)) => format!("{target} += {}", value(precedence::LOWEST)),
            Some(operator) => match operator.precedence() {
                Some(precedence) => format!("{target} = {target} {} {}", operator.symbol(), value(precedence + 1)),
                None => format!("{target} = {}({target}, {})", operator.symbol(), value(precedence::LOWEST)),
            },
        };
        (statement, values)
    }

    /// An access of the operation.
    pub fn access(&self, access: &Access) -> String {
        match access.computed {
            Some(_) => self.writer().access(access),
            None => self.without_names().access(access),
        }
    }

    /// For indices of loop variables, in which no value is.
    fn without_names(&self) -> Writer<'_> {
        Writer { printer: self, values: Vec::new(), names: HashMap::new() }
    }

    fn writer(&self) -> Writer<'_> {
        let values = self.values();
        let names = values.iter().map(|(part, name)| (Part(part), name.clone())).collect();
        Writer { printer: self, values, names }
    }

    /// The parts that have names, each with its name. Those that others compute with come first.
    fn values(&self) -> Vec<(&'a Expression, String)> {
        let computed = self.operation.target.computed.iter().flatten();
        let roots = computed.chain([&self.operation.expression]);
        let named = named_values(roots, Part, |part| self.operands(part), levels_to, 0);
        let arrays = self.program.arrays.iter().map(|array| array.name.as_str());
        let tables = self.program.tables.iter().map(|table| table.name.as_str());
        let loops = self.loops.iter().map(|level| level.variable.as_str());
        named.into_iter().zip(value_names(arrays.chain(tables).chain(loops))).collect()
    }

    /// The values that a part is computed of: operands, and of an element the indices that depend on data.
    fn operands(&self, part: &'a Expression) -> Vec<&'a Expression> {
        match part.kind {
            ExpressionKind::Load(load) => self.operation.loads[load].access.computed.iter().flatten().collect(),
            _ => part.operands(),
        }
    }
}

/// The levels of the parser from a part to an operand: none to the left one of a chain, which has no parentheses.
fn levels_to(part: &Expression, place: usize, operand: &Expression) -> usize {
    match (&part.kind, &operand.kind) {
        (ExpressionKind::Binary { operator: one, .. }, ExpressionKind::Binary { operator: other, .. })
            if place == 0 && one.precedence().is_some() && one.precedence() == other.precedence() =>
        {
            0
        }
        _ => 1,
    }
}

/// Writes an operation in which some values have names.
struct Writer<'a> {
    printer: &'a Printer<'a>,
    values: Vec<(&'a Expression, String)>,
    names: HashMap<Part<'a>, String>,
}

impl Writer<'_> {
    fn access(&self, access: &Access) -> String {
        let indices = match &access.computed {
            Some(indices) => indices.iter().map(|index| self.computed_index(index)).join(", "),
            None => access.indices.iter().map(|index| self.index(index)).join(", "),
        };
        format!("{}[{indices}]", self.printer.program.arrays[access.array].name)
    }

    /// An index that depends on data, without its cast to i32.
    fn computed_index(&self, index: &Expression) -> String {
        let index = match &index.kind {
            ExpressionKind::Cast(operand) if operand.value.is_integer() => operand,
            _ => index,
        };
        self.text(index, precedence::LOWEST, false)
    }

    fn index(&self, index: &Index) -> String {
        let name = |variable: usize| self.printer.loops[variable].variable.as_str();
        let AffineIndex { constant, terms } = &index.affine;
        // Inner variables, which change fastest, come first.
        let variables = terms.iter().rev().map(|&(variable, coefficient)| (coefficient, name(variable).to_owned()));
        let pieces = index.pieces.iter().map(|(coefficient, piece)| (*coefficient, self.piece(piece)));
        let mut text = String::new();
        for (coefficient, what) in variables.chain(pieces) {
            add_sign(coefficient < 0, &mut text);
            match coefficient.abs() {
                1 => text.push_str(&what),
                factor => text.push_str(&format!("{factor}*{what}")),
            }
        }
        if *constant != 0 || text.is_empty() {
            add_sign(*constant < 0, &mut text);
            text.push_str(&constant.abs().to_string());
        }
        text
    }

    /// A piece, in parentheses where it would otherwise be torn apart by a factor before it.
    fn piece(&self, piece: &Piece) -> String {
        let of = self.index(piece.of());
        let simple = piece.of().affine.terms == [(piece.of().affine.terms.first().map_or(0, |term| term.0), 1)]
            && piece.of().affine.constant == 0
            && piece.of().pieces.is_empty();
        let operand = if simple { of.clone() } else { format!("({of})") };
        match piece {
            Piece::Quotient { by, .. } => format!("({operand}/{by})"),
            Piece::Remainder { by, .. } => format!("({operand}%{by})"),
            Piece::Clamp { low, high, .. } => format!("clamp({of}, {low}, {high})"),
            Piece::Mirror { low, high, .. } => format!("mirror({of}, {low}, {high})"),
        }
    }

    /// The expression, in parentheses if it binds less tightly than `least`. Literals get their type if nothing around them says it.
    fn text(&self, expression: &Expression, least: u8, type_is_known: bool) -> String {
        let name = self.names.get(&Part(expression)).cloned();
        name.unwrap_or_else(|| self.computation(expression, least, type_is_known))
    }

    /// Whether the type of the expression is that of what is around it, if it is written without types.
    fn is_bare(&self, expression: &Expression) -> bool {
        match &expression.kind {
            _ if self.names.contains_key(&Part(expression)) => false,
            ExpressionKind::Constant(_) => expression.value.is_integer() || expression.value == Type::F16,
            ExpressionKind::Select { then, otherwise, .. } => self.is_bare(then) && self.is_bare(otherwise),
            _ => false,
        }
    }

    fn computation(&self, expression: &Expression, least: u8, type_is_known: bool) -> String {
        match &expression.kind {
            ExpressionKind::Constant(number) => constant(*number, expression.value, type_is_known),
            ExpressionKind::Variable(variable) => self.printer.loops[*variable].variable.clone(),
            ExpressionKind::Load(load) => {
                let load = &self.printer.operation.loads[*load];
                let access = self.access(&load.access);
                match load.outside {
                    Some(outside) => format!("outside({access}, {})", constant(outside, expression.value, true)),
                    None => access,
                }
            }
            ExpressionKind::Lookup { table, index } => {
                let table = &self.printer.program.tables[*table].name;
                format!("{table}[{}]", self.text(index, precedence::LOWEST, false))
            }
            ExpressionKind::Unary { operator, operand } => match operator {
                Unary::Absolute | Unary::FloatAbsolute(_) => self.function("abs", &[operand], false),
                Unary::FloatFunction(_, function) => self.function(function.name(), &[operand], false),
                Unary::FloatFromInteger(_) | Unary::FloatToInteger(_) => {
                    unreachable!("expressions have casts")
                }
                Unary::Negate | Unary::Not | Unary::FloatNegate(_) => {
                    let sign = if *operator == Unary::Not { '!' } else { '-' };
                    let text = format!("{sign}{}", self.text(operand, precedence::UNARY, false));
                    in_parentheses(precedence::UNARY < least, text)
                }
            },
            ExpressionKind::Cast(operand) => {
                let operand = self.text(operand, precedence::CAST, false);
                in_parentheses(precedence::CAST < least, format!("{operand} as {}", expression.value.name()))
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                let known = type_is_known || !(self.is_bare(then) && self.is_bare(otherwise));
                let [then, otherwise] = [then, otherwise].map(|arm| self.text(arm, precedence::LOWEST, known));
                format!("sel({}, {then}, {otherwise})", self.text(condition, precedence::LOWEST, false))
            }
            ExpressionKind::Binary { operator, left, right } => self.binary(*operator, [left, right], least),
        }
    }

    fn binary(&self, operator: Binary, operands: [&Expression; 2], least: u8) -> String {
        let [left, right] = operands;
        let known = !(self.is_bare(left) && self.is_bare(right));
        let truth = left.value == Type::Bool;
        let (symbol, precedence) = match operator {
            Binary::And if truth => ("&&", Some(precedence::LOGICAL_AND)),
            Binary::Or if truth => ("||", Some(precedence::LOGICAL_OR)),
            _ => (operator.symbol(), operator.precedence()),
        };
        let Some(precedence) = precedence else { return self.function(symbol, &operands, known) };
        // Comparisons cannot be chained; the others take their like on the left.
        let least_left = if operator.is_comparison() { precedence + 1 } else { precedence };
        let (left, right) = (self.text(left, least_left, known), self.text(right, precedence + 1, known));
        in_parentheses(precedence < least, format!("{left} {symbol} {right}"))
    }

    fn function(&self, name: &str, arguments: &[&Expression], type_is_known: bool) -> String {
        let mut arguments = arguments.iter().map(|argument| self.text(argument, precedence::LOWEST, type_is_known));
        format!("{name}({})", arguments.join(", "))
    }
}

fn constant(number: i64, value: Type, type_is_known: bool) -> String {
    // Without a type around, integers are of i32, and numbers with a fraction of bf16.
    let is_known = type_is_known || matches!(value, Type::I32 | Type::Bf16 | Type::Bool);
    format!("{}{}", value.text(number), if is_known { "" } else { value.name() })
}

fn add_sign(is_negative: bool, text: &mut String) {
    text.push_str(match (text.is_empty(), is_negative) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    });
}

fn in_parentheses(wanted: bool, text: String) -> String {
    if wanted { format!("({text})") } else { text }
}
