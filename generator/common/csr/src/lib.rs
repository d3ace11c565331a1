//! Control and status registers (CSR) of any block: fields packed into 32-bit registers, with their names, positions,
//! accesses and reset values, and the pieces of C and SystemRDL that are the same for all blocks.
//!
//! The meaning of a field is for the block to say, as a type of its own. Rules of the layout: registers are 32-bit words at
//! byte offsets that are multiples of four; fields are packed from bit 0 in their order; a field never straddles two
//! registers; unused bits read 0.
//!
//! ```
//! use pushmem_csr::{Field, Layout, SoftwareAccess};
//!
//! /// Meaning of the fields of a timer.
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! enum Timer { Enable, Period }
//!
//! let mut layout = Layout::default();
//! let fields = [("enable", 1, Timer::Enable), ("period", 24, Timer::Period)];
//! let fields = fields.map(|(name, bits, meaning)| Field::new(name, bits, name, meaning));
//! layout.group("control", "Runs the timer.", SoftwareAccess::ReadWrite, fields.to_vec());
//! let [control] = layout.registers.as_slice() else { panic!("one register") };
//! assert_eq!((control.fields[1].low, control.fields[1].mask()), (1, 0x01ff_fffe));
//! assert_eq!(
//!     control.c_fields("TIMER_CONTROL").lines().next(),
//!     Some("#define TIMER_CONTROL_ENABLE_SHIFT 0"),
//! );
//! ```

use std::fmt::{Display, Write as _};

use askama::Template;
use serde::Serialize;

/// Bytes of a register; offsets are multiples of it.
pub const WORD_BYTES: u32 = 4;

/// Bits of a register.
pub const WORD_BITS: u32 = 8 * WORD_BYTES;

/// Accesses that software has to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SoftwareAccess {
    /// Writes are ignored.
    ReadOnly,
    /// Reads give the written value.
    ReadWrite,
    /// Reads give the written value, until the hardware has done it and clears the register.
    Request,
}

impl SoftwareAccess {
    /// The name in IP-XACT (IEEE 1685-2014).
    pub fn ip_xact(self) -> &'static str {
        match self {
            SoftwareAccess::ReadOnly => "read-only",
            SoftwareAccess::ReadWrite | SoftwareAccess::Request => "read-write",
        }
    }
}

/// A field of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field<Meaning> {
    /// Name within the register.
    pub name: String,
    /// Lowest bit.
    pub low: u32,
    /// Width in bits, 1 to 32.
    pub bits: u32,
    /// Value after reset.
    pub reset: u32,
    /// One line for documentation.
    pub description: String,
    /// The parameter that it configures.
    pub meaning: Meaning,
}

impl<Meaning> Field<Meaning> {
    /// A field at bit 0 that is 0 after reset.
    pub fn new(name: impl Into<String>, bits: u32, description: impl Into<String>, meaning: Meaning) -> Self {
        Field { name: name.into(), low: 0, bits, reset: 0, description: description.into(), meaning }
    }

    /// The field without what it configures.
    pub fn without_meaning(self) -> Field<()> {
        let Field { name, low, bits, reset, description, meaning: _ } = self;
        Field { name, low, bits, reset, description, meaning: () }
    }

    /// Highest bit.
    pub fn high(&self) -> u32 {
        self.low + self.bits - 1
    }

    /// The field's bits set.
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (WORD_BITS - self.bits)) << self.low
    }
}

/// A 32-bit register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register<Meaning> {
    /// Name, unique in the map.
    pub name: String,
    /// Byte offset.
    pub offset: u32,
    /// Accesses that software has.
    pub access: SoftwareAccess,
    /// One line for documentation; empty if the fields say all.
    pub description: String,
    /// Fields from bit 0 up, without gaps between them.
    pub fields: Vec<Field<Meaning>>,
}

impl<Meaning> Register<Meaning> {
    /// Bits in use, from bit 0 up.
    pub fn used_bits(&self) -> u32 {
        self.fields.iter().map(|field| field.bits).sum()
    }

