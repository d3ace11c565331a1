//! Arrays of programs in banks of the global buffer: the store DMA takes the words that a run writes, and the load DMA gives them back in the same run.

use pushmem_bitstream::{BankConfiguration, Configuration};
use pushmem_compiler::Compiled;
use pushmem_emulator::{BankAccess, Buffered, BufferedInputs, Emulator, HostAccess};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Code, Document};
use pushmem_mapper::{ArrayTarget, Edited, ImageRows, Mapped, Occupant, Report, compile_side_by_side};
use pushmem_nest::{Level, Program};
use pushmem_netlist::Netlist;
use pushmem_programs::random_network;
use pushmem_resources::{BankMap, BankMeaning};
use pushmem_routing::Options;
use pushmem_testing::Part;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, assert_compute_through_banks, beside, built, mapped};

/// Runs of a program one after the other, each in the next half.
const RUNS: usize = 4;

/// Random networks.
const NETWORKS: u64 = 32;

/// Longest run, in cycles.
const LONGEST_RUN: usize = 100_000;

/// An image that is kept and read backwards.
const TURNED: &str = "
  - for y in 0..12:
    - for x in 0..16:
      - kept[x, y] = input[x, y] * 3
  - for y in 0..12:
    - for x in 0..16:
      - output[x, y] = kept[x, 11 - y] + 1
";

/// Tiles one after the other in the same words.
const TILES: &str = "
  - for t in 0..4:
    - for y in 0..3:
      - for x in 0..16:
        - kept[x, y] = input[x, 3*t+y] * 3
    - for y in 0..3:
      - for x in 0..16:
        - output[x, 3*t+y] = kept[15 - x, 2 - y] + 1
";

/// An image that two loads read at once: each has a bank.
const READ_TWICE: &str = "
  - for y in 0..12:
    - for x in 0..16:
      - kept[x, y] = input[x, y] * 3
  - for y in 0..12:
    - for x in 0..16:
      - output[x, y] = kept[15 - x, 11 - y] + kept[x, 11 - y]
";

/// Two lanes, each with its bank.
const LANES: &str = "
  - for y in 0..12:
    - for x in 0..16 unroll 2:
      - kept[x, y] = input[x, y] * 3
  - for y in 0..12:
    - for x in 0..16 unroll 2:
      - output[x, y] = kept[x, 11 - y] + 1
";

/// Sums that are updated in a memory, which takes two writers.
const SUMS: &str = "
  - for x in 0..16:
    - kept[x, 0] = 7
  - for y in 0..12:
    - for x in 0..16:
      - kept[x, 0] += input[x, y]
  - for y in 0..12:
    - for x in 0..16:
      - output[x, y] = kept[15 - x, 0]
";

/// Each sum follows from the one before.
const DECAYING: &str = "
  - for x in 0..16:
    - kept[x, 0] = 7
  - for y in 0..12:
    - for x in 0..16:
      - kept[x, 0] = kept[x, 0] / 2 + input[x, y]
  - for y in 0..12:
    - for x in 0..16:
      - output[x, y] = kept[15 - x, 0]
";

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

fn keeping(nest: &str) -> Program {
    let shape = "{type: i16, shape: [16, 12]";
    program(&format!(
        "name: keeping\nschedule: dnn\ninputs: {{input: {shape}}}}}\noutputs: {{output: {shape}}}}}\n\
         buffers: {{kept: {shape}, level: global_buffer}}}}\nnest:{nest}"
    ))
}

/// The shipped array with a bank for each column, and more or fewer of them.
fn small(columns: u32, buffer: &str) -> ArrayTarget {
    let text = format!(
        "name: small_buffered\nkind: array\ncolumns: {columns}\nrows: 4\npe: image_pe\nmemory: {{tile: small_rom, every: 4}}\nglobal_buffer: {buffer}\n"
    );
    let folder = Folder(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
    ArrayTarget::new(ArraySpec::from_document(&Document::parse("small.yaml", text).unwrap(), &folder).unwrap())
}

fn kept_in_banks(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) -> Vec<String> {
    let banks = Report::of(compiled, mapped, target).arrays_in_banks;
    banks.into_iter().map(|bank| bank.array).collect()
}

/// A host that hands halves over in any order at any time, and stalls the array; it fills and reads them as it likes.
struct Host<'a> {
    model: Buffered,
    configuration: &'a Configuration,
    hand_over: u32,
    random: ChaCha8Rng,
}

