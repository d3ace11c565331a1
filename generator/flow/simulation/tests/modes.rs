//! Streams of tiles in their modes, in the model.

use pushmem_configuration::Configuration;
use pushmem_files::Document;
use pushmem_registers::RegisterMap;
use pushmem_simulation::{Event, StreamOptions, StreamRun, WRITES, run_streams};
use pushmem_tile::TileSpec;

/// The words on output 0, and the run.
fn run(spec: &str, mode: &str, inputs: &[Vec<u64>], options: &StreamOptions) -> (Vec<u64>, StreamRun) {
    let document = |text: &str| Document::parse("test.yaml", text.to_owned()).unwrap();
    let spec = TileSpec::from_document(&document(spec)).unwrap();
    let configuration =
        Configuration::from_document(&document(&format!("{{tile: {}, mode: {mode}}}", spec.name)), &spec).unwrap();
    let inputs: Vec<Option<Vec<u64>>> = inputs.iter().map(|words| Some(words.clone())).collect();
    let mut shown = Vec::new();
    let mut note = |_, event| {
        if let Event::Shown { output: 0, word } = event {
            shown.push(word);
        }
    };
    let map = RegisterMap::of(&spec);
    let found = run_streams(&spec, &map, &configuration, &inputs, None, options, &mut note).unwrap();
    (shown, found)
}

/// All 64 bits of a word go through, and nothing that another tile shows.
#[test]
fn a_fifo_keeps_all_bits() {
    let spec = "{name: t, kind: wide_fetch, rows: 4, word_bits: 64, fifo_mode: true, output_chaining: true}";
    let words: Vec<u64> = (0..100).map(|number| u64::MAX - number).collect();
    for options in [
        StreamOptions::default(),
        StreamOptions { pause_seed: Some(2), stall_seed: Some(3), ..StreamOptions::default() },
    ] {
        let (shown, run) = run(spec, "fifo", std::slice::from_ref(&words), &options);
        assert_eq!(shown, words);
        assert_eq!((run.words_taken[0], run.violations.len()), (100, 0));
    }
}

/// Accesses come in their order, and words of other tiles are no words that were read.
#[test]
fn a_ram_answers_each_read() {
    let spec = "{name: t, kind: wide_fetch, rows: 4, ram_mode: true, output_chaining: true}";
    let addresses = vec![3 | WRITES, 9 | WRITES, 3, 9, 3 | WRITES, 3];
    for pause_seed in [None, Some(2)] {
        let options = StreamOptions { pause_seed, ..StreamOptions::default() };
        let (shown, run) = run(spec, "ram", &[addresses.clone(), vec![70, 71, 72]], &options);
        assert_eq!(shown, [70, 71, 72]);
        assert_eq!((&run.words_taken[..2], run.violations.len()), (&[6, 3][..], 0));
    }
    // A word that was never written is no word.
    let (_, run) = run(spec, "ram", &[vec![5], Vec::new()], &StreamOptions::default());
    assert_eq!(run.violations[0].to_string(), "cycle 0: data_in_0 reads word 5, which was never written");
}
