//! Accesses of macros, by the pins that a wave shows.

use itertools::Itertools;
use pushmem_technology::{Active, Binding, MacroPort, Pin};

use super::Accesses;
use crate::toggles::Access;

/// The accesses of all macros of each name, ordered by name; `counts` has how often each use took place.
pub(super) fn accesses(uses: &[Use], counts: &[u64]) -> Vec<Accesses> {
    let of_name = |used: &[(&Use, &u64)]| {
        let sum =
            |write: bool| used.iter().filter(|(used, _)| used.writes == write).map(|(_, count)| **count).sum::<u64>();
        let Binding { name, figures, .. } = used[0].0.binding;
        let (reads, writes) = (sum(false), sum(true));
        let energy = |count: u64, energy: Option<u32>| Some(count * u64::from(energy?));
        let energy_fj = energy(reads, figures.read_energy_fj).zip(energy(writes, figures.write_energy_fj));
        Accesses { name: name.clone(), reads, writes, energy_fj: energy_fj.map(|(read, write)| read + write) }
    };
    let by_name = uses.iter().zip(counts).into_group_map_by(|(used, _)| &used.binding.name);
    by_name.values().map(|used| of_name(used)).sorted_by(|left, right| left.name.cmp(&right.name)).collect()
}

/// The block that an instance is in, and its name there.
pub(super) fn placed(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A use of a port of a macro.
pub(super) struct Use<'a> {
    binding: &'a Binding,
    writes: bool,
    pub access: Access,
}

/// The uses of all ports of a macro.
pub(super) fn uses<'a>(path: &str, binding: &'a Binding) -> Vec<Use<'a>> {
    binding.ports.iter().flat_map(|port| uses_of_port(path, binding, port)).collect()
}

/// The uses of a port: when it reads, and when it writes.
fn uses_of_port<'a>(path: &str, binding: &'a Binding, port: &'a MacroPort) -> Vec<Use<'a>> {
    let level = |pin: &Pin, active: bool| (pin.port.clone(), (pin.active == Active::High) == active);
    let selected = || port.select.iter().map(|pin| level(pin, true));
    let of = |writes: bool, pins: Vec<(String, bool)>| Use {
        binding,
        writes,
        access: Access { instance: path.to_owned(), pins },
    };
    let reads = port.reads().then(|| {
        let enable = port.read.iter().map(|pin| level(pin, true));
        let not_write = port.write.iter().filter(|_| port.read.is_none()).map(|pin| level(pin, false));
        of(false, selected().chain(enable).chain(not_write).collect())
    });
    let writes =
        port.writes().then(|| of(true, selected().chain(port.write.iter().map(|pin| level(pin, true))).collect()));
    reads.into_iter().chain(writes).collect()
}
