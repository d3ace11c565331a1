//! The regression of bitstreams in the banks of a global buffer: random bitstreams that the banks load leave the state that they leave when they
//! are loaded word by word, while the RTL shows what the model shows.

use std::collections::BTreeSet;
use std::path::Path;

use itertools::Itertools;
use pushmem_bitstream::{BankRow, BankedBitstream, Bitstream, Configuration};
use pushmem_configuration::RegisterWrite;
use pushmem_csr::SoftwareAccess;
use pushmem_emulator::{BankAccess, Buffered, BufferedInputs, Emulator, HostAccess};
use pushmem_fabric::ArraySpec;
use pushmem_files::Diagnostic;
use pushmem_lockstep::BufferedLockstep;
use pushmem_registers::{RegisterMap, WORD_BYTES};
use pushmem_resources::{Address, BankMap, BankMeaning, BitstreamState, Feature, Graph};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::arrays::arbitrary_bitstream;
use crate::failure::Failure;
use crate::scenario::ScenarioCounts;

/// One of so many bitstreams of a test is loaded from banks.
const SHARE: u32 = 8;

/// Loads random bitstreams of an array both ways.
///
/// # Errors
/// The first difference.
pub(crate) fn run_loads(
    spec: &ArraySpec,
    executable: &Path,
    seed: u64,
    bitstreams: u32,
) -> Result<ScenarioCounts, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let graph = Graph::of(spec);
    let count = bitstreams.div_ceil(SHARE);
    let mut cycles = 0;
    for number in 0..count {
        let bitstream = bitstream(spec, &graph, &mut random);
        let at = |failure: Failure| failure.at(format!("bitstream {number} in banks of seed {seed}"));
        cycles += load(spec, &graph, executable, &bitstream, &mut random).map_err(at)?;
    }
    Ok(ScenarioCounts { configurations: count.into(), cycles })
}

/// A random bitstream, with any words in the registers of banks.
fn bitstream(spec: &ArraySpec, graph: &Graph, random: &mut ChaCha8Rng) -> Bitstream {
    let map = BankMap::of(spec).expect("the array has a global buffer");
    let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
    let mut bitstream =
        arbitrary_bitstream(spec, graph, random).encode(spec, graph).expect("the configuration is one of the array");
    for bank in 0..buffer.banks {
        let registers = (0..).zip(&map.registers).filter(|(_, register)| register.access == SoftwareAccess::ReadWrite);
        let write =
            |(number, _): (u32, _)| RegisterWrite { address: map.address(bank, number).word(), data: random.random() };
        bitstream.writes.extend(registers.map(write));
    }
    bitstream
}

/// Loads a bitstream both ways, and compares what is in the registers then. Returns the cycles that were compared.
fn load(
    spec: &ArraySpec,
    graph: &Graph,
    executable: &Path,
    bitstream: &Bitstream,
    random: &mut ChaCha8Rng,
) -> Result<u64, Failure> {
    let run = |error: Diagnostic| Failure::wrong(error.to_string());
    let banked = BankedBitstream::of(bitstream, spec).expect("the array has a global buffer");
    let addresses = addresses(spec, graph, bitstream);
    let by_words =
        BufferedLockstep::start(executable, spec, bitstream).and_then(|mut rtl| rtl.read(&addresses)).map_err(run)?;
    let first = Bitstream { writes: banked.first.clone() };
    let rtl = BufferedLockstep::start(executable, spec, &first).map_err(run)?;
    let mut model = Buffered::new(Emulator::new(spec, graph.clone())).expect("the array has a global buffer");
    model.load(&Configuration::default());
    let mut host =
        Host { spec, map: BankMap::of(spec).expect("the array has a global buffer"), model, rtl, random, cycles: 0 };
    let missing = host.random.random_bool(0.3);
    // Halves may have few rows: what does not fit comes with another bitstream.
    let rows = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.rows()) as usize;
    let parts = banked.banks.iter().map(|part| part.chunks(rows - 1)).collect_vec();
    for round in 0..parts.iter().map(|chunks| chunks.len()).max().unwrap_or(0) {
        let part =
            |chunks: &std::slice::Chunks<'_, RegisterWrite>| chunks.clone().nth(round).unwrap_or_default().to_vec();
        host.load(&banked.with_banks(parts.iter().map(part).collect()), BitstreamState::Done)?;
    }
    if missing {
        let mut banks = vec![Vec::new(); parts.len()];
        let bank = host.random.random_range(0..banks.len());
        // No tile has this row.
        let nowhere = Address {
            row: spec.rows + 1,
            column: bank as u32 * spec.columns / parts.len() as u32,
            feature: 0,
            register: 0,
        };
        banks[bank].push(RegisterWrite { address: nowhere.word(), data: host.random.random() });
        host.load(&banked.with_banks(banks), BitstreamState::Refused)?;
    }
    let by_banks = host.rtl.read(&addresses).map_err(run)?;
    let cycles = host.cycles;
    host.rtl.finish().map_err(run)?;
    let differs = |place: &usize| by_words[*place] != by_banks[*place];
    match (0..addresses.len()).find(differs) {
        Some(place) => {
            let [words, banks] = [&by_words, &by_banks].map(|read| read[place]);
            let address = addresses[place];
            Err(Failure::wrong(format!(
                "{address:08x} has {words:x?} loaded word by word, and {banks:x?} loaded from banks"
            )))
        }
        None => Ok(cycles),
    }
}

