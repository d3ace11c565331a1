//! Mappings that are asked for again.

use foldhash::{HashMap, HashSet};
use std::sync::Mutex;

use pushmem_buffers::{MappedBuffer, UnifiedBuffer};
use pushmem_tile::TileSpec;

use crate::error::MappingError;
use crate::map::map;

/// Result of mapping a buffer.
type Outcome = Result<MappedBuffer, Box<MappingError>>;

/// Mappings by buffer without its names, and refusals, which have names, by buffer.
type OfTile = HashMap<UnifiedBuffer, Outcome>;

/// The mappings of a search for a schedule, and the refusals. Schedules that differ in some stages leave the buffers of the
/// others as they are: these are mapped once. So are buffers that differ in names only, as the halves of 32-bit elements.
#[derive(Debug, Default)]
pub struct Mappings {
    known: Mutex<HashMap<TileSpec, OfTile>>,
    /// Names of buffers of which one was refused.
    refused: Mutex<HashSet<String>>,
}

impl Mappings {
    /// As [`map`](crate::map), which is called for the first buffer of those that are alike. A mapping comes without the
    /// attempts before it, as they have names of ports.
    ///
    /// # Errors
    /// As those of [`map`](crate::map).
    pub fn map(&self, buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<MappedBuffer, MappingError> {
        let known = || self.known.lock().expect("no thread ends while it has the mappings");
        let nameless = buffer.without_names();
        let found = known().get(spec).and_then(|known| known.get(&nameless).or_else(|| known.get(buffer)).cloned());
        let outcome = found.unwrap_or_else(|| {
            let outcome = map(buffer, spec).map_err(Box::new);
            let outcome = outcome.map(|mapped| MappedBuffer { tried: Vec::new(), ..mapped });
            if outcome.is_err() {
                self.refused.lock().expect("no thread ends while it has the names").insert(buffer.name.clone());
            }
            let key = if outcome.is_ok() { nameless } else { buffer.clone() };
            known().entry(spec.clone()).or_default().insert(key, outcome.clone());
            outcome
        });
        outcome.map_err(|error| *error)
    }

    /// Whether a buffer of this name was refused, of another schedule perhaps: it is likely to be refused again.
    pub fn was_refused(&self, buffer: &str) -> bool {
        self.refused.lock().expect("no thread ends while it has the names").contains(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pushmem_affine::Affine;
    use pushmem_buffers::{Direction, Loop, Port};

    use super::*;

    fn delay(cycles: i64) -> UnifiedBuffer {
        named("delay", cycles)
    }

    /// The mapping by itself, without the attempts before it.
    fn alone(buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<MappedBuffer, MappingError> {
        map(buffer, spec).map(|mapped| MappedBuffer { tried: Vec::new(), ..mapped })
    }

    fn named(buffer: &str, cycles: i64) -> UnifiedBuffer {
        let port = |name: &str, direction, start| Port {
            name: name.to_owned(),
            direction,
            domain: vec![Loop { name: "x".to_owned(), extent: 256 }],
            access: vec![Affine { start: 0, stride: vec![1] }],
            schedule: Affine { start, stride: vec![1] },
        };
        let ports = vec![port("in", Direction::Write, 0), port("out", Direction::Read, cycles)];
        UnifiedBuffer { name: buffer.to_owned(), ports }
    }

    #[test]
    fn buffers_that_differ_in_names_share_a_mapping_but_no_message() {
        let mappings = Mappings::default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints/tiles");
        let spec = TileSpec::read(&folder.join("dual_port.yaml")).unwrap();
        for cycles in [100, 1 << 20] {
            for name in ["low", "high", "low"] {
                let buffer = named(name, cycles);
                assert_eq!(mappings.map(&buffer, &spec), alone(&buffer, &spec), "{name} {cycles}");
            }
        }
        // One mapping, and a refusal of each name.
        assert_eq!(mappings.known.lock().unwrap()[&spec].len(), 3);
    }

    #[test]
    fn a_known_mapping_is_that_of_its_buffer_and_tile() {
        let mappings = Mappings::default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints/tiles");
        let specs = ["dual_port", "pond"].map(|name| TileSpec::read(&folder.join(format!("{name}.yaml"))).unwrap());
        for _ in 0..2 {
            for spec in &specs {
                for cycles in [8, 100, 20000] {
                    let buffer = delay(cycles);
                    assert_eq!(mappings.map(&buffer, spec), alone(&buffer, spec), "{cycles}");
                }
            }
        }
        assert_ne!(mappings.map(&delay(100), &specs[0]), mappings.map(&delay(100), &specs[1]));
        assert_eq!(mappings.known.lock().unwrap()[&specs[0]].len(), 3);
    }
}
