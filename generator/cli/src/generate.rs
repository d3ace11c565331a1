//! `pushmem generate`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use itertools::Itertools;
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_packaging::{Block, Design};
use pushmem_registers::RegisterMap;
use pushmem_simulation::rtl_files;
use pushmem_tile::TileSpec;
use serde::Serialize;

use crate::kinds::{self, FileKind};
use crate::output;
use crate::package::{self, FOLDER, Package, RTL};

#[derive(Args)]
#[command(group(ArgGroup::new(RTL).multiple(true)))]
pub struct Generate {
    /// Tile specification.
    spec: PathBuf,
    /// Folder to write, replaced if a former run wrote it.
    #[arg(id = FOLDER, short = 'o', long = "output", value_name = "FOLDER", group = RTL)]
    output: PathBuf,
    /// Also write the Veryl sources the RTL is made from.
    #[arg(long)]
    veryl: bool,
    #[command(flatten)]
    package: Package,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// What was generated, for programs.
#[derive(Serialize)]
struct Report<'a> {
    tile: &'a str,
    digest: String,
    modules: usize,
    lines: usize,
    registers: usize,
    configuration_bits: u64,
}

impl Generate {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = TileSpec::from_document(&kinds::read(&self.spec, &[FileKind::Specification])?)?;
        let map = RegisterMap::of(&spec);
        let technology = self.package.technology(&[&spec])?;
        let mut rtl = rtl_files(&spec)?;
        if let Some(technology) = &technology {
            rtl = technology.bind(rtl);
        }
        let rtl = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
        let mut folder = OutputFolder::new();
        for (path, text) in &rtl {
            folder.add(path.as_str(), text.as_str());
        }
        folder.add("filelist.f", rtl.iter().map(|(path, _)| format!("{path}\n")).collect::<String>());
        self.package.add(&mut folder, technology.as_ref(), |technology| Design {
            blocks: vec![Block { name: spec.name.clone(), base: 0, map: map.clone() }],
            ..package::tile(&spec, rtl.clone(), technology)
        })?;
        let lines: usize = rtl.iter().map(|(_, text)| text.lines().count()).sum();
        folder.add("registers.json", map.to_json());
        folder.add("registers.h", map.to_c_header());
        folder.add("registers.rdl", map.to_system_rdl());
        folder.add("registers.md", map.to_markdown());
        folder.add("spec.yaml", spec.to_yaml());
        if self.veryl {
            for source in pushmem_rtl::sources(&spec, &map) {
                folder.add(format!("veryl/{}.veryl", source.name), source.text);
            }
        }
        folder.write(&self.output)?;
        let report = Report {
            tile: &spec.name,
            digest: spec.digest(),
            modules: rtl.len(),
            lines,
            registers: map.registers.len(),
            configuration_bits: map.configuration_bits().into(),
        };
        output::result(self.json, &report, || {
            let Report { modules, lines, registers, configuration_bits, .. } = &report;
            format!(
                "{}: {modules} modules, {lines} lines of SystemVerilog, {registers} registers with {configuration_bits} bits \
                 of configuration\n",
                self.output.display()
            )
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
