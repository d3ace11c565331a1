//! What chip flows want beside the RTL: arguments of `generate` and `build`.

use std::path::PathBuf;

use clap::Args;
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_packaging::{Design, Timing, package};
use pushmem_technology::Technology;
use pushmem_tile::TileSpec;

use crate::technology;

#[derive(Args)]
pub struct Package {
    /// SRAM macro for the memory of a tile: the name of the tile, and a binding or the name of one in `constraints/sram`.
    #[arg(long, value_name = "NAME=BINDING", value_parser = name_binding)]
    sram: Vec<(String, PathBuf)>,
    /// Also write what chip flows want: packages for FuseSoC and Bender, timing constraints, IP-XACT and Python views of the
    /// registers, the list of memory macros, configurations of OpenROAD-flow-scripts and LibreLane.
    #[arg(long)]
    package: bool,
    /// Timing constraints for the package. Without, those of `constraints/timing/default.yaml`.
    #[arg(long, value_name = "FILE", requires = "package")]
    timing: Option<PathBuf>,
}

/// Reads `NAME=BINDING`.
fn name_binding(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("expected the name of a tile, `=` and a binding: amber=sram.yaml")?;
    Ok((name.to_owned(), file.into()))
}

impl Package {
    /// The memories of these tiles, where the model of the SRAM wrapper is not to stay.
    ///
    /// # Errors
    /// As [`technology::read`].
    pub fn technology(&self, specs: &[&TileSpec]) -> Result<Option<Technology>, Diagnostic> {
        let wanted = self.package || !self.sram.is_empty();
        wanted.then(|| technology::read(specs, &self.sram)).transpose()
    }

    /// Adds the package of a design, if it is wanted. `design` makes it of timing constraints.
    ///
    /// # Errors
    /// When the timing constraints cannot be read.
    pub fn add<'a>(
        &self,
        folder: &mut OutputFolder,
        technology: Option<&'a Technology>,
        design: impl FnOnce(&'a Technology) -> Design<'a>,
    ) -> Result<(), Diagnostic> {
        let Some(technology) = technology else { return Ok(()) };
        if self.package {
            let timing = self.timing.as_deref().map_or_else(|| Ok(Timing::default()), Timing::read)?;
            for (path, text) in package(&design(technology), &timing) {
                folder.add(path, text);
            }
        } else {
            for (file, text) in technology.stubs() {
                folder.add(format!("stubs/{file}"), text);
            }
        }
        Ok(())
    }
}
