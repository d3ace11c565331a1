//! Waves of the accelerator for a viewer.

use itertools::{Itertools, izip};
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port};
use pushmem_configuration::ControllerConfiguration;
use pushmem_datapaths::Datapath;
use pushmem_files::Diagnostic;
use pushmem_graph::{
    Counter, Delayed, Driver, Kernel, KernelId, Memories, Source as Wired, Stream, Tile, TileId, WORD_BITS, WireId,
};
use pushmem_mapping::{MappedBuffer, MappedTile, Source};
use pushmem_nest::Operation;
use pushmem_tile::{Controller, Role, timing};
use pushmem_waves::{Format, Group, LoopIndex, Signal, SignedPorts, View, WAVE_NAMES, levels, tile_group};

use super::Context;
use crate::loops::{LoopCounter, Time, index_bits};
use crate::modules::LOOP_COUNTER;
use crate::names::Names;
use crate::text::concatenation;

impl Context<'_> {
    /// The view: streams with the loops of their beats, operations with their iterations, and memories with their
    /// controllers.
    ///
    /// # Errors
    /// When a schedule is none that hardware could follow.
    pub(super) fn waves(&self, module: &str) -> Result<View, Diagnostic> {
        // A signal with the name of the module would hide it.
        let mut names = Names::with([module, "timeline"]);
        let mut group = |name: &str| Group::open(names.claim(name, "group"));
        let (mut control, mut streams) = (group("control"), group("streams"));
        let (mut operations, mut memories) = (group("operations"), group("memories"));
        for (name, port) in [("start", "start_i"), ("busy", "busy_o"), ("done", "done_o")] {
            control.bit(name, format!("{module}.{port}"));
        }
        let mut names = Names::with([module]);
        let ports = self.signals.streams.inputs.iter().chain(&self.signals.streams.outputs);
        let of_program = self.accelerator.inputs.iter().chain(&self.accelerator.outputs);
        let inputs = self.accelerator.inputs.len();
        for (number, (stream, port)) in of_program.zip(ports).enumerate() {
            let name = names.claim(port, "stream");
            streams.groups.push(self.stream(stream, port, number < inputs, name, module)?);
        }
        for kernel in self.accelerator.kernels.indices() {
            operations.groups.push(self.operation(kernel, &mut names, module)?);
        }
        // Memories that are made for the program are no blocks with controllers.
        let has_controllers = self.accelerator.target.memories == Memories::Tiles;
        for (number, name) in self.signals.tiles.iter_enumerated().filter(|_| has_controllers) {
            let tile = &self.accelerator.tiles[number];
            let loops = |controller: &Controller| {
                let configured = tile.configuration.controllers.get(&controller.name)?;
                Some(self.loops(number, controller, configured, module))
            };
            let name = names.claim(name, "tile");
            let path = format!("{module}.u_{}", self.signals.tiles[number]);
            let is_signed = |wire: &Option<WireId>| wire.is_some_and(|wire| self.is_signed(wire));
            let signed = SignedPorts {
                inputs: tile.inputs.iter().map(is_signed).collect(),
                outputs: tile.outputs.iter().map(is_signed).collect(),
            };
            memories.groups.push(tile_group(&tile.spec, &name, &path, &signed, loops));
        }
        for (rom, name) in self.accelerator.roms.iter().zip(&self.signals.roms).filter(|_| has_controllers) {
            // It is read once in each iteration of its kernel, by loops of the same strides.
            let words = Words::of_iterations(&self.accelerator.kernels[rom.kernel].iterations);
            let loops = |controller: &Controller| {
                let configured = rom.configuration.controllers.get(&controller.name)?;
                let followed = words.as_ref().and_then(|words| follow(&words.loops, 0, configured));
                Some(named(followed, controller, configured, module))
            };
            let path = format!("{module}.u_{name}");
            let name = names.claim(name, "rom");
            // Narrower entries have zeros above their sign.
            let entry = self.program.tables[rom.table].element;
            let signed = entry.is_signed() && entry.bits() == self.accelerator.target.rom().word_bits;
            let signed = SignedPorts { outputs: vec![signed], ..SignedPorts::default() };
            memories.groups.push(tile_group(self.accelerator.target.rom(), &name, &path, &signed, loops));
        }
        let groups = [control, streams, operations, memories].into_iter();
        Ok(View {
            module: module.to_owned(),
            flush: format!("{module}.flush"),
            step: format!("{module}.step"),
            groups: groups.filter(|group| !group.signals.is_empty() || !group.groups.is_empty()).collect(),
        })
    }

    fn stream(
        &self,
        stream: &Stream,
        port: &str,
        is_input: bool,
        name: String,
        module: &str,
    ) -> Result<Group, Diagnostic> {
        let (with_words, against) = if is_input { ("i", "o") } else { ("o", "i") };
        // The words of an element lie side by side.
        let bits = stream.element.words().len() as u32 * WORD_BITS;
        let elements = stream.lanes.len() / stream.element.words().len();
        let words = match elements {
            1 => vec!["word".to_owned()],
            elements => (0..elements).map(|number| format!("word_{number}")).collect(),
        };
        let mut group = self.iterations(name, &self.accelerator.counters[stream.counter], module, &words)?;
        group.bit("valid", format!("{module}.{port}_valid_{with_words}"));
        group.bit("ready", format!("{module}.{port}_ready_{against}"));
        let data = format!("{module}.{port}_data_{with_words}");
        for (number, word) in words.into_iter().enumerate() {
            let value = match elements {
                1 => data.clone(),
                _ => format!("{data}[{}+:{bits}]", number as u32 * bits),
            };
            group.signal(word, bits, value, Format::curve(stream.element.is_signed()));
        }
        Ok(group)
    }

    fn operation(&self, kernel: KernelId, names: &mut Names, module: &str) -> Result<Group, Diagnostic> {
        let name = names.claim(&self.accelerator.kernels[kernel].name, "operation");
        let Kernel { iterations, operands, datapath, .. } = &self.accelerator.kernels[kernel];
        // As the ports of the kernel are called, less the ending that says which way a port goes: a wave goes nowhere.
        let mut names = Names::with(loop_names(module));
        let of_port = |port: &str| names.claim(port.strip_suffix("_i").unwrap_or(port), "operand");
        let names = self.kernels[*datapath].loads.iter().map(String::as_str).map(of_port).collect_vec();
        let mut group = self.iterations(name, iterations, module, &names)?;
        group.open = false;
        let accesses = Datapath::accesses(self.program, self.operation_of(kernel));
        let words = self.accelerator.datapaths[*datapath].datapath.operands();
        for (load, (access, name)) in accesses.into_iter().zip(names).enumerate() {
            let of_load = words.iter().zip(operands).filter(|((of, _), _)| *of == load);
            let wires = of_load.filter_map(|(_, operand)| match operand {
                Wired::Wire(wire) => Some(format!("{module}.{}", self.signals.wires[*wire])),
                Wired::Constant(_) => None,
            });
            let element = self.program.arrays[access.array].element;
            let wires = wires.collect_vec();
            if wires.len() == element.words().len() {
                let bits = wires.len() as u32 * WORD_BITS;
                group.signal(name, bits, concatenation(wires), Format::number(element.is_signed()));
            }
        }
        let results = self.results(&[kernel]).into_iter().map(|(wire, _)| wire).collect_vec();
        if let Some(&first) = results.first() {
            let values = results.iter().map(|&wire| format!("{module}.{}", self.signals.wires[wire])).collect_vec();
            let bits = values.len() as u32 * WORD_BITS;
            group.signal("result", bits, concatenation(values), Format::number(self.is_signed(first)));
        }
        Ok(group)
    }

    /// The operation that a kernel executes.
    fn operation_of(&self, kernel: KernelId) -> &Operation {
        let datapath = self.accelerator.kernels[kernel].datapath;
        self.program.operations()[self.accelerator.datapaths[datapath].operation].1
    }

    /// Whether the words of a wire are in two's complement, as those of the array are that they belong to.
    fn is_signed(&self, wire: WireId) -> bool {
        let of_array = |array: usize| self.program.arrays[array].element.is_signed();
        let driver = &self.accelerator.wires[wire].driver;
        match *driver {
            Driver::Input { stream, .. } => self.accelerator.inputs[stream].element.is_signed(),
            Driver::Kernel { kernel, .. } => of_array(self.operation_of(kernel).target.array),
            Driver::Ram { ram, .. } => of_array(self.accelerator.rams[ram].array),
            Driver::Tile { .. } => {
                let stored = self.accelerator.arrays.iter().find(|stored| stored.wires.contains(&wire));
                let mut streams = self.accelerator.memories.iter().flat_map(|memory| &memory.streams);
                let delayed = streams.find(|stream| stream.wires.contains(&wire));
                stored.map_or_else(
                    || delayed.is_some_and(|stream| self.is_signed(stream.of)),
                    |stored| of_array(stored.array),
                )
            }
            Driver::ShiftRegister { .. } | Driver::Hold { .. } | Driver::Turns { .. } | Driver::Select { .. } => {
                driver.wires().first().is_some_and(|&source| self.is_signed(source))
            }
        }
    }

    /// A group with the steps and the indices of loops: those of the hardware if it counts them, else of a counter that is
    /// only there for the view. No loop gets one of the names `taken`.
    fn iterations(&self, name: String, counter: &Counter, module: &str, taken: &[String]) -> Result<Group, Diagnostic> {
        let mut group = Group::open(name);
        let mut names = Names::with(loop_names(module).chain(taken.iter().map(String::as_str)));
        let loops = counter.loops.iter().map(|name| names.claim(name, "loop")).collect_vec();
        let in_hardware = self.signals.counters.values().find(|other| other.counter == counter);
        let bits = index_bits(counter);
        match in_hardware {
            Some(hardware) => {
                group.bit("fires", format!("{module}.{} && step", hardware.steps));
                for (name, signal) in loops.into_iter().zip(&hardware.indices) {
                    group.signal(name, bits, format!("{module}.{signal}"), Format::Decimal);
                }
            }
            None => {
                let own = LoopCounter {
                    counter,
                    time: Time::HARDWARE,
                    name: group.name.clone(),
                    instance: "u_loops".to_owned(),
                    module: self.library(LOOP_COUNTER),
                    steps: "due".to_owned(),
                    indices: if loops.is_empty() { vec!["index".to_owned()] } else { loops.clone() },
                };
                group.body = own
                    .print("clk", "rst_n")?
                    .lines()
                    .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
                    .collect();
                group.bit("fires", "due && step");
                let declared = |name| Signal { name, bits, value: None, format: Some(Format::Decimal) };
                group.signals.extend(loops.into_iter().map(declared));
            }
        }
        Ok(group)
    }

    /// The loops that a controller is shown with: those of the words that it moves, if it follows them, else its own.
    fn loops(
        &self,
        tile: TileId,
        controller: &Controller,
        configured: &ControllerConfiguration,
        module: &str,
    ) -> Vec<LoopIndex> {
        let of_words = self.words_of(tile, controller).and_then(|words| {
            let late = self.first_word(tile, controller)? - words.start;
            follow(&words.loops, late, configured)
        });
        named(of_words, controller, configured, module)
    }

    /// The cycle of the run in which the first word passes the port that a controller serves. Rows are called by their first
    /// word, so those who move them take over from those who take or show words.
    fn first_word(&self, tile: TileId, controller: &Controller) -> Option<i64> {
        let Tile { begin, spec, configuration, .. } = &self.accelerator.tiles[tile];
        let (role, shows) = match controller.role {
            Role::Agg2Sram => (Role::In2Agg, 0),
            Role::Sram2Tb => (Role::Tb2Out, 0),
            Role::Sram2Out => (Role::Sram2Out, timing::sram_to_output(spec.sram_latency)),
            role => (role, 0),
        };
        let of_words = configuration.controllers.get(&format!("{}_{}", role.name(), controller.port))?;
        Some(of_words.cycle.start + (begin + shows) as i64)
    }

    /// The loops of the words that a controller moves, in cycles of the run at the port.
    fn words_of(&self, tile: TileId, controller: &Controller) -> Option<Words> {
        let accelerator = self.accelerator;
        let holds = |first: TileId, mapped: &MappedBuffer| (first..first + mapped.tiles.len()).contains(&tile);
        if let Some(array) = accelerator.arrays.iter().find(|array| holds(array.first_tile, &array.mapped)) {
            let port = port_of(&array.mapped.tiles[(tile - array.first_tile).index()], controller)?;
            return Words::of_port(array.buffer.ports.get(port)?);
        }
        let memory = accelerator.memories.iter().find(|memory| holds(memory.first_tile, &memory.mapped))?;
        let port = port_of(&memory.mapped.tiles[(tile - memory.first_tile).index()], controller)?;
        let port_delays = |stream: &Delayed| {
            let delays = std::iter::once(0).chain(stream.delays.iter().copied());
            delays.map(|delay| (stream.of, delay)).collect_vec()
        };
        let (wire, delay) = memory.streams.iter().flat_map(port_delays).nth(port)?;
        self.delayed(wire, delay as i64).or_else(|| Words::of_port(memory.buffer.ports.get(port)?))
    }

    /// The words of a wire so many cycles later, by the loops of the stage that makes them.
    fn delayed(&self, wire: WireId, delay: i64) -> Option<Words> {
        let accelerator = self.accelerator;
        let (counter, latency) = match accelerator.wires[wire].driver {
            Driver::Input { stream, .. } => (&accelerator.counters[accelerator.inputs[stream].counter], 0),
            Driver::Kernel { kernel, .. } => {
                let kernel = &accelerator.kernels[kernel];
                (&kernel.iterations, accelerator.datapaths[kernel.datapath].datapath.latency())
            }
            Driver::ShiftRegister { of, length } => return self.delayed(of, delay + length as i64),
            Driver::Tile { .. }
            | Driver::Hold { .. }
            | Driver::Select { .. }
            | Driver::Turns { .. }
            | Driver::Ram { .. } => return None,
        };
        Words::of_every_cycle(counter, latency as i64 + delay, accelerator.length)
    }
}

