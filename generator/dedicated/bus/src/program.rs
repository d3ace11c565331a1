//! Programs of an array behind a shell: what firmware writes before their runs, and how their images become arguments.

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{WORD_BYTES, upper};
use pushmem_images::Element;
use pushmem_systemverilog::File;
use serde::Serialize;

use crate::array::{
    ArrayModule, COUNT_BITS, LINE_BITS, host_offset, of_host, of_stream, stream_name, stream_offset, stream_word,
};
use crate::driver::{ARRAY_DIMENSIONS, HostPlan, Makefile};
use crate::image::{Elements, WalkError};
use crate::render;

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

/// A stream at an IO tile: one word of each beat of a stream of the program.
#[derive(Clone, Debug)]
pub struct IoStream {
    /// Number of its image.
    pub image: usize,
    /// Column of the IO tile.
    pub column: u32,
    /// The elements that it carries, one a beat.
    pub elements: Elements,
}

/// A program of an array.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// Address and data of each write of its bitstream.
    pub bitstream: Vec<(u32, u32)>,
    /// Cycles that a run goes on after its last beat, until all inputs are taken.
    pub tail: u64,
    /// Cycles of a run, without waits.
    pub cycles: u64,
    /// Its images.
    pub images: Vec<ProgramImage>,
    /// The streams at IO tiles, those into the array before those out of it.
    pub lanes: Vec<IoStream>,
}

/// Why a program does not run behind a shell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It has more streams than the shell.
    #[error("it has {wanted} streams {way} the array, each a word wide, and the shell has {limit}")]
    Streams {
        /// Name of the image of the first stream that the shell does not have.
        image: String,
        /// `into` or `out of`.
        way: &'static str,
        /// Streams of the program.
        wanted: usize,
        /// Streams of the shell.
        limit: u32,
    },
    /// A stream is no walk through its image.
    #[error("no manager of AXI4 follows a stream of `{image}`: {error}")]
    Walk {
        /// Name of the image.
        image: String,
        /// Why not.
        error: WalkError,
    },
    /// A walk has more loops than the registers.
    #[error("a stream of `{image}` walks in {loops} loops outside of a line, and the shell has registers for {limit}")]
    Loops {
        /// Name of the image.
        image: String,
        /// Its loops.
        loops: usize,
        /// Loops of the shell.
        limit: u32,
    },
    /// A number of a walk is too large for its register.
    #[error("a stream of `{image}` has {what} {value}, and the shell has registers for numbers up to {limit}")]
    Number {
        /// Name of the image.
        image: String,
        /// Meaning of the number.
        what: &'static str,
        /// The number.
        value: u64,
        /// The largest.
        limit: u64,
    },
}

/// A stream with its walk, as tables have it.
#[derive(Clone, Debug, Serialize)]
struct Walked {
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

/// The header of a program, for firmware.
#[derive(Template)]
#[template(path = "driver/program.h", escape = "none")]
struct Header<'a>(&'a ProgramNames<'a>);

#[derive(Template)]
#[template(path = "driver/program.c", escape = "none")]
struct Source<'a>(&'a Tables<'a>);

#[derive(Template)]
#[template(path = "driver/array_check.c", escape = "none")]
struct Check<'a>(&'a ProgramNames<'a>);

/// Names and images of a program, as programs of firmware have them.
pub(crate) struct ProgramNames<'a> {
    /// The beginning of the names of the driver.
    pub driver: &'a str,
    pub program: &'a str,
    pub array: &'a str,
    pub images: &'a [ProgramImage],
    /// Cycles of a run that never waits.
    pub cycles: u64,
    /// The most images and strides of a job.
    pub most_images: usize,
    pub headers: Vec<String>,
    /// The beginning of the names of registers of banks, of an array with a global buffer.
    pub banks: Option<String>,
}

