//! Several programs on one array.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_assembly::Constraints;
use pushmem_emulator::{Emulator, Inputs, StreamInputs};
use pushmem_fabric::TileKind;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_mapper::{
    ArrayTarget, Host, Occupant, Region, SideBySide, compile_side_by_side, execute_observed, reference,
};
use pushmem_routing::Options;
use pushmem_validation::{Site, validate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, beside};

fn built(target: &ArrayTarget, names: &[&str]) -> Result<SideBySide, Diagnostic> {
    let programs: Vec<_> = names.iter().map(|name| app(name)).collect();
    compile_side_by_side(&programs, target, &beside(), &Constraints::default(), Options::default(), &|_| ())
}

/// Tables, sums in memories and boundary conditions side by side: each computes what it computes alone.
#[test]
fn programs_side_by_side_compute_what_each_computes() {
    let target = ArrayTarget::new(array("amber"));
    let together = built(&target, &["rom", "resnet_tiny", "bc_mirror", "harris"]).unwrap();
    let columns: Vec<_> = together.regions.iter().map(|region| region.columns.clone()).collect();
    assert_eq!(columns, [0..4, 4..8, 8..12, 12..20]);
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let images: Vec<BTreeMap<String, Image>> =
        together.regions.iter().map(|region| region.compiled.program.random_inputs(random)).collect();
    let occupant = |(region, images)| {
        let Region { compiled, mapped, .. }: &Region = region;
        Occupant { compiled, mapped, images }
    };
    let occupants: Vec<Occupant> = together.regions.iter().zip(&images).map(occupant).collect();
    let executions = execute_observed(&occupants, &together.configuration, &target, &mut |_, _| ()).unwrap();
    for ((region, images), execution) in together.regions.iter().zip(&images).zip(&executions) {
        assert_eq!(execution.outputs, region.compiled.source.run(images).unwrap(), "{}", region.compiled.program.name);
        // All of its tiles are in its columns.
        let places = region.mapped.configuration.tiles.keys().chain(&region.mapped.implementation.placement.places);
        assert!({ places }.all(|place| region.columns.contains(&place.column)));
    }
}

/// The proof of a program finds a fault in its own tiles, and only there.
#[test]
fn a_fault_is_that_of_the_program_whose_tile_it_is_in() {
    let target = ArrayTarget::new(array("amber"));
    let SideBySide { regions, configuration, .. } = built(&target, &["gaussian", "rom"]).unwrap();
    for (number, region) in regions.iter().enumerate() {
        let mut wrong = configuration.clone();
        let is_pe = |place: &pushmem_fabric::Place| target.graph.kind(*place) == Some(TileKind::Pe);
        let own = |place: &pushmem_fabric::Place| region.columns.contains(&place.column) && is_pe(place);
        let used = |fields: &[u32]| fields.iter().position(|value| *value != 0);
        let tile = wrong.tiles.iter_mut().find(|(place, tile)| own(place) && used(&tile.fields).is_some());
        let (_, tile) = tile.unwrap();
        let field = used(&tile.fields).unwrap();
        tile.fields[field] ^= 1;
        let bitstream = wrong.encode(&target.spec, &target.graph).unwrap();
        for (other, Region { compiled, mapped, .. }) in regions.iter().enumerate() {
            let others = regions.iter().flat_map(|region| region.mapped.site().streams()).collect();
            let (operations, site) = (&mapped.lowered.operations, Site { others, ..mapped.site() });
            let verdict = validate(reference(compiled), operations, &target.spec, &target.graph, &bitstream, &site);
            assert_eq!(verdict.is_err(), other == number, "{}: {verdict:?}", compiled.program.name);
        }
    }
}

#[test]
fn programs_that_do_not_fit_side_by_side_are_refused() {
    let target = ArrayTarget::new(array("amber"));
    let message = built(&target, &["exposure_fusion", "harris_unroll4"]).unwrap_err().to_string();
    assert!(message.contains("does not fit the 12 of 32 columns of `amber` that are left"), "{message}");
    assert!(message.contains("needs 280 PE tiles"), "{message}");
    let message = built(&target, &["rom", "rom"]).unwrap_err().to_string();
    assert!(message.contains("two programs are called `rom`"), "{message}");
}

/// Whether all words of an image have left, which then are right.
fn is_done(host: &Host, region: &Region, images: &BTreeMap<String, Image>) -> bool {
    let Region { compiled, .. } = region;
    if host.is_done() {
        let outputs = host.execution().unwrap().outputs;
        assert_eq!(outputs, compiled.source.run(images).unwrap(), "{}", compiled.program.name);
    }
    host.is_done()
}

/// Each program has a start of its own: the second one is loaded and started in the middle of an image of the first, which begins its next
/// image in the middle of one of the second.
#[test]
fn programs_start_by_themselves() {
    let target = ArrayTarget::new(array("amber"));
    let together = built(&target, &["gaussian", "rom"]).unwrap();
    let columns = |place: usize| together.regions[place].columns.clone().collect::<BTreeSet<u32>>();
    let without = |columns: &BTreeSet<u32>| {
        let mut configuration = together.configuration.clone();
        configuration.tiles.retain(|place, _| !columns.contains(&place.column));
        configuration
    };
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let images: [BTreeMap<String, Image>; 3] =
        [0, 1, 0].map(|place: usize| together.regions[place].compiled.program.random_inputs(random));
    let host = |place: usize, images| {
        let Region { compiled, mapped, .. } = &together.regions[place];
        Host::new(&Occupant { compiled, mapped, images }).unwrap()
    };
    let mut hosts = [host(0, &images[0]), host(1, &images[1])];
    let done = |hosts: &[Host; 2], image: usize| {
        let [first, second] = hosts;
        [is_done(first, &together.regions[0], &images[image]), is_done(second, &together.regions[1], &images[1])]
    };
    let mut emulator = Emulator::new(&target.spec, target.graph.clone());
    emulator.load(&without(&columns(1)));
    let depth = target.spec.control_depth as usize;
    let mut inputs =
        Inputs { streams: vec![StreamInputs::default(); target.spec.columns as usize], ..Inputs::default() };
    let mut run = |hosts: &mut [Host], emulator: &mut Emulator, cycles: usize, flush: bool, start: bool| {
        for cycle in 0..cycles {
            hosts.iter_mut().for_each(|host| host.exchange(cycle as u64, emulator.outputs(), &mut inputs));
            (inputs.flush, inputs.start) = (flush && cycle == 0, start && cycle == 0);
            emulator.clock(&inputs);
        }
    };
    run(&mut hosts[..1], &mut emulator, 1000, true, false);
    emulator.clear_columns(&without(&columns(1)), &columns(1));
    run(&mut hosts[..1], &mut emulator, depth + 1, false, true);
    emulator.start_columns(&together.configuration);
    run(&mut hosts, &mut emulator, 3400, false, false);
    assert_eq!(done(&hosts, 0), [true, false]);
    emulator.stop_columns(&without(&columns(0)), &columns(0));
    hosts[0] = host(0, &images[2]);
    run(&mut hosts, &mut emulator, depth + 1, false, true);
    emulator.start_columns(&together.configuration);
    run(&mut hosts, &mut emulator, 1500, false, false);
    assert_eq!(done(&hosts, 2), [false, true]);
    run(&mut hosts, &mut emulator, 3000, false, false);
    assert_eq!(done(&hosts, 2), [true, true]);
}
