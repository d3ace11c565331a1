//! Documents of YAML: what is read, and where problems are.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pushmem_files::{DEPTH_LIMIT, Diagnostic, Document, FieldPath};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tile {
    name: String,
    memory: Memory,
    #[serde(default)]
    controllers: BTreeMap<String, Controller>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    rows: u8,
    columns: u64,
    ports: [u32; 2],
    gated: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Controller {
    stride: Vec<i64>,
    role: Role,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Read,
    Write,
    Delayed(u32),
    Window { first: u16, last: u16 },
}

const VALID: &str = "\
# größe ≥ 1
name: Ünïcödé 'tile'
memory:
  rows: 128
  columns: 0x10
  ports: [1, 2]
  gated: true
controllers:
  in2agg_0:
    stride:
    - 1
    - -4
    role: read
  \"agg→sram\": { stride: [], role: { delayed: 3 } }
  third: { stride: [+0], role: { window: { first: 1, last: 2 } } }
scale: 0.5
";

fn parse(text: &str) -> Result<Tile, Diagnostic> {
    Document::parse("tile.yaml", text)?.deserialize()
}

/// Checks a problem against `line:column`, the offending text, the message and part of the help.
#[track_caller]
fn check(problem: Diagnostic, place: &str, offending: &str, message: &str, help: &str) {
    let (file, line, column) = problem.location().unwrap();
    assert_eq!(problem.message(), message);
    assert_eq!((file.as_str(), format!("{line}:{column}").as_str()), ("tile.yaml", place));
    assert_eq!(problem.offending_text(), Some(offending));
    let found = problem.help().unwrap_or_default();
    assert!(found.contains(help), "{help:?} is not in {found:?}");
}

/// Replaces `old` in the valid document and checks the problem with that, also with other line
/// ends.
#[track_caller]
fn check_replaced((old, new): (&str, &str), place: &str, offending: &str, message: &str, help: &str) {
    assert!(VALID.contains(old));
    let text = VALID.replacen(old, new, 1);
    check(parse(&text).unwrap_err(), place, offending, message, help);
    let text = text.replace('\n', "\r\n");
    check(parse(&text).unwrap_err(), place, offending, message, help);
}

#[test]
fn reads_a_valid_document() {
    let tile = parse(VALID).unwrap();
    assert_eq!(tile.name, "Ünïcödé 'tile'");
    assert_eq!(tile.memory, Memory { rows: 128, columns: 16, ports: [1, 2], gated: true });
    assert_eq!(tile.controllers["in2agg_0"].stride, [1, -4]);
    assert_eq!(tile.controllers["agg→sram"].role, Role::Delayed(3));
    assert_eq!(tile.controllers["third"].role, Role::Window { first: 1, last: 2 });
    assert_eq!(tile.scale, Some(0.5));
    assert_eq!(parse(&VALID.replace('\n', "\r\n")).unwrap(), tile);
    assert_eq!(parse(&VALID.replace("scale: 0.5\n", "")).unwrap().scale, None);
}

/// Whatever would be read there, also what may be left out.
#[test]
fn refuses_keys_and_elements_without_a_value() {
    let no_value = |key: &str| format!("the key `{key}` has no value");
    check_replaced(("rows: 128", "rows:"), "4:3", "rows", &no_value("rows"), "remove the key");
    check_replaced(("rows: 128", "rows: ~"), "4:9", "~", &no_value("rows"), "write a value");
    check_replaced(("name: Ünïcödé 'tile'", "name: null"), "2:7", "null", &no_value("name"), "quoted");
    check_replaced(("scale: 0.5", "scale:"), "16:1", "scale", &no_value("scale"), "remove the key");
    check_replaced(("scale: 0.5", "scale: # cut"), "16:1", "scale", &no_value("scale"), "remove the key");
    check_replaced(("{ delayed: 3 }", "{ delayed: }"), "14:37", "delayed", &no_value("delayed"), "");
    check_replaced(("{ delayed: 3 }", "{ delayed }"), "14:37", "delayed", &no_value("delayed"), "");
    check_replaced(("    stride:\n    - 1\n    - -4\n", "    stride:\n"), "10:5", "stride", &no_value("stride"), "");
    check_replaced(("[1, 2]", "[1, null]"), "6:14", "null", "this element of the list has no value", "remove");
    check_replaced(("- -4", "-"), "12:6", "", "this element of the list has no value", "remove");
    let quoted = VALID.replace("name: Ünïcödé 'tile'", "name: 'null'");
    assert_eq!(parse(&quoted).unwrap().name, "null");
}

