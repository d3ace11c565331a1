//! Programs on an array with a global buffer: which bank has which image, and runs from images in banks to images in banks.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_bitstream::{BankConfiguration, BankRow, BankedBitstream, Configuration};
use pushmem_compiler::Compiled;
use pushmem_configuration::{ControllerConfiguration, ControllerRegisters};
use pushmem_emulator::{BankAccess, Buffered, BufferedInputs, BufferedOutputs, Emulator, HostAccess};
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec, Place};
use pushmem_files::{Diagnostic, counted};
use pushmem_images::Image;
use pushmem_nest::Array;
use pushmem_netlist::CellId;
use pushmem_resources::{BankMap, BankMeaning, BitstreamState};
use serde::Serialize;

use crate::execution::{Execution, Occupant, last_beat};
use crate::lower::Lowered;
use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::{StreamLane, join};

/// An image of a program in a bank: all its elements one after the other, as in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BankImage {
    /// Number of the bank.
    pub bank: u32,
    /// Whether the bank loads a stream of it, or stores one.
    pub transfer: &'static str,
    /// Name of the image.
    pub image: String,
    /// Word of a half at which it begins.
    pub first_word: u32,
    /// Its words.
    pub words: u32,
}

/// Plans the banks of a program: each image that a bank loads begins with the half, the image that it stores behind it.
///
/// # Errors
/// When images do not fit a half, or the order of a stream has more loops than a DMA, at the image.
pub(crate) fn plan(
    compiled: &Compiled,
    lowered: &Lowered,
    place: impl Fn(CellId) -> Place,
    spec: &ArraySpec,
) -> Result<BTreeMap<u32, BankConfiguration>, Diagnostic> {
    let Some(buffer) = &spec.global_buffer else { return Ok(BTreeMap::new()) };
    let mut banks: BTreeMap<u32, BankConfiguration> = BTreeMap::new();
    // Words of a half that images take.
    let mut taken: BTreeMap<u32, u64> = BTreeMap::new();
    for (lane, direction) in lanes(compiled, lowered) {
        let column = place(lane.cell).column;
        let bank = buffer.bank(column, direction).expect("streams are placed where banks are");
        let array = &compiled.program.arrays[lane.array(&compiled.graph, direction)];
        let first = taken.get(&bank).copied().unwrap_or(0).next_multiple_of(spec.words_per_row().into());
        let end = first + elements(array);
        check_room(compiled, array, bank, first, end, spec)?;
        taken.insert(bank, end);
        let transfer = transfer(compiled, &lane, direction, first as i64, spec, buffer)?;
        *banks.entry(bank).or_default().transfer_mut(direction) = Some(transfer);
    }
    Ok(banks)
}

/// The lanes of all streams with their directions, those into the array first.
fn lanes(compiled: &Compiled, lowered: &Lowered) -> impl Iterator<Item = (StreamLane, Direction)> + use<> {
    let inputs = lowered.input_lanes(&compiled.graph).into_iter().map(|lane| (lane, Direction::In));
    let outputs = lowered.output_lanes(&compiled.graph).into_iter().map(|lane| (lane, Direction::Out));
    inputs.chain(outputs)
}

fn elements(array: &Array) -> u64 {
    array.shape.iter().map(|size| *size as u64).product()
}

/// Refuses an image that a half does not hold.
fn check_room(
    compiled: &Compiled,
    array: &Array,
    bank: u32,
    first: u64,
    end: u64,
    spec: &ArraySpec,
) -> Result<(), Diagnostic> {
    let words = 1_u64 << spec.bank_address_bits();
    if end <= words {
        return Ok(());
    }
    let program = &compiled.program;
    let behind = if first > 0 { format!(", of which another image has {first}") } else { String::new() };
    let message = format!(
        "`{}` has {} elements; a half of bank {bank} of `{}` has {words} words{behind}",
        array.name,
        end - first,
        spec.name
    );
    let bytes = end.next_power_of_two() * u64::from(spec.word_bits() / 8 * GlobalBufferSpec::HALVES);
    let other = if first > 0 { ", or move one of the two streams to another bank with `--placement`" } else { "" };
    let help = format!("divide the work into smaller tiles, or take an array with `bank_bytes: {bytes}`{other}");
    Err(program.diagnostic(array.span, message).with_help(help))
}

