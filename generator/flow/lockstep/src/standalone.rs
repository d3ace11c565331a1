//! A testbench of a program on an array that stands alone: SystemVerilog, without the model beside it.

use askama::Template;
use itertools::Itertools;
use pushmem_bitstream::{Bitstream, Configuration};
use pushmem_fabric::ArraySpec;
use pushmem_interconnect::{array_module, freeze};
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
pub struct Run<'a> {
    /// The name of the program; that of the bitstream's file is `NAME.hex`.
    pub program: &'a str,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The same as register writes.
    pub bitstream: &'a Bitstream,
    /// The lanes of the input streams, whose words are in `testbench/in_N.hex`.
    pub inputs: Vec<LaneWords>,
    /// The lanes of the output streams, whose words are in `testbench/out_N.expected.hex`.
    pub outputs: Vec<LaneWords>,
    /// Cycles from the flush to the last word, on the model.
    pub cycles: u64,
}

#[derive(Template)]
#[template(path = "testbench/testbench.sv", escape = "none")]
struct Testbench<'a> {
    spec: &'a ArraySpec,
    program: &'a str,
    module: &'a str,
    array: &'a str,
    before: u32,
    after: u32,
    writes: usize,
    cycles: u64,
    words: usize,
    inputs: &'a [LaneWords],
    outputs: &'a [LaneWords],
}

#[derive(Template)]
#[template(path = "testbench/Makefile", escape = "none")]
struct Makefile<'a> {
    spec: &'a ArraySpec,
    program: &'a str,
    module: &'a str,
    array: &'a str,
}

/// The RTL of an array, that of its tiles with the bitstream of a run as constants, and a testbench with a Makefile that runs either.
/// `files` are those of [`pushmem_interconnect::generate`], named with `.sv`.
pub fn testbench(spec: &ArraySpec, files: &[File], run: &Run) -> Vec<File> {
    let (program, array) = (run.program, array_module(spec));
    let module = format!("{program}_testbench");
    let (before, after) = around_writes(spec);
    let text = Testbench {
        spec,
        program,
        module: &module,
        array: &array,
        before,
        after,
        writes: run.bitstream.writes.len(),
        cycles: run.cycles,
        words: run.outputs.iter().map(|lane| lane.words).sum(),
        inputs: &run.inputs,
        outputs: &run.outputs,
    };
    let text = text.render().expect("templates write to memory");
    let makefile = Makefile { spec, program, module: &module, array: &array };
    let mut made = vec![
        (format!("testbench/{module}.sv"), text),
        ("Makefile".to_owned(), makefile.render().expect("templates write to memory")),
    ];
    let frozen = freeze(spec, files, run.configuration);
    let used = needed(&frozen, &array, &[]);
    let used = frozen.into_iter().filter(|(name, _)| is_header(name) || used.contains(name)).collect_vec();
    for (folder, list, files) in [("rtl", "filelist.f", files), ("testbench/frozen", "testbench/frozen.f", &used)] {
        let names = files.iter().filter(|(name, _)| !is_header(name)).map(|(name, _)| format!("{folder}/{name}\n"));
        made.push((list.to_owned(), format!("+incdir+{folder}\n{}", names.format(""))));
        made.extend(files.iter().map(|(name, text)| (format!("{folder}/{name}"), text.clone())));
    }
    made
}
