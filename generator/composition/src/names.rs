//! Identifiers that are unique and no keywords.

use std::collections::HashSet;

use itertools::Itertools;

/// The identifiers of a scope.
///
/// Names of programs are identifiers already, but some mean something in SystemVerilog, as `input` does, and some could
/// be wanted twice. [`Names::claim`] is the one place that decides what they become.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A scope in which some names are taken.
    pub fn with(taken: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Names { taken: taken.into_iter().map(Into::into).collect() }
    }

    /// Takes a name: the wanted one, or if that is a keyword or taken, it with its kind and if need be a number behind.
    pub fn claim(&mut self, wanted: &str, kind: &str) -> String {
        self.claim_stem(wanted, kind, &[""])
    }

    /// Takes a stem and with it a name for each suffix, as [`Names::claim`].
    pub fn claim_stem(&mut self, wanted: &str, kind: &str, suffixes: &[&str]) -> String {
        let wanted = identifier(wanted);
        let numbered = (2..).map(|number| format!("{wanted}_{kind}_{number}"));
        let free = |stem: &String| {
            suffixes.iter().all(|suffix| {
                let name = format!("{stem}{suffix}");
                !self.taken.contains(&name) && KEYWORDS.binary_search(&&*name).is_err()
            })
        };
        let mut candidates = [wanted.clone(), format!("{wanted}_{kind}")].into_iter().chain(numbered);
        let stem = candidates.find(free).expect("numbers do not end");
        self.taken.extend(suffixes.iter().map(|suffix| format!("{stem}{suffix}")));
        stem
    }
}

/// The text as an identifier: other characters become single underscores. Verilator has a meaning for double ones.
fn identifier(text: &str) -> String {
    let parts = text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let joined = parts.collect_vec().join("_");
    match joined.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => joined,
        Some(_) => format!("n_{joined}"),
        None => "unnamed".to_owned(),
    }
}

/// The keywords of IEEE 1800-2017, in order.
#[rustfmt::skip]
const KEYWORDS: [&str; 248] = [
    "accept_on", "alias", "always", "always_comb", "always_ff", "always_latch", "and", "assert", "assign", "assume",
    "automatic", "before", "begin", "bind", "bins", "binsof", "bit", "break", "buf", "bufif0", "bufif1", "byte", "case",
    "casex", "casez", "cell", "chandle", "checker", "class", "clocking", "cmos", "config", "const", "constraint",
    "context", "continue", "cover", "covergroup", "coverpoint", "cross", "deassign", "default", "defparam", "design",
    "disable", "dist", "do", "edge", "else", "end", "endcase", "endchecker", "endclass", "endclocking", "endconfig",
    "endfunction", "endgenerate", "endgroup", "endinterface", "endmodule", "endpackage", "endprimitive", "endprogram",
    "endproperty", "endsequence", "endspecify", "endtable", "endtask", "enum", "event", "eventually", "expect",
    "export", "extends", "extern", "final", "first_match", "for", "force", "foreach", "forever", "fork", "forkjoin",
    "function", "generate", "genvar", "global", "highz0", "highz1", "if", "iff", "ifnone", "ignore_bins",
    "illegal_bins", "implements", "implies", "import", "incdir", "include", "initial", "inout", "input", "inside",
    "instance", "int", "integer", "interconnect", "interface", "intersect", "join", "join_any", "join_none", "large",
    "let", "liblist", "library", "local", "localparam", "logic", "longint", "macromodule", "matches", "medium",
    "modport", "module", "nand", "negedge", "nettype", "new", "nexttime", "nmos", "nor", "noshowcancelled", "not",
    "notif0", "notif1", "null", "or", "output", "package", "packed", "parameter", "pmos", "posedge", "primitive",
    "priority", "program", "property", "protected", "pull0", "pull1", "pulldown", "pullup",
    "pulsestyle_ondetect", "pulsestyle_onevent", "pure", "rand", "randc", "randcase", "randsequence", "rcmos", "real",
    "realtime", "ref", "reg", "reject_on", "release", "repeat", "restrict", "return", "rnmos", "rpmos", "rtran",
    "rtranif0", "rtranif1", "s_always", "s_eventually", "s_nexttime", "s_until", "s_until_with", "scalared",
    "sequence", "shortint", "shortreal", "showcancelled", "signed", "small", "soft", "solve", "specify", "specparam",
    "static", "string", "strong", "strong0", "strong1", "struct", "super", "supply0", "supply1", "sync_accept_on",
    "sync_reject_on", "table", "tagged", "task", "this", "throughout", "time", "timeprecision", "timeunit", "tran",
    "tranif0", "tranif1", "tri", "tri0", "tri1", "triand", "trior", "trireg", "type", "typedef", "union", "unique",
    "unique0", "unsigned", "until", "until_with", "untyped", "use", "uwire", "var", "vectored", "virtual", "void",
    "wait", "wait_order", "wand", "weak", "weak0", "weak1", "while", "wildcard", "wire", "with", "within", "wor",
    "xnor", "xor",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn keywords_and_taken_names_are_avoided() {
        let mut names = Names::with(["clk"]);
        assert_eq!(names.claim("blur", "word"), "blur");
        assert_eq!(names.claim("input", "word"), "input_word");
        assert_eq!(names.claim("clk", "word"), "clk_word");
        assert_eq!(names.claim("blur", "word"), "blur_word");
        assert_eq!(names.claim("blur", "word"), "blur_word_2");
        assert_eq!(names.claim("blur", "word"), "blur_word_3");
    }

    #[test]
    fn a_stem_is_free_with_all_suffixes() {
        let mut names = Names::with(["config_write_data"]);
        let suffixes = ["_valid", "_data"];
        assert_eq!(names.claim_stem("input", "stream", &suffixes), "input");
        assert_eq!(names.claim_stem("config_write", "stream", &suffixes), "config_write_stream");
        assert_eq!(names.claim("input_data", "word"), "input_data_word");
    }

    #[test]
    fn other_characters_are_replaced() {
        let mut names = Names::default();
        assert_eq!(names.claim("_a__b.0", "word"), "a_b_0");
        assert_eq!(names.claim("3x3", "word"), "n_3x3");
        assert_eq!(names.claim("", "word"), "unnamed");
    }
}
