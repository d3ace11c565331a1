//! The tables of a pipeline, by the numbers of their fields (`halide_ir.fbs` of Halide, serialization 18.0).
//!
//! Fields have the numbers of their order in the schema; one that is of several kinds has two numbers, of which the first is for the kind.

use std::fmt::Display;

use pushmem_float::Format;
use pushmem_nest::Binary;

use crate::flat::{Bytes, Malformed, Result, Table};
use crate::floats::Floats;
use crate::print::stem;
use crate::syntax::{
    Bound, Call, Called, Constants, Constraint, Definition, Dimension, Element, Execution, Expression, Func,
    FuncSchedule, Kind, Level, Parameter, Pipeline, Reduction, Split, SplitKind, TypeCode,
};

/// The major version of the schema that is read. It tells a pipeline, too: not all versions of Halide write the identifier of the format.
const VERSION: &str = "18.";

/// The deepest expression that is read, so that no walk over one exhausts the stack.
const DEEPEST: usize = 600;

/// Reads a pipeline whose numbers with a fraction are those that are given. The exact ones are of bfloat16, or of float16, if the pipeline
/// has these and no others.
pub(crate) fn pipeline(bytes: &[u8], floats: Floats) -> Result<Pipeline> {
    if let Floats::Narrowed(format) = floats {
        return Ok(of_format(bytes, format)?.0);
    }
    let (pipeline, seen) = of_format(bytes, Format::Bfloat16)?;
    Ok(if seen == [Format::Float16] { of_format(bytes, Format::Float16)?.0 } else { pipeline })
}

/// A pipeline whose numbers are of this format in hardware, and the formats that are there.
fn of_format(bytes: &[u8], format: Format) -> Result<(Pipeline, Vec<Format>)> {
    let file = Bytes::new(bytes, format);
    let root = file.root()?;
    let version = root.text(9)?;
    if !version.starts_with(VERSION) {
        return Err(root.malformed(format!("it is of version {version:?} of the format, and {VERSION}x is read")));
    }
    let list = root.tables(0)?;
    let mut parameters: Vec<Parameter> = root.tables(5)?.iter().map(parameter).collect::<Result<_>>()?;
    for table in root.tables(6)? {
        parameters.push(external(&table, 0)?);
    }
    let pipeline = Pipeline {
        format,
        funcs: list.iter().map(func).collect::<Result<_>>()?,
        outputs: root.texts(1)?,
        names: root.texts(4)?,
        parameters,
        buffers: root.tables(7)?.iter().map(constants).collect::<Result<_>>()?,
    };
    Ok((pipeline, file.formats()))
}

fn func(table: &Table) -> Result<Func> {
    let name = table.text(0)?;
    func_of(table, &name)
        .map_err(|Malformed { at, what }| Malformed { at, what: format!("in the Func `{}`, {what}", stem(&name)) })
}

fn func_of(table: &Table, name: &str) -> Result<Func> {
    Ok(Func {
        name: name.to_owned(),
        types: table.tables(2)?.iter().map(element).collect::<Result<_>>()?,
        arguments: table.texts(5)?,
        schedule: func_schedule(&table.needed(6, "the schedule of a Func")?)?,
        definition: table.table(7)?.map(|table| definition(&table)).transpose()?,
        updates: table.tables(8)?.iter().map(definition).collect::<Result<_>>()?,
        buffers: table.texts(10)?,
        extern_name: table.text(12)?,
        span: Default::default(),
    })
}

fn definition(table: &Table) -> Result<Definition> {
    let schedule = table.needed(7, "the schedule of a definition")?;
    let domain = schedule.tables(0)?;
    let splits = schedule.tables(1)?;
    let loops = schedule.tables(2)?;
    Ok(Definition {
        predicate: expression_of(table, 2, 0)?,
        values: expressions(table, 4, 0)?,
        arguments: expressions(table, 6, 0)?,
        domain: domain.iter().map(reduction).collect::<Result<_>>()?,
        splits: splits.iter().map(split).collect::<Result<_>>()?,
        loops: loops.iter().map(dimension).collect::<Result<_>>()?,
        specializations: table.tables(8)?.len(),
        span: Default::default(),
    })
}

fn reduction(table: &Table) -> Result<Reduction> {
    Ok(Reduction { name: table.text(0)?, least: needed(table, 2, 0)?, extent: needed(table, 4, 0)? })
}

fn split(table: &Table) -> Result<Split> {
    let kinds = [SplitKind::Split, SplitKind::Rename, SplitKind::Fuse, SplitKind::Purify];
    Ok(Split {
        kind: kind(table, 7, "a kind of split", &kinds)?,
        old: table.text(0)?,
        outer: table.text(1)?,
        inner: table.text(2)?,
        factor: expression_of(table, 4, 0)?,
    })
}

fn dimension(table: &Table) -> Result<Dimension> {
    use Execution::{Elsewhere, Parallel, Serial, Unrolled, Vectorized};
    let kinds = [Serial, Parallel, Vectorized, Unrolled, Elsewhere, Elsewhere, Elsewhere, Elsewhere];
    let execution = kind(table, 1, "a kind of loop", &kinds)?;
    Ok(Dimension { name: table.text(0)?, execution })
}