/// The port of a buffer whose words a controller moves.
fn port_of(tile: &MappedTile, controller: &Controller) -> Option<usize> {
    let number = controller.port as usize;
    match direction(controller.role)? {
        Direction::Write => match tile.inputs.get(number)?.as_ref()? {
            Source::Port(port) => Some(*port),
            Source::Output { .. } => None,
        },
        Direction::Read => tile.outputs.get(number).copied()?,
    }
}

/// When words come.
struct Words {
    /// The cycle of the first.
    start: i64,
    /// Name, iterations and cycles between iterations of each loop, the smallest stride first, all positive.
    loops: Vec<(String, u64, i64)>,
}

impl Words {
    fn of_port(port: &Port) -> Option<Self> {
        let loops = port.domain.iter().zip(&port.schedule.stride).filter(|(level, _)| level.extent > 1);
        let loops = loops.map(|(level, &stride)| (level.name.clone(), level.extent, stride));
        let loops = loops.sorted_by_key(|(_, _, stride)| *stride).collect_vec();
        (loops.first()?.2 > 0).then_some(Words { start: port.schedule.start, loops })
    }

    /// Words that come in the iterations of a stage.
    fn of_iterations(counter: &Counter) -> Option<Self> {
        let levels =
            izip!(counter.loops.iter().cloned(), counter.extent.iter().copied(), counter.cycle.stride.iter().copied());
        let loops = levels.sorted_by_key(|(_, _, stride)| *stride).collect_vec();
        (loops.first()?.2 > 0).then_some(Words { start: counter.cycle.start, loops })
    }