    /// The position and the mask of each field as C macros, a line each, whose names begin with `prefix`.
    pub fn c_fields(&self, prefix: impl Display) -> String {
        self.fields.iter().fold(String::new(), |mut text, field| {
            let name = upper(&field.name);
            let lines = writeln!(text, "#define {prefix}_{name}_SHIFT {}", field.low)
                .and_then(|()| writeln!(text, "#define {prefix}_{name}_MASK 0x{:08x}u", field.mask()));
            lines.expect("strings can be written");
            text
        })
    }

    /// The register in SystemRDL 2.0, as a part of an address map.
    pub fn to_system_rdl(&self) -> String {
        self.system_rdl(false)
    }

    /// The same; nothing is said of the values of a volatile one, which hardware changes at any time, after a reset.
    fn system_rdl(&self, volatile: bool) -> String {
        SystemRdl { register: self, volatile }.render().expect("templates write to memory").trim().to_owned()
    }

    /// The register without what its fields configure.
    pub fn without_meaning(self) -> Register<()> {
        let Register { name, offset, access, description, fields } = self;
        let fields = fields.into_iter().map(Field::without_meaning).collect();
        Register { name, offset, access, description, fields }
    }
}

/// The words that SystemRDL 2.0 reserves: its keywords, and those of later versions.
const RDL_WORDS: &str = "abstract accesstype addressingtype addrmap alias all alternate bit boolean bothedge byte compact component \
    componentwidth constraint default encode enum external false field fullalign hw inside int internal level longint mem na \
    negedge nonsticky number onreadtype onwritetype posedge precedencetype property r rclr real ref reg regalign regfile rset \
    ruser rw rw1 shortint shortreal signal signed string struct sw this true type unsigned w w1 wclr with within woclr woset \
    wot wr wset wuser wzc wzs wzt";

/// A name as SystemRDL has it: one that is a word of the language is escaped, and stays the name that tools show.
///
/// ```
/// assert_eq!(["signed", "sign"].map(pushmem_csr::in_rdl), [r"\signed", "sign"]);
/// ```
pub fn in_rdl(name: &str) -> String {
    let is_reserved = RDL_WORDS.split_whitespace().any(|word| word == name);
    format!("{}{name}", if is_reserved { r"\" } else { "" })
}

#[derive(Template)]
#[template(path = "register.rdl", escape = "none")]
struct SystemRdl<'a, Meaning> {
    register: &'a Register<Meaning>,
    volatile: bool,
}

/// Registers as an address map in SystemRDL 2.0, which is its text.
#[derive(Template)]
#[template(path = "address_map.rdl", escape = "none")]
pub struct AddressMap<'a, Meaning> {
    /// Its name.
    pub name: &'a str,
    /// Its name for people.
    pub title: &'a str,
    /// Its meaning, a sentence.
    pub description: &'a str,
    /// Its registers.
    pub registers: &'a [Register<Meaning>],
    /// Whether hardware changes them at any time.
    pub volatile: bool,
    /// The text after the registers, in SystemRDL.
    pub rest: &'a str,
}

impl<Meaning> AddressMap<'_, Meaning> {
    fn text_of(&self, register: &Register<Meaning>) -> String {
        register.system_rdl(self.volatile)
    }
}

/// Names as C macros.
pub fn upper(name: &str) -> String {
    name.to_uppercase()
}

/// The place of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the register, from that where the packing begins.
    pub register: u32,
    /// Lowest bit.
    pub low: u32,
}

/// Packs fields, each after the one before: in the same register, if there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    register: u32,
    used: u32,
}

impl Packing {
    /// Goes on in a register of which so many bits are used.
    pub fn after(register: u32, used: u32) -> Self {
        Packing { register, used }
    }

    /// The place of the next field.
    pub fn place(&mut self, bits: u32) -> Position {
        if self.used + bits > WORD_BITS {
            (self.register, self.used) = (self.register + 1, 0);
        }
        let position = Position { register: self.register, low: self.used };
        self.used += bits;
        position
    }
}

