//! Cells that compute the same: kernels of neighbouring elements have sums, look-ups and comparisons in common.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushmem_fabric::Layer;
use pushmem_netlist::{CellId, Core, Port, Sink};

use super::Lowering;

/// The most cycles by which words of a cell that is kept come later to those that read another one: so few registers of tracks are
/// less than an element.
const MOST_LATER: i64 = 4;

/// An input of a cell: its layer and number, and where it comes from how many cycles ago.
type Feed = (Layer, u32, Port, i64);

impl Lowering<'_> {
    /// Leaves one of cells that compute the same of the same words, now or some cycles later. Gives those that are not needed any more.
    pub(super) fn merge_equal(&mut self) -> BTreeSet<CellId> {
        let mut merged = BTreeSet::new();
        loop {
            let found = self.equal_cells(&merged);
            if found.is_empty() {
                return merged;
            }
            // Readers of a cell of these read the other one, so many cycles later.
            for (cell, (kept, later)) in &found {
                for layer in [Layer::Word, Layer::Bit] {
                    let port = |cell: CellId| Port { cell, layer, port: 0 };
                    let sinks = self.nets.remove(&port(*cell)).unwrap_or_default();
                    let later = sinks.into_iter().map(|sink| Sink { cycles: sink.cycles + later, ..sink });
                    self.nets.entry(port(*kept)).or_default().extend(later);
                }
            }
            merged.extend(found.into_keys());
            self.nets.values_mut().for_each(|sinks| sinks.retain(|sink| !merged.contains(&sink.cell)));
            self.nets.retain(|_, sinks| !sinks.is_empty());
        }
    }

    /// For cells that are others some cycles later those, none of which is such a cell, and the cycles.
    fn equal_cells(&self, merged: &BTreeSet<CellId>) -> BTreeMap<CellId, (CellId, i64)> {
        let mut known: HashMap<(String, Vec<Feed>), (CellId, i64)> = HashMap::new();
        let mut found = BTreeMap::new();
        let mut of_cells: Vec<(CellId, Vec<Feed>, i64)> = Vec::new();
        for (cell, mut feeds) in self.feeds().into_iter().filter(|(cell, _)| !merged.contains(cell)) {
            let first = match &self.netlist.cells[cell].core {
                // An element computes in every cycle, if it holds nothing.
                Core::Pe(pe)
                    if !self.enables.contains_key(&cell) && !pe.words.iter().any(|of| of.mode.is_enabled()) =>
                {
                    feeds.iter().map(|feed| feed.3).min().unwrap_or(0)
                }
                // A table looks up at some cycles.
                Core::Memory(memory) if !memory.contents.is_empty() => 0,
                _ => continue,
            };
            feeds.iter_mut().for_each(|feed| feed.3 -= first);
            feeds.sort_unstable();
            of_cells.push((cell, feeds, first));
        }
        // The earliest is kept: words can come later, but not sooner.
        of_cells.sort_by_key(|(cell, _, first)| (*first, *cell));
        for (cell, feeds, first) in of_cells {
            let key = (format!("{:?}", self.netlist.cells[cell].core), feeds);
            match known.get(&key) {
                Some((kept, before)) if first - before <= MOST_LATER => {
                    found.insert(cell, (*kept, first - before));
                }
                _ => _ = known.insert(key, (cell, first)),
            }
        }
        found
    }

    /// The inputs of each cell that has some.
    fn feeds(&self) -> BTreeMap<CellId, Vec<Feed>> {
        let mut feeds: BTreeMap<CellId, Vec<Feed>> = BTreeMap::new();
        for (port, sinks) in &self.nets {
            for sink in sinks {
                feeds.entry(sink.cell).or_default().push((port.layer, sink.port, *port, sink.cycles));
            }
        }
        feeds
    }
}
