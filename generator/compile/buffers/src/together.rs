//! Several buffers as one.

use pushmem_affine::Affine;

use crate::buffer::{Port, UnifiedBuffer};

impl UnifiedBuffer {
    /// Buffers side by side in one: their ports one after the other, with one more dimension, the number of the buffer
    /// that an element is of. To map them together, so that they share tiles.
    pub fn together(buffers: &[&UnifiedBuffer]) -> UnifiedBuffer {
        let ports = || {
            buffers.iter().enumerate().flat_map(|(number, buffer)| buffer.ports.iter().map(move |port| (number, port)))
        };
        let dimensions = ports().map(|(_, port)| port.access.len()).max().unwrap_or(0);
        let constant = |port: &Port, start: usize| Affine { start: start as i64, stride: vec![0; port.domain.len()] };
        let port = |(number, port): (usize, &Port)| {
            let mut access = port.access.clone();
            access.resize_with(dimensions, || constant(port, 0));
            access.push(constant(port, number));
            Port { name: format!("{}.{number}.{}", buffers[number].name, port.name), access, ..port.clone() }
        };
        let name = buffers.iter().map(|buffer| buffer.name.as_str()).collect::<Vec<_>>().join(" and ");
        UnifiedBuffer { name, ports: ports().map(port).collect() }
    }
}
