//! The driver of a shell with images, in C, and a simulation of the shell that runs it.

use std::ops::Deref;

use askama::Template;
use itertools::Itertools;
use pushmem_csr::upper;
use pushmem_systemverilog::File;

use crate::array::{ArrayModule, stream_offset};
use crate::description::Description;
use crate::managers::Image;
use crate::program::ProgramImage;
use crate::render;
use crate::rows::{GlobalBuffer, ROW_BYTES};
use crate::shell::View;

macro_rules! templates {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[derive(Template)]
            #[template(path = $path, escape = "none")]
            struct $name<'a, 'b>(&'a Description<'b>);
        )*
    };
}

templates! {
    Header: "driver/driver.h",
    Source: "driver/driver.c",
    UioHeader: "driver/uio.h",
    UioSource: "driver/uio.c",
    Simulation: "driver/simulation.cpp",
    Check: "driver/check.c",
    SimulationHeader: "driver/simulation.h",
}

/// The makefile of a driver, and of a program that it loads.
#[derive(Template)]
#[template(path = "driver/Makefile", escape = "none")]
pub(crate) struct Makefile<'a> {
    /// The block that the shell is of.
    pub of: String,
    /// The beginning of the names of the driver's files.
    pub name: String,
    /// Headers in the folder above.
    pub headers: Vec<String>,
    /// Name of the program.
    pub program: Option<&'a str>,
    /// Whether the driver has that of the configuration from banks of a global buffer.
    pub has_banks: bool,
}

/// The driver of the shell of an array.
#[derive(Template)]
#[template(path = "driver/array.h", escape = "none")]
struct ArrayHeader<'a, 'b>(&'a ArrayDriver<'a, 'b>);

#[derive(Template)]
#[template(path = "driver/array.c", escape = "none")]
struct ArraySource<'a, 'b>(&'a ArrayDriver<'a, 'b>);

struct ArrayDriver<'a, 'b> {
    /// The shell.
    description: &'a Description<'b>,
    array: &'a str,
    readers: u32,
    writers: u32,
    levels: u32,
    dimensions: usize,
}

impl<'b> Deref for ArrayDriver<'_, 'b> {
    type Target = Description<'b>;

    fn deref(&self) -> &Description<'b> {
        self.description
    }
}

impl ArrayDriver<'_, '_> {
    /// Bytes of the registers of a stream.
    fn stream_bytes(&self) -> u32 {
        stream_offset(1, 0) - stream_offset(0, 0)
    }
}

/// The driver of the shell of an array with a global buffer.
#[derive(Template)]
#[template(path = "driver/buffered.h", escape = "none")]
struct BufferedHeader<'a, 'b>(&'a BufferedDriver<'a, 'b>);

#[derive(Template)]
#[template(path = "driver/buffered.c", escape = "none")]
struct BufferedSource<'a, 'b>(&'a BufferedDriver<'a, 'b>);

struct BufferedDriver<'a, 'b> {
    /// The shell.
    description: &'a Description<'b>,
    array: &'a str,
    /// Loops of the elements that a bank stores, and dimensions of images.
    levels: usize,
    dimensions: usize,
    /// Words and bytes of a row.
    words: u32,
    row_bytes: u32,
    /// The beginning of the names of the driver of the configuration.
    functions: &'a str,
}

impl<'b> Deref for BufferedDriver<'_, 'b> {
    type Target = Description<'b>;

    fn deref(&self) -> &Description<'b> {
        self.description
    }
}

impl BufferedDriver<'_, '_> {
    /// The beginning of the names of the driver of the configuration, and of its results.
    fn configuration(&self) -> &str {
        self.functions
    }

    fn configuration_results(&self) -> String {
        upper(self.functions)
    }

    /// The beginning of the names of the registers of banks.
    fn registers(&self) -> String {
        upper(self.array)
    }
}

/// The host in Python.
#[derive(Template)]
#[template(path = "driver/host.py", escape = "none")]
struct Host<'a>(&'a HostPlan<'a>);

/// Facts of a driver for a host in Python.
pub(crate) struct HostPlan<'a> {
    /// The block that the shell is of.
    pub of: String,
    /// The beginning of the names of the driver, and of those of tiles.
    pub driver: &'a str,
    pub stem: &'a str,
    /// Its images, and the most that a job has.
    pub images: Vec<ProgramImage>,
    pub most_images: usize,
    /// Strides that an image has in a job.
    pub strides: usize,
    /// The program that the driver loads, if it does.
    pub program: Option<&'a str>,
    /// Whether images are written to banks of a global buffer.
    pub has_banks: bool,
}

impl HostPlan<'_> {
    /// The file.
    pub fn file(&self) -> File {
        (format!("driver/{}_host.py", self.driver), render(&Host(self)))
    }

    fn first_input(&self) -> &str {
        self.images.iter().find(|image| !image.output).map_or("input", |image| &image.name)
    }
}

