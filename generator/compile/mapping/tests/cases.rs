//! Buffers of the papers, mapped and replayed.

mod support;

use pushmem_affine::Affine;
use pushmem_buffers::UnifiedBuffer;
use pushmem_configuration::Configuration;
use pushmem_mapping::{MappedBuffer, map};
use pushmem_replay::{ErrorKind, ReplayReport, replay, replay_all};
use support::*;

/// Maps and replays. Gives tiles, live words and the report.
fn proven(buffer: &UnifiedBuffer, name: &str) -> (MappedBuffer, ReplayReport) {
    let spec = spec(name);
    let mapped = map(buffer, &spec).unwrap_or_else(|error| panic!("{error}"));
    let report = replay(buffer, &mapped, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    (mapped, report)
}

/// How many tiles each specification takes, in the order of [`SPECS`]; 0 where there must be no mapping.
fn tiles(buffer: &UnifiedBuffer) -> [usize; 7] {
    SPECS.map(|name| match map(buffer, &spec(name)) {
        Ok(_) => proven(buffer, name).0.tiles.len(),
        Err(_) => 0,
    })
}

fn controller<'a>(configuration: &'a Configuration, name: &str) -> (&'a [u64], &'a Affine) {
    let controller = &configuration.controllers[name];
    (&controller.extent, &controller.cycle)
}

/// The vectorization of the unified-buffer paper, Figure 9: AGG write 64y + x, AGG to SRAM 4 + 64y + 4xo, SRAM to TB
/// 63 + 64y + 4xo, TB read 64 + 64y + 4xo + xi. Here all loops merge, and the SRAM is read a cycle earlier, as its row is
/// in the transpose buffer two cycles later.
#[test]
fn brighten_blur_is_vectorized_as_published() {
    let (mapped, _) = proven(&delays(&[(64, 1), (64, 64)], 0, &[64]), "amber");
    let [tile] = &mapped.tiles[..] else { panic!("one tile") };
    assert_eq!(mapped.live_words, 64);
    assert_eq!(controller(&tile.configuration, "in2agg_0"), (&[4096][..], &affine(0, &[1])));
    assert_eq!(controller(&tile.configuration, "agg2sram_0"), (&[1024][..], &affine(4, &[4])));
    assert_eq!(controller(&tile.configuration, "sram2tb_0"), (&[1024][..], &affine(62, &[4])));
    assert_eq!(controller(&tile.configuration, "tb2out_0"), (&[4096][..], &affine(64, &[1])));
}

/// The known configuration of the line buffer: slots 0, 2 and 1 modulo 4, 128 words live.
#[test]
fn gaussian_takes_one_tile() {
    let (mapped, report) = proven(&gaussian(), "amber");
    let [tile] = &mapped.tiles[..] else { panic!("one tile") };
    assert_eq!(mapped.live_words, 128);
    assert_eq!(controller(&tile.configuration, "agg2sram_0").1.start, 4);
    assert_eq!(controller(&tile.configuration, "sram2tb_0").1.start, 62);
    assert_eq!(controller(&tile.configuration, "sram2tb_1").1.start, 125);
    assert_eq!(report.words, 2 * 4096);
    assert!(report.cycles_simulated < 400, "{report:?}");
    assert_eq!(tiles(&gaussian()), [1, 1, 2, 1, 2, 1, 1]);
}

#[test]
fn harris_like_delays_take_the_fewest_tiles() {
    let buffer = delays(&[(64, 1), (64, 64)], 0, &[64, 128, 192, 256, 31]);
    assert_eq!(tiles(&buffer), [3, 3, 5, 2, 5, 3, 3]);
}

/// The published figure is 67 words.
#[test]
fn upsampling_takes_one_tile_and_few_words() {
    assert_eq!(tiles(&upsample()), [1; 7]);
    assert!(proven(&upsample(), "amber").0.live_words <= 67);
}

#[test]
fn downsampling_takes_one_tile() {
    assert_eq!(tiles(&downsample()), [1; 7]);
}

/// Example A keeps the window in the transpose buffer: one fetch for four places of it.
#[test]
fn window_inside_is_kept_in_the_transpose_buffer() {
    assert_eq!(tiles(&sliding_a(32)), [1; 7]);
    let (mapped, _) = proven(&sliding_a(32), "amber");
    let configuration = &mapped.tiles[0].configuration;
    assert_eq!(controller(configuration, "sram2tb_0").0, [9, 8]);
    assert_eq!(configuration.controllers["tb2out_0"].tb, Some(affine(0, &[1, 1, 4])));
}

/// Example B fetches again, one more row than the words fill, and its transpose buffer moves by 36 words modulo 8 for
/// each place of the window, and by the place in the row.
#[test]
fn row_inside_is_fetched_again() {
    assert_eq!(tiles(&sliding_b(4)), [1; 7]);
    let (mapped, _) = proven(&sliding_b(4), "amber");
    let configuration = &mapped.tiles[0].configuration;
    assert_eq!(controller(configuration, "sram2tb_0").0, [9, 5, 8]);
    assert_eq!(configuration.controllers["tb2out_0"].tb, Some(affine(0, &[1, 36 + 1 - 32, 4])));
    // Without cycles of padding there is no time for the ninth fetch.
    assert_eq!(tiles(&sliding_b(0)), [0, 0, 0, 0, 1, 1, 0]);
}

