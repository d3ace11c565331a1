//! Buffers: notation, order, checks, files.

use proptest::prelude::*;
use pushmem_buffers::{Direction, Loop, Port, UnifiedBuffer};
use pushmem_configuration::Affine;
use pushmem_files::Document;

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
    assert_eq!(message_text, "port in: the schedule (x) → 0 does not order the iterations one by one");
    assert_eq!(location.map(|(_, line, _)| line), Some(3));
    let (message_text, _) = message(&text.replace("stride: [0]", "stride: [1, 2]"));
    assert_eq!(message_text, "port in: 2 strides for 1 loops");
    let (message_text, _) = message(&text.replace("stride: [0]", "start: -1, stride: [1]"));
    assert_eq!(message_text, "port in: the schedule (x) → x - 1 begins before cycle 0");
    let (message_text, _) = message(&text.replace("extent: 4", "extent: 0"));
    assert_eq!(message_text, "port in: loop x has 0 iterations; it must be 1 to 2^48 − 1");
}

proptest! {
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
            let extents = port.extents();
            (0..port.iterations() as u64)
                .map(|mut number| {
                    let index: Vec<u64> = extents
                        .iter()
                        .map(|extent| {
                            let index = number % extent;
                            number /= extent;
                            index
                        })
                        .collect();
                    (port.cycle(&index), port.element(&index))
                })
                .collect::<Vec<_>>()
        };
        let mut expected = visits(&port);
        expected.sort();
        if let Some(ordered) = port.in_time_order() {
            prop_assert_eq!(visits(&ordered), expected);
        }
    }
}
