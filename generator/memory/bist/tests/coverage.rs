//! Fault coverage of the march test.

use pushmem_bist::{Element, Fault, FaultyMemory, MARCH_C_MINUS, MemoryShape, Row, Verdict, march, operations, run};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SMALL: MemoryShape = MemoryShape { width: 5, rows: 4, ports: 1, latency: 1 };
const TWO_PORTS: MemoryShape = MemoryShape { width: 4, rows: 3, ports: 2, latency: 2 };
/// The SRAM of `amber`, and one whose sizes are no powers of two.
const LARGE: [MemoryShape; 2] = [
    MemoryShape { width: 64, rows: 512, ports: 1, latency: 1 },
    MemoryShape { width: 100, rows: 300, ports: 2, latency: 1 },
];

/// A memory with arbitrary contents.
fn memory(shape: MemoryShape, fault: Option<Fault>, rng: &mut ChaCha8Rng) -> FaultyMemory {
    FaultyMemory::new(shape, fault, |_| Row::of(shape.width, |_| rng.random()))
}

/// The faults that a march test with some backgrounds does not find.
fn missed(shape: MemoryShape, elements: &[Element], backgrounds: u32, faults: &[Fault]) -> Vec<Fault> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let passes = |port| (0..backgrounds).map(move |number| (port, number));
    let finds = |fault: &Fault, rng: &mut ChaCha8Rng| {
        let operations = (0..shape.ports).flat_map(passes);
        let operations = operations.flat_map(|(port, number)| march(elements, shape.rows, port, number));
        Verdict::of(shape, operations, &mut memory(shape, Some(*fault), rng)).first_failure.is_some()
    };
    faults.iter().filter(|fault| !finds(fault, &mut rng)).copied().collect()
}

#[test]
fn a_memory_without_a_fault_passes() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for shape in [SMALL, TWO_PORTS, LARGE[0], LARGE[1]] {
        let verdict = run(shape, &mut memory(shape, None, &mut rng));
        assert_eq!(verdict, Verdict { cycles: shape.cycles(), ..Verdict::default() });
    }
}

#[test]
fn an_access_takes_a_cycle() {
    for shape in [SMALL, TWO_PORTS] {
        assert_eq!(shape.cycles(), operations(shape).count() as u64 + u64::from(shape.latency));
    }
    assert_eq!(LARGE[0].cycles(), 10 * 512 * 7 + 1);
}

#[test]
fn every_fault_of_a_small_memory_is_found() {
    for shape in [SMALL, TWO_PORTS] {
        let faults = Fault::all(shape);
        assert_eq!(missed(shape, &MARCH_C_MINUS, shape.backgrounds(), &faults), []);
    }
}

#[test]
fn faults_of_large_memories_are_found() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for shape in LARGE {
        for _ in 0..30 {
            let fault = Fault::random(shape, &mut rng);
            let verdict = run(shape, &mut memory(shape, Some(fault), &mut rng));
            assert!(verdict.first_failure.is_some(), "{fault:?} of {shape:?}");
        }
    }
}

/// The model of faults tells march tests apart as the literature does.
#[test]
fn weaker_tests_miss_what_they_must() {
    let faults = Fault::all(SMALL);
    // With bits all alike, only faults between bits of one row go unseen.
    let solid = missed(SMALL, &MARCH_C_MINUS, 1, &faults);
    assert!(!solid.is_empty());
    for fault in solid {
        match fault {
            Fault::Idempotent { aggressor, victim, .. } | Fault::State { aggressor, victim, .. } => {
                assert_eq!(aggressor.row, victim.row, "{fault:?}");
            }
            _ => panic!("{fault:?}"),
        }
    }
    // One background less leaves two bits that are always alike.
    assert!(!missed(SMALL, &MARCH_C_MINUS, SMALL.backgrounds() - 1, &faults).is_empty());
    // MATS+, {any w0; up r0 w1; down r1 w0}, finds stuck-at and address-decoder faults, but neither all transition nor coupling faults.
    let mats = [MARCH_C_MINUS[0], MARCH_C_MINUS[1], MARCH_C_MINUS[4]];
    let classes = missed(SMALL, &mats, 1, &faults).iter().map(Fault::class).collect::<std::collections::BTreeSet<_>>();
    assert!(!classes.contains("stuck-at"));
    assert!(classes.contains("transition") && classes.contains("inversion coupling"));
}
