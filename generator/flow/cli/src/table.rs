//! Tables that fit a terminal.

use itertools::Itertools;

/// The widest line of a report, where it can be broken.
pub const COLUMNS: usize = 100;

/// Columns between two cells.
const GAP: usize = 2;

/// A table with a heading: columns of `names` first, then of figures, which are right-aligned. A name that would make it too
/// wide stands on a line of its own.
pub fn table<const CELLS: usize>(names: usize, heading: [&str; CELLS], rows: &[[String; CELLS]]) -> String {
    let heading = heading.map(str::to_owned);
    let rows = std::iter::once(&heading).chain(rows).collect_vec();
    let mut widths = [0; CELLS];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(*row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let figures = widths[names..].iter().map(|width| width + GAP).sum::<usize>();
    let widest = COLUMNS.saturating_sub(figures) / names.max(1) - GAP;
    widths[..names].iter_mut().for_each(|width| *width = widest.min(*width));
    rows.iter().map(|row| line(names, &widths, *row)).collect()
}

fn line(names: usize, widths: &[usize], row: &[String]) -> String {
    let (mut text, mut start, mut used) = (String::new(), 0, 0);
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        let length = cell.chars().count();
        // A cell that is wider than its column ends at the edge, if it must.
        let at = if length > *width { start.min(COLUMNS.saturating_sub(length)) } else { start };
        if used > at {
            text = text.trim_end().to_owned() + "\n";
            used = 0;
        }
        let cell = if column < names { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        text += &(" ".repeat(at - used) + &cell);
        used = at + length.max(*width);
        start += width + GAP;
    }
    text.trim_end().to_owned() + "\n"
}

/// A report whose tables are no wider than they must be: a longer line goes on below, where its first value begins. Sentences
/// stay whole.
pub fn fit(report: &str) -> String {
    let line = |line: &str| match value_column(line).filter(|_| line.chars().count() > COLUMNS) {
        None => format!("{line}\n"),
        Some(column) => {
            let indent = " ".repeat(column);
            let options = textwrap::Options::new(COLUMNS)
                .subsequent_indent(&indent)
                .break_words(false)
                .word_separator(textwrap::WordSeparator::AsciiSpace)
                .word_splitter(textwrap::WordSplitter::NoHyphenation)
                .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
            textwrap::fill(line, options) + "\n"
        }
    };
    report.lines().map(line).collect()
}

/// Where the first value of a line of a table begins: behind a name and several spaces; without these, a bit further in than
/// the line. Lines that are not indented and have no such name are sentences.
fn value_column(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let Some(name) = line[start..].find("  ").filter(|&name| name < COLUMNS / 2) else {
        return (start > 0).then_some(start + 2);
    };
    let rest = &line[start + name..];
    Some(line[..start + name].chars().count() + rest.chars().take_while(|&letter| letter == ' ').count())
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, fit, table};

    #[test]
    fn names_that_are_too_long_stand_on_their_own_lines() {
        let long = "a_very_long_name_".repeat(5);
        let row = |name: &str, other: &str| [name.to_owned(), other.to_owned(), u64::MAX.to_string()];
        let rows = [row("short", "s"), row(&long, "s"), row("short", &long), row(&long, &long)];
        let text = table(2, ["name", "other", "figure"], &rows);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS && line == line.trim_end()), "{text}");
        let at = |line: &str, word: &str| line.find(word).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let figure = at(lines[1], &u64::MAX.to_string());
        assert!(
            lines.iter().filter_map(|line| line.find(&u64::MAX.to_string())).all(|place| place == figure),
            "{text}"
        );
        assert_eq!(text.matches(&long).count(), 4);
        assert_eq!(lines.len(), 1 + 1 + 2 + 3 + 3, "{text}");
        assert_eq!(table(1, ["a", "b"], &[["x".to_owned(), "10".to_owned()]]), "a   b\nx  10\n");
    }

    #[test]
    fn long_lines_go_on_below_their_value() {
        let words = "word ".repeat(40);
        let text = fit(&format!("head\n  name       {words}\n  {words}\n"));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.starts_with("head\n  name       word word"), "{text}");
        assert!(text.contains("word\n             word"), "{text}");
        assert!(text.contains("\n  word word") && text.contains("word\n    word"), "{text}");
        let path = format!("  written to  {}", "x".repeat(200));
        assert!(fit(&path).contains(&"x".repeat(200)), "paths stay whole");
        assert_eq!(fit(&words), format!("{words}\n"), "sentences stay whole");
    }
}
