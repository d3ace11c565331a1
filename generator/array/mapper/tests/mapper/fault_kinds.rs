//! Kinds of faults in the stages of a build, planted as a person edits them: none that changes a word that leaves is written.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_assembly::Constraints;
use pushmem_bitstream::{Bitstream, Configuration, decode};
use pushmem_compiler::Compiled;
use pushmem_configuration::RegisterWrite;
use pushmem_files::{Diagnostic, Document};
use pushmem_mapper::{ArrayTarget, Edited, Mapped, compile_for, execute};
use pushmem_nest::Program;
use pushmem_routing::Options;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_yaml::{Mapping, Value};

use crate::common::{array, beside};

/// Weights that wait for a window, a delay of a line in a memory, edges, a table, comparisons and their bits.
const FEATURES: &str = "
name: features
inputs: {input: {type: i16, shape: [32, 8]}, weights: {type: i16, shape: [2]}}
outputs: {output: {type: i16, shape: [32, 8]}}
buffers:
  loaded: {type: i16, shape: [32, 8]}
  kept: {type: i16, shape: [2]}
  blurred: {type: i16, shape: [32, 8]}
tables: {curve: {type: i16, values: [9, 3, 4, 7, 1, 12, 30, 2, 5, 6, 8, 11, 14, 13, 21, 19]}}
nest:
  - for i in 0..2 unroll 2:
    - kept[i] = weights[i]
  - for y in 0..8:
    - for x in 0..32:
      - loaded[x, y] = input[x, y]
  - for y in 0..8:
    - for x in 0..32:
      - blurred[x, y] = kept[0] * loaded[mirror(x-1, 0, 31), y] + kept[1] * loaded[x, mirror(y-1, 0, 7)] - loaded[x, y] / 4
  - for y in 0..8:
    - for x in 0..32:
      - output[x, y] = sel(blurred[x, y] > 300 && blurred[x, y] <= 20000, curve[min(max(loaded[x, y], 0), 15)], blurred[x, y] + 7)
";

/// A sum in a memory, whose loop takes cycles for its routes.
const SUM: &str = "
name: sum
inputs: {input: {type: u16, shape: [10, 5]}}
outputs: {output: {type: u16, shape: [8, 3]}}
buffers: {sums: {type: u16, shape: [8, 3]}}
nest:
  - for y in 0..3:
    - for x in 0..8:
      - sums[x, y] = 0
  - for k in 0..3:
    - for y in 0..3:
      - for x in 0..8:
        - sums[x, y] += input[x+k, y+k] * 3
  - for y in 0..3:
    - for x in 0..8:
      - output[x, y] = sums[x, y]
";

/// How often each kind is tried in each program.
const TRIES: usize = 3;

/// How many places are drawn for a fault: where some are drawn, it changes nothing.
const DRAWS: usize = 20;

type Random = ChaCha8Rng;
/// Changes one thing, chosen at random; nothing if there is none of the kind.
type Plant = Box<dyn Fn(&mut Value, &mut Random) -> Option<()>>;
/// The same, of the writes of a bitstream.
type PlantWrites = fn(&mut Vec<RegisterWrite>, &mut Random) -> Option<()>;

/// The stage in which a fault is.
enum Stage {
    Netlist(Plant),
    /// Other places with the same routes.
    Placement(Plant),
    /// Other places with the same configuration.
    Site(Plant),
    Routing(Plant),
    Configuration(Plant),
    Bitstream(PlantWrites),
}

/// Values below a key, wherever it is.
fn below<'a>(value: &'a mut Value, key: &str) -> Vec<&'a mut Value> {
    match value {
        Value::Mapping(mapping) => mapping
            .iter_mut()
            .flat_map(|(name, value)| if name.as_str() == Some(key) { vec![value] } else { below(value, key) })
            .collect(),
        Value::Sequence(values) => values.iter_mut().flat_map(|value| below(value, key)).collect(),
        _ => Vec::new(),
    }
}

fn any<T>(mut items: Vec<T>, random: &mut Random) -> Option<T> {
    let place = (!items.is_empty()).then(|| random.random_range(0..items.len()))?;
    Some(items.swap_remove(place))
}

/// Two different places of so many.
fn two(count: usize, random: &mut Random) -> Option<(usize, usize)> {
    let first = (count > 1).then(|| random.random_range(0..count))?;
    Some((first, (first + random.random_range(1..count)) % count))
}

