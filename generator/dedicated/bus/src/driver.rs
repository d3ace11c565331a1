//! The driver of a shell with images or rows, in C, and a simulation of the shell that runs it.

use itertools::Itertools;
use pushmem_csr::upper;
use pushmem_files::text;
use pushmem_systemverilog::File;

use crate::array::{ArrayModule, GlobalBuffer, stream_offset};
use crate::description::Description;
use crate::managers::Image;
use crate::program::ProgramImage;
use crate::registers::DataPath;
use crate::shell::View;

/// A driver with its images, as programs around it have them.
pub(crate) struct Firmware<'a> {
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
    /// Headers in the folder above.
    pub headers: Vec<String>,
    /// The program that the driver loads, if it does, and cycles of a run of it that never waits.
    pub program: Option<&'a str>,
    pub cycles: u64,
    /// The beginning of the names of registers of banks, of an array with a global buffer.
    pub banks: Option<String>,
}

impl Firmware<'_> {
    /// The makefile and the host, and of a program its header and the test of the driver.
    pub fn files(&self) -> Vec<File> {
        let mut files = Vec::new();
        if let Some(program) = self.program {
            files.push((
                format!("driver/{program}_program.h"),
                text!("driver/program.h", names: &'a Firmware<'a> = self),
            ));
            files.push(("driver/check.c".to_owned(), text!("driver/array_check.c", names: &'a Firmware<'a> = self)));
        }
        files.push(("driver/Makefile".to_owned(), text!("driver/Makefile", firmware: &'a Firmware<'a> = self)));
        files.push((format!("driver/{}_host.py", self.driver), text!("driver/host.py", plan: &'a Firmware<'a> = self)));
        files
    }

    fn first_input(&self) -> &str {
        self.images.iter().find(|image| !image.output).map_or("input", |image| &image.name)
    }

    fn program_name(&self) -> &str {
        self.program.unwrap_or_default()
    }

    fn prefix(&self) -> String {
        upper(self.driver)
    }
}

/// The most dimensions of an image of a program on an array.
pub(crate) const ARRAY_DIMENSIONS: usize = 8;

/// The most loops of the elements that a bank stores.
pub(crate) const BANK_LEVELS: usize = 8;

impl Description<'_> {
    /// The files of the driver without those of a program that it loads, and the module of LiteX; none for streams.
    pub(crate) fn driver(&self) -> Vec<File> {
        if self.shell.path() == DataPath::Streams {
            return Vec::new();
        }
        let name = self.lower();
        let named = |end: &str, text: String| (format!("driver/{name}_{end}"), text);
        let mut files = vec![
            named("driver.h", text!("driver/driver.h", description: &'a Description<'a> = self)),
            named("driver.c", text!("driver/driver.c", description: &'a Description<'a> = self)),
        ];
        if !self.shell.programmed() {
            files.push(("driver/check.c".to_owned(), text!("driver/check.c", description: &'a Description<'a> = self)));
            files.extend(self.firmware(&name).files());
        }
        files.extend([
            named("uio.h", text!("driver/uio.h", description: &'a Description<'a> = self)),
            named("uio.c", text!("driver/uio.c", description: &'a Description<'a> = self)),
            ("driver/simulation.h".to_owned(), text!("driver/simulation.h", description: &'a Description<'a> = self)),
            (
                "driver/simulation.cpp".to_owned(),
                text!("driver/simulation.cpp", description: &'a Description<'a> = self),
            ),
            self.litex(),
        ]);
        files
    }

    /// The driver of an accelerator.
    fn firmware<'a>(&self, name: &'a str) -> Firmware<'a> {
        let View { module, accelerator, images, .. } = self.shell;
        let image = |image: &Image| {
            let (name, shape) = (image.name.clone(), image.shape.clone());
            let element = image.element.expect("an accelerator has the types of its images");
            ProgramImage { name, output: image.output, element, whole: image.whole, shape }
        };
        let images = images.iter().map(image).collect_vec();
        Firmware {
            of: format!("`{accelerator}`"),
            driver: name,
            stem: name,
            most_images: images.len(),
            images,
            strides: self.strides(),
            headers: vec![format!("{module}_registers.h"), format!("{accelerator}.h")],
            program: None,
            cycles: 0,
            banks: None,
        }
    }

    /// The beginning of the names of the driver.
    fn lower(&self) -> String {
        self.shell.module.to_lowercase()
    }

    fn upper(&self) -> String {
        upper(&self.shell.module)
    }

    /// The array that the shell is of.
    fn array(&self) -> &ArrayModule<'_> {
        self.shell.array.expect("the driver is of an array")
    }

    fn rows(&self) -> &GlobalBuffer {
        self.shell.rows().expect("the driver is of an array with a global buffer")
    }

    /// The beginning of the names of results of the driver of its configuration.
    fn configuration_results(&self) -> String {
        upper(&self.rows().functions)
    }

    /// Bytes of the registers of a stream.
    fn stream_bytes(&self) -> u32 {
        stream_offset(1) - stream_offset(0)
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
