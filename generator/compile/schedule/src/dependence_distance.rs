//! The dependence distance: by how much a consumer must be behind its producer (unified-buffer paper §V-B; dissertation
//! §5.1.1).

use crate::error::{Along, Collapse, Meets, ScheduleError, ScheduleFault, StageName};
use crate::writers::Writers;
use crate::written::{check_writers, covers, written};
use pushmem_stages::{Access, Boundary, Pipeline, Stage, Subscript};

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
    /// Loops of either that no dimension of the array follows: the consumer reads the element again in each iteration.
    pub repeats: Vec<DimensionRelation>,
}

/// How one dimension of an array relates loops of its producer and its consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionRelation {
    /// Loop of the producer that runs along the dimension.
    pub producer_loop: Option<usize>,
    /// Loop of the consumer that runs along the dimension.
    pub consumer_loop: Option<usize>,
    /// Pairs of consumer index and the producer index that writes the element it reads, enough of them to show the
    /// extremes of every linear function of the two.
    pub samples: Vec<(i64, i64)>,
}

/// All dependences of a pipeline: every read with the last stages before it that wrote the elements. A stage may read what it, or
/// a stage below it in the same loops, wrote in an earlier iteration: a recurrence.
///
/// # Errors
/// When a subscript has several loops, a write divides, elements are written twice, or a stage reads elements that are written only
/// later.
pub fn dependences(pipeline: &Pipeline) -> Result<Vec<Dependence>, ScheduleError> {
    let by_elements = Writers::of(pipeline);
    check_writers(pipeline, &by_elements)?;
    let replaced = replaced(pipeline, &by_elements);
    // Along a dimension with several loops nothing is related: each read of the array gets the error.
    let has_several = |access: &Access| access.subscripts.iter().any(|subscript| subscript.single_loop().is_err());
    let mut written_by_several = vec![false; pipeline.arrays.len()];
    for stage in &pipeline.stages {
        written_by_several[stage.write.array] |= has_several(&stage.write);
    }
    let mut found = Vec::new();
    for (consumer, reader) in pipeline.stages.iter().enumerate() {
        for (read, access) in reader.reads.iter().enumerate() {
            let error =
                |fault: ScheduleFault| ScheduleError::at(pipeline, consumer, fault).about(pipeline, access.array);
            let cycle = |writer: usize| error(ScheduleFault::Cycle).with(pipeline, writer);
            let before = found.len();
            let writers = match written_by_several[access.array] || has_several(access) {
                true => by_elements.all(access.array).to_vec(),
                false => by_elements.of_access(reader, access),
            };
            let writers = writers
                .into_iter()
                // An update takes the values of those before it, never of those after it that update the same element.
                .filter(|&writer| {
                    let is_after = writer >= consumer && writes_alike(&pipeline.stages[writer], reader);
                    *access != reader.write || !is_after
                });
            for producer in writers {
                if replaced[producer].is_some_and(|later| later < consumer) {
                    continue;
                }
                let Some(dimensions) = relate(pipeline, producer, consumer, read)? else {
                    continue;
                };
                if is_written_later(pipeline, producer, consumer, &dimensions) {
                    return Err(cycle(producer));
                }
                if producer >= consumer && !has_plain_indices(access) {
                    return Err(error(ScheduleFault::Carried));
                }
                let repeats = repeats(&pipeline.stages[producer], reader, &dimensions);
                found.push(Dependence { array: access.array, producer, consumer, read, dimensions, repeats });
            }
            if *access == reader.write && found.len() == before {
                return Err(cycle(consumer));
            }
        }
    }
    Ok(found)
}

/// Whether some element that one stage reads is written by another one, or by itself, only in a later iteration of the loops that
/// both are in; or in the same iteration, where the writer does not stand above the reader.
fn is_written_later(pipeline: &Pipeline, producer: usize, consumer: usize, dimensions: &[DimensionRelation]) -> bool {
    let (writer, reader) = (&pipeline.stages[producer], &pipeline.stages[consumer]);
    for outer in 0..pipeline.shared_loops(producer, consumer).min(writer.loops.len()).min(reader.loops.len()) {
        let levels = (Some(writer.loops.len() - 1 - outer), Some(reader.loops.len() - 1 - outer));
        let along = dimensions.iter().find(|relation| (relation.producer_loop, relation.consumer_loop) == levels);
        let ahead = along.map(|relation| relation.samples.iter().map(|(read, written)| written - read).max());
        match ahead.flatten() {
            Some(ahead) if ahead > 0 => return true,
            // The whole iteration of this loop came before.
            Some(ahead) if ahead < 0 => return false,
            _ => {}
        }
    }
    producer >= consumer
}

