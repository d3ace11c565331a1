//! Report of a coarse-grained schedule.

use std::collections::BTreeMap;
use std::fmt;

use itertools::Itertools;

use super::{Bound, Coarse, Reservation, Resource};

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Unit(name) => write!(formatter, "unit {name}"),
            Resource::Write(array) => write!(formatter, "write {array}"),
            Resource::Read(array) => write!(formatter, "read {array}"),
            Resource::Access(array) => write!(formatter, "access {array}"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Resource(resource) => resource.fmt(formatter),
            Bound::Arrays(arrays) => write!(formatter, "dependences through {}", arrays.join(", ")),
            Bound::Inner => formatter.write_str("the loop inside"),
            Bound::Rate => formatter.write_str("the rate of other rows"),
            Bound::Conflicts => formatter.write_str("conflicts"),
        }
    }
}

impl Coarse {
    /// The reservation table of an iteration of a loop, by index in [`Coarse::loops`], or of the stages outside of all
    /// (dissertation, Figures 4.7 and 4.8): a line for each resource, with its owner, the first cycle, and the cycle
    /// after the last, modulo the initiation interval.
    pub fn table(&self, place: Option<usize>) -> String {
        let interval = place.map(|level| self.loops[level].interval);
        let mut rows: BTreeMap<(&Resource, usize), Vec<&Reservation>> = BTreeMap::new();
        for entry in self.reservations.iter().filter(|entry| entry.place == place) {
            rows.entry((&entry.resource, entry.port)).or_default().push(entry);
        }
        let names: Vec<String> = rows
            .keys()
            .map(|(resource, port)| {
                let several = rows.keys().filter(|(other, _)| other == resource).count() > 1;
                if several { format!("{resource} {port}") } else { resource.to_string() }
            })
            .collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let lines = rows.values().zip(&names).map(|(entries, name)| {
            let mut parts: Vec<(u64, u64, &str, Option<u64>)> = entries
                .iter()
                .flat_map(|entry| {
                    modulo(entry.from, entry.to, interval)
                        .into_iter()
                        .map(move |(from, to)| (from, to, entry.by.as_str(), entry.every))
                })
                .collect();
            parts.sort_unstable();
            let again = |every: &Option<u64>| every.map_or(String::new(), |every| format!(" every {every}"));
            let part = |(from, to, by, every): &_| format!("{by} [{from}, {to}){}", again(every));
            let shown = parts.iter().map(part).join("  ");
            format!("{name:width$}  {shown}\n")
        });
        lines.collect()
    }
}

/// Cycles modulo a period: one piece, or two if they go round.
fn modulo(from: u64, to: u64, period: Option<u64>) -> Vec<(u64, u64)> {
    let Some(period) = period.filter(|period| *period > 0) else { return vec![(from, to)] };
    let start = from % period;
    let end = start + (to - from);
    if end <= period { vec![(start, end)] } else { vec![(start, period), (0, end - period)] }
}

impl fmt::Display for Coarse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, level) in self.loops.iter().enumerate() {
            writeln!(
                formatter,
                "loop {}: {} iterations, one every {} cycles (bound by {}), {} cycles long",
                level.name, level.extent, level.interval, level.bound, level.length
            )?;
            for (array, versions) in &level.versions {
                writeln!(formatter, "  {versions} versions of {array}, for it is read so late")?;
            }
            self.lines(formatter, Some(place))?;
        }
        if self.stages.iter().any(|stage| stage.parent.is_none()) || self.loops.is_empty() {
            writeln!(formatter, "outside of shared loops")?;
            self.lines(formatter, None)?;
        }
        Ok(())
    }
}

impl Coarse {
    fn lines(&self, formatter: &mut fmt::Formatter<'_>, place: Option<usize>) -> fmt::Result {
        for stage in self.stages.iter().filter(|stage| stage.parent == place) {
            write!(formatter, "  {} from cycle {}, {} cycles", stage.name, stage.start, stage.busy)?;
            if stage.interval > 1 {
                write!(formatter, ", an iteration every {} cycles", stage.interval)?;
            }
            if stage.interchanged {
                write!(formatter, ", loops interchanged")?;
            }
            if let Some(cycles) = stage.rows {
                write!(formatter, ", a row every {cycles} cycles")?;
            }
            if !stage.follows.is_empty() {
                let names = stage.follows.iter().map(|&other| &self.stages[other].name).join(", ");
                write!(formatter, ", iteration by iteration behind {names}")?;
            }
            writeln!(formatter)?;
        }
        self.table(place).lines().try_for_each(|line| writeln!(formatter, "  | {line}"))
    }
}
