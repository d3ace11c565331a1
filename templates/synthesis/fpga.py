"""Maps an accelerator to an FPGA with the Yosys of the Python package pyosys.

Usage: python fpga.py job.json

job.json names the SystemVerilog files, the top module, the family, and the writes of the configuration. The accelerator is flattened.
Where there are writes, a simulation makes them through the configuration port, as firmware would: what the registers hold then are
constants, the tables of ROM tiles the initial contents of memories, and the port is gone. Around the accelerator comes a harness of
four pins: its inputs are those of a shift register, its outputs go through registers into one parity, so that all paths are
between registers. Writes configured.v, the accelerator with these constants and its port, and inferred.json: its memories and
multipliers with what became of each; then, unless a large memory is in logic, design.json for nextpnr, and mapped.json: cells of the
accelerator by their types. Progress goes to standard output, a line for each step.
"""

import json
import sys

from pyosys import libyosys

# The register files of tiles, and their registers that are no configuration.
REGISTERS = "u_registers."
NOT_CONFIGURATION = ("read_data_q", "error_q")
CLOCK, RESET = "clk_i", "rst_ni"
# Cells that are parts of memories, and multipliers.
BLOCK_RAMS = {"ecp5": {"DP16KD", "PDPW16KD"}, "gowin": {"SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"}}
MULTIPLIERS = {"ecp5": {"MULT18X18D"}, "gowin": {"MULT9X9", "MULT18X18", "MULT36X36"}}
SYNTHESIS = {"ecp5": "synth_ecp5 -top harness", "gowin": "synth_gowin -top harness -family gw2a -noiopads"}


def plain(name: object) -> str:
    """A name as it is in the SystemVerilog."""
    return str(name).removeprefix("\\")


class Design:
    """The design in Yosys, and its top module."""

    def __init__(self, top: str):
        self.design, self.top = libyosys.Design(), top

    def run(self, *passes: str) -> None:
        for each in passes:
            libyosys.run_pass(each, self.design)

    def module(self) -> libyosys.Module:
        return next(module for name, module in self.design.modules_.items() if plain(name) == self.top)

    def cells(self, *types: str) -> list:
        return [cell for cell in self.module().cells_.values() if plain(cell.type) in types]

    def ports(self) -> list[tuple[str, int, bool]]:
        """Name, bits, and whether it is an input."""
        wires = sorted(self.module().wires_.values(), key=lambda wire: wire.port_id)
        return [(plain(wire.name), wire.width, wire.port_input) for wire in wires if wire.port_input or wire.port_output]


def stimuli(ports: list[tuple[str, int]], top: str, writes: list[tuple[int, int]]) -> str:
    """A reset and the writes, as a VCD file."""
    numbers = {name: f"v{number}" for number, (name, _) in enumerate(ports)}
    lines = [f"$scope module {top} $end", *(f"$var wire {bits} {numbers[name]} {name} $end" for name, bits in ports),
             "$upscope $end", "$enddefinitions $end"]
    time = 0

    def edge(clock: int, **values: int) -> None:
        nonlocal time
        lines.append(f"#{time}")
        lines.extend(f"b{value:b} {numbers[name]}" for name, value in {CLOCK: clock, **values}.items() if name in numbers)
        time += 1

    for values in [{name: 0 for name, _ in ports if name != CLOCK}, {RESET: 1}]:
        edge(0, **values)
        edge(1)
    for address, data in writes:
        edge(0, config_write_i=1, config_address_i=address, config_write_data_i=data)
        edge(1)
    edge(0, config_write_i=0)
    edge(1)
    edge(0)
    return "\n".join(lines) + "\n"


def constant(bits: str) -> libyosys.SigSpec:
    """A constant of bits, the highest first; unknown ones are 0."""
    return libyosys.SigSpec(libyosys.Const.from_string(bits.replace("x", "0")))


def freeze(design: Design, writes: list[tuple[int, int]]) -> None:
    """Puts the configuration into constants, and takes the port away."""
    inputs = [(name, bits) for name, bits, is_input in design.ports() if is_input]
    with open("writes.vcd", "w") as file:
        file.write(stimuli(inputs, design.top, writes))
    design.run(f"sim -r writes.vcd -scope {design.top} -clock {CLOCK} -sim -w -q")
    module, values = design.module(), {}
    for wire in module.wires_.values():
        name = plain(wire.name)
        if REGISTERS in name and name.endswith("_q") and not name.endswith(NOT_CONFIGURATION):
            init = next((value for key, value in wire.attributes.items() if plain(key) == "init"), None)
            if init is not None:
                values[str(wire.name)] = init.as_string()[::-1]
    design.run("setattr -unset init w:*")
    output = libyosys.IdString("\\Q")
    for cell in [cell for cell in module.cells_.values() if "dff" in str(cell.type)]:
        bits = cell.getPort(output).to_sigbit_vector()
        if all(bit.is_wire() and str(bit.wire.name) in values for bit in bits):
            held = cell.getPort(output)
            held_bits = "".join(values[str(bit.wire.name)][bit.offset] for bit in bits)
            module.remove(cell)
            module.connect(held, constant(held_bits[::-1]))
    design.run("opt_clean", "write_verilog -noattr configured.v")
    for wire in module.wires_.values():
        name = plain(wire.name)
        if name.startswith("config_") and (wire.port_input or wire.port_output):
            if wire.port_input:
                module.connect(libyosys.SigSpec(wire), constant("0" * wire.width))
            wire.port_input = wire.port_output = False
    module.fixup_ports()
    design.run("opt -full", "opt_clean -purge")


