"""What the SystemVerilog of accelerators says, beside the stages of their compiles."""

import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tools

READER = tools.ROOT / "scripts" / "readers" / "accelerator.py"
STAGES = ["graph", "mapping", "kernels"]
# Outcomes by the exit code of the reader; and where there are no files to read.
OUTCOMES = {0: "agrees", 1: "differs", 2: "unreadable"}
UNBUILT = "unbuilt"


def read_back(pushmem: str | Path, program: Path, memories: str, fault: str = "") -> tuple[str, str]:
    """Builds a program, with a variable set where there is a fault, and compares its files with the stages that are printed without:
    the outcome, and what was compared, or complaints."""
    command = [pushmem, "build", program, "--memories", memories]
    with tempfile.TemporaryDirectory() as scratch:
        folder, stages = Path(scratch) / "accelerator", Path(scratch) / "stages"
        built, text = tools.run(["env", *fault.split(), *command, "-o", folder], tools.ROOT)
        if not built:
            return UNBUILT, text
        stages.mkdir()
        for stage in STAGES:
            done = subprocess.run([*command, "--emit", stage], cwd=tools.ROOT, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return UNBUILT, done.stderr
            (stages / stage).write_text(done.stdout)
        [header] = folder.glob("*.h")
        reader = [tools.VENV / "bin" / "python", READER, folder, header.stem, stages]
        done = subprocess.run(reader, capture_output=True, text=True, check=False)
    # A reader that stops has read nothing.
    outcome = "unreadable" if "Traceback" in done.stderr else OUTCOMES[done.returncode]
    return outcome, (done.stdout + done.stderr).strip()


def all_read_back(pushmem: str | Path, cases: list[tuple[Path, str, str]]) -> Iterator[tuple[str, str]]:
    """The outcomes of programs with memories and faults, in their order."""
    tools.need_package("pyslang", "slang", "scripts/setup --packaging")
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda case: read_back(pushmem, *case), cases)
