//! The levels of the memory hierarchy of an array at which the arrays of a program are.

use pushmem_compiler::Compiled;
use pushmem_files::Diagnostic;
use pushmem_nest::{Array, ArrayKind, Level, Program};

use crate::mapping::ArrayTarget;

/// Bits of the words of programs, in streams and memories.
const PROGRAM_WORD_BITS: u32 = u16::BITS;

/// A program whose arrays are at levels that an array has.
#[derive(Debug)]
pub(crate) struct Levels {
    pub program: Program,
    /// The arrays in memory tiles for which the program names the global buffer.
    in_tiles: Vec<usize>,
    /// The inputs and outputs for which it does.
    images: Vec<usize>,
    /// The arrays that are in banks.
    pub memories: usize,
}

impl Levels {
    /// The levels that may do, the best first. An input or an output for which a program names the global buffer is there already: its bank moves its
    /// words in the order of the stream. Other arrays are in banks of their own, fewer and fewer of them. If all else fails, copies of the images are in
    /// memory tiles, too.
    pub fn of(program: &Program, target: &ArrayTarget) -> Vec<Levels> {
        let named = |(number, array): (usize, &Array)| (array.level == Some(Level::GlobalBuffer)).then_some(number);
        let named: Vec<usize> = program.arrays.iter().enumerate().filter_map(named).collect();
        let whole = || Levels { program: program.clone(), in_tiles: Vec::new(), images: Vec::new(), memories: 0 };
        if target.spec.global_buffer.is_none() || named.is_empty() {
            return vec![whole()];
        }
        let is_buffer = |number: &usize| program.arrays[*number].kind == ArrayKind::Buffer;
        let (buffers, images): (Vec<usize>, Vec<usize>) = named.iter().partition(|number| is_buffer(number));
        let with = |memories: usize| {
            // Without levels, a program could become another sort of pipeline.
            let mut program = Program { schedule: Some(program.policy()), ..program.clone() };
            images.iter().for_each(|number| program.arrays[*number].level = None);
            let in_tiles = buffers[memories..].to_vec();
            in_tiles.iter().for_each(|number| program.arrays[*number].level = Some(Level::Memory));
            Levels { program, in_tiles, images: images.clone(), memories }
        };
        let mut levels: Vec<Levels> = (0..=buffers.len()).rev().map(with).collect();
        if !images.is_empty() {
            let mut copies = Levels { in_tiles: named.clone(), ..whole() };
            named.iter().for_each(|number| copies.program.arrays[*number].level = Some(Level::Memory));
            levels.push(copies);
        }
        levels
    }

    /// The result with the reasons why arrays are in memory tiles. `refused` says why better levels do not do.
    pub fn explained(&self, mut compiled: Compiled, refused: Option<&Diagnostic>) -> Compiled {
        let because = |refused: &Diagnostic| format!("with it in the global buffer, {}", first_line(refused));
        let reason = refused.map_or_else(|| "there is no bank for it".to_owned(), because);
        compiled.without_level.extend(self.in_tiles.iter().map(|number| (*number, reason.clone())));
        let kept: Vec<usize> = compiled.graph.arrays.iter().map(|node| node.array).collect();
        let again = self.images.iter().filter(|number| kept.contains(number));
        let reason = "more than one statement reads it, or one in another order than it can come from its bank";
        compiled.without_level.extend(again.map(|number| (*number, reason.to_owned())));
        compiled
    }
}

/// The first line of a refusal.
fn first_line(refused: &Diagnostic) -> String {
    refused.message().lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

/// The hardware that an array is for the compiler, with so many memories in banks of its global buffer: without one, memory tiles are its only
/// level of memory.
pub(crate) fn hardware(
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    memories: usize,
) -> Result<pushmem_graph::Target, Diagnostic> {
    let Some(memory) = &target.spec.memory else {
        let message = format!("`{}` has no memory tiles", target.spec.name);
        return Err(Diagnostic::new(message).with_help("programs need some: add `memory` to the specification"));
    };
    if target.spec.word_bits() != PROGRAM_WORD_BITS {
        let message = format!("words of `{}` have {} bits", target.spec.name, target.spec.word_bits());
        let help = format!("words of programs have {PROGRAM_WORD_BITS} bits: take an array with such words");
        return Err(Diagnostic::new(message).with_help(help));
    }
    let hardware = beside.clone().with_memory(memory.tile.clone());
    let bank = target.spec.bank_memory().filter(|_| memories > 0);
    Ok(hardware.with_level(Level::GlobalBuffer, bank).with_level(Level::RegisterFile, None))
}
