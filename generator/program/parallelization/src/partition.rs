//! The banks of arrays that unroll factors need (HIDA, Table 6).

use num_integer::Integer;
use serde::Serialize;

use crate::dataflow::{Dataflow, NodeAccess};

/// The banks of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Partition {
    /// The array.
    pub array: String,
    /// Banks in each dimension, the innermost first.
    pub factors: Vec<i64>,
    /// Banks in all.
    pub banks: i64,
}

/// The banks in each dimension that an access needs: as many as there are elements side by side.
fn of_access(access: &NodeAccess, unroll: &[i64]) -> Vec<i64> {
    let of_dimension = |loops: &Vec<(usize, i64)>| match loops[..] {
        [(place, stride)] if unroll[place] > 1 => unroll[place] * stride,
        _ => 1 + loops.iter().map(|&(place, stride)| (unroll[place] - 1) * stride).sum::<i64>(),
    };
    access.dimensions.iter().map(of_dimension).collect()
}

/// The words of banks that the lanes of an access choose from: a lane whose element comes from another bank in other iterations of a loop
/// goes through all of them.
pub(crate) fn choices(access: &NodeAccess, unroll: &[i64], extent: impl Fn(usize) -> i64) -> i64 {
    let of_dimension = |(loops, banks): (&Vec<(usize, i64)>, i64)| {
        let turns = loops.iter().any(|&(place, stride)| {
            let step = unroll[place] * stride;
            unroll[place] < extent(place) && step % banks != 0
        });
        if turns { banks } else { 1 }
    };
    access.dimensions.iter().zip(of_access(access, unroll)).map(of_dimension).product()
}

impl Dataflow {
    /// The banks in each dimension of an array for the nodes that have factors; none if no access of these is to it.
    pub(crate) fn factors_of<'a>(&self, array: usize, unroll: impl Fn(usize) -> Option<&'a [i64]>) -> Vec<i64> {
        let mut all: Vec<i64> = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(unroll) = unroll(number) else { continue };
            for access in node.accesses().filter(|access| access.array == array) {
                let own = of_access(access, unroll);
                all.resize(own.len(), 1);
                all.iter_mut().zip(own).for_each(|(all, own)| *all = all.lcm(&own));
            }
        }
        all
    }

    /// The banks of each array that some node accesses, with these factors for the loops of each node.
    pub fn partitions(&self, unroll: &[Vec<i64>]) -> Vec<Partition> {
        let of_array = |(array, name): (usize, &String)| {
            let factors = self.factors_of(array, |node| Some(&unroll[node]));
            let banks = factors.iter().product();
            (!factors.is_empty()).then(|| Partition { array: name.clone(), factors, banks })
        };
        self.arrays.iter().enumerate().filter_map(of_array).collect()
    }
}
