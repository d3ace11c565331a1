//! Who waits for whom.

use crate::error::ScheduleError;
use crate::pipeline::{Access, Pipeline, Stage};

/// A read that takes its values from a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Index of the array.
    pub array: usize,
    /// Index of the stage that writes.
    pub producer: usize,
    /// Index of the stage that reads.
    pub consumer: usize,
    /// Which of the consumer's reads.
    pub read: usize,
    /// How each dimension of the array relates the two.
    pub dimensions: Vec<DimensionRelation>,
}

/// How one dimension of an array relates loops of its producer and its consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionRelation {
    /// Loop of the producer that runs along the dimension.
    pub producer_loop: Option<usize>,
    /// Loop of the consumer that runs along the dimension.
    pub consumer_loop: Option<usize>,
    /// Pairs of consumer index and the producer index that writes what it reads, enough of them to show every offset
    /// between the two: a whole period of the divisor and of the producer's stride.
    pub samples: Vec<(i64, i64)>,
}

/// All dependences of a pipeline.
///
/// # Errors
/// When a subscript has several loops, a write divides, or a stage reads what comes later.
pub fn dependences(pipeline: &Pipeline) -> Result<Vec<Dependence>, ScheduleError> {
    let mut found = Vec::new();
    for (consumer, reader) in pipeline.stages.iter().enumerate() {
        for (read, access) in reader.reads.iter().enumerate() {
            for (producer, writer) in pipeline.stages.iter().enumerate() {
                if writer.write.array != access.array {
                    continue;
                }
                if producer >= consumer {
                    return Err(ScheduleError::Cycle {
                        stage: reader.name.clone(),
                        array: pipeline.arrays[access.array].name.clone(),
                    });
                }
                if let Some(dimensions) = relate(pipeline, writer, reader, access)? {
                    found.push(Dependence { array: access.array, producer, consumer, read, dimensions });
                }
            }
        }
    }
    Ok(found)
}

/// The relations of all dimensions, or nothing if the two never touch the same element.
fn relate(
    pipeline: &Pipeline,
    writer: &Stage,
    reader: &Stage,
    access: &Access,
) -> Result<Option<Vec<DimensionRelation>>, ScheduleError> {
    let mut relations = Vec::new();
    for (dimension, (written, read)) in writer.write.subscripts.iter().zip(&access.subscripts).enumerate() {
        let several = |stage: &Stage| {
            let (stage, array) = (stage.name.clone(), pipeline.arrays[access.array].name.clone());
            move |_| ScheduleError::SeveralLoops { stage, array, dimension }
        };
        if written.divisor != 1 {
            return Err(ScheduleError::WriteDivides { stage: writer.name.clone() });
        }
        let producer_loop = written.single_loop().map_err(several(writer))?;
        let consumer_loop = read.single_loop().map_err(several(reader))?;
        let stride = producer_loop.map_or(1, |level| written.coefficients[level].abs());
        let (first, last) = consumer_loop.map_or((0, 0), |level| (reader.loops[level].min, reader.loops[level].max()));
        // Offsets repeat with this period; where the producer writes one place only, any index may be the one.
        let period = if producer_loop.is_some() { read.divisor * stride } else { i64::MAX };
        let samples: Vec<(i64, i64)> = (first..=last.min(first.saturating_add(period - 1)))
            .filter_map(|index| {
                let element = read.at(consumer_loop, index);
                match producer_loop {
                    None => (written.constant == element).then_some((index, 0)),
                    Some(level) => {
                        let from_constant = element - written.constant;
                        let coefficient = written.coefficients[level];
                        (from_constant % coefficient == 0).then_some((index, from_constant / coefficient))
                    }
                }
            })
            .collect();
        if samples.is_empty() {
            return Ok(None);
        }
        relations.push(DimensionRelation { producer_loop, consumer_loop, samples });
    }
    Ok(Some(relations))
}

impl Dependence {
    /// The furthest that the producer's time must be ahead of the consumer's: the maximum, over all points of the
    /// consumer, of the producer's linear time for the element it reads less its own linear time. `steps` gives the
    /// linear time of one iteration of each loop, of the producer and of the consumer.
    pub(crate) fn furthest(&self, producer_steps: &[i64], consumer_steps: &[i64]) -> i64 {
        self.dimensions
            .iter()
            .map(|relation| {
                let step = |steps: &[i64], level: Option<usize>| level.map_or(0, |level| steps[level]);
                let producer_step = step(producer_steps, relation.producer_loop);
                let consumer_step = step(consumer_steps, relation.consumer_loop);
                let lead = |&(consumer, producer): &(i64, i64)| producer_step * producer - consumer_step * consumer;
                relation.samples.iter().map(lead).max().unwrap_or(0)
            })
            .sum()
    }

    /// The nearest, as [`Dependence::furthest`] is the furthest.
    pub(crate) fn nearest(&self, producer_steps: &[i64], consumer_steps: &[i64]) -> i64 {
        let negated = |steps: &[i64]| steps.iter().map(|step| -step).collect::<Vec<_>>();
        -self.furthest(&negated(producer_steps), &negated(consumer_steps))
    }
}
