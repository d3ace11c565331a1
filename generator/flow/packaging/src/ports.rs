//! The ports of the top module, from its SystemVerilog: that text is what tools connect to.

use itertools::Itertools;

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub name: String,
    pub output: bool,
    pub bits: u32,
}

/// The ports of a module as it was printed: one on a line, all of the type `logic`.
///
/// # Panics
/// On a module that was not printed so.
pub(crate) fn ports_of(module: &str, text: &str) -> Vec<Port> {
    // A module that uses a package says so between its name and its ports.
    let head = format!("module {module}");
    let is_head = |line: &str| line.strip_prefix(&head).is_some_and(|rest| rest.is_empty() || rest == " (");
    let lines = text.lines().skip_while(|line| !is_head(line)).skip_while(|line| !line.ends_with('(')).skip(1);
    let lines = lines.take_while(|line| *line != ");").map(str::trim).filter(|line| !line.starts_with("//"));
    let ports = lines.map(port).collect_vec();
    assert!(!ports.is_empty(), "{module} has no ports where they were expected");
    ports
}

fn port(line: &str) -> Port {
    let words = line.trim_end_matches(',').split_whitespace().collect_vec();
    let (output, range, name) = match words.as_slice() {
        [direction, "logic", name] => (*direction == "output", None, *name),
        [direction, "logic", range, name] => (*direction == "output", Some(*range), *name),
        _ => panic!("not a port: {line}"),
    };
    let high = range.map(|range| range.trim_start_matches('[').trim_end_matches(":0]").parse::<u32>());
    Port { name: name.to_owned(), output, bits: high.map_or(1, |high| high.expect("ranges are numbers") + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        let text = "// A module.\nmodule tile (\n    input  logic        clk_i,\n    // Words.\n    output logic [15:0] data_out_o\n);\n";
        let port = |name: &str, output, bits| Port { name: name.to_owned(), output, bits };
        let expected = [port("clk_i", false, 1), port("data_out_o", true, 16)];
        assert_eq!(ports_of("tile", text), expected);
        assert_eq!(ports_of("tile", &text.replace("tile (", "tile\n    import tile_pkg::*;\n(")), expected);
    }
}
