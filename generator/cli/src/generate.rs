//! `pushmem generate`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_registers::RegisterMap;
use pushmem_simulation::rtl_files;
use pushmem_tile::TileSpec;

use crate::output;

#[derive(Args)]
pub struct Generate {
    /// Tile specification.
    spec: PathBuf,
    /// Folder to write, replaced if a former run wrote it.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Also write the Veryl sources the RTL is made from.
    #[arg(long)]
    veryl: bool,
}

impl Generate {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = TileSpec::read(&self.spec)?;
        let map = RegisterMap::of(&spec);
        let rtl = rtl_files(&spec)?;
        let mut folder = OutputFolder::new();
        let mut file_list = String::new();
        let mut lines = 0;
        for (name, text) in &rtl {
            file_list.push_str(&format!("rtl/{name}\n"));
            lines += text.lines().count();
            folder.add(format!("rtl/{name}"), text.as_str());
        }
        folder.add("filelist.f", file_list);
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
        output::print(&format!(
            "{}: {} modules, {lines} lines of SystemVerilog, {} registers with {} bits of configuration\n",
            self.output.display(),
            rtl.len(),
            map.registers.len(),
            map.configuration_bits(),
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
