//! The processing element (PE): its specification, the meaning of its operations, and its RTL.
//!
//! [`Operation::evaluate`] is the one meaning of an operation, for the RTL, models and the mapper alike.

mod model;
mod modes;
mod operation;
mod rtl;
mod semantics;
mod spec;
mod specialized;

pub use model::{Operand, Pe, PeConfiguration};
pub use modes::{ENABLE, Mode, Modes};
pub use operation::{FloatOperation, Operation, Outcome};
pub use rtl::{generate, module};
pub use semantics::{Numbers, Semantics, TokenElement, Tokens};
pub use spec::{PeKind, PeSpec, bits_for, check_stem};
pub use specialized::Evaluations;
