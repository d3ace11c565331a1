"""The program `pushmem`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

#: Where the program is if it is not on the path: beside the Python of an environment with the wheel, and in a clone of the project.
PLACES = (Path(sys.executable).parent, Path(__file__).resolve().parents[3] / "target" / "release")


def find_program(named: str | Path | None) -> str:
    """The program: the one that is named, or the one on the path, of the Python environment or of the clone.

    Raises FileNotFoundError with what to do where there is none.
    """
    if named is not None:
        if found := shutil.which(named):
            return found
        raise FileNotFoundError(f"there is no program `{named}`: leave `pushmem=` out, or give the path of the program")
    for place in (None, *PLACES):
        if found := shutil.which("pushmem", path=place and str(place)):
            return found
    raise FileNotFoundError("there is no program `pushmem` on the path, beside this Python or in target/release of a clone: install the "
                            "wheel, run `cargo build --release` in the clone, or give its path by `pushmem=`")


def call(program: str, arguments: Sequence[str | Path]) -> str:
    """The output of the program. Its warnings become warnings of Python. Raises RuntimeError with its message where it fails."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip() or f"`{program}` ended with code {done.returncode}")
    if message := done.stderr.strip():
        warnings.warn(message, stacklevel=4)
    return done.stdout
