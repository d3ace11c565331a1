//! Buffers in the notation of the papers.

use std::fmt;

use itertools::Itertools;

use crate::buffer::{Port, UnifiedBuffer};

impl Port {
    fn indices(&self) -> String {
        format!("({})", self.names().join(", "))
    }

    fn names(&self) -> Vec<&str> {
        self.domain.iter().map(|level| level.name.as_str()).collect()
    }

    /// The iteration domain: `{(x, y) | 0 ≤ x ≤ 63, 0 ≤ y ≤ 63}`.
    pub fn domain_text(&self) -> String {
        let bounds = self.domain.iter().map(|level| format!("0 ≤ {} ≤ {}", level.name, level.extent.saturating_sub(1)));
        format!("{{{} | {}}}", self.indices(), bounds.format(", "))
    }

    /// The access map: `(x, y) → (x, y)`.
    pub fn access_text(&self) -> String {
        let names = self.names();
        let element = self.access.iter().map(|function| function.text(&names)).join(", ");
        format!("{} → ({element})", self.indices())
    }

    /// The schedule: `(x, y) → 64y + x + 65`.
    pub fn schedule_text(&self) -> String {
        format!("{} → {}", self.indices(), self.schedule.text(&self.names()))
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
