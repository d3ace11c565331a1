//! `pushmem build --array` of several programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use itertools::Itertools;
use pushmem_files::{Diagnostic, OutputFolder, check_output};
use pushmem_images::Image;
use pushmem_mapper::{ArrayTarget, HeaderProgram, Occupant, Region, Report, SideBySide, Times, header};
use pushmem_nest::Program;
use pushmem_report::Contents;
use pushmem_routing::Options;
use serde::Serialize;

use super::on_array::{Course, add_banks, folder, shown, steps_line};
use crate::application::choices::Chosen;
use crate::application::folder::add_report;
use crate::application::{array_rtl, arrays, images};
use crate::build::{Build, Emit, copies, line};
use crate::output;
use crate::progress::Spinner;

/// The results of a build of several programs.
#[derive(Serialize)]
struct Outcome {
    /// From west to east.
    programs: Vec<OfProgram>,
    /// Words of the bitstream of all.
    bitstream_words: usize,
    #[serde(flatten)]
    course: Course,
}

/// The results of one of them.
#[derive(Serialize)]
struct OfProgram {
    /// Its first column.
    first_column: u32,
    /// Its last column.
    last_column: u32,
    #[serde(flatten)]
    report: Report,
}

/// Files by the names of arrays, those of each program.
type Files = Vec<Vec<(String, PathBuf)>>;

impl Build {
    /// Compiles programs for columns of an array.
    pub fn side_by_side(&self, programs: &[Program], chosen: &Chosen, array: &Path) -> Result<(), Diagnostic> {
        if let Some(folder) = &self.folder {
            check_output(folder)?;
        }
        self.check_alone()?;
        let name = copies::name_of_all(&self.programs, programs)?;
        let target = ArrayTarget::new(arrays::read_named(array)?);
        let timing = self.timing(&target.spec)?;
        let (input_files, output_files) = (by_program(programs, &self.inputs)?, by_program(programs, &self.outputs)?);
        let mut inputs: Vec<BTreeMap<String, Image>> = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            images::check_outputs(program, &input_files.concat(), &output_files[number])?;
            inputs.push(images::inputs(program, BTreeMap::new(), &input_files[number])?);
        }
        let spinner = Spinner::new();
        spinner.say(&format!("compiling {} programs for `{}`", programs.len(), target.spec.name));
        let started = Instant::now();
        let options = Options { seed: self.seed, ..Options::default() };
        let together = chosen.compile_side_by_side(programs, &target, options, &shown(&spinner))?;
        let seconds = started.elapsed().as_secs_f64();
        let netlists = together.regions.iter().map(|region| &region.mapped.lowered.netlist);
        let warnings = together.regions.iter().flat_map(|region| region.compiled.warnings());
        spinner.above(|| warnings.for_each(output::report));
        let clock = self.clock(&target.spec, timing, netlists)?;
        if let Some(emit) = self.emit {
            drop(spinner);
            let text = match emit {
                Emit::Config => together.configuration.to_yaml(&target.spec, &target.graph),
                _ => together.bitstream.to_text(&target.spec.name),
            };
            return output::print(&text);
        }
        let reports = together.regions.iter().map(|region| OfProgram::of(region, &target)).collect_vec();
        for of_program in &reports {
            self.say(&spinner, || of_program.to_text())?;
        }
        let steps = together.regions.iter().fold(Times::default(), |sum, region| sum.plus(&region.mapped.times));
        let bitstream_words = together.bitstream.writes.len();
        self.say(&spinner, || format!("{name}\n{}", line("bitstream", &format!("{bitstream_words} words"))))?;
        if let Some(clock) = &clock {
            self.say(&spinner, || line("clock", &clock.to_string()))?;
        }
        self.say(&spinner, || line("seconds", &format!("{seconds:.2}")))?;
        self.say(&spinner, || line("of these", &steps_line(&steps)))?;
        let ran = self.runs().then(|| {
            let occupant = |(region, images)| {
                let Region { compiled, mapped, .. }: &Region = region;
                Occupant { compiled, mapped, images }
            };
            let occupants = together.regions.iter().zip(&inputs).map(occupant).collect_vec();
            self.run_on(&occupants, &together.configuration, &target, &spinner)
        });
        let ran = ran.transpose()?;
        if let Some(ran) = &ran {
            self.say_ran(&spinner, &target, ran)?;
            output_files.iter().zip(&ran.outputs).try_for_each(|(files, outputs)| images::write(files, outputs))?;
        }
        let course = Course::of(clock, seconds, steps, ran);
        if let Some(path) = &self.folder {
            let page = course.page(array_rtl::in_words(array_rtl::choice(self.configured)), &target);
            folder_of_all(&name, &together, &target, &reports, &page)?.write(path)?;
            self.say(&spinner, || line("written to", &path.display().to_string()))?;
        }
        drop(spinner);
        if self.json {
            let outcome = Outcome { programs: reports, bitstream_words, course };
            output::result(true, &outcome, String::new)?;
        }
        Ok(())
    }

    /// Refuses what is for one program.
    fn check_alone(&self) -> Result<(), Diagnostic> {
        let refused = |what: &str| {
            let message = format!("{what} to one program, and there are several");
            Err(Diagnostic::new(message).with_help("build that program alone"))
        };
        if self.graph.is_some() || self.edited.netlist.is_some() || self.edited.placement.is_some() {
            return refused("edited stages belong");
        }
        if self.fit.is_given() {
            return refused("a budget of `--fit` belongs");
        }
        if self.bus.is_some() {
            return refused("a shell for a bus belongs");
        }
        match self.emit {
            None | Some(Emit::Config | Emit::Bitstream) => Ok(()),
            Some(_) => refused("stages other than `config` and `bitstream` belong"),
        }
    }
}

