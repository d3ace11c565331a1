"""Runs of `pushmem`, as any process on any machine does them: plain data in, plain data out."""

import contextlib
import functools
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from pushmem_explore.objectives import READERS

# The end of a run: its figures are there; the compiler refused the point; pushmem failed at it; it took too long; it needed
# too much memory; its worker died time and again.
DONE, REFUSED, FAULT, TIMEOUT, MEMORY, LOST = "done", "refused", "fault", "timeout", "memory", "lost"
# How programs that are written in Rust, Python and C say that there is no memory.
OUT_OF_MEMORY = ("memory allocation of", "MemoryError", "annot allocate memory", "ThreadPoolBuildError", "std::bad_alloc")
# What another run of the same would end with, too.
FINAL = (DONE, REFUSED, FAULT)


@functools.cache
def version_of(program: str) -> str:
    """The version of a program: what it says, and a digest of its file, since builds between two versions differ, too."""
    said = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
    with open(program, "rb") as file:
        return f"{said.strip()} ({hashlib.file_digest(file, 'sha256').hexdigest()[:12]})"


def write_once(path: Path, content: str | bytes) -> None:
    """Writes a file that is named by its content, unless it is there: whole or not at all, whoever else writes it."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".unfinished-", delete=False) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


@functools.cache
def _own_folder() -> str:
    """A folder of this process, for runs on a machine that does not share the folder of the study."""
    own = tempfile.TemporaryDirectory(prefix="pushmem-explore-")
    _kept.append(own)
    return own.name


# Folders are removed at the end of the process.
_kept: list = []
# Runs of this process that have not ended.
_running: set[subprocess.Popen] = set()


def run(task: dict) -> dict:
    """Does a run: how it ended, with its figures or the reason."""
    folder = Path(task["folder"] or _own_folder())
    for name, content in task["files"].items():
        write_once(folder / name, content)
    arguments = [task["program"], *task["arguments"], "--json", "--message-format", "json", "--quiet"]
    if task["memory"]:
        # The shell sets the limit before the first allocation.
        arguments = ["/bin/sh", "-c", 'ulimit -d "$0" && exec "$@"', str(task["memory"] // 1024), *arguments]
    began = time.monotonic()
    # One thread: the points are what runs at once. A session of its own: it ends with the tools that it starts.
    child = subprocess.Popen(arguments, cwd=folder, env=os.environ | {"RAYON_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    _running.add(child)
    try:
        out, errors = child.communicate(timeout=task["timeout"])
    except subprocess.TimeoutExpired:
        return {"status": TIMEOUT, "reason": f"it takes longer than {task['timeout']:g} s", "figures": {}, "code": None} | _end(
            task, child, began)
    except BaseException:
        _end(task, child, began)
        raise
    finally:
        _running.discard(child)
    return _outcome(task, child.returncode, out, errors) | {"key": task["key"], "seconds": time.monotonic() - began}


def _end(task: dict, child: subprocess.Popen, began: float) -> dict:
    """Ends a run, with the tools that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    return {"key": task["key"], "seconds": time.monotonic() - began}


def end_all() -> None:
    """Ends all runs of this process."""
    for child in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _outcome(task: dict, exit_code: int, out: bytes, errors: bytes) -> dict:
    """How a run ended."""
    if exit_code == 0:
        return {"status": DONE, "reason": None, "code": None, "figures": READERS[task["kind"]](json.loads(out))}
    text = errors.decode(errors="replace")
    if task["memory"] and any(word in text for word in OUT_OF_MEMORY):
        return {"status": MEMORY, "reason": f"it needs more than {task['memory'] / 1e9:.3g} GB", "code": None, "figures": {}}
    messages = []
    for line in text.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            message = json.loads(line)
            if isinstance(message, dict) and message.get("severity") == "error":
                messages.append(message)
    if exit_code < 0:
        raise ChildProcessError(f"`pushmem` was ended by signal {-exit_code}")
    status = REFUSED if exit_code in (1, 2) and messages else FAULT
    reason = messages[0]["message"] if messages else (text.strip().splitlines() or [f"exit code {exit_code}"])[-1]
    code = messages[0].get("code") if messages else None
    return {"status": status, "reason": reason, "code": code, "figures": {}}


def run_all(tasks: list[dict]) -> list[dict]:
    """Does several runs, one after the other, on a worker that must have the same pushmem."""
    for task in tasks:
        if task["folder"] is None and version_of(task["program"]) != task["version"]:
            raise RuntimeError(f"this worker has {version_of(task['program'])}, the study {task['version']}")
    return [run(task) for task in tasks]
