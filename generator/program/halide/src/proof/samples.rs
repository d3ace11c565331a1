//! The pixels of an output that are compared where all of them are too many.
//!
//! The inferred indices change at edges: of the image, of a tile, of a part of a partitioned loop. Pixels on both sides of these
//! are compared before any at random, which are hardly ever there.

use itertools::Itertools;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::boundaries::Edges;

/// How many pixels are taken at random.
const RANDOM: i64 = 64;

/// Flat places of an output, each once, the most important first: the corners; for each dimension pixels on and beside its
/// edges, and then where edges of definitions are seen, at random places of the other dimensions; where edges of all dimensions
/// meet; pixels at random, one in each of as many strips of each dimension.
pub(crate) fn samples(shape: &[i64], of_definitions: &Edges, random: &mut ChaCha8Rng) -> Vec<i64> {
    let mut points: Vec<Vec<i64>> = shape.iter().map(|extent| [0, extent - 1]).multi_cartesian_product().collect();
    let within = |dimension: usize, coordinates: Vec<i64>| -> Vec<i64> {
        let extent = shape[dimension];
        coordinates.into_iter().filter(|at| (0..extent).contains(at)).unique().collect()
    };
    let edges = |dimension: usize| within(dimension, vec![0, shape[dimension] - 1, 1, shape[dimension] - 2]);
    let inner = |dimension: usize| {
        let ranges = of_definitions.get(dimension).into_iter().flatten();
        within(dimension, ranges.flat_map(|(low, high)| [*low, *high]).collect())
    };
    let (edges, mut inner): (Vec<_>, Vec<_>) =
        (0..shape.len()).map(|dimension| (edges(dimension), inner(dimension))).unzip();
    for coordinates in [&edges, &inner] {
        for (dimension, coordinates) in coordinates.iter().enumerate() {
            for &coordinate in coordinates {
                let mut point: Vec<i64> = shape.iter().map(|&extent| random.random_range(0..extent)).collect();
                point[dimension] = coordinate;
                points.push(point);
            }
        }
    }
    if inner.iter().all(|coordinates| !coordinates.is_empty()) {
        inner.iter_mut().for_each(|coordinates| coordinates.shuffle(random));
        let most = inner.iter().map(Vec::len).max().unwrap_or(0);
        points.extend((0..most).map(|turn| inner.iter().map(|each| each[turn % each.len()]).collect()));
    }
    let mut strips: Vec<Vec<i64>> = vec![(0..RANDOM).collect(); shape.len()];
    strips.iter_mut().for_each(|strips| strips.shuffle(random));
    for turn in 0..RANDOM as usize {
        let in_strip = |(extent, strips): (&i64, &Vec<i64>)| {
            let start = |strip: i64| (i128::from(*extent) * i128::from(strip) / i128::from(RANDOM)) as i64;
            let (first, next) = (start(strips[turn]), start(strips[turn] + 1));
            random.random_range(first..next.max(first + 1))
        };
        points.push(shape.iter().zip(&strips).map(in_strip).collect());
    }
    let place = |point: Vec<i64>| point.iter().zip(shape).rev().fold(0, |place, (at, extent)| place * extent + at);
    points.into_iter().map(place).unique().collect()
}
