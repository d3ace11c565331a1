//! The files of chip flows beside the RTL: arguments of `generate` and `build`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use pushmem_bus::Shell;
use pushmem_composition::Files;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::{Code, Diagnostic, OutputFolder};
use pushmem_interconnect::array_module;
use pushmem_packaging::{AddressBlock, Design, Timing, description, package};
use pushmem_realization::Dedicated;
use pushmem_resources::ArrayMap;
use pushmem_rtl::tile_module;
use pushmem_systemverilog::File;
use pushmem_technology::Technology;
use pushmem_tile::TileSpec;

use crate::application::folder;
use crate::kinds::{self, FileKind};
use crate::technology;

/// The argument that names the folder, which a package is a part of.
pub const FOLDER: &str = "folder";

/// The arguments with which RTL is made: macros are a part of it.
pub const RTL: &str = "made";

#[derive(Args)]
pub struct Package {
    /// SRAM macro for the memory of a tile: the name of the tile, and a binding or the name of one in `constraints/sram`.
    #[arg(long, value_name = "NAME=BINDING", value_parser = name_binding, requires = RTL)]
    sram: Vec<(String, PathBuf)>,
    /// Cell for clock gates: a binding, or the name of one in `constraints/clock_gates`.
    #[arg(long, value_name = "BINDING", requires = RTL)]
    clock_gate: Option<PathBuf>,
    /// Also write what chip flows want: packages for FuseSoC and Bender, timing constraints, IP-XACT and Python views of the
    /// registers, the list of memory macros, configurations of OpenROAD-flow-scripts and LibreLane.
    #[arg(long, requires = FOLDER)]
    package: bool,
    /// Timing constraints for the package. Without, those of `constraints/timing/default.yaml`.
    #[arg(long, value_name = "FILE", requires = "package")]
    timing: Option<PathBuf>,
}

/// Reads `NAME=BINDING`.
fn name_binding(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("expected the name of a tile, `=` and a binding: amber=sram.yaml")?;
    Ok((name.to_owned(), file.into()))
}

/// RTL with the memories of a technology, if there is one.
pub fn bound(technology: Option<&Technology>, rtl: Vec<File>) -> Vec<File> {
    match technology {
        Some(technology) => technology.bind(rtl),
        None => rtl,
    }
}

/// A tile for chip flows, without registers.
pub fn tile<'a>(spec: &'a TileSpec, rtl: Vec<File>, technology: &'a Technology) -> Design<'a> {
    let about = format!("Memory tile `{}`", spec.name);
    let design = Design::new(&tile_module(spec), about, rtl, spec.reset, technology);
    Design { name: spec.name.clone(), tiles: vec![spec], ..design }
}

/// An array for chip flows.
pub fn array<'a>(spec: &'a ArraySpec, rtl: Vec<File>, technology: &'a Technology) -> Design<'a> {
    let about = format!("Reconfigurable array `{}`", spec.name);
    let memory_map = ArrayMap::of(spec).to_ip_xact(spec);
    Design { name: spec.name.clone(), memory_map, ..of_array(spec, &array_module(spec), about, rtl, technology) }
}

/// A module of an array, whose files are those of the array.
fn of_array<'a>(
    spec: &'a ArraySpec,
    top: &str,
    about: String,
    rtl: Vec<File>,
    technology: &'a Technology,
) -> Design<'a> {
    Design {
        tiles: spec.memories().collect(),
        processing_elements: vec![pushmem_pe::module(&spec.pe)],
        hop_limit: Some(spec.hop_limit),
        ..Design::new(top, about, rtl, spec.reset(), technology)
    }
}

/// An accelerator for chip flows, without testbench and registers.
pub fn accelerator<'a>(compiled: &'a Dedicated, files: &Files, technology: &'a Technology) -> Design<'a> {
    let about = format!("Accelerator `{}`", compiled.accelerator.name);
    let reset = compiled.accelerator.target.memory().reset;
    let design = Design::new(&files.top_module, about, files.rtl.clone(), reset, technology);
    Design { tiles: folder::tiles(compiled), ..design }
}

/// A tile of an array for chip flows, without registers. The files are those of the array.
pub fn array_tile<'a>(spec: &'a ArraySpec, kind: TileKind, rtl: Vec<File>, technology: &'a Technology) -> Design<'a> {
    let about = format!("{} tile of the array `{}`", kind.name().to_uppercase(), spec.name);
    of_array(spec, &pushmem_interconnect::tile_module(spec, kind), about, rtl, technology)
}

