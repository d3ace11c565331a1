//! The model against hand-made schedules: delays, timing, broken promises, stalls, flushes, resets and chains.

#[path = "../../tile/tests/specs/mod.rs"]
mod specs;

use itertools::{Itertools, iproduct};
use proptest::prelude::*;
use pushmem_configuration::{Chain, Configuration};
use pushmem_files::Document;
use pushmem_model::{Handshake, Inputs, Outputs, TileModel, Violation, ViolationKind};
use pushmem_tile::{Mode, Style, TileSpec, timing};

use specs::{root, spec_of, styled, tile};

fn shipped_configuration(name: &str, spec: &TileSpec) -> Configuration {
    Configuration::read(&root().join(format!("rtl-tests/configurations/{name}.yaml")), spec).unwrap()
}

fn configuration(controllers: &str, spec: &TileSpec) -> Configuration {
    let text = format!("{{tile: {}, controllers: {{{controllers}}}}}", spec.name);
    Configuration::from_document(&Document::parse("c.yaml", text).unwrap(), spec)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// A configured tile in the first cycle after a flush.
fn flushed(spec: &TileSpec, configuration: &Configuration) -> TileModel {
    let mut tile = TileModel::new(spec);
    tile.configure(configuration);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    tile
}

/// The word on input 0 in a cycle.
fn word(cycle: u64) -> u64 {
    (cycle * 7 + 1) & 0xffff
}

/// The words of a cycle on all inputs.
fn inputs(cycle: u64) -> Inputs {
    Inputs { data: [word(cycle), !word(cycle) & 0xffff, 0, 0], ..Inputs::default() }
}

/// Shows and ends a cycle.
fn step(tile: &mut TileModel, inputs: &Inputs) -> Outputs {
    let outputs = tile.outputs(inputs);
    tile.clock(inputs);
    outputs
}

/// Cycle and value of each word on output 0 until the tile is idle.
fn shown(tile: &mut TileModel) -> Vec<(u64, u64)> {
    let mut words = Vec::new();
    while !tile.is_idle() {
        let cycle = tile.cycle();
        let outputs = step(tile, &inputs(cycle));
        words.extend(outputs.valid[0].then_some((cycle, outputs.data[0].value)));
    }
    words
}

fn violations(tile: &mut TileModel) -> Vec<String> {
    shown(tile);
    tile.take_violations().iter().map(ToString::to_string).collect()
}

/// Tile, configuration, words, delay of each output.
const DELAYS: &[(&str, &str, u64, &[u64])] = &[
    ("amber", "gaussian", 4096, &[64, 128]),
    ("small", "extent_one_level_0", 32, &[9]),
    ("small", "extent_one_level_3", 32, &[9]),
    ("small", "longer_than_the_schedule", 20_000, &[59]),
    ("one_in_one_out", "rows_no_power_of_two", 1000, &[360]),
    ("one_in_one_out", "rows_no_power_of_two_backwards", 1000, &[360]),
];

#[test]
fn outputs_are_the_delayed_input() {
    for &(name, file, words, delays) in DELAYS {
        for style in Style::ALL {
            let spec = styled(&tile(name), style);
            let mut tile = flushed(&spec, &shipped_configuration(file, &spec));
            for cycle in 0..words + delays.iter().max().unwrap() {
                assert_eq!(tile.cycle(), cycle);
                let outputs = step(&mut tile, &inputs(cycle));
                assert_eq!(outputs.taken[0], cycle < words, "{file}, cycle {cycle}");
                for (port, delay) in delays.iter().enumerate() {
                    let expected = cycle.checked_sub(*delay).filter(|&taken| taken < words).map(word);
                    let shown = outputs.valid[port].then_some(outputs.data[port].value);
                    assert_eq!(shown, expected, "{file}, output {port}, cycle {cycle}");
                }
            }
            assert!(tile.is_idle(), "{file}");
            assert_eq!(tile.take_violations(), [], "{file}");
        }
    }
}

/// Kind, tile, controllers, the first broken promise.
const BROKEN: &[(ViolationKind, &str, &str, &str)] = &[
    (
        ViolationKind::UndefinedRead,
        "small",
        "tb2out_0: {extent: [2], cycle: {start: 3, stride: [4]}, tb: {start: 6, stride: [1]}}",
        "cycle 3: tb2out_0 reads tb word 6, which was never written",
    ),
    (
        ViolationKind::UndefinedRead,
        "dual_port",
        "sram2out_1: {extent: [], cycle: {start: 2, stride: []}, sram: {stride: []}}",
        "cycle 3: sram2out_1 reads sram word 0, which was never written",
    ),
    (
        ViolationKind::UndefinedRead,
        "pond",
        "rf2out_0: {extent: [], cycle: {start: 2, stride: []}, register_file: {stride: []}}",
        "cycle 2: rf2out_0 reads register_file word 0, which was never written",
    ),
    (
        ViolationKind::UndefinedRead,
        "rom",
        "rom2out_0: {extent: [], cycle: {start: 1, stride: []}}",
        "cycle 2: rom2out_0 reads rom word 8, which was never written",
    ),
    (
        ViolationKind::PortConflict,
        "small",
        "agg2sram_0: {extent: [], cycle: {start: 4, stride: []}, agg: {stride: []}, sram: {stride: []}}, \
         sram2tb_1: {extent: [2], cycle: {start: 1, stride: [3]}, sram: {start: 5, stride: [2]}, tb: {stride: [1]}}",
        "cycle 4: sram2tb_1 uses sram row 7 together with another controller",
    ),
    (
        ViolationKind::PortConflict,
        "quad_port",
        "in2sram_0: {extent: [], cycle: {start: 4, stride: []}, sram: {stride: []}}, \
         in2sram_1: {extent: [], cycle: {start: 4, stride: []}, sram: {start: 1, stride: []}}",
        "",
    ),
    (
        ViolationKind::PortConflict,
        "dual_port",
        "in2sram_0: {extent: [], cycle: {start: 4, stride: []}, sram: {stride: []}}, \
         in2sram_1: {extent: [], cycle: {start: 4, stride: []}, sram: {start: 1, stride: []}}",
        "cycle 4: in2sram_1 uses sram word 1 together with another controller",
    ),
    (
        ViolationKind::Overrun,
        "small",
        "in2agg_1: {extent: [9], cycle: {start: 2, stride: [1]}, agg: {start: 4, stride: [1]}}",
        "cycle 10: in2agg_1 overwrites agg word 4 before it was read",
    ),
    // The fourth word of each row is read a cycle after the row was replaced.
    (
        ViolationKind::StaleRead,
        "small",
        "in2agg_0: {extent: [32], cycle: {stride: [1]}, agg: {stride: [1]}}, \
         agg2sram_0: {extent: [8], cycle: {start: 4, stride: [4]}, agg: {stride: [1]}, sram: {stride: [1]}}, \
         sram2tb_0: {extent: [8], cycle: {start: 6, stride: [4]}, sram: {stride: [1]}, tb: {stride: [1]}}, \
         tb2out_0: {extent: [32], cycle: {start: 13, stride: [1]}, tb: {stride: [1]}}",
        "cycle 16: tb2out_0 reads tb word 3 of fetch 2 in place of fetch 0",
    ),
    (
        ViolationKind::OutOfRange,
        "rom",
        "rom2out_0: {extent: [], cycle: {start: 300, stride: []}}",
        "cycle 300: rom2out_0 addresses word 2101, beyond the end of the memory",
    ),
];

#[test]
fn broken_promises_are_found_and_named() {
    for &(kind, name, controllers, expected) in BROKEN {
        let spec = tile(name);
        let mut tile = flushed(&spec, &configuration(controllers, &spec));
        shown(&mut tile);
        let first: Option<Violation> = tile.take_violations().into_iter().next();
        assert_eq!(first.as_ref().map(ToString::to_string).unwrap_or_default(), expected, "{name}: {controllers}");
        assert!(first.is_none_or(|first| first.kind == kind));
        assert_eq!(tile.take_violations(), [], "they were taken");
    }
}

/// Fires once.
fn once(controller: &str, cycle: u64, addresses: &str) -> String {
    format!("{controller}: {{extent: [], cycle: {{start: {cycle}, stride: []}}, {addresses}}}")
}

/// As early as `timing` allows a word is there; one cycle earlier it is not.
#[test]
fn a_word_is_there_when_timing_says() {
    for (kind, latency, writer, reader, memory) in [
        ("dual_port", 1, "in2sram_0", "sram2out_1", "sram"),
        ("dual_port", 2, "in2sram_1", "sram2out_0", "sram"),
        ("quad_port", 2, "in2sram_1", "sram2out_0", "sram"),
        ("register_file", 0, "in2rf_0", "rf2out_0", "register_file"),
    ] {
        let latency_key = if latency == 0 { String::new() } else { format!(", sram_latency: {latency}") };
        let spec = spec_of(&format!("{{name: t, kind: {kind}, rows: 8{latency_key}}}"));
        let place = format!("{memory}: {{start: 3, stride: []}}");
        let run = |read: u64| {
            let controllers = [once(writer, 5, &place), once(reader, read, &place)].join(", ");
            flushed(&spec, &configuration(&controllers, &spec))
        };
        let read = 5 + timing::SRAM_WRITE;
        let mut tile = run(read);
        let mut valid_in = Vec::new();
        while !tile.is_idle() {
            let cycle = tile.cycle();
            let outputs = step(&mut tile, &inputs(cycle));
            if outputs.valid.contains(&true) {
                valid_in.push(cycle);
                let sources = inputs(5).data;
                assert!(sources[..2].iter().any(|&word| outputs.data.iter().any(|data| data.value == word)), "{kind}");
            }
        }
        assert_eq!(valid_in, [read + timing::sram_to_output(latency)], "{kind}");
        assert_eq!(tile.take_violations(), []);
        assert_eq!(violations(&mut run(read - 1)).len(), 1, "{kind} of latency {latency}");
    }
}

#[test]
fn a_row_is_there_when_timing_says() {
    for latency in [1, 2] {
        let spec = spec_of(&format!("{{name: t, kind: wide_fetch, rows: 8, sram_latency: {latency}}}"));
        let run = |early: [u64; 3]| {
            let to_sram = 3 + timing::AGGREGATOR_WRITE - early[0];
            let to_tb = to_sram + timing::SRAM_WRITE - early[1];
            let out = to_tb + timing::sram_to_transpose_buffer(latency) - early[2];
            let controllers = [
                "in2agg_0: {extent: [4], cycle: {stride: [1]}, agg: {stride: [1]}}".to_owned(),
                once("agg2sram_0", to_sram, "agg: {stride: []}, sram: {stride: []}"),
                once("sram2tb_0", to_tb, "sram: {stride: []}, tb: {stride: []}"),
                format!(
                    "tb2out_0: {{extent: [4], cycle: {{start: {out}, stride: [1]}}, tb: {{start: 3, stride: [-1]}}}}"
                ),
            ];
            flushed(&spec, &configuration(&controllers.join(", "), &spec))
        };
        let mut tile = run([0; 3]);
        let first = 4 + 1 + u64::from(latency) + 1;
        assert_eq!(shown(&mut tile), (0..4).map(|i| (first + i, word(3 - i))).collect::<Vec<_>>(), "latency {latency}");
        assert_eq!(tile.take_violations(), []);
        for early in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
            assert!(!violations(&mut run(early)).is_empty(), "{early:?} cycles early at latency {latency}");
        }
    }
}

