//! Bitstreams on the model of an array.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_emulator::{Beat, Emulator, Inputs, RunError, RunStreams, StreamOutputs, Trace};
use pushmem_fabric::ArraySpec;
use pushmem_files::{Code, Diagnostic, StreamFile, read_words, write_all_through};
use pushmem_lockstep::{Agreement, Lockstep};
use pushmem_resources::Graph;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{Output, Simulate};
use crate::application::{array_rtl, arrays};
use crate::kinds::{self, FileKind};
use crate::output;
use crate::progress::Spinner;

/// Clock cycles after which a run gives up, if none are asked for.
const MOST_CYCLES: u64 = 1 << 28;

/// How often the host, a source or a sink waits, with a seed.
const WAITS: f64 = 0.25;

/// Random words of streams without a file are the same in each run.
const WORDS_SEED: u64 = 1;

#[derive(Serialize)]
struct JsonReport<'a> {
    array: &'a str,
    cycles: u64,
    stalled: u64,
    beats_taken: BTreeMap<u32, u64>,
    beats_shown: BTreeMap<u32, u64>,
    rtl: Option<Agreement>,
}

impl Simulate {
    /// Runs a bitstream on an array.
    pub(super) fn array(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        if self.wave.is_some() {
            let message = format!("`{}` is an array: there are no waves of its RTL", spec.name);
            return Err(Diagnostic::new(message).with_help("leave out --wave; --rtl compares the RTL with the model"));
        }
        let mut emulator = Emulator::new(spec, Graph::of(spec));
        let configuration = arrays::configuration(&self.configuration, spec, emulator.graph())?;
        let streams = RunStreams::of(&emulator, &configuration);
        let inputs = self.beats(spec, &streams)?;
        self.check_columns(&streams)?;
        let mut random = self.stall_seed.map(ChaCha8Rng::seed_from_u64);
        let waits = || random.as_mut().is_some_and(|random| random.random_bool(WAITS));
        let limit = self.cycles.unwrap_or(MOST_CYCLES);
        let rtl = array_rtl::choice(self.configured);
        let lockstep = self.rtl.then(|| array_rtl::start(&emulator, &configuration, rtl, &Spinner::new()));
        let mut lockstep = lockstep.transpose()?;
        let mut observe = |inputs: &Inputs, outputs: &[StreamOutputs]| {
            lockstep.iter_mut().for_each(|lockstep| lockstep.observe(inputs, outputs));
        };
        let run = emulator.run(&configuration, &inputs, limit, waits, &mut observe);
        // A difference may be why a run does not end.
        let compared = lockstep.map(Lockstep::finish).transpose()?;
        let run = run.map_err(|error| self.unfinished(&error))?;
        self.write_beats(spec, &run)?;
        let report = JsonReport {
            array: &spec.name,
            cycles: run.cycles,
            stalled: run.stalled,
            beats_taken: streams.inputs.iter().map(|(column, beats)| (*column, *beats as u64)).collect(),
            beats_shown: run.outputs.iter().map(|(column, beats)| (*column, beats.len() as u64)).collect(),
            rtl: compared,
        };
        let counts = |beats: &BTreeMap<u32, u64>| {
            let columns = beats.iter().map(|(column, beats)| format!("{beats} on column {column}")).join(", ");
            if columns.is_empty() { "none".to_owned() } else { columns }
        };
        output::result(self.json, &report, || {
            let (taken, shown) = (counts(&report.beats_taken), counts(&report.beats_shown));
            let Trace { cycles, stalled, .. } = run;
            let mut text = format!(
                "{}: {cycles} cycles, {stalled} of them stalled; beats taken: {taken}; beats shown: {shown}\n",
                spec.name
            );
            if self.rtl {
                writeln!(text, "RTL: {}", array_rtl::in_words(rtl)).expect("writing to a string cannot fail");
            }
            text
        })
    }

