//! Compiles Veryl of the house subset and looks at the SystemVerilog.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use pushmem_systemverilog::{KEYWORDS, VERYL_KEYWORDS, is_reserved};
use pushmem_testing::verilator;
use pushmem_veryl::{CompileError, Emitted, Reset, SourceFile, compile_anew};
use veryl_parser::generated::veryl_parser::TERMINAL_NAMES;

/// Compiles named texts; panics with the findings.
fn emit(sources: &[(&str, &str)]) -> Vec<Emitted> {
    try_emit(sources).unwrap_or_else(|error| panic!("{error}"))
}

fn try_emit(sources: &[(&str, &str)]) -> Result<Vec<Emitted>, CompileError> {
    compile_anew(
        sources.iter().map(|&(name, text)| SourceFile { name: name.to_owned(), text: text.to_owned() }).collect(),
        Reset::default(),
    )
}

/// Compiles one text and returns what was emitted.
fn emit_one(text: &str) -> String {
    emit(&[("sample", text)]).remove(0).text
}

/// The only finding of a text that does not compile.
fn finding(text: &str) -> String {
    let error = try_emit(&[("sample", text)]).expect_err("must be refused");
    assert_eq!(error.findings.len(), 1, "{error}");
    error.findings[0].clone()
}

/// Lints with Verilator.
fn lint(top: &str, emitted: &[Emitted]) {
    let Some(verilator) = verilator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(verilator);
    command.args(["--lint-only", "-Wall", "--assert", "--top-module", top]).current_dir(folder.path());
    for module in emitted {
        let file = format!("{}.sv", module.name);
        fs::write(folder.path().join(&file), &module.text).unwrap();
        command.arg(file);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const COUNTER: &str = include_str!("veryl/counter.veryl");
const COUNTER_TOP: &str = include_str!("veryl/counter_top.veryl");
/// Nothing but embedded SystemVerilog: a module and a `bind`.
const COUNTER_CHECKER: &str = include_str!("veryl/counter_checker.veryl");
const FORMS: &str = include_str!("veryl/forms.veryl");

/// The grammar of Veryl names its keywords: `IfResetTerm` is `if_reset`, and `BBoolTerm` is `bbool`. Veryl does not know all keywords
/// of SystemVerilog: it prints a module `endsequence`.
#[test]
fn words_that_veryl_refuses_are_reserved() {
    let terms = TERMINAL_NAMES.iter().filter_map(|name| name.strip_suffix("Term"));
    let spelled = |term: &str| {
        let snake: String = term.chars().map(|c| if c.is_uppercase() { format!("_{c}") } else { c.into() }).collect();
        [term, snake.trim_start_matches('_')].map(str::to_lowercase)
    };
    let lists = KEYWORDS.iter().chain(&VERYL_KEYWORDS).map(|word| (*word).to_owned());
    let words: BTreeSet<String> = terms.flat_map(spelled).chain(lists).collect();
    for word in words {
        let compiled = try_emit(&[("sample", &format!("module {word} {{}}\n"))]);
        assert!(compiled.is_ok() || is_reserved(&word), "{word}: {compiled:?}");
        assert!(compiled.is_err() || !VERYL_KEYWORDS.contains(&word.as_str()), "{word} is a name");
    }
}

#[test]
fn counter_with_instance_is_exactly_this() {
    // In the order in which nothing is known before it is used.
    let emitted = emit(&[("counter_top", COUNTER_TOP), ("counter", COUNTER), ("counter_checker", COUNTER_CHECKER)]);
    assert_eq!(emitted[0].name, "counter_top");
    assert_eq!(emitted[0].text, include_str!("veryl/counter_top.sv"));
    assert_eq!(emitted[1].name, "counter");
    assert_eq!(emitted[1].text, include_str!("veryl/counter.sv"));
    assert_eq!(emitted[2].text, include_str!("veryl/counter_checker.sv"));
    lint("counter_top", &emitted);
}

#[test]
fn forms_of_the_house_subset_are_exactly_this() {
    let emitted = emit(&[("forms", FORMS)]);
    assert_eq!(emitted[0].text, include_str!("veryl/forms.sv"));
    lint("forms", &emitted);
}

#[test]
fn same_bytes_every_time_and_in_parallel() {
    let sources = [("counter", COUNTER), ("counter_top", COUNTER_TOP), ("forms", FORMS)];
    let first = emit(&sources);
    assert_eq!(emit(&sources), first);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(move || emit(&sources))).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), first);
    }
    // Neither does another compilation, with other modules of the same name, leave a trace.
    emit(&[("counter", "module counter (x: input logic, y: output logic,) {\n    assign y = x;\n}\n")]);
    assert_eq!(emit(&sources), first);
}

