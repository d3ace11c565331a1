//! Findings for some ports, reused for all ports like them: lanes of unrolled loops have banks that differ in their
//! place only. Nothing is assumed of them: the replay proves each tile by itself.

use foldhash::HashMap;
use std::rc::Rc;

use pushmem_buffers::{Port, UnifiedBuffer};
use pushmem_configuration::Configuration;

use crate::group::Group;
use crate::nest::Nest;
use crate::past::Past;
use crate::wide::KnownLayouts;

/// Ports without their names and the places where their elements begin: the same for ports that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Alike {
    writes: Vec<Nest>,
    reads: Vec<Nest>,
}

impl Alike {
    /// Some ports of a buffer, by number.
    pub fn of(buffer: &UnifiedBuffer, writes: &[usize], reads: &[usize]) -> Alike {
        let nests = |ports: &[usize]| ports.iter().map(|&port| Nest::of(&buffer.ports[port])).collect::<Vec<_>>();
        let (mut writes, mut reads) = (nests(writes), nests(reads));
        let dimensions = buffer.ports.first().map_or(0, |port: &Port| port.access.len());
        for dimension in 0..dimensions {
            let low = writes.iter().chain(&reads).map(|nest| nest.functions[dimension].start).min().unwrap_or(0);
            for nest in writes.iter_mut().chain(&mut reads) {
                nest.functions[dimension].start -= low;
            }
        }
        Alike { writes, reads }
    }
}

/// A component that was mapped.
#[derive(Debug)]
pub(crate) struct Found {
    /// Ports are numbered among the writes and among the reads of the component, groups among these.
    pub groups: Vec<Group>,
    /// Words that are kept at most.
    pub live_words: u64,
}

/// Findings so far.
#[derive(Default)]
pub(crate) struct Known {
    /// Which words reads take, if that could be followed.
    pub pasts: HashMap<Alike, Option<Rc<Past>>>,
    /// The groups of components that have a mapping.
    pub components: HashMap<Alike, Rc<Found>>,
    /// By the classes of streams: the tile that they share, if there is one.
    pub shared: HashMap<Vec<usize>, Option<Configuration>>,
    /// The layouts of streams that have a class.
    pub layouts: KnownLayouts,
    /// Classes of streams so far.
    classes: usize,
}

impl Known {
    /// A class that no stream has yet.
    pub fn class(&mut self) -> usize {
        self.classes += 1;
        self.classes
    }
}
