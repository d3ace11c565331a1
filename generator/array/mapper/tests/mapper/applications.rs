//! The benchmark programs.

use pushmem_fabric::TileKind;
use pushmem_mapper::lower;
use pushmem_mapper::model::{self, Streams};
use pushmem_netlist::Machine;
use pushmem_pe::Numbers;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, compiled};

#[test]
fn netlists_of_applications_compute_what_the_interpreter_does() {
    let amber = array("amber");
    for (name, pes, memories) in [
        ("gaussian", 12, 1),
        ("harris", 73, 5),
        ("unsharp", 156, 4),
        ("bc_mirror", 30, 9),
        ("demosaic", 117, 6),
        ("down_sample", 5, 1),
        ("up_sample", 4, 4),
        ("laplacian_pyramid", 58, 12),
        ("gpyr_shared", 12, 2),
        ("transpose", 1, 3),
        ("fully_connected", 17, 13),
        ("resnet88", 129, 48),
    ] {
        let compiled = compiled(app(name), &amber);
        let lowered = lower(&compiled, &amber).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let count = |kind| lowered.netlist.count(kind);
        assert_eq!((count(TileKind::Pe), count(TileKind::Memory)), (pes, memories), "{name}");
        let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
        let accelerator = &compiled.accelerator;
        let beats = accelerator.input_beats(&compiled.program, &images).unwrap();
        let memory = amber.memory.as_ref().map(|memory| &memory.tile);
        let mut machine = Machine::new(&lowered.netlist, memory, Numbers { word_bits: 16 });
        let found = model::run(&mut machine, &Streams::of(&lowered), accelerator, &beats);
        assert!(machine.take_violations().is_empty(), "{name}");
        let found = accelerator.arrays(&compiled.program, &found).unwrap();
        assert!(found == compiled.program.run(&images).unwrap(), "the netlist of {name} computes something else");
    }
}

#[test]
fn a_program_beyond_the_array_is_refused_at_its_place() {
    let amber = array("amber");
    for (name, place, message) in [
        (
            "counter",
            "counter.yaml",
            "the value of a loop variable is an operand, and processing elements have no counters",
        ),
        ("rom", "rom.yaml", "`curve` is a table, and memory tiles of arrays have no contents of their own"),
        ("matmul_tiled", "matmul_tiled.yaml", "`b_global_buffer` is in the global_buffer, which `amber` does not have"),
    ] {
        let error = format!("{:?}", lower(&compiled(app(name), &amber), &amber).unwrap_err());
        assert!(error.contains(message) && error.contains(place), "{error}");
    }
}
