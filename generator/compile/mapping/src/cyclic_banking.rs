//! Cyclic banking: a buffer that needs more ports in a cycle than a memory has becomes several (dissertation §5.2.1).

use foldhash::HashMap;
use std::collections::BTreeSet;

use itertools::Itertools;
use num_integer::gcd;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Loop, Port, UnifiedBuffer};

use crate::nest::Nest;
use crate::rounds::cut;

/// Most accesses that counting the ports of a cycle enumerates.
const ENUMERATION_LIMIT: u128 = 1 << 20;

/// How many ports of each direction a memory serves in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLimit {
    /// Ports that write.
    pub writes: usize,
    /// Ports that read.
    pub reads: usize,
}

impl PortLimit {
    fn of(self, direction: Direction) -> usize {
        match direction {
            Direction::Write => self.writes,
            Direction::Read => self.reads,
        }
    }
}

/// A partition of a buffer: coordinate `d` of an element modulo `factors[d]` selects its bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banking {
    /// The cyclic partition factor of each dimension, innermost first.
    pub factors: Vec<u64>,
    /// The banks that are read, in the order of their numbers.
    pub banks: Vec<Bank>,
}

/// The part of a buffer in one bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// Coordinates modulo the factors: the function f of equation 5.4.
    pub number: Vec<u64>,
    /// The ports, restricted to their accesses of this bank; elements are coordinates divided by the factors, the function
    /// g of equation 5.5.
    pub buffer: UnifiedBuffer,
    /// The number of each port in the whole buffer.
    pub ports: Vec<usize>,
}

impl Bank {
    /// A buffer as its only bank.
    pub(crate) fn whole(buffer: &UnifiedBuffer) -> Bank {
        Bank { number: Vec::new(), buffer: buffer.clone(), ports: (0..buffer.ports.len()).collect() }
    }
}

/// Partitions a buffer in which more ports are active in a cycle than the limit, so that in no cycle a bank is. Nothing when
/// that is so without banks.
///
/// The factors are those of the dissertation: where all ports of a group that is active together have a constant coordinate,
/// the size of the dimension; elsewhere the greatest common divisor of their strides. A read stays in one bank, so that no
/// network between banks and ports is needed; a write may go through several, each of which takes the words that are its own.
///
/// # Errors
/// Why there is no such partition.
pub fn banking(buffer: &UnifiedBuffer, limit: PortLimit) -> Result<Option<Banking>, String> {
    apart(buffer, limit, limit)
}

/// Finer partitions, for a buffer that has too many ports although they take turns: a memory has an input for each port that
/// writes. First the one in which ports that are active together have banks of their own, as lanes of unrolled loops do, then
/// the finest in which each read stays in one bank.
pub(crate) fn finer(buffer: &UnifiedBuffer, limit: PortLimit) -> impl Iterator<Item = Banking> {
    let lanes = apart(buffer, PortLimit { writes: 1, reads: 1 }, limit).ok().flatten();
    let reads = buffer.reads().map(|(number, _)| number).collect_vec();
    let finest = partition(buffer, factors(buffer, &reads, &sizes(buffer)), limit).ok();
    lanes.into_iter().chain(finest).dedup_by(|one, other| one.factors == other.factors)
}

/// Partitions a buffer for the ports of which more are active in a cycle than `together`, so that in no cycle more than
/// `limit` use a bank.
fn apart(buffer: &UnifiedBuffer, together: PortLimit, limit: PortLimit) -> Result<Option<Banking>, String> {
    let nests: Vec<Nest> = buffer.ports.iter().map(Nest::of_schedule).collect();
    let busy: Vec<Vec<usize>> = [Direction::Write, Direction::Read]
        .into_iter()
        .flat_map(|direction| {
            let ports: Vec<usize> = buffer.directed(direction).map(|(number, _)| number).collect();
            let mut groups = overlapping(&nests, ports);
            let nests = |group: &Vec<usize>| group.iter().map(|&port| &nests[port]).collect_vec();
            groups.retain(|group| exceeds(&nests(group), together.of(direction)));
            groups
        })
        .collect();
    if busy.is_empty() {
        return Ok(None);
    }
    let sizes = sizes(buffer);
    // No read leaves its bank if the factors divide these.
    let reads: Vec<usize> = buffer.reads().map(|(number, _)| number).collect();
    let mut factors_of_buffer = factors(buffer, &reads, &sizes);
    for group in &busy {
        for (factor, of_group) in factors_of_buffer.iter_mut().zip(factors(buffer, group, &sizes)) {
            *factor = gcd(*factor, of_group);
        }
    }
    partition(buffer, factors_of_buffer, limit).map(Some)
}