impl<'a> Host<'a> {
    fn new(mapped: &'a Mapped, target: &ArrayTarget) -> Self {
        let mut model = Buffered::new(Emulator::new(&target.spec, target.graph.clone())).unwrap();
        model.load(&mapped.configuration);
        Host {
            model,
            configuration: &mapped.configuration,
            hand_over: BankMap::of(&target.spec).unwrap().field(BankMeaning::HandOver { half: 0 }).0,
            random: ChaCha8Rng::seed_from_u64(9),
        }
    }

    /// Runs the program with images, and compares the words that it stores with those of the interpreter: the cycles that it takes.
    fn run(&mut self, number: usize, occupant: &Occupant, spec: &ArraySpec) -> usize {
        let half = number % 2;
        let expected = occupant.compiled.source.run(occupant.images).unwrap();
        let ImageRows { loaded, stored } = ImageRows::of(occupant, &expected, spec);
        let words = |row: &HostAccess| {
            let first = (row.row * spec.words_per_row()) as usize;
            let places = (0..spec.words_per_row()).filter(|place| row.words >> place & 1 != 0);
            let data = row.data;
            places
                .map(move |place| (first + place as usize, (data >> (16 * place)) as u32 & 0xffff))
                .collect::<Vec<_>>()
        };
        for (bank, row) in &loaded {
            words(row).into_iter().for_each(|(word, value)| self.model.bank_mut(*bank).half_mut(half)[word] = value);
        }
        let latest = if number == 0 { 1 } else { 400 };
        let mut late: Vec<(usize, u32)> =
            self.configuration.banks.keys().map(|bank| (self.random.random_range(0..latest), *bank)).collect();
        late.shuffle(&mut self.random);
        let stalls = [0.0, 0.0, 0.3, 0.8][number % 4];
        self.model.clock(&BufferedInputs { flush: true, ..BufferedInputs::default() });
        for cycle in 0..LONGEST_RUN {
            let due = late.iter().position(|(at, _)| *at <= cycle).map(|place| late.swap_remove(place).1);
            let access = BankAccess { register: self.hand_over, write: Some(1 << half) };
            self.model.clock(&BufferedInputs {
                access: due.map(|bank| (Some(bank as usize), access)),
                stall: self.random.random_bool(stalls),
                ..BufferedInputs::default()
            });
            if cycle > 2 && late.is_empty() && !self.model.outputs().busy.contains(&true) {
                for (bank, row) in &stored {
                    for (word, value) in words(row) {
                        let found = self.model.bank(*bank).half(half)[word];
                        assert_eq!(found, value, "word {word} of bank {bank}, run {number}");
                    }
                }
                return cycle;
            }
        }
        panic!("run {number} does not end");
    }
}

fn assert_computes(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) {
    let mut host = Host::new(mapped, target);
    for number in 0..RUNS {
        let images = &compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(number as u64));
        let cycles = host.run(number, &Occupant { compiled, mapped, images }, &target.spec);
        // A row that is stored takes a cycle of the bank, and so may each word that is loaded.
        let length = compiled.graph.length as usize;
        assert!(number > 0 || cycles < length + length / 2 + 100, "{cycles} cycles, of {length}");
    }
}

#[test]
fn arrays_are_kept_in_banks() {
    let amber = ArrayTarget::new(array("amber_buffered"));
    let small = ArrayTarget::new(array("small_buffered"));
    for (nest, banks) in [(TURNED, 1), (TILES, 1), (READ_TWICE, 2), (LANES, 2), (SUMS, 2)] {
        for target in [&amber, &small] {
            let (compiled, mapped) = mapped(&keeping(nest), target).unwrap_or_else(|error| panic!("{nest}: {error}"));
            assert_eq!(kept_in_banks(&compiled, &mapped, target), vec!["kept"; banks], "{nest}");
            assert_eq!(mapped.configuration.banks.values().filter(|bank| bank.common_time).count(), banks);
            assert!(compiled.warnings().is_empty());
            assert_computes(&compiled, &mapped, target);
        }
    }
}

