//! Files in and out of pushmem.
//!
//! Inputs: [`Document`] keeps a YAML document together with its text, and [`read_words`] reads
//! streams of hexadecimal words. Whatever is wrong with an input becomes a [`Diagnostic`] that
//! points at the offending text.
//!
//! Outputs: [`write_file`] and [`OutputFolder::write`] let files appear whole or not at all.

mod counted;
mod deserialize;
mod diagnostic;
mod document;
mod input;
mod nearest;
mod node;
mod output;
mod path;
mod words;

pub use counted::counted;
pub use diagnostic::Diagnostic;
pub use document::Document;
pub use input::{SIZE_LIMIT, read_text, unreadable};
pub use nearest::nearest;
pub use node::DEPTH_LIMIT;
pub use output::{MARKER, OutputFolder, write_file, write_files, write_through};
pub use path::FieldPath;
pub use words::{format_words, parse_words, read_words};
