//! Edits of stages as text, at places chosen at random. Nothing is an edit where there is no such place.

use rand::Rng;
use rand::seq::IndexedRandom;
use serde_yaml::{Mapping, Value};

use crate::fault_kinds::Random;

/// Values below a key, wherever it is.
pub fn below<'a>(value: &'a mut Value, key: &str) -> Vec<&'a mut Value> {
    match value {
        Value::Mapping(mapping) => mapping
            .iter_mut()
            .flat_map(|(name, value)| if name.as_str() == Some(key) { vec![value] } else { below(value, key) })
            .collect(),
        Value::Sequence(values) => values.iter_mut().flat_map(|value| below(value, key)).collect(),
        _ => Vec::new(),
    }
}

pub fn any<T>(mut items: Vec<T>, random: &mut Random) -> Option<T> {
    let place = (!items.is_empty()).then(|| random.random_range(0..items.len()))?;
    Some(items.swap_remove(place))
}

/// Two different places of so many.
pub fn two(count: usize, random: &mut Random) -> Option<(usize, usize)> {
    let first = (count > 1).then(|| random.random_range(0..count))?;
    Some((first, (first + random.random_range(1..count)) % count))
}

pub fn add(value: &mut Value, by: i64) -> Option<()> {
    *value = Value::from(value.as_i64()? + by);
    Some(())
}

/// A number below a key, or one of several there.
pub fn number<'a>(value: &'a mut Value, key: &str, random: &mut Random) -> Option<&'a mut Value> {
    match any(below(value, key), random)? {
        Value::Sequence(values) => any(values.iter_mut().collect(), random),
        Value::Mapping(values) => any(values.values_mut().collect(), random),
        value => Some(value),
    }
}

/// Entries of a list that have a key.
pub fn entries<'a>(value: &'a mut Value, list: &str, with: &str) -> Vec<&'a mut Mapping> {
    let list = value.get_mut(list).and_then(Value::as_sequence_mut).into_iter().flatten();
    list.filter_map(Value::as_mapping_mut).filter(|entry| entry.contains_key(with)).collect()
}

/// Exchanges what two of some entries have below a key.
pub fn exchange(entries: Vec<&mut Mapping>, key: &str, random: &mut Random) -> Option<()> {
    let mut entries = entries;
    let (one, other) = two(entries.len(), random)?;
    let saved = entries[one].get(key)?.clone();
    let taken = std::mem::replace(entries[other].get_mut(key)?, saved);
    entries[one].insert(key.into(), taken);
    Some(())
}

/// The entries of a mapping whose values contain some text.
pub fn named<'a>(value: &'a mut Value, mapping: &str, text: &str) -> Vec<&'a mut Value> {
    let entries = value.get_mut(mapping).and_then(Value::as_mapping_mut).into_iter().flatten();
    entries
        .filter(|(name, value)| [name.as_str(), value.as_str()].into_iter().flatten().any(|of| of.contains(text)))
        .map(|(_, value)| value)
        .collect()
}

/// Another resource: `east_1` for `east_0`, and a track for another output of a core.
pub fn renumber(value: &mut Value, random: &mut Random) -> Option<()> {
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
pub fn sinks(value: &mut Value) -> Vec<&mut Vec<Value>> {
    let nets = value.get_mut("nets").and_then(Value::as_sequence_mut).into_iter().flatten();
    nets.filter_map(|net| net.get_mut("to")?.as_sequence_mut()).collect()
}

/// Exchanges two values.
pub fn swap(mut values: Vec<&mut Value>, random: &mut Random) -> Option<()> {
    let (one, other) = two(values.len(), random)?;
    let saved = values[one].clone();
    *values[one] = std::mem::replace(values[other], saved);
    Some(())
}