/// A read of a group that takes what the group itself wrote in earlier iterations of the loops that are its own; nothing if a
/// stage of the group writes none of the elements. `depth` is how many of the outermost loops are around other groups, too.
///
/// # Errors
/// When elements are written only later, or are those of iterations of loops around other groups, and when indices do not tell.
pub(crate) fn carried(
    pipeline: &Pipeline,
    producer: usize,
    consumer: usize,
    read: usize,
    depth: usize,
) -> Result<Option<Dependence>, ScheduleError> {
    let reader = &pipeline.stages[consumer];
    let array = reader.reads[read].array;
    let error = |fault: ScheduleFault| ScheduleError::at(pipeline, consumer, fault).about(pipeline, array);
    let Some(dimensions) = relate(pipeline, producer, consumer, read)? else { return Ok(None) };
    let repeats = repeats(&pipeline.stages[producer], reader, &dimensions);
    let own = reader.loops.len() - depth;
    let around = dimensions.iter().find_map(|relation| {
        let level = relation.consumer_loop.into_iter().chain(relation.producer_loop).find(|&level| level >= own)?;
        let moves = relation.consumer_loop != relation.producer_loop;
        (moves || relation.samples.iter().any(|(read, written)| read != written)).then_some(level)
    });
    if let Some(level) = around {
        let variable = reader.loops[level].name.clone();
        return Err(error(ScheduleFault::Around(variable)));
    }
    if producer == consumer && is_written_later(pipeline, producer, consumer, &dimensions) {
        return Err(error(ScheduleFault::Cycle).with(pipeline, producer));
    }
    if !has_plain_indices(&reader.reads[read]) {
        return Err(error(ScheduleFault::Carried));
    }
    let dependence = Dependence { array, producer, consumer, read, dimensions, repeats };
    let dependence = of_last_write(dependence, &pipeline.stages[producer]);
    // The loops that are its own, an iteration a cycle.
    let mut steps = vec![0; reader.loops.len()];
    let mut period = 1_i64;
    for (step, bounds) in steps.iter_mut().zip(&reader.loops[..own]) {
        *step = period;
        period = period.saturating_mul(bounds.extent as i64);
    }
    match dependence.furthest(&steps, &steps) < 0 {
        true => Ok(Some(dependence)),
        false => Err(error(ScheduleFault::Chained).with(pipeline, producer)),
    }
}

/// A dependence on the last write of an element before the read, where loops of the producer write it again and again: in the same
/// iteration of those around the loop that carries the value, and in the last one of those inside.
fn of_last_write(mut dependence: Dependence, writer: &Stage) -> Dependence {
    let moves = |relation: &&DimensionRelation| {
        relation.producer_loop == relation.consumer_loop
            && relation.samples.iter().any(|(read, written)| read != written)
    };
    let carrying = dependence.dimensions.iter().filter(moves).filter_map(|relation| relation.producer_loop).max();
    let again = |level: usize| {
        let follows = dependence.dimensions.iter().any(|relation| relation.producer_loop == Some(level));
        !follows && writer.loops[level].extent > 1
    };
    let around: Vec<usize> =
        (0..writer.loops.len()).filter(|&level| again(level) && carrying.is_some_and(|inner| level > inner)).collect();
    for relation in dependence.dimensions.iter_mut().chain(&mut dependence.repeats) {
        let is_around = |level: &usize| around.contains(level);
        relation.producer_loop = relation.producer_loop.filter(|level| !is_around(level));
        relation.consumer_loop = relation.consumer_loop.filter(|level| !is_around(level));
    }
    for relation in &mut dependence.repeats {
        if let (Some(level), None) = (relation.producer_loop, relation.consumer_loop) {
            relation.samples = vec![(0, writer.loops[level].max())];
        }
    }
    dependence
}

/// Whether a read takes results of earlier iterations of its own group alone, as they come out of its kernels: elements that no
/// other stage writes, and the group once.
pub fn takes_own_results(pipeline: &Pipeline, writers: &Writers, consumer: usize, read: usize) -> bool {
    let reader = &pipeline.stages[consumer];
    let access = &reader.reads[read];
    let once =
        |stage: &Stage| stage.loops_not_written().all(|level| stage.loops[level].extent == 1) && !stage.updates();
    access.array == reader.write.array
        && *access != reader.write
        && writers.all(access.array).iter().all(|&writer| {
            let writer = &pipeline.stages[writer];
            writer.group == reader.group && once(writer)
        })
}

