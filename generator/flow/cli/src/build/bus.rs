//! Shells that connect what is built to the buses of a system, and large images in tiles.

use clap::{Args, ValueEnum};
use pushmem_bus::Memory;
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_nest::{INDEX_LIMIT, Program};
use pushmem_systemverilog::File;
use pushmem_tiling::Tiling;

use super::{Build, line};
use crate::application::tiles_of_images::Runner;
use crate::application::{array_shell, tiles_of_images};
use crate::output;
use crate::progress::Spinner;

/// Buses by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Bus {
    /// AXI4-Stream for streams, AXI4-Lite for control and configuration.
    Axis,
    /// Managers of AXI4 that read and write images in memory, AXI4-Lite for control and configuration. On an array with a global buffer, an AXI4
    /// subordinate for its banks in place of the managers.
    Axi,
}

/// The bus to memory, of `--bus axi`.
#[derive(Args)]
pub(super) struct MemoryBus {
    /// With `--bus axi`: bits of the data of each manager, a power of two from 32 to 1024. Without it, 64.
    #[arg(long, value_name = "BITS", value_parser = power_of_two::<32, 1024>, requires = "bus")]
    bus_width: Option<u32>,
    /// With `--bus axi`: beats of the longest burst, a power of two up to 256, of at most 4096 bytes. Without it, 16.
    #[arg(long, value_name = "BEATS", value_parser = power_of_two::<1, 256>, requires = "bus")]
    bus_burst: Option<u32>,
    /// With `--bus axi`: the most bursts that each manager has on their way, up to 64; a reader has room for them. Without it, 4.
    #[arg(long, value_name = "BURSTS", value_parser = clap::value_parser!(u32).range(1..=64), requires = "bus")]
    bus_bursts: Option<u32>,
    /// With --array: streams into the array that the shell has, each a word wide. Without it, 4, or one for each column if there are fewer.
    #[arg(long, value_name = "STREAMS", value_parser = clap::value_parser!(u32).range(1..), requires_all = ["bus", "array"])]
    bus_readers: Option<u32>,
    /// With --array: streams out of the array that the shell has, likewise.
    #[arg(long, value_name = "STREAMS", value_parser = clap::value_parser!(u32).range(1..), requires_all = ["bus", "array"])]
    bus_writers: Option<u32>,
}

impl MemoryBus {
    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--bus-width", self.bus_width),
            ("--bus-burst", self.bus_burst),
            ("--bus-bursts", self.bus_bursts),
            ("--bus-readers", self.bus_readers),
            ("--bus-writers", self.bus_writers),
        ];
        options.into_iter().find_map(|(name, given)| given.map(|_| name))
    }

    /// The bus to memory, if this bus has one.
    ///
    /// # Errors
    /// When a burst may not have so many bytes, or there is no such bus.
    fn memory(&self, bus: Option<Bus>) -> Result<Option<Memory>, Diagnostic> {
        if !matches!(bus, Some(Bus::Axi)) {
            let given = self.bus_width.or(self.bus_burst).or(self.bus_bursts);
            let refused = || Diagnostic::new("`--bus axis` has no bus to memory with a width or bursts");
            return given.map_or(Ok(None), |_| Err(refused().with_help("choose `--bus axi`")));
        }
        let default = Memory::default();
        let bits = self.bus_width.unwrap_or(default.bits);
        let burst_beats = self.bus_burst.unwrap_or(default.burst_beats);
        let bytes = bits / 8 * burst_beats;
        if bytes > Memory::BURST_BYTES {
            let limit = Memory::BURST_BYTES;
            let refused =
                Diagnostic::new(format!("bursts of {burst_beats} beats have {bytes} bytes: AXI4 allows {limit}"));
            return Err(refused.with_help(format!("choose `--bus-burst {}`", limit / (bits / 8))));
        }
        Ok(Some(Memory { bits, burst_beats, bursts: self.bus_bursts.unwrap_or(default.bursts) }))
    }
}

/// The shell that was asked for.
pub(super) struct ShellOptions {
    /// The bus to memory; without it streams are AXI4-Stream.
    pub memory: Option<Memory>,
    /// The tiles of a large image.
    pub tiling: Option<Tiling>,
}

/// The size of an image.
#[derive(Clone, Debug)]
pub(super) struct Size(Vec<i64>);

/// Parses the elements in each dimension, as `1920x1080`.
pub(super) fn size(text: &str) -> Result<Size, String> {
    let number =
        |part: &str| part.parse::<u32>().ok().filter(|number| (1..=INDEX_LIMIT as u32).contains(number)).map(i64::from);
    let numbers: Option<Vec<i64>> = text.split('x').map(number).collect();
    numbers.map(Size).ok_or_else(|| {
        format!("`{text}` is no size: numbers of elements with an x between them are expected, as 1920x1080")
    })
}

/// Reads a power of two within bounds.
fn power_of_two<const LEAST: u32, const MOST: u32>(text: &str) -> Result<u32, String> {
    let number: u32 = text.parse().map_err(|_| "not a number".to_owned())?;
    let fits = number.is_power_of_two() && (LEAST..=MOST).contains(&number);
    if fits { Ok(number) } else { Err(format!("a power of two from {LEAST} to {MOST} is expected")) }
}

impl Build {
    /// The shell, if a bus was asked for.
    ///
    /// # Errors
    /// As [`MemoryBus::memory`], and when there are no tiles of the image.
    pub(super) fn shell(&self, program: &Program) -> Result<Option<ShellOptions>, Diagnostic> {
        let memory = self.memory.memory(self.bus)?;
        if self.former_image_size.is_some() {
            output::report_former_name("build --image", "--image-size");
        }
        let tiling = match self.image_size.as_ref().or(self.former_image_size.as_ref()) {
            Some(_) if memory.is_none() => {
                let refused = Diagnostic::new("`--bus axis` has no images in memory, whose tiles could be runs");
                return Err(refused.with_help("choose `--bus axi`"));
            }
            Some(Size(size)) => Some(Tiling::of(program, size)?),
            None => None,
        };
        Ok(self.bus.map(|_| ShellOptions { memory, tiling }))
    }

    pub(super) fn array_shape(&self, shell: &ShellOptions) -> array_shell::ShellOptions {
        let MemoryBus { bus_readers: readers, bus_writers: writers, .. } = self.memory;
        array_shell::ShellOptions { memory: shell.memory, readers, writers, of_managers: self.memory.given() }
    }

    /// Adds the tiles of an image of a program for the driver of a shell, after a run of some of them in a model.
    pub(super) fn add_tiles(
        &self,
        written: &mut OutputFolder,
        (program, run): (&Program, &Runner),
        tiling: &Tiling,
        files: Vec<File>,
        spinner: &Spinner,
    ) -> Result<(), Diagnostic> {
        spinner.say("running tiles in the model");
        let found = tiles_of_images::check(program, tiling, run)?;
        written.add_all(files);
        self.say(spinner, || line("tiles", &found))
    }
}