/// The addresses of all registers of tiles and banks, and those that a bitstream writes.
fn addresses(spec: &ArraySpec, graph: &Graph, bitstream: &Bitstream) -> Vec<u32> {
    let map = BankMap::of(spec).expect("the array has a global buffer");
    let mut addresses: BTreeSet<u32> = bitstream.writes.iter().skip(2).map(|write| write.address).collect();
    for place in spec.places() {
        let kind = graph.kind(place).expect("a place of the array");
        let of =
            |feature: u32, register: u32| Address { row: place.row, column: place.column, feature, register }.word();
        addresses.extend(graph.layout(kind).registers().map(|(feature, register)| of(feature.number(), register)));
        if let Some(memory) = spec.memory_of(kind) {
            let feature = Feature::of_memory(kind).number();
            addresses.extend(
                RegisterMap::of(memory).registers.iter().map(|register| of(feature, register.offset / WORD_BYTES)),
            );
        }
    }
    let written = map.registers.iter().filter(|register| register.access == SoftwareAccess::ReadWrite);
    let numbers = written.map(|register| register.offset / WORD_BYTES).collect_vec();
    let banks = 0..spec.global_buffer.as_ref().map_or(0, |buffer| buffer.banks);
    addresses.extend(banks.cartesian_product(numbers).map(|(bank, number)| map.address(bank, number).word()));
    addresses.into_iter().collect()
}

/// The host of RTL and model.
struct Host<'a> {
    spec: &'a ArraySpec,
    map: BankMap,
    model: Buffered,
    rtl: BufferedLockstep,
    random: &'a mut ChaCha8Rng,
    cycles: u64,
}

impl Host<'_> {
    fn clock(&mut self, inputs: BufferedInputs) {
        let inputs = BufferedInputs { stall: true, ..inputs };
        self.rtl.observe(&inputs, self.model.outputs());
        self.model.clock(&inputs);
        self.cycles += 1;
    }

    fn access(&mut self, bank: Option<usize>, meaning: BankMeaning, write: Option<u32>) {
        let register = self.map.field(meaning).0;
        self.clock(BufferedInputs {
            access: Some((bank, BankAccess { register, write })),
            ..BufferedInputs::default()
        });
    }

    /// Writes a bitstream to the banks, has them load it while the host disturbs them, and looks how it ended.
    fn load(&mut self, banked: &BankedBitstream, expected: BitstreamState) -> Result<(), Failure> {
        let rows = self.spec.global_buffer.as_ref().map_or(0, |buffer| buffer.rows());
        let banks = banked.banks.len();
        let (half, first) = (self.random.random_range(0..2), self.random.random_range(0..rows));
        let words = (1 << self.spec.words_per_row()) - 1;
        for BankRow { bank, row, data } in banked.rows() {
            let row = HostAccess { half, row: (first + row) % rows, words, data };
            self.clock(BufferedInputs { host: Some((bank as usize, row)), ..BufferedInputs::default() });
        }
        self.access(None, BankMeaning::BitstreamRow, Some(half as u32 * rows + first));
        let disturbs = self.random.random_bool(0.7);
        let status = BankMeaning::Bitstream { state: BitstreamState::Busy };
        let most = 3 * banked.longest() + 60;
        for _ in 0..most {
            if disturbs && self.model.outputs().configuring {
                let bank = self.random.random::<bool>().then(|| self.random.random_range(0..banks));
                let host = HostAccess { half: 1 - half, row: self.random.random_range(0..rows), words: 0, data: 0 };
                match self.random.random_range(0..12) {
                    0 => self.access(bank, status, None),
                    1 => self.access(bank, BankMeaning::Half, None),
                    2 => self.clock(BufferedInputs { start: true, ..BufferedInputs::default() }),
                    // Flushes are refused now.
                    3 => self.clock(BufferedInputs { flush: true, ..BufferedInputs::default() }),
                    4 => self
                        .clock(BufferedInputs { host: Some((bank.unwrap_or(0), host)), ..BufferedInputs::default() }),
                    5 => {
                        let host = Some((bank.unwrap_or(0), HostAccess { half, ..host }));
                        self.clock(BufferedInputs { host, ..BufferedInputs::default() });
                    }
                    _ => self.clock(BufferedInputs::default()),
                }
            } else {
                self.clock(BufferedInputs::default());
            }
        }
        self.access(None, BankMeaning::Half, None);
        self.access(None, status, None);
        (1..self.spec.answer_latency()).for_each(|_| self.clock(BufferedInputs::default()));
        let found = self.model.outputs().config.and_then(Result::ok).unwrap_or(0);
        let mask = |state: BitstreamState| self.map.field(BankMeaning::Bitstream { state }).1.mask();
        // The other banks have nothing to load, and are done.
        let wanted =
            mask(expected) | if banks > 1 || expected == BitstreamState::Done { mask(BitstreamState::Done) } else { 0 };
        match found == wanted {
            true => Ok(()),
            false => Err(Failure::wrong(format!("the banks end with the status {found:x}, expected {wanted:x}"))),
        }
    }
}
