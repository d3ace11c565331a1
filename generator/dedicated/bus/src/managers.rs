//! The images that a shell reads from memory and writes there, as templates print them.

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_images::Element;

use crate::array::{COUNT_BITS, LINE_BITS};
use crate::image::{Elements, Walk, have_addresses};
use crate::shell::{Channel, View};
use crate::streams::Stream;
use crate::subordinate::{AXI_CHANNELS, AxiBits, Signal, axi, channels};
use crate::{ANY_ORDER, WORD_BITS};

/// Bits of an address, and of a stride when it is added to one.
pub(crate) const ADDRESS_BITS: u32 = 64;

/// The most images: a register has a bit for each.
const MOST_IMAGES: usize = 32;

/// The buses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bits of their data, a power of two from 32 to 1024.
    pub bits: u32,
    /// Beats of the longest burst, a power of two up to 256.
    pub burst_beats: u32,
    /// The most bursts on their way, of each image.
    pub bursts: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { bits: 64, burst_beats: 16, bursts: 4 }
    }
}

impl Memory {
    /// Bytes that a burst may have.
    pub const BURST_BYTES: u32 = 4096;

    /// Bytes of a beat as AXI encodes them.
    pub(crate) fn size(self) -> u32 {
        (self.bits / 8).ilog2()
    }
}

/// A stride that is an argument.
pub(crate) struct Stride {
    pub dimension: usize,
    /// Its word among the arguments.
    pub word: usize,
    /// Bytes where the image has no gaps.
    pub dense: u64,
    /// Whether the manager goes along it: else it is that of a single iteration.
    pub used: bool,
}

/// A loop over lines.
pub(crate) struct Loop {
    /// Bytes from one iteration to the next, as an expression.
    pub stride: String,
}

/// An image, and its manager.
pub(crate) struct Image {
    pub name: String,
    pub output: bool,
    /// Its number, inputs first.
    pub number: usize,
    /// Words of a beat of its stream, and beats of a run.
    pub lanes: u32,
    pub beats: u64,
    /// The type of its elements; nothing if it is in a register.
    pub element: Option<Element>,
    /// The type of its elements in the program.
    pub whole: Element,
    /// The word of the address among the arguments.
    pub address_word: usize,
    pub strides: Vec<Stride>,
    /// Bytes from the address to the first word, as an expression to be added.
    pub start: String,
    pub levels: Vec<Loop>,
    /// Widths and values of the parameters of its manager.
    pub count_bits: u32,
    pub line_bits: u32,
    pub lasts: String,
    pub sizes: String,
    pub signals: Vec<Signal>,
    /// Elements in each dimension.
    pub shape: Vec<i64>,
}

impl Image {
    /// Signals between the port and the manager: the others are constants.
    pub fn connected(&self) -> Vec<Signal> {
        let is_constant = |signal: &&Signal| ["id", "size", "burst", "cache", "prot"].contains(&signal.end);
        self.signals.iter().filter(|signal| !is_constant(signal)).cloned().collect()
    }

