//! The registers of a shell.

use pushmem_csr::{Field, Register, SoftwareAccess, WORD_BYTES};

/// The least number of address bits of the window's offset, so that all registers are below it and pages of 4 kB hold them.
const PAGE_BITS: u32 = 12;

/// Byte offset of the first argument of a run, as in kernels of Vitis.
pub(crate) const ARGUMENTS: u32 = 0x10;

/// Byte offset of a shell's own registers, above the arguments: where there are few, and where there are many.
const OWN: u32 = 0x80;
const OWN_ABOVE_IMAGES: u32 = 0xf80;

/// The most words of arguments that there are addresses for.
pub(crate) const MOST_ARGUMENTS: usize = ((OWN_ABOVE_IMAGES - ARGUMENTS) / WORD_BYTES) as usize;

/// How the words of runs reach a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataPath {
    /// As streams.
    Streams,
    /// From images in memory, by managers.
    Images,
    /// As rows of a global buffer, which others write and read.
    Rows,
}

impl DataPath {
    /// The part of the name of the control.
    pub(crate) fn control(self) -> &'static str {
        match self {
            DataPath::Streams => "bus",
            DataPath::Images => "manager",
            DataPath::Rows => "buffer",
        }
    }
}

/// The registers of a shell with streams, so many of which are inputs. The first four are those of kernels of Vitis (`ap_ctrl_hs`);
/// the registers of the shell follow the addresses of arguments.
pub fn registers(inputs: u32) -> Vec<Register<()>> {
    let streams = |description: &str| vec![field("streams", 0, inputs, description)];
    let mut registers = control(DataPath::Streams);
    registers.extend(own(OWN));
    registers.extend([
        register(
            "misplaced_last",
            OWN + 0x0c,
            SoftwareAccess::ReadWrite,
            "Ones that are written clear.",
            streams("TLAST was not at the last beat of a run, for each input stream"),
        ),
        register(
            "incomplete_beats",
            OWN + 0x10,
            SoftwareAccess::ReadWrite,
            "Ones that are written clear.",
            streams("A beat came without all its bytes, for each input stream"),
        ),
    ]);
    registers
}

/// The registers of a shell that reads and writes so many images in memory, with the arguments of a run: name and description of each
/// word.
pub fn manager_registers(images: u32, arguments: &[(String, String)]) -> Vec<Register<()>> {
    let mut registers = control(DataPath::Images);
    let words = arguments.iter().zip((ARGUMENTS..).step_by(WORD_BYTES as usize));
    registers.extend(words.map(|((name, description), offset)| {
        register(name, offset, SoftwareAccess::ReadWrite, "An argument of the next run.", whole(description))
    }));
    registers.extend(own(OWN_ABOVE_IMAGES));
    registers.extend([
        register(
            "error",
            OWN_ABOVE_IMAGES + 0x0c,
            SoftwareAccess::ReadOnly,
            "Why the last run failed; 0 if it did not. The next start clears it.",
            vec![
                field("misaligned", 0, 1, "An address or a stride is odd: there was no run"),
                field("read", 1, 1, "Memory answered a read with an error"),
                field("write", 2, 1, "Memory answered a write with an error"),
                field("decode", 3, 1, "One of the errors was DECERR: there is no memory"),
            ],
        ),
        register(
            "failed_images",
            OWN_ABOVE_IMAGES + 0x10,
            SoftwareAccess::ReadOnly,
            "The images with these errors. The next start clears it.",
            vec![field("images", 0, images, "The image, in the order of the arguments")],
        ),
    ]);
    registers
}

/// The registers of a shell of an array with its global buffer.
pub(crate) fn rows_registers() -> Vec<Register<()>> {
    let mut registers = control(DataPath::Rows);
    registers.extend(own(OWN));
    registers.extend([
        register(
            "runs",
            OWN + 0x0c,
            SoftwareAccess::ReadOnly,
            "",
            whole("Runs that are over since the reset, modulo 2^32"),
        ),
        register(
            "next_half",
            OWN + 0x10,
            SoftwareAccess::ReadOnly,
            "",
            vec![field("half", 0, 1, "The half that the next start hands over")],
        ),
        register("last_cycles", OWN + 0x14, SoftwareAccess::ReadOnly, "", whole("Cycles of the last run that is over")),
    ]);
    registers
}

