//! The replay against the cycle model, on random buffers and on configurations with faults.

mod support;

use proptest::prelude::*;
use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_mapping::{MappedBuffer, map};
use pushmem_replay::{replay, replay_all};
use pushmem_tile::TileSpec;
use support::brute::first_fault;
use support::*;

/// Specifications, small ones too.
const ALL: [&str; 11] = [
    "amber",
    "onyx",
    "fetch2",
    "fetch8",
    "dual_port",
    "quad_port",
    "word32",
    "small",
    "one_in_one_out",
    "one_in_three_out",
    "pond",
];

/// A delay line in up to three loops, with pauses, and its delays.
fn delay_line() -> impl Strategy<Value = UnifiedBuffer> {
    let levels = prop::collection::vec((1_u64..12, 0_i64..6), 1..=3);
    let waits = prop::collection::vec(5_i64..120, 1..=3);
    (levels, 1_i64..4, 0_i64..9, waits).prop_map(|(levels, pace, start, waits)| {
        let mut stride = pace;
        let mut nest = Vec::new();
        for (extent, pause) in levels {
            nest.push((extent, stride));
            stride = stride * extent as i64 + pause * i64::from(pause < 4);
        }
        delays(&nest, start, &waits)
    })
}

/// Loops of a read of a box, innermost first: extent, and steps along both dimensions.
type Walk = Vec<(u64, i64, i64)>;

/// Ways to read a box.
fn walk(kind: usize, width: u64, height: u64) -> Walk {
    match kind {
        0 => vec![(width, 1, 0), (height, 0, 1)],
        1 => vec![(height, 0, 1), (width, 1, 0)],
        2 => vec![(2, 0, 0), (width, 1, 0), (2, 0, 0), (height, 0, 1)],
        3 => vec![(width.div_ceil(2), 2, 0), (height, 0, 1)],
        4 => vec![(2, 1, 0), (width - 1, 1, 0), (height, 0, 1)],
        5 => vec![(width - 1, 1, 0), (2, 1, 0), (height, 0, 1)],
        6 => vec![(width, 1, 0), (3, 0, 0), (height, 0, 1)],
        7 => vec![(2, 1, 0), (width / 2, 2, 0), (height, 0, 1)],
        _ => vec![(width.div_ceil(3), 3, 0), (height.div_ceil(2), 0, 2)],
    }
}

/// A box written once, read in some other way from some column on. Rows may be so long that mapping looks at parts of them.
fn affine_buffer() -> impl Strategy<Value = UnifiedBuffer> {
    let read = ((0_usize..9, 0_u64..3), 0_i64..60, 1_i64..4, 0_i64..6);
    let width = prop_oneof![2 => 2_u64..14, 1 => 14_u64..90];
    ((width, 1_u64..8), (1_i64..4, 0_i64..5), prop::collection::vec(read, 1..=2)).prop_map(
        |((width, height), (pace, pause), reads)| {
            let row = pace * width as i64 + pause;
            let identity = vec![affine(0, &[1, 0]), affine(0, &[0, 1])];
            let mut buffer = buffer((&[width, height], identity, affine(3, &[pace, row])), Vec::new());
            for (number, ((kind, first), early, pace, pause)) in reads.into_iter().enumerate() {
                let first = first.min(width - 2);
                let walk = walk(kind, width - first, height);
                let mut stride = pace;
                let cycles: Vec<i64> = walk
                    .iter()
                    .map(|&(extent, ..)| {
                        let this = stride;
                        stride = stride * extent as i64 + pause;
                        this
                    })
                    .collect();
                let along =
                    |dimension: fn(&(u64, i64, i64)) -> i64| affine(0, &walk.iter().map(dimension).collect::<Vec<_>>());
                let extents: Vec<u64> = walk.iter().map(|level| level.0).collect();
                let start = (row * height as i64 + 20 - early).max(0);
                let access = [along(|level| level.1).shifted(first as i64), along(|level| level.2)];
                let name = format!("out{number}");
                buffer.ports.push(port(&name, Direction::Read, &extents, &access, affine(start, &cycles)));
            }
            buffer
        },
    )
}

/// Words written again and again, each read in every round before the next.
fn repeated() -> impl Strategy<Value = UnifiedBuffer> {
    ((2_u64..30, 2_u64..6), (1_i64..3, 0_i64..20), 5_i64..40).prop_map(|((words, rounds), (pace, pause), wait)| {
        let round = pace * words as i64 + pause;
        let access = || vec![affine(0, &[1, 0])];
        buffer(
            (&[words, rounds], access(), affine(0, &[pace, round])),
            vec![(&[words, rounds], access(), affine(wait, &[pace, round]))],
        )
    })
}

