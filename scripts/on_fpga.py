"""The section of docs/src/results.md on accelerators on FPGAs, and checks of it. nextpnr takes some minutes for a large one."""

import itertools

import tools

HEADING = "## Accelerators on FPGAs"
PROGRAMS = ["gaussian", "unsharp", "harris", "camera_pipeline", "resnet_tiny", "mobilenet"]
FAMILIES = ["ecp5", "gowin"]
# Options for the memories: tiles, or made for the program.
MEMORIES = {"tiles": [], "fixed": ["--memories", "fixed"]}

INTRODUCTION = f"""{HEADING}

Accelerators with memories of `amber` tiles, their configuration in constants, and with [memories made for the
program](fixed-memories.md), with [open tools](chip-flow.md#fpgas) on a Lattice LFE5U-85F of speed grade 6
(ecp5) or a Gowin GW2A-18 of grade C8/I7 (gowin). The frequency is that after
routing, under a clock of 5 ns that nextpnr tries to meet; nextpnr finds no
placement where there is a dash. Each accelerator with these constants was run in Verilator, and gave every word of the interpreter.
`scripts/results --fpga` writes this section.

"""


# The message of nextpnr when the parts of a program have no places.
UNPLACED = "Unable to find legal placement"


def report(pushmem: str, program: str, family: str, *options: str) -> dict | None:
    """The figures of a program on an FPGA; nothing where nextpnr finds no placement."""
    command = [pushmem, "synth", tools.ROOT / "apps" / f"{program}.yaml", "--fpga", family, "--json", *options]
    found, text = tools.report(command)
    if found is None and UNPLACED not in text:
        tools.stop(f"{program} on {family}:\n{text}")
    return found


def section(pushmem: str, table) -> str:
    """The section, from new runs."""
    rows = []
    for program in PROGRAMS:
        for family, (memories, options) in itertools.product(FAMILIES, MEMORIES.items()):
            found = report(pushmem, program, family, "--simulate", *options)
            name = f"{program}, {memories}, {family}"
            if found is None:
                rows.append([name, *["–"] * 7])
                continue
            used = [found[key]["used"] for key in ["luts", "flip_flops", "block_rams", "multipliers"]]
            rows.append([name, *used, f"{found['maximum_mhz']:.1f}", f"{found['pixels_per_cycle']:.3f}",
                         f"{found['megapixels_per_second']:.1f}"])
    columns = ["program, memories, FPGA", "LUTs", "flip-flops", "block RAMs", "multipliers", "MHz", "pixels a cycle", "Mpixels a second"]
    return INTRODUCTION + table(columns, rows)
