//! The registers of a shell.

use pushmem_csr::SoftwareAccess::{ReadOnly, ReadWrite};
use pushmem_csr::{Field, Layout, WORD_BYTES};

/// The least number of address bits of the window's offset, so that all registers are below it and pages of 4 kB hold them.
const PAGE_BITS: u32 = 12;

/// Byte offset of the first argument of a run, as in kernels of Vitis.
pub(crate) const ARGUMENTS: u32 = 0x10;

/// Byte offset of a shell's own registers, above the arguments: where there are few, and where there are many.
const OWN: u32 = 0x80;
const OWN_ABOVE_IMAGES: u32 = 0xf80;

/// The most words of arguments that there are addresses for.
pub(crate) const MOST_ARGUMENTS: usize = ((OWN_ABOVE_IMAGES - ARGUMENTS) / WORD_BYTES) as usize;

/// The description of registers that software clears.
const CLEAR: &str = "Ones that are written clear.";

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

/// The registers of a shell with so many input streams, or images. The first four are those of kernels of Vitis (`ap_ctrl_hs`); then come the
/// arguments of a run, name and description of each word, and the registers of the shell.
pub(crate) fn registers(path: DataPath, streams: u32, arguments: &[(String, String)]) -> Layout<()> {
    let mut layout = Layout::default();
    add_control(&mut layout, path);
    for (name, description) in arguments {
        layout.group(name, "An argument of the next run.", ReadWrite, value(description));
    }
    layout.skip_to(if path == DataPath::Images { OWN_ABOVE_IMAGES } else { OWN });
    layout.group("identity", "", ReadOnly, value("First 32 bits of the digest of program and tiles"));
    layout.group("cycles", "", ReadOnly, value("Cycles of the current or the last run, until all results were taken"));
    layout.group("refused_accesses", CLEAR, ReadWrite, vec![field("any", 1, "An access was answered with an error")]);
    match path {
        DataPath::Streams => {
            let misplaced = "TLAST was not at the last beat of a run, for each input stream";
            let incomplete = "A beat came without all its bytes, for each input stream";
            for (name, description) in [("misplaced_last", misplaced), ("incomplete_beats", incomplete)] {
                layout.group(name, CLEAR, ReadWrite, vec![field("streams", streams, description)]);
            }
        }
        DataPath::Images => {
            let reasons = [
                ("misaligned", "An address or a stride is odd: there was no run"),
                ("read", "Memory answered a read with an error"),
                ("write", "Memory answered a write with an error"),
                ("decode", "One of the errors was DECERR: there is no memory"),
            ];
            let reasons = reasons.map(|(name, description)| field(name, 1, description)).to_vec();
            let error = "Why the last run failed; 0 if it did not. The next start clears it.";
            layout.group("error", error, ReadOnly, reasons);
            let images = field("images", streams, "The image, in the order of the arguments");
            layout.group(
                "failed_images",
                "The images with these errors. The next start clears it.",
                ReadOnly,
                vec![images],
            );
        }
        DataPath::Rows => {
            layout.group("runs", "", ReadOnly, value("Runs that are over since the reset, modulo 2^32"));
            layout.group("next_half", "", ReadOnly, vec![field("half", 1, "The half that the next start hands over")]);
            layout.group("last_cycles", "", ReadOnly, value("Cycles of the last run that is over"));
        }
    }
    layout
}

/// Adds the registers of kernels of Vitis.
fn add_control(layout: &mut Layout<()>, path: DataPath) {
    let mut fields = vec![
        field("start", 1, "1 asks for a run; reads 1 until it is over"),
        field("done", 1, "A run is over, and its results were taken; read only"),
        field("idle", 1, "No run goes on, and none is asked for; read only"),
        field("ready", 1, "The next run may be asked for; read only"),
    ];
    match path {
        DataPath::Streams | DataPath::Images => fields.extend([
            field("reserved", 3, "0"),
            field("auto_restart", 1, "A run follows the other, without a write for each"),
        ]),
        DataPath::Rows => fields.push(field("queued", 1, "A run was asked for that follows this one; read only")),
    }
    layout.group("control", "Runs. A read clears done and ready.", ReadWrite, fields);
    let enable = field("enable", 1, "The interrupt is high while one is pending");
    layout.group("global_interrupt_enable", "", ReadWrite, vec![enable]);
    layout.group("interrupt_enable", "", ReadWrite, interrupts("is noticed from now on", path));
    layout.group("interrupt_status", "Ones that are written toggle.", ReadWrite, interrupts("is pending", path));
}

/// Byte address of the window to the configuration port, which has so many bits of address.
pub fn window(config_bits: u32) -> u64 {
    1 << config_bits.max(PAGE_BITS)
}

/// Number of the register of that name, in words.
pub(crate) fn word(name: &str, path: DataPath) -> u32 {
    let found = registers(path, 1, &[]).registers.into_iter().find(|register| register.name == name);
    found.unwrap_or_else(|| panic!("no register `{name}`")).offset / WORD_BYTES
}

pub(crate) fn interrupts(what: &str, path: DataPath) -> Vec<Field<()>> {
    let mut fields = vec![
        field("done", 1, &format!("The end of a run {what}")),
        field("ready", 1, &format!("That the next run may be asked for {what}")),
    ];
    match path {
        DataPath::Streams => {}
        DataPath::Images => fields.push(field("error", 1, &format!("That a run fails {what}"))),
        DataPath::Rows => fields.push(field("loaded", 1, &format!("The end of a load from the banks {what}"))),
    }
    fields
}

/// The field of a register that is a number.
pub(crate) fn value(description: &str) -> Vec<Field<()>> {
    vec![field("value", 32, description)]
}

pub(crate) fn field(name: &str, bits: u32, description: &str) -> Field<()> {
    Field::new(name, bits, description, ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_apart_and_below_the_window() {
        let most = vec![(String::new(), String::new()); MOST_ARGUMENTS];
        for (path, arguments) in [(DataPath::Streams, &[][..]), (DataPath::Images, &most), (DataPath::Rows, &[])] {
            let registers = registers(path, 32, arguments).registers;
            let increasing = registers.windows(2).all(|pair| pair[0].offset + WORD_BYTES <= pair[1].offset);
            assert!(increasing && registers.iter().all(|register| u64::from(register.offset) < window(0)));
            assert!(registers.iter().all(|register| !register.name.ends_with("_1")), "each is one register");
        }
    }
}
