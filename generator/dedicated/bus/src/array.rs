//! Shells of reconfigurable arrays.
//!
//! A *host* gives IO tiles the streams of the shell and has the ports of an accelerator, so that the shell is that of an accelerator. Which
//! IO tile a stream belongs to, its beats in a run and its walk through an image are registers in the window of the configuration.

use askama::Template;
use pushmem_csr::{Field, Register, SoftwareAccess, WORD_BYTES};
use pushmem_images::Element;
use pushmem_systemverilog::{File, ModulePort, ports_of};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::description::Description;
use crate::managers::{Memory, check_walks};
use crate::registers::window;
use crate::shell::View;
use crate::{Accelerator, BusError, Shell, Traffic, WORD_BITS, compiled, manager_registers, registers, render, shell};

/// The ends of the names of ports by which a host tells the shell about a stream.
pub(crate) const OF_STREAM: [&str; 7] =
    ["_used_o", "_last_o", "_beats_o", "_lasts_o", "_sizes_o", "_narrow_o", "_signed_o"];

/// Bits of an index of a loop, and of the bytes of a line, in walks.
pub(crate) const COUNT_BITS: u32 = 16;
pub(crate) const LINE_BITS: u32 = 32;

/// Bits of the number of a word among those of a stream, and of the host.
pub(crate) const BLOCK_BITS: u32 = 5;

/// The words of the host.
const HOST: [&str; 6] =
    ["array_address", "array_data", "configuration_status", "refused_address", "array_digest", "tail"];

/// The words of a stream, before those of its walk.
const STREAM: [&str; 2] = ["stream", "beats"];

/// The most streams of a shell: a register has a bit for each.
const MOST_STREAMS: u32 = 32;

/// The array that a shell is for.
#[derive(Clone, Debug)]
pub struct ArrayModule<'a> {
    /// Its name, with which those of the host and of the shell begin.
    pub name: &'a str,
    /// Name of its module.
    pub module: &'a str,
    /// Its SystemVerilog files, used modules before their users: path and text of each.
    pub rtl: &'a [File],
    /// Columns, each with an IO tile.
    pub columns: u32,
    /// The first 32 bits of the digest of its specification, and the address at which the array takes them.
    pub digest: u32,
    /// See `digest`.
    pub digest_address: u32,
    /// Cycles from an access to its configuration port to its answer.
    pub latency: u32,
    /// Loops of a stream: a walk through an image has as many outside of a line.
    pub levels: u32,
    /// Streams into the array that the shell has.
    pub readers: u32,
    /// Streams out of the array that the shell has.
    pub writers: u32,
    /// How flip-flops are reset.
    pub reset: Reset,
    /// The identity, which firmware reads in a register.
    pub identity: u32,
    /// Version of the files.
    pub version: &'a str,
}

/// A stream of a host.
pub(crate) struct HostStream {
    pub name: String,
    pub output: bool,
    pub number: u32,
    /// Its number among all, sources first.
    pub index: u32,
}

/// The host, in Veryl.
#[derive(Template)]
#[template(path = "host.veryl", escape = "none")]
struct Host<'a> {
    array: &'a str,
    module: String,
    array_module: &'a str,
    columns: u32,
    readers: u32,
    writers: u32,
    levels: u32,
    latency: u32,
    reset: Reset,
    digest: String,
    digest_address: String,
    config_bits: u32,
    count_bits: u32,
    line_bits: u32,
    block_bits: u32,
    /// Inputs of the array that the shell does not know.
    passed: Vec<ModulePort>,
    /// Whether streams walk through images.
    walks: bool,
}

impl Host<'_> {
    fn reset_type(&self) -> &'static str {
        crate::reset_type(self.reset)
    }

    fn streams(&self) -> Vec<HostStream> {
        streams(self.readers, self.writers)
    }

    fn of_host(&self, name: &str) -> u32 {
        of_host(name)
    }

    fn of_stream(&self, name: &str) -> u32 {
        of_stream(name, self.levels)
    }

    /// Bits of the word `stream`.
    fn stream_bits(&self) -> u32 {
        stream_fields(self.walks).iter().map(|field| field.bits).sum()
    }
}