    /// Words that come at all times, also between the iterations of a stage: where one of its loops ends and the next has not
    /// stepped yet, the inner index goes on.
    fn of_every_cycle(counter: &Counter, late: i64, run: u64) -> Option<Self> {
        let levels = counter.loops.iter().zip(counter.cycle.stride.iter().copied());
        let levels = levels.sorted_by_key(|(_, stride)| *stride).collect_vec();
        if levels.first()?.1 <= 0 {
            return None;
        }
        let mut loops = Vec::new();
        for (number, &(name, stride)) in levels.iter().enumerate() {
            let extent = match levels.get(number + 1) {
                Some((_, next)) if next % stride != 0 => return None,
                Some((_, next)) => (next / stride) as u64,
                None => run.div_ceil(stride as u64).max(1),
            };
            loops.push((name.clone(), extent, stride));
        }
        Some(Words { start: counter.cycle.start + late, loops })
    }
}

/// Which way a controller moves words.
fn direction(role: Role) -> Option<Direction> {
    match role {
        Role::In2Agg | Role::Agg2Sram | Role::In2Sram | Role::In2RegisterFile => Some(Direction::Write),
        Role::Sram2Tb | Role::Tb2Out | Role::Sram2Out | Role::RegisterFile2Out => Some(Direction::Read),
        Role::StencilValid | Role::Rom2Out => None,
    }
}