/// Two write ports for even and odd words, and a delay for each.
fn two_writers() -> impl Strategy<Value = UnifiedBuffer> {
    ((2_u64..60, 1_i64..4), (0_i64..9, 0_i64..9), (8_i64..90, 8_i64..90)).prop_map(|((words, pace), starts, waits)| {
        let extents = [words];
        let write = |start| (&extents[..], vec![affine(0, &[2])], affine(start, &[pace]));
        let mut buffer = buffer(write(starts.0), vec![write(starts.0 + waits.0)]);
        let odd = [affine(1, &[2])];
        buffer.ports.push(port("odd", Direction::Write, &[words], &odd, affine(starts.1, &[pace])));
        buffer.ports.push(port("odd_out", Direction::Read, &[words], &odd, affine(starts.1 + waits.1, &[pace])));
        buffer
    })
}

/// Delay lines long enough that the replay skips most of the run.
fn long_delay_line() -> impl Strategy<Value = UnifiedBuffer> {
    let levels = prop::collection::vec((1_u64..40, 0_i64..6), 2..=2);
    (levels, 1_i64..3, prop::collection::vec(10_i64..700, 1..=3)).prop_map(|(levels, pace, waits)| {
        let row = pace * levels[0].0 as i64 + levels[0].1;
        delays(&[(levels[0].0, pace), (levels[1].0 * 3, row)], 1, &waits)
    })
}

/// The replay, with and without skipping, and the model find the same.
fn agree(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<bool, TestCaseError> {
    let quick = replay(buffer, mapped, spec);
    let full = replay_all(buffer, mapped, spec);
    // After the last read nothing matters.
    let end = full.as_ref().map_or(u64::MAX, |report| report.cycles_total);
    let fault = first_fault(buffer, mapped, spec).filter(|cycle| *cycle < end);
    prop_assert_eq!(quick.as_ref().err(), full.as_ref().err());
    prop_assert_eq!(full.as_ref().err().map(|error| error.cycle), fault, "{:?}", full);
    Ok(full.is_ok())
}

fn maps_right(buffer: &UnifiedBuffer, name: &str) -> Result<(), TestCaseError> {
    let spec = spec(name);
    if buffer.check().is_ok()
        && let Ok(mapped) = map(buffer, &spec)
    {
        let right = agree(buffer, &mapped, &spec)?;
        let yaml: Vec<String> = mapped.tiles.iter().map(|tile| tile.configuration.to_yaml()).collect();
        prop_assert!(right, "{}\n{}\n{:?}", buffer, yaml.join("\n"), replay(buffer, &mapped, &spec));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn delay_lines_map_right_or_not_at_all(buffer in delay_line(), spec in prop::sample::select(&ALL[..])) {
        maps_right(&buffer, spec)?;
    }

    #[test]
    fn affine_buffers_map_right_or_not_at_all(buffer in affine_buffer(), spec in prop::sample::select(&ALL[..])) {
        maps_right(&buffer, spec)?;
    }

    #[test]
    fn other_buffers_map_right_or_not_at_all(
        buffer in prop_oneof![repeated(), two_writers(), long_delay_line(), sums(60, 6)],
        spec in prop::sample::select(&ALL[..]),
    ) {
        maps_right(&buffer, spec)?;
    }

    /// Any field of a right configuration changed: the replay agrees with the model.
    #[test]
    fn faults_are_found(
        buffer in prop_oneof![
            delay_line(), affine_buffer(), repeated(), two_writers(), long_delay_line(), sums(4, 3), sums(60, 6)
        ],
        name in prop::sample::select(&ALL[..]),
        place in any::<prop::sample::Index>(),
        field in 0_usize..12,
        change in prop::sample::select(&[-4_i64, -2, -1, 1, 2, 4, 16][..]),
    ) {
        let spec = spec(name);
        let Ok(mut mapped) = map(&buffer, &spec) else { return Ok(()) };
        let tile = place.index(mapped.tiles.len());
        let configuration = &mut mapped.tiles[tile].configuration;
        let count = configuration.controllers.len();
        let controller = configuration.controllers.values_mut().nth(place.index(count)).unwrap();
        let levels = controller.extent.len();
        let level = if levels == 0 { None } else { Some(place.index(levels)) };
        match (field, level) {
            (0, Some(level)) => {
                controller.extent[level] = controller.extent[level].saturating_add_signed(change).max(1);
            }
            (1, Some(level)) => controller.cycle.stride[level] += change,
            (2 | 3, _) => controller.cycle.start += change,
            (4, _) if spec.chaining => configuration.chain.enable = !configuration.chain.enable,
            (5, _) if spec.chaining => configuration.chain.tile_id ^= 1,
            (field, level) => {
                let functions = [
                    &mut controller.agg, &mut controller.sram, &mut controller.tb, &mut controller.register_file,
                ];
                let mut functions: Vec<_> = functions.into_iter().flatten().collect();
                let count = functions.len();
                let function = &mut functions[place.index(count)];
                match level {
                    Some(level) if field % 2 == 0 => function.stride[level] += change,
                    _ => function.start += change,
                }
            }
        }
        if mapped.tiles[tile].configuration.check(&spec).is_err() {
            prop_assert!(replay(&buffer, &mapped, &spec).is_err());
        } else {
            agree(&buffer, &mapped, &spec)?;
        }
    }
}
