//! RTL of a processing element: Veryl filled in from templates, compiled to SystemVerilog.

use askama::Template;
use itertools::Itertools;
use pushmem_float::Format;
use pushmem_veryl::{CompileError, Emitted, Reset, SourceFile};

use crate::modes::Mode;
use crate::operation::{FloatOperation, Operation};
use crate::spec::PeSpec;

/// The modules of the library, without `pushmem_`, beside those of numbers with a fraction.
const LIBRARY: [(&str, &str); 3] = [
    ("operand", include_str!("../../../../templates/array/library/operand.veryl")),
    ("held_operand", include_str!("../../../../templates/array/library/held_operand.veryl")),
    ("accumulator", include_str!("../../../../templates/array/library/accumulator.veryl")),
];

/// The name of the module of a processing element: that of the specification, which ends in `_pe`.
pub fn module(spec: &PeSpec) -> String {
    let name = &spec.name;
    if name.ends_with("_pe") { name.clone() } else { format!("{name}_pe") }
}

/// The SystemVerilog of a processing element: one module a file, each file named as its module, used modules before their
/// users. The last is [`module`].
///
/// # Errors
/// The findings of Veryl in the rendered sources: they are a fault of the templates, not of the specification.
pub fn generate(spec: &PeSpec) -> Result<Vec<Emitted>, CompileError> {
    let pe = Pe::of(spec);
    let is_operand = |name: &str| name == "operand" || pe.word_ranges.iter().any(|range| range.module == name);
    let library = LIBRARY.into_iter().filter(|(name, _)| is_operand(name));
    let library = library.map(|(name, text)| (format!("pushmem_{name}"), text));
    let is_unit = |name: &str| pe.units.iter().any(|unit| name.strip_prefix("pushmem_") == Some(unit.name.as_str()));
    let library = library.map(|(name, text)| SourceFile { name, text: text.to_owned() });
    let numbers =
        pushmem_float::used(is_unit).into_iter().map(|module| SourceFile { name: module.name, text: module.text });
    let mut sources: Vec<SourceFile> = library.chain(numbers).collect();
    sources.push(SourceFile { name: pe.module.clone(), text: pushmem_files::render(&pe) });
    pushmem_veryl::compile(sources, Reset::Asynchronous)
}

/// Operations whose result needs to know whether `a < b`.
const LESS: [Operation; 12] = [
    Operation::MinimumUnsigned,
    Operation::MinimumSigned,
    Operation::MaximumUnsigned,
    Operation::MaximumSigned,
    Operation::AbsoluteDifferenceUnsigned,
    Operation::AbsoluteDifferenceSigned,
    Operation::ClampUnsigned,
    Operation::ClampSigned,
    Operation::LessUnsigned,
    Operation::LessSigned,
    Operation::LessEqualUnsigned,
    Operation::LessEqualSigned,
];

const SIGNED_PRODUCT: [Operation; 2] = [Operation::MultiplyMiddleSigned, Operation::MultiplyHighSigned];

#[derive(Template)]
#[template(path = "pe.veryl", escape = "none")]
struct Pe<'a> {
    spec: &'a PeSpec,
    module: String,
    w: u32,
    /// How many words and bits are operands.
    words: u32,
    bits: u32,
    /// Their names.
    word_names: String,
    bit_names: String,
    /// The words, each with its place.
    operands: Vec<(u32, char)>,
    word_ranges: Vec<WordRange>,
    /// The modes of words beside the delays.
    held: Option<u32>,
    accumulated: Option<u32>,
    /// Whether words of products leave a step later.
    late_products: bool,
    opcode_bits: u32,
    mode_bits: u32,
    sum_bits: u32,
    product_bits: u32,
    /// The low words of the sum and of the product.
    sum: String,
    product: String,
    operations: Vec<Action>,
    uses: Uses,
    units: Vec<Unit>,
}

/// A branch of the case statement that chooses the result.
struct Action {
    constant: String,
    opcode: usize,
    action: String,
}

/// Words next to each other that are operands of the same kind.
struct WordRange {
    name: &'static str,
    module: &'static str,
    accumulates: bool,
    first: u32,
    end: u32,
}

