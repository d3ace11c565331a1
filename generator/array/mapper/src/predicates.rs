//! The controllers of memory tiles that follow loop indices: of bits that are 1 while the indices are in a box, of tables, and of words
//! that are a function of an index.

use itertools::Itertools;
use pushmem_affine::{Affine, Domain, coalesced};
use pushmem_cells::{Predicate, Steps};
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_graph::{ApplicationGraph, BitDriver, BitId, Condition, Counter, CounterId};
use pushmem_tile::{Controller, Kind, Memory, Role, TileSpec, timing};

/// The cycles of a box: its iterations, and when each comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Firings {
    pub extent: Domain,
    pub cycle: Affine,
}

impl Firings {
    /// The steps of a counter at which its indices meet these conditions, each on a level.
    pub fn of_conditions(counter: &Counter, conditions: &[(usize, Condition)]) -> Self {
        let mut firings = Firings { extent: counter.extent.clone(), cycle: counter.cycle.clone() };
        for &(level, Condition { first, last, step }) in conditions {
            firings.cycle.start += first * counter.cycle.stride[level];
            firings.cycle.stride[level] = step * counter.cycle.stride[level];
            firings.extent[level] = ((last - first) / step + 1) as u64;
        }
        firings
    }

    /// The steps of a counter at which a bit on its indices is 1, or all of them.
    pub fn of_steps(graph: &ApplicationGraph, counter: CounterId, when: Option<BitId>) -> Self {
        let conditions = match when.map(|bit| &graph.bits[bit].driver) {
            Some(BitDriver::Indices { conditions, .. }) => conditions.as_slice(),
            Some(BitDriver::Begins(_)) | None => &[],
        };
        Firings::of_conditions(&graph.counters[counter], conditions)
    }

    /// How many cycles they are.
    pub fn count(&self) -> u64 {
        u64::try_from(self.extent.iterations()).unwrap_or(u64::MAX)
    }

    /// The cycles, in the order of the iterations.
    pub fn cycles(&self) -> impl Iterator<Item = i64> + use<'_> {
        self.extent.values(&self.cycle)
    }

    /// The schedule of the controller of a memory tile whose bit is 1 at these cycles; nothing, if the tile has none.
    pub fn predicate(&self, spec: &TileSpec) -> Option<ControllerConfiguration> {
        let controller = spec.controllers().into_iter().find(|controller| controller.role == Role::StencilValid)?;
        Some(self.schedule(&controller))
    }

    /// The configuration of a memory tile that is a table: at these cycles it looks up the word that comes.
    pub fn table(&self, spec: &TileSpec, contents: Vec<u64>) -> Configuration {
        let controllers = spec.controllers();
        let controller = controllers.iter().find(|controller| controller.role == Role::Rom2Out);
        let controller = controller.expect("tiles with contents have the controller");
        Configuration {
            tile: spec.name.clone(),
            controllers: std::iter::once((controller.name.clone(), self.schedule(controller))).collect(),
            contents,
            ..Configuration::default()
        }
    }

    /// The configuration of a memory tile that shows, at these cycles, the word of a list whose number is the index of a level.
    /// Its rows are fetched just in time.
    pub fn sequence(&self, spec: &TileSpec, level: usize, words: &[u64]) -> Configuration {
        let Kind::WideFetch { fetch_width, .. } = spec.kind else {
            unreachable!("tiles of arrays with contents fetch rows")
        };
        let fetch = timing::sram_to_transpose_buffer(spec.sram_latency) as i64;
        let parameters = spec.controllers();
        let named = |role: Role, domain: &Domain, cycle: &Affine, memories: &[(Memory, &Affine)]| {
            let controller =
                parameters.iter().find(|controller| controller.role == role).expect("wide-fetch tiles have it");
            let address = memories[0].1;
            let (extent, [cycle, address]) = coalesced([cycle, address], domain, 1 << controller.extent_bits);
            let mut configured = ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() };
            memories.iter().for_each(|(memory, _)| configured.set_address(*memory, address.clone()));
            (controller.name.clone(), configured)
        };
        let step = |levels: usize, level: usize| {
            let mut address = Affine::constant(0, levels);
            address.stride[level] = 1;
            address
        };
        let read = step(self.extent.len(), level);
        // The first iteration of the loops inside fetches a row, which serves as many iterations of the level as it has words.
        let rows: Domain = std::iter::once(self.extent[level].div_ceil(u64::from(fetch_width)))
            .chain(self.extent[level + 1..].iter().copied())
            .collect();
        let mut stride = self.cycle.stride[level..].to_vec();
        stride[0] *= i64::from(fetch_width);
        let cycle = Affine { start: self.cycle.start - fetch, stride };
        let fetched = step(rows.len(), 0);
        let controllers = [
            named(Role::Sram2Tb, &rows, &cycle, &[(Memory::Sram, &fetched), (Memory::Tb, &fetched)]),
            named(Role::Tb2Out, &self.extent, &self.cycle, &[(Memory::Tb, &read)]),
        ];
        Configuration {
            tile: spec.name.clone(),
            controllers: controllers.into_iter().collect(),
            contents: words.to_vec(),
            ..Configuration::default()
        }
    }

    /// The schedule of a controller that fires at these cycles.
    fn schedule(&self, controller: &Controller) -> ControllerConfiguration {
        let (extent, cycle) = self.cycle.coalesced(&self.extent, 1 << controller.extent_bits);
        ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() }
    }
}