/// A partition by these factors, if in no cycle more ports than the limit use a bank.
fn partition(buffer: &UnifiedBuffer, factors: Vec<u64>, limit: PortLimit) -> Result<Banking, String> {
    if factors.iter().all(|&factor| factor == 1) {
        return Err("its reads go through all banks".to_owned());
    }
    let banks = split(buffer, &factors)?;
    for bank in &banks {
        for direction in [Direction::Write, Direction::Read] {
            let ports = bank.buffer.directed(direction).map(|(_, port)| Nest::of_schedule(port)).collect_vec();
            if exceeds(&ports.iter().collect_vec(), limit.of(direction)) {
                return Err(format!(
                    "with factors {factors:?}, more than {} of the ports {} {} bank {:?} in a cycle",
                    limit.of(direction),
                    bank.buffer.directed(direction).map(|(_, port)| &port.name).join(", "),
                    direction.name(),
                    bank.number
                ));
            }
        }
    }
    Ok(Banking { factors, banks })
}

/// The size of each dimension: the coordinates that ports touch.
fn sizes(buffer: &UnifiedBuffer) -> Vec<u64> {
    let dimensions = buffer.ports.first().map_or(0, |port| port.access.len());
    (0..dimensions)
        .map(|dimension| {
            let ranges = buffer.ports.iter().map(|port| port.range(&port.access[dimension]));
            let (low, high) = ranges
                .fold((i128::MAX, i128::MIN), |(low, high), range| (low.min(*range.start()), high.max(*range.end())));
            (high - low + 1) as u64
        })
        .collect()
}

/// The partition factors for a group of ports.
fn factors(buffer: &UnifiedBuffer, group: &[usize], sizes: &[u64]) -> Vec<u64> {
    let stride = |dimension: usize| {
        group.iter().fold(0, |divisor, &number| {
            let port = &buffer.ports[number];
            let levels = port.access[dimension].stride.iter().zip(&port.domain);
            levels.filter(|(_, level)| level.extent > 1).fold(divisor, |divisor, (&stride, _)| gcd(stride, divisor))
        })
    };
    sizes
        .iter()
        .enumerate()
        .map(|(dimension, &size)| match stride(dimension) {
            0 => size,
            divisor => divisor as u64,
        })
        .collect()
}