#[test]
fn a_rom_answers_after_its_latency() {
    for latency in [1_u64, 2] {
        let spec = spec_of(&format!("{{name: t, kind: rom, rows: 5, sram_latency: {latency}}}"));
        let mut configuration = configuration("rom2out_0: {extent: [3], cycle: {start: 2, stride: [1]}}", &spec);
        configuration.contents = vec![50, 51, 52, 53, 54];
        let mut tile = flushed(&spec, &configuration);
        let mut words = Vec::new();
        while !tile.is_idle() {
            let cycle = tile.cycle();
            let outputs = step(&mut tile, &Inputs { data: [cycle.saturating_sub(1), 0, 0, 0], ..Inputs::default() });
            words.extend(outputs.valid[0].then_some((cycle, outputs.data[0].value)));
        }
        assert_eq!(words, [51, 52, 53].into_iter().zip(2..).map(|(word, t)| (t + latency, word)).collect::<Vec<_>>());
        assert_eq!(tile.take_violations(), []);
    }
}

/// All words come out in order, whatever the pace of both sides; none stays inside when none comes any more.
#[test]
fn a_fifo_keeps_the_order() {
    for sizes in [
        "fetch_width: 4, rows: 8",
        "fetch_width: 1, inputs: 1, outputs: 1, rows: 3, sram_latency: 2, agg_words: 1, tb_words: 1",
    ] {
        let spec = spec_of(&format!("{{name: t, kind: wide_fetch, fifo_mode: true, {sizes}}}"));
        for (pushes, pops) in [(1, 1), (1, 5), (5, 1), (2, 3)] {
            let configuration = Configuration { tile: "t".to_owned(), mode: Mode::Fifo, ..Configuration::default() };
            let mut tile = flushed(&spec, &configuration);
            let (mut came, mut left) = (0, Vec::new());
            for cycle in 0.. {
                let handshake = Handshake {
                    valid: came < 300 && cycle % pushes == 0,
                    ready: cycle % pops == 0,
                    ..Handshake::default()
                };
                let data = [word(came), 0, 0, 0];
                let outputs = step(&mut tile, &Inputs { data, handshake, ..Inputs::default() });
                came += u64::from(outputs.taken[0]);
                if outputs.valid[0] && handshake.ready {
                    left.push(outputs.data[0].value);
                }
                if came == 300 && tile.is_empty_fifo() {
                    break;
                }
                assert!(cycle < 3000, "{} of {came} words left", left.len());
            }
            assert_eq!(left, (0..300).map(word).collect::<Vec<_>>(), "{sizes}, {pushes}, {pops}");
            assert_eq!(tile.take_violations(), []);
        }
    }
}

