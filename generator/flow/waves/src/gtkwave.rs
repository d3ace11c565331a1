//! Save files of GTKWave.
//!
//! A line names a signal or begins or ends a group; before it, where they change, is a line of flags. The flags are
//! GTKWave's, in hexadecimal.

use crate::{Format, Group, Signal, View};

const HEXADECIMAL: u32 = 0x2;
const DECIMAL: u32 = 0x4;
const BINARY: u32 = 0x8;
const RIGHT: u32 = 0x20;
/// A line without a signal: the head or the end of a group, or room for the curve above it.
const BLANK: u32 = 0x200;
/// A decimal number in two's complement.
const SIGNED: u32 = 0x400;
const CURVE: u32 = 0x8000;
const CURVE_ROOM: u32 = 0x2_0000;
const CLOSED: u32 = 0x40_0000;
const GROUP: u32 = 0x80_0000;
const GROUP_END: u32 = 0x100_0000;

/// Lines of room below a curve.
const CURVE_LINES: usize = 2;

impl View {
    /// The layout for GTKWave: a save file, which it is given after the wave file.
    pub fn gtkwave(&self) -> String {
        let mut lines = vec!["[*] Waves of pushmem: gtkwave WAVES.fst LAYOUT.gtkw".to_owned()];
        for group in &self.all_groups() {
            print(group, &self.path(), &mut lines);
        }
        lines.join("\n") + "\n"
    }
}

fn print(group: &Group, path: &str, lines: &mut Vec<String>) {
    if !group.is_shown() {
        return;
    }
    let closed = if group.open { 0 } else { CLOSED };
    lines.push(format!("@{:x}", GROUP | BLANK | closed));
    lines.push(format!("-{}", group.name));
    let path = format!("{path}.{}", group.name);
    for signal in &group.signals {
        let Some(format) = signal.format else { continue };
        lines.push(format!("@{:x}", flags(format)));
        lines.push(format!("{path}.{}{}", signal.name, Signal::range(signal)));
        if matches!(format, Format::Curve | Format::SignedCurve) {
            lines.push(format!("@{CURVE_ROOM:x}"));
            lines.extend(vec!["-".to_owned(); CURVE_LINES]);
        }
    }
    for inner in &group.groups {
        print(inner, &path, lines);
    }
    lines.push(format!("@{:x}", GROUP_END | BLANK | closed));
    lines.push(format!("-{}", group.name));
}

fn flags(format: Format) -> u32 {
    RIGHT
        | match format {
            Format::Bit => BINARY,
            Format::Decimal => DECIMAL,
            Format::Signed => SIGNED,
            Format::Hexadecimal => HEXADECIMAL,
            Format::Curve => CURVE | DECIMAL,
            Format::SignedCurve => CURVE | SIGNED,
        }
}