fn func_schedule(table: &Table) -> Result<FuncSchedule> {
    let ignored = [(8, "memoize"), (9, "async")];
    let mut found = Vec::new();
    for (field, name) in ignored {
        if table.flag(field)? {
            found.push(name);
        }
    }
    let wrapper = |table: &Table| Ok((table.text(0)?, usize::try_from(table.i32(1)?).unwrap_or(usize::MAX)));
    Ok(FuncSchedule {
        store: level(&table.needed(0, "the store level of a Func")?)?,
        compute: level(&table.needed(1, "the compute level of a Func")?)?,
        bounds: table.tables(4)?.iter().map(bound).collect::<Result<_>>()?,
        estimates: table.tables(5)?.iter().map(bound).collect::<Result<_>>()?,
        wrappers: table.tables(6)?.iter().map(wrapper).collect::<Result<_>>()?,
        ignored: found,
    })
}

/// A loop level. Its variable has a name of Halide's own where it is that of no loop.
fn level(table: &Table) -> Result<Level> {
    let (func, variable) = (table.text(0)?, table.text(2)?);
    Ok(match (func.as_str(), variable.as_str()) {
        ("", "__root") => Level::Root,
        ("", _) => Level::Inlined,
        _ => Level::At { func, variable },
    })
}

fn bound(table: &Table) -> Result<Bound> {
    Ok(Bound { variable: table.text(0)?, least: expression_of(table, 2, 0)?, extent: expression_of(table, 4, 0)? })
}

fn parameter(table: &Table) -> Result<Parameter> {
    let constraint = |table: &Table| {
        Ok(Constraint {
            least: expression_of(table, 1, 0)?,
            extent: expression_of(table, 3, 0)?,
            least_estimate: expression_of(table, 7, 0)?,
            extent_estimate: expression_of(table, 9, 0)?,
        })
    };
    let own = external(table, 1)?;
    Ok(Parameter { constraints: table.tables(6)?.iter().map(constraint).collect::<Result<_>>()?, ..own })
}

/// A parameter that the user made, whose fields begin with this one. The file does not have the bounds of its dimensions.
fn external(table: &Table, first: usize) -> Result<Parameter> {
    Ok(Parameter {
        is_buffer: table.flag(first)?,
        element: element(&table.needed(first + 1, "the type of a parameter")?)?,
        dimensions: usize::try_from(table.i32(first + 2)?)
            .map_err(|_| table.malformed("a parameter has fewer than 0 dimensions"))?,
        name: table.text(first + 3)?,
        constraints: Vec::new(),
        span: Default::default(),
    })
}

fn element(table: &Table) -> Result<Element> {
    let codes = [TypeCode::Int, TypeCode::Unsigned, TypeCode::Float, TypeCode::Handle, TypeCode::BFloat];
    let code = kind(table, 0, "a kind of type", &codes)?;
    let format =
        if matches!(code, TypeCode::Float | TypeCode::BFloat) { table.format() } else { Element::INT32.format };
    let element = Element { code, bits: table.byte(1)?, lanes: table.i32(2)?, format };
    element.written().into_iter().for_each(|format| table.note(format));
    Ok(element)
}

fn constants(table: &Table) -> Result<Constants> {
    let element = element(&table.needed(2, "the type of a buffer")?)?;
    let dimensions = table.tables(4)?;
    let mut shape = Vec::new();
    let mut strides = Vec::new();
    for each in &dimensions {
        let (least, extent, stride) = (i64::from(each.i32(0)?), i64::from(each.i32(1)?), i64::from(each.i32(2)?));
        if extent < 1 || stride < 1 {
            return Err(
                each.malformed(format!("a buffer has {extent} elements along a dimension, at distances of {stride}"))
            );
        }
        shape.push((least, extent));
        strides.push(stride);
    }
    let entries = entries(table, element, &shape, &strides)?;
    Ok(Constants { name: table.text(1)?, element, shape, entries, span: Default::default() })
}

/// The entries of a buffer, innermost dimension first.
fn entries(table: &Table, element: Element, shape: &[(i64, i64)], strides: &[i64]) -> Result<Vec<i64>> {
    let data = table.byte_list(5)?;
    let size = usize::from(element.bits).div_ceil(8).max(1);
    let count = shape.iter().try_fold(1_i64, |count, (_, extent)| count.checked_mul(*extent));
    let count = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= data.len() / size);
    let count = count.ok_or_else(|| table.malformed("a buffer has fewer bytes than elements"))?;
    let signed = element.code == TypeCode::Int;
    let value = |number: usize| {
        let mut rest = number as i64;
        let mut place = 0_i64;
        for (&(_, extent), stride) in shape.iter().zip(strides) {
            place = place.checked_add((rest % extent).checked_mul(*stride)?)?;
            rest /= extent;
        }
        let first = usize::try_from(place).ok()?.checked_mul(size)?;
        let bytes = data.get(first..first.checked_add(size)?)?;
        let mut wide = [if signed && bytes.last()? >> 7 == 1 { 0xff } else { 0 }; 8];
        wide.get_mut(..size)?.copy_from_slice(bytes);
        Some(i64::from_le_bytes(wide))
    };
    let entries: Option<Vec<i64>> = (0..count).map(value).collect();
    let entries = entries.ok_or_else(|| table.malformed("an entry lies beyond the bytes of the buffer"))?;
    if matches!(element.code, TypeCode::Int | TypeCode::Unsigned) {
        entries.iter().try_for_each(|&entry| within(table, entry, element, element.holds(entry)))?;
    }
    Ok(entries)
}

