//! Results as JSON and JUnit.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::failure::Failure;
use crate::scenario::ScenarioCounts;

/// How a test ended.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// Name of the test.
    pub name: String,
    /// The list that it stands in.
    pub list: PathBuf,
    /// When it began.
    pub start: SystemTime,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// The numbers of its configurations and cycles.
    pub counts: ScenarioCounts,
    /// Time to generate and build models, which a cache shortens.
    pub build: Duration,
    /// Time to run.
    pub run: Duration,
}

impl TestResult {
    /// Of a test that begins now.
    pub(crate) fn begun(name: &str, list: &Path) -> Self {
        TestResult {
            name: name.to_owned(),
            list: list.to_owned(),
            start: SystemTime::now(),
            failure: None,
            counts: ScenarioCounts::default(),
            build: Duration::ZERO,
            run: Duration::ZERO,
        }
    }
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

/// The results as a JUnit report: of each test its list as `file`, when it began, and what it ran as properties.
pub fn to_junit(results: &[TestResult]) -> String {
    let mut suite = TestSuite::new("regress");
    if let Some(start) = results.iter().map(|result| result.start).min() {
        suite.set_timestamp(DateTime::<Utc>::from(start));
    }
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
        case.set_timestamp(DateTime::<Utc>::from(result.start));
        case.set_time(result.build + result.run);
        case.extra.insert("file".into(), result.list.display().to_string().into());
        for (name, count) in [("configurations", result.counts.configurations), ("cycles", result.counts.cycles)] {
            case.add_property(Property::new(name, count.to_string()));
        }
        suite.add_test_case(case);
    }
    let mut report = Report::new("pushmem");
    report.add_test_suite(suite);
    report.to_string().expect("a report is plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_says_when_where_and_how_much() {
        let result = TestResult {
            start: SystemTime::UNIX_EPOCH + Duration::from_secs(86_400),
            counts: ScenarioCounts { configurations: 12, cycles: 3456 },
            ..TestResult::begun("amber_legal", Path::new("rtl-tests/tiles.yaml"))
        };
        let text = to_junit(&[result]);
        for part in [
            r#"timestamp="1970-01-02T00:00:00.000+00:00""#,
            r#"file="rtl-tests/tiles.yaml""#,
            r#"<property name="configurations" value="12"/>"#,
            r#"<property name="cycles" value="3456"/>"#,
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert_eq!(text.matches("timestamp=").count(), 2, "of the suite and of the test");
    }
}
