//! The cells of a library in the Liberty format.

use std::ops::Range;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_technology::ClockGate;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cell {
    name: String,
    pins: Vec<String>,
    /// The kind of an integrated clock gate.
    clock_gate: Option<String>,
    /// Where in the text is what outputs do by a table of states.
    state_functions: Vec<Range<usize>>,
}

/// The part of a library that is read.
#[derive(Default)]
struct Contents {
    cells: Vec<Cell>,
    /// Its own attributes, in order.
    attributes: Vec<(String, String)>,
    /// The names of its operating conditions, and their voltages.
    conditions: Vec<(String, Option<f64>)>,
}

/// How many clock gates of a library are named.
const SHOWN: usize = 6;

/// The text of a library for OpenSTA: where outputs of a cell of clock gates have a function of its state, which ends OpenSTA, the clock
/// passes. That is what timing takes, as it does for a latch and an AND.
pub(crate) fn with_passing_clock(gate: &ClockGate, text: &str) -> String {
    let mut result = text.to_owned();
    let cells = contents(text).cells.into_iter().filter(|cell| cell.name == gate.cell);
    for range in cells.flat_map(|cell| cell.state_functions).rev() {
        result.replace_range(range, &format!(" function : \"{}\"", gate.clock));
    }
    result
}

/// Looks for the cell of clock gates in the text of a library.
///
/// # Errors
/// When the library, by its name, lacks the cell or a pin of it. Its area, timing and power would not be known.
pub(crate) fn find_clock_gate(gate: &ClockGate, library: &str, text: &str) -> Result<(), Diagnostic> {
    let cells = contents(text).cells;
    let Some(cell) = cells.iter().find(|cell| cell.name == gate.cell) else {
        let gates = cells.iter().filter(|cell| cell.clock_gate.is_some()).collect_vec();
        let named = gates.iter().take(SHOWN).map(|cell| {
            let kind = cell.clock_gate.as_deref().unwrap_or_default();
            format!("`{}` ({kind}; pins {})", cell.name, cell.pins.join(", "))
        });
        let more = gates.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let help = if gates.is_empty() {
            "it has no clock-gate cell at all: leave `--clock-gate` out, then gates are a latch and an AND of the library"
                .to_owned()
        } else {
            format!("its clock gates are {}{more}", named.format("; "))
        };
        let message = format!("the clock gate `{}` is not in the library {library}", gate.cell);
        return Err(Diagnostic::new(message).with_help(help));
    };
    let named = [Some(&gate.clock), Some(&gate.enable), gate.test_enable.as_ref(), Some(&gate.output)];
    match named.into_iter().flatten().find(|pin| !cell.pins.contains(pin)) {
        None => Ok(()),
        Some(pin) => Err(Diagnostic::new(format!("`{}` has no pin `{pin}` in the library {library}", gate.cell))
            .with_help(format!("its pins are {}", cell.pins.join(", ")))),
    }
}

/// The supply voltage of a library, in volts: that of its default operating conditions, as OpenSTA takes for nets, or else the
/// nominal one.
///
/// # Errors
/// When the library, by its name, has neither.
pub(crate) fn voltage(library: &str, text: &str) -> Result<f64, Diagnostic> {
    let Contents { attributes, conditions, .. } = contents(text);
    let attribute = |name: &str| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let default = attribute("default_operating_conditions");
    let of_conditions =
        conditions.iter().find(|(name, _)| Some(name.as_str()) == default).and_then(|(_, volts)| *volts);
    let nominal = || attribute("nom_voltage")?.parse().ok();
    let voltage = of_conditions.or_else(nominal).filter(|voltage| *voltage > 0.0).ok_or_else(|| {
        Diagnostic::new(format!("the library {library} does not say its voltage, which the power of the clock's net needs"))
            .with_help("give it `nom_voltage`, or `operating_conditions` with a `voltage` and their name as `default_operating_conditions`")
    })?;
    let unit = attribute("voltage_unit").unwrap_or("1V");
    let volts = match unit.strip_suffix("mV") {
        Some(millivolts) => millivolts.trim().parse::<f64>().map(|millivolts| millivolts * 1e-3),
        None => unit.trim_end_matches('V').trim().parse(),
    };
    let volts = volts.map_err(|_| {
        Diagnostic::new(format!("the library {library} has the voltage unit `{unit}`, which is not one of volts"))
            .with_help("write it as `1V` or `1mV`")
    })?;
    Ok(voltage * volts)
}

