//! The specification of a processing element.

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath, counted, digest};
use pushmem_systemverilog::is_reserved;
use serde::{Deserialize, Serialize};

use crate::modes::Modes;
use crate::operation::Operation;

/// Widest word.
const MAX_WORD_BITS: u32 = 32;

/// The most registers on the way of an operand.
const MAX_OPERAND_DELAY: u32 = 8;

/// Module and file names are built from the name.
const MAX_NAME_LENGTH: usize = 40;

/// Bits of a number with a fraction.
const FLOAT_BITS: u32 = 16;

/// Operations whose result is not the low word of a product.
const WIDE_PRODUCTS: [Operation; 4] = [
    Operation::MultiplyMiddleUnsigned,
    Operation::MultiplyMiddleSigned,
    Operation::MultiplyHighUnsigned,
    Operation::MultiplyHighSigned,
];

const DEFAULT_MULTIPLIER_CYCLES: u32 = 1;

/// The most cycles that a product takes.
const MAX_MULTIPLIER_CYCLES: u32 = 2;

/// The specification of a processing element (PE): what it computes, and how late its operands may be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeSpec {
    /// The name, of which the names of modules are made.
    pub name: String,
    /// The kind, which tells its document.
    pub kind: PeKind,
    /// Bits of a word, an even number from 4 to 32.
    #[serde(default = "default_word_bits")]
    pub word_bits: u32,
    /// The most cycles by which an operand can be delayed, 1 to 8.
    #[serde(default = "default_operand_delay")]
    pub operand_delay: u32,
    /// Whether there is a table of three bits, whose result may take the place of the bit of the operation.
    #[serde(default)]
    pub lut: bool,
    /// Whether words can be held: the register of a delay keeps the last word that the bit `f` enabled. Only with the table.
    #[serde(default)]
    pub held_operands: bool,
    /// The word whose register can take the result, so that results accumulate. Only with held operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<char>,
    /// The cycles that words of products take, 1 or 2. In the second they come from a register.
    #[serde(default = "default_multiplier_cycles", skip_serializing_if = "is_default_multiplier_cycles")]
    pub multiplier_cycles: u32,
    /// The operations, in the order of [`Operation::ALL`], which is that of their [opcodes](PeSpec::opcode).
    pub operations: Vec<Operation>,
}

pushmem_files::named! {
    /// The key `kind` of specifications of processing elements.
    pub enum PeKind {
        /// The one that there is.
        ProcessingElement = "processing_element",
    }
}

fn default_word_bits() -> u32 {
    16
}

fn default_operand_delay() -> u32 {
    1
}

