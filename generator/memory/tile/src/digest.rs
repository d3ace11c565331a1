//! The digest: a hash that tells a specification from all others.

use pushmem_files::{digest, digest_word};
use serde_json::Value;

use crate::spec::{Reset, TileSpec};

impl TileSpec {
    /// SHA-256 of the [canonical form](TileSpec::canonical), in lower-case hexadecimal. A configuration carries it.
    pub fn digest(&self) -> String {
        digest(&self.canonical())
    }

    /// The first 32 bits of [`TileSpec::digest`], readable by software in the register `spec_digest`.
    pub fn digest_word(&self) -> u32 {
        digest_word(&self.canonical())
    }

    /// The values of the completed specification, a line `KEY=VALUE` for each: keys below others with a dot between
    /// (`controllers.in2agg.levels=6`), lines sorted by their bytes. Without the keys that no configuration depends on: the
    /// number of tiles, the reset, clock gating and the self-test.
    pub fn canonical(&self) -> String {
        let configured =
            TileSpec { count: None, reset: Reset::default(), clock_gating: false, bist: false, ..self.clone() };
        let mut lines = Vec::new();
        add_lines("", &configured.to_value(), &mut lines);
        lines.sort_unstable();
        lines.concat()
    }
}

fn add_lines(key: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(values) => {
            let dot = if key.is_empty() { "" } else { "." };
            values.iter().for_each(|(inside, value)| add_lines(&format!("{key}{dot}{inside}"), value, lines));
        }
        Value::Null => {}
        Value::String(text) => lines.push(format!("{key}={text}\n")),
        value => lines.push(format!("{key}={value}\n")),
    }
}

#[cfg(test)]
mod tests {
    use pushmem_files::Document;

    use crate::TileSpec;

    /// The form never changes, whatever libraries write: configurations of earlier versions carry its digest.
    #[test]
    fn the_canonical_form_is_fixed() {
        let text = "{name: little, kind: register_file, rows: 32, count: 7, clock_gating: true, inputs: 1, outputs: 1}";
        let spec = TileSpec::from_document(&Document::parse("t", text).unwrap()).unwrap();
        let canonical = "\
chaining=false
controllers.in2rf.address_bits.register_file=5
controllers.in2rf.cycle_bits=16
controllers.in2rf.extent_bits=16
controllers.in2rf.levels=6
controllers.rf2out.address_bits.register_file=5
controllers.rf2out.cycle_bits=16
controllers.rf2out.extent_bits=16
controllers.rf2out.levels=6
inputs=1
kind=register_file
name=little
outputs=1
register_layout=1
rows=32
stencil_valid=false
style=recurrence
word_bits=16
";
        assert_eq!(spec.canonical(), canonical);
        assert_eq!(spec.digest(), "b309d343bff504832fafb0a7c8fe07e993445f69bff9da4384cc07cce4bc5994");
    }
}
