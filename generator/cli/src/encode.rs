//! `pushmem encode` and `pushmem decode`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pushmem_configuration::{Configuration, decode, encode, format_writes, read_writes};
use pushmem_files::{Diagnostic, write_file};
use pushmem_registers::RegisterMap;
use pushmem_tile::TileSpec;

use crate::output;

#[derive(Args)]
pub struct Encode {
    /// Tile specification.
    spec: PathBuf,
    /// Tile configuration.
    configuration: PathBuf,
    /// File of register writes, one `address data` a line; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Encode {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = TileSpec::read(&self.spec)?;
        let configuration = Configuration::read(&self.configuration, &spec)?;
        let writes = encode(&configuration, &spec, &RegisterMap::of(&spec))?;
        write_or_print(self.output.as_deref(), [&self.spec, &self.configuration], &format_writes(&spec.name, &writes))
    }
}

#[derive(Args)]
pub struct Decode {
    /// Tile specification.
    spec: PathBuf,
    /// File of register writes.
    writes: PathBuf,
    /// File of the configuration; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Decode {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = TileSpec::read(&self.spec)?;
        let writes = read_writes(&self.writes)?;
        let configuration = decode(&writes, &spec, &RegisterMap::of(&spec))
            .map_err(|error| Diagnostic::new(format!("{}: {error}", self.writes.display())))?;
        write_or_print(self.output.as_deref(), [&self.spec, &self.writes], &configuration.to_yaml())
    }
}

fn write_or_print(path: Option<&Path>, inputs: [&PathBuf; 2], text: &str) -> Result<ExitCode, Diagnostic> {
    match path {
        Some(path) => {
            output::keep_inputs(path, inputs.map(PathBuf::as_path))?;
            write_file(path, text.as_bytes())?;
        }
        None => output::print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
