//! Application graphs from text.

mod document;
mod nodes;

use std::collections::HashMap;

use index_vec::IndexVec;
use pushmem_affine::{Affine, Domain, LARGEST_LOOP, LARGEST_VALUE, MOST_ITERATIONS};
use pushmem_files::{Code, Diagnostic, Document, FieldPath, nearest};
use pushmem_nest::Type;

use super::{ApplicationGraph, BitNet, Constant, CopyNode, Edge, ProgramNames, WordDriver};
use crate::accelerator::{Condition, Counter};
use crate::ids::{ArrayId, BitId, CounterId, InputId, WordId};
use document::GraphText;

impl ApplicationGraph {
    /// Reads a graph of a program whose parts have these names, as its `Display` writes it, perhaps edited. All that the
    /// text refers to is there, and no net depends on itself within a cycle. Whether the graph computes the program is for
    /// the proof to say.
    ///
    /// # Errors
    /// A located message at the first key, name, number or edge that is wrong.
    pub fn from_document(document: &Document, names: &ProgramNames) -> Result<Self, Diagnostic> {
        let text: GraphText = document.deserialize()?;
        let reader = Reader { document, names, graph: ApplicationGraph::new(&text.graph, names.clone()) };
        reader.graph(text).map_err(|problem| problem.or_code(Code::Graph))
    }
}

struct Reader<'a> {
    document: &'a Document,
    names: &'a ProgramNames,
    graph: ApplicationGraph,
}

/// The numbers of the nets, by their names.
#[derive(Default)]
struct Nets {
    words: HashMap<String, WordId>,
    bits: HashMap<String, BitId>,
}

type Read<T> = Result<T, Diagnostic>;

