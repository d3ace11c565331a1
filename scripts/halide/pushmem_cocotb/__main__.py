"""The command `python -m pushmem_cocotb FOLDER … -o OUTPUT`."""

import argparse
import sys
from pathlib import Path

from . import write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pushmem_cocotb", description="Writes classes of accelerators for cocotb.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="what `pushmem build PROGRAM -o FOLDER` wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write the classes")
    options = parser.parse_args()
    for folder in options.folders:
        try:
            print("\n".join(map(str, write(folder, options.output))))
        except (FileNotFoundError, ValueError) as error:
            sys.exit(f"pushmem_cocotb: {error}")


main()
