//! Timing constraints.

use pushmem_files::{Diagnostic, Document, FieldPath};
use serde::Deserialize;

/// The constraints of those who name none.
const DEFAULT: &str = include_str!("../../../../constraints/timing/default.yaml");

/// The constraints, each once.
macro_rules! constraints {
    ($($(#[$doc:meta])* $key:ident: $kind:ty),* $(,)?) => {
        /// The timing constraints of an SDC file.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Timing {
            $($(#[$doc])* pub $key: $kind),*
        }

        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct TimingFile {
            $($key: Option<$kind>),*
        }

        impl TimingFile {
            /// The constraints, those that the file has not from others; nothing if there are no others.
            fn completed(&self, others: Option<&Timing>) -> Option<Timing> {
                Some(Timing { $($key: self.$key.or(others.map(|others| others.$key))?),* })
            }
        }

        impl Timing {
            /// The keys of a file: the shipped one has all.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];
        }
    };
}

constraints! {
    /// Clock period in picoseconds.
    clock_period_ps: u32,
    /// Uncertainty of the clock, in percent of the period.
    clock_uncertainty_percent: u32,
    /// Cycles from the last write of a register to the flush after it.
    configuration_cycles: u32,
    /// Uncertainty of the clock between two flip-flops at one edge, in picoseconds.
    hold_uncertainty_ps: u32,
    /// Delay before inputs, in percent of the period.
    input_delay_percent: u32,
    /// Delay after outputs, in percent of the period.
    output_delay_percent: u32,
    /// Whether paths from an asynchronous reset are not timed. Those from a synchronous one always are.
    reset_is_false_path: bool,
}

impl Default for Timing {
    /// Those of `constraints/timing/default.yaml`.
    fn default() -> Self {
        let document = Document::parse("default.yaml", DEFAULT).expect("the shipped file is YAML");
        let file: TimingFile = document.deserialize().expect("the shipped file has these keys");
        file.completed(None).expect("the shipped file has every key")
    }
}

impl Timing {
    /// Reads a document; keys that it has not are those of the default.
    ///
    /// # Errors
    /// A located message when a key is unknown or a value makes no sense.
    pub fn of_document(document: &Document) -> Result<Self, Diagnostic> {
        let file: TimingFile = document.deserialize()?;
        let timing = file.completed(Some(&Timing::default())).expect("the default has every key");
        let limits = [
            ("clock_period_ps", timing.clock_period_ps, 1, 1_000_000),
            ("clock_uncertainty_percent", timing.clock_uncertainty_percent, 0, 99),
            ("hold_uncertainty_ps", timing.hold_uncertainty_ps, 0, 1_000_000),
            ("input_delay_percent", timing.input_delay_percent, 0, 99),
            ("output_delay_percent", timing.output_delay_percent, 0, 99),
            ("configuration_cycles", timing.configuration_cycles, 1, 1000),
        ];
        for (key, value, least, most) in limits {
            if !(least..=most).contains(&value) {
                let message = format!("`{key}` is {value}");
                return document.refuse(
                    &FieldPath::root().key(key),
                    message,
                    format!("give a number from {least} to {most}"),
                );
            }
        }
        let delays = [
            ("input_delay_percent", timing.input_delay_percent, file.input_delay_percent),
            ("output_delay_percent", timing.output_delay_percent, file.output_delay_percent),
        ];
        for (key, delay, given) in delays {
            let uncertainty = timing.clock_uncertainty_percent;
            if delay + uncertainty >= 100 {
                let message =
                    format!("`{key}` is {delay} and the uncertainty of the clock {uncertainty}: nothing is left");
                // At a key that the file has.
                let root = FieldPath::root();
                let given = given.map_or("clock_uncertainty_percent", |_| key);
                return document.refuse(
                    &root.key(given),
                    message,
                    "both are percent of the period; together they are less than 100",
                );
            }
        }
        Ok(timing)
    }

    /// Whether software promises that registers are written some cycles before they are used.
    pub(crate) fn registers_are_early(&self) -> bool {
        self.configuration_cycles > 1
    }

    /// The clock period in nanoseconds.
    pub(crate) fn period(&self) -> String {
        nanoseconds(u64::from(self.clock_period_ps) * 100)
    }

    /// The uncertainty at hold in nanoseconds.
    pub(crate) fn hold_uncertainty(&self) -> String {
        nanoseconds(u64::from(self.hold_uncertainty_ps) * 100)
    }

    /// A share of the period in nanoseconds.
    pub(crate) fn share(&self, percent: &u32) -> String {
        nanoseconds(u64::from(self.clock_period_ps) * u64::from(*percent))
    }
}

/// Hundredths of a picosecond as nanoseconds, without zeros at the end.
fn nanoseconds(hundredths: u64) -> String {
    let text = format!("{}.{:05}", hundredths / 100_000, hundredths % 100_000);
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').map_or(text.to_owned(), |whole| format!("{whole}.0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_left_of_the_period() {
        let refused = |text: &str| {
            let document = Document::parse("timing.yaml", text).unwrap();
            Timing::of_document(&document).err().map(|error| (error.message().to_owned(), error.location().unwrap().1))
        };
        assert_eq!(refused("input_delay_percent: 94\n"), None);
        let (message, line) = refused("configuration_cycles: 2\ninput_delay_percent: 95\n").unwrap();
        assert_eq!(
            (message.as_str(), line),
            ("`input_delay_percent` is 95 and the uncertainty of the clock 5: nothing is left", 2)
        );
        let (message, line) = refused("clock_uncertainty_percent: 70\n").unwrap();
        assert_eq!(
            (message.as_str(), line),
            ("`input_delay_percent` is 30 and the uncertainty of the clock 70: nothing is left", 1)
        );
    }

    #[test]
    fn times_are_exact() {
        assert_eq!(nanoseconds(500_000), "5.0");
        assert_eq!(nanoseconds(123_400), "1.234");
        assert_eq!(nanoseconds(7), "0.00007");
    }
}
