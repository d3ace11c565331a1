//! Building models and libraries of modules, which are kept in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_systemverilog::{File, is_header};

use crate::clocked::Clocked;
use crate::folder::{io, keep, working_folder, write};
use crate::units::{Unit, units, verilated_sources};
use crate::verilator::{Verilator, run, run_all};

/// Flags for models that write waves. Parameters are no signals.
const WAVE_FLAGS: [&str; 2] = ["--trace-fst", "--no-trace-params"];

/// The functions that the wrapper of a library calls.
const CALLS: &str = "calls.cpp";

/// The optimization of modules that have many instances and are small: they are compiled once.
const OF_INNERMOST: &str = "-O2";

/// The flag that makes one module of all.
const FLATTEN: &str = "--flatten";

/// The file that tells Verilator about modules.
const CONFIGURATION: &str = "modules.vlt";

/// A module that is built once for all its instances.
#[derive(Clone, Copy, Debug)]
pub struct LibrarySources<'a> {
    /// Name of the module, which has no parameters.
    pub module: &'a str,
    /// Names of the SystemVerilog files that make it.
    pub files: &'a [String],
    /// Those of them that the library stands for: others may use the rest, too.
    pub own_files: &'a [String],
    /// Whether all its outputs are registers of its clock `clk_i`, or functions of them alone, and all its ports vectors of bits or arrays
    /// of them: then it is called once a cycle, as one module with all that is in it.
    pub is_clocked: bool,
    /// Libraries, of those before it, that it uses.
    pub uses: &'a [String],
    /// Modules in it of which there are many instances, which share their C++.
    pub shared: &'a [String],
}

/// A module that was built: its object, and the file of a module of the same name and ports that calls it.
struct Library {
    object: PathBuf,
    wrapper: File,
}

/// The sources of a model.
#[derive(Clone, Debug)]
pub struct ModelSources<'a> {
    /// The module on top.
    pub top: &'a str,
    /// Name of the class that Verilator makes of the top module.
    pub class: &'a str,
    /// SystemVerilog files, headers among them: name and text of each.
    pub rtl: &'a [(String, String)],
    /// Modules among them that there may be many instances of. A model that writes waves shows their insides, so it is built
    /// from their files instead.
    pub libraries: Vec<LibrarySources<'a>>,
    /// Further modules of which there are many instances, which share their C++ and stay visible: that compiles faster.
    pub shared: &'a [String],
    /// The C++ program that runs the class: `harness.cpp`, and the files that it includes.
    pub harness: &'a [(String, String)],
    /// Whether the harness writes a wave file.
    pub wave: bool,
    /// Whether all modules become one before they are optimized: it takes longer, and constants reach everywhere.
    pub flatten: bool,
}

