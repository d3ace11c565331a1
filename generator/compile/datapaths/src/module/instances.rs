//! Units of several cycles: dividers, fetches and operators of numbers with a fraction.

use itertools::Itertools;
use pushmem_float::Format;
use pushmem_nest::{Binary, Type, Unary};

use super::{FetchPorts, Writer, declaration, is_port, mask};
use crate::datapath::Datapath;
use crate::node::NodeKind;
use crate::operators::quotient_bits_per_stage;

/// How a module of the library computes an operator of numbers with a fraction.
pub(super) struct Instance {
    pub module: String,
    /// The ports of the operands.
    pub operands: &'static [&'static str],
    /// Whether the last operand changes its sign.
    negates: bool,
    /// Bits that are always the same.
    constants: &'static [(&'static str, bool)],
    pub result: &'static str,
}

impl Instance {
    pub fn of(kind: &NodeKind) -> Option<Instance> {
        const BOTH: &[&str] = &["a_i", "b_i"];
        let plain = |format: Format, operation, operands, result| Instance {
            module: format.module(operation),
            operands,
            negates: false,
            constants: &[],
            result,
        };
        let add = |format| plain(format, "add_pipelined", BOTH, "sum_o");
        let compare = |format, constants| Instance { constants, ..plain(format, "compare", BOTH, "holds_o") };
        match kind {
            NodeKind::Unary { operator, .. } => match *operator {
                Unary::FloatFromInteger(format) => Some(plain(format, "from_integer", &["word_i"], "number_o")),
                Unary::FloatToInteger(format) => Some(plain(format, "to_integer", &["number_i"], "word_o")),
                _ => None,
            },
            NodeKind::Binary { operator, .. } => match *operator {
                Binary::FloatAdd(format) => Some(add(format)),
                Binary::FloatSubtract(format) => Some(Instance { negates: true, ..add(format) }),
                Binary::FloatMultiply(format) => Some(plain(format, "multiply_pipelined", BOTH, "product_o")),
                Binary::FloatEqual(format) => Some(compare(format, &[("equal_i", true), ("less_i", false)])),
                Binary::FloatLess(format) => Some(compare(format, &[("equal_i", false), ("less_i", true)])),
                Binary::FloatLessEqual(format) => Some(compare(format, &[("equal_i", true), ("less_i", true)])),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'a> Writer<'a> {
    /// The statements that pass an address of a random-access memory out and, unless the port is the value, its element in.
    pub(super) fn memory_read(&self, number: usize, load: usize, address: usize, address_bits: u32) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let before = &self.datapath.nodes[..number];
        let place = before.iter().filter(|node| matches!(node.kind, NodeKind::Read { .. })).count();
        let port = &self.ports.addresses[place];
        let mut lines = vec![format!("assign {port} = {};", self.address(address, node.stage, address_bits))];
        if !is_port(node.value) {
            let name = &self.names[number][0];
            lines.push(format!("{};", declaration(node.value, name)));
            lines.push(format!("assign {name} = {};", self.of_port(load, node.value)));
        }
        lines
    }

    /// The instance of a module of the library for an operator of numbers with a fraction.
    pub(super) fn instance(&self, number: usize, instance: &Instance) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let name = &self.names[number][0];
        let read = |operand: usize| match self.datapath.nodes[operand].kind {
            NodeKind::Constant(number) => mask(number, self.datapath.nodes[operand].value),
            _ => self.read(operand, node.stage),
        };
        let clocked = [("clk_i", "clk_i".to_owned()), ("step_i", "step_i".to_owned())];
        let clocked = clocked.into_iter().filter(|_| node.latency > 0);
        let operands = instance.operands.iter().zip(node.kind.operands()).map(|(port, operand)| (*port, read(operand)));
        let constants = instance.constants.iter().map(|(port, bit)| (*port, format!("1'b{}", u8::from(*bit))));
        let mut ports = clocked.chain(operands).chain(constants).collect_vec();
        if instance.negates
            && let Some((_, text)) = ports.last_mut()
        {
            *text = format!("{text} ^ {}", mask(pushmem_float::SIGN.into(), Type::U16));
        }
        ports.push((instance.result, name.clone()));
        // Of a word with sign, the module knows the bits.
        let unsigned = |(port, text): (&'static str, String)| match port {
            "word_i" => (port, format!("$unsigned({text})")),
            _ => (port, text),
        };
        let width = ports.iter().map(|(port, _)| port.len()).max().unwrap_or_default();
        let mut lines = vec![format!("{};", declaration(node.value, name)), format!("{} u_{name} (", instance.module)];
        let last = ports.len() - 1;
        lines.extend(ports.into_iter().map(unsigned).enumerate().map(|(place, (port, text))| {
            format!("    .{port:width$} ({text}){}", if place < last { "," } else { "" })
        }));
        lines.push(");".to_owned());
        lines
    }

    /// The statements that pass an address out and, of signed numbers, its entry in.
    pub(super) fn fetch(&self, number: usize, index: usize, address_bits: u32) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let FetchPorts { address, word } = &self.ports.fetches[self.datapath.fetch(number)];
        let mut lines = vec![format!("assign {address} = {};", self.address(index, node.stage, address_bits))];
        if node.value.is_signed() {
            let name = &self.names[number][0];
            lines.push(format!("{};", declaration(node.value, name)));
            lines.push(format!("assign {name} = $signed({word});"));
        }
        lines
    }

    /// The instance for a division or modulo; both of the same operands have one.
    pub(super) fn divider(&self, number: usize, left: usize, right: usize) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let is_quotient = matches!(node.kind, NodeKind::Binary { operator: Binary::Divide, .. });
        let other = self.datapath.other_division(number);
        let name = &self.names[number][0];
        let declared = format!("{};", declaration(node.value, name));
        if other.is_some() && !is_quotient {
            return vec![declared];
        }
        let mut lines = vec![declared];
        let other = match other {
            Some(other) => self.names[other][0].clone(),
            None => {
                let found = self.unused_results.iter().find(|(known, _)| *known == number);
                let unused = found.map(|(_, name)| name.clone()).unwrap_or_default();
                lines.push(format!("{};", declaration(node.value.unsigned(), &unused)));
                unused
            }
        };
        let (quotient, remainder) = if is_quotient { (name, &other) } else { (&other, name) };
        let operand = |node: usize| self.read(node, self.datapath.nodes[number].stage);
        lines.extend([
            "pushmem_divider #(".to_owned(),
            format!("    .Width        ({}),", node.value.bits()),
            format!("    .Signed       (1'b{}),", u8::from(node.value.is_signed())),
            format!("    .BitsPerStage ({})", quotient_bits_per_stage(node.value, node.latency)),
            format!(") u_{name} ("),
            "    .clk_i       (clk_i),".to_owned(),
            "    .step_i      (step_i),".to_owned(),
            format!("    .dividend_i  ({}),", operand(left)),
            format!("    .divisor_i   ({}),", operand(right)),
            format!("    .quotient_o  ({quotient}),"),
            format!("    .remainder_o ({remainder})"),
            ");".to_owned(),
        ]);
        lines
    }
}

/// The lowest bit of a node that nothing uses in its last stage, if all that uses it there takes its low bits only.
pub(super) fn lowest_unused(datapath: &Datapath, number: usize, last: u64) -> Option<u32> {
    if number == datapath.result && last == datapath.latency {
        return None;
    }
    let users = datapath.nodes.iter().filter(|node| node.stage == last && node.kind.operands().contains(&number));
    let used = users.map(|user| match user.kind {
        NodeKind::Cast(_) => user.value.bits(),
        NodeKind::Fetch { address_bits, .. } | NodeKind::Read { address_bits, .. } => address_bits,
        _ => u32::MAX,
    });
    used.max().filter(|used| *used < datapath.nodes[number].value.bits())
}
