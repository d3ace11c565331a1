//! Finding Verilator and building models with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use askama::Template;
use itertools::Itertools;
use pushmem_bist::Shape;
use pushmem_configuration::Configuration;
use pushmem_files::Diagnostic;
use pushmem_tile::{Kind, TileSpec};
use pushmem_waves::tile_view;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tempfile::TempDir;

use crate::rtl::rtl_files;

/// Names the Verilator to use, instead of the one on the search path.
const VERILATOR_VARIABLE: &str = "VERILATOR";

/// Compiler flags: -O1 builds nearly as fast as -O0 and simulates six to nine times faster.
const COMPILER_FLAGS: [&str; 4] = ["-std=c++17", "-O1", "-fno-plt", "-pipe"];

/// Verilator's flags: assertions, and arbitrary bits in memories that nobody has written.
const VERILATOR_FLAGS: [&str; 11] = [
    "--cc",
    "--assert",
    "-Wall",
    "-Wno-fatal",
    "--x-assign",
    "fast",
    "--x-initial",
    "unique",
    "--Mdir",
    "verilated",
    "-O3",
];

/// Flags for models that write waves. Parameters are no signals.
const WAVE_FLAGS: [&str; 2] = ["--trace-fst", "--no-trace-params"];

/// Bytes of Verilated sources that are compiled together: less would read the headers too often, more take too much memory.
const UNIT_BYTES: u64 = 4 << 20;

/// The file that tells Verilator about modules.
const CONFIGURATION: &str = "modules.vlt";

/// The file of the SRAM wrapper, and what takes its place to test the self-test.
const SRAM_WRAPPER: &str = "pushmem_sram.sv";
const FAULTY_SRAM: &str = include_str!("../../../templates/testbench/faulty_sram.sv");

const INSTALL_HELP: &str = "install it by `scripts/setup`, or by `apt-get install verilator g++`, or name one in the \
                            variable VERILATOR; everything that runs no RTL works without it";

#[derive(Template)]
#[template(path = "harness.cpp", escape = "none")]
struct Harness<'a> {
    spec: &'a TileSpec,
    input_stem: &'static str,
    wave: bool,
}

#[derive(Template)]
#[template(path = "self_test.cpp", escape = "none")]
struct SelfTestHarness<'a> {
    spec: &'a TileSpec,
    top: &'a str,
    shape: Shape,
}

/// A Verilator installation.
#[derive(Clone, Debug)]
pub struct Verilator {
    program: PathBuf,
    compiler: PathBuf,
    root: PathBuf,
    version: String,
    compiler_version: String,
}

/// A module that is built once for all its instances.
#[derive(Clone, Copy, Debug)]
pub struct LibrarySources<'a> {
    /// Name of the module, which has no parameters.
    pub module: &'a str,
    /// Names of the SystemVerilog files that make it.
    pub files: &'a [String],
    /// Those of them that the library stands for: others may use the rest, too.
    pub own_files: &'a [String],
}

/// A module that was built: its object, and a module of the same name and ports that calls it.
struct Library {
    object: PathBuf,
    wrapper: (String, String),
}

/// What a model is built from.
#[derive(Clone, Debug)]
pub struct ModelSources<'a> {
    /// The module on top.
    pub top: &'a str,
    /// What Verilator calls the class of the top module.
    pub class: &'a str,
    /// SystemVerilog files: name and text of each.
    pub rtl: &'a [(String, String)],
    /// Modules among them that there may be many instances of. A model that writes waves shows their insides, so it is built
    /// from their files instead.
    pub libraries: Vec<LibrarySources<'a>>,
    /// The C++ program that runs the class: `harness.cpp`, and the files that it includes.
    pub harness: &'a [(String, String)],
    /// Whether the harness writes a wave file.
    pub wave: bool,
}