impl OfProgram {
    fn of(region: &Region, target: &ArrayTarget) -> Self {
        let report = Report::of(&region.compiled, &region.mapped, target);
        OfProgram { first_column: region.columns.start, last_column: region.columns.end - 1, report }
    }

    fn to_text(&self) -> String {
        let OfProgram { first_column, last_column, report } = self;
        let columns = line("columns", &format!("{first_column} to {last_column}"));
        format!("{}\n{columns}{report}", report.name)
    }
}

/// The files of each program, given as `PROGRAM.NAME=FILE`.
fn by_program(programs: &[Program], files: &[String]) -> Result<Files, Diagnostic> {
    let mut found: Files = vec![Vec::new(); programs.len()];
    for text in files {
        let (name, path) = text.split_once('=').unwrap_or((text, ""));
        let parts = name.split_once('.');
        let place = parts.and_then(|(program, _)| programs.iter().position(|other| other.name == program));
        let (Some(place), Some((_, array))) = (place, parts) else {
            let names = programs.iter().map(|program| format!("{}.NAME", program.name)).join(" or ");
            let message = format!("`{name}` names no array of one of the programs");
            return Err(Diagnostic::new(message).with_help(format!("write {names}")));
        };
        found[place].push((array.to_owned(), path.into()));
    }
    Ok(found)
}

/// The files of all programs: the bitstream, and a folder of each with its page.
fn folder_of_all(
    name: &str,
    together: &SideBySide,
    target: &ArrayTarget,
    reports: &[OfProgram],
    page: &pushmem_report::Build,
) -> Result<OutputFolder, Diagnostic> {
    let SideBySide { regions, configuration, bitstream } = together;
    let mut all = OutputFolder::new();
    all.add(format!("{name}.hex"), bitstream.to_text(&target.spec.name));
    add_banks(&mut all, name, bitstream, &target.spec);
    let program = |region| {
        let Region { compiled, mapped, columns }: &Region = region;
        HeaderProgram { compiled, mapped, columns: Some(columns.clone()) }
    };
    let in_header = regions.iter().map(program).collect_vec();
    all.add(format!("{name}.h"), header(name, &in_header, bitstream, target));
    all.add("configuration.yaml", configuration.to_yaml(&target.spec, &target.graph));
    all.add(format!("{}.yaml", target.spec.name), target.spec.to_yaml());
    all.add("report.txt", reports.iter().map(|report| report.to_text() + "\n").join(""));
    for (region, of_program) in regions.iter().zip(reports) {
        let program = &of_program.report.name;
        let Region { compiled, mapped, .. } = region;
        let mut own = folder(compiled, mapped, target, &of_program.report);
        add_report(&mut own, &Contents::on_array(compiled, mapped, target, of_program.report.clone(), page.clone())?);
        own.files().for_each(|(file, contents)| all.add(Path::new(program).join(file), contents));
    }
    Ok(all)
}
