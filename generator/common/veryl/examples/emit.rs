//! Compiles the Veryl files named on the command line together and prints the SystemVerilog.
//! With the variable `N` set, compiles them N times before, and tells how long each took.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use pushmem_veryl::{Reset, SourceFile, compile_anew};

fn main() -> ExitCode {
    let mut sources = Vec::new();
    for path in std::env::args().skip(1) {
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match std::fs::read_to_string(&path) {
            Ok(text) => sources.push(SourceFile { name, text }),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let repetitions: usize = std::env::var("N").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    for _ in 0..repetitions {
        let start = Instant::now();
        let outcome = compile_anew(sources.clone(), Reset::default());
        eprintln!("{:?} {}", start.elapsed(), if outcome.is_ok() { "" } else { "(refused)" });
    }
    match compile_anew(sources, Reset::default()) {
        Ok(emitted) => emitted.iter().for_each(|module| println!("{}", module.text)),
        Err(error) => {
            eprint!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