/// A read sees the write before it, in the same row or not; the second cycle of a write takes no access.
#[test]
fn a_ram_reads_what_was_written() {
    let spec = spec_of("{name: t, kind: wide_fetch, rows: 4, ram_mode: true}");
    let contents = (100..116).collect();
    let configuration = Configuration { tile: "t".to_owned(), mode: Mode::Ram, contents, ..Configuration::default() };
    let mut tile = flushed(&spec, &configuration);
    let accesses = [(5, None), (6, Some(1)), (5, None), (6, None), (15, Some(2)), (15, None), (14, None)];
    let (mut next, mut read, mut cycles) = (0, Vec::new(), 0);
    while next < accesses.len() || !read.len().eq(&5) {
        let (address, written) = accesses.get(next).copied().unwrap_or((0, None));
        let handshake = Handshake { valid: next < accesses.len(), write: written.is_some(), ready: false };
        let data = [address, written.unwrap_or(9), 0, 0];
        let outputs = step(&mut tile, &Inputs { data, handshake, ..Inputs::default() });
        next += usize::from(outputs.taken[0]);
        read.extend(outputs.valid[0].then_some(outputs.data[0].value));
        cycles += 1;
    }
    assert_eq!((read, cycles), (vec![105, 105, 1, 2, 114], accesses.len() + 2 + 1));
    let beyond = Handshake { valid: true, ..Handshake::default() };
    step(&mut tile, &Inputs { data: [16, 0, 0, 0], handshake: beyond, ..Inputs::default() });
    let found = tile.take_violations().iter().map(ToString::to_string).collect_vec();
    assert_eq!(found, ["cycle 10: data_in_0 addresses word 16, beyond the end of the memory"]);
}

