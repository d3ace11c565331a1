//! The RTL of an array beside its model.

use pushmem_bitstream::Configuration;
use pushmem_emulator::{Emulator, RunStreams};
use pushmem_files::Diagnostic;
use pushmem_lockstep::{BufferedLockstep, Lockstep, Rtl, build, build_buffered};
use pushmem_mapper::{ArrayTarget, Loading};
use pushmem_simulation::Verilator;

use crate::application::arrays;
use crate::progress::Spinner;

/// The RTL that runs: tiles with the bitstream as constants, unless the array as it is was asked for.
pub fn choice(is_configured: bool) -> Rtl {
    if is_configured { Rtl::Configured } else { Rtl::Frozen }
}

/// Builds the RTL of the array of a model, or finds it in the cache, and loads the bitstream of a configuration.
///
/// # Errors
/// When Verilator is missing or refuses, or the array refuses the bitstream.
pub fn start(
    emulator: &Emulator,
    configuration: &Configuration,
    rtl: Rtl,
    spinner: &Spinner,
) -> Result<Lockstep, Diagnostic> {
    let spec = emulator.spec();
    spinner.say("generating RTL");
    let files = arrays::rtl_files(spec)?;
    let verilator = Verilator::find()?.telling(spinner.sayer());
    let executable = build(&verilator, spec, &files, rtl, configuration)?;
    let bitstream = configuration.of_array().encode(spec, emulator.graph())?;
    spinner.say("loading the bitstream into the RTL");
    Lockstep::start(&executable, spec, rtl, &bitstream, &RunStreams::of(emulator, configuration))
}

/// Builds the RTL of an array with its global buffer, or finds it in the cache, and loads the bitstream of a configuration through the port. If
/// banks are to load it, they have been cleared and wait for it.
///
/// # Errors
/// As [`start`].
pub fn start_buffered(
    target: &ArrayTarget,
    configuration: &Configuration,
    loading: Loading,
    spinner: &Spinner,
) -> Result<BufferedLockstep, Diagnostic> {
    let ArrayTarget { spec, graph, .. } = target;
    spinner.say("generating RTL");
    let files = arrays::rtl_files(spec)?;
    let verilator = Verilator::find()?.telling(spinner.sayer());
    let executable = build_buffered(&verilator, spec, &files)?;
    let bitstream = match loading {
        Loading::Port => configuration.encode(spec, graph)?,
        Loading::Banks => Configuration::default().encode(spec, graph)?,
    };
    spinner.say("loading the bitstream into the RTL");
    BufferedLockstep::start(&executable, spec, &bitstream)
}

/// The result in words.
pub fn in_words(rtl: Rtl) -> &'static str {
    match rtl {
        Rtl::Frozen => "with the bitstream as constants, shows what the model shows in every cycle",
        Rtl::Configured => "with the bitstream loaded, shows what the model shows in every cycle",
    }
}

/// The result of an array with its global buffer in words.
pub const BUFFERED: &str = "with its global buffer, shows what the model shows in every cycle";