/// The DMA of a stream: its words in their order, as fast as they are taken, of an image that begins at a word of the half.
fn transfer(
    compiled: &Compiled,
    lane: &StreamLane,
    direction: Direction,
    first: i64,
    spec: &ArraySpec,
    buffer: &GlobalBufferSpec,
) -> Result<ControllerConfiguration, Diagnostic> {
    let (loops, element) = lane.elements(&compiled.graph, direction);
    let (extent, sram) = element.shifted(first).coalesced(loops, 1 << buffer.controller.extent_bits);
    let mut words = 1;
    let dense = |extent: &u64| {
        let stride = words;
        words *= *extent as i64;
        stride
    };
    let cycle = Affine { start: 0, stride: extent.iter().map(dense).collect() };
    let configuration =
        ControllerConfiguration { extent, cycle, sram: Some(sram), ..ControllerConfiguration::default() };
    let controller = spec.bank_controller(direction).expect("the array has a global buffer");
    ControllerRegisters::of(&configuration, &controller).map_err(|finding| {
        let program = &compiled.program;
        let array = &program.arrays[lane.array(&compiled.graph, direction)];
        let message =
            format!("the stream of `{}` does not fit a bank of `{}`: {}", array.name, spec.name, finding.message);
        let needed = counted(configuration.extent.len(), "loop");
        let help = format!("its words come in {needed}: choose an array whose `global_buffer` has as many `levels`");
        program.diagnostic(array.span, message).with_help(help)
    })?;
    Ok(configuration)
}

/// The images of a program in banks, in the order of its streams; none without a global buffer.
pub fn bank_images(compiled: &Compiled, mapped: &Mapped, spec: &ArraySpec) -> Vec<BankImage> {
    placed(compiled, mapped, &mapped.configuration, spec).into_iter().map(|placed| placed.image).collect()
}

/// A lane with its image in a bank.
struct Placed {
    lane: StreamLane,
    direction: Direction,
    image: BankImage,
}

fn placed(compiled: &Compiled, mapped: &Mapped, configuration: &Configuration, spec: &ArraySpec) -> Vec<Placed> {
    let place = |(lane, direction): (StreamLane, Direction)| {
        let bank = spec.global_buffer.as_ref()?.bank(mapped.place(lane.cell).column, direction)?;
        let sram = configuration.banks.get(&bank)?.transfer(direction)?.sram.as_ref()?;
        let (_, element) = lane.elements(&compiled.graph, direction);
        let array = &compiled.program.arrays[lane.array(&compiled.graph, direction)];
        let image = BankImage {
            bank,
            transfer: direction.transfer(),
            image: array.name.clone(),
            first_word: u32::try_from(sram.start - element.start).ok()?,
            words: elements(array) as u32,
        };
        Some(Placed { lane, direction, image })
    };
    lanes(compiled, &mapped.lowered).filter_map(place).collect()
}

/// The way of a bitstream into an array with a global buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    /// Word by word through the configuration port.
    Port,
    /// From the banks, all at a time.
    Banks,
}

/// How long a bitstream took from the banks to the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoadingCycles {
    /// Writes of the bitstream.
    pub words: usize,
    /// Those of them that the bank with the most has.
    pub fullest_bank: usize,
    /// Cycles of all of them through the configuration port, one in each, to the answer of the last.
    pub cycles_word_by_word: u64,
    /// Rows that the host wrote to the banks before, one in each cycle.
    pub rows: usize,
    /// Cycles from the first write that clears the array to the one in which no bank loads any more.
    pub cycles: u64,
}

