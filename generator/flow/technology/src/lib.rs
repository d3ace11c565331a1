//! The parts that a chip technology puts in place of the SRAM wrapper: macros, behind the wrapper's ports; and in place of the clock
//! gate: a cell.
//!
//! A [`Binding`] says what a macro's ports mean. An [`Assembly`] is the memory of a tile made of as many macros as it
//! takes; [`Technology`] prints those of all tiles of a design in place of the model of the wrapper.

mod assembly;
mod binding;
mod clock_gate;
mod memory;
mod technology;

pub use assembly::Assembly;
pub use binding::{
    Active, Binding, ClockEdge, Constant, Described, Figures, Kit, MacroPort, Mask, Output, Pin, PortKind, Views,
};
pub use clock_gate::ClockGate;
pub use memory::TileSram;
pub use technology::Technology;
