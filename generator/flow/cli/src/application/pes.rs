//! Processing elements that are named on the command line.

use pushmem_files::Document;

use crate::kinds::{self, FileKind};
use crate::shipped::Shipped;

/// The processing elements of `constraints/pes`.
pub const PES: Shipped =
    Shipped { what: "processing element", kind: FileKind::ProcessingElement, folder: "constraints/pes" };

/// Whether a document is the specification of a processing element.
pub fn is_one(document: &Document) -> bool {
    kinds::of(document) == Some(PES.kind)
}
