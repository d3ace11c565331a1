//! The module that is bound into the hardware.

use pushmem_files::text;

use crate::{Group, INSTANCE, View};

/// Width of the count of cycles.
pub(crate) const CYCLE_BITS: u32 = 32;

impl View {
    /// The module, and what binds it into the hardware. Simulators read it after the files of the hardware.
    pub fn systemverilog(&self) -> String {
        let mut groups = String::new();
        for group in self.all_groups() {
            print(&group, 1, &mut groups);
        }
        text!(
            "waves.sv",
            view: &'a View = self,
            instance: &'static str = INSTANCE,
            cycle_bits: u32 = CYCLE_BITS,
            groups: String = groups,
        )
    }
}

/// A named block is a scope in wave files.
fn print(group: &Group, depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let line = |text: &mut String, line: &str| {
        let line = if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        text.push_str(&line);
        text.push('\n');
    };
    line(text, &format!("if (1) begin : {}", group.name));
    for body in group.body.lines() {
        line(text, &format!("    {body}"));
    }
    for signal in &group.signals {
        let Some(value) = &signal.value else { continue };
        let range = if signal.bits == 1 { String::new() } else { format!(" {}", signal.range()) };
        line(text, &format!("    logic{range} {};", signal.name));
        line(text, &format!("    assign {} = {value};", signal.name));
    }
    for inner in &group.groups {
        print(inner, depth + 1, text);
    }
    line(text, "end");
}
