//! Streams of hexadecimal words.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use crate::Diagnostic;
use crate::diagnostic::quoted;
use crate::input::read_text;

/// Reads a file of hexadecimal words; see [`parse_words`].
///
/// # Errors
///
/// If the file is missing, a folder, larger than [`SIZE_LIMIT`](crate::SIZE_LIMIT) or not UTF-8
/// text, and as [`parse_words`].
pub fn read_words(path: &Path, word_bits: u32) -> Result<Vec<u64>, Diagnostic> {
    parse_words(path.display().to_string(), read_text(path)?, word_bits)
}

/// Reads hexadecimal words of `word_bits` bits from `text`, the contents of the file `name`.
///
/// Words are plain hexadecimal digits of either case, without prefix and underscores, separated
/// by white space. A comment reaches from `//` or `#` to the end of the line. Words have at most
/// 64 bits: a larger `word_bits` counts as 64.
///
/// # Errors
///
/// If something is not a hexadecimal word, or does not fit `word_bits` bits: located at the word.
///
/// ```
/// use pushmem_files::parse_words;
///
/// let words = parse_words("input.hex", "0a ff // the first two\n10\n", 8).unwrap();
/// assert_eq!(words, [0x0a, 0xff, 0x10]);
///
/// let problem = parse_words("input.hex", "0a\n1ff\n", 8).unwrap_err();
/// assert_eq!(problem.location(), Some(("input.hex".to_owned(), 2, 1)));
/// ```
pub fn parse_words(name: impl Into<String>, text: impl Into<Arc<str>>, word_bits: u32) -> Result<Vec<u64>, Diagnostic> {
    let text: Arc<str> = text.into();
    let mut words = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let code_end = [line.find("//"), line.find('#')].into_iter().flatten().min();
        let code = &line[..code_end.unwrap_or(line.len())];
        for word in code.split_whitespace() {
            match parse_word(word, word_bits) {
                Ok(value) => words.push(value),
                Err(problem) => {
                    let offset = word.as_ptr().addr() - line.as_ptr().addr();
                    let start = line_start + offset;
                    return Err(problem.at(name, text.clone(), start..start + word.len()));
                }
            }
        }
        line_start += line.len();
    }
    Ok(words)
}

fn parse_word(word: &str, word_bits: u32) -> Result<u64, Diagnostic> {
    if !word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = format!("{} is not a hexadecimal word", quoted(word));
        return Err(Diagnostic::new(message).with_help(
            "expected plain hexadecimal digits, without `0x` and underscores, separated by white \
             space",
        ));
    }
    let limit = largest_word(word_bits);
    // The digits are checked, so that the only failure is a number of more than 64 bits.
    match u64::from_str_radix(word, 16) {
        Ok(value) if value <= limit => Ok(value),
        _ => {
            let message = format!("{} does not fit a word of {word_bits} bits", quoted(word));
            Err(Diagnostic::new(message).with_help(format!("the largest word is `{limit:x}`")))
        }
    }
}

fn largest_word(word_bits: u32) -> u64 {
    // 64 bits and more shift nothing out; 0 bits shift everything out.
    u64::MAX.checked_shr(u64::BITS.saturating_sub(word_bits)).unwrap_or(0)
}

/// The words as text: one per line, lowercase, padded with zeros to the digits of `word_bits`
/// bits. A word of more bits gets the digits it needs.
///
/// ```
/// use pushmem_files::format_words;
///
/// assert_eq!(format_words(&[0x0a, 0x1ff], 9), "00a\n1ff\n");
/// ```
pub fn format_words(words: &[u64], word_bits: u32) -> String {
    let digits = word_bits.min(u64::BITS).div_ceil(4) as usize;
    let mut text = String::with_capacity(words.len() * (digits + 1));
    for word in words {
        writeln!(text, "{word:0digits$x}").expect("writing to a string does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{format_words, parse_words, read_words};

    #[test]
    fn reads_words_and_comments() {
        let text = "// header 12\r\n\t0A ff#comment\r1 //x\n\u{a0}2 # 3\n0000000000000000000000f";
        assert_eq!(parse_words("a", text, 8).unwrap(), [0x0a, 0xff, 1, 2, 15]);
        assert_eq!(parse_words("a", "", 8).unwrap(), [0_u64; 0]);
        assert_eq!(parse_words("a", "ffffffffffffffff", 64).unwrap(), [u64::MAX]);
        assert_eq!(parse_words("a", "ffffffffffffffff", 100).unwrap(), [u64::MAX]);
        assert_eq!(parse_words("a", "0", 0).unwrap(), [0]);
    }

    #[test]
    fn locates_what_is_not_hexadecimal() {
        for word in ["0x1f", "1_0", "+1", "-1", "xyz", "1/", "é", "12:"] {
            let problem = parse_words("in.hex", format!("é\u{a0}\n 1 {word} 2"), 16).unwrap_err();
            assert_eq!(problem.location(), Some(("in.hex".to_owned(), 1, 1)));
            let problem = parse_words("in.hex", format!("// é\r\n 1 {word} 2"), 16).unwrap_err();
            assert_eq!(problem.message(), format!("`{word}` is not a hexadecimal word"));
            assert_eq!(problem.location(), Some(("in.hex".to_owned(), 2, 4)));
            assert_eq!(problem.offending_text(), Some(word));
            assert!(problem.help().unwrap().contains("plain hexadecimal digits"));
        }
    }

    #[test]
    fn locates_words_that_do_not_fit() {
        let problem = parse_words("in.hex", "1ff\n200", 9).unwrap_err();
        assert_eq!(problem.message(), "`200` does not fit a word of 9 bits");
        assert_eq!(problem.help(), Some("the largest word is `1ff`"));
        assert_eq!(problem.location(), Some(("in.hex".to_owned(), 2, 1)));
        assert!(parse_words("in.hex", "1", 0).is_err());
        assert!(parse_words("in.hex", "10000000000000000", 64).is_err());
    }

    #[test]
    fn reads_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.hex");
        std::fs::write(&path, "1 2\nq").unwrap();
        let problem = read_words(&path, 4).unwrap_err();
        assert_eq!(problem.location(), Some((path.display().to_string(), 2, 1)));
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(words: Vec<u64>, word_bits in 0_u32..=80) {
            let limit = super::largest_word(word_bits);
            let words: Vec<u64> = words.into_iter().map(|word| word & limit).collect();
            let text = format_words(&words, word_bits);
            prop_assert_eq!(parse_words("a", text, word_bits).unwrap(), words);
        }

        #[test]
        fn any_text_is_read_or_located(text in any::<String>(), word_bits in 0_u32..=80) {
            if let Err(problem) = parse_words("a", text.as_str(), word_bits) {
                prop_assert!(!problem.offending_text().unwrap().is_empty());
                let _shown = format!("{:?}", miette::Report::new(problem));
            }
        }

        #[test]
        fn almost_words_are_read_or_located(text in "[0-9a-fA-Fxg_/#+ \t\r\né]{0,60}") {
            if let Err(problem) = parse_words("a", text.as_str(), 16) {
                prop_assert!(!problem.offending_text().unwrap().is_empty());
            }
        }
    }
}
