//! Shells of reconfigurable arrays.
//!
//! A *host* gives IO tiles the streams of the shell and has the ports of an accelerator, so that the shell is that of an accelerator. Which
//! IO tile a stream belongs to, its beats in a run and its walk through an image are registers in the window of the configuration.
//!
//! An array with a global buffer has the rows of its banks in place of streams: a start hands the next half of the banks over and flushes the
//! array; a run is over when no bank has words to move.

use askama::Template;
use pushmem_csr::SoftwareAccess::{ReadOnly, ReadWrite};
use pushmem_csr::{Field, Layout, WORD_BYTES};
use pushmem_files::{Diagnostic, render};
use pushmem_images::Element;
use pushmem_systemverilog::{File, ModulePort, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::managers::{Memory, check_walks};
use crate::registers::{field, value, window};
use crate::shell::{Channel, View};
use crate::subordinate::{AXI_CHANNELS, AxiBits, Signal, axi, channels};
use crate::{Accelerator, Shell, Traffic, WORD_BITS, compiled, new_files, shell, text_of, without_ports};

/// The ends of the names of ports by which a host tells the shell about a stream.
pub(crate) const OF_STREAM: [&str; 7] =
    ["_used_o", "_last_o", "_beats_o", "_lasts_o", "_sizes_o", "_narrow_o", "_signed_o"];

/// Bits of an index of a loop, and of the bytes of a line, in walks.
pub(crate) const COUNT_BITS: u32 = 16;
pub(crate) const LINE_BITS: u32 = 32;

/// Bits of the number of a word among those of a stream, and of the host.
const BLOCK_BITS: u32 = 5;

/// The words of the host.
const HOST: [&str; 6] =
    ["array_address", "array_data", "configuration_status", "refused_address", "array_digest", "tail"];

/// The words of a stream, before those of its walk.
const STREAM: [&str; 2] = ["stream", "beats"];

/// The most streams of a shell: a register has a bit for each.
const MOST_STREAMS: u32 = 32;

/// The most bytes of all banks.
const MOST_BYTES: u64 = 1 << 31;

/// The array that a shell is for.
#[derive(Clone, Debug)]
pub struct ArrayModule<'a> {
    /// Its name, with which those of the host and of the shell begin.
    pub name: &'a str,
    /// Name of its module, in which its global buffer is if it has one.
    pub module: String,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// How the words of runs reach it.
    pub ports: ArrayPorts,
    /// The first 32 bits of the digest of its specification, and the address at which the array takes them.
    pub digest: u32,
    /// See `digest`.
    pub digest_address: u32,
    /// Cycles from an access to its configuration port to its answer.
    pub latency: u32,
    /// How flip-flops are reset.
    pub reset: Reset,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Version of the files.
    pub version: &'a str,
}

/// How the words of runs reach an array.
#[derive(Clone, Debug)]
pub enum ArrayPorts {
    /// Its IO tiles have streams.
    Tiles(IoTiles),
    /// Its global buffer has rows, which an AXI4 subordinate reads and writes.
    Rows(GlobalBuffer),
}

/// The IO tiles of an array, and the streams of its shell.
#[derive(Clone, Copy, Debug, Default)]
pub struct IoTiles {
    /// Columns, each with an IO tile.
    pub columns: u32,
    /// Loops of a stream: a walk through an image has as many outside of a line.
    pub levels: u32,
    /// Streams into the array that the shell has.
    pub readers: u32,
    /// Streams out of the array that the shell has.
    pub writers: u32,
    /// The bus to the images in memory that streams walk through; without it they are AXI4-Stream.
    pub memory: Option<Memory>,
}

/// The global buffer of an array.
#[derive(Clone, Debug)]
pub struct GlobalBuffer {
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
    /// The beginning of the names of functions of the driver of its configuration, which is in the folder `global_buffer`.
    pub functions: String,
}

