#!/usr/bin/env python3
"""Reads the SystemVerilog of an accelerator with slang, and compares it with the stages of its compile.

Usage: accelerator.py FOLDER TOP STAGES

FOLDER is that of the accelerator, TOP its module, and STAGES a folder with `graph`, `mapping` and `kernels`, as `pushmem build --emit`
prints them. Instances and selections are found by their names; words between them are followed through the wires. Compared are:

  length, loops  parameters of the run control and of loop counters: cycles, extents, starts and gaps of the graph
  time           clock, reset, step, flush and stall of all instances, and which loops make a stream due
  variables      loop variables of kernels: their counter and level, and their value
  operands       each operand of a kernel, and each word of an output, a hold register or a memory, followed through shift registers,
                 delay lines and memories to the net of the graph and the delay that it has there; the loops of hold registers
  conditions     of selections
  kernels        each module: the elements at its ports, values of its expressions, which slang evaluates, are those of the datapath, and
                 its registers are as many on all ways as its latency says

Prints complaints, and then what was compared. Exit code: 0 when there are none, 2 when slang does not read the files.
"""

import os
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pyslang
import slang
import yaml
from pyslang import ast

# Operands that each kernel is evaluated for.
SAMPLES = 24
WORD = 16
COUNTER = "pushmem_loop_counter"
# What each of these ports of an instance is connected to.
TIME = {"clk_i": "clk_i", "rst_ni": "rst_ni", "step_i": "step", "flush_i": "flush", "stall_i": "step"}
DELAYS = {"pushmem_shift_register", "pushmem_delay_line"}
# Registers of kernels.
REGISTERS = re.compile(r"\s*always_ff @\(posedge clk_i\) begin\s+if \(step_i\) begin\s+(\w+ <= \w+;\s+)+end\s+end\s*$")
# A loop in a condition of the graph: its index, or its range.
WHERE = re.compile(r"(\w+) (?:= (-?\d+)|in (-?\d+)\.\.=(-?\d+)(?: step (\d+))?)")
# Members of a module that has nothing but expressions and registers.
PLAIN = (ast.PortSymbol, ast.NetSymbol, ast.VariableSymbol, ast.ContinuousAssignSymbol, ast.ProceduralBlockSymbol, ast.StatementBlockSymbol)