/// Reads a library: groups `cell (NAME) { … pin (NAME) { … } … }` at any depth of the text, with a semicolon behind each attribute or
/// without.
fn contents(text: &str) -> Contents {
    let mut reader = Reader::default();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let here = text.len() - rest.len();
        rest = &rest[letter.len_utf8()..];
        match letter {
            '/' if rest.starts_with('*') => rest = rest.split_once("*/").map_or("", |(_, behind)| behind),
            '"' => {
                let (quoted, behind) = rest.split_once('"').unwrap_or((rest, ""));
                reader.statement.push_str(quoted);
                rest = behind;
            }
            '{' => {
                reader.open();
                reader.next_statement(here + 1);
            }
            '}' => {
                reader.attribute(here);
                reader.groups.pop();
                reader.next_statement(here + 1);
            }
            ';' => {
                reader.attribute(here);
                reader.next_statement(here + 1);
            }
            '\n' => {
                reader.attribute(here);
                // The brace of a group may be in the line behind its name.
                if reader.statement.contains(':') {
                    reader.next_statement(here + 1);
                }
            }
            _ => reader.statement.push(letter),
        }
    }
    reader.contents
}

/// The state of the reader of a library.
#[derive(Default)]
struct Reader {
    contents: Contents,
    /// The kinds of the groups around, the outermost first.
    groups: Vec<String>,
    /// The text of the next statement, as far as it was read, and its place.
    statement: String,
    begin: usize,
    /// The pins of a cell before those of the last group of pins.
    before: usize,
}

impl Reader {
    /// Begins the next statement at this place.
    fn next_statement(&mut self, begin: usize) {
        self.statement.clear();
        self.begin = begin;
    }

    /// Begins the group that the statement names.
    fn open(&mut self) {
        let (kind, name) = group(&self.statement);
        match kind {
            "cell" => self.contents.cells.push(Cell { name, ..Cell::default() }),
            "operating_conditions" => self.contents.conditions.push((name, None)),
            "pin" if self.groups.last().is_some_and(|around| around == "cell") => {
                // One group may be of several pins.
                let names = name.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned);
                if let Some(cell) = self.contents.cells.last_mut() {
                    self.before = cell.pins.len();
                    cell.pins.extend(names);
                }
            }
            _ => {}
        }
        self.groups.push(kind.to_owned());
    }

    /// Takes the attribute that the statement is, which ends at `end`.
    fn attribute(&mut self, end: usize) {
        let Some((key, value)) = self.statement.split_once(':') else { return };
        let (key, value) = (key.trim(), value.trim());
        let around = self.groups.last().map(String::as_str);
        let is_of_pin = matches!(self.groups.as_slice(), [.., cell, pin] if cell == "cell" && pin == "pin");
        let Contents { cells, attributes, conditions } = &mut self.contents;
        match (key, value, cells.last_mut()) {
            _ if around == Some("library") => attributes.push((key.to_owned(), value.to_owned())),
            ("voltage", value, _) if around == Some("operating_conditions") => {
                conditions.last_mut().expect("it is in them").1 = value.parse().ok();
            }
            ("clock_gating_integrated_cell", kind, Some(cell)) => cell.clock_gate = Some(kind.to_owned()),
            ("state_function", _, Some(cell)) => cell.state_functions.push(self.begin..end),
            ("direction", "internal", Some(cell)) if is_of_pin => cell.pins.truncate(self.before),
            _ => {}
        }
    }
}

