//! Files in and out of pushmem.
//!
//! Inputs: [`Document`] keeps a YAML document together with its text, and [`read_words`] reads
//! streams of hexadecimal words. Whatever is wrong with an input becomes a [`Diagnostic`] that
//! points at the offending text.
//!
//! Outputs: [`write_file`] and [`OutputFolder::write`] let files appear whole or not at all. The unfinished files of a process
//! that was killed are removed by the next one. [`StreamFile`] writes a stream while it goes on.

mod code;
mod counted;
mod deserialize;
mod diagnostic;
mod digest;
mod document;
mod fault;
mod identifiers;
mod input;
mod named;
mod nearest;
mod node;
mod output;
mod path;
mod print;
mod shard;
mod template;
mod temporary;
mod words;

#[doc(hidden)]
pub use askama;
pub use code::Code;
pub use counted::counted;
pub use diagnostic::{Diagnostic, Span};
pub use digest::{digest, digest_word};
pub use document::Document;
pub use fault::Fault;
pub use identifiers::{free_name, replace_identifiers};
pub use input::{SIZE_LIMIT, read_bytes, read_bytes_up_to, read_text, unreadable};
#[doc(hidden)]
pub use named::place_of_name;
pub use nearest::nearest;
pub use node::DEPTH_LIMIT;
pub use output::{MARKER, OutputFolder, check_output, write_all_through, write_file, write_files, write_through};
pub use path::FieldPath;
pub use print::to_yaml;
#[doc(hidden)]
pub use serde;
pub use shard::Shard;
pub use template::render;
pub use temporary::TemporaryFolder;
pub use words::{FixedWords, StreamFile, WordLines, format_words, parse_words, read_words};
