//! The command that runs, as reports tell it.

use std::path::Path;

/// Options whose values are folders that are written.
const FOLDERS: [&str; 2] = ["--folder", "--report"];

/// The command that runs.
pub fn text() -> String {
    command(std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()))
}

/// The command with these arguments as a page tells it, so that the page is the same in whatever folders files are: without the
/// folder that is written, and of paths from the root only the name of the file.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["pushmem".to_owned()];
    let mut is_folder = false;
    for argument in arguments {
        let option = argument.split('=').next().unwrap_or_default();
        let is_short = argument.starts_with("-o") && !argument.starts_with("--");
        let named = is_short || FOLDERS.contains(&option) && option != argument;
        let alone = argument == "-o" || FOLDERS.contains(&argument.as_str());
        if !is_folder && !named && !alone {
            words.push(quoted(&without_root(&argument)));
        }
        is_folder = alone;
    }
    words.join(" ")
}

/// An argument whose path, perhaps after `NAME=`, does not begin at the root.
fn without_root(argument: &str) -> String {
    let (name, path) = match argument.split_once('=') {
        Some((name, path)) => (format!("{name}="), path),
        None => (String::new(), argument),
    };
    let file = Path::new(path).is_absolute().then(|| Path::new(path).file_name()).flatten();
    file.map_or_else(|| argument.to_owned(), |file| format!("{name}{}", file.to_string_lossy()))
}

/// A word of a command, as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./=+,:@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_page_is_the_same_in_whatever_folders_files_are() {
        for (arguments, expected) in [
            ("build apps/gaussian.yaml -o out/gaussian", "pushmem build apps/gaussian.yaml"),
            (
                "build -oout apps/gaussian.yaml --tile amber --rtl",
                "pushmem build apps/gaussian.yaml --tile amber --rtl",
            ),
            ("build /tmp/a/b.yaml --folder=/tmp/c", "pushmem build b.yaml"),
            ("synth b.yaml --report /tmp/c --clock 900", "pushmem synth b.yaml --clock 900"),
            (
                "build b.yaml --folder x --input input=/tmp/i.npy --tile=/t/amber.yaml",
                "pushmem build b.yaml --input input=i.npy --tile=amber.yaml",
            ),
        ] {
            assert_eq!(command(arguments.split(' ').map(str::to_owned)), expected);
        }
        assert_eq!(command(["build", "a b.yaml"].map(str::to_owned).into_iter()), "pushmem build 'a b.yaml'");
    }
}
