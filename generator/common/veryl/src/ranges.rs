//! Declarations as a person writes them: `[15:0]` for `[16-1:0]`, no range for one bit, and names and sizes of arrays of
//! consecutive declarations aligned.

/// Folds the constant ranges of declarations. Ranges that depend on a parameter stay as they are, and so does `[0:0]` where the text
/// selects bits of the signal.
pub(crate) fn fold_ranges(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::with_capacity(text.len());
    for group in lines.chunk_by(|one, other| Declaration::is_one(one) && Declaration::is_one(other)) {
        let declarations: Vec<Declaration> = group.iter().filter_map(|line| Declaration::parse(line, text)).collect();
        let widest = |width: fn(&Declaration) -> usize| declarations.iter().map(width).max().unwrap_or(0);
        let names = widest(|declaration| declaration.type_text.len());
        let sizes = widest(|declaration| declaration.size.map_or(0, |_| declaration.name.len()));
        if declarations.is_empty() {
            folded.extend(group.iter().flat_map(|line| [line, "\n"]));
        }
        for Declaration { type_text, name, size } in declarations {
            match size {
                Some(size) => folded.push_str(&format!("{type_text:names$} {name:sizes$} {size}\n")),
                None => folded.push_str(&format!("{type_text:names$} {name}\n")),
            }
        }
    }
    folded
}

/// A line that declares a signal or port: its type, folded, the name with what follows, and the size of an array with what follows.
struct Declaration<'a> {
    type_text: String,
    name: &'a str,
    size: Option<&'a str>,
}

impl<'a> Declaration<'a> {
    /// Whether the line declares a signal or port.
    fn is_one(line: &str) -> bool {
        Self::type_place(line).is_some()
    }

    /// The place of the type's name in a line that declares a signal or port.
    fn type_place(line: &str) -> Option<(usize, usize)> {
        let indent = line.len() - line.trim_start().len();
        let direction = ["input ", "output "].iter().find(|direction| line[indent..].starts_with(**direction));
        let type_at = direction.map_or(indent, |direction| {
            let after = indent + direction.len();
            after + line[after..].len() - line[after..].trim_start().len()
        });
        let type_end = type_at + line[type_at..].find(' ')?;
        let type_name = &line[type_at..type_end];
        (type_name == "logic" || type_name.ends_with("_t")).then_some((type_at, type_end))
    }

    /// Reads a line of `text`.
    fn parse(line: &'a str, text: &str) -> Option<Self> {
        let (_, type_end) = Self::type_place(line)?;
        let (before, mut rest) = (&line[..type_end], line[type_end..].trim_start());
        let mut ranges = Vec::new();
        while let Some((range, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            ranges.push(fold(range));
            rest = after.trim_start();
        }
        let (name, size) = match rest.split_once(' ') {
            Some((name, size)) if size.trim_start().starts_with('[') => (name, Some(size.trim_start())),
            _ => (rest, None),
        };
        if ranges == ["0:0"] && (size.is_some() || !selects_bits(text, name)) {
            ranges.clear();
        }
        let gap = if ranges.is_empty() { "" } else { " " };
        let ranges: String = ranges.iter().map(|range| format!("[{range}]")).collect();
        Some(Declaration { type_text: format!("{before}{gap}{ranges}"), name, size })
    }
}

/// Whether the text selects bits of the signal whose declaration begins with `name`.
fn selects_bits(text: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let name = name.split(|character| !is_word(character)).next().unwrap_or(name);
    text.match_indices(name)
        .any(|(at, _)| text[at + name.len()..].starts_with('[') && !text[..at].ends_with(is_word))
}

/// `16-1:0` as `15:0`.
fn fold(range: &str) -> String {
    let width = range.strip_suffix("-1:0").and_then(|width| width.parse::<u64>().ok());
    width.and_then(|width| width.checked_sub(1)).map_or_else(|| range.to_owned(), |high| format!("{high}:0"))
}

#[cfg(test)]
mod tests {
    use super::fold_ranges;

    #[test]
    fn folds_and_aligns() {
        let before = "module m (\n    input  logic          clk,\n    output logic [16-1:0] word\n);\n\
                      \x20   logic [(N * 8)-1:0] a;\n    logic [8-1:0]       b [4];\n    logic [N-1:0]  [16-1:0] c;\n    pair_t d;\n    \
                      x = b[8-1:0];\nendmodule\n";
        let after = "module m (\n    input  logic        clk,\n    output logic [15:0] word\n);\n\
                     \x20   logic [(N * 8)-1:0] a;\n    logic [7:0]         b [4];\n    logic [N-1:0][15:0] c;\n    pair_t              d;\n    \
                     x = b[8-1:0];\nendmodule\n";
        assert_eq!(fold_ranges(before), after);
    }

    #[test]
    fn one_bit_and_arrays() {
        let before = "    logic [1-1:0]  a;\n    logic [1-1:0] b      [4];\n    logic [8-1:0] longer [2];\n\n    logic [1-1:0] c;\n\
                      \x20   assign a = b[2] & c[0];\n";
        let after = "    logic       a;\n    logic       b      [4];\n    logic [7:0] longer [2];\n\n    logic [0:0] c;\n\
                     \x20   assign a = b[2] & c[0];\n";
        assert_eq!(fold_ranges(before), after);
    }
}
