//! Programs of an array behind a shell: what firmware writes before their runs, and how their images become arguments, or rows of banks.

use std::iter::repeat_n;

use itertools::Itertools;
use pushmem_csr::{WORD_BYTES, upper};
use pushmem_files::text;
use pushmem_images::Element;
use pushmem_systemverilog::File;
use serde::Serialize;

use crate::ANY_ORDER;
use crate::array::{
    ArrayModule, ArrayPorts, COUNT_BITS, LINE_BITS, host_offset, stream_name, stream_offset, stream_word,
};
use crate::driver::{ARRAY_DIMENSIONS, BANK_LEVELS, Firmware};
use crate::image::Elements;

/// The most bytes of a stream, and iterations less one of a loop outside of a line.
const MOST_BYTES: u64 = (1 << LINE_BITS) - 1;
const MOST_LAST: u64 = (1 << COUNT_BITS) - 1;

/// An image of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramImage {
    /// Its name.
    pub name: String,
    /// Whether the program writes it.
    pub output: bool,
    /// The type of its elements in memory, where one of 32 bits is two words.
    #[serde(rename = "type")]
    pub element: Element,
    /// The type of its elements in the program.
    #[serde(skip)]
    pub whole: Element,
    /// Elements in memory in each dimension, the innermost first.
    pub shape: Vec<i64>,
}

impl ProgramImage {
    /// Elements of the program in each dimension, the innermost first.
    pub(crate) fn whole_shape(&self) -> Vec<i64> {
        let mut shape = self.shape.clone();
        if let Some(innermost) = shape.first_mut() {
            *innermost /= (self.whole.bytes() / self.element.bytes()) as i64;
        }
        shape
    }
}

/// A stream between the array and an image: one word of each beat of a stream of the program.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Number of its image.
    pub image: usize,
    /// Where it enters or leaves the array.
    pub place: Place,
    /// The elements that it carries, one a beat.
    pub elements: Elements,
}

/// A place at which a stream enters or leaves an array.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The IO tile of a column.
    Column(u32),
    /// A bank of the global buffer, which has all elements of the image one after the other.
    Bank {
        /// Number of the bank.
        bank: u32,
        /// The word of a half at which the image begins.
        first_word: u32,
    },
}

/// A program of an array.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// Address and data of each write of its bitstream.
    pub bitstream: Vec<(u32, u32)>,
    /// Cycles that a run goes on after its last beat, or the last word of its banks, until all inputs are taken.
    pub tail: u64,
    /// Cycles of a run, without waits.
    pub cycles: u64,
    /// Its images.
    pub images: Vec<ProgramImage>,
    /// Its streams, those into the array before those out of it.
    pub lanes: Vec<Lane>,
    /// Whether banks hold its bitstream, so that there are tables of its rows.
    pub has_rows: bool,
}

/// Why a program does not run behind a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Name of the image that it is about: of streams, that of the first that the shell does not have.
    pub image: String,
    /// The reason.
    pub message: String,
    /// Advice.
    pub help: String,
}

/// A stream with its walk, as tables have it.
#[derive(Clone, Debug, Serialize)]
struct Walked {
    /// The name of its ports.
    name: String,
    /// The number of its manager.
    manager: u32,
    output: bool,
    /// Its number in its direction.
    number: u32,
    image: usize,
    column: u32,
    /// The word `stream` of its registers.
    #[serde(skip)]
    word: u32,
    beats: u64,
    /// Index of the first word in each dimension.
    start: Vec<i64>,
    /// Iterations less one of each loop outside of a line, and the steps in each dimension.
    lasts: Vec<u64>,
    steps: Vec<Vec<i64>>,
    /// Bytes of a line with so many of the loops in it.
    sizes: Vec<u64>,
}

/// An image in a bank, as tables have it.
#[derive(Clone, Debug, Serialize)]
struct Stored<'a> {
    bank: u32,
    image: &'a str,
    first_word: u32,
    /// The number of the image.
    #[serde(skip)]
    number: usize,
    /// Of an output in several banks, the elements that this one stores; else there are no loops.
    #[serde(skip)]
    start: i64,
    #[serde(skip)]
    extents: Vec<u64>,
    #[serde(skip)]
    strides: Vec<i64>,
}

/// A program as other hosts read it.
#[derive(Serialize)]
struct Described<'a> {
    program: &'a str,
    array: &'a str,
    digest: u32,
    tail: u64,
    /// Of a run whose streams never wait.
    cycles: u64,
    images: &'a [ProgramImage],
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<&'a [Walked]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    banks: Option<&'a [Stored<'a>]>,
}

/// Numbers in a table of a program in C.
fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).join(", ")
}

