//! Columns of assignments: the operators of consecutive assignments stand below each other, and nothing else moves them. The
//! emitter keeps one column across declarations that it puts between two assignments.

/// Aligns the operators of consecutive assignments of one kind at one indentation. Comments between them do not separate them.
pub(crate) fn align_assignments(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut aligned = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        let end = group_end(&lines, at);
        let column = lines[at..end].iter().filter_map(|line| Assignment::parse(line)).map(|line| line.place.len()).max();
        for line in &lines[at..end] {
            match Assignment::parse(line) {
                Some(Assignment { place, operator, value }) => {
                    aligned.push_str(&format!("{place:column$} {operator} {value}\n", column = column.unwrap_or(0)));
                }
                None => aligned.extend([line, "\n"]),
            }
        }
        at = end;
    }
    aligned
}

/// The line after the group of assignments that begins at `from`, or after this line if it is no assignment.
fn group_end(lines: &[&str], from: usize) -> usize {
    let Some(first) = Assignment::parse(lines[from]) else { return from + 1 };
    let mut end = from + 1;
    for (at, line) in lines.iter().enumerate().skip(from + 1) {
        match Assignment::parse(line) {
            Some(next) if next.kind() == first.kind() => end = at + 1,
            None if line.trim_start().starts_with("//") => {}
            _ => break,
        }
    }
    end
}

/// An assignment that begins and ends on one line.
struct Assignment<'a> {
    /// Indentation, `assign` where it stands, and the place that is assigned.
    place: &'a str,
    operator: &'a str,
    value: &'a str,
}

impl<'a> Assignment<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let operator = [" = ", " <= "].into_iter().filter_map(|operator| Some((line.find(operator)?, operator))).min()?;
        let (at, operator) = operator;
        let place = line[..at].trim_end();
        let code = place.trim_start();
        let target = code.strip_prefix("assign ").unwrap_or(code);
        let is_place = target.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '{')
            && !is_more_than_a_place(target);
        let value = line[at + operator.len()..].trim_start();
        let ends = value.split("//").next().is_some_and(|value| value.trim_end().ends_with(';'));
        (is_place && ends).then_some(Assignment { place, operator: operator.trim(), value })
    }

    /// Assignments of one kind have one column: the same indentation, operator and keyword.
    fn kind(&self) -> (usize, &str, bool) {
        let code = self.place.trim_start();
        (self.place.len() - code.len(), self.operator, code.starts_with("assign "))
    }
}

/// Whether the text has something outside of its brackets that no place of an assignment has: a declaration, a condition, a label.
fn is_more_than_a_place(text: &str) -> bool {
    let mut depth = 0_i32;
    text.chars().any(|character| {
        depth += i32::from("[{".contains(character)) - i32::from("]}".contains(character));
        depth == 0 && " (\":?".contains(character)
    })
}

#[cfg(test)]
mod tests {
    use super::align_assignments;

    #[test]
    fn columns() {
        let before = "    assign extent         = a;\n    logic b;\n    assign at_last[i * 2+:2] = c <= d;\n    // Why.\n    assign e = f;\n\
                      \x20       g      <= '0; // now\n        long <= h;\n    localparam int W      = 1;\n    if (a <= b) begin\n";
        let after = "    assign extent = a;\n    logic b;\n    assign at_last[i * 2+:2] = c <= d;\n    // Why.\n    assign e                 = f;\n\
                     \x20       g    <= '0; // now\n        long <= h;\n    localparam int W      = 1;\n    if (a <= b) begin\n";
        assert_eq!(align_assignments(before), after);
    }
}
