//! Affine maps over boxes: closed forms against enumeration.

use itertools::Itertools;
use proptest::prelude::*;
use pushmem_affine::{Affine, Domain, Recurrence, coalesced, deltas, strides};

/// The paper's example: downsample by 2 over 8×8 (unified-buffer paper, Figure 6).
#[test]
fn downsample_by_two_has_the_published_deltas() {
    assert_eq!(deltas(&[2, 16], &[4, 4]), [2, 10]);
    assert_eq!(strides(&[2, 10], &[4, 4], |stride| stride), [2, 16]);
}

#[test]
fn functions_are_written_as_people_do() {
    let text = |start, stride: &[i64]| Affine { start, stride: stride.to_vec() }.text(&["x", "y"]);
    assert_eq!(text(65, &[1, 64]), "64y + x + 65");
    assert_eq!(text(0, &[-2, -1]), "-y - 2x");
    assert_eq!(text(-7, &[1, 0]), "x - 7");
    assert_eq!(text(-7, &[0, 0]), "-7");
    assert_eq!(text(0, &[]), "0");
}

#[test]
fn a_domain_without_loops_has_one_point() {
    let domain = Domain::default();
    assert_eq!((domain.iterations(), domain.last(), domain.advance(&mut [])), (1, Vec::new(), None));
    assert_eq!(domain.values(&Affine::constant(7, 0)).collect_vec(), [7]);
    assert_eq!([6, 7, 8].map(|limit| domain.points_until(&Affine::constant(7, 0), limit)), [0, 1, 1]);
}

/// Iterations saturate, where a product would wrap.
#[test]
fn very_large_domains_are_counted_as_such() {
    assert_eq!(Domain::from(vec![u64::MAX; 3]).iterations(), u128::MAX);
}

#[test]
#[should_panic(expected = "does not fit 64 bits")]
fn an_index_beyond_64_bits_is_refused() {
    Affine { start: 0, stride: vec![1] }.value(&[u64::MAX]);
}

/// A domain, and a function of it.
fn function() -> impl Strategy<Value = (Domain, Affine)> {
    prop::collection::vec((1_u64..5, -20_i64..20), 0..4).prop_flat_map(|levels| {
        let (extents, stride): (Vec<u64>, Vec<i64>) = levels.into_iter().unzip();
        (Just(Domain::from(extents)), (-30_i64..30).prop_map(move |start| Affine { start, stride: stride.clone() }))
    })
}

/// A domain, and a schedule of it: a function that grows from point to point.
fn schedule() -> impl Strategy<Value = (Domain, Affine)> {
    (prop::collection::vec((1_u64..5, 0_i64..6), 0..4), -9_i64..9).prop_map(|(levels, start)| {
        let (mut span, mut stride) = (0, Vec::new());
        for &(extent, pause) in &levels {
            stride.push(span + 1 + pause);
            span += (span + 1 + pause) * (extent as i64 - 1);
        }
        (levels.iter().map(|level| level.0).collect(), Affine { start, stride })
    })
}

/// All points in the order of the loops, by nested iteration.
fn points(domain: &Domain) -> Vec<Vec<u64>> {
    domain.iter().fold(vec![Vec::new()], |inside, &extent| {
        (0..extent).flat_map(|index| inside.iter().map(move |point| [point.as_slice(), &[index]].concat())).collect()
    })
}

