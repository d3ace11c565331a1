//! Random-access memories: arrays whose elements data choose.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_graph::{KernelId, RamId, WireId};
use pushmem_nest::Word;

use super::{Context, Section};
use crate::instance::Instance;
use crate::modules::RANDOM_ACCESS_MEMORY;
use crate::text::{concatenation, listing, vector};

impl Context<'_> {
    /// The signals of the addresses that a kernel gives to random-access memories, in the order of its reads.
    pub(super) fn ram_addresses(&self, kernel: KernelId) -> Vec<String> {
        self.accelerator.ram_reads_of(kernel).into_iter().map(|(ram, read)| self.ram_address(ram, read)).collect()
    }

    fn ram_address(&self, ram: RamId, read: usize) -> String {
        format!("{}_address_{read}", self.signals.rams[ram].name)
    }

    /// The declarations of all addresses of random-access memories, as lines.
    pub(super) fn declared_addresses(&self) -> Vec<String> {
        let of_ram = |ram: RamId| {
            let bits = pushmem_datapaths::address_bits(self.accelerator.rams[ram].words as usize);
            let reads = 0..self.accelerator.rams[ram].reads.len();
            reads.map(move |read| format!("    logic{} {};", vector(bits), self.ram_address(ram, read)))
        };
        self.accelerator.rams.indices().flat_map(of_ram).collect()
    }

    /// The signal of the address of a port: that of its only read, or one of its own that is added to the lines.
    fn port_address(&self, number: RamId, port: usize, lines: &mut Vec<String>) -> String {
        let ram = &self.accelerator.rams[number];
        let reads = ram.reads_of(port).collect_vec();
        let address = |read: usize| self.ram_address(number, read);
        let (last, others) = reads.split_last().expect("a port has a read");
        if others.is_empty() {
            return address(*last);
        }
        let steps = |read: usize| &self.signals.counters[&ram.reads[read].counter].steps;
        let cases = others.iter().map(|&read| format!("        {} ? {} :\n", steps(read), address(read))).join("");
        let name = format!("{}_port_{port}", self.signals.rams[number].name);
        let bits = pushmem_datapaths::address_bits(ram.words as usize);
        lines.push(format!(
            "    logic{} {name};\n    assign {name} =\n{cases}        {};",
            vector(bits),
            address(*last)
        ));
        name
    }

    pub(super) fn ram(&self, number: RamId, early: &BTreeSet<WireId>) -> Section {
        let ram = &self.accelerator.rams[number];
        let name = &self.signals.rams[number].name;
        let steps = |write: &pushmem_graph::RamWrite| self.signals.counters[&write.counter].steps.clone();
        let signal = |what: &str| format!("{name}_{what}");
        let [write, address, element] = ["write", "write_address", "write_element"].map(signal);
        // In cycles without a write, the last one is selected.
        let chosen = |word: &dyn Fn(&pushmem_graph::RamWrite) -> String| {
            let (last, others) = ram.writes.split_last().expect("a memory is written");
            let cases = others.iter().map(|of| format!("        {} ? {} :\n", steps(of), word(of))).join("");
            match others {
                [] => word(last),
                _ => format!("\n{cases}        {}", word(last)),
            }
        };
        let assign = |signal: &str, value: String| {
            let space = if value.starts_with('\n') { "" } else { " " };
            format!("    assign {signal} ={space}{value};")
        };
        let range = vector(Word::BITS);
        let mut lines =
            ram.reads.iter().map(|read| self.declared(read.wire, early).trim_end().to_owned()).collect_vec();
        lines.retain(|line| !line.is_empty());
        lines.push(format!("    logic {write};\n    logic{range} {address};\n    logic{range} {element};"));
        lines.push(assign(&write, ram.writes.iter().map(steps).join(" || ")));
        lines.push(assign(&address, chosen(&|of| self.signals.source(of.address))));
        lines.push(assign(&element, chosen(&|of| self.signals.source(of.element))));
        let addresses = (0..ram.ports()).map(|port| self.port_address(number, port, &mut lines)).collect_vec();
        // The reads of a port show the same word: the first has it from the memory.
        let first = |port: usize| &ram.reads[ram.reads_of(port).next().expect("a port has a read")];
        let elements = (0..ram.ports()).map(|port| self.signals.wires[first(port).wire].clone());
        let instance = Instance::new(self.library(RANDOM_ACCESS_MEMORY), format!("u_{name}"))
            .parameter("Width", Word::BITS)
            .parameter("Words", ram.words)
            .parameter("Reads", ram.ports())
            .same(&["clk_i", "rst_ni"])
            .port("step_i", "step")
            .port("write_i", &write)
            .port("write_address_i", &address)
            .port("write_element_i", &element)
            .port("read_address_i", concatenation(addresses))
            .port("element_o", concatenation(elements));
        lines.push(instance.print());
        for (read, of) in ram.reads.iter().enumerate().filter(|(read, of)| ram.reads_of(of.port).next() != Some(*read))
        {
            let same = &self.signals.wires[first(of.port).wire];
            lines.push(format!("    assign {} = {same};", self.signals.wires[ram.reads[read].wire]));
        }
        if ram.writes.len() > 1 {
            lines.push(format!(
                "\n    `PUSHMEM_ASSERT({},\n        step !== 1'b1 || $onehot0({}),\n        (\"{}: two words are written to \
                 `{}` at a time\"))",
                self.signals.rams[number].promise,
                concatenation(ram.writes.iter().map(steps)),
                self.accelerator.name,
                ram.name
            ));
        }
        let readers = ram.reads.iter().map(|read| format!("`{}`", self.accelerator.kernels[read.kernel].name)).unique();
        let comment = format!(
            "`{}` in a random-access memory of {}, read by {}.",
            self.program.arrays[ram.array].name,
            counted(ram.words as usize, "word"),
            listing(&readers.collect_vec())
        );
        Section::new(comment, lines.join("\n"))
    }
}
