//! A pipeline as text: its Funcs as they were written, with the names that the user gave them.
//!
//! Messages point into this text, as there is no other that has the places: a serialized pipeline is no text. Printing notes where
//! each expression, definition and parameter is.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_nest::{Binary, Span};

use crate::syntax::{Called, Definition, Execution, Expression, Func, Kind, Level, Pipeline};

/// The names of Funcs, images and constants as the user gave them: without what makes them unique, where they still are.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, String>);

/// The name without the numbers that make it unique; that of a wrapper by `in_` is the name of the Func with `_in`.
pub(crate) fn stem(name: &str) -> String {
    let mut parts = name.split('$');
    let first = parts.next().unwrap_or(name);
    let rest = parts.map(|part| part.trim_start_matches(|character: char| character.is_ascii_digit()));
    let whole: String = [first].into_iter().chain(rest).collect();
    match whole.strip_suffix("_global_wrapper") {
        Some(of) => format!("{}_in", of.strip_suffix("_im").unwrap_or(of)),
        None => whole,
    }
}

impl Names {
    fn new(pipeline: &Pipeline) -> Self {
        let funcs = pipeline.funcs.iter().map(|func| &func.name);
        let others =
            pipeline.parameters.iter().map(|each| &each.name).chain(pipeline.buffers.iter().map(|each| &each.name));
        let all: Vec<&String> = funcs.chain(others).unique().collect();
        let counts = all.iter().map(|name| stem(name)).counts();
        let shown = |name: &str| if counts[&stem(name)] == 1 { stem(name) } else { name.to_owned() };
        Self(all.into_iter().map(|name| (name.clone(), shown(name))).collect())
    }

    /// The name as the user gave it.
    pub fn shown<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// The name of a variable as the user knows it: `r.x` of `r12$x`.
pub(crate) fn variable(name: &str) -> String {
    match name.split_once('$') {
        Some((domain, dimension))
            if !dimension.is_empty() && !dimension.starts_with(|first: char| first.is_ascii_digit()) =>
        {
            format!("{}.{dimension}", domain.trim_end_matches(|character: char| character.is_ascii_digit()))
        }
        Some((name, _)) => name.to_owned(),
        None => name.to_owned(),
    }
}

/// The text of a pipeline, whose parts have their places from then on, and its names.
pub(crate) fn text(pipeline: &mut Pipeline) -> (String, Names) {
    let mut printer = Printer { text: String::new(), names: Names::new(pipeline) };
    for parameter in &mut pipeline.parameters {
        let start = printer.text.len();
        let shown = printer.names.shown(&parameter.name).to_owned();
        let dimensions =
            if parameter.is_buffer { format!(", {} dimensions", parameter.dimensions) } else { String::new() };
        let kind = if parameter.is_buffer { "ImageParam" } else { "Param" };
        printer.line(&format!("{kind} {shown}: {}{dimensions}", parameter.element));
        parameter.span = printer.span(start);
    }
    for buffer in &mut pipeline.buffers {
        let start = printer.text.len();
        let shown = printer.names.shown(&buffer.name).to_owned();
        let extents = buffer.shape.iter().map(|(_, extent)| extent).join(", ");
        printer.line(&format!("Buffer {shown}: {}[{extents}]", buffer.element));
        buffer.span = printer.span(start);
    }
    for func in &mut pipeline.funcs {
        printer.func(func);
    }
    (printer.text, printer.names)
}

struct Printer {
    text: String,
    names: Names,
}

impl Printer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// From here to the end of the line before.
    fn span(&self, start: usize) -> Span {
        Span { start, end: self.text.trim_end().len().max(start) }
    }

    fn func(&mut self, func: &mut Func) {
        let start = self.text.len();
        let name = self.names.shown(&func.name).to_owned();
        if let Some(definition) = &mut func.definition {
            self.definition(&name, definition);
        } else {
            self.line(&format!("{name}: extern {}", func.extern_name));
        }
        func.span = self.span(start);
        for update in &mut func.updates {
            self.definition(&name, update);
        }
        let level = |level: &Level, names: &Names| match level {
            Level::Inlined => None,
            Level::Root => Some("root()".to_owned()),
            Level::At { func, variable: at } => Some(format!("at({}, {})", names.shown(func), variable(at))),
        };
        let store = level(&func.schedule.store, &self.names).filter(|_| func.schedule.store != func.schedule.compute);
        if let Some(compute) = level(&func.schedule.compute, &self.names) {
            let store = store.map_or(String::new(), |store| format!(".store_{store}"));
            self.line(&format!("{name}{store}.compute_{compute}"));
        }
    }

