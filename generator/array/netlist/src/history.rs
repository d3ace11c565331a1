//! The values of outputs in the last cycles.

/// The values of all outputs: for each a ring, as long as a power of two.
pub(crate) struct Histories<Value> {
    values: Vec<Value>,
}

/// An output: the place of its ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    first: usize,
    mask: usize,
}

/// Where an input takes its value: an output, and how many cycles ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    output: Output,
    cycles: usize,
}

impl Output {
    /// Its value so many cycles ago.
    pub fn taken(self, cycles: usize) -> Taken {
        Taken { output: self, cycles }
    }

    fn place(self, cycle: usize) -> usize {
        self.first + (cycle & self.mask)
    }
}

impl<Value: Copy + From<u32>> Histories<Value> {
    /// Those of no outputs.
    pub fn new() -> Self {
        Histories { values: Vec::new() }
    }

    /// Room for the values of so many cycles of one more output, with the value of each before the first.
    pub fn add(&mut self, cycles: usize, before: Value) -> Output {
        let (first, length) = (self.values.len(), cycles.next_power_of_two());
        self.values.resize(first + length, before);
        Output { first, mask: length - 1 }
    }

    /// Puts the value of an output in a cycle.
    #[inline]
    pub fn put(&mut self, output: Output, cycle: usize, value: Value) {
        self.values[output.place(cycle)] = value;
    }

    /// The value that an input takes in a cycle.
    #[inline]
    pub fn value(&self, Taken { output, cycles }: Taken, cycle: usize) -> Value {
        self.values[output.place(cycle.wrapping_sub(cycles))]
    }

    /// Whether an output had the same values before a cycle as in other histories before another cycle.
    pub fn are_those_of(&self, output: Output, cycle: usize, other: &Self, other_cycle: usize) -> bool
    where
        Value: PartialEq,
    {
        let value = |of: &Self, cycle: usize, age: usize| of.values[output.place(cycle.wrapping_sub(age))];
        (1..=output.mask + 1).all(|age| value(self, cycle, age) == value(other, other_cycle, age))
    }

    /// The values that an input takes in cycles from a first one on, as many as there is room for; 0 of one that takes none.
    pub fn copy(&self, taken: Option<Taken>, cycle: usize, to: &mut [Value]) {
        let Some(Taken { output, cycles }) = taken else { return to.fill(0.into()) };
        let Output { first, mask } = output;
        let begin = cycle.wrapping_sub(cycles) & mask;
        let (before, after) = to.split_at_mut(to.len().min(mask + 1 - begin));
        before.copy_from_slice(&self.values[first + begin..][..before.len()]);
        after.copy_from_slice(&self.values[first..][..after.len()]);
    }

    /// Puts the values of an output in cycles from a first one on.
    pub fn paste(&mut self, Output { first, mask }: Output, cycle: usize, from: &[Value]) {
        let begin = cycle & mask;
        let (before, after) = from.split_at(from.len().min(mask + 1 - begin));
        self.values[first + begin..][..before.len()].copy_from_slice(before);
        self.values[first..][..after.len()].copy_from_slice(after);
    }
}
