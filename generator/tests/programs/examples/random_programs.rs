//! Writes random programs: in the folder named first, `random_SEED.yaml`, `parameters_SEED.yaml`,
//! `recurrences_SEED.yaml`, `network_SEED.yaml`, `rows_SEED.yaml`, `units_SEED.yaml`, `wide_SEED.yaml`, `numbers_SEED.yaml`, `accesses_SEED.yaml` and
//! `wide_network_SEED.yaml` for each seed that follows.

use std::path::Path;
use std::process::ExitCode;

use pushmem_programs::{
    random_network, random_network_of_wide_elements, random_program, random_program_of_numbers,
    random_program_of_random_accesses, random_program_of_wide_elements, random_program_with_parameters,
    random_program_with_recurrences, random_program_with_units, random_rows,
};

fn write(folder: &Path, seeds: &[String]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    seeds.iter().try_for_each(|seed| {
        let seed: u64 = seed.parse().map_err(|error| format!("`{seed}` is no seed: {error}"))?;
        let texts = [
            ("random", random_program(seed)),
            ("parameters", random_program_with_parameters(seed)),
            ("recurrences", random_program_with_recurrences(seed)),
            ("network", random_network(seed)),
            ("rows", random_rows(seed)),
            ("units", random_program_with_units(seed)),
            ("numbers", random_program_of_numbers(seed)),
            ("accesses", random_program_of_random_accesses(seed)),
            ("wide", random_program_of_wide_elements(seed)),
            ("wide_network", random_network_of_wide_elements(seed)),
        ];
        texts.into_iter().try_for_each(|(kind, text)| {
            let path = folder.join(format!("{kind}_{seed}.yaml"));
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
        })
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((folder, seeds)) = arguments.split_first() else {
        eprintln!("usage: random_programs FOLDER SEED...");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), seeds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