#[test]
fn locates_unknown_and_missing_keys() {
    check_replaced(
        ("rows: 128", "rows: 128\n  rwos: 1"),
        "5:3",
        "rwos",
        "unknown key `rwos`",
        "did you mean `rows`? expected one of `rows`, `columns`, `ports`, `gated`",
    );
    check_replaced(("  gated: true\n", ""), "4:3", "rows: 128", "the key `gated` is missing", "add `gated: …`");
    let window = ("{ first: 1, last: 2 }", "{ first: 1 }");
    check_replaced(window, "15:42", "{ first: 1 }", "the key `last` is missing", "add `last: …`");
}

#[test]
fn locates_wrong_values() {
    let integer = "expected an integer from 0 to 255, found";
    let cases = [
        ("300", "300", "`300`", ""),
        ("-1", "-1", "`-1`", ""),
        ("0x100", "0x100", "`0x100`", ""),
        (&"9".repeat(50), &"9".repeat(50), &format!("`{}`", "9".repeat(50)), ""),
        ("1_2", "1_2", "`1_2`", "write `12`"),
        ("'12'", "'12'", "the text `12`", "remove the quotes"),
        ("1.0", "1.0", "`1.0`", "decimal, or hexadecimal after `0x`"),
        ("many # comment", "many", "`many`", "decimal"),
        ("mä\n   ny", "mä", "`mä ny`", "decimal"),
    ];
    for (written, offending, found, help) in cases {
        let replaced = format!("rows: {written}");
        let message = format!("{integer} {found}");
        check_replaced(("rows: 128", &replaced), "4:9", offending, &message, help);
    }
    let list = "expected an integer, found a list";
    check_replaced(("rows: 128", "rows: [1, 2]"), "4:9", "[1, 2]", list, "");
    let truth = "expected `true` or `false`, found `yes`";
    check_replaced(("gated: true", "gated: yes"), "7:10", "yes", truth, "");
    let pair = "expected a list of 2 elements, found 3 elements";
    check_replaced(("[1, 2]", "[1, 2, 3]"), "6:10", "[1, 2, 3]", pair, "");
    let stride = "expected an integer from -9223372036854775808 to 9223372036854775807, found `é`";
    check_replaced(("- -4", "- é"), "12:7", "é", stride, "");
    let scale = "expected a number, found `inf`";
    check_replaced(("scale: 0.5", "scale: inf"), "16:8", "inf", scale, "");
    let no_list = "expected a list, found `5`";
    check_replaced(("stride: []", "stride: 5"), "14:25", "5", no_list, "`[a, b]`");
    let no_mapping = "expected a mapping, found `5`";
    check_replaced(("in2agg_0:", "x: 5\n  in2agg_0:"), "9:6", "5", no_mapping, "`stride`, `role`");
}

#[test]
fn locates_wrong_variants() {
    let unknown = "unknown value `raed`";
    let help = "did you mean `read`? expected one of `read`, `write`, `delayed`, `window`";
    check_replaced(("role: read", "role: raed"), "13:11", "raed", unknown, help);
    check_replaced(("role: read", "role: { raed: 1 }"), "13:13", "raed", unknown, help);
    let value = "`delayed` needs a value";
    check_replaced(("role: read", "role: delayed"), "13:11", "delayed", value, "`delayed: …`");
    let no_value = "`write` takes no value";
    check_replaced(("role: read", "role: { write: 4 }"), "13:20", "4", no_value, "");
    let two = "expected a mapping with one key, found 2 keys";
    check_replaced(("{ delayed: 3 }", "{ a: 3, b: 4 }"), "14:35", "{ a: 3, b: 4 }", two, "read");
    let payload = "expected an integer from 0 to 4294967295, found `x`";
    check_replaced(("delayed: 3", "delayed: x"), "14:46", "x", payload, "");
}

