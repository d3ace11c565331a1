//! Words of a memory that are read while they are written.

use std::iter::Peekable;

use pushmem_affine::{Affine, Domain};
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_tile::{Memory, TileSpec};

/// Most accesses that are looked at.
const MOST_ACCESSES: u128 = 1 << 22;

/// Whether no word of the main memory of a tile is read in a cycle in which it is written, so that no port has to know of the other. Not
/// known of configurations with many accesses.
pub fn reads_apart(configuration: &Configuration, spec: &TileSpec) -> bool {
    let of_role = |wanted: bool| {
        let controllers = spec.controllers().into_iter().filter(move |of| of.role.takes_input() == wanted);
        controllers.filter_map(|of| Accesses::of(configuration.controllers.get(&of.name)?))
    };
    let rows = i64::from(spec.rows);
    let mut pairs = of_role(true).flat_map(|write| of_role(false).map(move |read| first_rounds(&write, &read, rows)));
    pairs.all(|(write, read)| {
        write.extent.iterations() + read.extent.iterations() <= MOST_ACCESSES && !collide(&write, &read, rows)
    })
}

/// The accesses of a controller.
#[derive(Clone)]
struct Accesses {
    extent: Domain,
    cycle: Affine,
    address: Affine,
}

impl Accesses {
    fn of(controller: &ControllerConfiguration) -> Option<Self> {
        let ControllerConfiguration { extent, cycle, .. } = controller;
        Some(Accesses {
            extent: extent.clone(),
            cycle: cycle.clone(),
            address: controller.address(Memory::Sram)?.clone(),
        })
    }

    /// The cycle and the address of each, in the order of time.
    fn in_time(&self, rows: i64) -> Peekable<impl Iterator<Item = (i64, i64)>> {
        let addresses = self.extent.values(&self.address).map(move |address| address.rem_euclid(rows));
        self.extent.values(&self.cycle).zip(addresses).peekable()
    }
}

/// The first rounds of the outermost loops of two controllers, where later ones repeat them: both move on by as many cycles and
/// addresses, so that only the rounds between the two matter.
fn first_rounds(write: &Accesses, read: &Accesses, rows: i64) -> (Accesses, Accesses) {
    let (mut write, mut read) = (write.clone(), read.clone());
    if let (Some(one), Some(other)) = (write.extent.depth().checked_sub(1), read.extent.depth().checked_sub(1)) {
        let period = write.cycle.stride[one];
        let moves_alike = period > 0
            && period == read.cycle.stride[other]
            && (write.address.stride[one] - read.address.stride[other]).rem_euclid(rows) == 0;
        if moves_alike {
            let between = (write.cycle.start - read.cycle.start).unsigned_abs();
            // The loops inside end within a round.
            let rounds = between.div_ceil(period as u64) + 2;
            for (accesses, level) in [(&mut write, one), (&mut read, other)] {
                accesses.extent[level] = accesses.extent[level].min(rounds);
            }
        }
    }
    (write, read)
}

fn collide(write: &Accesses, read: &Accesses, rows: i64) -> bool {
    let (mut writes, mut reads) = (write.in_time(rows), read.in_time(rows));
    while let (Some((written, address)), Some((shown, other))) = (writes.peek(), reads.peek()) {
        if (written, address) == (shown, other) {
            return true;
        }
        if written <= shown {
            writes.next()
        } else {
            reads.next()
        };
    }
    false
}
