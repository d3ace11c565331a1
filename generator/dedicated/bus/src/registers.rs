//! The registers of a shell.

use pushmem_csr::{Access, Field, Register, WORD_BYTES};

/// The least number of address bits of the window's offset, so that all registers are below it and pages of 4 kB hold them.
const PAGE_BITS: u32 = 12;

/// The registers of a shell with so many input streams. The first four are those of kernels of Vitis (`ap_ctrl_hs`); the registers
/// of the shell follow the addresses of arguments.
pub fn registers(inputs: u32) -> Vec<Register<()>> {
    let whole = |description: &str| vec![field("value", 0, 32, description)];
    let streams = |description: &str| vec![field("streams", 0, inputs, description)];
    vec![
        register(
            "control",
            0x00,
            Access::ReadWrite,
            "Runs. A read clears done and ready.",
            vec![
                field("start", 0, 1, "1 asks for a run; reads 1 until it is over"),
                field("done", 1, 1, "A run is over, and its results were taken; read only"),
                field("idle", 2, 1, "No run goes on, and none is asked for; read only"),
                field("ready", 3, 1, "The next run may be asked for; read only"),
                field("reserved", 4, 3, "0"),
                field("auto_restart", 7, 1, "A run follows the other, without a write for each"),
            ],
        ),
        register(
            "global_interrupt_enable",
            0x04,
            Access::ReadWrite,
            "",
            vec![field("enable", 0, 1, "The interrupt is high while one is pending")],
        ),
        register("interrupt_enable", 0x08, Access::ReadWrite, "", interrupts("is noticed from now on")),
        register(
            "interrupt_status",
            0x0c,
            Access::ReadWrite,
            "Ones that are written toggle.",
            interrupts("is pending"),
        ),
        register("identity", 0x80, Access::ReadOnly, "", whole("First 32 bits of the digest of program and tiles")),
        register(
            "cycles",
            0x84,
            Access::ReadOnly,
            "",
            whole("Cycles of the current or the last run, until all results were taken"),
        ),
        register(
            "refused_accesses",
            0x88,
            Access::ReadWrite,
            "Ones that are written clear.",
            vec![field("any", 0, 1, "An access was answered with an error")],
        ),
        register(
            "misplaced_last",
            0x8c,
            Access::ReadWrite,
            "Ones that are written clear.",
            streams("TLAST was not at the last beat of a run, for each input stream"),
        ),
        register(
            "incomplete_beats",
            0x90,
            Access::ReadWrite,
            "Ones that are written clear.",
            streams("A beat came without all its bytes, for each input stream"),
        ),
    ]
}

/// Byte address of the window to the configuration port, which has so many bits of address.
pub fn window(config_bits: u32) -> u64 {
    1 << config_bits.max(PAGE_BITS)
}

/// Number of the register of that name, in words.
pub(crate) fn word(name: &str) -> u32 {
    let found = registers(1).into_iter().find(|register| register.name == name);
    found.unwrap_or_else(|| panic!("no register `{name}`")).offset / WORD_BYTES
}

fn interrupts(what: &str) -> Vec<Field<()>> {
    vec![
        field("done", 0, 1, &format!("The end of a run {what}")),
        field("ready", 1, 1, &format!("That the next run may be asked for {what}")),
    ]
}

fn field(name: &str, low: u32, bits: u32, description: &str) -> Field<()> {
    Field { low, ..Field::new(name, bits, description, ()) }
}

fn register(name: &str, offset: u32, access: Access, description: &str, fields: Vec<Field<()>>) -> Register<()> {
    Register { name: name.to_owned(), offset, access, description: description.to_owned(), fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_apart_and_below_the_window() {
        let registers = registers(32);
        let increasing = registers.windows(2).all(|pair| pair[0].offset + WORD_BYTES <= pair[1].offset);
        assert!(increasing && registers.iter().all(|register| u64::from(register.offset) < window(0)));
        for register in &registers {
            let bits =
                register.fields.iter().fold(0, |end, field| if field.low == end { end + field.bits } else { 33 });
            assert!(bits <= 32, "{}", register.name);
        }
    }
}
