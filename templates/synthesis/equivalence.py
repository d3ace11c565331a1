"""Proves that a netlist does what the RTL does, block by block, with the Yosys of the Python package pyosys.

Usage: python equivalence.py job.json NETLIST

reference.il has the blocks of the RTL as synthesize.py read them, before it mapped them; NETLIST has modules of the same names,
of cells of the library. Blocks, macros and clock-gate cells inside a block are cut out: their pins are outputs
and inputs of the one around it, and a block is proven by itself. Signals of one name are compared, registers among them: equal in
a cycle under equal inputs, or else by induction over cycles. Arithmetic of the RTL becomes gates as in synthesis, by the same
rules of Yosys: no proof finds that two multipliers of different structure are the same. That takes all registers for registers of
one clock, so the clock and the asynchronous controls of each are signals of their own, which are compared, too. Writes
equivalence.json, with the signals of each block that were compared and those of which there is no proof; progress goes to
standard output, a line for each step.
"""

import json
import re
import sys

from pyosys import libyosys

# The pins that say when a register of one bit changes, by its type: the clock or the enable of a latch, then what acts without
# a clock. The type has the level of each, and a value that a reset gives.
CONTROLS = {
    "DFF": "C", "DFFE": "CE", "SDFF": "C", "SDFFE": "C", "SDFFCE": "C", "ALDFF": "CL", "ALDFFE": "CLE",
    "DFFSR": "CSR", "DFFSRE": "CSRE", "DLATCH": "E", "DLATCHSR": "ESR",
}
# Signals that are found to be equal from inputs on, also those that are compared, become one, so that products are proven, too.
SWEEP = "strash;&get,-n;&fraig,-x;&put;map"
EVENTS = ["clock", "set", "reset", "load"]
# Nothing reads their signals.
KEPT = " ".join(f"equiv/w:*.{event}" for event in EVENTS)
REGISTER = re.compile(r"\$_(\w+?)_([PN01]+)_$")


def controls(kind: str) -> dict[str, tuple[str, bool]] | None:
    """The controls of a register of one bit: clock, set, reset and load, each with its pin and whether that is active
    low. None for a cell that is no register."""
    found = REGISTER.match(kind)
    if not found or found[1] not in CONTROLS:
        return None
    pins, levels = CONTROLS[found[1]], found[2]
    result = {"clock": (pins[0], levels[0] == "N")}
    if found[1] in ["DFF", "DFFE", "DLATCH"] and len(levels) > 2:
        result["set" if levels[2] == "1" else "reset"] = ("R", levels[1] == "N")
    for pin, name in [("S", "set"), ("R", "reset"), ("L", "load")]:
        if pin in pins[1:]:
            result[name] = (pin, levels[pins.index(pin)] == "N")
    return result


def read_module(design: libyosys.Design, name: str) -> dict:
    """A module in the JSON format of Yosys: names of nets, and cells with their pins, by numbers of bits."""
    libyosys.run_pass(f"select {name}", design)
    libyosys.run_pass("write_json -selected module.json", design)
    libyosys.run_pass("select -clear", design)
    with open("module.json") as file:
        return json.load(file)["modules"][name]


def open_bits(module: dict) -> tuple[set[int], set[int]]:
    """The bits that nothing drives: those that something reads, and those that are but a name, the rest of a vector of which
    other bits are in use."""
    driven: set[int | str] = set()
    read: set[int | str] = set()
    for port in module["ports"].values():
        (driven if port["direction"] == "input" else read).update(port["bits"])
    for cell in module["cells"].values():
        for pin, bits in cell["connections"].items():
            (driven if cell["port_directions"][pin] == "output" else read).update(bits)
    named = {bit for net in module["netnames"].values() for bit in net["bits"] if not isinstance(bit, str)}
    return (named - driven) & read, named - driven - read


def tie_low(design: libyosys.Design, name: str, module: dict, bits: set[int]) -> None:
    """Drives these bits with 0."""
    written = design.modules_[libyosys.IdString(f"\\{name}")]
    for wire, net in module["netnames"].items():
        signal = libyosys.SigSpec(written.wire(libyosys.IdString(wire if wire.startswith("$") else f"\\{wire}")))
        for number, bit in enumerate(net["bits"]):
            if bit in bits:
                bits = bits - {bit}
                written.connect(signal.extract(number, 1), libyosys.SigSpec(libyosys.Const(0, 1)))