/// An output without a word of its own shows the one of the tile before it.
#[test]
fn chained_outputs_show_the_word_that_there_is() {
    let spec = spec_of("{name: t, kind: dual_port, rows: 8, outputs: 1, contents: true, output_chaining: true}");
    let mut configuration =
        configuration("sram2out_0: {extent: [2], cycle: {start: 1, stride: [2]}, sram: {stride: [1]}}", &spec);
    configuration.contents = vec![70, 71];
    let mut tile = flushed(&spec, &configuration);
    let mut shown = Vec::new();
    for cycle in 0..7 {
        let chain_valid = [cycle != 3 && cycle != 5, false, false, false];
        let outputs = step(&mut tile, &Inputs { chain: [cycle; 4], chain_valid, ..Inputs::default() });
        shown.push((outputs.valid[0], outputs.data[0].value));
    }
    assert_eq!(shown, [(true, 0), (true, 1), (true, 70), (false, 0), (true, 71), (false, 0), (true, 6)]);
}

/// A read in the cycle of a write to the same word gives the old word.
#[test]
fn reads_see_the_state_before_the_writes() {
    for (name, writer, reader, memory) in [
        ("dual_port", "in2sram_0", "sram2out_0", "sram"),
        ("quad_port", "in2sram_0", "sram2out_0", "sram"),
        ("pond", "in2rf_0", "rf2out_0", "register_file"),
    ] {
        let spec = tile(name);
        let controllers = format!(
            "{writer}: {{extent: [2], cycle: {{start: 1, stride: [5]}}, {memory}: {{start: 3, stride: [0]}}}}, \
             {reader}: {{extent: [2], cycle: {{start: 6, stride: [1]}}, {memory}: {{start: 3, stride: [0]}}}}"
        );
        let mut tile = flushed(&spec, &configuration(&controllers, &spec));
        let words: Vec<u64> = shown(&mut tile).into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, [word(1), word(6)], "{name}");
    }
}

fn line_buffer() -> (TileSpec, Configuration) {
    let spec = tile("small");
    let configuration = shipped_configuration("extent_one_level_0", &spec);
    (spec, configuration)
}

/// The delay of 9 cycles of 32 words.
fn delayed_by_9() -> Vec<(u64, u64)> {
    (0..32).map(|cycle| (cycle + 9, word(cycle))).collect()
}

