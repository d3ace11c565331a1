//! Last touch on the emitted text: spacing and forms a person would have chosen. Nothing here changes what the text says. Comments and embedded SystemVerilog keep their text.

/// Tidies the text that the emitter made.
///
/// - No white space at line ends, no blank line after a blank line, one newline at the end.
/// - `input var logic x  ,` becomes `input logic x,` (some tools do not know `var` here), and `logic x  ;` `logic x;`.
/// - `always_ff @ (`, `begin :name`, `( x )` and `.port (x   )` become `always_ff @(`, `begin : name`, `(x)` and `.port (x)`.
/// - `always_comb y = a;` becomes `assign y = a;`.
/// - `for (int k = 0; …; k++)` becomes `for (int unsigned k = 0; …; k++)`: limits and widths have no sign.
/// - `\`ifndef SYNTHESIS` around embedded SystemVerilog goes: that text says itself what synthesis should not see.
/// - Parentheses that say nothing go: `y = ((a) ? (b) : (c));` becomes `y = a ? b : c;`.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut blank_before = true;
    let mut embedded_depth = 0_usize;
    let mut in_comment = false;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() && blank_before && embedded_depth == 0 {
            continue;
        }
        blank_before = line.is_empty();

        // The emitter puts each embedded text into a condition of its own: the outermost.
        let directive = line.trim_start();
        if directive.starts_with("`if") {
            embedded_depth += 1;
            if embedded_depth == 1 {
                continue;
            }
        }
        if embedded_depth > 0 {
            if directive.starts_with("`endif") {
                embedded_depth -= 1;
                if embedded_depth == 0 {
                    continue;
                }
            }
            tidied.push_str(line);
        } else {
            let comment = if in_comment { Some(0) } else { first_of(line, &["//", "/*"]) };
            let (code, comment) = line.split_at(comment.unwrap_or(line.len()));
            tidied.push_str(&tidy_code(code, !comment.is_empty()));
            tidied.push_str(comment);
            in_comment = ends_in_comment(comment, in_comment);
        }
        tidied.push('\n');
    }
    tidied.truncate(tidied.trim_end().len());
    tidied.push('\n');
    join_case_items(&tidied)
}

/// Puts the items of a `case` that assign one thing on a line each, without columns: `7'd1: begin`, `{a, b} <= c;`, `end` becomes
/// `7'd1: {a, b} <= c;`.
fn join_case_items(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut joined = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        let label =
            |line: &str| line.trim_start().split_once(':').is_some_and(|(label, _)| is_literal(label.trim_end()));
        let item = match lines[at..] {
            [first, statement, end, ..]
                if label(first) && first.ends_with(": begin") && statement.ends_with(';') && end.trim() == "end" =>
            {
                at += 3;
                format!("{} {}", first.trim_end_matches(" begin"), statement.trim_start())
            }
            _ => {
                at += 1;
                lines[at - 1].to_owned()
            }
        };
        match item.split_once(" <= ") {
            Some((place, value)) if label(&item) => {
                let (number, place) = place.split_once(':').expect("it has a label");
                joined.push_str(&format!("{}: {} <= {value}", number.trim_end(), place.trim()));
            }
            _ => joined.push_str(&item),
        }
        joined.push('\n');
    }
    joined
}

/// Whether this is a number with a width, as `7'd1`.
fn is_literal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|character| character.is_ascii_digit());
    text.split_once("'d").is_some_and(|(width, value)| digits(width) && digits(value))
}

/// The first place where one of the patterns occurs.
fn first_of(text: &str, patterns: &[&str]) -> Option<usize> {
    patterns.iter().filter_map(|pattern| text.find(pattern)).min()
}

/// Whether a block comment is still open after `text`, which begins with a comment unless it is empty.
fn ends_in_comment(text: &str, in_comment: bool) -> bool {
    if in_comment { !text.contains("*/") } else { text.starts_with("/*") && !text[2..].contains("*/") }
}