impl Verilator {
    /// Builds a model, or finds it in the cache. Returns the executable.
    ///
    /// # Errors
    /// As [`Verilator::build`].
    pub fn build_model(&self, sources: ModelSources) -> Result<PathBuf, Diagnostic> {
        let ModelSources { top, class, rtl, libraries, shared, harness, wave, flatten } = sources;
        let texts = rtl.iter().chain(harness).flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        let modules = libraries.iter().flat_map(|library| [library.module, kind_of(library)]);
        let flags = [if wave { &WAVE_FLAGS[..] } else { &[] }, if flatten { &[FLATTEN][..] } else { &[] }].concat();
        let parts = modules.chain(shared.iter().map(String::as_str));
        let key = self.key([top, class].into_iter().chain(flags.iter().copied()).chain(parts).chain(texts));
        let models = pushmem_cache::folder().join("models");
        let executable = models.join(&key).join("model");
        if executable.is_file() {
            pushmem_cache::used(&models.join(&key));
            return Ok(executable);
        }
        let runtime = self.runtime(wave)?;
        let work = working_folder(&models)?;
        for (name, text) in rtl.iter().chain(harness) {
            write(&work.path().join(name), text)?;
        }
        let mut verilate = self.verilate(work.path(), class, top);
        verilate.args(&flags);
        let mut objects = vec![runtime];
        let mut replaced = BTreeSet::new();
        // A model that writes waves has the insides of libraries, too.
        let inside = if wave { &libraries[..] } else { &[] };
        let kept = inside.iter().map(|library| library.module).chain(shared.iter().map(String::as_str)).collect_vec();
        if !kept.is_empty() {
            verilate.arg(CONFIGURATION);
            write(&work.path().join(CONFIGURATION), &no_inline(kept.into_iter()))?;
        }
        if !wave {
            let mut wrappers: BTreeMap<&str, File> = BTreeMap::new();
            for library in &libraries {
                let inside = library.uses.iter().filter_map(|used| wrappers.remove(used.as_str())).collect_vec();
                let Library { object, wrapper } = self.library(*library, rtl, inside.clone())?;
                wrappers.extend(library.uses.iter().map(String::as_str).zip(inside));
                objects.push(object);
                replaced.extend(library.own_files);
                wrappers.insert(library.module, wrapper);
            }
            let is_inside =
                |module: &str| libraries.iter().any(|library| library.uses.iter().any(|used| used == module));
            for (name, text) in wrappers.into_iter().filter(|(module, _)| !is_inside(module)).map(|(_, file)| file) {
                write(&work.path().join(&name), &text)?;
                verilate.arg(name);
            }
        }
        verilate.args(compiled(rtl).filter(|name| !replaced.contains(name)));
        self.tell(|| format!("verilating `{top}`"));
        run(&mut verilate)?;
        self.tell(|| format!("compiling the model of `{top}`"));
        self.compile(work.path(), &objects, wave)?;
        keep(work, &models.join(&key));
        if !executable.is_file() {
            return Err(Diagnostic::new(format!("cannot keep the built model in {}", models.display())));
        }
        Ok(executable)
    }

    /// Builds a module, or finds it in the cache. It is the same in all models whose files for it are the same. `inside` are the files that
    /// stand for libraries that it uses.
    fn library(&self, sources: LibrarySources, rtl: &[File], inside: Vec<File>) -> Result<Library, Diagnostic> {
        let LibrarySources { module, files, is_clocked, shared, .. } = sources;
        let files = rtl.iter().filter(|(name, _)| is_header(name) || files.contains(name)).cloned();
        let files = files.chain(inside).collect_vec();
        let texts = files.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        let libraries = pushmem_cache::folder().join("libraries");
        let folder = libraries.join(self.key([kind_of(&sources), module].into_iter().chain(texts)));
        let wrapper = format!("{module}.sv");
        let (object, text) = (folder.join("library.o"), folder.join("verilated").join(&wrapper));
        if object.is_file() {
            pushmem_cache::used(&folder);
        } else {
            let work = working_folder(&libraries)?;
            for (name, text) in &files {
                write(&work.path().join(name), text)?;
            }
            let is_whole = is_clocked && sources.uses.is_empty();
            let class = format!("V{module}");
            let mut verilate = self.verilate(work.path(), &class, module);
            match is_clocked {
                // Then all its state is in one place.
                true => verilate.arg(FLATTEN),
                false => verilate.args(["--lib-create", module]),
            };
            if !shared.is_empty() {
                write(&work.path().join(CONFIGURATION), &no_inline(shared.iter().map(String::as_str)))?;
                verilate.arg(CONFIGURATION);
            }
            self.tell(|| format!("verilating `{module}`"));
            run(verilate.args(compiled(&files)))?;
            let mut units = units(verilated_sources(work.path())?);
            if is_clocked {
                let text = files.iter().find(|(name, _)| *name == wrapper).map_or("", |(_, text)| text);
                let clocked = Clocked::of(module, text)?;
                write(&work.path().join(CALLS), &clocked.functions(&class, is_whole))?;
                write(&work.path().join("verilated").join(&wrapper), &clocked.wrapper())?;
                units[0].sources.push(format!("../{CALLS}"));
            }
            self.tell(|| format!("compiling the model of `{module}`"));
            let objects = self.compile_units(work.path(), &units, is_whole.then_some(OF_INNERMOST))?;
            let mut join = Command::new(&self.compiler);
            run(join.current_dir(work.path()).args(["-r", "-nostdlib", "-o", "library.o"]).args(objects))?;
            keep(work, &folder);
        }
        let text = fs::read_to_string(&text).map_err(io(&text))?;
        Ok(Library { object, wrapper: (format!("wrapper_{wrapper}"), text) })
    }

