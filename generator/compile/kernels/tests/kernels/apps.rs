//! The datapaths of the benchmark programs.

use pushmem_kernels::DatapathGraph;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{Comparison, app, apps, datapath, random_inputs};

#[test]
fn every_operation_has_a_datapath_and_a_module() {
    for program in apps() {
        for (_, operation) in program.operations() {
            let datapath = DatapathGraph::of(&program, operation).dedicated();
            assert!(datapath.latency() < 24, "{}: {}", program.name, operation.name);
            let text = datapath.module(&program, operation, "kernel");
            assert_eq!(text, DatapathGraph::of(&program, operation).dedicated().module(&program, operation, "kernel"));
            assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
        }
    }
}

#[test]
fn datapaths_of_applications_compute_what_the_interpreter_does() {
    for name in ["gaussian", "harris", "unsharp", "camera_pipeline", "exposure_fusion", "nlmeans"] {
        let program = app(name);
        let mut comparison = Comparison::new(&program);
        let inputs = random_inputs(&program, &mut ChaCha8Rng::seed_from_u64(1));
        // Random images reach beyond the tables of some programs.
        let ran = program.run_observed(&inputs, &mut comparison);
        assert!(comparison.compared > 10000, "{ran:?}");
    }
}

#[test]
fn pipelines_are_short() {
    let gaussian = app("gaussian");
    assert!(datapath(&gaussian, "sums").latency() <= 3);
    assert_eq!(datapath(&gaussian, "output").latency(), 0);
    let harris = app("harris");
    let chain = ["gx", "lxx", "sxx", "measure", "output"];
    assert!(chain.iter().map(|name| datapath(&harris, name).latency()).sum::<u64>() <= 14);
    assert!(datapath(&app("unsharp"), "ratio").latency() <= 12);
}
