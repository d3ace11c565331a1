//! Any block in Verilator: its ports as a list, a harness printed from it, and a process that runs cycles.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use askama::Template;
use itertools::Itertools;
use pushmem_files::{Diagnostic, template};
use pushmem_process::{Conversation, Finished};

use crate::build::ModelSources;
use crate::verilator::Verilator;

/// A port of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPort {
    /// Its name in the RTL.
    pub name: String,
    /// Its width in bits, from 1 to 64.
    pub bits: u32,
}

/// The ports of a block that a harness drives and samples: all but its clock `clk_i`. Among the inputs is the reset `rst_ni`.
///
/// A cycle has a value for each input and one for each output, in their order here. In the records of the harness, ports of
/// one bit are packed: 64 of them, the first lowest, are a word; each wider port is a word of its own, after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPorts {
    /// The inputs. A value is driven through the whole cycle.
    pub inputs: Vec<BlockPort>,
    /// The outputs, sampled before the rising clock edge that ends the cycle.
    pub outputs: Vec<BlockPort>,
}

/// The control word of a record: no assertion is checked in this cycle; answers to all cycles so far are wanted.
const NO_ASSERTIONS: u64 = 1;
const END_OF_BATCH: u64 = 2;

const RESET_CYCLES: usize = 2;

/// The option of a model whose registers and memories are 0 at first.
const CLEARED: &str = "+verilator+rand+reset+0";

/// Bits in a word of a record.
const WORD: usize = 64;

/// A port with its place in the records.
struct Placed<'a> {
    port: &'a str,
    word: usize,
    bit: Option<usize>,
}

/// The ports of one direction, and the words that they take in a record.
struct Words<'a> {
    ports: Vec<Placed<'a>>,
    count: usize,
}

impl<'a> Words<'a> {
    fn of(ports: &'a [BlockPort]) -> Self {
        let (mut bits, mut words) = (0, narrow_words(ports));
        let placed = ports.iter().map(|BlockPort { name, bits: width }| match width {
            1 => {
                bits += 1;
                Placed { port: name, word: (bits - 1) / WORD, bit: Some((bits - 1) % WORD) }
            }
            _ => {
                words += 1;
                Placed { port: name, word: words - 1, bit: None }
            }
        });
        let ports = placed.collect_vec();
        Words { ports, count: words }
    }
}

/// The words that ports of one bit take.
fn narrow_words(ports: &[BlockPort]) -> usize {
    ports.iter().filter(|port| port.bits == 1).count().div_ceil(WORD)
}

impl BlockPort {
    /// A port of this name and width.
    pub fn new(name: impl Into<String>, bits: u32) -> Self {
        BlockPort { name: name.into(), bits }
    }
}

impl Verilator {
    /// Builds the model of a block with this top module and these ports, or finds it in the cache; `wave` for one that writes a
    /// wave file. Returns the executable, for [`BlockProcess`].
    ///
    /// # Errors
    /// Those of Verilator and of the compiler.
    pub fn build_block(
        &self,
        top: &str,
        ports: &BlockPorts,
        rtl: &[(String, String)],
        wave: bool,
    ) -> Result<PathBuf, Diagnostic> {
        self.build_block_sharing(top, ports, rtl, &[], wave)
    }

    /// The same, where instances of the modules `shared`, of which there are many, share their C++: that compiles faster.
    ///
    /// # Errors
    /// As [`Verilator::build_block`].
    pub fn build_block_sharing(
        &self,
        top: &str,
        ports: &BlockPorts,
        rtl: &[(String, String)],
        shared: &[String],
        wave: bool,
    ) -> Result<PathBuf, Diagnostic> {
        let (inputs, outputs) = (Words::of(&ports.inputs), Words::of(&ports.outputs));
        let text = template!(
            "harness.cpp",
            block: &'a str = top,
            wave: bool = wave,
            inputs: Words<'a> = inputs,
            outputs: Words<'a> = outputs,
        )
        .render()
        .expect("templates write to memory");
        let harness = [("harness.cpp".to_owned(), text)];
        self.build_model(ModelSources {
            top,
            class: "Vblock",
            rtl,
            libraries: Vec::new(),
            shared,
            harness: &harness,
            wave,
            flatten: false,
        })
    }
}

/// A running harness. The state of the block goes on from batch to batch.
pub struct BlockProcess {
    conversation: Conversation,
    ports: BlockPorts,
}

impl BlockProcess {
    /// Starts a model that [`Verilator::build_block`] built for these ports; `wave` names the file of one that writes waves.
    ///
    /// # Errors
    /// When the executable cannot be started.
    pub fn start(executable: &Path, ports: BlockPorts, wave: Option<&Path>) -> Result<Self, Diagnostic> {
        let conversation = Conversation::start(Command::new(executable).args(wave))?;
        Ok(BlockProcess { conversation, ports })
    }

    /// Starts a model without waves whose registers and memories are all 0 at first, and not any bits.
    ///
    /// # Errors
    /// When the executable cannot be started.
    pub fn start_cleared(executable: &Path, ports: BlockPorts) -> Result<Self, Diagnostic> {
        let conversation = Conversation::start(Command::new(executable).arg(CLEARED))?;
        Ok(BlockProcess { conversation, ports })
    }