#[test]
fn locates_invalid_yaml() {
    let twice = "the key `rows` stands here twice";
    check_replaced(("gated: true", "rows: 3"), "7:3", "rows", twice, "remove or rename");
    let cases = [
        ("", "1:1", "", "the document is empty", "key: value"),
        ("# only a comment\n", "1:1", "", "the document is empty", "key: value"),
        ("---\n...\n", "1:1", "", "the document is empty", "key: value"),
        ("[1]", "1:1", "[1]", "expected a mapping at the top level, found a list", "key: value"),
        ("é", "1:1", "é", "expected a mapping at the top level, found a single value", "key"),
        ("a: &x 1", "1:4", "&x 1", "anchors (`&name`) are not supported", "write the value out"),
        ("a: !!str 1", "1:4", "!!str 1", "tags (`!type`) are not supported", "remove the tag"),
        ("a: 1\n---\nb: 2", "2:1", "---", "a second document starts here", "one document"),
        ("[a]: 1", "1:1", "[", "a key must be a single word or number", "key: value"),
        ("é: \0", "1:4", "\0", "the control character U+0000 is not text", "intended file"),
    ];
    for (text, place, offending, message, help) in cases {
        check(Document::parse("tile.yaml", text).unwrap_err(), place, offending, message, help);
    }
    for (text, line, help) in [
        ("a:\n  b: 1\n\tc: 2\n", 3, "spaces, not with tabs"),
        ("ä: [1, 2\nb: 1\n", 2, "brackets"),
        ("a: *b\n", 1, "aliases are not supported"),
        ("a: 'b\n", 1, "quotes"),
    ] {
        let problem = Document::parse("tile.yaml", text).unwrap_err();
        assert!(problem.message().starts_with("not valid YAML: "), "{problem:?}");
        assert_eq!(problem.location().unwrap().1, line, "{problem:?}");
        assert!(problem.help().unwrap().contains(help), "{problem:?}");
    }
}

#[test]
fn refuses_deep_nesting() {
    let nested = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Document::parse("deep", nested(DEPTH_LIMIT - 1)).is_ok());
    let message = format!("nested deeper than {DEPTH_LIMIT} mappings and lists");
    let problem = Document::parse("deep", nested(DEPTH_LIMIT)).unwrap_err();
    assert_eq!(problem.message(), message);
    assert_eq!(problem.location(), Some(("deep".to_owned(), 1, DEPTH_LIMIT + 3)));
    for opening in ["[", "{a: ", "- ", "? "] {
        let problem = Document::parse("deep", opening.repeat(1_000_000)).unwrap_err();
        assert!(problem.location().is_some(), "{opening}: {problem:?}");
    }
}

#[test]
fn points_at_paths() {
    let document = Document::parse("tile.yaml", VALID).unwrap();
    let controller = FieldPath::root().key("controllers").key("in2agg_0");
    let stride = controller.key("stride");
    let offending = |problem: Diagnostic| problem.offending_text().unwrap().to_owned();
    let value = |path: &FieldPath| offending(document.error(path, "wrong"));
    let key = |path: &FieldPath| offending(document.error_at_key(path, "wrong"));
    check(document.error(&stride.index(1), "wrong"), "12:7", "-4", "wrong", "");
    assert_eq!(value(&stride), "1");
    assert_eq!(key(&stride), "stride");
    assert_eq!(key(&stride.index(1)), "-4");
    assert_eq!(key(&controller), "in2agg_0");
    assert_eq!(key(&FieldPath::root().key("controllers").key("agg→sram")), "\"agg→sram\"");
    // The longest part that exists: here the list, and here the whole document.
    assert_eq!(value(&stride.index(2)), "1");
    assert_eq!(key(&stride.index(2).key("x")), "1");
    assert_eq!(value(&FieldPath::root().key("absent")), "name: Ünïcödé 'tile'");
    assert_eq!(document.name(), "tile.yaml");
    assert_eq!(document.text(), VALID);
}