fn add(value: &mut Value, by: i64) -> Option<()> {
    *value = Value::from(value.as_i64()? + by);
    Some(())
}

/// A number below a key, or one of several there.
fn number<'a>(value: &'a mut Value, key: &str, random: &mut Random) -> Option<&'a mut Value> {
    match any(below(value, key), random)? {
        Value::Sequence(values) => any(values.iter_mut().collect(), random),
        Value::Mapping(values) => any(values.values_mut().collect(), random),
        value => Some(value),
    }
}

/// Entries of a list that have a key.
fn entries<'a>(value: &'a mut Value, list: &str, with: &str) -> Vec<&'a mut Mapping> {
    let list = value.get_mut(list).and_then(Value::as_sequence_mut).into_iter().flatten();
    list.filter_map(Value::as_mapping_mut).filter(|entry| entry.contains_key(with)).collect()
}

/// Exchanges what two of some entries have below a key.
fn exchange(entries: Vec<&mut Mapping>, key: &str, random: &mut Random) -> Option<()> {
    let mut entries = entries;
    let (one, other) = two(entries.len(), random)?;
    let saved = entries[one].get(key)?.clone();
    let taken = std::mem::replace(entries[other].get_mut(key)?, saved);
    entries[one].insert(key.into(), taken);
    Some(())
}

/// The entries of a mapping whose values contain some text.
fn named<'a>(value: &'a mut Value, mapping: &str, text: &str) -> Vec<&'a mut Value> {
    let entries = value.get_mut(mapping).and_then(Value::as_mapping_mut).into_iter().flatten();
    entries
        .filter(|(name, value)| [name.as_str(), value.as_str()].into_iter().flatten().any(|of| of.contains(text)))
        .map(|(_, value)| value)
        .collect()
}

/// Another resource: `east_1` for `east_0`, and a track for another output of a core.
fn renumber(value: &mut Value, random: &mut Random) -> Option<()> {
    let name = value.as_str()?;
    let numbered = name.rsplit_once('_').and_then(|(start, digit)| Some((start, digit.parse::<u32>().ok()?)));
    let other = match numbered {
        Some((start, number)) => format!("{start}_{}", (number + random.random_range(1..5)) % 5),
        None => format!("{}_0", ["north", "south", "east", "west"].choose(random)?),
    };
    *value = Value::from(other);
    Some(())
}

/// The sinks of each net.
fn sinks(value: &mut Value) -> Vec<&mut Vec<Value>> {
    let nets = value.get_mut("nets").and_then(Value::as_sequence_mut).into_iter().flatten();
    nets.filter_map(|net| net.get_mut("to")?.as_sequence_mut()).collect()
}

/// All kinds with their names.
fn kinds() -> Vec<(String, Stage)> {
    let mut kinds: Vec<(String, Stage)> = Vec::new();
    netlists(&mut |name, plant| kinds.push((format!("netlist: {name}"), Stage::Netlist(plant))));
    places(&mut |name, plant| kinds.push((format!("placement: {name}"), Stage::Placement(plant))));
    kinds.push((
        "placement: streams exchanged with the same configuration".to_owned(),
        Stage::Site(Box::new(|value, random| {
            let (mut places, random) = (named(value, "places", "io_"), random);
            let (one, other) = two(places.len(), random)?;
            let saved = places[one].clone();
            *places[one] = std::mem::replace(places[other], saved);
            Some(())
        })),
    ));
    routes(&mut |name, plant| kinds.push((format!("routing: {name}"), Stage::Routing(plant))));
    lags(&mut |name, plant| kinds.push((format!("starts: {name}"), Stage::Routing(plant))));
    tiles(&mut |name, plant| kinds.push((format!("configuration: {name}"), Stage::Configuration(plant))));
    controllers(&mut |name, plant| kinds.push((format!("configuration: {name}"), Stage::Configuration(plant))));
    kinds.extend(writes().into_iter().map(|(name, plant)| (format!("bitstream: {name}"), Stage::Bitstream(plant))));
    kinds
}

type Add<'a> = &'a mut dyn FnMut(String, Plant);