    /// Runs some cycles in which all inputs are 0, the reset among them.
    ///
    /// # Errors
    /// As [`BlockProcess::run`].
    pub fn reset(&mut self) -> Result<(), Diagnostic> {
        let inputs = self.ports.inputs.len();
        let drive = |_, values: &mut Vec<u64>| {
            values.resize(inputs, 0);
            true
        };
        self.run(RESET_CYCLES, drive, |_| ())
    }

    /// Runs a batch of cycles. `drive` adds the value of each input in a cycle to a list, and tells whether assertions are
    /// checked; `sample` gets the value of each output in each cycle.
    ///
    /// # Errors
    /// When the process ends before it has answered, as it does when an assertion fails: what it printed.
    pub fn run(
        &mut self,
        cycles: usize,
        drive: impl Fn(usize, &mut Vec<u64>) -> bool + Sync,
        mut sample: impl FnMut(&[u64]),
    ) -> Result<(), Diagnostic> {
        if cycles == 0 {
            return Ok(());
        }
        let BlockPorts { inputs, outputs } = &self.ports;
        let count = Words::of(outputs).count;
        let mut bytes = vec![0; cycles * count * size_of::<u64>()];
        let feed = |to: &mut dyn Write| {
            let (mut values, mut record) = (Vec::new(), Vec::new());
            (0..cycles).try_for_each(|cycle| {
                values.clear();
                record.clear();
                let checked = drive(cycle, &mut values);
                let end = if cycle + 1 == cycles { END_OF_BATCH } else { 0 };
                record.push(end | if checked { 0 } else { NO_ASSERTIONS });
                pack(inputs, &values, &mut record);
                record.iter().try_for_each(|word| to.write_all(&word.to_le_bytes()))
            })
        };
        if self.conversation.ask(feed, &mut bytes).is_err() {
            return Err(stopped(self.conversation.end()));
        }
        let (mut words, mut values) = (Vec::new(), Vec::new());
        for record in bytes.chunks_exact((count * size_of::<u64>()).max(1)) {
            words.clear();
            words.extend(record.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))));
            values.clear();
            unpack(outputs, &words, &mut values);
            sample(&values);
        }
        Ok(())
    }

    /// Runs a batch of cycles as [`BlockProcess::run`] does, with all assertions checked: the values of the outputs in each.
    ///
    /// # Errors
    /// As [`BlockProcess::run`].
    pub fn sampled(
        &mut self,
        cycles: usize,
        drive: impl Fn(usize, &mut Vec<u64>) + Sync,
    ) -> Result<Vec<Vec<u64>>, Diagnostic> {
        let mut samples = Vec::with_capacity(cycles);
        let drive = |cycle: usize, values: &mut Vec<u64>| {
            drive(cycle, values);
            true
        };
        self.run(cycles, drive, |values| samples.push(values.to_vec()))?;
        Ok(samples)
    }

    /// Ends the process, which completes its wave file.
    ///
    /// # Errors
    /// When it ends with a failure: what it printed.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        match self.conversation.end() {
            Ok(end) if end.status.success() => Ok(()),
            end => Err(stopped(end)),
        }
    }
}

/// Adds the words of some values to a record.
fn pack(ports: &[BlockPort], values: &[u64], record: &mut Vec<u64>) {
    let narrow = record.len();
    record.resize(narrow + narrow_words(ports), 0);
    let mut bit = 0;
    for (port, &value) in ports.iter().zip_eq(values) {
        match port.bits {
            1 => {
                record[narrow + bit / WORD] |= (value & 1) << (bit % WORD);
                bit += 1;
            }
            _ => record.push(value),
        }
    }
}

/// The values of the words of a record.
fn unpack(ports: &[BlockPort], words: &[u64], values: &mut Vec<u64>) {
    let (mut bit, mut wide) = (0, narrow_words(ports));
    for port in ports {
        match port.bits {
            1 => {
                values.push(words[bit / WORD] >> (bit % WORD) & 1);
                bit += 1;
            }
            _ => {
                values.push(words[wide]);
                wide += 1;
            }
        }
    }
}

/// The error that a simulation ended too early, or badly.
pub fn stopped(end: io::Result<Finished>) -> Diagnostic {
    match end {
        Ok(end) => Diagnostic::new(format!("the RTL simulation stopped ({}):\n{}", end.status, end.log().trim())),
        Err(error) => Diagnostic::new(format!("the RTL simulation stopped: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_packed_and_found_again() {
        let ports = (0..70).map(|number| BlockPort::new(format!("p{number}"), if number % 9 == 4 { 20 } else { 1 }));
        let ports = ports.collect_vec();
        let values = (0..70).map(|number| if number % 9 == 4 { 1000 + number } else { number / 3 % 2 }).collect_vec();
        let (mut words, mut found) = (Vec::new(), Vec::new());
        pack(&ports, &values, &mut words);
        assert_eq!(words.len(), Words::of(&ports).count);
        unpack(&ports, &words, &mut found);
        assert_eq!(found, values);
    }
}