/// The accesses to the configuration port of an array, in Veryl.
#[derive(Template)]
#[template(path = "array_access.veryl", escape = "none")]
struct ArrayAccess {
    /// Bits of the number of a word.
    bits: u32,
}

impl ArrayAccess {
    /// Number of a word as a literal.
    fn at(&self, name: &str) -> String {
        format!("{}'d{}", self.bits, of_host(name))
    }
}

/// The modules of a host: the access to the array, and the host itself.
pub(crate) fn host_sources(module: &str, host: &impl Template) -> Vec<SourceFile> {
    let access =
        SourceFile { name: "pushmem_array_access".to_owned(), text: render(&ArrayAccess { bits: BLOCK_BITS }) };
    vec![access, SourceFile { name: module.to_owned(), text: render(host) }]
}

/// The fields of the word `stream`; whether streams walk through images.
fn stream_fields(walks: bool) -> Vec<Field<()>> {
    let mut fields =
        vec![field("column", 0, 8, "The column of its IO tile"), field("used", 8, 1, "The program uses the stream")];
    if walks {
        fields.push(field("narrow", 9, 1, "An element takes one byte in memory"));
        fields.push(field("signed", 10, 1, "Such an element has a sign"));
    }
    fields
}

/// Number of a word of the host.
pub(crate) fn of_host(name: &str) -> u32 {
    HOST.iter().position(|word| *word == name).unwrap_or_else(|| panic!("no word `{name}`")) as u32
}

/// Number of a word of a stream; `lasts` and `sizes` are the first ones of several.
pub(crate) fn of_stream(name: &str, levels: u32) -> u32 {
    let first = STREAM.len() as u32;
    match name {
        "lasts" => first,
        "sizes" => first + levels,
        _ => STREAM.iter().position(|word| *word == name).unwrap_or_else(|| panic!("no word `{name}`")) as u32,
    }
}

/// Byte offset in the window of a word of the host.
pub(crate) fn host_offset(word: u32) -> u32 {
    WORD_BYTES * word
}

/// Byte offset in the window of a word of a stream, by the stream's number among all.
pub(crate) fn stream_offset(stream: u32, word: u32) -> u32 {
    WORD_BYTES * (((stream + 1) << BLOCK_BITS) + word)
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

fn streams(readers: u32, writers: u32) -> Vec<HostStream> {
    let of =
        |output: bool, number: u32, index: u32| HostStream { name: stream_name(output, number), output, number, index };
    let sources = (0..readers).map(|number| of(false, number, number));
    sources.chain((0..writers).map(|number| of(true, number, readers + number))).collect()
}

/// The shell of an array with AXI4-Stream for its streams.
///
/// # Errors
/// When there are too many streams, or the module is not that of an array.
pub fn array_axis(array: &ArrayModule) -> Result<Shell, BusError> {
    let hosted = Hosted::of(array, false)?;
    let view = hosted.view("axis")?;
    let mut registers = registers(array.readers);
    registers.extend(array.registers(false));
    hosted.shell(&view, registers, |_| Vec::new())
}

/// The shell of an array with managers of AXI4 that read and write images in memory, with the driver that loads programs.
///
/// # Errors
/// As [`array_axis`].
pub fn array_axi(array: &ArrayModule, memory: Memory) -> Result<Shell, BusError> {
    let hosted = Hosted::of(array, true)?;
    let view = hosted.view("axi")?.with_walks(array.levels, memory)?;
    let mut registers = manager_registers(view.images.len() as u32, &view.arguments());
    registers.extend(array.registers(true));
    hosted.shell(&view, registers, |description| description.array_driver(array))
}

/// The traffic of a stream of an array: programs say how many words it has.
const ANY_WORDS: Traffic = Traffic { beats: 0, element: Element::U16, whole: Element::U16 };

/// An array with its host.
struct Hosted<'a> {
    array: &'a ArrayModule<'a>,
    module: String,
    /// The files of both.
    rtl: Vec<File>,
}

