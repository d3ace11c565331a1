//! The state of a random-access memory.

/// A memory of words, and the addresses of its reads.
pub(crate) struct RamState<Word = u16> {
    words: Vec<Word>,
    /// By read, its port.
    ports: Vec<usize>,
    /// The address of each port in the cycle before.
    addresses: Vec<usize>,
    /// By read, the address that its kernel gives in this cycle.
    pub given: Vec<usize>,
}

impl<Word: Copy + Default> RamState<Word> {
    /// A memory of so many words, with reads at these ports.
    pub fn new(words: usize, ports: Vec<usize>) -> Self {
        let count = ports.iter().map(|port| port + 1).max().unwrap_or(0);
        RamState { words: vec![Word::default(); words], addresses: vec![0; count], given: vec![0; ports.len()], ports }
    }

    /// The element that a read shows in a cycle with these writes, addresses and elements: they are seen. Beyond the memory there is none.
    pub fn shown(&self, read: usize, mut writes: impl Iterator<Item = (usize, Word)>) -> Word {
        let address = self.addresses[self.ports[read]];
        let written = writes.find(|(of, _)| *of == address).map(|(_, element)| element);
        written.or(self.words.get(address).copied()).unwrap_or_default()
    }

    /// Writes the elements of a cycle, given with their addresses.
    pub fn write(&mut self, writes: impl IntoIterator<Item = (usize, Word)>) {
        for (address, element) in writes {
            if let Some(word) = self.words.get_mut(address) {
                *word = element;
            }
        }
    }

    /// Takes the addresses of a cycle: at each port that of the first read that steps, else that of its last read.
    pub fn take(&mut self, steps: impl Fn(usize) -> bool) {
        for (port, address) in self.addresses.iter_mut().enumerate() {
            let of_port = || (0..self.ports.len()).filter(|&read| self.ports[read] == port);
            if let Some(read) = of_port().find(|&read| steps(read)).or_else(|| of_port().next_back()) {
                *address = self.given[read];
            }
        }
    }
}