/// Tidies one line without its comment.
fn tidy_code(code: &str, comment_follows: bool) -> String {
    let mut code = hug(code, comment_follows);
    if code.contains('"') {
        return code;
    }
    for direction in ["input", "output", "inout"] {
        let words = code.trim_start();
        if let Some(rest) = words.strip_prefix(direction)
            && let Some(rest_of_type) = rest.trim_start().strip_prefix("var ")
        {
            let indent = &code[..code.len() - words.len()];
            let padding = &rest[..rest.len() - rest.trim_start().len()];
            code = format!("{indent}{direction}{padding}{rest_of_type}");
        }
    }
    code = code.replace("always_ff @ (", "always_ff @(").replace("begin :", "begin : ");
    let counts_up = code.contains("++") || code.contains(" += ");
    if counts_up {
        code = code.replace("for (int ", "for (int unsigned ");
    }
    if let Some((declaration, value)) = code.split_once("; always_comb ") {
        code = format!("{}; assign {value}", declaration.trim_end());
    }
    if let Some(value) = code.trim_start().strip_prefix("always_comb ")
        && !value.starts_with("begin")
    {
        code = format!("{}assign {value}", &code[..code.len() - code.trim_start().len()]);
    }
    unwrap_value(&unwrap_twice(unwrap_primaries(unpad_parentheses(&code))))
}

/// Removes the white space before the `,` or `;` that ends the code of a line.
fn hug(code: &str, comment_follows: bool) -> String {
    if code.trim_end().is_empty() {
        return code.to_owned();
    }
    let code = code.trim_end();
    let gap = if comment_follows { " " } else { "" };
    let Some(last @ (',' | ';')) = code.chars().last() else {
        return format!("{code}{gap}");
    };
    format!("{}{last}{gap}", code[..code.len() - 1].trim_end())
}

/// Turns `( x )` and `(x   )` into `(x)`, where both parentheses are on the line.
fn unpad_parentheses(code: &str) -> String {
    let mut unpadded = code.to_owned();
    let mut at = 0;
    while let Some(open) = unpadded[at..].find('(').map(|found| at + found) {
        at = open + 1;
        let Some(close) = closing(&unpadded, open) else { continue };
        let content = unpadded[open + 1..close].trim().to_owned();
        // Of `.port (   )`, where nothing is connected, nothing is left but the parentheses.
        unpadded.replace_range(open + 1..close, &content);
    }
    unpadded
}

/// The parenthesis that closes the one at `open`, on the same line.
fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Removes the parentheses around operands that need none: names with their indices, numbers, and what is in braces.
fn unwrap_primaries(mut code: String) -> String {
    let mut at = 0;
    while let Some(open) = code[at..].find('(').map(|found| at + found) {
        at = open + 1;
        // After a name there is an argument, a connection or a condition, and after `#`, `@` and `'` no operand either.
        let is_operand = code[..open].trim_end().ends_with(|before| "=?:(|&^+-*/<>!~,{%".contains(before));
        let Some(close) = closing(&code, open).filter(|_| is_operand) else { continue };
        if is_primary(&code[open + 1..close]) {
            code.replace_range(close..=close, "");
            code.replace_range(open..=open, "");
            at = open;
        }
    }
    code
}

/// Turns `((x))` into `(x)`.
fn unwrap_twice(mut code: String) -> String {
    while let Some((outer, close)) = (0..code.len()).find_map(|open| {
        let close = code[open..].starts_with("((").then(|| closing(&code, open + 1)).flatten()?;
        code[close + 1..].starts_with(')').then_some((open, close))
    }) {
        code.replace_range(close..=close, "");
        code.replace_range(outer..=outer, "");
    }
    code
}

/// Whether this is a name, with indices or not, a number, a concatenation, or a call of a function.
fn is_primary(text: &str) -> bool {
    let is_word = |text: &str| {
        !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || "_'$".contains(character))
    };
    if text.starts_with('{') {
        return ends_bracket(text, '{', '}');
    }
    match text.find(['[', '(']) {
        None => is_word(text),
        Some(call) if text[call..].starts_with('(') => is_word(&text[..call]) && ends_bracket(&text[call..], '(', ')'),
        Some(index) => is_word(&text[..index]) && ends_bracket(&text[index..], '[', ']'),
    }
}