    /// Compiles the Verilated sources and the harness, side by side if they are many.
    fn compile(&self, folder: &Path, objects: &[PathBuf], wave: bool) -> Result<(), Diagnostic> {
        let mut units = units(verilated_sources(folder)?);
        units[0].sources.push("../harness.cpp".to_owned());
        let compiled = self.compile_units(folder, &units, None)?;
        let mut link = self.compiler_command();
        link.current_dir(folder).args(compiled).args(objects).args(["-pthread", "-o", "model"]);
        if wave {
            link.args(self.wave_libraries()?);
        }
        run(&mut link)?;
        Ok(())
    }

    /// Compiles units side by side, with another optimization if one is given. Returns the names of their objects.
    fn compile_units(
        &self,
        folder: &Path,
        units: &[Unit],
        optimization: Option<&str>,
    ) -> Result<Vec<String>, Diagnostic> {
        let mut compiles = Vec::new();
        let mut compiled = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            let (source, object) = (format!("unit_{number}.cpp"), format!("unit_{number}.o"));
            write(&folder.join(&source), &unit.text())?;
            let mut compile = self.compiler_command();
            compile.current_dir(folder).args(["-Iverilated", "-c", &source, "-o", &object]);
            compile.args(optimization);
            compile.args(unit.runs_once.then_some("-O0"));
            compiles.push(compile);
            compiled.push(object);
        }
        run_all(compiles)?;
        Ok(compiled)
    }

    /// The libraries that its writer of wave files calls: newer ones do not bring their own compression.
    fn wave_libraries(&self) -> Result<&'static [&'static str], Diagnostic> {
        let rules = self.root.join("include").join("verilated.mk");
        let text = fs::read_to_string(&rules).map_err(io(&rules))?;
        Ok(if text.contains("-llz4") { &["-llz4", "-lz"] } else { &["-lz"] })
    }

    /// Verilator's own sources as one object, built once for all models.
    fn runtime(&self, wave: bool) -> Result<PathBuf, Diagnostic> {
        let kind = if wave { "wave" } else { "plain" };
        let key = self.key([kind].into_iter());
        let folder = pushmem_cache::folder().join("runtimes");
        let object = folder.join(format!("{key}.o"));
        if object.is_file() {
            pushmem_cache::used(&object);
            return Ok(object);
        }
        let mut sources = vec!["verilated.cpp", "verilated_threads.cpp"];
        if wave {
            sources.push("verilated_fst_c.cpp");
        }
        self.tell(|| "compiling what all models share".to_owned());
        let work = working_folder(&folder)?;
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
        pushmem_cache::added(&object);
        Ok(object)
    }
}

/// The names of the files that are compiled: headers are found beside them.
fn compiled(files: &[File]) -> impl Iterator<Item = &String> {
    files.iter().map(|(name, _)| name).filter(|name| !is_header(name))
}

/// Tells the libraries of a module with different wrappers apart.
fn kind_of(library: &LibrarySources) -> &'static str {
    if library.is_clocked { "clocked library" } else { "library" }
}

/// The directives that keep Verilator from copying modules into their users: then it shares most of their C++ between instances.
fn no_inline<'a>(modules: impl Iterator<Item = &'a str>) -> String {
    let mut directives = modules.map(|module| format!("no_inline -module \"{module}\"\n"));
    format!("`verilator_config\n{}", directives.join(""))
}