impl<'a> Hosted<'a> {
    fn of(array: &'a ArrayModule<'a>, walks: bool) -> Result<Self, BusError> {
        array.check(walks)?;
        let module = format!("{}_host", array.name);
        let file = format!("rtl/{}.sv", array.module);
        let text = array.rtl.iter().find(|(path, _)| *path == file).map(|(_, text)| text.as_str());
        let wrong = || BusError::Ports { module: array.module.to_owned(), inputs: 1, outputs: 1 };
        let ports = text.and_then(|text| ports_of(array.module, text)).ok_or_else(wrong)?;
        let host = Host {
            array: array.name,
            module: module.clone(),
            array_module: array.module,
            columns: array.columns,
            readers: array.readers,
            writers: array.writers,
            levels: array.levels,
            latency: array.latency,
            reset: array.reset,
            digest: format!("{:08x}", array.digest),
            digest_address: format!("{:08x}", array.digest_address),
            config_bits: array.config_bits(),
            count_bits: COUNT_BITS,
            line_bits: LINE_BITS,
            block_bits: BLOCK_BITS,
            passed: ports.into_iter().filter(|port| port.name == "test_enable_i").collect(),
            walks,
        };
        let printed = compiled(host_sources(&module, &host), array.reset)?;
        let is_new = |(path, _): &File| array.rtl.iter().all(|(other, _)| other != path);
        let rtl = array.rtl.iter().cloned().chain(printed.into_iter().filter(is_new)).collect();
        Ok(Hosted { array, module, rtl })
    }

    fn accelerator(&self) -> Accelerator<'_> {
        Accelerator {
            module: &self.module,
            rtl: &self.rtl,
            inputs: vec![ANY_WORDS; self.array.readers as usize],
            outputs: vec![ANY_WORDS; self.array.writers as usize],
            config_latency: self.array.latency,
            reset: self.array.reset,
            identity: self.array.identity,
            version: self.array.version,
        }
    }

    fn view(&self, bus: &str) -> Result<View<'_>, BusError> {
        let view = View::of(&self.accelerator(), &format!("{}_{bus}", self.array.name))?;
        Ok(View { error_latency: self.array.latency, programmed: true, ..view })
    }

    /// The files of the shell, with those of the array and its host.
    fn shell(
        &self,
        view: &View,
        registers: Vec<Register<()>>,
        firmware: impl FnOnce(&Description) -> Vec<File>,
    ) -> Result<Shell, BusError> {
        Ok(shell(&self.accelerator(), view, registers, firmware)?.with(&self.rtl))
    }
}

