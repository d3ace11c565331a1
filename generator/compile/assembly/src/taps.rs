//! Taps of each read: for which iterations, which producer's stream, how many cycles ago.

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_schedule::{Access, Pipeline, Schedule, Stage, Subscript, Writers, is_outside};

use pushmem_graph::Condition;

/// The most values of one loop index that may need a delay of their own.
const MOST_CLASSES: usize = 64;

/// Source of a read in some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tap {
    /// The result of a stage this many cycles before the read.
    Stage { producer: usize, delay: i64 },
    /// Nothing: the element lies outside of the array.
    Outside,
    /// The word on a port of the memory of an array.
    Port { array: usize, port: usize },
}

/// A tap, and the iterations that need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TapCase {
    /// Conditions on loops of the stage. It applies if all hold and no case before it does.
    pub conditions: Vec<(usize, Condition)>,
    pub tap: Tap,
}

/// Why a read has no taps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TapError {
    /// Nearly every index of a loop needs a delay of its own: the stream would have to be held or reordered.
    Held {
        /// The loop of the stage.
        level: usize,
    },
    /// No stage produces the element that is read at this iteration.
    NoProducer {
        /// Index of each loop, innermost first.
        index: Vec<i64>,
    },
}

/// How all elements that one loop index selects relate to the producers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Signature {
    Outside,
    /// For each producer that has the coordinates: the part of the delay that comes from this loop.
    Inside(Vec<Option<i64>>),
}

/// Indices of a loop that behave alike.
struct Class {
    signature: Signature,
    indices: Vec<i64>,
}

/// A stage that reads, and when: one of the pipeline, or some of its iterations, perhaps at other times.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// Its number in the pipeline.
    pub stage: usize,
    /// Its loops.
    pub content: &'a Stage,
    /// The cycle of each iteration.
    pub schedule: &'a Affine,
}

/// Finds the taps of a read.
pub(crate) fn taps(
    pipeline: &Pipeline,
    writers: &Writers,
    schedule: &Schedule,
    reader: Reader,
    read: &Access,
) -> Result<Vec<TapCase>, TapError> {
    let Reader { stage, content: reader, schedule: times } = reader;
    // An update reads the results of the stages before it. Other reads may take results of earlier iterations.
    let feeds = |&other: &usize| other < stage || *read != reader.write;
    let producers = writers.of_access(reader, read).into_iter().filter(feeds).collect_vec();
    let loops = |access: &Access| access.subscripts.iter().map(loop_of).collect();
    let read_loops = loops(read);
    let written_loops = producers.iter().map(|&producer| loops(&pipeline.stages[producer].write)).collect();
    let finder = Finder { pipeline, schedule, times, reader, read, producers, read_loops, written_loops };
    finder.cases()
}

struct Finder<'a> {
    pipeline: &'a Pipeline,
    schedule: &'a Schedule,
    /// The cycle of each iteration of the reader.
    times: &'a Affine,
    reader: &'a Stage,
    read: &'a Access,
    producers: Vec<usize>,
    /// The loop that each dimension of the read depends on.
    read_loops: Vec<Option<usize>>,
    /// The loop that each dimension of each producer's write depends on.
    written_loops: Vec<Vec<Option<usize>>>,
}