/// A run of an array with its global buffer.
pub struct BufferedRun {
    /// The outputs of each program, and its cycles.
    pub executions: Vec<Execution>,
    /// How long the bitstream took, if it was loaded from the banks.
    pub loading: Option<LoadingCycles>,
}

/// Is given the inputs and the outputs of each cycle of an array with its global buffer.
pub type BufferedObserver<'a> = dyn FnMut(&BufferedInputs, &BufferedOutputs) + 'a;

/// Runs a configuration on the model of the array with its global buffer, as the host of a chip would: it writes the bitstream to the banks
/// and has them load it, if that is the way; it writes the images row by row, hands the halves over, starts the run, and reads the images that the array left
/// in the banks. `observe` is given the inputs and the outputs of each cycle, from the one after the last write through the configuration port on
/// with which the bitstream begins: with banks the one that clears all, else the last of all.
///
/// # Errors
/// When an input is missing, a bank does not hold its part of the bitstream or does not load it, or the run does not end.
///
/// # Panics
/// If the array has no global buffer.
pub fn execute_buffered(
    occupants: &[Occupant],
    configuration: &Configuration,
    target: &ArrayTarget,
    loading: Loading,
    observe: &mut BufferedObserver,
) -> Result<BufferedRun, Diagnostic> {
    let spec = &target.spec;
    let emulator = Emulator::new(spec, target.graph.clone());
    let mut model = Buffered::new(emulator).expect("the array has a global buffer");
    let bitstream = configuration.encode(spec, &target.graph)?;
    let banked = BankedBitstream::of(&bitstream, spec).filter(|_| loading == Loading::Banks);
    let empty = Configuration::default();
    model.load(if banked.is_some() { &empty } else { configuration });
    let mut host = Host { spec, model, observe };
    let loading = banked.map(|banked| host.load(&banked, bitstream.writes.len())).transpose()?;
    let images = occupants.iter().map(|of| placed(of.compiled, of.mapped, configuration, spec)).collect_vec();
    for (occupant, placed) in occupants.iter().zip(&images) {
        for Placed { direction, image, .. } in placed {
            if *direction == Direction::In {
                let given = occupant.images.get(&image.image);
                let given =
                    given.ok_or_else(|| Diagnostic::new(format!("no image for the input `{}`", image.image)))?;
                host.write(image, given);
            }
        }
    }
    let map = BankMap::of(spec).expect("the array has a global buffer");
    let register = map.field(BankMeaning::HandOver { half: 0 }).0;
    for bank in configuration.banks.keys() {
        let access = Some((Some(*bank as usize), BankAccess { register, write: Some(1) }));
        host.clock(BufferedInputs { access, stall: true, ..BufferedInputs::default() });
    }
    let cycles = host.run(last_beat(configuration, target))?;
    let mut read = |(occupant, placed): (&Occupant, &Vec<Placed>)| -> Result<Execution, Diagnostic> {
        let graph = &occupant.compiled.graph;
        let stored = placed.iter().filter(|placed| placed.direction == Direction::Out);
        let words = stored.map(|placed| host.read(placed, occupant.compiled)).collect_vec();
        let outputs = join(&words, graph.outputs.iter().map(|stream| stream.lanes.len()));
        let outputs = graph.arrays(&occupant.compiled.program, &outputs)?;
        Ok(Execution { outputs, cycles })
    };
    let executions = occupants.iter().zip(&images).map(&mut read).collect::<Result<_, Diagnostic>>()?;
    Ok(BufferedRun { executions, loading })
}

/// The images of a program as rows of half 0 of banks, each with its bank: those that the host writes before a run, and those that it finds after
/// it. The words of the latter are those that the bank stores.
#[derive(Default)]
pub struct ImageRows {
    /// Rows that are loaded.
    pub loaded: Vec<(u32, HostAccess)>,
    /// Rows that are stored.
    pub stored: Vec<(u32, HostAccess)>,
}

