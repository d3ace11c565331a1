//! Functions of numbers with a fraction: datapaths compute those of the reference, for every number.

use pushmem_datapaths::{DedicatedOperators, Evaluator, TableMemories};
use pushmem_float::{Format, Function};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::Type;

use crate::common::read;
use crate::expressions::program;

#[test]
fn datapaths_compute_functions_of_every_number() {
    let all = Format::ALL.into_iter().flat_map(|format| Function::ALL.map(|function| (format, function)));
    for (format, function) in all.filter(|(format, function)| function.is_of(*format)) {
        let array = if format == Format::Bfloat16 { "g" } else { "h" };
        let program = read(&program(&format!("{}({array}[x, y])", function.name()), Type::of_format(format)));
        let operation = program.operations()[0].1;
        for memories in [TableMemories::NONE, TableMemories { logic_words: 0, latency: 2 }] {
            let datapath =
                DatapathGraph::of(&program, operation).pipelined(&DedicatedOperators::LONG_STAGES, memories).unwrap();
            let mut evaluator = Evaluator::new(&datapath, &program.tables);
            for number in 0..=u16::MAX {
                let (found, expected) = (evaluator.evaluate(&[number.into()], &[0, 0]), function.apply(format, number));
                assert_eq!(found, i64::from(expected), "{} of {format} {number:#x}", function.name());
            }
        }
    }
}

#[test]
fn a_program_has_a_table_for_each_of_its_functions() {
    let program = read(&program("sqrt(exp(g[x, y]) + exp(g[0, y])) * sqrt(2)", Type::Bf16));
    let own = program.tables.iter().filter_map(|table| table.function);
    assert_eq!(
        own.collect::<Vec<_>>(),
        [Function::SquareRoot, Function::Exponential].map(|own| (Format::Bfloat16, own))
    );
    // They are not declared.
    let text = program.to_string();
    assert!(!text.contains("of_bf16") && text.contains("sqrt(exp(g[x, y]) + exp(g[0, y])) * 1.4140625"), "{text}");
    assert_eq!(read(&text).tables.len(), program.tables.len());
    // Those of two formats are two, and large ones are in parts.
    let program = read(&crate::expressions::program("sel(sqrt(g[x, y]) < 1, sqrt(h[x, y]), 0.1)", Type::F16));
    let names: Vec<&str> = program.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["t", "s", "sqrt_of_bf16", "sqrt_of_f16", "sqrt_of_f16_1"]);
    assert_eq!(read(&program.to_string()).tables.len(), 5);
}