    /// The beats of each stream into the array, with their bits 0.
    fn beats(&self, spec: &ArraySpec, streams: &RunStreams) -> Result<BTreeMap<u32, Vec<Beat>>, Diagnostic> {
        let mut random = ChaCha8Rng::seed_from_u64(WORDS_SEED);
        let mask = u32::MAX >> (u32::BITS - spec.word_bits());
        let mut beats = BTreeMap::new();
        for (column, path) in &self.inputs {
            let Some(column) = u32::try_from(*column).ok().filter(|column| streams.inputs.contains_key(column)) else {
                return Err(no_stream("into", *column, &streams.inputs));
            };
            kinds::expect(path, &[FileKind::Words])?;
            let words = read_words(path, spec.word_bits())?;
            let of_file = words.into_iter().map(|word| Beat { data: word as u32, bit: false }).collect();
            if beats.insert(column, of_file).is_some() {
                let message = format!("the stream into column {column} has two files");
                return Err(Diagnostic::new(message).with_help("give one for each stream"));
            }
        }
        let most = u128::from(self.cycles.unwrap_or(MOST_CYCLES));
        for (column, due) in &streams.inputs {
            if *due > most {
                let message = format!("{due} beats are due on column {column}, more than there are cycles, {most}");
                return Err(Diagnostic::new(message)
                    .or_code(Code::Stream)
                    .with_help("correct the extents of the stream"));
            }
            let any = |_| Beat { data: random.random::<u32>() & mask, bit: false };
            beats.entry(*column).or_insert_with(|| (0..*due).map(any).collect());
        }
        Ok(beats)
    }

    fn check_columns(&self, streams: &RunStreams) -> Result<(), Diagnostic> {
        for (output, path) in &self.outputs {
            match output {
                Output::Data(column)
                    if !u32::try_from(*column).is_ok_and(|column| streams.outputs.contains_key(&column)) =>
                {
                    return Err(no_stream("out of", *column, &streams.outputs));
                }
                Output::Data(_) => {}
                Output::StencilValid => {
                    let help = "give the column of a stream, `=` and a file";
                    return Err(Diagnostic::new(format!("an array has no output `{output}`")).with_help(help));
                }
            }
            let inputs = [&self.spec, &self.configuration].into_iter().chain(self.inputs.iter().map(|(_, path)| path));
            output::keep_inputs(path, inputs.map(PathBuf::as_path))?;
        }
        match self.outputs.iter().map(|(output, _)| output).duplicates().next() {
            Some(output) => {
                Err(Diagnostic::new(format!("{output} has two files")).with_help("give one for each stream"))
            }
            None => Ok(()),
        }
    }

    /// Writes the words of the beats that left: all files, or none.
    fn write_beats(&self, spec: &ArraySpec, run: &Trace) -> Result<(), Diagnostic> {
        let paths: Vec<&Path> = self.outputs.iter().map(|(_, path)| path.as_path()).collect();
        write_all_through(&paths, |temporaries| {
            for ((output, path), temporary) in self.outputs.iter().zip(temporaries) {
                let Output::Data(column) = output else { continue };
                let mut file = StreamFile::create(temporary, path, spec.word_bits())?;
                run.outputs[&(*column as u32)].iter().for_each(|beat| file.push(beat.data.into()));
                file.finish()?;
            }
            Ok(())
        })
    }

    fn unfinished(&self, error: &RunError) -> Diagnostic {
        match error {
            RunError::Ended { column, beats, due } => {
                let file = self.inputs.iter().find(|(of, _)| *of == *column as usize);
                let file = file.map_or_else(String::new, |(_, path)| format!("{}: ", path.display()));
                let message = format!("{file}the stream into column {column} ends after {beats} of {due} beats");
                Diagnostic::new(message).or_code(Code::Stream).with_help("give as many words as beats are due")
            }
            RunError::TooLong { cycles } => {
                let message = format!("the run is not over after {cycles} cycles");
                let help = "its streams have more beats; give more --cycles";
                Diagnostic::new(message).or_code(Code::Stream).with_help(help)
            }
        }
    }
}

fn no_stream(direction: &str, column: usize, streams: &BTreeMap<u32, u128>) -> Diagnostic {
    let message = format!("there is no stream {direction} the array on column {column}");
    let columns = streams.keys().join(", ");
    Diagnostic::new(message).with_help(match columns.is_empty() {
        true => "the configuration has none".to_owned(),
        false => format!("the configuration has streams on columns {columns}"),
    })
}
