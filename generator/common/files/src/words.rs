//! Streams of hexadecimal words.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::quoted;
use crate::input::read_text;
use crate::output::cannot_write;
use crate::{Code, Diagnostic};

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
    let parse = |place: Range<usize>| parse_word(&text[place.clone()], word_bits).map_err(|problem| (problem, place));
    let words: Result<Vec<u64>, _> = places(&text).map(parse).collect();
    words.map_err(|(problem, place)| problem.at(name, text.clone(), place).or_code(Code::Words))
}

/// Lines of hexadecimal words, with their places in the text.
///
/// ```
/// use pushmem_files::WordLines;
///
/// let lines = WordLines::parse("accesses.hex", "7 // a read\n8 2a\n", 16, 2).unwrap();
/// assert_eq!(lines.lines(), [vec![7], vec![8, 42]]);
/// assert_eq!(lines.error(1, "too large").location(), Some(("accesses.hex".to_owned(), 2, 1)));
///
/// let problem = WordLines::parse("accesses.hex", "7\n8 2a 1", 16, 2).unwrap_err();
/// assert_eq!(problem.location(), Some(("accesses.hex".to_owned(), 2, 6)));
/// ```
#[derive(Debug)]
pub struct WordLines {
    name: String,
    text: Arc<str>,
    lines: Vec<Vec<u64>>,
    places: Vec<Range<usize>>,
}

impl WordLines {
    /// Reads a file of words as [`read_words`] does, from 1 to `most` of them a line. Lines without words are left out.
    ///
    /// # Errors
    ///
    /// As [`read_words`], and if a line has more words: located at the first that is too many.
    pub fn read(path: &Path, word_bits: u32, most: usize) -> Result<Self, Diagnostic> {
        Self::parse(path.display().to_string(), read_text(path)?, word_bits, most)
    }

    /// Reads lines of words from text, as [`WordLines::read`]; `name` is used in messages.
    ///
    /// # Errors
    ///
    /// As [`WordLines::read`].
    pub fn parse(
        name: impl Into<String>,
        text: impl Into<Arc<str>>,
        word_bits: u32,
        most: usize,
    ) -> Result<Self, Diagnostic> {
        let (name, text): (String, Arc<str>) = (name.into(), text.into());
        let words = parse_words(name.as_str(), text.clone(), word_bits)?;
        let mut found = WordLines { name, text: text.clone(), lines: Vec::new(), places: Vec::new() };
        let mut end = 0;
        for (place, word) in places(&text).zip(words) {
            match found.lines.last_mut() {
                Some(line) if !text[end..place.start].contains(['\n', '\r']) => {
                    if line.len() == most {
                        let message = format!("a line has at most {most} words");
                        return Err(Diagnostic::new(message).at(found.name, text.clone(), place).or_code(Code::Words));
                    }
                    line.push(word);
                }
                _ => {
                    found.lines.push(vec![word]);
                    found.places.push(place.clone());
                }
            }
            end = place.end;
        }
        Ok(found)
    }

    /// The words of each line.
    pub fn lines(&self) -> &[Vec<u64>] {
        &self.lines
    }

    /// A diagnostic that points at the first word of a line.
    pub fn error(&self, line: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(self.name.as_str(), self.text.clone(), self.places[line].clone())
    }
}

/// The places of all words in the text.
fn places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let offset = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    text.split_inclusive(['\n', '\r']).flat_map(move |line| {
        let code_end = [line.find("//"), line.find('#')].into_iter().flatten().min();
        let code = &line[..code_end.unwrap_or(line.len())];
        code.split_whitespace().map(move |word| offset(word)..offset(word) + word.len())
    })
}

/// Hexadecimal words that all have the same number of digits, so that one that was cut is found, with their places in the
/// text.
///
/// ```
/// use pushmem_files::FixedWords;
///
/// let words = FixedWords::parse("writes.hex", "00000004 0000002a // control\n", 32).unwrap();
/// assert_eq!(words.values(), [4, 42]);
/// assert_eq!(words.error(1, "too large").location(), Some(("writes.hex".to_owned(), 1, 10)));
///
/// let problem = FixedWords::parse("writes.hex", "00000004 000000", 32).unwrap_err();
/// assert_eq!(problem.message(), "`000000` has 6 digits, not 8");
/// ```
#[derive(Debug)]
pub struct FixedWords {
    name: String,
    text: Arc<str>,
    values: Vec<u64>,
    places: Vec<Range<usize>>,
}

impl FixedWords {
    /// Reads a file; see [`FixedWords::parse`].
    ///
    /// # Errors
    ///
    /// As [`read_words`], and when a word has another number of digits.
    pub fn read(path: &Path, word_bits: u32) -> Result<Self, Diagnostic> {
        Self::parse(path.display().to_string(), read_text(path)?, word_bits)
    }

