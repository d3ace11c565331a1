//! Programs that end well, fail, are killed, print much and read nothing.

use std::process::Command;

use pushmem_process::{Conversation, Invocation};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn output_and_lines_are_those_of_the_program() {
    let mut lines = Vec::new();
    let mut command = shell("echo one; echo two >&2; printf three");
    let finished = Invocation::of(&mut command).lines(|line| lines.push(line.to_owned())).success().unwrap();
    assert_eq!((finished.text().as_str(), finished.errors().as_str()), ("one\nthree", "two\n"));
    assert_eq!(finished.log(), "one\nthree\ntwo\n");
    assert_eq!(lines, ["one", "three"]);
}

#[test]
fn failures_tell_the_status_and_the_last_lines() {
    let failed =
        Invocation::of(&mut shell("echo out; echo wrong >&2; exit 3")).named("The tool").success().unwrap_err();
    assert_eq!(failed.message(), "The tool failed (exit status: 3):\nout\nwrong");
    assert_eq!(failed.help(), None);
    let silent = Invocation::of(&mut shell("exit 1")).success().unwrap_err();
    assert_eq!(silent.message(), "`sh` failed (exit status: 1); it printed nothing");
}

#[test]
fn failures_tell_the_signal() {
    let killed = Invocation::of(&mut shell("echo before; kill -SEGV $$")).named("The tool").success().unwrap_err();
    assert!(killed.message().starts_with("The tool failed (signal: 11 (SIGSEGV)"), "{}", killed.message());
    assert!(killed.message().ends_with("before"), "{}", killed.message());
}

/// The log of a failure is kept where the help says.
#[test]
fn long_logs_are_kept() {
    let failed = Invocation::of(&mut shell("seq 100; exit 1")).success().unwrap_err();
    assert!(failed.message().ends_with("\n98\n99\n100"), "{}", failed.message());
    assert!(!failed.message().contains("\n90\n"), "{}", failed.message());
    let help = failed.help().expect("there is more");
    let file = help.strip_prefix("all that it printed is in ").unwrap();
    let log = std::fs::read_to_string(file).unwrap();
    assert_eq!(log.lines().count(), 100);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error = Invocation::of(&mut Command::new("/no/such/program")).finish().unwrap_err();
    assert!(error.message().starts_with("`/no/such/program` cannot be run: "), "{}", error.message());
}

/// More than pipes hold goes through in all directions; a program may also leave its input unread.
#[test]
fn much_goes_through_at_once() {
    let input = vec![b'x'; 1 << 20];
    let finished = Invocation::of(&mut shell("tee /dev/stderr")).fed(&input).success().unwrap();
    assert_eq!((finished.stdout.len(), finished.stderr.len()), (1 << 20, 1 << 20));
    assert!(Invocation::of(&mut shell("exit 0")).fed(&input).success().is_ok());
}

/// Without input, a program that reads finds the end at once.
#[test]
fn nothing_is_read_from_the_terminal() {
    assert_eq!(Invocation::of(&mut shell("cat")).success().unwrap().text(), "");
}

#[test]
fn conversations_go_on_from_question_to_question() {
    let mut talk = Conversation::start(&mut Command::new("cat")).unwrap();
    for question in ["one", "other"] {
        let mut answer = vec![0; question.len()];
        talk.ask(|to| to.write_all(question.as_bytes()), &mut answer).unwrap();
        assert_eq!(answer, question.as_bytes());
    }
    assert!(talk.end().unwrap().success().is_ok());
}

#[test]
fn conversations_that_break_off_tell_why() {
    let mut talk = Conversation::start(&mut shell("read -r line; echo no answer; echo tired >&2; exit 2")).unwrap();
    let mut answer = vec![0; 1000];
    assert!(talk.ask(|to| to.write_all(b"question\n"), &mut answer).is_err());
    let end = talk.end().unwrap();
    assert_eq!((end.status.code(), end.errors().as_str()), (Some(2), "tired\n"));
}