#[test]
fn a_flush_starts_over_also_during_a_stall() {
    let (spec, configuration) = line_buffer();
    for (stall, cycles) in [(false, 20), (true, 20), (true, 0)] {
        let mut tile = flushed(&spec, &configuration);
        for cycle in 0..cycles {
            step(&mut tile, &inputs(cycle + 50));
        }
        step(&mut tile, &Inputs { flush: true, stall, ..inputs(99) });
        assert_eq!((tile.cycle(), tile.is_active()), (0, true));
        assert_eq!(shown(&mut tile), delayed_by_9());
        assert_eq!(tile.take_violations(), []);
    }
}

#[test]
fn a_flush_in_the_last_cycle_loses_no_word() {
    let (spec, configuration) = line_buffer();
    let mut tile = flushed(&spec, &configuration);
    for cycle in 0..40 {
        step(&mut tile, &inputs(cycle));
    }
    let last = step(&mut tile, &Inputs { flush: true, ..inputs(40) });
    assert!(last.valid[0] && last.data[0].value == word(31));
    assert_eq!((tile.cycle(), tile.is_active()), (0, true));
    assert_eq!(shown(&mut tile), delayed_by_9());
    assert_eq!(tile.take_violations(), []);
}

/// With an SRAM behind the output, the last word comes after the last firing; a flush before drops it.
#[test]
fn a_flush_drops_what_is_on_its_way() {
    let spec = tile("dual_port");
    let place = "sram: {stride: []}";
    let configuration = configuration(&[once("in2sram_0", 0, place), once("sram2out_0", 1, place)].join(", "), &spec);
    for (flush_in, words) in [(1, 0), (2, 1)] {
        let mut tile = flushed(&spec, &configuration);
        let valid = (0..=flush_in)
            .filter(|&cycle| step(&mut tile, &Inputs { flush: cycle == flush_in, ..inputs(cycle) }).valid[0]);
        assert_eq!(valid.count(), words, "flush in cycle {flush_in}");
        assert_eq!(shown(&mut tile), [(2, word(0))]);
    }
}

#[test]
fn a_reset_stops_and_forgets_the_configuration_but_no_words() {
    let spec = tile("pond");
    let place = "register_file: {start: 4, stride: []}";
    let mut tile = flushed(&spec, &configuration(&once("in2rf_0", 2, place), &spec));
    for cycle in 0..5 {
        step(&mut tile, &inputs(cycle));
    }
    let read = configuration(&once("rf2out_0", 3, place), &spec);
    tile.configure(&read);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert!(tile.is_active());
    tile.reset();
    assert!(tile.is_idle());
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert!(tile.is_idle(), "the configuration is gone");
    tile.configure(&read);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert_eq!(shown(&mut tile), [(3, word(2))]);
    assert_eq!(tile.take_violations(), []);
}

/// Two tiles of 64 words delay 128 words by 100: each keeps its piece, and passes on the other's.
#[test]
fn chained_tiles_give_the_whole_stream() {
    let spec = tile("small");
    let pieces = ["chain_first_piece", "chain_second_piece"].map(|name| shipped_configuration(name, &spec));
    for last_in_chain in [0, 1] {
        let mut tiles = pieces.each_ref().map(|piece| flushed(&spec, piece));
        let mut alone = Vec::new();
        for cycle in 0..228 {
            let head = tiles[1 - last_in_chain].outputs(&inputs(cycle));
            let chained = Inputs { chain: head.data.map(|word| word.value), ..inputs(cycle) };
            let outputs = tiles[last_in_chain].outputs(&chained);
            let expected = (cycle >= 100).then(|| word(cycle.wrapping_sub(100)));
            assert_eq!(outputs.valid[0].then_some(outputs.data[0].value), expected, "cycle {cycle}");
            alone.push(head.valid[0].then_some(head.data[0].value) == expected);
            tiles[1 - last_in_chain].clock(&inputs(cycle));
            tiles[last_in_chain].clock(&chained);
        }
        assert!(tiles.iter().all(TileModel::is_idle));
        assert!(tiles.iter_mut().all(|tile| tile.take_violations().is_empty()));
        assert_eq!(alone.iter().filter(|&&same| !same).count(), 64, "the other tile has half of the words");
    }
}

