//! Application graphs from text.

use std::collections::HashMap;

use index_vec::IndexVec;
use pushmem_affine::{Affine, Domain, LARGEST_LOOP, LARGEST_VALUE, MOST_ITERATIONS};
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_files::{Code, Diagnostic, Document, FieldPath, nearest};
use pushmem_nest::{Level, Type, Word};
use serde::Deserialize;

use super::{
    ApplicationGraph, ArrayNode, BitDriver, BitNet, Choice, ConstantNode, CopyNode, Edge, Hold, InputLane, InputNode,
    KernelNode, OutputLane, OutputNode, ProgramNames, RamNode, RamReadNode, RamWriteNode, StageResult, UnitNode,
    WordDriver, WordNet,
};
use crate::accelerator::{Condition, Counter, Variable};
use crate::ids::{ArrayId, BitId, CounterId, InputId, KernelId, WordId};

/// The document, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphText {
    graph: String,
    cycles: u64,
    #[serde(default)]
    counters: Vec<CounterText>,
    #[serde(default)]
    inputs: Vec<InputText>,
    #[serde(default)]
    arrays: Vec<ArrayText>,
    #[serde(default)]
    rams: Vec<RamText>,
    #[serde(default)]
    bits: Vec<BitText>,
    #[serde(default)]
    nets: Vec<NetText>,
    #[serde(default)]
    units: Vec<UnitText>,
    #[serde(default)]
    copies: Vec<CopyText>,
    #[serde(default)]
    constants: Vec<ConstantText>,
    #[serde(default)]
    outputs: Vec<OutputText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterText {
    loops: Vec<String>,
    extents: Vec<u64>,
    cycle: Affine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText {
    name: String,
    array: String,
    r#type: String,
    counter: u32,
    lanes: Vec<InputLaneText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputLaneText {
    net: String,
    element: Affine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputText {
    name: String,
    array: String,
    r#type: String,
    counter: u32,
    lanes: Vec<OutputLaneText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputLaneText {
    edge: String,
    stage: String,
    element: Affine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayText {
    array: String,
    word: Option<WordText>,
    level: Level,
    writes: Vec<WriteText>,
    ports: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RamText {
    array: String,
    writes: Vec<RamWriteText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RamWriteText {
    stage: String,
    counter: u32,
    element: String,
    address: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RamReadText {
    ram: String,
    stage: String,
    load: usize,
    port: usize,
    counter: u32,
}

/// A word of elements that have two.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WordText {
    Low,
    High,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteText {
    stage: String,
    edge: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BitText {
    name: String,
    begins: Option<u32>,
    counter: Option<u32>,
    r#where: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetText {
    net: String,
    stage: Option<String>,
    words: Option<CounterText>,
    kernel: Option<KernelText>,
    high: Option<String>,
    select: Option<Vec<String>>,
    port: Option<[String; 2]>,
    hold: Option<HoldText>,
    read: Option<RamReadText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldText {
    edge: String,
    counter: u32,
    when: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelText {
    operation: String,
    latency: u64,
    iterations: CounterText,
    counter: Option<u32>,
    operands: Vec<String>,
    #[serde(default)]
    variables: Vec<VariableText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableText {
    level: Option<usize>,
    scale: i64,
    offset: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitText {
    name: String,
    kernels: Vec<String>,
    counters: Vec<u32>,
    operands: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyText {
    stage: String,
    load: usize,
    net: Option<String>,
    high: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstantText {
    stage: String,
    word: u32,
}

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
            self.graph.constants.push(ConstantNode { stage, bits: constant.word });
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
            true => Err(self
                .document
                .error(path, format!("another net is named `{name}`"))
                .with_help("give each net a name of its own")),
            false => Ok(()),
        }
    }

    fn counter(&self, text: CounterText, path: &FieldPath) -> Read<Counter> {
        let CounterText { loops, extents, cycle } = text;
        let levels = loops.len();
        for (key, found) in [("extents", extents.len()), ("cycle", cycle.stride.len())] {
            if found != levels {
                let message = format!("{found} values for {levels} loops");
                return Err(self.document.error(&path.key(key), message).with_help("give one for each loop"));
            }
        }
        let extent: Domain = extents.into_iter().collect();
        if let Some(level) = extent.iter().position(|extent| !(1..=LARGEST_LOOP).contains(extent)) {
            let path = path.key("extents").index(level);
            let message = format!("a loop of {} iterations", extent[level]);
            return Err(self.document.error(&path, message).with_help(format!("a loop has 1 to {LARGEST_LOOP}")));
        }
        if extent.iterations() > MOST_ITERATIONS as u128 {
            let message = format!("{} iterations of all loops", extent.iterations());
            let error = self.document.error(&path.key("extents"), message);
            return Err(error.with_help(format!("an operation is executed at most {MOST_ITERATIONS} times")));
        }
        self.limited(&cycle, &extent, &path.key("cycle"))?;
        let counter = Counter { loops, extent, cycle };
        let late = counter.gaps().into_iter().any(|gap| gap < 1) || counter.cycle.start < 0;
        match late {
            true => Err(self
                .document
                .error(&path.key("cycle"), "two iterations in one cycle, or a cycle before the first")
                .with_help("order the loops by their strides, the innermost in time first, from cycle 0 on")),
            false => Ok(counter),
        }
    }

    /// Checks that the values of a function stay within the limits of all stages.
    fn limited(&self, function: &Affine, domain: &Domain, path: &FieldPath) -> Read<()> {
        match function.beyond_limits(domain) {
            Some(message) => Err(self.document.error(path, message).with_help("elements and cycles stay below 2^48")),
            None => Ok(()),
        }
    }

    /// The words of a stage's results, whose loops come in the order of the program.
    fn words(&self, text: CounterText, path: &FieldPath) -> Read<Counter> {
        let mut order: Vec<usize> = (0..text.loops.len()).collect();
        if text.cycle.stride.len() == order.len() && text.extents.len() == order.len() {
            order.sort_by_key(|&level| text.cycle.stride[level]);
        }
        let sorted = |text: &CounterText| CounterText {
            loops: order.iter().map(|&level| text.loops[level].clone()).collect(),
            extents: order.iter().filter_map(|&level| text.extents.get(level)).copied().collect(),
            cycle: Affine {
                start: text.cycle.start,
                stride: order.iter().filter_map(|&level| text.cycle.stride.get(level)).copied().collect(),
            },
        };
        self.counter(sorted(&text), path)?;
        Ok(Counter { loops: text.loops, extent: text.extents.into_iter().collect::<Domain>(), cycle: text.cycle })
    }

    fn counter_id(&self, number: u32, path: &FieldPath) -> Read<CounterId> {
        let count = self.graph.counters.len();
        match (number as usize) < count {
            true => Ok(CounterId::new(number as usize)),
            false => Err(self
                .document
                .error(path, format!("there is no counter {number}"))
                .with_help(format!("`counters` has {count}, numbered from 0"))),
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
        Type::from_name(name).filter(|of| of.element().is_some()).ok_or_else(|| {
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

    fn edge(&self, text: &str, nets: &Nets, path: &FieldPath) -> Read<Edge> {
        if let Ok(word) = text.parse() {
            return Ok(Edge::Constant(word));
        }
        let (name, delay) = text.split_once('@').unwrap_or((text, "0"));
        let delay = delay.parse().ok().filter(|delay| *delay < MOST_DELAY);
        let delay = delay.ok_or_else(|| {
            let error = self.document.error(path, format!("`{text}` has no delay in cycles after `@`"));
            error.with_help(format!("write `NET@DELAY` with a delay below {MOST_DELAY}, or `NET` without one"))
        })?;
        Ok(Edge::Net { net: self.word(name, nets, path)?, delay })
    }

    fn edges(&self, texts: &[String], nets: &Nets, path: &FieldPath) -> Read<Vec<Edge>> {
        texts.iter().enumerate().map(|(number, text)| self.edge(text, nets, &path.index(number))).collect()
    }

    fn bit(&self, text: &BitText, path: &FieldPath) -> Read<BitDriver> {
        match (text.begins, text.counter, &text.r#where) {
            (Some(counter), None, None) => Ok(BitDriver::Begins(self.counter_id(counter, &path.key("begins"))?)),
            (None, Some(number), Some(conditions)) => {
                let counter = self.counter_id(number, &path.key("counter"))?;
                let conditions = conditions.iter().enumerate();
                let conditions = conditions
                    .map(|(number, text)| self.condition(counter, text, &path.key("where").index(number)))
                    .collect::<Read<_>>()?;
                Ok(BitDriver::Indices { counter, conditions })
            }
            _ => Err(self
                .document
                .error(path, format!("the bit `{}` has no driver", text.name))
                .with_help("give either `begins`, or `counter` and `where`")),
        }
    }

    fn condition(&self, counter: CounterId, text: &str, path: &FieldPath) -> Read<(usize, Condition)> {
        let Counter { loops, extent, .. } = &self.graph.counters[counter];
        let wrong = |message: String| {
            let help = "write `INDEX = NUMBER`, or `INDEX in FIRST..=LAST`, perhaps with `step NUMBER`";
            self.document.error(path, message).with_help(help)
        };
        let parsed = parse_condition(text).ok_or_else(|| wrong(format!("`{text}` is no condition on an index")))?;
        let (index, condition) = parsed;
        let level = loops.iter().position(|name| name == index);
        let level = level.ok_or_else(|| wrong(format!("counter {counter} has no loop `{index}`")))?;
        match condition.is_within(extent[level]) {
            true => Ok((level, condition)),
            false => Err(wrong(format!("`{index}` is from 0 to {} there", extent[level] - 1))),
        }
    }

    fn input(
        &self,
        text: InputText,
        nets: &Nets,
        driven: &mut HashMap<WordId, (InputId, usize)>,
        path: &FieldPath,
    ) -> Read<InputNode> {
        let counter = self.counter_id(text.counter, &path.key("counter"))?;
        let mut lanes = Vec::new();
        for (number, lane) in text.lanes.into_iter().enumerate() {
            let path = path.key("lanes").index(number);
            let net = self.word(&lane.net, nets, &path.key("net"))?;
            self.check_element(&lane.element, counter, &path)?;
            if driven.insert(net, (self.graph.inputs.next_idx(), number)).is_some() {
                let message = format!("another lane drives `{}`", lane.net);
                return Err(self
                    .document
                    .error(&path.key("net"), message)
                    .with_help("give each lane a net of its own"));
            }
            lanes.push(InputLane { net, element: lane.element });
        }
        Ok(InputNode {
            array: self.named("array", &self.names.arrays, &text.array, &path.key("array"))?,
            element: self.element(&text.r#type, &path.key("type"))?,
            name: text.name,
            counter,
            lanes,
        })
    }

    fn output(&self, text: OutputText, nets: &Nets, path: &FieldPath) -> Read<OutputNode> {
        let counter = self.counter_id(text.counter, &path.key("counter"))?;
        let lanes = text.lanes.into_iter().enumerate().map(|(number, lane)| {
            let path = path.key("lanes").index(number);
            self.check_element(&lane.element, counter, &path)?;
            Ok(OutputLane {
                edge: self.edge(&lane.edge, nets, &path.key("edge"))?,
                stage: self.stage(&lane.stage, &path.key("stage"))?,
                element: lane.element,
            })
        });
        let lanes = lanes.collect::<Read<_>>()?;
        Ok(OutputNode {
            array: self.named("array", &self.names.arrays, &text.array, &path.key("array"))?,
            element: self.element(&text.r#type, &path.key("type"))?,
            name: text.name,
            counter,
            lanes,
        })
    }

    fn check_element(&self, element: &Affine, counter: CounterId, path: &FieldPath) -> Read<()> {
        let Counter { loops, extent, .. } = &self.graph.counters[counter];
        let (strides, loops) = (element.stride.len(), loops.len());
        match strides == loops {
            true => self.limited(element, extent, &path.key("element")),
            false => Err(self
                .document
                .error(&path.key("element").key("stride"), format!("{strides} strides for {loops} loops"))
                .with_help(format!("give one for each loop of counter {counter}, innermost first"))),
        }
    }

    fn array(&self, text: ArrayText, nets: &Nets, path: &FieldPath) -> Read<ArrayNode> {
        let ArrayText { array: name, word, level, writes, ports } = text;
        let word = match word {
            Some(WordText::High) => Word::High,
            Some(WordText::Low) | None => Word::Low,
        };
        let array = self.named("array", &self.names.arrays, &name, &path.key("array"))?;
        let buffer = UnifiedBuffer { name: self.names.of_word(&name, word), ports };
        buffer
            .check()
            .map_err(|error| self.document.error(&path.join(&error.path), error.message).with_help(error.help))?;
        let is_write = |number: usize| buffer.ports[number].direction == Direction::Write;
        if let Some(number) = (0..buffer.ports.len()).find(|&number| is_write(number) != (number < writes.len())) {
            let message = format!("{} sources of write ports, but port {number} is another", writes.len());
            let error = self.document.error(&path.key("ports").index(number), message);
            return Err(error.with_help("list the write ports first, one for each of `writes`"));
        }
        let mut node = ArrayNode { array, word, level, writers: Vec::new(), writes: Vec::new(), buffer };
        for (number, write) in writes.into_iter().enumerate() {
            let path = path.key("writes").index(number);
            node.writers.push(self.stage(&write.stage, &path.key("stage"))?);
            node.writes.push(self.edge(&write.edge, nets, &path.key("edge"))?);
        }
        Ok(node)
    }

    fn net(
        &mut self,
        number: WordId,
        text: NetText,
        nets: &Nets,
        lanes: &HashMap<WordId, (InputId, usize)>,
        path: &FieldPath,
    ) -> Read<()> {
        let result = match (text.stage, text.words) {
            (Some(stage), Some(words)) => Some(StageResult {
                stage: self.stage(&stage, &path.key("stage"))?,
                words: self.words(words, &path.key("words"))?,
            }),
            (None, None) => None,
            _ => {
                let error = self.document.error(path, "`stage` and `words` belong together");
                return Err(error.with_help("give both where the net carries the results of a stage, else none"));
            }
        };
        let NetText { kernel, high, select, port, hold, read, .. } = text;
        let driver = match (lanes.get(&number), kernel, high, select, port, hold, read) {
            (Some(&(stream, lane)), None, None, None, None, None, None) => WordDriver::Input { stream, lane },
            (None, Some(kernel), None, None, None, None, None) => {
                if result.is_none() {
                    let error = self.document.error(path, format!("the kernel of `{}` executes no stage", text.net));
                    return Err(error.with_help("give `stage` and `words`"));
                }
                let kernel = self.kernel(number, kernel, nets, &path.key("kernel"))?;
                WordDriver::Kernel { kernel: self.graph.kernels.push(kernel), word: Word::Low }
            }
            (None, None, Some(low), None, None, None, None) => self.high(number, &low, nets, &path.key("high"))?,
            (None, None, None, Some(select), None, None, None) => {
                WordDriver::Select(self.select(&select, nets, &path.key("select"))?)
            }
            (None, None, None, None, Some([array, port]), None, None) => self.port(&array, &port, &path.key("port"))?,
            (None, None, None, None, None, Some(hold), None) => {
                WordDriver::Hold(self.hold(&hold, nets, &path.key("hold"))?)
            }
            (None, None, None, None, None, None, Some(read)) => self.ram_read(&read, &path.key("read"))?,
            _ => {
                let message = format!("`{}` has no driver, or several", text.net);
                let help = "a net is driven by a lane of an input, or has one of `kernel`, `high`, `select`, `port`, `hold` and \
                            `read`";
                return Err(self.document.error(path, message).with_help(help));
            }
        };
        self.graph.words.push(WordNet { name: text.net, driver, result });
        Ok(())
    }

    /// The high word of the result of a kernel, whose low word is on another net.
    fn high(&mut self, net: WordId, low: &str, nets: &Nets, path: &FieldPath) -> Read<WordDriver> {
        let found = self.graph.words.get(self.word(low, nets, path)?).map(|net| &net.driver);
        match found {
            Some(&WordDriver::Kernel { kernel, word: Word::Low }) if self.graph.kernels[kernel].nets.len() == 1 => {
                self.graph.kernels[kernel].nets.push(net);
                Ok(WordDriver::Kernel { kernel, word: Word::High })
            }
            _ => {
                let error = self.document.error(path, format!("`{low}` is not the low word of a kernel"));
                Err(error.with_help("name the net above that has the `kernel`; it has one net for its high word"))
            }
        }
    }

    fn kernel(&self, net: WordId, text: KernelText, nets: &Nets, path: &FieldPath) -> Read<KernelNode> {
        let counter = text.counter.map(|number| self.counter_id(number, &path.key("counter"))).transpose()?;
        let levels = counter.map_or(0, |counter| self.graph.counters[counter].loops.len());
        self.small(text.latency, MOST_DELAY, &path.key("latency"))?;
        let variable = |(place, VariableText { level, scale, offset }): (usize, VariableText)| {
            let path = path.key("variables").index(place);
            if let Some(level) = level.filter(|level| *level >= levels) {
                let error = self.document.error(&path.key("level"), format!("there is no level {level}"));
                return Err(error.with_help(format!("the counter of the kernel has {levels}, numbered from 0")));
            }
            for (key, number) in [("scale", scale), ("offset", offset)] {
                self.small(number.unsigned_abs(), LARGEST_VALUE as u64, &path.key(key))?;
            }
            Ok(Variable { level, scale, offset })
        };
        Ok(KernelNode {
            nets: vec![net],
            operation: self.named("operation", &self.names.operations, &text.operation, &path.key("operation"))?,
            latency: text.latency,
            iterations: self.counter(text.iterations, &path.key("iterations"))?,
            counter,
            operands: self.edges(&text.operands, nets, &path.key("operands"))?,
            variables: text.variables.into_iter().enumerate().map(variable).collect::<Read<_>>()?,
        })
    }

    /// Checks that the size of a number stays below a limit.
    fn small(&self, size: u64, limit: u64, path: &FieldPath) -> Read<()> {
        match size < limit {
            true => Ok(()),
            false => Err(self
                .document
                .error(path, format!("{size} is too large"))
                .with_help(format!("the number stays below {limit}"))),
        }
    }

    fn select(&self, texts: &[String], nets: &Nets, path: &FieldPath) -> Read<Vec<Choice>> {
        let mut choices = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let path = path.index(number);
            let (edge, bit) = text.split_once(" if ").map_or((text.as_str(), None), |(edge, bit)| (edge, Some(bit)));
            let is_last = number + 1 == texts.len();
            if bit.is_none() != is_last {
                let message = if is_last { "the last edge has a bit" } else { "an edge without a bit is not the last" };
                let help = "the first edge whose bit is set is selected, the last one where none is";
                return Err(self.document.error(&path, message).with_help(help));
            }
            let bit = bit.map(str::trim).map(|bit| {
                nets.bits.get(bit).copied().ok_or_else(|| self.unknown("bit", bit, nets.bits.keys(), &path))
            });
            choices.push(Choice { when: bit.transpose()?, edge: self.edge(edge.trim(), nets, &path)? });
        }
        match choices.is_empty() {
            true => Err(self.document.error(path, "nothing to select").with_help("list at least one edge")),
            false => Ok(choices),
        }
    }

    fn hold(&self, text: &HoldText, nets: &Nets, path: &FieldPath) -> Read<Hold> {
        let bit = |bit: &String| {
            let unknown = || self.unknown("bit", bit, nets.bits.keys(), &path.key("when"));
            nets.bits.get(bit.as_str()).copied().ok_or_else(unknown)
        };
        Ok(Hold {
            edge: self.edge(&text.edge, nets, &path.key("edge"))?,
            counter: self.counter_id(text.counter, &path.key("counter"))?,
            when: text.when.as_ref().map(bit).transpose()?,
        })
    }

    fn ram(&self, text: RamText, nets: &Nets, path: &FieldPath) -> Read<RamNode> {
        let array = self.named("array", &self.names.arrays, &text.array, &path.key("array"))?;
        let write = |(number, write): (usize, RamWriteText)| {
            let path = path.key("writes").index(number);
            Ok(RamWriteNode {
                stage: self.stage(&write.stage, &path.key("stage"))?,
                counter: self.counter_id(write.counter, &path.key("counter"))?,
                element: self.edge(&write.element, nets, &path.key("element"))?,
                address: self.edge(&write.address, nets, &path.key("address"))?,
            })
        };
        let writes = text.writes.into_iter().enumerate().map(write).collect::<Read<_>>()?;
        Ok(RamNode { array, writes, reads: Vec::new() })
    }

    fn ram_read(&mut self, text: &RamReadText, path: &FieldPath) -> Read<WordDriver> {
        let RamReadText { load, port, .. } = *text;
        let array = self.named("array", &self.names.arrays, &text.ram, &path.key("ram"))?;
        let stage = self.stage(&text.stage, &path.key("stage"))?;
        let counter = self.counter_id(text.counter, &path.key("counter"))?;
        if port >= MOST_PORTS {
            let error = self.document.error(&path.key("port"), format!("there is no port {port}"));
            return Err(error.with_help(format!("ports are numbered from 0 to {}", MOST_PORTS - 1)));
        }
        let ram = self.graph.rams.position(|node| node.array == array).ok_or_else(|| {
            self.document
                .error(&path.key("ram"), format!("the array `{}` is in no random-access memory", text.ram))
                .with_help("the arrays in random-access memories are listed under `rams`")
        })?;
        let reads = &mut self.graph.rams[ram].reads;
        reads.push(RamReadNode { stage, load, port, counter });
        Ok(WordDriver::Ram { ram, read: reads.len() - 1 })
    }

    fn port(&self, array: &str, port: &str, path: &FieldPath) -> Read<WordDriver> {
        let arrays = &self.graph.arrays;
        let found = arrays.position(|node| node.buffer.name == array);
        let array = found.ok_or_else(|| {
            self.document
                .error(&path.index(0), format!("the array `{array}` is in no memory"))
                .with_help("the arrays in memories are listed under `arrays`")
        })?;
        let mut ports = arrays[array].buffer.reads();
        let found = ports.find(|(_, of)| of.name == port).map(|(number, _)| number);
        let port = found.ok_or_else(|| {
            self.document
                .error(&path.index(1), format!("there is no read port `{port}`"))
                .with_help("read ports are listed under `ports` of the array, with `direction: read`")
        })?;
        Ok(WordDriver::Port { array, port })
    }

    fn unit(&self, text: UnitText, nets: &Nets, path: &FieldPath) -> Read<UnitNode> {
        let kernel = |(number, name): (usize, &String)| {
            let path = path.key("kernels").index(number);
            match self.graph.words[self.word(name, nets, &path)?].driver {
                WordDriver::Kernel { kernel, .. } => Ok(kernel),
                _ => Err(self.document.error(&path, format!("`{name}` is not the net of a kernel"))),
            }
        };
        let counter = |(number, counter): (usize, &u32)| self.counter_id(*counter, &path.key("counters").index(number));
        let kernels: Vec<KernelId> = text.kernels.iter().enumerate().map(kernel).collect::<Read<_>>()?;
        if text.counters.len() != kernels.len() {
            let message = format!("{} counters for {} kernels", text.counters.len(), kernels.len());
            return Err(self.document.error(&path.key("counters"), message).with_help("give one for each kernel"));
        }
        Ok(UnitNode {
            name: text.name,
            kernels,
            counters: text.counters.iter().enumerate().map(counter).collect::<Read<_>>()?,
            operands: self.edges(&text.operands, nets, &path.key("operands"))?,
        })
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
                return Err(self.document.error(&path, message).with_help(help));
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
                    let error = self.document.error(&path.key("name"), message);
                    return Err(error.with_help("a read port drives one net, which names it by `port`"));
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