fn default_multiplier_cycles() -> u32 {
    DEFAULT_MULTIPLIER_CYCLES
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives a reference
fn is_default_multiplier_cycles(cycles: &u32) -> bool {
    *cycles == DEFAULT_MULTIPLIER_CYCLES
}

impl PeSpec {
    /// Reads a specification from a document.
    ///
    /// # Errors
    /// A located message when the document has an unknown key or a value of the wrong type, or asks for a processing element
    /// that cannot be built.
    pub fn from_document(document: &Document) -> Result<Self, Diagnostic> {
        let mut spec: PeSpec = document.deserialize()?;
        let root = FieldPath::root();
        check_name(document, &spec.name)?;
        if !(4..=MAX_WORD_BITS).contains(&spec.word_bits) || !spec.word_bits.is_multiple_of(2) {
            let message = format!("a word cannot have {} bits", spec.word_bits);
            let help = format!("give an even number from 4 to {MAX_WORD_BITS}");
            return document.refuse(&root.key("word_bits"), message, help);
        }
        if !(1..=MAX_OPERAND_DELAY).contains(&spec.operand_delay) {
            let message = format!("operands cannot be delayed by up to {} cycles", spec.operand_delay);
            let help =
                format!("give a number from 1 to {MAX_OPERAND_DELAY}; paths of an array match in length only with one");
            return document.refuse(&root.key("operand_delay"), message, help);
        }
        check_operations(document, &spec)?;
        let cycles = root.key("multiplier_cycles");
        if !(1..=MAX_MULTIPLIER_CYCLES).contains(&spec.multiplier_cycles) {
            let message = format!("a product cannot take {} cycles", spec.multiplier_cycles);
            return document.refuse(&cycles, message, format!("give 1 to {MAX_MULTIPLIER_CYCLES} cycles"));
        }
        if spec.multiplier_cycles > 1 && !spec.operations.iter().any(|operation| operation.is_product()) {
            let message = "cycles of a multiplier that is not there";
            return document.refuse(&cycles, message, "add `multiply` to the operations, or leave it out");
        }
        if spec.held_operands && !spec.lut {
            let message = "held operands without a table: the bit that enables them is one of its bits";
            return document.refuse(&root.key("held_operands"), message, "set `lut: true`, or hold no operands");
        }
        spec.operations.sort();
        let field = root.key("accumulator");
        if spec.accumulator.is_some() && !spec.held_operands {
            let message = "an accumulator without held operands";
            return document.refuse(&field, message, "set `held_operands: true`, or leave it out");
        }
        if let Some(name) = spec.accumulator
            && spec.modes().accumulator.is_none()
        {
            let message = format!("no operation takes a word `{name}`");
            let help = format!("choose one of {}", spec.word_names().iter().join(", "));
            return document.refuse(&field, message, help);
        }
        Ok(spec)
    }

    /// The completed specification as YAML. Reading it gives the same specification.
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(self).expect("a specification is plain data")
    }

    /// SHA-256, in lower-case hexadecimal, of the values on which configurations depend: bits of a word, delay of operands,
    /// table, operations, the modes that some have: held and accumulated, and the cycles of a multiplier that takes more than one.
    pub fn digest(&self) -> String {
        let Self { word_bits, operand_delay, lut, operations, .. } = self;
        let operations = operations.iter().map(|operation| operation.name()).join(",");
        let mut canonical =
            format!("word_bits={word_bits}\noperand_delay={operand_delay}\nlut={lut}\noperations={operations}\n");
        if self.held_operands {
            canonical.push_str("held_operands=true\n");
        }
        if let Some(accumulator) = self.accumulator {
            canonical.push_str(&format!("accumulator={accumulator}\n"));
        }
        if self.multiplier_cycles != DEFAULT_MULTIPLIER_CYCLES {
            canonical.push_str(&format!("multiplier_cycles={}\n", self.multiplier_cycles));
        }
        digest(&canonical)
    }

    /// The opcode of an operation, if there is the operation.
    pub fn opcode(&self, operation: Operation) -> Option<usize> {
        let place = self.operations.iter().position(|other| *other == operation)?;
        Some(self.first_opcode() + place)
    }

    /// The operation of an opcode, if it is that of one.
    pub fn operation(&self, opcode: u32) -> Option<Operation> {
        let place = (opcode as usize).checked_sub(self.first_opcode())?;
        self.operations.get(place).copied()
    }

    /// The opcode of the first operation. Where that is a late product, 0 is the opcode of none: the register of products keeps its word
    /// while the tile has no configuration.
    fn first_opcode(&self) -> usize {
        self.operations.first().is_some_and(|first| self.latency(*first) > 0).into()
    }

    /// The cycles of `step` by which the word of an operation is later than its operands.
    pub fn latency(&self, operation: Operation) -> u32 {
        if operation.is_product() { self.multiplier_cycles - 1 } else { 0 }
    }

    /// Whether there is one of these operations.
    pub fn has_any(&self, operations: &[Operation]) -> bool {
        operations.iter().any(|operation| self.operations.contains(operation))
    }

    /// Bits of a configuration: the opcode, the mode and the constant of each operand, and the table with its choice.
    pub fn configuration_bits(&self) -> u32 {
        let words = self.word_operands() * (self.mode_bits() + self.word_bits);
        let bits = self.bit_operands() * (self.mode_bits() + 1);
        let table = if self.lut { 1 + (1 << self.bit_operands()) } else { 0 };
        self.opcode_bits() + words + bits + table
    }

    /// The opcodes as a table in Markdown.
    pub fn to_markdown(&self) -> String {
        let Self { name, word_bits, operand_delay, .. } = self;
        let rows = (self.first_opcode()..).zip(&self.operations).map(|(opcode, operation)| {
            let bit = if operation.uses_bit() { " and a bit" } else { "" };
            let words = counted(operation.words(), "word");
            format!("| {opcode} | `{}` | {words}{bit} |\n", operation.name())
        });
        let held = if self.held_operands { " Words can be held, enabled by `f`." } else { "" };
        let accumulated =
            self.accumulator.map_or(String::new(), |name| format!(" Results can accumulate in `{name}`."));
        let late = if self.multiplier_cycles > 1 { " Words of products leave a cycle later." } else { "" };
        format!(
            "# Operations of `{name}`\n\nWords have {word_bits} bits. Operands come up to {} late.{held}{accumulated}{late}\n\n\
             | Opcode | Operation | Operands |\n|---|---|---|\n{}",
            counted(*operand_delay as usize, "cycle"),
            rows.collect::<String>()
        )
    }

    /// The number of words that are operands: `a`, `b`, `c`, as many as an operation needs.
    pub fn word_operands(&self) -> u32 {
        self.operations.iter().map(|operation| operation.words() as u32).max().unwrap_or(1)
    }

    /// The number of bits that are operands: `d`, `e`, `f` of a table, `d` if an operation needs it.
    pub fn bit_operands(&self) -> u32 {
        let needed = self.operations.iter().any(|operation| operation.uses_bit());
        if self.lut { 3 } else { needed.into() }
    }

    /// Bits of an opcode, at least 1.
    pub fn opcode_bits(&self) -> u32 {
        bits_for((self.first_opcode() + self.operations.len()) as u32)
    }

    /// Names of the words that are operands.
    pub fn word_names(&self) -> Vec<char> {
        ('a'..).take(self.word_operands() as usize).collect()
    }

    /// The modes of operands.
    pub fn modes(&self) -> Modes {
        let place = |accumulator: char| self.word_names().iter().position(|name| *name == accumulator);
        Modes {
            delay: self.operand_delay,
            held: self.held_operands,
            accumulator: self.accumulator.and_then(place).map(|place| place as u32),
        }
    }

    /// Bits of the mode of an operand.
    pub fn mode_bits(&self) -> u32 {
        self.modes().bits()
    }
}

