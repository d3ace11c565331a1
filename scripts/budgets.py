"""The section of docs/src/results.md on unroll factors that the compiler chooses for a budget. Each figure takes the compile of some thirty
candidates."""

import tools

HEADING = "## Unroll factors for a budget"
BUDGET = 32
PROGRAMS = ["polybench_2mm", "polybench_3mm", "polybench_atax", "polybench_bicg", "polybench_gesummv", "polybench_mvt", "polybench_syr2k",
            "resnet_tiny", "resnet_simple"]
# Facts that the choice does without.
WITHOUT = {"both": [], "intensity alone": ["connection"], "connection alone": ["intensity"], "neither": ["intensity", "connection"]}

INTRODUCTION = f"""{HEADING}

Programs without unrolled loops on `amber`, and the factors that [`--fit multipliers={BUDGET}`](network-compiler.md#fit) chooses:
cycles, with multipliers and memory tiles behind them. The choice takes into account the work of nests and the loops of
connected ones (both), one of these, or neither, as HIDA §5.5 and its ablation. `scripts/results --fit` writes this section.

"""


def figures(report: dict) -> str:
    """Cycles, multipliers and tiles of a build."""
    return f"{report['cycles']:,} ({report['multipliers']}, {report['memory_tiles']})"


def section(pushmem: str, table) -> str:
    """The section, from new runs."""
    rows = []
    for program in PROGRAMS:
        command = [pushmem, "build", tools.ROOT / "apps" / f"{program}.yaml", "--json"]
        row = [program]
        for without in [None, *WITHOUT.values()]:
            options = [] if without is None else ["--fit", f"multipliers={BUDGET}", *(f"--fit-without={fact}" for fact in without)]
            found, text = tools.report([*command, *options])
            if found is None:
                tools.stop(f"{program}:\n{text}")
            row.append(figures(found))
        rows.append(row)
    return INTRODUCTION + table(["program", "as written", *WITHOUT], rows)
