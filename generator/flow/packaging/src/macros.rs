//! The list of memory macros.

use itertools::Itertools;
use pushmem_technology::{Active, Binding, ClockEdge, MacroPort, Pin, PortKind, Technology};
use serde_json::{Map, Value, json};

/// The list as Chipyard's MacroCompiler reads it: a line for each macro.
pub(crate) fn list(technology: &Technology) -> String {
    let line = |binding: &Binding| {
        let masked = |port: &MacroPort| if port.mask.is_some() { "m" } else { "" };
        let port = |port: &MacroPort| match port.kind {
            PortKind::ReadWrite => format!("{}rw", masked(port)),
            PortKind::Write => format!("{}write", masked(port)),
            PortKind::Read => "read".to_owned(),
        };
        let ports = binding.ports.iter().map(port).join(",");
        let mask = binding.mask_bits().map_or(String::new(), |bits| format!(" mask_gran {bits}"));
        format!("name {} depth {} width {} ports {ports}{mask}\n", binding.name, binding.depth, binding.width)
    };
    technology.bindings().map(line).collect()
}

/// The list with the meaning of every pin, in the form that Hammer takes from MacroCompiler.
pub(crate) fn json(technology: &Technology) -> String {
    let list = technology.bindings().map(sram).collect_vec();
    serde_json::to_string_pretty(&list).expect("names and numbers") + "\n"
}

fn sram(binding: &Binding) -> Value {
    let family = |kind| binding.ports.iter().filter(|port| port.kind == kind).count();
    let count = |number: usize, name: &str| if number == 0 { String::new() } else { format!("{number}{name}") };
    let family = [(PortKind::ReadWrite, "rw"), (PortKind::Read, "r"), (PortKind::Write, "w")]
        .map(|(kind, name)| count(family(kind), name))
        .concat();
    let constants = binding.constants.iter();
    let extra = constants.map(
        |(name, constant)| json!({"name": name, "width": constant.bits, "type": "constant", "value": constant.value}),
    );
    // Hammer wants a threshold voltage and a column multiplexer of each macro; one that is named has them already.
    json!({
        "type": "sram",
        "name": binding.name,
        "depth": binding.depth.to_string(),
        "width": binding.width,
        "family": family,
        "mask": binding.mask_bits().is_some(),
        "vt": "",
        "mux": 1,
        "ports": binding.ports.iter().map(port).collect_vec(),
        "extra ports": extra.collect_vec(),
    })
}

fn port(port: &MacroPort) -> Value {
    let mut keys = Map::new();
    let mut add = |what: &str, name: &str, polarity: &str| {
        keys.insert(format!("{what} port name"), name.into());
        keys.insert(format!("{what} port polarity"), polarity.into());
    };
    let level = |active| if active == Active::High { "active high" } else { "active low" };
    let edge = if port.edge == ClockEdge::Rising { "positive edge" } else { "negative edge" };
    add("clock", &port.clock, edge);
    add("address", &port.address, "active high");
    let pins: [(&str, &Option<Pin>); 3] =
        [("chip enable", &port.select), ("write enable", &port.write), ("read enable", &port.read)];
    for (what, pin) in pins {
        if let Some(pin) = pin {
            add(what, &pin.port, level(pin.active));
        }
    }
    for (what, name) in [("input", &port.data_in), ("output", &port.data_out)] {
        if let Some(name) = name {
            add(what, name, "active high");
        }
    }
    if let Some(mask) = &port.mask {
        add("mask", &mask.port, level(mask.active));
        keys.insert("mask granularity".to_owned(), mask.bits.into());
    }
    Value::Object(keys)
}