impl ArrayModule<'_> {
    /// Whether there is a shell with its streams; with `walks` their arguments have registers, too. Neither its RTL nor its module matters.
    ///
    /// # Errors
    /// When there are more streams than columns, or than the shell has registers for.
    pub fn check(&self, walks: bool) -> Result<(), BusError> {
        let ArrayModule { readers, writers, columns, .. } = *self;
        let refused = |limit: String| Err(BusError::Streams { array: self.name.to_owned(), readers, writers, limit });
        if readers > columns || writers > columns {
            return refused(format!("{columns} of either"));
        }
        if readers + writers > MOST_STREAMS {
            return refused(format!("{MOST_STREAMS} of both together"));
        }
        if walks { check_walks((readers + writers) as usize, self.levels) } else { Ok(()) }
    }

    /// Bits of an address in the window.
    fn config_bits(&self) -> u32 {
        let blocks = self.readers + self.writers + 1;
        WORD_BYTES.ilog2() + BLOCK_BITS + blocks.next_power_of_two().ilog2()
    }

    /// The registers in the window; with walks where streams are images in memory.
    fn registers(&self, walks: bool) -> Vec<Register<()>> {
        let base = window(self.config_bits()) as u32;
        let mut registers = access_registers(base, false);
        registers.push(tail_register(base, "the last beat of all streams"));
        for stream in streams(self.readers, self.writers) {
            registers.extend(self.stream_registers(&stream, base, walks));
        }
        registers
    }

    /// The registers of a stream.
    fn stream_registers(&self, stream: &HostStream, base: u32, walks: bool) -> Vec<Register<()>> {
        let name = &stream.name;
        let register = |end: &str, word: u32, fields: Vec<Field<()>>| Register {
            name: format!("{name}_{end}"),
            offset: base + stream_offset(stream.index, word),
            access: SoftwareAccess::ReadWrite,
            description: String::new(),
            fields,
        };
        let mut registers = vec![
            register("stream", of_stream("stream", self.levels), stream_fields(walks)),
            register("beats", of_stream("beats", self.levels), whole("Its beats in a run")),
        ];
        if walks {
            let (lasts, sizes) = (of_stream("lasts", self.levels), of_stream("sizes", self.levels));
            registers.extend((0..self.levels).map(|level| {
                let last = field("value", 0, COUNT_BITS, "Iterations of this loop outside of a line, less one");
                register(&format!("last_{level}"), lasts + level, vec![last])
            }));
            registers.extend((0..=self.levels).map(|level| {
                let size = "Bytes of a line with so many of the loops outside of it";
                register(&format!("size_{level}"), sizes + level, whole(size))
            }));
        }
        registers
    }
}

/// The registers of accesses to the configuration port of an array, from the offset of the window on; whether it has a global buffer, whose banks
/// load bitstreams.
pub(crate) fn access_registers(base: u32, has_banks: bool) -> Vec<Register<()>> {
    let host = |name: &str, access: SoftwareAccess, description: &str, fields: Vec<Field<()>>| {
        let (offset, description) = (base + host_offset(of_host(name)), description.to_owned());
        Register { name: name.to_owned(), offset, access, description, fields }
    };
    let mut status = vec![
        field("loaded", 0, 1, "The array took the digest of a bitstream; read only"),
        field("wrong_digest", 1, 1, "A bitstream had the digest of another array"),
        field("refused", 2, 1, "The array refused an access: there is no such register, or no digest came before"),
    ];
    if has_banks {
        status.push(field("loading", 3, 1, "The banks load a bitstream; read only"));
    }
    vec![
        host(
            "array_address",
            SoftwareAccess::ReadWrite,
            "",
            whole("Address of an access to the configuration of the array"),
        ),
        host(
            "array_data",
            SoftwareAccess::ReadWrite,
            "An access here is one to the array, at `array_address`.",
            whole("Its data"),
        ),
        host(
            "configuration_status",
            SoftwareAccess::ReadWrite,
            "Ones that are written to `wrong_digest` and `refused` clear.",
            status,
        ),
        host(
            "refused_address",
            SoftwareAccess::ReadOnly,
            "",
            whole("The first address that the array refused, since `refused` was cleared"),
        ),
        host(
            "array_digest",
            SoftwareAccess::ReadOnly,
            "",
            whole("The digest with which bitstreams of the array begin"),
        ),
    ]
}

/// The register with the cycles that a run goes on after something, from the offset of the window on.
pub(crate) fn tail_register(base: u32, after: &str) -> Register<()> {
    Register {
        name: "tail".to_owned(),
        offset: base + host_offset(of_host("tail")),
        access: SoftwareAccess::ReadWrite,
        description: String::new(),
        fields: whole(&format!("Cycles that a run goes on after {after}")),
    }
}

fn whole(description: &str) -> Vec<Field<()>> {
    vec![field("value", 0, 32, description)]
}

fn field(name: &str, low: u32, bits: u32, description: &str) -> Field<()> {
    Field { low, ..Field::new(name, bits, description, ()) }
}
