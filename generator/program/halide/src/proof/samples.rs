//! The pixels of an output that are compared where all of them are too many.
//!
//! Indices change at edges: of the image, and of the parts that nests write. Pixels on both sides of these are compared before any at
//! random, which are hardly ever there.

use itertools::Itertools;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// How many pixels are taken at random.
const RANDOM: i64 = 64;

/// Flat places of an output, each once, the most important first: the corners; for each dimension pixels on and beside its edges, and
/// those of its parts, at random places of the other dimensions; pixels at random, one in each of as many strips of each dimension.
/// Of each dimension, `parts` are the coordinates where parts of the output begin and end.
pub(crate) fn samples(shape: &[i64], parts: &[Vec<i64>], random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut points: Vec<Vec<i64>> = shape.iter().map(|extent| [0, extent - 1]).multi_cartesian_product().collect();
    for (dimension, extent) in shape.iter().enumerate() {
        let edges = [0, extent - 1, 1, extent - 2].into_iter();
        let parts = parts.get(dimension).into_iter().flatten().flat_map(|at| [*at, at - 1, at + 1]);
        for coordinate in edges.chain(parts).filter(|at| (0..*extent).contains(at)).unique() {
            let mut point: Vec<i64> = shape.iter().map(|&extent| random.random_range(0..extent)).collect();
            point[dimension] = coordinate;
            points.push(point);
        }
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
    let place =
        |point: Vec<i64>| point.iter().zip(shape).rev().fold(0, |place, (at, extent)| place * extent + at) as usize;
    points.into_iter().map(place).unique().collect()
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn corners_and_edges_come_before_random_pixels() {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let found = samples(&[1000, 500], &[vec![300], vec![]], &mut random);
        assert_eq!(found[..4], [0, 499_000, 999, 499_999]);
        for column in [1, 998, 299, 300, 301] {
            assert!(found[..30].iter().any(|place| place % 1000 == column), "{column}");
        }
        assert!((70..90).contains(&found.len()));
        assert_eq!(samples(&[1, 2], &[], &mut random), [0, 1]);
    }
}