fn refused(image: &str, message: String, help: impl Into<String>) -> ProgramError {
    ProgramError { image: image.to_owned(), message, help: help.into() }
}

impl Program<'_> {
    /// Whether it runs behind the shell of an array.
    ///
    /// # Errors
    /// As [`Program::files`].
    pub fn check(&self, array: &ArrayModule) -> Result<(), ProgramError> {
        match &array.ports {
            ArrayPorts::Tiles(_) => self.walked(array).map(drop),
            ArrayPorts::Rows(_) => self.stored().map(drop),
        }
    }

    /// The files of the program for the shell of an array, whose module has this name: the writes of its configuration, what hosts read
    /// of it, and where the shell has a driver, the tables and a test for that.
    ///
    /// # Errors
    /// When it has more streams than the shell, a stream that no manager follows, or an image that tables have no room for.
    pub fn files(&self, array: &ArrayModule, module: &str) -> Result<Vec<File>, ProgramError> {
        let (walks, places) = match &array.ports {
            ArrayPorts::Tiles(_) => (self.walked(array)?, Vec::new()),
            ArrayPorts::Rows(_) => (Vec::new(), self.stored()?),
        };
        let (tiles, rows) = (array.tiles(), array.rows());
        let Program { name, tail, cycles, images, .. } = self;
        let described = Described {
            program: name,
            array: array.name,
            digest: array.digest,
            tail: *tail,
            cycles: *cycles,
            images,
            streams: rows.is_none().then_some(walks.as_slice()),
            banks: rows.is_some().then_some(places.as_slice()),
        };
        let description = serde_json::to_string_pretty(&described).expect("figures are numbers and names");
        let mut files = vec![
            ("configuration/writes.hex".to_owned(), self.writes(array, module, &walks)),
            ("program.json".to_owned(), description + "\n"),
        ];
        if rows.is_none() && tiles.memory.is_none() {
            return Ok(files);
        }
        let driver = &module.to_lowercase();
        let tables = text!(
            "driver/program.c",
            program: &'a Program<'a> = self,
            array: &'a ArrayModule<'a> = array,
            /// The beginning of the names of the driver.
            driver: &'a str = driver,
            walks: &'a [Walked] = &walks,
            places: &'a [Stored<'a>] = &places,
        );
        files.push((format!("driver/{name}_program.c"), tables));
        let mut headers = vec![format!("{module}_registers.h")];
        if rows.is_some() {
            headers.push(format!("{name}.h"));
            headers.extend(["driver.h", "registers.h"].map(|header| format!("global_buffer/{header}")));
        }
        let streams = u64::from(tiles.readers + tiles.writers);
        let firmware = Firmware {
            of: format!("the array `{}`", array.name),
            driver,
            stem: name,
            images: images.clone(),
            most_images: rows.map_or(streams, |rows| 2 * rows.bytes / u64::from(rows.bank_bytes)) as usize,
            strides: ARRAY_DIMENSIONS - 1,
            headers,
            program: Some(name),
            cycles: *cycles,
            banks: rows.map(|_| upper(array.name)),
        };
        files.extend(firmware.files());
        Ok(files)
    }

    /// A number of an image, which has a limit.
    fn fits(&self, image: usize, what: &'static str, value: u64, limit: u64) -> Result<u64, ProgramError> {
        let image = &self.images[image].name;
        let message = || {
            format!("a stream of `{image}` has {what} {value}, and the shell has registers for numbers up to {limit}")
        };
        let help = "run the program on a smaller part of the image at a time";
        if value <= limit { Ok(value) } else { Err(refused(image, message(), help)) }
    }

    fn fits_dimensions(&self, image: usize, dimensions: usize) -> Result<u64, ProgramError> {
        self.fits(image, "a number of dimensions of", dimensions as u64, ARRAY_DIMENSIONS as u64)
    }

    /// The places of its images in banks.
    fn stored(&self) -> Result<Vec<Stored<'_>>, ProgramError> {
        for (number, image) in self.images.iter().enumerate() {
            self.fits_dimensions(number, image.shape.len())?;
        }
        let place = |&Lane { image: number, place, ref elements }: &Lane| {
            let Place::Bank { bank, first_word } = place else { unreachable!("streams end at banks") };
            let ProgramImage { name: image, output, .. } = &self.images[number];
            let is_part = *output && self.lanes.iter().filter(|other| other.image == number).count() > 1;
            let loops = elements.loops.iter().filter(|_| is_part);
            let extents = loops.clone().map(|(extent, _)| *extent).collect_vec();
            self.fits(number, "loops:", extents.len() as u64, BANK_LEVELS as u64)?;
            let strides = loops.map(|(_, strides)| strides[0]).collect();
            Ok(Stored { bank, image, first_word, number, start: elements.lanes[0], extents, strides })
        };
        self.lanes.iter().map(place).collect()
    }

    /// The walk of each stream; only where it is, and its beats, where it does not lead to memory.
    fn walked(&self, array: &ArrayModule) -> Result<Vec<Walked>, ProgramError> {
        let is_output = |lane: &&Lane| self.images[lane.image].output;
        let of = |output: bool| self.lanes.iter().filter(move |lane| is_output(lane) == output).collect_vec();
        let tiles = array.tiles();
        let mut found = Vec::new();
        for (output, limit) in [(false, tiles.readers), (true, tiles.writers)] {
            let lanes = of(output);
            if lanes.len() > limit as usize {
                let [way, option] = if output { ["out of", "--bus-writers"] } else { ["into", "--bus-readers"] };
                let (wanted, image) = (lanes.len(), &self.images[lanes[limit as usize].image].name);
                let message =
                    format!("it has {wanted} streams {way} the array, each a word wide, and the shell has {limit}");
                return Err(refused(image, message, format!("ask for `{option} {wanted}`")));
            }
            for (lane, number) in lanes.into_iter().zip(0..) {
                found.push(self.walk(lane, number, array)?);
            }
        }
        Ok(found)
    }

    fn walk(&self, lane: &Lane, number: u32, array: &ArrayModule) -> Result<Walked, ProgramError> {
        let tiles = array.tiles();
        let ProgramImage { name: image, element, output, .. } = self.images[lane.image].clone();
        let Place::Column(column) = lane.place else { unreachable!("streams end at IO tiles") };
        let beats: u64 = lane.elements.loops.iter().map(|(extent, _)| extent).product();
        self.fits(lane.image, "a number of bytes of", element.bytes() * beats, MOST_BYTES)?;
        let mut walked = Walked {
            name: stream_name(output, number),
            manager: number + if output { tiles.readers } else { 0 },
            output,
            number,
            image: lane.image,
            column,
            word: stream_word(column, tiles.memory.map(|_| element)),
            beats,
            start: Vec::new(),
            lasts: Vec::new(),
            sizes: Vec::new(),
            steps: Vec::new(),
        };
        if tiles.memory.is_none() {
            return Ok(walked);
        }
        let walk = lane.elements.walk().map_err(|error| {
            refused(&image, format!("no manager of AXI4 follows a stream of `{image}`: {error}"), ANY_ORDER)
        })?;
        self.fits_dimensions(lane.image, walk.start.len())?;
        let (loops, limit) = (walk.levels.len(), tiles.levels);
        if loops > limit as usize {
            let message = format!(
                "a stream of `{image}` walks in {loops} loops outside of a line, and the shell has registers for {limit}"
            );
            let help = format!("choose an array with `io: {{levels: {loops}}}`, or `--bus axis`");
            return Err(refused(&image, message, help));
        }
        walked.sizes.push(walk.words * element.bytes());
        // Loops that a walk does not have are of one iteration.
        let still = (1, vec![0; walk.start.len()]);
        let levels = walk.levels.into_iter().map(|level| (level.extent, level.steps));
        for (level, (extent, steps)) in levels.chain(repeat_n(still, limit as usize - loops)).enumerate() {
            walked.lasts.push(self.fits(lane.image, "a loop of iterations less one of", extent - 1, MOST_LAST)?);
            walked.sizes.push(walked.sizes[level] * extent);
            walked.steps.push(steps);
        }
        walked.start = walk.start;
        Ok(walked)
    }

    /// The writes in the window that load the program, as a file: its bitstream, word by word, and the registers of all streams.
    fn writes(&self, array: &ArrayModule, module: &str, walks: &[Walked]) -> String {
        let of_word = |&(address, data): &(u32, u32)| {
            [(host_offset("array_address"), address), (host_offset("array_data"), data)]
        };
        let mut writes = self.bitstream.iter().flat_map(of_word).collect_vec();
        writes.push((host_offset("tail"), self.tail as u32));
        let tiles = array.tiles();
        writes.extend((0..tiles.readers + tiles.writers).map(|stream| (stream_offset(stream), 0)));
        for Walked { manager, word, beats, lasts, sizes, .. } in walks {
            let beats = [u64::from(*word), *beats];
            let words = beats.iter().chain(lasts).chain(sizes).map(|word| *word as u32);
            writes.extend((stream_offset(*manager)..).step_by(WORD_BYTES as usize).zip(words));
        }
        let head = format!("// Program `{}` in the window of `{module}`: offset data\n", self.name);
        head + &writes.iter().map(|(offset, data)| format!("{offset:08x} {data:08x}\n")).join("")
    }
}
