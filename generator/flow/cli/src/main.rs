//! The command-line program.

mod application;
mod build;
mod check;
mod compare;
mod completions;
mod doctor;
mod encode;
mod explain;
mod explore;
mod generate;
mod import;
mod join;
mod kinds;
mod man;
mod map;
mod mutants;
mod origin;
mod output;
mod own_command;
mod package;
mod progress;
mod purposes;
mod random_specs;
mod regress;
mod rtl_folder;
mod run;
mod shipped;
mod simulate;
mod synth;
mod table;
mod technology;
mod waves;

use std::panic::{UnwindSafe, catch_unwind};
use std::process::ExitCode;

// Not called: for their features alone, as the manifest says.
use {getrandom as _, smallvec as _, zerocopy as _};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use pushmem_files::{Code, Diagnostic, nearest};

use crate::output::{Color, Manner, MessageFormat};
use crate::table::COLUMNS;

/// Push memories and accelerators made of them: SystemVerilog and registers from a specification, and from a loop nest the
/// schedule and the configuration that make that RTL run it.
#[derive(Parser)]
#[command(name = "pushmem", version, propagate_version = true, after_help = EXAMPLES, max_term_width = COLUMNS)]
struct Arguments {
    /// Print no report and no progress, only what is wrong, and what an option such as --json asks for.
    #[arg(long, short, global = true, display_order = AFTER_OTHERS)]
    quiet: bool,
    /// Print what is being done, and the code of an error.
    #[arg(long, short, global = true, display_order = AFTER_OTHERS + 1, conflicts_with = "quiet")]
    verbose: bool,
    /// Colours in messages: on a terminal, always or never.
    #[arg(long, global = true, display_order = AFTER_OTHERS + 2, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Messages on standard error for people, or for programs: a JSON object a line.
    #[arg(long, global = true, display_order = AFTER_OTHERS + 3, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormat,
    #[command(subcommand)]
    command: Command,
}

/// Where the first of the options is listed that all commands have: after their own, before --help. The others follow as they
/// are declared; in one place, clap sorts them by their letters.
const AFTER_OTHERS: usize = 900;

const EXAMPLES: &str = "Examples:
  pushmem build apps/gaussian.yaml -o out/gaussian
  pushmem run apps/gaussian.yaml --input photo.png -o blurred.png
  pushmem import halide blur.hlpipe -o apps/blur.yaml
  pushmem import onnx digits.onnx -o out/digits
  pushmem map apps/buffers/brighten_blur.yaml -o out/brighten_blur
  pushmem generate constraints/tiles/amber.yaml -o out/amber
  pushmem encode constraints/tiles/amber.yaml rtl-tests/configurations/gaussian.yaml -o regs.hex
  pushmem simulate constraints/tiles/amber.yaml rtl-tests/configurations/gaussian.yaml --rtl
  pushmem regress amber --jobs 2
  pushmem generate constraints/tiles/amber.yaml --sram amber=ihp_sg13g2_512x64 -o out/amber
  pushmem synth amber --library gscl45nm --optimize speed
  pushmem explore apps/harris.yaml --over space.yaml -o out/study

Exit codes: 0 all is well; 1 something is wrong with the input or a test failed; 2 wrong usage;
3 a fault of pushmem itself.";

#[derive(Subcommand)]
enum Command {
    /// Compile a program: schedule, memories, kernels and registers, proven; write the accelerator.
    Build(Box<build::Build>),
    /// Run images through a program: build it, and write its outputs.
    Run(run::Run),
    /// Run images through an accelerator that was built: interpreter, model and RTL, compared word by word.
    Compare(compare::Compare),
    /// Turn a program of another language into a loop nest.
    Import(import::Import),
    /// Map a unified buffer, written by hand, to memory tiles: their configurations, proven.
    Map(map::Map),
    /// Write the RTL and the register map of a tile, a processing element or an array.
    Generate(generate::Generate),
    /// Join the RTL of several folders for one chip: each module once.
    Join(join::Join),
    /// Turn the configuration of a tile into register writes, that of an array into a bitstream.
    Encode(encode::Encode),
    /// Turn register writes or a bitstream back into a configuration.
    Decode(encode::Decode),
    /// Run streams of words through a configured tile, in the model or in the RTL as well.
    Simulate(simulate::Simulate),
    /// Run the regression: RTL against model, every output, every cycle.
    Regress(regress::Regress),
    /// Plant faults in the RTL, one at a time: the regression must catch each.
    Mutants(mutants::Mutants),
    /// Synthesize a tile, an array or an accelerator: area by block, longest paths and power in a cell library.
    Synth(synth::Synth),
    /// Explore a design space: build its points, proven, and show which are best.
    Explore(Box<explore::Explore>),
    /// Check input files: programs, buffers, specifications, configurations, bindings of macros, timing
    /// constraints, regression lists, streams.
    Check(check::Check),
    /// Tell which external tools are there, and what works without the others.
    Doctor(doctor::Doctor),
    /// Explain an error by its code.
    Explain(explain::Explain),
    /// Print what completes commands and options in a shell.
    Completions(completions::Completions),
    /// Write the manual pages: one of pushmem, and one of each command.
    Man(man::Man),
    /// Write random tile specifications, for scripts.
    #[command(hide = true)]
    RandomSpecs(random_specs::RandomSpecs),
}