/// Whether the first bracket of the text closes at its very end.
fn ends_bracket(text: &str, open: char, close: char) -> bool {
    let mut depth = 0_i32;
    let closes = text.char_indices().find(|(_, character)| {
        depth += i32::from(*character == open) - i32::from(*character == close);
        depth == 0
    });
    closes.is_some_and(|(at, _)| at + 1 == text.len())
}

/// Removes the parentheses around the whole value of an assignment or a parameter.
fn unwrap_value(code: &str) -> String {
    let Some(open) = code.find("= (").map(|found| found + 2) else { return code.to_owned() };
    match closing(code, open) {
        Some(close)
            if matches!(code[close + 1..].trim_end(), "" | "," | ";") && code[..open].matches('(').count() == 0 =>
        {
            format!("{}{}{}", &code[..open], &code[open + 1..close], &code[close + 1..])
        }
        _ => code.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn spacing() {
        let before = "\n\nmodule m #(\n    parameter int W = 1 , // width , of\n    parameter int V = 2   \n) (\n    input  var logic a  ,\n\
                      \x20   output var logic b\n);\n\n\n    always_ff @ (posedge a) begin :x\n        b <= ((a) ? ( b ) : ( f(a) ));\n\
                      \x20   end\n    /* input var logic ,\n       input var logic , */\n    u m (\n        .a (a   ),\n        .b (    )\n    );\n\
                      endmodule\n`ifndef SYNTHESIS\nalways_comb a ;\n`ifdef B\n`endif\n\n\nc;\n`endif\n\n\n";
        let after = "module m #(\n    parameter int W = 1, // width , of\n    parameter int V = 2\n) (\n    input  logic a,\n\
                     \x20   output logic b\n);\n\n    always_ff @(posedge a) begin : x\n        b <= a ? b : f(a);\n\
                     \x20   end\n    /* input var logic ,\n       input var logic , */\n    u m (\n        .a (a),\n        .b ()\n    );\n\
                     endmodule\nalways_comb a ;\n`ifdef B\n`endif\n\n\nc;\n";
        assert_eq!(tidy(before), after);
    }

    #[test]
    fn case_items() {
        let before = "        2'd0   : a         <= b;\n        2'd1: begin\n            {c, d} <= e;\n        end\n        default: f <= '0;\n";
        assert_eq!(tidy(before), "        2'd0: a <= b;\n        2'd1: {c, d} <= e;\n        default: f <= '0;\n");
    }

    #[test]
    fn parentheses() {
        let tidied = [
            ("x = ((a) ? (b[3:0]) : ((c) ? ({d, e}) : ('0)));", "x = a ? b[3:0] : (c ? {d, e} : '0);"),
            (
                "localparam int unsigned W = ((N > 1) ? ($clog2(N)) : (1)),",
                "localparam int unsigned W = (N > 1) ? $clog2(N) : 1,",
            ),
            ("x <= y + (1);", "x <= y + 1;"),
            ("x = W'((((a >= b) ? (a - b) : (a))));", "x = W'((a >= b) ? (a - b) : a);"),
            ("x = ((a) & (b)) | ((c + d) & (e));", "x = (a & b) | ((c + d) & e);"),
            ("x = (a & b) | (c & d);", "x = (a & b) | (c & d);"),
            ("    always_comb x = (a | b);", "    assign x = a | b;"),
            ("x = W'(a) + f(b) - $signed(c);", "x = W'(a) + f(b) - $signed(c);"),
            ("if (a) begin", "if (a) begin"),
            ("end else if ((a)) begin", "end else if (a) begin"),
            ("    .enable_i     (~stall_i     ),", "    .enable_i     (~stall_i),"),
            ("always_ff @(posedge a) begin", "always_ff @(posedge a) begin"),
            ("m #(.W (1  )) u_m (", "m #(.W (1)) u_m ("),
            ("for (int k = 0; k < N; k++) begin", "for (int unsigned k = 0; k < N; k++) begin"),
            ("for (int k = N - 1; k >= 0; k--) begin", "for (int k = N - 1; k >= 0; k--) begin"),
        ];
        for (before, after) in tidied {
            assert_eq!(tidy(before), format!("{after}\n"), "{before}");
        }
    }
}