proptest! {
    /// Whatever happens on the inputs in stalled cycles: outputs hold, and unstalled cycles are those of a run without.
    #[test]
    fn stalls_hold_everything(stalls in prop::collection::vec(0_u64..3, 45), noise in any::<u64>()) {
        for (name, controllers) in [
            ("small", None),
            ("dual_port", Some("in2sram_0: {extent: [20], cycle: {stride: [2]}, sram: {stride: [1]}}, \
                                sram2out_0: {extent: [20], cycle: {start: 1, stride: [2]}, sram: {stride: [1]}}")),
        ] {
            let spec = tile(name);
            let configuration = match controllers {
                Some(controllers) => configuration(controllers, &spec),
                None => shipped_configuration("extent_one_level_0", &spec),
            };
            let (mut plain, mut stalled) = (flushed(&spec, &configuration), flushed(&spec, &configuration));
            for (cycle, &stalls) in stalls.iter().enumerate() {
                let inputs = inputs(cycle as u64);
                let expected = plain.outputs(&inputs);
                for _ in 0..stalls {
                    let held = step(&mut stalled, &Inputs { stall: true, data: [noise; 4], ..inputs });
                    prop_assert_eq!(held, expected);
                }
                prop_assert_eq!(step(&mut stalled, &inputs), expected);
                plain.clock(&inputs);
            }
            prop_assert!(plain.is_idle() && stalled.is_idle());
            prop_assert_eq!(stalled.take_violations(), []);
        }
    }
}

/// Image lines of 64 words, read with a delay of a line, 63 words of 63 lines.
const LINES: &str = "in2agg_0: {extent: [64, 64], cycle: {stride: [1, 64]}, agg: {stride: [1, 0]}}, \
    agg2sram_0: {extent: [16, 64], cycle: {start: 4, stride: [4, 64]}, agg: {stride: [1, 0]}, sram: {stride: [1, 16]}}, \
    sram2tb_0: {extent: [16, 63], cycle: {start: 62, stride: [4, 64]}, sram: {stride: [1, 16]}, tb: {stride: [1, 0]}}, \
    tb2out_0: {extent: [63, 63], cycle: {start: 64, stride: [1, 64]}, tb: {stride: [1, 64]}}";

/// The schedules of the fetches and of the reads moved in all ways that leave room for the loops: a tile that shows other
/// words is refused, or reads past the last row where all words come from later ones; and no row is called stale in one that
/// shows the right ones.
#[test]
fn a_moved_schedule_that_shows_other_words_is_noticed() {
    let spec = tile("amber");
    let words = |tile: &mut TileModel| shown(tile).into_iter().map(|(_, word)| word).collect_vec();
    let base = configuration(LINES, &spec);
    let right = words(&mut flushed(&spec, &base));
    let (mut only_stale, mut only_unfetched) = (0, 0);
    for (name, start, inner, outer) in iproduct!(["sram2tb_0", "tb2out_0"], -12..=12, -2..=2, -1..=1) {
        let mut moved = base.clone();
        let cycle = &mut moved.controllers.get_mut(name).unwrap().cycle;
        cycle.start += start;
        cycle.stride[0] += inner;
        cycle.stride[1] += outer;
        if moved.check(&spec).is_err() {
            continue;
        }
        let mut tile = flushed(&spec, &moved);
        let is_right = words(&mut tile) == right;
        let violations = tile.take_violations();
        let is_stale = |violation: &Violation| violation.kind == ViolationKind::StaleRead;
        let moved = format!("{name} {start} {inner} {outer}");
        if is_right {
            assert!(!violations.iter().any(is_stale), "{moved}: {}", violations[0]);
            assert_eq!(tile.unfetched_words(), [""; 0], "{moved}");
        } else if violations.is_empty() {
            assert!(!tile.unfetched_words().is_empty(), "{moved}");
            only_unfetched += 1;
        } else {
            only_stale += usize::from(violations.iter().all(is_stale));
        }
    }
    assert!(only_stale > 35, "{only_stale}");
    assert!(only_unfetched < 10, "{only_unfetched}");
}

/// Each row of four words is fetched twice and read twice. The second fetch replaces the first at any word of either.
#[test]
fn a_row_that_is_fetched_again_is_not_stale() {
    let spec = tile("amber");
    for (delay, gap, groups, row) in iproduct!(0..8, 1..=6, [1, 2, 5], [0, 1]) {
        let controllers = format!(
            "in2agg_0: {{extent: [4, {groups}], cycle: {{stride: [1, 16]}}, agg: {{stride: [1, 4]}}}}, \
            agg2sram_0: {{extent: [{groups}], cycle: {{start: 4, stride: [16]}}, agg: {{stride: [1]}}, sram: {{stride: [{row}]}}}}, \
            sram2tb_0: {{extent: [2, {groups}], cycle: {{start: 5, stride: [{gap}, 16]}}, sram: {{stride: [0, {row}]}}, tb: {{stride: [0, 0]}}}}, \
            tb2out_0: {{extent: [4, 2, {groups}], cycle: {{start: {}, stride: [1, 4, 16]}}, tb: {{stride: [1, 0, 0]}}}}",
            7 + delay
        );
        let mut tile = flushed(&spec, &configuration(&controllers, &spec));
        let words = shown(&mut tile).into_iter().map(|(_, word)| word).collect_vec();
        let turn = |turn: usize| &words[8 * turn..8 * turn + 4];
        let case = format!("{delay} {gap} {groups} {row}");
        assert!((0..groups).all(|group| turn(group) == &words[8 * group + 4..8 * group + 8]), "{case}");
        assert_eq!(tile.take_violations(), [], "{case}");
        assert_eq!(tile.unfetched_words(), [""; 0], "{case}");
    }
}

