//! The application graph as text, a YAML document that [`ApplicationGraph::from_document`] reads.

use std::fmt::{self, Display, Formatter};

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::{Loop, Port};

use super::{
    ApplicationGraph, ArrayNode, BitDriver, Choice, Edge, Hold, InputLane, InputNode, KernelNode, OutputLane,
    OutputNode, RamNode, RamReadNode, RamWriteNode, UnitNode, WordDriver, WordNet,
};
use crate::accelerator::{Condition, Counter, Stream, Variable};
use pushmem_nest::Word;

/// The heading of the text: its notation.
const NOTATION: &str = "\
# An edge is NET, or NET@DELAY with a delay in cycles, or a constant word.
# A selection takes the first EDGE if BIT whose bit is set; its last edge has no bit.
";

impl Display for ApplicationGraph {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{NOTATION}graph: {}\ncycles: {}\n", name(&self.name), self.length)?;
        let counters = self.counters.iter().map(counter);
        section(formatter, "counters", counters)?;
        section(formatter, "inputs", self.inputs.iter().map(|stream| self.input(stream)))?;
        section(formatter, "arrays", self.arrays.iter().map(|array| self.array(array)))?;
        section(formatter, "rams", self.rams.iter().map(|ram| self.ram(ram)))?;
        section(formatter, "bits", self.bits.iter().map(|bit| self.bit(&bit.name, &bit.driver)))?;
        section(formatter, "nets", self.words.iter().map(|net| self.net(net)))?;
        section(formatter, "units", self.units.iter().map(|unit| self.unit(unit)))?;
        let copies = self.copies.iter().map(|copy| {
            let nets = ["net", "high"].iter().zip(&copy.nets);
            let nets = nets.map(|(key, &net)| format!(", {key}: {}", name(&self.words[net].name))).join("");
            format!("{{stage: {}, load: {}{nets}}}", self.stage(copy.stage), copy.load)
        });
        section(formatter, "copies", copies)?;
        let constants = self.constants.iter();
        let constants = constants.map(|of| format!("{{stage: {}, word: {}}}", self.stage(of.stage), of.bits));
        section(formatter, "constants", constants)?;
        section(formatter, "outputs", self.outputs.iter().map(|stream| self.output(stream)))
    }
}

/// A list under a key, which is left out if the list is empty. The lines of an item after the first are indented.
fn section(formatter: &mut Formatter<'_>, key: &str, items: impl Iterator<Item = String>) -> fmt::Result {
    let mut items = items.peekable();
    if items.peek().is_some() {
        writeln!(formatter, "{key}:")?;
    }
    items.try_for_each(|item| writeln!(formatter, "  - {}", item.replace('\n', "\n    ")))
}

impl ApplicationGraph {
    fn stage(&self, stage: usize) -> String {
        name(&self.names.stages[stage])
    }

    /// An edge in the notation of the text: `NET`, `NET@DELAY` or a constant word.
    pub fn edge_text(&self, edge: Edge) -> String {
        match edge {
            Edge::Net { net, delay: 0 } => name(&self.words[net].name),
            Edge::Net { net, delay } => format!("{}@{delay}", self.words[net].name),
            Edge::Constant(word) => word.to_string(),
        }
    }

    fn edges_text(&self, edges: &[Edge]) -> String {
        list(edges.iter().map(|&edge| self.edge_text(edge)))
    }

    fn input(&self, stream: &InputNode) -> String {
        let lane = |InputLane { net, element }: &InputLane| {
            format!("net: {}, element: {}", name(&self.words[*net].name), affine(element))
        };
        self.stream(stream, lane)
    }

    fn output(&self, stream: &OutputNode) -> String {
        let lane = |OutputLane { edge, stage, element }: &OutputLane| {
            let (edge, stage) = (self.edge_text(*edge), self.stage(*stage));
            format!("edge: {edge}, stage: {stage}, element: {}", affine(element))
        };
        self.stream(stream, lane)
    }

    fn stream<Lane>(&self, stream: &Stream<Lane>, lane: impl Fn(&Lane) -> String) -> String {
        let Stream { name: of, array, element, counter, lanes } = stream;
        let lanes = lanes.iter().map(|of| format!("\n  - {{{}}}", lane(of))).join("");
        let array = name(&self.names.arrays[*array]);
        format!("name: {}\narray: {array}\ntype: {}\ncounter: {counter}\nlanes:{lanes}", name(of), element.name())
    }

    fn array(&self, array: &ArrayNode) -> String {
        let ArrayNode { array: number, word, level, writers, writes, buffer } = array;
        let word = if *word == Word::High { "\nword: high" } else { "" };
        let writes = writers
            .iter()
            .zip(writes)
            .map(|(&stage, &edge)| format!("\n  - {{stage: {}, edge: {}}}", self.stage(stage), self.edge_text(edge)));
        let ports = buffer.ports.iter().map(|of| format!("\n  - {}", port(of).replace('\n', "\n    ")));
        format!(
            "array: {}{word}\nlevel: {}\nwrites:{}\nports:{}",
            name(&self.names.arrays[*number]),
            level.name(),
            writes.collect::<String>(),
            ports.collect::<String>(),
        )
    }

