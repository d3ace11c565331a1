//! The folder `rtl` of what is generated, and the list of its files.

use itertools::Itertools;
use pushmem_files::OutputFolder;
use pushmem_systemverilog::{FILE_LIST, File, file_list, is_header, needed};

/// Adds SystemVerilog files, by their names, to the folder `rtl`, and `filelist.f`, which names them. Returns their paths and texts.
pub fn add(folder: &mut OutputFolder, files: Vec<File>) -> Vec<File> {
    let files = files.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
    folder.add_all(files.iter().cloned());
    folder.add(FILE_LIST, file_list(files.iter().map(|(path, _)| path.as_str())));
    files
}

/// Adds a file list of one module, of those in the folder `rtl`, and of what it is made of: for flows that harden it by itself.
pub fn add_list(folder: &mut OutputFolder, list: &str, files: &[File], module: &str) {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let named = files.iter().map(|(path, text)| (name(path), text.clone())).collect_vec();
    let needed = needed(&named, module, &[]);
    let of_module = files.iter().filter(|(path, _)| is_header(path) || needed.contains(&name(path)));
    folder.add(list, file_list(of_module.map(|(path, _)| path.as_str())));
}

/// The paths of the files that are compiled: a module or a package each.
pub fn modules(files: &[File]) -> impl Iterator<Item = &str> {
    files.iter().map(|(path, _)| path.as_str()).filter(|path| !is_header(path))
}

/// The lines of these files together.
pub fn lines(files: &[File]) -> usize {
    files.iter().filter(|(path, _)| !is_header(path)).map(|(_, text)| text.lines().count()).sum()
}
