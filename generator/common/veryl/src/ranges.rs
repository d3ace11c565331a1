//! Declarations as a person writes them: `[15:0]` for `[16-1:0]`, no range for one bit, and names, values and sizes of arrays of
//! consecutive declarations aligned.

/// Folds the constant ranges of declarations and parameters. Ranges that depend on a parameter stay as they are, and so does `[0:0]`
/// where the text selects bits of the signal, or where another text may: in structures.
pub(crate) fn fold_ranges(text: &str) -> String {
    let text = fold_parameters(text);
    let text = fold_declarations(&text);
    text.lines().flat_map(|line| [fold_all(line), "\n".to_owned()]).collect()
}

/// Folds the ranges of signals and ports.
fn fold_declarations(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::with_capacity(text.len());
    let mut in_structure = false;
    for group in lines.chunk_by(|one, other| Declaration::is_one(one) && Declaration::is_one(other)) {
        in_structure = group[0].ends_with("struct packed {") || in_structure && !group[0].trim_start().starts_with('}');
        let is_vector = |name: &str| in_structure || selects_bits(text, name);
        let declarations: Vec<Declaration> =
            group.iter().filter_map(|line| Declaration::parse(line, is_vector)).collect();
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

    /// Reads a line; `is_vector` tells whether a signal of one bit has bits to select.
    fn parse(line: &'a str, is_vector: impl Fn(&str) -> bool) -> Option<Self> {
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
        if ranges == ["0:0"] && (size.is_some() || !is_vector(name)) {
            ranges.clear();
        }
        let gap = if ranges.is_empty() { "" } else { " " };
        let ranges: String = ranges.iter().map(|range| format!("[{range}]")).collect();
        Some(Declaration { type_text: format!("{before}{gap}{ranges}"), name, size })
    }
}

/// Folds the ranges of parameters and constants, and aligns the names and the values of consecutive ones.
fn fold_parameters(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::with_capacity(text.len());
    for group in lines.chunk_by(|one, other| Parameter::parse(one).is_some() && Parameter::parse(other).is_some()) {
        let parameters: Vec<Parameter> = group.iter().filter_map(|line| Parameter::parse(line)).collect();
        let widest = |width: fn(&Parameter) -> usize| parameters.iter().map(width).max().unwrap_or(0);
        let keywords = widest(|parameter| parameter.keyword.len());
        let types = widest(|parameter| parameter.type_text.len());
        let names = widest(|parameter| parameter.name.len());
        if parameters.is_empty() {
            folded.extend(group.iter().flat_map(|line| [line, "\n"]));
        }
        for Parameter { keyword, type_text, name, value } in &parameters {
            folded.push_str(&format!("{keyword:keywords$} {type_text:types$} {name:names$} = {value}\n"));
        }
    }
    folded
}

/// A line that declares a parameter or a constant: indentation and keyword, the type, folded, the name, and the value with what follows.
struct Parameter<'a> {
    keyword: &'a str,
    type_text: String,
    name: &'a str,
    value: &'a str,
}

impl<'a> Parameter<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let indent = line.len() - line.trim_start().len();
        let keyword = ["parameter ", "localparam "].iter().find(|keyword| line[indent..].starts_with(**keyword))?;
        let keyword = &line[..indent + keyword.len() - 1];
        let (declared, value) = line[keyword.len()..].split_once(" = ")?;
        let (type_text, name) = declared.trim().rsplit_once(' ')?;
        let words: Vec<&str> = type_text.split_whitespace().collect();
        Some(Parameter { keyword, type_text: fold_all(&words.join(" ")), name, value: value.trim_start() })
    }
}

/// Folds all constant ranges of a line.
fn fold_all(line: &str) -> String {
    let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
    let mut folded = String::with_capacity(line.len());
    let mut rest = code;
    while let Some((before, range, after)) = rest
        .split_once('[')
        .and_then(|(before, rest)| rest.split_once(']').map(|(range, after)| (before, range, after)))
    {
        // A bracket within the range begins another one.
        let (before, range) = match range.rfind('[') {
            Some(inner) => (&rest[..before.len() + 1 + inner], &range[inner + 1..]),
            None => (before, range),
        };
        folded.push_str(&format!("{before}[{}]", fold(range)));
        rest = after;
    }
    folded + rest + comment
}

/// Whether the text selects bits of the signal whose declaration begins with `name`.
fn selects_bits(text: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let name = name.split(|character| !is_word(character)).next().unwrap_or(name);
    text.match_indices(name).any(|(at, _)| text[at + name.len()..].starts_with('[') && !text[..at].ends_with(is_word))
}

/// `16-1:0` as `15:0`, and `(4 * 8)-1:0` as `31:0`.
fn fold(range: &str) -> String {
    let factors = range.strip_suffix("-1:0").map(|width| width.trim_matches(['(', ')']).split(" * "));
    let width = factors.and_then(|mut factors| {
        factors.try_fold(1, |product: u64, factor| factor.parse::<u64>().ok()?.checked_mul(product))
    });
    width.and_then(|width| width.checked_sub(1)).map_or_else(|| range.to_owned(), |high| format!("{high}:0"))
}

#[cfg(test)]
mod tests {
    use super::fold_ranges;

    #[test]
    fn folds_and_aligns() {
        let before = "module m (\n    input  logic          clk,\n    output logic [16-1:0] word\n);\n\
                      \x20   logic [(N * 8)-1:0] a;\n    logic [(4 * 2)-1:0] b [4];\n    logic [N-1:0]  [16-1:0] c;\n    pair_t d;\n    \
                      x = b[8-1:0];\nendmodule\n";
        let after = "module m (\n    input  logic        clk,\n    output logic [15:0] word\n);\n\
                     \x20   logic [(N * 8)-1:0] a;\n    logic [7:0]         b [4];\n    logic [N-1:0][15:0] c;\n    pair_t              d;\n    \
                     x = b[7:0];\nendmodule\n";
        assert_eq!(fold_ranges(before), after);
    }

    #[test]
    fn parameters_and_expressions() {
        let before = "    parameter  logic        [16-1:0] Start  = 16'd3, // [8-1:0]\n    localparam int unsigned          W     = (A > 1) ? 2 : 1\n\
                      ) (\n    localparam logic [1-1:0] One = 1'd0;\n    typedef enum logic [2-1:0] {\n    a = b[c[8-1:0]][4-1:0];\n";
        let after = "    parameter  logic [15:0] Start = 16'd3, // [8-1:0]\n    localparam int unsigned W     = (A > 1) ? 2 : 1\n\
                     ) (\n    localparam logic [0:0] One = 1'd0;\n    typedef enum logic [1:0] {\n    a = b[c[7:0]][3:0];\n";
        assert_eq!(fold_ranges(before), after);
    }

    #[test]
    fn one_bit_and_arrays() {
        let before = "    logic [1-1:0]  a;\n    logic [1-1:0] b      [4];\n    logic [8-1:0] longer [2];\n\n    logic [1-1:0] c;\n\
                      \x20   assign a = b[2] & c[0];\n    typedef struct packed {\n        logic [1-1:0] d;\n    } t;\n    logic [1-1:0] e;\n";
        let after = "    logic       a;\n    logic       b      [4];\n    logic [7:0] longer [2];\n\n    logic [0:0] c;\n\
                     \x20   assign a = b[2] & c[0];\n    typedef struct packed {\n        logic [0:0] d;\n    } t;\n    logic e;\n";
        assert_eq!(fold_ranges(before), after);
    }
}
