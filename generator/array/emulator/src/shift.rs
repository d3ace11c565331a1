//! Registers that take a value each cycle.

use crate::route::Slot;

/// A register, and what it takes.
pub type Step = (Slot, Slot);

/// Registers in an order in which they can take their values one after the other.
#[derive(Debug, Default)]
pub struct Shifts {
    /// Of each ring of registers, a copy of one of them, which is made first.
    copies: Vec<Step>,
    /// The registers: each behind all that take it.
    steps: Vec<Step>,
}

impl Shifts {
    /// Orders registers; none is there twice. `values` gets room for copies.
    pub fn new(mut taken: Vec<Step>, values: &mut Vec<u32>) -> Self {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); values.len()];
        let mut step_of = vec![None; values.len()];
        for (step, (register, source)) in taken.iter().enumerate() {
            step_of[*register as usize] = Some(step);
            readers[*source as usize].push(step);
        }
        let mut waiting: Vec<usize> = readers.iter().map(Vec::len).collect();
        let is_free = |step: &usize, waiting: &[usize]| waiting[taken[*step].0 as usize] == 0;
        let mut free: Vec<usize> = (0..taken.len()).filter(|step| is_free(step, &waiting)).collect();
        let mut is_done = vec![false; taken.len()];
        let mut shifts = Shifts::default();
        let mut rest = 0..taken.len();
        loop {
            while let Some(step) = free.pop() {
                let (register, source) = taken[step];
                is_done[step] = true;
                shifts.steps.push((register, source));
                // Nothing waits for a copy.
                let Some(of_source) = step_of.get(source as usize).copied().flatten() else { continue };
                waiting[source as usize] -= 1;
                if waiting[source as usize] == 0 {
                    free.push(of_source);
                }
            }
            // Only rings are left: those that take one of their registers take a copy of it.
            let Some(step) = rest.find(|step| !is_done[*step]) else { return shifts };
            let (register, _) = taken[step];
            let copy = values.len() as Slot;
            values.push(0);
            shifts.copies.push((copy, register));
            for reader in &readers[register as usize] {
                taken[*reader].1 = copy;
            }
            free.push(step);
        }
    }

    /// Ends a cycle.
    pub fn step(&self, values: &mut [u32]) {
        for (register, source) in self.copies.iter().chain(&self.steps) {
            values[*register as usize] = values[*source as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_take_what_was_there_before() {
        // A chain with a branch, a ring of three with a reader, and a register that holds itself.
        let taken = vec![(1, 0), (2, 1), (3, 2), (4, 1), (5, 7), (6, 5), (7, 6), (8, 6), (9, 9)];
        let mut values: Vec<u32> = (100..110).collect();
        let expected = {
            let mut next = values.clone();
            taken.iter().for_each(|(register, source): &Step| next[*register as usize] = values[*source as usize]);
            next
        };
        let shifts = Shifts::new(taken, &mut values);
        shifts.step(&mut values);
        assert_eq!(values[..10], expected);
    }
}
