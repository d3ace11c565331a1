//! Programs on arrays with a global buffer: from images in banks to images in banks.

use std::collections::BTreeMap;

use pushmem_bitstream::{BankConfiguration, BankedBitstream, Configuration};
use pushmem_compiler::Compiled;
use pushmem_emulator::{BankAccess, Buffered, BufferedInputs, Emulator};
use pushmem_fabric::{ArraySpec, Direction, Folder};
use pushmem_files::{Diagnostic, Document};
use pushmem_images::Image;
use pushmem_mapper::{
    ArrayTarget, Edited, Loading, Mapped, Occupant, bank_images, compile_side_by_side, execute_buffered,
};
use pushmem_nest::Program;
use pushmem_resources::{BankMap, BankMeaning};
use pushmem_routing::Options;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, assert_compute_through_banks, beside, built, mapped};

/// The array `small` with this global buffer.
fn small(global_buffer: &str) -> ArrayTarget {
    let text = array("small").to_yaml() + &format!("global_buffer: {global_buffer}\n");
    let constraints = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints");
    let document = Document::parse("array.yaml", text).unwrap();
    ArrayTarget::new(
        ArraySpec::from_document(&document, &Folder(constraints)).unwrap_or_else(|error| panic!("{error}")),
    )
}

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// An image read from its last element to its first, in both dimensions.
fn turned() -> Program {
    program(
        "name: turned\nschedule: dnn\ninputs: {input: {type: u8, shape: [12, 6]}}\noutputs: {output: {type: u8, shape: [6, 12]}}\n\
         nest:\n  - for y in 0..6:\n    - for x in 0..12:\n      - output[y, x] = input[11 - x, 5 - y] / 2\n",
    )
}

fn run(
    compiled: &Compiled,
    mapped: &Mapped,
    target: &ArrayTarget,
    images: &BTreeMap<String, Image>,
) -> BTreeMap<String, Image> {
    let occupant = Occupant { compiled, mapped, images };
    let execute =
        |loading| execute_buffered(&[occupant], &mapped.configuration, target, loading, &mut |_, _| ()).unwrap();
    let (mut of_port, mut of_banks) = (execute(Loading::Port), execute(Loading::Banks));
    let loading = of_banks.loading.unwrap();
    let banked = BankedBitstream::of(&mapped.bitstream, &target.spec).unwrap();
    assert_eq!((loading.words, loading.rows), (mapped.bitstream.writes.len(), banked.rows().count()));
    // The writes that come first and the one that begins, the header and the first row, and the answer of the last one.
    let beside = banked.first.len() as u64 + u64::from(5 + target.spec.answer_latency());
    assert!(loading.cycles <= banked.longest() as u64 + beside, "{loading:?} {}", banked.longest());
    let (of_port, of_banks) = (of_port.executions.remove(0), of_banks.executions.remove(0));
    assert_eq!(of_banks.cycles, of_port.cycles);
    assert_eq!(of_banks.outputs, of_port.outputs);
    of_port.outputs
}

/// One stream and many, words that follow each other and others, signed and unsigned: what leaves the banks is what the interpreter computes.
#[test]
fn images_go_from_banks_to_banks() {
    let amber = ArrayTarget::new(array("amber_buffered"));
    let small_buffered = ArrayTarget::new(array("small_buffered"));
    let one_bank = small("{banks: 1, bank_bytes: 32768}");
    let of_amber = ["harris", "mobilenet", "up_sample", "camera_pipeline", "prefix_sum", "bc_mirror"];
    let of_small = ["gaussian", "conv_1_2", "pointwise", "brighten_blur"];
    let apps = of_amber.map(|name| (&amber, app(name))).into_iter();
    let apps = apps.chain(of_small.map(|name| (&small_buffered, app(name))));
    for (target, program) in apps.chain([(&small_buffered, turned()), (&one_bank, turned())]) {
        let (compiled, mapped) = mapped(&program, target).unwrap_or_else(|error| panic!("{}: {error}", program.name));
        let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
        let expected = compiled.source.run(&images).unwrap();
        assert_eq!(run(&compiled, &mapped, target, &images), expected, "{}", program.name);
        let streams = bank_images(&compiled, &mapped, &target.spec);
        assert!(streams.iter().any(|image| image.transfer == "load"), "{}", program.name);
        assert!(streams.iter().any(|image| image.transfer == "store"), "{}", program.name);
    }
}

