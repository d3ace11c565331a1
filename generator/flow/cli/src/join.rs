//! `pushmem join`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, OutputFolder};
use pushmem_packaging::SYNTHESIS_LIST;
use pushmem_systemverilog::{FILE_LIST, INCLUDE_FOLDER, file_list, included};
use serde::Serialize;

use crate::output;

#[derive(Args)]
pub struct Join {
    /// Folders that `build` and `generate` wrote, two or more.
    #[arg(required = true, num_args = 2.., value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Folder to write, replaced if a former run wrote it.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// The report, for programs.
#[derive(Serialize)]
struct Report {
    /// Modules and packages.
    modules: usize,
    /// Those of them that several folders have.
    shared: usize,
}

/// Files of several folders, each once.
#[derive(Default)]
struct Joined<'a> {
    /// Text of each file, and the folder that it was read from first.
    files: HashMap<String, (String, &'a Path)>,
    /// Files that several folders have.
    shared: Vec<String>,
}

impl Join {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let mut joined = Joined::default();
        let all = self.folders.iter().map(|folder| joined.listed(folder, FILE_LIST)).collect::<Result<Vec<_>, _>>()?;
        let packaged = self.folders.iter().filter(|folder| folder.join(SYNTHESIS_LIST).exists()).collect_vec();
        if let Some(bare) = self.folders.iter().find(|folder| !packaged.is_empty() && !packaged.contains(folder)) {
            let message = format!("`{}` has no `{SYNTHESIS_LIST}`, which other folders have", bare.display());
            return Err(Diagnostic::new(message).with_help("write it with `--package`, as the others"));
        }
        let of_synthesis = packaged.into_iter().map(|folder| joined.listed(folder, SYNTHESIS_LIST));
        let of_synthesis = of_synthesis.collect::<Result<Vec<_>, _>>()?;

        let mut folder = OutputFolder::new();
        for (list, paths) in [(FILE_LIST, all), (SYNTHESIS_LIST, of_synthesis)] {
            // Each list has a module after those that it uses, and so has their union.
            let paths = paths.into_iter().flatten().unique().collect_vec();
            if !paths.is_empty() {
                folder.add(list, file_list(paths.iter().map(String::as_str)));
            }
        }
        let modules = joined.files.keys().filter(|path| path.ends_with(".sv")).count();
        joined.files.into_iter().for_each(|(path, (text, _))| folder.add(path, text));
        folder.write(&self.output)?;
        let report = Report { modules, shared: joined.shared.into_iter().unique().count() };
        output::result(self.json, &report, || {
            let Report { modules, shared } = report;
            format!("{}: {modules} modules, {shared} of them in several folders\n", self.output.display())
        })
    }
}

impl<'a> Joined<'a> {
    /// The paths of a list of a folder, with the headers that they include. Their files are added.
    ///
    /// # Errors
    /// When a file is missing, or another folder has another file of its path.
    fn listed(&mut self, folder: &'a Path, list: &str) -> Result<Vec<String>, Diagnostic> {
        let text = read(folder, list)?;
        let (within, modules): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with(INCLUDE_FOLDER));
        let within = within.iter().map(|line| &line[INCLUDE_FOLDER.len()..]).collect_vec();
        let mut paths = modules.into_iter().map(str::to_owned).collect_vec();
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            let text = read(folder, &path)?;
            let headers = included(&text).cartesian_product(&within).map(|(name, within)| format!("{within}/{name}"));
            let new = headers.filter(|header| !paths.contains(header)).collect_vec();
            paths.extend(new);
            next += 1;
            match self.files.get(&path) {
                None => drop(self.files.insert(path, (text, folder))),
                Some((_, first)) if *first == folder => {}
                Some((other, _)) if *other == text => self.shared.push(path),
                Some((_, first)) => {
                    let (first, folder) = (first.display(), folder.display());
                    let message = format!("`{path}` of `{first}` and of `{folder}` are two modules of one name");
                    let help = "write both with one version of pushmem and the same `--package`, `--sram` and `--clock-gate`; modules that are to \
                                differ have other names with `--prefix`";
                    return Err(Diagnostic::new(message).with_help(help));
                }
            }
        }
        Ok(paths)
    }
}

fn read(folder: &Path, path: &str) -> Result<String, Diagnostic> {
    let file = folder.join(path);
    fs::read_to_string(&file).map_err(|error| {
        let help = "give folders that `pushmem build -o` and `pushmem generate -o` wrote";
        Diagnostic::new(format!("cannot read {}: {error}", file.display())).or_code(Code::Request).with_help(help)
    })
}
