#!/usr/bin/env python3
"""Reads the SystemVerilog of an accelerator with slang, and compares it with the stages of its compile.

Usage: accelerator.py FOLDER TOP STAGES

FOLDER is that of the accelerator, TOP its module, and STAGES a folder with `graph`, `mapping` and `kernels`, as `pushmem build --emit`
prints them. The names of signals and comments tell nothing here, but for the elements in the ports of kernels. Compared are:

  length, loops  parameters of the run control and of loop counters: cycles, extents, starts and gaps of the graph
  variables      loop variables of kernels: their counter and level, and their value
  operands       each operand of a kernel, and each word of an output or a memory, followed through shift registers, delay lines and
                 memories to the net of the graph and the delay that it has there
  kernels        each module: values of its expressions, which slang evaluates, are those of the datapath, and its registers are as
                 many on all ways as its latency says

Prints complaints, and what was compared last. Exit code: 0 when there are none.
"""

import os
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pyslang
import yaml
from pyslang import ast

# Operands that each kernel is evaluated for.
SAMPLES = 24
WORD = 16
CONTROL = ["clk_i", "rst_ni", "step_i"]
DELAYS = {"pushmem_shift_register", "pushmem_delay_line"}
# A loop in a condition of the graph: its index, or its range.
WHERE = re.compile(r"(\w+) (?:= (-?\d+)|in (-?\d+)\.\.=(-?\d+)(?: step (\d+))?)")
# Members of a module that has nothing but expressions and registers.
PLAIN = (ast.PortSymbol, ast.NetSymbol, ast.VariableSymbol, ast.ContinuousAssignSymbol, ast.ProceduralBlockSymbol, ast.StatementBlockSymbol)