fn netlists(kind: Add) {
    let mut one = |name: &str, plant: Plant| kind(name.to_owned(), plant);
    one(
        "another operation",
        Box::new(|value, random| {
            let operation = number(value, "operation", random)?;
            let others = ["add", "subtract", "multiply", "minimum_signed", "maximum_signed", "shift_left"];
            let others: Vec<_> = others.into_iter().filter(|other| operation.as_str() != Some(other)).collect();
            *operation = Value::from(*others.choose(random)?);
            Some(())
        }),
    );
    one("a constant and 1", Box::new(|value, random| add(number(value, "constants", random)?, 1)));
    one("a constant less 1", Box::new(|value, random| add(number(value, "constants", random)?, -1)));
    one(
        "the high bit of a constant",
        Box::new(|value, random| {
            let constant = number(value, "constants", random)?;
            *constant = Value::from(constant.as_i64()? ^ 0x8000);
            Some(())
        }),
    );
    one(
        "a constant of the other operand",
        Box::new(|value, random| {
            let constants = any(below(value, "constants"), random)?.as_mapping_mut()?;
            let renamed =
                |(name, value): (&Value, &Value)| (Value::from(if name == "a" { "b" } else { "a" }), value.clone());
            *constants = constants.iter().map(renamed).collect();
            Some(())
        }),
    );
    one(
        "a constant in place of a net",
        Box::new(|value, random| {
            let cell = any(entries(value, "cells", "operation"), random)?;
            cell.insert("constants".into(), Mapping::from_iter([("a".into(), 1.into())]).into());
            Some(())
        }),
    );
    one(
        "an operand that holds no word",
        Box::new(|value, random| any(entries(value, "cells", "modes"), random)?.remove("modes").map(|_| ())),
    );
    one(
        "an operand that holds a word",
        Box::new(|value, random| {
            let cell = any(entries(value, "cells", "operation"), random)?;
            cell.insert("modes".into(), Mapping::from_iter([("a".into(), "held".into())]).into());
            Some(())
        }),
    );
    one(
        "a bit of a look-up table",
        Box::new(|value, random| {
            let table = number(value, "lut", random)?;
            *table = Value::from(table.as_i64()? ^ (1 << random.random_range(0..8)));
            Some(())
        }),
    );
    one(
        "no look-up table",
        Box::new(|value, random| any(entries(value, "cells", "lut"), random)?.remove("lut").map(|_| ())),
    );
    one(
        "two sinks exchanged",
        Box::new(|value, random| {
            let mut nets = sinks(value);
            let (from, to) = two(nets.len(), random)?;
            let (one, other) = (random.random_range(0..nets[from].len()), random.random_range(0..nets[to].len()));
            let name = nets[from][one].get("input")?.clone();
            let taken = std::mem::replace(nets[to][other].get_mut("input")?, name);
            *nets[from][one].get_mut("input")? = taken;
            Some(())
        }),
    );
    one(
        "a sink of another net",
        Box::new(|value, random| {
            let mut nets = sinks(value);
            let (from, to) = two(nets.len(), random)?;
            let sink = random.random_range(0..nets[from].len());
            let sink = nets[from].remove(sink);
            nets[to].push(sink);
            Some(())
        }),
    );
    one("a sink too late", Box::new(|value, random| add(number(value, "cycles", random)?, 1)));
    one("a sink too early", Box::new(|value, random| add(number(value, "cycles", random)?, -1)));
    one(
        "a sink missing",
        Box::new(|value, random| {
            let net = any(sinks(value).into_iter().filter(|sinks| sinks.len() > 1).collect(), random)?;
            net.remove(random.random_range(0..net.len()));
            Some(())
        }),
    );
    for list in ["nets", "cells"] {
        one(
            &format!("one of the {list} missing"),
            Box::new(move |value, random| {
                let values = value.get_mut(list)?.as_sequence_mut()?;
                values.remove(random.random_range(0..values.len()));
                Some(())
            }),
        );
    }
    one("sources exchanged", Box::new(|value, random| exchange(entries(value, "nets", "from"), "from", random)));
    one(
        "input streams exchanged",
        Box::new(|value, random| {
            let nets = entries(value, "nets", "from");
            let is_input = |net: &&mut Mapping| net["from"].as_str().is_some_and(|from| from.ends_with(".data"));
            exchange(nets.into_iter().filter(is_input).collect(), "from", random)
        }),
    );
    one(
        "operations exchanged",
        Box::new(|value, random| exchange(entries(value, "cells", "operation"), "operation", random)),
    );
    one("names exchanged", Box::new(|value, random| exchange(entries(value, "cells", "operation"), "name", random)));
    one(
        "a net of the other layer",
        Box::new(|value, random| {
            let layer = number(value, "layer", random)?;
            *layer = Value::from(if layer.as_str() == Some("word") { "bit" } else { "word" });
            Some(())
        }),
    );
    one("a word of a table", Box::new(|value, random| add(number(value, "contents", random)?, 1)));
    one(
        "a table turned",
        Box::new(|value, random| {
            any(below(value, "contents"), random)?.as_sequence_mut()?.rotate_left(1);
            Some(())
        }),
    );
}