/// Whether the indices of an access are affine, but for elements outside of the array.
fn has_plain_indices(access: &Access) -> bool {
    let is_plain = |subscript: &Subscript| {
        subscript.divisor == 1 && matches!(subscript.boundary, Boundary::None | Boundary::Outside { .. })
    };
    access.subscripts.iter().all(is_plain)
}

/// By stage, the first one after it that writes all its elements again.
fn replaced(pipeline: &Pipeline, writers: &Writers) -> Vec<Option<usize>> {
    let by_later = |(number, stage): (usize, &Stage)| {
        let mut later = writers.of_access(stage, &stage.write).into_iter().filter(|&later| later > number);
        later.find(|&later| covers(pipeline, later, number))
    };
    pipeline.stages.iter().enumerate().map(by_later).collect()
}

/// Whether the writes of two stages have the same subscripts in the same loops. In a nest they share, they write an
/// element in the same iteration, one after the other; and so they do in nests of their own.
fn writes_alike(one: &Stage, other: &Stage) -> bool {
    let along = |stage: &Stage, subscript: &Subscript| {
        let level = subscript.single_loop().ok()?;
        let step = level.map(|level| {
            let bounds = &stage.loops[level];
            (bounds.name.clone(), bounds.min, subscript.coefficients[level])
        });
        Some((step, subscript.constant + subscript.offset))
    };
    let pairs = one.write.subscripts.iter().zip(&other.write.subscripts);
    pairs.into_iter().all(|(first, second)| {
        let first = along(one, first);
        first.is_some() && first == along(other, second)
    })
}

/// The relations of all dimensions, or nothing if the two never touch the same element.
fn relate(
    pipeline: &Pipeline,
    producer: usize,
    consumer: usize,
    read: usize,
) -> Result<Option<Vec<DimensionRelation>>, ScheduleError> {
    let (writer, reader) = (&pipeline.stages[producer], &pipeline.stages[consumer]);
    let access = &reader.reads[read];
    let mut relations: Vec<DimensionRelation> = Vec::new();
    let mut collapsed = None;
    for (dimension, (target, source)) in writer.write.subscripts.iter().zip(&access.subscripts).enumerate() {
        let several = |stage: usize| {
            let error = ScheduleError::at(pipeline, stage, ScheduleFault::SeveralLoops(dimension));
            move |_| error.about(pipeline, access.array)
        };
        let producer_loop = target.single_loop().map_err(several(producer))?;
        let consumer_loop = source.single_loop().map_err(several(consumer))?;
        let samples = samples(writer, target, producer_loop, reader, source, consumer_loop);
        if samples.is_empty() {
            return Ok(None);
        }
        // Indices of one loop along two dimensions are no combinations of those along each.
        for (before, relation) in relations.iter().enumerate() {
            let follows = |stage: usize, read: Option<usize>, level: usize| Collapse {
                here: Along {
                    stage: StageName::of(pipeline, stage),
                    read,
                    array: pipeline.arrays[access.array].name.clone(),
                    dimension: before,
                    variable: pipeline.stages[stage].loops[level].name.clone(),
                },
                meets: Meets::Dimension(dimension),
                elsewhere: None,
            };
            if let Some(level) = consumer_loop.filter(|_| relation.consumer_loop == consumer_loop) {
                collapsed = Some(follows(consumer, Some(read), level));
            }
            if let Some(level) = producer_loop.filter(|_| relation.producer_loop == producer_loop) {
                collapsed = Some(follows(producer, None, level));
            }
        }
        relations.push(DimensionRelation { producer_loop, consumer_loop, samples });
    }
    match collapsed {
        Some(collapse) => Err(collapse.into()),
        None => Ok(Some(relations)),
    }
}

/// The first and the last iteration of the loops that no dimension follows. Those of the producer have one iteration, for
/// none writes an element twice.
fn repeats(writer: &Stage, reader: &Stage, dimensions: &[DimensionRelation]) -> Vec<DimensionRelation> {
    let producer = (0..writer.loops.len())
        .filter(|&level| dimensions.iter().all(|relation| relation.producer_loop != Some(level)))
        .map(|level| (Some(level), None, vec![(0, writer.loops[level].min)]));
    let consumer = (0..reader.loops.len())
        .filter(|&level| dimensions.iter().all(|relation| relation.consumer_loop != Some(level)))
        .map(|level| (None, Some(level), vec![(reader.loops[level].min, 0), (reader.loops[level].max(), 0)]));
    producer
        .chain(consumer)
        .map(|(producer_loop, consumer_loop, samples)| DimensionRelation { producer_loop, consumer_loop, samples })
        .collect()
}

