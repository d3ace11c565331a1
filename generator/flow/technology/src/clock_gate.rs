//! The clock-gate cell of a technology, in place of the model of the generator's clock gate.

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, FieldPath, text};
use pushmem_systemverilog::is_keyword;
use serde::Deserialize;

/// The pins of an integrated clock gate. It takes the enable while the clock is low, and both are active high.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockGate {
    /// Name of the cell.
    pub cell: String,
    /// Clock pin.
    pub clock: String,
    /// Enable pin.
    pub enable: String,
    /// Pin that lets the clock run in tests; without, the enable does that, too.
    pub test_enable: Option<String>,
    /// Pin of the gated clock.
    pub output: String,
}

/// The file of the clock gate.
const WRAPPER: &str = "pushmem_clock_gate.sv";

/// Names of the model's own signals.
const TAKEN: [&str; 1] = ["enabled"];

impl ClockGate {
    /// Reads a binding.
    ///
    /// # Errors
    /// A located message when a key is missing or unknown, or a name is none that SystemVerilog could have.
    pub fn of_document(document: &Document) -> Result<Self, Diagnostic> {
        let gate: ClockGate = document.deserialize()?;
        let pins = [
            ("clock", Some(&gate.clock)),
            ("enable", Some(&gate.enable)),
            ("test_enable", gate.test_enable.as_ref()),
            ("output", Some(&gate.output)),
        ];
        let pins = pins.into_iter().filter_map(|(key, name)| Some((key, name?))).collect_vec();
        let refuse =
            |key: &str, message: String, help: &str| document.refuse(&FieldPath::root().key(key), message, help);
        for &(key, name) in [("cell", &gate.cell)].iter().chain(&pins) {
            let first = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
            if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || is_keyword(name) {
                return refuse(
                    key,
                    format!("`{name}` cannot be a name in SystemVerilog"),
                    "see the library's data sheet",
                );
            }
        }
        if gate.cell.starts_with("pushmem_") {
            return refuse("cell", format!("`{}` is a name of the generator", gate.cell), "name the library's cell");
        }
        if let Some((key, name)) = pins.iter().duplicates_by(|(_, name)| name).next() {
            return refuse(key, format!("two pins are named `{name}`"), "see the library's data sheet");
        }
        if let Some((key, name)) = pins.iter().find(|(_, name)| TAKEN.contains(&name.as_str())) {
            return refuse(
                key,
                format!("`{name}` is a signal in the model of the cell"),
                "put a module with other names around it",
            );
        }
        Ok(gate)
    }

    /// The files that stand for one of that name: the clock gate, and the model of the cell.
    pub(crate) fn bind(&self, (name, text): (String, String)) -> Vec<(String, String)> {
        if name != WRAPPER {
            return vec![(name, text)];
        }
        vec![(format!("{}.sv", self.cell), self.module(true)), (name, self.wrapper())]
    }

    /// The clock gate of the generator, made of the cell.
    fn wrapper(&self) -> String {
        text!("pushmem_clock_gate.sv", gate: &'a ClockGate = self)
    }

    /// The module of the cell: its model, or a black box.
    pub(crate) fn module(&self, model: bool) -> String {
        text!("clock_gate_cell.sv", gate: &'a ClockGate = self, model: bool = model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ClockGate, Diagnostic> {
        ClockGate::of_document(&Document::parse("gate.yaml", text).expect("the text is YAML"))
    }

    #[test]
    fn test_enable_is_a_pin_or_a_part_of_the_enable() {
        let pin = read("{cell: icg, clock: CK, enable: E, test_enable: TE, output: Q}").unwrap();
        let none = read("{cell: icg, clock: CK, enable: E, output: Q}").unwrap();
        assert!(pin.wrapper().contains(".E (enable_i),\n        .TE (test_enable_i),"), "{}", pin.wrapper());
        assert!(none.wrapper().contains(".E (enable_i | test_enable_i),\n        .Q"), "{}", none.wrapper());
        assert!(pin.module(true).contains("enabled = E | TE;"));
        assert!(!pin.module(false).contains("enabled"));
    }

    #[test]
    fn refuses_names_that_cannot_be() {
        let cases = [
            ("{cell: icg, clock: CK, enable: E}", "`output` is missing", 1),
            ("cell: icg\nclock: CK\nenable: CK\noutput: Q", "two pins are named `CK`", 3),
            ("cell: icg\nclock: wire\nenable: E\noutput: Q", "`wire` cannot be a name", 2),
            ("cell: pushmem_clock_gate\nclock: CK\nenable: E\noutput: Q", "a name of the generator", 1),
            ("cell: icg\nclock: CK\nenable: enabled\noutput: Q", "a signal in the model", 3),
        ];
        for (text, message, line) in cases {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(message), "{text}: {}", error.message());
            assert_eq!(error.location().map(|(_, line, _)| line), Some(line), "{text}");
        }
    }
}