/// The registers of a block, in the order in which they are added.
#[derive(Clone, Debug)]
pub struct Layout<Meaning> {
    /// The registers by increasing offset.
    pub registers: Vec<Register<Meaning>>,
    /// Byte offset of the next one.
    next: u32,
}

impl<Meaning> Default for Layout<Meaning> {
    fn default() -> Self {
        Layout { registers: Vec::new(), next: 0 }
    }
}

impl<Meaning> Layout<Meaning> {
    /// Goes on at a byte offset.
    pub fn skip_to(&mut self, offset: u32) {
        self.next = offset;
    }

    /// Packs the fields of a group into as many registers of their own as they need. Several have numbers in their names.
    pub fn group(&mut self, name: &str, description: &str, access: SoftwareAccess, fields: Vec<Field<Meaning>>) {
        let mut words: Vec<Vec<Field<Meaning>>> = Vec::new();
        let mut packing = Packing::default();
        for field in fields {
            let Position { register, low } = packing.place(field.bits);
            words.resize_with(register as usize + 1, Vec::new);
            words[register as usize].push(Field { low, ..field });
        }
        let alone = words.len() == 1;
        for (number, fields) in words.into_iter().enumerate() {
            self.registers.push(Register {
                name: if alone { name.to_owned() } else { format!("{name}_{number}") },
                offset: self.next,
                access,
                description: description.to_owned(),
                fields,
            });
            self.next += WORD_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_never_straddles_two_registers() {
        let mut packing = Packing::default();
        let places = [20, 12, 1, 31, 32, 1].map(|bits| packing.place(bits));
        let at = |register, low| Position { register, low };
        assert_eq!(places, [at(0, 0), at(0, 20), at(1, 0), at(1, 1), at(2, 0), at(3, 0)]);
        assert_eq!(Packing::after(4, 30).place(3), at(5, 0));
        assert_eq!(Packing::after(4, 30).place(2), at(4, 30));
    }

    #[test]
    fn registers_of_a_group_are_numbered_if_there_are_several() {
        let mut layout = Layout::default();
        let field = |name: &str, bits| Field::new(name, bits, "", ());
        layout.group("one", "", SoftwareAccess::ReadOnly, vec![field("a", 8)]);
        layout.group("two", "", SoftwareAccess::ReadWrite, vec![field("a", 30), field("b", 3)]);
        let named: Vec<(&str, u32)> = layout.registers.iter().map(|of| (of.name.as_str(), of.offset)).collect();
        assert_eq!(named, [("one", 0), ("two_0", 4), ("two_1", 8)]);
        assert_eq!(layout.registers[1].used_bits(), 30);
    }

    #[test]
    fn registers_are_printed_for_c_and_in_system_rdl() {
        let mut layout = Layout::default();
        let start = Field { reset: 5, ..Field::new("start", 4, "First cycle", ()) };
        layout.group("cycle", "Schedule.", SoftwareAccess::Request, vec![Field::new("run", 1, "Runs", ()), start]);
        let register = &layout.registers[0];
        let macros = "\
#define T_CYCLE_RUN_SHIFT 0
#define T_CYCLE_RUN_MASK 0x00000001u
#define T_CYCLE_START_SHIFT 1
#define T_CYCLE_START_MASK 0x0000001eu
";
        assert_eq!(register.c_fields("T_CYCLE"), macros);
        let text = register.to_system_rdl();
        assert!(text.starts_with("reg {\n        desc = \"Schedule.\";\n        field {"), "{text}");
        assert!(text.contains("sw = rw; hw = r; hwclr;\n            reset = 4'h5;\n        } start[4:1];"), "{text}");
        assert!(text.ends_with("} cycle @ 0x0;"), "{text}");
        // Names that are words of SystemRDL.
        let mut layout = Layout::default();
        layout.group("level", "", SoftwareAccess::ReadOnly, vec![Field::new("signed", 1, "", ())]);
        let text = layout.registers[0].to_system_rdl();
        assert!(text.contains(r"} \signed[0:0];") && text.ends_with(r"} \level @ 0x0;"), "{text}");
    }
}
