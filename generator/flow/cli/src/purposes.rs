//! Words that people try for a purpose, and the command that serves it.

/// How networks come in.
pub const NETWORKS: &str = "`pushmem build FILE.onnx` and `pushmem build FILE.tflite` compile networks that are quantized to 8 bits; those of \
                            PyTorch are not read: export them to ONNX";

/// How programs in C come in.
pub const LOOPS_IN_C: &str = "programs in C are not read: write the loops as a loop nest, as in apps/gaussian.yaml";

/// Words that are no commands and no options, and what exists for their purpose.
const PURPOSES: [(&[&str], &str); 16] = [
    (
        &["dse", "pareto", "search", "sweep", "campaign"],
        "`pushmem explore PROGRAM --over SPACE -o FOLDER` builds all points of a space, and shows which are best",
    ),
    (
        &["tune", "autotune", "optimize"],
        "`pushmem build PROGRAM --fit multipliers=16` chooses unroll factors for a budget; `pushmem explore` builds all points of a space",
    ),
    (&["onnx", "tflite", "tensorflow", "pytorch", "torch", "keras", "network", "model"], NETWORKS),
    (&["c", "cpp", "c++", "hls", "opencl"], LOOPS_IN_C),
    (
        &["halide", "hlpipe"],
        "`pushmem build FILE.hlpipe` compiles a pipeline, and `pushmem import halide FILE.hlpipe` makes a nest of it",
    ),
    (
        &["compile", "make", "hw", "accelerator"],
        "`pushmem build PROGRAM -o FOLDER` compiles a program to an accelerator",
    ),
    (
        &["nest", "yaml", "python"],
        "a loop nest is read by `pushmem build`; a script in Python writes a pipeline of Halide for it",
    ),
    (&["convert", "translate"], "`pushmem import halide FILE.hlpipe` makes a loop nest of a pipeline"),
    (
        &["test", "verify", "sim", "cosim", "verilate", "rtl"],
        "`pushmem build PROGRAM --rtl` runs the RTL of a program beside its model, `pushmem compare FOLDER` one that was built, \
         `pushmem regress` tiles",
    ),
    (
        &["place", "route", "pnr", "bitstream", "array", "cgra"],
        "`pushmem build PROGRAM --array amber` places and routes a program on an array; with `-o FOLDER` the bitstream is written",
    ),
    (
        &["area", "power", "timing", "fpga", "asic", "vivado"],
        "`pushmem synth` has area, longest paths and power, and with `--fpga ecp5` an FPGA",
    ),
    (
        &["report", "profile", "show", "stats", "view"],
        "`pushmem build PROGRAM -o FOLDER` writes report.html, and `--emit STAGE` prints a stage",
    ),
    (&["wave", "waves", "trace", "vcd", "fst"], "`build`, `compare` and `simulate` write waves with `--wave FILE.fst`"),
    (&["lint"], "`make lint` in the folder of a build runs Verilator's; `pushmem check FILE` checks inputs"),
    (
        &["list", "tiles", "arrays"],
        "constraints/tiles and constraints/arrays have the specifications; a name that is unknown is answered with all",
    ),
    (
        &["init", "new", "example", "examples", "demo", "quickstart"],
        "begin with `pushmem build apps/gaussian.yaml -o out/gaussian` in the clone",
    ),
];

/// The command, format or option for a word that is none of them.
pub fn of(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('-').to_lowercase();
    PURPOSES.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, purpose)| *purpose)
}
