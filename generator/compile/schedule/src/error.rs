//! Why a pipeline has no schedule.

use std::fmt;

use pushmem_stages::Pipeline;

/// A stage in an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageName {
    /// Index of the stage in [`Pipeline::stages`].
    pub number: usize,
    /// Its name.
    pub name: String,
}

impl StageName {
    pub(crate) fn of(pipeline: &Pipeline, number: usize) -> Self {
        StageName { number, name: pipeline.stages[number].name.clone() }
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// A loop that runs along a dimension of an array, in one access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Along {
    /// The stage with the access.
    pub stage: StageName,
    /// Which of its reads it is; its write without.
    pub read: Option<usize>,
    /// The array.
    pub array: String,
    /// Dimension of the array.
    pub dimension: usize,
    /// The loop.
    pub variable: String,
}

/// An access that makes two loops of a stage one dimension, or one loop two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collapse {
    /// The access that is at odds with the others.
    pub here: Along,
    /// The other side of the conflict.
    pub meets: Meets,
    /// An access of the other way, if it is another one.
    pub elsewhere: Option<Along>,
}

/// The dimension or loop in conflict with a loop along a dimension of an array: both cannot be one dimension of the
/// fused nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meets {
    /// The same loop, along another dimension of the array.
    Dimension(usize),
    /// Another loop of the stage, along the same dimension of the data.
    Loop(String),
    /// Of another stage, two loops would be one.
    Loops(StageName, [String; 2]),
}

/// Why stages cannot be scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// A subscript adds several loop indices, so that no dimension of the array belongs to one loop.
    SeveralLoops {
        /// The stage.
        stage: StageName,
        /// The array.
        array: String,
        /// Dimension of the array.
        dimension: usize,
    },
    /// A written subscript has a divisor or a boundary.
    WriteDivides {
        /// The stage.
        stage: StageName,
    },
    /// A stage reads elements that it or a later stage writes.
    Cycle {
        /// The stage that reads.
        stage: StageName,
        /// The stage that writes.
        writer: StageName,
        /// The array.
        array: String,
    },
    /// A stage takes results of earlier iterations at an index with a division, `clamp` or `mirror`.
    Carried {
        /// The stage.
        stage: StageName,
        /// The array.
        array: String,
    },
    /// A stage takes results of earlier iterations of a loop that other stages are in, too.
    Around {
        /// The stage.
        stage: StageName,
        /// The array.
        array: String,
        /// The loop.
        variable: String,
    },
    /// A stage takes, in an iteration, the word of another one that runs in the same cycles: copies of an unrolled recurrence.
    Chained {
        /// The stage that reads.
        stage: StageName,
        /// The stage that writes.
        writer: StageName,
        /// The array.
        array: String,
    },
    /// Copies of one operation update the same elements one after the other.
    Serial {
        /// A copy.
        stage: StageName,
        /// Another one.
        other: StageName,
        /// The array.
        array: String,
    },
    /// Elements are written twice: by two stages, or by one in several iterations.
    Overwritten {
        /// The stage that writes last.
        stage: StageName,
        /// The stage that wrote before.
        first: StageName,
        /// The array.
        array: String,
    },
    /// A stage updates elements in several iterations.
    Reduction {
        /// The stage.
        stage: StageName,
        /// The loop.
        variable: String,
        /// The array.
        array: String,
    },
    /// A stage would have to run at two rates.
    Rates {
        /// The stage.
        stage: StageName,
        /// The loop.
        variable: String,
    },
    /// Stages nest their loops in contradicting orders, as in a transposition.
    Order {
        /// A stage.
        stage: StageName,
    },
    /// Two loops of one stage would be the same dimension of the fused nest, or one loop two dimensions.
    Collapsed(Box<Collapse>),
    /// A stage would run in the same cycles as another one that has its compute unit.
    Unit {
        /// The stage.
        stage: StageName,
        /// The other one.
        other: StageName,
        /// The unit.
        unit: String,
    },
    /// Stages do not agree on the loops that they share.
    Nesting {
        /// The stage.
        stage: StageName,
    },
    /// Cycles of a stage, or of the loops around it, are too many to count.
    TooLong {
        /// The stage.
        stage: StageName,
    },
}

