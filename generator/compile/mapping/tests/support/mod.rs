//! Specifications and buffers for tests.
#![allow(dead_code)]

pub mod brute;

use std::path::Path;

use proptest::prelude::*;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Loop, Port, UnifiedBuffer};
use pushmem_files::Document;
use pushmem_tile::TileSpec;

/// A specification of the repository.
pub fn spec(name: &str) -> TileSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../constraints/tiles/{name}.yaml"));
    TileSpec::from_document(&Document::read(&path).unwrap()).unwrap()
}

/// The specifications that every case is mapped to.
pub const SPECS: [&str; 7] = ["amber", "onyx", "fetch2", "fetch8", "dual_port", "quad_port", "word32"];

/// An affine function.
pub fn affine(start: i64, stride: &[i64]) -> Affine {
    Affine { start, stride: stride.to_vec() }
}

/// A port: extents, element by dimension, schedule.
pub fn port(name: &str, direction: Direction, extents: &[u64], access: &[Affine], schedule: Affine) -> Port {
    let domain =
        extents.iter().enumerate().map(|(level, &extent)| Loop { name: format!("i{level}"), extent }).collect();
    Port { name: name.to_owned(), direction, domain, access: access.to_vec(), schedule }
}

/// A buffer with one write port and some reads.
pub fn buffer(write: (&[u64], Vec<Affine>, Affine), reads: Vec<(&[u64], Vec<Affine>, Affine)>) -> UnifiedBuffer {
    let mut ports = vec![port("in", Direction::Write, write.0, &write.1, write.2)];
    for (number, read) in reads.into_iter().enumerate() {
        ports.push(port(&format!("out{number}"), Direction::Read, read.0, &read.1, read.2));
    }
    UnifiedBuffer { name: "buffer".to_owned(), ports }
}

/// A stream in loops of (extent, cycles), read again after each of some delays.
pub fn delays(levels: &[(u64, i64)], start: i64, delays: &[i64]) -> UnifiedBuffer {
    let extents: Vec<u64> = levels.iter().map(|level| level.0).collect();
    let cycles: Vec<i64> = levels.iter().map(|level| level.1).collect();
    let identity: Vec<Affine> = (0..levels.len())
        .map(|level| affine(0, &(0..levels.len()).map(|other| i64::from(other == level)).collect::<Vec<_>>()))
        .collect();
    let reads =
        delays.iter().map(|delay| (extents.as_slice(), identity.clone(), affine(start + delay, &cycles))).collect();
    buffer((&extents, identity.clone(), affine(start, &cycles)), reads)
}

/// The line buffer of a 64×64 image.
pub fn gaussian() -> UnifiedBuffer {
    delays(&[(64, 1), (64, 64)], 0, &[64, 128])
}

/// Upsampling by two.
pub fn upsample() -> UnifiedBuffer {
    buffer(
        (&[64, 64], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[2, 256])),
        vec![(
            &[2, 64, 2, 64],
            vec![affine(0, &[0, 1, 0, 0]), affine(0, &[0, 0, 0, 1])],
            affine(12, &[1, 2, 128, 256]),
        )],
    )
}

/// Windows of five on rows of 32, the window inside, with some cycles of padding after a row (example A of the
/// dissertation §5.5).
pub fn sliding_a(padding: i64) -> UnifiedBuffer {
    let row = 160 + padding;
    buffer(
        (&[36, 8], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, row])),
        vec![(&[5, 32, 8], vec![affine(0, &[1, 1, 0]), affine(0, &[0, 0, 1])], affine(48, &[1, 5, row]))],
    )
}

/// Windows of five on rows of 32, the row inside, with some cycles of padding (example B of the dissertation §5.5).
pub fn sliding_b(padding: i64) -> UnifiedBuffer {
    let row = 32 + padding;
    buffer(
        (&[36, 8], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, 5 * row])),
        vec![(&[32, 5, 8], vec![affine(0, &[1, 1, 0]), affine(0, &[0, 0, 1])], affine(44, &[1, row, 5 * row]))],
    )
}

/// Convolution of a 30×30 image: the image is read once for each weight.
pub fn convolution() -> UnifiedBuffer {
    buffer(
        (&[30, 30], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, 30])),
        vec![(
            &[28, 28, 3, 3],
            vec![affine(0, &[1, 0, 1, 0]), affine(0, &[0, 1, 0, 1])],
            affine(912, &[1, 32, 896, 2688]),
        )],
    )
}