    fn definition(&mut self, name: &str, definition: &mut Definition) {
        let start = self.text.len();
        self.text.push_str(name);
        self.list("(", &mut definition.arguments, ")");
        self.text.push_str(" = ");
        match &mut definition.values[..] {
            [value] => self.expression(value),
            values => self.list("Tuple(", values, ")"),
        }
        for (place, reduction) in definition.domain.iter_mut().enumerate() {
            self.text.push_str(if place == 0 { " over " } else { ", " });
            self.text.push_str(&format!("{} from ", variable(&reduction.name)));
            self.expression(&mut reduction.least);
            self.text.push_str(" for ");
            self.expression(&mut reduction.extent);
        }
        if let Some(predicate) = definition.predicate.as_mut().filter(|predicate| predicate.number() != Some(1)) {
            self.text.push_str(" where ");
            self.expression(predicate);
        }
        let unrolled = definition.loops.iter().filter(|each| each.execution == Execution::Unrolled);
        let unrolled = unrolled.map(|each| format!(" [unroll {}]", variable(&each.name))).join("");
        self.line(&unrolled);
        definition.span = self.span(start);
    }

    fn list(&mut self, open: &str, list: &mut [Expression], close: &str) {
        self.text.push_str(open);
        for (place, each) in list.iter_mut().enumerate() {
            if place > 0 {
                self.text.push_str(", ");
            }
            self.expression(each);
        }
        self.text.push_str(close);
    }

    /// An operand, in parentheses if it is an operator.
    fn operand(&mut self, expression: &mut Expression) {
        match &expression.kind {
            Kind::Binary(operator, ..) if operator.precedence().is_some() => {
                self.text.push('(');
                self.expression(expression);
                self.text.push(')');
            }
            _ => self.expression(expression),
        }
    }

    fn expression(&mut self, expression: &mut Expression) {
        let start = self.text.len();
        match &mut expression.kind {
            Kind::Integer(number, _) => self.text.push_str(&number.to_string()),
            // In single precision, as most are written, there are fewer digits.
            Kind::Real(number, _) if f64::from(*number as f32) == *number => {
                self.text.push_str(&format!("{}f", *number as f32));
            }
            Kind::Real(number, _) => self.text.push_str(&format!("{number}f")),
            Kind::Text(text) => self.text.push_str(&format!("{text:?}")),
            Kind::Cast(to, of) | Kind::Reinterpret(to, of) => {
                self.list(&format!("{to}("), std::slice::from_mut(of), ")");
            }
            Kind::Binary(operator, operands) if operator.precedence().is_some() => {
                self.operand(&mut operands[0]);
                self.text.push_str(&format!(" {} ", symbol(*operator)));
                self.operand(&mut operands[1]);
            }
            Kind::Binary(operator, operands) => self.list(&format!("{}(", operator.symbol()), &mut operands[..], ")"),
            Kind::Not(of) => {
                self.text.push('!');
                self.operand(of);
            }
            Kind::Select(parts) => self.list("select(", &mut parts[..], ")"),
            Kind::Let(name, parts) => {
                let [value, body] = &mut **parts;
                self.text.push_str(&format!("(let {name} = "));
                self.expression(value);
                self.text.push_str(" in ");
                self.expression(body);
                self.text.push(')');
            }
            Kind::Call(call) => {
                self.text.push_str(self.names.shown(&call.name));
                self.list("(", &mut call.arguments, ")");
                if call.called == Called::Func && call.value > 0 {
                    self.text.push_str(&format!("[{}]", call.value));
                }
            }
            Kind::Variable(name) => self.text.push_str(&variable(name)),
            Kind::Other(what) => self.text.push_str(&format!("({what})")),
        }
        expression.span = Span { start, end: self.text.len() };
    }
}

/// How Halide writes an operator.
fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::And => "&&",
        Binary::Or => "||",
        other => other.symbol(),
    }
}
