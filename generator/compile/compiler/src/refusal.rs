//! Why memories cannot serve a program, in its own words: at a place of its text, of lines instead of ports.

use itertools::Itertools;
use pushmem_assembly::{Shortage, Unserved};
use pushmem_extraction::{Extraction, unrolling};
use pushmem_files::Diagnostic;
use pushmem_graph::{Memories, Target};
use pushmem_mapping::MappingError;
use pushmem_nest::{Level, Program, Span};

use crate::error::CompileError;
use crate::trial::{ShortMemory, memories};

/// Reasons in a message; later attempts differ in little.
const MOST_REASONS: usize = 4;

/// The refusal of a program whose memories are short, after so many schedules if the search was given up.
pub(crate) fn refusal(
    program: &Program,
    extraction: &Extraction,
    target: &Target,
    refused: &Unserved,
    given_up: Option<usize>,
) -> CompileError {
    let words = Words { program, extraction };
    let (array, place, done, help, error, level) = match refused {
        Unserved::Program(diagnostic) => return (**diagnostic).clone().into(),
        Unserved::Order { array, refused } => {
            return CompileError::unordered((**refused).clone(), program, array);
        }
        Unserved::Short(Shortage::Tiles { refused, .. }) => return (**refused).clone().into(),
        Unserved::Short(Shortage::Inputs { array, level, tile, inputs, first, update, variable }) => {
            let refused = words.too_few_inputs(*array, (tile, *inputs), (*first, *update), variable);
            return words.unmapped(refused, *level, &program.arrays[*array].name);
        }
        Unserved::Short(Shortage::Delay { stage, delays, error }) => {
            let array = extraction.pipeline.stages[*stage].write.array;
            let done = format!("cannot be delayed by {} cycles in memory tiles", delays.iter().join(", "));
            let help =
                "choose a tile with more rows, wider controllers, more words in its buffers, or chaining".to_owned();
            (array, extraction.span(program, *stage), done, help, error, Level::Memory)
        }
        Unserved::Short(Shortage::Array { array, level, error, .. }) => {
            let tiles = memories(*level);
            let smaller = "choose a tile with more rows or ports, or with larger `cycle_bits` for a longer schedule, or \
                 divide the work into smaller tiles of the array";
            // An image pipeline keeps rows, not arrays, and is as long as the image.
            let help = unrolling(program).map_or(smaller.to_owned(), |unrolled| format!("{unrolled}; or {smaller}"));
            (*array, program.arrays[*array].span, format!("cannot be kept in {tiles}"), help, error, *level)
        }
    };
    let help = match target.memories {
        Memories::Tiles => help,
        Memories::Fixed => {
            "divide the work into smaller blocks of the array, or unroll less: there is no larger memory".to_owned()
        }
    };
    let mut reasons = words.reasons(&error.tried);
    let is_kept = matches!(refused, Unserved::Short(Shortage::Array { .. }));
    if let Some(schedules) = given_up.filter(|_| is_kept) {
        reasons.push_str(&format!("\n  and so with {schedules} schedules, after which no other was tried"));
    }
    let message = format!("`{}` {done} of `{}`:{reasons}", program.arrays[array].name, error.tile);
    words.unmapped(program.diagnostic(place, message).with_help(help), level, &error.buffer)
}

/// The shortage where memories cannot serve a schedule, in the words of reports.
pub(crate) fn told(program: &Program, extraction: &Extraction, short: &Shortage) -> ShortMemory {
    let words = Words { program, extraction };
    let first = |error: &MappingError| error.tried.first().map_or(String::new(), |reason| words.reason(reason));
    let (buffer, level, reason) = match short {
        Shortage::Inputs { array, level, tile, .. } => {
            (&program.arrays[*array].name, *level, format!("`{tile}` has too few inputs"))
        }
        Shortage::Tiles { refused, .. } => (&program.name, Level::Memory, refused.message().to_owned()),
        Shortage::Delay { stage, error, .. } => (&extraction.pipeline.stages[*stage].name, Level::Memory, first(error)),
        Shortage::Array { array, level, error, .. } => (&program.arrays[*array].name, *level, first(error)),
    };
    ShortMemory { buffer: buffer.clone(), level: memories(level), reason }
}