fn unknown(table: &Table, what: &str, number: u8) -> Malformed {
    table.malformed(format!("number {number} is not known for {what}"))
}

/// The kind that a field numbers, of these in the order of the schema.
fn kind<T: Copy>(table: &Table, field: usize, what: &str, kinds: &[T]) -> Result<T> {
    let number = table.byte(field)?;
    kinds.get(usize::from(number)).copied().ok_or_else(|| unknown(table, what, number))
}

/// The expression of a field, if the table has it.
fn expression_of(table: &Table, field: usize, depth: usize) -> Result<Option<Expression>> {
    match table.union(field)? {
        // An expression that is not defined.
        Some((32, _)) | None => Ok(None),
        Some((kind, of)) => expression(kind, &of, depth).map(Some),
    }
}

fn needed(table: &Table, field: usize, depth: usize) -> Result<Expression> {
    expression_of(table, field, depth)?.ok_or_else(|| table.malformed("an operand is missing"))
}

fn boxed(table: &Table, field: usize, depth: usize) -> Result<Box<Expression>> {
    needed(table, field, depth).map(Box::new)
}

fn expressions(table: &Table, field: usize, depth: usize) -> Result<Vec<Expression>> {
    table.unions(field)?.into_iter().map(|(kind, of)| expression(kind, &of, depth)).collect()
}

/// An expression of this kind: the kinds are numbered from 1 on, in the order of the schema.
fn expression(kind: u8, table: &Table, depth: usize) -> Result<Expression> {
    let inner = depth + 1;
    if inner > DEEPEST {
        return Err(table.malformed(format!("an expression is deeper than {DEEPEST} operations")));
    }
    let type_of = |field| element(&table.needed(field, "the type of an expression")?);
    let kind = match kind {
        1 | 2 => {
            let (number, element) = (table.i64(0)?, type_of(1)?);
            within(table, number, element, element.holds(number))?;
            Kind::Integer(number, element)
        }
        3 => {
            let (number, element) = (table.f64(0)?, type_of(1)?);
            within(table, number, element, element.holds_number(number))?;
            Kind::Real(number, element)
        }
        4 => Kind::Text(table.text(0)?),
        5 => Kind::Cast(type_of(2)?, boxed(table, 1, inner)?),
        6 => Kind::Reinterpret(type_of(2)?, boxed(table, 1, inner)?),
        7..=21 => {
            let operands = Box::new([needed(table, 1, inner)?, needed(table, 3, inner)?]);
            Kind::Binary(OPERATORS[usize::from(kind) - 7], operands)
        }
        22 => Kind::Not(boxed(table, 1, inner)?),
        23 => Kind::Select(Box::new([needed(table, 1, inner)?, needed(table, 3, inner)?, needed(table, 5, inner)?])),
        24 => Kind::Other("a load of memory"),
        25 => Kind::Other("a ramp of a vector"),
        26 => Kind::Other("a broadcast to a vector"),
        27 => Kind::Let(table.text(0)?, Box::new([needed(table, 2, inner)?, needed(table, 4, inner)?])),
        28 => Kind::Call(call(table, inner)?),
        29 => Kind::Variable(table.text(0)?),
        30 => Kind::Other("a shuffle of vectors"),
        31 => Kind::Other("a reduction of a vector"),
        other => return Err(unknown(table, "a kind of expression", other)),
    };
    Ok(Expression::new(kind))
}

/// Refuses a constant that its type does not hold: Halide writes none.
fn within(table: &Table, constant: impl Display, element: Element, is_held: bool) -> Result<()> {
    match is_held {
        true => Ok(()),
        false => Err(table.malformed(format!("the constant {constant} is beyond its type, {element}"))),
    }
}

/// The operators of two operands, in the order of the schema.
const OPERATORS: [Binary; 15] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Modulo,
    Binary::Minimum,
    Binary::Maximum,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::And,
    Binary::Or,
];

fn call(table: &Table, depth: usize) -> Result<Call> {
    use Called::{Extern, Func, Image, Intrinsic};
    let called = kind(table, 3, "a kind of call", &[Image, Extern, Extern, Extern, Func, Intrinsic, Intrinsic])?;
    Ok(Call {
        name: table.text(0)?,
        arguments: expressions(table, 2, depth)?,
        called,
        value: usize::try_from(table.i32(5)?).map_err(|_| table.malformed("a value of a tuple before the first"))?,
        element: element(&table.needed(8, "the type of a call")?)?,
    })
}
