//! The shell with images as a module of LiteX, a generator of SoCs in Python.

use askama::Template;
use itertools::Itertools;
use pushmem_files::render;
use pushmem_systemverilog::{File, ModulePort};

use crate::array::GlobalBuffer;
use crate::description::Description;
use crate::managers::{ADDRESS_BITS, Image};

#[derive(Template)]
#[template(path = "litex.py", escape = "none")]
struct LiteX<'a, 'b>(&'a Description<'b>);

impl Description<'_> {
    /// The module of LiteX.
    pub(crate) fn litex(&self) -> File {
        (format!("{}_litex.py", self.shell.module), render(&LiteX(self)))
    }
}

impl LiteX<'_, '_> {
    /// The name of its class: that of the shell, without underscores.
    fn class(&self) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        self.0.shell.module.split('_').filter(|word| !word.is_empty()).map(capital).collect()
    }

    /// Bits of an address of a manager.
    fn address_bits(&self) -> u32 {
        ADDRESS_BITS
    }

    /// The interface of an image within the class.
    fn local(&self, image: &Image) -> String {
        format!("image_{}", image.name)
    }

    /// The ports of the registers, and the signals that they connect to. The shell takes the lower bits of an address.
    fn control(&self) -> Vec<(String, String)> {
        self.subordinate("s_axi_control", "control")
    }

    /// The same of the banks of a global buffer; none without one.
    fn buffer(&self) -> Vec<(String, String)> {
        self.subordinate(GlobalBuffer::PORT, "buffer")
    }

    /// The ports of a subordinate, and the signals of an interface that they connect to.
    fn subordinate(&self, port: &str, interface: &str) -> Vec<(String, String)> {
        let connected = |port: &ModulePort, signal: String| {
            let low = if signal.ends_with("addr") { format!("[:{}]", port.bits) } else { String::new() };
            format!("{interface}.{signal}{low}")
        };
        self.connected(&format!("{port}_"), connected)
    }

    /// The same of the manager of an image. Its addresses have a signal of their own, as they may be wider than those of the bus.
    fn manager(&self, image: &Image) -> Vec<(String, String)> {
        let local = self.local(image);
        let connected = |_: &ModulePort, signal: String| match signal.ends_with("addr") {
            true => format!("{local}_address"),
            false => format!("{local}.{signal}"),
        };
        self.connected(&format!("{}_", self.0.shell.port(image)), connected)
    }

    /// The ports that begin so, by their names in an instance, and what they connect to.
    fn connected(&self, prefix: &str, to: impl Fn(&ModulePort, String) -> String) -> Vec<(String, String)> {
        let of = |port: &ModulePort| {
            let signal = signal_of(port.name.strip_prefix(prefix)?)?;
            let way = if port.output { "o" } else { "i" };
            Some((format!("{way}_{}", port.name), to(port, signal)))
        };
        self.0.ports.iter().filter_map(of).collect_vec()
    }
}

/// The signal of an interface of LiteX for one of the standard: its channel, and its name there. `araddr` is `ar.addr`.
fn signal_of(name: &str) -> Option<String> {
    ["aw", "ar", "w", "r", "b"].iter().find_map(|channel| Some(format!("{channel}.{}", name.strip_prefix(channel)?)))
}
