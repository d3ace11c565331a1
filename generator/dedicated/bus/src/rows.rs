//! Shells of reconfigurable arrays with a global buffer: an AXI4 subordinate reads and writes the rows of the banks.
//!
//! A start hands the next half of the banks over and flushes the array; a run is over when no bank has words to move.

use askama::Template;
use pushmem_csr::{WORD_BYTES, upper};
use pushmem_systemverilog::{File, ModulePort, ports_of};
use pushmem_tile::Reset;
use serde::Serialize;

use crate::array::{BLOCK_BITS, access_registers, host_offset, host_sources, of_host, tail_register};
use crate::driver::{ARRAY_DIMENSIONS, BANK_LEVELS};
use crate::image::Elements;
use crate::program::{ProgramError, ProgramImage, ProgramNames, bitstream_writes, list, window_writes};
use crate::registers::rows_registers;
use crate::registers::window;
use crate::shell::{Channel, View};
use crate::subordinate::channel;
use crate::{Accelerator, BusError, Shell, compiled, render, reset_type, shell};

/// Bytes of a row.
pub(crate) const ROW_BYTES: u32 = 8;

/// Bits of the identifiers of transactions.
const ID_BITS: u32 = 8;

/// Transactions of a direction that wait for the one at work.
const BURSTS: u32 = 4;

/// The most bytes of all banks.
const MOST_BYTES: u64 = 1 << 31;

/// Bits of an address in the window.
const CONFIG_BITS: u32 = WORD_BYTES.ilog2() + BLOCK_BITS;

/// An array with its global buffer, which a shell is for.
#[derive(Clone, Debug)]
pub struct GlobalBuffer<'a> {
    /// Name of the array, with which those of the host and of the shell begin.
    pub name: &'a str,
    /// Name of the module of the array with its global buffer.
    pub module: &'a str,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// Bytes of all banks, and of one.
    pub bytes: u64,
    /// See `bytes`.
    pub bank_bytes: u32,
    /// Bits of a word.
    pub word_bits: u32,
    /// Cycles from an access to a row to its answer.
    pub row_latency: u32,
    /// The register of all banks that hands halves over, by its address at the configuration port.
    pub hand_over_address: u32,
    /// The first 32 bits of the digest of the specification, and the address at which the array takes them.
    pub digest: u32,
    /// See `digest`.
    pub digest_address: u32,
    /// Cycles from an access to the configuration port to its answer.
    pub latency: u32,
    /// How flip-flops are reset.
    pub reset: Reset,
    /// The beginning of the names of functions of the driver of its configuration, which is in the folder `global_buffer`.
    pub functions: &'a str,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Version of the files.
    pub version: &'a str,
}

impl GlobalBuffer<'_> {
    /// Whether there is a shell for it. Neither its RTL nor its module matters.
    ///
    /// # Errors
    /// When its banks have more bytes than there are addresses for.
    pub fn check(&self) -> Result<(), BusError> {
        let bytes = self.bytes;
        if bytes > MOST_BYTES { Err(BusError::Bytes { bytes, limit: MOST_BYTES }) } else { Ok(()) }
    }
}

/// A stream of a program between the array and an image in a bank.
#[derive(Clone, Debug)]
pub struct BankLane {
    /// Number of its image.
    pub image: usize,
    /// The bank, which has all elements of the image one after the other.
    pub bank: u32,
    /// The word of a half at which the image begins.
    pub first_word: u32,
    /// The elements that the stream carries.
    pub elements: Elements,
}

/// A program of an array with a global buffer.
#[derive(Clone, Debug)]
pub struct BufferedProgram<'a> {
    /// Its name.
    pub name: &'a str,
    /// Address and data of each write of its bitstream.
    pub bitstream: Vec<(u32, u32)>,
    /// Cycles that a run goes on after the last word of its banks, until all inputs are taken.
    pub tail: u64,
    /// Cycles of a run that does not wait for its half.
    pub cycles: u64,
    /// Its images.
    pub images: Vec<ProgramImage>,
    /// Its streams, those into the array before those out of it.
    pub lanes: Vec<BankLane>,
    /// Whether banks hold its bitstream, so that there are tables of its rows.
    pub has_rows: bool,
}

/// An image in a bank, as tables have it.
struct Place {
    image: usize,
    bank: u32,
    first_word: u32,
    /// Of an output in several banks, the elements that this one stores; else there are no loops.
    start: i64,
    extents: Vec<u64>,
    strides: Vec<i64>,
}

/// The tables of a program.
#[derive(Template)]
#[template(path = "driver/buffered_program.c", escape = "none")]
struct Tables<'a> {
    program: &'a BufferedProgram<'a>,
    names: &'a ProgramNames<'a>,
    places: Vec<Place>,
}

impl Tables<'_> {
    fn list<T: ToString>(&self, numbers: &[T]) -> String {
        list(numbers)
    }
}

/// A program as other hosts read it.
#[derive(Serialize)]
struct Described<'a> {
    program: &'a str,
    array: &'a str,
    digest: u32,
    tail: u64,
    cycles: u64,
    images: &'a [ProgramImage],
    banks: Vec<DescribedLane<'a>>,
}

