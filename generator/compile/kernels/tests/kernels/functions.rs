//! Functions of bfloat16 numbers: datapaths compute those of the reference, for every number.

use pushmem_bfloat::Function;
use pushmem_kernels::{Datapath, DedicatedOperators, Evaluator, TableMemories};
use pushmem_nest::Type;

use crate::common::read;
use crate::expressions::program;

#[test]
fn datapaths_compute_functions_of_every_number() {
    for function in Function::ALL {
        let program = read(&program(&format!("{}(g[x, y])", function.name()), Type::Bf16));
        let operation = program.operations()[0].1;
        for memories in [TableMemories::NONE, TableMemories { logic_words: 0, latency: 2 }] {
            let datapath = Datapath::with(&program, operation, &DedicatedOperators, memories).unwrap();
            let mut evaluator = Evaluator::new(&datapath, &program.tables);
            for number in 0..=u16::MAX {
                let (found, expected) = (evaluator.evaluate(&[number.into()], &[0, 0]), function.apply(number));
                assert_eq!(found, i64::from(expected), "{} of {number:#x}", function.name());
            }
        }
    }
}

#[test]
fn a_program_has_a_table_for_each_of_its_functions() {
    let program = read(&program("sqrt(exp(g[x, y]) + exp(g[0, y])) * sqrt(2)", Type::Bf16));
    let own = program.tables.iter().filter_map(|table| table.function);
    assert_eq!(own.collect::<Vec<_>>(), [Function::SquareRoot, Function::Exponential]);
    // They are not declared.
    let text = program.to_string();
    assert!(!text.contains("of_bf16") && text.contains("sqrt(exp(g[x, y]) + exp(g[0, y])) * 1.4140625"), "{text}");
    assert_eq!(read(&text).tables.len(), program.tables.len());
}
