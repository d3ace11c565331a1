//! `pushmem regress`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_regression::{RegressionList, Test, TestResult, for_programs, run, to_junit};
use pushmem_simulation::Verilator;

use crate::progress::Bar;
use crate::{output, table};

/// The commands that run Verilator, for `doctor`.
pub const WITH_VERILATOR: &str = "regress";

#[derive(Args)]
pub struct Regress {
    /// Run only tests with this in their names.
    filter: Option<String>,
    /// Run the long tests, too.
    #[arg(long)]
    all: bool,
    /// Tests at a time; as many as the machine has cores without.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Folder with the regression lists.
    #[arg(long, value_name = "FOLDER", default_value = "rtl-tests")]
    lists: PathBuf,
    /// Write a JUnit report.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

impl Regress {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let list = RegressionList::read_folder(&self.lists)?;
        let chosen = |test: &Test| {
            (self.all || !test.all_only)
                && self.filter.as_ref().is_none_or(|filter| test.name.contains(filter.as_str()))
        };
        let tests = list.tests.into_iter().filter(chosen).collect_vec();
        if tests.is_empty() {
            let what = self.filter.as_ref().map_or_else(String::new, |filter| format!(" with `{filter}` in its name"));
            return Err(
                Diagnostic::new(format!("there is no test to run{what}")).with_help("long tests run only with --all")
            );
        }
        let verilator = Verilator::find()?;
        let jobs = self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let start = Instant::now();
        let bar = Bar::new(tests.len());
        let results = run(&tests, &verilator, jobs, &bar);
        bar.clear();
        let elapsed = start.elapsed();
        if let Some(path) = &self.junit {
            write_file(path, to_junit(&results).as_bytes())?;
        }
        let failed = results.iter().filter(|result| result.failure.is_some()).count();
        output::result(self.json, &for_programs(&results), || text(&results, failed, elapsed))?;
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn text(results: &[TestResult], failed: usize, elapsed: Duration) -> String {
    let row = |result: &TestResult| {
        [
            result.name.clone(),
            if result.failure.is_none() { "ok" } else { "FAILED" }.to_owned(),
            result.counts.configurations.to_string(),
            result.counts.cycles.to_string(),
            format!("{:.2}", result.build.as_secs_f64()),
            format!("{:.2}", result.run.as_secs_f64()),
        ]
    };
    let heading = ["test", "result", "configs", "cycles", "build s", "run s"];
    let mut text = table::table(1, heading, &results.iter().map(row).collect_vec());
    let configurations: u64 = results.iter().map(|result| result.counts.configurations).sum();
    let cycles: u64 = results.iter().map(|result| result.counts.cycles).sum();
    let running: f64 = results.iter().map(|result| result.run.as_secs_f64()).sum();
    text.push_str(&format!(
        "{configurations} configurations, {cycles} cycles compared in {:.1} s; while running, {:.0} configurations and \
         {:.0} cycles a second\n",
        elapsed.as_secs_f64(),
        configurations as f64 / running.max(1e-9),
        cycles as f64 / running.max(1e-9),
    ));
    text.push_str(&format!("{} passed, {failed} failed\n", results.len() - failed));
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pushmem_regression::{Failure, FailureKind, ScenarioCounts, TestResult};

    use crate::table::{COLUMNS, fit};

    /// Wide contents: a long name of a test that ran for days.
    #[test]
    fn the_table_fits() {
        let result = |name: &str, failure: Option<&str>| TestResult {
            name: name.to_owned(),
            list: "rtl-tests/tiles.yaml".into(),
            start: std::time::SystemTime::UNIX_EPOCH,
            failure: failure.map(|message| Failure { kind: FailureKind::Wrong, message: message.to_owned() }),
            counts: ScenarioCounts { configurations: 1_000_000_000, cycles: 1_000_000_000_000_000 },
            build: Duration::from_secs(1_000_000),
            run: Duration::from_secs(1_000_000),
        };
        let long = "random_configurations_of_the_wide_fetch_tile_with_all_options_and_many_rows";
        let results = [result("amber", None), result(long, Some("differs"))];
        let text = fit(&super::text(&results, 1, Duration::from_secs(1_000_000)));
        let mut table = text.lines().filter(|line| !line.contains(" compared in "));
        assert!(table.all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains(long) && text.contains("FAILED") && text.ends_with("1 passed, 1 failed\n"), "{text}");
    }
}