proptest! {
    #[test]
    fn points_come_in_the_order_of_the_loops((domain, _) in function()) {
        let expected = points(&domain);
        let mut found = Vec::new();
        domain.for_each(|point| found.push(point.to_vec()));
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(domain.iterations(), expected.len() as u128);
        prop_assert_eq!(&domain.last(), expected.last().unwrap());
        for limit in 1..=expected.len() as u64 {
            let clipped = domain.clipped(limit);
            prop_assert!(clipped.iterations() <= u128::from(limit));
            prop_assert!(clipped.iter().zip(&*domain).all(|(kept, extent)| (1..=*extent).contains(kept)));
        }
        prop_assert_eq!(&domain.clipped(expected.len() as u64), &domain);
        let numbering = Affine { start: 0, stride: domain.numbering() };
        for (number, point) in expected.iter().enumerate() {
            prop_assert_eq!(&domain.point(number as u64), point);
            prop_assert_eq!(numbering.value(point), number as i64);
        }
    }

    #[test]
    fn recurrences_follow_their_functions((domain, function) in function(), modulus in prop::option::of(1_i64..40)) {
        let expected = points(&domain).iter().map(|point| function.at(point)).collect_vec();
        prop_assert_eq!(domain.values(&function).map(i128::from).collect_vec(), expected.clone());
        prop_assert_eq!(points(&domain).iter().map(|point| i128::from(function.value(point))).collect_vec(), expected.clone());
        let mut recurrence = Recurrence::new(&function, &domain, modulus);
        let mut index = vec![0; domain.depth()];
        for value in expected {
            let value = modulus.map_or(value, |modulus| value.rem_euclid(i128::from(modulus)));
            prop_assert_eq!(i128::from(recurrence.value()), value);
            if let Some(level) = domain.advance(&mut index) {
                recurrence.advance(level);
            }
        }
        prop_assert!(index.iter().all(|index| *index == 0));
        let found = strides(&domain.deltas(&function.stride), &domain, |stride| stride);
        prop_assert_eq!(found, function.stride.iter().map(|stride| i128::from(*stride)).collect_vec());
    }

    #[test]
    fn ranges_are_those_of_all_points((domain, function) in function(), level in 0_usize..4) {
        let level = level.min(domain.depth());
        let (low, high) = points(&domain).iter().map(|point| function.at(point)).minmax().into_option().unwrap();
        prop_assert_eq!(domain.range(&function), low..=high);
        let inside = points(&domain).into_iter().filter(|point| point[level..].iter().all(|index| *index == 0));
        let (low, high) = inside.map(|point| function.at(&point)).minmax().into_option().unwrap();
        prop_assert_eq!(domain.range_inside(&function, level), low..=high);
    }

    #[test]
    fn points_are_counted_as_they_come((domain, schedule) in schedule(), limit in -12_i64..400) {
        let expected = domain.values(&schedule).filter(|value| *value <= limit).count();
        prop_assert_eq!(domain.points_until(&schedule, limit), expected as u64);
    }

    #[test]
    fn sums_of_functions_are_sums_of_values((domain, one) in function(), start in -9_i64..9, factor in -5_i64..5) {
        let other = Affine { start, stride: one.stride.iter().map(|stride| 3 - stride).collect() };
        for point in points(&domain) {
            let expected = one.value(&point) + factor * other.value(&point);
            prop_assert_eq!(one.plus(&other, factor).value(&point), expected);
            prop_assert_eq!(one.shifted(factor).value(&point), one.value(&point) + factor);
        }
    }

    /// Periods that are skipped end where the recurrence would have come.
    #[test]
    fn repeated_changes_are_repeated_steps(start in -9_i64..9, delta in -9_i64..9, times in 0_u64..9, modulus in 1_i64..7) {
        for modulus in [None, Some(modulus)] {
            let function = Affine { start, stride: vec![delta] };
            let mut stepped = Recurrence::new(&function, &Domain::from(vec![100]), modulus);
            let mut skipped = stepped.clone();
            let first = stepped.value();
            stepped.advance(0);
            let change = stepped.moved(first);
            (1..times).for_each(|_| stepped.advance(0));
            skipped.repeat(change, times.max(1));
            prop_assert_eq!(skipped.value(), stepped.value());
        }
    }
}

proptest! {
    /// Over fewer loops, all functions have the same values in the same order; loops that go on for one function only stay.
    #[test]
    fn coalesced_loops_have_the_same_values(
        loops in prop::collection::vec((1_u64..5, -6_i64..7, -6_i64..7), 1..5),
        limit in 2_u64..40,
    ) {
        let extents: Domain = loops.iter().map(|(extent, ..)| *extent).collect();
        let one = Affine { start: 3, stride: loops.iter().map(|(_, one, _)| *one).collect() };
        let other = Affine { start: -2, stride: loops.iter().map(|(.., other)| *other).collect() };
        let (domain, [first, second]) = coalesced([&one, &other], &extents, limit);
        prop_assert!(domain.len() <= extents.len());
        prop_assert_eq!(domain.values(&first).collect_vec(), extents.values(&one).collect_vec());
        prop_assert_eq!(domain.values(&second).collect_vec(), extents.values(&other).collect_vec());
    }
}

#[test]
fn loops_are_one_only_where_they_are_for_all_functions() {
    let function = |stride: &[i64]| Affine { start: 0, stride: stride.to_vec() };
    let extents = Domain::from([4, 5]);
    let (both, _) = coalesced([&function(&[1, 4]), &function(&[2, 8])], &extents, 100);
    assert_eq!(both, [20]);
    let (apart, _) = coalesced([&function(&[1, 4]), &function(&[0, 1])], &extents, 100);
    assert_eq!(apart, [4, 5]);
}
