//! The buffers of neural networks: words that several ports write and read in place, weights in banks, images read by
//! windows.

mod support;

use proptest::prelude::*;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_mapping::{MappedBuffer, map};
use pushmem_replay::{replay, replay_all};
use support::brute::first_fault;
use support::*;

/// Cycles from the read of a sum to the write of the next.
const LATENCY: i64 = 6;

/// Maps, and proves it in two ways.
fn proven(buffer: &UnifiedBuffer, name: &str) -> MappedBuffer {
    let spec = spec(name);
    let mapped = map(buffer, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    replay(buffer, &mapped, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(first_fault(buffer, &mapped, &spec), None, "{name}");
    mapped
}

/// How many tiles a buffer takes.
fn tiles(buffer: &UnifiedBuffer, name: &str) -> usize {
    proven(buffer, name).tiles.len()
}

/// The sums of a convolution of `size`×`size` words, in `tiles` layers, one begun every `period` cycles: set, summed up in
/// nine rounds, given away.
fn accumulator(size: u64, tiles: u64, period: i64) -> UnifiedBuffer {
    let (row, layer) = (size as i64, (size * size) as i64);
    let element = |loops: usize| -> Vec<Affine> {
        [0, 1, loops - 1]
            .map(|level| affine(0, &(0..loops).map(|other| i64::from(other == level)).collect::<Vec<_>>()))
            .to_vec()
    };
    let once = |start: i64| affine(start, &[1, row, period]);
    let rounds = |start: i64| affine(start, &[1, row, layer, 3 * layer, period]);
    let first = layer + 116;
    let extents = [size, size, tiles];
    let rounds_extents = [size, size, 3, 3, tiles];
    let ports = vec![
        port("init", Direction::Write, &extents, &element(3), once(0)),
        port("update_read", Direction::Read, &rounds_extents, &element(5), rounds(first)),
        port("update_write", Direction::Write, &rounds_extents, &element(5), rounds(first + LATENCY)),
        port("drain", Direction::Read, &extents, &element(3), once(first + 9 * layer + 10)),
    ];
    UnifiedBuffer { name: "accumulator".to_owned(), ports }
}

#[test]
fn sums_stay_in_place_in_one_tile() {
    let buffer = accumulator(28, 1, 10_000);
    for name in ["amber", "fetch8", "dual_port", "quad_port", "onyx", "word32"] {
        assert_eq!(tiles(&buffer, name), 1, "{name}");
    }
    // A tile with one input cannot take the words of two ports.
    let error = map(&buffer, &spec("fetch2")).unwrap_err().to_string();
    assert!(
        error.contains("2 ports write the same words (init, update_write), and a fetch2 tile has 1 input"),
        "{error}"
    );
}

#[test]
fn layers_that_are_no_whole_rows_take_one_tile() {
    for size in [7, 14, 28] {
        for name in ["amber", "fetch8", "dual_port", "quad_port"] {
            assert_eq!(tiles(&accumulator(size, 1, 20_000), name), 1, "{name}, {size}");
        }
    }
}

/// The next layer is set while the last one is summed up: two layers live, rotating through the whole memory.
#[test]
fn layers_follow_each_other_through_the_memory() {
    let overlapping = accumulator(28, 4, 9 * 784 + 100);
    for name in ["amber", "quad_port", "fetch8"] {
        assert_eq!(tiles(&overlapping, name), 1, "{name}");
    }
    let error = map(&overlapping, &spec("dual_port")).unwrap_err().to_string();
    assert!(error.contains("inputs 0 and 1 would use their memory port in the same cycle"), "{error}");
    let serial = accumulator(28, 4, 11 * 784 + 200);
    assert_eq!(tiles(&serial, "dual_port"), 1);
    assert_eq!(tiles(&accumulator(7, 4, 9 * 49 + 20), "amber"), 1);
}

/// An image that a window reads once for each of its places, so many cycles a row.
fn windows(step: i64, row: i64) -> UnifiedBuffer {
    let size = 28 * step + 3 - step;
    buffer(
        (&[size as u64, size as u64], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, size])),
        vec![(
            &[28, 28, 3, 3],
            vec![affine(0, &[step, 0, 1, 0]), affine(0, &[0, step, 0, 1])],
            affine(size * size + 20, &[1, row, 28 * row, 3 * 28 * row]),
        )],
    )
}

#[test]
fn images_are_read_by_windows() {
    // 28 words that begin anywhere in a row of the SRAM touch 8 rows, for which amber needs 2 more cycles than the words.
    for (name, row) in [("amber", 30), ("fetch2", 30), ("fetch8", 28), ("dual_port", 28), ("quad_port", 28)] {
        assert_eq!(tiles(&windows(1, row), name), 1, "{name}");
    }
    assert_eq!(tiles(&windows(1, 28), "amber"), 2);
    // 28 places with stride 2 touch up to 15 rows of 4 words.
    for (name, row) in [("amber", 30), ("fetch2", 29), ("dual_port", 28), ("quad_port", 28)] {
        assert_eq!(tiles(&windows(2, row), name), 2, "{name}");
    }
}

