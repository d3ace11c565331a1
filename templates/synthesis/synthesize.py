"""Maps a design to a cell library, block by block, with the Yosys of the Python package pyosys.

Usage: python synthesize.py job.json

job.json names the SystemVerilog files, the top module, the libraries, and the blocks: modules that stay as they are, each
synthesized once for all its instances. Other modules are flattened into the block around them. Writes netlist.v, cells.v
with the functions of the library's cells, numbered.v, which is the netlist with numbers for the names of what is inside it,
so that they are the same for every tool, and result.json with the cells, flip-flops and area of each block, and the blocks,
macros and clock-gate cells in it by their numbers. Progress goes to standard output, a line for each step.
"""

import hashlib
import json
import re
import sys

from pyosys import libyosys

# For speed: carries in parallel, as few levels of logic as possible, then buffers and larger cells for the loads.
FAST = "strash;&get,-n;&fraig,-x;&put;strash;dch;if,-g;strash;&get,-n;&nf;&put;buffer,-c;topo;upsize;dnsize"
ADDERS = "+/choices/kogge-stone.v"


def base(module: str) -> str:
    """The name a module has in the SystemVerilog: behind it, the reader puts the path of an instance."""
    return module.removeprefix("\\").split("$")[0]


def write_constraints(liberty: str) -> bool:
    """Says that a buffer drives the inputs of each block, so that they get buffers for their loads. False without one."""
    with open(liberty) as file:
        cells = re.split(r"(?m)^\s*cell\s*\(", file.read())[1:]
    for cell in cells:
        inputs = re.findall(r"direction\s*:\s*\"?input", cell)
        function = re.search(r"[^_]function\s*:\s*\"\(?\s*(\w+)\s*\)?\"", cell)
        if len(inputs) == 1 and function and "ff" not in re.findall(r"\b(ff|latch)\s*\(", cell):
            with open("constraints.txt", "w") as file:
                file.write(f"set_driving_cell {cell.split(')')[0].strip()}\nset_load 0.03 [all_outputs]\n")
            return True
    return False


def latch_map(liberty: str) -> str | None:
    """How the latches of clock gates become the smallest latch of the library: a file for techmap. None without one."""
    with open(liberty) as file:
        cells = re.split(r"(?m)^\s*cell\s*\(", file.read())[1:]
    found = []
    for cell in cells:
        group = re.search(r"\blatch\s*\(\s*\"?(\w+)[^)]*\)\s*\{([^}]*)\}", cell)
        if not group or re.search(r"clear|preset", group[2]):
            continue
        pins = {key: re.search(rf"\b{key}\s*:\s*\"\s*(!?)\s*\(?(\w+)\)?\s*\"", group[2]) for key in ["enable", "data_in"]}
        output = re.search(rf"pin\s*\(\s*\"?(\w+)[^{{]*\{{[^{{}}]*function\s*:\s*\"\(?{group[1]}\)?\"", cell)
        output = output or re.search(rf"(?s)pin\s*\(\s*\"?(\w+)\"?\s*\)(?:(?!pin\s*\().)*?function\s*:\s*\"\(?{group[1]}\)?\"", cell)
        area = re.search(r"\barea\s*:\s*([\d.]+)", cell)
        if all(pins.values()) and output and not pins["data_in"][1]:
            found.append((float(area[1]) if area else 0.0, cell.split(")")[0].strip().strip('"'), pins, output[1]))
    if not found:
        return None
    _, name, pins, output = min(found, key=lambda latch: latch[:2])
    enable = "E" if pins["enable"][1] else "~E"
    with open("latches.v", "w") as file:
        file.write(f"module \\$_DLATCH_N_ (input E, D, output Q);\n    {name} _TECHMAP_REPLACE_ "
                   f"(.{pins['enable'][2]}({enable}), .{pins['data_in'][2]}(D), .{output}(Q));\nendmodule\n")
    return "latches.v"


