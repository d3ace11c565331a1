//! Netlists, placements and routings as text.

use pushmem_files::{Diagnostic, Document};
use pushmem_netlist::Netlist;
use pushmem_netlists::{NetlistSize, harris, random};
use pushmem_placement::Placement;
use pushmem_routing::{Implementation, Options, Routing};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::Array;

fn document(text: &str) -> Document {
    Document::parse("text.yaml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn texts_lose_nothing() {
    for (number, hop_limit) in [1, 2, 4, 1, 2, 4].into_iter().enumerate() {
        let array = Array::new(8, 8, 5, hop_limit, "memory: {tile: small, every: 2}\n");
        let Array { spec, graph, .. } = &array;
        let shape = NetlistSize { pes: 20, memories: 8, inputs: 3, outputs: 3, loops: 2 };
        let netlist = random(spec, shape, &mut ChaCha8Rng::seed_from_u64(number as u64));
        netlist.check(spec).unwrap();
        let Implementation { placement, routing, .. } = array.implement(&netlist, Options::default()).unwrap();
        let read = Netlist::from_document(&document(&netlist.to_yaml(spec)), spec);
        assert_eq!(read.unwrap_or_else(|error| panic!("{error}")), netlist);
        let read = Placement::from_document(&document(&placement.to_yaml(&netlist, spec)), &netlist, spec);
        assert_eq!(read.unwrap_or_else(|error| panic!("{error}")), placement);
        let text = routing.to_yaml(&netlist, spec, graph);
        let read = Routing::from_document(&document(&text), &netlist, spec, graph, &placement);
        assert_eq!(read.unwrap_or_else(|error| panic!("{error}")), routing);
    }
}

/// A change of a text, and the message about it.
type Change<'a> = (&'a str, &'a str, &'a str);

fn refused(text: &str, (from, to, message): Change, read: impl Fn(&Document) -> Option<Diagnostic>) {
    assert!(text.contains(from), "`{from}` is not in\n{text}");
    let changed = text.replacen(from, to, 1);
    let error = read(&document(&changed)).unwrap_or_else(|| panic!("`{to}` was accepted"));
    assert!(error.message().contains(message), "{error} for `{to}`");
    assert!(error.location().is_some() && error.help().is_some(), "{error}");
}

#[test]
fn faults_in_texts_are_located() {
    let array = Array::new(16, 8, 4, 1, "memory: {tile: small, every: 4}\n");
    let Array { spec, graph, .. } = &array;
    let netlist = harris(spec);
    let Implementation { placement, routing, .. } = array.implement(&netlist, Options::default()).unwrap();
    let text = netlist.to_yaml(spec);
    for change in [
        ("array: test", "array: other", "is for `other`"),
        ("name: input_0", "name: in.put", "there is no cell `input_0`"),
        ("name: pe_3", "name: pe_4", "there is no cell `pe_3`"),
        ("operation: add}", "operation: add_carry}", "has no operation `add_carry`"),
        ("operation: add}", "stream: input}", "there is no port"),
        ("stream: input", "stream: input, lut: 3", "has no operation"),
        // A bit of loop indices is no word.
        ("stream: input", "predicate: {extent: [3], cycle: {start: 0, stride: [1]}}", "there is no port `data`"),
        ("from: input_0.data", "from: input_0.dato", "there is no port `dato`"),
        ("from: input_0.data", "from: input_0", "expected a cell and a port"),
        ("constants: {b: 1}", "constants: {a: 1}", "is a constant"),
        ("constants: {b: 1}", "constants: {b: 65536}", "does not fit"),
        ("constants: {b: 1}", "constants: {g: 1}", "there is no operand `g`"),
        ("constants: {b: 1}", "constants: {d: 2}", "0 or 1"),
        ("layer: word", "layer: bit", "there is no port"),
        ("cycles: ", "cycles: 999999999999999", "does not stay below 2^48"),
        ("cycles: ", "cycles: -999999999999999", "does not stay below 2^48"),
    ] {
        refused(&text, change, |document| Netlist::from_document(document, spec).err());
    }
    let text = placement.to_yaml(&netlist, spec);
    let line = |name: &str| text.lines().find(|line| line.starts_with(&format!("  {name}:"))).unwrap().to_owned();
    let tile = |name: &str| line(name).split_once(": ").unwrap().1.to_owned();
    let names: Vec<&str> = netlist.cells.iter().map(|cell| cell.name.as_str()).collect();
    let element = |name: &&&str| name.starts_with("pe_");
    let (first, second) = (names.iter().find(element).unwrap(), names.iter().filter(element).nth(1).unwrap());
    for (from, to, message) in [
        (line(first), format!("  {first}: {}", tile(second)), "is that of"),
        (line(first), format!("  {first}: {}", tile(names[0])), "of another kind"),
        (line(first), format!("  {first}: pe_0_9"), "has no tile"),
        (line(first), format!("  {first}x: {}", tile(first)), "has no cell"),
        (format!("{}\n", line(first)), String::new(), "has no place"),
        ("netlist: harris".to_owned(), "netlist: other".to_owned(), "is for `other`"),
    ] {
        refused(&text, (&from, &to, message), |document| Placement::from_document(document, &netlist, spec).err());
    }
    let text = routing.to_yaml(&netlist, spec, graph);
    let is_long = |line: &&str| line.contains("tracks: [") && !line.contains("delay") && line.matches(", ").count() > 3;
    let route = text.lines().find(is_long).unwrap();
    let tracks = route.split_once('[').unwrap().1.trim_end_matches("]}");
    let first_track = tracks.split(", ").next().unwrap();
    let cell = names[1];
    let lag = text.lines().find(|line| line.starts_with(&format!("  {cell}: "))).unwrap();
    for (from, to, message) in [
        (route.to_owned(), route.replace(first_track, "pe_0_1.east_7"), "has no track"),
        (route.to_owned(), route.replace(&format!("{first_track}, "), ""), "cannot take"),
        (route.to_owned(), route.replace(first_track, "pe_2147483648_2.east_7"), "has no track"),
        (route.to_owned(), route.replace("from: ", "from: x"), "expected the route"),
        (format!("{route}\n"), String::new(), "expected the route"),
        (route.to_owned(), route.replace("tracks", "delay: 7, tracks"), "can be late by"),
        (lag.to_owned(), format!("{lag}00"), "its cells' lags ask for"),
        (lag.to_owned(), format!("  {cell}: 9223372036854775807"), "does not stay below 2^48"),
        (format!("{lag}\n"), String::new(), "has no lag"),
        ("lags:\n".to_owned(), "lags:\n  nobody: 3\n".to_owned(), "has no cell"),
    ] {
        refused(&text, (&from, &to, message), |document| {
            Routing::from_document(document, &netlist, spec, graph, &placement).err()
        });
    }
}
