//! What datapaths look like after simplification.

use pushmem_kernels::{Datapath, NodeKind};
use pushmem_nest::{Binary, Type};

use crate::common::read;
use crate::expressions::program;

fn datapath(expression: &str) -> Datapath {
    let program = read(&program(expression, Type::U16));
    Datapath::of(&program, program.operations()[0].1)
}

fn count(datapath: &Datapath, wanted: Binary) -> usize {
    let is_wanted = |kind: &NodeKind| matches!(kind, NodeKind::Binary { operator, .. } if *operator == wanted);
    datapath.nodes().iter().filter(|node| is_wanted(&node.kind)).count()
}

#[test]
fn operations_are_simplified() {
    for (expression, elements, latency) in [
        ("a[x, y] * 0 + 3", 0, 0),
        ("a[x, y] * 1 + 0", 0, 0),
        ("a[x, y] * 8", 0, 0),
        ("a[x, y] * 7", 1, 1),
        ("a[x, y] * 37", 2, 1),
        ("a[x, y] * 85", 1, 1),
        ("0 - a[x, y]", 1, 1),
        ("a[x, y] * 65535", 1, 1),
        ("a[x, y] / 16", 0, 0),
        ("b[x, y] / 16 % 4", 0, 0),
        ("a[x, y] << 20", 0, 0),
        ("a[x, y] >> 3 >> 4", 0, 0),
        ("sel(true, a[x, y], 3)", 0, 0),
        ("min(a[x, y], 65535)", 0, 0),
        ("max(a[x, y], 0)", 0, 0),
        ("c[x, y] as u16 as u8 as i16", 0, 0),
        ("a[x, y] - a[x, y]", 0, 0),
        ("a[x, y] + 5 - 3 - a[x, y]", 0, 0),
        ("3 * a[x, y] + 3 * a[0, y] + 3 * a[1, y]", 3, 1),
        ("7 * a[x, y] + 14 * a[0, y]", 2, 1),
        ("a[x, y] - 77 * a[0, y] - 77 * a[1, y]", 3, 3),
        ("(a[x, y] + a[0, y]) * (a[x, y] + a[0, y])", 2, 2),
        ("(a[x, y] > 3) as u16 + (3 < a[x, y]) as u16", 1, 1),
        ("a[x, y] / 3", 16, 8),
        ("a[x, y] / 3 + a[x, y] % 3", 17, 9),
        ("b[x, y] / 3", 16, 10),
        ("(c[x, y] as i16 / 3) as u16", 16, 8),
        ("x as u16", 0, 0),
    ] {
        let datapath = datapath(expression);
        assert_eq!(
            (datapath.processing_elements(), datapath.latency()),
            (elements, latency),
            "{expression}: {datapath:#?}"
        );
    }
}

#[test]
fn chains_become_trees() {
    let sum = (0..32).map(|number| format!("a[{}, {}]", number % 8, number / 8)).collect::<Vec<_>>();
    let tree = datapath(&sum.join(" + "));
    assert_eq!((tree.latency(), count(&tree, Binary::Add)), (2, 31));
    let least = sum.iter().skip(1).fold(sum[0].clone(), |least, next| format!("min({least}, {next})"));
    assert_eq!((datapath(&least).latency(), count(&datapath(&least), Binary::Minimum)), (3, 31));
}

#[test]
fn sharing_survives() {
    let shared = "(a[0, y] + a[1, y] + a[2, y])";
    let datapath = datapath(&format!("({shared} + a[3, y]) * ({shared} - a[4, y])"));
    assert_eq!(count(&datapath, Binary::Add) + count(&datapath, Binary::Subtract), 4);
}

#[test]
fn registers_are_counted() {
    // Two additions in one stage, then the result.
    assert_eq!(datapath("a[x, y] + a[0, y] + 1").registers(), 16);
    // The comparison is kept instead of its operands.
    let late = datapath("sel(a[x, y] < a[0, y], a[1, y] * a[2, y] + 1, 3)");
    assert_eq!((late.latency(), late.registers()), (2, 16 + 1 + 16));
    assert_eq!(datapath("a[x, y] / 4").registers(), 0);
}