#[test]
fn reads_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tile.yaml");
    assert!(Document::read(&path).is_err());
    std::fs::write(&path, format!("\u{feff}{VALID}")).unwrap();
    let document = Document::read(&path).unwrap();
    assert_eq!(document.name(), path.display().to_string());
    assert!(document.deserialize::<Tile>().is_ok());
}

/// Parses any text; a problem must point into the text and be printable.
fn parse_or_locate(text: &str) -> Result<(), TestCaseError> {
    let document = match Document::parse("any", text) {
        Ok(document) => document,
        Err(problem) => return printable(problem),
    };
    // A type that accepts everything reaches every value.
    document.deserialize::<serde_yaml::Value>().map_or_else(printable, |_| Ok(()))?;
    document.deserialize::<Tile>().map_or_else(printable, |_| Ok(()))
}

fn printable(problem: Diagnostic) -> Result<(), TestCaseError> {
    prop_assert!(problem.location().is_some(), "{:?}", problem);
    let shown = format!("{:?}", miette::Report::new(problem));
    prop_assert!(!shown.contains("Failed to read"), "{}", shown);
    Ok(())
}

fn tile() -> impl Strategy<Value = Tile> {
    // serde_yaml writes variants with contents as tags, which are not supported here.
    let role = any::<bool>().prop_map(|read| if read { Role::Read } else { Role::Write });
    let controller =
        (prop::collection::vec(any::<i64>(), 0..4), role).prop_map(|(stride, role)| Controller { stride, role });
    let memory = any::<(u8, u64, [u32; 2], bool)>().prop_map(|(rows, columns, ports, gated)| Memory {
        rows,
        columns,
        ports,
        gated,
    });
    // Line and paragraph separators end a line in YAML 1.1, which serde_yaml writes, not in 1.2.
    let text = "[^\\p{C}\\p{Zl}\\p{Zp}]{0,12}";
    let controllers = prop::collection::btree_map(text, controller, 0..4);
    let scale = prop::option::of(-1e6..1e6);
    (text, memory, controllers, scale).prop_map(|(name, memory, controllers, scale)| Tile {
        name,
        memory,
        controllers,
        scale,
    })
}

/// Found by `reads_what_serde_yaml_writes`: a key that is an en quad (U+2000) was taken for a missing one.
#[test]
fn reads_keys_of_unicode_space() {
    let counts: BTreeMap<String, u32> = Document::parse("t", "\u{2000}: 1\n").unwrap().deserialize().unwrap();
    assert_eq!(counts, BTreeMap::from([("\u{2000}".to_owned(), 1)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_read_or_located(bytes: Vec<u8>) {
        parse_or_locate(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn yaml_like_text_is_read_or_located(
        text in "([a-cé→]|[0-9~]|: |- |\\? |[\\[\\]{},:&*!|>'\"#%@`\\\\-]|[ \t]|\r?\n|---|<<){0,60}",
    ) {
        parse_or_locate(&text)?;
    }

    #[test]
    fn mutated_documents_are_read_or_located(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, any::<char>()), 1..6),
    ) {
        const REPLACEMENTS: [char; 8] = ['\n', ' ', ':', '[', '}', '\'', '\t', '|'];
        let mut characters: Vec<char> = VALID.chars().collect();
        for (index, kind, character) in changes {
            let position = index.index(characters.len());
            match kind {
                0 => { characters.remove(position); }
                1 => characters.insert(position, character),
                2 => characters[position] = REPLACEMENTS[character as usize % 8],
                _ => characters.truncate(position + 10),
            }
        }
        parse_or_locate(&characters.into_iter().collect::<String>())?;
    }

    /// Another YAML library agrees about what is written.
    #[test]
    fn reads_what_serde_yaml_writes(tile in tile()) {
        let text = serde_yaml::to_string(&tile).unwrap();
        prop_assert_eq!(parse(&text).unwrap(), tile);
    }
}