/// A stream with its image.
#[derive(Serialize)]
struct DescribedLane<'a> {
    bank: u32,
    image: &'a str,
    first_word: u32,
}

impl BufferedProgram<'_> {
    /// Whether firmware has tables for it.
    ///
    /// # Errors
    /// When an image has more dimensions than they have, or its elements come in more loops.
    pub fn check(&self) -> Result<(), ProgramError> {
        let fits = |image: usize, what: &'static str, value: usize, limit: usize| {
            let image = self.images[image].name.clone();
            let (value, limit) = (value as u64, limit as u64);
            if value <= limit { Ok(()) } else { Err(ProgramError::Number { image, what, value, limit }) }
        };
        for (number, image) in self.images.iter().enumerate() {
            fits(number, "a number of dimensions of", image.shape.len(), ARRAY_DIMENSIONS)?;
        }
        self.places().iter().try_for_each(|place| fits(place.image, "loops:", place.extents.len(), BANK_LEVELS))
    }

    /// The places of its images.
    fn places(&self) -> Vec<Place> {
        let place = |lane: &BankLane| {
            let is_part = self.images[lane.image].output
                && self.lanes.iter().filter(|other| other.image == lane.image).count() > 1;
            let loops = lane.elements.loops.iter().filter(|_| is_part);
            Place {
                image: lane.image,
                bank: lane.bank,
                first_word: lane.first_word,
                start: lane.elements.lanes[0],
                extents: loops.clone().map(|(extent, _)| *extent).collect(),
                strides: loops.map(|(_, strides)| strides[0]).collect(),
            }
        };
        self.lanes.iter().map(place).collect()
    }

    /// The files of the program for the shell of an array, whose module has this name: the writes of its configuration, what hosts read of it, and its
    /// tables and a test for the driver.
    ///
    /// # Errors
    /// As [`BufferedProgram::check`].
    pub fn files(&self, buffer: &GlobalBuffer, module: &str) -> Result<Vec<File>, ProgramError> {
        self.check()?;
        let lane = |lane: &BankLane| DescribedLane {
            bank: lane.bank,
            image: self.images[lane.image].name.as_str(),
            first_word: lane.first_word,
        };
        let described = Described {
            program: self.name,
            array: buffer.name,
            digest: buffer.digest,
            tail: self.tail,
            cycles: self.cycles,
            images: &self.images,
            banks: self.lanes.iter().map(lane).collect(),
        };
        let description = serde_json::to_string_pretty(&described).expect("figures are numbers and names");
        let mut writes = bitstream_writes(&self.bitstream);
        writes.push((host_offset(of_host("tail")), self.tail as u32));
        let writes = window_writes(self.name, module, writes);
        let banks = buffer.bytes / u64::from(buffer.bank_bytes);
        let header = |name: &str| format!("global_buffer/{name}");
        let names = ProgramNames {
            driver: &module.to_lowercase(),
            program: self.name,
            array: buffer.name,
            images: &self.images,
            cycles: self.cycles,
            most_images: 2 * banks as usize,
            headers: vec![
                format!("{module}_registers.h"),
                format!("{}.h", self.name),
                header("driver.h"),
                header("registers.h"),
            ],
            banks: Some(upper(buffer.name)),
        };
        let tables = Tables { program: self, names: &names, places: self.places() };
        let mut files = vec![
            ("configuration/writes.hex".to_owned(), writes),
            ("program.json".to_owned(), description + "\n"),
            (format!("driver/{}_program.c", self.name), render(&tables)),
        ];
        files.extend(names.files());
        Ok(files)
    }
}

/// The rows of a shell, as templates print them.
pub(crate) struct Rows {
    /// Bytes of all banks, and bits of an address of the subordinate.
    pub bytes: u64,
    pub address_bits: u32,
    pub id_bits: u32,
    /// Words of a row.
    pub words: u32,
    /// Cycles from an access to its answer.
    pub latency: u32,
    /// Transactions of a direction that wait.
    pub bursts: u32,
}

