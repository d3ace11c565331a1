#!/usr/bin/env python3
"""Reads the config.json of a package as LibreLane does, and runs the first steps of its flow.

Usage: librelane.py config.json FOLDER CELLS [STEP]

LibreLane checks each variable against those that the steps of the flow declare: unknown ones, wrong types and missing files are
errors. With a STEP, the flow runs up to it, in FOLDER/run.

There is no design kit here, so a stand-in is written to FOLDER: CELLS, the cells of osu018 as qflow has them, and for all else that a
kit has to say a value of the declared type, which nothing before floorplanning uses. Files of macros that are
missing are there, but empty. Yosys is that of the Python environment.
"""

import json
import os
import sys
import typing
from decimal import Decimal
from pathlib import Path

# This folder has a file of the same name.
sys.path.pop(0)

from librelane.common.types import Path as File  # noqa: E402
from librelane.config.flow import flow_common_variables  # noqa: E402
from librelane.flows import Flow  # noqa: E402

path, folder, cells, *step = sys.argv[1:]
CELLS = Path(cells)
GIVEN = {
    "STD_CELL_LIBRARY": "osu018", "VDD_PIN": "vdd", "GND_PIN": "gnd", "SCL_POWER_PINS": "vdd", "SCL_GROUND_PINS": "gnd",
    "DEFAULT_CORNER": "nom_typ", "STA_CORNERS": "nom_typ", "LIB": f"*_typ {CELLS}",
    "TECH_LEFS": f"nom_* {CELLS.with_suffix('.lef')}", "CELL_LEFS": f"{CELLS.with_suffix('.lef')}",
    "SYNTH_DRIVING_CELL": "BUFX2/Y", "SYNTH_BUFFER_CELL": "BUFX2/A/Y", "OUTPUT_CAP_LOAD": "10",
    # osu018 has no cells for constants: the output of a buffer stands for them in the netlist.
    "SYNTH_TIEHI_CELL": "BUFX2/Y", "SYNTH_TIELO_CELL": "BUFX2/Y",
}
YOSYS = """#!{python}
import os, runpy, sys
script = sys.argv[sys.argv.index("-y") + 1]
sys.argv = [script, *sys.argv[sys.argv.index("--") + 1:]]
sys.path.insert(0, os.path.dirname(script))
runpy.run_path(script, run_name="__main__")
"""


def value_of(kind, file: Path) -> str:
    """Some value of a type, as text for Tcl."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return value_of(arguments[0], file)
    if origin is dict:
        return f"* {value_of(arguments[1], file)}"
    return "1" if kind in (int, Decimal) else str(file) if kind is File else "none"


def write_kit(kit: Path, package: Path, flow, config: dict) -> None:
    """The stand-in for a design kit, and for files of macros that are not in the package."""
    tools = kit / "libs.tech" / "librelane"
    (tools / GIVEN["STD_CELL_LIBRARY"]).mkdir(parents=True)
    (tools / GIVEN["STD_CELL_LIBRARY"] / "config.tcl").write_text("")
    empty = kit / "empty"
    empty.write_text("")
    variables = [*flow_common_variables, *(variable for step in flow.Steps for variable in step.config_vars)]
    needed = {one.name: one.type for one in variables if one.pdk and not one.optional and one.default is None}
    values = {name: GIVEN.get(name) or value_of(kind, empty) for name, kind in needed.items()}
    (tools / "config.tcl").write_text("".join(f'set ::env({name}) "{value}"\n' for name, value in values.items()))
    for macro in config.get("MACROS", {}).values():
        for path in [*macro["lef"], *macro["gds"], *(path for paths in macro["lib"].values() for path in paths)]:
            base, _, rest = path.partition("::")
            file = {"pdk_dir": kit, "dir": package}[base] / rest
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("")


folder = Path(folder)
config = json.loads(Path(path).read_text())
flow = Flow.factory.get(config["meta"]["flow"])
kit = config.get("PDK", "stand_in")
write_kit(folder / kit, Path(path).parent, flow, config)
yosys = folder / "yosys"
yosys.write_text(YOSYS.format(python=sys.executable))
yosys.chmod(0o755)
os.environ["_LLN_OVERRIDE_YOSYS"] = str(yosys)
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
loaded = flow([path], pdk=kit, pdk_root=str(folder), scl=GIVEN["STD_CELL_LIBRARY"])
if step:
    loaded.start(_force_run_dir=str(folder / "run"), to=step[0])
