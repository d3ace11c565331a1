//! A block that is no tile, in lockstep with a model: the skid buffer of accelerators.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use pushmem_simulation::{BlockPort, BlockPorts, BlockProcess, Verilator};
use pushmem_testing::verilator;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The default parameters of the module.
const LATENCY: usize = 1;
const WIDTH: u32 = 16;

fn ports() -> BlockPorts {
    let bit = |name: &str| BlockPort::new(name, 1);
    BlockPorts {
        inputs: vec![bit("rst_ni"), bit("claim_i"), BlockPort::new("in_data_i", WIDTH), bit("out_ready_i")],
        outputs: vec![bit("ready_o"), bit("out_valid_o"), BlockPort::new("out_data_o", WIDTH)],
    }
}

/// The buffer as a queue.
#[derive(Default)]
struct Model {
    held: VecDeque<u64>,
    on_way: VecDeque<bool>,
    claimed: usize,
}

impl Model {
    /// A cycle: whether there is room, and the beat that is offered.
    fn outputs(&self) -> (bool, Option<u64>) {
        (self.claimed < LATENCY + 2, self.held.front().copied())
    }

    fn step(&mut self, claim: bool, data: u64, taken: bool) {
        self.on_way.resize(LATENCY, false);
        if taken && self.held.pop_front().is_some() {
            self.claimed -= 1;
        }
        if self.on_way.pop_back() == Some(true) {
            self.held.push_back(data);
        }
        self.on_way.push_front(claim);
        self.claimed += usize::from(claim);
    }
}

#[test]
fn a_skid_buffer_is_a_queue_that_knows_what_comes() {
    if verilator().is_none() {
        return;
    }
    let verilator = Verilator::find().unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../templates");
    let files =
        ["rtl/pushmem_assert.svh", "accelerator/library/pushmem_skid_buffer.sv"].map(|file| templates.join(file));
    let file = |path: &PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
    };
    let rtl = files.iter().map(file).collect::<Vec<_>>();
    let executable = verilator.build_block("pushmem_skid_buffer", &ports(), &rtl, false).unwrap();
    let mut process = BlockProcess::start(&executable, ports(), None).unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let mut passed = 0;
    // A run with rare takers, one with rare claims, one at full speed.
    for (claims, takes) in [(0.9, 0.3), (0.3, 0.9), (1.0, 1.0)] {
        let mut model = Model::default();
        let (mut cycles, mut expected) = (vec![[0, 0, 0, 0]], vec![(true, None)]);
        for _ in 0..2000 {
            let (ready, offered) = model.outputs();
            let claim = ready && random.random_bool(claims);
            let (data, taken) = (random.random_range(0..1 << WIDTH), random.random_bool(takes));
            cycles.push([1, u64::from(claim), data, u64::from(taken)]);
            expected.push((ready, offered));
            passed += usize::from(taken && offered.is_some());
            model.step(claim, data, taken);
        }
        let drive = |cycle: usize, values: &mut Vec<u64>| {
            values.extend(cycles[cycle]);
            true
        };
        let mut found = Vec::new();
        let sample = |values: &[u64]| found.push((values[0] == 1, (values[1] == 1).then_some(values[2])));
        process.run(cycles.len(), drive, sample).unwrap();
        assert_eq!(found, expected);
    }
    // At full speed, beats pass at one a cycle.
    assert!(passed > 2 * 500 + 1990, "{passed}");
    process.finish().unwrap();
}
