//! The ports of a module, from its SystemVerilog: that text is what tools connect to.

use itertools::Itertools;

/// A port of a module: a vector of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePort {
    /// Its name.
    pub name: String,
    /// Whether it is an output; else it is an input.
    pub output: bool,
    /// Its width in bits.
    pub bits: u32,
}

/// The header of a module, from its name to the end of its ports.
pub fn header<'a>(module: &str, text: &'a str) -> Option<&'a str> {
    // A module that uses a package says so between its name and its ports.
    let head = format!("module {module}");
    let is_head = |begin: usize| {
        let line = text[begin..].lines().next().unwrap_or_default();
        let begins_line = begin == 0 || text[..begin].ends_with('\n');
        begins_line && line.strip_prefix(&head).is_some_and(|rest| ["", " (", " #("].contains(&rest))
    };
    let begin = text.match_indices(&head).map(|(begin, _)| begin).find(|begin| is_head(*begin))?;
    let end = text[begin..].find("\n);")? + "\n);".len();
    Some(&text[begin..begin + end])
}

/// The ports of a module as it was printed: one on a line, all of the type `logic`. Nothing for a module that was not printed so, or
/// has no ports.
pub fn ports_of(module: &str, text: &str) -> Option<Vec<ModulePort>> {
    let lines = header(module, text)?.lines().skip_while(|line| !line.ends_with('(')).skip(1);
    let lines = lines.take_while(|line| *line != ");").map(str::trim).filter(|line| !line.starts_with("//"));
    lines.map(port).collect::<Option<Vec<ModulePort>>>().filter(|ports| !ports.is_empty())
}

/// A port by its line: `input  logic [7:0] column_i,`.
fn port(line: &str) -> Option<ModulePort> {
    let words = line.trim_end_matches(',').split_whitespace().collect_vec();
    let (direction, bits, name) = match words[..] {
        [direction, "logic", name] => (direction, 1, name),
        [direction, "logic", range, name] => {
            let high: u32 = range.strip_prefix('[')?.strip_suffix(":0]")?.parse().ok()?;
            (direction, high + 1, name)
        }
        _ => return None,
    };
    Some(ModulePort { name: name.to_owned(), output: direction == "output", bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        let text = "// A module.\nmodule tile (\n    input  logic        clk_i,\n    // Words.\n    output logic [15:0] data_out_o\n);\n";
        let port = |name: &str, output, bits| ModulePort { name: name.to_owned(), output, bits };
        let expected = Some(vec![port("clk_i", false, 1), port("data_out_o", true, 16)]);
        assert_eq!(ports_of("tile", text), expected);
        assert_eq!(ports_of("tile", &text.replace("tile (", "tile\n    import tile_pkg::*;\n(")), expected);
        assert_eq!(ports_of("tile", &text.replace("[15:0]", "[WIDTH-1:0]")), None);
        assert_eq!(ports_of("tile", &text.replace("data_out_o", "data_out_o [5]")), None);
        assert_eq!(ports_of("til", text), None);
    }
}
