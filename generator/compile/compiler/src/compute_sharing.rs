//! Compute sharing: operations that take turns on one compute unit (dissertation §4.3.3, §7.3.1).

use std::collections::BTreeMap;

use pushmem_datapaths::Datapath;
use pushmem_extraction::{Extraction, Origin};
use pushmem_files::Diagnostic;
use pushmem_nest::{Binary, Expression, ExpressionKind, Operation, Program, Share, Span, Unary};

/// By stage, the name of the unit that its operation shares.
pub(crate) fn units(program: &Program, extraction: &Extraction) -> Vec<Option<String>> {
    let operations = program.operations();
    let unit = |origin: &Origin| operations[origin.operation()?].1.unit().map(str::to_owned);
    extraction.origins.iter().map(unit).collect()
}

/// Checks that all operations of a unit have the same datapath, up to the elements that they read, and that it can be
/// shared.
///
/// # Errors
/// A message at the first operation that does not suit, which names the difference from the first of its unit.
pub(crate) fn check(program: &Program, datapaths: &[Datapath]) -> Result<(), Diagnostic> {
    let operations = program.operations();
    let mut first_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, (loops, operation)) in operations.iter().enumerate() {
        let Some(Share { name, span }) = &operation.share else { continue };
        let datapath = &datapaths[number];
        let unfit = match datapath.variables().first() {
            _ if datapath.latency() == 0 => Some("takes no cycle, and needs no unit".to_owned()),
            Some(&variable) => Some(format!("computes with the loop variable `{}`", loops[variable].variable)),
            None if !datapath.fetches().is_empty() => Some("looks up a table that is in a memory".to_owned()),
            None => None,
        };
        if let Some(reason) = unfit {
            return Err(program
                .diagnostic(*span, format!("this statement cannot share `{name}`: it {reason}"))
                .with_help(
                    "a unit is for operations that only compute with the elements they read: leave out `share`",
                ));
        }
        let first = *first_of.entry(name).or_insert(number);
        if datapaths[first] == *datapath {
            continue;
        }
        let other = operations[first].1;
        let [there, here] = difference(other, operation).unwrap_or_else(|| {
            let sum = |of: usize, operation: &Operation| {
                let words = datapaths[of].loads().len();
                (operation.span, format!("computes with {words} words at once"))
            };
            [sum(first, other), sum(number, operation)]
        });
        let line = program.diagnostic(other.span, "").location().map(|(_, line, _)| format!("the one in line {line}"));
        let other = line.unwrap_or_else(|| format!("`{}`", other.name));
        let message = format!("this statement cannot share `{name}` with {other}: it {}", here.1);
        let note = format!("the other statement {}", there.1);
        return Err(program
            .diagnostic(here.0, message)
            .with_help("operations of one unit compute the same, each with other elements")
            .with_related(vec![program.diagnostic(there.0, note).as_note()]));
    }
    Ok(())
}

/// The first difference between two operations, at its place in each; nothing if their statements are alike.
fn difference(one: &Operation, other: &Operation) -> Option<[(Span, String); 2]> {
    if one.reduction != other.reduction {
        let assigns = |operation: &Operation| match operation.reduction {
            Some(Binary::Add | Binary::FloatAdd(_)) => (operation.target.span, "adds to an element".to_owned()),
            Some(operator) => {
                (operation.target.span, format!("joins an element with a value by `{}`", operator.symbol()))
            }
            None => (operation.target.span, "replaces an element".to_owned()),
        };
        return Some([assigns(one), assigns(other)]);
    }
    let (one, other) = one.expression.difference(&other.expression)?;
    let part = |of: &Expression| (of.span, format!("has {} here", describe(of)));
    Some([part(one), part(other)])
}

fn describe(expression: &Expression) -> String {
    let value = expression.value.name();
    match &expression.kind {
        ExpressionKind::Constant(number) => format!("the {value} {}", expression.value.text(*number)),
        ExpressionKind::Variable(_) => "a loop variable".to_owned(),
        ExpressionKind::Load(number) => format!("its {value} operand {number}"),
        ExpressionKind::Lookup { .. } => format!("an entry of a table of {value}"),
        ExpressionKind::Unary { operator: Unary::Negate | Unary::FloatNegate(_), .. } => format!("`-` of {value}"),
        ExpressionKind::Unary { operator: Unary::Not, .. } => format!("`!` of {value}"),
        ExpressionKind::Unary { .. } => format!("`abs` giving {value}"),
        ExpressionKind::Binary { operator, .. } => format!("`{}` giving {value}", operator.symbol()),
        ExpressionKind::Select { .. } => format!("a choice of {value}"),
        ExpressionKind::Cast(_) => format!("a cast to {value}"),
    }
}
