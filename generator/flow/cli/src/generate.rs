//! `pushmem generate`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use pushmem_bus::{Adapter, Block as ConfiguredBlock, RegisterBus, adapter};
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_packaging::{AddressBlock, Design};
use pushmem_pe::PeSpec;
use pushmem_registers::RegisterMap;
use pushmem_rtl::{package_of, tile_module};
use pushmem_simulation::rtl_files;
use pushmem_systemverilog::{FILE_LIST, File, file_list, files_of};
use pushmem_tile::TileSpec;
use serde::Serialize;

use crate::application::{arrays, pes, tiles};
use crate::origin::{self, Origin};
use crate::output;
use crate::package::{self, FOLDER, Package, RTL};
use crate::rtl_folder;

#[derive(Args)]
#[command(group(ArgGroup::new(RTL).multiple(true)))]
pub struct Generate {
    /// Tile or processing element: a specification, or the name of one in `constraints/tiles` or `constraints/pes`. Array: a
    /// specification.
    spec: PathBuf,
    /// Folder to write, replaced if a former run wrote it.
    #[arg(id = FOLDER, short = 'o', long = "output", value_name = "FOLDER", group = RTL)]
    output: PathBuf,
    /// Also write the Veryl sources the RTL is made from.
    #[arg(long)]
    veryl: bool,
    /// Prefix of the names of all modules: two versions of pushmem have their tiles in one chip.
    #[arg(long, value_name = "PREFIX", value_parser = origin::prefix)]
    prefix: Option<String>,
    /// Of a tile: also write a module around it, in which a bus reaches its configuration port.
    #[arg(long, value_name = "BUS")]
    bus: Option<Bus>,
    #[command(flatten)]
    package: Package,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// Buses for the configuration port, by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Bus {
    /// APB4.
    Apb,
    /// AXI4-Lite with 32 bits of data.
    AxiLite,
    /// TileLink-UL with 32 bits of data.
    #[value(name = "tilelink")]
    TileLink,
}

impl From<Bus> for RegisterBus {
    fn from(bus: Bus) -> Self {
        match bus {
            Bus::Apb => RegisterBus::Apb,
            Bus::AxiLite => RegisterBus::AxiLite,
            Bus::TileLink => RegisterBus::TileLink,
        }
    }
}

/// The report of a tile, for programs.
#[derive(Serialize)]
struct Report<'a> {
    tile: &'a str,
    digest: String,
    modules: usize,
    lines: usize,
    registers: usize,
    configuration_bits: u64,
}

/// The report of a processing element, for programs.
#[derive(Serialize)]
struct PeReport<'a> {
    processing_element: &'a str,
    modules: usize,
    lines: usize,
    operations: usize,
    configuration_bits: u32,
}

/// The report of an array, for programs.
#[derive(Serialize)]
struct ArrayReport<'a> {
    array: &'a str,
    digest: String,
    modules: usize,
    lines: usize,
    pe_tiles: u32,
    memory_tiles: u32,
    io_tiles: u32,
}

