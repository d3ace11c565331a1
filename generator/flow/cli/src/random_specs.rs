//! `pushmem random-specs`, for scripts: it is in no help.

use std::path::PathBuf;

use clap::Args;
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_regression::random_spec_of_any_size;
use pushmem_tile::TileSpec;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[derive(Args)]
pub struct RandomSpecs {
    /// Seed of the first specification; the next have the next seeds.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of specifications.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Folder to write, a file for each, replaced if a former run wrote it.
    #[arg(short = 'o', long, value_name = "FOLDER")]
    output: PathBuf,
}

impl RandomSpecs {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let mut folder = OutputFolder::new();
        for seed in self.seed..self.seed + self.count {
            let name = format!("random_{seed}");
            let spec = TileSpec { name: name.clone(), ..random_spec_of_any_size(&mut ChaCha8Rng::seed_from_u64(seed)) };
            folder.add(format!("{name}.yaml"), spec.to_yaml());
        }
        folder.write(&self.output)
    }
}
