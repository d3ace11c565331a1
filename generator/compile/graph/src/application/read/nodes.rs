//! Nodes and edges by the names of nets.

use std::collections::HashMap;

use pushmem_affine::{Affine, LARGEST_VALUE};
use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_files::{Code, FieldPath};
use pushmem_nest::Word;

use super::super::{
    ArrayNode, BitDriver, Choice, Edge, Hold, InputLane, InputNode, KernelNode, OutputLane, OutputNode, RamNode,
    RamReadNode, RamWriteNode, StageResult, UnitNode, WordDriver, WordNet,
};
use super::document::{
    ArrayText, BitText, HoldText, InputLaneText, KernelText, NetText, OutputLaneText, RamReadText, RamText,
    RamWriteText, StreamText, UnitText,
};
use super::{MOST_DELAY, MOST_PORTS, Nets, Read, Reader, parse_condition};
use crate::accelerator::{Condition, Counter, Stream, Variable};
use crate::ids::{CounterId, InputId, KernelId, WordId};

impl Reader<'_> {
    pub(super) fn edge(&self, text: &str, nets: &Nets, path: &FieldPath) -> Read<Edge> {
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

    pub(super) fn bit(&self, text: &BitText, path: &FieldPath) -> Read<BitDriver> {
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
            _ => self.document.refuse(
                path,
                format!("the bit `{}` has no driver", text.name),
                "give either `begins`, or `counter` and `where`",
            ),
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

    pub(super) fn input(
        &self,
        text: StreamText<InputLaneText>,
        nets: &Nets,
        driven: &mut HashMap<WordId, (InputId, usize)>,
        path: &FieldPath,
    ) -> Read<InputNode> {
        self.stream(text, path, |number, lane, counter, path| {
            let net = self.word(&lane.net, nets, &path.key("net"))?;
            self.check_element(&lane.element, counter, path)?;
            if driven.insert(net, (self.graph.inputs.next_idx(), number)).is_some() {
                let message = format!("another lane drives `{}`", lane.net);
                return self.document.refuse(&path.key("net"), message, "give each lane a net of its own");
            }
            Ok(InputLane { net, element: lane.element })
        })
    }

    pub(super) fn output(&self, text: StreamText<OutputLaneText>, nets: &Nets, path: &FieldPath) -> Read<OutputNode> {
        self.stream(text, path, |_, lane, counter, path| {
            self.check_element(&lane.element, counter, path)?;
            Ok(OutputLane {
                edge: self.edge(&lane.edge, nets, &path.key("edge"))?,
                stage: self.stage(&lane.stage, &path.key("stage"))?,
                element: lane.element,
            })
        })
    }

    /// A stream, where `lane` reads each of its lanes by its number.
    fn stream<Text, Lane>(
        &self,
        text: StreamText<Text>,
        path: &FieldPath,
        mut lane: impl FnMut(usize, Text, CounterId, &FieldPath) -> Read<Lane>,
    ) -> Read<Stream<Lane>> {
        let counter = self.counter_id(text.counter, &path.key("counter"))?;
        let lanes = text.lanes.into_iter().enumerate();
        let lanes = lanes.map(|(number, text)| lane(number, text, counter, &path.key("lanes").index(number)));
        Ok(Stream {
            lanes: lanes.collect::<Read<_>>()?,
            array: self.named("array", &self.names.arrays, &text.array, &path.key("array"))?,
            element: self.element(&text.r#type, &path.key("type"))?,
            name: text.name,
            counter,
        })
    }

    fn check_element(&self, element: &Affine, counter: CounterId, path: &FieldPath) -> Read<()> {
        let Counter { loops, extent, .. } = &self.graph.counters[counter];
        let (strides, loops) = (element.stride.len(), loops.len());
        match strides == loops {
            true => self.limited(element, extent, &path.key("element")),
            false => self.document.refuse(
                &path.key("element").key("stride"),
                format!("{strides} strides for {loops} loops"),
                format!("give one for each loop of counter {counter}, innermost first"),
            ),
        }
    }

    pub(super) fn array(&self, text: ArrayText, nets: &Nets, path: &FieldPath) -> Read<ArrayNode> {
        let ArrayText { array: name, word, level, writes, ports } = text;
        let word = word.unwrap_or(Word::Low);
        let array = self.named("array", &self.names.arrays, &name, &path.key("array"))?;
        let buffer = UnifiedBuffer { name: self.names.of_word(&name, word), ports };
        buffer.check().map_err(|fault| fault.under(path).located(self.document, Code::Graph))?;
        let is_write = |number: usize| buffer.ports[number].direction == Direction::Write;
        if let Some(number) = (0..buffer.ports.len()).find(|&number| is_write(number) != (number < writes.len())) {
            let message = format!("{} sources of write ports, but port {number} is another", writes.len());
            return self.document.refuse(
                &path.key("ports").index(number),
                message,
                "list the write ports first, one for each of `writes`",
            );
        }
        let mut node = ArrayNode { array, word, level, writers: Vec::new(), writes: Vec::new(), buffer };
        for (number, write) in writes.into_iter().enumerate() {
            let path = path.key("writes").index(number);
            node.writers.push(self.stage(&write.stage, &path.key("stage"))?);
            node.writes.push(self.edge(&write.edge, nets, &path.key("edge"))?);
        }
        Ok(node)
    }

    pub(super) fn net(
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
                return self.document.refuse(
                    path,
                    "`stage` and `words` belong together",
                    "give both where the net carries the results of a stage, else none",
                );
            }
        };
        let NetText { kernel, high, select, port, hold, read, .. } = text;
        let driver = match (lanes.get(&number), kernel, high, select, port, hold, read) {
            (Some(&(stream, lane)), None, None, None, None, None, None) => WordDriver::Input { stream, lane },
            (None, Some(kernel), None, None, None, None, None) => {
                if result.is_none() {
                    return self.document.refuse(
                        path,
                        format!("the kernel of `{}` executes no stage", text.net),
                        "give `stage` and `words`",
                    );
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
                return self.document.refuse(path, message, help);
            }
        };
        self.graph.words.push(WordNet { name: text.net, driver, result });
        Ok(())
    }

    /// The high word of the result of a kernel, whose low word is on another net.
    pub(super) fn high(&mut self, net: WordId, low: &str, nets: &Nets, path: &FieldPath) -> Read<WordDriver> {
        let found = self.graph.words.get(self.word(low, nets, path)?).map(|net| &net.driver);
        match found {
            Some(&WordDriver::Kernel { kernel, word: Word::Low }) if self.graph.kernels[kernel].nets.len() == 1 => {
                self.graph.kernels[kernel].nets.push(net);
                Ok(WordDriver::Kernel { kernel, word: Word::High })
            }
            _ => self.document.refuse(
                path,
                format!("`{low}` is not the low word of a kernel"),
                "name the net above that has the `kernel`; it has one net for its high word",
            ),
        }
    }

    fn kernel(&self, net: WordId, text: KernelText, nets: &Nets, path: &FieldPath) -> Read<KernelNode> {
        let counter = text.counter.map(|number| self.counter_id(number, &path.key("counter"))).transpose()?;
        let levels = counter.map_or(0, |counter| self.graph.counters[counter].loops.len());
        self.small(text.latency, MOST_DELAY, &path.key("latency"))?;
        let variable = |(place, variable): (usize, Variable)| {
            let path = path.key("variables").index(place);
            let Variable { level, scale, offset } = variable;
            if let Some(level) = level.filter(|level| *level >= levels) {
                return self.document.refuse(
                    &path.key("level"),
                    format!("there is no level {level}"),
                    format!("the counter of the kernel has {levels}, numbered from 0"),
                );
            }
            for (key, number) in [("scale", scale), ("offset", offset)] {
                self.small(number.unsigned_abs(), LARGEST_VALUE as u64, &path.key(key))?;
            }
            Ok(variable)
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
    pub(super) fn small(&self, size: u64, limit: u64, path: &FieldPath) -> Read<()> {
        match size < limit {
            true => Ok(()),
            false => {
                self.document.refuse(path, format!("{size} is too large"), format!("the number stays below {limit}"))
            }
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
                return self.document.refuse(&path, message, help);
            }
            let bit = bit.map(str::trim).map(|bit| {
                nets.bits.get(bit).copied().ok_or_else(|| self.unknown("bit", bit, nets.bits.keys(), &path))
            });
            choices.push(Choice { when: bit.transpose()?, edge: self.edge(edge.trim(), nets, &path)? });
        }
        match choices.is_empty() {
            true => self.document.refuse(path, "nothing to select", "list at least one edge"),
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

    pub(super) fn ram(&self, text: RamText, nets: &Nets, path: &FieldPath) -> Read<RamNode> {
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
            return self.document.refuse(
                &path.key("port"),
                format!("there is no port {port}"),
                format!("ports are numbered from 0 to {}", MOST_PORTS - 1),
            );
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

    pub(super) fn unit(&self, text: UnitText, nets: &Nets, path: &FieldPath) -> Read<UnitNode> {
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
            return self.document.refuse(&path.key("counters"), message, "give one for each kernel");
        }
        Ok(UnitNode {
            name: text.name,
            kernels,
            counters: text.counters.iter().enumerate().map(counter).collect::<Read<_>>()?,
            operands: self.edges(&text.operands, nets, &path.key("operands"))?,
        })
    }
}
