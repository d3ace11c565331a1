//! SystemVerilog files of a design: those that tools compile, headers that these include, and lists of both; and the words that
//! names in them cannot be.
//!
//! A file is its name or path, and its text. Generated designs have one header: the macros of assertions.

mod keywords;
mod ports;

use itertools::Itertools;

pub use keywords::{KEYWORDS, VERYL_KEYWORDS, is_keyword, is_reserved};
pub use ports::{ModulePort, header, ports_of};

/// The macros of assertions: the name of the header, and its text.
pub const ASSERTIONS: (&str, &str) =
    ("pushmem_assert.svh", include_str!("../../../../templates/rtl/pushmem_assert.svh"));

/// The names of the macros of [`ASSERTIONS`] that depend on the version of the program.
pub const ASSERTION_MACROS: [&str; 4] =
    ["PUSHMEM_ASSERT", "PUSHMEM_ASSERT_OUT_OF_RESET", "PUSHMEM_ASSERT_NOW", "PUSHMEM_ASSERT_SVH"];

/// The macro that removes all assertions, of any version.
pub const ASSERTIONS_OFF: &str = "PUSHMEM_ASSERT_OFF";

/// The directive before an included file; the end of the names of headers.
const INCLUDE: &str = "`include ";
const HEADER: &str = ".svh";

/// A file: its name or path, and its text.
pub type File = (String, String);

/// Whether other files include the file of this name or path, so that no tool compiles it by itself.
pub fn is_header(path: &str) -> bool {
    path.ends_with(HEADER)
}

/// Whether a text has assertions by the macros.
pub fn asserts(text: &str) -> bool {
    text.contains(concat!("`", "PUSHMEM_ASSERT"))
}

/// The files of modules, name and text of each, named as their modules and after the headers that they include. Veryl has no directive
/// for this: the header of the macros is included here.
///
/// # Panics
/// As [`with_headers`].
pub fn files_of(modules: impl IntoIterator<Item: Into<(String, String)>>) -> Vec<File> {
    let include = include();
    let file = |(module, mut text): (String, String)| {
        if asserts(&text) && !text.contains(&include) {
            let place = text.find(&format!("module {module}")).unwrap_or(0);
            text.insert_str(place, &format!("{include}\n\n"));
        }
        (format!("{module}.sv"), text)
    };
    with_headers(modules.into_iter().map(Into::into).map(file))
}

/// The names of the headers that a text includes.
pub fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| Some(line.trim_start().strip_prefix(INCLUDE)?.trim_matches('"')))
}

/// The line that includes the macros of assertions.
fn include() -> String {
    format!("{INCLUDE}\"{}\"", ASSERTIONS.0)
}

/// Files with the headers that they include before them.
///
/// # Panics
/// When a file uses the macros without including them, or includes another header: a fault of a template.
pub fn with_headers(modules: impl IntoIterator<Item = File>) -> Vec<File> {
    let modules = modules.into_iter().filter(|(name, _)| !is_header(name)).collect_vec();
    for (name, text) in &modules {
        let includes = included(text).collect_vec();
        assert!(includes.iter().all(|header| *header == ASSERTIONS.0), "{name} includes {includes:?}");
        assert!(includes.is_empty() != asserts(text), "{name} uses the macros of assertions where it includes them");
    }
    let header =
        modules.iter().any(|(_, text)| asserts(text)).then(|| (ASSERTIONS.0.to_owned(), ASSERTIONS.1.to_owned()));
    header.into_iter().chain(modules).collect()
}

/// The folders of the headers among these paths.
pub fn include_folders<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let folders = paths.into_iter().filter(|path| is_header(path));
    folders.map(|path| path.rsplit_once('/').map_or(".", |(folder, _)| folder)).unique().collect()
}

/// The lines of a file list (`-f` of most tools) for these paths: the folders of the headers, then the files to compile, in order.
pub fn file_list<'a>(paths: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let folders = include_folders(paths.clone()).into_iter().map(|folder| format!("{INCLUDE_FOLDER}{folder}\n"));
    let modules = paths.into_iter().filter(|path| !is_header(path)).map(|path| format!("{path}\n"));
    folders.chain(modules).collect()
}

