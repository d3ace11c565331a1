//! Large tables: their places, and refusals.

use pushmem_assembly::Constraints;
use pushmem_compiler::CompileError;
use pushmem_graph::{Target, TileUse};
use pushmem_proof::prove_roms;
use pushmem_realization::{Dedicated, Report, build};
use pushmem_tile::TileSpec;

use crate::common::{app, compare, compiled, program, spec};

/// Compiles an application with tables of so many words in logic.
fn compile_app(name: &str, rom: &TileSpec, table_logic_words: usize) -> Result<Dedicated, CompileError> {
    let target = Target::new(spec("amber"), rom.clone());
    build(app(name), &target, &Constraints { table_logic_words, ..Constraints::default() }, &|_| {})
}

#[test]
fn each_look_up_in_a_large_table_has_a_rom() {
    for (name, roms) in [("rom", 1), ("camera_pipeline", 3), ("camera_pipeline_new", 3), ("unsharp_new", 1)] {
        let compiled = compile_app(name, &spec("rom"), 64).unwrap();
        assert_eq!(Report::of(&compiled).rom_tiles, roms, "{name}");
        let in_logic = compile_app(name, &spec("rom"), 1024).unwrap();
        assert_eq!(Report::of(&in_logic).rom_tiles, 0, "{name}");
    }
}

#[test]
fn a_slow_rom_is_waited_for() {
    let slow = TileSpec { sram_latency: 2, ..spec("rom") };
    let cycles = |rom: &TileSpec| compile_app("rom", rom, 64).unwrap().accelerator.length;
    assert_eq!(cycles(&slow), cycles(&spec("rom")) + 1);
}

/// The loop of the reduction, which is the innermost one of the program, runs outside of the others.
#[test]
fn a_rom_is_read_in_the_order_of_the_schedule() {
    let text = "
name: least
schedule: dnn
inputs: {input: {type: bf16, shape: [16, 8]}}
outputs: {output: {type: bf16, shape: [13, 8]}}
buffers: {kept: {type: bf16, shape: [13, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..13:
      - kept[x, y] = 1.0
  - for y in 0..8:
    - for x in 0..13:
      - for r in 0..3:
        - kept[x, y] = min(kept[x, y], exp(input[x+r, y]))
  - for y in 0..8:
    - for x in 0..13:
      - output[x, y] = kept[x, y]
";
    let compiled = compiled(program(text), "amber");
    assert_eq!(Report::of(&compiled).rom_tiles, 1);
    compare(&compiled);
}

#[test]
fn what_a_rom_cannot_hold_is_refused() {
    let refused = |rom: &TileSpec| compile_app("rom", rom, 64).unwrap_err();
    let error = refused(&TileSpec { rows: 128, ..spec("rom") });
    assert_eq!(error.to_string(), "256 entries, but `rom` holds 128 words");
    assert_eq!(error.diagnostic().offending_text(), Some("curve"));
    let error = refused(&TileSpec { word_bits: 12, ..spec("rom") });
    assert_eq!(error.to_string(), "entries of 16 bits, but `rom` has words of 12");
    let error = refused(&spec("dual_port"));
    assert_eq!(error.to_string(), "`dual_port` is a dual_port tile; tables need a rom");
    // A program without tables in a ROM ignores the tile.
    assert!(compile_app("rom", &TileSpec { rows: 128, ..spec("rom") }, 256).is_ok());
}

#[test]
fn faults_of_roms_are_noticed() {
    let right = compile_app("unsharp_new", &spec("rom"), 64).unwrap();
    let found = |damage: fn(&mut Dedicated)| {
        let mut compiled = right.clone();
        damage(&mut compiled);
        let (program, extraction, schedule) = (&compiled.program, &compiled.extraction, &compiled.schedule);
        let accelerator = &compiled.accelerator;
        prove_roms(program, extraction.staged(), schedule, accelerator).map_err(|error| error.reason)
    };
    assert_eq!(found(|_| {}), Ok(()));
    let fault = |reason: &str| Err(reason.to_owned());
    assert_eq!(found(|compiled| compiled.accelerator.roms.clear()), fault("it needs one ROM and has 0"));
    let contents = |compiled: &mut Dedicated| compiled.accelerator.roms[0].configuration.contents[77] += 1;
    assert_eq!(found(contents), fault("the ROM holds something else"));
    let latency = |compiled: &mut Dedicated| {
        compiled.accelerator.target.spec_mut(TileUse::Table).unwrap().sram_latency = 2;
    };
    let late = "the word is expected 1 cycles after the address, but comes 2 after it";
    assert_eq!(found(latency), fault(late));
    let early = |compiled: &mut Dedicated| {
        let controllers = &mut compiled.accelerator.roms[0].configuration.controllers;
        controllers.values_mut().for_each(|controller| controller.cycle.start -= 1);
    };
    assert_eq!(found(early), fault("the ROM reads in other cycles than those of the addresses"));
}