def name_clocks(design: libyosys.Design, name: str) -> tuple[set[str], set[str], list[list[str]]]:
    """Gives each bit of a register signals of its clock, set, reset and load, all active high, by the name of the bit.

    Returns the bits with a name that a register holds, those that something else drives, which is no constant, and the names of
    each register. A register behind an inverter is that of the inverter's output, with set and reset exchanged."""
    libyosys.run_pass(f"simplemap {name}/t:$*ff* {name}/t:$*latch* {name}/t:$sr", design)
    module = read_module(design, name)
    undriven = set().union(*open_bits(module))
    names: dict[int | str, list[str]] = {}
    for wire, net in module["netnames"].items():
        if not wire.startswith("$"):
            for number, bit in enumerate(net["bits"]):
                names.setdefault(bit, []).append(wire if len(net["bits"]) == 1 else f"{wire}[{number}]")
    behind: dict[int | str, list[tuple[int | str, bool]]] = {}
    for cell in module["cells"].values():
        if cell["type"] in ["$_NOT_", "$not", "$_BUF_", "$buf", "$pos"]:
            for source, output in zip(cell["connections"]["A"], cell["connections"]["Y"]):
                behind.setdefault(source, []).append((output, "not" in cell["type"].lower()))

    written = design.modules_[libyosys.IdString(f"\\{name}")]
    registers, held = [], set()
    for cell_name, cell in module["cells"].items():
        pins = controls(cell["type"])
        if pins is None:
            continue
        identifier = libyosys.IdString(cell_name if cell_name.startswith("$") else f"\\{cell_name}")
        ports = written.cells_[identifier]
        reached = [(cell["connections"]["Q"][0], False)]
        for bit, other in reached:
            reached.extend((output, other != invert) for output, invert in behind.get(bit, []))
        registers.append([each for bit, _ in reached for each in names.get(bit, [])])
        for bit, other in reached:
            for each in names.get(bit, []):
                held.add(each)
                for what in EVENTS:
                    new = written.addWire(libyosys.IdString(f"\\{each}.{what}"))
                    new.set_bool_attribute(libyosys.IdString("\\keep"))
                    wire = libyosys.SigSpec(new).as_bit()
                    inside = {"set": "reset", "reset": "set"}.get(what, what) if other else what
                    pin, low = pins.get(inside, ("", False))
                    signal = ports.getPort(libyosys.IdString(f"\\{pin}")) if pin else libyosys.SigSpec(libyosys.Const(0, 1))
                    gate = written.addNotGate if low else written.addBufGate
                    gate(libyosys.IdString(f"\\{each}.{what}.driver"), signal.as_bit(), wire)
    plain = {each for bit, same in names.items() if not isinstance(bit, str) and bit not in undriven for each in same}
    return held, plain - held, registers


def outcome(name: str) -> tuple[int, list[str]]:
    """How many bits were compared, and those of which there is no proof, of a file in the JSON format of Yosys."""
    with open(name) as file:
        module = json.load(file)["modules"]["equiv"]
    bits = {bit: wire if len(net["bits"]) == 1 else f"{wire} [{number}]"
            for wire, net in module["netnames"].items() if not wire.endswith(("_gold", "_gate"))
            for number, bit in enumerate(net["bits"])}
    pins = [cell["connections"] for cell in module["cells"].values() if cell["type"] == "$equiv"]
    return len(pins), sorted(bits[pin["Y"][0]] for pin in pins if pin["A"] != pin["B"])


def main() -> None:
    with open(sys.argv[1]) as file:
        job = json.load(file)
    netlist = sys.argv[2]
    design = libyosys.Design()

    def run(*passes: str) -> None:
        for each in passes:
            libyosys.run_pass(each, design)

    def modules() -> dict[str, libyosys.Module]:
        return {str(name).removeprefix("\\"): module for name, module in design.modules_.items()}

    print("STEP reading the netlist", flush=True)
    run("read_rtlil reference.il")
    blocks = [name for name, module in modules().items() if not module.get_blackbox_attribute(False)]
    run(*(f"delete {name}" for name in blocks), "write_rtlil black_boxes.il")
    run("design -reset", f"read_liberty -ignore_miss_func {job['liberty'][0]}", "read_rtlil -overwrite black_boxes.il",
        f"read_verilog {netlist}")
    if missing := [name for name in blocks if name not in modules()]:
        sys.exit(f"the netlist has no module {missing[0]}")
    run("design -save netlist")

    result = []
    for block in blocks:
        print(f"STEP proving {block.split('$')[0]}", flush=True)
        inside = [name for name in [*blocks, *job["black_boxes"]] if name != block]

        def cut(module: str) -> tuple[set[str], set[str], list[list[str]]]:
            named = name_clocks(design, module)
            run(f"async2sync {module}", "select -none", *(f"select -add {module}/t:{name}" for name in inside), "expose -evert",
                "select -clear", f"opt_clean {module}", f"design -stash {module}")
            return named

        run("design -reset", "read_rtlil reference.il", f"rename {block} gold", "memory_map gold", "opt_clean gold")
        held, _, _ = cut("gold")
        run("design -load netlist", f"rename {block} gate", *(f"blackbox {name}" for name in blocks if name != block),
            "flatten -noscopeinfo gate", "opt_clean gate")
        # A signal that nothing drives is one that is not compared: right where nothing reads it, either.
        written = read_module(design, "gate")
        tie_low(design, "gate", written, open_bits(written)[0])
        _, plain, registers = cut("gate")
        run("design -reset", "design -copy-from gold -as gold gold", "design -copy-from gate -as gate gate",
            "equiv_make gold gate equiv", "hierarchy -top equiv", f"setattr -set keep 1 {KEPT}", "opt_clean", "dffunmap equiv",
            "alumacc equiv", "techmap", "opt_clean", f"abc -script +{SWEEP}", "opt_clean", "equiv_simple", "equiv_induct",
            "write_json equiv.json")
        compared, unproven = outcome("equiv.json")
        # Registers of one of both only: what is between them is not comparable cycle by cycle.
        unproven += sorted(f"{bit}.clock" for bit in held & plain)
        unproven += sorted(f"{min(bits, default='?')}.clock" for bits in registers if not held.intersection(bits))
        result.append({"module": block.split("$")[0], "signals": compared, "unproven": unproven})
    with open("equivalence.json", "w") as file:
        json.dump(result, file)


main()
