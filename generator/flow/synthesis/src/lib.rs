//! Area, speed and power of a design in a cell library: synthesis by Yosys, block by block, and timing by OpenSTA.
//!
//! [`run`] maps a [`Design`] and reads what both say into a [`SynthesisReport`], beside the netlist. [`measure`] runs an application on
//! the netlist and says what power that takes. [`place_and_route`] puts an accelerator on an FPGA.

mod activity;
mod block;
mod equivalence;
mod fpga;
mod job;
mod liberty;
mod path;
mod process;
mod report;
mod run;
mod toggles;
mod tools;

pub use activity::{Accesses, Activity, Application, BlockPower, Words, measure};
pub use block::BlockKind;
pub use equivalence::{ProvenBlock, prove};
pub use fpga::{
    Family, FpgaDesign, FpgaImplementation, FpgaPath, FpgaReport, FpgaTools, Throughput, Utilization, place_and_route,
};
pub use job::{Design, Optimize};
pub use path::{OperationPaths, Path, Paths};
pub use report::{Block, Power, SynthesisReport};
pub use run::{Synthesis, run};
pub use toggles::Window;
pub use tools::{Library, PYTHON_VARIABLE, Tools, python_of};