impl Command {
    /// The class of its problems that have no other.
    fn class(&self) -> Code {
        match self {
            Command::Regress(_) | Command::Mutants(_) => Code::List,
            Command::Synth(_) => Code::Synthesis,
            Command::Simulate(_) => Code::Stream,
            _ => Code::Request,
        }
    }
}

/// Runs a command. Each problem has a class.
fn run(command: &Command) -> Result<ExitCode, Diagnostic> {
    dispatch(command).map_err(|problem| problem.or_code(command.class()))
}

fn dispatch(command: &Command) -> Result<ExitCode, Diagnostic> {
    let done = match command {
        // They fail, too, where all went well and a test or a file is wrong.
        Command::Check(command) => return command.run(),
        Command::Mutants(command) => return command.run(),
        Command::Regress(command) => return command.run(),
        Command::Build(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Map(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Join(command) => command.run(),
        Command::Encode(command) => command.run(),
        Command::Decode(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::Synth(command) => command.run(),
        Command::Explore(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Completions(command) => command.run(&mut Arguments::command()),
        Command::Man(command) => command.run(Arguments::command()),
        Command::RandomSpecs(command) => command.run(),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// A command or an option that is a word for a purpose is answered with what exists for it, in place of the nearest name.
fn purposeful(mut error: Error) -> Error {
    let unknown =
        [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(unknown)) => Some(unknown.clone()),
            _ => None,
        });
    let is_unknown = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
    if let Some(purpose) = unknown.filter(|_| is_unknown).and_then(|unknown| purposes::of(&unknown)) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![purpose.into()]));
    }
    error
}

/// An option that is misspelt in a way that clap does not think of, as one with letters exchanged, is suggested by the measure
/// that all names have here.
fn suggested(mut error: Error) -> Error {
    let (ErrorKind::UnknownArgument, None, Some(ContextValue::String(unknown))) =
        (error.kind(), error.get(ContextKind::SuggestedArg), error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    let mut program = Arguments::command();
    program.build();
    let words = std::env::args().skip(1);
    let command = words.fold(&program, |command, word| command.find_subcommand(word).unwrap_or(command));
    let options = command.get_arguments().filter_map(|argument| argument.get_long());
    if let Some(near) = unknown.strip_prefix("--").and_then(|unknown| nearest(unknown, options)) {
        let near = ContextValue::String(format!("--{near}"));
        error.insert(ContextKind::SuggestedArg, near);
        // That it could be passed as a value is no help then.
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Ends the program that was called wrongly: with a message for people, or for programs if that was asked for.
fn refuse_usage(error: Error) -> ! {
    let words: Vec<String> = std::env::args().collect();
    let asked = words.iter().any(|word| word == "--message-format=json")
        || words.windows(2).any(|pair| pair[0] == "--message-format" && pair[1] == "json");
    if asked && error.use_stderr() {
        output::prepare(Manner { format: MessageFormat::Json, ..Manner::default() });
        let text = error.to_string();
        let (message, help) = text.split_once("\n").unwrap_or((&text, ""));
        let message = message.strip_prefix("error: ").unwrap_or(message);
        output::report(Diagnostic::new(message).or_code(Code::Usage).with_help(help.trim()));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| refuse_usage(purposeful(suggested(error))));
    output::prepare(Manner {
        quiet: arguments.quiet,
        verbose: arguments.verbose,
        color: arguments.color,
        format: arguments.message_format,
    });
    exit_code(|| run(&arguments.command))
}

/// The exit code of a panic and of a proof that failed: a fault of ours, which is neither a wrong input nor a test that failed.
const FAULT: u8 = 3;

/// Reports how a command ended.
fn exit_code(run: impl FnOnce() -> Result<ExitCode, Diagnostic> + UnwindSafe) -> ExitCode {
    match catch_unwind(run) {
        Ok(Ok(code)) => code,
        Ok(Err(diagnostic)) => {
            let code = if diagnostic.is_fault() { ExitCode::from(FAULT) } else { ExitCode::FAILURE };
            output::report(diagnostic);
            code
        }
        Err(_) => {
            output::fault();
            ExitCode::from(FAULT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_an_exit_code_of_its_own() {
        assert_eq!(exit_code(|| panic!("on purpose")), ExitCode::from(3));
        assert_eq!(exit_code(|| Err(Diagnostic::new("a failed proof").as_fault("program"))), ExitCode::from(3));
        assert_eq!(exit_code(|| Err(Diagnostic::new("a wrong input"))), ExitCode::from(1));
        assert_eq!(exit_code(|| Ok(ExitCode::SUCCESS)), ExitCode::from(0));
    }
}