impl Verilator {
    /// Finds Verilator and a C++ compiler.
    ///
    /// # Errors
    /// A message that says how to install what is missing.
    pub fn find() -> Result<Self, Diagnostic> {
        let named = std::env::var_os(VERILATOR_VARIABLE).filter(|name| !name.is_empty());
        let name = named.unwrap_or_else(|| "verilator".into());
        let program = which::which(&name).map_err(|error| {
            Diagnostic::new(format!("Verilator is needed here, but `{}`: {error}", name.display()))
                .with_help(INSTALL_HELP)
        })?;
        let compiler = ["g++", "clang++"].iter().find_map(|name| which::which(name).ok()).ok_or_else(|| {
            Diagnostic::new("Verilator needs a C++ compiler, but there is neither g++ nor clang++")
                .with_help(INSTALL_HELP)
        })?;
        let ask = |program: &Path, arguments: &[&str]| -> Result<String, Diagnostic> {
            let output = run(Command::new(program).args(arguments))?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let version = ask(&program, &["--version"])?;
        let root = PathBuf::from(ask(&program, &["--getenv", "VERILATOR_ROOT"])?);
        let compiler_version = ask(&compiler, &["-dumpversion"])?;
        Ok(Verilator { program, compiler, root, version, compiler_version })
    }

    /// What it says its version is.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where it is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Builds the model of a tile, or finds it in the cache; `wave` for one that writes a wave file. Returns the
    /// executable.
    ///
    /// # Errors
    /// What Verilator or the compiler says.
    pub fn build(&self, spec: &TileSpec, wave: bool) -> Result<PathBuf, Diagnostic> {
        let mut rtl = rtl_files(spec)?;
        if wave {
            // What is shown does not depend on the configuration: only layouts do.
            let view = tile_view(spec, &pushmem_rtl::tile_module(spec), &Configuration::default());
            rtl.push(("waves.sv".to_owned(), view.systemverilog()));
        }
        self.build_files(spec, &rtl, wave)
    }

    /// Builds a model from SystemVerilog files that have the ports of the tile, as [`Verilator::build`].
    ///
    /// # Errors
    /// As [`Verilator::build`].
    pub fn build_files(&self, spec: &TileSpec, rtl: &[(String, String)], wave: bool) -> Result<PathBuf, Diagnostic> {
        let input_stem = if spec.kind == Kind::Rom { "address_in" } else { "data_in" };
        let text = Harness { spec, input_stem, wave }.render().expect("templates write to memory");
        let harness = [("harness.cpp".to_owned(), text)];
        let top = pushmem_rtl::tile_module(spec);
        self.build_model(ModelSources {
            top: &top,
            class: "Vtile",
            rtl,
            libraries: Vec::new(),
            harness: &harness,
            wave,
        })
    }

    /// Builds a model of a tile with a self-test and an SRAM that can have faults, as [`Verilator::build`], for
    /// [`crate::self_test`].
    ///
    /// # Errors
    /// As [`Verilator::build`]; also when the tile has no self-test.
    pub fn build_self_test(&self, spec: &TileSpec, rtl: &[(String, String)]) -> Result<PathBuf, Diagnostic> {
        let Some(shape) = Shape::of(spec) else {
            let message = format!("`{}` has no self-test", spec.name);
            return Err(Diagnostic::new(message).with_help("give its specification `bist: true`"));
        };
        let top = pushmem_rtl::tile_module(spec);
        let text = SelfTestHarness { spec, top: &top, shape }.render().expect("templates write to memory");
        let harness = [("harness.cpp".to_owned(), text)];
        let faulty = |(name, text): &(String, String)| {
            let text = if name == SRAM_WRAPPER { FAULTY_SRAM } else { text };
            (name.clone(), text.to_owned())
        };
        let rtl = rtl.iter().map(faulty).collect_vec();
        self.build_model(ModelSources {
            top: &top,
            class: "Vtile",
            rtl: &rtl,
            libraries: Vec::new(),
            harness: &harness,
            wave: false,
        })
    }

    /// Builds a model, or finds it in the cache. Returns the executable.
    ///
    /// # Errors
    /// As [`Verilator::build`].
    pub fn build_model(&self, sources: ModelSources) -> Result<PathBuf, Diagnostic> {
        let ModelSources { top, class, rtl, libraries, harness, wave } = sources;
        let texts = rtl.iter().chain(harness).flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        let modules = libraries.iter().map(|library| library.module);
        let flags = if wave { &WAVE_FLAGS[..] } else { &[] };
        let key = self.key([top, class].into_iter().chain(flags.iter().copied()).chain(modules).chain(texts));
        let models = pushmem_cache::folder().join("models");
        let executable = models.join(&key).join("model");
        if executable.is_file() {
            return Ok(executable);
        }
        let runtime = self.runtime(wave)?;
        create_folder(&models)?;
        let work = tempfile::Builder::new().prefix(".building-").tempdir_in(&models).map_err(io(&models))?;
        for (name, text) in rtl.iter().chain(harness) {
            write(&work.path().join(name), text)?;
        }
        let mut verilate = self.verilate(work.path(), class, top);
        let mut objects = vec![runtime];
        let mut replaced = BTreeSet::new();
        if wave {
            verilate.args(flags).arg(CONFIGURATION);
            write(&work.path().join(CONFIGURATION), &configuration(&libraries))?;
        } else {
            for library in &libraries {
                let Library { object, wrapper: (name, text) } = self.library(*library, rtl)?;
                objects.push(object);
                replaced.extend(library.own_files);
                let wrapper = format!("wrapper_{name}");
                write(&work.path().join(&wrapper), &text)?;
                verilate.arg(wrapper);
            }
        }
        verilate.args(rtl.iter().map(|(name, _)| name).filter(|name| !replaced.contains(name)));
        run(&mut verilate)?;
        self.compile(work.path(), &objects, wave)?;
        keep(work, &models.join(&key));
        if !executable.is_file() {
            return Err(Diagnostic::new(format!("cannot keep the built model in {}", models.display())));
        }
        Ok(executable)
    }

    /// Builds a module, or finds it in the cache. It is the same in all models whose files for it are the same.
    fn library(&self, sources: LibrarySources, rtl: &[(String, String)]) -> Result<Library, Diagnostic> {
        let LibrarySources { module, files, .. } = sources;
        let files = rtl.iter().filter(|(name, _)| files.contains(name)).collect_vec();
        let texts = files.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        let libraries = pushmem_cache::folder().join("libraries");
        let folder = libraries.join(self.key(["library", module].into_iter().chain(texts)));
        let wrapper = format!("{module}.sv");
        let (object, text) = (folder.join("library.o"), folder.join("verilated").join(&wrapper));
        if !object.is_file() {
            create_folder(&libraries)?;
            let work = tempfile::Builder::new().prefix(".building-").tempdir_in(&libraries).map_err(io(&libraries))?;
            for (name, text) in &files {
                write(&work.path().join(name), text)?;
            }
            let mut verilate = self.verilate(work.path(), &format!("V{module}"), module);
            run(verilate.args(["--lib-create", module]).args(files.iter().map(|(name, _)| name)))?;
            let all = Unit { sources: names(verilated_sources(work.path())?), runs_once: false };
            write(&work.path().join("all.cpp"), &all.text())?;
            let mut compile = self.compiler_command();
            run(compile.current_dir(work.path()).args(["-Iverilated", "-c", "all.cpp", "-o", "library.o"]))?;
            keep(work, &folder);
        }
        let text = fs::read_to_string(&text).map_err(io(&text))?;
        Ok(Library { object, wrapper: (wrapper, text) })
    }

    fn verilate(&self, folder: &Path, class: &str, top: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args(VERILATOR_FLAGS).args(["--prefix", class, "--top-module", top]);
        command
    }

    /// Compiles the Verilated sources and the harness, side by side if they are many.
    fn compile(&self, folder: &Path, objects: &[PathBuf], wave: bool) -> Result<(), Diagnostic> {
        let mut units = units(verilated_sources(folder)?);
        units[0].sources.push("../harness.cpp".to_owned());
        let mut compiles = Vec::new();
        let mut compiled = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            let (source, object) = (format!("unit_{number}.cpp"), format!("unit_{number}.o"));
            write(&folder.join(&source), &unit.text())?;
            let mut compile = self.compiler_command();
            compile.current_dir(folder).args(["-Iverilated", "-c", &source, "-o", &object]);
            compile.args(unit.runs_once.then_some("-O0"));
            compiles.push(compile);
            compiled.push(object);
        }
        run_all(compiles)?;
        let mut link = self.compiler_command();
        link.current_dir(folder).args(compiled).args(objects).args(["-pthread", "-o", "model"]);
        if wave {
            link.args(self.wave_libraries()?);
        }
        run(&mut link)?;
        Ok(())
    }