impl GlobalBuffer {
    /// The beginning of the names of the ports to its rows.
    pub(crate) const PORT: &'static str = "s_axi_buffer";
    pub(crate) const ROW_BYTES: u32 = 8;
    /// Bits of the identifiers of transactions.
    pub(crate) const ID_BITS: u32 = 8;
    /// Transactions of a direction that wait for the one at work.
    pub(crate) const BURSTS: u32 = 4;

    /// Bits of an address of the subordinate.
    pub(crate) fn address_bits(&self) -> u32 {
        self.bytes.next_power_of_two().ilog2()
    }

    /// Bytes of its address space.
    pub(crate) fn range(&self) -> u64 {
        1 << self.address_bits()
    }

    /// Bits of its data.
    pub(crate) fn data_bits(&self) -> u32 {
        8 * Self::ROW_BYTES
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> u32 {
        self.data_bits() / self.word_bits
    }

    /// The signals of the subordinate.
    pub(crate) fn signals(&self) -> Vec<Signal> {
        let bits = AxiBits { id: Self::ID_BITS, address: self.address_bits(), data: self.data_bits() };
        axi(Self::PORT, &AXI_CHANNELS, bits, false)
    }

    /// The channels whose rules are watched.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        channels(Self::PORT, &AXI_CHANNELS, &self.signals())
    }
}

struct HostStream {
    name: String,
    output: bool,
    number: u32,
    /// Its number among all, sources first.
    index: u32,
}

/// The host, in Veryl.
#[derive(Template)]
#[template(path = "host.veryl", escape = "none")]
struct Host<'a> {
    array: &'a ArrayModule<'a>,
    tiles: IoTiles,
    module: &'a str,
    config_bits: u32,
    /// Banks of a global buffer, of which each says whether it is busy.
    banks: u32,
    /// Inputs of the array that the shell does not know.
    passed: Vec<ModulePort>,
}

impl Host<'_> {
    fn of_stream(&self, name: &str) -> u32 {
        of_stream(name, self.tiles.levels)
    }

    /// Bits of the word `stream`.
    fn stream_bits(&self) -> u32 {
        stream_fields(self.tiles.memory.is_some()).iter().map(|field| field.bits).sum()
    }
}

/// The accesses to the configuration port of an array, in Veryl.
#[derive(Template)]
#[template(path = "array_access.veryl", escape = "none")]
struct ArrayAccess;

impl ArrayAccess {
    /// Number of a word as a literal.
    fn at(&self, name: &str) -> String {
        format!("{BLOCK_BITS}'d{}", of_host(name))
    }
}

/// The fields of the word `stream`; whether streams walk through images.
fn stream_fields(walks: bool) -> Vec<Field<()>> {
    let mut fields =
        vec![field("column", 8, "The column of its IO tile"), field("used", 1, "The program uses the stream")];
    if walks {
        fields.push(field("narrow", 1, "An element takes one byte in memory"));
        fields.push(field("signed", 1, "Such an element has a sign"));
    }
    fields
}

/// Number of a word of the host.
fn of_host(name: &str) -> u32 {
    HOST.iter().position(|word| *word == name).unwrap_or_else(|| panic!("no word `{name}`")) as u32
}

/// Number of a word of a stream; `lasts` and `sizes` are the first ones of several.
fn of_stream(name: &str, levels: u32) -> u32 {
    let first = STREAM.len() as u32;
    match name {
        "lasts" => first,
        "sizes" => first + levels,
        _ => STREAM.iter().position(|word| *word == name).unwrap_or_else(|| panic!("no word `{name}`")) as u32,
    }
}

/// Byte offset in the window of a word of the host.
pub(crate) fn host_offset(name: &str) -> u32 {
    WORD_BYTES * of_host(name)
}

/// Byte offset in the window of the first word of a stream, by the stream's number among all.
pub(crate) fn stream_offset(stream: u32) -> u32 {
    (WORD_BYTES * (stream + 1)) << BLOCK_BITS
}