impl ImageRows {
    /// Of a program with these inputs and outputs; images that are not given are left out.
    pub fn of(occupant: &Occupant, outputs: &BTreeMap<String, Image>, spec: &ArraySpec) -> Self {
        let Occupant { compiled, mapped, images } = *occupant;
        let mut rows = ImageRows { loaded: Vec::new(), stored: Vec::new() };
        for placed in placed(compiled, mapped, &mapped.configuration, spec) {
            let Placed { direction, image, .. } = &placed;
            let bank = image.bank;
            match direction {
                Direction::In => {
                    let given = images.get(&image.image).into_iter();
                    rows.loaded.extend(given.flat_map(|given| image_rows(image, given, spec)).map(|row| (bank, row)));
                }
                Direction::Out => {
                    let found = outputs.get(&image.image).into_iter();
                    let stored = found.flat_map(|found| stored_rows(&placed, found, compiled, spec));
                    rows.stored.extend(stored.map(|row| (bank, row)));
                }
            }
        }
        rows
    }
}

/// The rows of an image that a bank stores, of which it has the words of its stream.
fn stored_rows(placed: &Placed, found: &Image, compiled: &Compiled, spec: &ArraySpec) -> Vec<HostAccess> {
    let Placed { lane, direction, image } = placed;
    let (per_row, word_bits) = (spec.words_per_row(), spec.word_bits());
    let mask = u64::MAX >> (u64::BITS - word_bits);
    let mut rows: BTreeMap<u32, HostAccess> = BTreeMap::new();
    let (loops, element) = lane.elements(&compiled.graph, *direction);
    for element in loops.values(element) {
        let word = image.first_word + element as u32;
        let (row, place) = (word / per_row, word % per_row);
        let access = rows.entry(row).or_insert(HostAccess { half: 0, row, words: 0, data: 0 });
        if access.words >> place & 1 == 0 {
            access.words |= 1 << place;
            access.data |= (found.values().at(element as usize) as u64 & mask) << (place * word_bits);
        }
    }
    rows.into_values().collect()
}

/// The accesses that write an image to its bank, row by row, in half 0.
fn image_rows(image: &BankImage, given: &Image, spec: &ArraySpec) -> Vec<HostAccess> {
    let (per_row, word_bits) = (spec.words_per_row() as usize, spec.word_bits());
    let mask = u64::MAX >> (u64::BITS - word_bits);
    let words = given.values();
    let access = |(row, first): (u32, usize)| {
        let places = first..words.len().min(first + per_row);
        let word = |place: usize| words.at(place) as u64 & mask;
        let data = places.clone().rev().fold(0, |row, place| row << word_bits | word(place));
        HostAccess { half: 0, row, words: (1 << places.len()) - 1, data }
    };
    (image.first_word / per_row as u32..).zip((0..words.len()).step_by(per_row)).map(access).collect()
}

/// The host of an array with a global buffer. Half 0 of each bank is that of the run.
struct Host<'a, 'b, 'c> {
    spec: &'a ArraySpec,
    model: Buffered,
    observe: &'b mut BufferedObserver<'c>,
}

