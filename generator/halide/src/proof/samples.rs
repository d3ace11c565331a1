//! The pixels of an output that are compared where all of them are too many.
//!
//! What is inferred changes at edges: of the image, of a tile, of a part of a partitioned loop. Pixels on both sides of these
//! are compared before any at random, which are hardly ever there.

use std::collections::BTreeSet;

use itertools::Itertools;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// How many pixels are taken at random.
const RANDOM: usize = 16;

/// Coordinates of which both sides are compared, of each dimension.
pub(crate) type Boundaries = Vec<BTreeSet<i64>>;

/// Adds both ends of a range, with the coordinates beyond.
pub(crate) fn add_ends(boundaries: &mut Boundaries, dimension: usize, (low, high): (i64, i64)) {
    if boundaries.len() <= dimension {
        boundaries.resize(dimension + 1, BTreeSet::new());
    }
    boundaries[dimension].extend([low - 1, low, high, high + 1]);
}

/// Flat places of an output, each once, the most important first: the corners; for each dimension pixels on and beside its
/// edges, and then on both sides of the boundaries, at random places of the other dimensions; pixels at random.
pub(crate) fn samples(shape: &[i64], boundaries: &Boundaries, random: &mut ChaCha8Rng) -> Vec<i64> {
    let mut points: Vec<Vec<i64>> = shape.iter().map(|extent| [0, extent - 1]).multi_cartesian_product().collect();
    let mut anywhere = || shape.iter().map(|&extent| random.random_range(0..extent)).collect::<Vec<i64>>();
    let edges = |dimension: usize| {
        let extent = shape[dimension];
        [0, extent - 1, 1, extent - 2].to_vec()
    };
    let inner = |dimension: usize| boundaries.get(dimension).into_iter().flatten().copied().collect();
    for coordinates in [&edges as &dyn Fn(usize) -> Vec<i64>, &inner] {
        for dimension in 0..shape.len() {
            for coordinate in coordinates(dimension) {
                if (0..shape[dimension]).contains(&coordinate) {
                    let mut point = anywhere();
                    point[dimension] = coordinate;
                    points.push(point);
                }
            }
        }
    }
    points.extend((0..RANDOM).map(|_| anywhere()));
    let place = |point: Vec<i64>| point.iter().zip(shape).rev().fold(0, |place, (at, extent)| place * extent + at);
    points.into_iter().map(place).unique().collect()
}
