//! Last touch on the emitted text: spacing a person would have chosen. Nothing here changes a token, but for the optional
//! `var` of port declarations. Comments and embedded SystemVerilog keep their text.

/// Tidies the text that the emitter made.
///
/// - No white space at line ends, no blank line after a blank line, one newline at the end.
/// - `input var logic x  ,` becomes `input logic x,` (some tools do not know `var` here), and `logic x  ;` `logic x;`.
/// - `always_ff @ (`, `begin :name` and `( x )` become `always_ff @(`, `begin : name` and `(x)`.
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

        let directive = line.trim_start();
        if directive.starts_with("`if") {
            embedded_depth += 1;
        }
        if embedded_depth > 0 {
            tidied.push_str(line);
            if directive.starts_with("`endif") {
                embedded_depth -= 1;
            }
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
    tidied
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
    if let Some((declaration, value)) = code.split_once("; always_comb ") {
        code = format!("{}; always_comb {value}", declaration.trim_end());
    }
    unpad_parentheses(&code)
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

/// Turns `( x )` into `(x)`, where both parentheses are on the line. The padding of aligned columns, `(x   )`, stays.
fn unpad_parentheses(code: &str) -> String {
    let bytes = code.as_bytes();
    let mut open = Vec::new();
    let mut superfluous = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                if let Some(start) = open.pop()
                    && at >= start + 4
                    && bytes[start + 1] == b' '
                    && bytes[start + 2] != b' '
                    && bytes[at - 1] == b' '
                {
                    superfluous.extend([start + 1, at - 1]);
                }
            }
            _ => {}
        }
    }
    code.char_indices().filter(|(at, _)| !superfluous.contains(at)).map(|(_, character)| character).collect()
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn spacing() {
        let before = "\n\nmodule m #(\n    parameter int W = 1 , // width , of\n    parameter int V = 2   \n) (\n    input  var logic a  ,\n\
                      \x20   output var logic b\n);\n\n\n    always_ff @ (posedge a) begin :x\n        b <= ((a) ? ( b ) : ( f(a) ));\n\
                      \x20   end\n    /* input var logic ,\n       input var logic , */\n    u m (\n        .a (a   ),\n        .b (    )\n    );\n\
                      endmodule\n`ifndef SYNTHESIS\nassign a ;\n\n\n`endif\n\n\n";
        let after = "module m #(\n    parameter int W = 1, // width , of\n    parameter int V = 2\n) (\n    input  logic a,\n\
                     \x20   output logic b\n);\n\n    always_ff @(posedge a) begin : x\n        b <= ((a) ? (b) : (f(a)));\n\
                     \x20   end\n    /* input var logic ,\n       input var logic , */\n    u m (\n        .a (a   ),\n        .b (    )\n    );\n\
                     endmodule\n`ifndef SYNTHESIS\nassign a ;\n\n\n`endif\n";
        assert_eq!(tidy(before), after);
    }
}
