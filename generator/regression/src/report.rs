//! Results as JSON and JUnit.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::failure::Failure;
use crate::scenario::ScenarioCounts;

/// How a test ended.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// Name of the test.
    pub name: String,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// What it ran.
    pub counts: ScenarioCounts,
    /// Time to generate and build models, which a cache shortens.
    pub build: Duration,
    /// Time to run.
    pub run: Duration,
}

#[derive(Serialize)]
struct JsonResult<'a> {
    name: &'a str,
    passed: bool,
    failure: Option<&'a str>,
    configurations: u64,
    cycles: u64,
    build_seconds: f64,
    run_seconds: f64,
}

/// The results for programs.
#[derive(Serialize)]
pub struct RegressionReport<'a> {
    tests: Vec<JsonResult<'a>>,
}

/// The results for programs.
pub fn for_programs(results: &[TestResult]) -> RegressionReport<'_> {
    let tests = results
        .iter()
        .map(|result| JsonResult {
            name: &result.name,
            passed: result.failure.is_none(),
            failure: result.failure.as_ref().map(|failure| failure.message.as_str()),
            configurations: result.counts.configurations,
            cycles: result.counts.cycles,
            build_seconds: result.build.as_secs_f64(),
            run_seconds: result.run.as_secs_f64(),
        })
        .collect();
    RegressionReport { tests }
}

/// The results as a JUnit report.
pub fn to_junit(results: &[TestResult]) -> String {
    let mut suite = TestSuite::new("regress");
    for result in results {
        let status = match &result.failure {
            None => TestCaseStatus::success(),
            Some(failure) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(failure.message.clone());
                status
            }
        };
        let mut case = TestCase::new(result.name.clone(), status);
        case.set_classname("pushmem.regress");
        case.set_time(result.build + result.run);
        suite.add_test_case(case);
    }
    let mut report = Report::new("pushmem");
    report.add_test_suite(suite);
    report.to_string().expect("a report is plain data")
}
