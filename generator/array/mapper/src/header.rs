//! The C header of a program on an array.

use std::fmt::Write as _;

use pushmem_compiler::Compiled;

use crate::mapping::{ArrayTarget, Mapped};
use crate::streams::StreamLane;

/// A C header with the writes of the bitstream, and the column and the beats of each stream.
pub fn header(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) -> String {
    let name = &mapped.lowered.netlist.name;
    let upper = name.to_uppercase();
    let accelerator = &compiled.accelerator;
    let mut text = format!(
        "// `{name}` on the array `{}`: the bitstream, and the streams.\n\
         #ifndef {upper}_BITSTREAM_H\n#define {upper}_BITSTREAM_H\n\n#include <stdint.h>\n\n",
        target.spec.name
    );
    let mut streams = |direction: &str, lanes: Vec<StreamLane>| {
        for lane in lanes {
            let stream = mapped.lowered.netlist.cells[lane.cell].name.to_uppercase();
            let beats = accelerator.counters[lane.counter].iterations();
            let column = mapped.place(lane.cell).column;
            let line = format!("#define {upper}_{direction}_{stream}");
            writeln!(text, "{line}_COLUMN {column}u\n{line}_BEATS {beats}u").expect("writing to a string cannot fail");
        }
    };
    streams("IN", mapped.lowered.input_lanes(accelerator));
    streams("OUT", mapped.lowered.output_lanes(accelerator));
    writeln!(
        text,
        "\n#define {upper}_BITSTREAM_WORDS {}u\n\n// Address and data of each write, in their order.\n\
         static const uint32_t {name}_bitstream[{upper}_BITSTREAM_WORDS][2] = {{",
        mapped.bitstream.writes.len()
    )
    .expect("writing to a string cannot fail");
    for write in &mapped.bitstream.writes {
        writeln!(text, "    {{0x{:08x}u, 0x{:08x}u}},", write.address, write.data)
            .expect("writing to a string cannot fail");
    }
    text + &format!("}};\n\n#endif  // {upper}_BITSTREAM_H\n")
}