/// An instance of a module beside the adder and the multiplier.
struct Unit {
    name: String,
    result: String,
    bits: u32,
    ports: Vec<(&'static str, String)>,
}

/// Which parts there are.
struct Uses {
    signed: bool,
    adder: bool,
    carry: bool,
    carry_out: bool,
    bit: bool,
    less: bool,
    signed_less: bool,
    unsigned_less: bool,
    equal: bool,
    multiplier: bool,
    third: bool,
    clamp: bool,
}

impl<'a> Pe<'a> {
    fn of(spec: &'a PeSpec) -> Self {
        use Operation::*;
        let w = spec.word_bits;
        let less_of = |signed: bool| LESS.iter().filter(|op| op.is_signed() == signed).copied().collect_vec();
        let (signed_less, unsigned_less) = (spec.has_any(&less_of(true)), spec.has_any(&less_of(false)));
        let less = signed_less || unsigned_less;
        let sums = [Add, AddCarry, Subtract, SubtractCarry];
        let differences = [AbsoluteDifferenceUnsigned, AbsoluteDifferenceSigned];
        let adder = spec.has_any(&[AddThree, Absolute]) || spec.has_any(&sums) || spec.has_any(&differences);
        let carry_out = adder && (less || spec.has_any(&sums));
        let high = spec.has_any(&[MultiplyHighUnsigned, MultiplyHighSigned]);
        let middle = spec.has_any(&[MultiplyMiddleUnsigned, MultiplyMiddleSigned]);
        let uses = Uses {
            signed: (signed_less && unsigned_less) || spec.has_any(&SIGNED_PRODUCT),
            adder,
            carry: spec.has_any(&[AddCarry, SubtractCarry]),
            carry_out,
            bit: spec.operations.iter().any(|operation| operation.uses_bit()),
            less,
            signed_less,
            unsigned_less,
            equal: spec.has_any(&[Equal, LessEqualUnsigned, LessEqualSigned]),
            multiplier: high || middle || spec.has_any(&[Multiply, MultiplyAdd]),
            third: spec.has_any(&[AddThree, MultiplyAdd]),
            clamp: spec.has_any(&[ClampUnsigned, ClampSigned]),
        };
        let modes = spec.modes();
        let constant = |operation: Operation| format!("Op{operation:?}");
        let sum_bits = w + u32::from(carry_out);
        let product_bits = if high {
            2 * w
        } else if middle {
            w + w / 2
        } else {
            w
        };
        let (sum, product) = (low("sum", sum_bits, w), low("product", product_bits, w));
        let actions = spec
            .operations
            .iter()
            .map(|&operation| Action {
                constant: constant(operation),
                opcode: spec.opcode(operation).expect("an operation of the specification"),
                action: action(operation, w, (&sum, &product)),
            })
            .collect();
        Self {
            spec,
            module: module(spec),
            w,
            words: spec.word_operands(),
            bits: spec.bit_operands(),
            word_names: spec.word_names().into_iter().join(", "),
            bit_names: ('d'..).take(spec.bit_operands() as usize).join(", "),
            operands: (0..spec.word_operands()).zip('a'..).collect(),
            word_ranges: word_ranges(spec),
            held: modes.held.then(|| modes.number(Mode::Held)),
            accumulated: modes.accumulator.map(|_| modes.number(Mode::Accumulated)),
            late_products: spec.multiplier_cycles > 1,
            opcode_bits: spec.opcode_bits(),
            mode_bits: spec.mode_bits(),
            sum_bits,
            product_bits,
            sum,
            product,
            operations: actions,
            uses,
            units: units(spec),
        }
    }

    /// Whether there is this operation.
    fn has(&self, operation: Operation) -> bool {
        self.spec.has_any(&[operation])
    }

    /// Whether the opcode is that of one of these operations.
    fn any_of(&self, wanted: &[Operation]) -> String {
        any_of(self.spec, wanted)
    }

    /// The opcode is that of an operation of signed words.
    fn signed(&self) -> String {
        let signed = Operation::ALL.into_iter().filter(|operation| operation.is_signed()).collect_vec();
        let matters = |operation: &Operation| LESS.contains(operation) || SIGNED_PRODUCT.contains(operation);
        self.any_of(&signed.into_iter().filter(matters).collect_vec())
    }