fn places(kind: Add) {
    for tile in ["pe_", "mem_", "io_"] {
        let exchanged: Plant = Box::new(move |value, random| {
            let mut places = named(value, "places", tile);
            let (one, other) = two(places.len(), random)?;
            let saved = places[one].clone();
            *places[one] = std::mem::replace(places[other], saved);
            Some(())
        });
        kind(format!("{tile} tiles exchanged"), exchanged);
        let moved: Plant = Box::new(move |value, random| {
            let place = any(named(value, "places", tile), random)?;
            *place = Value::from(match tile {
                "pe_" => "pe_0_9",
                "mem_" => "mem_3_9",
                _ => "io_2_0",
            });
            Some(())
        });
        kind(format!("a free {tile} tile"), moved);
        let shared: Plant = Box::new(move |value, random| {
            let mut places = named(value, "places", tile);
            let (one, other) = two(places.len(), random)?;
            *places[one] = places[other].clone();
            Some(())
        });
        kind(format!("one {tile} tile for two"), shared);
    }
    for (name, place) in [("a tile of another kind", "mem_3_4"), ("a tile outside", "pe_40_3")] {
        kind(
            name.to_owned(),
            Box::new(move |value, random| {
                *any(named(value, "places", "pe_"), random)? = Value::from(place);
                Some(())
            }),
        );
    }
    kind(
        "no place".to_owned(),
        Box::new(|value, random| {
            let places = value.get_mut("places")?.as_mapping_mut()?;
            let name = any(places.keys().cloned().collect(), random)?;
            places.remove(&name).map(|_| ())
        }),
    );
}

fn routes(kind: Add) {
    let mut one = |name: &str, plant: Plant| kind(name.to_owned(), plant);
    one(
        "a track missing",
        Box::new(|value, random| {
            let tracks = any(below(value, "tracks"), random)?.as_sequence_mut()?;
            (!tracks.is_empty()).then(|| tracks.remove(random.random_range(0..tracks.len())))?;
            Some(())
        }),
    );
    one(
        "another track",
        Box::new(|value, random| {
            let tracks = any(below(value, "tracks"), random)?.as_sequence_mut()?;
            let track = any(tracks.iter_mut().collect(), random)?;
            renumber(track, random)
        }),
    );
    one(
        "a delay more",
        Box::new(|value, random| {
            let route = any(entries(value, "routes", "to"), random)?;
            let delay = route.get("delay").and_then(Value::as_i64).unwrap_or(0);
            route.insert("delay".into(), Value::from(delay + 1));
            Some(())
        }),
    );
    one("a delay less", Box::new(|value, random| add(number(value, "delay", random)?, -1)));
    one(
        "a delay on another route",
        Box::new(|value, random| {
            let mut routes = entries(value, "routes", "to");
            let (one, other) = two(routes.len(), random)?;
            let delay = routes[one].remove("delay")?;
            routes[other].insert("delay".into(), delay);
            Some(())
        }),
    );
    one(
        "a route missing",
        Box::new(|value, random| {
            let routes = value.get_mut("routes")?.as_sequence_mut()?;
            routes.remove(random.random_range(0..routes.len()));
            Some(())
        }),
    );
    one(
        "a route twice",
        Box::new(|value, random| {
            let routes = value.get_mut("routes")?.as_sequence_mut()?;
            routes.push(routes[random.random_range(0..routes.len())].clone());
            Some(())
        }),
    );
    for key in ["tracks", "from", "to"] {
        one(
            &format!("`{key}` exchanged"),
            Box::new(move |value, random| exchange(entries(value, "routes", key), key, random)),
        );
    }
}

