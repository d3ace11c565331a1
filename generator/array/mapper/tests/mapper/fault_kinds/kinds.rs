//! The kinds of faults.

use pushmem_configuration::RegisterWrite;
use rand::Rng;
use rand::seq::IndexedRandom;
use serde_yaml::{Mapping, Value};

use crate::fault_kinds::Random;
use crate::fault_kinds::edits::{add, any, below, entries, exchange, named, number, renumber, sinks, swap, two};

/// Changes one thing, chosen at random; nothing if there is none of the kind.
pub type Plant = Box<dyn Fn(&mut Value, &mut Random) -> Option<()>>;
/// The same, of the writes of a bitstream.
pub type PlantWrites = fn(&mut Vec<RegisterWrite>, &mut Random) -> Option<()>;

/// The stage in which a fault is.
pub enum Stage {
    Netlist(Plant),
    /// Other places with the same routes.
    Placement(Plant),
    /// Other places with the same configuration.
    Site(Plant),
    Routing(Plant),
    Configuration(Plant),
    Bitstream(PlantWrites),
}

/// All kinds with their names.
pub fn kinds() -> Vec<(String, Stage)> {
    let mut kinds: Vec<(String, Stage)> = Vec::new();
    netlists(&mut |name, plant| kinds.push((format!("netlist: {name}"), Stage::Netlist(plant))));
    places(&mut |name, plant| kinds.push((format!("placement: {name}"), Stage::Placement(plant))));
    kinds.push((
        "placement: streams exchanged with the same configuration".to_owned(),
        Stage::Site(Box::new(|value, random| swap(named(value, "places", "io_"), random))),
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
            let places = named(value, "places", tile);
            swap(places, random)
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
            let lags: Vec<&mut Value> = value.get_mut("lags")?.as_mapping_mut()?.values_mut().collect();
            swap(lags, random)
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
            let sources: Vec<&mut Value> = tracks.values_mut().collect();
            swap(sources, random)
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
