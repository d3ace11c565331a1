//! Units that kernels share.

use pushmem_bitstream::decode;
use pushmem_fabric::TileKind;
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, Sharing, lower};
use pushmem_nest::Program;
use pushmem_netlist::Core;
use pushmem_pe::Mode;
use pushmem_programs::random_program_with_units;

use crate::common::{app, array, compiled, is_right, mapped};

/// Three layers on one set of elements: 128 of the sums of products, 16 that choose pixels, 16 that choose sums, two that choose
/// weights for all lanes, and one for their enable.
#[test]
fn layers_share_elements_and_the_operands_that_hold_their_weights() {
    let target = ArrayTarget::new(array("amber"));
    let (compiled, mapped) = mapped(&app("fsrcnn_shared"), &target).unwrap();
    let netlist = &mapped.lowered.netlist;
    assert_eq!(netlist.count(TileKind::Pe), 163);
    let holds = |core: &Core| matches!(core, Core::Pe(pe) if pe.words.iter().any(|word| word.mode == Mode::Held));
    assert_eq!(netlist.cells.iter().filter(|cell| holds(&cell.core)).count(), 64);
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    assert!(is_right(&compiled, &mapped, &configuration, &target));
}

/// A choice costs as much as an operation: cells are shared only where there are more operations than choices.
#[test]
fn units_of_few_operations_are_apart() {
    let amber = array("amber");
    let compiled = compiled(app("gpyr_shared"), &amber);
    let elements = |sharing| lower(&compiled, &amber, sharing).unwrap().netlist.count(TileKind::Pe);
    assert_eq!((elements(Sharing::Shared), elements(Sharing::Apart)), (12, 12));
}

/// Random layers that share a unit, in the model of the array against the interpreter; some of them share cells. Of the many lanes of a few,
/// the weights come in more streams than the array has IO tiles.
fn check(seeds: std::ops::Range<u64>) {
    let target = ArrayTarget::new(array("amber"));
    let count = seeds.clone().count();
    let (mut fewer, mut held, mut refused) = (0, 0, 0);
    for seed in seeds {
        let text = random_program_with_units(seed);
        let program = Program::from_document(&Document::parse("units.yaml", text.clone()).unwrap());
        let program = program.unwrap_or_else(|error| panic!("{seed}: {error:?}\n{text}")).program;
        let (compiled, mapped) = match mapped(&program, &target) {
            Ok(found) => found,
            // The schedule that finds no cycles of a unit may be refused first.
            Err(error) if format!("{error:?}").contains("IO tiles for inputs") => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{seed}: {error:?}\n{text}"),
        };
        let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
        assert!(is_right(&compiled, &mapped, &configuration, &target), "{seed}\n{text}");
        let apart = lower(&compiled, &target.spec, Sharing::Apart).unwrap();
        let netlist = &mapped.lowered.netlist;
        fewer += usize::from(netlist.count(TileKind::Pe) < apart.netlist.count(TileKind::Pe));
        held += usize::from(netlist.cells.iter().any(|cell| cell.name.contains("_turns_")));
    }
    assert!(refused * 50 < count, "{refused} of {count} have too many streams");
    assert!(fewer * 3 > count, "{fewer} of {count} take fewer elements");
    assert!(held * 6 > count, "{held} of {count} hold the words of several kernels in one operand");
}

#[test]
fn random_layers_that_share_units_compute_what_they_say() {
    check(0..16);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_layers_that_share_units_compute_what_they_say() {
    check(16..500);
}
