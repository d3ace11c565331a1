use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{MARKER, OutputFolder, check_output, list_entries, write_file};

fn sample() -> OutputFolder {
    let mut output = OutputFolder::new();
    output.add("rtl/tile.sv", "module tile; endmodule\n");
    output.add("area.json", "{}\n");
    output
}

/// All entries below the folder; files with their contents.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut entries = Default::default();
    list_entries(folder, Path::new(""), &mut entries).unwrap();
    entries.into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).ok())).collect()
}

#[test]
fn writes_a_file_and_its_folders() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a/b/c.txt");
    write_file(&path, b"one").unwrap();
    write_file(&path, b"two").unwrap();
    let names: Vec<_> = snapshot(root.path()).into_keys().collect();
    assert_eq!(names, ["a", "a/b", "a/b/c.txt"].map(PathBuf::from));
    assert_eq!(fs::read(&path).unwrap(), b"two");
}

#[test]
fn refuses_to_write_where_no_file_can_be() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    let before = snapshot(root.path());

    let folder = write_file(root.path(), b"").unwrap_err();
    assert!(folder.message().ends_with("it is a folder"), "{folder:?}");
    assert_eq!(folder.help(), Some("choose another file name"));

    let below_a_file = write_file(&root.path().join("file/a/b"), b"").unwrap_err();
    assert!(below_a_file.message().ends_with("file` is not a folder"), "{below_a_file:?}");

    // The folder `new` is created for this file, whose name is too long, and removed again.
    let long = root.path().join("new").join("x".repeat(300));
    let too_long = write_file(&long, b"").unwrap_err();
    assert!(too_long.message().starts_with("cannot write"), "{too_long:?}");
    assert!(write_file(Path::new(""), b"").is_err());
    assert_eq!(snapshot(root.path()), before);
}

#[cfg(unix)]
#[test]
fn writes_through_links_with_the_usual_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("target"), root.path().join("link"));
    fs::write(&target, "old").unwrap();
    let usual = fs::metadata(&target).unwrap().permissions().mode();
    symlink(&target, &link).unwrap();
    write_file(&link, b"new").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"new");
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode(), usual);

    let device = write_file(Path::new("/dev/null"), b"").unwrap_err();
    assert!(device.message().ends_with("it is not an ordinary file"), "{device:?}");
}

#[test]
fn writes_a_folder_with_a_marker() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("out/tile");
    sample().write(&folder).unwrap();
    let first = snapshot(root.path());
    let names: Vec<_> = snapshot(&folder).into_keys().collect();
    assert_eq!(names, [MARKER, "area.json", "rtl", "rtl/tile.sv"].map(PathBuf::from));
    let marker = fs::read_to_string(folder.join(MARKER)).unwrap();
    let lines: Vec<_> = marker.lines().skip(1).collect();
    assert_eq!(lines, ["area.json", "rtl/tile.sv"]);

    // The same inputs give the same bytes, and nothing else stays behind.
    sample().write(&folder).unwrap();
    assert_eq!(snapshot(root.path()), first);
}

#[test]
fn replaces_what_it_wrote() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("out");
    fs::create_dir(&folder).unwrap();
    sample().write(&folder).unwrap();
    let mut other = OutputFolder::new();
    other.add("only", "1");
    other.write(&folder).unwrap();
    let names: Vec<_> = snapshot(root.path()).into_keys().collect();
    assert_eq!(names, ["out", "out/.pushmem", "out/only"].map(PathBuf::from));
}

#[test]
fn names_the_file_that_is_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let before = snapshot(root.path());
    let expected = format!("`{}` is not a folder", file.display());
    for path in ["inner", "inner/deeper"].map(|inner| file.join(inner)) {
        assert_eq!(sample().write(&path).unwrap_err().message(), expected);
        assert_eq!(check_output(&path).unwrap_err().message(), expected);
        assert_eq!(write_file(&path, b"").unwrap_err().message(), expected);
    }
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn keeps_files_of_others() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("out");
    sample().write(&folder).unwrap();
    fs::write(folder.join("rtl/mine.sv"), "").unwrap();
    let before = snapshot(root.path());
    let problem = sample().write(&folder).unwrap_err();
    let expected = format!(
        "the folder `{}` holds what pushmem did not write: `rtl/mine.sv`",
        folder.canonicalize().unwrap().display()
    );
    assert_eq!(problem.message(), expected);
    assert!(problem.help().unwrap().contains("choose another output folder"));
    assert_eq!(snapshot(root.path()), before);

    // An empty folder is somebody's as well.
    fs::remove_file(folder.join("rtl/mine.sv")).unwrap();
    fs::create_dir(folder.join("mine")).unwrap();
    assert!(sample().write(&folder).unwrap_err().message().ends_with("`mine`"));
}

#[test]
fn keeps_folders_of_others() {
    let root = tempfile::tempdir().unwrap();
    for name in ["1", "2", "3", "4", MARKER] {
        fs::write(root.path().join(name), "not a marker").unwrap();
    }
    let before = snapshot(root.path());
    let problem = sample().write(root.path()).unwrap_err();
    let expected = "was not written by pushmem: it holds `.pushmem`, `1`, `2`, 2 more";
    assert!(problem.message().ends_with(expected), "{problem:?}");

    let file = sample().write(&root.path().join("1")).unwrap_err();
    assert!(file.message().ends_with("is not a folder"), "{file:?}");
    assert!(sample().write(Path::new("/")).is_err());
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn leaves_nothing_behind_on_failure() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("new/out");
    let mut output = sample();
    // A file cannot lie in another file.
    output.add("area.json/inside", "");
    let problem = output.write(&folder).unwrap_err();
    assert!(problem.message().contains("os error"), "{problem:?}");
    assert!(snapshot(root.path()).is_empty());
}

#[test]
fn workspaces_go_with_the_folder() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("out");
    let mut output = OutputFolder::new();
    output.add("Makefile", "all:");
    output.add_workspace("build");
    output.write(&folder).unwrap();
    assert!(!folder.join("build").exists());
    fs::create_dir_all(folder.join("build/deep")).unwrap();
    fs::write(folder.join("build/deep/model.o"), "made").unwrap();
    output.write(&folder).unwrap();
    assert!(!folder.join("build").exists());

    fs::write(folder.join("builder"), "mine").unwrap();
    assert!(output.write(&folder).unwrap_err().message().contains("`builder`"));
}

#[test]
fn refuses_names_outside_of_the_folder() {
    let root = tempfile::tempdir().unwrap();
    for name in ["", ".", "../a", "a/../b", "/a", "a\nb", MARKER] {
        let mut output = OutputFolder::new();
        output.add(name, "");
        let problem = output.write(&root.path().join("out")).unwrap_err();
        assert!(problem.message().contains("cannot be the name"), "{problem:?}");
    }
    assert!(snapshot(root.path()).is_empty());
}