impl ScheduleError {
    /// The stage at which the error shows.
    pub fn stage(&self) -> &StageName {
        match self {
            ScheduleError::SeveralLoops { stage, .. }
            | ScheduleError::WriteDivides { stage }
            | ScheduleError::Cycle { stage, .. }
            | ScheduleError::Carried { stage, .. }
            | ScheduleError::Around { stage, .. }
            | ScheduleError::Chained { stage, .. }
            | ScheduleError::Serial { stage, .. }
            | ScheduleError::Overwritten { stage, .. }
            | ScheduleError::Reduction { stage, .. }
            | ScheduleError::Rates { stage, .. }
            | ScheduleError::Order { stage }
            | ScheduleError::Unit { stage, .. }
            | ScheduleError::Nesting { stage }
            | ScheduleError::TooLong { stage } => stage,
            ScheduleError::Collapsed(collapse) => &collapse.here.stage,
        }
    }

    /// The other stage involved, if there is one.
    pub fn other(&self) -> Option<&StageName> {
        match self {
            ScheduleError::Cycle { writer, .. } | ScheduleError::Chained { writer, .. } => Some(writer),
            ScheduleError::Serial { other, .. } => Some(other),
            ScheduleError::Overwritten { first, .. } => Some(first),
            ScheduleError::Unit { other, .. } => Some(other),
            _ => None,
        }
    }

    /// The array of which elements are wanted in another order than loops give them.
    pub fn out_of_order(&self) -> Option<&str> {
        match self {
            ScheduleError::Cycle { array, .. }
            | ScheduleError::Carried { array, .. }
            | ScheduleError::Around { array, .. }
            | ScheduleError::Overwritten { array, .. } => Some(array),
            _ => None,
        }
    }

    /// Advice on the error.
    pub fn help(&self) -> &'static str {
        match self {
            ScheduleError::SeveralLoops { .. } => "use one loop for each dimension, or unroll all of the others",
            ScheduleError::WriteDivides { .. } => "write at an affine function of the loop variables",
            ScheduleError::Cycle { .. } => {
                "read elements of earlier iterations, or move what is written to an array of its own, above what reads it"
            }
            ScheduleError::Carried { .. } => {
                "read at sums of loop variables and constants, with `outside` where no element is, or write the first elements in \
                 a nest of their own"
            }
            ScheduleError::Around { .. } => "give the statement a nest of its own, with all of its loops",
            ScheduleError::Chained { .. } => "do not unroll the loop along which each iteration needs the one before",
            ScheduleError::Serial { .. } => {
                "do not unroll the loops that the target does not follow; only sums, written `+=`, add up copies at once"
            }
            ScheduleError::Overwritten { .. } => {
                "write each element once, or give the second value an array of its own"
            }
            ScheduleError::Reduction { .. } => {
                "unroll the loop fully, so that one iteration adds everything, or choose the schedule `dnn`"
            }
            ScheduleError::Rates { .. } => "index an array with one ratio of steps in all operations",
            ScheduleError::Order { .. } => "nest the loops in the order of the dimensions, as all other operations do",
            ScheduleError::Collapsed(collapse) => match collapse.elsewhere {
                Some(_) => "exchange the indices, or the loops, so that all accesses agree",
                None => "follow each dimension with a loop of its own",
            },
            ScheduleError::Unit { .. } => {
                "give it a unit of its own, or choose the schedule `dnn`, which runs operations of a unit one after the other"
            }
            ScheduleError::Nesting { .. } => "give operations in one loop the same bounds of this loop",
            ScheduleError::TooLong { .. } => "split the work into tiles, and run the accelerator once for each",
        }
    }
}