/// The value of the word `stream` for one that belongs to the IO tile of a column, and walks through an image of such elements, if it does.
pub(crate) fn stream_word(column: u32, element: Option<Element>) -> u32 {
    let narrow = element.is_some_and(|element| element.bits() < WORD_BITS);
    let signed = narrow && element.is_some_and(Element::is_signed);
    u32::from(signed) << 10 | u32::from(narrow) << 9 | 1 << 8 | column
}

/// The name of the ports of a stream, by its number in its direction.
pub(crate) fn stream_name(output: bool, number: u32) -> String {
    format!("{}_{number}", if output { "out" } else { "in" })
}

/// The traffic of a stream of an array: programs say how many words it has.
const ANY_WORDS: Traffic = Traffic { beats: 0, element: Element::U16, whole: Element::U16 };

/// The shell of an array: AXI4-Lite for the registers of runs and of the configuration, and the bus of its words. Where these are images in memory,
/// or rows of a global buffer, there is the driver that loads programs.
///
/// # Errors
/// As [`ArrayModule::check`], and when the module is not that of an array.
pub fn array_shell(array: &ArrayModule) -> Result<Shell, Diagnostic> {
    array.check()?;
    let tiles = array.tiles();
    let module = &format!("{}_host", array.name);
    let (inputs, outputs) = (tiles.readers as usize, tiles.writers as usize);
    let wrong = || without_ports(&array.module, inputs, outputs);
    let ports = text_of(array.rtl, &array.module).and_then(|text| ports_of(&array.module, text)).ok_or_else(wrong)?;
    let banks = match &array.ports {
        ArrayPorts::Tiles(_) => 0,
        ArrayPorts::Rows(_) => ports.iter().find(|port| port.name == "busy_o").ok_or_else(wrong)?.bits,
    };
    let passed = ports.into_iter().filter(|port| port.name == "test_enable_i").collect();
    let host = render(&Host { array, tiles, module, config_bits: array.config_bits(), banks, passed });
    let access = SourceFile { name: "pushmem_array_access".to_owned(), text: render(&ArrayAccess) };
    let printed = compiled(vec![access, SourceFile { name: module.clone(), text: host }], array.reset)?;
    let rtl: Vec<File> = array.rtl.iter().cloned().chain(new_files(array.rtl, printed)).collect();
    let accelerator = Accelerator {
        module,
        rtl: &rtl,
        inputs: vec![ANY_WORDS; inputs],
        outputs: vec![ANY_WORDS; outputs],
        config_latency: array.latency,
        reset: array.reset,
        identity: array.identity,
        version: array.version,
    };
    let bus = if array.rows().is_some() || tiles.memory.is_some() { "axi" } else { "axis" };
    let view = View::of(&accelerator, &format!("{}_{bus}", array.name))?;
    let view = View { error_latency: array.latency, array: Some(array), ..view };
    let view = match tiles.memory {
        Some(memory) => view.with_walks(tiles.levels, memory)?,
        None => view,
    };
    let shell = shell(&accelerator, &view)?;
    Ok(Shell { files: rtl.iter().cloned().chain(shell.files).collect(), ..shell })
}

