//! The benchmark programs.

use pushmem_cells::{Cells, Word};
use pushmem_nest::Program;

use crate::common::{app, compare, pe, selected};

/// The processing elements of one copy of each operation.
fn processing_elements(program: &Program) -> usize {
    let cells = selected(program, &pe("amber_pe"));
    cells.iter().map(|cells| cells.as_ref().unwrap().cells.len()).sum()
}

#[test]
fn applications_compute_what_the_interpreter_does() {
    for name in ["gaussian", "harris", "unsharp", "camera_pipeline", "exposure_fusion", "nlmeans"] {
        assert!(compare(&app(name), &pe("amber_pe"), 1) > 5000, "{name}");
    }
}

/// Not more than the published systems take (paper, Table IV).
#[test]
fn applications_take_few_processing_elements() {
    for (name, published) in
        [("gaussian", 19), ("harris", 83), ("unsharp", 56), ("unsharp_new", 56), ("camera_pipeline", 397)]
    {
        let taken = processing_elements(&app(name));
        assert!(taken <= published, "{name} takes {taken} processing elements, the published one {published}");
    }
}

#[test]
fn copies_take_no_cells() {
    let cells: Vec<Cells> = selected(&app("up_sample"), &pe("amber_pe")).into_iter().map(Result::unwrap).collect();
    // The last copy narrows words to bytes.
    let counts: Vec<usize> = cells.iter().map(|cells| cells.cells.len()).collect();
    assert_eq!(counts, [0, 0, 1]);
    assert_eq!(cells[1].results, [Word::Load(0)]);
}