    /// The opcode is that of an operation that needs `a - b`, or the negative of `a`.
    fn subtracting(&self) -> String {
        use Operation::*;
        self.any_of(&LESS.into_iter().chain([Subtract, SubtractCarry, Absolute]).collect_vec())
    }

    /// The opcode is that of an operation with carry.
    fn carrying(&self) -> String {
        self.any_of(&[Operation::AddCarry, Operation::SubtractCarry])
    }

    /// The opcode is that of an operation whose word is one of a product.
    fn products(&self) -> String {
        self.any_of(&Operation::ALL.into_iter().filter(|operation| operation.is_product()).collect_vec())
    }

    /// A factor as wide as the product.
    fn extended(&self, factor: &str) -> String {
        let above = self.product_bits - self.w;
        let sign = match self.spec.has_any(&SIGNED_PRODUCT) {
            true => format!("(signed_words & {factor}[{}])", self.w - 1),
            false => "1'b0".to_owned(),
        };
        format!("{{{sign} repeat {above}, {factor}}}")
    }

    /// Whether the least of `a` and `b` is less than `c`.
    fn clamp_below(&self) -> String {
        use Operation::*;
        let (signed, unsigned) = ("$signed(least) <: $signed(c)", "least <: c");
        match (self.spec.has_any(&[ClampSigned]), self.spec.has_any(&[ClampUnsigned])) {
            (true, true) => format!("if {} ? {signed} : {unsigned}", self.any_of(&[ClampSigned])),
            (true, false) => signed.to_owned(),
            _ => unsigned.to_owned(),
        }
    }
}

fn any_of(spec: &PeSpec, wanted: &[Operation]) -> String {
    let there = spec.operations.iter().filter(|operation| wanted.contains(operation));
    let tests = there.map(|operation| format!("(operation_i == Op{operation:?})")).join(" | ");
    if tests.is_empty() { "1'b0".to_owned() } else { tests }
}

/// The low word of a signal of so many bits.
fn low(signal: &str, bits: u32, w: u32) -> String {
    if bits == w { signal.to_owned() } else { format!("{signal}[{}:0]", w - 1) }
}

/// The result of an operation, as statements, of which some take the low words of a sum and of a product.
fn action(operation: Operation, w: u32, (sum, product): (&str, &str)) -> String {
    use Operation::*;
    let half = w / 2;
    let word = |word: String| format!("word = {word};");
    let both = |word: &str, flag: &str| {
        format!("{{\n                word = {word};\n                flag = {flag};\n            }}")
    };
    let flag = |flag: &str| both(&format!("{{1'b0 repeat {}, {flag}}}", w - 1), flag);
    match operation {
        Pass => both("a", "d"),
        Add | AddCarry | Subtract | SubtractCarry => both(sum, &format!("sum[{w}]")),
        AddThree | MultiplyAdd => word("total".to_owned()),
        Multiply => word(product.to_owned()),
        MultiplyMiddleUnsigned | MultiplyMiddleSigned => word(format!("product[{}:{half}]", half + w - 1)),
        MultiplyHighUnsigned | MultiplyHighSigned => word(format!("product[{}:{w}]", 2 * w - 1)),
        ShiftLeft => word("a << b".to_owned()),
        ShiftRightUnsigned => word("a >> b".to_owned()),
        ShiftRightSigned => word("$unsigned($signed(a) >>> b)".to_owned()),
        And => word("a & b".to_owned()),
        Or => word("a | b".to_owned()),
        Xor => word("a ^ b".to_owned()),
        MinimumUnsigned | MinimumSigned => both("if less ? a : b", "less"),
        MaximumUnsigned | MaximumSigned => both("if less ? b : a", "less"),
        Absolute => both(&format!("if a[{0}] ? {sum} : a", w - 1), &format!("a[{}]", w - 1)),
        AbsoluteDifferenceUnsigned | AbsoluteDifferenceSigned => {
            both(&format!("({sum} ^ {{less repeat {w}}}) + {{1'b0 repeat {}, less}}", w - 1), "less")
        }
        ClampUnsigned | ClampSigned => word("if below ? c : least".to_owned()),
        Select => both("if d ? a : b", "d"),
        Equal => flag("equal"),
        LessUnsigned | LessSigned => flag("less"),
        LessEqualUnsigned | LessEqualSigned => flag("(less | equal)"),
        ExtendUnsigned => word(format!("{{1'b0 repeat {half}, a[{}:0]}}", half - 1)),
        ExtendSigned => word(format!("{{a[{0}] repeat {half}, a[{0}:0]}}", half - 1)),
        _ => {
            let (format, operation) = operation.float().expect("all others are of numbers with a fraction");
            let result = format!("{}_{}", format.prefix(), result_of(operation));
            if operation.is_comparison() { flag(&result) } else { word(result) }
        }
    }
}

/// The words by the kind of their operands: those before the accumulator, the accumulator, and those behind it.
fn word_ranges(spec: &PeSpec) -> Vec<WordRange> {
    let words = spec.word_operands();
    let plain = if spec.held_operands { "held_operand" } else { "operand" };
    let accumulator = spec.modes().accumulator;
    let end = accumulator.unwrap_or(words);
    let before = WordRange { name: "word", module: plain, accumulates: false, first: 0, end };
    let of_accumulator = accumulator.into_iter().flat_map(|place| {
        let range =
            |name, module, first, end| WordRange { name, module, accumulates: module == "accumulator", first, end };
        [range("accumulator", "accumulator", place, place + 1), range("last_word", plain, place + 1, words)]
    });
    std::iter::once(before).chain(of_accumulator).filter(|range| range.first < range.end).collect()
}

/// The signal with the result of an operation of numbers, behind the name of their format.
fn result_of(operation: FloatOperation) -> &'static str {
    match operation {
        FloatOperation::Add | FloatOperation::Subtract => "sum",
        FloatOperation::Multiply => "product",
        FloatOperation::Equal | FloatOperation::Less | FloatOperation::LessEqual => "holds",
        FloatOperation::FromInteger => "rounded",
        FloatOperation::ToInteger => "truncated",
    }
}