/// Bits that number so many things, at least 1.
pub fn bits_for(things: u32) -> u32 {
    (u32::BITS - things.saturating_sub(1).leading_zeros()).max(1)
}

/// Refuses operations that no processing element has together, or that its words are too narrow for.
fn check_operations(document: &Document, spec: &PeSpec) -> Result<(), Diagnostic> {
    let operations = FieldPath::root().key("operations");
    if spec.operations.is_empty() {
        return document.refuse(&operations, "there is no operation".to_owned(), "list one at least, such as `add`");
    }
    for (place, operation) in spec.operations.iter().enumerate() {
        let field = operations.index(place);
        if spec.operations[..place].contains(operation) {
            return document.refuse(
                &field,
                format!("`{}` is here twice", operation.name()),
                "list each operation once",
            );
        }
        if operation.has_fraction() && spec.word_bits != FLOAT_BITS {
            let message = format!("`{}` needs words of {FLOAT_BITS} bits", operation.name());
            return document.refuse(&field, message, "set `word_bits: 16`, or leave the operation out");
        }
    }
    let extends = |operation: &Operation| matches!(operation, Operation::ExtendUnsigned | Operation::ExtendSigned);
    if spec.operations.iter().all(extends) {
        let message = "no operation takes a whole word";
        return document.refuse(&operations, message, "add one that does, such as `pass`");
    }
    let is_wide = |operation: &Operation| WIDE_PRODUCTS.contains(operation);
    let multiplies = [Operation::Multiply, Operation::MultiplyAdd].iter().any(|low| spec.operations.contains(low));
    if let Some(place) = spec.operations.iter().position(is_wide)
        && !multiplies
    {
        let message = format!("`{}` without the low word of the product", spec.operations[place].name());
        return document.refuse(&operations.index(place), message, "add `multiply`: the multiplier computes it anyway");
    }
    Ok(())
}

/// Refuses the `name` of a specification that no module can have.
fn check_name(document: &Document, name: &str) -> Result<(), Diagnostic> {
    if is_reserved(name) { Err(refused_name(document, name)) } else { check_stem(document, name) }
}

/// Refuses the `name` of a specification that cannot be the beginning of names of modules: as that of a module, but a keyword
/// may be one.
///
/// # Errors
/// A message at the key `name`.
pub fn check_stem(document: &Document, name: &str) -> Result<(), Diagnostic> {
    let rest = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let is_spelled = name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(rest);
    let is_free = !name.starts_with("pushmem_") && !name.contains("__") && !name.ends_with('_');
    match is_spelled && is_free && name.len() <= MAX_NAME_LENGTH {
        true => Ok(()),
        false => Err(refused_name(document, name)),
    }
}

fn refused_name(document: &Document, name: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be the name of a module");
    document.error(&FieldPath::root().key("name"), message).with_help(format!(
        "use at most {MAX_NAME_LENGTH} lower-case letters, digits and single underscores, starting with a letter; no \
         keyword of SystemVerilog or Veryl, and nothing that begins with `pushmem_`"
    ))
}