    /// The beginning of the names of the channel of its addresses.
    pub fn address_channel(&self) -> &'static str {
        if self.output { "aw" } else { "ar" }
    }

    /// Bytes of the image where it has no gaps.
    pub fn bytes(&self) -> u64 {
        self.element_bytes() * self.shape.iter().product::<i64>() as u64
    }

    /// Bytes of an element in memory.
    pub fn element_bytes(&self) -> u64 {
        self.element.map_or(u64::from(WORD_BITS / 8), Element::bytes)
    }

    /// The same as the manager has it, for which bytes are words where a register has the type.
    pub fn word_bytes(&self) -> u64 {
        self.element.map_or(1, Element::bytes)
    }

    /// Bits of a beat between the manager and the accelerator.
    pub fn data_bits(&self) -> u64 {
        8 * self.element_bytes() * u64::from(self.lanes)
    }

    /// Words of a beat.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Whether words of the accelerator have an upper byte that memory never has.
    pub fn is_narrow(&self) -> bool {
        self.element.is_some_and(|element| element.bits() < WORD_BITS)
    }

    pub fn is_signed(&self) -> bool {
        self.element.is_some_and(Element::is_signed)
    }

    /// The type of an element in C.
    pub fn c_type(&self) -> &'static str {
        c_type(self.element)
    }

    /// The name of its type in programs.
    pub fn type_name(&self) -> &'static str {
        self.element.map_or("u16", Element::name)
    }

    /// The manager of a stream whose walk has so many loops, which registers describe.
    fn walked(stream: &Stream, number: usize, levels: u32, memory: Memory) -> Self {
        let address_word = number * (2 + levels as usize);
        let stride =
            |level: usize| Stride { dimension: level + 1, word: address_word + 2 + level, dense: 0, used: true };
        let strides = (0..levels as usize).map(stride).collect_vec();
        let level = |stride: &Stride| Loop { stride: format!("image_{}_stride_{}", stream.name, stride.dimension) };
        Image {
            name: stream.name.clone(),
            output: stream.output,
            number,
            lanes: stream.lanes(),
            beats: stream.beats(),
            element: None,
            whole: stream.traffic.whole,
            address_word,
            levels: strides.iter().map(level).collect(),
            strides,
            start: String::new(),
            count_bits: COUNT_BITS,
            line_bits: LINE_BITS,
            lasts: String::new(),
            sizes: String::new(),
            signals: signals(stream, memory),
            shape: Vec::new(),
        }
    }

    fn of(stream: &Stream, number: usize, walk: &Walk, elements: &Elements, words: &mut usize) -> Self {
        let element_bytes = stream.traffic.element.bytes();
        let address_word = *words;
        *words += 2;
        let strides = walk.strides().map(|dimension| {
            let word = *words;
            *words += 1;
            let inside = elements.shape[..dimension].iter().product::<i64>() as u64;
            let used = walk.moves_in(dimension);
            Stride { dimension, word, dense: element_bytes * inside, used }
        });
        let strides = strides.collect_vec();
        let expression = |steps: &[i64]| bytes_of(&stream.name, element_bytes as i64, steps);
        let start = walk.start.iter().any(|index| *index != 0).then(|| format!(" + {}", expression(&walk.start)));
        let mut levels = walk.levels.iter().map(|level| (level.extent, expression(&level.steps))).collect_vec();
        if levels.is_empty() {
            levels.push((1, "64'd0".to_owned()));
        }
        let total: u64 = walk.words * levels.iter().map(|(extent, _)| extent).product::<u64>() * element_bytes;
        let (count_bits, line_bits) = (bits(levels.iter().map(|level| level.0).max().unwrap_or(1)), bits(total));
        let sizes = levels.iter().scan(walk.words * element_bytes, |size, (extent, _)| {
            *size *= extent;
            Some(*size)
        });
        let sizes = std::iter::once(walk.words * element_bytes).chain(sizes).collect_vec();
        Image {
            name: stream.name.clone(),
            output: stream.output,
            number,
            lanes: stream.lanes(),
            beats: stream.beats(),
            element: Some(stream.traffic.element),
            whole: stream.traffic.whole,
            address_word,
            strides,
            start: start.unwrap_or_default(),
            lasts: packed(count_bits, levels.iter().map(|level| level.0 - 1)),
            sizes: packed(line_bits, sizes.into_iter()),
            levels: levels.into_iter().map(|(_, stride)| Loop { stride }).collect(),
            count_bits,
            line_bits,
            signals: Vec::new(),
            shape: elements.shape.clone(),
        }
    }
}

fn c_type(element: Option<Element>) -> &'static str {
    match element {
        Some(Element::U8) => "unsigned char",
        Some(Element::I8) => "char",
        Some(Element::U16 | Element::Bf16 | Element::F16) => "unsigned short",
        _ => "short",
    }
}

/// Bits of a number, at least one.
fn bits(number: u64) -> u32 {
    number.checked_ilog2().map_or(1, |highest| highest + 1)
}

/// Numbers in a vector, the first one lowest.
fn packed(bits: u32, numbers: impl DoubleEndedIterator<Item = u64>) -> String {
    format!("{{{}}}", numbers.rev().map(|number| format!("{bits}'d{number}")).join(", "))
}

/// Bytes of steps in each dimension of an image, as an expression of its strides.
fn bytes_of(image: &str, element_bytes: i64, steps: &[i64]) -> String {
    let term = |(dimension, &step): (usize, &i64)| match (dimension, step) {
        (_, 0) => None,
        (0, step) => Some(literal(step * element_bytes)),
        (_, 1) => Some(format!("image_{image}_stride_{dimension}")),
        (_, step) => Some(format!("image_{image}_stride_{dimension} * {}", literal(step))),
    };
    let terms = steps.iter().enumerate().filter_map(term).collect_vec();
    if terms.is_empty() { literal(0) } else { terms.join(" + ") }
}

/// A number of bytes, modulo the addresses.
fn literal(number: i64) -> String {
    if number < 0 { format!("{ADDRESS_BITS}'h{:x}", number as u64) } else { format!("{ADDRESS_BITS}'d{number}") }
}

/// The channels of a manager that reads, or writes.
fn channels_of(output: bool) -> &'static [&'static str] {
    let (writes, reads) = AXI_CHANNELS.split_at(3);
    if output { writes } else { reads }
}

/// The signals of the manager of a stream.
fn signals(stream: &Stream, memory: Memory) -> Vec<Signal> {
    let bits = AxiBits { id: 1, address: ADDRESS_BITS, data: memory.bits };
    axi(&port(&stream.name), channels_of(stream.output), bits, true)
}

/// The prefix of the ports of an image.
fn port(image: &str) -> String {
    format!("m_axi_{image}")
}

/// Words of the arguments of a manager whose walk has so many loops outside of a line: an address and strides.
fn walk_words(levels: u32) -> usize {
    2 + levels as usize
}

