//! Netlists that do not fit, and configurations that are not their netlists.

use pushmem_bitstream::{Configuration, decode};
use pushmem_fabric::{Layer, TileKind};
use pushmem_netlist::{Core, Netlist};
use pushmem_netlists::{Builder, Operand, Tap, copies, harris};
use pushmem_pe::Operation;
use pushmem_resources::Meaning;
use pushmem_routing::{FlowError, Options, configure};

use crate::check::check;
use crate::support::Array;

fn array() -> Array {
    Array::new(8, 8, 4, 1, "memory: {tile: small, every: 4}\n")
}

/// The message about a netlist, with what to do.
fn refused(array: &Array, netlist: &Netlist) -> String {
    let error = array.implement(netlist, Options::default()).expect_err("it does not fit");
    format!("{error}; {}", error.help())
}

#[test]
fn too_few_tiles_are_counted_first() {
    let array = array();
    let message = refused(&array, &copies(&array.spec, 2));
    assert_eq!(
        message,
        "`harris` needs 162 PE tiles, the array `test` has 48; unroll less, or take an array with 114 more PE tiles: give its \
         specification more columns or rows"
    );
}

/// An element that adds to its own result of some cycles before.
fn accumulator(cycles: i64) -> Netlist {
    let mut builder = Builder::new("accumulator");
    let input = builder.cell("input", Core::Input);
    let sum = builder.pe(Operation::Add, &[Operand::Tap(Tap::of(input)), Operand::Constant(0)], &[], None);
    let pass = builder.pe(Operation::Pass, &[Operand::Tap(Tap::of(sum))], &[], None);
    builder.close(Tap::of(pass).before(cycles), sum, 1);
    let output = builder.cell("output", Core::Output);
    builder.connect(Layer::Word, Tap::of(sum), output, 0);
    builder.finish()
}

#[test]
fn loops_without_cycles_are_named() {
    let array = array();
    for (cycles, short) in [(0, 2), (1, 1)] {
        let error = array.implement(&accumulator(cycles), Options::default()).expect_err("routes take a cycle each");
        let FlowError::Starts(pushmem_starts::StartError::Loop { mut names, short: found, .. }) = error else {
            panic!("{error}")
        };
        names.sort();
        assert_eq!((names, found), (vec!["pe_1".to_owned(), "pe_2".to_owned()], short));
    }
    let netlist = accumulator(2);
    array.verify(&netlist, &array.implement(&netlist, Options::default()).unwrap(), 100);
}

#[test]
fn tight_loops_stay_together_on_a_full_array() {
    let array = array();
    let mut builder = Builder::new("accumulators");
    let input = builder.cell("input", Core::Input);
    let mut last = Tap::of(input);
    for _ in 0..23 {
        let sum = builder.pe(Operation::Add, &[Operand::Tap(last), Operand::Constant(0)], &[], None);
        let pass = builder.pe(Operation::Pass, &[Operand::Tap(Tap::of(sum))], &[], None);
        builder.close(Tap::of(pass).before(2), sum, 1);
        last = Tap::of(sum);
    }
    let output = builder.cell("output", Core::Output);
    builder.connect(Layer::Word, last, output, 0);
    let netlist = builder.finish();
    array.verify(&netlist, &array.implement(&netlist, Options::default()).unwrap(), 100);
}

#[test]
fn odd_differences_before_inputs_that_cannot_be_late_are_named() {
    let array = array();
    let mut builder = Builder::new("odd");
    let input = builder.cell("input", Core::Input);
    let pe = builder.pe(Operation::Pass, &[Operand::Tap(Tap::of(input))], &[], None);
    let output = builder.cell("output", Core::Output);
    builder.connect(Layer::Word, Tap::of(pe), output, 0);
    builder.connect(Layer::Bit, Tap::of(pe).before(1), output, 0);
    let netlist = builder.finish();
    let message = refused(&array, &netlist);
    assert!(
        message.starts_with("pe_1 to output_2 cannot match") && message.contains("passes the word on"),
        "{message}"
    );
    // Tracks that pass around registers have even and odd ways.
    let array = Array::new(8, 8, 4, 2, "memory: {tile: small, every: 4}\n");
    array.verify(&netlist, &array.implement(&netlist, Options::default()).unwrap(), 50);
}

