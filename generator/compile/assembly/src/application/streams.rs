//! The streams at the boundary.

use std::collections::BTreeMap;

use pushmem_affine::Affine;
use pushmem_extraction::Origin;

use super::Builder;
use pushmem_graph::{CounterId, InputLane, InputNode, OutputLane, OutputNode, WordDriver, counted_levels};
use pushmem_nest::Word;

impl Builder<'_> {
    /// Streams of an array: the lanes that come in the same cycles together. Returns the counter and the stages of each.
    fn lanes_together(&mut self, stages: &[usize], late: impl Fn(usize) -> u64) -> Vec<(CounterId, Vec<usize>)> {
        let mut groups: Vec<(CounterId, Vec<usize>)> = Vec::new();
        for &stage in stages {
            let counter = self.counter(stage, late(stage));
            match groups.iter_mut().find(|(other, _)| *other == counter) {
                Some((_, lanes)) => lanes.push(stage),
                None => groups.push((counter, vec![stage])),
            }
        }
        groups
    }

    /// Which word of an array a stage writes, in order of memory, over the loops of its counter: the number of the element, or of its
    /// words, low word first, where it has two.
    fn element(&self, stage: usize, word: Word) -> Affine {
        let content = &self.scheduled.extraction.pipeline.stages[stage];
        let array = &self.scheduled.program.arrays[content.write.array];
        let mut element = Affine { start: word.number() as i64, stride: vec![0; content.loops.len()] };
        let mut size = array.element.words().len() as i64;
        for (dimension, subscript) in content.write.subscripts.iter().enumerate() {
            element.start += size * (subscript.constant - array.min[dimension]);
            for (stride, coefficient) in element.stride.iter_mut().zip(&subscript.coefficients) {
                *stride += size * coefficient;
            }
            size *= array.shape[dimension];
        }
        element.start +=
            content.loops.iter().zip(&element.stride).map(|(level, stride)| level.min * stride).sum::<i64>();
        let counted = counted_levels(content, &self.scheduled.schedule.stages[stage]);
        element.stride = counted.into_iter().map(|level| element.stride[level]).collect();
        element
    }

    /// The name of a stream of an array, of which there may be several.
    fn stream_name(&self, array: usize, number: Option<usize>) -> String {
        let declared = &self.scheduled.program.arrays[array];
        // As of operations, numbers that would give the name of an array are left out: the stream of that has it.
        let is_free = |name: &String| self.scheduled.program.arrays.iter().all(|array| array.name != *name);
        let mut numbered = (0..).map(|number: usize| format!("{}_{number}", declared.name)).filter(is_free);
        match number {
            None => declared.name.clone(),
            Some(number) => numbered.nth(number).expect("numbers do not end"),
        }
    }

    pub(super) fn add_inputs(&mut self) {
        let extraction = self.scheduled.extraction;
        for array in 0..self.scheduled.program.arrays.len() {
            let stages: Vec<usize> = (0..extraction.origins.len())
                .filter(|&stage| matches!(extraction.origins[stage], Origin::Input { array: of, .. } if of == array))
                .collect();
            let groups = self.lanes_together(&stages, |_| 0);
            let several = groups.len() > 1;
            for (number, (counter, stages)) in groups.into_iter().enumerate() {
                let name = self.stream_name(array, several.then_some(number));
                let element = self.scheduled.program.arrays[array].element;
                let mut lanes = Vec::new();
                let words = |&stage: &usize| element.words().iter().map(move |&word| (stage, word));
                for (lane, (stage, word)) in stages.iter().flat_map(words).enumerate() {
                    let driver = WordDriver::Input { stream: self.graph.inputs.next_idx(), lane };
                    let result = self.result(stage);
                    let net = self.add_net(self.name_of_result(stage, word), driver, result);
                    self.nets.insert((stage, word), net);
                    lanes.push(InputLane { net, element: self.element(stage, word) });
                }
                self.graph.inputs.push(InputNode { name, array, element, counter, lanes });
            }
        }
    }

    pub(super) fn add_outputs(&mut self, final_stages: &BTreeMap<usize, Vec<usize>>) {
        let pipeline = &self.scheduled.extraction.pipeline;
        for (&array, stages) in final_stages {
            let groups = self.lanes_together(stages, |stage| pipeline.stages[stage].latency);
            let several = groups.len() > 1;
            for (number, (counter, stages)) in groups.into_iter().enumerate() {
                let name = self.stream_name(array, several.then_some(number));
                let element = self.scheduled.program.arrays[array].element;
                let lane = |(stage, word): (usize, Word)| {
                    let edge = self.outcome(stage, word);
                    OutputLane { edge, stage, element: self.element(stage, word) }
                };
                let words = |&stage: &usize| element.words().iter().map(move |&word| (stage, word));
                let lanes = stages.iter().flat_map(words).map(lane).collect();
                let last = self.graph.counters[counter].last();
                self.graph.length = self.graph.length.max(last as u64 + 1);
                self.graph.outputs.push(OutputNode { name, array, element, counter, lanes });
            }
        }
    }
}
