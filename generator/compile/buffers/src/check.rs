//! Conditions that every buffer must satisfy.

use std::fmt;

use pushmem_affine::{Affine, LARGEST_VALUE};
use pushmem_files::{Fault, FieldPath, counted};

use crate::buffer::{Port, UnifiedBuffer};
use crate::order::Overlap;

const NAMES: &str = "give each port a name of its own";
const DIMENSIONS: &str = "`access` has one function for each dimension of the buffer, the same number for every port";
const EXTENT: &str = "leave out a loop that never runs";
const START: &str = "let every port of the buffer start later";
const ORDER: &str = "a port has one word a cycle: the stride of a loop in the schedule is at least the time that the loops \
                     inside it take";
const STRIDES: &str = "give one stride for each loop, innermost first";
const RANGE: &str = "elements and cycles stay below 2^48";

impl UnifiedBuffer {
    /// Checks that the functions fit the loops, that all ports see the same dimensions, that values are of sane size,
    /// and that no port needs two words in a cycle.
    ///
    /// # Errors
    /// The first port that is wrong, and why.
    pub fn check(&self) -> Result<(), Fault> {
        let dimensions = self.ports.first().map_or(0, |port| port.access.len());
        let ports = FieldPath::root().key("ports");
        for (number, port) in self.ports.iter().enumerate() {
            let path = ports.index(number);
            if self.ports[..number].iter().any(|other| other.name == port.name) {
                return Err(error(port, path.key("name"), "another port has the same name", NAMES));
            }
            check_port(port, dimensions, &path)?;
        }
        Ok(())
    }
}

fn error(port: &Port, path: FieldPath, message: impl fmt::Display, help: &str) -> Fault {
    Fault::new(path, format!("port {}: {message}", port.name), help)
}

fn check_port(port: &Port, dimensions: usize, path: &FieldPath) -> Result<(), Fault> {
    let access = path.key("access");
    let schedule = path.key("schedule");
    if port.access.len() != dimensions {
        let message = format!("{} where the first port has {dimensions}", counted(port.access.len(), "dimension"));
        return Err(error(port, access, message, DIMENSIONS));
    }
    for (level, place) in port.domain.iter().enumerate() {
        if place.extent == 0 || place.extent >= LARGEST_VALUE as u64 {
            let message = format!("loop {} has {} iterations; it must be 1 to 2^48 − 1", place.name, place.extent);
            return Err(error(port, path.key("domain").index(level).key("extent"), message, EXTENT));
        }
    }
    for (dimension, function) in port.access.iter().enumerate() {
        check_function(port, function, &access.index(dimension))?;
    }
    check_function(port, &port.schedule, &schedule)?;
    let first = *port.range(&port.schedule).start();
    if first < 0 {
        let message = format!("the schedule {} begins in cycle {first}; the first is 0", port.schedule_text());
        return Err(error(port, schedule, message, START));
    }
    if let Some(Overlap { name, stride, inside }) = port.overlap() {
        let message = format!(
            "the schedule {} starts the next iteration of `{name}` after {}, and the loops inside take {inside}",
            port.schedule_text(),
            counted(stride, "cycle"),
        );
        return Err(error(port, schedule, message, ORDER));
    }
    Ok(())
}

fn check_function(port: &Port, function: &Affine, path: &FieldPath) -> Result<(), Fault> {
    let (strides, loops) = (function.stride.len(), port.domain.len());
    if strides != loops {
        return Err(error(
            port,
            path.key("stride"),
            format!("{} for {}", counted(strides, "stride"), counted(loops, "loop")),
            STRIDES,
        ));
    }
    match function.beyond_limits(&port.extents()) {
        Some(message) => Err(error(port, path.clone(), message, RANGE)),
        None => Ok(()),
    }
}
