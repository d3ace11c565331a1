//! Buffers in the notation of the papers.

use std::fmt;

use itertools::Itertools;
use pushmem_configuration::Affine;

use crate::buffer::{Port, UnifiedBuffer};

impl Port {
    fn indices(&self) -> String {
        format!("({})", self.domain.iter().map(|level| &level.name).join(", "))
    }

    /// An affine function of the loops, outermost term first: `64y + x + 65`.
    fn expression(&self, function: &Affine) -> String {
        let names = self.domain.iter().map(|level| &level.name);
        let terms =
            function.stride.iter().zip(names).rev().filter(|(stride, _)| **stride != 0).map(|(stride, name)| {
                match stride {
                    1 => name.clone(),
                    -1 => format!("-{name}"),
                    _ => format!("{stride}{name}"),
                }
            });
        let constant = (function.start != 0 || function.stride.iter().all(|&stride| stride == 0))
            .then(|| function.start.to_string());
        terms.chain(constant).join(" + ").replace("+ -", "- ")
    }

    /// The iteration domain: `{(x, y) | 0 ≤ x ≤ 63, 0 ≤ y ≤ 63}`.
    pub fn domain_text(&self) -> String {
        let bounds = self.domain.iter().map(|level| format!("0 ≤ {} ≤ {}", level.name, level.extent.saturating_sub(1)));
        format!("{{{} | {}}}", self.indices(), bounds.format(", "))
    }

    /// The access map: `(x, y) → (x, y)`.
    pub fn access_text(&self) -> String {
        let element = self.access.iter().map(|function| self.expression(function)).join(", ");
        format!("{} → ({element})", self.indices())
    }

    /// The schedule: `(x, y) → 64y + x + 65`.
    pub fn schedule_text(&self) -> String {
        format!("{} → {}", self.indices(), self.expression(&self.schedule))
    }
}

impl fmt::Display for Port {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} {}", self.direction.name(), self.name)?;
        writeln!(formatter, "  domain   {}", self.domain_text())?;
        writeln!(formatter, "  access   {}", self.access_text())?;
        write!(formatter, "  schedule {}", self.schedule_text())
    }
}

impl fmt::Display for UnifiedBuffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "buffer {}", self.name)?;
        for port in &self.ports {
            write!(formatter, "\n{port}")?;
        }
        Ok(())
    }
}
