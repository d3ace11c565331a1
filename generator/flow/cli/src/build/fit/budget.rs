//! Budgets of hardware, and costs.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_realization::{Dedicated, Report};
use serde::Serialize;

pushmem_files::named! {
    /// A resource of hardware.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Resource {
        Multipliers = "multipliers",
        /// Memory tiles, register files and tiles of tables. Banks of the global buffer are counted by their specification.
        Tiles = "tiles",
        /// Processing elements.
        Elements = "elements",
    }
}

/// The most of each resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::build) struct Budget {
    pub most: BTreeMap<Resource, u64>,
    /// Whether it is all that an array has.
    pub is_array: bool,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Budget { is_array: text == "array", ..Budget::default() };
        if budget.is_array {
            return Ok(budget);
        }
        for part in text.split(',') {
            let form = || format!("`{part}` is no resource with a number, as in `multipliers=64`");
            let (name, number) = part.split_once('=').ok_or_else(form)?;
            let resource = Resource::ALL.into_iter().find(|resource| resource.name() == name);
            let resource =
                resource.ok_or_else(|| format!("`{name}` is none of `multipliers`, `tiles` and `elements`"))?;
            if budget.most.insert(resource, number.parse().map_err(|_| form())?).is_some() {
                return Err(format!("`{name}` stands twice"));
            }
        }
        Ok(budget)
    }
}

impl Display for Budget {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let given = self.most.iter().map(|(resource, most)| format!("{}={most}", resource.name()));
        let is_array = self.is_array.then(|| "array".to_owned());
        formatter.write_str(&is_array.into_iter().chain(given).join(","))
    }
}

/// The cost of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(in crate::build) struct Cost {
    pub cycles: u64,
    pub multipliers: u64,
    pub elements: u64,
    pub tiles: u64,
}

impl Cost {
    pub fn of(compiled: &Dedicated) -> Self {
        let report = Report::of(compiled);
        let tiles = report.memory_tiles + report.register_files + report.rom_tiles;
        let Report { cycles, multipliers, processing_elements: elements, .. } = report;
        Cost { cycles, multipliers, tiles: tiles as u64, elements }
    }

    pub fn has(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Multipliers => self.multipliers,
            Resource::Tiles => self.tiles,
            Resource::Elements => self.elements,
        }
    }

    pub fn is_within(&self, budget: &Budget) -> bool {
        budget.most.iter().all(|(resource, most)| self.has(*resource) <= *most)
    }
}

impl Display for Cost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Cost { cycles, multipliers, tiles, elements } = *self;
        let parts =
            [counted(multipliers, "multiplier"), counted(tiles, "tile"), counted(elements, "processing element")];
        write!(formatter, "{}, {}", counted(cycles, "cycle"), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_written() {
        let budget: Budget = "multipliers=64,tiles=16".parse().unwrap();
        let most = |resource| budget.most.get(&resource).copied();
        assert_eq!(Resource::ALL.map(most), [Some(64), Some(16), None]);
        assert_eq!(budget.to_string(), "multipliers=64,tiles=16");
        assert_eq!("array".parse::<Budget>().unwrap().to_string(), "array");
        for (text, message) in [
            ("tiles", "`tiles` is no resource with a number, as in `multipliers=64`"),
            ("tiles=x", "`tiles=x` is no resource with a number, as in `multipliers=64`"),
            ("rows=3", "`rows` is none of `multipliers`, `tiles` and `elements`"),
            ("tiles=3,tiles=4", "`tiles` stands twice"),
        ] {
            assert_eq!(text.parse::<Budget>().unwrap_err(), message);
        }
    }
}