    /// The libraries that its writer of wave files calls: newer ones do not bring their own compression.
    fn wave_libraries(&self) -> Result<&'static [&'static str], Diagnostic> {
        let rules = self.root.join("include").join("verilated.mk");
        let text = fs::read_to_string(&rules).map_err(io(&rules))?;
        Ok(if text.contains("-llz4") { &["-llz4", "-lz"] } else { &["-lz"] })
    }

    fn compiler_command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        let include = self.root.join("include");
        command.args(COMPILER_FLAGS).arg("-I").arg(&include).arg("-I").arg(include.join("vltstd"));
        command.args(["-DVM_SC=0", "-DVM_COVERAGE=0", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-DVM_TRACE_VCD=0"]);
        command
    }

    /// Verilator's own sources as one object, built once for all models.
    fn runtime(&self, wave: bool) -> Result<PathBuf, Diagnostic> {
        let kind = if wave { "wave" } else { "plain" };
        let key = self.key([kind].into_iter());
        let folder = pushmem_cache::folder().join("runtimes");
        let object = folder.join(format!("{key}.o"));
        if object.is_file() {
            return Ok(object);
        }
        create_folder(&folder)?;
        let mut sources = vec!["verilated.cpp", "verilated_threads.cpp"];
        if wave {
            sources.push("verilated_fst_c.cpp");
        }
        let work = tempfile::Builder::new().prefix(".building-").tempdir_in(&folder).map_err(io(&folder))?;
        let objects = sources.iter().map(|source| work.path().join(source).with_extension("o")).collect_vec();
        let compile = |(source, object): (&&str, &PathBuf)| {
            let mut compile = self.compiler_command();
            compile.arg("-c").arg(self.root.join("include").join(source)).arg("-o").arg(object);
            compile
        };
        run_all(sources.iter().zip(&objects).map(compile).collect())?;
        let joined = work.path().join("runtime.o");
        run(Command::new(&self.compiler).args(["-r", "-nostdlib", "-o"]).arg(&joined).args(&objects))?;
        fs::rename(&joined, &object).map_err(io(&object))?;
        Ok(object)
    }

    fn key<'a>(&self, texts: impl Iterator<Item = &'a str>) -> String {
        let program = self.program.to_string_lossy();
        let compiler = self.compiler.to_string_lossy();
        let tools = [&*self.version, &*program, &*compiler, &*self.compiler_version];
        let texts: Vec<&str> = texts.collect();
        let all = [&tools[..], &VERILATOR_FLAGS, &COMPILER_FLAGS, &texts].concat();
        pushmem_cache::key(&all)
    }
}