/// A row that is written again between two fetches: the words of one are not those of the other. Half a row late, the words are in
/// another order that loops can have, until no row is left.
#[test]
fn a_row_that_is_written_again_is_stale() {
    let controllers = |late: i32| {
        format!(
            "in2agg_0: {{extent: [32], cycle: {{stride: [1]}}, agg: {{stride: [1]}}}}, \
            agg2sram_0: {{extent: [8], cycle: {{start: 4, stride: [4]}}, agg: {{stride: [1]}}, sram: {{stride: [0]}}}}, \
            sram2tb_0: {{extent: [8], cycle: {{start: 6, stride: [4]}}, sram: {{stride: [0]}}, tb: {{stride: [0]}}}}, \
            tb2out_0: {{extent: [4, 8], cycle: {{start: {}, stride: [1, 4]}}, tb: {{stride: [1, 0]}}}}",
            8 + late
        )
    };
    let spec = tile("amber");
    for late in 0..4 {
        let mut tile = flushed(&spec, &configuration(&controllers(late), &spec));
        shown(&mut tile);
        let violations = tile.take_violations();
        assert_eq!(violations.is_empty(), [0, 2].contains(&late), "{late}: {violations:?}");
        let is_noticed = !violations.is_empty() || !tile.unfetched_words().is_empty();
        assert_eq!(is_noticed, late > 0, "{late}");
        assert!(violations.iter().all(|violation| violation.kind == ViolationKind::StaleRead));
    }
}

/// The second half of the rows comes late, after the words that are read in its place. That they are stale shows when it is fetched.
#[test]
fn a_row_that_is_written_before_it_is_fetched_again_is_stale() {
    let controllers = "in2agg_0: {extent: [4, 4, 2], cycle: {stride: [1, 5, 28]}, agg: {stride: [1, 4, 0]}}, \
        agg2sram_0: {extent: [4, 2], cycle: {start: 4, stride: [5, 28]}, agg: {stride: [1, 0]}, sram: {stride: [0, 0]}}, \
        sram2tb_0: {extent: [4, 2], cycle: {start: 6, stride: [5, 28]}, sram: {stride: [0, 0]}, tb: {stride: [0, 0]}}, \
        tb2out_0: {extent: [4, 8], cycle: {start: 9, stride: [1, 5]}, tb: {stride: [1, 0]}}";
    let spec = tile("amber");
    let found = violations(&mut flushed(&spec, &configuration(controllers, &spec)));
    let early =
        (0..4).map(|word| format!("cycle {}: tb2out_0 reads tb word {word} of fetch 3 in place of fetch 4", 29 + word));
    let expected =
        ["cycle 34: tb2out_0 reads tb word 0 of fetch 3 in place of fetch 5".to_owned()].into_iter().chain(early);
    assert_eq!(found[..5], expected.collect_vec());
}

/// A word after the last row: nothing tells what it is meant to be.
#[test]
fn a_word_after_the_last_row_breaks_no_promise() {
    let spec = tile("amber");
    let junk = "in2agg_0: {extent: [32], cycle: {stride: [1]}, agg: {stride: [1]}}, \
        agg2sram_0: {extent: [8], cycle: {start: 4, stride: [4]}, agg: {stride: [1]}, sram: {stride: [1]}}, \
        sram2tb_0: {extent: [8], cycle: {start: 6, stride: [4]}, sram: {stride: [1]}, tb: {stride: [1]}}, \
        tb2out_0: {extent: [33], cycle: {start: 9, stride: [1]}, tb: {stride: [1]}}";
    let mut tile = flushed(&spec, &configuration(junk, &spec));
    assert_eq!(shown(&mut tile).len(), 33);
    assert_eq!(tile.take_violations(), []);
    assert_eq!(tile.unfetched_words(), ["tb2out_0 shows a word for which no row is fetched, in cycle 41"]);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert_eq!(tile.unfetched_words(), [""; 0]);
}

