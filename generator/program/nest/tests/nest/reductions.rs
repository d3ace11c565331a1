//! Assignments that are reductions.

use pushmem_files::Document;
use pushmem_nest::{Binary, Program};

/// A program in which `statement` is in a loop over 16 elements `a[x]`, after `best[0] = 3`, with more statements in the loop.
fn program(statement: &str, unroll: &str, more: &str) -> Program {
    let text = format!(
        "name: reduced
inputs: {{a: {{type: i16, shape: [16]}}}}
outputs: {{output: {{type: i16, shape: [1]}}, all: {{type: i16, shape: [16]}}}}
buffers: {{best: {{type: i16, shape: [2]}}}}
nest:
  - best[0] = 3
  - best[1] = 4
  - for x in 0..16{unroll}:
    - {statement}
{more}  - output[0] = best[0]
  - for x in 0..16:
    - all[x] = a[x]
"
    );
    Program::from_document(&Document::parse("reduced.yaml", &text).unwrap()).unwrap().program
}

/// The operator of the third statement, and the statement as it is printed.
fn reduction(program: &Program) -> (Option<Binary>, String) {
    let operation = program.operations()[2].1;
    let line = program.to_string().lines().find(|line| line.starts_with("    - ")).unwrap()[6..].to_owned();
    (operation.reduction, line)
}

#[test]
fn chains_of_operators_that_take_operands_in_any_order_are_reductions() {
    for (statement, operator, printed) in [
        ("best[0] += a[x]", Binary::Add, "best[0] += a[x]"),
        ("best[0] = best[0] + a[x]", Binary::Add, "best[0] += a[x]"),
        ("best[0] = a[x] + (2 + best[0])", Binary::Add, "best[0] += a[x] + 2"),
        ("best[0] = max(best[0], a[x])", Binary::Maximum, "best[0] = max(best[0], a[x])"),
        ("best[0] = min(a[x], min(best[0], 7))", Binary::Minimum, "best[0] = min(best[0], min(a[x], 7))"),
        ("best[0] = a[x] * best[0]", Binary::Multiply, "best[0] = best[0] * a[x]"),
        ("best[0] = best[0] & (a[x] | 1)", Binary::And, "best[0] = best[0] & (a[x] | 1)"),
        ("best[0] = best[0] | a[x] & 1", Binary::Or, "best[0] = best[0] | a[x] & 1"),
        ("best[0] = best[0] ^ (a[x] ^ 5)", Binary::Xor, "best[0] = best[0] ^ (a[x] ^ 5)"),
    ] {
        let found = program(statement, "", "");
        assert_eq!(reduction(&found), (Some(operator), printed.to_owned()), "{statement}");
        let again = Program::from_document(&Document::parse("again.yaml", found.to_string()).unwrap()).unwrap();
        assert_eq!(reduction(&again.program), reduction(&found), "{statement}");
    }
}

#[test]
fn other_updates_are_assignments() {
    for statement in [
        "best[0] = best[0] - a[x]",
        "best[0] = best[0] + a[x] * best[0]",
        "best[0] = best[0] + best[0]",
        "best[0] = best[0] + best[1]",
        "best[0] = best[1] + a[x]",
        "best[0] = best[0] >> 1",
        "best[0] = sel(a[x] > 3, best[0], a[x])",
        "best[0] = (best[0] as i32 + a[x] as i32) as i16",
    ] {
        let found = program(statement, "", "");
        assert_eq!(reduction(&found), (None, statement.to_owned()));
    }
}

/// Its copies are one sum, which a statement between them would not see.
#[test]
fn an_update_that_is_seen_between_its_copies_is_an_assignment() {
    let statement = "best[0] = max(best[0], a[x])";
    let seen = "    - best[1] = best[0]\n";
    assert_eq!(reduction(&program(statement, "", seen)).0, Some(Binary::Maximum));
    assert_eq!(reduction(&program(statement, " unroll 4", "")).0, Some(Binary::Maximum));
    assert_eq!(reduction(&program(statement, " unroll 4", seen)).0, None);
}

/// The identity leaves each number as it is, and operands change places.
#[test]
fn operators_of_reductions_take_operands_in_any_order() {
    use pushmem_nest::Type;
    let operators =
        [Binary::Add, Binary::Multiply, Binary::And, Binary::Or, Binary::Xor, Binary::Minimum, Binary::Maximum];
    for value in [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32] {
        let numbers = [value.min(), value.min() + 1, 0, 1, 77, value.max() - 1, value.max()];
        for operator in operators {
            let identity = operator.identity(value).unwrap();
            for one in numbers {
                assert_eq!(operator.apply(value, identity, one), one, "{operator:?} of {value:?}");
                for other in numbers {
                    assert_eq!(operator.apply(value, one, other), operator.apply(value, other, one));
                    for third in numbers {
                        let left = operator.apply(value, operator.apply(value, one, other), third);
                        let right = operator.apply(value, one, operator.apply(value, other, third));
                        assert_eq!(left, right, "{operator:?} of {value:?}");
                    }
                }
            }
        }
    }
    assert_eq!(Binary::Subtract.identity(Type::U8), None);
}
