//! The values that a configuration works with, next to each other.

use std::collections::BTreeSet;

use crate::route::Slot;

/// A register, and what it takes at the end of a cycle.
pub type Step = (Slot, Slot);

/// The place of a value that no part of the configuration works with.
const NOWHERE: u32 = u32::MAX;

/// Values, in an order in which most registers take that of their neighbour: all of them take it at once.
///
/// Slots of the array are sparse, places are dense.
#[derive(Debug, Default)]
pub struct Live {
    /// By place.
    pub values: Vec<u32>,
    /// Places by slot.
    places: Vec<u32>,
    /// As many values from the first on take the value before them.
    moved: usize,
    /// Registers that take another value, with the place at which that is after the move.
    others: Vec<Step>,
    /// The registers, by slot.
    registers: Vec<Slot>,
}

/// The order of the values that move.
struct Order<'a> {
    /// The registers that take a slot.
    readers: Vec<Vec<Slot>>,
    places: &'a mut [u32],
    /// Places that are given.
    length: u32,
    /// Registers that do not follow what they take, and how many of them have been visited.
    heads: Vec<Slot>,
    visited: usize,
}

impl Live {
    /// Lays out these registers, of which none is there twice, and what they take. `is_shown` says of values that are no registers whether they
    /// are set in each cycle before anything takes them. The values are those of `values`, by slot.
    pub fn new(taken: &[Step], is_shown: impl Fn(Slot) -> bool, values: &[u32]) -> Self {
        let mut places = vec![NOWHERE; values.len()];
        let mut sources = vec![None; values.len()];
        let readers = vec![Vec::new(); values.len()];
        let mut order = Order { readers, places: &mut places, length: 0, heads: Vec::new(), visited: 0 };
        for (register, source) in taken {
            sources[*register as usize] = Some(*source);
            order.readers[*source as usize].push(*register);
        }
        let roots: BTreeSet<Slot> = taken.iter().map(|(_, source)| *source).collect();
        for root in roots.into_iter().filter(|root| sources[*root as usize].is_none()) {
            match is_shown(root) {
                true => order.chain(root),
                // Its value stays where it is.
                false => order.heads.extend(&order.readers[root as usize]),
            }
            order.chains_of_heads();
        }
        // Rings are left.
        for (register, _) in taken {
            if order.places[*register as usize] == NOWHERE {
                order.heads.push(*register);
                order.chains_of_heads();
            }
        }
        let (moved, heads) = (order.length as usize, order.heads);
        let registers = taken.iter().map(|(register, _)| *register).collect();
        let mut live = Live { values: vec![0; moved], places, moved, others: Vec::new(), registers };
        for (slot, place) in live.places.iter().enumerate().filter(|(_, place)| **place != NOWHERE) {
            live.values[*place as usize] = values[slot];
        }
        for head in heads {
            let source = live.place(sources[head as usize].expect("a register takes something"), values);
            let is_moved = (source as usize) < moved;
            live.others.push((live.places[head as usize], source + u32::from(is_moved)));
        }
        live
    }

    /// The place of a slot. One that has none gets one that does not move, with the value of `values`.
    pub fn place(&mut self, slot: Slot, values: &[u32]) -> Slot {
        let place = &mut self.places[slot as usize];
        if *place == NOWHERE {
            *place = self.values.len() as u32;
            self.values.push(values[slot as usize]);
        }
        *place
    }

    /// The value of a slot, if it has a place.
    pub fn value(&self, slot: Slot) -> Option<u32> {
        let place = self.places.get(slot as usize).filter(|place| **place != NOWHERE)?;
        Some(self.values[*place as usize])
    }

    /// Puts the values of the registers back where they are by slot.
    pub fn keep(&self, values: &mut [u32]) {
        for slot in &self.registers {
            values[*slot as usize] = self.value(*slot).expect("registers have places");
        }
    }

    /// Ends a cycle: each register takes what its source was.
    pub fn step(&mut self) {
        if self.moved > 0 {
            self.values.copy_within(..self.moved - 1, 1);
        }
        for (register, source) in &self.others {
            self.values[*register as usize] = self.values[*source as usize];
        }
    }
}

impl Order<'_> {
    /// Gives places to a value, to a register that takes it, and so on. Other registers that take one of them are heads.
    fn chain(&mut self, first: Slot) {
        let mut next = Some(first);
        while let Some(slot) = next {
            self.places[slot as usize] = self.length;
            self.length += 1;
            let readers = &self.readers[slot as usize];
            let mut free = readers.iter().copied().filter(|reader| self.places[*reader as usize] == NOWHERE);
            next = free.next();
            self.heads.extend(free);
            // The head of this chain takes the last of it: that moves to a place of its own.
            self.length += u32::from(next.is_none() && !readers.is_empty());
        }
    }

    /// Gives places to the heads that have none, and to what takes them.
    fn chains_of_heads(&mut self) {
        while let Some(slot) = self.heads.get(self.visited).copied() {
            if self.places[slot as usize] == NOWHERE {
                self.chain(slot);
            }
            self.visited += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Random registers: chains, branches and rings, of shown values and of others.
    #[test]
    fn registers_take_what_was_there_before() {
        for seed in 0..2000 {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let slots = random.random_range(1..24);
            let mut values: Vec<u32> = (100..100 + slots).collect();
            let taken: Vec<Step> = (0..slots)
                .map(|register| (register, random.random_range(0..slots * 3 / 2)))
                .filter(|(_, source)| *source < slots)
                .collect();
            let is_register = |slot: Slot| taken.iter().any(|(register, _)| *register == slot);
            let is_shown = |slot: Slot| slot.is_multiple_of(2) && !is_register(slot);
            let mut live = Live::new(&taken, is_shown, &values);
            for cycle in 1..9 {
                for slot in (0..slots).filter(|slot| is_shown(*slot)) {
                    values[slot as usize] = cycle * 1000 + slot;
                    let place = live.place(slot, &values);
                    live.values[place as usize] = values[slot as usize];
                }
                let before = values.clone();
                taken.iter().for_each(|(register, source)| values[*register as usize] = before[*source as usize]);
                live.step();
                let mut found = values.clone();
                taken.iter().for_each(|(register, _)| found[*register as usize] = 0);
                live.keep(&mut found);
                assert_eq!(found, values, "seed {seed}, cycle {cycle}: {taken:?}");
            }
        }
    }
}
