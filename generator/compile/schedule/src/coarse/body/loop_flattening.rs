//! Loop flattening: the iterations of a loop and of the loop around it as one long loop, without a flush between them
//! (dissertation §4.3.4).

use std::collections::BTreeMap;

use super::{Body, Window};
use crate::coarse::LIMIT;
use crate::coarse::modulo_scheduling::{Turns, Use};

/// A loop as a node of the loop around it: all of its iterations.
pub(super) struct Inner {
    pub uses: Vec<Use>,
    pub ports: Vec<usize>,
    pub windows: Vec<Window>,
    /// Its iterations times its interval.
    pub dense: i64,
}

impl Inner {
    /// All iterations of a body, unless they take too long. With `turns`, resources are free between iterations.
    pub fn of(body: &Body, extent: i64, flatten: bool, turns: bool) -> Option<Inner> {
        let dense = body.interval.checked_mul(extent).filter(|cycles| *cycles <= LIMIT)?;
        let last = dense - body.interval;
        let length = last + body.length;
        let windows = body.windows.iter().map(|window| window.moved(0, last)).collect();
        if turns && flatten {
            let turns = Turns { every: body.interval, last };
            let uses = body.taken.iter().map(|(_, taken, _)| Use { turns, ..*taken }).collect();
            let ports = body.taken.iter().map(|(.., port)| *port).collect();
            return Some(Inner { uses, ports, windows, dense });
        }
        let mut uses: BTreeMap<(usize, usize), (i64, i64)> = BTreeMap::new();
        for (_, taken, port) in &body.taken {
            let (from, to) = if flatten { (taken.from, taken.to + last) } else { (0, length) };
            let known = uses.entry((taken.resource, *port)).or_insert((from, to));
            *known = (known.0.min(from), known.1.max(to));
        }
        Some(Inner {
            ports: uses.keys().map(|(_, port)| *port).collect(),
            uses: uses
                .into_iter()
                .map(|((resource, _), (from, to))| Use { resource, from, to, turns: Turns::default() })
                .collect(),
            windows,
            dense,
        })
    }
}
