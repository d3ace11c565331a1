//! Whether memories are in block RAM, and products in multipliers.

use pushmem_files::{Code, Diagnostic};

use super::FpgaDesign;
use super::report::{Inferred, Memory, Product};

/// Memories of so many bits belong into block RAM: a quarter of a block of either family. Smaller ones take few LUTs, which have the
/// better reads for them.
pub(super) const LEAST_BLOCK_BITS: u64 = 4096;

/// Products of two variables of so many bits each belong into multipliers.
const LEAST_PRODUCT_BITS: u32 = 4;

/// Refuses a design of which a memory or a product is in logic, though the device has blocks for it.
///
/// # Errors
/// Each such memory and product, its place in the RTL, and why.
pub(super) fn check(design: &FpgaDesign, inferred: &Inferred) -> Result<(), Diagnostic> {
    let memories = inferred.memories.iter().filter_map(not_in_blocks);
    let products = inferred.multipliers.iter().filter_map(not_in_multipliers);
    let mut problems = memories.chain(products).map(|text| Diagnostic::new(text).or_code(Code::Synthesis));
    let Some(first) = problems.next() else { return Ok(()) };
    let help = match design.writes.is_empty() {
        true => "leave `--keep-registers` out, or choose another tile by `--tile` or another kind of FPGA by `--fpga`",
        false => "choose another tile by `--tile`, another kind of FPGA by `--fpga`, or `--keep-registers`",
    };
    Err(first.with_help(help).with_related(problems.collect()))
}

/// The fault in the place of a memory.
fn not_in_blocks(memory: &Memory) -> Option<String> {
    let Memory { name, at, rows, width, reads, writes, unclocked_reads, blocks, .. } = memory;
    if rows * width < LEAST_BLOCK_BITS || *blocks > 0 {
        return None;
    }
    let why = match (unclocked_reads, reads + writes) {
        (1.., _) => "a read of it shows in the same cycle, and those of block RAM show in the next one".to_owned(),
        (0, 3..) => format!("it has {reads} reads and {writes} writes a cycle, and block RAM has two ports"),
        _ => "Yosys finds no block RAM with such ports that is cheaper than logic".to_owned(),
    };
    let held = match memory.parts.keys().next() {
        Some(part) => format!("in {part}"),
        None => "in flip-flops".to_owned(),
    };
    Some(format!("the memory `{name}` ({at}) of {rows} rows of {width} bits is {held}, not in block RAM: {why}"))
}

/// The fault in the place of a product.
fn not_in_multipliers(product: &Product) -> Option<String> {
    let Product { name, at, bits: [one, other], mapped } = product;
    let is_small = one.min(other) < &LEAST_PRODUCT_BITS;
    (!mapped && !is_small).then(|| {
        format!(
            "the product `{name}` ({at}) of {one} and {other} bits is in logic, not in a multiplier: Yosys finds none of this size"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(reads: u64, writes: u64, unclocked_reads: u64) -> Memory {
        let name = "u_sram.rows".to_owned();
        let at = "rtl/pushmem_sram.sv:28.23".to_owned();
        Memory { name, at, rows: 512, width: 64, reads, writes, unclocked_reads, blocks: 0, parts: Default::default() }
    }

    #[test]
    fn a_memory_in_logic_is_named_with_why() {
        let asynchronous = not_in_blocks(&memory(1, 1, 1)).unwrap();
        assert!(
            asynchronous.contains("`u_sram.rows` (rtl/pushmem_sram.sv:28.23) of 512 rows of 64 bits"),
            "{asynchronous}"
        );
        assert!(asynchronous.contains("in the same cycle"), "{asynchronous}");
        assert!(not_in_blocks(&memory(2, 2, 0)).unwrap().contains("2 reads and 2 writes"));
        assert!(not_in_blocks(&memory(1, 1, 0)).unwrap().contains("cheaper"));
        assert!(not_in_blocks(&Memory { blocks: 2, ..memory(1, 1, 0) }).is_none());
        assert!(not_in_blocks(&Memory { rows: 4, ..memory(1, 1, 1) }).is_none());
    }

    #[test]
    fn a_product_in_logic_is_named() {
        let product = |bits, mapped| Product { name: "$1".to_owned(), at: "rtl/sums.sv:7.1".to_owned(), bits, mapped };
        assert!(not_in_multipliers(&product([16, 8], false)).unwrap().contains("16 and 8 bits"));
        assert!(not_in_multipliers(&product([16, 3], false)).is_none());
        assert!(not_in_multipliers(&product([16, 16], true)).is_none());
    }
}
