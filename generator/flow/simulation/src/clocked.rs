//! Modules that are built once and called once a cycle: their outputs are registers.
//!
//! Verilator's own wrapper around a library takes each output for a function of all inputs, and evaluates the library until nothing
//! changes. Between modules that only meet at registers, one call at each edge is enough.

use std::fmt::Write as _;

use askama::Template;
use itertools::Itertools;
use pushmem_files::{Diagnostic, template};
use pushmem_systemverilog::{ModulePort, header, ports_of};

/// Bits of a word of the interface between SystemVerilog and C.
const WORD: usize = 32;

const CLOCK: &str = "clk_i";

/// The words that a port takes.
fn words(port: &ModulePort) -> usize {
    (port.bits as usize).div_ceil(WORD)
}

/// The ports of a direction.
struct Side<'a> {
    words: usize,
    ports: Vec<Placed<'a>>,
}

/// A port with its first word.
struct Placed<'a> {
    name: &'a str,
    word: usize,
}

/// The interface of a module.
pub(crate) struct Clocked<'a> {
    module: &'a str,
    header: &'a str,
    ports: Vec<ModulePort>,
}

impl<'a> Clocked<'a> {
    /// The interface of a module by its text.
    pub fn of(module: &'a str, text: &'a str) -> Result<Self, Diagnostic> {
        let fault =
            || Diagnostic::new(format!("the ports of `{module}` are not vectors of bits")).as_fault("specification");
        let header = header(module, text).ok_or_else(fault)?;
        let ports = ports_of(module, text).ok_or_else(fault)?;
        Ok(Clocked { module, header, ports })
    }

    fn passed(&self, is_input: bool) -> impl DoubleEndedIterator<Item = &ModulePort> {
        self.ports.iter().filter(move |port| port.output != is_input && port.name != CLOCK)
    }

    /// Words of all inputs, or of all outputs: each begins a word.
    fn words(&self, is_input: bool) -> usize {
        self.passed(is_input).map(words).sum()
    }

    /// Each input or output with its first word.
    fn placed(&self, is_input: bool) -> impl Iterator<Item = (&ModulePort, usize)> {
        self.passed(is_input).scan(0, |next, port| {
            *next += words(port);
            Some((port, *next - words(port)))
        })
    }

    /// A module of the same name and ports that calls the library at each rising edge.
    pub fn wrapper(&self) -> String {
        let Clocked { module, header, .. } = self;
        // Types of packages are those of the insides.
        let header = header.lines().filter(|line| !line.trim_start().starts_with("import ")).join("\n");
        let padded = |port: &ModulePort| match words(port) * WORD - port.bits as usize {
            0 => port.name.clone(),
            more => format!("{more}'d0, {}", port.name),
        };
        let inputs = self.passed(true).rev().map(padded).join(", ");
        let (last_in, last_out) = (self.words(true) * WORD - 1, self.words(false) * WORD - 1);
        let mut text = format!(
            "{header}\n    import \"DPI-C\" function chandle {module}_new();\n    import \"DPI-C\" function void {module}_step(\n        \
             input chandle model, input bit [{last_in}:0] inputs, output bit [{last_out}:0] outputs);\n\n    chandle model;\n    \
             bit [{last_out}:0] next;\n    bit [{last_out}:0] outputs_q;\n    initial model = {module}_new();\n    \
             always @(posedge {CLOCK}) begin\n        {module}_step(model, {{{inputs}}}, next);\n        outputs_q <= next;\n    end\n"
        );
        for (port, word) in self.placed(false) {
            let (low, high) = (word * WORD, word * WORD + port.bits as usize - 1);
            writeln!(text, "    assign {} = outputs_q[{high}:{low}];", port.name).expect("strings take all");
        }
        text + "endmodule\n"
    }

    /// The functions that the wrapper calls, around the class that Verilator makes of the module. `is_whole` says whether all its state is in
    /// that class.
    pub fn functions(&self, class: &str, is_whole: bool) -> String {
        let side = |is_input: bool| Side {
            words: self.words(is_input),
            ports: self.placed(is_input).map(|(port, word)| Placed { name: &port.name, word }).collect(),
        };
        let template = template!(
            "clocked_library.cpp",
            module: &'a str = self.module,
            class: &'a str = class,
            is_whole: bool = is_whole,
            clock: &'a str = CLOCK,
            inputs: Side<'a> = side(true),
            outputs: Side<'a> = side(false),
        );
        template.render().expect("templates write to memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_begin_words() {
        let text = "// Text.\nmodule m (\n    input  logic clk_i,\n    // Here.\n    input  logic [3:0] a_i,\n    \
                    input  logic [39:0] b_i,\n    output logic c_o\n);\nendmodule\n";
        let clocked = Clocked::of("m", text).unwrap();
        let wrapper = clocked.wrapper();
        for part in
            ["input bit [95:0] inputs, output bit [31:0] outputs", "{24'd0, b_i, 28'd0, a_i}", "c_o = outputs_q[0:0]"]
        {
            assert!(wrapper.contains(part), "{wrapper}");
        }
        let functions = clocked.functions("Vm", true);
        for part in ["put(model.a_i, inputs + 0);", "put(model.b_i, inputs + 1);", "get(model.c_o, outputs + 0);"] {
            assert!(functions.contains(part), "{functions}");
        }
        let with_import = text.replace("module m (", "module m\n    import p::*;\n(");
        assert_eq!(Clocked::of("m", &with_import).unwrap().wrapper(), wrapper.replace("module m (", "module m\n("));
        assert!(Clocked::of("m", "module m (\n    input logic [W-1:0] a_i\n);\n").is_err());
    }
}