/// The kind and the name of a group.
fn group(statement: &str) -> (&str, String) {
    let (kind, name) = statement.split_once('(').unwrap_or((statement, ""));
    (kind.trim(), name.trim().trim_end_matches(')').trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = r#"
library (one) {
  /* cell (none) { pin (no) { } } */
  time_unit : "1ns";
  cell ("icg_1") {
    clock_gating_integrated_cell : "latch_posedge_precontrol"
    statetable ("CK E", "held") { table : "L L : - : L ; { }"; }
    pin (CK) { clock : true; }
    pin ("E") { timing () { related_pin : "CK"; } }
    pin (TE)
    { direction : input; }
    pin (held) { direction : internal; }
    pin (Q) { direction : output; state_function : "CK * held"; }
  }
  cell (INV) { pin (A) {} pin (Y) { function : "!A"; } }
}
"#;

    #[test]
    fn opensta_reads_that_the_clock_passes() {
        let passing = LIBRARY.replace("state_function : \"CK * held\"", "function : \"CK\"");
        assert_eq!(with_passing_clock(&gate("icg_1", "E"), LIBRARY), passing);
        assert_eq!(with_passing_clock(&gate("INV", "A"), LIBRARY), LIBRARY);
    }

    fn gate(cell: &str, enable: &str) -> ClockGate {
        let (clock, output) = ("CK".to_owned(), "Q".to_owned());
        ClockGate {
            cell: cell.to_owned(),
            clock,
            enable: enable.to_owned(),
            test_enable: Some("TE".to_owned()),
            output,
        }
    }

    #[test]
    fn cells_have_pins_and_clock_gates_a_kind() {
        let found = contents(LIBRARY).cells;
        let names = found.iter().map(|cell| (cell.name.as_str(), cell.pins.join(" "))).collect_vec();
        assert_eq!(names, [("icg_1", "CK E TE Q".to_owned()), ("INV", "A Y".to_owned())]);
        assert_eq!(found[0].clock_gate.as_deref(), Some("latch_posedge_precontrol"));
        assert_eq!(found[1].clock_gate, None);
    }

    #[test]
    fn the_voltage_is_that_of_the_default_conditions_or_the_nominal_one() {
        let conditions =
            "operating_conditions (hot) { voltage : 0.9; } operating_conditions (\"cold\") { voltage : 1.2 }";
        let of = |rest: &str| voltage("one", &format!("library (one) {{ {rest} cell (A) {{ area : 1; }} }}"));
        assert_eq!(of(&format!("nom_voltage : 1.1; {conditions} default_operating_conditions : cold;")).unwrap(), 1.2);
        assert_eq!(of(&format!("{conditions} nom_voltage : 1.1 \n")).unwrap(), 1.1);
        assert_eq!(of("voltage_unit : \"100mV\"; nom_voltage : \"18\";").unwrap(), 1.8);
        let error = of(conditions).unwrap_err().to_string();
        assert!(error.contains("the library one does not say its voltage"), "{error}");
        let error = of("voltage_unit : \"1A\"; nom_voltage : 1;").unwrap_err().to_string();
        assert!(error.contains("the voltage unit `1A`"), "{error}");
    }

    #[test]
    fn a_group_may_be_of_several_pins() {
        let text = r#"cell (one) { pin (A, B) { } pin ("C", "D") { } pin (Y) { direction : output; } pin (m, n) { direction : internal; } }"#;
        assert_eq!(contents(text).cells[0].pins, ["A", "B", "C", "D", "Y"]);
    }

    #[test]
    fn only_pins_that_are_internal_themselves_are_none() {
        let text = r#"cell (one) { pin (A) { } pg_pin (VDDI) { direction : internal; } bus (D) { pin (D[0]) { direction : internal; } } }"#;
        assert_eq!(contents(text).cells[0].pins, ["A"]);
    }

    #[test]
    fn a_gate_that_a_library_lacks_is_refused_with_those_it_has() {
        find_clock_gate(&gate("icg_1", "E"), "one", LIBRARY).unwrap();
        let error = find_clock_gate(&gate("icg_2", "E"), "one", LIBRARY).unwrap_err().to_string();
        assert!(error.contains("`icg_2` is not in the library one"), "{error}");
        let error = find_clock_gate(&gate("icg_1", "EN"), "one", LIBRARY).unwrap_err().to_string();
        assert!(error.contains("`icg_1` has no pin `EN`"), "{error}");
    }
}