/// Rows of 30 words are padded to eight SRAM rows: only then does each start a row.
#[test]
fn convolution_reads_padded_rows_from_one_tile() {
    assert_eq!(tiles(&convolution()), [1; 7]);
    let (mapped, _) = proven(&convolution(), "amber");
    let configuration = &mapped.tiles[0].configuration;
    assert_eq!(controller(configuration, "agg2sram_0"), (&[8, 30][..], &affine(4, &[4, 30])));
    assert_eq!(configuration.controllers["agg2sram_0"].sram, Some(affine(0, &[1, 8])));
    assert_eq!(configuration.controllers["tb2out_0"].extent, [28, 28, 3, 3]);
}

/// Columns of rows: one word a row, where the SRAM has a cycle for each word in and out.
#[test]
fn transposition_stores_one_word_a_row() {
    assert_eq!(tiles(&transposition(1)), [0, 0, 0, 0, 1, 1, 0]);
    assert_eq!(tiles(&transposition(2)), [1, 1, 1, 2, 1, 1, 1]);
}

#[test]
fn pages_and_partial_sums_are_followed() {
    assert_eq!(tiles(&double_buffer()), [1; 7]);
    assert_eq!(tiles(&accumulator()), [1, 1, 2, 1, 1, 1, 1]);
}

#[test]
fn gaps_and_odd_periods_are_kept() {
    assert_eq!(tiles(&delays(&[(32, 2), (16, 256)], 3, &[300, 40])), [1, 1, 2, 1, 2, 1, 1]);
    assert_eq!(tiles(&delays(&[(62, 1), (62, 64)], 5, &[64, 128])), [1, 1, 2, 1, 2, 1, 1]);
    assert_eq!(tiles(&delays(&[(31, 2), (20, 154)], 5, &[154, 308, 20])), [2, 2, 3, 1, 3, 2, 2]);
}

/// Fetches that are a little faster than the reads, so that the last one of a row does not meet the first of the next, come nearer to the
/// reads with each row of the memory: they are followed to the end.
#[test]
fn fetches_that_gain_on_the_reads_do_not_overtake_them() {
    for width in 5_u64..100 {
        let row = width as i64;
        let writes = (&[width, 2][..], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, row]));
        let pairs = [affine(0, &[1, 1, 0]), affine(0, &[0, 0, 1])];
        let reads = (&[2, width - 1, 2][..], pairs.to_vec(), affine(2 * row, &[1, 2, 2 * (row - 1)]));
        let buffer = buffer(writes, vec![reads]);
        for name in SPECS {
            if map(&buffer, &spec(name)).is_ok() {
                proven(&buffer, name);
            }
        }
    }
}

/// Four tiles hold 8192 words as one memory, and 16 million cycles are proven from few.
#[test]
fn long_delays_are_chained() {
    let buffer = delays(&[(4096, 1), (4096, 4096)], 0, &[4096, 8192]);
    let (mapped, report) = proven(&buffer, "amber");
    assert_eq!(mapped.tiles.len(), 4);
    assert!(mapped.tiles.iter().all(|tile| tile.configuration.chain.enable));
    assert_eq!(report.words, 2 * 4096 * 4096);
    assert!(report.cycles_simulated < 40_000, "{report:?}");
}

/// Rows that are no multiple of any power of two, in two rounds: a mark at the end of a row sees no period of use, and the
/// next one is set all the same.
#[test]
fn periods_are_found_after_marks_where_there_are_none() {
    let (_, report) = proven(&delays(&[(600, 1), (10000, 607), (2, 6_070_011)], 0, &[100]), "dual_port");
    assert_eq!(report.words, 2 * 600 * 10000);
    assert!(report.cycles_simulated < 40_000, "{report:?}");
}

/// Tiles that cannot be chained delay one after the other.
#[test]
fn long_delays_without_chaining_cascade() {
    let (mapped, _) = proven(&delays(&[(500, 2), (4, 1000)], 0, &[700, 1500]), "one_in_one_out");
    assert!(mapped.tiles.len() > 1);
    assert!(mapped.tiles.iter().all(|tile| !tile.configuration.chain.enable));
    assert!(mapped.live_words <= 750, "each word is kept once, not {}", mapped.live_words);
}

#[test]
fn what_does_not_map_says_why() {
    let error = map(&gaussian(), &spec("rom")).unwrap_err().to_string();
    assert!(error.contains("a rom holds constants"), "{error}");
    let error = map(&delays(&[(64, 1)], 0, &[3]), &spec("amber")).unwrap_err().to_string();
    assert!(error.contains("before its row can be there"), "{error}");
    let mut backwards = gaussian();
    backwards.ports[1].schedule.start = 0;
    let error = map(&backwards, &spec("amber")).unwrap_err().to_string();
    assert!(error.contains("read"), "{error}");
}

/// A fetch that comes too early overwrites words that are still to be read: the fault of another compiler.
#[test]
fn an_early_fetch_is_found() {
    let buffer = gaussian();
    let spec = spec("amber");
    let mut mapped = map(&buffer, &spec).unwrap();
    let controllers = &mut mapped.tiles[0].configuration.controllers;
    controllers.get_mut("sram2tb_1").unwrap().cycle.start -= 8;
    let error = replay(&buffer, &mapped, &spec).unwrap_err();
    assert_eq!(Err(error.clone()), replay_all(&buffer, &mapped, &spec));
    assert_eq!(error.controller.as_deref(), Some("tb2out_1"));
    assert!(matches!(error.fault, ErrorKind::WrongWord { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "cycle 128, tile 0, tb2out_1, read port out1, iteration [0, 0]: shows the word of in in cycle 8, not the word of \
         in in cycle 0"
    );
}
