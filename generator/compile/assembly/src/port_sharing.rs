//! Port sharing (dissertation §5.1.1; paper §V-C): reads of the same element in the same cycle are one read port of a memory,
//! whichever stages they are of.

use std::collections::HashMap;

use pushmem_affine::Affine;
use pushmem_buffers::{Loop, Port};

/// The functions of a port: its domain, its access and its schedule. Names are those of wires, and make no difference.
type Functions = (Vec<Loop>, Vec<Affine>, Affine);

/// Read ports that may be shared, by their functions.
#[derive(Default)]
pub(crate) struct SharedPorts {
    numbers: HashMap<Functions, usize>,
}

impl SharedPorts {
    /// Adds a read port to those of a buffer, unless one has the same functions. Returns the number of the one that is there.
    pub fn add(&mut self, ports: &mut Vec<Port>, port: Port) -> usize {
        let functions = (port.domain.clone(), port.access.clone(), port.schedule.clone());
        *self.numbers.entry(functions).or_insert_with(|| {
            ports.push(port);
            ports.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use pushmem_buffers::Direction;

    use super::*;

    #[test]
    fn ports_of_the_same_functions_are_one() {
        let port = |name: &str, start| Port {
            name: name.to_owned(),
            direction: Direction::Read,
            domain: vec![Loop { name: "x".to_owned(), extent: 8 }],
            access: vec![Affine { start: 0, stride: vec![1] }],
            schedule: Affine { start, stride: vec![1] },
        };
        let (mut ports, mut shared) = (vec![port("write", 0)], SharedPorts::default());
        let numbers = [("a", 3), ("b", 4), ("c", 3)].map(|(name, start)| shared.add(&mut ports, port(name, start)));
        assert_eq!(numbers, [1, 2, 1]);
        assert_eq!(ports.iter().map(|port| port.name.as_str()).collect::<Vec<_>>(), ["write", "a", "b"]);
    }
}
