//! The modules of the operations in hardware, in Veryl.

use askama::Template;

use crate::format::Format;

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its text in Veryl.
    pub text: String,
}

/// The numbers that modules of a format consist of.
struct Numbers {
    format: Format,
    prefix: &'static str,
    /// Bits of the exponent.
    e: u32,
    /// Bits of the fraction.
    f: u32,
    /// Bits of the product of two significands.
    w: u32,
    /// Bits between the halves of an addition, and of a multiplication.
    sum_terms: u32,
    product_terms: u32,
    /// Words in hexadecimal digits.
    nan: String,
    infinity: String,
}

impl Numbers {
    fn of(format: Format) -> Self {
        Numbers {
            format,
            prefix: format.prefix(),
            e: format.exponent_bits(),
            f: format.fraction_bits(),
            w: format.product_bits(),
            sum_terms: format.sum_terms(),
            product_terms: format.product_terms(),
            nan: format!("{:04x}", format.not_a_number()),
            infinity: format!("{:04x}", format.infinity()),
        }
    }
}

impl Format {
    /// Bits of the product of two significands.
    const fn product_bits(self) -> u32 {
        2 * (self.fraction_bits() + 1)
    }

    /// Bits between the two steps of an addition: four flags, an exponent, and two significands with three bits below.
    pub const fn sum_terms(self) -> u32 {
        4 + self.exponent_bits() + 2 * (self.fraction_bits() + 4)
    }

    /// Bits between the two steps of a multiplication: four flags, an exponent with two bits more, and a product.
    pub const fn product_terms(self) -> u32 {
        4 + self.exponent_bits() + 2 + self.product_bits()
    }

    /// The name of the module of an operation.
    pub fn module(self, operation: &str) -> String {
        format!("pushmem_{}_{operation}", self.prefix())
    }
}

/// The module of an operation of any format.
struct Unit {
    /// Its name without the format.
    name: &'static str,
    render: fn(Numbers) -> askama::Result<String>,
    /// The units that it consists of.
    parts: &'static [&'static str],
}

macro_rules! unit {
    ($name:literal, $path:tt, $parts:expr) => {{
        #[derive(Template)]
        #[template(path = $path, escape = "none")]
        struct Text {
            n: Numbers,
        }
        Unit { name: $name, render: |n| Text { n }.render(), parts: $parts }
    }};
}

const SUM: &[&str] = &["align", "round_sum"];
const PRODUCT: &[&str] = &["product", "round_product"];

/// All units, parts before what consists of them. A pipelined one has two steps.
const UNITS: [Unit; 11] = [
    unit!("align", "align.veryl", &[]),
    unit!("round_sum", "round_sum.veryl", &[]),
    unit!("add", "add.veryl", SUM),
    unit!("add_pipelined", "add_pipelined.veryl", SUM),
    unit!("product", "product.veryl", &[]),
    unit!("round_product", "round_product.veryl", &[]),
    unit!("multiply", "multiply.veryl", PRODUCT),
    unit!("multiply_pipelined", "multiply_pipelined.veryl", PRODUCT),
    unit!("compare", "compare.veryl", &[]),
    unit!("from_integer", "from_integer.veryl", &[]),
    unit!("to_integer", "to_integer.veryl", &[]),
];

/// The names of all modules.
pub fn module_names() -> impl Iterator<Item = String> {
    Format::ALL.into_iter().flat_map(|format| UNITS.iter().map(move |unit| format.module(unit.name)))
}

/// The modules of these names with their parts, parts before what consists of them.
pub fn used(is_used: impl Fn(&str) -> bool) -> Vec<Module> {
    let of_format = |format: Format| {
        let wanted = UNITS.iter().filter(|unit| is_used(&format.module(unit.name)));
        let names: Vec<&str> = wanted.flat_map(|unit| unit.parts.iter().copied().chain([unit.name])).collect();
        let units = UNITS.iter().filter(move |unit| names.contains(&unit.name));
        units.map(move |unit| {
            let text = (unit.render)(Numbers::of(format)).expect("templates write to memory");
            Module { name: format.module(unit.name), text: format!("{}\n", text.trim()) }
        })
    };
    Format::ALL.into_iter().flat_map(of_format).collect()
}