#[test]
fn delays_beyond_all_tracks_are_refused_at_once() {
    let array = array();
    let mut builder = Builder::new("long");
    let input = builder.cell("input", Core::Input);
    let words = [Operand::Tap(Tap::of(input)), Operand::Tap(Tap::of(input).before(2000))];
    let sum = builder.pe(Operation::Add, &words, &[], None);
    let output = builder.cell("output", Core::Output);
    builder.connect(Layer::Word, Tap::of(sum), output, 0);
    let message = refused(&array, &builder.finish());
    assert!(message.contains("the longest is from input_0 to pe_1: 200"), "{message}");
    assert!(message.contains("memory tile"), "{message}");
}

#[test]
fn differences_from_the_netlist_are_found() {
    let array = Array::new(16, 8, 4, 1, "memory: {tile: small, every: 4}\n");
    let Array { spec, graph, .. } = &array;
    let netlist = harris(spec);
    let done = array.implement(&netlist, Options::default()).unwrap();
    let configuration = configure(&netlist, spec, graph, &done.placement, &done.routing).unwrap();
    let checked = |configuration: &Configuration| {
        let decoded = decode(&configuration.encode(spec, graph).unwrap(), spec, graph).unwrap();
        check(&netlist, spec, graph, &done.placement, &done.routing.lags, &decoded)
    };
    assert_eq!(checked(&configuration), Ok(()));
    // Every field in use, at another value: each is a fault but those of constants that no operation reads.
    let mut faults = 0;
    for (place, tile) in &configuration.tiles {
        let layout = graph.layout(graph.kind(*place).unwrap());
        for (field, value) in tile.fields.iter().enumerate().filter(|(_, value)| **value != 0) {
            let mut changed = configuration.clone();
            changed.tiles.get_mut(place).unwrap().fields[field] = value - 1;
            let meaning = layout.fields[field].meaning;
            assert!(checked(&changed).is_err(), "{place}: {}", meaning.name());
            faults += 1;
        }
    }
    assert!(faults > 500, "{faults}");
    // A table that no cell asks for, an opcode of no operation, and a mode that is beyond the registers of an operand.
    let layout = graph.layout(TileKind::Pe);
    for meaning in [Meaning::LutSelected, Meaning::Operation, Meaning::Mode { layer: Layer::Word, operand: 1 }] {
        let field = layout.field(meaning).unwrap();
        let most = (1 << layout.fields[field].bits) - 1;
        for (place, tile) in configuration.tiles.iter().filter(|(place, _)| graph.kind(**place) == Some(TileKind::Pe)) {
            if !done.placement.places.contains(place) || tile.fields[field] == most {
                continue;
            }
            let mut changed = configuration.clone();
            changed.tiles.get_mut(place).unwrap().fields[field] = most;
            assert!(checked(&changed).is_err(), "{place}: {}", meaning.name());
        }
    }
    // A delay that is not there, and a memory that starts a cycle later.
    let (place, tile) = configuration.tiles.iter().find(|(_, tile)| tile.memory.is_some()).unwrap();
    let mut changed = configuration.clone();
    let mut memory = tile.memory.clone().unwrap();
    memory.controllers.values_mut().for_each(|controller| controller.cycle.start += 1);
    changed.tiles.get_mut(place).unwrap().memory = Some(memory);
    assert!(checked(&changed).unwrap_err().contains("another configuration"));
    let mode = layout.field(Meaning::Mode { layer: Layer::Word, operand: 0 }).unwrap();
    let direct = |tile: &&mut pushmem_bitstream::TileConfiguration| tile.fields.get(mode) == Some(&1);
    let mut changed = configuration.clone();
    let is_pe = |place: &pushmem_fabric::Place| spec.kind(*place) == Some(TileKind::Pe);
    let mut tiles = changed.tiles.iter_mut().filter(|(place, _)| is_pe(place)).map(|(_, tile)| tile);
    tiles.find(direct).unwrap().fields[mode] = 2;
    assert!(checked(&changed).unwrap_err().contains("registers where"));
}