impl ArrayModule<'_> {
    /// Its IO tiles; those of an array with a global buffer have no streams outside.
    pub(crate) fn tiles(&self) -> IoTiles {
        match &self.ports {
            ArrayPorts::Tiles(tiles) => *tiles,
            ArrayPorts::Rows(_) => IoTiles::default(),
        }
    }

    pub(crate) fn rows(&self) -> Option<&GlobalBuffer> {
        match &self.ports {
            ArrayPorts::Tiles(_) => None,
            ArrayPorts::Rows(rows) => Some(rows),
        }
    }

    /// Whether there is a shell for it. Neither its RTL nor its module matters.
    ///
    /// # Errors
    /// When there are more streams than columns, or than the shell has registers for; when its banks have more bytes than there are addresses for.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if let Some(&GlobalBuffer { bytes, .. }) = self.rows() {
            let message = format!(
                "the {bytes} bytes of its banks are more than the {MOST_BYTES} that an AXI4 subordinate has addresses for"
            );
            let refused = || Diagnostic::new(message).with_help("choose an array with fewer `banks` or `bank_bytes`");
            return if bytes > MOST_BYTES { Err(refused()) } else { Ok(()) };
        }
        let IoTiles { readers, writers, columns, levels, memory } = self.tiles();
        let refused = |limit: String| {
            let message = format!("{readers} sources and {writers} sinks are more than the {limit} of `{}`", self.name);
            Err(Diagnostic::new(message).with_help("ask for fewer with `--bus-readers` and `--bus-writers`"))
        };
        if readers > columns || writers > columns {
            return refused(format!("{columns} of either"));
        }
        if readers + writers > MOST_STREAMS {
            return refused(format!("{MOST_STREAMS} of both together"));
        }
        if memory.is_some() { check_walks((readers + writers) as usize, levels) } else { Ok(()) }
    }

    /// Bits of an address in the window.
    fn config_bits(&self) -> u32 {
        let IoTiles { readers, writers, .. } = self.tiles();
        WORD_BYTES.ilog2() + BLOCK_BITS + (readers + writers + 1).next_power_of_two().ilog2()
    }

    /// The streams of the shell.
    fn streams(&self) -> Vec<HostStream> {
        let IoTiles { readers, writers, .. } = self.tiles();
        let of = |output: bool, number: u32, index: u32| HostStream {
            name: stream_name(output, number),
            output,
            number,
            index,
        };
        let sources = (0..readers).map(|number| of(false, number, number));
        sources.chain((0..writers).map(|number| of(true, number, readers + number))).collect()
    }

    /// Adds the registers in the window.
    pub(crate) fn add_registers(&self, layout: &mut Layout<()>) {
        let base = window(self.config_bits()) as u32;
        layout.skip_to(base);
        let address = value("Address of an access to the configuration of the array");
        layout.group("array_address", "", ReadWrite, address);
        let access = "An access here is one to the array, at `array_address`.";
        layout.group("array_data", access, ReadWrite, value("Its data"));
        let mut status = vec![
            field("loaded", 1, "The array took the digest of a bitstream; read only"),
            field("wrong_digest", 1, "A bitstream had the digest of another array"),
            field("refused", 1, "The array refused an access: there is no such register, or no digest came before"),
        ];
        if self.rows().is_some() {
            status.push(field("loading", 1, "The banks load a bitstream; read only"));
        }
        let clear = "Ones that are written to `wrong_digest` and `refused` clear.";
        layout.group("configuration_status", clear, ReadWrite, status);
        let refused = value("The first address that the array refused, since `refused` was cleared");
        layout.group("refused_address", "", ReadOnly, refused);
        layout.group("array_digest", "", ReadOnly, value("The digest with which bitstreams of the array begin"));
        let last = if self.rows().is_some() { "last word of all banks" } else { "last beat of all streams" };
        layout.group("tail", "", ReadWrite, value(&format!("Cycles that a run goes on after the {last}")));
        let IoTiles { levels, memory, .. } = self.tiles();
        for HostStream { name, index, .. } in self.streams() {
            layout.skip_to(base + stream_offset(index));
            let mut add = |end: &str, fields| layout.group(&format!("{name}_{end}"), "", ReadWrite, fields);
            add("stream", stream_fields(memory.is_some()));
            add("beats", value("Its beats in a run"));
            for level in (0..levels).filter(|_| memory.is_some()) {
                let last = field("value", COUNT_BITS, "Iterations of this loop outside of a line, less one");
                add(&format!("last_{level}"), vec![last]);
            }
            for level in (0..=levels).filter(|_| memory.is_some()) {
                let size = "Bytes of a line with so many of the loops outside of it";
                add(&format!("size_{level}"), value(size));
            }
        }
    }
}
