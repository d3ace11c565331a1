//! `pushmem encode` and `pushmem decode`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pushmem_configuration::{WritesFile, encode, format_writes};
use pushmem_files::{Diagnostic, write_file};
use pushmem_registers::RegisterMap;
use serde::Serialize;

use crate::application::tiles;
use crate::kinds::{self, FileKind};
use crate::output;

#[derive(Args)]
pub struct Encode {
    /// Tile: a specification, or the name of one in `constraints/tiles`.
    spec: PathBuf,
    /// Tile configuration.
    configuration: PathBuf,
    /// File of register writes, one `address data` a line; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the writes as JSON.
    #[arg(long)]
    json: bool,
}

/// The writes for programs.
#[derive(Serialize)]
struct Encoded<'a> {
    tile: &'a str,
    writes: Vec<Write>,
}

#[derive(Serialize)]
struct Write {
    address: u32,
    data: u32,
}

impl Encode {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = tiles::read_named(&self.spec)?;
        let configuration = kinds::configuration(&self.configuration, &spec)?;
        let writes = encode(&configuration, &spec, &RegisterMap::of(&spec))?;
        let of_programs = writes.iter().map(|write| Write { address: write.address, data: write.data }).collect();
        let encoded = self.json.then_some(Encoded { tile: &spec.name, writes: of_programs });
        let text = format_writes(&spec.name, &writes);
        write_or_print(self.output.as_deref(), [&self.spec, &self.configuration], &text, encoded.as_ref())
    }
}

#[derive(Args)]
pub struct Decode {
    /// Tile: a specification, or the name of one in `constraints/tiles`.
    spec: PathBuf,
    /// File of register writes.
    writes: PathBuf,
    /// File of the configuration; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the configuration as JSON, with the keys of the YAML.
    #[arg(long)]
    json: bool,
}

impl Decode {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = tiles::read_named(&self.spec)?;
        kinds::expect(&self.writes, &[FileKind::Words])?;
        let configuration = WritesFile::read(&self.writes)?.decode(&spec, &RegisterMap::of(&spec))?;
        let of_programs = self.json.then_some(&configuration);
        write_or_print(self.output.as_deref(), [&self.spec, &self.writes], &configuration.to_yaml(), of_programs)
    }
}

/// Writes the text to a file, or prints it, or what it says as JSON.
fn write_or_print<T: Serialize>(
    path: Option<&Path>,
    inputs: [&PathBuf; 2],
    text: &str,
    json: Option<&T>,
) -> Result<ExitCode, Diagnostic> {
    if let Some(path) = path {
        output::keep_inputs(path, inputs.map(PathBuf::as_path))?;
        write_file(path, text.as_bytes())?;
    }
    match json {
        Some(json) => output::result(true, json, String::new)?,
        None if path.is_none() => output::print(text)?,
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}