/// The modules of numbers with a fraction.
fn units(spec: &PeSpec) -> Vec<Unit> {
    let mut units = Vec::new();
    for format in Format::ALL {
        let prefix = format.prefix();
        let mut unit = |name: &str, operation, bits, port, operands: &[(&'static str, &str)]| {
            let result = format!("{prefix}_{}", result_of(operation));
            let operands = operands.iter().map(|(port, value)| (*port, (*value).to_owned()));
            let ports = operands.chain([(port, result.clone())]).collect();
            units.push(Unit { name: format!("{prefix}_{name}"), result, bits, ports });
        };
        let of = |operation| Operation::of_numbers(format, operation);
        let (add, subtract) = (of(FloatOperation::Add), of(FloatOperation::Subtract));
        let [equal, less, less_equal] =
            [FloatOperation::Equal, FloatOperation::Less, FloatOperation::LessEqual].map(of);
        if spec.has_any(&[add, subtract]) {
            // A difference is the sum with the other sign.
            let negates = any_of(spec, &[subtract]);
            let b = format!("{{b[15] ^ ({negates}), b[14:0]}}");
            unit("add", FloatOperation::Add, 16, "sum_o", &[("a_i", "a"), ("b_i", &b)]);
        }
        if spec.has_any(&[of(FloatOperation::Multiply)]) {
            unit("multiply", FloatOperation::Multiply, 16, "product_o", &[("a_i", "a"), ("b_i", "b")]);
        }
        if spec.has_any(&[equal, less, less_equal]) {
            let (is_equal, is_less) = (any_of(spec, &[equal, less_equal]), any_of(spec, &[less, less_equal]));
            let operands = [("a_i", "a"), ("b_i", "b"), ("equal_i", is_equal.as_str()), ("less_i", &is_less)];
            unit("compare", FloatOperation::Equal, 1, "holds_o", &operands);
        }
        if spec.has_any(&[of(FloatOperation::FromInteger)]) {
            unit("from_integer", FloatOperation::FromInteger, 16, "number_o", &[("word_i", "a")]);
        }
        if spec.has_any(&[of(FloatOperation::ToInteger)]) {
            unit("to_integer", FloatOperation::ToInteger, 16, "word_o", &[("number_i", "a")]);
        }
    }
    units
}
