//! Processing elements that are named on the command line.

use pushmem_files::Document;

use crate::shipped::{Shipped, shipped};

/// The processing elements of `constraints/pes`.
pub const PES: Shipped = shipped![
    "processing element", ProcessingElement in "constraints/pes":
    "amber_pe",
    "bfloat_pe",
    "float16_pe",
    "image_pe",
    "largest_pe",
    "lean_pe",
    "network_pe",
    "onyx_pe",
    "pipelined_pe",
    "smallest_pe",
    "word32_pe",
];

/// Whether a document is the specification of a processing element.
pub fn is_one(document: &Document) -> bool {
    crate::kinds::of(document) == Some(PES.kind)
}