/// Each program has its arrays in the banks above its columns.
#[test]
fn programs_side_by_side_keep_arrays_in_their_banks() {
    let target = ArrayTarget::new(array("amber_buffered"));
    let other = Program { name: "other".to_owned(), ..keeping(READ_TWICE) };
    let programs = [keeping(TURNED), app("gaussian"), other];
    let constraints = Default::default();
    let together =
        compile_side_by_side(&programs, &target, &beside(), &constraints, Options::default(), &|_| ()).unwrap();
    assert_eq!(together.configuration.banks.values().filter(|bank| bank.common_time).count(), 3);
    assert_compute_through_banks(&together, &target);
}

/// The banks of the images are all that there are, a bank is too small, or the array is one that a bank cannot be.
#[test]
fn arrays_that_banks_cannot_keep_are_in_memory_tiles() {
    for (columns, buffer, nest, reason) in [
        (4, "{banks: 2, bank_bytes: 32768}", READ_TWICE, "needs 3 banks of the global buffer for inputs"),
        (4, "{banks: 4, bank_bytes: 32768}", DECAYING, "`small_buffered_bank` tiles have 1"),
    ] {
        let target = small(columns, buffer);
        let (compiled, mapped) = mapped(&keeping(nest), &target).unwrap_or_else(|error| panic!("{nest}: {error}"));
        assert!(kept_in_banks(&compiled, &mapped, &target).is_empty());
        let [warning] = compiled.warnings().try_into().unwrap();
        let text = warning.to_string();
        assert!(text.starts_with("`kept` is kept in memory tiles: with it in the global buffer, "), "{text}");
        assert!(text.contains(reason), "{text}");
        assert_computes(&compiled, &mapped, &target);
    }
}

/// Matrices lie in banks: the order of tiles is that of the load DMA, and no copy of them is in memory tiles.
#[test]
fn images_in_banks_need_no_copy() {
    let target = ArrayTarget::new(array("amber_buffered"));
    let (compiled, mapped) = mapped(&app("resnet_tiled_small"), &target).unwrap();
    let name = |array: usize| compiled.program.arrays[array].name.as_str();
    let kept: Vec<&str> = compiled.graph.arrays.iter().map(|node| name(node.array)).collect();
    assert!(!kept.is_empty() && !kept.iter().any(|name| name.contains("global_buffer")), "{kept:?}");
    assert!(compiled.warnings().is_empty());
    assert_computes(&compiled, &mapped, &target);
}

/// Random networks with arrays and images in the global buffer compute there what the interpreter computes.
#[test]
fn random_networks_keep_arrays_in_banks() {
    let target = ArrayTarget::new(array("amber_buffered"));
    let (mut kept, mut computed) = (0, 0);
    let part = Part::chosen();
    for seed in part.of(0..NETWORKS) {
        let mut network = program(&random_network(seed));
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        for array in &mut network.arrays {
            array.level = random.random_bool(0.6).then_some(Level::GlobalBuffer);
        }
        let (compiled, mapped) = match mapped(&network, &target) {
            Ok(found) => found,
            Err(error) => {
                assert_ne!(error.code(), Some(Code::Fault), "{seed}: {error}");
                continue;
            }
        };
        computed += 1;
        kept += usize::from(!kept_in_banks(&compiled, &mapped, &target).is_empty());
        assert_computes(&compiled, &mapped, &target);
    }
    println!("{computed} of {NETWORKS} fit, {kept} of them have arrays in banks");
    assert!(!part.is_all() || kept >= NETWORKS as usize / 4, "only {kept} of {computed} have arrays in banks");
}

