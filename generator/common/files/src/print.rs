//! Values as YAML.

use serde::Serialize;
use serde_yaml::Value;

/// A value as YAML, without the keys that have none: an `Option` that is `None` is left out.
///
/// # Panics
///
/// If the value is no plain data: a map with other keys than text and numbers.
pub fn to_yaml(value: &impl Serialize) -> String {
    let mut tree = serde_yaml::to_value(value).expect("plain data is YAML");
    remove_nothing(&mut tree);
    serde_yaml::to_string(&tree).expect("a tree is YAML")
}

fn remove_nothing(tree: &mut Value) {
    match tree {
        Value::Mapping(entries) => {
            entries.retain(|_, value| !value.is_null());
            entries.values_mut().for_each(remove_nothing);
        }
        Value::Sequence(elements) => elements.iter_mut().for_each(remove_nothing),
        _ => {}
    }
}