def main() -> None:
    with open(sys.argv[1]) as file:
        job = json.load(file)
    design = libyosys.Design()
    top = job["top"]

    def run(*passes: str) -> None:
        for each in passes:
            libyosys.run_pass(each, design)

    def step(name: str) -> None:
        print(f"STEP {name}", flush=True)

    def modules() -> dict[str, libyosys.Module]:
        found = {str(name): module for name, module in design.modules_.items()}
        return {name: module for name, module in found.items() if not module.get_blackbox_attribute(False)}

    step("reading")
    run(f"read_slang -DSYNTHESIS --keep-hierarchy --top {top} {' '.join(job['files'])}", f"hierarchy -check -top {top}",
        "proc", "opt_clean", "setattr -mod -unset keep_hierarchy *")
    blocks = {name for name in modules() if base(name) in job["blocks"]}
    for name in blocks:
        run(f"setattr -mod -set keep_hierarchy 1 {name.removeprefix(chr(92))}")
    run("flatten", "opt -full", "opt_clean -purge")

    # Instances of one module with the same parameters are the same text, except for the numbers of names.
    step("comparing")
    once: dict[str, str] = {}
    same: dict[str, str] = {}
    for name in sorted(modules()):
        plain = name.removeprefix("\\")
        run(f"select {plain}", "write_rtlil -selected module.il", "select -clear")
        with open("module.il") as file:
            text = file.read().replace(plain, "MODULE")
        text = re.sub(r"(?m)^ *attribute .*\n|^autoidx.*\n|^#.*\n", "", text)
        numbers: dict[str, str] = {}
        text = re.sub(r"\$\S*\d\S*", lambda found: numbers.setdefault(found[0], f"${len(numbers)}"), text)
        same[name] = once.setdefault(f"{base(name)} {hashlib.sha256(text.encode()).hexdigest()}", name)
    instances = {name: 0 for name in same}

    def count(name: str) -> None:
        instances[name] += 1
        for cell in modules_now[name].cells_.values():
            kind = str(cell.type)
            if kind in same:
                count(same[kind])

    modules_now = modules()
    for module in modules_now.values():
        for cell in module.cells_.values():
            if str(cell.type) in same:
                cell.type = libyosys.IdString(same[str(cell.type)])
    count(f"\\{top}")
    for name, kept in same.items():
        if name != kept:
            run(f"delete {name.removeprefix(chr(92))}")
    # The reference of equivalence.py.
    run("write_rtlil reference.il")

    liberty = " ".join(f"-liberty {file}" for file in job["liberty"])
    cells = f"-liberty {job['liberty'][0]}"
    names = [name.removeprefix("\\") for name in modules()]
    result = {name: {"module": base(name), "instances": instances["\\" + name]} for name in names}
    step("synthesizing")
    fast = job["optimize"] == "speed"
    run(f"synth -top {top} " + (f"-extra-map {ADDERS}" if fast else ""), "check -assert")
    for name in names:
        run(f"tee -q -o count.txt select -count {name}/t:*DFF* {name}/t:*dff*")
        with open("count.txt") as file:
            result[name]["flip_flops"] = int(file.read().split()[0])
    step("mapping")
    script = f"-script +{FAST}" if fast else ""
    if fast and write_constraints(job["liberty"][0]):
        script += " -constr constraints.txt"
    run(f"dfflibmap {cells}")
    if latches := latch_map(job["liberty"][0]):
        run(f"techmap -map {latches}", "simplemap t:$not")
    for name in names:
        step(f"mapping {base(name)}")
        run(f"select {name}", f"abc {cells} {script}", "select -clear")
    # The cells of the library, so that checks know their outputs.
    run(*(f"read_liberty -lib -overwrite -ignore_miss_func {file}" for file in job["liberty"]))
    run("opt_clean -purge", "check -assert", "rename -wire")
    run(f"tee -q -o stat.json stat -json {liberty}", "setundef -zero", "opt_clean",
        "write_verilog -noattr -noexpr -nohex -simple-lhs netlist.v")
    with open("stat.json") as file:
        stat = json.load(file)["modules"]
    for name in names:
        own = stat["\\" + name]
        inner = {kind: number for kind, number in own["num_cells_by_type"].items() if "\\" + kind in stat}
        result[name] |= {
            "cells": own["num_cells"] - sum(own["num_cells_by_type"].get(kind, 0) for kind in job["macros"]),
            "area": own.get("area", 0.0) - sum(number * stat["\\" + kind].get("area", 0.0) for kind, number in inner.items()),
            "macros": {kind: own["num_cells_by_type"][kind] for kind in job["macros"] if kind in own["num_cells_by_type"]},
        }
    step("numbering")
    run("rename -hide c:* w:*", "rename -enumerate -pattern n%", "write_verilog -noattr -noexpr -nohex -simple-lhs numbered.v")
    for name, module in modules().items():
        cells_now = {str(cell): str(kind.type) for cell, kind in module.cells_.items()}
        inside = {cell: kind for cell, kind in cells_now.items() if kind in stat or kind.removeprefix("\\") in job["black_boxes"]}
        plain = {cell.removeprefix("\\"): kind.removeprefix("\\") for cell, kind in inside.items()}
        result[name.removeprefix("\\")] |= {"netlist": name.removeprefix("\\"), "inside": plain}
    with open("result.json", "w") as file:
        json.dump(list(result.values()), file)
    # The netlist for power, where constants come from cells that no library has: OpenSTA may not survive gates in a row that
    # are constant, as those behind a constant at a port of a block.
    run("hilomap -hicell constant_1 Y -locell constant_0 Y", "write_verilog -noattr -noexpr -nohex -simple-lhs power.v")
    # The functions of the cells, to simulate the netlist.
    run("design -reset", f"read_liberty -ignore_miss_func {job['liberty'][0]}", "write_verilog -noattr cells.v")


main()
