//! The resources that groups of stages take: their compute units, and ports of memories.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Resource;
use super::super::modulo_scheduling::{Turns, Use};
use super::Context;

impl Context<'_> {
    pub(super) fn add_resources(&mut self) {
        let (pipeline, options) = (self.pipeline, self.options);
        let shared: Vec<Option<&str>> = self
            .tree
            .groups
            .iter()
            .map(|group| group.stages.clone().find_map(|stage| options.share.get(stage)?.as_deref()))
            .collect();
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        let taken: BTreeSet<&str> = shared.iter().copied().flatten().collect();
        for (group, shared) in self.tree.groups.iter().zip(&shared) {
            let name = shared.map_or_else(
                || {
                    // Nothing but a name given by the caller makes two units one.
                    let own = &pipeline.stages[group.stages.start].name;
                    let mut names = (1..).map(|number| match number {
                        1 => own.clone(),
                        _ => format!("{own} ({number})"),
                    });
                    let free = names.find(|name| !taken.contains(name.as_str()) && !named.contains_key(name));
                    free.unwrap_or_else(|| own.clone())
                },
                str::to_owned,
            );
            let next = self.resources.len();
            let unit = *named.entry(name.clone()).or_insert(next);
            if unit == next {
                self.resources.push(Resource::Unit(name));
                self.ports.push(1);
            }
            self.units.push(unit);
        }
        for (number, array) in pipeline.arrays.iter().enumerate() {
            let at = self.resources.len();
            let name = || array.name.clone();
            if options.serialized.contains(&number) {
                self.resources.push(Resource::Access(name()));
                self.ports.push(1);
                self.memories.push((at, at));
            } else {
                self.resources.extend([Resource::Write(name()), Resource::Read(name())]);
                let ports = options.ports_of.get(&number).copied();
                let (write_ports, read_ports) = ports.unwrap_or((options.write_ports, options.read_ports));
                self.ports.extend([write_ports.max(1), read_ports.max(1)]);
                self.memories.push((at + 1, at));
            }
        }
    }

    /// Reservations of a group, without ports for arrays that it gets as they are computed, and for reads of random-access memories,
    /// each of which has its own.
    pub(super) fn uses(&self, group: usize, direct: &BTreeSet<usize>) -> Vec<Use> {
        let nest = &self.nests[group];
        let (span, turns) = match nest.rows {
            Some(rows) => (rows.span, Turns { every: rows.interval, last: rows.last }),
            None => (nest.span, Turns::default()),
        };
        let unit = Use { resource: self.units[group], from: 0, to: span, turns };
        let mut uses = vec![unit];
        for window in self.windows_within(group, span) {
            let (read, write) = self.memories[window.array];
            let has_own = direct.contains(&window.array) || self.options.random_access.contains(&window.array);
            let reads = window.read.filter(|_| !has_own);
            let ports = [(read, reads), (write, window.write)];
            for (resource, (from, to)) in ports.into_iter().filter_map(|(port, window)| Some((port, window?))) {
                // One port for both is the group's from its first read to its last write.
                match uses.iter_mut().find(|other| other.resource == resource) {
                    Some(other) => (other.from, other.to) = (other.from.min(from), other.to.max(to)),
                    None => uses.push(Use { resource, from, to, turns }),
                }
            }
        }
        uses
    }
}