/// The registers of kernels of Vitis.
fn control(path: DataPath) -> Vec<Register<()>> {
    let mut fields = vec![
        field("start", 0, 1, "1 asks for a run; reads 1 until it is over"),
        field("done", 1, 1, "A run is over, and its results were taken; read only"),
        field("idle", 2, 1, "No run goes on, and none is asked for; read only"),
        field("ready", 3, 1, "The next run may be asked for; read only"),
    ];
    match path {
        DataPath::Streams | DataPath::Images => fields.extend([
            field("reserved", 4, 3, "0"),
            field("auto_restart", 7, 1, "A run follows the other, without a write for each"),
        ]),
        DataPath::Rows => fields.push(field("queued", 4, 1, "A run was asked for that follows this one; read only")),
    }
    vec![
        register("control", 0x00, SoftwareAccess::ReadWrite, "Runs. A read clears done and ready.", fields),
        register(
            "global_interrupt_enable",
            0x04,
            SoftwareAccess::ReadWrite,
            "",
            vec![field("enable", 0, 1, "The interrupt is high while one is pending")],
        ),
        register("interrupt_enable", 0x08, SoftwareAccess::ReadWrite, "", interrupts("is noticed from now on", path)),
        register(
            "interrupt_status",
            0x0c,
            SoftwareAccess::ReadWrite,
            "Ones that are written toggle.",
            interrupts("is pending", path),
        ),
    ]
}

/// The registers of a shell from an offset on.
fn own(base: u32) -> [Register<()>; 3] {
    [
        register(
            "identity",
            base,
            SoftwareAccess::ReadOnly,
            "",
            whole("First 32 bits of the digest of program and tiles"),
        ),
        register(
            "cycles",
            base + 0x04,
            SoftwareAccess::ReadOnly,
            "",
            whole("Cycles of the current or the last run, until all results were taken"),
        ),
        register(
            "refused_accesses",
            base + 0x08,
            SoftwareAccess::ReadWrite,
            "Ones that are written clear.",
            vec![field("any", 0, 1, "An access was answered with an error")],
        ),
    ]
}

/// Byte address of the window to the configuration port, which has so many bits of address.
pub fn window(config_bits: u32) -> u64 {
    1 << config_bits.max(PAGE_BITS)
}

/// Number of the register of that name, in words.
pub(crate) fn word(name: &str, path: DataPath) -> u32 {
    let registers = match path {
        DataPath::Streams => registers(1),
        DataPath::Images => manager_registers(1, &[]),
        DataPath::Rows => rows_registers(),
    };
    let found = registers.into_iter().find(|register| register.name == name);
    found.unwrap_or_else(|| panic!("no register `{name}`")).offset / WORD_BYTES
}

fn whole(description: &str) -> Vec<Field<()>> {
    vec![field("value", 0, 32, description)]
}

pub(crate) fn interrupts(what: &str, path: DataPath) -> Vec<Field<()>> {
    let mut fields = vec![
        field("done", 0, 1, &format!("The end of a run {what}")),
        field("ready", 1, 1, &format!("That the next run may be asked for {what}")),
    ];
    match path {
        DataPath::Streams => {}
        DataPath::Images => fields.push(field("error", 2, 1, &format!("That a run fails {what}"))),
        DataPath::Rows => fields.push(field("loaded", 2, 1, &format!("The end of a load from the banks {what}"))),
    }
    fields
}

fn field(name: &str, low: u32, bits: u32, description: &str) -> Field<()> {
    Field { low, ..Field::new(name, bits, description, ()) }
}

fn register(
    name: &str,
    offset: u32,
    access: SoftwareAccess,
    description: &str,
    fields: Vec<Field<()>>,
) -> Register<()> {
    Register { name: name.to_owned(), offset, access, description: description.to_owned(), fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_apart_and_below_the_window() {
        let most = vec![(String::new(), String::new()); MOST_ARGUMENTS];
        for registers in [registers(32), manager_registers(32, &most), rows_registers()] {
            check(&registers);
        }
    }

    fn check(registers: &[Register<()>]) {
        let increasing = registers.windows(2).all(|pair| pair[0].offset + WORD_BYTES <= pair[1].offset);
        assert!(increasing && registers.iter().all(|register| u64::from(register.offset) < window(0)));
        for register in registers {
            let bits =
                register.fields.iter().fold(0, |end, field| if field.low == end { end + field.bits } else { 33 });
            assert!(bits <= 32, "{}", register.name);
        }
    }
}