/// Words that are read backwards have strides below 0; a bank that loads and stores has both images in its halves.
#[test]
fn plans_follow_the_order_of_streams() {
    let target = small("{banks: 1, bank_bytes: 32768}");
    let (compiled, mapped) = mapped(&turned(), &target).unwrap();
    let BankConfiguration { load, store, .. } = &mapped.configuration.banks[&0];
    let (load, store) = (load.as_ref().unwrap(), store.as_ref().unwrap());
    let (load_address, store_address) = (load.sram.as_ref().unwrap(), store.sram.as_ref().unwrap());
    let mut all: Vec<i64> = load.extent.values(load_address).collect();
    all.sort_unstable();
    assert_eq!(all, Vec::from_iter(0..72));
    let mut all: Vec<i64> = store.extent.values(store_address).collect();
    all.sort_unstable();
    assert_eq!(all, Vec::from_iter(72..144));
    let strides = load_address.stride.iter().chain(&store_address.stride);
    assert!(strides.clone().any(|stride| *stride < 0), "{load_address:?} {store_address:?}");
    let images = bank_images(&compiled, &mapped, &target.spec);
    assert_eq!(images.iter().map(|image| (image.first_word, image.words)).collect::<Vec<_>>(), [(0, 72), (72, 72)]);
}

/// While the host has the half of a run, the array stands still; what it computes then is the same.
#[test]
fn a_late_half_stalls_the_array() {
    let target = ArrayTarget::new(array("small_buffered"));
    let (compiled, mapped) = mapped(&app("gaussian"), &target).unwrap();
    let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(5));
    let of_banks = bank_images(&compiled, &mapped, &target.spec);
    let [load, store] = of_banks.as_slice() else { panic!("{of_banks:?}") };
    let mut model = Buffered::new(Emulator::new(&target.spec, target.graph.clone())).unwrap();
    model.load(&mapped.configuration);
    let hand_over = BankMap::of(&target.spec).unwrap().field(BankMeaning::HandOver { half: 0 }).0;
    let hands_over = |bank: u32| {
        let access = Some((Some(bank as usize), BankAccess { register: hand_over, write: Some(1) }));
        BufferedInputs { access, ..BufferedInputs::default() }
    };
    model.clock(&hands_over(store.bank));
    model.clock(&BufferedInputs { flush: true, ..BufferedInputs::default() });
    (0..500).for_each(|_| model.clock(&BufferedInputs::default()));
    assert!(model.array().is_stalled() && model.outputs().busy[load.bank as usize]);
    // The next tile of data arrives.
    let words = images["input"].values().iter().map(|value| value as u32);
    for (word, value) in model.bank_mut(load.bank).half_mut(0).iter_mut().zip(words) {
        *word = value;
    }
    model.clock(&hands_over(load.bank));
    let mut cycles = 0;
    while model.outputs().busy.contains(&true) {
        model.clock(&BufferedInputs::default());
        cycles += 1;
    }
    assert!(cycles < 4200, "{cycles}");
    let found: Vec<i64> =
        model.bank(store.bank).half(0)[..store.words as usize].iter().map(|word| i64::from(*word)).collect();
    assert_eq!(found, compiled.source.run(&images).unwrap()["output"].values().to_vec());
    assert!(!model.bank(load.bank).is_granted(0) && !model.bank(store.bank).is_granted(0));
}

#[test]
fn programs_side_by_side_have_banks_of_their_own() {
    let target = ArrayTarget::new(array("amber_buffered"));
    let programs = ["gaussian", "rom", "harris"].map(app);
    let together =
        compile_side_by_side(&programs, &target, &beside(), &Default::default(), Options::default(), &|_| ()).unwrap();
    assert_compute_through_banks(&together, &target);
}

/// The refusal of a program whose configuration has a fault.
fn refusal(target: &ArrayTarget, mapped: &Mapped, fault: impl FnOnce(&mut Configuration)) -> Diagnostic {
    let placement = mapped.implementation.placement.to_yaml(&mapped.lowered.netlist, &target.spec);
    let mut configuration = mapped.configuration.clone();
    fault(&mut configuration);
    assert_ne!(configuration, mapped.configuration);
    let edited = Edited {
        placement: Some(Document::parse("placement.yaml", placement).unwrap()),
        configuration: Some(configuration),
        ..Edited::default()
    };
    built(&turned(), target, &edited).map(|_| ()).unwrap_err()
}