/// The ports in groups, such that ports of different groups are never active in the same cycle.
fn overlapping(nests: &[Nest], ports: Vec<usize>) -> Vec<Vec<usize>> {
    // Lanes mostly have the same schedule: each is compared once.
    let mut number: HashMap<&Nest, usize> = HashMap::default();
    let mut alike: Vec<Vec<usize>> = Vec::new();
    for port in ports {
        let place = *number.entry(&nests[port]).or_insert(alike.len());
        if place == alike.len() {
            alike.push(Vec::new());
        }
        alike[place].push(port);
    }
    let nest = |place: usize| &nests[alike[place][0]];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in 0..alike.len() {
        let meets = |group: &Vec<usize>| group.iter().any(|&other| !nest(place).never_meets(0, nest(other), 0));
        let (mut joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = apart;
        joined.push(vec![place]);
        groups.push(joined.concat());
    }
    groups.into_iter().map(|group| group.into_iter().flat_map(|place| alike[place].clone()).collect()).collect()
}

/// Whether more than `limit` of these fire in some cycle. Where there are too many firings to count, it is as if they all did
/// that are not known to be apart.
fn exceeds(nests: &[&Nest], limit: usize) -> bool {
    if nests.len() <= limit {
        return false;
    }
    let short = cut(nests);
    if short.iter().map(|nest| nest.firings()).sum::<u128>() > ENUMERATION_LIMIT {
        let nests = nests.iter().map(|nest| (*nest).clone()).collect_vec();
        return overlapping(&nests, (0..nests.len()).collect()).iter().any(|group| group.len() > limit);
    }
    short.iter().map(|nest| nest.cycles()).kmerge().dedup_with_count().any(|(count, _)| count > limit)
}

/// The banks that are read.
fn split(buffer: &UnifiedBuffer, factors: &[u64]) -> Result<Vec<Bank>, String> {
    let number = |port: &Port| {
        let places = port.access.iter().zip(factors);
        places.map(|(function, &factor)| function.start.rem_euclid(factor as i64) as u64).collect_vec()
    };
    let numbers: BTreeSet<Vec<u64>> = buffer.reads().map(|(_, port)| number(port)).collect();
    let bank = |number: Vec<u64>| {
        let mut ports = Vec::new();
        let mut restricted = Vec::new();
        for (place, port) in buffer.ports.iter().enumerate() {
            if let Some(port) = restrict(port, factors, &number)? {
                ports.push(place);
                restricted.push(port);
            }
        }
        let name = format!("{}[{}]", buffer.name, number.iter().join(", "));
        Ok(Bank { number, buffer: UnifiedBuffer { name, ports: restricted }, ports })
    };
    numbers.into_iter().map(bank).collect()
}

/// The accesses of a port that are in a bank, if there are any.
fn restrict(port: &Port, factors: &[u64], number: &[u64]) -> Result<Option<Port>, String> {
    let stays_elsewhere = |((function, &factor), &place): ((&Affine, &u64), &u64)| {
        let moves = |(stride, level): (&i64, &Loop)| level.extent > 1 && stride % factor as i64 != 0;
        function.start.rem_euclid(factor as i64) != place as i64 && !function.stride.iter().zip(&port.domain).any(moves)
    };
    if port.access.iter().zip(factors).zip(number).any(stays_elsewhere) {
        return Ok(None);
    }
    let mut port = port.clone();
    for (dimension, (&factor, &place)) in factors.iter().zip(number).enumerate() {
        let (factor, place) = (factor as i64, place as i64);
        let function = &mut port.access[dimension];
        for (stride, level) in function.stride.iter_mut().zip(&port.domain) {
            if level.extent == 1 {
                *stride = 0;
            }
        }
        let moving = function.stride.iter().positions(|stride| stride % factor != 0).collect_vec();
        let start = function.start;
        match *moving {
            [] => {}
            [level] => {
                let stride = function.stride[level];
                let period = factor / gcd(stride, factor);
                match (0..period).find(|index| (start + stride * index).rem_euclid(factor) == place) {
                    Some(first) if (first as u64) < port.domain[level].extent => thin(&mut port, level, first, period),
                    _ => return Ok(None),
                }
            }
            _ => {
                let names = moving.iter().map(|&level| &port.domain[level].name).join(", ");
                return Err(format!("{} goes from bank to bank along several loops: {names}", port.name));
            }
        }
        let function = &mut port.access[dimension];
        function.start = (function.start - place) / factor;
        function.stride.iter_mut().for_each(|stride| *stride /= factor);
    }
    Ok(Some(port))
}

/// Keeps every `period`-th iteration of a loop, from `first` on.
fn thin(port: &mut Port, level: usize, first: i64, period: i64) {
    let extent = &mut port.domain[level].extent;
    *extent = (*extent - first as u64).div_ceil(period as u64);
    for function in port.access.iter_mut().chain([&mut port.schedule]) {
        function.start += function.stride[level] * first;
        function.stride[level] *= period;
    }
}