fn lags(kind: Add) {
    for of in ["input", "weights", "memory", "curve", "predicate", "blurred", "output", "sums"] {
        for by in [1, -1] {
            let plant: Plant = Box::new(move |value, random| {
                let lags = value.get_mut("lags")?.as_mapping_mut()?;
                let is_one = |(name, value): (&Value, _)| name.as_str()?.contains(of).then_some(value);
                let lags: Vec<&mut Value> = lags.iter_mut().filter_map(|(name, value)| is_one((name, value))).collect();
                add(any(lags, random)?, by)
            });
            kind(format!("{of} {by:+}"), plant);
        }
    }
    kind(
        "two exchanged".to_owned(),
        Box::new(|value, random| {
            let mut lags: Vec<&mut Value> = value.get_mut("lags")?.as_mapping_mut()?.values_mut().collect();
            let (one, other) = two(lags.len(), random)?;
            let saved = lags[one].clone();
            *lags[one] = std::mem::replace(lags[other], saved);
            Some(())
        }),
    );
    kind(
        "one missing".to_owned(),
        Box::new(|value, random| {
            let lags = value.get_mut("lags")?.as_mapping_mut()?;
            let name = any(lags.keys().cloned().collect(), random)?;
            lags.remove(&name).map(|_| ())
        }),
    );
}

/// Cores and tracks of tiles.
fn tiles(kind: Add) {
    let mut one = |name: &str, plant: Plant| kind(name.to_owned(), plant);
    one(
        "another operation",
        Box::new(|value, random| {
            let operation = number(value, "operation", random)?;
            *operation = Value::from(if operation.as_str() == Some("add") { "subtract" } else { "add" });
            Some(())
        }),
    );
    one("a constant and 1", Box::new(|value, random| add(number(value, "constant", random)?, 1)));
    one(
        "an operand of another track",
        Box::new(|value, random| {
            let operands = any(below(value, "operands"), random)?.as_mapping_mut()?;
            let from = operands.values_mut().filter_map(|operand| operand.get_mut("from")).collect();
            renumber(any(from, random)?, random)
        }),
    );
    one(
        "operands exchanged",
        Box::new(|value, random| {
            let operands = any(below(value, "operands"), random)?.as_mapping_mut()?;
            let (a, b) = (operands.get("a")?.clone(), operands.get("b")?.clone());
            operands.insert("a".into(), b);
            operands.insert("b".into(), a);
            Some(())
        }),
    );
    one(
        "an operand a cycle late",
        Box::new(|value, random| {
            let operands = any(below(value, "operands"), random)?.as_mapping_mut()?;
            let direct = operands.values_mut().filter(|of| of.get("from").is_some() && of.get("delay").is_none());
            any(direct.collect(), random)?.as_mapping_mut()?.insert("delay".into(), 1.into());
            Some(())
        }),
    );
    for key in ["delay", "mode"] {
        one(
            &format!("no {key} of an operand"),
            Box::new(move |value, random| {
                let operands = below(value, "operands").into_iter().filter_map(Value::as_mapping_mut);
                let operands = operands.flat_map(|operands| operands.values_mut()).filter_map(Value::as_mapping_mut);
                any(operands.filter(|operand| operand.contains_key(key)).collect(), random)?.remove(key).map(|_| ())
            }),
        );
    }
    one(
        "an operand that holds a word",
        Box::new(|value, random| {
            let operands = any(below(value, "operands"), random)?.as_mapping_mut()?;
            let direct = operands.values_mut().filter(|of| of.get("from").is_some() && of.get("delay").is_none());
            any(direct.collect(), random)?.as_mapping_mut()?.insert("mode".into(), "held".into());
            Some(())
        }),
    );
    one(
        "a bit of a look-up table",
        Box::new(|value, random| {
            let table = number(value, "lut", random)?;
            *table = Value::from(table.as_i64()? ^ (1 << random.random_range(0..8)));
            Some(())
        }),
    );
    for layer in ["words", "bits", "inputs"] {
        one(
            &format!("another source of `{layer}`"),
            Box::new(move |value, random| renumber(number(value, layer, random)?, random)),
        );
        one(
            &format!("one of `{layer}` missing"),
            Box::new(move |value, random| {
                let tracks = any(below(value, layer), random)?.as_mapping_mut()?;
                let name = any(tracks.keys().cloned().collect(), random)?;
                tracks.remove(&name).map(|_| ())
            }),
        );
    }
    one(
        "two sources of tracks exchanged",
        Box::new(|value, random| {
            let tracks = below(value, "words").into_iter().filter_map(Value::as_mapping_mut);
            let tracks = any(tracks.filter(|tracks| tracks.len() > 1).collect(), random)?;
            let mut sources: Vec<&mut Value> = tracks.values_mut().collect();
            let (one, other) = two(sources.len(), random)?;
            let saved = sources[one].clone();
            *sources[one] = std::mem::replace(sources[other], saved);
            Some(())
        }),
    );
    one(
        "a tile missing",
        Box::new(|value, random| {
            let tiles = value.get_mut("tiles")?.as_mapping_mut()?;
            let name = any(tiles.keys().cloned().collect(), random)?;
            tiles.remove(&name).map(|_| ())
        }),
    );
    one("a word of a table", Box::new(|value, random| add(number(value, "contents", random)?, 1)));
    one(
        "a table turned",
        Box::new(|value, random| {
            any(below(value, "contents"), random)?.as_sequence_mut()?.rotate_left(1);
            Some(())
        }),
    );
}