/// Weights (z, w, rx, ry), written one by one and read by 64 ports, each of one z and one w.
fn weights() -> UnifiedBuffer {
    let identity: Vec<_> = (0..4).map(|d| affine(0, &(0..4).map(|l| i64::from(l == d)).collect::<Vec<_>>())).collect();
    let mut buffer = buffer((&[8, 8, 3, 3], identity, affine(0, &[1, 8, 64, 192])), Vec::new());
    for number in 0..64 {
        let access = [
            affine(number % 8, &[0; 4]),
            affine(number / 8, &[0; 4]),
            affine(0, &[0, 0, 1, 0]),
            affine(0, &[0, 0, 0, 1]),
        ];
        let schedule = affine(600, &[1, 28, 784, 3 * 784]);
        buffer.ports.push(port(&format!("{number}"), Direction::Read, &[28, 28, 3, 3], &access, schedule));
    }
    buffer
}

#[test]
fn weights_are_in_banks_that_share_tiles() {
    for (name, count) in [("amber", 32), ("quad_port", 32), ("dual_port", 64), ("fetch2", 64), ("fetch8", 16)] {
        let spec = spec(name);
        let mapped = map(&weights(), &spec).unwrap();
        replay(&weights(), &mapped, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(mapped.factors.as_deref(), Some(&[8, 8, 1, 1][..]));
        assert_eq!(mapped.tiles.len(), count, "{name}");
    }
}

#[test]
fn a_matrix_is_read_by_columns() {
    let matrix = buffer(
        (&[16, 16], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, 16])),
        vec![(&[16, 16], vec![affine(0, &[0, 1]), affine(0, &[1, 0])], affine(260, &[1, 16]))],
    );
    for name in ["amber", "dual_port", "quad_port", "fetch8"] {
        assert_eq!(tiles(&matrix, name), 1, "{name}");
    }
}

/// A later port writes some of the words once more.
#[test]
fn words_of_two_writers_are_read_together() {
    let element = [affine(0, &[1])];
    let buffer = UnifiedBuffer {
        name: "two".to_owned(),
        ports: vec![
            port("a", Direction::Write, &[64], &element, affine(0, &[1])),
            port("b", Direction::Write, &[16], &element, affine(60, &[1])),
            port("out", Direction::Read, &[64], &element, affine(128, &[1])),
        ],
    };
    for name in ["amber", "quad_port", "fetch8"] {
        assert_eq!(tiles(&buffer, name), 1, "{name}");
    }
    let spec = spec("amber");
    let mapped = map(&buffer, &spec).unwrap();
    assert!(replay_all(&buffer, &mapped, &spec).is_ok());
}

/// A port that goes on writing for millions of cycles after the last read: in each of them it keeps the promises of the tile as before.
#[test]
fn the_proof_skips_what_comes_after_the_last_read() {
    let buffer = UnifiedBuffer {
        name: "two".to_owned(),
        ports: vec![
            port("a", Direction::Write, &[64], &[affine(0, &[1])], affine(0, &[1])),
            port(
                "b",
                Direction::Write,
                &[16, 1 << 15, 1 << 10],
                &[affine(0, &[1, 0, 0])],
                affine(60, &[1, 16, 1 << 19]),
            ),
            port("out", Direction::Read, &[64], &[affine(0, &[1])], affine(128, &[1])),
        ],
    };
    let spec = spec("quad_port");
    let mapped = map(&buffer, &spec).unwrap();
    assert_eq!(mapped.tiles.len(), 1);
    let report = replay(&buffer, &mapped, &spec).unwrap();
    assert!(report.cycles_total > 1 << 29 && report.cycles_simulated < 1 << 12, "{report:?}");
}

/// Two accumulators share a tile that has inputs and outputs for both.
#[test]
fn small_accumulators_share_a_tile() {
    let lane = accumulator(28, 1, 10_000);
    let both = UnifiedBuffer::together(&[&lane, &lane]);
    assert_eq!(tiles(&both, "fetch8"), 1);
    assert_eq!(tiles(&both, "amber"), 2);
}

/// Each copy takes the words of all writers.
#[test]
fn more_reads_than_outputs_take_copies() {
    let mut buffer = accumulator(12, 1, 10_000);
    let again = buffer.ports[3].clone();
    buffer.ports.push(Port { name: "drain_again".to_owned(), ..again });
    for name in ["amber", "quad_port"] {
        let mapped = proven(&buffer, name);
        assert_eq!((mapped.tiles.len(), mapped.copied), (2, true), "{name}");
        assert!(mapped.tiles.iter().all(|tile| tile.inputs.iter().all(Option::is_some)), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn sums_map_right_or_not_at_all(
        buffer in sums(5, 4),
        name in prop::sample::select(&["amber", "onyx", "fetch8", "dual_port", "quad_port", "word32", "small"][..]),
    ) {
        let spec = spec(name);
        if buffer.check().is_ok() && let Ok(mapped) = map(&buffer, &spec) {
            let quick = replay(&buffer, &mapped, &spec);
            let full = replay_all(&buffer, &mapped, &spec);
            prop_assert_eq!(quick.as_ref().err(), full.as_ref().err());
            prop_assert!(full.is_ok(), "{}\n{:?}", buffer, full);
            prop_assert_eq!(first_fault(&buffer, &mapped, &spec), None);
        }
    }
}
