//! Processing elements in their tiles.

use pushmem_pe::{Evaluations, Operation, Outcome};

use crate::route::Slot;

/// Operands of a layer.
pub const OPERANDS: usize = 3;

/// A PE tile in use. Constants, tracks and registers of operands are all values.
#[derive(Clone, Debug)]
pub struct PeTile {
    /// The operation, if the opcode is that of one. The result of any other is 0.
    pub operation: Option<Operation>,
    /// The table of the three bits, if its entry is the resulting bit.
    pub lut: Option<u8>,
    pub words: [Slot; OPERANDS],
    pub bits: [Slot; OPERANDS],
    /// Words that depend on the enable.
    pub enabled: Vec<Enabled>,
    pub result: Slot,
    pub result_bit: Slot,
    /// The register that has the word of a late product.
    pub late: Option<Late>,
}

/// A register behind the result, and the slot that shows its word to tracks.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    pub register: Slot,
    pub shown: Slot,
}

/// An operand that is held or accumulated: the slots of its value, and of the values that it has with the enable and without.
#[derive(Clone, Copy, Debug)]
pub struct Enabled {
    pub operand: Slot,
    pub enable: Slot,
    pub with: Slot,
    pub without: Slot,
}

impl PeTile {
    /// The slots of its operands, and of what those take that are held.
    pub fn operands(&self) -> impl Iterator<Item = Slot> {
        let held = self.enabled.iter().flat_map(|word| [word.enable, word.with]);
        self.words.into_iter().chain(self.bits).chain(held)
    }

    /// All slots that it reads and writes.
    pub fn slots(&mut self) -> impl Iterator<Item = &mut Slot> {
        let enabled = self.enabled.iter_mut();
        let enabled = enabled.flat_map(|word| [&mut word.operand, &mut word.enable, &mut word.with, &mut word.without]);
        let late = self.late.iter_mut().flat_map(|late| [&mut late.register, &mut late.shown]);
        let results = [&mut self.result, &mut self.result_bit];
        self.words.iter_mut().chain(&mut self.bits).chain(results).chain(late).chain(enabled)
    }
}

/// PE tiles, those of one operation together.
#[derive(Debug, Default)]
pub struct PeTiles {
    groups: Vec<(Option<Operation>, Vec<PeTile>)>,
    enabled: Vec<Enabled>,
    late: Vec<Late>,
}

/// PE tiles of one operation at work on values.
struct Show<'a> {
    tiles: &'a [PeTile],
    values: &'a mut [u32],
}

impl PeTiles {
    /// Groups tiles by their operations.
    pub fn new(mut tiles: Vec<PeTile>) -> Self {
        tiles.sort_by_key(|tile| tile.operation);
        let groups = tiles.chunk_by(|one, other| one.operation == other.operation);
        let groups = groups.map(|group| (group[0].operation, group.to_vec())).collect();
        let enabled = tiles.iter().flat_map(|tile| tile.enabled.clone()).collect();
        PeTiles { groups, enabled, late: tiles.iter().filter_map(|tile| tile.late).collect() }
    }

    /// Puts the results into the values. No result is an operand of the same cycle: between them is a register.
    pub fn show(&self, word_bits: u32, values: &mut [u32]) {
        for late in &self.late {
            values[late.shown as usize] = values[late.register as usize];
        }
        for word in &self.enabled {
            let from = if values[word.enable as usize] != 0 { word.with } else { word.without };
            values[word.operand as usize] = values[from as usize];
        }
        for (operation, tiles) in &self.groups {
            let show = Show { tiles, values };
            match operation {
                Some(operation) => operation.run(word_bits, show),
                None => show.run(|_, _| Outcome { word: 0, bit: false }),
            }
        }
    }
}

impl Evaluations for Show<'_> {
    fn run(self, evaluate: impl Fn([u32; 3], bool) -> Outcome) {
        let values = self.values;
        for tile in self.tiles {
            // There is a value of each slot. Code that cannot fail is left out where the operation does not need the value.
            let value = |slot: Slot| values.get(slot as usize).copied().unwrap_or(0);
            let outcome = evaluate(tile.words.map(value), value(tile.bits[0]) != 0);
            let bit = match tile.lut {
                None => outcome.bit.into(),
                Some(table) => {
                    let [d, e, f] = tile.bits.map(value);
                    u32::from(table) >> (d + 2 * e + 4 * f) & 1
                }
            };
            values[tile.result as usize] = outcome.word;
            values[tile.result_bit as usize] = bit;
        }
    }
}