/// The names of the files, of these, that a module is made of, in their order. Modules of `without` are left out, with all that only
/// they use.
///
/// # Panics
/// If the module or one that it uses has no file of its name.
pub fn needed(files: &[File], module: &str, without: &[String]) -> Vec<String> {
    let module_of = |file: &'_ File| file.0.trim_end_matches(".sv").to_owned();
    let modules = files.iter().map(module_of).collect_vec();
    let is_left_out = |name: &str| name != module && without.iter().any(|other| other == name);
    let mut found = vec![module.to_owned()];
    let mut next = 0;
    while next < found.len() {
        let place = modules.iter().position(|module| *module == found[next]);
        let (_, text) = &files[place.unwrap_or_else(|| panic!("there is no file of {}", found[next]))];
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unique();
        let used = words.filter(|word| modules.iter().any(|module| module == word) && !is_left_out(word));
        let new = used.filter(|word| !found.iter().any(|module| module == word)).map(str::to_owned).collect_vec();
        found.extend(new);
        next += 1;
    }
    let is_found = |(_, module): &(&File, &String)| found.contains(module);
    files.iter().zip(&modules).filter(is_found).map(|((name, _), _)| name.clone()).collect()
}

/// The list of all files of a design: the block that a chip uses is what they make, and assertions are bound to its tiles.
pub const FILE_LIST: &str = "filelist.f";

/// The option of file lists for the folder of headers.
pub const INCLUDE_FOLDER: &str = "+incdir+";

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> File {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn included_headers_are_found() {
        let text = "// `include\n`include \"a.svh\"\nmodule b; endmodule\n    `include \"c.svh\"\n";
        assert_eq!(included(text).collect_vec(), ["a.svh", "c.svh"]);
    }

    #[test]
    fn headers_come_first_and_once() {
        let plain = file("plain.sv", "module plain; endmodule\n");
        let with = file("with.sv", "`include \"pushmem_assert.svh\"\n`PUSHMEM_ASSERT(a, b, (\"c\"))\n");
        assert_eq!(with_headers(Some(plain.clone())), std::slice::from_ref(&plain));
        let files = with_headers([plain.clone(), with.clone()]);
        assert_eq!(
            files.iter().map(|(name, _)| name.as_str()).collect_vec(),
            ["pushmem_assert.svh", "plain.sv", "with.sv"]
        );
        assert_eq!(with_headers(files.clone()), files);
    }

    #[test]
    fn modules_include_the_macros_that_they_use() {
        let uses = (
            "uses".to_owned(),
            "// About it.\nmodule uses;\n    `PUSHMEM_ASSERT(a, b, (\"c\"))\nendmodule\n".to_owned(),
        );
        let [_, (name, text)] = &files_of([uses])[..] else { panic!("a header and a module") };
        assert_eq!(name, "uses.sv");
        assert!(text.starts_with("// About it.\n`include \"pushmem_assert.svh\"\n\nmodule uses;\n"), "{text}");
    }

    #[test]
    #[should_panic(expected = "uses the macros")]
    fn macros_are_included() {
        with_headers([file("without.sv", "`PUSHMEM_ASSERT(a, b, (\"c\"))\n")]);
    }

    #[test]
    fn lists_have_folders_of_headers() {
        assert_eq!(file_list(["rtl/a.svh", "rtl/b.svh", "rtl/a.sv", "top.sv"]), "+incdir+rtl\nrtl/a.sv\ntop.sv\n");
        assert_eq!(file_list(["a.sv"]), "a.sv\n");
        assert_eq!(include_folders(["a.svh"]), ["."]);
    }

    #[test]
    fn a_module_is_made_of_those_that_it_names() {
        let files = [
            file("leaf.sv", "module leaf; endmodule\n"),
            file("part.sv", "module part; leaf u_leaf (); endmodule\n"),
            file("other.sv", "module other; endmodule\n"),
            file("top.sv", "module top; part u_part (); other u_other (); leafy u_no (); endmodule\n"),
        ];
        assert_eq!(needed(&files, "top", &[]), ["leaf.sv", "part.sv", "other.sv", "top.sv"]);
        assert_eq!(needed(&files, "top", &["part".to_owned()]), ["other.sv", "top.sv"]);
        assert_eq!(needed(&files, "part", &["part".to_owned()]), ["leaf.sv", "part.sv"]);
    }

    /// The list of names is that of the header.
    #[test]
    fn names_of_macros() {
        let defined = ASSERTIONS.1.lines().filter_map(|line| line.strip_prefix("`define "));
        let names = defined.map(|line| line.split(['(', ' ']).next().unwrap_or(line)).unique();
        let names = names.filter(|name| *name != ASSERTIONS_OFF).sorted().collect_vec();
        assert_eq!(names, ASSERTION_MACROS.into_iter().sorted().collect_vec());
    }
}