/// The steps of a counter whose indices are in a box.
#[derive(Clone, Debug)]
pub(crate) struct Chosen<'a> {
    counter: &'a Counter,
    limits: Vec<Limit>,
}

/// The indices of a level that are in a box, and the others.
#[derive(Clone, Debug)]
struct Limit {
    level: usize,
    inside: Vec<i64>,
    outside: Vec<i64>,
}

impl<'a> Chosen<'a> {
    /// The steps at which the loop variables of a kernel are in a box; nothing if they never are. `variable` gives the level of a
    /// loop variable, and its value at an index.
    pub fn by_predicate(
        counter: &'a Counter,
        predicate: &Predicate,
        variable: impl Fn(usize) -> (Option<usize>, i64, i64),
    ) -> Option<Self> {
        let mut limits = Vec::new();
        for (&number, &steps) in &predicate.variables {
            let (level, scale, offset) = variable(number);
            match level {
                None if steps.contains(offset) => {}
                None => return None,
                Some(level) => limits.push(limit(counter, level, |index| steps.contains(offset + scale * index))),
            }
        }
        limits.iter().all(|limit| !limit.inside.is_empty()).then_some(Chosen { counter, limits })
    }

    /// The steps at which the indices meet these conditions, each on a level.
    pub fn by_conditions(counter: &'a Counter, conditions: &[(usize, Condition)]) -> Self {
        let of_level = |&(level, Condition { first, last, step }): &(usize, Condition)| {
            let steps = Steps { first, last, step };
            limit(counter, level, |index| steps.contains(index))
        };
        Chosen { counter, limits: conditions.iter().map(of_level).collect() }
    }

    /// The cycles of these steps; nothing if they are no box.
    pub fn inside(&self) -> Option<Firings> {
        let conditions = self.limits.iter().map(|limit| condition(limit.level, &limit.inside));
        let conditions: Vec<_> = conditions.collect::<Option<_>>()?;
        Some(Firings::of_conditions(self.counter, &conditions))
    }

    /// The cycles of all other steps; nothing if there are none, or if they are no box.
    pub fn outside(&self) -> Option<Firings> {
        let limit = self.limits.iter().filter(|limit| !limit.outside.is_empty()).exactly_one().ok()?;
        Some(Firings::of_conditions(self.counter, &[condition(limit.level, &limit.outside)?]))
    }
}

/// The indices of a level, inside or not.
fn limit(counter: &Counter, level: usize, is_inside: impl Fn(i64) -> bool) -> Limit {
    let (inside, outside) = (0..counter.extent[level] as i64).partition(|index| is_inside(*index));
    Limit { level, inside, outside }
}

/// The condition that an index of a level is one of these; nothing if there are none, or their distances differ.
fn condition(level: usize, indices: &[i64]) -> Option<(usize, Condition)> {
    let Steps { first, last, step } = Steps::of(indices)?;
    Some((level, Condition { first, last, step }))
}