impl ScheduleError {
    /// The message, with stages as `named` calls them.
    pub fn text(&self, named: impl Fn(&StageName) -> String) -> String {
        match self {
            ScheduleError::SeveralLoops { stage, array, dimension } => {
                format!("dimension {dimension} of `{array}` is indexed by more than one loop in {}", named(stage))
            }
            ScheduleError::WriteDivides { stage } => {
                format!("{} writes at an index that has a division or a boundary", named(stage))
            }
            ScheduleError::Cycle { stage, writer, array } if stage == writer => {
                format!("{} reads elements of `{array}` that it writes only later", named(stage))
            }
            ScheduleError::Cycle { stage, writer, array } => {
                format!("{} reads `{array}`, which {} writes only later", named(stage), named(writer))
            }
            ScheduleError::Carried { stage, array } => {
                let index = "an index that has a division, `clamp` or `mirror`";
                format!("{} reads elements of `{array}` of its earlier iterations at {index}", named(stage))
            }
            ScheduleError::Around { stage, array, variable } => {
                let stage = named(stage);
                format!(
                    "{stage} takes elements of `{array}` from earlier iterations of `{variable}`, a loop around other statements"
                )
            }
            ScheduleError::Chained { stage, writer, array } if named(stage) == named(writer) => {
                format!("copies of {} need elements of `{array}` of each other, one after the other", named(stage))
            }
            ScheduleError::Chained { stage, writer, array } => {
                format!("{} and {} wait for each other in one iteration, by `{array}`", named(stage), named(writer))
            }
            ScheduleError::Serial { stage, array, .. } => {
                format!("copies of {} update `{array}` one after the other, not at once", named(stage))
            }
            ScheduleError::Overwritten { stage, first, array } if named(stage) == named(first) => {
                format!("{} writes elements of `{array}` more than once", named(stage))
            }
            ScheduleError::Overwritten { stage, first, array } => {
                format!("{} overwrites elements of `{array}` that {} wrote", named(stage), named(first))
            }
            ScheduleError::Reduction { stage, variable, array } => {
                let stage = named(stage);
                format!("{stage} is a reduction: it updates `{array}` in every iteration of loop `{variable}`")
            }
            ScheduleError::Rates { stage, variable } => {
                format!("loop `{variable}` of {} would have to run at two rates", named(stage))
            }
            ScheduleError::Order { stage } => {
                let stage = named(stage);
                format!("{stage} nests its loops in another order than the statements it exchanges data with")
            }
            ScheduleError::Collapsed(collapse) => collapse.text(named),
            ScheduleError::Unit { stage, other, unit } => {
                format!("{} finds no cycles of unit `{unit}` in which {} does not run", named(stage), named(other))
            }
            ScheduleError::Nesting { stage } => {
                format!("{} has other bounds for a loop than the statements it shares the loop with", named(stage))
            }
            ScheduleError::TooLong { stage } => format!("{} would run beyond 2^44 cycles", named(stage)),
        }
    }
}

/// The message with the names that stages have in the pipeline.
impl fmt::Display for ScheduleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text(|stage| stage.name.clone()))
    }
}

impl Collapse {
    fn text(&self, named: impl Fn(&StageName) -> String) -> String {
        let Along { read, array, dimension, variable, .. } = &self.here;
        let done = if read.is_some() { "read" } else { "written" };
        let here = format!("`{array}` is {done} here with `{variable}` along index {dimension}");
        match (&self.meets, &self.elsewhere) {
            (Meets::Dimension(other), None) => format!("{here} and along index {other}"),
            (Meets::Dimension(other), Some(_)) => format!("{here}, elsewhere along index {other}"),
            (Meets::Loop(other), _) => format!("{here}, a dimension of the data that `{other}` runs along"),
            (Meets::Loops(stage, [one, other]), _) => {
                let stage = named(stage);
                format!("{here}: then `{one}` and `{other}` of {stage} run along one dimension of the data")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}