impl Reader<'_> {
    fn graph(mut self, text: GraphText) -> Read<ApplicationGraph> {
        let root = FieldPath::root();
        self.small(text.cycles, LARGEST_VALUE as u64, &root.key("cycles"))?;
        self.graph.length = text.cycles;
        for (number, counter) in text.counters.into_iter().enumerate() {
            let counter = self.counter(counter, &root.key("counters").index(number))?;
            self.graph.counters.push(counter);
        }
        let mut nets = Nets::default();
        for (number, bit) in text.bits.iter().enumerate() {
            let path = root.key("bits").index(number);
            let driver = self.bit(bit, &path)?;
            self.unique(
                nets.bits.insert(bit.name.clone(), BitId::new(number)).is_some(),
                &bit.name,
                &path.key("name"),
            )?;
            self.graph.bits.push(BitNet { name: bit.name.clone(), driver });
        }
        for (number, net) in text.nets.iter().enumerate() {
            let path = root.key("nets").index(number).key("net");
            self.unique(nets.words.insert(net.net.clone(), WordId::new(number)).is_some(), &net.net, &path)?;
        }
        let mut lanes: HashMap<WordId, (InputId, usize)> = HashMap::new();
        for (number, stream) in text.inputs.into_iter().enumerate() {
            let path = root.key("inputs").index(number);
            let node = self.input(stream, &nets, &mut lanes, &path)?;
            self.graph.inputs.push(node);
        }
        for (number, array) in text.arrays.into_iter().enumerate() {
            let node = self.array(array, &nets, &root.key("arrays").index(number))?;
            self.graph.arrays.push(node);
        }
        for (number, ram) in text.rams.into_iter().enumerate() {
            let node = self.ram(ram, &nets, &root.key("rams").index(number))?;
            self.graph.rams.push(node);
        }
        for (number, net) in text.nets.into_iter().enumerate() {
            self.net(WordId::new(number), net, &nets, &lanes, &root.key("nets").index(number))?;
        }
        for (number, unit) in text.units.into_iter().enumerate() {
            let node = self.unit(unit, &nets, &root.key("units").index(number))?;
            self.graph.units.push(node);
        }
        for (number, copy) in text.copies.into_iter().enumerate() {
            let path = root.key("copies").index(number);
            let stage = self.stage(&copy.stage, &path.key("stage"))?;
            let words = [("net", copy.net), ("high", copy.high)];
            let words = words.into_iter().filter_map(|(key, net)| Some((path.key(key), net?)));
            let nets = words.map(|(path, net)| self.word(&net, &nets, &path)).collect::<Read<_>>()?;
            self.graph.copies.push(CopyNode { stage, load: copy.load, nets });
        }
        for (number, constant) in text.constants.into_iter().enumerate() {
            let stage = self.stage(&constant.stage, &root.key("constants").index(number).key("stage"))?;
            self.graph.constants.push(Constant { stage, bits: constant.word });
        }
        for (number, stream) in text.outputs.into_iter().enumerate() {
            let node = self.output(stream, &nets, &root.key("outputs").index(number))?;
            self.graph.outputs.push(node);
        }
        self.check_order()?;
        self.check_ports()?;
        Ok(self.graph)
    }

    fn unique(&self, again: bool, name: &str, path: &FieldPath) -> Read<()> {
        match again {
            true => {
                self.document.refuse(path, format!("another net is named `{name}`"), "give each net a name of its own")
            }
            false => Ok(()),
        }
    }

    fn counter(&self, counter: Counter, path: &FieldPath) -> Read<Counter> {
        let Counter { loops, extent, cycle } = &counter;
        let levels = loops.len();
        for (key, found) in [("extents", extent.len()), ("cycle", cycle.stride.len())] {
            if found != levels {
                let message = format!("{found} values for {levels} loops");
                return self.document.refuse(&path.key(key), message, "give one for each loop");
            }
        }
        if let Some(level) = extent.iter().position(|extent| !(1..=LARGEST_LOOP).contains(extent)) {
            let path = path.key("extents").index(level);
            let message = format!("a loop of {} iterations", extent[level]);
            return self.document.refuse(&path, message, format!("a loop has 1 to {LARGEST_LOOP}"));
        }
        if extent.iterations() > MOST_ITERATIONS as u128 {
            let message = format!("{} iterations of all loops", extent.iterations());
            return self.document.refuse(
                &path.key("extents"),
                message,
                format!("an operation is executed at most {MOST_ITERATIONS} times"),
            );
        }
        self.limited(cycle, extent, &path.key("cycle"))?;
        let late = counter.gaps().into_iter().any(|gap| gap < 1) || counter.cycle.start < 0;
        match late {
            true => self.document.refuse(
                &path.key("cycle"),
                "two iterations in one cycle, or a cycle before the first",
                "order the loops by their strides, the innermost in time first, from cycle 0 on",
            ),
            false => Ok(counter),
        }
    }

    /// Checks that the values of a function stay within the limits of all stages.
    fn limited(&self, function: &Affine, domain: &Domain, path: &FieldPath) -> Read<()> {
        match function.beyond_limits(domain) {
            Some(message) => self.document.refuse(path, message, "elements and cycles stay below 2^48"),
            None => Ok(()),
        }
    }

    /// The words of a stage's results, whose loops come in the order of the program.
    fn words(&self, words: Counter, path: &FieldPath) -> Read<Counter> {
        let Counter { loops, extent, cycle: Affine { start, stride } } = &words;
        let mut order: Vec<usize> = (0..loops.len()).collect();
        if stride.len() == order.len() && extent.len() == order.len() {
            order.sort_by_key(|&level| stride[level]);
        }
        let sorted = Counter {
            loops: order.iter().map(|&level| loops[level].clone()).collect(),
            extent: order.iter().filter_map(|&level| extent.get(level)).copied().collect(),
            cycle: Affine {
                start: *start,
                stride: order.iter().filter_map(|&level| stride.get(level)).copied().collect(),
            },
        };
        self.counter(sorted, path)?;
        Ok(words)
    }

    fn counter_id(&self, number: u32, path: &FieldPath) -> Read<CounterId> {
        let count = self.graph.counters.len();
        match (number as usize) < count {
            true => Ok(CounterId::new(number as usize)),
            false => self.document.refuse(
                path,
                format!("there is no counter {number}"),
                format!("`counters` has {count}, numbered from 0"),
            ),
        }
    }

    /// The number of a name among those of the program.
    fn named(&self, kind: &str, names: &[String], name: &str, path: &FieldPath) -> Read<usize> {
        names.iter().position(|other| other == name).ok_or_else(|| {
            let error = self.document.error(path, format!("the program has no {kind} `{name}`"));
            match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help("`--emit schedule` lists the stages, `--emit loopnest` arrays and operations"),
            }
        })
    }

    fn stage(&self, name: &str, path: &FieldPath) -> Read<usize> {
        self.named("stage", &self.names.stages, name, path)
    }

    fn element(&self, name: &str, path: &FieldPath) -> Read<Type> {
        Type::of_name(name).filter(|of| of.element().is_some()).ok_or_else(|| {
            let error = self.document.error(path, format!("`{name}` is no type of elements"));
            error.with_help("elements are u8, i8, u16, i16, u32 or i32")
        })
    }

    fn word(&self, name: &str, nets: &Nets, path: &FieldPath) -> Read<WordId> {
        nets.words.get(name).copied().ok_or_else(|| self.unknown("net", name, nets.words.keys(), path))
    }

    fn unknown<'a>(
        &self,
        kind: &str,
        name: &str,
        names: impl Iterator<Item = &'a String>,
        path: &FieldPath,
    ) -> Diagnostic {
        let error = self.document.error(path, format!("there is no {kind} `{name}`"));
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        match nearest(name, names) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error.with_help(format!("each {kind} is listed under `{kind}s`")),
        }
    }

    /// Checks that each net comes after those that it depends on within a cycle.
    fn check_order(&self) -> Read<()> {
        for (number, net) in self.graph.words.iter_enumerated() {
            let (key, edges): (_, Vec<Edge>) = match &net.driver {
                WordDriver::Select(choices) => ("select", choices.iter().map(|choice| choice.edge).collect()),
                WordDriver::Ram { ram, .. } => {
                    let writes = self.graph.rams[*ram].writes.iter();
                    ("read", writes.flat_map(|write| [write.element, write.address]).collect())
                }
                WordDriver::Kernel { kernel, .. } if self.graph.kernels[*kernel].latency == 0 => {
                    ("kernel", self.graph.kernels[*kernel].operands.clone())
                }
                _ => continue,
            };
            let late = |edge: &Edge| matches!(*edge, Edge::Net { net, delay: 0 } if net >= number);
            if let Some(Edge::Net { net: other, .. }) = edges.into_iter().find(late) {
                let path = FieldPath::root().key("nets").index(number.index()).key(key);
                let other = &self.graph.words[other].name;
                let message = format!("`{}` takes the word of `{other}` in the same cycle", net.name);
                let help = format!("list `{other}` before it, or give the edge a delay");
                return self.document.refuse(&path, message, help);
            }
        }
        Ok(())
    }

    /// Checks that each read port drives one net.
    fn check_ports(&self) -> Read<()> {
        let mut driven: IndexVec<ArrayId, Vec<usize>> =
            self.graph.arrays.iter().map(|array| vec![0; array.buffer.ports.len()]).collect();
        for net in &self.graph.words {
            if let WordDriver::Port { array, port } = net.driver {
                driven[array][port] += 1;
            }
        }
        for (number, array) in self.graph.arrays.iter_enumerated() {
            for (port, content) in array.buffer.reads() {
                if driven[number][port] != 1 {
                    let path = FieldPath::root().key("arrays").index(number.index()).key("ports").index(port);
                    let message = format!("the read port `{}` drives {} nets", content.name, driven[number][port]);
                    return self.document.refuse(
                        &path.key("name"),
                        message,
                        "a read port drives one net, which names it by `port`",
                    );
                }
            }
        }
        Ok(())
    }
}