/// A fault in the plan of a bank is found by the proof.
#[test]
fn wrong_banks_are_refused() {
    let target = small("{banks: 1, bank_bytes: 1024}");
    let (_, mapped) = mapped(&turned(), &target).unwrap();
    type Fault = fn(&mut BankConfiguration);
    let faults: [(Fault, &str); 8] = [
        (|bank| bank.load.as_mut().unwrap().sram.as_mut().unwrap().stride[0] += 1, "is another element"),
        (|bank| bank.store.as_mut().unwrap().sram.as_mut().unwrap().stride[0] -= 1, "is another element"),
        (|bank| bank.store.as_mut().unwrap().sram.as_mut().unwrap().start -= 4, "overlaps another one in bank 0"),
        (|bank| bank.load.as_mut().unwrap().sram.as_mut().unwrap().start -= 4, "another element"),
        (|bank| bank.store.as_mut().unwrap().sram.as_mut().unwrap().start += 200, "overlaps another one"),
        (|bank| bank.load = None, "no bank loads it"),
        (|bank| bank.store = None, "no bank stores it"),
        (|bank| std::mem::swap(&mut bank.load, &mut bank.store), "element"),
    ];
    for (fault, message) in faults {
        let error = refusal(&target, &mapped, |configuration| fault(configuration.banks.get_mut(&0).unwrap()));
        assert!(error.to_string().contains(message), "{message}: {error}");
    }
    let target = ArrayTarget::new(array("small_buffered"));
    let (_, mapped) = self::mapped(&turned(), &target).unwrap();
    let idle = (0..4).find(|bank| !mapped.configuration.banks.contains_key(bank)).unwrap();
    let error = refusal(&target, &mapped, |configuration| {
        let other = configuration.banks.values().find(|bank| bank.load.is_some()).unwrap().clone();
        configuration.banks.insert(idle, BankConfiguration { store: None, ..other });
    });
    assert!(error.to_string().contains("and the program has no stream there"), "{error}");
}

/// The refusal of an image that does not fit names the image, the numbers and the limit.
#[test]
fn what_banks_cannot_hold_is_refused() {
    for (buffer, message) in [
        ("{banks: 4, bank_bytes: 4096}", "`input` has 4096 elements; a half of bank"),
        ("{banks: 1, bank_bytes: 16384}", "of which another image has 4096"),
        ("{banks: 4, bank_bytes: 32768, extent_bits: 3, levels: 3}", "the stream of `input` does not fit a bank"),
    ] {
        let error = mapped(&app("gaussian"), &small(buffer)).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{buffer}: {error}");
        assert!(error.location().is_some() && error.help().is_some(), "{buffer}");
    }
    let two = "name: two\ninputs: {a: {type: u8, shape: [8]}, b: {type: u8, shape: [8]}}\noutputs: {output: {type: u8, shape: [8]}}\n\
               nest:\n  - for x in 0..8:\n    - output[x] = a[x] + b[x]\n";
    let error = mapped(&program(two), &small("{banks: 1}")).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("needs 2 banks of the global buffer for inputs"), "{error}");
}

/// A stream has its tile where a bank reaches it.
#[test]
fn placements_keep_to_banks() {
    let target = small("{banks: 2, bank_bytes: 32768}");
    let (_, mapped) = mapped(&app("gaussian"), &target).unwrap();
    for lane in mapped.site().streams() {
        assert!(target.spec.has_stream(lane.0.column, lane.1), "{lane:?}");
    }
    let text = mapped.implementation.placement.to_yaml(&mapped.lowered.netlist, &target.spec);
    let (place, direction) = mapped.site().streams()[0];
    assert_eq!(direction, Direction::In);
    let line = format!(": io_{}_0", place.column);
    let moved = text.replacen(&line, &format!(": io_{}_0", place.column + 1), 1);
    let edited = Edited { placement: Some(Document::parse("placement.yaml", moved).unwrap()), ..Edited::default() };
    let error = built(&app("gaussian"), &target, &edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("can load the stream of"), "{error}");
    assert_eq!(error.help(), Some("banks load the streams of io_0_0, io_2_0"));
}