/// Controllers of memories and streams.
fn controllers(kind: Add) {
    let schedules =
        ["in2agg_0", "agg2sram_0", "sram2tb_0", "tb2out_0", "stencil_valid", "rom2out_0", "stream_in", "stream_out"];
    let fields: [(&str, &[&str], i64); 6] = [
        ("start +1", &["cycle", "start"], 1),
        ("start -1", &["cycle", "start"], -1),
        ("extent +1", &["extent"], 1),
        ("extent -1", &["extent"], -1),
        ("stride +1", &["cycle", "stride"], 1),
        ("stride -1", &["cycle", "stride"], -1),
    ];
    for controller in schedules {
        for (name, path, by) in fields {
            kind(
                format!("{controller} {name}"),
                Box::new(move |value, random| field(value, controller, path, by, random)),
            );
        }
        if !controller.starts_with("stream") {
            kind(
                format!("{controller} missing"),
                Box::new(move |value, random| {
                    let all = below(value, "controllers").into_iter().filter_map(Value::as_mapping_mut);
                    any(all.filter(|all| all.contains_key(controller)).collect(), random)?
                        .remove(controller)
                        .map(|_| ())
                }),
            );
        }
    }
    for (controller, memory) in [
        ("in2agg_0", "agg"),
        ("agg2sram_0", "agg"),
        ("agg2sram_0", "sram"),
        ("sram2tb_0", "sram"),
        ("sram2tb_0", "tb"),
        ("tb2out_0", "tb"),
    ] {
        for part in ["start", "stride"] {
            kind(
                format!("{controller} {memory} {part} +1"),
                Box::new(move |value, random| field(value, controller, &[memory, part], 1, random)),
            );
        }
    }
}

/// Adds to a field of a controller.
fn field(value: &mut Value, controller: &str, path: &[&str], by: i64, random: &mut Random) -> Option<()> {
    let numbers = below(value, controller).into_iter().flat_map(|controller| -> Vec<&mut Value> {
        match path.iter().try_fold(controller, |found, key| found.get_mut(*key)) {
            Some(Value::Sequence(values)) => values.iter_mut().collect(),
            found => found.into_iter().collect(),
        }
    });
    add(any(numbers.collect(), random)?, by)
}

fn writes() -> Vec<(&'static str, PlantWrites)> {
    fn one<'a>(writes: &'a mut [RegisterWrite], random: &mut Random) -> Option<&'a mut RegisterWrite> {
        let place = random.random_range(0..writes.len());
        writes.get_mut(place)
    }
    vec![
        ("a write missing", |writes, random| {
            writes.remove(random.random_range(0..writes.len()));
            Some(())
        }),
        ("a write twice, with other data", |writes, random| {
            let mut again = *one(writes, random)?;
            again.data ^= 1 << random.random_range(0..32);
            writes.push(again);
            Some(())
        }),
        ("data exchanged", |writes, random| {
            let (one, other) = two(writes.len(), random)?;
            let data = writes[one].data;
            writes[one].data = writes[other].data;
            writes[other].data = data;
            Some(())
        }),
        ("addresses exchanged", |writes, random| {
            let (one, other) = two(writes.len(), random)?;
            let address = writes[one].address;
            writes[one].address = writes[other].address;
            writes[other].address = address;
            Some(())
        }),
        ("a bit of an address", |writes, random| {
            one(writes, random)?.address ^= 1 << random.random_range(0..32);
            Some(())
        }),
        ("a bit of data", |writes, random| {
            one(writes, random)?.data ^= 1 << random.random_range(0..32);
            Some(())
        }),
        ("data of zeros", |writes, random| {
            one(writes, random)?.data = 0;
            Some(())
        }),
        ("data of ones", |writes, random| {
            one(writes, random)?.data = u32::MAX;
            Some(())
        }),
        ("the second half missing", |writes, _| {
            writes.truncate(writes.len() / 2);
            Some(())
        }),
        ("the digest of another array", |writes, _| {
            writes[0].data ^= 1;
            Some(())
        }),
        ("a tile in the next column", |writes, random| {
            one(writes, random)?.address ^= 1 << 16;
            Some(())
        }),
    ]
}

