//! Cyclic banks, streams that share tiles, and copies where there is no other way.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_mapping::{Banking, MappedBuffer, PortLimit, banking, map};
use pushmem_replay::{ErrorKind, replay, replay_all};
use support::brute::first_fault;
use support::*;

const LIMIT: PortLimit = PortLimit { writes: 2, reads: 2 };

/// Maps, and proves it in three ways.
fn proven(buffer: &UnifiedBuffer, name: &str) -> MappedBuffer {
    let spec = spec(name);
    let mapped = map(buffer, &spec).unwrap_or_else(|error| panic!("{error}"));
    replay(buffer, &mapped, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    replay_all(buffer, &mapped, &spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(first_fault(buffer, &mapped, &spec), None, "{name}");
    mapped
}

/// The weight buffer of the dissertation, Figure 5.3 and equations 5.6 to 5.13, on a smaller image: (c, k, kx, ky) written one
/// by one, then read eight at a time.
fn weights() -> UnifiedBuffer {
    let (width, height) = (4, 3);
    let identity: Vec<_> = (0..4).map(|d| affine(0, &(0..4).map(|l| i64::from(l == d)).collect::<Vec<_>>())).collect();
    let mut buffer = buffer((&[4, 4, 3, 3], identity, affine(0, &[1, 4, 16, 48])), Vec::new());
    let window = 2 * width * height;
    for number in 0..8 {
        let access = [
            affine(number % 4, &[0, 0, 0, 0, 0]),
            affine(number / 4, &[2, 0, 0, 0, 0]),
            affine(0, &[0, 0, 0, 1, 0]),
            affine(0, &[0, 0, 0, 0, 1]),
        ];
        let extents = [2, width as u64, height as u64, 3, 3];
        let schedule = affine(160, &[1, 2, 2 * width, window, 3 * window]);
        buffer.ports.push(port(&format!("{number}"), Direction::Read, &extents, &access, schedule));
    }
    buffer
}

/// The published factors are [4, 2, 1, 1], and each port has the bank of equations 5.14 to 5.21. The offset inside the bank
/// is (kx, ky) there; by equation 5.5 it has ⌊2k/2⌋ = k, too.
#[test]
fn weights_are_banked_as_published() {
    let buffer = weights();
    let Banking { factors, banks } = banking(&buffer, PortLimit { writes: 1, reads: 1 }).unwrap().unwrap();
    assert_eq!(factors, [4, 2, 1, 1]);
    let mut number_of_port = BTreeMap::new();
    for bank in &banks {
        let (_, read) = bank.buffer.reads().next().unwrap();
        assert_eq!(bank.ports.len(), 2, "one write, one read");
        assert_eq!(read.access_text(), "(i0, i1, i2, i3, i4) → (0, i0, i3, i4)");
        number_of_port.insert(read.name.clone(), bank.number[..2].to_vec());
    }
    let published = [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1], [2, 1], [3, 1]];
    assert_eq!(number_of_port.into_values().collect::<Vec<_>>(), published);
}

/// Eight banks of 18 words: one a tile where tiles have one output, two a tile where they have two inputs and two outputs.
#[test]
fn banks_of_weights_share_tiles() {
    for (name, tiles) in [("fetch2", 8), ("quad_port", 4), ("amber", 4)] {
        let mapped = proven(&weights(), name);
        assert_eq!(mapped.factors.as_deref(), Some(&[4, 2, 1, 1][..]), "{name}");
        assert_eq!((mapped.tiles.len(), mapped.live_words), (tiles, 144), "{name}: {:?}", mapped.tried);
    }
}

/// An image that `lanes` writers write side by side, and as many readers for each delay, their columns some further on.
fn lanes(lanes: i64, shift: i64, delays: &[i64]) -> UnifiedBuffer {
    let (width, height) = (32 / lanes, 12);
    let extents = [width as u64, height as u64];
    let place = |lane: i64| [affine(lane, &[lanes, 0]), affine(0, &[0, 1])];
    let mut buffer = UnifiedBuffer { name: "lanes".to_owned(), ports: Vec::new() };
    for lane in 0..lanes {
        let name = format!("in{lane}");
        buffer.ports.push(port(&name, Direction::Write, &extents, &place(lane), affine(0, &[1, width])));
    }
    for (number, delay) in delays.iter().enumerate() {
        for lane in 0..lanes {
            let shorter = [extents[0] - u64::from(lane + shift >= lanes), extents[1]];
            let name = format!("out{number}_{lane}");
            let schedule = affine(*delay, &[1, width]);
            buffer.ports.push(port(&name, Direction::Read, &shorter, &place(lane + shift), schedule));
        }
    }
    buffer
}

/// Readers of even and odd columns, a column further on than the writers: each has the words of one writer.
#[test]
fn lanes_are_banks() {
    for shift in [0, 1] {
        let two = lanes(2, shift, &[40, 80]);
        assert_eq!(banking(&two, LIMIT).unwrap().unwrap().factors, [2, 1]);
        let four = lanes(4, shift, &[40, 80]);
        assert_eq!(banking(&four, LIMIT).unwrap().unwrap().factors, [4, 1]);
        for name in ["amber", "quad_port", "dual_port", "onyx"] {
            let tiles = if name == "dual_port" { [4, 8] } else { [2, 4] };
            assert_eq!([&two, &four].map(|buffer| proven(buffer, name).tiles.len()), tiles, "{name}, shift {shift}");
        }
    }
}

/// One port fills an array that two lanes update twice: three ports write, never more than two at once. Each lane has a
/// bank, which takes its words of both.
#[test]
fn lanes_that_take_turns_with_another_writer_have_banks() {
    let place = [affine(0, &[1, 0]), affine(0, &[0, 1])];
    let mut buffer = buffer((&[32, 12], place.to_vec(), affine(0, &[1, 32])), Vec::new());
    for lane in 0..2 {
        let place = [affine(lane, &[2, 0, 0]), affine(0, &[0, 1, 0])];
        let (extents, rounds) = ([16, 12, 2], [1, 16, 200]);
        for (name, direction, start) in [("sum", Direction::Read, 390), ("update", Direction::Write, 396)] {
            let name = format!("{name}{lane}");
            buffer.ports.push(port(&name, direction, &extents, &place, affine(start, &rounds)));
        }
        let last = [affine(lane, &[2, 0]), affine(0, &[0, 1])];
        buffer.ports.push(port(&format!("out{lane}"), Direction::Read, &[16, 12], &last, affine(800, &[1, 16])));
    }
    assert_eq!(banking(&buffer, LIMIT), Ok(None));
    for name in ["amber", "dual_port", "quad_port"] {
        let mapped = proven(&buffer, name);
        assert_eq!((mapped.factors, mapped.tiles.len()), (Some(vec![2, 1]), 2), "{name}");
    }
}

/// More reads of one stream than all ways to share tiles are compared for.
#[test]
fn many_reads_of_a_stream_share_tiles_run_by_run() {
    let reads: Vec<i64> = (0..20).map(|read| 64 + 7 * read).collect();
    assert_eq!(proven(&delays(&[(64, 1), (8, 64)], 0, &reads), "quad_port").tiles.len(), 10);
}

/// Two lines of delay, one input and one output each, are one tile where the memory has a port for each or a cycle.
#[test]
fn short_delay_lines_share_a_tile() {
    let buffer = lanes(2, 0, &[40]);
    assert_eq!(banking(&buffer, LIMIT), Ok(None));
    for (name, tiles) in [("amber", 1), ("onyx", 1), ("quad_port", 1), ("fetch8", 1), ("dual_port", 2), ("fetch2", 2)] {
        assert_eq!(proven(&buffer, name).tiles.len(), tiles, "{name}");
    }
}

/// Columns one after the other, page after page: each word is in another row of the memory, and the reads of a page leave no
/// cycle to write the next. In banks the words of a port follow each other.
#[test]
fn banks_have_time_where_the_whole_has_not() {
    let page = |levels: usize| affine(0, &[vec![0; levels - 1], vec![1]].concat());
    let mut buffer = buffer((&[256, 4], vec![affine(0, &[1, 0]), page(2)], affine(0, &[1, 256])), Vec::new());
    for lane in 0..4 {
        let access = [affine(lane, &[4, 0, 0]), page(3)];
        let schedule = affine(264, &[1, 64, 256]);
        buffer.ports.push(port(
            &format!("out{lane}"),
            Direction::Read,
            &[64, 4, 3],
            &[access[0].clone(), access[1].clone()],
            schedule,
        ));
    }
    let mapped = proven(&buffer, "amber");
    assert_eq!(mapped.factors, Some(vec![4, 1]));
    assert!(!mapped.copied);
}

/// Every read goes through all words: only copies serve so many.
#[test]
fn where_reads_go_everywhere_words_are_copied() {
    let buffer = delays(&[(64, 1), (8, 64)], 0, &[64, 90, 128]);
    assert_eq!(banking(&buffer, LIMIT), Err("its reads go through all banks".to_owned()));
    let mapped = proven(&buffer, "amber");
    assert!(mapped.copied && mapped.factors.is_none());
    assert_eq!(mapped.tiles.len(), 2);
    assert!(
        mapped.tried.iter().any(|reason| reason == "cyclic banks: its reads go through all banks"),
        "{:?}",
        mapped.tried
    );
}

/// Streams of different pace and size, side by side.
#[test]
fn buffers_are_mapped_together() {
    let lines = delays(&[(64, 1), (62, 64)], 130, &[64]);
    let others = delays(&[(64, 1), (64, 64)], 0, &[70]);
    let slow = delays(&[(30, 2), (30, 64)], 7, &[300]);
    for pair in [[&lines, &others], [&others, &slow], [&slow, &lines]] {
        let together = UnifiedBuffer::together(&pair);
        for name in ["amber", "quad_port"] {
            assert_eq!(proven(&together, name).tiles.len(), 1, "{name}");
        }
    }
}

/// Loops that no number divides: both streams go through all rows, one behind the other, whichever comes first.
#[test]
fn streams_of_one_pace_follow_each_other() {
    let stream = |start: i64| delays(&[(4099, 1)], start, &[600]);
    for (starts, tiles) in [([0, 100], 1), ([200, 0], 1), ([0, 0], 1), ([0, 1000], 2)] {
        let [one, other] = starts.map(stream);
        let mapped = proven(&UnifiedBuffer::together(&[&one, &other]), "quad_port");
        assert_eq!(mapped.tiles.len(), tiles, "{starts:?}");
    }
}

/// All accesses of a buffer: cycle, port, element.
fn accesses(buffer: &UnifiedBuffer) -> BTreeSet<(i128, usize, Vec<i128>)> {
    let mut found = BTreeSet::new();
    for (number, port) in buffer.ports.iter().enumerate() {
        for iteration in 0..port.iterations() as u64 {
            let index = port.iteration(iteration);
            found.insert((port.cycle(&index), number, port.element(&index)));
        }
    }
    found
}

/// The most ports of a direction in a cycle.
fn most(accesses: &BTreeSet<(i128, usize, Vec<i128>)>, buffer: &UnifiedBuffer, direction: Direction) -> usize {
    let mut counts: BTreeMap<i128, usize> = BTreeMap::new();
    for (cycle, port, _) in accesses {
        *counts.entry(*cycle).or_default() += usize::from(buffer.ports[*port].direction == direction);
    }
    counts.into_values().max().unwrap_or(0)
}

/// Writers and readers of an image with channels, at some columns side by side.
fn image_port(direction: Direction) -> impl Strategy<Value = Port> {
    let lanes = prop::sample::select(&[1_i64, 2, 4, 6][..]);
    (lanes, 0_i64..6, 0_i64..4, any::<bool>(), 1_u64..9, 1_u64..4, 0_i64..40, 1_i64..3).prop_map(
        move |(lanes, lane, channel, all_channels, width, height, start, pace)| {
            let channels = if all_channels { 3 } else { 1 };
            let extents = [channels, width, height];
            let access = [affine(channel, &[1, 0, 0]), affine(lane, &[0, lanes, 0]), affine(0, &[0, 0, 1])];
            let inner = pace * channels as i64;
            port("", direction, &extents, &access, affine(start, &[pace, inner, inner * width as i64 + 2]))
        },
    )
}

fn image_buffer() -> impl Strategy<Value = UnifiedBuffer> {
    let ports = (
        prop::collection::vec(image_port(Direction::Write), 1..4),
        prop::collection::vec(image_port(Direction::Read), 1..7),
    );
    ports.prop_map(|(writes, reads)| {
        let ports = writes.into_iter().chain(reads).enumerate();
        let named = ports.map(|(number, port)| Port { name: format!("port{number}"), ..port }).collect();
        UnifiedBuffer { name: "image".to_owned(), ports: named }
    })
}

/// Readers of as many lanes as there are writers, each with its own delay.
fn lane_buffer() -> impl Strategy<Value = UnifiedBuffer> {
    let delays = prop::collection::vec(9_i64..90, 1..=2);
    (prop::sample::select(&[2_i64, 4][..]), 0_i64..3, delays)
        .prop_map(|(count, shift, delays)| lanes(count, shift, &delays))
}

fn pair() -> impl Strategy<Value = UnifiedBuffer> {
    let line = ((4_u64..40, 1_u64..20), 1_i64..3, 0_i64..5, 0_i64..150, 8_i64..200);
    let line = line.prop_map(|((width, height), pace, pause, start, delay)| {
        delays(&[(width, pace), (height, pace * width as i64 + pause)], start, &[delay])
    });
    (line.clone(), line).prop_map(|(one, other)| UnifiedBuffer::together(&[&one, &other]))
}

const TILES: [&str; 7] = ["amber", "onyx", "fetch2", "fetch8", "dual_port", "quad_port", "small"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Banks have the accesses of the whole, each in the bank of its element, and no more at once than a bank serves.
    #[test]
    fn banks_are_the_whole(buffer in image_buffer(), writes in 1_usize..4, reads in 1_usize..4) {
        prop_assert!(buffer.check().is_ok());
        let limit = PortLimit { writes, reads };
        let all = accesses(&buffer);
        let fits = |accesses: &BTreeSet<_>, buffer: &UnifiedBuffer| {
            most(accesses, buffer, Direction::Write) <= writes && most(accesses, buffer, Direction::Read) <= reads
        };
        let found = banking(&buffer, limit);
        prop_assert_eq!(found == Ok(None), fits(&all, &buffer));
        if let Ok(Some(Banking { factors, banks })) = found {
            let mut of_reads = all;
            let numbers: BTreeSet<Vec<u64>> = banks.iter().map(|bank| bank.number.clone()).collect();
            let number = |element: &[i128]| -> Vec<u64> {
                element.iter().zip(&factors).map(|(place, &factor)| place.rem_euclid(i128::from(factor)) as u64).collect()
            };
            of_reads.retain(|(_, _, element)| numbers.contains(&number(element)));
            let mut reader_banks: BTreeMap<usize, BTreeSet<Vec<u64>>> = BTreeMap::new();
            let mut of_banks = BTreeSet::new();
            for bank in &banks {
                prop_assert!(bank.buffer.check().is_ok());
                let own = accesses(&bank.buffer);
                prop_assert!(fits(&own, &bank.buffer));
                for (cycle, port, element) in own {
                    let places = element.iter().zip(&factors).zip(&bank.number);
                    let whole = places.map(|((place, &factor), &rest)| place * i128::from(factor) + i128::from(rest));
                    if bank.buffer.ports[port].direction == Direction::Read {
                        reader_banks.entry(bank.ports[port]).or_default().insert(bank.number.clone());
                    }
                    of_banks.insert((cycle, bank.ports[port], whole.collect()));
                }
            }
            prop_assert_eq!(of_banks, of_reads);
            prop_assert!(reader_banks.values().all(|banks| banks.len() == 1));
            prop_assert_eq!(reader_banks.len(), buffer.reads().count());
        }
    }

    /// Whatever is mapped is right: banks, tiles that several streams share, copies.
    #[test]
    fn several_streams_map_right_or_not_at_all(
        buffer in prop_oneof![lane_buffer(), pair(), image_buffer()],
        name in prop::sample::select(&TILES[..]),
    ) {
        let spec = spec(name);
        if let Ok(mapped) = map(&buffer, &spec) {
            let quick = replay(&buffer, &mapped, &spec);
            let full = replay_all(&buffer, &mapped, &spec);
            prop_assert_eq!(quick.as_ref().err(), full.as_ref().err());
            prop_assert_eq!(full.as_ref().err().map(|error| error.cycle), first_fault(&buffer, &mapped, &spec));
            // The replay finds words that are read before they are written.
            let blamed = full.as_ref().is_err_and(|error| error.fault == ErrorKind::NeverWritten);
            prop_assert!(blamed || full.is_ok(), "{}\n{:?}", buffer, full);
        }
    }
}