/// The most dimensions of an image of a program on an array.
pub(crate) const ARRAY_DIMENSIONS: usize = 8;

/// The most loops of the elements that a bank stores.
pub(crate) const BANK_LEVELS: usize = 8;

impl Description<'_> {
    /// The files of the driver, and the module of LiteX.
    pub(crate) fn driver(&self) -> Vec<File> {
        let name = self.lower();
        let named = |end: &str| format!("driver/{name}_{end}");
        vec![
            (named("driver.h"), render(&Header(self))),
            (named("driver.c"), render(&Source(self))),
            ("driver/check.c".to_owned(), render(&Check(self))),
            ("driver/Makefile".to_owned(), render(&self.makefile())),
            self.host(),
        ]
        .into_iter()
        .chain(self.common())
        .collect()
    }

    /// The files that all drivers have: the port for Linux, the simulation, and the module of LiteX.
    fn common(&self) -> Vec<File> {
        let named = |end: &str| format!("driver/{}_{end}", self.lower());
        vec![
            (named("uio.h"), render(&UioHeader(self))),
            (named("uio.c"), render(&UioSource(self))),
            ("driver/simulation.h".to_owned(), render(&SimulationHeader(self))),
            ("driver/simulation.cpp".to_owned(), render(&Simulation(self))),
            self.litex(),
        ]
    }

    /// The host of an accelerator.
    fn host(&self) -> File {
        let image = |image: &Image| {
            let (name, shape) = (image.name.clone(), image.shape.clone());
            let element = image.element.expect("an accelerator has the types of its images");
            ProgramImage { name, output: image.output, element, whole: image.whole, shape }
        };
        let images = self.shell.images.iter().map(image).collect_vec();
        let name = self.lower();
        let plan = HostPlan {
            of: format!("`{}`", self.shell.accelerator),
            driver: &name,
            stem: &name,
            most_images: images.len(),
            images,
            strides: self.strides(),
            program: None,
            has_banks: false,
        };
        plan.file()
    }

    fn makefile(&self) -> Makefile<'_> {
        let View { module, accelerator, .. } = self.shell;
        let headers = vec![format!("{module}_registers.h"), format!("{accelerator}.h")];
        Makefile { of: format!("`{accelerator}`"), name: self.lower(), headers, program: None, has_banks: false }
    }

    /// The files of the driver of an array, without those of a program, and the module of LiteX.
    pub(crate) fn array_driver(&self, array: &ArrayModule) -> Vec<File> {
        let ArrayModule { name: of, readers, writers, levels, .. } = *array;
        let driver =
            ArrayDriver { description: self, array: of, readers, writers, levels, dimensions: ARRAY_DIMENSIONS };
        let name = self.lower();
        let named = |end: &str| format!("driver/{name}_{end}");
        vec![(named("driver.h"), render(&ArrayHeader(&driver))), (named("driver.c"), render(&ArraySource(&driver)))]
            .into_iter()
            .chain(self.common())
            .collect()
    }

    /// The files of the driver of an array with a global buffer, likewise.
    pub(crate) fn buffered_driver(&self, buffer: &GlobalBuffer) -> Vec<File> {
        let driver = BufferedDriver {
            description: self,
            array: buffer.name,
            levels: BANK_LEVELS,
            dimensions: ARRAY_DIMENSIONS,
            words: 8 * ROW_BYTES / buffer.word_bits,
            row_bytes: ROW_BYTES,
            functions: buffer.functions,
        };
        let named = |end: &str| format!("driver/{}_{end}", self.lower());
        let own = [
            (named("driver.h"), render(&BufferedHeader(&driver))),
            (named("driver.c"), render(&BufferedSource(&driver))),
        ];
        own.into_iter().chain(self.common()).collect()
    }

    /// The beginning of the names of the driver.
    fn lower(&self) -> String {
        self.shell.module.to_lowercase()
    }

    fn upper(&self) -> String {
        upper(&self.shell.module)
    }

    /// The beginning of the names of the accelerator's own header.
    fn accelerator_upper(&self) -> String {
        upper(self.shell.accelerator)
    }

    /// The function that calls another one for each write of the configuration.
    fn configure(&self) -> String {
        format!("{}_configure", self.shell.accelerator.to_lowercase())
    }

    /// The beginning of the names of a stream in the accelerator's header.
    fn stream_lower(&self, image: &Image) -> String {
        format!("{}_{}", self.shell.accelerator, image.name).to_lowercase()
    }

    fn stream_upper(&self, image: &Image) -> String {
        upper(&self.stream_lower(image))
    }

    fn has_window(&self) -> bool {
        self.window().is_some()
    }

    /// The most dimensions of an image.
    fn dimensions(&self) -> usize {
        self.shell.images.iter().map(|image| image.shape.len()).max().unwrap_or(1)
    }

    /// The most strides of an image; an array in C has at least one.
    fn strides(&self) -> usize {
        (self.dimensions() - 1).max(1)
    }
}