/// A build without faults, and its stages as text.
struct Right {
    program: Program,
    target: ArrayTarget,
    compiled: Compiled,
    mapped: Mapped,
    netlist: String,
    placement: String,
    routing: String,
    configuration: String,
}

fn document(text: &str) -> Result<Document, Diagnostic> {
    Document::parse("edited.yaml", text)
}

/// The text with a fault; nothing if the fault changes nothing.
fn planted(text: &str, plant: &Plant, random: &mut Random) -> Option<String> {
    let mut value: Value = serde_yaml::from_str(text).unwrap();
    let before = value.clone();
    plant(&mut value, random)?;
    (value != before).then(|| serde_yaml::to_string(&value).unwrap())
}

impl Right {
    fn of(text: &str) -> Self {
        let target = ArrayTarget::new(array("amber"));
        let program = Program::from_document(&document(text).unwrap()).unwrap().program;
        let (compiled, mapped) = built(&program, &target, &Edited::default()).unwrap();
        let (spec, netlist, implementation) = (&target.spec, &mapped.lowered.netlist, &mapped.implementation);
        Right {
            netlist: netlist.to_yaml(spec),
            placement: implementation.placement.to_yaml(netlist, spec),
            routing: implementation.routing.to_yaml(netlist, spec, &target.graph),
            configuration: mapped.configuration.to_yaml(spec, &target.graph),
            program,
            compiled,
            mapped,
            target,
        }
    }

    /// The build with a fault of a kind; nothing where the program has no place for one. Faults that a reader refuses are an error.
    fn with(&self, stage: &Stage, random: &mut Random) -> Option<Result<(Compiled, Mapped), Diagnostic>> {
        let ArrayTarget { spec, graph, .. } = &self.target;
        let read = |text: &str| document(text).map(Some);
        let edited = match stage {
            Stage::Netlist(plant) => {
                let text = planted(&self.netlist, plant, random)?;
                read(&text).map(|netlist| Edited { netlist, ..Edited::default() })
            }
            Stage::Placement(plant) => {
                let text = planted(&self.placement, plant, random)?;
                let routing = read(&self.routing).unwrap();
                read(&text).map(|placement| Edited { placement, routing, ..Edited::default() })
            }
            Stage::Site(plant) => {
                let text = planted(&self.placement, plant, random)?;
                let configuration = Some(self.mapped.configuration.clone());
                read(&text).map(|placement| Edited { placement, configuration, ..Edited::default() })
            }
            Stage::Routing(plant) => {
                let text = planted(&self.routing, plant, random)?;
                let placement = read(&self.placement).unwrap();
                read(&text).map(|routing| Edited { placement, routing, ..Edited::default() })
            }
            Stage::Configuration(plant) => {
                let text = planted(&self.configuration, plant, random)?;
                let found = document(&text).and_then(|document| Configuration::from_document(&document, spec, graph));
                self.configured(found)
            }
            Stage::Bitstream(plant) => {
                let mut writes = self.mapped.bitstream.writes.clone();
                plant(&mut writes, random)?;
                if writes == self.mapped.bitstream.writes {
                    return None;
                }
                let found = decode(&Bitstream { writes }, spec, graph);
                self.configured(found.map_err(|error| Diagnostic::new(error.message)))
            }
        };
        Some(edited.and_then(|edited| built(&self.program, &self.target, &edited)))
    }