/// A 64×64 image read at every second place of every second row.
pub fn downsample() -> UnifiedBuffer {
    buffer(
        (&[64, 64], vec![affine(0, &[1, 0]), affine(0, &[0, 1])], affine(0, &[1, 64])),
        vec![(&[32, 32], vec![affine(0, &[2, 0]), affine(0, &[0, 2])], affine(80, &[2, 128]))],
    )
}

/// A matrix of 16×16 after the other, written by rows and read by columns while the next is written.
pub fn transposition(pace: i64) -> UnifiedBuffer {
    let matrix = 256 * pace;
    let page = affine(0, &[0, 0, 1]);
    buffer(
        (
            &[16, 16, 8],
            vec![affine(0, &[1, 0, 0]), affine(0, &[0, 1, 0]), page.clone()],
            affine(0, &[pace, 16 * pace, matrix]),
        ),
        vec![(
            &[16, 16, 8],
            vec![affine(0, &[0, 1, 0]), affine(0, &[1, 0, 0]), page],
            affine(matrix + 3, &[pace, 16 * pace, matrix]),
        )],
    )
}

/// Tiles of 8×8, each read three times while the next is written.
pub fn double_buffer() -> UnifiedBuffer {
    let page = |levels: usize| affine(0, &[vec![0; levels - 1], vec![1]].concat());
    buffer(
        (&[8, 8, 10], vec![affine(0, &[1, 0, 0]), affine(0, &[0, 1, 0]), page(3)], affine(0, &[3, 24, 192])),
        vec![(
            &[8, 8, 3, 10],
            vec![affine(0, &[1, 0, 0, 0]), affine(0, &[0, 1, 0, 0]), page(4)],
            affine(200, &[1, 8, 64, 192]),
        )],
    )
}

/// Partial sums: each of 64 is written and read in each of nine rounds, and read once more at the end.
pub fn accumulator() -> UnifiedBuffer {
    buffer(
        (&[64, 9], vec![affine(0, &[1, 0])], affine(0, &[1, 64])),
        vec![
            (&[64, 8], vec![affine(0, &[1, 0])], affine(50, &[1, 64])),
            (&[64], vec![affine(0, &[1])], affine(600, &[1])),
        ],
    )
}

/// Sums in rows with pauses, of any size and at any distance: written by two ports, read by two, in fewer rounds and layers
/// than these.
pub fn sums(rounds: u64, layers: u64) -> impl Strategy<Value = UnifiedBuffer> {
    let shape = (1_u64..20, 1_u64..10, 1..rounds, 1..layers);
    let time = (1_i64..3, 0_i64..6, 0_i64..20, 1_i64..20, (0_i64..40, 0_i64..40, 0_i64..30));
    // Rows from which the ports leave out words at an end.
    let trims = prop::collection::vec(prop::sample::select(&[0_u64, 0, 0, 0, 0, 1][..]), 4);
    (shape, time, trims, any::<bool>()).prop_map(|(shape, time, trims, columns)| {
        let (width, height, rounds, layers) = shape;
        let (pace, pause, pause_of_round, latency, (first, last, between)) = time;
        let row = pace * width as i64 + pause;
        let round = row * height as i64 + pause_of_round;
        let start = round + first;
        let drain = start + rounds as i64 * round + last;
        let period = drain - start.min(between * 8) + between;
        let direction = |port: usize| if port.is_multiple_of(2) { Direction::Write } else { Direction::Read };
        let (x, y) = if columns { (1, 0) } else { (0, 1) };
        let ports =
            ["init", "update_read", "update_write", "drain"].into_iter().zip([0, start, start + latency, drain]);
        let ports = ports.zip(trims).enumerate().map(|(number, ((name, start), trim))| {
            let rounds = if number == 1 || number == 2 { rounds } else { 1 };
            let width = width.saturating_sub(trim).max(1);
            let dimension = |place: usize| {
                let along = [x, y, 2];
                affine(0, &[i64::from(along[0] == place), i64::from(along[1] == place), 0, i64::from(place == 2)])
            };
            let access = [dimension(0), dimension(1), dimension(2)];
            port(
                name,
                direction(number),
                &[width, height, rounds, layers],
                &access,
                affine(start, &[pace, row, round, period]),
            )
        });
        UnifiedBuffer { name: "sums".to_owned(), ports: ports.collect() }
    })
}