/// The samples of [`DimensionRelation`].
///
/// The consumer's loop is cut where the boundary begins to act and where the producer's elements begin and end. Within a
/// piece the subscript runs up, down or not at all, without turning. There, `divisor · stride` iterations further, the
/// element is a whole number of the producer's iterations further, the same number from wherever one starts. So a linear
/// function of the two indices is linear along every sequence of such steps, and is greatest at one end of it: the ends
/// of all these sequences are among the first and the last `divisor · stride` iterations of the piece.
fn samples(
    writer: &Stage,
    target: &Subscript,
    producer_loop: Option<usize>,
    reader: &Stage,
    read: &Subscript,
    consumer_loop: Option<usize>,
) -> Vec<(i64, i64)> {
    let whole = consumer_loop.map_or((0, 0), |level| (reader.loops[level].min, reader.loops[level].max()));
    let elements = written(writer, target);
    let coefficient = producer_loop.map_or(1, |level| target.coefficients[level]);
    let period = read.divisor * coefficient.abs();
    let quotient = |index: i64| read.quotient(consumer_loop, index);
    let element = |index: i64| read.along(consumer_loop, index);
    let mut samples = Vec::new();
    let cuts = cuts(read.boundary, quotient(whole.0).min(quotient(whole.1)), quotient(whole.0).max(quotient(whole.1)));
    let mut pieces: Vec<(i64, i64)> = cuts.into_iter().filter_map(|part| preimage(whole, quotient, part)).collect();
    pieces.sort_unstable();
    for piece in pieces {
        let inside = |index: i64| element(index).expect("a piece has elements");
        let Some((first, last)) = preimage(piece, inside, (elements.first, elements.last)) else {
            continue;
        };
        let head = first..=last.min(first.saturating_add(period - 1));
        let tail = (last - period + 1).max(head.end() + 1)..=last;
        samples.extend(head.chain(tail).filter_map(|index| {
            let from_constant = inside(index) - target.constant - target.offset;
            let producer = producer_loop.map_or(0, |_| from_constant / coefficient);
            (from_constant % coefficient == 0).then_some((index, producer))
        }));
    }
    samples
}

/// The intervals of quotients from `least` to `greatest` on which a boundary does not turn, and has elements.
fn cuts(boundary: Boundary, least: i64, greatest: i64) -> Vec<(i64, i64)> {
    match boundary {
        Boundary::None => vec![(least, greatest)],
        Boundary::Outside { low, high } => vec![(low, high)],
        Boundary::Clamp { low, high } => {
            vec![(least.min(low) - 1, low - 1), (low, high), (high + 1, greatest.max(high) + 1)]
        }
        Boundary::Mirror { low, high } => {
            let extent = high - low + 1;
            let reflection = |value: i64| (value - low).div_euclid(extent);
            let part = |number: i64| (low + number * extent, low + (number + 1) * extent - 1);
            (reflection(least)..=reflection(greatest)).map(part).collect()
        }
    }
}

/// The indices within `whole` for which a function that does not turn there lies in `low..=high`.
fn preimage(whole: (i64, i64), value: impl Fn(i64) -> i64, (low, high): (i64, i64)) -> Option<(i64, i64)> {
    let rises = value(whole.0) <= value(whole.1);
    let first = first_where(whole, |index| if rises { value(index) >= low } else { value(index) <= high });
    let after = first_where(whole, |index| if rises { value(index) > high } else { value(index) < low });
    (first < after).then_some((first, after - 1))
}

/// The first index at which a condition holds that then holds to the end; behind the last if it never does.
fn first_where((mut first, last): (i64, i64), condition: impl Fn(i64) -> bool) -> i64 {
    let mut after = last + 1;
    while first < after {
        let middle = first + (after - first) / 2;
        if condition(middle) {
            after = middle;
        } else {
            first = middle + 1;
        }
    }
    first
}

impl Dependence {
    /// Whether the reader takes the result of an earlier iteration of the loops that both are in.
    pub fn is_carried(&self) -> bool {
        self.producer >= self.consumer
    }

    /// The furthest that the producer's time must be ahead of the consumer's: the maximum, over all points of the
    /// consumer, of the producer's linear time for the element it reads less its own linear time. `steps` gives the
    /// linear time of one iteration of each loop, of the producer and of the consumer.
    pub(crate) fn furthest(&self, producer_steps: &[i64], consumer_steps: &[i64]) -> i64 {
        self.dimensions
            .iter()
            .chain(&self.repeats)
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
