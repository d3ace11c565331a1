//! `pushmem mutants`.

pub mod accelerators;
pub mod choice;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_files::{Diagnostic, Shard};
use pushmem_regression::{MutantList, MutantResult, RegressionList, Test, run};
use pushmem_simulation::Verilator;
use serde::Serialize;

use crate::progress::Bar;
use crate::{output, table};
use accelerators::AcceleratorList;
use choice::MutantFilter;

/// The commands that run Verilator, for `doctor`.
pub const WITH_VERILATOR: &str = "mutants";

/// The designs that have mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Designs {
    Tiles,
    Arrays,
    Accelerators,
}

#[derive(Args)]
pub struct Mutants {
    /// Run only mutants with this in their names.
    filter: Option<String>,
    /// Run only the K-th of N parts, which are dealt round robin.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Mutants at a time; as many as the machine has cores without.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Run only mutants of these designs; may be given several times.
    #[arg(long, value_name = "DESIGNS")]
    of: Vec<Designs>,
    /// List of mutants of tiles.
    #[arg(long, value_name = "FILE", default_value = "rtl-tests/mutants/mutants.yaml")]
    list: PathBuf,
    /// List of mutants of arrays.
    #[arg(long, value_name = "FILE", default_value = "rtl-tests/mutants/arrays.yaml")]
    arrays: PathBuf,
    /// List of mutants of accelerators, which their testbenches must catch.
    #[arg(long, value_name = "FILE", default_value = "rtl-tests/mutants/accelerators.yaml")]
    accelerators: PathBuf,
    /// Folder with the regression lists that must catch them.
    #[arg(long, value_name = "FOLDER", default_value = "rtl-tests")]
    lists: PathBuf,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// The results of the mutants.
#[derive(Serialize)]
struct Report<'a> {
    mutants: &'a [MutantResult],
}

impl Mutants {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let tests = RegressionList::read_folder(&self.lists)?.tests;
        let tests = tests.into_iter().filter(|test| !test.all_only).collect_vec();
        let choice = MutantFilter { filter: self.filter.as_deref().unwrap_or_default(), shard: self.shard };
        let is_wanted = |designs: Designs| self.of.is_empty() || self.of.contains(&designs);
        let lists = [(Designs::Tiles, &self.list), (Designs::Arrays, &self.arrays)];
        let lists = lists.into_iter().filter(|(designs, _)| is_wanted(*designs)).map(|(_, path)| {
            let mut list = MutantList::read(path)?;
            let mut places = 0..;
            list.mutants.retain(|mutant| places.next().is_some_and(|place| choice.takes(place, &mutant.name)));
            Ok(list)
        });
        let lists = lists.collect::<Result<Vec<_>, Diagnostic>>()?;
        let accelerators = is_wanted(Designs::Accelerators).then(|| AcceleratorList::read(&self.accelerators, &choice));
        let accelerators = accelerators.transpose()?;
        if lists.iter().all(|list| list.mutants.is_empty()) && accelerators.iter().all(AcceleratorList::is_empty) {
            let shard = if self.shard.is_some() { " and is in this shard" } else { "" };
            return Err(Diagnostic::new(format!("no mutant has `{}` in its name{shard}", choice.filter)));
        }
        let verilator = Verilator::find()?;
        let jobs = self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let start = Instant::now();
        let mut results = Vec::new();
        for list in &lists {
            results.extend(run_list(list, &tests, &verilator, jobs)?);
        }
        if let Some(accelerators) = &accelerators {
            results.extend(accelerators.run(&verilator, jobs)?);
        }
        let survived = results.iter().filter(|result| result.caught.is_none()).count();
        let report = Report { mutants: &results };
        output::result(self.json, &report, || text(&results, survived, start.elapsed()))?;
        Ok(if survived == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs the mutants of a list, once their tests passed without a fault.
fn run_list(
    list: &MutantList,
    tests: &[Test],
    verilator: &Verilator,
    jobs: usize,
) -> Result<Vec<MutantResult>, Diagnostic> {
    let tests = list.relevant(tests);
    let bar = Bar::new(tests.len());
    let results = run(&tests, verilator, jobs, &bar);
    bar.clear();
    if let Some(result) = results.iter().find(|result| result.failure.is_some()) {
        return Err(Diagnostic::new(format!("the test `{}` fails without a mutant", result.name))
            .with_help("mutants tell something about a regression that passes: see `pushmem regress`"));
    }
    let bar = Bar::new(list.mutants.len());
    let results = list.run(&tests, verilator, jobs, &bar);
    bar.clear();
    results
}

fn text(results: &[MutantResult], survived: usize, elapsed: Duration) -> String {
    let row = |MutantResult { name, caught, .. }: &MutantResult| {
        let (test, clock) = match caught {
            None => ("SURVIVED", String::new()),
            Some(catch) => (&*catch.test, catch.clock.map_or("stopped".to_owned(), |clock| clock.to_string())),
        };
        [name.clone(), test.to_owned(), clock]
    };
    let mut text = table::table(2, ["mutant", "caught by", "clock"], &results.iter().map(row).collect_vec());
    for MutantResult { name, fault, .. } in results.iter().filter(|result| result.caught.is_none()) {
        text.push_str(&format!("SURVIVED  {name}: {fault}\n"));
    }
    let caught = results.len() - survived;
    text.push_str(&format!("{caught} caught, {survived} survived in {:.1} s\n", elapsed.as_secs_f64()));
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pushmem_regression::{Catch, MutantResult};

    use crate::table::{COLUMNS, fit};

    /// Wide contents: long names and faults.
    #[test]
    fn the_table_fits() {
        let long = "the_schedule_generator_of_the_second_output_takes_the_stride_of_another_level";
        let catch = Catch { test: long.to_owned(), clock: Some(u64::MAX), failure: String::new() };
        let result = |caught| MutantResult { name: long.to_owned(), fault: "a fault ".repeat(30), caught };
        let text = fit(&super::text(&[result(Some(catch)), result(None)], 1, Duration::from_secs(1_000_000)));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.matches(long).count(), 4, "{text}");
        assert!(text.contains(&format!("SURVIVED  {long}: a fault")), "{text}");
    }
}