/// The shell around a design, which is the block that a chip uses. The testbench of the design has no shell: it is left out.
pub fn shell<'a>(shell: &Shell, within: Design<'a>) -> Design<'a> {
    let Shell { module, about, window, interfaces, memory_map, .. } = shell;
    let new = shell.rtl().filter(|(path, _)| within.rtl.iter().all(|(other, _)| other != path)).cloned();
    let rtl = within.rtl.iter().cloned().chain(new).collect();
    let in_window = within.blocks.into_iter().zip(window.iter().cycle());
    let in_window = in_window.map(|(block, window)| AddressBlock { base: window + block.base, ..block });
    let blocks = [of_shell(shell)].into_iter().chain(in_window).collect();
    Design {
        name: module.clone(),
        top: module.clone(),
        about: about.clone(),
        rtl,
        clock: pushmem_bus::CLOCK,
        reset_port: pushmem_bus::RESET,
        blocks,
        interfaces: interfaces.clone(),
        testbench: Vec::new(),
        memory_map: memory_map.clone(),
        ..within
    }
}

/// The registers of a shell.
fn of_shell(shell: &Shell) -> AddressBlock {
    AddressBlock {
        name: "shell".to_owned(),
        base: 0,
        kind: shell.module.clone(),
        digest: format!("{:08x}", shell.identity),
        registers: shell.registers.clone(),
        contents: None,
        is_volatile: true,
    }
}

impl Package {
    /// Whether anything is asked for.
    pub fn is_any(&self) -> bool {
        self.package || self.clock_gate.is_some() || !self.sram.is_empty()
    }

    /// Reads what is named, for those of these tiles that it is for: what is wrong there is said before anything is done.
    ///
    /// # Errors
    /// As [`technology::read`] and [`Timing::of_document`].
    pub fn check(&self, specs: &[&TileSpec]) -> Result<(), Diagnostic> {
        let assemblies = technology::assemblies(specs, &self.sram)?;
        let clock_gate = self.clock_gate.as_deref();
        clock_gate.map(|named| technology::read_clock_gate(specs, &assemblies, named)).transpose()?;
        self.timing().map(drop)
    }

    fn timing(&self) -> Result<Timing, Diagnostic> {
        match &self.timing {
            None => Ok(Timing::default()),
            Some(path) => Timing::of_document(&kinds::read(path, &[FileKind::Timing])?)
                .map_err(|problem| problem.or_code(Code::Binding)),
        }
    }

    /// The memories of these tiles, where the model of the SRAM wrapper is not to stay.
    ///
    /// # Errors
    /// As [`technology::read`].
    pub fn technology(&self, specs: &[&TileSpec]) -> Result<Option<Technology>, Diagnostic> {
        self.is_any().then(|| technology::read(specs, &self.sram, self.clock_gate.as_deref())).transpose()
    }

    /// The same for an array.
    ///
    /// # Errors
    /// As [`technology::read`].
    pub fn technology_of_array(&self, spec: &ArraySpec) -> Result<Option<Technology>, Diagnostic> {
        if self.is_any() && spec.global_buffer.is_some() {
            let message = format!("`{}` has a global buffer, for whose SRAM there are no macros yet", spec.name);
            let help =
                "leave out `--package`, `--sram` and `--clock-gate`, or give the array without its `global_buffer`";
            return Err(Diagnostic::new(message).with_help(help));
        }
        let memories: Vec<&TileSpec> = spec.memories().collect();
        let read = || technology::read_with(&memories, spec.clock_gating, &self.sram, self.clock_gate.as_deref());
        self.is_any().then(read).transpose()
    }

    /// Adds the package of a design, if it is wanted; of a shell at least what tells of it. `design` makes it with the parts of the chip's
    /// technology.
    ///
    /// # Errors
    /// When the timing constraints cannot be read.
    pub fn add<'a>(
        &self,
        folder: &mut OutputFolder,
        technology: &'a Option<Technology>,
        is_shell: bool,
        design: impl FnOnce(&'a Technology) -> Design<'a>,
    ) -> Result<(), Diagnostic> {
        static NONE: LazyLock<Technology> = LazyLock::new(Technology::default);
        let technology = technology.as_ref().unwrap_or(&NONE);
        let mut files: Vec<File> = Vec::new();
        if self.package {
            files.extend(package(&design(technology), &self.timing()?));
        } else {
            if is_shell {
                files.extend(description(&design(technology), &self.timing()?));
            }
            files.extend(technology.stubs().into_iter().map(|(file, text)| (format!("stubs/{file}"), text)));
        }
        folder.add_all(files);
        Ok(())
    }
}
