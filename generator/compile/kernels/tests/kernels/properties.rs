//! Properties of all datapaths.

use proptest::prelude::*;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::Type;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{Comparison, random_inputs, read};
use crate::expressions::{expression, program};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn datapaths_compute_what_the_interpreter_does((expression, _) in expression(), seed: u64) {
        let results = [Type::U16, Type::I16, Type::U8, Type::I8, Type::U32, Type::I32];
        let program = read(&program(&expression, results[seed as usize % 6]));
        let mut comparison = Comparison::new(&program);
        let inputs = random_inputs(&program, &mut ChaCha8Rng::seed_from_u64(seed));
        program.run_observed(&inputs, &mut comparison).unwrap();
        prop_assert_eq!(comparison.compared, 32);
    }

    #[test]
    fn operands_are_there_in_time((expression, _) in expression()) {
        let program = read(&program(&expression, Type::U16));
        let datapath = DatapathGraph::of(&program, program.operations()[0].1).dedicated();
        let nodes = datapath.nodes();
        for (number, node) in nodes.iter().enumerate() {
            for operand in node.kind.operands() {
                prop_assert!(operand < number);
                prop_assert!(nodes[operand].stage + nodes[operand].latency <= node.stage);
            }
        }
        let result = &nodes[datapath.result()];
        prop_assert!(result.stage + result.latency <= datapath.latency());
    }
}