/// Whether there are registers for so many such managers.
///
/// # Errors
/// When there are too many of them, or of their arguments.
pub(crate) fn check_walks(images: usize, levels: u32) -> Result<(), Diagnostic> {
    check_registers(images, walk_words(levels) * images).map_err(|refused| {
        refused.with_help(
            "ask for fewer with `--bus-readers` and `--bus-writers`, or choose an array with fewer `io: levels`",
        )
    })
}

/// Whether a register has a bit for each of so many images, and there are addresses for so many words of their arguments.
fn check_registers(images: usize, words: usize) -> Result<(), Diagnostic> {
    match images <= MOST_IMAGES && have_addresses(words) {
        true => Ok(()),
        false => Err(Diagnostic::new(format!(
            "{images} images with {words} words of arguments are more than the {MOST_IMAGES} that the shell has registers for"
        ))),
    }
}

impl View<'_> {
    /// The shell with an image of each stream, inputs first.
    pub(crate) fn with_images(mut self, elements: &[Elements], memory: Memory) -> Result<Self, Diagnostic> {
        let ordered = self.streams.iter().sorted_by_key(|stream| (stream.output, stream.number));
        let mut words = 0;
        let images = ordered.zip(elements).enumerate().map(|(number, (stream, elements))| {
            let walk = elements.walk().map_err(|error| {
                let message = format!("no manager of AXI4 follows the stream `{}`: {error}", stream.name);
                Diagnostic::new(message).with_help(ANY_ORDER)
            })?;
            let image = Image::of(stream, number, &walk, elements, &mut words);
            Ok(Image { signals: signals(stream, memory), ..image })
        });
        let images = images.collect::<Result<Vec<Image>, Diagnostic>>()?;
        check_registers(images.len(), words).map_err(|refused| refused.with_help(ANY_ORDER))?;
        self.memory = memory;
        self.images = images;
        self.argument_words = words;
        Ok(self)
    }

    /// The shell with a manager of each stream, whose walk has so many loops outside of a line: their strides in bytes are arguments.
    pub(crate) fn with_walks(mut self, levels: u32, memory: Memory) -> Result<Self, Diagnostic> {
        let ordered = self.streams.iter().sorted_by_key(|stream| (stream.output, stream.number));
        let images =
            ordered.enumerate().map(|(number, stream)| Image::walked(stream, number, levels, memory)).collect_vec();
        check_walks(images.len(), levels)?;
        self.argument_words = walk_words(levels) * images.len();
        self.memory = memory;
        self.images = images;
        Ok(self)
    }

    /// Name and description of each word of the arguments of a run.
    pub(crate) fn arguments(&self) -> Vec<(String, String)> {
        let of_image = |image: &Image| {
            let Image { name, .. } = image;
            let even = if image.is_narrow() { "" } else { "; even" };
            let signed = if image.is_narrow() { "signed" } else { "signed, even" };
            let first = if self.programmed() { "word" } else { "element" };
            let address = ["low", "high"].map(|half| {
                (
                    format!("{name}_address_{half}"),
                    format!("Byte address of the first {first} of `{name}`, {half} half{even}"),
                )
            });
            let stride = |stride: &Stride| {
                let (dimension, dense) = (stride.dimension, stride.dense);
                let what = match self.programmed() {
                    true => format!("Bytes to the next iteration of loop {} of `{name}`, {signed}", dimension - 1),
                    false => format!(
                        "Bytes to the next element of dimension {dimension} of `{name}`, {signed}; {dense} without gaps"
                    ),
                };
                (format!("{name}_stride_{dimension}"), what)
            };
            address.into_iter().chain(image.strides.iter().map(stride)).collect_vec()
        };
        self.images.iter().flat_map(of_image).collect()
    }

    /// The prefix of the ports of an image.
    pub(crate) fn port(&self, image: &Image) -> String {
        port(&image.name)
    }

    /// The signals of a beat of an image: as the manager has it, as words of the accelerator, and the one that the accelerator connects to.
    pub(crate) fn data_of(&self, image: &Image) -> String {
        format!("image_{}_data", image.name)
    }

    pub(crate) fn words_of(&self, image: &Image) -> String {
        format!("image_{}_words", image.name)
    }

    pub(crate) fn connected_to(&self, image: &Image) -> String {
        if image.is_narrow() || self.programmed() { self.words_of(image) } else { self.data_of(image) }
    }

    /// Whether an image of this direction fails, as an expression.
    pub(crate) fn any_failed(&self, output: bool) -> String {
        let of = self.images.iter().filter(|image| image.output == output);
        let failed = of.map(|image| format!("failed[{}]", image.number)).collect_vec();
        if failed.is_empty() { "1'b0".to_owned() } else { format!("({})", failed.join(" || ")) }
    }

    /// The channels of managers, whose rules are watched.
    pub(crate) fn image_channels(&self) -> Vec<Channel> {
        let of_image = |image: &Image| channels(&self.port(image), channels_of(image.output), &image.connected());
        self.images.iter().flat_map(of_image).collect()
    }
}