/// A random-access memory has fewer read ports.
const MOST_PORTS: usize = 1 << 16;

/// Delays and latencies are shorter than this, in cycles: the model keeps the words of all of them.
const MOST_DELAY: u64 = 1 << 32;

/// The index and the condition of a text: `x = 3`, `x in 0..=6`, `x in 0..=6 step 2`.
fn parse_condition(text: &str) -> Option<(&str, Condition)> {
    if let Some((index, number)) = text.split_once(" = ") {
        let first = number.trim().parse().ok()?;
        return Some((index.trim(), Condition { first, last: first, step: 1 }));
    }
    let (index, range) = text.split_once(" in ")?;
    let (range, step) = range.split_once(" step ").unwrap_or((range, "1"));
    let (first, last) = range.split_once("..=")?;
    let [first, last, step] = [first, last, step].map(|number| number.trim().parse().ok());
    Some((index.trim(), Condition { first: first?, last: last?, step: step? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        let of = |first, last, step| Condition { first, last, step };
        assert_eq!(parse_condition("x = 3"), Some(("x", of(3, 3, 1))));
        assert_eq!(parse_condition("x in 1..=62"), Some(("x", of(1, 62, 1))));
        assert_eq!(parse_condition("x_0 in 1..=61 step 2"), Some(("x_0", of(1, 61, 2))));
        assert_eq!(parse_condition("x < 3"), None);
        assert_eq!(parse_condition("x in 1..=a"), None);
    }
}
