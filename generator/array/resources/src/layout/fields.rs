//! The fields of configuration registers.

use pushmem_csr::WORD_BITS;
use pushmem_fabric::{Direction, Layer, Side, TileKind};

pushmem_files::named! {
    /// A part of a tile, with registers of its own. Its number is part of their addresses.
    #[derive(PartialOrd, Ord)]
    pub enum Feature {
        /// The processing element, the memory or the streams.
        Core = "core",
        /// The switch box of words.
        WordSwitchBox = "word_switch_box",
        /// The switch box of bits.
        BitSwitchBox = "bit_switch_box",
        /// The connection boxes.
        ConnectionBoxes = "connection_boxes",
        /// The register file beside a processing element.
        RegisterFile = "register_file",
    }
}

impl Feature {
    /// The number in addresses.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The feature of the memory in the tiles of a kind.
    pub fn of_memory(kind: TileKind) -> Feature {
        if kind == TileKind::Pe { Feature::RegisterFile } else { Feature::Core }
    }

    pub(super) fn switch_box(layer: Layer) -> Feature {
        match layer {
            Layer::Word => Feature::WordSwitchBox,
            Layer::Bit => Feature::BitSwitchBox,
        }
    }
}

/// The effect of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// The choice of the register of an outgoing track: 0 for none, so that it holds still, else 1 more than its place.
    Select {
        /// Network of the track.
        layer: Layer,
        /// Side to which it goes.
        side: Side,
        /// Its number.
        track: u32,
    },
    /// Whether an outgoing track passes around its register: it is joined with the track of the same number that comes in on
    /// the other side. Without effect where the array has a register at this hop.
    Pass {
        /// Network of the track.
        layer: Layer,
        /// Side to which it goes.
        side: Side,
        /// Its number.
        track: u32,
    },
    /// The choice of an input of the core: 0 for none, which reads as 0, else 1 more than its place.
    Connection {
        /// Network of the input.
        layer: Layer,
        /// Its place among the inputs of the layer.
        port: u32,
    },
    /// The opcode of a processing element.
    Operation,
    /// The mode of an operand.
    Mode {
        /// Whether the operand is a word or a bit.
        layer: Layer,
        /// Its place among the operands of the layer.
        operand: u32,
    },
    /// The constant of an operand.
    Constant {
        /// Whether the operand is a word or a bit.
        layer: Layer,
        /// Its place among the operands of the layer.
        operand: u32,
    },
    /// The table of three bits.
    Lut,
    /// Whether the resulting bit is the table's.
    LutSelected,
    /// Whether a stream has beats.
    StreamEnable {
        /// Which stream.
        direction: Direction,
    },
    /// Extent of a level of the controller of a stream, less one.
    StreamExtent {
        /// Which stream.
        direction: Direction,
        /// Loop level, innermost 0.
        level: u32,
    },
    /// Cycle of the first beat of a stream.
    StreamStart {
        /// Which stream.
        direction: Direction,
    },
    /// Cycles between two beats of a stream when a level increments, less one.
    StreamGap {
        /// Which stream.
        direction: Direction,
        /// Loop level, innermost 0.
        level: u32,
    },
}

impl Meaning {
    /// The name of the field, unique in its tile.
    pub fn name(self) -> String {
        match self {
            Meaning::Select { layer, side, track } => format!("{}_{}_{track}", layer.name(), side.name()),
            Meaning::Pass { layer, side, track } => format!("{}_{}_{track}_pass", layer.name(), side.name()),
            Meaning::Connection { layer, port } => format!("{}_input_{port}", layer.name()),
            Meaning::Operation => "operation".to_owned(),
            Meaning::Mode { layer, operand } => format!("{}_mode_{operand}", layer.name()),
            Meaning::Constant { layer, operand } => format!("{}_constant_{operand}", layer.name()),
            Meaning::Lut => "lut".to_owned(),
            Meaning::LutSelected => "lut_selected".to_owned(),
            Meaning::StreamEnable { direction } => format!("{}_enable", direction.stream()),
            Meaning::StreamExtent { direction, level } => format!("{}_extent_{level}", direction.stream()),
            Meaning::StreamStart { direction } => format!("{}_start", direction.stream()),
            Meaning::StreamGap { direction, level } => format!("{}_gap_{level}", direction.stream()),
        }
    }

    /// The stream that it configures.
    pub fn stream(self) -> Option<Direction> {
        match self {
            Meaning::StreamEnable { direction }
            | Meaning::StreamExtent { direction, .. }
            | Meaning::StreamStart { direction }
            | Meaning::StreamGap { direction, .. } => Some(direction),
            _ => None,
        }
    }

    /// The signal of the hardware that it is a part of: fields of a signal follow each other, the first lowest.
    pub fn signal(self) -> String {
        match self {
            Meaning::Select { layer, .. } => format!("{}_select", layer.name()),
            Meaning::Pass { layer, .. } => format!("{}_pass", layer.name()),
            Meaning::Connection { layer, .. } => format!("{}_connection", layer.name()),
            Meaning::Mode { layer: Layer::Word, .. } => "data_mode".to_owned(),
            Meaning::Mode { layer: Layer::Bit, .. } => "bit_mode".to_owned(),
            Meaning::Constant { layer: Layer::Word, .. } => "data_constant".to_owned(),
            Meaning::Constant { layer: Layer::Bit, .. } => "bit_constant".to_owned(),
            Meaning::StreamExtent { direction, .. } => format!("{}_extents", direction.stream()),
            Meaning::StreamGap { direction, .. } => format!("{}_gaps", direction.stream()),
            Meaning::Operation | Meaning::Lut | Meaning::LutSelected => self.name(),
            Meaning::StreamEnable { .. } | Meaning::StreamStart { .. } => self.name(),
        }
    }
}

/// A field of a configuration register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its effect.
    pub meaning: Meaning,
    /// The feature of its register.
    pub feature: Feature,
    /// The number of the register within the feature.
    pub register: u32,
    /// Lowest bit in the register.
    pub low: u32,
    /// Bits.
    pub bits: u32,
}

impl Field {
    /// The value of the field in a register.
    pub fn value(&self, register: u32) -> u32 {
        register >> self.low & (u32::MAX >> (WORD_BITS - self.bits))
    }
}
