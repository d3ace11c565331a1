//! The modules of the operations in hardware, in Veryl.

/// A module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: &'static str,
    /// Its text in Veryl.
    pub text: &'static str,
    /// The names of the modules that it consists of.
    pub parts: &'static [&'static str],
}

macro_rules! module {
    ($name:literal, $parts:expr) => {
        Module {
            name: concat!("pushmem_", $name),
            text: include_str!(concat!("../../../../templates/bfloat/", $name, ".veryl")),
            parts: $parts,
        }
    };
}

const SUM: &[&str] = &["pushmem_bfloat_align", "pushmem_bfloat_round_sum"];
const PRODUCT: &[&str] = &["pushmem_bfloat_product", "pushmem_bfloat_round_product"];

/// All modules, parts before what consists of them. A pipelined one has two steps.
pub const MODULES: [Module; 11] = [
    module!("bfloat_align", &[]),
    module!("bfloat_round_sum", &[]),
    module!("bfloat_add", SUM),
    module!("bfloat_add_pipelined", SUM),
    module!("bfloat_product", &[]),
    module!("bfloat_round_product", &[]),
    module!("bfloat_multiply", PRODUCT),
    module!("bfloat_multiply_pipelined", PRODUCT),
    module!("bfloat_compare", &[]),
    module!("bfloat_from_integer", &[]),
    module!("bfloat_to_integer", &[]),
];

/// The modules of these names with their parts, in the order of [`MODULES`].
pub fn used(is_used: impl Fn(&str) -> bool) -> Vec<Module> {
    let wanted = MODULES.iter().filter(|module| is_used(module.name));
    let parts: Vec<&str> = wanted.flat_map(|module| module.parts).copied().collect();
    MODULES.into_iter().filter(|module| is_used(module.name) || parts.contains(&module.name)).collect()
}
