//! The C header of a program on an array.

use std::ops::Range;

use itertools::Itertools;
use pushmem_bitstream::{BankRow, BankedBitstream, Bitstream};
use pushmem_compiler::Compiled;

use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::StreamLane;

/// A program of a bitstream.
pub struct HeaderProgram<'a> {
    /// The program.
    pub compiled: &'a Compiled,
    /// Its places.
    pub mapped: &'a Mapped,
    /// Its columns, where other programs have others.
    pub columns: Option<Range<u32>>,
}

/// A C header, called `name`, with the writes of a bitstream, and the columns of the programs that it has, and the column and the beats of
/// each of their streams.
pub fn header(name: &str, programs: &[HeaderProgram], bitstream: &Bitstream, target: &ArrayTarget) -> String {
    let guard = name.to_uppercase();
    let mut text = format!(
        "// `{name}` on the array `{}`: the bitstream, and the streams.\n\
         #ifndef {guard}_BITSTREAM_H\n#define {guard}_BITSTREAM_H\n\n#include <stdint.h>\n\n",
        target.spec.name
    );
    for HeaderProgram { compiled, mapped, columns } in programs {
        if let Some(Range { start, end }) = columns {
            let program = mapped.lowered.netlist.name.to_uppercase();
            text += &format!("#define {program}_FIRST_COLUMN {start}u\n#define {program}_LAST_COLUMN {}u\n", end - 1);
        }
        text += &streams("IN", compiled, mapped, mapped.lowered.input_lanes(&compiled.graph));
        text += &streams("OUT", compiled, mapped, mapped.lowered.output_lanes(&compiled.graph));
    }
    let words = bitstream.writes.len();
    text += &format!(
        "\n#define {guard}_BITSTREAM_WORDS {words}u\n\n// Address and data of each write, in their order.\n\
         static const uint32_t {name}_bitstream[{guard}_BITSTREAM_WORDS][2] = {{\n"
    );
    let writes = bitstream.writes.iter();
    text += &writes.map(|write| format!("    {{0x{:08x}u, 0x{:08x}u}},\n", write.address, write.data)).join("");
    text += "};\n";
    if let Some(banked) = BankedBitstream::of(bitstream, &target.spec) {
        text += &banks(name, &banked);
    }
    text + &format!("\n#endif  // {guard}_BITSTREAM_H\n")
}

/// The lines of the bitstream in banks.
fn banks(name: &str, banked: &BankedBitstream) -> String {
    let guard = name.to_uppercase();
    let rows = banked.rows().count();
    let text = format!(
        "\n#define {guard}_BANK_ROWS {rows}u\n\n// The same in the banks of the global buffer, after the writes that come first: bank, row from the one at which the\n\
         // bitstream begins, and bits 31:0 and 63:32 of that row.\n\
         static const uint32_t {name}_bank_rows[{guard}_BANK_ROWS][4] = {{\n"
    );
    let row = |BankRow { bank, row, data }| {
        format!("    {{{bank}u, {row}u, 0x{:08x}u, 0x{:08x}u}},\n", data as u32, data >> u32::BITS)
    };
    let first = banked.first.len();
    let begin = format!(
        "\n// Writes that come first through the configuration port: so many of the bitstream.\n#define {guard}_FIRST_WORDS {first}u\n"
    );
    format!("{begin}{text}{}}};\n", banked.rows().map(row).join(""))
}

/// The lines of the streams of a program in a direction.
fn streams(direction: &str, compiled: &Compiled, mapped: &Mapped, lanes: Vec<StreamLane>) -> String {
    let program = mapped.lowered.netlist.name.to_uppercase();
    let of_lane = |lane: StreamLane| {
        let stream = mapped.lowered.netlist.cells[lane.cell].name.to_uppercase();
        let beats = compiled.graph.counters[lane.counter].iterations();
        let column = mapped.place(lane.cell).column;
        let line = format!("#define {program}_{direction}_{stream}");
        format!("{line}_COLUMN {column}u\n{line}_BEATS {beats}u\n")
    };
    lanes.into_iter().map(of_lane).join("")
}
