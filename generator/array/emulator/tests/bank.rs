//! A bank whose DMAs count one time is a memory: a load sees the words that were stored before it in that time, however long either waits.

use std::path::Path;

use pushmem_affine::Affine;
use pushmem_bitstream::BankConfiguration;
use pushmem_configuration::ControllerConfiguration;
use pushmem_emulator::{Bank, BankAccess, BankInputs};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::Document;
use pushmem_resources::{BankMap, BankMeaning};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random pairs of loop nests.
const BANKS: u64 = 600;

/// Words of a half.
const WORDS: i64 = 64;

/// Longest run, in cycles.
const LONGEST_RUN: usize = 20_000;

fn array() -> ArraySpec {
    let buffer = "global_buffer: {banks: 1, bank_bytes: 256, levels: 3, extent_bits: 5, cycle_bits: 8}";
    let text = format!("name: a\nkind: array\ncolumns: 4\nrows: 3\npe: image_pe\n{buffer}\n");
    let folder = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
    ArraySpec::from_document(&Document::parse("array.yaml", text).unwrap(), &folder).unwrap()
}

/// A random loop nest, whose words often follow each other.
fn nest(random: &mut ChaCha8Rng) -> ControllerConfiguration {
    let extent: Vec<u64> = (0..3).map(|_| random.random_range(2..=5)).collect();
    let mut cycle = Affine { start: random.random_range(0..25), stride: Vec::new() };
    let mut next = 1;
    for extent in &extent {
        cycle.stride.push(next + [0, 0, 1, 3].choose(random).unwrap());
        next = cycle.stride.last().unwrap() * *extent as i64;
    }
    let inner = *[1, 1, -1, 2].choose(random).unwrap();
    let stride = vec![inner, inner * extent[0] as i64, random.random_range(-8..=8)];
    let sram = Some(Affine { start: random.random_range(20..40), stride });
    ControllerConfiguration { extent: extent.into(), cycle, sram, ..ControllerConfiguration::default() }
}

/// Cycle and address of each access.
fn accesses(nest: &ControllerConfiguration) -> Vec<(i64, i64)> {
    let addresses = nest.extent.values(nest.sram.as_ref().unwrap()).map(|address| address.rem_euclid(WORDS));
    nest.extent.values(&nest.cycle).zip(addresses).collect()
}

/// The words that are loaded, and those that are in the bank in the end, if each store stores its number, counted from 1.
fn expected(load: &ControllerConfiguration, store: &ControllerConfiguration) -> (Vec<u32>, Vec<u32>) {
    let mut words = vec![0; WORDS as usize];
    let mut stores = (1..).zip(accesses(store)).peekable();
    let mut loaded = Vec::new();
    for (cycle, address) in accesses(load) {
        while let Some((number, (_, address))) = stores.next_if(|(_, (stored, _))| *stored < cycle) {
            words[address as usize] = number;
        }
        loaded.push(words[address as usize]);
    }
    stores.for_each(|(number, (_, address))| words[address as usize] = number);
    (loaded, words)
}

#[test]
fn a_bank_of_one_time_is_a_memory() {
    let spec = array();
    let map = BankMap::of(&spec).unwrap();
    let mut passing = 0;
    for seed in 0..BANKS {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (load, store) = (nest(random), nest(random));
        let (loads, words) = expected(&load, &store);
        let configured = BankConfiguration { load: Some(load), store: Some(store), common_time: true };
        let mut bank = Bank::new(&spec, 0).unwrap();
        let write = |register: u32, word: u32| {
            let access = Some(BankAccess { register, write: Some(word) });
            BankInputs { access, ..BankInputs::default() }
        };
        for (register, word) in configured.registers(&spec, &map).unwrap() {
            bank.clock(&write(register, word));
        }
        bank.clock(&write(map.field(BankMeaning::HandOver { half: 0 }).0, 1));
        bank.clock(&BankInputs { flush: true, ..BankInputs::default() });
        let [ready, valid] = [(); 2].map(|()| *[1.0, 0.9, 0.5, 0.2].choose(random).unwrap());
        let (mut loaded, mut stored, mut is_offered) = (Vec::new(), 0, false);
        for _ in 0..LONGEST_RUN {
            if !bank.is_busy() {
                break;
            }
            is_offered |= random.random_bool(valid);
            let inputs = BankInputs {
                load_ready: random.random_bool(ready),
                store: is_offered.then_some(stored + 1),
                ..BankInputs::default()
            };
            let outputs = bank.outputs(&inputs);
            loaded.extend(outputs.load.filter(|_| inputs.load_ready));
            if is_offered && outputs.store_ready {
                (stored, is_offered) = (stored + 1, false);
            }
            bank.clock(&inputs);
        }
        assert!(!bank.is_busy(), "seed {seed}");
        assert_eq!(loaded, loads, "seed {seed}");
        assert_eq!(bank.half(0), words, "seed {seed}");
        passing += u64::from(loads.iter().any(|word| *word != 0));
    }
    // Most of them load what they stored.
    assert!(passing > BANKS / 2, "{passing}");
}