/// The words that the program has for stages and ports.
struct Words<'a> {
    program: &'a Program,
    extraction: &'a Extraction,
}

impl Words<'_> {
    /// The refusal of a buffer by the tiles of its level.
    fn unmapped(&self, refused: Diagnostic, level: Level, buffer: &str) -> CompileError {
        let diagnostic = refused.with_related(self.extraction.warnings(self.program));
        match level {
            Level::Memory => CompileError::Unmapped { diagnostic, buffer: buffer.to_owned() },
            Level::GlobalBuffer | Level::RegisterFile => CompileError::Refused(diagnostic),
        }
    }

    /// Two stages, one of which updates elements of the other in iterations of a loop, and a tile with too few inputs.
    fn too_few_inputs(
        &self,
        array: usize,
        (tile, inputs): (&str, u32),
        (first, update): (usize, usize),
        variable: &str,
    ) -> Diagnostic {
        let Words { program, extraction } = self;
        let name = &program.arrays[array].name;
        let place = extraction.span(program, update);
        let first = extraction.statement(program, first);
        let message = format!(
            "a tile of `{name}` needs 2 inputs, and `{tile}` tiles have {inputs}: the iterations of `{variable}` update in \
             memory what {first} writes"
        );
        let help = match unrolling(program) {
            Some(unrolled) => format!("{unrolled}; or choose a tile with 2 inputs"),
            None => {
                format!("choose a tile with 2 inputs, or unroll `{variable}`, so that no word is updated in memory")
            }
        };
        program.diagnostic(place, message).with_help(help)
    }

    /// The first reasons of those that differ, a line each.
    fn reasons(&self, tried: &[String]) -> String {
        let reasons = tried.iter().map(|reason| self.reason(reason)).unique().collect_vec();
        let more = reasons.len().saturating_sub(MOST_REASONS);
        let mut text: String = reasons.iter().take(MOST_REASONS).map(|reason| format!("\n  {reason}")).collect();
        if more > 0 {
            text.push_str(&format!("\n  and {more} more ways that were tried"));
        }
        text
    }

    /// A reason with lines of the program in place of the names of ports.
    fn reason(&self, reason: &str) -> String {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut text = String::new();
        let mut rest = reason;
        while let Some(start) = rest.find(is_name) {
            let end = rest[start..].find(|letter| !is_name(letter)).map_or(rest.len(), |length| start + length);
            let name = &rest[start..end];
            let words = self.port(name).unwrap_or_else(|| name.to_owned());
            text.push_str(&rest[..start]);
            // The error names only one of several copies.
            match text.strip_suffix(", ").filter(|before| before.ends_with(&words)) {
                Some(before) => text.truncate(before.len()),
                None => text.push_str(&words),
            }
            rest = &rest[end..];
        }
        text + rest
    }

    /// The description of a port: of an array the write or a read of a stage; of a delay, how late it is.
    fn port(&self, name: &str) -> Option<String> {
        if let Some(cycles) = name.strip_suffix("_ago").filter(|cycles| cycles.parse::<u64>().is_ok()) {
            return Some(format!("{cycles} cycles late"));
        }
        let access = |stage: &str, what: &str| {
            let number = self.extraction.pipeline.stages.iter().position(|other| other.name == stage)?;
            let line = self.line(self.extraction.span(self.program, number))?;
            Some(format!("the {what} in line {line}"))
        };
        let written = name.strip_suffix("_write").and_then(|stage| access(stage, "write"));
        written.or_else(|| name.match_indices("_read_").find_map(|(end, _)| access(&name[..end], "read")))
    }

    fn line(&self, span: Span) -> Option<usize> {
        self.program.diagnostic(span, "").location().map(|(_, line, _)| line)
    }
}