def elaborated(top: str) -> ast.Compilation:
    """The design whose file list is in this folder. Its symbols live as long as it does."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    done = driver.parseCommandLine(f"slang --top {top} -f filelist.f", pyslang.driver.CommandLineOptions()) and driver.processOptions()
    if not done or not driver.parseAllSources():
        sys.exit("slang does not read the files")
    return driver.createCompilation()


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

    def loops_of(self, stream: str, port: str) -> Instance:
        """The loop counter by which a stream steps."""
        names = names_in(self.connections[f"u_{stream}_buffer", port])
        found = [self.drivers.get((name, 0)) for name in names]
        return next(driver[0] for driver in found if isinstance(driver, tuple) and driver[0].module == "pushmem_loop_counter")


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
        self.memories = {name: (f"u_{memory}", int(port) * is_tile(memory))
                         for name, port, memory in outputs}
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
            self.complaints.append(f"{where}: {found} in the SystemVerilog, {wanted} in the graph")

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
            if instance.module in DELAYS:
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

    def is_from(self, bit, net: str) -> bool:
        """Whether a bit is one of a net, or chosen from ones of which one is."""
        name = self.origin(bit)[0]
        chosen = self.netlist.choices.get(name, []) if isinstance(name, str) else []
        return name == net or (len(chosen) > 1 and any(self.is_from(each[0], net) for each in chosen))

    def word(self, bits: list) -> str:
        """An edge, as the graph writes it, from the bits of a word."""
        if all(isinstance(bit, int) for bit in bits):
            value = sum(bit << place for place, bit in enumerate(bits))
            return str(value)
        origins = [self.origin(bit) for bit in bits]
        while len(origins) > 1 and origins[-1] in [("constant", 0, 0), origins[-2]] and origins[0][0] != "constant":
            origins.pop()
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

    def loops(self, where: str, instance: Instance, counter: dict) -> None:
        """Compares a loop counter with that of the graph."""
        parameters, levels, gaps, passed = instance.parameters, [], [], 0
        for extent, stride in zip(counter["extents"], counter["cycle"]["stride"], strict=True):
            if extent > 1:
                levels.append(extent)
                gaps.append(stride - passed - 1)
                passed += (extent - 1) * stride
        field = lambda name, bits: [parameters[name] >> level * bits & (1 << bits) - 1 for level in range(parameters["Levels"])]
        counts = zip(field("Extents", parameters["CountBits"]), field("Gaps", parameters["GapBits"]), strict=True)
        found = parameters["Start"], [(extent + 1, gap) for extent, gap in counts if extent]
        self.expect("loops", where, found, (counter["cycle"]["start"], list(zip(levels, gaps, strict=True))))

    def check(self) -> None:
        """Compares the top module."""
        instances = self.netlist.instances
        self.expect("length", "run control", instances["u_run_control"].parameters["Length"], self.graph["cycles"])
        for stream in self.graph.get("inputs", []) + self.graph["outputs"]:
            port = "out_ready_i" if stream in self.graph.get("inputs", []) else "in_valid_i"
            self.loops(stream["name"], self.netlist.loops_of(stream["name"], port), self.graph["counters"][stream["counter"]])
        for stream in self.graph["outputs"]:
            bits, width = instances[f"u_{stream['name']}_buffer"].inputs["in_data_i"], self.width(stream["name"])
            for lane, each in enumerate(stream["lanes"]):
                found = self.word(bits[lane * width:(lane + 1) * width])
                self.expect("operands", f"lane {lane} of {stream['name']}", found, self.edge(each["edge"]))
        for name, net in self.kernels.items():
            if name not in instances:
                self.complaints.append(f"{name}: no such instance")
                continue
            self.check_kernel(instances[name], net["kernel"]["operation"], net["kernel"])
        # Several units of one operation have numbers, and one module.
        stem = lambda unit: re.sub(r"_\d+$", "", unit["name"])
        units = self.graph.get("units", [])
        of_stem = Counter(map(stem, units))
        for unit in units:
            self.check_kernel(instances[f"u_{unit['name']}"], stem(unit) if of_stem[stem(unit)] > 1 else unit["name"], unit)
        for net in self.graph["nets"]:
            if "hold" in net:
                found = self.word(instances[f"u_{net['net']}"].inputs["in_data_i"])
                self.expect("operands", net["net"], found, self.edge(net["hold"]["edge"]))
            if len(edges := net.get("select", [])) > 1:
                found = [self.word(bits) for bits in self.netlist.choices[net["net"]]]
                self.expect("operands", net["net"], found, [self.edge(edge.split(" if ")[0]) for edge in edges])
                for edge, (_, condition) in zip(edges[:-1], cases(self.netlist.assigned[net["net"]])):
                    self.check_condition(net["net"], condition, self.bits[edge.split(" if ")[1]])
        for array in self.graph.get("arrays", []):
            high = "_high" * (array.get("word") == "high")
            is_write = lambda name, port, memory=rf"u_{array['array']}{high}_memory(_\d+)?": (
                re.fullmatch(memory, name) and re.fullmatch(r"data_in_\d+_i|write_data_i", port))
            written = {self.word(bits) for at, expression in self.netlist.connections.items() if is_write(*at)
                       for bits in alternatives(expression)}
            for write in array["writes"]:
                self.expect("operands", f"writes of {array['array']}", self.edge(write["edge"]) in written, True)

    def check_condition(self, where: str, expression, bit: dict) -> None:
        """Compares a condition of loop indices, for indices about its limits and some at random."""
        if "where" not in bit:
            instance, port, _ = self.netlist.drivers[symbols_in(expression)[0].name, 0]
            self.expect("conditions", where, port, "steps_o")
            self.loops(where, instance, self.graph["counters"][bit["begins"]])
            return
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
                instance, _, place = self.netlist.drivers.get((symbol.name, 0), (None, None, None))
                if instance is None or instance.module != "pushmem_loop_counter":
                    return
                index = indices[counter["loops"][place // instance.parameters["CountBits"]]]
                context.createLocal(symbol, pyslang.ConstantValue(pyslang.SVInt(symbol.type.bitWidth, index, False)))
            holds = all(indices[name] == int(value) if value else
                        int(first) <= indices[name] <= int(last) and (indices[name] - int(first)) % int(step or 1) == 0
                        for name, value, first, last, step in parts)
            self.expect("conditions", f"{where} at {indices}", bool(expression.eval(context).value), holds)

    def check_kernel(self, instance: Instance, operation: str, kernel: dict) -> None:
        """Compares the module and the operands of a kernel, or of several in one unit."""
        self.expect("operands", instance.name, instance.module, f"{self.top}_{operation}")
        data = [(port, bits) for port, bits in instance.inputs.items() if port not in CONTROL and "_word_" not in port]
        variables = kernel.get("variables", [])
        for (port, _), variable in zip(data, variables):
            self.check_variable(instance.name, self.netlist.connections[instance.name, port], kernel, variable)
        found = [self.word(bits[first:first + WORD]) for _, bits in data[len(variables):] for first in range(0, len(bits), WORD)]
        wanted = [self.edge(edge) for edge in kernel["operands"]]
        self.expect("operands", instance.name, found, wanted)

    def check_variable(self, where: str, expression, kernel: dict, variable: dict) -> None:
        """Compares a loop variable: its counter, its level, and its value for some indices."""
        context, scale, index = ast.EvalContext(self.netlist.top), variable["scale"], 0
        for symbol in symbols_in(expression):
            counter, _, place = self.netlist.drivers[symbol.name, 0]
            self.loops(where, counter, self.graph["counters"][kernel["counter"]])
            self.expect("variables", where, place // counter.parameters["CountBits"], variable["level"])
            width = symbol.type.bitWidth
            index = 2**width - 2 if width > 1 else 1
            context.createLocal(symbol, pyslang.ConstantValue(pyslang.SVInt(width, index, False)))
        found = int(expression.eval(context).value) % 2**32
        self.expect("variables", where, found, (scale * index + variable["offset"]) % 2**32)


# Operators of datapaths, on numbers.
OPERATORS = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "minimum": min, "maximum": max, "absolute_difference": lambda a, b: abs(a - b), "select": lambda c, a, b: a if c else b,
    "cast": lambda a: a, "negate": lambda a: -a, "not": lambda a: ~a, "absolute": abs,
    "shift_left": lambda a, b: a << b if 0 <= b < 64 else 0, "shift_right": lambda a, b: a >> max(0, min(b, 64)),
}


UPDATES = {"+": "add", "-": "subtract", "min": "minimum", "max": "maximum"}


def wrapped(value: int, type_name: str) -> int:
    """A number in a type of integers."""
    if type_name == "bool":
        return int(value) & 1
    bits = int(type_name[1:])
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
    names |= {name: ("bool", name) for name in ["clk_i", "step_i"]}
    inputs = [each for each in body if isinstance(each, ast.NetSymbol) and each.name in names]
    for sample in range(SAMPLES):
        ends = {name: wrapped(draw.choice([0, 1, -1, 2**15 - 1, 2**15, draw.getrandbits(32)]) if sample % 2 else draw.getrandbits(32), kind)
                for kind, name in names.values()}
        context, depth = ast.EvalContext(instance.symbol), {}
        for symbol in inputs:
            width = symbol.type.bitWidth
            value = ends[names[symbol.name][1]] % 2**width
            context.createLocal(symbol, pyslang.ConstantValue(pyslang.SVInt(width, value, symbol.type.isSigned)))
            depth[symbol.name] = None if symbol.name in feedback else 0
        for symbol in body:
            for left, right, later in assignments(symbol):
                context.createLocal(left, right.eval(context))
                read = {depth[name] for name in names_in(right)} or {None}
                if len(read - {None}) > 1:
                    reader.complaints.append(f"{instance.module}: `{left.name}` reads words of several cycles")
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
        found = []
        symbol.visit(lambda node: found.append((node.left.symbol, node.right, 1)) if isinstance(node, ast.AssignmentExpression) else None)
        return found
    return []


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
    design = elaborated(top)
    if any(diagnostic.isError() for diagnostic in design.getAllDiagnostics()):
        sys.exit("slang finds errors in the files")
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
        if instance and operation in datapaths and instance.module not in seen:
            seen.add(instance.module)
            text = Path(f"rtl/{instance.module}.sv").read_text()
            if not check_module(reader, instance, text, datapaths[operation], draw):
                reader.compared["not evaluated, since they have tables, dividers or fractions"] += 1
    print("\n".join([*reader.complaints, ", ".join(f"{what}: {number}" for what, number in reader.compared.items())]))
    sys.exit(1 if reader.complaints else 0)


if __name__ == "__main__":
    main()
