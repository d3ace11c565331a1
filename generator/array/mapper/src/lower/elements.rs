//! Configurations of processing elements before nets are joined to them.

use pushmem_pe::{Mode, Operand, Operation, PeConfiguration, PeSpec};

/// The entries of a table whose result is its first bit.
const FIRST_BIT: u8 = 0b1010_1010;

/// The configuration of a processing element whose operands are all constants, 0.
pub(super) fn element(spec: &PeSpec, operation: Operation, lut: Option<u8>) -> PeConfiguration {
    // A cell of a table has no operation: any will do.
    let known = spec.opcode(operation).is_some();
    let operation = if known { operation } else { spec.operations[0] };
    PeConfiguration {
        operation,
        words: [Operand { mode: Mode::Constant, constant: 0 }; 3],
        bits: [Operand { mode: Mode::Constant, constant: false }; 3],
        lut,
    }
}

/// The configuration of a processing element whose result is its operand `a`, a constant as yet.
pub(super) fn passing_words(spec: &PeSpec) -> PeConfiguration {
    let operations = [Operation::Pass, Operation::Or, Operation::Add].into_iter();
    let operation = operations.into_iter().find(|operation| spec.opcode(*operation).is_some());
    element(spec, operation.unwrap_or(Operation::Pass), None)
}

/// The configuration of a processing element whose bit is its first, a constant as yet; nothing, if the elements have no table.
pub(super) fn passing_bits(spec: &PeSpec) -> Option<PeConfiguration> {
    spec.lut.then(|| element(spec, Operation::Pass, Some(FIRST_BIT)))
}
