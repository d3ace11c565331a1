"""The common part of the tests of explorations."""

import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import tools

SMALL = """
objectives: [cycles, processing_elements, sram_words]
options:
  shift-register-threshold: [5, 20, 80]
program:
  unroll: {x: [1, 2, 3]}
"""


@contextmanager
def scratch():
    """A folder for a test."""
    with tempfile.TemporaryDirectory(prefix="explore-") as folder:
        yield Path(folder)


def space_file(folder: Path, text: str) -> Path:
    """A space in a file."""
    file = folder / "space.yaml"
    file.write_text(text)
    return file


def command(pushmem: str, folder: Path, *options, programs=("apps/gaussian.yaml",)) -> list[str]:
    """The command that explores the space of a folder."""
    return [pushmem, "explore", *programs, "--over", str(folder / "space.yaml"), "-o", str(folder / "study"), "--json",
            *([] if "--reports" in options else ["--reports", "0"]), *map(str, options)]


def explore(pushmem: str, folder: Path, *options, programs=("apps/gaussian.yaml",)) -> dict:
    """The report of an exploration of the space of a folder."""
    done = subprocess.run(command(pushmem, folder, *options, programs=programs), cwd=tools.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(pushmem: str, folder: Path, *options, programs=("apps/gaussian.yaml",)) -> dict:
    """The message of an exploration that is refused."""
    done = subprocess.run([*command(pushmem, folder, *options, programs=programs), "--message-format", "json"], cwd=tools.ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 1, f"exit code {done.returncode}: {done.stdout[:300]}{done.stderr[:1000]}"
    return json.loads(done.stderr.splitlines()[0])


def program_that(folder: Path, does: str) -> str:
    """A program in a shell script in place of pushmem."""
    file = folder / "pushmem.sh"
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)
    return str(file)


def counting(pushmem: str, folder: Path, slowly: float = 0) -> str:
    """A program that does what pushmem does, and writes a line for each build that it ends."""
    return program_that(folder, f"""'{pushmem}' "$@"; code=$?
case "$1" in build) [ "$2" = --help ] || {{ sleep {slowly}; echo "$*" >>'{folder}/builds'; }} ;; esac
exit $code""")


def request(program: str, folder: Path, **changes) -> dict:
    """What `pushmem explore` asks the package for."""
    shipped = {str(file.relative_to(tools.ROOT)): file.read_text() for file in (tools.ROOT / "constraints").rglob("*.yaml")}
    return {"pushmem": program, "programs": ["apps/gaussian.yaml"], "over": str(folder / "space.yaml"), "folder": str(folder / "study"),
            "sampler": "full", "points": None, "seed": 1, "jobs": 2, "memory": None, "timeout": 600, "reuse": [], "cluster": None,
            "reports": 0, "progress": False, "shipped": shipped} | changes


def package(asked: dict) -> subprocess.Popen:
    """The package, run with a request."""
    environment = os.environ | {"PYTHONPATH": str(tools.ROOT / "scripts" / "explore")}
    python = str(tools.VENV / "bin" / "python")
    child = subprocess.Popen([python, "-m", "pushmem_explore"], cwd=tools.ROOT, env=environment, text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdin.write(json.dumps(asked))
    child.stdin.close()
    return child


def answer(asked: dict) -> dict:
    """The answer of the package: the report, or the problem."""
    child = package(asked)
    out, errors = child.stdout.read(), child.stderr.read()
    assert child.wait() == 0, errors
    told = json.loads(out)
    return told["report"]["json"] if "report" in told else told["problem"]
