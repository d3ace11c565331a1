//! Descriptions of a shell that tools read: for Vitis, in IP-XACT and in C.

use askama::Template;
use itertools::Itertools;
use pushmem_csr::{Register, WORD_BYTES, upper};
use pushmem_files::{render, text};
use pushmem_systemverilog::{FILE_LIST, File, ModulePort, file_list};

use crate::array::GlobalBuffer;
use crate::managers::Image;
use crate::registers;
use crate::registers::{DataPath, window};
use crate::shell::View;

/// An argument of a kernel of Vitis.
struct KernelArgument {
    name: String,
    /// Whether it is the address of an image; else it is a number.
    address: bool,
    /// The type in C.
    c_type: String,
    port: String,
    offset: u32,
}

/// The contents of the files that tools read.
pub(super) struct Description<'a> {
    pub shell: &'a View<'a>,
    pub registers: Vec<Register<()>>,
    pub ports: Vec<ModulePort>,
    pub sources: Vec<String>,
    pub version: &'a str,
}

#[derive(Template)]
#[template(path = "interfaces.xml")]
pub(super) struct Interfaces<'a>(pub &'a Description<'a>);

#[derive(Template)]
#[template(path = "global_buffer.xml")]
pub(super) struct Buffer<'a> {
    pub rows: &'a GlobalBuffer,
}

#[derive(Template)]
#[template(path = "kernel.xml")]
struct Kernel<'a>(pub &'a Description<'a>);

impl Description<'_> {
    pub fn files(&self) -> Vec<File> {
        let module = &self.shell.module;
        vec![
            (FILE_LIST.to_owned(), file_list(self.sources.iter().map(String::as_str))),
            ("kernel.xml".to_owned(), render(&Kernel(self))),
            (format!("{module}_registers.h"), text!("registers.h", description: &'a Description<'a> = self)),
        ]
    }

    /// Byte address of the window, if there is one.
    pub fn window(&self) -> Option<u64> {
        (self.shell.config_bits > 0).then(|| window(self.shell.config_bits))
    }

    fn window_bytes(&self) -> u64 {
        1 << self.shell.config_bits
    }

    /// Bytes of the address space.
    pub fn bytes(&self) -> u64 {
        1 << self.shell.address_bits
    }

    /// The interface of the registers.
    fn control_interface(&self) -> String {
        self.shell.subordinate().bus_interface().expect("AXI4-Lite has a definition")
    }

    /// The arguments of a kernel of Vitis: addresses are pointers, strides numbers.
    fn kernel_arguments(&self) -> Vec<KernelArgument> {
        let argument = |name: String, address: bool, c_type: String, port: String, word: usize| {
            let offset = registers::ARGUMENTS + WORD_BYTES * word as u32;
            KernelArgument { name, address, c_type, port, offset }
        };
        let of_image = |image: &Image| {
            let pointer = format!("{}*", image.c_type());
            let address = argument(image.name.clone(), true, pointer, self.shell.port(image), image.address_word);
            let strides = image.strides.iter().map(|stride| {
                let name = format!("{}_stride_{}", image.name, stride.dimension);
                argument(name, false, "int".to_owned(), "s_axi_control".to_owned(), stride.word)
            });
            [address].into_iter().chain(strides).collect_vec()
        };
        self.shell.images.iter().flat_map(of_image).collect()
    }

    /// The hardware that the shell is of, for people.
    pub fn of_hardware(&self) -> String {
        let of = self.shell.of_hardware();
        of[..1].to_uppercase() + &of[1..]
    }

    /// The bus that the shell connects to, for people.
    pub fn buses(&self) -> &'static str {
        match self.shell.path() {
            DataPath::Streams => "AXI4-Lite and AXI4-Stream",
            DataPath::Images | DataPath::Rows => "AXI4-Lite and AXI4",
        }
    }

    /// Signals of an interface by their names in the standard, and the ports, whose names begin with its own.
    fn signals(&self, interface: &str) -> Vec<(String, &str)> {
        let of = |port: &'_ ModulePort| Some(upper(port.name.strip_prefix(interface)?.strip_prefix('_')?));
        self.ports.iter().filter_map(|port| Some((of(port)?, port.name.as_str()))).collect()
    }
}