    fn configured(&self, found: Result<Configuration, Diagnostic>) -> Result<Edited, Diagnostic> {
        let placement = Some(document(&self.placement).unwrap());
        found.map(|configuration| Edited { placement, configuration: Some(configuration), ..Edited::default() })
    }
}

fn built(program: &Program, target: &ArrayTarget, edited: &Edited) -> Result<(Compiled, Mapped), Diagnostic> {
    compile_for(program, target, &beside(), &Constraints::default(), edited, Options::default(), &|_| ())
}

/// Kinds that change a word that leaves, at the least: a schedule that goes on for a cycle longer mostly does not.
const LEAST_REFUSED: usize = 150;

/// Each fault that changes a word that leaves is refused before anything is written.
#[test]
fn faults_of_all_kinds_are_refused() {
    let kinds = kinds();
    let random = &mut Random::seed_from_u64(11);
    let mut planted: BTreeMap<&str, usize> = kinds.iter().map(|(name, _)| (name.as_str(), 0)).collect();
    assert_eq!(planted.len(), kinds.len(), "each name is that of one kind");
    let mut refused: BTreeSet<&str> = BTreeSet::new();
    for text in [FEATURES, SUM] {
        let right = Right::of(text);
        let images = right.program.random_inputs(random);
        let expected = right.compiled.source.run(&images).unwrap();
        for (name, stage) in &kinds {
            for _ in 0..TRIES {
                let Some(verdict) = (0..DRAWS).find_map(|_| right.with(stage, random)) else { continue };
                *planted.get_mut(name.as_str()).unwrap() += 1;
                let Ok((compiled, mapped)) = verdict else {
                    refused.insert(name);
                    continue;
                };
                let run = execute(&mapped, &mapped.configuration, &compiled, &right.target, &images);
                let run = run.unwrap_or_else(|error| panic!("{name}: not refused, and does not run: {error:?}"));
                assert!(run.outputs == expected, "{name}: not refused, and changes {}", right.program.name);
            }
        }
    }
    let missed: Vec<_> = planted.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
    assert!(missed.is_empty(), "no program has a place for {missed:?}");
    let harmless: Vec<_> = planted.keys().filter(|name| !refused.contains(*name)).collect();
    assert!(refused.len() >= LEAST_REFUSED, "{} of {} kinds refused, not {harmless:?}", refused.len(), planted.len());
}

/// Found by the kind `bitstream: a tile in the next column`: a weight that comes some cycles before the operand that holds it takes
/// a word. Between its beats, a stream has no word.
#[test]
fn a_word_that_waits_on_a_stream_is_refused() {
    let right = Right::of(FEATURES);
    let mut value: Value = serde_yaml::from_str(&right.configuration).unwrap();
    let mut weights: Vec<&mut Value> = below(&mut value, "stream_in")
        .into_iter()
        .filter(|beats| beats["extent"].as_sequence().unwrap().is_empty())
        .collect();
    assert_eq!(weights.len(), 2);
    let start = weights[1].get_mut("cycle").unwrap().get_mut("start").unwrap();
    add(start, -1).unwrap();
    let text = serde_yaml::to_string(&value).unwrap();
    let ArrayTarget { spec, graph, .. } = &right.target;
    let edited = right.configured(Configuration::from_document(&document(&text).unwrap(), spec, graph)).unwrap();
    let error = built(&right.program, &right.target, &edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("is not computed from the elements"), "{error}");
}

/// Found by the kind `configuration: a word of a table`: random indices find few of the entries of a table. Every entry is compared.
#[test]
fn a_wrong_word_of_a_table_is_refused() {
    let right = Right::of(FEATURES);
    let ArrayTarget { spec, graph, .. } = &right.target;
    let mut wrong: Value = serde_yaml::from_str(&right.configuration).unwrap();
    for entry in 0..16 {
        let word = below(&mut wrong, "contents").remove(0).get_mut(entry).unwrap();
        add(word, 1).unwrap();
        let text = serde_yaml::to_string(&wrong).unwrap();
        let edited = right.configured(Configuration::from_document(&document(&text).unwrap(), spec, graph)).unwrap();
        let error = built(&right.program, &right.target, &edited).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("is not computed from the elements"), "{entry}: {error}");
        add(below(&mut wrong, "contents").remove(0).get_mut(entry).unwrap(), -1).unwrap();
    }
}
