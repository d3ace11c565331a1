//! Datapaths of other operators, and the graph that they are made of.

use pushmem_datapaths::{DedicatedOperators, Delay, Evaluator, Operator, Operators, TableMemories};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::Type;

use crate::common::read;
use crate::expressions::program;

/// Processing elements of words: additions only, one a stage, and a multiplier that costs as much as an adder.
#[derive(Debug)]
struct Elements;

impl Operators for Elements {
    fn name(&self) -> &str {
        "the array"
    }

    fn word_bits(&self) -> u32 {
        16
    }

    fn units_per_stage(&self) -> u32 {
        1
    }

    fn of_recurrences(&self) -> &dyn Operators {
        self
    }

    fn adders_per_multiplier(&self) -> usize {
        0
    }

    fn shifts_are_wires(&self) -> bool {
        false
    }

    fn divides_by_products(&self) -> bool {
        false
    }

    fn computes(&self, operator: &Operator) -> bool {
        !operator.kind.is_division()
    }

    fn delay(&self, operator: &Operator) -> Delay {
        Delay::Units(operator.kind.operands().next().is_some().into())
    }

    /// Words wait in two registers, truth values in none.
    fn operand_latency(&self, operand: Type) -> u64 {
        if operand == Type::Bool { 0 } else { 2 }
    }

    fn processing_elements(&self, operator: &Operator) -> u64 {
        operator.kind.operands().next().is_some().into()
    }
}

#[test]
fn operators_decide_on_stages_and_cost() {
    let program = read(&program("5 * a[x, y] + a[0, y] + 1", Type::U16));
    let operation = program.operations()[0].1;
    let elements = DatapathGraph::of(&program, operation).pipelined(&Elements, TableMemories::NONE).unwrap();
    // The product and a sum at the same time, then their sum.
    assert_eq!((elements.latency(), elements.processing_elements(), elements.multipliers()), (2, 3, 1));
    let dedicated = DatapathGraph::of(&program, operation)
        .pipelined(&DedicatedOperators::LONG_STAGES, TableMemories::NONE)
        .unwrap();
    assert_eq!((dedicated.latency(), dedicated.multipliers()), (1, 0));
    assert_eq!([&elements, &dedicated].map(|datapath| datapath.operand_latency(0)), [2, 0]);
    let [mut elements, mut dedicated] = [&elements, &dedicated].map(|datapath| Evaluator::new(datapath, &[]));
    for (a, b) in [(0, 0), (7, 65535), (65535, 1)] {
        assert_eq!(elements.evaluate(&[a, b], &[0]), dedicated.evaluate(&[a, b], &[0]));
    }
}

/// Four terms of each of two factors: three additions and a product each, and the sum, without a shift of each term.
#[test]
fn shifts_that_are_operators_are_few() {
    let sum = |factor: i64, first: i64| {
        (first..first + 4).map(|x| format!("{factor} * a[{x}, y]")).collect::<Vec<_>>().join(" + ")
    };
    for factor in [8, 14] {
        let program = read(&program(&format!("{} + {}", sum(7, 0), sum(factor, 4)), Type::U16));
        let operation = program.operations()[0].1;
        let elements = DatapathGraph::of(&program, operation).pipelined(&Elements, TableMemories::NONE).unwrap();
        assert_eq!(elements.processing_elements(), 9, "{factor}");
    }
}

#[test]
fn an_operator_that_a_technology_does_not_compute_is_named() {
    let program = read(&program("a[x, y] / (a[0, y] + 1)", Type::U16));
    let refused = DatapathGraph::of(&program, program.operations()[0].1).pipelined(&Elements, TableMemories::NONE);
    assert_eq!(refused.unwrap_err().to_string(), "the array has no operator `divide` of u16");
}

#[test]
fn the_graph_of_an_operation_is_text_without_stages() {
    let program = read(&program("5 * a[x, y] + (a[x, y] & 15)", Type::U16));
    let text = DatapathGraph::of(&program, program.operations()[0].1).to_string();
    let expected = "  %0 u16 = 5
  %1 u16 = load a[x, y]
  %2 u16 = multiply %1 %0
  %3 u16 = 15
  %4 u16 0..=15 = and %1 %3
  %5 u16 = add %2 %4
  o[x, y] = %5
";
    assert_eq!(text, expected);
}
