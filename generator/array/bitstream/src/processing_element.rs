//! The core of a PE tile, as its fields say.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_pe::{Mode, Operand, Operation, PeConfiguration};
use pushmem_resources::{Meaning, TileLayout};
use thiserror::Error;

use crate::configuration::TileConfiguration;

/// The core of a PE tile. Fields have more values than a specification gives a meaning, so that it may be none that a netlist has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingElement {
    /// The operation, or the opcode of none, whose result is 0.
    pub operation: Result<Operation, u32>,
    /// The words `a`, `b`, `c`. Those that the specification does not have are the constant 0.
    pub words: [Operand<u32>; 3],
    /// The bits `d`, `e`, `f`, likewise.
    pub bits: [Operand<bool>; 3],
    /// The table of the bits, if its entry is the resulting bit.
    pub lut: Option<u8>,
}

/// A value of a field to which the specification gives no meaning, in words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Undefined(String);

impl ProcessingElement {
    /// The core of a PE tile with this layout.
    pub fn of(tile: &TileConfiguration, spec: &ArraySpec, layout: &TileLayout) -> Self {
        let value = |meaning: Meaning| tile.value(layout, meaning);
        let constant = |layer: Layer, operand: u32| value(Meaning::Constant { layer, operand });
        let opcode = value(Meaning::Operation);
        ProcessingElement {
            operation: spec.pe.operation(opcode).ok_or(opcode),
            words: [0, 1, 2].map(|operand| Operand {
                mode: tile.mode(layout, Layer::Word, operand),
                constant: constant(Layer::Word, operand),
            }),
            bits: [0, 1, 2].map(|operand| Operand {
                mode: tile.mode(layout, Layer::Bit, operand),
                constant: constant(Layer::Bit, operand) != 0,
            }),
            lut: (value(Meaning::LutSelected) != 0).then(|| value(Meaning::Lut) as u8),
        }
    }

    /// The mode of each operand, with its layer and its number.
    pub fn modes(&self) -> impl Iterator<Item = (Layer, usize, Mode)> {
        let words = self.words.iter().enumerate().map(|(operand, word)| (Layer::Word, operand, word.mode));
        words.chain(self.bits.iter().enumerate().map(|(operand, bit)| (Layer::Bit, operand, bit.mode)))
    }

    /// The configuration of the processing element.
    ///
    /// # Errors
    /// The first field whose value means nothing.
    pub fn configuration(&self) -> Result<PeConfiguration, Undefined> {
        for (layer, operand, mode) in self.modes() {
            if let Mode::Undefined(number) = mode {
                return Err(Undefined(format!("the {} operand {operand} has no mode {number}", layer.name())));
            }
        }
        let undefined = |opcode| Undefined(format!("the opcode {opcode} is that of no operation"));
        let operation = self.operation.map_err(undefined)?;
        Ok(PeConfiguration { operation, words: self.words, bits: self.bits, lut: self.lut })
    }
}
