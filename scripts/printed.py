"""What the SystemVerilog of an accelerator says, beside the stages of its compile."""

import subprocess
from pathlib import Path

import tools

READER = tools.ROOT / "scripts" / "readers" / "accelerator.py"
UNBUILT = "it cannot be built"
STAGES = ["graph", "mapping", "kernels"]


def read_back(pushmem: list[str | Path], program: Path, memories: str, folder: Path) -> tuple[bool, str]:
    """Builds a program by a command, and compares its files with the stages: whether they agree, and what was compared, or complaints."""
    command = [*pushmem, "build", program, "--memories", memories]
    built, text = tools.run([*command, "-o", folder / "accelerator"], tools.ROOT)
    if not built:
        return False, f"{UNBUILT}: {text}"
    stages = folder / "stages"
    stages.mkdir()
    for stage in STAGES:
        with (stages / stage).open("w") as file:
            subprocess.run([*command, "--emit", stage], cwd=tools.ROOT, stdout=file, stderr=subprocess.DEVNULL, check=True)
    [header] = (folder / "accelerator").glob("*.h")
    return tools.run([tools.VENV / "bin" / "python", READER, folder / "accelerator", header.stem, stages])