    fn ram(&self, ram: &RamNode) -> String {
        let writes = ram.writes.iter().map(|write| {
            let RamWriteNode { stage, counter, element, address } = write;
            let (stage, [element, address]) =
                (self.stage(*stage), [element, address].map(|edge| self.edge_text(*edge)));
            format!("\n  - {{stage: {stage}, counter: {counter}, element: {element}, address: {address}}}")
        });
        format!("array: {}\nwrites:{}", name(&self.names.arrays[ram.array]), writes.collect::<String>())
    }

    fn bit(&self, of: &str, driver: &BitDriver) -> String {
        match driver {
            BitDriver::Begins(counter) => format!("{{name: {}, begins: {counter}}}", name(of)),
            BitDriver::Indices { counter, conditions } => {
                let loops = &self.counters[*counter].loops;
                let conditions = conditions.iter().map(|(level, one)| condition(&loops[*level], one));
                format!("{{name: {}, counter: {counter}, where: {}}}", name(of), list(conditions))
            }
        }
    }

    fn net(&self, net: &WordNet) -> String {
        let mut text = format!("net: {}", name(&net.name));
        if let Some(result) = &net.result {
            text += &format!("\nstage: {}\nwords: {}", self.stage(result.stage), counter(&result.words));
        }
        match &net.driver {
            WordDriver::Input { .. } => text,
            WordDriver::Kernel { kernel, word: Word::Low } => text + &self.kernel(&self.kernels[*kernel]),
            WordDriver::Kernel { kernel, word: Word::High } => {
                format!("{text}\nhigh: {}", name(&self.words[self.kernels[*kernel].net()].name))
            }
            WordDriver::Select(choices) => {
                let choice = |Choice { when, edge }: &Choice| {
                    let when = when.map_or(String::new(), |bit| format!(" if {}", self.bits[bit].name));
                    format!("{}{when}", self.edge_text(*edge))
                };
                format!("{text}\nselect: {}", list(choices.iter().map(choice)))
            }
            WordDriver::Port { array, port } => {
                let buffer = &self.arrays[*array].buffer;
                format!("{text}\nport: [{}, {}]", name(&buffer.name), name(&buffer.ports[*port].name))
            }
            WordDriver::Ram { ram, read } => {
                let RamNode { array, reads, .. } = &self.rams[*ram];
                let RamReadNode { stage, load, port, counter } = reads[*read];
                let (array, stage) = (name(&self.names.arrays[*array]), self.stage(stage));
                format!(
                    "{text}\nread: {{ram: {array}, stage: {stage}, load: {load}, port: {port}, counter: {counter}}}"
                )
            }
            WordDriver::Hold(Hold { edge, counter, when }) => {
                let when = when.map_or(String::new(), |bit| format!(", when: {}", self.bits[bit].name));
                format!("{text}\nhold: {{edge: {}, counter: {counter}{when}}}", self.edge_text(*edge))
            }
        }
    }

    fn kernel(&self, kernel: &KernelNode) -> String {
        let KernelNode { nets: _, operation, latency, iterations, counter: of, operands, variables } = kernel;
        let variable = |Variable { level, scale, offset }: &Variable| {
            let level = level.map_or(String::new(), |level| format!("level: {level}, "));
            format!("{{{level}scale: {scale}, offset: {offset}}}")
        };
        let counted = of.map_or(String::new(), |counter| format!("\n  counter: {counter}"));
        let variables = match variables.as_slice() {
            [] => String::new(),
            some => format!("\n  variables: {}", list(some.iter().map(variable))),
        };
        format!(
            "\nkernel:\n  operation: {}\n  latency: {latency}\n  iterations: {}{counted}\n  operands: {}{variables}",
            name(&self.names.operations[*operation]),
            counter(iterations),
            self.edges_text(operands)
        )
    }

    fn unit(&self, unit: &UnitNode) -> String {
        let kernels = unit.kernels.iter().map(|&kernel| name(&self.words[self.kernels[kernel].net()].name));
        format!(
            "name: {}\nkernels: {}\ncounters: {}\noperands: {}",
            name(&unit.name),
            list(kernels),
            list(unit.counters.iter()),
            self.edges_text(&unit.operands)
        )
    }
}

fn port(port: &Port) -> String {
    let domain =
        port.domain.iter().map(|Loop { name: of, extent }| format!("{{name: {}, extent: {extent}}}", name(of)));
    format!(
        "name: {}\ndirection: {}\ndomain: {}\naccess: {}\nschedule: {}",
        name(&port.name),
        port.direction.name(),
        list(domain),
        list(port.access.iter().map(affine)),
        affine(&port.schedule)
    )
}

fn condition(index: &str, condition: &Condition) -> String {
    let Condition { first, last, step } = condition;
    match (first == last, step) {
        (true, 1) => format!("{index} = {first}"),
        (false, 1) => format!("{index} in {first}..={last}"),
        (_, step) => format!("{index} in {first}..={last} step {step}"),
    }
}

fn counter(counter: &Counter) -> String {
    let loops = list(counter.loops.iter().map(|of| name(of)));
    format!("{{loops: {loops}, extents: {}, cycle: {}}}", list(counter.extent.iter()), affine(&counter.cycle))
}

fn affine(function: &Affine) -> String {
    format!("{{start: {}, stride: {}}}", function.start, list(function.stride.iter()))
}

fn list<Item: Display>(items: impl IntoIterator<Item = Item>) -> String {
    format!("[{}]", items.into_iter().join(", "))
}

/// A name, quoted where YAML would read no text.
fn name(name: &str) -> String {
    if name == "null" { format!("'{name}'") } else { name.to_owned() }
}
