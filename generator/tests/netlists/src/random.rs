//! Random netlists.

use pushmem_affine::{Affine, Domain};
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_netlist::{CellId, Core, Netlist};
use pushmem_tile::TileSpec;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::builder::{Builder, Operand, Tap};

/// The size of a random netlist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetlistSize {
    /// Processing elements.
    pub pes: usize,
    /// Memories.
    pub memories: usize,
    /// Streams in, one at least.
    pub inputs: usize,
    /// Streams out.
    pub outputs: usize,
    /// Words from memories back to elements before them.
    pub loops: usize,
}

/// A netlist of random operations, each of which reads cells not far before it.
pub fn random(spec: &ArraySpec, shape: NetlistSize, random: &mut ChaCha8Rng) -> Netlist {
    let mut kinds = vec![false; shape.pes];
    kinds.extend(vec![true; shape.memories]);
    for place in (1..kinds.len()).rev() {
        kinds.swap(place, random.random_range(0..=place));
    }
    let mut draft = Draft::of(spec, shape, random);
    for is_memory in kinds {
        match spec.memory.as_ref().filter(|_| is_memory) {
            Some(columns) => draft.memory(&columns.tile),
            None => draft.pe(),
        }
    }
    draft.outputs();
    draft.loops();
    draft.builder.finish()
}

/// A cell, and the most cells on a path to it.
type Deep = (CellId, u32);

/// A netlist as far as it is drawn.
struct Draft<'a> {
    spec: &'a ArraySpec,
    shape: NetlistSize,
    random: &'a mut ChaCha8Rng,
    builder: Builder,
    /// All cells that give words.
    cells: Vec<Deep>,
    pes: Vec<CellId>,
    memories: Vec<Deep>,
    /// Elements with an operand that takes words of loops.
    open: Vec<Deep>,
    /// Bits of loop indices, as many as memories that could give them.
    predicates: Vec<CellId>,
}

impl<'a> Draft<'a> {
    /// The inputs.
    fn of(spec: &'a ArraySpec, shape: NetlistSize, random: &'a mut ChaCha8Rng) -> Self {
        let mut builder = Builder::new("random");
        let cells = (0..shape.inputs).map(|_| (builder.cell("input", Core::Input), 0)).collect();
        let (pes, memories, open, predicates) = Default::default();
        Self { spec, shape, random, builder, cells, pes, memories, open, predicates }
    }

    /// A word of one of the last cells.
    fn recent(&mut self) -> (Tap, u32) {
        let window = self.cells.len().min(24);
        let (cell, depth) = *self.cells[self.cells.len() - window..].choose(self.random).expect("there are inputs");
        let cycles = if self.random.random_bool(0.2) { self.random.random_range(1..4) } else { 0 };
        (Tap::of(cell).before(cycles), depth)
    }

    fn memory(&mut self, tile: &TileSpec) {
        let (from, depth) = self.recent();
        let (start, later) = (self.random.random_range(0..20), self.random.random_range(0..9));
        let cell = self.builder.memory(tile, start, later, from);
        self.memories.push((cell, depth + 1));
        self.cells.push((cell, depth + 1));
    }

    fn predicate(&mut self) -> Option<CellId> {
        let Self { spec, shape, random, builder, predicates, .. } = self;
        let gives_bits = spec.memory.as_ref().is_some_and(|columns| columns.tile.stencil_valid);
        if !gives_bits || shape.memories == 0 || random.random_bool(0.5) {
            return None;
        }
        if predicates.len() == shape.memories || !predicates.is_empty() && random.random_bool(0.3) {
            return predicates.choose(random).copied();
        }
        let schedule = ControllerConfiguration {
            extent: Domain::from(vec![random.random_range(1..20)]),
            cycle: Affine { start: random.random_range(0..20), stride: vec![random.random_range(1..5)] },
            ..ControllerConfiguration::default()
        };
        predicates.push(builder.cell("predicate", Core::Predicate(schedule)));
        predicates.last().copied()
    }

    fn pe(&mut self) {
        let pe = &self.spec.pe;
        let operation = *pe.operations.choose(self.random).expect("an operation");
        let (mut depth, mut is_driven) = (0, false);
        let mut operands = |draft: &mut Self, count: usize, limit: u32| -> Vec<Operand> {
            let operand = |_| {
                if is_driven && draft.random.random_bool(0.3) {
                    return Operand::Constant(draft.random.random_range(0..limit));
                }
                is_driven = true;
                let (word, of) = draft.recent();
                depth = depth.max(of + 1);
                Operand::Tap(word)
            };
            (0..count).map(operand).collect()
        };
        let words = operands(self, operation.words(), 1 << (self.spec.word_bits() - 1));
        let lut = (pe.lut && self.random.random_bool(0.1)).then(|| self.random.random());
        let bits = match lut {
            Some(_) => operands(self, 3, 2),
            None => operands(self, operation.uses_bit().into(), 2),
        };
        let bits: Vec<Operand> = bits.into_iter().map(|operand| self.bit(operand)).collect();
        let is_open = words.len() > 1 && matches!(words[1], Operand::Constant(_)) && self.open.len() < self.shape.loops;
        let cell = self.builder.pe(operation, &words, &bits, lut);
        self.open.extend(is_open.then_some((cell, depth)));
        self.pes.push(cell);
        self.cells.push((cell, depth));
    }

    /// The operand, if it is a bit of an element: IO tiles and memories have few.
    fn bit(&mut self, operand: Operand) -> Operand {
        let predicate = self.predicate();
        match (&operand, predicate) {
            (Operand::Tap(word), _) if self.pes.contains(&word.cell) => operand,
            (_, Some(predicate)) => Operand::Tap(Tap::of(predicate)),
            (_, None) => Operand::Constant(self.random.random_range(0..2)),
        }
    }

    fn outputs(&mut self) {
        let last = self.cells.len().saturating_sub(self.shape.outputs.max(1) * 3);
        for _ in 0..self.shape.outputs {
            let (from, _) = *self.cells[last..].choose(self.random).expect("there are cells");
            let output = self.builder.cell("output", Core::Output);
            self.builder.connect(Layer::Word, Tap::of(from), output, 0);
            // A bit of another cell may differ from it by an odd number of cycles, and outputs cannot be late.
            if self.pes.contains(&from) && self.random.random() {
                self.builder.connect(Layer::Bit, Tap::of(from), output, 0);
            }
        }
    }

    /// A word of a memory goes back to an element before it, with cycles for all cells between them.
    fn loops(&mut self) {
        for (pe, depth) in &self.open {
            let later: Vec<Deep> = self.memories.iter().copied().filter(|(_, of)| of > depth).collect();
            if let Some((memory, of)) = later.choose(self.random) {
                let cycles = i64::from(6 * (of - depth) + 8);
                self.builder.close(Tap::of(*memory).before(cycles), *pe, 1);
            }
        }
    }
}