impl Finder<'_> {
    fn cases(&self) -> Result<Vec<TapCase>, TapError> {
        if is_outside(self.reader, self.read) {
            return Ok(vec![TapCase { conditions: Vec::new(), tap: Tap::Outside }]);
        }
        let by_level: Vec<Vec<Class>> = (0..self.reader.loops.len()).map(|level| self.classes(level)).try_collect()?;
        let mut cases = Vec::new();
        for (level, classes) in by_level.iter().enumerate() {
            for class in classes.iter().filter(|class| class.signature == Signature::Outside) {
                for condition in conditions(&class.indices) {
                    cases.push(TapCase { conditions: vec![(level, condition)], tap: Tap::Outside });
                }
            }
        }
        let fixed = self.fixed_part();
        // The largest class of each loop comes first and needs no condition, because combinations with more of the others
        // come before it.
        let inside: Vec<Vec<&Class>> = by_level
            .iter()
            .map(|classes| {
                let inside = classes.iter().filter(|class| class.signature != Signature::Outside);
                inside.sorted_by_key(|class| std::cmp::Reverse(class.indices.len())).collect()
            })
            .collect();
        let ranks = inside.iter().map(|classes| 0..classes.len()).multi_cartesian_product();
        let combinations =
            ranks.sorted_by_key(|ranks| std::cmp::Reverse(ranks.iter().filter(|&&rank| rank > 0).count()));
        for ranks in combinations {
            let chosen: Vec<&Class> = ranks.iter().zip(&inside).map(|(&rank, classes)| classes[rank]).collect();
            let tap = self.tap(&fixed, &chosen)?;
            let alternatives = ranks
                .iter()
                .zip(&chosen)
                .enumerate()
                .filter(|(_, (rank, _))| **rank > 0)
                .map(|(level, (_, class))| conditions(&class.indices).into_iter().map(move |one| (level, one)))
                .multi_cartesian_product();
            cases.extend(alternatives.map(|conditions| TapCase { conditions, tap }));
        }
        Ok(simplified(cases))
    }

    /// The dimensions of the array whose subscripts depend on this loop.
    fn dimensions(&self, level: Option<usize>) -> impl Iterator<Item = usize> {
        self.read_loops.iter().positions(move |&of| of == level)
    }

    /// The part of the delay that comes from dimensions without a loop, and from the starts, for each producer.
    fn fixed_part(&self) -> Vec<Option<i64>> {
        let index: Vec<i64> = self.reader.loops.iter().map(|level| level.min).collect();
        let own = self.times.start;
        self.producers
            .iter()
            .enumerate()
            .map(|(number, &producer)| {
                let produced = self.produced(number, None, &index)?;
                let latency = self.pipeline.stages[producer].latency as i64;
                Some(own - self.schedule.stages[producer].start - latency - produced)
            })
            .collect()
    }

    fn classes(&self, level: usize) -> Result<Vec<Class>, TapError> {
        let bounds = &self.reader.loops[level];
        let mut index: Vec<i64> = self.reader.loops.iter().map(|level| level.min).collect();
        if self.is_linear(level) {
            let mut at = |value: i64| {
                index[level] = value;
                self.signature(level, &index)
            };
            let first = at(bounds.min);
            // A linear delay that is the same at both ends is the same between them.
            if first == at(bounds.max()) && !matches!(&first, Signature::Inside(parts) if parts.contains(&None)) {
                return Ok(vec![Class { signature: first, indices: (bounds.min..=bounds.max()).collect() }]);
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        for value in bounds.min..=bounds.max() {
            index[level] = value;
            let signature = self.signature(level, &index);
            match classes.iter().rposition(|class| class.signature == signature) {
                Some(known) => classes[known].indices.push(value),
                None if classes.len() < MOST_CLASSES => classes.push(Class { signature, indices: vec![value] }),
                None => return Err(TapError::Held { level }),
            }
        }
        Ok(classes)
    }

    /// Whether no index of this loop is divided, limited or shared among producers.
    fn is_linear(&self, level: usize) -> bool {
        self.producers.len() == 1
            && self.dimensions(Some(level)).all(|dimension| {
                let subscript = &self.read.subscripts[dimension];
                let written = &self.pipeline.stages[self.producers[0]].write.subscripts[dimension];
                let whole = self.written_loops[0][dimension]
                    .is_some_and(|of| subscript.coefficients[level] % written.coefficients[of] == 0);
                subscript.is_affine() && whole
            })
    }

    fn signature(&self, level: usize, index: &[i64]) -> Signature {
        if self.dimensions(Some(level)).any(|dimension| self.read.subscripts[dimension].at(index).is_none()) {
            return Signature::Outside;
        }
        let own = self.times.stride[level] * index[level];
        let part = |producer: usize| Some(own - self.produced(producer, Some(level), index)?);
        Signature::Inside((0..self.producers.len()).map(part).collect())
    }

    /// How much the coordinates that a loop of the reader selects add to the time at which a producer runs for the
    /// element; nothing if it never produces such coordinates.
    fn produced(&self, number: usize, level: Option<usize>, index: &[i64]) -> Option<i64> {
        let producer = self.producers[number];
        let stage = &self.pipeline.stages[producer];
        let strides = &self.schedule.stages[producer].stride;
        self.dimensions(level)
            .map(|dimension| {
                let element = self.read.subscripts[dimension].at(index)?;
                let written = &stage.write.subscripts[dimension];
                let Some(of) = self.written_loops[number][dimension] else {
                    return (written.constant == element).then_some(0);
                };
                let steps = element - written.constant;
                let iteration = steps / written.coefficients[of];
                let exists = steps % written.coefficients[of] == 0
                    && (stage.loops[of].min..=stage.loops[of].max()).contains(&iteration);
                exists.then_some(iteration * strides[of])
            })
            .sum()
    }

    fn tap(&self, fixed: &[Option<i64>], classes: &[&Class]) -> Result<Tap, TapError> {
        let parts = classes.iter().map(|class| match &class.signature {
            Signature::Inside(parts) => parts,
            Signature::Outside => unreachable!("only inside classes are combined"),
        });
        let sums = parts.fold(fixed.to_vec(), |sums, parts| {
            sums.iter().zip(parts).map(|(sum, part)| Some((*sum)? + (*part)?)).collect()
        });
        let found = self.producers.iter().zip(sums).rev().find_map(|(&producer, sum)| Some((producer, sum?)));
        match found {
            Some((producer, delay)) => Ok(Tap::Stage { producer, delay }),
            None => Err(TapError::NoProducer { index: classes.iter().map(|class| class.indices[0]).collect() }),
        }
    }
}

fn loop_of(subscript: &Subscript) -> Option<usize> {
    subscript.single_loop().expect("the scheduler has refused subscripts of several loops")
}

/// Arithmetic progressions that together are these ascending indices.
fn conditions(indices: &[i64]) -> Vec<Condition> {
    let mut found = Vec::new();
    let mut rest = indices;
    while let [first, tail @ ..] = rest {
        let step = tail.first().map_or(1, |second| second - first);
        let count = (0_i64..).zip(rest).take_while(|(place, index)| **index == first + place * step).count();
        found.push(Condition { first: *first, last: rest[count - 1], step });
        rest = &rest[count..];
    }
    found
}

/// Drops cases equal to the last one, from the end.
fn simplified(mut cases: Vec<TapCase>) -> Vec<TapCase> {
    if let Some(last) = cases.pop() {
        while cases.last().is_some_and(|case| case.tap == last.tap) {
            cases.pop();
        }
        cases.push(TapCase { conditions: Vec::new(), tap: last.tap });
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_become_progressions() {
        let whole = |first, last, step| Condition { first, last, step };
        assert_eq!(conditions(&[0, 1, 2]), [whole(0, 2, 1)]);
        assert_eq!(conditions(&[1, 3, 5, 6]), [whole(1, 5, 2), whole(6, 6, 1)]);
        assert_eq!(conditions(&[7]), [whole(7, 7, 1)]);
    }
}