impl ProgramNames<'_> {
    fn prefix(&self) -> String {
        upper(self.driver)
    }

    /// The files that do not depend on how images reach the array: the header of the program, the test of the driver, its makefile, and the host.
    pub(crate) fn files(&self) -> Vec<File> {
        let makefile = Makefile {
            of: format!("the array `{}`", self.array),
            name: self.driver.to_owned(),
            headers: self.headers.clone(),
            program: Some(self.program),
            has_banks: self.banks.is_some(),
        };
        let host = HostPlan {
            of: format!("`{}` on the array `{}`", self.program, self.array),
            driver: self.driver,
            stem: self.program,
            images: self.images.to_vec(),
            most_images: self.most_images,
            strides: ARRAY_DIMENSIONS - 1,
            program: Some(self.program),
            has_banks: self.banks.is_some(),
        };
        vec![
            (format!("driver/{}_program.h", self.program), render(&Header(self))),
            ("driver/check.c".to_owned(), render(&Check(self))),
            ("driver/Makefile".to_owned(), render(&makefile)),
            host.file(),
        ]
    }
}

/// The tables of a program.
struct Tables<'a> {
    program: &'a Program<'a>,
    /// Name of the shell.
    module: &'a str,
    array: &'a ArrayModule<'a>,
    walks: Vec<Walked>,
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
    streams: Vec<DescribedStream<'a>>,
}

/// A stream with the name and the number of its manager.
#[derive(Serialize)]
struct DescribedStream<'a> {
    name: String,
    manager: u32,
    #[serde(flatten)]
    walked: &'a Walked,
}

impl Tables<'_> {
    fn description(&self) -> Described<'_> {
        let Program { name, tail, cycles, images, .. } = self.program;
        let stream = |walked| DescribedStream { name: self.name_of(walked), manager: self.manager(walked), walked };
        let streams = self.walks.iter().map(stream).collect();
        let (array, digest) = (self.array.name, self.array.digest);
        Described { program: name, array, digest, tail: *tail, cycles: *cycles, images, streams }
    }

    /// The number of the manager of a stream.
    fn manager(&self, walked: &Walked) -> u32 {
        walked.number + if walked.output { self.array.readers } else { 0 }
    }

    /// The name of its ports.
    fn name_of(&self, walked: &Walked) -> String {
        stream_name(walked.output, walked.number)
    }

    /// The beginning of the names of the driver.
    fn lower(&self) -> String {
        self.module.to_lowercase()
    }

    fn list<T: ToString>(&self, numbers: &[T]) -> String {
        list(numbers)
    }
}

impl ProgramError {
    /// The name of the image that it is about.
    pub fn image(&self) -> &str {
        use ProgramError::{Loops, Number, Streams, Walk};
        let (Streams { image, .. } | Walk { image, .. } | Loops { image, .. } | Number { image, .. }) = self;
        image
    }
}

