//! Vector ranges as a person writes them: `[15:0]` for `[16-1:0]`, with the names of consecutive declarations aligned.

/// Folds the constant ranges of declarations. Ranges that depend on a parameter stay as they are.
pub(crate) fn fold_ranges(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::with_capacity(text.len());
    for group in lines.chunk_by(|one, other| Declaration::parse(one).is_some() && Declaration::parse(other).is_some()) {
        let declarations: Vec<Declaration> = group.iter().filter_map(|line| Declaration::parse(line)).collect();
        let column = declarations.iter().map(|declaration| declaration.type_text.len()).max().unwrap_or(0);
        if declarations.is_empty() {
            folded.extend(group.iter().flat_map(|line| [line, "\n"]));
        }
        for Declaration { type_text, rest } in declarations {
            folded.push_str(&format!("{type_text:column$} {rest}\n"));
        }
    }
    folded
}

/// A line that declares a signal or port: its type, folded, and what follows.
struct Declaration<'a> {
    type_text: String,
    rest: &'a str,
}

impl<'a> Declaration<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let indent = line.len() - line.trim_start().len();
        let direction = ["input ", "output "].iter().find(|direction| line[indent..].starts_with(**direction));
        let type_at = direction.map_or(indent, |direction| {
            let after = indent + direction.len();
            after + line[after..].len() - line[after..].trim_start().len()
        });
        let type_end = type_at + line[type_at..].find(' ')?;
        let type_name = &line[type_at..type_end];
        if type_name != "logic" && !type_name.ends_with("_t") {
            return None;
        }
        let (before, mut rest) = (&line[..type_end], line[type_end..].trim_start());
        let mut ranges = String::new();
        while let Some((range, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            ranges.push_str(&format!("[{}]", fold(range)));
            rest = after.trim_start();
        }
        let gap = if ranges.is_empty() { "" } else { " " };
        Some(Declaration { type_text: format!("{before}{gap}{ranges}"), rest })
    }
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
}