HARNESS = """module harness (input clk_i, input rst_ni, input shift_i, output reg parity_o);
    reg [TAKEN:0] inputs;
    reg [GIVEN:0] outputs_q;
    wire [GIVEN:0] outputs;
    always @(posedge clk_i) begin
        inputs <= {inputs, shift_i};
        outputs_q <= outputs;
        parity_o <= ^outputs_q;
    end
    DESIGN u_design (CONNECTIONS);
endmodule
"""


def harness(design: Design) -> str:
    """The module around the design."""
    used, connections = {True: 0, False: 0}, [f".{name}({name})" for name in (CLOCK, RESET)]
    for name, bits, is_input in design.ports():
        if name not in (CLOCK, RESET):
            signal = "inputs" if is_input else "outputs"
            connections.append(f".{name}({signal}[{used[is_input]} +: {bits}])")
            used[is_input] += bits
    values = {"TAKEN": str(used[True]), "GIVEN": str(used[False] - 1), "DESIGN": design.top, "CONNECTIONS": ", ".join(connections)}
    text = HARNESS
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def number(cell: libyosys.Cell, parameter: str) -> int:
    return cell.getParam(libyosys.IdString(f"\\{parameter}")).as_int()


def sources(cell: libyosys.Cell) -> list[str]:
    """All places that a cell is from."""
    found = next((value.decode_string() for key, value in cell.attributes.items() if plain(key) == "src"), "")
    return found.split("|")


def source(cell: libyosys.Cell) -> str:
    """The place in the SystemVerilog."""
    return sources(cell)[-1]


def is_variable(cell: libyosys.Cell, port: str) -> bool:
    return not cell.getPort(libyosys.IdString(f"\\{port}")).is_fully_const()


def multipliers(design: Design) -> list[dict]:
    """The products of two variables."""
    return [
        {"name": plain(cell.name), "at": source(cell), "bits": [number(cell, "A_WIDTH"), number(cell, "B_WIDTH")]}
        for cell in design.cells("$mul") if is_variable(cell, "A") and is_variable(cell, "B")
    ]


def memories(design: Design) -> list[dict]:
    """The memories, with what decides how they can be mapped."""
    found = []
    for cell in design.cells("$mem_v2"):
        clocked = cell.getParam(libyosys.IdString("\\RD_CLK_ENABLE")).as_string()
        found.append({
            "name": plain(cell.name), "at": source(cell), "rows": number(cell, "SIZE"), "width": number(cell, "WIDTH"),
            "reads": number(cell, "RD_PORTS"), "writes": number(cell, "WR_PORTS"),
            "unclocked_reads": clocked.count("0") if number(cell, "RD_PORTS") else 0,
        })
    return found


def parts_of(design: Design, name: str) -> dict[str, int]:
    """The cells that a memory became, by their types; those of logic between them have other names."""
    counts: dict[str, int] = {}
    for cell in design.module().cells_.values():
        kind = plain(cell.type)
        if plain(cell.name).startswith(f"{name}.") and not kind.startswith("$"):
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def infer(design: Design, job: dict) -> bool:
    """Reads the design up to its memories and products: whether all is in blocks that should be, so that mapping the rest makes sense."""
    top, family = job["top"], job["family"]
    step("reading")
    design.run(f"read_slang -DSYNTHESIS --keep-hierarchy --top {top} {' '.join(job['files'])}", f"hierarchy -check -top {top}",
               "proc", "setattr -mod -unset keep_hierarchy *", "flatten", "opt_expr", "opt_clean", "memory_collect")
    if job["writes"]:
        step("configuring")
        freeze(design, job["writes"])
    else:
        design.run("write_verilog -noattr configured.v")
    design.run("opt -full", "opt_clean -purge", "wreduce", "opt_clean", "check -assert")
    products = multipliers(design)
    with open("harness.v", "w") as file:
        file.write(harness(design))
    design.run("read_verilog harness.v", f"setattr -mod -set keep_hierarchy 1 {top}")
    step("memories")
    design.run(f"{SYNTHESIS[family]} -run begin:map_ram")
    kept = memories(design)
    design.run(f"{SYNTHESIS[family]} -run map_ram:map_ffram")
    for memory in kept:
        memory["parts"] = parts_of(design, memory["name"])
        memory["blocks"] = sum(count for kind, count in memory["parts"].items() if kind in BLOCK_RAMS[family])
    mapped = {place for cell in design.cells(*MULTIPLIERS[family]) for place in sources(cell)}
    for product in products:
        product["mapped"] = product["at"] in mapped
    with open("inferred.json", "w") as file:
        json.dump({"memories": kept, "multipliers": products}, file)
    # Mapped to flip-flops, a large memory takes minutes.
    return all(memory["blocks"] > 0 or memory["rows"] * memory["width"] < job["least_block_bits"] for memory in kept)


def finish(design: Design, job: dict) -> None:
    """Maps the rest."""
    step("mapping")
    design.run(f"{SYNTHESIS[job['family']]} -run map_ffram:")
    if job["family"] == "gowin":
        design.run("select harness", "iopadmap -bits -inpad IBUF O:I -outpad OBUF I:O", "select -clear")
    cells: dict[str, int] = {}
    for cell in design.module().cells_.values():
        cells[plain(cell.type)] = cells.get(plain(cell.type), 0) + 1
    design.run("write_json design.json")
    with open("mapped.json", "w") as file:
        json.dump(cells, file)


def step(name: str) -> None:
    print(f"STEP {name}", flush=True)


def main() -> None:
    with open(sys.argv[1]) as file:
        job = json.load(file)
    design = Design(job["top"])
    if infer(design, job):
        finish(design, job)


main()