/// A signal of the subordinate: its name in the standard, whether it is an input, and its bits.
type Signal = (&'static str, bool, u32);

impl Rows {
    /// The beginning of the names of its ports.
    pub(crate) const PORT: &'static str = "s_axi_buffer";

    fn of(buffer: &GlobalBuffer) -> Self {
        Rows {
            bytes: buffer.bytes,
            address_bits: buffer.bytes.next_power_of_two().ilog2(),
            id_bits: ID_BITS,
            words: 8 * ROW_BYTES / buffer.word_bits,
            latency: buffer.row_latency,
            bursts: BURSTS,
        }
    }

    /// Bytes of the address space of the subordinate.
    pub fn range(&self) -> u64 {
        1 << self.address_bits
    }

    /// Bits of its data.
    pub fn data_bits(&self) -> u32 {
        8 * ROW_BYTES
    }

    fn signals(&self) -> Vec<Signal> {
        let (id, address, data) = (self.id_bits, self.address_bits, self.data_bits());
        vec![
            ("awvalid", true, 1),
            ("awready", false, 1),
            ("awid", true, id),
            ("awaddr", true, address),
            ("awlen", true, 8),
            ("awsize", true, 3),
            ("awburst", true, 2),
            ("wvalid", true, 1),
            ("wready", false, 1),
            ("wdata", true, data),
            ("wstrb", true, ROW_BYTES),
            ("wlast", true, 1),
            ("bvalid", false, 1),
            ("bready", true, 1),
            ("bid", false, id),
            ("bresp", false, 2),
            ("arvalid", true, 1),
            ("arready", false, 1),
            ("arid", true, id),
            ("araddr", true, address),
            ("arlen", true, 8),
            ("arsize", true, 3),
            ("arburst", true, 2),
            ("rvalid", false, 1),
            ("rready", true, 1),
            ("rid", false, id),
            ("rdata", false, data),
            ("rresp", false, 2),
            ("rlast", false, 1),
        ]
    }

    /// The channels whose rules are watched.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        let signals: Vec<(&str, u32)> = self.signals().into_iter().map(|(name, _, bits)| (name, bits)).collect();
        ["aw", "w", "b", "ar", "r"].map(|name| channel(Self::PORT, name, &signals)).to_vec()
    }
}

/// The host of an array with its global buffer, in Veryl.
#[derive(Template)]
#[template(path = "buffered_host.veryl", escape = "none")]
struct Host<'a> {
    buffer: &'a GlobalBuffer<'a>,
    module: String,
    words: u32,
    config_bits: u32,
    digest: String,
    digest_address: String,
    hand_over_address: String,
    /// Banks, of which each says whether it is busy.
    banks: u32,
    /// Inputs of the array that the shell does not know.
    passed: Vec<ModulePort>,
}

impl Host<'_> {
    /// Number of the word with the cycles that a run goes on.
    fn tail(&self) -> u32 {
        of_host("tail")
    }

    fn reset_type(&self) -> &'static str {
        reset_type(self.buffer.reset)
    }
}

/// The shell, in Veryl.
#[derive(Template)]
#[template(path = "buffered.veryl", escape = "none")]
struct Buffered<'a>(&'a View<'a>, &'a Rows);

impl<'a> std::ops::Deref for Buffered<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        self.0
    }
}

impl View<'_> {
    /// The text of the shell of an array with its global buffer.
    pub(crate) fn rows_text(&self) -> String {
        self.rows.as_ref().map_or_else(String::new, |rows| render(&Buffered(self, rows)))
    }
}

/// The shell of an array with its global buffer: an AXI4 subordinate for the rows of the banks, and the registers of runs and of the configuration.
///
/// # Errors
/// When the module is not that of an array with a global buffer.
pub fn buffered_axi(buffer: &GlobalBuffer) -> Result<Shell, BusError> {
    buffer.check()?;
    let module = format!("{}_host", buffer.name);
    let wrong = || BusError::Ports { module: buffer.module.to_owned(), inputs: 0, outputs: 0 };
    let file = format!("rtl/{}.sv", buffer.module);
    let text = buffer.rtl.iter().find(|(path, _)| *path == file).map(|(_, text)| text.as_str());
    let ports = text.and_then(|text| ports_of(buffer.module, text)).ok_or_else(wrong)?;
    let banks = ports.iter().find(|port| port.name == "busy_o").ok_or_else(wrong)?.bits;
    let rows = Rows::of(buffer);
    let host = Host {
        buffer,
        module: module.clone(),
        words: rows.words,
        config_bits: CONFIG_BITS,
        digest: format!("{:08x}", buffer.digest),
        digest_address: format!("{:08x}", buffer.digest_address),
        hand_over_address: format!("{:08x}", buffer.hand_over_address),
        banks,
        passed: ports.into_iter().filter(|port| port.name == "test_enable_i").collect(),
    };
    let printed = compiled(host_sources(&module, &host), buffer.reset)?;
    let is_new = |(path, _): &File| buffer.rtl.iter().all(|(other, _)| other != path);
    let rtl: Vec<File> = buffer.rtl.iter().cloned().chain(printed.into_iter().filter(is_new)).collect();
    let accelerator = Accelerator {
        module: &module,
        rtl: &rtl,
        inputs: Vec::new(),
        outputs: Vec::new(),
        config_latency: buffer.latency,
        reset: buffer.reset,
        identity: buffer.identity,
        version: buffer.version,
    };
    let view = View::of(&accelerator, &format!("{}_axi", buffer.name))?;
    let view = View { error_latency: buffer.latency, programmed: true, rows: Some(rows), ..view };
    let mut registers = rows_registers();
    registers.extend(access_registers(window(CONFIG_BITS) as u32, true));
    registers.push(tail_register(window(CONFIG_BITS) as u32, "the last word of all banks"));
    Ok(shell(&accelerator, &view, registers, |description| description.buffered_driver(buffer))?.with(&rtl))
}