/// The Verilated sources of a folder with their sizes in bytes, in order.
fn verilated_sources(folder: &Path) -> Result<Vec<(String, u64)>, Diagnostic> {
    let verilated = folder.join("verilated");
    let source = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()))
    };
    let entries = fs::read_dir(&verilated).and_then(|entries| entries.map(source).collect::<Result<Vec<_>, _>>());
    let sources = entries.map_err(io(&verilated))?;
    Ok(sources.into_iter().filter(|(name, _)| name.ends_with(".cpp")).sorted().collect())
}

fn names(sources: Vec<(String, u64)>) -> Vec<String> {
    sources.into_iter().map(|(name, _)| name).collect()
}

/// Sources that are compiled together, which is faster than one by one.
struct Unit {
    sources: Vec<String>,
    /// Whether all they have is run once, before the first cycle: not worth to be optimized.
    runs_once: bool,
}

impl Unit {
    fn text(&self) -> String {
        self.sources.iter().map(|source| format!("#include \"{source}\"\n")).collect()
    }
}

/// Verilated sources in units: small models are one, of large ones what runs once is in units of its own. In a model that
/// writes waves of many tiles, that is nearly half. The first is not one of those.
fn units(sources: Vec<(String, u64)>) -> Vec<Unit> {
    if sources.iter().map(|(_, bytes)| bytes).sum::<u64>() <= UNIT_BYTES {
        return vec![Unit { sources: names(sources), runs_once: false }];
    }
    let (once, often): (Vec<_>, Vec<_>) = sources.into_iter().partition(|(name, _)| name.ends_with("__Slow.cpp"));
    let mut units = Vec::new();
    for (sources, runs_once) in [(often, false), (once, true)] {
        let mut room = 0;
        for (name, bytes) in sources {
            if bytes > room {
                units.push(Unit { sources: Vec::new(), runs_once });
                room = UNIT_BYTES;
            }
            room = room.saturating_sub(bytes);
            units.last_mut().expect("there is room in none").sources.push(name);
        }
    }
    units
}

/// What keeps Verilator from copying modules into their users: then it shares most of their C++ between instances.
fn configuration(libraries: &[LibrarySources]) -> String {
    let modules = libraries.iter().map(|library| format!("no_inline -module \"{}\"\n", library.module));
    format!("`verilator_config\n{}", modules.format(""))
}

/// Moves a folder to its place. Whoever comes first wins; the others have built the same.
fn keep(work: TempDir, place: &Path) {
    let folder = work.keep();
    if fs::rename(&folder, place).is_err() {
        let _ = fs::remove_dir_all(&folder);
    }
}

fn create_folder(path: &Path) -> Result<(), Diagnostic> {
    fs::create_dir_all(path).map_err(io(path))
}

fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    fs::write(path, text).map_err(io(path))
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Diagnostic {
    let path = path.display().to_string();
    move |error| {
        Diagnostic::new(format!("{path}: {error}")).with_help(format!(
            "models are built in {}; the variable \
            {} names another folder",
            pushmem_cache::folder().display(),
            pushmem_cache::VARIABLE
        ))
    }
}

/// Runs commands, some at a time: as many as the machine has cores, or as many as the caller works on things.
fn run_all(commands: Vec<Command>) -> Result<(), Diagnostic> {
    commands.into_par_iter().try_for_each(|mut command| run(&mut command).map(drop))
}

fn run(command: &mut Command) -> Result<Output, Diagnostic> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Diagnostic::new(format!("cannot run `{program}`: {error}")))?;
    if output.status.success() {
        return Ok(output);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // Errors explain why it failed, and may come after many warnings.
    let is_error =
        |line: &str| line.starts_with("%Error") || line.contains("error:") || line.contains("undefined reference");
    let first = text.lines().position(is_error).unwrap_or(0);
    let shown = text.lines().skip(first).take(30).join("\n");
    Err(Diagnostic::new(format!("`{program}` failed ({}):\n{shown}", output.status)))
}
