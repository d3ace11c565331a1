//! A testbench of a program on an array that stands alone: SystemVerilog, without the model beside it.

use askama::Template;
use itertools::Itertools;
use pushmem_bitstream::{BankedBitstream, Bitstream, Configuration};
use pushmem_fabric::ArraySpec;
use pushmem_files::{template, text};
use pushmem_interconnect::{HOST_LATENCY, answer_latency, array_module, freeze, with_global_buffer_module};
use pushmem_resources::{BankMap, BankMeaning, BitstreamState};
use pushmem_systemverilog::{File, is_header, needed};

use crate::lockstep::around_writes;

/// A lane of a stream: the column of its IO tile, and its words in a run.
#[derive(Clone, Copy, Debug)]
pub struct LaneWords {
    /// The column.
    pub column: u32,
    /// How many words enter or leave.
    pub words: usize,
}

/// A run of a program, which a testbench repeats.
#[derive(Clone, Debug)]
pub struct StandaloneRun<'a> {
    /// The name of the program; that of the bitstream's file is `NAME.hex`.
    pub program: &'a str,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The same as register writes.
    pub bitstream: &'a Bitstream,
    /// Writes in the file of the bitstream, which may have those of banks behind these.
    pub in_file: usize,
    /// The lanes of the input streams, whose words are in `testbench/in_N.hex`.
    pub inputs: Vec<LaneWords>,
    /// The lanes of the output streams, whose words are in `testbench/out_N.expected.hex`.
    pub outputs: Vec<LaneWords>,
    /// Cycles from the flush to the last word, on the model.
    pub cycles: u64,
    /// Whether [`buffered_testbench`] makes another testbench, which the Makefile runs, too.
    pub is_buffered: bool,
    /// Whether memories of the program are banks of the global buffer: then the array does not run without it.
    pub needs_banks: bool,
}

/// A run of a program through the global buffer of its array, which a testbench repeats.
#[derive(Clone, Debug)]
pub struct RunOfBanks<'a> {
    /// The name of the program; that of the bitstream's file is `NAME.hex`, that of its rows in banks `NAME_banks.hex`.
    pub program: &'a str,
    /// The bitstream, that of banks included.
    pub bitstream: &'a Bitstream,
    /// Rows that the host writes, in `testbench/loaded.hex`, and those that it finds after the run, in `testbench/stored.expected.hex`: of each its
    /// address, a bit for each of its words that counts, and the row.
    pub loaded: usize,
    /// See `loaded`.
    pub stored: usize,
    /// The banks with images.
    pub banks: Vec<u32>,
    /// Cycles from the flush to the end of the run, on the model.
    pub cycles: u64,
}

/// The testbench of a run through the global buffer, whose banks load the bitstream; nothing without a global buffer, or if a bank does not hold its part of
/// the bitstream.
pub fn buffered_testbench(spec: &ArraySpec, run: &RunOfBanks) -> Option<File> {
    let (buffer, map) = (spec.global_buffer.as_ref()?, BankMap::of(spec)?);
    let banked = BankedBitstream::of(run.bitstream, spec).filter(|banked| banked.check_room(spec).is_ok())?;
    let module = buffered_module(run.program);
    let (before, after) = around_writes(spec);
    let of_all = |meaning: BankMeaning| map.address_of_all(map.field(meaning).0).word();
    let done = BankMeaning::Bitstream { state: BitstreamState::Done };
    let hand_over = map.field(BankMeaning::HandOver { half: 0 }).0;
    let text = text!(
        "testbench/buffered_testbench.sv",
        spec: &'a ArraySpec = spec,
        run: &'a RunOfBanks<'a> = run,
        module: &'a str = &module,
        banked: &'a BankedBitstream = &banked,
        banks: u32 = buffer.banks,
        before: u32 = before,
        after: u32 = after,
        configuration: u32 = of_all(BankMeaning::BitstreamRow),
        configuration_status: u32 = of_all(done),
        configuration_row: u32 = BankedBitstream::HALF * buffer.rows(),
        configuration_done: u32 = map.field(done).1.mask(),
        /// Addresses of the registers with which halves are handed over.
        hand_over: Vec<u32> = run.banks.iter().map(|bank| map.address(*bank, hand_over).word()).collect(),
    );
    Some((format!("testbench/{module}.sv"), text))
}

/// The module of the testbench of a run through the global buffer.
fn buffered_module(program: &str) -> String {
    format!("{program}_buffered_testbench")
}

/// The RTL of an array, that of its tiles with the bitstream of a run as constants, and a testbench with a Makefile that runs either. Of a program
/// that needs banks, the RTL and the Makefile. `files` are those of [`pushmem_interconnect::generate`], named with `.sv`.
pub fn testbench(spec: &ArraySpec, files: &[File], run: &StandaloneRun) -> Vec<File> {
    let (program, array) = (run.program, array_module(spec));
    let module = format!("{program}_testbench");
    let (before, after) = around_writes(spec);
    let is_alone = !run.needs_banks;
    let makefile = template!(
        "testbench/Makefile",
        spec: &'a ArraySpec = spec,
        program: &'a str = program,
        module: &'a str = &module,
        array: &'a str = &array,
        /// The testbench of a run through the global buffer, if there is one.
        buffered: Option<String> = run.is_buffered.then(|| buffered_module(program)),
        /// Whether there is a testbench of the array alone.
        is_alone: bool = is_alone,
    );
    let mut made = vec![("Makefile".to_owned(), makefile.render().expect("templates write to memory"))];
    let mut lists = vec![("rtl", "filelist.f", files.to_vec())];
    if is_alone {
        let text = template!(
            "testbench/testbench.sv",
            spec: &'a ArraySpec = spec,
            run: &'a StandaloneRun<'a> = run,
            module: &'a str = &module,
            array: &'a str = &array,
            before: u32 = before,
            after: u32 = after,
            /// Words that leave in a run.
            words: usize = run.outputs.iter().map(|lane| lane.words).sum(),
        );
        made.push((format!("testbench/{module}.sv"), text.render().expect("templates write to memory")));
        let frozen = freeze(spec, files, run.configuration);
        let used = needed(&frozen, &array, &[]);
        let used = frozen.into_iter().filter(|(name, _)| is_header(name) || used.contains(name)).collect_vec();
        lists.push(("testbench/frozen", "testbench/frozen.f", used));
    }
    for (folder, list, files) in lists {
        let names = files.iter().filter(|(name, _)| !is_header(name)).map(|(name, _)| format!("{folder}/{name}\n"));
        made.push((list.to_owned(), format!("+incdir+{folder}\n{}", names.format(""))));
        made.extend(files.iter().map(|(name, text)| (format!("{folder}/{name}"), text.clone())));
    }
    made
}
