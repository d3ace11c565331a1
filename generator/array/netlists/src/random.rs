//! Random netlists.

use pushmem_affine::{Affine, Domain};
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_netlist::{CellId, Core, Netlist};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::builder::{Builder, Operand, Word};

/// The size of a random netlist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
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
pub fn random(spec: &ArraySpec, shape: Shape, random: &mut ChaCha8Rng) -> Netlist {
    let mut builder = Builder::new("random");
    let mut cells: Vec<(CellId, u32)> = (0..shape.inputs).map(|_| (builder.cell("input", Core::Input), 0)).collect();
    let mut pes: Vec<(CellId, u32)> = Vec::new();
    let mut memories: Vec<(CellId, u32)> = Vec::new();
    // Elements with an operand that takes words of loops.
    let mut open: Vec<(CellId, u32)> = Vec::new();
    // Bits of loop indices, as many as memories that could give them.
    let mut predicates: Vec<CellId> = Vec::new();
    let gives_bits = spec.memory.as_ref().is_some_and(|columns| columns.tile.stencil_valid);
    let mut predicate = |builder: &mut Builder, random: &mut ChaCha8Rng| {
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
    };
    let mut kinds = vec![false; shape.pes];
    kinds.extend(vec![true; shape.memories]);
    for place in (1..kinds.len()).rev() {
        kinds.swap(place, random.random_range(0..=place));
    }
    for is_memory in kinds {
        let recent = |random: &mut ChaCha8Rng| {
            let window = cells.len().min(24);
            let (cell, depth) = *cells[cells.len() - window..].choose(random).expect("there are inputs");
            let cycles = if random.random_bool(0.2) { random.random_range(1..4) } else { 0 };
            (Word::of(cell).before(cycles), depth)
        };
        if let Some(columns) = spec.memory.as_ref().filter(|_| is_memory) {
            let (from, depth) = recent(random);
            let (start, later) = (random.random_range(0..20), random.random_range(0..9));
            let cell = builder.memory(&columns.tile, start, later, from);
            memories.push((cell, depth + 1));
            cells.push((cell, depth + 1));
            continue;
        }
        let operation = *spec.pe.operations.choose(random).expect("an operation");
        let (mut depth, mut is_driven) = (0, false);
        let mut operands = |count: usize, limit: u32, random: &mut ChaCha8Rng| -> Vec<Operand> {
            let operand = |_| {
                if is_driven && random.random_bool(0.3) {
                    return Operand::Constant(random.random_range(0..limit));
                }
                is_driven = true;
                let (word, of) = recent(random);
                depth = depth.max(of + 1);
                Operand::Word(word)
            };
            (0..count).map(operand).collect()
        };
        let words = operands(operation.words(), 1 << (spec.word_bits() - 1), random);
        let lut = (spec.pe.lut && random.random_bool(0.1)).then(|| random.random());
        let bits = match lut {
            Some(_) => operands(3, 2, random),
            None => operands(operation.uses_bit().into(), 2, random),
        };
        // IO tiles and memories have few bits: bits come from elements.
        let is_bit =
            |operand: &Operand| matches!(operand, Operand::Word(word) if pes.iter().any(|(pe, _)| *pe == word.cell));
        let bits: Vec<Operand> = bits
            .into_iter()
            .map(|operand| match predicate(&mut builder, random) {
                _ if is_bit(&operand) => operand,
                Some(predicate) => Operand::Word(Word::of(predicate)),
                None => Operand::Constant(random.random_range(0..2)),
            })
            .collect();
        let is_open = words.len() > 1 && matches!(words[1], Operand::Constant(_)) && open.len() < shape.loops;
        let cell = builder.pe(operation, &words, &bits, lut);
        if is_open {
            open.push((cell, depth));
        }
        pes.push((cell, depth));
        cells.push((cell, depth));
    }
    let last = cells.len().saturating_sub(shape.outputs.max(1) * 3);
    for _ in 0..shape.outputs {
        let (from, _) = *cells[last..].choose(random).expect("there are cells");
        let output = builder.cell("output", Core::Output);
        builder.connect(Layer::Word, Word::of(from), output, 0);
        // A bit of another cell may differ from it by an odd number of cycles, and outputs cannot be late.
        if pes.iter().any(|(pe, _)| *pe == from) && random.random() {
            builder.connect(Layer::Bit, Word::of(from), output, 0);
        }
    }
    // A word of a memory goes back to an element before it, with cycles for all cells between them.
    for (pe, depth) in open {
        let later: Vec<(CellId, u32)> = memories.iter().copied().filter(|(_, of)| *of > depth).collect();
        if let Some((memory, of)) = later.choose(random) {
            let cycles = i64::from(6 * (of - depth) + 8);
            builder.close(Word::of(*memory).before(cycles), pe, 1);
        }
    }
    builder.finish()
}
