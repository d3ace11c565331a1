//! The RTL of every shipped tile in every style: without findings, the same each time, and as a person would lay it out.

#[path = "../../tile/tests/specs/mod.rs"]
mod specs;

use std::collections::BTreeMap;
use std::thread;

use pushmem_registers::RegisterMap;
use pushmem_rtl::{generate, tile_module};
use pushmem_testing::Part;
use pushmem_tile::{Reset, Style, TileSpec};
use pushmem_veryl::Emitted;

use specs::{shipped, styled, tile};

const LONGEST_LINE: usize = 160;

fn rtl(spec: &TileSpec) -> Vec<Emitted> {
    generate(spec, &RegisterMap::of(spec)).unwrap_or_else(|error| panic!("{} {:?}: {error}", spec.name, spec.style))
}

/// The words of the code, without comments.
fn code_words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
}

fn is_laid_out(file: &Emitted) {
    let Emitted { name, text } = file;
    let unit = |line: &str| line.strip_prefix("module ").or(line.strip_prefix("package ")).map(str::to_owned);
    let units = text.lines().filter_map(unit);
    let units: Vec<String> =
        units.map(|rest| rest.split([' ', '(', ';']).next().unwrap_or_default().to_owned()).collect();
    assert_eq!(units, [name.as_str()], "one module or package a file, of its name");
    assert!(text.starts_with("// "), "{name} does not begin with what it does:\n{text}");
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
    assert_eq!(text.lines().filter(|line| ["endmodule", "endpackage"].contains(line)).count(), 1, "{name}");
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}.sv:{}: {line}", number + 1);
        assert_eq!(line.trim_end(), line, "{place}");
        assert!(line.chars().count() <= LONGEST_LINE, "{place}");
        assert!(!line.contains('\t'), "{place}");
    }
}

/// Modules stand before their users, each once, and every module has a user: only the checker, which binds itself to
/// the tile, has none.
fn is_in_order(spec: &TileSpec, files: &[Emitted]) {
    let position: BTreeMap<&str, usize> = files.iter().enumerate().map(|(i, file)| (file.name.as_str(), i)).collect();
    assert_eq!(position.len(), files.len(), "two modules have one name");
    let mut used = vec![false; files.len()];
    for (user, file) in files.iter().enumerate() {
        for word in code_words(&file.text) {
            let Some(&module) = position.get(word).filter(|&&module| module != user) else { continue };
            assert!(module < user, "{} uses {word}, which comes later", file.name);
            used[module] = true;
        }
    }
    let unused = files.iter().zip(used).filter(|(_, used)| !used).map(|(file, _)| file.name.as_str());
    assert_eq!(unused.collect::<Vec<_>>(), [format!("{}_checker", spec.name)]);
    assert_eq!(files[files.len() - 2].name, tile_module(spec));
}

#[test]
fn every_shipped_tile_in_every_style() {
    let shipped = shipped();
    let specs = shipped.iter().flat_map(|spec| Style::ALL.map(|style| styled(spec, style)));
    let specs: Vec<TileSpec> = Part::chosen().of(specs).collect();
    thread::scope(|scope| {
        for half in specs.chunks(specs.len().div_ceil(2)) {
            scope.spawn(move || {
                for spec in half {
                    let files = rtl(spec);
                    files.iter().for_each(is_laid_out);
                    is_in_order(spec, &files);
                }
            });
        }
    });
}

/// RTL does not depend on earlier runs or on the thread.
#[test]
fn generation_is_deterministic() {
    let specs = Style::ALL.map(|style| styled(&tile("small"), style));
    let first = specs.each_ref().map(rtl);
    let again = specs.each_ref().map(|spec| thread::scope(|scope| scope.spawn(|| rtl(spec)).join().unwrap()));
    assert!(first == again);
    assert!(first[0] != first[1] && first[1] != first[2], "styles differ");
}

/// A chip may have tiles of any options: a module of the library is the same in all of them, or has another name.
#[test]
fn library_modules_of_one_name_are_the_same() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for name in ["small", "dual_port"] {
        for (style, reset) in
            Style::ALL.into_iter().flat_map(|style| [(style, Reset::Asynchronous), (style, Reset::Synchronous)])
        {
            for clock_gating in [false, true] {
                let spec = TileSpec { reset, clock_gating, bist: true, ..styled(&tile(name), style) };
                for Emitted { name, text } in rtl(&spec).into_iter().filter(|file| file.name.starts_with("pushmem_")) {
                    let first = known.entry(name.clone()).or_insert_with(|| text.clone());
                    assert_eq!(*first, text, "{name} of {style:?}, {reset:?}, clock gates {clock_gating}");
                }
            }
        }
    }
}
