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
pub struct ScheduleError {
    /// The stage at which the error shows.
    pub stage: StageName,
    /// The other stage involved, if there is one: in errors about the order of elements, the one that writes.
    pub other: Option<StageName>,
    /// The array that the error is about, if it is about one.
    pub array: Option<String>,
    /// The fault.
    pub fault: ScheduleFault,
}

/// A fault of stages that have no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleFault {
    /// The subscript of this dimension adds several loop indices, so that the dimension belongs to no loop.
    SeveralLoops(usize),
    /// A written subscript has a divisor or a boundary.
    WriteDivides,
    /// A stage reads elements that it or a later stage writes.
    Cycle,
    /// A stage takes results of earlier iterations at an index with a division, `clamp` or `mirror`.
    Carried,
    /// A stage takes results of earlier iterations of this loop, which other stages are in, too.
    Around(String),
    /// A stage takes, in an iteration, the word of another one that runs in the same cycles: copies of an unrolled recurrence.
    Chained,
    /// Copies of one operation update the same elements one after the other.
    Serial,
    /// Elements are written twice: by a stage and by the other one, which wrote before, or by one in several iterations.
    Overwritten,
    /// A stage updates elements in several iterations of this loop.
    Reduction(String),
    /// This loop of a stage would have to run at two rates.
    Rates(String),
    /// Stages nest their loops in contradicting orders, as in a transposition.
    Order,
    /// Two loops of one stage would be the same dimension of the fused nest, or one loop two dimensions.
    Collapsed(Box<Collapse>),
    /// A stage would run in the same cycles as another one that has its compute unit, this one.
    Unit(String),
    /// Stages do not agree on the loops that they share.
    Nesting,
    /// Cycles of a stage, or of the loops around it, are too many to count.
    TooLong,
}

impl ScheduleError {
    /// A fault that shows at a stage.
    pub(crate) fn at(pipeline: &Pipeline, stage: usize, fault: ScheduleFault) -> Self {
        ScheduleError { stage: StageName::of(pipeline, stage), other: None, array: None, fault }
    }

    /// The same about an array.
    pub(crate) fn about(self, pipeline: &Pipeline, array: usize) -> Self {
        ScheduleError { array: Some(pipeline.arrays[array].name.clone()), ..self }
    }

    /// The same with another stage involved.
    pub(crate) fn with(self, pipeline: &Pipeline, other: usize) -> Self {
        ScheduleError { other: Some(StageName::of(pipeline, other)), ..self }
    }

    /// The array of which elements are wanted in another order than loops give them.
    pub fn out_of_order(&self) -> Option<&str> {
        use ScheduleFault::{Around, Carried, Cycle, Overwritten};
        let is_of_order = matches!(self.fault, Cycle | Carried | Around(_) | Overwritten);
        self.array.as_deref().filter(|_| is_of_order)
    }

    /// Advice on the error.
    pub fn help(&self) -> &'static str {
        match &self.fault {
            ScheduleFault::SeveralLoops(_) => "use one loop for each dimension, or unroll all of the others",
            ScheduleFault::WriteDivides => "write at an affine function of the loop variables",
            ScheduleFault::Cycle => {
                "read elements of earlier iterations, or move what is written to an array of its own, above what reads it"
            }
            ScheduleFault::Carried => {
                "read at sums of loop variables and constants, with `outside` where no element is, or write the first elements in \
                 a nest of their own"
            }
            ScheduleFault::Around(_) => "give the statement a nest of its own, with all of its loops",
            ScheduleFault::Chained => "do not unroll the loop along which each iteration needs the one before",
            ScheduleFault::Serial => {
                "do not unroll the loops that the target does not follow; only sums, written `+=`, add up copies at once"
            }
            ScheduleFault::Overwritten => "write each element once, or give the second value an array of its own",
            ScheduleFault::Reduction(_) => {
                "unroll the loop fully, so that one iteration adds everything, or choose the schedule `dnn`"
            }
            ScheduleFault::Rates(_) => "index an array with one ratio of steps in all operations",
            ScheduleFault::Order => "nest the loops in the order of the dimensions, as all other operations do",
            ScheduleFault::Collapsed(collapse) => match collapse.elsewhere {
                Some(_) => "exchange the indices, or the loops, so that all accesses agree",
                None => "follow each dimension with a loop of its own",
            },
            ScheduleFault::Unit(_) => {
                "give it a unit of its own, or choose the schedule `dnn`, which runs operations of a unit one after the other"
            }
            ScheduleFault::Nesting => "give operations in one loop the same bounds of this loop",
            ScheduleFault::TooLong => "split the work into tiles, and run the accelerator once for each",
        }
    }

    /// The message, with stages as `named` calls them.
    pub fn text(&self, named: impl Fn(&StageName) -> String) -> String {
        let stage = named(&self.stage);
        let other = self.other.as_ref().map(&named).unwrap_or_default();
        let array = self.array.as_deref().unwrap_or_default();
        match &self.fault {
            ScheduleFault::SeveralLoops(dimension) => {
                format!("dimension {dimension} of `{array}` is indexed by more than one loop in {stage}")
            }
            ScheduleFault::WriteDivides => format!("{stage} writes at an index that has a division or a boundary"),
            ScheduleFault::Cycle if self.other.as_ref() == Some(&self.stage) => {
                format!("{stage} reads elements of `{array}` that it writes only later")
            }
            ScheduleFault::Cycle => format!("{stage} reads `{array}`, which {other} writes only later"),
            ScheduleFault::Carried => {
                let index = "an index that has a division, `clamp` or `mirror`";
                format!("{stage} reads elements of `{array}` of its earlier iterations at {index}")
            }
            ScheduleFault::Around(variable) => format!(
                "{stage} takes elements of `{array}` from earlier iterations of `{variable}`, a loop around other statements"
            ),
            ScheduleFault::Chained if stage == other => {
                format!("copies of {stage} need elements of `{array}` of each other, one after the other")
            }
            ScheduleFault::Chained => format!("{stage} and {other} wait for each other in one iteration, by `{array}`"),
            ScheduleFault::Serial => format!("copies of {stage} update `{array}` one after the other, not at once"),
            ScheduleFault::Overwritten if stage == other => {
                format!("{stage} writes elements of `{array}` more than once")
            }
            ScheduleFault::Overwritten => format!("{stage} overwrites elements of `{array}` that {other} wrote"),
            ScheduleFault::Reduction(variable) => {
                format!("{stage} is a reduction: it updates `{array}` in every iteration of loop `{variable}`")
            }
            ScheduleFault::Rates(variable) => format!("loop `{variable}` of {stage} would have to run at two rates"),
            ScheduleFault::Order => {
                format!("{stage} nests its loops in another order than the statements it exchanges data with")
            }
            ScheduleFault::Collapsed(collapse) => collapse.text(named),
            ScheduleFault::Unit(unit) => {
                format!("{stage} finds no cycles of unit `{unit}` in which {other} does not run")
            }
            ScheduleFault::Nesting => {
                format!("{stage} has other bounds for a loop than the statements it shares the loop with")
            }
            ScheduleFault::TooLong => format!("{stage} would run beyond 2^44 cycles"),
        }
    }
}

impl From<Collapse> for ScheduleError {
    fn from(collapse: Collapse) -> Self {
        let stage = collapse.here.stage.clone();
        ScheduleError { stage, other: None, array: None, fault: ScheduleFault::Collapsed(Box::new(collapse)) }
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
