#!/usr/bin/env python3
"""The generator `pushmem` of FuseSoC, which calls it with the file of a configuration, in the folder where the core is to be.

It runs `pushmem build` or `pushmem generate` with --package, and gives the core that these write the name that FuseSoC expects.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

PARAMETERS = {"input", "options", "command"}
FOLDERS = {"build": "--folder", "generate": "--output"}


def stop(core: str, message: str) -> None:
    """Ends the generator with a message that names the core."""
    sys.exit(f"pushmem: {core}: {message}")


def main() -> None:
    configuration = yaml.safe_load(Path(sys.argv[1]).read_text())
    core, parameters = configuration["vlnv"], configuration.get("parameters") or {}
    if unknown := set(parameters) - PARAMETERS:
        stop(core, f"unknown parameters {', '.join(sorted(unknown))}; expected {', '.join(sorted(PARAMETERS))}")
    if "input" not in parameters:
        stop(core, "there is no parameter `input`: give the file of a program, relative to the core")
    command, options = parameters.get("command", "build"), parameters.get("options", [])
    if command not in FOLDERS or not isinstance(options, list):
        stop(core, f"`command` is {command!r} and `options` are {options!r}; expected {' or '.join(FOLDERS)}, and a list of words")
    program = shutil.which(os.environ.get("PUSHMEM", "pushmem"))
    if not program:
        stop(core, "there is no program `pushmem` on the path: install it, or name it by the variable PUSHMEM")
    files, made = Path(configuration["files_root"]), Path.cwd() / "pushmem"
    done = subprocess.run([program, command, parameters["input"], *map(str, options), "--package", FOLDERS[command], made], cwd=files)
    if done.returncode != 0:
        stop(core, f"`pushmem {command} {parameters['input']}` fails")
    [written] = made.glob("*.core")
    text, count = re.subn(r"(?m)^name: .*$", f'name: "{core}"', written.read_text(), count=1)
    if count != 1:
        stop(core, f"{written.name} has no name: the generator is of another version than {program}")
    written.write_text(text)


if __name__ == "__main__":
    main()
