"""Proves that a netlist does what the RTL does, block by block, with the Yosys of the Python package pyosys.

Usage: python equivalence.py job.json NETLIST

reference.il has the blocks of the RTL as synthesize.py read them, before it mapped them; NETLIST has modules of the same names, of
cells of the library. What is in a block and is a block or a macro itself is cut out: its pins are outputs and inputs of the one
around it, and it is proven by itself. Signals of one name are compared, registers among them: equal in a cycle under equal inputs,
or else by induction over cycles. Writes equivalence.json, with the signals of each block that were compared and those of which
there is no proof; progress goes to standard output, a line for each step.
"""

import json
import re
import sys

from pyosys import libyosys


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
    run(*(f"delete {name}" for name in blocks), "write_rtlil macros.il")
    run("design -reset", f"read_liberty -ignore_miss_func {job['liberty'][0]}", "read_rtlil macros.il",
        f"read_verilog {netlist}")
    if missing := [name for name in blocks if name not in modules()]:
        sys.exit(f"the netlist has no module {missing[0]}")
    run("design -save netlist")

    result = []
    for block in blocks:
        print(f"STEP proving {block.split('$')[0]}", flush=True)
        inside = [name for name in [*blocks, *job["macros"]] if name != block]

        def cut(module: str) -> None:
            run(f"async2sync {module}", "select -none", *(f"select -add {module}/t:{name}" for name in inside), "expose -evert", "select -clear",
                f"opt_clean {module}", f"design -stash {module}")

        run("design -reset", "read_rtlil reference.il", f"rename {block} gold", "memory_map gold", "opt_clean gold")
        cut("gold")
        run("design -load netlist", f"rename {block} gate", *(f"blackbox {name}" for name in blocks if name != block),
            "flatten -noscopeinfo gate")
        cut("gate")
        run("design -reset", "design -copy-from gold -as gold gold", "design -copy-from gate -as gate gate",
            "equiv_make gold gate equiv", "hierarchy -top equiv", "opt_clean", "equiv_simple", "equiv_induct",
            "tee -q -o status.txt equiv_status")
        with open("status.txt") as file:
            status = file.read()
        compared = re.search(r"Found (\d+) \$equiv cells", status)
        result.append({
            "module": block.split("$")[0],
            "signals": int(compared[1]) if compared else 0,
            "unproven": ["".join(found) for found in re.findall(r"Unproven \$equiv \S+: \\?(\S+)_gold( \[\d+\])?", status)],
        })
    with open("equivalence.json", "w") as file:
        json.dump(result, file)


main()
