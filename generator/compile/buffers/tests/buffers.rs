//! Buffers: notation, order, checks, files.

#[path = "../../../memory/tile/tests/mistyped/mod.rs"]
mod mistyped;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Loop, Port, UnifiedBuffer};
use pushmem_files::Document;

use mistyped::mistyped;

fn port(extents: &[(&str, u64)], access: &[Affine], schedule: Affine) -> Port {
    let domain = extents.iter().map(|(name, extent)| Loop { name: (*name).to_owned(), extent: *extent }).collect();
    Port { name: "out".to_owned(), direction: Direction::Read, domain, access: access.to_vec(), schedule }
}

fn affine(start: i64, stride: &[i64]) -> Affine {
    Affine { start, stride: stride.to_vec() }
}

/// The notation of the unified-buffer paper, Figure 2.
#[test]
fn ports_are_shown_as_in_the_papers() {
    let port = port(&[("x", 64), ("y", 64)], &[affine(0, &[1, 0]), affine(-1, &[0, 1])], affine(65, &[1, 64]));
    assert_eq!(port.domain_text(), "{(x, y) | 0 ≤ x ≤ 63, 0 ≤ y ≤ 63}");
    assert_eq!(port.access_text(), "(x, y) → (x, y - 1)");
    assert_eq!(port.schedule_text(), "(x, y) → 64y + x + 65");
}

fn message(text: &str) -> (String, Option<(String, usize, usize)>) {
    let document = Document::parse("b.yaml", text).unwrap();
    let error = UnifiedBuffer::from_document(&document).unwrap_err();
    (error.message().to_owned(), error.location())
}

#[test]
fn errors_point_at_their_place() {
    let text = "name: b\nports:\n  - {name: in, direction: write, domain: [{name: x, extent: 4}], access: [], \
                schedule: {stride: [0]}}\n";
    let (message_text, location) = message(text);
    assert_eq!(
        message_text,
        "port in: the schedule (x) → 0 starts the next iteration of `x` after 0 cycles, and the loops inside take 1"
    );
    assert_eq!(location.map(|(_, line, _)| line), Some(3));
    let (message_text, _) = message(&text.replace("stride: [0]", "stride: [1, 2]"));
    assert_eq!(message_text, "port in: 2 strides for 1 loop");
    let (message_text, _) = message(&text.replace("stride: [0]", "start: -1, stride: [1]"));
    assert_eq!(message_text, "port in: the schedule (x) → x - 1 begins in cycle -1; the first is 0");
    let (message_text, _) = message(&text.replace("extent: 4", "extent: 0"));
    assert_eq!(message_text, "port in: loop x has 0 iterations; it must be 1 to 2^48 − 1");
}

#[test]
fn buffers_take_words_and_give_them() {
    let port = |name: &str, direction: &str| {
        format!("  - {{name: {name}, direction: {direction}, domain: [], access: [], schedule: {{stride: []}}}}\n")
    };
    let buffer = |ports: &[String]| format!("name: b\nports:\n{}", ports.concat());
    for (ports, missing) in
        [([port("a", "read"), port("b", "read")], "write"), ([port("a", "write"), port("b", "write")], "read")]
    {
        let (message_text, location) = message(&buffer(&ports));
        assert_eq!(message_text, format!("no port of the buffer has the direction `{missing}`"));
        assert_eq!(location.map(|(_, line, column)| (line, column)), Some((2, 1)));
    }
    let both = buffer(&[port("a", "write"), port("b", "read")]);
    UnifiedBuffer::from_document(&Document::parse("b.yaml", both.as_str()).unwrap()).unwrap();
    let (message_text, _) = message(&both.replacen("[]", "[{name: x, extent: 1}, {name: x, extent: 1}]", 1).replacen(
        "stride: []",
        "stride: [1, 1]",
        1,
    ));
    assert_eq!(message_text, "port a: another loop is named `x`");
}

/// The buffers of the repository.
fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps/buffers");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Shipped buffers, mistyped.
fn mutated() -> impl Strategy<Value = String> {
    let texts = shipped().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    mistyped(texts, &["7", "- ", "read", "write", "start: ", "{name: z, extent: 3}, ", "stride: [1]"])
}

/// An accepted buffer can be shown and put into the order of time; a refusal has a place.
fn read_or_located(text: &str) -> Result<(), TestCaseError> {
    let read = Document::parse("b.yaml", text).and_then(|document| UnifiedBuffer::from_document(&document));
    match read {
        Ok(buffer) => {
            prop_assert!(!buffer.to_string().is_empty());
            prop_assert!(buffer.ports.iter().all(|port| port.in_time_order().is_some()));
        }
        Err(problem) => prop_assert!(problem.location().is_some(), "{problem:?}"),
    }
    Ok(())
}

#[test]
fn shipped_buffers_are_read() {
    assert!(!shipped().is_empty());
    for file in shipped() {
        let buffer = Document::read(&file)
            .and_then(|file| UnifiedBuffer::from_document(&file))
            .unwrap_or_else(|problem| panic!("{problem:?}"));
        assert_eq!(file.file_stem().and_then(|stem| stem.to_str()), Some(buffer.name.as_str()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_that_is_read_panics(bytes: Vec<u8>, text in "\\PC{0,200}", mutated in mutated()) {
        read_or_located(&String::from_utf8_lossy(&bytes))?;
        read_or_located(&text)?;
        read_or_located(&mutated)?;
    }

    /// Enumeration is the oracle: the ordered port visits the same elements in the same cycles, in the order of time.
    #[test]
    fn time_order_is_the_order_of_time(
        nest in prop::collection::vec((1_u64..4, -3_i64..4, -20_i64..20), 0..4),
        start in 0_i64..50,
    ) {
        let extents: Vec<(&str, u64)> = nest.iter().map(|level| ("i", level.0)).collect();
        let access = affine(7, &nest.iter().map(|level| level.1).collect::<Vec<_>>());
        let schedule = affine(start, &nest.iter().map(|level| level.2).collect::<Vec<_>>());
        let port = port(&extents, &[access], schedule);
        let visits = |port: &Port| {
            (0..port.iterations() as u64)
                .map(|number| port.iteration(number))
                .map(|index| (port.cycle(&index), port.element(&index)))
                .collect::<Vec<_>>()
        };
        let mut expected = visits(&port);
        expected.sort();
        if let Some(ordered) = port.in_time_order() {
            prop_assert_eq!(visits(&ordered), expected);
        }
    }
}