/// Names that no loop may have.
fn loop_names(module: &str) -> impl Iterator<Item = &str> {
    WAVE_NAMES.into_iter().chain(["valid", "ready", "due", "u_loops", "result", "index", module])
}

/// The loops that a controller follows, by names of their own; without such, its levels.
fn named(
    followed: Option<Vec<LoopIndex>>,
    controller: &Controller,
    configured: &ControllerConfiguration,
    module: &str,
) -> Vec<LoopIndex> {
    let mut names = Names::with(loop_names(module));
    match followed {
        Some(loops) => {
            let named = |index: LoopIndex| LoopIndex { name: names.claim(&index.name, "loop"), ..index };
            loops.into_iter().map(named).collect()
        }
        None => configured_levels(controller, configured),
    }
}

/// The levels of a controller that are configured.
fn configured_levels(controller: &Controller, configured: &ControllerConfiguration) -> Vec<LoopIndex> {
    let levels = levels(controller).into_iter().zip(&configured.extent);
    levels.map(|(level, &extent)| LoopIndex { extent, ..level }).collect()
}

/// Loops of words that follow each other without a gap, as one.
struct Run<'a> {
    /// Cycles between iterations of the innermost.
    stride: i64,
    /// Iterations of all.
    extent: u64,
    /// The loops, innermost first.
    loops: Vec<(&'a str, u64)>,
    /// Where the controller is among the iterations.
    place: Affine,
}

