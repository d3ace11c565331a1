"""The front ends of tools for SystemVerilog, and the table of the book that says which of them reads what."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tools

PAGE = tools.ROOT / "docs" / "src" / "chip-flow.md"
HEAD = "| Front end | Version | Tile | Accelerator | Array | Shell |"
# A build of each column, without macros, as its own models are read then.
DESIGNS = {
    "Tile": ["generate", "constraints/tiles/small.yaml"],
    "Accelerator": ["build", "apps/gaussian.yaml"],
    "Array": ["generate", "constraints/arrays/small.yaml"],
    "Shell": ["build", "apps/gaussian.yaml", "--bus", "axi"],
}


@dataclass(frozen=True)
class FrontEnd:
    """A front end: its version, and its answer for a folder with a list and a top module: whether it reads them, and what it says."""
    name: str
    version: str
    reads: Callable[[Path, str, str], tuple[bool, str]]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def wheels(name: str) -> list[str]:
    """The installed versions of a package of the Python environment."""
    return [path.stem.split("-")[1] for path in tools.VENV.glob(f"lib/python3*/site-packages/{name}-*.dist-info")]


def debian(name: str, option: str, pattern: str) -> list[str]:
    """The version of a program of Debian, if it is there."""
    program = tools.find_tool(name)
    return [re.search(pattern, tools.run([program, option])[1])[1]] if program else []


def read_verilog(folder: Path, of: str, top: str) -> list[str]:
    """Passes by which Yosys reads a design without a plug-in."""
    return [f"read_verilog -sv -Irtl -DSYNTHESIS {' '.join(tools.sources(folder, of))}", f"hierarchy -check -top {top}"]


def verilator(program) -> Callable:
    return lambda folder, of, top: tools.run(
        [program, "--lint-only", "-Wall", "-Wno-PINMISSING", "--assert", "--top-module", top, "-f", of], folder)


def slang(folder: Path, of: str, top: str) -> tuple[bool, str]:
    reader = tools.ROOT / "scripts" / "readers" / "slang.py"
    return tools.run([tools.VENV / "bin" / "python", reader, top, *tools.listed(folder, of)], folder)


def icarus(folder: Path, of: str, top: str) -> tuple[bool, str]:
    flags = ["-g2012", "-t", "null", "-Irtl", "-DPUSHMEM_ASSERT_OFF", "-s", top]
    return tools.run(["iverilog", *flags, *tools.sources(folder, of)], folder)


def installed() -> list[FrontEnd]:
    """The front ends that are there."""
    found = [FrontEnd("Verilator", version, verilator(program)) for version, program in tools.verilators().items()]
    found += [FrontEnd("slang", version, slang) for version in wheels("pyslang")]
    for version in wheels("pyosys"):
        found += [
            FrontEnd("Yosys, `read_slang`", version,
                     lambda folder, of, top: tools.yosys([tools.read_slang(tools.listed(folder, of), top)], folder)),
            FrontEnd("Yosys, `read_verilog`", version, lambda folder, of, top: tools.yosys(read_verilog(folder, of, top), folder)),
        ]
    found += [FrontEnd("Yosys, `read_verilog`", version, lambda folder, of, top: tools.run(
        ["yosys", "-q", "-p", "; ".join(read_verilog(folder, of, top))], folder)) for version in debian("yosys", "-V", r"Yosys (\S+)")]
    found += [FrontEnd("Icarus Verilog", version, icarus) for version in debian("iverilog", "-V", r"version (\S+)")]
    return found


def rows() -> dict[tuple[str, str], list[str]]:
    """The rows of the table in the book, by front end and version."""
    lines = PAGE.read_text().split(HEAD)[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:next(i for i, line in enumerate(lines) if not line)]]
    return {(name, number): answers for name, number, *answers in cells}


def top_of(folder: Path) -> str:
    """The top module: the last one but assertions, which are bound to tiles."""
    names = [Path(path).stem for path in tools.sources(folder)]
    return next(name for name in reversed(names) if not name.endswith("_checker"))


def check_table(pushmem: str, scratch: Path, is_all: bool) -> list[tuple[str, str]]:
    """Rows of the table that are not true, or are of no front end; without `is_all` for tiles alone."""
    expected, found = rows(), installed()
    columns = list(DESIGNS)[:None if is_all else 1]
    for column in columns:
        done, log = tools.run([pushmem, *DESIGNS[column], "-o", scratch / column], tools.ROOT)
        if not done:
            return [(column, log)]
    complaints = []
    for each in found:
        answers = expected.pop((each.name, each.version), None)
        if answers is None:
            complaints.append((str(each), f"the table in {PAGE.name} has no such row"))
            continue
        for column, answer in zip(columns, answers):
            reads, log = each.reads(scratch / column, "filelist.f", top_of(scratch / column))
            # Verilator tells warnings apart by a sign alone.
            reads = reads and "%" not in log if each.name == "Verilator" else reads
            if reads != (answer == "yes"):
                complaints.append((str(each), f"{column}: the table says `{answer}`\n{log[-2000:]}"))
    if expected and is_all:
        complaints.append(("front ends", f"the table in {PAGE.name} has rows of tools that are not here: {sorted(expected)}"))
    return complaints


# Accelerators of unlike tiles and kernels, for one chip.
TOGETHER = ["gaussian", "camera_pipeline"]


def check_together(pushmem: str, scratch: Path) -> list[tuple[str, str]]:
    """Front ends that read shells, by the table, and not two of them in one list, with models and with black boxes."""
    folders = [scratch / program for program in TOGETHER]
    for program, folder in zip(TOGETHER, folders):
        done, log = tools.run([pushmem, "build", f"apps/{program}.yaml", "--bus", "axi", "--package", "-o", folder], tools.ROOT)
        if not done:
            return [(program, log)]
    chip = scratch / "chip"
    done, log = tools.run([pushmem, "join", *folders, "-o", chip])
    if not done:
        return [("join", log)]
    shells = "".join(f"    {top_of(folder)} u_{folder.name} ();\n" for folder in folders)
    (chip / "together.sv").write_text(f"module together;\n{shells}endmodule\n")
    complaints = []
    for of in ["filelist.f", "filelist_synthesis.f"]:
        (chip / of).write_text((chip / of).read_text() + "together.sv\n")
        for each in installed():
            if rows().get((each.name, each.version), [""])[-1] == "yes":
                done, log = each.reads(chip, of, "together")
                complaints += [] if done and "%" not in log else [(str(each), f"{of} of two accelerators\n{log[-2000:]}")]
    return complaints
