//! The views of a wave viewer: named signals in groups.
//!
//! [`View::systemverilog`] prints a module for simulations only. It is bound into the hardware, and its signals show
//! the hardware in terms of the program: which operation and which controller fires, at which loop indices, and at
//! which address. So the simulator itself writes them into its wave file, beside all signals of the hardware.
//! [`View::gtkwave`] and [`View::surfer`] print the layouts for two viewers. They name the signals of that module, and no
//! others.

mod gtkwave;
mod surfer;
mod systemverilog;
mod tile;

pub use tile::{LoopIndex, SignedPorts, WAVE_NAMES, levels, tile_group, tile_view};

/// The name of the instance that is bound into the hardware: the first part of the path of all signals in it.
pub const INSTANCE: &str = "waves";

/// The view of a module of hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Name of the module, which the simulation has one instance of, on top.
    pub module: String,
    /// The signal that starts a run, in SystemVerilog; signals of the module have its name and a dot before theirs.
    pub flush: String,
    /// Whether time goes on in a cycle, likewise.
    pub step: String,
    /// The groups, each with its own name.
    pub groups: Vec<Group>,
}

/// A group of signals. Nothing in it has the name of another or of the module of hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its name, an identifier.
    pub name: String,
    /// Whether viewers show what is in it from the start.
    pub open: bool,
    /// SystemVerilog before the signals, with lines that are not indented.
    pub body: String,
    /// The signals.
    pub signals: Vec<Signal>,
    /// Groups within it.
    pub groups: Vec<Group>,
}

/// A signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its name, an identifier.
    pub name: String,
    /// Its width.
    pub bits: u32,
    /// Its value in SystemVerilog; nothing if the body of its group declares the signal.
    pub value: Option<String>,
    /// How it is shown; nothing if the layouts leave it out.
    pub format: Option<Format>,
}

/// How a signal is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As a level.
    Bit,
    /// As a number: indices, addresses, cycles, words without a sign.
    Decimal,
    /// As a number in two's complement: words with a sign.
    Signed,
    /// As hexadecimal digits: rows of several words.
    Hexadecimal,
    /// As a curve: words of a stream.
    Curve,
    /// As a curve of numbers in two's complement.
    SignedCurve,
}

impl Format {
    /// Numbers, with a sign or without.
    pub fn number(signed: bool) -> Self {
        if signed { Format::Signed } else { Format::Decimal }
    }

    /// A curve of such numbers.
    pub fn curve(signed: bool) -> Self {
        if signed { Format::SignedCurve } else { Format::Curve }
    }
}

impl Group {
    /// A group that viewers show open.
    pub fn open(name: impl Into<String>) -> Self {
        Group { name: name.into(), open: true, ..Group::default() }
    }

    /// A group that viewers show closed.
    pub fn closed(name: impl Into<String>) -> Self {
        Group { open: false, ..Group::open(name) }
    }

    /// Adds a bit.
    pub fn bit(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.signal(name, 1, value, Format::Bit);
    }

    /// Adds a signal.
    pub fn signal(&mut self, name: impl Into<String>, bits: u32, value: impl Into<String>, format: Format) {
        self.signals.push(Signal { name: name.into(), bits, value: Some(value.into()), format: Some(format) });
    }

    /// Whether there is something to show in it.
    fn is_shown(&self) -> bool {
        self.signals.iter().any(|signal| signal.format.is_some()) || self.groups.iter().any(Group::is_shown)
    }
}

impl Signal {
    /// The range of its bits; nothing for a single one.
    fn range(&self) -> String {
        if self.bits == 1 { String::new() } else { format!("[{}:0]", self.bits - 1) }
    }
}

impl View {
    /// The path of the module's instance in wave files: the simulations of pushmem call what is on top `top`.
    fn path(&self) -> String {
        format!("top.{}.{INSTANCE}", self.module)
    }

    /// The groups, after the time, which every view has.
    fn all_groups(&self) -> Vec<Group> {
        let mut time = Group::open("timeline");
        let declared =
            |name: &str, bits, format| Signal { name: name.to_owned(), bits, value: None, format: Some(format) };
        time.signals.push(Signal { value: Some("clk".to_owned()), ..declared("clock", 1, Format::Bit) });
        time.bit("flushes", "flush");
        time.bit("steps", "step");
        time.signal("cycle", systemverilog::CYCLE_BITS, "cycle_q", Format::Decimal);
        std::iter::once(time).chain(self.groups.iter().cloned()).collect()
    }
}
