//! Timing models: the periods of programs, and what is refused.

use std::path::Path;

use pushmem_fabric::{ArraySpec, Folder, TimingModel};
use pushmem_files::{Diagnostic, Document};

fn array(more: &str) -> ArraySpec {
    let constraints = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints");
    let text = format!("name: a\nkind: array\ncolumns: 4\nrows: 4\npe: image_pe\n{more}");
    ArraySpec::from_document(&Document::parse("array.yaml", text).unwrap(), &Folder(constraints)).unwrap()
}

fn model(spec: &ArraySpec, more: &str) -> Result<TimingModel, Diagnostic> {
    let path = |name: &str, ps: u32| format!("  {name}: {{ps: {ps}, tile: pe, from: register a, to: register b}}\n");
    let paths =
        [("within_a_tile", 2500), ("register_to_track", 100), ("track_to_register", 2200), ("track_to_track", 150)];
    let paths: String = paths.into_iter().map(|(name, ps)| path(name, ps)).collect();
    let text =
        format!("timing_of: a\nspec_digest: {}\nlibrary: cells\noptimize: speed\npaths:\n{paths}{more}", spec.digest());
    TimingModel::from_document(&Document::parse("timing.yaml", text).unwrap(), spec)
}

const OPERATIONS: &str = "without_operation: {within_a_tile: 900, track_to_register: 500}\noperations:\n  \
                          add: {within_a_tile: 1000, track_to_register: 1500}\n  \
                          multiply: {within_a_tile: 2400, track_to_register: 1600}\n";

/// The period is that of the slowest operation, within a tile or between two; that of the array, where not all are known.
#[test]
fn periods_follow_operations() {
    let spec = array("");
    let known = model(&spec, OPERATIONS).unwrap();
    assert_eq!(known.period_ps(&spec), 2500);
    for (operations, period) in
        [(&[][..], 900), (&["add"], 1600), (&["multiply"], 2400), (&["add", "multiply"], 2400), (&["xor", "add"], 2500)]
    {
        assert_eq!(known.check_period(&spec, u32::MAX, operations.iter().copied()).unwrap(), period, "{operations:?}");
    }
    assert_eq!(model(&spec, "").unwrap().check_period(&spec, u32::MAX, ["add"]).unwrap(), 2500);
    // Past three registers.
    let spec = array("hop_limit: 4");
    assert_eq!(model(&spec, OPERATIONS).unwrap().check_period(&spec, u32::MAX, ["add"]).unwrap(), 100 + 3 * 150 + 1500);
}

#[test]
fn periods_that_are_too_short_name_the_operation() {
    let spec = array("");
    let known = model(&spec, OPERATIONS).unwrap();
    assert!(known.check_period(&spec, 1600, ["add"]).is_ok());
    for (period, operations, message) in [
        (1599, &["add"][..], "the operation `add` takes 1600 ps"),
        (1600, &["add", "multiply"], "the operation `multiply` takes 2400 ps"),
        (899, &[], "the longest path of tiles without an operation takes 900 ps"),
        (2499, &["xor"], "the path from register a to register b in a tile `pe` takes 2500 ps"),
    ] {
        let error = known.check_period(&spec, period, operations.iter().copied()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn wrong_models_are_located() {
    let spec = array("");
    for (more, message, line) in [
        ("operations:\n  add: {within_a_tile: 0, track_to_register: 1}", "`within_a_tile` takes 0 ps", 11),
        ("operations:\n  fly: {within_a_tile: 1, track_to_register: 1}", "has no operation `fly`", 11),
        (
            "without_operation: {within_a_tile: 1, track_to_register: 2000000}",
            "`track_to_register` takes 2000000 ps",
            10,
        ),
    ] {
        let error = model(&spec, more).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.location().unwrap().1, line, "{more}");
    }
}