impl Host<'_, '_, '_> {
    fn clock(&mut self, inputs: BufferedInputs) {
        (self.observe)(&inputs, self.model.outputs());
        self.model.clock(&inputs);
    }

    /// An access while time stands still.
    fn access(&mut self, bank: u32, access: HostAccess) {
        let host = Some((bank as usize, access));
        self.clock(BufferedInputs { host, stall: true, ..BufferedInputs::default() });
    }

    /// Writes a bitstream of so many words to the banks, and has them load it.
    fn load(&mut self, banked: &BankedBitstream, words: usize) -> Result<LoadingCycles, Diagnostic> {
        banked.check_room(self.spec)?;
        let map = BankMap::of(self.spec).expect("the array has a global buffer");
        let buffer = self.spec.global_buffer.as_ref().expect("the array has a global buffer");
        let all_words = (1 << self.spec.words_per_row()) - 1;
        let mut rows = 0;
        for BankRow { bank, row, data } in banked.rows() {
            self.access(bank, HostAccess { half: BankedBitstream::HALF as usize, row, words: all_words, data });
            rows += 1;
        }
        let still = BufferedInputs { stall: true, ..BufferedInputs::default() };
        let of_all = |meaning: BankMeaning, write: Option<u32>| {
            let (register, _) = map.field(meaning);
            BufferedInputs { access: Some((None, BankAccess { register, write })), ..still }
        };
        self.clock(of_all(BankMeaning::BitstreamRow, Some(BankedBitstream::HALF * buffer.rows())));
        let mut cycles = 1;
        // Each bank has a write in each cycle.
        let most = banked.longest() as u64 + u64::from(4 * self.spec.answer_latency());
        while self.model.outputs().configuring && cycles < most {
            self.clock(still);
            cycles += 1;
        }
        let state = |state: BitstreamState| BankMeaning::Bitstream { state };
        self.clock(of_all(state(BitstreamState::Busy), None));
        (1..self.spec.answer_latency()).for_each(|_| self.clock(still));
        let status = self.model.outputs().config.and_then(Result::ok).unwrap_or(0);
        let is = |meaning: BankMeaning| status & map.field(meaning).1.mask() != 0;
        let found: Vec<_> = BitstreamState::ALL.into_iter().filter(|found| is(state(*found))).collect();
        if found != [BitstreamState::Done] {
            let message =
                format!("the banks do not load the bitstream: their status is {status:x} after {cycles} cycles");
            return Err(Diagnostic::new(message).as_fault("bitstream"));
        }
        Ok(LoadingCycles {
            words,
            fullest_bank: banked.longest(),
            cycles_word_by_word: words as u64 + u64::from(self.spec.answer_latency()),
            rows,
            cycles: banked.first.len() as u64 + cycles,
        })
    }

    /// Writes an image to its bank.
    fn write(&mut self, image: &BankImage, given: &Image) {
        image_rows(image, given, self.spec).into_iter().for_each(|access| self.access(image.bank, access));
    }

    /// Starts the run and waits for its end: the cycles from the flush to it.
    fn run(&mut self, longest: u64) -> Result<u64, Diagnostic> {
        // A bank waits for itself where a stream jumps from row to row: each word takes a cycle at most in each direction.
        let most = 3 * longest + 10 * u64::from(self.spec.stall_latency()) + 100;
        for cycle in 0..most {
            self.clock(BufferedInputs { flush: cycle == 0, ..BufferedInputs::default() });
            if cycle > 2 && !self.model.outputs().busy.iter().any(|busy| *busy) {
                return Ok(cycle);
            }
        }
        let busy = self.model.outputs().busy.iter().positions(|busy| *busy).join(", ");
        let message =
            format!("the run does not end in {most} cycles: banks {busy} of the global buffer have words to move");
        Err(Diagnostic::new(message).as_fault("program"))
    }

    /// The words of a stream that a bank stored, in the order of the stream, read row by row.
    fn read(&mut self, placed: &Placed, compiled: &Compiled) -> Vec<u16> {
        let Placed { lane, direction, image } = placed;
        let per_row = self.spec.words_per_row();
        let (first, end) = (image.first_word, image.first_word + image.words);
        for row in first / per_row..end.div_ceil(per_row) {
            self.access(image.bank, HostAccess { half: 0, row, words: 0, data: 0 });
        }
        let words = &self.model.bank(image.bank).half(0)[first as usize..];
        let (loops, element) = lane.elements(&compiled.graph, *direction);
        loops.values(element).map(|element| words[element as usize] as u16).collect()
    }
}
