//! Why a pipeline has no stencil schedule.

use std::fmt;

/// Why stages cannot be fused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// A subscript adds several loop indices, so that no dimension of the array belongs to one loop.
    SeveralLoops {
        /// The stage.
        stage: String,
        /// The array.
        array: String,
        /// Dimension of the array.
        dimension: usize,
    },
    /// A written subscript has a divisor.
    WriteDivides {
        /// The stage.
        stage: String,
    },
    /// A stage reads what it or a later stage writes.
    Cycle {
        /// The stage that reads.
        stage: String,
        /// The array.
        array: String,
    },
    /// A stage would have to run at two rates.
    Rates {
        /// The stage.
        stage: String,
        /// The loop.
        variable: String,
    },
    /// Stages nest their loops in contradicting orders, as in a transposition.
    Order {
        /// A stage.
        stage: String,
    },
    /// Two loops of one stage would be the same dimension of the fused nest.
    Collapsed {
        /// The stage.
        stage: String,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::SeveralLoops { stage, array, dimension } => {
                write!(formatter, "{stage}: dimension {dimension} of {array} is indexed by more than one loop")
            }
            ScheduleError::WriteDivides { stage } => write!(formatter, "{stage}: a written index has a division"),
            ScheduleError::Cycle { stage, array } => {
                write!(formatter, "{stage} reads {array}, which it or a later stage writes")
            }
            ScheduleError::Rates { stage, variable } => {
                write!(formatter, "{stage}: loop {variable} would have to run at two rates")
            }
            ScheduleError::Order { stage } => {
                write!(formatter, "{stage} nests its loops in another order than the stages it exchanges data with")
            }
            ScheduleError::Collapsed { stage } => {
                write!(formatter, "{stage}: two of its loops run along one dimension of the data")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}
