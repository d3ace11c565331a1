//! Words that cannot be names.

/// Whether SystemVerilog keeps this word to itself, so that it cannot be a name.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Whether SystemVerilog or Veryl keeps this word to itself, so that it cannot be the name of a module that is written in Veryl.
pub fn is_reserved(word: &str) -> bool {
    is_keyword(word) || VERYL_KEYWORDS.binary_search(&word).is_ok()
}

/// The keywords of IEEE 1800-2017, in order.
#[rustfmt::skip]
pub const KEYWORDS: [&str; 248] = [
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

/// The keywords of Veryl that SystemVerilog does not have, in order. A test holds them against the grammar of Veryl.
#[rustfmt::skip]
pub const VERYL_KEYWORDS: [&str; 47] = [
    "as", "bbool", "block", "clock", "clock_negedge", "clock_posedge", "connect", "converse", "embed", "f32", "f64",
    "false", "gen", "i16", "i32", "i64", "i8", "if_reset", "in", "inst", "lbool", "lsb", "mixin", "msb", "outside", "p16",
    "p32", "p64", "p8", "param", "proto", "pub", "reset", "reset_async_high", "reset_async_low", "reset_sync_high",
    "reset_sync_low", "rev", "same", "step", "switch", "true", "u16", "u32", "u64", "u8", "unsafe",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
        assert!(VERYL_KEYWORDS.is_sorted());
    }

    #[test]
    fn other_words_are_names() {
        assert!(is_keyword("input"));
        assert!(!is_keyword("p8"));
        assert!(is_reserved("input"));
        assert!(is_reserved("p8"));
        assert!(!is_reserved("blur"));
    }
}