/// Nine rows are fetched for each line of five; the first three need eight of them.
#[test]
fn rows_fetched_for_nothing_break_no_promise() {
    let controllers = "in2agg_0: {extent: [36, 8], cycle: {stride: [1, 180]}, agg: {stride: [1, 4]}}, \
        agg2sram_0: {extent: [9, 8], cycle: {start: 4, stride: [4, 180]}, agg: {stride: [1, 1]}, sram: {stride: [1, 9]}}, \
        sram2tb_0: {extent: [9, 5, 8], cycle: {start: 38, stride: [4, 36, 180]}, sram: {stride: [1, 0, 9]}, tb: {stride: [1, 1, 1]}}, \
        tb2out_0: {extent: [32, 5, 8], cycle: {start: 44, stride: [1, 36, 180]}, tb: {stride: [1, 5, 4]}}";
    let spec = tile("amber");
    let mut tile = flushed(&spec, &configuration(controllers, &spec));
    assert_eq!(shown(&mut tile).len(), 32 * 5 * 8);
    assert_eq!(tile.take_violations(), []);
    assert_eq!(
        tile.unread_rows(),
        ["sram2tb_0 fetches 16 rows of which no word is read; the first is replaced in cycle 79"]
    );
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert_eq!(tile.unread_rows(), [""; 0]);
}

/// A row is replaced before its words are read: in a chain that is told of the tile that has the rows, and of no other, which
/// shows the words of the chain all the same.
#[test]
fn rows_of_other_tiles_of_a_chain_are_not_stale() {
    let controllers = "in2agg_0: {extent: [32], cycle: {stride: [1]}, agg: {stride: [1]}}, \
        agg2sram_0: {extent: [8], cycle: {start: 4, stride: [4]}, agg: {stride: [1]}, sram: {start: 512, stride: [1]}}, \
        sram2tb_0: {extent: [8], cycle: {start: 6, stride: [4]}, sram: {start: 512, stride: [1]}, tb: {stride: [1]}}, \
        tb2out_0: {extent: [32], cycle: {start: 13, stride: [1]}, tb: {stride: [1]}}";
    let spec = tile("amber");
    for tile_id in [0, 1, 2] {
        let chained = Configuration { chain: Chain { enable: true, tile_id }, ..configuration(controllers, &spec) };
        let mut tile = flushed(&spec, &chained);
        shown(&mut tile);
        let stale = tile.take_violations().iter().any(|violation| violation.kind == ViolationKind::StaleRead);
        assert_eq!(stale, tile_id == 1, "tile {tile_id}");
    }
}

/// Two outputs share a read port. In a chain, one reads words of this tile while the other reads those of the next, and in the
/// middle they change places: neither is in the way of the other. Without the chain it is.
#[test]
fn outputs_that_read_different_tiles_share_a_cycle() {
    for (kind, outputs, writer, reader, memory) in [
        ("dual_port", [0, 1], "in2sram_0", "sram2out", "sram"),
        ("quad_port", [1, 3], "in2sram_0", "sram2out", "sram"),
        ("register_file", [0, 1], "in2rf_0", "rf2out", "register_file"),
    ] {
        let spec = spec_of(&format!("{{name: t, kind: {kind}, rows: 8, inputs: 1, outputs: 4, chaining: true}}"));
        let nest = |start: u64, first: u64, stride: i64| {
            format!(
                "{{extent: [16], cycle: {{start: {start}, stride: [1]}}, {memory}: {{start: {first}, stride: [{stride}]}}}}"
            )
        };
        let [up, down] = outputs;
        let controllers = format!(
            "{writer}: {}, {reader}_{up}: {}, {reader}_{down}: {}",
            nest(0, 0, 1),
            nest(16, 0, 1),
            nest(16, 15, -1)
        );
        for tile_id in [0, 1] {
            let mut piece = configuration(&controllers, &spec);
            piece.chain = Chain { enable: true, tile_id };
            let mut tile = flushed(&spec, &piece);
            let mut words = [vec![], vec![]];
            while !tile.is_idle() {
                // The words that the other tile would show on the output that reads its words.
                let inputs = Inputs { chain: [0xffff; 4], ..inputs(tile.cycle()) };
                let outputs = step(&mut tile, &inputs);
                for (words, port) in words.iter_mut().zip([up, down]) {
                    words.extend(outputs.valid[port].then_some(outputs.data[port].value));
                }
            }
            let own = |place: u64| if place / 8 == u64::from(tile_id) { word(place) } else { 0xffff };
            assert_eq!(words[0], (0..16).map(own).collect_vec(), "{kind}");
            assert_eq!(words[1], (0..16).rev().map(own).collect_vec(), "{kind}");
            assert_eq!(tile.take_violations(), [], "{kind}");
        }
        let mut alone = flushed(&spec, &configuration(&controllers, &spec));
        assert!(violations(&mut alone)[0].contains("together with another controller"), "{kind}");
    }
}