    /// Reads words as [`parse_words`] does, each of which has the digits of `word_bits` bits.
    ///
    /// # Errors
    ///
    /// As [`parse_words`], and when a word has another number of digits: located at the word.
    pub fn parse(name: impl Into<String>, text: impl Into<Arc<str>>, word_bits: u32) -> Result<Self, Diagnostic> {
        let (name, text) = (name.into(), text.into());
        let values = parse_words(name.as_str(), text.clone(), word_bits)?;
        let words = Self { places: places(&text).collect(), values, name, text };
        let digits = digits(word_bits);
        match words.places.iter().position(|place| place.len() != digits) {
            None => Ok(words),
            Some(index) => {
                let word = &words.text[words.places[index].clone()];
                let message = format!("{} has {} digits, not {digits}", quoted(word), word.len());
                Err(words
                    .error(index, message)
                    .or_code(Code::Words)
                    .with_help("the file was cut here, or leading zeros are missing"))
            }
        }
    }

    /// The words, in the order of the text.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// A diagnostic that points at word `index`, or, behind the last word, at the end of the text.
    pub fn error(&self, index: usize, message: impl Into<String>) -> Diagnostic {
        let end = self.text.trim_end().len();
        let place = self.places.get(index).cloned().unwrap_or(end..end);
        Diagnostic::new(message).at(self.name.as_str(), self.text.clone(), place)
    }
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
    let digits = digits(word_bits);
    let mut text = String::with_capacity(words.len() * (digits + 1));
    for word in words {
        writeln!(text, "{word:0digits$x}").expect("writing to a string does not fail");
    }
    text
}

/// Hexadecimal digits of a word.
fn digits(word_bits: u32) -> usize {
    word_bits.min(u64::BITS).div_ceil(4) as usize
}

/// A stream on its way to a file, word by word, as [`format_words`] writes it.
#[derive(Debug)]
pub struct StreamFile {
    path: PathBuf,
    digits: usize,
    file: BufWriter<File>,
    /// The error that kept a word from being written.
    problem: Option<io::Error>,
}

impl StreamFile {
    /// Creates the file `temporary`, which becomes the file `path` later, for words of `word_bits` bits.
    ///
    /// # Errors
    ///
    /// If the operating system refuses.
    pub fn create(temporary: &Path, path: &Path, word_bits: u32) -> Result<Self, Diagnostic> {
        let file = File::create(temporary).map_err(|reason| cannot_write(path, &reason))?;
        Ok(Self { path: path.to_owned(), digits: digits(word_bits), file: BufWriter::new(file), problem: None })
    }

    /// Adds a word. [`StreamFile::finish`] returns the error if it cannot be written.
    pub fn push(&mut self, word: u64) {
        if self.problem.is_none() {
            let digits = self.digits;
            self.problem = writeln!(self.file, "{word:0digits$x}").err();
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// If the operating system refused any word.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        let outcome = self.problem.take().map_or_else(|| self.file.flush(), Err);
        outcome.map_err(|reason| cannot_write(&self.path, &reason))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FixedWords, StreamFile, format_words, parse_words, read_words};

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
    fn locates_characters_that_are_not_hexadecimal() {
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
    fn a_stream_is_written_word_by_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.hex");
        let mut file = StreamFile::create(&path, &path, 9).unwrap();
        [0x0a, 0x1ff, 0x1234].into_iter().for_each(|word| file.push(word));
        file.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format_words(&[0x0a, 0x1ff, 0x1234], 9));
        let full = std::path::Path::new("/dev/full");
        let mut file = StreamFile::create(full, &path, 16).unwrap();
        (0..100_000).for_each(|word| file.push(word));
        let problem = file.finish().unwrap_err();
        assert!(problem.message().contains("out.hex"), "{problem:?}");
    }

    #[test]
    fn reads_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.hex");
        std::fs::write(&path, "1 2\nq").unwrap();
        let problem = read_words(&path, 4).unwrap_err();
        assert_eq!(problem.location(), Some((path.display().to_string(), 2, 1)));
    }

    #[test]
    fn locates_words_of_another_width() {
        for word in ["", "0", "0000002", "00000002a"] {
            let problem = FixedWords::parse("in.hex", format!("00000004 // a\n0000002a {word}2a"), 32).unwrap_err();
            assert_eq!(problem.location(), Some(("in.hex".to_owned(), 2, 10)), "{problem:?}");
        }
        let words = FixedWords::parse("in.hex", "00000004 // a\n0000002a\n", 32).unwrap();
        assert_eq!(words.error(2, "").location(), Some(("in.hex".to_owned(), 2, 9)));
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