/// The loops of words in terms of those of a controller that moves them; nothing if it does not follow them in closed form.
/// `late` is how long after the first of all words its first word comes.
fn follow(words: &[(String, u64, i64)], mut late: i64, configured: &ControllerConfiguration) -> Option<Vec<LoopIndex>> {
    let mut runs: Vec<Run> = Vec::new();
    for (name, extent, stride) in words {
        match runs.last_mut() {
            Some(run) if run.stride.checked_mul(run.extent as i64) == Some(*stride) => {
                run.extent = run.extent.checked_mul(*extent)?;
                run.loops.push((name, *extent));
            }
            _ => {
                let place = Affine { start: 0, stride: vec![0; configured.extent.len()] };
                runs.push(Run { stride: *stride, extent: *extent, loops: vec![(name, *extent)], place });
            }
        }
    }
    for run in runs.iter_mut().rev() {
        run.place.start = late.div_euclid(run.stride);
        late = late.rem_euclid(run.stride);
    }
    for (level, (&extent, &stride)) in configured.extent.iter().zip(&configured.cycle.stride).enumerate() {
        if extent > 1 {
            let run = runs.iter_mut().rev().find(|run| run.stride <= stride && stride % run.stride == 0)?;
            run.place.stride[level] = stride / run.stride;
        }
    }
    let within = |run: &Run| {
        let travels = run.place.stride.iter().zip(&configured.extent);
        let travel: i64 = travels.map(|(stride, &extent)| stride * (extent as i64 - 1)).sum();
        (0..run.extent as i64).contains(&run.place.start) && run.place.start + travel < run.extent as i64
    };
    if late != 0 || !runs.iter().all(within) {
        return None;
    }
    let mut indices = Vec::new();
    for run in &runs {
        let mut divisor = 1;
        for &(name, extent) in &run.loops {
            indices.push(LoopIndex { name: name.to_owned(), extent, place: run.place.clone(), divisor });
            divisor *= extent;
        }
    }
    Some(indices)
}