impl Generate {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let document = tiles::document_of_block(&self.spec)?;
        if arrays::is_one(&document) {
            return self.array(&arrays::from_document(&document)?);
        }
        match pes::is_one(&document) {
            true => self.processing_element(&PeSpec::from_document(&document)?),
            false => self.tile(&TileSpec::from_document(&document)?),
        }
    }

    fn array(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        if self.bus.is_some() {
            let name = &spec.name;
            let message = format!("the configuration port of the array `{name}` has addresses of words, not of bytes");
            let help = "`--bus` of `generate` is for tiles; `pushmem build PROGRAM --array ARRAY --bus axi` writes a shell of an array, \
                        whose registers lead to its configuration by AXI4-Lite";
            return Err(Diagnostic::new(message).with_help(help));
        }
        let technology = self.package.technology_of_array(spec)?;
        let rtl = package::bound(technology.as_ref(), arrays::rtl_files(spec)?);
        let mut folder = OutputFolder::new();
        let rtl = rtl_folder::add(&mut folder, rtl);
        for kind in spec.kinds() {
            let list = format!("filelist_{}_tile.f", kind.name());
            rtl_folder::add_list(&mut folder, &list, &rtl, &pushmem_interconnect::tile_module(spec, kind));
        }
        arrays::add_views(&mut folder, spec, self.veryl);
        self.package
            .add(&mut folder, &technology, false, |technology| package::array(spec, rtl.clone(), technology))?;
        self.write(folder, &Origin::of_array(spec))?;
        let count = |kind: TileKind| spec.count(kind);
        let report = ArrayReport {
            array: &spec.name,
            digest: spec.digest(),
            modules: rtl_folder::modules(&rtl).count(),
            lines: rtl_folder::lines(&rtl),
            pe_tiles: count(TileKind::Pe),
            memory_tiles: count(TileKind::Memory),
            io_tiles: count(TileKind::Io),
        };
        let ArrayReport { modules, lines, pe_tiles, memory_tiles, io_tiles, .. } = &report;
        let text = format!(
            "{modules} modules, {lines} lines of SystemVerilog, {pe_tiles} PE tiles, {memory_tiles} MEM tiles, \
                 {io_tiles} IO tiles"
        );
        self.report(&report, &text)
    }

    fn processing_element(&self, spec: &PeSpec) -> Result<(), Diagnostic> {
        if self.bus.is_some() {
            let message =
                format!("the processing element `{}` has no configuration port, which a bus could lead to", spec.name);
            let help = "its configuration comes in on wires: give the tile, or leave out `--bus`";
            return Err(Diagnostic::new(message).with_help(help));
        }
        if self.veryl || self.package.is_any() {
            return Err(Diagnostic::new(format!("`{}` is a processing element", spec.name))
                .with_help("only tiles and arrays have --veryl, --package, --sram and --clock-gate"));
        }
        let rtl =
            pushmem_pe::generate(spec).map_err(|error| Diagnostic::new(error.to_string()).as_fault("specification"))?;
        let mut folder = OutputFolder::new();
        rtl_folder::add(&mut folder, files_of(rtl.iter().cloned()));
        folder.add("operations.md", spec.to_markdown());
        folder.add("spec.yaml", spec.to_yaml());
        self.write(folder, &Origin::of_processing_element(spec))?;
        let lines = rtl.iter().map(|file| file.text.lines().count()).sum();
        let report = PeReport {
            processing_element: &spec.name,
            modules: rtl.len(),
            lines,
            operations: spec.operations.len(),
            configuration_bits: spec.configuration_bits(),
        };
        let PeReport { modules, lines, operations, configuration_bits, .. } = &report;
        let text = format!(
            "{modules} modules, {lines} lines of SystemVerilog, {operations} operations, {configuration_bits} bits \
                 of configuration"
        );
        self.report(&report, &text)
    }

    fn tile(&self, spec: &TileSpec) -> Result<(), Diagnostic> {
        let map = RegisterMap::of(spec);
        let technology = self.package.technology(&[spec])?;
        let rtl = package::bound(technology.as_ref(), rtl_files(spec)?);
        let mut folder = OutputFolder::new();
        let mut rtl = rtl_folder::add(&mut folder, rtl);
        let adapter = self.bus.map(|bus| self.adapter(spec, &map, &rtl, bus.into())).transpose()?;
        if let Some(adapter) = &adapter {
            folder.add_all(adapter.rtl.iter().cloned());
            rtl.extend(adapter.rtl.iter().cloned());
            folder.add(FILE_LIST, file_list(rtl.iter().map(|(path, _)| path.as_str())));
        }
        self.package.add(&mut folder, &technology, false, |technology| {
            let blocks = vec![AddressBlock::of_tile(&spec.name, 0, map.clone())];
            let design = Design { blocks, ..package::tile(spec, rtl.clone(), technology) };
            match &adapter {
                Some(Adapter { module, interfaces, .. }) => {
                    Design { top: module.clone(), interfaces: interfaces.clone(), ..design }
                }
                None => design,
            }
        })?;
        let package = format!("rtl/{}.sv", package_of(spec));
        folder.add_all(tiles::views(spec, &map));
        if self.veryl {
            let sources = pushmem_rtl::sources(spec, &map).into_iter();
            folder.add_all(sources.map(|source| (format!("veryl/{}.veryl", source.name), source.text)));
        }
        self.write(folder, &Origin::of_tile(spec))?;
        let report = Report {
            tile: &spec.name,
            digest: spec.digest(),
            modules: rtl_folder::modules(&rtl).filter(|path| *path != package).count(),
            lines: rtl_folder::lines(&rtl),
            registers: map.registers.len(),
            configuration_bits: map.configuration_bits().into(),
        };
        let Report { modules, lines, registers, configuration_bits, .. } = &report;
        let text = format!(
            "{modules} modules, {lines} lines of SystemVerilog, {registers} registers with {configuration_bits} bits \
                 of configuration"
        );
        self.report(&report, &text)
    }

    /// Writes the files of a block.
    fn write(&self, mut folder: OutputFolder, origin: &Origin) -> Result<(), Diagnostic> {
        origin.sign(&mut folder);
        if let Some(prefix) = &self.prefix {
            origin::rename_modules(&mut folder, prefix);
        }
        folder.write(&self.output)
    }

    /// Prints the report of a block, for programs or people.
    fn report(&self, report: &impl Serialize, text: &str) -> Result<(), Diagnostic> {
        output::result(self.json, report, || format!("{}: {text}\n", self.output.display()))
    }

    /// The module around a tile that has its configuration port behind a bus.
    fn adapter(
        &self,
        spec: &TileSpec,
        map: &RegisterMap,
        rtl: &[File],
        bus: RegisterBus,
    ) -> Result<Adapter, Diagnostic> {
        let block = ConfiguredBlock {
            module: &tile_module(spec),
            about: &format!("memory tile `{}`", spec.name),
            rtl,
            bytes: map.bytes(),
            read_latency: spec.configuration_read_latency(),
            reset: spec.reset,
        };
        adapter(&block, bus).map_err(|error| error.as_fault("specification"))
    }
}