def bits_of(expression) -> list:
    """The bits of an expression from the lowest on: a signal and its bit, 0 or 1, or None where it is computed."""
    kind, width = expression.kind.name, expression.type.bitWidth
    if expression.constant is not None:
        value = int(expression.constant.value)
        return [value >> bit & 1 for bit in range(width)]
    if kind == "NamedValue":
        return [(expression.symbol.name, bit) for bit in range(width)]
    if kind == "Assignment":
        return bits_of(expression.left)
    if kind == "Concatenation":
        return [bit for operand in reversed(list(expression.operands)) for bit in bits_of(operand)]
    if kind == "Replication":
        return bits_of(expression.concat) * (width // expression.concat.type.bitWidth)
    if kind == "Conversion":
        inner = bits_of(expression.operand)
        filler = inner[-1] if expression.operand.type.isSigned else 0
        return (inner + [filler] * width)[:width]
    if kind in ["RangeSelect", "ElementSelect"]:
        low = expression.right if kind == "RangeSelect" else expression.selector
        if low.constant is not None:
            first = int(low.constant.value) * (width if kind == "ElementSelect" else 1)
            return bits_of(expression.value)[first:first + width]
    if kind == "Call" and expression.subroutineName in ["$unsigned", "$signed"]:
        return bits_of(list(expression.arguments)[0])
    return [None] * width


class Instance:
    """An instance: its parameters, and the bits at its ports."""

    def __init__(self, symbol: ast.InstanceSymbol):
        self.name, self.module, self.symbol = symbol.name, symbol.definition.name, symbol
        self.parameters = {each.name: int(each.value.value) for each in symbol.body if isinstance(each, ast.ParameterSymbol)}
        connected = [(each.port, bits_of(each.expression)) for each in symbol.portConnections if each.expression is not None]
        self.inputs = {port.name: bits for port, bits in connected if port.direction.name == "In"}
        self.outputs = {port.name: bits for port, bits in connected if port.direction.name == "Out"}


class Netlist:
    """The top module: which instance drives each bit, or which other bit."""

    def __init__(self, top: ast.InstanceSymbol):
        self.top = top
        self.instances = {each.name: Instance(each) for each in top.body if isinstance(each, ast.InstanceSymbol)}
        self.drivers = {}
        for instance in self.instances.values():
            for port, bits in instance.outputs.items():
                self.drivers |= {bit: (instance, port, place) for place, bit in enumerate(bits)}
        for each in top.body:
            if isinstance(each, ast.ContinuousAssignSymbol):
                self.drivers |= zip(bits_of(each.assignment.left), bits_of(each.assignment.right), strict=True)
        self.assigned = {each.assignment.left.symbol.name: each.assignment.right for each in top.body
                         if isinstance(each, ast.ContinuousAssignSymbol) and each.assignment.left.kind.name == "NamedValue"}
        self.choices = {name: alternatives(expression) for name, expression in self.assigned.items()}
        self.connections = {(each.name, connection.port.name): connection.expression for each in top.body
                            if isinstance(each, ast.InstanceSymbol) for connection in each.portConnections}

    def driver(self, expression, port: str) -> Instance | None:
        """The instance whose port an expression is, and nothing else."""
        driver = self.drivers.get(bits_of(expression)[0])
        return driver[0] if isinstance(driver, tuple) and len(driver) == 3 and driver[1] == port else None


def alternatives(expression) -> list[list]:
    """The bits of each value of a selection, in its order."""
    return [bits_of(value) for value, _ in cases(expression)]


def cases(expression) -> list[tuple]:
    """Each value of a selection, in its order, and its condition; the last has none."""
    if expression.kind.name == "ConditionalOp":
        return [(expression.left, expression.conditions[0].expr), *cases(expression.right)]
    if expression.kind.name == "Conversion":
        return cases(expression.operand)
    return [(expression, None)]


class Reader:
    """The comparison of a design with its stages."""

    def __init__(self, netlist: Netlist, top: str, graph: dict, mapping: str):
        self.netlist, self.top, self.graph = netlist, top, graph
        self.complaints, self.compared = [], Counter()
        outputs = re.findall(r"^(\w+) +output (\d+) of (\w+)$", mapping, re.M)
        places = {name: (f"u_{memory}", int(port)) for name, port, memory in outputs}
        # By instance and port: the first tile, which of its inputs, and the delay in cycles. A net says how long ago its word was made.
        self.delays = {}
        for delays, count in re.findall(r"^memory of (\w+: delays .*) in (\d+) (?:tile|bank)", mapping, re.M):
            for entry, (name, of_name) in enumerate(re.findall(r"(\w+): delays ([\d, ]+)", delays)):
                stem, before = re.fullmatch(r"(.*?)(?:_(\d+)_ago)?", name).groups()
                for delay in of_name.split(", "):
                    at = places[f"{stem}_{int(before or 0) + int(delay)}_ago"]
                    first = at[0] if count == "1" else re.sub(r"_\d+$", "_0", at[0])
                    self.delays[at] = first, entry, int(delay)
        # All reads of a bank of a fixed memory have one port.
        is_tile = lambda memory: netlist.instances[f"u_{memory}"].module != "pushmem_fixed_memory"
        self.memories = {name: (f"u_{memory}", int(port) * is_tile(memory)) for name, port, memory in outputs}
        self.units = {kernel: unit["name"] for unit in graph.get("units", []) for kernel in unit["kernels"]}
        self.kernels = {f"u_{net['net']}": net for net in graph["nets"] if "kernel" in net and net["net"] not in self.units}
        self.nets = {net["net"]: net for net in graph["nets"]}
        self.bits = {bit["name"]: bit for bit in graph.get("bits", [])}
        self.lanes = {(stream["name"], lane): each["net"] for stream in graph.get("inputs", [])
                      for lane, each in enumerate(stream["lanes"]) if each["net"]}

    def expect(self, what: str, where: str, found, wanted) -> None:
        """Complains where the text says something else than the stages."""
        self.compared[what] += 1
        if found != wanted:
            self.complaints.append(f"{where}: {found} in the SystemVerilog, {wanted} in the stages")

    def origin(self, bit) -> tuple:
        """Where a bit comes from: the net of the graph, its delay in cycles, and which bit of the word it is."""
        delay = 0
        # As many steps as there are drivers only where words go in a circle.
        for _ in self.netlist.drivers:
            if bit is None or isinstance(bit, int):
                return "computed" if bit is None else "constant", bit, 0
            driver = self.netlist.drivers.get(bit, bit)
            if isinstance(driver, int):
                return "constant", driver, 0
            if driver is None:
                return bit[0], delay, bit[1]
            if len(driver) == 2 and driver == bit:
                return "port", bit, 0
            if len(driver) == 2:
                bit = driver
                continue
            instance, port, place = driver
            number = int((re.search(r"\d+", port) or ["0"])[0])
            if instance.module in DELAYS and place < len(instance.inputs["in_data_i"]):
                delay += instance.parameters["Length"]
                bit = instance.inputs["in_data_i"][place]
            elif (instance.name, number) in self.delays:
                first, entry, cycles = self.delays[instance.name, number]
                delay += cycles
                inputs = self.netlist.instances[first].inputs
                bit = inputs.get(f"data_in_{entry}_i", inputs.get("write_data_i"))[place]
            elif instance.module == "pushmem_stream_buffer":
                stream = instance.inputs["in_data_i"][place][0].removesuffix("_data_i")
                width = self.width(stream)
                return self.lanes.get((stream, place // width), stream), delay, place % width
            elif instance.name in self.kernels:
                name = self.kernels[instance.name]["net"]
                return f"{name}_high" if place >= WORD else name, delay, place % WORD
            elif instance.module == "pushmem_random_access_memory":
                width = instance.parameters["Width"]
                return (instance.name, place // width), delay, place % width
            else:
                return (instance.name, number), delay, place
        return "circle", delay, 0

    def width(self, stream: str) -> int:
        """The bits of a word of a stream in the top module."""
        lanes = next(len(each["lanes"]) for each in self.graph.get("inputs", []) + self.graph["outputs"] if each["name"] == stream)
        return self.netlist.instances[f"u_{stream}_buffer"].parameters["Width"] // lanes

    def is_from(self, bit, net: str, seen: frozenset = frozenset()) -> bool:
        """Whether a bit is one of a net, or chosen from ones of which one is."""
        name = self.origin(bit)[0]
        chosen = self.netlist.choices.get(name, []) if isinstance(name, str) and name not in seen else []
        return name == net or (len(chosen) > 1 and any(self.is_from(each[0], net, seen | {name}) for each in chosen))

    def word(self, bits: list) -> str:
        """An edge, as the graph writes it, from the bits of a word."""
        if all(isinstance(bit, int) for bit in bits):
            value = sum(bit << place for place, bit in enumerate(bits))
            return str(value)
        origins = [self.origin(bit) for bit in bits]
        name, delay, _ = origins[0]
        if name == "constant":
            return str(sum(value << place for place, (_, value, _) in enumerate(origins)))
        if origins != [(name, delay, place) for place in range(len(origins))]:
            return f"bits of several words: {sorted({str(origin[:2]) for origin in origins})}"
        return f"{name}@{delay}" if delay else str(name)

    def edge(self, edge) -> str:
        """An edge of the graph, where a memory has another name in the hardware."""
        name, *delay = str(edge).split("@")
        net = self.nets.get(name, {})
        if len(net.get("select", [])) == 1:
            return self.edge(net["select"][0])
        if name in self.memories:
            name = str(self.memories[name])
        elif name in self.units:
            name = str((f"u_{self.units[name]}", 0))
        elif "read" in net:
            name = str((f"u_{net['read']['ram']}_ram", net["read"]["port"]))
        elif "hold" in net:
            name = str((f"u_{name}", 0))
        if re.fullmatch(r"-?\d+", name):
            name = str(int(name) % 2**16)
        return "@".join([name, *delay])

    @staticmethod
    def in_graph(counter: dict) -> tuple:
        """The start of a counter of the graph, and extent and gap of each loop of several iterations."""
        levels, passed = [], 0
        for extent, stride in zip(counter["extents"], counter["cycle"]["stride"], strict=True):
            if extent > 1:
                levels.append((extent, stride - passed - 1))
                passed += (extent - 1) * stride
        return counter["cycle"]["start"], levels

    @staticmethod
    def in_text(instance: Instance) -> tuple:
        """The same of a printed counter."""
        parameters = instance.parameters
        field = lambda name, bits: [parameters[name] >> level * bits & (1 << bits) - 1 for level in range(parameters["Levels"])]
        counts = zip(field("Extents", parameters["CountBits"]), field("Gaps", parameters["GapBits"]), strict=True)
        return parameters["Start"], [(extent + 1, gap) for extent, gap in counts if extent]

    def loops(self, where: str, instance: Instance | None, counter: int) -> None:
        """Compares a loop counter with that of the graph."""
        found = self.in_text(instance) if instance and instance.module == COUNTER else "no loop counter"
        self.expect("loops", where, found, self.in_graph(self.graph["counters"][counter]))

    def check(self) -> None:
        """Compares the top module."""
        self.expect("length", "run control", self.netlist.instances["u_run_control"].parameters["Length"], self.graph["cycles"])
        self.check_time()
        for number, stream in enumerate(self.graph.get("inputs", []) + self.graph["outputs"]):
            self.check_stream(number, stream)
        for name, net in self.kernels.items():
            self.check_kernel(name, net["kernel"]["operation"], net["kernel"])
        # Several units of one operation have numbers, and one module.
        stem = lambda unit: re.sub(r"_\d+$", "", unit["name"])
        units = self.graph.get("units", [])
        of_stem = Counter(map(stem, units))
        for unit in units:
            self.check_kernel(f"u_{unit['name']}", stem(unit) if of_stem[stem(unit)] > 1 else unit["name"], unit)
        for net in self.graph["nets"]:
            if "hold" in net:
                self.check_hold(net["net"], net["hold"])
            if len(edges := net.get("select", [])) > 1:
                self.check_selection(net["net"], edges)
        for array in self.graph.get("arrays", []):
            self.check_writes(array)
        for ram in self.graph.get("rams", []):
            self.check_random_access(ram)

    def check_time(self) -> None:
        """Compares what makes instances go on, and asks of each loop counter that the graph has one like it."""
        own = {name: self.netlist.drivers[name, 0] for name in ["step", "flush"]}
        self.expect("time", "step and flush", [(each[0].name, each[1]) for each in own.values()],
                    [("u_run_control", "step_o"), ("u_run_control", "flush_o")])
        counters = [self.in_graph(counter) for counter in self.graph["counters"]]
        for instance in self.netlist.instances.values():
            for port, wanted in TIME.items():
                if port in instance.inputs:
                    found = instance.inputs[port][0]
                    # A tile stalls while time stands.
                    if port == "stall_i":
                        found = self.netlist.connections[instance.name, port]
                        found = (names_in(found).pop(), 0) if found.kind.name == "UnaryOp" and found.op.name == "BitwiseNot" else None
                    self.expect("time", f"{port} of {instance.name}", found, (wanted, 0))
            if instance.module == COUNTER:
                self.expect("loops", instance.name, self.in_text(instance) in counters, True)

    def check_stream(self, number: int, stream: dict) -> None:
        """Compares the loops of a stream, and the words of an output."""
        name, is_input = stream["name"], number < len(self.graph.get("inputs", []))
        buffer, port = self.netlist.instances[f"u_{name}_buffer"], "out_ready_i" if is_input else "in_valid_i"
        passes = self.netlist.connections[buffer.name, port]
        both = passes.kind.name == "BinaryOp" and passes.op.name == "LogicalAnd" and bits_of(passes.left) == [("step", 0)]
        self.expect("time", f"beats of {name}", both, True)
        if both:
            self.loops(name, self.netlist.driver(passes.right, "steps_o"), stream["counter"])
            self.expect("time", f"due[{number}]", self.netlist.drivers["due", number], bits_of(passes.right)[0])
        self.expect("time", f"ready of {name}", buffer.outputs["out_valid_o" if is_input else "in_ready_o"], [("ready", number)])
        if not is_input:
            bits, width = buffer.inputs["in_data_i"], self.width(name)
            for lane, each in enumerate(stream["lanes"]):
                found = self.word(bits[lane * width:(lane + 1) * width])
                self.expect("operands", f"lane {lane} of {name}", found, self.edge(each["edge"]))

    def check_hold(self, name: str, hold: dict) -> None:
        """Compares the word of a hold register, and the loops by which it is loaded."""
        instance = self.netlist.instances[f"u_{name}"]
        self.expect("operands", name, self.word(instance.inputs["in_data_i"]), self.edge(hold["edge"]))
        signal, _ = instance.inputs["load_i"][0]
        for symbol in symbols_in(self.netlist.assigned[signal]):
            self.loops(name, self.netlist.drivers[symbol.name, 0][0], hold["counter"])

    def check_selection(self, name: str, edges: list[str]) -> None:
        """Compares the words of a selection, and their conditions."""
        if name not in self.netlist.assigned:
            self.complaints.append(f"{name}: no such selection")
            return
        found = [self.word(bits) for bits in self.netlist.choices[name]]
        self.expect("operands", name, found, [self.edge(edge.split(" if ")[0]) for edge in edges])
        for edge, (_, condition) in zip(edges[:-1], cases(self.netlist.assigned[name])):
            if condition is None:
                self.complaints.append(f"{name}: there is no case for {edge}")
                break
            self.check_condition(name, condition, self.bits[edge.split(" if ")[1]])

    def check_writes(self, array: dict) -> None:
        """Compares the words that are written to an array: of one tile in the order of its inputs, of several tiles all together."""
        memory = f"u_{array['array']}{'_high' * (array.get('word') == 'high')}_memory"
        connections = [(name, expression) for (name, port), expression in self.netlist.connections.items()
                       if re.fullmatch(rf"{memory}(_\d+)?", name) and re.fullmatch(r"data_in_\d+_i|write_data_i", port)]
        written = [self.word(bits) for _, expression in connections for bits in alternatives(expression)]
        edges = [self.edge(write["edge"]) for write in array["writes"]]
        if len({name for name, _ in connections}) == 1:
            self.expect("operands", f"writes of {array['array']}", written[:len(edges)], edges)
        else:
            self.expect("operands", f"writes of {array['array']}", set(edges) <= set(written), True)

    def check_random_access(self, ram: dict) -> None:
        """Compares the words and the addresses that are written to a random-access memory, and when."""
        name = f"u_{ram['array']}_ram"
        of_port = lambda port: self.netlist.assigned[self.netlist.instances[name].inputs[port][0][0]]
        for port, key in [("write_element_i", "element"), ("write_address_i", "address")]:
            found = [self.word(bits) for bits in alternatives(of_port(port))]
            self.expect("operands", f"{port} of {name}", found, [self.edge(write[key]) for write in ram["writes"]])
        steps = symbols_in(of_port("write_i"))
        self.expect("time", f"writes of {name}", len(steps), len(ram["writes"]))
        for symbol, write in zip(steps, ram["writes"]):
            self.loops(name, self.netlist.drivers[symbol.name, 0][0], write["counter"])

    def check_condition(self, where: str, expression, bit: dict) -> None:
        """Compares a condition of loop indices, for indices about its limits and some at random."""
        if "where" not in bit:
            self.loops(where, self.netlist.driver(expression, "steps_o"), bit["begins"])
            return
        drivers = {symbol.name: self.netlist.drivers.get((symbol.name, 0)) for symbol in symbols_in(expression)}
        for driver in drivers.values():
            if not isinstance(driver, tuple) or len(driver) != 3 or driver[1] != "indices_o":
                self.complaints.append(f"{where}: a condition has more than indices of loops")
                return
            self.loops(where, driver[0], bit["counter"])
        counter, draw = self.graph["counters"][bit["counter"]], random.Random(1)
        parts = [WHERE.fullmatch(part).groups() for part in bit["where"]]
        limits = {name: [int(limit) for limit in numbers if limit] for name, *numbers in parts}
        for _ in range(4 * SAMPLES):
            indices = {}
            for name, extent in zip(counter["loops"], counter["extents"], strict=True):
                near = [limit + draw.randint(-1, 1) for limit in limits.get(name, []) if draw.random() < 0.8]
                indices[name] = max(0, min(draw.choice([*near, draw.randrange(extent)]), extent - 1))
            context = ast.EvalContext(self.netlist.top)
            for symbol in symbols_in(expression):
                instance, _, place = drivers[symbol.name]
                set_variable(context, symbol, indices[counter["loops"][place // instance.parameters["CountBits"]]])
            holds = all(indices[name] == int(value) if value else
                        int(first) <= indices[name] <= int(last) and (indices[name] - int(first)) % int(step or 1) == 0
                        for name, value, first, last, step in parts)
            self.expect("conditions", f"{where} at {indices}", bool(expression.eval(context).value), holds)

    def check_kernel(self, name: str, operation: str, kernel: dict) -> None:
        """Compares the module, the operands and the variables of a kernel, or of several in one unit."""
        instance = self.netlist.instances.get(name)
        if instance is None:
            self.complaints.append(f"{name}: no such instance")
            return
        self.expect("operands", name, instance.module, f"{self.top}_{operation}")
        data = [(port, bits) for port, bits in instance.inputs.items() if port not in TIME and "_word_" not in port]
        variables = kernel.get("variables", [])
        for (port, _), variable in zip(data, variables):
            self.check_variable(name, self.netlist.connections[name, port], kernel, variable)
        found = [self.word(bits[first:first + WORD]) for _, bits in data[len(variables):] for first in range(0, len(bits), WORD)]
        self.expect("operands", name, found, [self.edge(edge) for edge in kernel["operands"]])

    def check_variable(self, where: str, expression, kernel: dict, variable: dict) -> None:
        """Compares a loop variable: its counter, its level, and its value for the first two and the last index."""
        symbols = symbols_in(expression)
        self.expect("variables", where, len(symbols), 0 if variable["level"] is None else 1)
        for symbol in symbols:
            counter, port, place = self.netlist.drivers[symbol.name, 0]
            self.loops(where, counter, kernel["counter"])
            self.expect("variables", where, (port, place // counter.parameters["CountBits"]), ("indices_o", variable["level"]))
        for index in [0, 1, 2**symbols[0].type.bitWidth - 1] if symbols else [0]:
            context = ast.EvalContext(self.netlist.top)
            for symbol in symbols:
                set_variable(context, symbol, index)
            found = int(expression.eval(context).value) % 2**32
            self.expect("variables", where, found, (variable["scale"] * index + variable["offset"]) % 2**32)


# Operators of datapaths, on numbers.
OPERATORS = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "minimum": min, "maximum": max, "absolute_difference": lambda a, b: abs(a - b), "select": lambda c, a, b: a if c else b,
    "cast": lambda a: a, "negate": lambda a: -a, "not": lambda a: ~a, "absolute": abs,
    "shift_left": lambda a, b: a << b if 0 <= b < 64 else 0, "shift_right": lambda a, b: a >> max(0, min(b, 64)),
}
# By the symbol before `=`.
UPDATES = {"+": "add", "-": "subtract", "min": "minimum", "max": "maximum"}


def width_of(type_name: str) -> int:
    """The bits of a type of integers."""
    return 1 if type_name == "bool" else int(type_name[1:])


def wrapped(value: int, type_name: str) -> int:
    """A number in a type of integers."""
    bits = width_of(type_name)
    value = int(value) & (1 << bits) - 1
    return value - (1 << bits) if type_name[0] == "i" and value >> bits - 1 else value


class Kernel:
    """A datapath, as the compile prints it."""

    def __init__(self, text: str):
        heading, *lines = text.strip().splitlines()
        self.latency = int(re.search(r"latency (\d+)", heading)[1])
        self.result, self.update, self.nodes, self.is_plain = None, ("", ""), [], True
        for line in lines:
            if node := re.fullmatch(r"  %(\d+) (\w+)(?: -?\d+\.\.=-?\d+)? = (.*)", line):
                number, type_name, right = node.groups()
                word, *operands = right.split()
                self.is_plain &= word in [*OPERATORS, "load", "loop"] or re.fullmatch(r"-?\d+", right) is not None
                self.is_plain &= re.fullmatch(r"bool|[iu]\d+", type_name) is not None
                self.nodes.append((int(number), type_name, word, operands, right))
            else:
                place, operator, number = re.fullmatch(r"  (.*) (\S*)= %(\d+)", line).groups()
                self.result, self.update = int(number), (operator, place)
        # The elements that it reads, in the order of the ports: the one that it updates is the last.
        self.loads = [right.removeprefix("load ") for *_, word, _, right in self.nodes if word == "load"]
        self.loads += [self.update[1]] * bool(self.update[0])

    def value(self, element) -> int:
        """The result, where `element` has the values of loads and loops."""
        values = {}
        for number, type_name, word, operands, right in self.nodes:
            if word in ["load", "loop"]:
                value = element(right.removeprefix("load "))
            elif word in OPERATORS:
                value = OPERATORS[word](*(values[int(operand[1:])] for operand in operands))
            else:
                value = int(right)
            values[number] = wrapped(value, type_name)
        operator, place = self.update
        return OPERATORS[UPDATES[operator]](element(place), values[self.result]) if operator else values[self.result]


def check_module(reader: Reader, instance: Instance, text: str, kernel: Kernel, draw: random.Random) -> bool:
    """Compares the module of a kernel with its datapath, if it has nothing but expressions. Its own results come back in any cycle."""
    feedback = {port for port, bits in instance.inputs.items() if bits and reader.is_from(bits[0], instance.name.removeprefix("u_"))}
    body = list(instance.symbol.body)
    if not kernel.is_plain or not all(isinstance(each, PLAIN) for each in body):
        return False
    comments = re.findall(r"^ *input +logic +(?:signed +)?(?:\[\d+:0\] +)?(\w+),? *// (?:(\w+) (\w+\[.*\]|\w+)|(loop) `(\w+)`)", text, re.M)
    names = {port: (kind or "i32", element or f"loop {variable}") for port, kind, element, _, variable in comments if port != "step_i"}
    loads = [element for _, element in names.values() if element in kernel.loads]
    reader.expect("operands", f"elements of {instance.module}", loads, kernel.loads)
    names |= {name: ("bool", name) for name in ["clk_i", "step_i"]}
    inputs = [each for each in body if isinstance(each, ast.NetSymbol) and each.name in names]
    for sample in range(SAMPLES):
        ends = {name: wrapped(draw.choice([0, 1, -1, 2**width_of(kind) // 2, 2**width_of(kind) // 2 - 1]) if sample % 2
                              else draw.getrandbits(32), kind) for kind, name in names.values()}
        context, depth = ast.EvalContext(instance.symbol), {}
        for symbol in inputs:
            set_variable(context, symbol, ends[names[symbol.name][1]])
            depth[symbol.name] = None if symbol.name in feedback else 0
        for symbol in body:
            for left, right, later in assignments(symbol):
                if left is None:
                    reader.complaints.append(f"{instance.module}: registers do more than take a value in a step")
                    return True
                if not names_in(right) <= depth.keys():
                    reader.complaints.append(f"{instance.module}: `{left.name}` reads a value of a later cycle")
                    return True
                context.createLocal(left, right.eval(context))
                read = {depth[name] for name in names_in(right)} or {None}
                if len(read - {None}) > 1:
                    reader.expect("latencies", f"what `{left.name}` of {instance.module} reads", f"words of cycles {read}", "of one")
                at = max((each for each in read if each is not None), default=None)
                depth[left.name] = None if at is None else at + later
        output = next(each for each in body if isinstance(each, ast.VariableSymbol) and each.name == "result_o")
        bits = output.type.bitWidth
        found, wanted = int(context.findLocal(output).value) % 2**bits, kernel.value(ends.get) % 2**bits
        reader.expect("values of kernels", f"{instance.module} of {ends}", found, wanted)
        if depth["result_o"] is not None:
            reader.expect("latencies", instance.module, depth["result_o"], kernel.latency)
        if found != wanted:
            break
    return True


def assignments(symbol) -> list:
    """What a member assigns: the variable, the expression, and whether a cycle later."""
    if isinstance(symbol, ast.ContinuousAssignSymbol):
        return [(symbol.assignment.left.symbol, symbol.assignment.right, 0)]
    if isinstance(symbol, ast.ProceduralBlockSymbol):
        if not REGISTERS.match(str(symbol.syntax)):
            return [(None, None, 1)]
        found = []
        symbol.visit(lambda node: found.append((node.left.symbol, node.right, 1)) if isinstance(node, ast.AssignmentExpression) else None)
        return found
    return []


def set_variable(context: ast.EvalContext, symbol, value: int) -> None:
    """Gives a variable a value for the evaluation of expressions: as many low bits as it has."""
    of = symbol.type
    context.createLocal(symbol, pyslang.ConstantValue(pyslang.SVInt(of.bitWidth, value % 2**of.bitWidth, of.isSigned)))


def symbols_in(expression) -> list:
    """The variables that an expression reads."""
    found = {}
    expression.visit(lambda node: found.update({node.symbol.name: node.symbol}) if isinstance(node, ast.NamedValueExpression) else None)
    return list(found.values())


def names_in(expression) -> set[str]:
    """Their names."""
    return {symbol.name for symbol in symbols_in(expression)}


def main() -> None:
    folder, top, stages = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).resolve()
    graph, mapping, kernels = ((stages / name).read_text() for name in ["graph", "mapping", "kernels"])
    os.chdir(folder)
    design = slang.elaborated(top, ["-f", "filelist.f"])
    if design is None:
        sys.exit(2)
    netlist = Netlist(design.getRoot().topInstances[0])
    reader = Reader(netlist, top, yaml.safe_load(graph), mapping)
    reader.check()
    datapaths = {block.split(":")[0].strip(): Kernel(block) for block in kernels.split("\n\n") if block.strip()}
    draw, seen = random.Random(1), set()
    operations = {name: net["kernel"]["operation"] for name, net in reader.kernels.items()}
    # The module of a unit is that of its first kernel.
    operations |= {f"u_{unit['name']}": reader.nets[unit["kernels"][0]]["kernel"]["operation"] for unit in reader.graph.get("units", [])}
    for name, operation in operations.items():
        instance = netlist.instances.get(name)
        if instance is None or instance.module in seen:
            continue
        seen.add(instance.module)
        text = Path(f"rtl/{instance.module}.sv").read_text()
        if not check_module(reader, instance, text, datapaths[operation], draw):
            reader.compared["kernels left to simulation, with tables, dividers, fractions or random accesses"] += 1
    print("\n".join([*reader.complaints, ", ".join(f"{what}: {number}" for what, number in reader.compared.items())]))
    sys.exit(1 if reader.complaints else 0)


if __name__ == "__main__":
    main()