impl Program<'_> {
    /// Whether it runs behind the shell of an array; with `walks`, where streams are images in memory.
    ///
    /// # Errors
    /// As [`Program::files`].
    pub fn check(&self, array: &ArrayModule, walks: bool) -> Result<(), ProgramError> {
        self.walked(array, walks).map(|_| ())
    }

    /// The files of the program for the shell of an array, whose module has this name: the writes of its configuration, what hosts read
    /// of it, and with `walks`, where streams are images in memory, the tables and a test for the driver.
    ///
    /// # Errors
    /// When it has more streams than the shell, or a stream that no manager follows.
    pub fn files(&self, array: &ArrayModule, module: &str, walks: bool) -> Result<Vec<File>, ProgramError> {
        let tables = Tables { program: self, module, array, walks: self.walked(array, walks)? };
        let description = serde_json::to_string_pretty(&tables.description()).expect("figures are numbers and names");
        let mut files = vec![
            ("configuration/writes.hex".to_owned(), self.writes(&tables, walks)),
            ("program.json".to_owned(), description + "\n"),
        ];
        if walks {
            let names = ProgramNames {
                driver: &tables.lower(),
                program: self.name,
                array: array.name,
                images: &self.images,
                cycles: self.cycles,
                most_images: (array.readers + array.writers) as usize,
                headers: vec![format!("{module}_registers.h")],
                banks: None,
            };
            files.push((format!("driver/{}_program.c", self.name), render(&Source(&tables))));
            files.extend(names.files());
        }
        Ok(files)
    }

    /// The walk of each stream; without `walks` only where it is, and its beats.
    fn walked(&self, array: &ArrayModule, walks: bool) -> Result<Vec<Walked>, ProgramError> {
        let is_output = |lane: &&IoStream| self.images[lane.image].output;
        let of = |output: bool| self.lanes.iter().filter(move |lane| is_output(lane) == output).collect_vec();
        let mut found = Vec::new();
        for (output, limit) in [(false, array.readers), (true, array.writers)] {
            let lanes = of(output);
            if lanes.len() > limit as usize {
                let way = if output { "out of" } else { "into" };
                let image = self.images[lanes[limit as usize].image].name.clone();
                return Err(ProgramError::Streams { image, way, wanted: lanes.len(), limit });
            }
            for (lane, number) in lanes.into_iter().zip(0..) {
                found.push(self.walk(lane, number, output, array.levels, walks)?);
            }
        }
        Ok(found)
    }

    fn walk(
        &self,
        lane: &IoStream,
        number: u32,
        output: bool,
        levels: u32,
        walks: bool,
    ) -> Result<Walked, ProgramError> {
        let ProgramImage { name: image, element, .. } = self.images[lane.image].clone();
        let element_bytes = element.bytes();
        let beats: u64 = lane.elements.loops.iter().map(|(extent, _)| extent).product();
        let fits = |what: &'static str, value: u64, limit: u64| {
            let error = || ProgramError::Number { image: image.clone(), what, value, limit };
            if value <= limit { Ok(value) } else { Err(error()) }
        };
        fits("a number of bytes of", element_bytes * beats, MOST_BYTES)?;
        let mut walked = Walked {
            output,
            number,
            image: lane.image,
            column: lane.column,
            word: stream_word(lane.column, walks.then_some(element)),
            beats,
            start: Vec::new(),
            lasts: Vec::new(),
            sizes: Vec::new(),
            steps: Vec::new(),
        };
        if !walks {
            return Ok(walked);
        }
        let walk = lane.elements.walk().map_err(|error| ProgramError::Walk { image: image.clone(), error })?;
        fits("a number of dimensions of", walk.start.len() as u64, ARRAY_DIMENSIONS as u64)?;
        if walk.levels.len() > levels as usize {
            return Err(ProgramError::Loops { image, loops: walk.levels.len(), limit: levels });
        }
        let still = vec![0; walk.start.len()];
        walked.sizes.push(walk.words * element_bytes);
        for level in 0..levels as usize {
            // Loops that a walk does not have are of one iteration.
            let (extent, steps) = walk.levels.get(level).map_or((1, &still), |level| (level.extent, &level.steps));
            walked.lasts.push(fits("a loop of iterations less one of", extent - 1, MOST_LAST)?);
            walked.sizes.push(walked.sizes[level] * extent);
            walked.steps.push(steps.clone());
        }
        walked.start = walk.start;
        Ok(walked)
    }

    /// The writes in the window that load the program: its bitstream, and the registers of all streams.
    fn writes(&self, tables: &Tables, walks: bool) -> String {
        let array = tables.array;
        let host = |name: &str| host_offset(of_host(name));
        let mut writes = bitstream_writes(&self.bitstream);
        writes.push((host("tail"), self.tail as u32));
        writes.extend((0..array.readers + array.writers).map(|stream| (stream_offset(stream, 0), 0)));
        for walk in &tables.walks {
            let stream = tables.manager(walk);
            let at = |name: &str| stream_offset(stream, of_stream(name, array.levels));
            writes.push((at("stream"), walk.word));
            writes.push((at("beats"), walk.beats as u32));
            if walks {
                let words = |first: u32, values: &[u64]| {
                    let offsets = (first..).step_by(WORD_BYTES as usize);
                    offsets.zip(values.iter().map(|value| *value as u32).collect_vec()).collect_vec()
                };
                writes.extend(words(at("lasts"), &walk.lasts));
                writes.extend(words(at("sizes"), &walk.sizes));
            }
        }
        window_writes(self.name, tables.module, writes)
    }
}

/// Numbers of a table in C.
pub(crate) fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).join(", ")
}

/// The writes in the window, by offset, that load a bitstream word by word.
pub(crate) fn bitstream_writes(bitstream: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let offset = |name: &str| host_offset(of_host(name));
    let writes = |&(address, data): &(u32, u32)| [(offset("array_address"), address), (offset("array_data"), data)];
    bitstream.iter().flat_map(writes).collect()
}

/// Writes in the window of a shell as a file.
pub(crate) fn window_writes(program: &str, module: &str, writes: Vec<(u32, u32)>) -> String {
    let head = format!("// Program `{program}` in the window of `{module}`: offset data\n");
    head + &writes.iter().map(|(offset, data)| format!("{offset:08x} {data:08x}\n")).join("")
}
