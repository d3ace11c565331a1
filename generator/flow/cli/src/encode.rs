//! `pushmem encode` and `pushmem decode`.

use std::path::{Path, PathBuf};

use clap::Args;
use pushmem_bitstream::{Bitstream, Netlist};
use pushmem_configuration::{RegisterWrite, WritesFile, encode, format_writes};
use pushmem_fabric::ArraySpec;
use pushmem_files::{Diagnostic, write_file};
use pushmem_registers::RegisterMap;
use pushmem_resources::Graph;
use serde::Serialize;

use crate::application::arrays::Columns;
use crate::application::{arrays, tiles};
use crate::kinds::{self, FileKind};
use crate::output;

#[derive(Args)]
pub struct Encode {
    /// Tile: a specification, or the name of one in `constraints/tiles`. Array: a specification.
    spec: PathBuf,
    /// Configuration of the tile or array.
    configuration: PathBuf,
    /// File of register writes, one `address data` a line; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Of an array, columns that are cleared and loaded alone, as 0,4-7, while the others run.
    #[arg(long, value_name = "COLUMNS", value_parser = arrays::columns)]
    columns: Option<Columns>,
    /// Print the writes as JSON.
    #[arg(long)]
    json: bool,
}

/// The writes for programs.
#[derive(Serialize)]
struct Encoded<'a> {
    tile: &'a str,
    writes: &'a [RegisterWrite],
}

impl Encode {
    pub fn run(&self) -> Result<(), Diagnostic> {
        if let Some(spec) = arrays::read_file(&self.spec)? {
            let bitstream = arrays::encode(&spec, &self.configuration, self.columns.as_ref())?;
            return self.write(&spec.name, bitstream.to_text(&spec.name), &bitstream.writes);
        }
        if self.columns.is_some() {
            return Err(Diagnostic::new("--columns needs the specification of an array"));
        }
        let spec = tiles::read_named(&self.spec)?;
        let configuration = kinds::configuration(&self.configuration, &spec)?;
        let writes = encode(&configuration, &spec, &RegisterMap::of(&spec))?;
        self.write(&spec.name, format_writes(&spec.name, &writes), &writes)
    }

    /// Writes or prints the writes for a block of this name.
    fn write(&self, block: &str, text: String, writes: &[RegisterWrite]) -> Result<(), Diagnostic> {
        let encoded = self.json.then_some(Encoded { tile: block, writes });
        write_or_print(self.output.as_deref(), [&self.spec, &self.configuration], &text, encoded.as_ref())
    }
}

#[derive(Args)]
pub struct Decode {
    /// Tile: a specification, or the name of one in `constraints/tiles`. Array: a specification.
    spec: PathBuf,
    /// File of register writes, or bitstream.
    writes: PathBuf,
    /// File of the configuration; standard output without.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Of the bitstream of an array, the netlist: each input with its source and the registers between them.
    #[arg(long)]
    netlist: bool,
    /// Print the configuration as JSON, with the keys of the YAML.
    #[arg(long)]
    json: bool,
}

impl Decode {
    pub fn run(&self) -> Result<(), Diagnostic> {
        if let Some(spec) = arrays::read_file(&self.spec)? {
            return self.array(&spec);
        }
        if self.netlist {
            return Err(Diagnostic::new("--netlist needs the specification of an array"));
        }
        let spec = tiles::read_named(&self.spec)?;
        kinds::expect(&self.writes, &[FileKind::Words])?;
        let configuration = WritesFile::read(&self.writes)?.decode(&spec, &RegisterMap::of(&spec))?;
        let of_programs = self.json.then_some(&configuration);
        write_or_print(self.output.as_deref(), [&self.spec, &self.writes], &configuration.to_yaml(), of_programs)
    }
}

impl Decode {
    /// A bitstream, as configuration or as netlist.
    fn array(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        if self.json {
            return Err(Diagnostic::new(format!("`{}` is an array", spec.name)).with_help("only tiles have --json"));
        }
        kinds::expect(&self.writes, &[FileKind::Words])?;
        let graph = Graph::of(spec);
        let configuration = Bitstream::decode_file(&self.writes, spec, &graph)?;
        let text = match self.netlist {
            true => Netlist::of(&configuration, &graph).to_text(&graph),
            false => configuration.to_yaml(spec, &graph),
        };
        write_or_print(self.output.as_deref(), [&self.spec, &self.writes], &text, None::<&()>)
    }
}

/// Writes the text to a file, or prints it, or what it says as JSON.
fn write_or_print<T: Serialize>(
    path: Option<&Path>,
    inputs: [&PathBuf; 2],
    text: &str,
    json: Option<&T>,
) -> Result<(), Diagnostic> {
    if let Some(path) = path {
        output::keep_inputs(path, inputs.map(PathBuf::as_path))?;
        write_file(path, text.as_bytes())?;
    }
    match json {
        Some(json) => output::result(true, json, String::new)?,
        None if path.is_none() => output::print(text)?,
        None => {}
    }
    Ok(())
}