#[test]
fn clock_and_reset_keep_any_name() {
    let text = emit_one(
        "module sample (\n    clock_in: input clock,\n    arst: input reset,\n    q: output logic,\n) {\n    \
         always_ff {\n        if_reset {\n            q = 0;\n        } else {\n            q = ~q;\n        }\n    }\n}\n",
    );
    assert!(text.contains("always_ff @(posedge clock_in, negedge arst) begin\n        if (!arst) begin"), "{text}");
}

#[test]
fn every_comment_survives_once() {
    for source in [COUNTER, COUNTER_TOP, FORMS] {
        let emitted = emit(&[("counter", COUNTER), ("counter_top", COUNTER_TOP), ("forms", FORMS)]);
        let all: String = emitted.into_iter().map(|module| module.text).collect();
        for line in source.lines() {
            let Some(at) = line.find("//").or_else(|| line.find("/*")) else {
                continue;
            };
            assert!(all.contains(&line[at..]), "lost: {}", &line[at..]);
        }
    }
    let text = emit_one(
        "// of the file\nmodule sample (\n    x: input  logic, // kept once\n    y: output logic,\n) {\n    assign y = x;\n}\n",
    );
    assert_eq!(text.matches("kept once").count(), 1, "{text}");
}

#[test]
fn nothing_ugly_is_left() {
    for module in emit(&[("counter", COUNTER), ("counter_top", COUNTER_TOP), ("forms", FORMS)]) {
        assert!(module.text.ends_with('\n') && !module.text.ends_with("\n\n"));
        assert!(!module.text.contains("\n\n\n"), "{}", module.text);
        assert!(!module.text.contains("pushmem"), "{}", module.text);
        assert!(!module.text.contains("sourceMappingURL"), "{}", module.text);
        for line in module.text.lines() {
            assert_eq!(line.trim_end(), line);
            assert!(!line.contains("var logic"), "{line}");
        }
    }
}

#[test]
fn a_warning_is_an_error() {
    let finding = finding("module sample (\n    y: output logic,\n) {\n    var x: logic;\n    assign y = x;\n}\n");
    assert!(finding.contains("unassign_variable"), "{finding}");
    assert!(finding.contains("sample.veryl:4:9"), "{finding}");
}

#[test]
fn unused_latch_and_missing_reset_are_errors() {
    let unused = finding(
        "module sample (\n    x: input  logic,\n    z: input logic,\n    y: output logic,\n) {\n    assign y = x;\n    let w: logic = z;\n}\n",
    );
    assert!(unused.contains("unused_variable"), "{unused}");
    let latch = finding(
        "module sample (\n    x: input logic,\n    y: output logic,\n) {\n    always_comb {\n        if x {\n            y = 1;\n        }\n    }\n}\n",
    );
    assert!(latch.contains("uncovered_branch"), "{latch}");
    let reset = finding(
        "module sample (\n    clk: input clock,\n    rst_n: input reset,\n    x: input logic,\n    y: output logic,\n    z: output logic,\n) {\n    \
         always_ff {\n        if_reset {\n            y = 0;\n        } else {\n            y = x;\n            z = x;\n        }\n    }\n}\n",
    );
    assert!(reset.contains("missing_reset_statement"), "{reset}");
}

#[test]
fn a_missing_port_is_an_error() {
    let error = try_emit(&[
        ("inner", "module inner (\n    x: input  logic,\n    y: output logic,\n) {\n    assign y = x;\n}\n"),
        ("outer", "module outer (\n    y: output logic,\n) {\n    inst u_inner: inner (\n        y,\n    );\n}\n"),
    ])
    .unwrap_err();
    assert!(
        error.findings.iter().any(|finding| finding.contains("missing_port") && finding.contains("outer.veryl:4:")),
        "{error}"
    );
}

#[test]
fn a_syntax_error_names_file_and_line_of_every_source() {
    let error = try_emit(&[
        ("first", "module first {\n    assign = 1;\n}\n"),
        ("fine", "module fine {}\n"),
        ("second", "module second {\n\n    var step: logic;\n}\n"),
    ])
    .unwrap_err();
    let [first, second] = &error.findings[..] else { panic!("{error}") };
    assert!(first.contains("first.veryl:2:12"), "{first}");
    assert!(second.contains("second.veryl:3:9"), "{second}");
    let text = error.to_string();
    assert!(text.contains("2 findings") && text.contains("'step' is a reserved keyword"), "{text}");
    assert!(!text.contains('\u{1b}'), "no terminal colours");
}

#[test]
fn an_unknown_module_is_an_error() {
    let finding = finding("module sample {\n    inst u: nowhere ();\n}\n");
    assert!(finding.contains("nowhere") && finding.contains("sample.veryl:2:"), "{finding}");
}

#[test]
fn no_sources_give_nothing() {
    assert_eq!(emit(&[]), []);
}

#[test]
fn sources_of_one_name_are_refused() {
    let error = try_emit(&[("same_name", "module a {}\n"), ("same_name", "module b {}\n")]).unwrap_err();
    assert_eq!(error.findings, ["two sources have the name \"same_name\""]);
}