/// The netlist says which streams are those of a bank, and reads back.
#[test]
fn netlists_have_banks() {
    let target = ArrayTarget::new(array("small_buffered"));
    let (_, mapped) = mapped(&keeping(TURNED), &target).unwrap();
    let text = mapped.lowered.netlist.to_yaml(&target.spec);
    assert!(text.contains("stream: input, bank: kept_memory"), "{text}");
    let read = |text: String| Netlist::from_document(&Document::parse("netlist.yaml", text).unwrap(), &target.spec);
    assert_eq!(read(text.clone()).unwrap(), mapped.lowered.netlist);
    let error = read(text.replacen("stream: input, bank: kept_memory", "stream: input", 1)).unwrap_err();
    assert!(error.to_string().contains("the bank `kept_memory` has 1 cells"), "{error}");
    // The streams of a bank are at its columns.
    let placement = mapped.implementation.placement.to_yaml(&mapped.lowered.netlist, &target.spec);
    let line = |text: &str, cell: &str| {
        text.lines().find(|line| line.trim().starts_with(&format!("{cell}: "))).unwrap().trim().to_owned()
    };
    let (load, input) = (line(&placement, "kept_memory_load"), line(&placement, "input"));
    let tile = |line: &str| line.rsplit_once(": ").unwrap().1.to_owned();
    let moved = placement
        .replace(&load, &format!("kept_memory_load: {}", tile(&input)))
        .replace(&input, &format!("input: {}", tile(&load)));
    let edited = Edited { placement: Some(Document::parse("placement.yaml", moved).unwrap()), ..Edited::default() };
    let error = built(&keeping(TURNED), &target, &edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("is stored in another bank than it is loaded from"), "{error}");
}

/// A fault in the plan of a bank is found by the proof.
#[test]
fn wrong_banks_of_arrays_are_refused() {
    let target = ArrayTarget::new(array("small_buffered"));
    let (_, mapped) = mapped(&keeping(TURNED), &target).unwrap();
    let placement = mapped.implementation.placement.to_yaml(&mapped.lowered.netlist, &target.spec);
    let number = *mapped.configuration.banks.iter().find(|(_, bank)| bank.common_time).unwrap().0;
    type Fault = fn(&mut BankConfiguration);
    let faults: [(Fault, &str); 9] = [
        (|bank| bank.common_time = false, "do not count one time"),
        (|bank| bank.load = None, "does not load it"),
        (|bank| bank.store = None, "does not store it"),
        // A row before it is stored, or so late that array and bank wait for each other.
        (|bank| bank.load.as_mut().unwrap().cycle.start -= 8, "cycles for a word, of 6 to 9"),
        (|bank| bank.load.as_mut().unwrap().cycle.start += 8, "cycles for a word, of 6 to 9"),
        (|bank| bank.load.as_mut().unwrap().cycle.stride[1] += 1, "has another schedule than the array"),
        (|bank| bank.store.as_mut().unwrap().extent = vec![191].into(), "has another schedule than the array"),
        (|bank| bank.load.as_mut().unwrap().sram.as_mut().unwrap().start += 1, "is not computed from the elements"),
        (|bank| bank.store.as_mut().unwrap().sram.as_mut().unwrap().stride[0] = 2, "is not computed from the elements"),
    ];
    for (fault, message) in faults {
        let mut configuration = mapped.configuration.clone();
        fault(configuration.banks.get_mut(&number).unwrap());
        let edited = Edited {
            placement: Some(Document::parse("placement.yaml", placement.clone()).unwrap()),
            configuration: Some(configuration),
            ..Edited::default()
        };
        let error = built(&keeping(TURNED), &target, &edited).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{message}: {error}");
    }
    // The bank of an image is none of an array.
    let mut configuration = mapped.configuration.clone();
    configuration.banks.values_mut().find(|bank| !bank.common_time).unwrap().common_time = true;
    let placement = Some(Document::parse("placement.yaml", placement).unwrap());
    let edited = Edited { placement, configuration: Some(configuration), ..Edited::default() };
    let error = built(&keeping(TURNED), &target, &edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("counts the time of a memory"), "{error}");
}
